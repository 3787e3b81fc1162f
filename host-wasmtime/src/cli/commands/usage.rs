//! `apportion usage`.

use std::collections::BTreeMap;

use anyhow::Result;
use apportion_core::api::quantity::Quantity;
use apportion_core::ask::{AmountUsage, Devices, Inquiry, NodesOfTaint, Usage, UsageOf, UsageRow};
use apportion_core::explain::ReasonKind;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::cli::arguments::{EngineArguments, InputArguments, NamespaceArguments, ViewArguments};
use crate::cli::ask;
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::text::{self, alike, and, clean, count, row, table, width, wrap};

const EXAMPLE: &str = "\
Example:
  apportion usage examples/gpu-sharing/
  apportion usage dump.yaml --per node
  apportion usage --from-cluster -o json";

/// Say how many devices, counters and capacities are used, free, or stranded
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct UsageArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// Only devices by this; without it by each, long lists cut
    #[arg(long, value_enum)]
    per: Option<PerChoice>,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    #[command(flatten)]
    pub(super) view: ViewArguments,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum PerChoice {
    /// Device classes; a device may be of several
    Class,
    /// The attribute `productName`, else `model`, else the driver
    Model,
    /// Nodes
    Node,
    /// Namespaces of the claims
    Namespace,
}

pub(super) fn usage(arguments: &UsageArguments) -> Result<Shown> {
    let UsageArguments { input, namespace, per, engine, view } = arguments;
    let mut asked = ask::cluster(engine, &view.look, &input.files(), &input.cluster, namespace)?;
    let (answer, found): (_, Usage) = asked.inquire(&Inquiry::Usage)?;
    let table = |pen| show(&found, *per, pen);
    let shown = asked.show(view.output, "Usage", || json!({ "usage": answer }), table, true);
    asked.with_remarks(shown)
}

/// Rows of one table that are shown where no single one is asked for.
const MOST_ROWS: usize = 12;

const TABLES: [(PerChoice, UsageOf, &str); 4] = [
    (PerChoice::Class, UsageOf::Class, "CLASS"),
    (PerChoice::Model, UsageOf::Model, "MODEL"),
    (PerChoice::Node, UsageOf::Node, "NODE"),
    (PerChoice::Namespace, UsageOf::Namespace, "NAMESPACE"),
];

fn show(usage: &Usage, per: Option<PerChoice>, pen: Pen) -> String {
    let Devices { total, used, free, stranded, admin, unknown } = usage.devices;
    let devices = count(usize::try_from(total).unwrap_or(usize::MAX), "device");
    let title = match unknown {
        0 => format!("{devices}: {used} used, {free} free, {stranded} stranded"),
        unknown => format!("{devices}: {used} used, {unknown} not known"),
    };
    let mut lines = vec![pen.paint(Ink::Strong, &title)];
    let mut say =
        |text: String| lines.extend(wrap(&clean(&text), width()).iter().map(|line| pen.paint(Ink::Faint, line)));
    if usage.is_played {
        say("No claim has devices, so everything that fits was placed first.".to_owned());
    }
    if !usage.counters.is_empty() {
        say("What draws from one counter set counts as one device; the counters say how much of it is taken."
            .to_owned());
    }
    if unknown > 0 {
        say(format!("Which of the others are used is not known: {UNKNOWN_CLAIMS}."));
    }
    for one in alike(&usage.unpublished, |id| (id.driver.clone(), id.pool.clone())) {
        let names: Vec<&str> = one.iter().map(|id| id.device.as_str()).collect();
        let Some(first) = one.first() else { continue };
        let of = format!("{}/{}", first.driver, first.pool);
        say(format!(
            "Claims have devices of {of} that no slice publishes and no number here counts: {}.",
            names.join(", ")
        ));
    }
    taint_sentences(&usage.node_taints).into_iter().for_each(&mut say);
    if admin > 0 {
        say(format!("Claims with admin access see {admin} of them beside."));
    }
    if stranded > 0 {
        let reasons: Vec<String> =
            usage.stranded.iter().map(|by| format!("{} {}", by.devices, in_words(by.reason))).collect();
        say(format!("Stranded, as no claim of a class or template here could get them: {}.", and(&reasons)));
    }
    for (_, of, head) in TABLES.iter().filter(|(choice, ..)| per.is_none_or(|per| per == *choice)) {
        let rows = usage.rows.iter().filter(|row| row.of == *of).collect();
        lines.extend(of_rows(rows, head, per.is_some(), unknown > 0));
    }
    if per.is_none() {
        lines.extend(of_amounts(&usage.counters, "COUNTER"));
        lines.extend(of_amounts(&usage.capacities, "SHARED CAPACITY"));
    }
    text::lines(lines)
}

/// Why it may not be known who has devices.
const UNKNOWN_CLAIMS: &str = "claims that may have them are not given or were refused";

/// Which nodes are only for Pods with tolerations.
pub(super) fn taint_sentences(taints: &[NodesOfTaint]) -> Vec<String> {
    let sentence = |NodesOfTaint { taint, nodes }: &NodesOfTaint| {
        let shown: Vec<String> = nodes.iter().take(MOST_ROWS).cloned().collect();
        let more = match nodes.len().saturating_sub(shown.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let noun = text::plural(nodes.len(), "node");
        format!("Devices of {noun} {}{more} are for Pods that tolerate `{taint}`.", shown.join(", "))
    };
    taints.iter().map(sentence).collect()
}

/// Most interesting rows first where not all are shown: those with stranded devices, then those in use.
fn of_rows(mut rows: Vec<&UsageRow>, head: &str, shows_all: bool, has_unknown: bool) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let hidden = if shows_all { 0 } else { rows.len().saturating_sub(MOST_ROWS) };
    if hidden > 0 {
        rows.sort_by_key(|row| std::cmp::Reverse((row.devices.stranded, row.devices.used)));
        rows.truncate(MOST_ROWS);
    }
    let is_namespace = head == "NAMESPACE";
    let mut cells = vec![match is_namespace {
        true => row([head, "USED", "ADMIN"]),
        false if has_unknown => row([head, "TOTAL", "USED", "NOT KNOWN", "ADMIN"]),
        false => row([head, "TOTAL", "USED", "FREE", "STRANDED", "ADMIN"]),
    }];
    for UsageRow { name, devices, .. } in rows {
        let Devices { total, used, free, stranded, admin, unknown } = devices;
        let name = if name.is_empty() { "(several nodes)" } else { name };
        let [total, used, free, stranded, admin, unknown] =
            [total, used, free, stranded, admin, unknown].map(u64::to_string);
        cells.push(match is_namespace {
            true => row([name, &used, &admin]),
            false if has_unknown => row([name, &total, &used, &unknown, &admin]),
            false => row([name, &total, &used, &free, &stranded, &admin]),
        });
    }
    let mut lines = vec![String::new()];
    lines.extend(table(&cells, &[1, 2, 3, 4, 5]));
    if hidden > 0 {
        lines.push(format!("{hidden} more; `--per {}` shows them", head.to_ascii_lowercase()));
    }
    lines
}

/// Sums over the pools of a driver.
fn of_amounts(amounts: &[AmountUsage], head: &str) -> Vec<String> {
    let mut sums: BTreeMap<(&str, &str), [Quantity; 4]> = BTreeMap::new();
    for amount in amounts {
        let texts = [&amount.total, &amount.used, &amount.free, &amount.stranded];
        let sum = sums.entry((&amount.driver, &amount.name));
        let parts = texts.map(|text| Quantity::parse(text).unwrap_or_default());
        let sum = match sum {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(parts);
                continue;
            }
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
        };
        for (sum, part) in sum.iter_mut().zip(parts) {
            *sum = sum.saturating_add(&part);
        }
    }
    if sums.is_empty() {
        return Vec::new();
    }
    let mut cells = vec![row([head, "TOTAL", "USED", "FREE", "STRANDED"])];
    for ((driver, name), [total, used, free, stranded]) in sums {
        let name = format!("{name} of {driver}");
        cells.push(row([&name, &total.to_string(), &used.to_string(), &free.to_string(), &stranded.to_string()]));
    }
    let mut lines = vec![String::new()];
    lines.extend(table(&cells, &[1, 2, 3, 4]));
    lines
}

/// Behind a number of devices.
const fn in_words(reason: ReasonKind) -> &'static str {
    match reason {
        ReasonKind::NotOfClass => "of no class",
        ReasonKind::PoolOutdated => "of an outdated slice",
        ReasonKind::PoolIncomplete => "in an incomplete pool",
        ReasonKind::PoolInvalid => "in a pool whose slices contradict each other",
        ReasonKind::NoNode | ReasonKind::OtherNode => "on no node that takes Pods",
        ReasonKind::SelectorFails => "with a selector that fails",
        ReasonKind::SelectorFalse => "that no selector admits",
        ReasonKind::FeatureOff => "that need a feature that is off",
        ReasonKind::NeedsDriver => "that need a driver that is not there",
        ReasonKind::ConstraintMissing | ReasonKind::ConstraintConflict => "that a constraint rules out",
        ReasonKind::CapacityNever => "without the capacity asked for",
        ReasonKind::CounterNever => "that draw more of a counter than there is",
        ReasonKind::Tainted => "tainted",
        ReasonKind::OtherGroup => "of another compatibility group than partitions in use",
        ReasonKind::CounterShort => "whose counters have too little left",
        ReasonKind::CapacityShort => "with too little capacity left",
        ReasonKind::InUse => "in use",
    }
}
