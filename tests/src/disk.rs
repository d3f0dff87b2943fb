//! A disk that can be filled without harm: a small file system in memory.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A mounted file system. It is unmounted when it is dropped.
#[derive(Debug)]
pub struct SmallDisk(TempDir);

impl SmallDisk {
    /// Mounts one of so many MiB. The error says why that is not possible here.
    pub fn mount(mebibytes: u32) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can mount a file system".to_owned());
        }
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={mebibytes}m,mode=700");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "nb-tests"]).arg(dir.path()).output();
        match mount {
            Ok(output) if output.status.success() => Ok(Self(dir)),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(format!("mount: {error}")),
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that was killed may hold it for another moment.
        let _ = Command::new("umount").arg("-l").arg(self.path()).stderr(Stdio::null()).status();
    }
}

/// Writes a file until nothing more fits on its disk.
pub fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    let mut part = vec![b'x'; 1 << 20];
    while !part.is_empty() {
        if file.write(&part).is_err() {
            part.truncate(part.len() / 2);
        }
    }
}

/// Bytes that do not compress.
pub fn noise(length: usize) -> Vec<u8> {
    // Xorshift: see Marsaglia, "Xorshift RNGs", 2003.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}
