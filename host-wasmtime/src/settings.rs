//! What the component is compiled and run with. Shared with the build script: code compiled ahead of time loads only
//! into an engine with the same settings.

use wasmtime::Config;

/// Applies the settings to a fresh configuration.
pub(crate) fn apply(config: &mut Config) {
    // Neither fuel nor epochs: they cost a fifth to a tenth of the speed, and whatever grows faster than its input counts its own steps
    // and stops at the same place everywhere.
    // Selectors may nest 250 deep. A thread of Rust's has 2 MiB, of which the component may take three quarters.
    config.max_wasm_stack(3 << 19);
}
