//! Waiting for a component that waits in WASI, for a timer or a file, but not longer than its wall clock.
//!
//! The clock that interrupts a running guest does not reach one that waits in the host. So its calls are asynchronous
//! inside, and this drives them on the calling thread.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use wasmtime_wasi::runtime::with_ambient_tokio_runtime;

use crate::host::CancelFlag;
use crate::limits::Limit;
use crate::meter::{Metered, Stop};

/// How often a waiting call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(10);

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
    pub(crate) fn wait_for<R>(&self, call: impl Future<Output = R>) -> Result<R, Stop> {
        // Timers and files of WASI are those of the runtime that is at hand.
        with_ambient_tokio_runtime(|| {
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
                    return Err(Stop::Cancelled);
                }
                if waited > self.wall {
                    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                    let (allowed, used) = (milliseconds(self.wall), milliseconds(waited).saturating_add(1));
                    return Err(Stop::Limit { limit: Limit::WallClock, allowed, used });
                }
            }
        })
    }
}
