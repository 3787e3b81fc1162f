//! Compiles the component ahead of time, for the runner to embed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use anyhow::{Context, Result};
use wasmtime::{Config, Engine};
use xtask::{Workspace, component};

#[path = "src/settings.rs"]
mod settings;

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
    let mut config = Config::new();
    settings::apply(&mut config);
    config.target(&target).map_err(anyhow::Error::msg)?;
    let engine = Engine::new(&config).map_err(anyhow::Error::msg)?;
    let compiled = engine
        .precompile_component(&bytes)
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("compiling the component for {target}"))?;

    let out = PathBuf::from(env::var_os("OUT_DIR").context("cargo sets OUT_DIR for build scripts")?);
    let path = out.join("apportion.cwasm");
    fs::write(&path, compiled).with_context(|| format!("`{}` cannot be written", path.display()))
}
