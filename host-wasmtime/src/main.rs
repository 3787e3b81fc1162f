//! The command line. stdout is the answer, stderr everything else.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
