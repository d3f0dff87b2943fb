//! Writes nbctl's man pages and completions into a folder: `cargo xtask man DIR`.

use std::path::PathBuf;

use clap_complete::Shell;

fn main() -> std::io::Result<()> {
    let dir = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    clap_mangen::generate_to(nbctl::command(), &dir)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut nbctl::command(), "nbctl", &dir)?;
    }
    Ok(())
}
