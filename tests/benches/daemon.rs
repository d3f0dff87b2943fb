//! The daemon and nbctl as whole processes, beside what a user would write in Python instead, in the same run.
//!
//! `cargo xtask bench daemon` builds the release binaries and runs this.

#![allow(clippy::print_stdout, reason = "the figures are the output")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nb_tests::http::Request;
use nb_tests::sign::hmac_hex;
use nb_tests::{Agent, Home, until};

const SECRET: &str = "a secret of this benchmark";
const STARTS: usize = 20;
const COMMANDS: usize = 200;
const DELIVERIES: usize = 1000;
/// The daemon is idle after this long: what its start touched once is settled.
const SETTLE: Duration = Duration::from_secs(2);

fn main() {
    let agent = Agent::new("bench")
        .permissions(&["flow.stop"])
        .tool("one.lua", "return 1")
        .chain("stop", "  - {id: stop, ability: flow.stop}")
        .yaml(&format!("triggers: {{webhooks: [{{path: /hook/bench, chain: stop, secret: {SECRET}}}]}}"));
    let mut daemon = Home::new().start();
    daemon.install(&agent).success();
    let python = Python::start(daemon.path());

    println!("{:<46} {:>10} {:>10} {:>12} {:>7}", "", "p50", "p99", "Python p50", "ratio");

    let starts = measure(STARTS, || {
        daemon.kill();
        let began = Instant::now();
        daemon.start_again();
        began.elapsed()
    });
    let python_starts = python.as_ref().map(|_| {
        measure(STARTS, || Python::start(daemon.path()).map(|python| python.start_time).unwrap_or_default())
    });
    row("start to ready, with a warm cache (150 ms)", &starts, python_starts.as_deref());

    thread::sleep(SETTLE);
    let resident = daemon.resident_bytes() as f64 / (1 << 20) as f64;
    let beside = python.as_ref().map(|python| python.resident_bytes() as f64 / (1 << 20) as f64);
    let beside = beside.map_or("-".to_owned(), |mib| format!("{mib:.1} MiB"));
    println!(
        "{:<46} {:>10} {:>10} {beside:>12}",
        "idle, resident (40 MiB)",
        format!("{resident:.1} MiB"),
        ""
    );

    let commands = measure(COMMANDS, || time(daemon.command(&["run", "bench", "--tool", "one"])));
    let python_commands = python.as_ref().map(|python| {
        let mut command = Command::new(&python.program);
        command.args(["-c", "print(1)"]);
        measure(COMMANDS, || time_ref(&mut command))
    });
    row("nbctl run of a one-line tool, a process (15 ms)", &commands, python_commands.as_deref());

    let mut number = 0;
    let address = daemon.webhooks().to_owned();
    let deliveries = measure(DELIVERIES, || {
        number += 1;
        deliver(&address, "/hook/bench", number)
    });
    let python_deliveries = python.as_ref().map(|python| {
        let address = format!("127.0.0.1:{}", python.port);
        measure(DELIVERIES, || {
            number += 1;
            deliver(&address, "/", number)
        })
    });
    row("webhook answered, with a durable record (5 ms)", &deliveries, python_deliveries.as_deref());
    println!("In brackets: the most that it may be. Python: http.server, python3 -c 'print(1)'.");
}

fn deliver(address: &str, path: &str, number: usize) -> Duration {
    let body = format!("{{\"number\": {number}, \"text\": \"{}\"}}", "x".repeat(1000));
    let request = Request::post(path, &body).header("X-Webhook-Signature", hmac_hex(SECRET, &body));
    let began = Instant::now();
    let answer = request.send(address);
    let took = began.elapsed();
    assert_eq!(answer.status, 202, "{}", answer.text());
    took
}

fn time(mut command: Command) -> Duration {
    time_ref(&mut command)
}

fn time_ref(command: &mut Command) -> Duration {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let began = Instant::now();
    let status = command.status().expect("the program starts");
    let took = began.elapsed();
    assert!(status.success());
    took
}

/// The times of so many runs, sorted, after a few that warm up.
fn measure(times: usize, mut once: impl FnMut() -> Duration) -> Vec<Duration> {
    for _ in 0..times.div_ceil(20) {
        once();
    }
    let mut durations: Vec<Duration> = (0..times).map(|_| once()).collect();
    durations.sort_unstable();
    durations
}

fn row(what: &str, ours: &[Duration], theirs: Option<&[Duration]>) {
    let at = |durations: &[Duration], percent: usize| {
        durations[durations.len() * percent / 100].as_secs_f64() * 1e3
    };
    let (p50, p99) = (at(ours, 50), at(ours, 99));
    let (beside, ratio) = match theirs {
        Some(theirs) => (format!("{:.2} ms", at(theirs, 50)), format!("{:.2}×", at(theirs, 50) / p50)),
        None => ("-".to_owned(), "-".to_owned()),
    };
    println!(
        "{what:<46} {:>10} {:>10} {beside:>12} {ratio:>7}",
        format!("{p50:.2} ms"),
        format!("{p99:.2} ms")
    );
}

/// The receiver in Python.
struct Python {
    program: String,
    child: Child,
    port: u16,
    /// From its start to its port.
    start_time: Duration,
}

impl Python {
    /// None when there is no Python.
    fn start(folder: &Path) -> Option<Self> {
        // The interpreter itself: `python3` may be a script that looks for one, and slower than what it finds.
        let found =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
        let program = String::from_utf8(found.stdout).ok()?.trim().to_owned();
        let began = Instant::now();
        let mut child = Command::new(&program)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peer.py"))
            .arg(SECRET)
            .arg(folder.join("python.log"))
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let stdout = child.stdout.take()?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).ok()?;
        let port = line.trim().parse().ok()?;
        Some(Self { program, child, port, start_time: began.elapsed() })
    }

    fn resident_bytes(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        until("the resident size", || {
            let text = std::fs::read_to_string(&status).ok()?;
            let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
        })
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It is ours; that it is gone already is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
