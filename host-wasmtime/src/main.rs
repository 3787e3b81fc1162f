//! The command line. stdout is the answer, stderr everything else.

mod api_server;
mod cli;
mod controller;

use std::process::ExitCode;

/// The system's allocator takes a quarter of the time of large inputs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
