//! `cargo xtask`.

use std::process::ExitCode;

use xtask::{Workspace, component};

fn main() -> ExitCode {
    match Workspace::find().and_then(|workspace| component::build(&workspace)) {
        Ok(built) => {
            println!("{}", built.path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
