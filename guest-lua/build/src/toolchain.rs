//! The C compiler, the linker and the C library for WebAssembly, as Debian packages them.
//!
//! The major version is fixed: another compiler makes other bytes, and the committed component could not be checked.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BuildError;

const CLANG: &str = "clang-22";
const LINKER: &str = "wasm-ld-22";
const INCLUDE: &str = "/usr/include/wasm32-wasi";
const LIBRARIES: &str = "/usr/lib/wasm32-wasi";

/// Exceptions in the standardised encoding; setjmp and longjmp become exceptions.
const EXCEPTIONS: [&str; 2] = ["-wasm-enable-sjlj", "-wasm-use-legacy-eh=false"];

/// Optimising all of Lua as one program: CPU-bound scripts take three quarters of the time.
///
/// Calls are dear in the guest, because each one stores the fuel and loads it again, so more is inlined than usual
/// (the default is 225). A switch becomes a table only when it is dense (the default is 10 %): the engine compiles a
/// table to an indirect jump, and LLVM makes one even of the question whether a value is an integer or a float.
const LINK_TIME_OPTIMISATION: [&str; 2] = ["-inline-threshold=600", "-jump-table-density=40"];

pub struct Toolchain {
    builtins: PathBuf,
}

impl Toolchain {
    pub fn find() -> Result<Self, BuildError> {
        let resources = output(Command::new(CLANG).arg("-print-resource-dir"), CLANG, "its folder")?;
        output(Command::new(LINKER).arg("--version"), LINKER, "its version")?;
        let builtins = Path::new(resources.trim()).join("lib/wasi/libclang_rt.builtins-wasm32.a");
        for needed in [&builtins, Path::new(INCLUDE), &Path::new(LIBRARIES).join("libc.a")] {
            if !needed.exists() {
                return Err(BuildError::Tool { missing: needed.display().to_string() });
            }
        }
        Ok(Self { builtins })
    }

    /// A compiler call for one C file; the caller adds what is particular to it.
    pub fn compiler(&self) -> Command {
        let mut command = Command::new(CLANG);
        command.args(["--target=wasm32-wasip1", "-std=c23", "-O2", "-flto", "-c"]);
        command.arg("-mexception-handling").args(EXCEPTIONS.iter().flat_map(|option| ["-mllvm", option]));
        command.args(["-isystem", INCLUDE]);
        command
    }

    /// A linker call; the caller adds the objects and the output.
    pub fn linker(&self) -> Command {
        let mut command = Command::new(LINKER);
        command.args(["--entry", "_initialize", "--strip-all"]);
        let options = ["-wasm-enable-eh", "-exception-model=wasm"];
        let options = options.iter().chain(&EXCEPTIONS).chain(&LINK_TIME_OPTIMISATION);
        command.args(options.flat_map(|option| ["-mllvm", option]));
        // Below the stack is nothing: an overflow traps instead of writing over the program's data.
        // 512 KiB holds Lua's 200 nested C calls with the largest frames of its string library.
        command.args(["--stack-first", "-z", "stack-size=524288"]);
        command.arg(format!("{LIBRARIES}/crt1-reactor.o"));
        command
    }

    /// What the linker takes after the objects.
    pub fn libraries(&self) -> [PathBuf; 2] {
        [Path::new(LIBRARIES).join("libc.a"), self.builtins.clone()]
    }
}

/// Runs a tool to its end and returns what it printed.
pub fn output(command: &mut Command, tool: &str, what: &str) -> Result<String, BuildError> {
    let output = command.output().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => BuildError::Tool { missing: tool.into() },
        _ => BuildError::Start { tool: tool.into(), source },
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(BuildError::Failed {
        tool: tool.into(),
        what: what.into(),
        output: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
