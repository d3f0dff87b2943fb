//! The commands: one file per family.
//!
//! A command is a type with `clap::Args` and an `async fn run(self, &Context) -> Result<(), Error>`. It is added by its
//! file and its line in the list below; the first line of its comment is its help.

mod agents;
mod cancel;
mod completions;
mod demo;
mod event;
mod grants;
mod inbox;
mod install;
mod key;
mod logs;
mod package;
mod provider;
mod run;
mod runs;
mod schedule;
mod shell;
mod status;
mod webhook;

use crate::context::Context;
use crate::error::Error;

macro_rules! commands {
    ($($(#[$help:meta])* $name:ident($args:ty),)*) => {
        /// What is to be done.
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum Command {
            $($(#[$help])* $name($args),)*
        }

        impl Command {
            /// Does it.
            pub async fn run(self, context: &Context) -> Result<(), Error> {
                match self {
                    $(Self::$name(args) => args.run(context).await,)*
                }
            }
        }
    };
}

commands! {
    /// Show the main job from end to end in a throw-away home, and explain it.
    Demo(demo::Demo),
    /// Make signing keys, and decide whose packages the daemon accepts.
    Key(key::Key),
    /// Build, check and look into packages.
    Package(package::Package),
    /// Install a package, and decide what the agent may do.
    Install(install::Install),
    /// Remove an agent with its triggers and grants; its data stays unless --purge is given.
    Uninstall(agents::Uninstall),
    /// List the installed agents.
    Ls(agents::Ls),
    /// Show what an agent is, what it can do, and what it may do.
    Show(agents::Show),
    /// Let the triggers of an agent wake it again.
    Start(agents::Start),
    /// Keep an agent from being woken or run.
    Stop(agents::Stop),
    /// Run a task or a tool of an agent, and wait for its result.
    Run(run::Run),
    /// List runs, the newest first.
    Runs(runs::Runs),
    /// Show a run and everything that happened in it.
    RunShow(runs::RunShow),
    /// End a run.
    Cancel(cancel::Cancel),
    /// Show what agents did, line by line.
    Logs(logs::Logs),
    /// Publish events and watch them.
    Event(event::Event),
    /// See when agents wake.
    Schedule(schedule::Schedule),
    /// See and try the webhooks that wake agents.
    Webhook(webhook::Webhook),
    /// Read the notifications that could not be shown on a desktop.
    Inbox(inbox::Inbox),
    /// Ask a language model, or answer like one from a transcript; neither needs the daemon.
    Provider(provider::Provider),
    /// Show how the daemon is.
    Status(status::Status),
    /// Print a script that completes nbctl's commands in a shell.
    Completions(completions::Completions),
}

/// The name of an agent, a run or an event: anything but nothing.
fn name() -> clap::builder::NonEmptyStringValueParser {
    clap::builder::NonEmptyStringValueParser::new()
}
