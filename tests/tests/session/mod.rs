//! A desktop session without a desktop: a bus, a screen in memory, a notification server.
//!
//! Every process is ended by its own id when its value is dropped.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nb_tests::skip;
use nb_tests::wait::{until, within};
use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Runtime;
use zbus::fdo::DBusProxy;
use zbus::{Connection, OwnedVariant, Proxy, connection};

const SERVER: &str = "org.freedesktop.Notifications";

/// How long a process gets to leave.
const FAREWELL: Duration = Duration::from_secs(2);

/// Whether one of these programs is not installed. Then the test has nothing to say, and says so.
pub fn is_missing(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = |program: &&&str| !std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    let missing: Vec<&str> = programs.iter().filter(missing).copied().collect();
    if !missing.is_empty() {
        skip(&format!("not installed: {}", missing.join(", ")));
    }
    !missing.is_empty()
}

/// A process that ends with the test.
#[derive(Debug)]
struct Process(Child);

impl Process {
    /// Starts one that has come up when it writes its first line, and gives that line.
    fn with_first_line(command: &mut Command) -> (Self, String) {
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut process = Self(child);
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{command:?} does not come up");
        (process, line.trim().to_owned())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already. A screen removes its socket when it is told to leave.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        if within(FAREWELL, || self.0.try_wait().ok().flatten()).is_none() {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// A session bus in a folder. It starts no service but those that a test installs.
pub struct Bus {
    dir: PathBuf,
    address: String,
    process: Process,
    runtime: Runtime,
}

impl Bus {
    /// Starts one.
    pub fn start(dir: &Path) -> Self {
        let address = format!("unix:path={}/bus", dir.display());
        let config = format!(
            "<busconfig><type>session</type><listen>{address}</listen><servicedir>{}/services</servicedir>\
             <policy context='default'><allow send_destination='*'/><allow eavesdrop='true'/><allow own='*'/></policy></busconfig>",
            dir.display()
        );
        std::fs::create_dir(dir.join("services")).unwrap();
        std::fs::write(dir.join("bus.conf"), config).unwrap();
        let process = spawn_bus(dir);
        Self { dir: dir.to_owned(), address, process, runtime: Runtime::new().unwrap() }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Makes it start a program when a name is asked for.
    pub fn installs(&self, name: &str, program: &str) {
        let service = format!("[D-BUS Service]\nName={name}\nExec={program}\n");
        std::fs::write(self.dir.join(format!("services/{name}.service")), service).unwrap();
        self.runtime.block_on(async { self.names().await.reload_config().await.unwrap() });
    }

    /// Ends it without a warning.
    pub fn kill(&mut self) {
        self.process.0.kill().unwrap();
        self.process.0.wait().unwrap();
    }

    /// Starts it again at the same address.
    pub fn start_again(&mut self) {
        std::fs::remove_file(self.dir.join("bus")).unwrap();
        self.process = spawn_bus(&self.dir);
    }

    /// Whether a notification server is there.
    pub fn has_server(&self) -> bool {
        self.runtime
            .block_on(async { self.names().await.name_has_owner(SERVER.try_into().unwrap()).await.unwrap() })
    }

    async fn names(&self) -> DBusProxy<'static> {
        DBusProxy::new(&self.connection().await).await.unwrap()
    }

    async fn connection(&self) -> Connection {
        connection::Builder::address(self.address.as_str()).build().await.unwrap()
    }
}

fn spawn_bus(dir: &Path) -> Process {
    let config = format!("--config-file={}", dir.join("bus.conf").display());
    let mut command = Command::new("dbus-daemon");
    Process::with_first_line(command.args([&config, "--nofork", "--nopidfile", "--print-address=1"])).0
}

/// A screen in memory.
pub struct Screen {
    display: String,
    _process: Process,
}

impl Screen {
    /// Starts one on a display that is free.
    pub fn start() -> Self {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "800x600x24"]);
        let (process, number) = Process::with_first_line(&mut command);
        Self { display: format!(":{number}"), _process: process }
    }
}

/// dunst, a notification server.
pub struct Dunst<'a> {
    bus: &'a Bus,
    process: Process,
}

/// A notification as dunst has it.
#[derive(Debug)]
pub struct Shown {
    /// The name of the application.
    pub from: String,
    /// The title as it came.
    pub title: String,
    /// Title and text with `|` between, in the markup of its renderer.
    pub rendered: String,
    /// For how many seconds it would stay. Each urgency has a time of its own: [`LOW`], [`NORMAL`], [`CRITICAL`].
    pub seconds: i64,
}

/// Seconds that a notification of low urgency stays.
pub const LOW: i64 = 101;
/// Seconds that one of normal urgency stays.
pub const NORMAL: i64 = 102;
/// Seconds that a critical one stays.
pub const CRITICAL: i64 = 103;

impl<'a> Dunst<'a> {
    /// Starts one; `markup` is `full`, `strip` or `no`.
    pub fn start(bus: &'a Bus, screen: &Screen, markup: &str) -> Self {
        let config = format!(
            "[global]\nmarkup = {markup}\nformat = \"%s|%b\"\n[urgency_low]\ntimeout = {LOW}\n\
             [urgency_normal]\ntimeout = {NORMAL}\n[urgency_critical]\ntimeout = {CRITICAL}\n"
        );
        let path = bus.dir.join("dunstrc");
        std::fs::write(&path, config).unwrap();
        let mut command = Command::new("dunst");
        command
            .arg("-conf")
            .arg(path)
            .env("DISPLAY", &screen.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &bus.address);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let dunst = Self { bus, process: Process(child) };
        until("dunst is on the bus", || bus.has_server().then_some(()));
        dunst
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// The one notification that it shows; then it is closed.
    pub fn shown(&self) -> Shown {
        until("dunst has put it on the screen", || {
            self.ask(async |dunst| {
                (dunst.get_property::<u32>("displayedLength").await.unwrap() == 1).then_some(())
            })
        });
        let history: Vec<HashMap<String, OwnedVariant>> = self.ask(async |dunst| {
            dunst.call_method("NotificationCloseAll", &()).await.unwrap();
            dunst.call("NotificationListHistory", &()).await.unwrap()
        });
        let text = |field: &str| String::try_from(history[0][field].clone()).unwrap();
        let microseconds = i64::try_from(history[0]["timeout"].clone()).unwrap();
        Shown {
            from: text("appname"),
            title: text("summary"),
            rendered: text("message"),
            seconds: microseconds / 1_000_000,
        }
    }

    fn ask<T>(&self, question: impl AsyncFnOnce(Proxy<'_>) -> T) -> T {
        self.bus.runtime.block_on(async {
            let connection = self.bus.connection().await;
            let path = "/org/freedesktop/Notifications";
            question(Proxy::new(&connection, SERVER, path, "org.dunstproject.cmd0").await.unwrap()).await
        })
    }
}
