//! Packages in, agents out. What must hold before that is in `installer/checks.rs`.

mod checks;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Bytes;
use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use nb_api::agents::{InstallOptions, Installed as InstalledView, PackageView, SignerView, Uninstalled};
use nb_api::{ApiError, ErrorKind};
use nb_package::{KeyId, Package, PublicKey, SignatureError, Signer, TrustStore};
use nb_runtime::installed::Entry;
use nb_runtime::{Engine, Installed};
use nb_spec::Agent;
use nb_spec::agent::Strictness;
use nb_store::{AgentRow, AgentState, SerialRow, SpendingRow};
use nb_wake::Wake;
use serde_json::json;
use tokio::sync::{Mutex, MutexGuard};

use crate::owners::Owners;
use crate::refusal::{failed, no_agent, refused};
use crate::{grants, leftovers, unpacked, views};

/// Left free on the disk beyond what an install writes, so that the store can go on.
const RESERVE_BYTES: u64 = 16 << 20;
/// The serial of packages that nobody signed is kept under this name.
const NO_KEY: &str = "unsigned";

/// Installs and removes agents, one at a time. What has begun is carried out whole, also when nobody waits for it any
/// more.
pub struct Installer {
    engine: Engine,
    wake: Arc<Wake>,
    packages: PathBuf,
    trust: PathBuf,
    /// Held by who changes something; true when the daemon leaves and nothing more is begun.
    turn: Mutex<bool>,
}

impl Installer {
    /// Packages are unpacked below `packages`; keys are trusted that stand in `trust`.
    pub fn new(engine: Engine, wake: Arc<Wake>, state: &Path) -> Self {
        let (packages, trust) = (state.join("packages"), state.join("trust.d"));
        Self { engine, wake, packages, trust, turn: Mutex::default() }
    }

    /// Removes what a crash left of an install, and reads the agents that are installed. One that does not load is kept
    /// with the reason.
    pub fn load_all(&self) -> Result<(), String> {
        if self.packages.exists() {
            nb_package::clean_staging(&self.packages).map_err(|error| error.to_string())?;
        }
        let rows = self.engine.services().store.agents().map_err(|error| error.to_string())?;
        let used = rows.iter().map(|row| unpacked::folder(&self.packages, row)).collect();
        leftovers::remove(&self.packages, &used);
        for row in rows {
            let entry = match unpacked::load(&self.packages, row.clone()) {
                Ok(installed) => {
                    let namespace = installed.spec.manifest.kv_namespace();
                    let owners = Owners(&self.engine);
                    owners
                        .claim(namespace, &row.name, row.signer.as_deref())
                        .map_err(|error| error.to_string())?;
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

    /// Waits for the change that is under way, and begins none after it.
    pub async fn close(&self) {
        *self.turn.lock().await = true;
    }

    async fn turn(&self) -> Result<MutexGuard<'_, bool>, ApiError> {
        let leaving = self.turn.lock().await;
        if *leaving {
            return Err(ApiError::new(ErrorKind::Unreachable, "the daemon is leaving"));
        }
        Ok(leaving)
    }

    /// The trusted keys.
    pub fn trust(&self) -> Result<TrustStore, ApiError> {
        TrustStore::open(&self.trust).map_err(failed)
    }

    /// Trusts a key for the names that one of `globs` matches; for any name when there is none.
    pub async fn trust_key(
        &self,
        key: &PublicKey,
        label: &str,
        globs: &[String],
    ) -> Result<TrustStore, ApiError> {
        let _turn = self.turn().await?;
        let mut trust = self.trust()?;
        trust.add(key, label, globs).map_err(|error| ApiError::new(ErrorKind::Usage, error.to_string()))?;
        Ok(trust)
    }

    /// Revokes a key, known or not.
    pub async fn revoke_key(&self, id: KeyId) -> Result<TrustStore, ApiError> {
        let _turn = self.turn().await?;
        let mut trust = self.trust()?;
        trust.revoke(id).map_err(failed)?;
        Ok(trust)
    }

    /// What installing a package would mean.
    pub async fn inspect(&self, bytes: Bytes) -> Result<PackageView, ApiError> {
        let (package, agent) = open(bytes).await?;
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
            permissions: views::permissions(&agent.manifest.requested_permissions(), &granted),
            model: views::model(&agent, SpendingRow::default()),
            warnings: self.warnings(&agent),
            installed: installed.map(|entry| entry.row().version.clone()),
        })
    }

    /// Verifies a package and installs it. A crash at any moment leaves the old state or the new one.
    pub async fn install(
        self: &Arc<Self>,
        bytes: Bytes,
        options: InstallOptions,
    ) -> Result<InstalledView, ApiError> {
        let this = Arc::clone(self);
        whole(async move { this.install_now(bytes, &options).await }).await
    }

    async fn install_now(&self, bytes: Bytes, options: &InstallOptions) -> Result<InstalledView, ApiError> {
        let _turn = self.turn().await?;
        let (package, agent) = open(bytes).await?;
        let signer = self.signer(&package, options)?;
        let before = self.engine.agents().get(package.name());
        self.check_owner(&package, &agent, signer.as_deref(), before.as_ref())?;
        self.check_serial(&package, signer.as_deref(), options, before.as_ref())?;
        self.check_paths(&agent)?;
        let had = before.as_ref().map(|entry| entry.row().grants.as_slice()).unwrap_or_default();
        let grants = grants::read(&agent, &options.grant, had)?;
        self.check_folders(&grants)?;
        self.check_space(&package)?;

        let row = self.row(&package, &agent, signer, grants, before.as_ref());
        let services = self.engine.services().clone();
        let installed = tokio::task::spawn_blocking(move || {
            let installed = Installed::new(row, agent);
            installed.compile_all(&services).map(|()| installed)
        });
        let installed =
            installed.await.map_err(failed)?.map_err(|error| ApiError::new(ErrorKind::Refused, error))?;

        let packages = self.packages.clone();
        let staged = tokio::task::spawn_blocking(move || nb_package::stage(&package, &packages)?.publish());
        staged.await.map_err(failed)?.map_err(|error| self.disk_failed(&error))?;
        let mut view = self.view(&installed, before.as_ref());
        self.switch(installed, before.as_ref()).await?;
        view.warnings.extend(self.deaf_webhooks(&view.name));
        Ok(view)
    }

    /// The webhooks of an agent that turn every request away: their secret is missing or too short.
    fn deaf_webhooks(&self, agent: &str) -> Vec<String> {
        let webhooks = self.wake.webhooks();
        let hooks = webhooks.all();
        let own = hooks.iter().filter(|hook| hook.agent == agent);
        let deaf = own.filter_map(|hook| webhooks.problem(hook).map(|problem| (&hook.path, problem)));
        deaf.map(|(path, problem)| format!("webhook {path} turns every request away: {problem}")).collect()
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
        // The owner first: there is never data without one.
        let namespace = installed.spec.manifest.kv_namespace();
        Owners(&self.engine).claim(namespace, &row.name, row.signer.as_deref())?;
        store.install(row, &serial).map_err(failed)?;
        store.commit().await.map_err(failed)?;
        let name = row.name.clone();
        let data = json!({"agent": name, "version": row.version, "digest": row.digest});
        let new_folder = unpacked::folder(&self.packages, row);
        let old_folder = before.map(|entry| unpacked::folder(&self.packages, entry.row()));
        // What runs goes on as it was installed, unless that may do something which its owner has withdrawn.
        let withdrawn =
            before.is_some_and(|old| grants::withdrawn(&old.row().grants, &row.grants).next().is_some());
        let installed = Arc::new(installed);
        self.wake.begin(&installed, false).map_err(failed)?;
        self.engine.agents().insert(Entry::Ready(installed));
        if withdrawn {
            self.engine.cancel_agent(&name, "a grant of the agent was withdrawn").await;
        }
        self.wake.agents_changed();
        self.publish("agent.installed", data).await?;
        if let Some(dir) = old_folder.filter(|dir| *dir != new_folder) {
            remove_dir(&dir);
        }
        Ok(())
    }

    /// Removes an agent: its triggers, its grants, what it runs; with `purge` its data as well. The data can be deleted
    /// when the agent is gone already.
    pub async fn uninstall(self: &Arc<Self>, name: &str, purge: bool) -> Result<Uninstalled, ApiError> {
        let (this, name) = (Arc::clone(self), name.to_owned());
        whole(async move { this.uninstall_now(&name, purge).await }).await
    }

    async fn uninstall_now(&self, name: &str, purge: bool) -> Result<Uninstalled, ApiError> {
        let _turn = self.turn().await?;
        let entry = self.engine.agents().get(name);
        let namespaces = if purge { Owners(&self.engine).namespaces(name)? } else { Vec::new() };
        if let Some(entry) = entry {
            self.engine.agents().remove(name);
            self.wake.agents_changed();
            self.engine.cancel_agent(name, "the agent was uninstalled").await;
            let store = &self.engine.services().store;
            store.remove_agent(name).map_err(failed)?;
            store.commit().await.map_err(failed)?;
            self.publish("agent.uninstalled", json!({"agent": name, "purged": purge})).await?;
            remove_dir(&unpacked::folder(&self.packages, entry.row()));
        } else if namespaces.is_empty() {
            return Err(no_agent(name));
        }
        self.delete_data(name, namespaces).await?;
        Ok(Uninstalled { name: name.to_owned(), purged: purge })
    }

    async fn delete_data(&self, name: &str, namespaces: Vec<String>) -> Result<(), ApiError> {
        let (engine, name) = (self.engine.clone(), name.to_owned());
        let deleted = tokio::task::spawn_blocking(move || {
            for namespace in namespaces {
                engine.services().store.purge(&name, &namespace).map_err(failed)?;
                Owners(&engine).release(&namespace)?;
            }
            Ok(())
        });
        deleted.await.map_err(failed)??;
        self.engine.services().store.commit().await.map_err(failed)
    }

    /// Lets an agent be woken, or not.
    pub async fn set_state(self: &Arc<Self>, name: &str, state: AgentState) -> Result<(), ApiError> {
        let (this, name) = (Arc::clone(self), name.to_owned());
        whole(async move { this.set_state_now(&name, state).await }).await
    }

    async fn set_state_now(&self, name: &str, state: AgentState) -> Result<(), ApiError> {
        let _turn = self.turn().await?;
        let entry = self.engine.agents().get(name).ok_or_else(|| no_agent(name))?;
        let mut row = entry.row().clone();
        if row.state == state {
            return Ok(());
        }
        row.state = state;
        row.state_since = self.now();
        let event = if state == AgentState::Running { "agent.started" } else { "agent.stopped" };
        let entry = match entry {
            Entry::Broken(_, problem) => Entry::Broken(row.clone(), problem),
            Entry::Ready(installed) => {
                let installed = Arc::new(Installed::new(row.clone(), installed.spec.clone()));
                // Before the row: a crash in between must not wake it with what happened while it was stopped.
                self.wake.begin(&installed, state == AgentState::Running).map_err(failed)?;
                Entry::Ready(installed)
            }
        };
        self.engine.services().store.put_agent(&row).map_err(failed)?;
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
            permissions_requested: agent.manifest.requested_permissions(),
            grants,
            state: before.map_or(AgentState::Running, |row| row.state),
            state_since: before.map_or(whole, |row| row.state_since),
            installed_at: before.map_or(whole, |row| row.installed_at),
            dir: self.packages.join(package.name()).join(package.digest()).display().to_string(),
        }
    }

    fn view(&self, installed: &Installed, before: Option<&Entry>) -> InstalledView {
        let row = &installed.row;
        let old = before.map(|entry| entry.row().grants.as_slice()).unwrap_or_default();
        let asked = &row.permissions_requested;
        InstalledView {
            name: row.name.clone(),
            version: row.version.clone(),
            digest: row.digest.clone(),
            signer: row.signer.clone(),
            granted: row.grants.clone(),
            refused: grants::withdrawn(asked, &row.grants).cloned().collect(),
            withdrawn: grants::withdrawn(old, &row.grants).cloned().collect(),
            replaces: before.map(|entry| entry.row().version.clone()),
            warnings: self.warnings(&installed.spec),
        }
    }
}

/// Carries something out to its end. A handler is dropped when its client hangs up; this is not.
async fn whole<T: Send + 'static>(
    work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    tokio::spawn(work).await.map_err(failed)?
}

/// Unpacks and checks a package: up to a second of computing, which must not hold others up.
async fn open(bytes: Bytes) -> Result<(Package, Agent), ApiError> {
    let opened = tokio::task::spawn_blocking(move || {
        let package = nb_package::open(&bytes)?;
        let agent = package.agent(Strictness::Install)?;
        Ok::<_, nb_package::PackageError>((package, agent))
    });
    opened.await.map_err(failed)?.map_err(refused)
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

fn remove_dir(dir: &Path) {
    // The row of the store is gone or points elsewhere: a folder that stays is only a waste of space.
    if let Err(error) = std::fs::remove_dir_all(dir) {
        tracing::warn!("{} is not removed: {error}", dir.display());
    }
}
