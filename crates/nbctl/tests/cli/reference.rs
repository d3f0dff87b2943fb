//! The whole help, so that a change of the command line is seen as one.

use std::fmt::Write as _;

#[test]
fn the_help_of_every_command_is_as_agreed() {
    let mut command = nbctl::command();
    command.build();
    let mut reference = String::new();
    write_help(&mut command, &mut reference);
    insta::assert_snapshot!("reference", reference);
}

fn write_help(command: &mut clap::Command, reference: &mut String) {
    let name = command.get_bin_name().unwrap_or("nbctl").to_owned();
    let help = command.clone().term_width(100).render_long_help().to_string();
    // The global options stand once, with the command itself.
    let help = if name == "nbctl" { help } else { without_section(&help, "Global options:") };
    let _ = writeln!(reference, "## {name}\n\n{help}");
    for subcommand in command.get_subcommands_mut().filter(|subcommand| subcommand.get_name() != "help") {
        write_help(subcommand, reference);
    }
}

fn without_section(help: &str, title: &str) -> String {
    let mut inside = false;
    let keep = |line: &&str| {
        inside = if inside { line.is_empty() || line.starts_with(' ') } else { *line == title };
        !inside
    };
    help.lines().filter(keep).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_definitions_hold_together() {
    nbctl::command().debug_assert();
}
