//! Generated from the contract.

#![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]

wasmtime::component::bindgen!({ path: "../wit/apportion.wit", world: "dra" });
