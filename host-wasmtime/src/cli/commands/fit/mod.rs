//! `apportion fit`.

mod nodes;

use anyhow::Result;
use apportion_core::ask::{Bounds, DeviceAsk, Fit, FitRequest, Inquiry, NodesNeededRequest, Per};
use apportion_core::finding::ObjectRef;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::usage::taint_sentences;
use crate::cli::arguments::{
    ChangeArguments, EngineArguments, InputArguments, NamespaceArguments, ViewArguments, parse_count,
};
use crate::cli::ask;
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::text::{self, alike, clean, count, row, table, width, wrap};

const EXAMPLE: &str = "\
Example:
  apportion fit examples/gpu-sharing/ --claim-template ml/small-gpu
  apportion fit examples/gpu-sharing/ --class gpu.example.com --count 2 --cordon node-a
  apportion fit examples/gpu-sharing/ --class gpu.example.com --copies 12 --node-like node-a";

/// Say how many more of a claim fit, and what runs out first; or how many more nodes are needed
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    /// A ResourceClaimTemplate, as NAMESPACE/NAME or NAME; without it, a claim or a class, the only template of the input
    #[arg(long, short = 't', value_name = "NAME")]
    claim_template: Option<String>,
    /// A ResourceClaim
    #[arg(long, short = 'c', value_name = "NAME", conflicts_with = "claim_template")]
    claim: Option<String>,
    /// A DeviceClass, for a claim that is not written anywhere
    #[arg(long, value_name = "NAME", conflicts_with_all = ["claim", "claim_template"])]
    class: Option<String>,
    /// With `--class`: how many devices the claim has
    #[arg(long, value_name = "N", default_value_t = 1, requires = "class", value_parser = parse_count::<u64>)]
    count: u64,
    /// With `--class`: a CEL expression that holds for its devices; may be repeated
    #[arg(long = "selector", value_name = "CEL", requires = "class")]
    selectors: Vec<String>,
    #[command(flatten)]
    nodes: nodes::NodesArguments,
    #[command(flatten)]
    pub(super) changes: ChangeArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// What is counted
    #[arg(long, value_enum, default_value_t = PerChoice::Node)]
    per: PerChoice,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    #[command(flatten)]
    pub(super) view: ViewArguments,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum PerChoice {
    /// Nodes
    Node,
    /// Pools: the devices of one pool alone
    Pool,
    /// Device classes: single devices of each
    Class,
}

pub(super) fn fit(arguments: &FitArguments) -> Result<Shown> {
    let FitArguments { input, view, engine, .. } = arguments;
    let mut asked = ask::cluster(engine, &view.look, &input.files(), &input.cluster, &arguments.namespace)?;
    let with = arguments.changes.with(engine, view, &arguments.namespace)?;
    let supposing = arguments.changes.supposition(&arguments.namespace, with.as_ref())?;
    let device = arguments.class.as_ref().map(|class| {
        let (class, selectors) = (class.clone(), arguments.selectors.clone());
        DeviceAsk { class, count: arguments.count, selectors }
    });
    let subject = match (&arguments.claim_template, &arguments.claim) {
        (Some(template), _) => Some(arguments.namespace.named("ResourceClaimTemplate", template)),
        (None, Some(claim)) => Some(arguments.namespace.named("ResourceClaim", claim)),
        (None, None) => None,
    };
    if arguments.nodes.is_asked() {
        let request = NodesNeededRequest { device, supposing, ..NodesNeededRequest::default() };
        return nodes::nodes(arguments, asked, with, request, subject);
    }
    let subject = subject.unwrap_or_else(|| ObjectRef::new("ResourceClaimTemplate", arguments.namespace.name(), ""));
    let per = match arguments.per {
        PerChoice::Node => Per::Node,
        PerChoice::Pool => Per::Pool,
        PerChoice::Class => Per::Class,
    };
    let name = match &device {
        Some(DeviceAsk { class, count: 1, .. }) => format!("1 device of {class}"),
        Some(DeviceAsk { class, count, .. }) => format!("{count} devices of {class}"),
        None if subject.name.is_empty() => "the only template".to_owned(),
        None => subject.name.clone(),
    };
    let request = FitRequest { subject, device, supposing, per };
    let (answer, found): (_, Fit) = asked.inquire(&Inquiry::Fit(request))?;
    let table = |pen| show(&found, per, &name, pen);
    let mut shown = asked.show(view.output, "Fit", || json!({ "fit": answer }), table, found.total.at_most > 0);
    if let Some(with) = with {
        with.add_to(&mut shown);
    }
    asked.with_remarks(shown)
}

/// Rows that are shown one by one.
const MOST_ROWS: usize = 12;

/// Of more, rows with equal numbers that are shown one by one.
const MOST_EQUAL: usize = 3;

/// How many counters and capacities are told.
const MOST_REMAINDERS: usize = 4;

/// `3`, `3 to 5`, `at least 3`.
fn in_words(bounds: Bounds) -> String {
    match (bounds.at_least, bounds.at_most) {
        (least, most) if least == most => least.to_string(),
        (least, u64::MAX) => format!("at least {least}"),
        (least, most) => format!("{least} to {most}"),
    }
}

fn show(found: &Fit, per: Per, name: &str, pen: Pen) -> String {
    let title = format!("{} more of {name} fit", in_words(found.total));
    let mut lines = vec![pen.paint(Ink::Strong, &clean(&title)), String::new()];
    let head = match per {
        Per::Node => "NODE",
        Per::Pool => "POOL",
        Per::Class => "CLASS",
    };
    let mut rows = vec![row([head, "FITS"])];
    let is_short = found.rows.len() <= MOST_ROWS;
    rows.extend(found.rows.iter().filter(|_| is_short).map(|of| row([&of.name, &in_words(of.fits)])));
    for equal in alike(found.rows.iter().filter(|_| !is_short), |of| (of.fits.at_least, of.fits.at_most)) {
        let names: Vec<&str> = equal.iter().map(|of| of.name.as_str()).collect();
        let fits = equal.first().map(|of| in_words(of.fits)).unwrap_or_default();
        match names.as_slice() {
            names if names.len() <= MOST_EQUAL => rows.extend(names.iter().map(|name| row([name, &fits]))),
            [first, .., last] => {
                rows.push(row([&format!("{first} to {last}, {} alike", names.len()), &format!("{fits} each")]));
            }
            _ => {}
        }
    }
    lines.extend(table(&rows, &[1]));
    lines.push(String::new());
    let mut say = |text: String| lines.extend(wrap(&clean(&text), width()));
    say(format!("What runs out: {}.", found.runs_out));
    taint_sentences(&found.node_taints).into_iter().for_each(&mut say);
    if found.stranded > 0 {
        let stranded = count(usize::try_from(found.stranded).unwrap_or(usize::MAX), "device");
        let (match_it, make_up) = if found.stranded == 1 { ("matches", "does") } else { ("match", "do") };
        say(format!("Left over then: {stranded} that {match_it} but {make_up} not make up another claim."));
    }
    let mut remainders = found.remainders.iter().filter(|rest| rest.left != "0").map(|rest| {
        format!("{} of {} {} in {}/{}/{}", rest.left, rest.total, rest.name, rest.driver, rest.pool, rest.of)
    });
    let shown: Vec<String> = remainders.by_ref().take(MOST_REMAINDERS).collect();
    if !shown.is_empty() {
        let more = match remainders.count() {
            0 => String::new(),
            count => format!(", and {count} more (see `--output json`)"),
        };
        say(format!("Counters and capacities then have left: {}{more}.", shown.join(", ")));
    }
    let largest: Vec<String> =
        found.largest.iter().map(|one| format!("{} of {}", in_words(one.devices), one.class)).collect();
    if !largest.is_empty() {
        say(format!("Largest claim that fits on one node now: {}.", largest.join(", ")));
    }
    if !found.namespaces.is_empty() {
        let used: Vec<String> =
            found.namespaces.iter().map(|one| format!("{} {}", one.namespace, one.devices)).collect();
        say(format!("Devices in use by namespace: {}.", used.join(", ")));
    }
    text::lines(lines)
}
