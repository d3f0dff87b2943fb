//! Writes nanobotd's man page into a folder: `cargo xtask man DIR`.

use std::path::PathBuf;

use clap::CommandFactory;

fn main() -> std::io::Result<()> {
    let dir = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    clap_mangen::generate_to(nanobotd::cli::Cli::command(), &dir)
}
