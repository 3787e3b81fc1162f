//! The heap of every module for WebAssembly. It is a crate of its own so that it can be made to be fast in a module that is made to be
//! small: small texts come and go with every question.

/// talc is made for modules with one thread, and joins free pieces again.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static HEAP: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
