//! `nbctl completions`.

use clap_complete::Shell;
use serde::Serialize;

use crate::context::Context;
use crate::error::Error;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbctl completions bash > ~/.local/share/bash-completion/completions/nbctl
  nbctl completions zsh > ~/.zfunc/_nbctl
  nbctl completions fish > ~/.config/fish/completions/nbctl.fish")]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

#[derive(Debug, Serialize)]
struct Script {
    shell: String,
    script: String,
}

impl Completions {
    pub async fn run(self, context: &Context) -> Result<(), Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command(), "nbctl", &mut script);
        let script =
            Script { shell: self.shell.to_string(), script: String::from_utf8_lossy(&script).into_owned() };
        context.output.show(&script, |script, page| page.value(&script.script.as_str().into()))
    }
}
