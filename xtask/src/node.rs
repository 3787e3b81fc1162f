//! Node.js and npm, for the package's tests and the web page.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::Workspace;
use crate::command::{output, run};
use crate::fingerprint::Fingerprint;

/// The oldest Node.js that Vite 8 and the package's tests run on.
const OLDEST: (u32, u32) = (20, 19);

/// Says how to get Node.js where it is missing or too old.
///
/// # Errors
///
/// One sentence with the way out.
pub fn require() -> Result<()> {
    const WAY_OUT: &str = "install Node.js 20.19 or newer with npm (https://nodejs.org/en/download), then try again";
    let Some(found) = output(Command::new("node").arg("--version")) else {
        bail!("Node.js is not installed: {WAY_OUT}");
    };
    if version(&found).is_none_or(|version| version < OLDEST) {
        bail!("Node.js {found} is too old: {WAY_OUT}");
    }
    if output(Command::new("npm").arg("--version")).is_none() {
        bail!("npm is not installed: {WAY_OUT}");
    }
    Ok(())
}

/// Installs what `folder`'s lock file names, unless that was done already. No script of a package runs.
///
/// # Errors
///
/// When there is no lock file, or npm fails.
pub fn install(workspace: &Workspace, folder: &str) -> Result<bool> {
    let lock = format!("{folder}/package-lock.json");
    if !workspace.path(&lock).is_file() {
        bail!("`{lock}` is missing: run `npm install --ignore-scripts` in `{folder}` and commit it");
    }
    // npm writes this file last.
    let modules = workspace.path(folder).join("node_modules/.package-lock.json");
    let inputs = Fingerprint::of(workspace, &[&lock, &format!("{folder}/package.json")])?;
    if inputs.is_of(&modules) {
        return Ok(false);
    }
    let mut npm = npm(&workspace.path(folder), &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    run(
        &mut npm,
        &format!("`npm ci` in `{folder}`"),
        "npm's message is above; check that its registry can be reached",
    )?;
    inputs.note(&modules)?;
    Ok(true)
}

/// An npm command in a folder.
#[must_use]
pub fn npm(folder: &Path, arguments: &[&str]) -> Command {
    let mut npm = Command::new("npm");
    npm.args(arguments).current_dir(folder);
    npm
}

/// Whether the folder's `package.json` has a script of that name.
#[must_use]
pub fn has_script(workspace: &Workspace, folder: &str, name: &str) -> bool {
    output(&mut npm(&workspace.path(folder), &["pkg", "get", &format!("scripts.{name}")]))
        .is_some_and(|text| text.starts_with('"'))
}

/// `v20.20.2` is (20, 20).
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix('v')?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_compare_as_numbers() {
        assert_eq!(version("v20.20.2"), Some((20, 20)));
        assert!(version("v9.11.0").unwrap() < OLDEST);
        assert_eq!(version("20"), None);
    }
}
