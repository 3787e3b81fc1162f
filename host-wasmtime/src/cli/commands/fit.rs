//! `apportion fit`.

use anyhow::Result;
use apportion_core::ask::{Bounds, Fit, FitRequest, Inquiry, Per};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::arguments::{EngineArguments, InputArguments, NamespaceArguments, ViewArguments};
use crate::cli::ask;
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::text::{self, clean, count, row, table, width, wrap};

const EXAMPLE: &str = "\
Example:
  apportion fit -f examples/gpu-sharing/ --claim-template ml/small-gpu";

/// Say how many more of a claim fit, and what runs out first
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    input: InputArguments,
    /// A ResourceClaimTemplate, as NAMESPACE/NAME; the name alone where it is the only one
    #[arg(long, short = 't', value_name = "NAME", required_unless_present = "claim")]
    claim_template: Option<String>,
    /// A ResourceClaim
    #[arg(long, short = 'c', value_name = "NAME", conflicts_with = "claim_template")]
    claim: Option<String>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// What is counted
    #[arg(long, value_enum, default_value_t = PerChoice::Node)]
    per: PerChoice,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    view: ViewArguments,
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
    let mut asked = ask::cluster(engine, &view.look, &input.files(), &input.cluster)?;
    let subject = match (&arguments.claim_template, &arguments.claim) {
        (None, Some(claim)) => arguments.namespace.named("ResourceClaim", claim),
        (template, _) => arguments.namespace.named("ResourceClaimTemplate", template.as_deref().unwrap_or_default()),
    };
    let per = match arguments.per {
        PerChoice::Node => Per::Node,
        PerChoice::Pool => Per::Pool,
        PerChoice::Class => Per::Class,
    };
    let name = subject.name.clone();
    let (answer, found): (_, Fit) = asked.inquire(&Inquiry::Fit(FitRequest { subject, per }))?;
    let table = |pen| show(&found, per, &name, pen);
    let shown = asked.show(view.output, "Fit", || json!({ "fit": answer }), table, found.total.at_most > 0);
    asked.with_remarks(shown)
}

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
    rows.extend(found.rows.iter().map(|of| row([&of.name, &in_words(of.fits)])));
    lines.extend(table(&rows, &[1]));
    lines.push(String::new());
    let mut say = |text: String| lines.extend(wrap(&clean(&text), width()));
    say(format!("What runs out: {}.", found.runs_out));
    if found.stranded > 0 {
        let stranded = count(usize::try_from(found.stranded).unwrap_or(usize::MAX), "device");
        say(format!("Left over then: {stranded} that match but do not make up another claim."));
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
    let largest: Vec<String> = found.largest.iter().map(|(class, most)| format!("{most} of {class}")).collect();
    say(format!("Largest claim that fits on one node now: {}.", largest.join(", ")));
    if !found.namespaces.is_empty() {
        let used: Vec<String> =
            found.namespaces.iter().map(|(namespace, count)| format!("{namespace} {count}")).collect();
        say(format!("Devices in use by namespace: {}.", used.join(", ")));
    }
    text::lines(lines)
}
