//! What a streamed answer costs here, beside OpenAI's own client for Python: `cargo bench -p nb-provider`.
//!
//! A process of its own serves the streams, so that what it takes is not counted. Each token holds the time at which it was
//! sent; client and server read the same clock.
//!
//! Aims: at most 5 µs of CPU a token, at most 1 ms from a token's bytes to the caller, 200 streams at once without delay.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot run says so, and prints"
)]

mod client;
mod server;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// How many tokens the first measurement streams.
const FLOOD: usize = 200_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--serve"] => server::run(),
        // `cargo test` builds and starts benches as well.
        [.., "--test"] => {}
        _ => measure(),
    }
}

/// The server's process; it ends with this value.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start() -> Self {
        let own = std::env::current_exe().expect("this program's own path");
        let mut process = Command::new(own)
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut address = String::new();
        let output = process.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut address).expect("its address");
        Self { process, address: address.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Either is enough, and nothing is left to do when both fail.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn measure() {
    let server = Server::start();
    let ours = client::measure(&server.address, FLOOD);
    let theirs = python(&server.address);
    println!();
    println!("streamed answers                              here        Python SDK");
    let row = |what: &str, ours: String, theirs: Option<String>| {
        println!("{what:<42} {ours:>9}   {:>12}", theirs.unwrap_or_else(|| "-".to_owned()));
    };
    let theirs = |key: &str| theirs.as_ref().and_then(|figures| figures.get(key)?.as_f64());
    row("CPU a token", format!("{:.2} µs", ours.cpu_us), theirs("cpu_us").map(|us| format!("{us:.2} µs")));
    for (what, ours, key) in [
        ("bytes to caller, one stream, p50", ours.single.p50, "single_p50"),
        ("bytes to caller, one stream, p99", ours.single.p99, "single_p99"),
        ("first token, p99", ours.first.p99, "first_p99"),
        ("bytes to caller, 200 streams, p50", ours.many.p50, "many_p50"),
        ("bytes to caller, 200 streams, p99", ours.many.p99, "many_p99"),
    ] {
        row(what, format!("{ours:.3} ms"), theirs(key).map(|ms| format!("{ms:.3} ms")));
    }
    for (what, figure, aim) in
        [("CPU a token", ours.cpu_us, 5.0), ("first token, p99, in ms", ours.first.p99, 1.0)]
    {
        let judged = if figure <= aim { "met" } else { "missed" };
        println!("aim: {what} at most {aim}: {judged} ({figure:.2})");
    }
}

/// The same with OpenAI's client for Python, when the tests' environment is there.
fn python(address: &str) -> Option<serde_json::Value> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("../../target/oracle/bin/python");
    if !python.exists() {
        println!("skipped: OpenAI's client for Python; `cargo xtask test` installs it");
        return None;
    }
    let output = Command::new(python).arg(root.join("benches/streams/sdk.py")).arg(address).output().ok()?;
    if !output.status.success() {
        println!("skipped: OpenAI's client for Python: {}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    serde_json::from_slice(&output.stdout).ok()
}
