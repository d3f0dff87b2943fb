//! Starts, follows and cancels runs.

use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::FutureExt;
use nb_store::{Begun, EventRow, LedgerKey, RunKind, RunRow, RunStatus, StoreError};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, SemaphorePermit, oneshot, watch};
use ulid::Ulid;

use crate::cancel::{Cancel, Reason};
use crate::error::{RunError, StartError};
use crate::installed::{Agents, Installed};
use crate::record::{Actor, RunEvent, fold_into, status_name};
use crate::services::Services;
use crate::target::{Target, check_task, choose};
use crate::task_run::{Recorded, run_task};
use crate::tool_run::call_tool;

/// A chain of wake-ups (run, event, run, …) is cut after this many.
pub const MAX_DEPTH: u32 = 16;

/// Why a run ends that a person cancelled. What it waited for says `cancelled: by a person`, its end
/// `cancelled by a person`.
pub const BY_A_PERSON: &str = "by a person";

/// What was told to stop at a shutdown gets this long, all together.
const STOPPING: Duration = Duration::from_millis(500);

/// The run engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    services: Services,
    agents: Agents,
    in_flight: Mutex<HashMap<String, Arc<InFlight>>>,
    leaving: AtomicBool,
    /// One permit for each tool call that may run at once.
    places: Semaphore,
}

struct InFlight {
    agent: String,
    cancel: Arc<Cancel>,
    ended: watch::Sender<bool>,
}

/// A run that is among those in flight as long as this lives, whatever ends it.
struct Entered {
    engine: Engine,
    run_id: String,
    cancel: Arc<Cancel>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(run) = self.engine.lock_in_flight().remove(&self.run_id) {
            run.ended.send_replace(true);
        }
    }
}

/// What is to run, and why.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The agent.
    pub agent: String,
    /// Its task or tool.
    pub target: Target,
    /// Parameters of the task or the tool.
    pub params: Map<String, Value>,
    /// What references see beside the parameters: `input`, `event`, `webhook`, `trigger`.
    pub context: Map<String, Value>,
    /// Who or what starts it.
    pub actor: Actor,
    /// How many wake-ups lie between the first cause and this run.
    pub depth: u32,
    /// What it is started for, so that it starts once.
    pub ledger: LedgerKey,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// The run with this id is on disk, and goes on.
    Run(String),
    /// Its cause was dealt with before, by that run.
    Already(Option<String>),
}

/// What became of recording a run.
enum Recording {
    /// It is in the store, and on disk after the next commit.
    New(Box<RunRow>, Arc<Installed>),
    /// Its cause was dealt with before, by that run.
    Known(Option<String>),
}

/// One run at work.
pub struct RunContext {
    /// The run's id.
    pub id: String,
    /// Its agent, as it was when the run began.
    pub agent: Arc<Installed>,
    /// How many wake-ups lie between the first cause and this run.
    pub depth: u32,
    /// The engine that carries it out.
    pub engine: Engine,
    pub(crate) cancel: Arc<Cancel>,
}

impl RunContext {
    /// Appends to the run's record.
    pub(crate) fn record(&self, event: &RunEvent) -> Result<(), StoreError> {
        let services = self.engine.services();
        services.store.append(&self.id, &event.stamped(services.world.now())).map(drop)
    }

    /// The error of a run that was ended from outside.
    pub(crate) fn cancelled(&self) -> RunError {
        match self.cancel.reason() {
            Some(Reason::Shutdown) => RunError::Shutdown,
            Some(Reason::Cancelled(why)) => RunError::Cancelled(why.clone()),
            None => RunError::Cancelled("for no reason that is known".to_owned()),
        }
    }

    /// Fails when the run was ended from outside: nothing more of it begins then.
    pub(crate) fn check_cancelled(&self) -> Result<(), RunError> {
        if self.cancel.reason().is_some() { Err(self.cancelled()) } else { Ok(()) }
    }

    /// Counts a call that leaves the machine; refuses it over the agent's limit for the hour.
    pub(crate) fn count_outside_call(&self) -> Result<(), String> {
        let services = self.engine.services();
        let hour = services.world.now().timestamp().div_euclid(3600);
        let allowed = self.agent.spec.manifest.resources.max_api_calls_per_hour;
        let count = services.store.count_call(self.agent.name(), hour).map_err(|error| error.to_string())?;
        if count > allowed {
            return Err(format!(
                "out of calls for this hour: {allowed} allowed (resources.max_api_calls_per_hour), this would be number {count}"
            ));
        }
        Ok(())
    }
}

impl Engine {
    /// An engine without agents.
    pub fn new(services: Services) -> Self {
        let places = usize::try_from(services.sandbox.max_concurrent()).unwrap_or(Semaphore::MAX_PERMITS);
        let inner = Inner {
            services,
            places: Semaphore::new(places),
            agents: Agents::default(),
            in_flight: Mutex::default(),
            leaving: AtomicBool::new(false),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What it works with.
    pub fn services(&self) -> &Services {
        &self.inner.services
    }

    /// The installed agents.
    pub fn agents(&self) -> &Agents {
        &self.inner.agents
    }

    /// A place among the tool calls that run at once; waits for one.
    pub(crate) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        // Nobody closes the semaphore.
        self.inner.places.acquire().await.ok()
    }

    /// Records a run and starts it. When this returns, the run is on disk.
    pub async fn start(&self, request: RunRequest) -> Result<Started, StartError> {
        if self.inner.leaving.load(Ordering::Acquire) {
            return Err(StartError::Shutdown);
        }
        let now = self.services().world.now();
        let run_id =
            format!("run_{}", Ulid::from_parts(now.timestamp_millis().unsigned_abs(), self.random_bits()));
        // In flight before anything is looked at: whoever finds the row must find the run as well, and whoever stops or
        // removes the agent either finds this run or has taken the agent away before the next line.
        let entered = self.enter(&run_id, &request.agent);
        let (run, agent) = match self.record(&run_id, request, now).await? {
            Recording::New(run, agent) => (*run, agent),
            Recording::Known(first) => return Ok(Started::Already(first)),
        };
        // A task of its own: a caller that goes away from here on, as when a connection breaks, must not leave a run on
        // disk that nobody carries out.
        let (committed, answer) = oneshot::channel();
        let engine = self.clone();
        tokio::spawn(async move {
            let result = engine.services().store.commit().await;
            let failed = result.is_err();
            // A caller that is gone needs no answer.
            let _ = committed.send(result);
            if !failed {
                engine.carry_out(run, agent, entered, Recorded::default()).await;
            }
        });
        // Without an answer the runtime is ending.
        answer.await.map_err(|_| StartError::Shutdown)??;
        Ok(Started::Run(run_id))
    }

    /// Records a run with its cause, when that is new.
    async fn record(
        &self,
        run_id: &str,
        request: RunRequest,
        now: DateTime<Utc>,
    ) -> Result<Recording, StartError> {
        let agent = self.inner.agents.runnable(&request.agent)?;
        let target = choose(&agent, &request.target)?;
        let params = match &target {
            Target::Task(id) => check_task(&agent, id, &request.params)?,
            Target::Tool(_) | Target::Only => request.params,
        };
        let mut context = request.context;
        context.insert("params".to_owned(), Value::Object(params));
        let run = RunRow {
            id: run_id.to_owned(),
            unsandboxed: target.is_unsandboxed(&agent),
            kind: if matches!(target, Target::Tool(_)) { RunKind::Tool } else { RunKind::Task },
            agent: agent.name().to_owned(),
            digest: agent.row.digest.clone(),
            task: if let Target::Task(id) = &target { Some(id.clone()) } else { None },
            tool: if let Target::Tool(name) = &target { Some(name.clone()) } else { None },
            parent: None,
            actor: json!(request.actor),
            input: Value::Object(context.clone()),
            status: RunStatus::Created,
            outcome: None,
            error: None,
            output: None,
            depth: request.depth,
            created_at: now,
            started_at: None,
            finished_at: None,
        };
        let started = RunEvent::Started { actor: request.actor, context: Value::Object(context) };
        if run.depth > MAX_DEPTH {
            return self.cut(&request.ledger, run, &started).await;
        }
        match self.services().store.begin_run(&request.ledger, &run, &[started.stamped(now)])? {
            Begun::Started => Ok(Recording::New(Box::new(run), agent)),
            Begun::Already(first) => Ok(Recording::Known(first)),
        }
    }

    /// Records a run that is one wake-up too many, as failed. Nothing is published: that could wake the next one.
    async fn cut(
        &self,
        ledger: &LedgerKey,
        mut run: RunRow,
        started: &RunEvent,
    ) -> Result<Recording, StartError> {
        let refusal = StartError::Depth(MAX_DEPTH);
        let error = Some(refusal.to_string());
        let finished = RunEvent::Finished { status: RunStatus::Failed, output: Value::Null, error };
        let now = run.created_at;
        fold_into(&mut run, &finished, now);
        let begun =
            self.services().store.begin_run(ledger, &run, &[started.stamped(now), finished.stamped(now)])?;
        self.services().store.commit().await?;
        match begun {
            Begun::Started => Err(refusal),
            Begun::Already(first) => Ok(Recording::Known(first)),
        }
    }

    fn random_bits(&self) -> u128 {
        let world = &self.services().world;
        (u128::from(world.random()) << 64) | u128::from(world.random())
    }

    /// Waits for the end of a run and gives its row; at once when it has ended.
    pub async fn finished(&self, run_id: &str) -> Result<Option<RunRow>, StoreError> {
        let ended = self.lock_in_flight().get(run_id).map(|run| run.ended.subscribe());
        if let Some(mut ended) = ended {
            // An error means that the sender is gone, and so the run.
            let _ = ended.wait_for(|ended| *ended).await;
        }
        self.services().store.run(run_id)
    }

    /// Whether a run is still at work in this process.
    pub fn is_in_flight(&self, run_id: &str) -> bool {
        self.lock_in_flight().contains_key(run_id)
    }

    /// Ends a run. False when it is not at work.
    pub fn cancel(&self, run_id: &str, why: &str) -> bool {
        let found = self.lock_in_flight().get(run_id).cloned();
        if let Some(run) = &found {
            run.cancel.cancel(Reason::Cancelled(why.to_owned()));
        }
        found.is_some()
    }

    /// Ends all runs of an agent, and returns when they have ended.
    pub async fn cancel_agent(&self, agent: &str, why: &str) {
        let runs: Vec<Arc<InFlight>> =
            self.lock_in_flight().values().filter(|run| run.agent == agent).cloned().collect();
        for run in &runs {
            run.cancel.cancel(Reason::Cancelled(why.to_owned()));
        }
        for run in runs {
            let _ = run.ended.subscribe().wait_for(|ended| *ended).await;
        }
    }

    /// Starts nothing more and gives what is at work `patience` to end. What is left is stopped where it is; its record
    /// stays open, and it goes on after the next start.
    pub async fn shut_down(&self, patience: Duration) {
        self.inner.leaving.store(true, Ordering::Release);
        let runs: Vec<Arc<InFlight>> = self.lock_in_flight().values().cloned().collect();
        let all_ended = async {
            for run in &runs {
                let _ = run.ended.subscribe().wait_for(|ended| *ended).await;
            }
        };
        if tokio::time::timeout(patience, all_ended).await.is_err() {
            for run in &runs {
                run.cancel.cancel(Reason::Shutdown);
            }
            let all_stopped = async {
                for run in &runs {
                    let _ = run.ended.subscribe().wait_for(|ended| *ended).await;
                }
            };
            // A script stops within a tick of the sandbox; nothing else computes.
            let _ = tokio::time::timeout(STOPPING, all_stopped).await;
        }
    }

    /// Publishes an event on the bus: it is in the log when this returns, and on disk after the next commit.
    /// `depth` is that of the run that publishes.
    pub fn publish(&self, name: &str, data: Value, source: &str, depth: u32) -> Result<u64, StoreError> {
        let event = self.event(name, data, source, depth);
        self.services().store.publish(&event)
    }

    fn event(&self, name: &str, data: Value, source: &str, depth: u32) -> EventRow {
        let at = self.services().world.now();
        let id =
            format!("evt_{}", Ulid::from_parts(at.timestamp_millis().unsigned_abs(), self.random_bits()));
        EventRow { seq: 0, id, name: name.to_owned(), data, source: source.to_owned(), at, depth }
    }

    fn enter(&self, run_id: &str, agent: &str) -> Entered {
        let cancel = Arc::new(Cancel::new());
        let ended = watch::Sender::new(false);
        let entry = InFlight { agent: agent.to_owned(), cancel: Arc::clone(&cancel), ended };
        self.lock_in_flight().insert(run_id.to_owned(), Arc::new(entry));
        Entered { engine: self.clone(), run_id: run_id.to_owned(), cancel }
    }

    fn lock_in_flight(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<InFlight>>> {
        self.inner.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with a run that a record holds already.
    pub(crate) fn resume(&self, run: RunRow, agent: Arc<Installed>, recorded: Recorded) {
        let entered = self.enter(&run.id, &run.agent);
        tokio::spawn(self.clone().carry_out(run, agent, entered, recorded));
    }

    /// Carries out a run and records its end. It leaves those in flight last: who waits for its end finds
    /// that recorded.
    async fn carry_out(self, mut run: RunRow, agent: Arc<Installed>, entered: Entered, recorded: Recorded) {
        let context = Arc::new(RunContext {
            id: run.id.clone(),
            agent,
            depth: run.depth,
            engine: self.clone(),
            cancel: Arc::clone(&entered.cancel),
        });
        run.status = RunStatus::Running;
        run.started_at = Some(self.services().world.now());
        let result = match self.services().store.update_run(&run) {
            // Whatever panics in a run, in the tasks that it waits for as well, comes to here.
            Ok(()) => match AssertUnwindSafe(execute(&context, &run, &recorded)).catch_unwind().await {
                Ok(result) => result,
                Err(panic) => Err(fault(&context, panic.as_ref())),
            },
            Err(error) => Err(error.into()),
        };
        if let Err(error) = self.end(&mut run, result).await {
            tracing::error!(run = %run.id, "the end of a run is not recorded: {error}");
        }
        drop(entered);
    }

    /// Records the end of a run and publishes it. A run that a shutdown stopped stays open.
    pub(crate) async fn end(
        &self,
        run: &mut RunRow,
        result: Result<Value, RunError>,
    ) -> Result<(), StoreError> {
        let (status, output, error) = match result {
            Ok(output) => (RunStatus::Completed, output, None),
            Err(RunError::Shutdown) => {
                let message = "the daemon is stopping; after its next start the run goes on, unless an effect is in doubt".to_owned();
                let event = RunEvent::Log { level: "info".to_owned(), message };
                self.services().store.append(&run.id, &event.stamped(self.services().world.now()))?;
                return self.services().store.commit().await;
            }
            Err(RunError::Store(error)) => return Err(error),
            Err(RunError::Cancelled(why)) if why == BY_A_PERSON => {
                (RunStatus::Cancelled, Value::Null, Some(format!("cancelled {why}")))
            }
            Err(RunError::Cancelled(why)) => (RunStatus::Cancelled, Value::Null, Some(why)),
            Err(error) => (RunStatus::Failed, Value::Null, Some(error.to_string())),
        };
        let now = self.services().world.now();
        let finished = RunEvent::Finished { status, output, error };
        fold_into(run, &finished, now);
        let what = run.task.as_ref().or(run.tool.as_ref());
        let data = json!({"run": run.id, "agent": run.agent, "what": what, "error": run.error});
        let event = self.event(&format!("run.{}", status_name(status)), data, "daemon", run.depth);
        self.services().store.finish_run(run, &finished.stamped(now), &event)?;
        self.services().store.commit().await
    }
}

/// What a panic says may hold a secret: it is for the daemon's log alone.
fn fault(run: &RunContext, panic: &(dyn Any + Send)) -> RunError {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("nothing");
    tracing::error!(run = %run.id, agent = %run.agent.name(), "the run panicked: {said}");
    // Tools that were called side by side stop as well.
    run.cancel.cancel(Reason::Cancelled("the run has failed".to_owned()));
    RunError::Fault
}

async fn execute(context: &Arc<RunContext>, run: &RunRow, recorded: &Recorded) -> Result<Value, RunError> {
    context.check_cancelled()?;
    if let Some(tool) = &run.tool {
        let parameters = run.input.get("params").cloned().unwrap_or_else(|| json!({}));
        return call_tool(context, tool, parameters).await;
    }
    let agent = Arc::clone(&context.agent);
    let id = run.task.as_deref().unwrap_or_default();
    match agent.spec.tasks.get(id) {
        Some(task) => run_task(context, task, &run.input, recorded).await,
        None => Err(RunError::Internal(format!("task `{id}` is gone"))),
    }
}
