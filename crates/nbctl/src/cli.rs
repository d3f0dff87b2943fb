//! The command line and its global options.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};

use crate::commands::Command;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
First steps:
  nbctl key generate me                     make a signing key
  nbctl package build DIR --sign me         pack and sign an agent
  nbctl key trust me                        let the daemon accept the key
  nbctl install hello-0.1.0.nap             install it, and decide what it may do
  nbctl run hello                           run it

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 cancelled.";

/// Installs, runs and watches agents.
#[derive(Debug, clap::Parser)]
#[command(name = "nbctl", version, styles = STYLES, after_help = AFTER_HELP, arg_required_else_help = true)]
#[command(subcommand_required = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub globals: Globals,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Give one JSON document on stdout instead of text, and errors as one JSON line on stderr.
    #[arg(long, global = true)]
    pub json: bool,
    /// Talk to the daemon at this socket; else $NANOBOT_SOCKET.
    #[arg(long, global = true, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Use the daemon and the keys below this folder; else $NANOBOT_HOME, else the XDG folders of the user.
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Use the daemon and the keys of the system.
    #[arg(long, global = true, conflicts_with = "home")]
    pub system: bool,
}
