//! `apportion what-if`.

use anyhow::{Result, bail};
use apportion_core::ask::{Inquiry, Supposition, TaintSpec};
use apportion_core::finding::ObjectRef;
use clap::Args;
use serde_json::Value;

use crate::cli::arguments::{
    ClusterArguments, EngineArguments, InputArguments, NamespaceArguments, ViewArguments, parse_taint,
};
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
    input: InputArguments,
    /// Manifests that are added, or replace objects of the same name
    #[arg(long, value_name = "PATH", num_args = 1.., help_heading = "Changes")]
    with: Vec<String>,
    /// Objects that go, as KIND/NAME or KIND/NAMESPACE/NAME; with a node go its slices and Pods
    #[arg(long, value_name = "KIND/NAME", num_args = 1.., help_heading = "Changes")]
    without: Vec<String>,
    /// Taints, as DEVICES=KEY[=VALUE]:EFFECT; devices are DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE
    #[arg(long, value_name = "TAINT", num_args = 1.., value_parser = parse_taint, help_heading = "Changes")]
    taint: Vec<TaintSpec>,
    /// Nodes that take no new Pods
    #[arg(long, value_name = "NODE", num_args = 1.., help_heading = "Changes")]
    cordon: Vec<String>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    view: ViewArguments,
}

pub(super) fn what_if(arguments: &WhatIfArguments) -> Result<Shown> {
    let WhatIfArguments { input, with, without, taint, cordon, namespace, engine, view } = arguments;
    let mut asked = ask::cluster(engine, &view.look, &input.files(), &input.cluster)?;
    // A cluster of its own tells the findings apart by document.
    let with = match with.as_slice() {
        [] => None,
        with => Some(ask::cluster(engine, &view.look, with, &ClusterArguments::default())?),
    };
    let supposition = Supposition {
        without: without.iter().map(|text| object(namespace, text)).collect::<Result<_>>()?,
        with: with.iter().flat_map(|with| with.input.objects()).collect(),
        taints: taint.clone(),
        cordon: cordon.clone(),
        now: ask::now().to_string(),
    };
    let (answer, _): (_, Value) = asked.inquire(&Inquiry::WhatIf(supposition))?;
    difference::shown(&mut asked, with.as_ref(), &answer, view.output)
}

/// What goes, as the user names it. A kind that is none of ours is taken at its word.
fn object(namespace: &NamespaceArguments, text: &str) -> Result<ObjectRef> {
    match (namespace.object(text), text.split_once('/')) {
        (Some(object), _) => Ok(object),
        (None, Some((kind, name))) => Ok(namespace.named(kind, name)),
        (None, None) => bail!("`{text}` is not KIND/NAME or KIND/NAMESPACE/NAME"),
    }
}
