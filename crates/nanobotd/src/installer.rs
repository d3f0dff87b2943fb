//! Packages in, agents out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use nb_api::agents::{InstallOptions, Installed as InstalledView, PackageView, SignerView, Uninstalled};
use nb_api::{ApiError, ErrorKind};
use nb_package::{KeyId, Package, SignatureError, Signer, TrustStore};
use nb_runtime::installed::Entry;
use nb_runtime::{Engine, Installed};
use nb_spec::agent::Strictness;
use nb_spec::{Agent, Permission};
use nb_store::{AgentRow, AgentState, SerialRow};
use nb_wake::Wake;
use serde_json::json;
use tokio::sync::Mutex;

use crate::refusal::{failed, no_agent, refused};
use crate::{leftovers, views};

/// Left free on the disk beyond what an install writes, so that the store can go on.
const RESERVE_BYTES: u64 = 16 << 20;
/// The serial of packages that nobody signed is kept under this name.
const NO_KEY: &str = "unsigned";

/// Installs and removes agents, one at a time.
pub struct Installer {
    engine: Engine,
    wake: Arc<Wake>,
    packages: PathBuf,
    trust: PathBuf,
    one_at_a_time: Mutex<()>,
}

impl Installer {
    /// Packages are unpacked below `packages`; keys are trusted that stand in `trust`.
    pub fn new(engine: Engine, wake: Arc<Wake>, state: &Path) -> Self {
        let (packages, trust) = (state.join("packages"), state.join("trust.d"));
        Self { engine, wake, packages, trust, one_at_a_time: Mutex::default() }
    }

    /// Removes what a crash left of an install, and reads the agents that are installed. One that does not load is kept
    /// with the reason.
    pub fn load_all(&self) -> Result<(), String> {
        if self.packages.exists() {
            nb_package::clean_staging(&self.packages).map_err(|error| error.to_string())?;
        }
        let rows = self.engine.services().store.agents().map_err(|error| error.to_string())?;
        // By name and digest, not by `dir`: what is installed stays when the whole home was moved elsewhere.
        let used = rows.iter().map(|row| self.packages.join(&row.name).join(&row.digest)).collect();
        leftovers::remove(&self.packages, &used);
        for row in rows {
            let entry = match Installed::load(row.clone()) {
                Ok(installed) => {
                    let installed = Arc::new(installed);
                    self.wake.begin(&installed, false).map_err(|error| error.to_string())?;
                    Entry::Ready(installed)
                }
                Err(problem) => {
                    tracing::error!(agent = row.name, "does not load: {problem}");
                    Entry::Broken(row, problem)
                }
            };
            self.engine.agents().insert(entry);
        }
        Ok(())
    }

    /// The trusted keys.
    pub fn trust(&self) -> Result<TrustStore, ApiError> {
        TrustStore::open(&self.trust).map_err(failed)
    }

    /// What installing a package would mean.
    pub fn inspect(&self, bytes: &[u8]) -> Result<PackageView, ApiError> {
        let package = nb_package::open(bytes).map_err(refused)?;
        let agent = package.agent(Strictness::Install).map_err(refused)?;
        let signer = package.verify(&self.trust()?, self.now());
        let installed = self.engine.agents().get(package.name());
        let granted = installed.as_ref().map(|entry| entry.row().grants.clone()).unwrap_or_default();
        Ok(PackageView {
            name: package.name().to_owned(),
            version: package.version().to_string(),
            serial: package.serial(),
            digest: package.digest(),
            description: agent.manifest.description.clone(),
            signer: signer_view(&signer),
            permissions: views::permissions(&agent.manifest.permissions, &granted),
            warnings: views::warnings(&agent),
            installed: installed.map(|entry| entry.row().version.clone()),
        })
    }

    /// Verifies a package and installs it. A crash at any moment leaves the old state or the new one.
    pub async fn install(&self, bytes: &[u8], options: &InstallOptions) -> Result<InstalledView, ApiError> {
        let _one = self.one_at_a_time.lock().await;
        let package = nb_package::open(bytes).map_err(refused)?;
        let signer = self.signer(&package, options)?;
        let agent = package.agent(Strictness::Install).map_err(refused)?;
        let before = self.engine.agents().get(package.name());
        self.check_owner(&package, &agent, signer.as_deref(), before.as_ref())?;
        self.check_serial(&package, signer.as_deref(), options)?;
        self.check_paths(&agent)?;
        let grants = granted(&agent, &options.grant, before.as_ref())?;
        self.check_space(&package)?;

        let row = self.row(&package, &agent, signer.clone(), grants.clone(), before.as_ref());
        let (sandbox, checked) = (self.engine.services().sandbox.clone(), agent.clone());
        let installed = tokio::task::spawn_blocking(move || {
            let installed = Installed::new(row, checked);
            installed.compile_all(&sandbox).map(|()| installed)
        });
        let mut installed =
            installed.await.map_err(failed)?.map_err(|error| ApiError::new(ErrorKind::Refused, error))?;

        let packages = self.packages.clone();
        let staged = tokio::task::spawn_blocking(move || nb_package::stage(&package, &packages)?.publish());
        let dir = staged.await.map_err(failed)?.map_err(|error| self.disk_failed(&error))?;
        installed.row.dir = dir.display().to_string();
        let view = self.view(&installed, before.as_ref());
        self.switch(installed, before.as_ref()).await?;
        Ok(view)
    }

    /// Makes an unpacked agent the installed one.
    async fn switch(&self, installed: Installed, before: Option<&Entry>) -> Result<(), ApiError> {
        let store = &self.engine.services().store;
        let row = &installed.row;
        let serial = SerialRow {
            key_id: row.signer.clone().unwrap_or_else(|| NO_KEY.to_owned()),
            name: row.name.clone(),
            serial: row.serial,
        };
        store.install(row, &serial).map_err(failed)?;
        store.commit().await.map_err(failed)?;
        let name = row.name.clone();
        let data = json!({"agent": name, "version": row.version, "digest": row.digest});
        let old_dir = before.map(|entry| entry.row().dir.clone()).filter(|dir| *dir != row.dir);
        // What runs goes on as it was installed, unless that may do something which its owner has withdrawn.
        let withdrawn =
            before.is_some_and(|old| old.row().grants.iter().any(|old| !row.grants.contains(old)));
        let installed = Arc::new(installed);
        self.wake.begin(&installed, false).map_err(failed)?;
        self.engine.agents().insert(Entry::Ready(installed));
        if withdrawn {
            self.engine.cancel_agent(&name, "a grant of the agent was withdrawn").await;
        }
        self.wake.agents_changed();
        self.publish("agent.installed", data).await?;
        if let Some(dir) = old_dir {
            remove_dir(&dir);
        }
        Ok(())
    }

    /// Removes an agent: its triggers, its grants, what it runs; with `purge` its data as well.
    pub async fn uninstall(&self, name: &str, purge: bool) -> Result<Uninstalled, ApiError> {
        let _one = self.one_at_a_time.lock().await;
        let entry = self.engine.agents().get(name).ok_or_else(|| no_agent(name))?;
        self.engine.agents().remove(name);
        self.wake.agents_changed();
        self.engine.cancel_agent(name, "the agent was uninstalled").await;
        let store = &self.engine.services().store;
        let namespace = match &entry {
            Entry::Ready(installed) => installed.spec.manifest.kv_namespace().to_owned(),
            Entry::Broken(..) => name.to_owned(),
        };
        let removed = if purge { store.purge(name, &namespace) } else { store.remove_agent(name) };
        removed.map_err(failed)?;
        store.commit().await.map_err(failed)?;
        self.publish("agent.uninstalled", json!({"agent": name, "purged": purge})).await?;
        remove_dir(&entry.row().dir);
        Ok(Uninstalled { name: name.to_owned(), purged: purge })
    }

    /// Lets an agent be woken, or not.
    pub async fn set_state(&self, name: &str, state: AgentState) -> Result<(), ApiError> {
        let _one = self.one_at_a_time.lock().await;
        let entry = self.engine.agents().get(name).ok_or_else(|| no_agent(name))?;
        let mut row = entry.row().clone();
        if row.state == state {
            return Ok(());
        }
        row.state = state;
        row.state_since = self.now();
        let event = if state == AgentState::Running { "agent.started" } else { "agent.stopped" };
        let store = &self.engine.services().store;
        store.put_agent(&row).map_err(failed)?;
        let entry = match entry {
            Entry::Broken(_, problem) => Entry::Broken(row, problem),
            Entry::Ready(installed) => {
                let installed = Arc::new(Installed::new(row, installed.spec.clone()));
                self.wake.begin(&installed, state == AgentState::Running).map_err(failed)?;
                Entry::Ready(installed)
            }
        };
        self.engine.agents().insert(entry);
        self.wake.agents_changed();
        if state == AgentState::Stopped {
            self.engine.cancel_agent(name, "the agent was stopped").await;
        }
        self.publish(event, json!({"agent": name})).await
    }

    async fn publish(&self, event: &str, data: serde_json::Value) -> Result<(), ApiError> {
        self.engine.publish(event, data, "daemon", 0).map_err(failed)?;
        self.engine.services().store.commit().await.map_err(failed)
    }

    fn now(&self) -> DateTime<Utc> {
        self.engine.services().world.now()
    }

    /// The id of the key that signed it; none when it is allowed without one that is trusted.
    fn signer(&self, package: &Package, options: &InstallOptions) -> Result<Option<String>, ApiError> {
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
    fn check_owner(
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
        let namespace = agent.manifest.kv_namespace();
        for other in self.engine.agents().all() {
            let Entry::Ready(other) = other else { continue };
            let shares = other.spec.manifest.kv_namespace() == namespace && other.name() != package.name();
            if shares && (signer.is_none() || other.row.signer.as_deref() != signer) {
                let message = format!(
                    "kv_namespace `{namespace}` belongs to agent {}, which is signed by {}",
                    other.name(),
                    words(other.row.signer.as_deref())
                );
                return Err(ApiError::new(ErrorKind::Conflict, message)
                    .hint("only agents of one signer share values"));
            }
        }
        Ok(())
    }

    fn check_serial(
        &self,
        package: &Package,
        signer: Option<&str>,
        options: &InstallOptions,
    ) -> Result<(), ApiError> {
        let store = &self.engine.services().store;
        let highest = store.highest_serial(signer.unwrap_or(NO_KEY), package.name()).map_err(failed)?;
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

    fn check_paths(&self, agent: &Agent) -> Result<(), ApiError> {
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

    fn check_space(&self, package: &Package) -> Result<(), ApiError> {
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

    fn disk_failed(&self, error: &nb_package::PackageError) -> ApiError {
        ApiError::new(ErrorKind::Failed, format!("cannot write to {}: {error}", self.packages.display()))
            .hint("nothing was changed")
    }

    fn row(
        &self,
        package: &Package,
        agent: &Agent,
        signer: Option<String>,
        grants: Vec<String>,
        before: Option<&Entry>,
    ) -> AgentRow {
        let now = self.now();
        // Intervals count from whole seconds, so that times read well.
        let whole = now.duration_trunc(TimeDelta::seconds(1)).unwrap_or(now);
        let before = before.map(Entry::row);
        AgentRow {
            name: package.name().to_owned(),
            version: package.version().to_string(),
            serial: package.serial(),
            digest: package.digest(),
            signer,
            permissions_requested: agent.manifest.permissions.clone(),
            grants,
            state: before.map_or(AgentState::Running, |row| row.state),
            state_since: before.map_or(whole, |row| row.state_since),
            installed_at: before.map_or(whole, |row| row.installed_at),
            dir: String::new(),
        }
    }

    fn view(&self, installed: &Installed, before: Option<&Entry>) -> InstalledView {
        let row = &installed.row;
        let old = before.map(|entry| entry.row().grants.clone()).unwrap_or_default();
        let refused =
            row.permissions_requested.iter().filter(|asked| !row.grants.contains(asked)).cloned().collect();
        InstalledView {
            name: row.name.clone(),
            version: row.version.clone(),
            digest: row.digest.clone(),
            signer: row.signer.clone(),
            granted: row.grants.clone(),
            refused,
            withdrawn: old.into_iter().filter(|grant| !row.grants.contains(grant)).collect(),
            replaces: before.map(|entry| entry.row().version.clone()),
            warnings: views::warnings(&installed.spec),
        }
    }
}

/// What a person grants: `all`, `none`, or permissions with commas between. Unknown permissions are never granted.
/// Nothing said: what an installed version had and this one still asks for.
fn granted(agent: &Agent, grant: &str, before: Option<&Entry>) -> Result<Vec<String>, ApiError> {
    let requested = &agent.manifest.permissions;
    let known = |text: &&String| Permission::parse(text).is_known();
    match grant.trim() {
        "" => {
            let old = before.map(|entry| entry.row().grants.clone()).unwrap_or_default();
            Ok(requested.iter().filter(|asked| old.contains(asked)).cloned().collect())
        }
        "all" => Ok(requested.iter().filter(known).cloned().collect()),
        "none" => Ok(Vec::new()),
        list => {
            let mut granted = Vec::new();
            for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                let permission = Permission::parse(text);
                if !requested.iter().any(|asked| Permission::parse(asked).covers(&permission)) {
                    let asked =
                        if requested.is_empty() { "nothing".to_owned() } else { requested.join(", ") };
                    let message =
                        format!("{} does not ask for `{text}`; it asks for {asked}", agent.manifest.name);
                    return Err(ApiError::new(ErrorKind::Usage, message));
                }
                if permission.is_known() && !granted.contains(&text.to_owned()) {
                    granted.push(text.to_owned());
                }
            }
            Ok(granted)
        }
    }
}

fn signer_view(signer: &Result<Signer, SignatureError>) -> SignerView {
    match signer {
        Ok(Signer { key_id, label }) => SignerView {
            trusted: true,
            key: Some(key_id.to_string()),
            label: Some(label.clone()),
            reason: None,
        },
        Err(error) => {
            let key: Option<KeyId> = match error {
                SignatureError::UnknownKey { key_id } | SignatureError::Revoked { key_id } => Some(*key_id),
                _ => None,
            };
            SignerView {
                trusted: false,
                key: key.map(|key| key.to_string()),
                label: None,
                reason: Some(error.to_string()),
            }
        }
    }
}

fn remove_dir(dir: &str) {
    // The row of the store is gone or points elsewhere: a folder that stays is only a waste of space.
    if let Err(error) = std::fs::remove_dir_all(dir) {
        tracing::warn!("{dir} is not removed: {error}");
    }
}
