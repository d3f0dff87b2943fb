//! Start, run, leave.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use nb_api::Paths;
use nb_egress::{Egress, EgressConfig};
use nb_runtime::budget::day_of;
use nb_runtime::services::{RealWorld, Runner, World};
use nb_runtime::{Engine, Services};
use nb_sandbox::{Sandbox, SandboxConfig};
use nb_store::Store;
use nb_wake::Wake;
use sd_notify::NotifyState;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::cli::Cli;
use crate::config::Config;
use crate::desktop::Desktop;
use crate::http::serve::serve;
use crate::http::{self, App};
use crate::installer::Installer;
use crate::instance::Instance;
use crate::log;
use crate::secrets::SecretFiles;
use crate::socket::OwnerSocket;

/// What runs when the daemon is told to leave gets this long to end.
const PATIENCE: Duration = Duration::from_secs(3);
/// A service manager that was promised five seconds is not kept waiting, whatever hangs.
const LEAVE_WITHIN: Duration = Duration::from_millis(4500);
/// Answers that are being written get this long.
const LAST_ANSWERS: Duration = Duration::from_millis(50);
/// Webhook deliveries are remembered for this long; a sender repeats within hours.
const REMEMBER: TimeDelta = TimeDelta::days(30);
/// How often the store is asked whether it still works. What is old is forgotten every hour.
const HOUSEKEEPING: Duration = Duration::from_secs(5);

/// Runs the daemon until it is told to leave.
pub fn main(cli: Cli) -> ExitCode {
    let began = Instant::now();
    if let Err(error) = log::begin(&cli.log) {
        tell(&format!("--log {}: {error}", cli.log));
        return ExitCode::from(2);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(&format!("cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(run(&cli, began));
    // A script that computes is stopped by now; nothing is worth waiting for.
    runtime.shutdown_timeout(Duration::from_millis(100));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            tell(&message);
            ExitCode::FAILURE
        }
    }
}

/// The last word on stderr. When even that cannot be written, the exit code is left.
fn tell(message: &str) {
    let _ = writeln!(std::io::stderr(), "error: {message}");
}

async fn run(cli: &Cli, began: Instant) -> Result<(), String> {
    let mut stop = Stop::listen().map_err(|error| format!("cannot wait for signals: {error}"))?;
    let paths = cli.paths()?;
    for dir in [&paths.state, &paths.cache] {
        make_private(dir)?;
    }
    let _instance = Instance::take(&paths.state)?;
    let mut config = Config::load(&paths.config)?;
    if let Some(listen) = cli.listen {
        if !listen.ip().is_loopback() {
            return Err(format!("--listen {listen} is not a loopback address"));
        }
        config.listen = listen;
    }
    let (leave, leaving) = watch::channel(false);
    let daemon = tokio::select! {
        built = Daemon::build(&paths, config, began, leaving) => built?,
        // Nothing has begun yet that could not be left where it is.
        _ = stop.told() => return Ok(()),
    };
    let result = daemon.serve(&paths, &mut stop).await;
    sd_notify::notify(&[NotifyState::Stopping]).ok();
    leave.send_replace(true);
    if tokio::time::timeout(LEAVE_WITHIN, daemon.leave()).await.is_err() {
        tracing::warn!("not everything came to its end; the next start goes on with it");
    }
    result
}

/// Makes a folder that only the daemon's user can write into, or checks that it is one.
fn make_private(dir: &Path) -> Result<(), String> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| format!("cannot make the folder {}: {error}", dir.display()))?;
    let found = std::fs::metadata(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let (dir, own) = (dir.display(), rustix::process::geteuid().as_raw());
    if found.uid() != own {
        return Err(format!(
            "the folder {dir} belongs to user {}, and nanobotd runs as user {own}; chown -R {own} {dir}",
            found.uid()
        ));
    }
    if found.mode() & 0o022 != 0 {
        return Err(format!("others may write into the folder {dir}; chmod 700 {dir}"));
    }
    Ok(())
}

struct Daemon {
    app: Arc<App>,
    webhooks: tokio::sync::Mutex<Option<TcpListener>>,
}

impl Daemon {
    async fn build(
        paths: &Paths,
        config: Config,
        began: Instant,
        leaving: watch::Receiver<bool>,
    ) -> Result<Self, String> {
        let world = Arc::new(RealWorld);
        let sandbox =
            SandboxConfig { cache_dir: Some(paths.cache.clone()), max_concurrent: config.concurrent_tools };
        // The two slow parts of a start, side by side.
        let sandbox = tokio::task::spawn_blocking(move || Sandbox::new(&sandbox));
        let (store_dir, now) = (paths.state.join("store"), world.now());
        let store = tokio::task::spawn_blocking(move || Store::open(&store_dir, now));
        let store = store.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let sandbox = sandbox.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let egress = EgressConfig {
            allow: config.egress_allow.clone(),
            user_agent: concat!("nanobotd/", env!("CARGO_PKG_VERSION")).to_owned(),
            ..EgressConfig::default()
        };
        let desktop = Arc::new(Desktop::default());
        let credentials: Option<PathBuf> = std::env::var_os("CREDENTIALS_DIRECTORY").map(Into::into);
        // Below /proc is the daemon's environment, in which secrets may be; below /dev the disk with all of it.
        let own = [&paths.config, &paths.state, &paths.cache, &paths.keys, &paths.socket];
        let own = own
            .into_iter()
            .chain(&credentials)
            .cloned()
            .chain(["/proc", "/sys", "/dev"].map(PathBuf::from))
            .collect();
        let engine = Engine::new(Services {
            store,
            sandbox,
            native: Runner::default(),
            egress: Egress::new(egress).map_err(|error| error.to_string())?,
            world,
            notifier: Arc::clone(&desktop) as Arc<_>,
            secrets: Arc::new(SecretFiles::new(&paths.config, credentials)),
            own_paths: own,
            limits: config.limits.clone(),
            prices: config.prices.clone(),
        });
        let wake = Wake::new(
            engine.clone(),
            &nb_wake::Config { timezone: config.timezone, webhook_rate: config.max_per_second },
        );
        let wake = Arc::new(wake);
        let installer = Arc::new(Installer::new(engine.clone(), Arc::clone(&wake), &paths.state));
        installer.load_all()?;
        let webhooks = TcpListener::bind(config.listen).await.map_err(|error| {
            format!(
                "cannot serve webhooks on {}: {error}; choose another with --listen or webhooks.listen",
                config.listen
            )
        })?;
        let webhooks_at = webhooks.local_addr().map_err(|error| error.to_string())?.to_string();
        let app = App {
            engine,
            wake,
            installer,
            desktop,
            config,
            webhooks_at,
            state_dir: paths.state.display().to_string(),
            began,
            ready: OnceLock::new(),
            leaving,
        };
        Ok(Self { app: Arc::new(app), webhooks: tokio::sync::Mutex::new(Some(webhooks)) })
    }

    /// Serves until a signal comes or the store fails.
    async fn serve(&self, paths: &Paths, stop: &mut Stop) -> Result<(), String> {
        let app = &self.app;
        // Before anything runs: a daemon that cannot be asked does nothing.
        let socket = OwnerSocket::open(&paths.socket)
            .await
            .map_err(|error| format!("cannot serve on {}: {error}", paths.socket.display()))?;
        // On a task of its own: it computes without a pause, and a signal must be heard meanwhile.
        let engine = app.engine.clone();
        let mut recovery = tokio::spawn(async move { engine.recover().await });
        let (resumed, closed) = tokio::select! {
            recovered = &mut recovery => {
                recovered.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?
            }
            name = stop.told() => {
                tracing::info!("{name}: leaving before it was ready");
                recovery.abort();
                return Ok(());
            }
        };
        if resumed + closed > 0 {
            tracing::info!(resumed, closed, "runs of the last time that had not ended");
        }
        let webhooks = self.webhooks.lock().await.take().ok_or("the webhooks are served already")?;
        app.wake.agents_changed();
        let wakers = app.wake.spawn();
        let start_ms = app.began.elapsed().as_secs_f64() * 1e3;
        // Set here only, and once; before the first request, which may ask for it.
        let _ = app.ready.set((app.engine.services().world.now(), start_ms));
        tokio::spawn(serve(socket, http::api(Arc::clone(app)), app.leaving.clone()));
        tokio::spawn(serve(webhooks, http::webhooks::routes(Arc::clone(app)), app.leaving.clone()));
        tracing::info!(
            socket = %paths.socket.display(),
            webhooks = app.webhooks_at,
            agents = app.engine.agents().all().len(),
            "ready after {start_ms:.0} ms"
        );
        sd_notify::notify(&[NotifyState::Ready]).ok();

        let result = tokio::select! {
            name = stop.told() => {
                tracing::info!("{name}: leaving");
                Ok(())
            }
            problem = self.keep_house() => Err(problem),
        };
        for waker in wakers {
            waker.abort();
        }
        result
    }

    /// Forgets what is old. Returns when the store has failed: only a new start can recover it.
    async fn keep_house(&self) -> String {
        let services = self.app.engine.services();
        let mut ticks = tokio::time::interval(HOUSEKEEPING);
        for tick in 0_u64.. {
            ticks.tick().await;
            if services.store.is_failed() {
                break;
            }
            let hourly = 3600 / HOUSEKEEPING.as_secs();
            if tick % hourly == 0 {
                let (store, now) = (services.store.clone(), services.world.now());
                let retention = self.app.config.retention;
                // Not awaited: the store is looked at meanwhile. An hour is enough for what an hour has brought.
                tokio::task::spawn_blocking(move || forget(&store, now, retention));
            }
        }
        "the store failed (is the disk full?); what was acknowledged is on disk, and a new start goes on with it".to_owned()
    }

    async fn leave(&self) {
        tokio::join!(self.app.installer.close(), self.app.engine.shut_down(PATIENCE));
        if let Err(error) = self.app.engine.services().store.commit().await {
            tracing::error!("the last records are not on disk: {error}");
        }
        // Whoever waited for a run is told now.
        tokio::time::sleep(LAST_ANSWERS).await;
    }
}

/// Forgets what ended longer ago than it is kept.
fn forget(store: &Store, now: DateTime<Utc>, retention: TimeDelta) {
    let old = now - retention;
    let parts = [
        ("runs", store.forget_runs_before(old)),
        ("events", store.forget_events_before(old)),
        ("slots", store.forget_slots_before(old)),
        ("notifications", store.forget_inbox_before(old)),
        ("days of spending", store.forget_spending_before(day_of(old))),
        ("deliveries", store.forget_deliveries_before(now - REMEMBER)),
    ];
    for (what, forgotten) in parts {
        match forgotten {
            Ok(0) => {}
            Ok(count) => tracing::info!("forgot {count} {what} of long ago"),
            Err(error) => tracing::error!("old {what} are not forgotten: {error}"),
        }
    }
}

/// SIGTERM and SIGINT.
struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn told(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
