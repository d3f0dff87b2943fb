//! Work that cannot be stopped, but can be given up: compiling a component of somebody else.
//!
//! The engine's compiler knows no limit, and a function can be made so that it takes very long. Such work goes on, on
//! a thread of its own, when nobody waits for it any more; so one of them is done at a time, and what was given up
//! keeps one thread and not all of them.

use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Why there is no result.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum GaveUp {
    #[error("compiling it takes longer than {} s, so it was given up; make it smaller, or split its functions", .0.as_secs())]
    Slow(Duration),
    #[error(
        "another component has been compiled for more than {} s; try again when that has ended, or start the daemon anew",
        .0.as_secs()
    )]
    Busy(Duration),
    #[error("the compiler broke off")]
    Broken,
}

/// Whose turn it is: true while somebody works.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
}

/// Gives the turn back, also when the work panics.
struct Taken(Arc<Turn>);

impl Drop for Taken {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.free.notify_one();
    }
}

impl Turn {
    fn take(self: &Arc<Self>, patience: Duration) -> Option<Taken> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.free.wait_timeout_while(taken, patience, |taken| *taken);
        let (mut taken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() && *taken {
            return None;
        }
        *taken = true;
        Some(Taken(Arc::clone(self)))
    }

    /// Waits for its turn, and then for the work, each for `patience` at most.
    pub(crate) fn work<T: Send + 'static>(
        self: &Arc<Self>,
        patience: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, GaveUp> {
        let taken = self.take(patience).ok_or(GaveUp::Busy(patience))?;
        let (done, result) = mpsc::channel();
        let worker = move || {
            let worked = work();
            drop(taken);
            // Nobody hears it when it was given up.
            let _ = done.send(worked);
        };
        thread::Builder::new().name("sandbox-compile".into()).spawn(worker).map_err(|_| GaveUp::Broken)?;
        result.recv_timeout(patience).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => GaveUp::Slow(patience),
            mpsc::RecvTimeoutError::Disconnected => GaveUp::Broken,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn work_that_does_not_end_is_given_up_and_keeps_its_turn_until_it_ends() {
        let turn = Arc::new(Turn::default());
        let (end, ended) = mpsc::channel::<()>();
        let slow = turn.work(SHORT, move || ended.recv());
        assert_eq!(slow.unwrap_err(), GaveUp::Slow(SHORT));
        assert_eq!(turn.work(SHORT, || 1).unwrap_err(), GaveUp::Busy(SHORT));
        end.send(()).unwrap();
        assert_eq!(turn.work(LONG, || 2), Ok(2));
        assert_eq!(turn.work(LONG, || 3), Ok(3));
    }

    #[test]
    fn work_that_breaks_off_gives_its_turn_back() {
        let turn = Arc::new(Turn::default());
        let broken = turn.work(LONG, || panic!("as a compiler with a bug"));
        assert_eq!(broken.map(|(): ()| 0), Err(GaveUp::Broken));
        assert_eq!(turn.work(LONG, || 4), Ok(4));
    }
}
