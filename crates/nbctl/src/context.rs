//! What every command is given.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;

use nb_api::Client;

use crate::cli::Globals;
use crate::error::Error;
use crate::output::Output;
use crate::places::Places;

/// The surroundings of one command.
#[derive(Debug)]
pub(crate) struct Context {
    /// Which daemon, which keys.
    pub places: Places,
    /// Where the answer goes.
    pub output: Output,
    /// The run that is waited for: it goes on when this process is interrupted.
    pub waits_for: OnceCell<String>,
    /// Set when a run was asked for: whether it began is known with its id.
    pub asked_to_run: OnceCell<()>,
}

impl Context {
    /// Reads the environment; opens nothing.
    pub fn new(globals: &Globals) -> Self {
        Self {
            places: Places::find(globals, |name| std::env::var(name).ok()),
            output: Output::stdout(globals.json),
            waits_for: OnceCell::new(),
            asked_to_run: OnceCell::new(),
        }
    }

    /// A client of the daemon that is meant.
    pub fn client(&self) -> Result<Client, Error> {
        Ok(Client::new(self.places.socket()?))
    }
}

/// Reads a file that the command line names.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })
}
