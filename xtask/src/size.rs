//! What the modules weigh.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{Workspace, component, npm};

/// Builds both modules and returns one line per module: name, bytes, bytes after gzip at its best level.
///
/// # Errors
///
/// When a build fails or a file cannot be read.
pub fn report(workspace: &Workspace) -> Result<String> {
    let component = component::build(workspace)?.path;
    npm::build(workspace)?;
    let mut text = format!("{:<12} {:>12} {:>12}\n", "", "bytes", "gzip");
    for (name, path) in [("component", component), ("npm wasm", workspace.path(npm::MODULE))] {
        let (raw, packed) = sizes(&path)?;
        text.push_str(&format!("{name:<12} {raw:>12} {packed:>12}\n"));
    }
    Ok(text)
}

fn sizes(path: &Path) -> Result<(usize, usize)> {
    let bytes = fs::read(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&bytes)?;
    Ok((bytes.len(), gzip.finish()?.len()))
}
