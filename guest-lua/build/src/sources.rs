//! Where the sources are: our own beside this crate, Fennel vendored, Lua in the crate `lua-src`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::digest;
use crate::error::BuildError;

/// The files of Lua that the guest links. Left out: `io`, `os` and `package`, which a tool must not have, and the
/// interpreter's own main program.
const LUA_FILES: &[&str] = &[
    "lapi", "lauxlib", "lbaselib", "lcode", "lcorolib", "lctype", "ldblib", "ldebug", "ldo", "ldump",
    "lfunc", "lgc", "llex", "lmathlib", "lmem", "lobject", "lopcodes", "lparser", "lstate", "lstring",
    "lstrlib", "ltable", "ltablib", "ltm", "lundump", "lutf8lib", "lvm", "lzio",
];

/// As Cargo.toml pins it; the workspace may hold another version beside it.
const LUA_CRATE: (&str, &str) = ("lua-src", "551.1.0");
const LUA_FOLDER: &str = "lua-5.4.9";

pub struct Sources {
    guest: PathBuf,
    pub lua: PathBuf,
    /// Where cargo builds; what is generated on the way goes there.
    pub target: PathBuf,
}

impl Sources {
    pub fn find() -> Result<Self, BuildError> {
        let guest = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let metadata = cargo_metadata()?;
        let target = metadata["target_directory"].as_str();
        let target =
            PathBuf::from(target.ok_or_else(|| BuildError::LuaSources("cargo names no folder".into()))?);
        let sources = Self { lua: find_lua(&metadata)?, target, guest };
        sources.verify_fennel()?;
        Ok(sources)
    }

    pub fn wit(&self) -> PathBuf {
        self.guest.join("wit")
    }

    pub fn vendor(&self) -> PathBuf {
        self.guest.join("vendor")
    }

    pub fn glue(&self) -> PathBuf {
        self.guest.join("src")
    }

    pub fn component(&self) -> PathBuf {
        self.guest.join("guest.wasm")
    }

    pub fn component_digest(&self) -> PathBuf {
        self.guest.join("guest.wasm.sha256")
    }

    /// All C files to compile but the generated ones, in an order that does not depend on the file system.
    pub fn c_files(&self) -> Result<Vec<PathBuf>, BuildError> {
        let glue = self.glue();
        let unreadable = |source| BuildError::Read { path: glue.clone(), source };
        let mut files = Vec::new();
        for entry in fs::read_dir(&glue).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|extension| extension == "c") {
                files.push(path);
            }
        }
        files.sort();
        files.extend(LUA_FILES.iter().map(|name| self.lua.join(name).with_extension("c")));
        Ok(files)
    }

    fn verify_fennel(&self) -> Result<(), BuildError> {
        let path = self.vendor().join("fennel.lua");
        let expected = read_digest(&self.vendor().join("fennel.lua.sha256"))?;
        let found = digest(&read(&path)?);
        if found == expected { Ok(()) } else { Err(BuildError::Pinned { path, found, expected }) }
    }
}

pub fn read(path: &Path) -> Result<Vec<u8>, BuildError> {
    fs::read(path).map_err(|source| BuildError::Read { path: path.into(), source })
}

/// The first word of a file as `sha256sum` writes it.
pub fn read_digest(path: &Path) -> Result<String, BuildError> {
    let text = String::from_utf8_lossy(&read(path)?).into_owned();
    Ok(text.split_whitespace().next().unwrap_or_default().to_owned())
}

fn cargo_metadata() -> Result<serde_json::Value, BuildError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(&cargo)
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .map_err(|source| BuildError::Start { tool: "cargo".into(), source })?;
    if !output.status.success() {
        return Err(BuildError::LuaSources(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| BuildError::LuaSources(error.to_string()))
}

/// Where cargo keeps the crate that this one depends on; its version is pinned in Cargo.toml.
fn find_lua(metadata: &serde_json::Value) -> Result<PathBuf, BuildError> {
    let manifest = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| {
            (package["name"].as_str(), package["version"].as_str()) == (Some(LUA_CRATE.0), Some(LUA_CRATE.1))
        })
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or_else(|| BuildError::LuaSources("cargo does not list it".into()))?;
    let folder = Path::new(manifest).with_file_name(LUA_FOLDER);
    if folder.join("lua.h").is_file() {
        Ok(folder)
    } else {
        Err(BuildError::LuaSources(format!("{} has no lua.h", folder.display())))
    }
}
