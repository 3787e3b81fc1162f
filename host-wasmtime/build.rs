//! Compiles the component ahead of time, for the runner to embed; and the playground, where it was built.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, thread};

use anyhow::{Context, Result};
use wasmtime::{Config, Engine};
use xtask::{Workspace, component};

#[path = "src/settings.rs"]
mod settings;

use settings::Pace;

fn main() -> ExitCode {
    match embed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn embed() -> Result<()> {
    let workspace = Workspace::find()?;
    for input in component::INPUTS {
        println!("cargo::rerun-if-changed={}", workspace.path(input).display());
    }
    println!("cargo::rerun-if-changed=src/settings.rs");
    println!("cargo::rerun-if-env-changed=APPORTION_WASM_TOOLCHAIN");

    let component = component::build(&workspace)?;
    let bytes = fs::read(&component.path).with_context(|| format!("`{}` cannot be read", component.path.display()))?;

    // A stated target means its baseline processor, not this machine's, so that the program can be moved to another.
    let target = env::var("TARGET").context("cargo sets TARGET for build scripts")?;
    let out = PathBuf::from(env::var_os("OUT_DIR").context("cargo sets OUT_DIR for build scripts")?);
    embed_page(&out)?;
    let compile = |pace: Pace, file: &str| {
        let mut config = Config::new();
        settings::apply(&mut config, pace);
        config.target(&target).map_err(anyhow::Error::msg)?;
        let engine = Engine::new(&config).map_err(anyhow::Error::msg)?;
        let compiled = engine
            .precompile_component(&bytes)
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("compiling the component for {target}"))?;
        let path = out.join(file);
        fs::write(&path, compiled).with_context(|| format!("`{}` cannot be written", path.display()))
    };
    thread::scope(|scope| {
        let timed = scope.spawn(|| compile(Pace::Timed, "timed.cwasm"));
        compile(Pace::Free, "free.cwasm")?;
        timed.join().map_err(|_| anyhow::Error::msg("compiling the component stopped"))?
    })
}

/// Names the files of the page for the program to include. Whoever builds the program with a page, `cargo xtask install`, says where it
/// lies; without one the program needs no Node.js to build.
fn embed_page(out: &Path) -> Result<()> {
    println!("cargo::rerun-if-env-changed=APPORTION_PAGE");
    let mut names = Vec::new();
    let folder = env::var_os("APPORTION_PAGE").map(PathBuf::from);
    if let Some(folder) = &folder {
        // It names all others, and their names change with what is in them.
        println!("cargo::rerun-if-changed={}", folder.join("index.html").display());
        println!("cargo::rerun-if-changed={}", folder.join("service-worker.js").display());
        list(folder, "", &mut names)?;
        names.sort();
    }
    let mut text = String::from("static FILES: &[File] = &[\n");
    for name in names {
        let path = folder.iter().map(|folder| folder.join(&name)).collect::<PathBuf>();
        writeln!(text, "    ({name:?}, include_bytes!({path:?})),")?;
    }
    text.push_str("];\n");
    let path = out.join("playground.rs");
    fs::write(&path, text).with_context(|| format!("`{}` cannot be written", path.display()))
}

/// Files below a folder, with `/` between the parts of their names; the build's own notes are left out.
fn list(folder: &Path, prefix: &str, names: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("`{}` cannot be listed", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &format!("{name}/"), names)?;
        } else if !name.ends_with(".inputs") {
            names.push(name);
        }
    }
    Ok(())
}
