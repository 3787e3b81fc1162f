//! `apportion diff`.

use std::slice;

use anyhow::Result;
use apportion_core::ask::Inquiry;
use clap::Args;

use crate::cli::arguments::{ClusterArguments, EngineArguments, NamespaceArguments, ViewArguments};
use crate::cli::shown::Shown;
use crate::cli::{ask, difference};

const EXAMPLE: &str = "\
Example:
  apportion diff before.yaml after.yaml
  apportion diff before.yaml --from-cluster";

/// Compare two clusters: nodes, devices, allocations, and which Pods became Pending, and why
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct DiffArguments {
    /// The cluster before: a file or folder
    before: String,
    /// The cluster after
    #[arg(required_unless_present_any = ["from_cluster", "print_rbac"], conflicts_with = "from_cluster")]
    after: Option<String>,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    view: ViewArguments,
}

pub(super) fn diff(arguments: &DiffArguments) -> Result<Shown> {
    let DiffArguments { before, after, cluster, namespace, engine, view } = arguments;
    let mut asked = ask::cluster(engine, &view.look, slice::from_ref(before), &ClusterArguments::default(), namespace)?;
    let mut after = ask::cluster(engine, &view.look, after.as_slice(), cluster, namespace)?;
    let answer = asked.inquire_once(&Inquiry::Compare { objects: after.input.objects().collect() })?;
    let shown = difference::shown(&mut asked, Some(&after), &answer, view.output)?;
    after.with_remarks(shown)
}
