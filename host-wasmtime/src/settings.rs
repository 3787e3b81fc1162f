//! What the component is compiled and run with. Shared with the build script: code compiled ahead of time loads only
//! into an engine with the same settings.

use wasmtime::Config;

/// Applies the settings to a fresh configuration.
pub(crate) fn apply(config: &mut Config) {
    // Epochs would stop a call at another place on every machine; fuel stops it at the same one.
    config.consume_fuel(true);
    // Selectors may nest 250 deep. A thread of Rust's has 2 MiB, of which the component may take three quarters.
    config.max_wasm_stack(3 << 19);
}
