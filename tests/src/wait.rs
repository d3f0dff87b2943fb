//! Until something holds, with a deadline.

use std::time::{Duration, Instant};

/// How long anything is waited for. A healthy daemon needs a small part of it, also on a machine that is busy.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Asks again and again until there is an answer, and gives it. `what` says what was waited for when none comes.
///
/// # Panics
/// After [`DEADLINE`].
pub fn until<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    within(DEADLINE, ask).unwrap_or_else(|| panic!("still not so after {DEADLINE:?}: {what}"))
}

/// Asks again and again until there is an answer; none when the time is up.
pub fn within<T>(time: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if begun.elapsed() > time {
            return None;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Lets time pass, so that a kill comes at one moment or another. Never to wait for something: that is [`until`].
pub fn pass(time: Duration) {
    std::thread::sleep(time);
}
