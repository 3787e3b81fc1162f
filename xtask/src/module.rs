//! The plain module: `wit/module` built for wasm, for hosts without the component model.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::fingerprint::{Fingerprint, lock};
use crate::toolchain::Toolchain;
use crate::{Workspace, wasm};

/// Everything the module is made from.
const INPUTS: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "core",
    "yaml",
    "wit/heap",
    "wit/module",
    "xtask/src/module.rs",
    "xtask/src/toolchain.rs",
    "xtask/src/wasm.rs",
];

/// Where the Go package embeds it from, and where the Python package holds it. It is not kept in the repository.
const EMBEDDED: [&str; 2] = ["host-go/internal/engine/apportion.wasm", "host-python/src/apportion/apportion.wasm"];

/// Hosts carry it in their packages.
const MOST_BYTES: usize = 5_000_000;

/// The section of a WebAssembly module that lists its imports.
const IMPORTS: u8 = 2;

/// Builds the module where it is missing or older than its inputs, puts it into the packages, and returns its path.
///
/// # Errors
///
/// When no toolchain is found, the build fails, or the result imports anything or is too large.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    let noted = workspace.wasm_dir().join("apportion-module.wasm");
    let _lock = lock(&workspace.wasm_dir(), ".module.lock")?;
    let inputs = Fingerprint::of(workspace, &INPUTS)?;
    if !inputs.is_of(&noted) {
        let start = Instant::now();
        let toolchain = Toolchain::find(workspace)?;
        eprintln!("xtask: building the plain module with {}", toolchain.describe());
        let built = wasm::module(workspace, &toolchain, "apportion-module", "module")?;
        let bytes = fs::read(&built).with_context(|| format!("`{}` cannot be read", built.display()))?;
        let bytes = wasm::without_names(&bytes)
            .with_context(|| format!("`{}` is not a WebAssembly module: remove it and try again", built.display()))?;
        if wasm::sections(&bytes).is_none_or(|sections| sections.iter().any(|section| section.id == IMPORTS)) {
            bail!(
                "the plain module imports something, but it must import nothing: remove what calls it from core or wit/module"
            );
        }
        if bytes.len() > MOST_BYTES {
            bail!("the plain module has {} bytes, more than {MOST_BYTES}", bytes.len());
        }
        fs::write(&noted, &bytes).with_context(|| format!("`{}` cannot be written", noted.display()))?;
        inputs.note(&noted)?;
        eprintln!("xtask: plain module built in {:.1} s, {} bytes", start.elapsed().as_secs_f64(), bytes.len());
    }
    for path in EMBEDDED.map(|below| workspace.path(below)) {
        if fs::read(&path).ok() != Some(fs::read(&noted)?) {
            fs::copy(&noted, &path).with_context(|| format!("`{}` cannot be written", path.display()))?;
        }
    }
    Ok(noted)
}
