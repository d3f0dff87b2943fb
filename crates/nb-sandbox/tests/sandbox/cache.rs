//! The compiled component on disk is used only when it can be trusted.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nb_sandbox::{Lang, Sandbox, SandboxConfig, Source};

fn start(folder: &Path) {
    let config = SandboxConfig { cache_dir: Some(folder.to_path_buf()), max_concurrent: 1 };
    let sandbox = Sandbox::new(&config).expect("the sandbox starts with any cache");
    sandbox.compile(&Source::new(Lang::Lua, "test.lua", "return 1"), &[]).expect("and works");
}

fn cached(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The file's identity: a file that was written anew has another inode.
fn inode(folder: &Path) -> u64 {
    let files = cached(folder);
    assert_eq!(files.len(), 1, "{files:?}");
    fs::metadata(&files[0]).unwrap().ino()
}

#[test]
fn the_compiled_component_is_kept_and_used_again() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a/b");
    start(&folder);
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&cached(&folder)[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let first = inode(&folder);
    start(&folder);
    assert_eq!(inode(&folder), first);

    // A damaged file is compiled anew and replaced, whichever byte it is.
    let file = cached(&folder).remove(0);
    let good = fs::read(&file).unwrap();
    for position in [0, 40, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[position] ^= 1;
        fs::write(&file, &bad).unwrap();
        start(&folder);
        assert_eq!(fs::read(&file).unwrap(), good, "byte {position}");
    }
    fs::write(&file, &good[..10]).unwrap();
    start(&folder);
    assert_eq!(fs::read(&file).unwrap(), good);

    // A file that others can write is not used; it is replaced by one that they cannot.
    fs::set_permissions(&file, Permissions::from_mode(0o620)).unwrap();
    start(&folder);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    // Nor is one that is a link to somewhere else.
    let elsewhere = home.path().join("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    start(&folder);
    assert!(fs::symlink_metadata(&file).unwrap().is_file());

    // What another version left is removed when a file is written.
    fs::write(folder.join("guest-0123456789abcdef-0123456789abcdef.cwasm"), "old").unwrap();
    fs::remove_file(&file).unwrap();
    start(&folder);
    assert_eq!(cached(&folder), [file]);
}

#[test]
fn a_folder_that_others_can_write_is_neither_read_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    for mode in [0o770, 0o707] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        start(folder.path());
        assert!(cached(folder.path()).is_empty());
    }
}

#[test]
fn what_belongs_to_somebody_else_is_not_loaded() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: files of another owner: only root can make one");
        return;
    }
    const SOMEBODY_ELSE: u32 = 65534;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("cache");
    start(&folder);
    let file = cached(&folder).remove(0);
    let good = inode(&folder);
    std::os::unix::fs::chown(&file, Some(SOMEBODY_ELSE), None).unwrap();
    start(&folder);
    assert_ne!(inode(&folder), good, "compiled anew, and the file replaced");
    assert_eq!(fs::metadata(&file).unwrap().uid(), 0);

    let before = inode(&folder);
    std::os::unix::fs::chown(&folder, Some(SOMEBODY_ELSE), None).unwrap();
    start(&folder);
    assert_eq!(inode(&folder), before, "a folder of somebody else is neither read nor written");
}

#[test]
fn a_cache_that_is_not_a_folder_is_no_obstacle() {
    let file = tempfile::NamedTempFile::new().unwrap();
    start(file.path());
    start(Path::new("/proc/nowhere"));
}
