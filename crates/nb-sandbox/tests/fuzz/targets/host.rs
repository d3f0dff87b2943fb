//! A host that answers as it was told, and checks that nothing beyond the limits reaches it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use nb_sandbox::{Host, Limits};

/// What a host answers.
#[derive(Default)]
pub struct Answers {
    /// To `invoke`, one after the other; then it answers its arguments.
    pub invoke: VecDeque<Result<String, String>>,
    /// To `random`, one after the other; then zero.
    pub random: VecDeque<u64>,
}

/// What a host was asked.
#[derive(Default)]
pub struct Seen {
    /// The arguments of `invoke`, in order.
    pub asked: Vec<String>,
    calls: u64,
    sent: u64,
    logged: u64,
    log_ended: bool,
}

pub struct FuzzHost {
    /// What its clock shows always, by which it is known again.
    id: u64,
    limits: Limits,
    answers: Answers,
    pub seen: Arc<Mutex<Seen>>,
}

/// What a line of the log counts beside its text.
const LINE_BYTES: u64 = 64;

impl FuzzHost {
    pub fn new(id: u64, limits: &Limits, answers: Answers) -> Self {
        Self { id, limits: limits.clone(), answers, seen: Arc::default() }
    }

    fn count(&self, bytes: usize) {
        let mut seen = self.seen.lock().unwrap();
        seen.calls += 1;
        seen.sent += bytes as u64;
        assert!(seen.calls <= self.limits.host_calls, "a host call too many");
        assert!(seen.sent <= self.limits.host_bytes, "{} bytes were sent to the host", seen.sent);
    }
}

impl Host for FuzzHost {
    fn invoke(&mut self, ability: &str, args: &str) -> Result<String, String> {
        self.count(ability.len() + args.len());
        self.seen.lock().unwrap().asked.push(args.to_owned());
        self.answers.invoke.pop_front().unwrap_or_else(|| Ok(args.to_owned()))
    }

    fn log(&mut self, line: &str) {
        let mut seen = self.seen.lock().unwrap();
        assert!(!seen.log_ended, "a line after the last one");
        let logged = seen.logged + line.len() as u64 + LINE_BYTES;
        if logged > self.limits.log_bytes {
            assert!(
                line.ends_with(" bytes of log dropped"),
                "a line of {} bytes beyond the log's limit",
                line.len()
            );
            seen.log_ended = true;
        }
        seen.logged = logged;
    }

    fn now_ns(&mut self) -> u64 {
        // The caller asks once more when it has its host back.
        self.id
    }

    fn random(&mut self) -> u64 {
        self.count(0);
        self.answers.random.pop_front().unwrap_or_default()
    }
}
