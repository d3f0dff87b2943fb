//! What the tests need of the system.

use std::process::{Command, Stdio};

use crate::shell::{run, which, yellow};

/// A Debian package, how to see that it is installed, and what is not tested without it.
struct Need {
    package: &'static str,
    present: fn() -> bool,
    tests: &'static str,
}

const NEEDS: &[Need] = &[
    Need { package: "dbus", present: || which("dbus-daemon").is_some(), tests: "notifications" },
    Need { package: "dunst", present: || which("dunst").is_some(), tests: "notifications on a real server" },
    Need { package: "xvfb", present: || which("Xvfb").is_some(), tests: "notifications on a real server" },
    Need { package: "systemd", present: || which("systemd-analyze").is_some(), tests: "the systemd units" },
    Need {
        package: "minisign",
        present: || which("minisign").is_some(),
        tests: "signatures against minisign itself",
    },
    Need { package: "curl", present: || which("curl").is_some(), tests: "webhooks with a real client" },
    Need {
        package: "python3-venv",
        present: || python_can(&["ensurepip", "venv"]),
        tests: "providers against their official SDKs",
    },
    Need { package: "clang-22", present: || which("clang-22").is_some(), tests: "the guest's rebuild" },
    Need { package: "lld-22", present: || which("wasm-ld-22").is_some(), tests: "the guest's rebuild" },
    Need {
        package: "libclang-rt-22-dev-wasm32",
        present: || std::path::Path::new("/usr/share/doc/libclang-rt-22-dev-wasm32").exists(),
        tests: "the guest's rebuild",
    },
    Need {
        package: "wasi-libc",
        present: || std::path::Path::new("/usr/share/doc/wasi-libc").exists(),
        tests: "the guest's rebuild",
    },
];

/// Whether Python is there, with these modules.
fn python_can(modules: &[&str]) -> bool {
    Command::new("python3")
        .args(["-c", &format!("import {}", modules.join(", "))])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Installs what is missing, when it can. Gives a line for each thing that is not tested.
pub(crate) fn install() -> Vec<String> {
    let missing = || NEEDS.iter().filter(|need| !(need.present)()).collect::<Vec<_>>();
    let names: Vec<&str> = missing().iter().map(|need| need.package).collect();
    if names.is_empty() {
        return Vec::new();
    }
    if which("apt-get").is_some() && rustix::process::geteuid().is_root() {
        println!("installing {}", names.join(" "));
        let apt = |args: &[&str]| {
            let mut command = Command::new("apt-get");
            // What it unpacks is of no interest; what goes wrong is on stderr.
            run(command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()))
        };
        let list = ["install", "-qq", "--yes", "--no-install-recommends"];
        let done = apt(&["update", "-qq"]).and_then(|()| apt(&[&list[..], &names[..]].concat()));
        if let Err(error) = done {
            // One that cannot be had must not keep the others away.
            println!("{} {error}; trying one by one", yellow("warning:"));
            for name in &names {
                drop(apt(&[&list[..], &[name]].concat()));
            }
        }
    } else {
        println!("{} some tests need: apt-get install {}", yellow("missing:"), names.join(" "));
    }
    missing()
        .iter()
        .map(|need| format!("{}: the package {} is not installed", need.tests, need.package))
        .collect()
}
