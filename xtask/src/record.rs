//! Recording what real API servers answer.

use std::process::{Command, Stdio};

use anyhow::{Result, bail, ensure};

use crate::command::{cargo, output, run};
use crate::{Workspace, e2e};

/// The releases that are recorded.
const RELEASES: [&str; 4] = ["1.34", "1.35", "1.36", "1.37"];

/// Builds the API server of each release, or of the one that `--version` names, where that has changed, and writes what it answers.
///
/// # Errors
///
/// When the arguments are others, Go is missing, a build fails or a server does.
pub fn validation(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let only = match arguments {
        [_] => None,
        [_, flag, release] if flag == "--version" && RELEASES.contains(&release.as_str()) => Some(release.as_str()),
        _ => bail!("after `record validation` comes nothing, or `--version` and one of {}", RELEASES.join(", ")),
    };
    ensure!(output(Command::new("go").arg("version")).is_some(), "building an API server needs Go");
    for release in RELEASES.into_iter().filter(|release| only.is_none_or(|only| only == *release)) {
        let program = e2e::api_server(workspace, release)?;
        let mut record = cargo();
        record.args(["run", "--quiet", "--locked", "--package", "apportion-tests", "--no-default-features"]);
        record.args(["--bin", "record_validation", "--manifest-path"]).arg(workspace.path("Cargo.toml"));
        record.arg("--").arg("--program").arg(program).arg("--output");
        record
            .arg(workspace.path("tests/conformance/validation").join(format!("{release}.jsonl")))
            .stdin(Stdio::null());
        run(&mut record, "recording", "the message is above")?;
    }
    Ok(())
}
