//! Builds the guest component from C, reproducibly.
//!
//! ```text
//! cargo run -p guest-build               writes guest-lua/guest.wasm and guest.wasm.sha256
//! cargo run -p guest-build -- --check    builds again under target/ and compares
//! ```
//!
//! # Layout
//! - [`sources`]: where the C and Lua sources are, and that they are the pinned ones
//! - [`toolchain`]: the compiler and linker, or what to install
//! - [`core_module`]: bindings, C sources → a core WebAssembly module
//! - [`component`]: core module → component → component with its memory prepared
//!
//! Invariant: the bytes depend on the sources and on the versions of the tools, never on a path, the time or the
//! environment of this machine.

mod component;
mod core_module;
mod error;
mod sources;
mod toolchain;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use sha2::{Digest, Sha256};

use crate::error::BuildError;
use crate::sources::Sources;
use crate::toolchain::Toolchain;

const USAGE: &str = "usage: guest-build [--check]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => write(),
        ["--check"] => check(),
        _ => Err(BuildError::Usage(USAGE)),
    };
    match done {
        Ok(message) => {
            eprintln!("{message}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn write() -> Result<String, BuildError> {
    let sources = Sources::find()?;
    let component = build(&sources)?;
    let digest = digest(&component);
    write_file(&sources.component(), &component)?;
    write_file(&sources.component_digest(), format!("{digest}  guest.wasm\n").as_bytes())?;
    Ok(format!("wrote guest.wasm: {} bytes, sha256 {digest}", component.len()))
}

fn check() -> Result<String, BuildError> {
    let sources = Sources::find()?;
    let committed = sources::read(&sources.component())?;
    let recorded = sources::read_digest(&sources.component_digest())?;
    let committed_digest = digest(&committed);
    if recorded != committed_digest {
        return Err(BuildError::RecordedDigest { recorded, committed: committed_digest });
    }
    let rebuilt = build(&sources)?;
    if rebuilt != committed {
        return Err(BuildError::Differs { committed: committed_digest, rebuilt: digest(&rebuilt) });
    }
    Ok(format!("guest.wasm is what the sources make: sha256 {committed_digest}"))
}

fn build(sources: &Sources) -> Result<Vec<u8>, BuildError> {
    let toolchain = Toolchain::find()?;
    let core = core_module::build(sources, &toolchain)?;
    component::prepare(&component::encode(&core)?)
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    fs::write(path, bytes).map_err(|source| BuildError::Write { path: path.into(), source })
}
