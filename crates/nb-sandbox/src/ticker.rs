//! The clock that interrupts running guests.
//!
//! One thread for the process. Each tick raises the epoch of every engine, and each running call then looks at its
//! own deadline and flag: a tick is never for one call, because it reaches all of them. When nothing runs, the thread
//! sleeps, so that an idle daemon does not wake the machine a hundred times a second.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

use crate::error::SandboxError;

/// How long a call may run on after its deadline, and how late a cancellation is noticed.
const TICK: Duration = Duration::from_millis(10);

/// Ticks without any call after which the thread goes to sleep. Waking it costs a call some microseconds, so a
/// busy sandbox with short gaps should not pay that.
const IDLE_TICKS: u32 = 50;

static RUNNING: AtomicUsize = AtomicUsize::new(0);
static ASLEEP: AtomicBool = AtomicBool::new(false);
static ENGINES: Mutex<Vec<EngineWeak>> = Mutex::new(Vec::new());
static THREAD: OnceLock<Result<Thread, String>> = OnceLock::new();

/// Lets an engine tick until it is dropped.
pub(crate) fn register(engine: &Engine) -> Result<(), SandboxError> {
    let started = THREAD.get_or_init(|| {
        let spawned = thread::Builder::new().name("sandbox-ticker".into()).spawn(tick_for_ever);
        spawned.map(|handle| handle.thread().clone()).map_err(|error| error.to_string())
    });
    if let Err(error) = started {
        return Err(SandboxError::Engine(format!("its clock has no thread: {error}")));
    }
    ENGINES.lock().unwrap_or_else(PoisonError::into_inner).push(engine.weak());
    Ok(())
}

/// While one of these lives, the epochs tick.
pub(crate) struct Running(());

impl Running {
    pub(crate) fn start() -> Self {
        // Pairs with `sleep_unless_running`: either this sees that the thread sleeps, or the thread sees this call.
        RUNNING.fetch_add(1, Ordering::SeqCst);
        if ASLEEP.load(Ordering::SeqCst)
            && let Some(Ok(thread)) = THREAD.get()
        {
            thread.unpark();
        }
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tick_for_ever() {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        if RUNNING.load(Ordering::SeqCst) > 0 {
            idle = 0;
            raise_epochs();
        } else {
            idle += 1;
            if idle >= IDLE_TICKS {
                sleep_unless_running();
                idle = 0;
            }
        }
    }
}

fn raise_epochs() {
    ENGINES.lock().unwrap_or_else(PoisonError::into_inner).retain(|weak| match weak.upgrade() {
        Some(engine) => {
            engine.increment_epoch();
            true
        }
        None => false,
    });
}

fn sleep_unless_running() {
    ASLEEP.store(true, Ordering::SeqCst);
    // `park` can return without reason.
    while RUNNING.load(Ordering::SeqCst) == 0 {
        thread::park();
    }
    ASLEEP.store(false, Ordering::SeqCst);
}
