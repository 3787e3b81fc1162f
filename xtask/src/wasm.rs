//! Builds one crate of the workspace for wasm.

use std::path::PathBuf;

use anyhow::Result;

use crate::Workspace;
use crate::command::run;
use crate::toolchain::{TARGET, Toolchain};

/// Builds `package` with the profile `wasm` and returns the module's path.
///
/// # Errors
///
/// When the build fails; the compiler's own messages are on stderr.
pub fn module(workspace: &Workspace, toolchain: &Toolchain, package: &str) -> Result<PathBuf> {
    let target_dir = workspace.wasm_dir();
    let mut cargo = toolchain.cargo_build(workspace);
    cargo.args(["--profile", "wasm", "--quiet", "--package", package]).arg("--target-dir").arg(&target_dir);
    let way_out =
        "the compiler's message is above; when it says that the lock file needs an update, run `cargo update -w`";
    run(&mut cargo, &format!("building `{package}` for {TARGET}"), way_out)?;
    Ok(target_dir.join(TARGET).join("wasm").join(format!("{}.wasm", package.replace('-', "_"))))
}
