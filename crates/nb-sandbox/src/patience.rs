//! Waiting for a component that waits in WASI, for a timer or a file, but not longer than its wall clock.
//!
//! The clock that interrupts a running guest does not reach one that waits in the host. So its calls are asynchronous
//! inside, and this drives them on the calling thread.

use std::io;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use crate::host::CancelFlag;
use crate::limits::Limit;
use crate::meter::{Metered, Stop};

/// How often a waiting call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(10);

/// Threads that wait for files. A file that never answers, such as a pipe, keeps one for good: then components have no
/// more files, and nobody else notices.
const FILE_THREADS: usize = 16;

/// The timers and files of WASI, apart from those of the program around the sandbox.
static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(FILE_THREADS)
        .thread_name("sandbox-wasi")
        .enable_time()
        .build()
});

/// How long a call may wait in WASI, all together, and who may end it earlier.
pub(crate) struct Patience {
    wall: Duration,
    cancel: CancelFlag,
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Patience {
    pub(crate) fn of(data: &impl Metered) -> Self {
        let meter = data.meter();
        Self { wall: meter.limits().wall, cancel: meter.cancel().clone() }
    }

    /// Drives a call to its end, or drops it.
    pub(crate) fn wait_for<R>(&self, call: impl Future<Output = R>) -> wasmtime::Result<R> {
        let runtime = RUNTIME.as_ref().map_err(|error| wasmtime::format_err!("WASI cannot wait: {error}"))?;
        let _entered = runtime.enter();
        let mut call = pin!(call);
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut waited = Duration::ZERO;
        loop {
            if let Poll::Ready(answer) = call.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(answer);
            }
            let began = Instant::now();
            thread::park_timeout(LOOK.min(self.wall.saturating_sub(waited)));
            waited += began.elapsed();
            if self.cancel.is_cancelled() {
                return Err(Stop::Cancelled.into());
            }
            if waited > self.wall {
                let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                let (allowed, used) = (milliseconds(self.wall), milliseconds(waited).saturating_add(1));
                return Err(Stop::Limit { limit: Limit::WallClock, allowed, used }.into());
            }
        }
    }
}
