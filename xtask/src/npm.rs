//! The npm package: the crate `npm` built for wasm, its JavaScript made by `xtask/bindgen`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::command::{cargo, run};
use crate::fingerprint::{Fingerprint, lock};
use crate::toolchain::Toolchain;
use crate::{Workspace, component, wasm};

/// Everything the package is made from.
const INPUTS: [&str; 12] = [
    "Cargo.toml",
    "Cargo.lock",
    "core",
    "yaml",
    "wit/heap",
    "npm/Cargo.toml",
    "npm/src",
    "npm/entry",
    "xtask/bindgen",
    "xtask/src/npm.rs",
    "xtask/src/toolchain.rs",
    "xtask/src/wasm.rs",
];

/// The module inside the package, below the checkout.
pub const MODULE: &str = "npm/dist/apportion_bg.wasm";

/// Builds `npm/dist` where it is missing or older than its inputs.
///
/// The folder holds `apportion.js` (for browsers, bundlers and workers: the module is loaded from beside it by
/// `init()`), its types, the module, and the hand-written entries of `npm/entry`.
///
/// # Errors
///
/// When no toolchain is found or a build step fails.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    let dist = workspace.path("npm/dist");
    let stamp = dist.join("apportion_bg.wasm");
    let _lock = lock(&workspace.wasm_dir(), ".npm.lock")?;
    let inputs = Fingerprint::of(workspace, &INPUTS)?;
    if inputs.is_of(&stamp) {
        return Ok(dist);
    }
    let start = Instant::now();
    let toolchain = Toolchain::find(workspace)?;
    eprintln!("xtask: building the npm package with {}", toolchain.describe());
    let module = wasm::module(workspace, &toolchain, "apportion-npm", "npm")?;
    if dist.exists() {
        fs::remove_dir_all(&dist).with_context(|| format!("`{}` cannot be removed", dist.display()))?;
    }
    let mut bindgen = cargo();
    bindgen.current_dir(workspace.root()).args([
        "run",
        "--quiet",
        "--release",
        "--locked",
        "--package",
        "xtask-bindgen",
        "--",
    ]);
    run(bindgen.arg(&module).arg(&dist), "making the package's JavaScript", "the message is above")?;
    copy_entries(workspace, &dist)?;
    inputs.note(&stamp)?;
    let bytes = fs::metadata(&stamp).map(|data| data.len()).unwrap_or_default();
    eprintln!("xtask: npm package built in {:.1} s, {bytes} bytes of wasm", start.elapsed().as_secs_f64());
    Ok(dist)
}

/// Builds the package as it is published: with the component and its interfaces in it.
///
/// # Errors
///
/// As [`build`] and [`component::build`].
pub fn publishable(workspace: &Workspace) -> Result<PathBuf> {
    let dist = build(workspace)?;
    let component = component::build(workspace)?.path;
    for (from, name) in [(component, "component.wasm"), (workspace.path("wit/apportion.wit"), "apportion.wit")] {
        let to = dist.join(name);
        fs::copy(&from, &to).with_context(|| format!("`{}` cannot be written", to.display()))?;
    }
    Ok(dist)
}

fn copy_entries(workspace: &Workspace, dist: &Path) -> Result<()> {
    let from = workspace.path("npm/entry");
    for entry in fs::read_dir(&from).with_context(|| format!("`{}` cannot be listed", from.display()))? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            continue;
        }
        let to = dist.join(entry.file_name());
        fs::copy(entry.path(), &to).with_context(|| format!("`{}` cannot be written", to.display()))?;
    }
    Ok(())
}
