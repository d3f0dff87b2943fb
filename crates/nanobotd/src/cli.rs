//! The daemon's command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;
use nb_api::Paths;

/// Keeps small bots running: installs signed packages, wakes agents by schedules, events and webhooks, and runs their
/// tools in a sandbox.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "nanobotd",
    version,
    after_help = "\
It stays in the foreground and logs to stderr; a service manager or a shell puts it into the background. \
SIGTERM and SIGINT end it: what runs gets three seconds to finish, and goes on after the next start if it does not."
)]
pub struct Cli {
    /// Keep everything below this folder: config/, state/, cache/ and the socket.
    #[arg(long, env = "NANOBOT_HOME", value_name = "DIR")]
    pub home: Option<PathBuf>,

    /// Use the places of a system service: /etc/nanobot, /var/lib/nanobot, /run/nanobot.
    #[arg(long, conflicts_with = "home")]
    pub system: bool,

    /// Serve the API on this socket.
    #[arg(long, env = "NANOBOT_SOCKET", value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// Serve webhooks on this loopback address; overrides `webhooks.listen` of config.yaml.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,

    /// What to log: error, warn, info, debug, trace, or a filter such as `nb_wake=debug`.
    #[arg(long, env = "NANOBOT_LOG", default_value = "info", value_name = "FILTER")]
    pub log: String,
}

impl Cli {
    /// The places that the options name.
    pub fn paths(&self) -> Result<Paths, String> {
        let mut paths = match &self.home {
            Some(home) => {
                let home = std::path::absolute(home)
                    .map_err(|error| format!("--home {}: {error}", home.display()))?;
                Paths::in_home(&home)
            }
            None if self.system => Paths::system(),
            None => Paths::user(|name| std::env::var(name).ok())?,
        };
        if let Some(socket) = &self.socket {
            paths.socket.clone_from(socket);
        }
        Ok(paths)
    }
}
