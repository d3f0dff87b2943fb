//! Compiled components on disk: loading one takes a millisecond, compiling it some hundred.
//!
//! What is in the cache is machine code that this process will run. So it is used only when it lies in a folder, and
//! is a file, that belong to the user of this process and that nobody else can write; and only when its checksum is
//! right, because a file that a full disk cut off is not malicious but just as wrong. In every other case the
//! component is compiled, and the file written anew where that is possible.

use std::fs::{self, DirBuilder, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Mode, OFlags, Stat};
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::deadline::Turn;

/// Files that this process has begun to write: two threads may compile the same component.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// One component of somebody else is compiled at a time.
static COMPILING: LazyLock<Arc<Turn>> = LazyLock::new(Arc::default);

/// How long compiling one may take: a large one of 16 MiB takes some seconds.
const COMPILE_PATIENCE: Duration = Duration::from_secs(60);

const CHECKSUM_BYTES: usize = 32;

/// Larger than any compiled component; the file is read whole.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The start of a file's name tells what it is, and how many of the kind are worth keeping: of the guest the one of
/// this version; of tools those that were compiled last.
#[derive(Clone, Copy)]
struct Kind {
    prefix: &'static str,
    kept: usize,
}

const GUEST: Kind = Kind { prefix: "guest-", kept: 1 };
const TOOL: Kind = Kind { prefix: "tool-", kept: 100 };

/// Loads the guest from the cache, or compiles it and keeps it there.
///
/// It is loaded twice, because the engine prefers to give a place in its pool to the component that was there before:
/// the calls of one of the two do not have to restore what those of the other one wrote.
pub(crate) fn load_guest(
    engine: &Engine,
    wasm: &[u8],
    folder: Option<&Path>,
) -> wasmtime::Result<[Component; 2]> {
    let load_twice = |artefact: &Artefact| Ok([artefact.load(engine)?, artefact.load(engine)?]);
    load(engine, wasm, folder, GUEST, || Artefact::compile(engine, wasm), load_twice)
}

/// The same for a component that is a tool. Nobody knows how long the compiler takes for it, so that it is given up
/// after a while.
pub(crate) fn load_tool(engine: &Engine, wasm: &[u8], folder: Option<&Path>) -> wasmtime::Result<Component> {
    let compile = || {
        let (engine, wasm) = (engine.clone(), wasm.to_vec());
        COMPILING.work(COMPILE_PATIENCE, move || Artefact::compile(&engine, &wasm))?
    };
    load(engine, wasm, folder, TOOL, compile, |artefact| artefact.load(engine))
}

fn load<T>(
    engine: &Engine,
    wasm: &[u8],
    folder: Option<&Path>,
    kind: Kind,
    compile: impl FnOnce() -> wasmtime::Result<Artefact>,
    load: impl Fn(&Artefact) -> wasmtime::Result<T>,
) -> wasmtime::Result<T> {
    let Some(folder) = folder else { return load(&compile()?) };
    let name = file_name(engine, wasm, kind);
    match Artefact::read(folder, &name) {
        Ok(Some(artefact)) => match load(&artefact) {
            Ok(loaded) => return Ok(loaded),
            Err(error) => tracing::warn!(?folder, name, "a compiled component is not usable: {error:#}"),
        },
        Ok(None) => {}
        Err(error) => tracing::warn!(?folder, name, "a compiled component is not used: {error}"),
    }
    let artefact = compile()?;
    match artefact.write(folder, &name) {
        Ok(()) => remove_older(folder, &name, kind),
        Err(error) => tracing::warn!(
            ?folder,
            name,
            "a compiled component cannot be kept, so that the next start is slower: {error}"
        ),
    }
    load(&artefact)
}

/// Another engine, other settings or another component is another file.
fn file_name(engine: &Engine, wasm: &[u8], kind: Kind) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let component = hex::encode(Sha256::digest(wasm));
    format!("{}{:016x}-{component}.cwasm", kind.prefix, hasher.finish())
}

/// The bytes of a compiled component that can be trusted: just compiled, or read with all checks.
struct Artefact(Vec<u8>);

impl Artefact {
    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self> {
        engine.precompile_component(wasm).map(Self)
    }

    #[allow(unsafe_code, reason = "machine code that was compiled earlier cannot be checked by the compiler")]
    fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // SAFETY: the bytes must be what the engine's compiler made, and unmodified. There are two ways to an
        // `Artefact`. `compile` has just made it. `read` found a right checksum, in a regular file of this process's
        // user in a folder of that user, neither of which anybody else can write, through descriptors that were
        // checked after they were opened; whoever can change that file can as well change this program. The bytes are
        // a copy in memory, so that a later write to the file does not reach them. That they were made for this engine
        // and its settings is checked by `deserialize` itself.
        unsafe { Component::deserialize(engine, &self.0) }
    }

    /// `None` when there is no such file.
    fn read(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        let Some(folder) = open_own_folder(folder)? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stat = rustix::fs::fstat(&file)?;
        require_own(&stat, FileType::RegularFile, "the file")?;
        let mut bytes = Vec::new();
        File::from(file).take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        let (checksum, artefact) =
            bytes.split_at_checked(CHECKSUM_BYTES).ok_or_else(|| io::Error::other("the file is cut off"))?;
        if Sha256::digest(artefact).as_slice() != checksum {
            return Err(io::Error::other("the file is damaged: its checksum is wrong"));
        }
        Ok(Some(Self(bytes.split_off(CHECKSUM_BYTES))))
    }

    /// Puts the file there as a whole or not at all.
    fn write(&self, folder: &Path, name: &str) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let opened = open_own_folder(folder)?.ok_or_else(|| io::Error::other("the folder is gone"))?;
        let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let temporary = format!("{name}.{}-{count}", std::process::id());
        let written = write_new(&opened, &temporary, &self.0)
            .and_then(|()| Ok(rustix::fs::renameat(&opened, &temporary, &opened, name)?));
        if written.is_err() {
            // What is left of it would never be read, but it takes space.
            let _ = rustix::fs::unlinkat(&opened, &temporary, rustix::fs::AtFlags::empty());
        }
        written
    }
}

/// Opens the folder if it exists, and refuses one that somebody else can write.
fn open_own_folder(folder: &Path) -> io::Result<Option<rustix::fd::OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match rustix::fs::open(folder, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    require_own(&rustix::fs::fstat(opened.as_fd())?, FileType::Directory, "the folder")?;
    Ok(Some(opened))
}

fn require_own(stat: &Stat, file_type: FileType, what: &str) -> io::Result<()> {
    let wrong = |why: &str| Err(io::Error::other(format!("{what} {why}")));
    if FileType::from_raw_mode(stat.st_mode) != file_type {
        return wrong("is of another kind");
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return wrong("belongs to another user");
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return wrong("can be written by others; make it writable for its owner alone");
    }
    Ok(())
}

fn write_new(folder: &rustix::fd::OwnedFd, name: &str, artefact: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(&Sha256::digest(artefact))?;
    file.write_all(artefact)?;
    file.sync_all()
}

/// Each upgrade, and each package that goes, would leave a file.
fn remove_older(folder: &Path, written: &str, kind: Kind) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut others: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            name.to_str().is_some_and(|name| {
                name.starts_with(kind.prefix) && name.ends_with(".cwasm") && name != written
            })
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    others.sort_unstable();
    let surplus = (others.len() + 1).saturating_sub(kind.kept);
    for (_, path) in others.into_iter().take(surplus) {
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!(?path, "an older compiled component stays: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_tools_those_that_were_compiled_last_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, age: u64| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        };
        for age in 1..=5 {
            put(&format!("tool-{age}.cwasm"), age);
        }
        put("guest-1.cwasm", 9);
        put("tool-notes.txt", 9);
        // Whatever the clock says of it, the file that was just written stays.
        put("tool-new.cwasm", 9);
        remove_older(folder.path(), "tool-new.cwasm", Kind { kept: 3, ..TOOL });
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            ["guest-1.cwasm", "tool-1.cwasm", "tool-2.cwasm", "tool-new.cwasm", "tool-notes.txt"]
        );
    }
}
