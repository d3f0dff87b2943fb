//! Values of secrets: one file each, `secrets/NAME` in the config folder or a credential of the service manager.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nb_runtime::services::Secrets;
use rustix::fs::OFlags;

/// Reads secrets when they are asked for, so that a change needs no restart.
#[derive(Debug, Clone)]
pub struct SecretFiles {
    own: PathBuf,
    credentials: Option<PathBuf>,
}

impl SecretFiles {
    /// Secrets of a config folder, and those that systemd hands over in `$CREDENTIALS_DIRECTORY`.
    pub fn new(config: &Path, credentials: Option<PathBuf>) -> Self {
        Self { own: config.join("secrets"), credentials }
    }
}

impl Secrets for SecretFiles {
    fn read(&self, name: &str) -> Result<String, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!("`{name}` is no name of a secret; they have letters, digits and `_` alone"));
        }
        let file = self.own.join(name);
        let because = |reason: String| {
            let told = format!("secret {name} is not used: {reason}");
            tracing::error!("{told}");
            told
        };
        let text = match open(&file) {
            Ok(opened) => std::io::read_to_string(opened)
                .map_err(|error| because(format!("{} cannot be read: {error}", file.display())))?,
            Err(Unusable::Missing) => {
                // The service manager guards its credentials itself, by other means than owner and mode.
                let credential = self.credentials.as_ref().map(|folder| folder.join(name));
                credential.and_then(|path| std::fs::read_to_string(path).ok()).ok_or_else(|| {
                    let file = file.display();
                    format!("secret {name} is not there; write its value to {file} and chmod 600 {file}")
                })?
            }
            Err(Unusable::Because(reason)) => return Err(because(reason)),
        };
        // Editors and `echo` end a file with a newline that is not part of the secret.
        let value = text.strip_suffix('\n').unwrap_or(&text);
        // An empty file is one that somebody meant to fill.
        match value {
            "" => Err(format!("secret {name} is empty; write its value to {}", file.display())),
            value => Ok(value.to_owned()),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// Why a file gives no secret.
enum Unusable {
    Missing,
    Because(String),
}

/// Opens a file that nobody else may read or could have written. What is judged is what was opened: a name can come to
/// mean another file at any moment.
fn open(path: &Path) -> Result<File, Unusable> {
    let because = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Unusable::Missing,
        _ => Unusable::Because(format!("{}: {error}", path.display())),
    };
    // A pipe without a writer would be waited for.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblocking).open(path).map_err(because)?;
    let found = file.metadata().map_err(because)?;
    let own = rustix::process::geteuid().as_raw();
    let shown = path.display();
    if !found.is_file() {
        Err(Unusable::Because(format!("{shown} is no file")))
    } else if found.uid() != own && found.uid() != 0 {
        Err(Unusable::Because(format!("{shown} belongs to user {}; chown {own} {shown}", found.uid())))
    } else if found.mode() & 0o077 != 0 {
        Err(Unusable::Because(format!("others may read {shown}; chmod 600 {shown}")))
    } else {
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn home() -> (tempfile::TempDir, PathBuf, SecretFiles) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("secrets/TOKEN");
        std::fs::create_dir_all(dir.path().join("secrets")).unwrap();
        let secrets = SecretFiles::new(dir.path(), None);
        (dir, file, secrets)
    }

    #[test]
    fn a_secret_that_others_may_read_is_not_used() {
        let (_dir, file, secrets) = home();
        std::fs::write(&file, "value\n").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        assert_eq!(secrets.value("TOKEN"), None);
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(secrets.value("TOKEN").as_deref(), Some("value"));
        assert_eq!(secrets.value("../secrets/TOKEN"), None);
    }

    #[test]
    fn a_secret_that_cannot_be_used_says_where_it_belongs_and_what_to_do() {
        let (_dir, file, secrets) = home();
        let shown = file.display();
        let refusal = || secrets.read("TOKEN").unwrap_err();
        assert_eq!(
            refusal(),
            format!("secret TOKEN is not there; write its value to {shown} and chmod 600 {shown}")
        );
        std::fs::write(&file, "\n").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(refusal(), format!("secret TOKEN is empty; write its value to {shown}"));
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(
            refusal(),
            format!("secret TOKEN is not used: others may read {shown}; chmod 600 {shown}")
        );
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&file, [0xff]).unwrap();
        let told = refusal();
        assert!(told.starts_with(&format!("secret TOKEN is not used: {shown} cannot be read: ")), "{told}");
        let told = secrets.read("../TOKEN").unwrap_err();
        assert_eq!(told, "`../TOKEN` is no name of a secret; they have letters, digits and `_` alone");
    }

    #[test]
    fn a_secret_of_another_user_is_not_used() {
        if !rustix::process::geteuid().is_root() {
            // Not by a macro: the test runner shows what those print of failed tests alone.
            let said =
                b"skipped: a_secret_of_another_user_is_not_used: only root can give a file to another user\n";
            return std::io::stderr().write_all(said).unwrap();
        }
        let (_dir, file, secrets) = home();
        std::fs::write(&file, "value").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
        assert_eq!(secrets.value("TOKEN"), None);
    }

    #[test]
    fn a_pipe_is_no_secret_and_holds_nobody_up() {
        let (_dir, file, secrets) = home();
        let made = std::process::Command::new("mkfifo").arg("-m").arg("600").arg(&file).status().unwrap();
        assert!(made.success());
        assert_eq!(secrets.value("TOKEN"), None);
    }
}
