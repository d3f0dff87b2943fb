//! `cargo xtask test`: everything that must pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::shell::{cargo, green, red, root, run_into, which, yellow};
use crate::{oracles, packages};

/// A step, and what came of it.
struct Step {
    name: &'static str,
    passed: bool,
    seconds: f64,
}

#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: Vec<String>,
}

/// Runs all steps; goes on after one that failed, so that one run shows everything.
pub(crate) fn run() -> Result<(), String> {
    let mut counts = Counts { skipped: packages::install(), ..Counts::default() };
    counts.skipped.extend(oracles::install());
    let logs = root().join("target/xtask");
    fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    let mut steps = Vec::new();
    let mut step = |name: &'static str, mut command: Command| -> Result<PathBuf, String> {
        println!("{name} …");
        let log = logs.join(format!("{}.log", name.replace(' ', "-")));
        let began = Instant::now();
        let passed = run_into(&mut command, &log)?;
        let seconds = began.elapsed().as_secs_f64();
        if passed {
            println!("  {} {seconds:.0} s", green("passed"));
        } else {
            println!("  {} {seconds:.0} s; {}", red("failed"), log.display());
            print_end(&log);
        }
        steps.push(Step { name, passed, seconds });
        Ok(log)
    };
    let all = ["--workspace", "--exclude", "guest-build"];
    step("format", cargo(&["fmt", "--all", "--check"]))?;
    step("clippy", cargo(&[&["clippy"], &all[..], &["--all-targets", "--", "--deny", "warnings"]].concat()))?;
    step("binaries", cargo(&["build", "--package", "nanobotd", "--package", "nbctl"]))?;
    let log =
        step("tests", cargo(&[&["test"], &all[..], &["--no-fail-fast", "--", "--show-output"]].concat()))?;
    counts.read(&log)?;
    if which("clang-22").is_some() {
        step("guest check", cargo(&["run", "--package", "guest-build", "--", "--check"]))?;
        step("guest clippy", cargo(&["clippy", "--package", "guest-build", "--", "--deny", "warnings"]))?;
    } else {
        counts.skipped.push("the guest's rebuild: clang-22 is not installed".to_owned());
    }
    report(&steps, &counts)
}

impl Counts {
    /// Adds up what the test runner says, and collects what tests say of what they skipped.
    fn read(&mut self, log: &Path) -> Result<(), String> {
        let text = fs::read_to_string(log).map_err(|error| format!("{}: {error}", log.display()))?;
        let number = |line: &str, word: &str| {
            let before = line.split(word).next().unwrap_or_default();
            before
                .trim_end()
                .rsplit(' ')
                .next()
                .and_then(|number| number.parse::<u64>().ok())
                .unwrap_or_default()
        };
        for line in text.lines() {
            if line.starts_with("test result:") {
                self.passed += number(line, " passed");
                self.failed += number(line, " failed");
            }
            if let Some(reason) = line.trim().strip_prefix("skipped: ") {
                self.skipped.push(reason.to_owned());
            }
        }
        Ok(())
    }
}

/// What failed: the failures of each test program, or the last lines when there are none.
fn print_end(log: &Path) {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut failing = false;
    let mut failures = Vec::new();
    for line in text.lines() {
        failing = (failing || line == "failures:") && !line.starts_with("test result:");
        if failing {
            failures.push(line);
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    let shown = if failures.is_empty() { &lines[lines.len().saturating_sub(60)..] } else { &failures };
    for line in shown.iter().take(400) {
        println!("  {line}");
    }
}

fn report(steps: &[Step], counts: &Counts) -> Result<(), String> {
    println!();
    for Step { name, passed, seconds } in steps {
        println!("{:<14} {} {seconds:>5.0} s", name, if *passed { green("passed") } else { red("failed") });
    }
    for reason in &counts.skipped {
        println!("{} {reason}", yellow("skipped:"));
    }
    let failed_steps = steps.iter().filter(|step| !step.passed).count() as u64;
    println!(
        "{} passed, {} failed, {} skipped",
        counts.passed,
        counts.failed.max(failed_steps),
        counts.skipped.len()
    );
    let names: Vec<&str> = steps.iter().filter(|step| !step.passed).map(|step| step.name).collect();
    if names.is_empty() { Ok(()) } else { Err(format!("failed: {}", names.join(", "))) }
}
