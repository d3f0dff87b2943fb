//! One sandbox for all inputs, and the promises that hold for each call in it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;
use std::{fs, mem};

use nb_sandbox::{
    Call, CancelFlag, Chunk, Lang, Limit, Limits, Program, Sandbox, SandboxConfig, Source, ToolError,
};
use serde_json::Value;

use super::host::{Answers, FuzzHost, Seen};

/// After so many calls it is checked that the sandbox still works.
pub const CHECK_EVERY: u64 = 64;

/// Calls after which all engines are warm and have compiled what they need.
const WARM_UP: u64 = 512;

/// How much more memory than then the process may hold.
const GROWTH_BYTES: u64 = 256 << 20;

/// The longest error, as it is shown, and the longest traceback.
const MAX_ERROR_BYTES: usize = 16 << 10;

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| {
    let config = SandboxConfig { max_concurrent: 4, ..SandboxConfig::default() };
    Sandbox::new(&config).expect("the sandbox starts")
});

pub fn sandbox() -> &'static Sandbox {
    &SANDBOX
}

/// Small, so that a hostile input is over soon.
pub fn limits() -> Limits {
    Limits {
        fuel: 50_000,
        memory_bytes: 12 << 20,
        wall: Duration::from_secs(1),
        output_bytes: 256 << 10,
        host_calls: 100,
        host_bytes: 256 << 10,
        log_bytes: 16 << 10,
    }
}

/// Runs a program within [`limits`], and checks what must be so whatever it did.
pub fn run(
    program: impl Into<Program>,
    variables: &str,
    answers: Answers,
) -> (Result<String, ToolError>, Seen) {
    run_within(limits(), program, variables, answers)
}

pub fn run_within(
    limits: Limits,
    program: impl Into<Program>,
    variables: &str,
    answers: Answers,
) -> (Result<String, ToolError>, Seen) {
    static CALLS: AtomicU64 = AtomicU64::new(1);
    let id = CALLS.fetch_add(1, Ordering::Relaxed);
    if id.is_multiple_of(CHECK_EVERY) {
        the_sandbox_still_works();
        the_memory_does_not_grow(id);
    }
    let answer = call(id, limits.clone(), program.into(), variables, answers);
    if let Err(error) = &answer.0 {
        check_error(error);
    }
    answer
}

fn call(
    id: u64,
    limits: Limits,
    program: Program,
    variables: &str,
    answers: Answers,
) -> (Result<String, ToolError>, Seen) {
    let file = program.file().to_owned();
    let host = FuzzHost::new(id, &limits, answers);
    let seen = host.seen.clone();
    let mut finished = sandbox().run(Call {
        program,
        variables: variables.into(),
        limits: limits.clone(),
        cancel: CancelFlag::default(),
        folders: Vec::new(),
        host: Box::new(host),
    });

    assert_eq!(finished.host.now_ns(), id, "the host of the call comes back");
    let usage = finished.usage;
    assert!(usage.fuel <= limits.fuel, "{usage:?}");
    assert!(usage.peak_memory_bytes <= limits.memory_bytes, "{usage:?}");
    // The call that was refused is counted.
    assert!(usage.host_calls <= limits.host_calls + 1, "{usage:?}");
    assert!(usage.output_bytes <= limits.output_bytes, "{usage:?}");
    match &finished.outcome {
        Ok(json) => {
            assert_eq!(usage.output_bytes, json.len() as u64);
            assert!(serde_json::from_str::<Value>(json).is_ok(), "not JSON: {json}");
        }
        Err(error) => assert_eq!(error.tool(), file),
    }
    let seen = mem::take(&mut *seen.lock().unwrap());
    (finished.outcome, seen)
}

/// An error can be shown and stored, and its figures make sense.
pub fn check_error(error: &ToolError) {
    let text = error.to_string();
    assert!(!text.is_empty());
    assert!(text.len() <= MAX_ERROR_BYTES, "an error of {} bytes", text.len());
    let stored = serde_json::to_string(error).expect("an error can be stored");
    assert_eq!(&serde_json::from_str::<ToolError>(&stored).expect("and read again"), error);
    match error {
        // A program can say by itself that its memory did not suffice.
        ToolError::Limit { limit: Limit::Memory, .. } => {}
        ToolError::Limit { allowed, used, .. } => assert!(used >= allowed, "{error}"),
        ToolError::Script(error) => {
            assert!(
                error.traceback.len() <= MAX_ERROR_BYTES,
                "a traceback of {} bytes",
                error.traceback.len()
            );
            if let Some(excerpt) = &error.excerpt {
                assert!(!excerpt.contains('\n'), "{excerpt:?}");
            }
        }
        ToolError::Cancelled { .. } => panic!("nobody cancelled"),
        ToolError::Crashed { .. } => {}
    }
}

/// For inputs that no WebAssembly of the sender's reached: the guest must not stop in an unforeseen way.
pub fn no_crash(error: &ToolError) {
    assert!(!matches!(error, ToolError::Crashed { .. }), "{error}");
}

fn the_sandbox_still_works() {
    static GOOD: LazyLock<Chunk> = LazyLock::new(|| {
        let source = Source::new(Lang::Fennel, "good.fnl", "{:sum (+ a b) :echo (nb.call :echo {:a a})}");
        sandbox().compile(&source, &[]).expect("a good script compiles")
    });
    let (outcome, _) =
        call(0, Limits::default(), GOOD.clone().into(), r#"{"a": 19, "b": 23}"#, Answers::default());
    let answer: Value = serde_json::from_str(&outcome.expect("a good call ends well")).unwrap();
    assert_eq!(answer, serde_json::json!({"sum": 42, "echo": {"a": 19}}));
}

fn the_memory_does_not_grow(calls: u64) {
    static WARM: OnceLock<u64> = OnceLock::new();
    if calls < WARM_UP {
        return;
    }
    let Some(now) = resident_bytes() else { return };
    let warm = *WARM.get_or_init(|| now);
    assert!(
        now <= warm + GROWTH_BYTES,
        "{warm} bytes were resident after {WARM_UP} calls, {now} after {calls}"
    );
}

/// Nothing where the system does not tell.
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
