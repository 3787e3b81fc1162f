//! `apportion what-if`.

use anyhow::Result;
use apportion_core::ask::{Inquiry, Placing};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::cli::arguments::{ChangeArguments, EngineArguments, InputArguments, NamespaceArguments, ViewArguments};
use crate::cli::shown::Shown;
use crate::cli::{ask, difference};

const EXAMPLE: &str = "\
Example:
  apportion what-if -f examples/gpu-sharing/ --without pod/ml/notebook
  apportion what-if -f examples/gpu-sharing/ --cordon node-a --taint gpu.example.com/node-b=broken:NoExecute";

/// Say what would change if objects came or went, devices were tainted or nodes cordoned
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct WhatIfArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    #[command(flatten)]
    pub(super) changes: ChangeArguments,
    /// Whether placed Pods keep their nodes or all Pods are placed again; by default Pods of a dump keep them, and Pods of manifests are placed again
    #[arg(long, value_enum, help_heading = "Changes")]
    placing: Option<PlacingChoice>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    #[command(flatten)]
    pub(super) view: ViewArguments,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum PlacingChoice {
    /// They stay, unless the change drives them out
    Keep,
    /// All are placed in the cluster after the change
    Anew,
}

pub(super) fn what_if(arguments: &WhatIfArguments) -> Result<Shown> {
    let WhatIfArguments { input, changes, placing, namespace, engine, view } = arguments;
    let mut asked = ask::cluster(engine, &view.look, &input.files(), &input.cluster, namespace)?;
    let with = changes.with(engine, view, namespace)?;
    let mut supposition = changes.supposition(namespace, with.as_ref())?;
    supposition.placing = match placing {
        None => Placing::AsGiven,
        Some(PlacingChoice::Keep) => Placing::Keep,
        Some(PlacingChoice::Anew) => Placing::Anew,
    };
    let (answer, _): (_, Value) = asked.inquire(&Inquiry::WhatIf(supposition))?;
    difference::shown(&mut asked, with.as_ref(), &answer, view.output)
}
