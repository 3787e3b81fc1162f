//! `apportion taint`.

use anyhow::Result;
use apportion_core::ask::{Eviction, Inquiry, TaintSpec};
use clap::Args;
use serde_json::json;

use crate::cli::arguments::{EngineArguments, NamespaceArguments, RepeatedArguments, ViewArguments, parse_taint};
use crate::cli::difference::eviction_lines;
use crate::cli::shown::Shown;
use crate::cli::{ask, text};

const EXAMPLE: &str = "\
Example:
  apportion taint --preview gpu.example.com/node-a=broken:NoExecute -f examples/gpu-sharing/";

/// Say which Pods would be evicted if devices were tainted, and when
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct TaintArguments {
    /// Taints, as DEVICES=KEY[=VALUE]:EFFECT, and manifests, as behind `-f`; without a taint, who has to go as things are
    #[arg(value_name = "TAINT|PATH")]
    given: Vec<String>,
    #[command(flatten)]
    input: RepeatedArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// Show what would happen; required, because the command cannot taint yet. If no claim is allocated, the manifests are placed first, as by `run`
    #[arg(long, required = true)]
    preview: bool,
    /// The time, as RFC 3339, for taints that are tolerated for a while; now, where left out
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    view: ViewArguments,
}

const NOBODY: &str = "\
No Pod of the input would be evicted.
Only Pods count that have a node and a claim reserved for them. Where no claim has devices yet, Pods get their places first, as
`apportion run` shows.
";

pub(super) fn taint(arguments: &TaintArguments) -> Result<Shown> {
    let TaintArguments { given, input, namespace, now, engine, view, .. } = arguments;
    let (taints, paths): (Vec<String>, Vec<String>) = given.iter().cloned().partition(|text| text.contains('='));
    let taints: Vec<TaintSpec> =
        taints.iter().map(|text| parse_taint(text)).collect::<Result<_, _>>().map_err(anyhow::Error::msg)?;
    let mut asked =
        ask::cluster(engine, &view.look, &[input.files.as_slice(), &paths].concat(), &input.cluster, namespace)?;
    let now = now.clone().unwrap_or_else(|| ask::now().to_string());
    let (answer, evictions): (_, Vec<Eviction>) = asked.inquire(&Inquiry::Evictions { taints, now })?;
    let table = |pen| match evictions.as_slice() {
        [] => NOBODY.to_owned(),
        evictions => text::lines(eviction_lines(evictions, pen)),
    };
    let shown = asked.show(view.output, "Evictions", || json!({ "evictions": answer }), table, evictions.is_empty());
    asked.with_remarks(shown)
}
