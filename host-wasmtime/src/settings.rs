//! What the component is compiled and run with. Shared with the build script: code compiled ahead of time loads only
//! into an engine with the same settings.

use wasmtime::Config;

/// Whether the host may end a call that takes too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// It may not. Whatever grows faster than its input counts its own steps and stops at the same place everywhere.
    Free,
    /// It may: the code looks at a clock of the host at each loop and each function, which costs an eighth of
    /// the speed, and up to a quarter where it searches (`cargo xtask bench`).
    Timed,
}

/// Applies the settings to a fresh configuration.
pub(crate) fn apply(config: &mut Config, pace: Pace) {
    config.epoch_interruption(pace == Pace::Timed);
    // Places in the module are of no use to anybody, and an eighth of the code's size.
    config.generate_address_map(false);
    // Selectors may nest 250 deep. A thread of Rust's has 2 MiB, of which the component may take three quarters.
    config.max_wasm_stack(3 << 19);
}
