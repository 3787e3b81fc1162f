//! `apportion controller`.

use anyhow::{Result, bail};
use apportion_core::profile::Mode;

use super::{Shown, Verdict, ask};
use crate::controller::{ControllerArguments, printed, run};

pub(crate) fn control(arguments: &ControllerArguments) -> Result<Shown> {
    if arguments.kubernetes.native {
        bail!("the controller decides in the component only");
    }
    let stdout = match printed(arguments) {
        Some(text) => text,
        None => {
            run(arguments, ask::profile(&arguments.kubernetes, Mode::Sound)?)?;
            String::new()
        }
    };
    Ok(Shown { stdout: stdout.into(), stderr: String::new(), verdict: Verdict::Yes })
}
