//! The folders that components may read: where they are, and that none of them leads to what is the daemon's own.

use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nb_sandbox::Folder;
use nb_spec::permission::FILES_READ;
use rustix::fs::{Mode, OFlags};

use crate::services::Services;

impl Services {
    /// Where a folder is that `files.read` names, with all links followed as they are now. It need not exist.
    ///
    /// # Errors
    /// A sentence, when it cannot be told, or when the folder is, lies in, or holds something of the daemon's own:
    /// whoever reads that has every secret and every other agent's data.
    pub fn readable_folder(&self, name: &str) -> Result<PathBuf, String> {
        let folder = real_path(&self.below_home(name)?);
        self.is_not_own(name, &folder).map(|()| folder)
    }

    /// Opens such a folder for a call. What is judged is what was opened: a link in the path can come to lead elsewhere
    /// at any moment.
    ///
    /// # Errors
    /// As [`Services::readable_folder`], and when it cannot be opened.
    pub(crate) fn open_folder(&self, name: &str) -> Result<Folder, String> {
        // A link that leads to nothing is judged by where it leads.
        self.readable_folder(name)?;
        let path = self.below_home(name)?;
        let failed = |error: io::Error| {
            format!("the folder {}, which it may read, cannot be opened: {error}", path.display())
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&path, flags, Mode::empty()).map_err(|errno| failed(errno.into()))?;
        let link = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
        self.is_not_own(name, &link.read_link().map_err(failed)?)?;
        Ok(Folder { name: name.to_owned(), path: link, opened: Some(Arc::new(opened)) })
    }

    fn is_not_own(&self, name: &str, folder: &Path) -> Result<(), String> {
        let own = self.own_paths.iter().flat_map(|own| with_links(own)).find(|own| {
            let own = real_path(own);
            own.starts_with(folder) || folder.starts_with(&own)
        });
        match own {
            None => Ok(()),
            Some(own) => Err(format!(
                "`{FILES_READ}:{name}` leads to {}, which is the daemon's own and which no tool may read",
                own.display()
            )),
        }
    }

    fn below_home(&self, name: &str) -> Result<PathBuf, String> {
        let Some(rest) = name.strip_prefix('~') else { return Ok(name.into()) };
        let home = self.secrets.variable("HOME").filter(|home| home.starts_with('/'));
        home.map(|home| format!("{home}{rest}").into()).ok_or_else(|| {
            format!("`{FILES_READ}:{name}` is below the home of the daemon's user, and HOME is not the path of a folder")
        })
    }
}

/// An own path, and the links in it: a secret, the secrets as a whole or a part of the state may stand elsewhere.
fn with_links(own: &Path) -> Vec<PathBuf> {
    let links_in = |folder: PathBuf| {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_symlink())
    };
    let mut found: Vec<PathBuf> = links_in(own.to_owned()).collect();
    found.extend(links_in(own.join("secrets")));
    found.push(own.to_owned());
    found
}

/// A path without links. Of one that does not exist, as far as it does.
fn real_path(path: &Path) -> PathBuf {
    follow(path, MAX_LINKS)
}

/// As many links in a row as Linux follows.
const MAX_LINKS: usize = 40;

fn follow(path: &Path, links: usize) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    match path.read_link() {
        // It leads to what does not exist yet.
        Ok(target) if links > 0 => follow(&parent.join(target), links - 1),
        _ => follow(parent, links).join(name),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_that_does_not_exist_is_real_as_far_as_it_does() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        fs::create_dir(real.join("there")).unwrap();
        symlink(real.join("there"), real.join("link")).unwrap();
        assert_eq!(real_path(&real.join("link/not/yet")), real.join("there/not/yet"));
        symlink("there/not/yet", real.join("dangling")).unwrap();
        assert_eq!(real_path(&real.join("dangling/file")), real.join("there/not/yet/file"));
        symlink("loop", real.join("loop")).unwrap();
        assert_eq!(real_path(&real.join("loop/file")), real.join("loop/file"));
        assert_eq!(real_path(Path::new("/")), Path::new("/"));
    }
}
