//! Values of secrets: one file each, `secrets/NAME` in the config folder or a credential of the service manager.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nb_runtime::services::Secrets;

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
    fn value(&self, name: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        let own = self.own.join(name);
        let text = match std::fs::metadata(&own) {
            Ok(metadata) if metadata.mode() & 0o077 != 0 => {
                tracing::error!("secret {} is not used: others may read it; chmod 600 {0}", own.display());
                return None;
            }
            Ok(_) => std::fs::read_to_string(&own).ok()?,
            // The service manager guards its credentials itself, by other means than the mode.
            Err(_) => std::fs::read_to_string(self.credentials.as_ref()?.join(name)).ok()?,
        };
        // Editors and `echo` end a file with a newline that is not part of the secret.
        Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_secret_that_others_may_read_is_not_used() {
        let dir = std::env::temp_dir().join(format!("nanobotd-secrets-{}", std::process::id()));
        let file = dir.join("secrets/TOKEN");
        std::fs::create_dir_all(dir.join("secrets")).unwrap();
        std::fs::write(&file, "value\n").unwrap();
        let secrets = SecretFiles::new(&dir, None);
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        assert_eq!(secrets.value("TOKEN"), None);
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(secrets.value("TOKEN").as_deref(), Some("value"));
        assert_eq!(secrets.value("../secrets/TOKEN"), None);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
