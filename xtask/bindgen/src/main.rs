//! `xtask-bindgen MODULE FOLDER`: the JavaScript, the types and the module of the npm package, by wasm-bindgen's own library.
//!
//! A program of its own: the library takes a minute to compile, which those who build only the program need not wait for.

mod compact;
mod contents;
mod similar;
mod traps;

use std::path::Path;
use std::{env, fs};

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = env::args_os().skip(1);
    let (Some(module), Some(folder)) = (arguments.next(), arguments.next()) else {
        anyhow::bail!("usage: xtask-bindgen MODULE FOLDER");
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_bytes("apportion", traps::bare(&fs::read(module)?)?).out_name("apportion").web(true)?;
    // `npm/entry/instance.js` calls it when the module has stopped.
    bindgen.reset_state_function(true).typescript(true);
    bindgen.remove_producers_section(true).demangle(false).generate(&folder).context(
        "wasm-bindgen cannot make JavaScript from the module: check that Cargo.toml pins the same version twice",
    )?;
    let module = Path::new(&folder).join("apportion_bg.wasm");
    fs::write(&module, compact::compact(&fs::read(&module)?)?)?;
    Ok(())
}
