//! What must hold before a package becomes an agent, and what its owner should know beforehand.

use std::path::Path;

use nb_api::agents::InstallOptions;
use nb_api::{ApiError, ErrorKind};
use nb_package::{Package, SignatureError, Signer};
use nb_runtime::installed::Entry;
use nb_spec::permission::FILES_READ;
use nb_spec::{Agent, Permission};

use super::{Installer, NO_KEY, RESERVE_BYTES};
use crate::owners::Owners;
use crate::refusal::{failed, refused};
use crate::views;

impl Installer {
    /// The id of the key that signed it; none when it is allowed without one that is trusted.
    pub(super) fn signer(
        &self,
        package: &Package,
        options: &InstallOptions,
    ) -> Result<Option<String>, ApiError> {
        match package.verify(&self.trust()?, self.now()) {
            Ok(Signer { key_id, .. }) => Ok(Some(key_id.to_string())),
            Err(SignatureError::Unsigned { .. } | SignatureError::UnknownKey { .. })
                if options.allow_unsigned =>
            {
                Ok(None)
            }
            Err(error) => Err(refused(error)),
        }
    }

    /// A name belongs to who signed its first build, and a kv namespace to the agents of one signer.
    pub(super) fn check_owner(
        &self,
        package: &Package,
        agent: &Agent,
        signer: Option<&str>,
        before: Option<&Entry>,
    ) -> Result<(), ApiError> {
        let words = |signer: Option<&str>| signer.map_or("nobody".to_owned(), |key| format!("the key {key}"));
        if let Some(row) = before.map(Entry::row)
            && row.signer.as_deref() != signer
        {
            let message = format!(
                "{} is installed as signed by {}; this package is signed by {}",
                package.name(),
                words(row.signer.as_deref()),
                words(signer)
            );
            let hint =
                format!("if the change is meant, uninstall it first: nbctl uninstall {}", package.name());
            return Err(ApiError::new(ErrorKind::Conflict, message).hint(hint));
        }
        Owners(&self.engine).check(agent.manifest.kv_namespace(), package.name(), signer)
    }

    pub(super) fn check_serial(
        &self,
        package: &Package,
        signer: Option<&str>,
        options: &InstallOptions,
        before: Option<&Entry>,
    ) -> Result<(), ApiError> {
        let store = &self.engine.services().store;
        let highest = store.highest_serial(signer.unwrap_or(NO_KEY), package.name()).map_err(failed)?;
        // Which of two builds with one serial is the older one cannot be told.
        let same_serial = before
            .map(Entry::row)
            .is_some_and(|row| row.serial == package.serial() && row.digest != package.digest());
        if same_serial && !options.allow_downgrade {
            let message = format!(
                "{} has the serial {} of the installed build, and other content",
                package.name(),
                package.serial()
            );
            return Err(ApiError::new(ErrorKind::Refused, message)
                .hint("build it again with a higher --serial; or, if this one is meant: --allow-downgrade"));
        }
        match highest {
            Some(highest) if package.serial() < highest && !options.allow_downgrade => {
                let message = format!(
                    "{} has serial {}, older than {highest}, which was installed before",
                    package.name(),
                    package.serial()
                );
                Err(ApiError::new(ErrorKind::Refused, message)
                    .hint("if the step back is meant: --allow-downgrade"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check_paths(&self, agent: &Agent) -> Result<(), ApiError> {
        let name = &agent.manifest.name;
        for webhook in &agent.manifest.triggers.webhooks {
            let others = self.engine.agents().all().into_iter().filter(|other| other.row().name != *name);
            for other in others {
                let Entry::Ready(other) = other else { continue };
                if other.spec.manifest.triggers.webhooks.iter().any(|theirs| theirs.path == webhook.path) {
                    let message = format!("webhook path {} belongs to agent {}", webhook.path, other.name());
                    return Err(ApiError::new(ErrorKind::Conflict, message));
                }
            }
        }
        Ok(())
    }

    /// No folder is granted that leads to what is the daemon's own. It is looked at again at each call.
    pub(super) fn check_folders(&self, grants: &[String]) -> Result<(), ApiError> {
        for folder in folders(grants) {
            self.engine.services().readable_folder(&folder).map_err(|reason| {
                ApiError::new(ErrorKind::Refused, reason)
                    .hint("name the permissions to grant without this one: --grant PERMISSION,PERMISSION")
            })?;
        }
        Ok(())
    }

    /// What a person should know about an agent although it can be installed, a sentence each.
    pub(super) fn warnings(&self, agent: &Agent) -> Vec<String> {
        let mut warnings = views::warnings(&agent.warnings);
        let missing = agent.missing_modules();
        // Those that are errors keep the agent from being installed.
        if !missing.has_errors() {
            warnings.extend(views::warnings(&missing));
        }
        let folders = folders(&agent.manifest.requested_permissions());
        warnings.extend(folders.iter().filter_map(|name| {
            match self.engine.services().readable_folder(name) {
                // A link is followed: what is granted is where it leads.
                Ok(path) if path.is_dir() => (!is_at(name, &path))
                    .then(|| format!("`{FILES_READ}:{name}` leads to {}", path.display())),
                Ok(path) => Some(format!("`{FILES_READ}:{name}`: there is no folder {}", path.display())),
                Err(reason) => Some(format!("{reason}: it cannot be granted")),
            }
        }));
        warnings
    }

    pub(super) fn check_space(&self, package: &Package) -> Result<(), ApiError> {
        let needed: u64 = package.files.iter().map(|(_, bytes)| bytes.len() as u64 + 4096).sum();
        let state = self.packages.parent().unwrap_or(&self.packages);
        let free = nb_store::free_bytes(state).map_err(failed)?;
        if free < needed + RESERVE_BYTES {
            let message = format!(
                "the disk of {} is full: {} KiB are free, the package needs {} KiB and the daemon {} KiB to go on",
                state.display(),
                free >> 10,
                needed >> 10,
                RESERVE_BYTES >> 10
            );
            return Err(ApiError::new(ErrorKind::Failed, message)
                .hint("free some space and install again; nothing was changed"));
        }
        Ok(())
    }

    pub(super) fn disk_failed(&self, error: &nb_package::PackageError) -> ApiError {
        ApiError::new(ErrorKind::Failed, format!("cannot write to {}: {error}", self.packages.display()))
            .hint("nothing was changed")
    }
}

/// The folders that these permissions name.
fn folders(permissions: &[String]) -> Vec<String> {
    let parsed = permissions.iter().map(|text| Permission::parse(text));
    let known = parsed.filter(|permission| permission.ability == FILES_READ && permission.is_known());
    known.filter_map(|permission| permission.scope).collect()
}

/// Whether a folder is where its name says, and not where a link leads.
fn is_at(name: &str, folder: &Path) -> bool {
    match name.strip_prefix('~') {
        Some(below_home) => folder.ends_with(below_home.trim_start_matches('/')),
        None => folder == Path::new(name),
    }
}
