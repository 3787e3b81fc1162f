//! The command line. stdout is the answer, stderr everything else.

mod api_server;
mod cli;
mod controller;

use std::ffi::c_long;
use std::process::ExitCode;

use libmimalloc_sys::{mi_option_set, mi_option_t};

/// The system's allocator takes a quarter of the time of large inputs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of `mimalloc.h`, which the crate leaves without a name.
const PURGE_DELAY: mi_option_t = 15;

/// Milliseconds for which the allocator keeps memory that is free. Most commands end before; the controller gives back what a
/// peak took.
const KEPT: c_long = 10_000;

fn main() -> ExitCode {
    #[expect(unsafe_code, reason = "sets one number inside the allocator, before any other thread runs")]
    // SAFETY: the option exists and takes any number.
    unsafe {
        mi_option_set(PURGE_DELAY, KEPT);
    }
    cli::main()
}
