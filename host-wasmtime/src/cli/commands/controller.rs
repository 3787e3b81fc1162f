//! `apportion controller`. Its arguments are [`crate::controller::ControllerArguments`], which all its parts read.

use anyhow::{Result, bail};
use apportion_core::profile::Mode;

use crate::cli::ask;
use crate::cli::shown::Shown;
use crate::controller::{ControllerArguments, printed, run};

pub(super) const EXAMPLE: &str = "\
Example:
  apportion controller --print-crd | kubectl apply -f -
  apportion controller --print-rbac --namespace apportion-system | kubectl apply -f -
  apportion controller --controllers template-sync --context kind-test";

pub(super) fn controller(arguments: &ControllerArguments) -> Result<Shown> {
    if arguments.kubernetes.native {
        bail!("the controller decides in the component only");
    }
    let printed = match printed(arguments) {
        Some(text) => text,
        None => {
            run(arguments, ask::profile(&arguments.kubernetes, Mode::Sound)?)?;
            String::new()
        }
    };
    Ok(Shown::text(printed))
}
