//! The site: pages of the checkout, a reference that the program writes, and the playground, as one static folder. Its links are relative, so
//! that any host serves it under any path.

mod book;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::command::{cargo, output, run};
use crate::{Workspace, docs, jobs, web};

/// The generator: it makes a search index that works without a server, and its links are relative. It is installed below `target/tools`.
const GENERATOR: (&str, &str) = ("mdbook", "0.5.4");

/// Builds `target/site`.
///
/// # Errors
///
/// When a link of a page leads nowhere, the program or the playground cannot be built, or the generator cannot be had.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    docs::check(workspace)?;
    let generator = generator(workspace)?;
    let program = jobs::program(workspace)?;
    let page = web::build(workspace)?;
    let start = Instant::now();
    let site = workspace.path("target/site");
    let source = workspace.path("target/site-source");
    for folder in [&site, &source] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("`{}` cannot be removed", folder.display()))?;
        }
    }
    let text_of = |path: &str| {
        let path = workspace.path(path);
        fs::read_to_string(&path).with_context(|| format!("`{}` cannot be read", path.display()))
    };
    let generated = vec![
        ("reference/commands.md", reference::commands(&program)?),
        ("reference/codes.md", reference::codes(&program)?),
        ("reference/versions.md", reference::versions(&text_of("core/src/profile.rs")?)?),
        (
            "reference/wit.md",
            reference::listing("The contract of the component", "wit", &text_of("wit/apportion.wit")?),
        ),
        ("reference/npm.md", reference::listing("Types of the npm package", "ts", &text_of("npm/entry/types.d.ts")?)),
        ("examples/live.md", reference::live(&text_of("web/src/windows/catalogue.ts")?)?),
    ];
    book::write(workspace, &source, &generated)?;
    let mut make = Command::new(generator);
    make.arg("build").arg(&source).arg("--dest-dir").arg(&site);
    run(&mut make, "making the site", "the generator's message is above")?;
    copy_folder(page.parent().unwrap_or(&page), &site.join("playground"))?;
    eprintln!("xtask: site made in {:.1} s", start.elapsed().as_secs_f64());
    Ok(site)
}

/// The generator on the path, where it has the right version; else its own copy.
fn generator(workspace: &Workspace) -> Result<PathBuf> {
    let (name, version) = GENERATOR;
    let is_right = |program: &Path| {
        output(Command::new(program).arg("--version"))
            .is_some_and(|text| text.trim_start_matches("mdbook v") == version)
    };
    let own = workspace.path("target/tools/bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if let Some(found) = [PathBuf::from(name), own.clone()].into_iter().find(|program| is_right(program)) {
        return Ok(found);
    }
    eprintln!("xtask: installing {name} {version}, which takes minutes");
    let mut install = cargo();
    install.args(["install", "--locked", "--quiet", "--no-default-features", "--features", "search"]);
    install.arg(format!("{name}@{version}")).arg("--root").arg(workspace.path("target/tools"));
    run(&mut install, "installing the generator of the site", "it comes from crates.io: is there a network?")?;
    Ok(own)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("`{}` cannot be made", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("`{}` cannot be listed", from.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else if path.extension().is_none_or(|ending| ending != "inputs") {
            fs::copy(&path, to.join(name)).with_context(|| format!("`{}` cannot be copied", path.display()))?;
        }
    }
    Ok(())
}
