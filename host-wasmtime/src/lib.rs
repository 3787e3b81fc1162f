//! The runner: the component, embedded and compiled ahead of time, behind a small API.

mod settings;

use anyhow::Result;
use wasmtime::component::Component;
use wasmtime::{Config, Engine};

/// The component as machine code of the program's target, with baseline instructions only.
static COMPILED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/apportion.cwasm"));

/// Loads the embedded component.
///
/// # Errors
///
/// When the embedded code does not fit this build of wasmtime.
#[expect(unsafe_code, reason = "the bytes come from this crate's own build script, made by the same wasmtime")]
pub fn load() -> Result<(Engine, Component)> {
    let mut config = Config::new();
    settings::apply(&mut config);
    let engine = Engine::new(&config).map_err(anyhow::Error::msg)?;
    // SAFETY: see the reason above; nothing else can write to a static of the program.
    let component = unsafe { Component::deserialize(&engine, COMPILED) }.map_err(anyhow::Error::msg)?;
    Ok((engine, component))
}
