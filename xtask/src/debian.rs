//! Debian's packages, installed where that is possible without asking.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Workspace;
use crate::command::output;

/// Installs what `packages` names, as root or through a sudo that asks nothing, and returns whether that worked. The
/// package lists are fetched anew when the names are not known or the first try fails. What apt says is appended to
/// `target/wasm/apt.log`.
pub fn install(workspace: &Workspace, what: &str, packages: impl Fn() -> Option<Vec<String>>) -> bool {
    if !Path::new("/etc/debian_version").is_file() || fs::create_dir_all(workspace.wasm_dir()).is_err() {
        return false;
    }
    let log = workspace.wasm_dir().join("apt.log");
    eprintln!("xtask: installing {what} from Debian's packages (log: {})", log.display());
    let install = |packages: &[String]| {
        // `--no-remove`: what is already there is never replaced behind the user's back.
        let fixed = ["install", "-y", "--no-install-recommends", "--no-remove"].map(str::to_owned);
        apt_get(&[&fixed, packages].concat(), &log)
    };
    if packages().is_some_and(|packages| install(&packages)) {
        return true;
    }
    apt_get(&["update".to_owned()], &log) && packages().is_some_and(|packages| install(&packages))
}

/// Whether the package lists know a version of it.
#[must_use]
pub fn has_candidate(package: &str) -> bool {
    output(Command::new("apt-cache").args(["policy", package]))
        .is_some_and(|text| text.contains("Candidate:") && !text.contains("Candidate: (none)"))
}

fn apt_get(arguments: &[String], log: &Path) -> bool {
    let is_root = output(Command::new("id").arg("-u")).is_some_and(|id| id == "0");
    let mut command = Command::new(if is_root { "apt-get" } else { "sudo" });
    if !is_root {
        command.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    }
    let Ok(log) = fs::OpenOptions::new().create(true).append(true).open(log) else { return false };
    let Ok(errors) = log.try_clone() else { return false };
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    command.status().is_ok_and(|status| status.success())
}
