//! An engine in a throw-away folder, with a clock that tests move, and agents that are built in a few lines.

mod agent;
mod crash;
mod doubles;
mod world;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use nb_egress::{Egress, EgressConfig};
use nb_runtime::installed::Entry;
use nb_runtime::models::prices::PriceList;
use nb_runtime::record::RunEvent;
use nb_runtime::services::Runner;
use nb_runtime::{Actor, Engine, Installed, RunRequest, Services, StartError, Started, Target};
use nb_sandbox::{Limits, Sandbox, SandboxConfig};
use nb_store::{AgentState, LedgerKey, RunFilter, RunRow, Store};
use serde_json::{Map, Value};
use tempfile::TempDir;

pub use agent::{AgentBuilder, agent};
pub use crash::after_a_crash;
pub use doubles::{Desktop, Vault};
pub use world::{FakeWorld, at};

/// How long a test waits for what must happen before it fails.
const PATIENCE: Duration = Duration::from_secs(20);

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(&SandboxConfig::default()).unwrap());

/// A daemon without its outside: engine, store, clock and doubles. A clone is the same one.
#[derive(Clone)]
pub struct Home {
    pub engine: Engine,
    pub world: Arc<FakeWorld>,
    pub desktop: Arc<Desktop>,
    pub vault: Arc<Vault>,
    /// The folder of the store.
    pub dir: Arc<TempDir>,
}

impl Home {
    pub fn new() -> Self {
        let world = Arc::new(FakeWorld::default());
        let (desktop, vault) = (Arc::<Desktop>::default(), Arc::<Vault>::default());
        let dir = Arc::new(tempfile::tempdir().unwrap());
        let allow = vec!["127.0.0.1".parse().unwrap()];
        let engine = Engine::new(Services {
            store: Store::open(dir.path(), at("00:00:00")).unwrap(),
            sandbox: SANDBOX.clone(),
            native: Runner::default(),
            egress: Egress::new(EgressConfig { allow, ..EgressConfig::default() }).unwrap(),
            world: world.clone(),
            notifier: desktop.clone(),
            secrets: vault.clone(),
            own_paths: Arc::default(),
            limits: Limits::default(),
            prices: PriceList::default(),
        });
        Self { engine, world, desktop, vault, dir }
    }

    /// What a new start of the daemon finds: the same store and agents, nothing at work.
    pub fn restarted(&self) -> Self {
        self.with(self.engine.services().clone())
    }

    /// What a start of the daemon finds after a crash: what is on disk now, and the same agents.
    #[allow(dead_code, reason = "nb-wake's tests share this module, and do without it")]
    pub fn after_a_crash(&self) -> Self {
        let dir = Arc::new(crash::copy_of(self.dir.path()));
        let store = Store::open(dir.path(), at("00:00:00")).unwrap();
        Self { dir, ..self.with(Services { store, ..self.engine.services().clone() }) }
    }

    fn with(&self, services: Services) -> Self {
        let engine = Engine::new(services);
        for entry in self.engine.agents().all() {
            engine.agents().insert(entry);
        }
        Self { engine, ..self.clone() }
    }

    pub fn store(&self) -> &Store {
        &self.engine.services().store
    }

    /// Stops or starts an agent now, as a person would.
    pub fn set_state(&self, name: &str, state: AgentState) -> Arc<Installed> {
        let Some(Entry::Ready(agent)) = self.engine.agents().get(name) else { panic!("no agent {name}") };
        let mut row = agent.row.clone();
        (row.state, row.state_since) = (state, self.world.time());
        let agent = Arc::new(Installed::new(row, agent.spec.clone()));
        self.engine.agents().insert(Entry::Ready(agent.clone()));
        agent
    }

    /// Starts a run for a person and gives its id.
    pub async fn start(&self, agent: &str, target: Target, params: Value) -> String {
        match self.try_start(agent, target, params).await {
            Ok(Started::Run(run)) => run,
            other => panic!("{agent} did not start: {other:?}"),
        }
    }

    pub async fn try_start(&self, agent: &str, target: Target, params: Value) -> Result<Started, StartError> {
        let params = params.as_object().cloned().unwrap_or_default();
        self.engine.start(RunRequest { params, ..request(agent, target) }).await
    }

    /// Carries out a run for a person and gives its row.
    pub async fn run(&self, agent: &str, target: Target, params: Value) -> RunRow {
        let run = self.start(agent, target, params).await;
        self.end_of(&run).await
    }

    /// The row of a run when it has ended.
    pub async fn end_of(&self, run: &str) -> RunRow {
        let finished = tokio::time::timeout(PATIENCE, self.engine.finished(run)).await;
        let row = finished.unwrap_or_else(|_| panic!("the run does not end: {:?}", self.record(run)));
        row.unwrap().unwrap()
    }

    pub fn record(&self, run: &str) -> Vec<RunEvent> {
        let stored = self.store().run_events(run, 0, usize::MAX).unwrap();
        stored.iter().map(|(_, event)| RunEvent::read(event).unwrap_or_else(|| panic!("{event}"))).collect()
    }

    /// The runs of an agent, oldest first.
    pub fn runs(&self, agent: &str) -> Vec<RunRow> {
        let filter = RunFilter { agent: Some(agent.to_owned()), limit: usize::MAX, before: None };
        let mut runs = self.store().runs(&filter).unwrap();
        runs.reverse();
        runs
    }

    /// Waits until something in the store holds.
    pub async fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let mut changes = self.store().watch();
        let wait = async {
            while !holds() {
                changes.changed().await.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("in vain: {what}"));
    }

    /// Waits until the record of a run holds such an event.
    pub async fn until_event(&self, run: &str, wanted: impl Fn(&RunEvent) -> bool) {
        self.until(&format!("an event in {run}"), || self.record(run).iter().any(&wanted)).await;
    }
}

/// A request of a person, without parameters.
pub fn request(agent: &str, target: Target) -> RunRequest {
    RunRequest {
        agent: agent.to_owned(),
        target,
        params: Map::new(),
        context: Map::new(),
        actor: Actor::Person,
        depth: 0,
        ledger: LedgerKey::None,
    }
}

pub fn task(id: &str) -> Target {
    Target::Task(id.to_owned())
}
