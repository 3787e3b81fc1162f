//! The web page, built by Vite.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;

use crate::command::run;
use crate::fingerprint::{Fingerprint, lock};
use crate::node::Node;
use crate::{Workspace, npm};

/// Everything the page is made from beside the module; what codes mean is taken from the tables of the two crates.
const INPUTS: [&str; 6] =
    ["web", "npm/package.json", "npm/entry", "examples", "core/src/finding.rs", "yaml/src/problem.rs"];

/// Whether the checkout has a web page.
#[must_use]
pub fn exists(workspace: &Workspace) -> bool {
    workspace.path("web/package.json").is_file()
}

/// Builds `web/dist` where it is missing or older than its inputs, the npm package among them.
///
/// # Errors
///
/// When Node.js is missing, its packages cannot be had, or Vite fails.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    let page = workspace.path("web/dist/index.html");
    let package = npm::build(workspace)?;
    let node = Node::find(workspace)?;
    let _lock = lock(&workspace.wasm_dir(), ".web.lock")?;
    node.install(workspace, "web")?;
    let mut inputs = Fingerprint::of(workspace, &INPUTS)?;
    for file in ["apportion.js", "apportion_bg.wasm"] {
        inputs.add(&std::fs::read(package.join(file))?);
    }
    if inputs.is_of(&page) {
        return Ok(page);
    }
    let start = Instant::now();
    let mut vite = node.npm(&workspace.path("web"), &["run", "--silent", "build"]);
    run(&mut vite, "building the web page", "Vite's message is above")?;
    inputs.note(&page)?;
    eprintln!("xtask: web page built in {:.1} s", start.elapsed().as_secs_f64());
    Ok(page)
}

/// Builds the page, or the whole site, and serves it on localhost until interrupted. Vite prints the address.
///
/// # Errors
///
/// As [`build`] or [`crate::site::build`], and when Vite cannot serve.
pub fn serve(workspace: &Workspace, whole_site: bool) -> Result<()> {
    let page = build(workspace)?;
    let folder = match whole_site {
        true => crate::site::build(workspace)?,
        false => page.parent().unwrap_or(&page).to_owned(),
    };
    let node = Node::find(workspace)?;
    let mut vite = node.npm(&workspace.path("web"), &["run", "--silent", "preview", "--", "--outDir"]);
    vite.arg(folder);
    run(&mut vite, "serving the web page", "Vite's message is above")
}
