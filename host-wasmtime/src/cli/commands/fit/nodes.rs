//! How many nodes that do not exist yet make Pods fit.

use anyhow::{Result, bail};
use apportion::Door;
use apportion_core::ask::{Devices, Inquiry, NodesNeeded, NodesNeededRequest, PodLeft, ShapeNeeded};
use apportion_core::finding::ObjectRef;
use clap::Args;
use serde_json::json;

use super::FitArguments;
use crate::cli::arguments::{ClusterArguments, NamespaceArguments};
use crate::cli::ask::{self, Asked};
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::text::{self, clean, count, row, table, width, wrap};

// Nodes that could come, and the Pods that are asked about.
#[derive(Args, Debug)]
#[command(next_help_heading = "Nodes that do not exist yet")]
pub(super) struct NodesArguments {
    /// Say how many more nodes like this one, with copies of its slices, the Pods need
    #[arg(long, value_name = "NODE", num_args = 1..)]
    node_like: Vec<String>,
    /// The same for nodes of files: Nodes and ResourceSlices that name them; may be repeated
    #[arg(long, value_name = "PATH")]
    node_template: Vec<String>,
    /// Most new nodes
    #[arg(long, value_name = "N", default_value_t = 20)]
    up_to: u64,
    /// A Pod to make copies of, or KIND/NAME: a workload, or a PodGroup with its Pods; without it, all Pods that are Pending are asked about
    #[arg(long, value_name = "NAME", conflicts_with_all = ["class", "claim", "claim_template"])]
    pod: Option<String>,
    /// How many copies; with a claim or a class, how many Pods with one such claim each
    #[arg(long, value_name = "N")]
    copies: Option<u64>,
    /// An attribute of the new devices, as DOMAIN/NAME, that only the running driver knows; may be repeated
    #[arg(long = "open-attribute", value_name = "ATTRIBUTE")]
    open: Vec<String>,
}

impl NodesArguments {
    /// Whether that is asked.
    pub(super) fn is_asked(&self) -> bool {
        self.pod.is_some() || self.copies.is_some() || !self.node_like.is_empty() || !self.node_template.is_empty()
    }

    fn subject(&self, namespace: &NamespaceArguments, claim: Option<ObjectRef>) -> ObjectRef {
        match &self.pod {
            Some(name) => namespace.object(name).unwrap_or_else(|| namespace.named("Pod", name)),
            None => claim.unwrap_or_default(),
        }
    }
}

/// Asks, and shows the answer.
pub(super) fn nodes(
    arguments: &FitArguments,
    mut asked: Asked<'_, Box<dyn Door>>,
    with: Option<Asked<'_, Box<dyn Door>>>,
    mut request: NodesNeededRequest,
    claim: Option<ObjectRef>,
) -> Result<Shown> {
    let FitArguments { nodes, namespace, engine, view, .. } = arguments;
    if nodes.copies == Some(0) {
        bail!("`--copies 0` asks for nothing");
    }
    request.subject = nodes.subject(namespace, claim);
    request.copies = nodes.copies.unwrap_or_default();
    request.like.clone_from(&nodes.node_like);
    request.open.clone_from(&nodes.open);
    request.up_to = nodes.up_to;
    let mut beside = Vec::from_iter(with);
    if !nodes.node_template.is_empty() {
        let templates =
            ask::cluster(engine, &view.look, &nodes.node_template, &ClusterArguments::default(), namespace)?;
        request.templates = templates.input.objects().collect();
        beside.push(templates);
    }
    let is_copy = request.device.is_some() || !request.subject.name.is_empty();
    let (answer, found): (_, NodesNeeded) = asked.inquire(&Inquiry::NodesNeeded(request))?;
    let is_enough = |shape: &ShapeNeeded| shape.at_most.is_some() && shape.left_count == 0;
    let is_fine = found.placed == found.pods || found.shapes.iter().any(is_enough) || !found.together.is_empty();
    let table = |pen| show(&found, is_copy, nodes.up_to, pen);
    let mut shown = asked.show(view.output, "NodesNeeded", || json!({ "nodesNeeded": answer }), table, is_fine);
    beside.iter().for_each(|one| one.add_to(&mut shown));
    asked.with_remarks(shown)
}

/// `4 nodes`, `4 to 6 nodes`, `at least 21 nodes`.
fn in_words(shape: &ShapeNeeded) -> String {
    match shape.at_most {
        Some(most) if most == shape.at_least => count_of(most, "node"),
        Some(most) => format!("{} to {}", shape.at_least, count_of(most, "node")),
        None => format!("at least {}", count_of(shape.at_least, "node")),
    }
}

fn count_of(number: u64, noun: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

fn devices_in_words(devices: &Devices) -> String {
    let Devices { total, used, free, stranded, unknown, .. } = devices;
    match unknown {
        0 => format!("{used} of {} used, {free} free, {stranded} stranded", count_of(*total, "device")),
        unknown => format!("{used} of {} used, {unknown} not known", count_of(*total, "device")),
    }
}

/// Nodes that are shown one by one.
const MOST_NODES: usize = 12;

/// Pods without a place that are shown.
const MOST_LEFT: usize = 5;

/// Names of Pods in one cell.
const MOST_NAMES: usize = 3;

fn show(found: &NodesNeeded, is_copy: bool, up_to: u64, pen: Pen) -> String {
    let NodesNeeded { pods, placed, left, shapes, together } = found;
    let what = if is_copy { "Pod" } else { "Pending Pod" };
    let waiting = pods.saturating_sub(*placed);
    let title = match (*pods, waiting) {
        (0, _) => "No Pod is Pending: no more nodes are needed".to_owned(),
        (1, 0) => format!("The {what} fits on the nodes that are there"),
        (_, 0) => format!("All {} fit on the nodes that are there", count_of(*pods, what)),
        (1, _) => format!("The {what} does not fit on the nodes that are there"),
        (_, rest) if rest == *pods => format!("None of {} fits on the nodes that are there", count_of(*pods, what)),
        _ => format!("{placed} of {} fit on the nodes that are there", count_of(*pods, what)),
    };
    let mut lines = vec![pen.paint(Ink::Strong, &clean(&title))];
    if waiting == 0 {
        return text::lines(lines);
    }
    if shapes.is_empty() {
        without_place(left, waiting, &mut |text| lines.extend(wrap(&clean(&text), width())));
    }
    for shape in shapes {
        lines.push(String::new());
        lines.extend(one(shape, *pods, up_to, pen));
    }
    let together: Vec<String> =
        together.iter().map(|one| format!("{} like {}", count_of(one.nodes, "node"), one.shape)).collect();
    if !together.is_empty() {
        lines.push(String::new());
        let sentence = format!("Nodes of several shapes are enough for all: {}.", text::and(&together));
        lines.extend(wrap(&clean(&sentence), width()));
    }
    text::lines(lines)
}

/// What nodes of one shape do.
fn one(shape: &ShapeNeeded, pods: u64, up_to: u64, pen: Pen) -> Vec<String> {
    let ShapeNeeded { at_least, at_most, at_best, placed, left, left_count, nodes, devices, .. } = shape;
    let title = match at_most {
        Some(0) => format!("like {}: such nodes help no Pod", shape.shape),
        Some(_) => format!("like {}: {} more", shape.shape, in_words(shape)),
        None => format!("like {}: {} more do not place all", shape.shape, count_of(up_to, "node")),
    };
    let mut lines = vec![pen.paint(Ink::Strong, &clean(&title))];
    let mut say = |text: String| lines.extend(wrap(&clean(&text), width()));
    let proven = match (at_most, at_best) {
        (Some(0), _) => None,
        (Some(most), None) if most == at_least => Some("Fewer are not enough. This is proven.".to_owned()),
        (Some(most), None) if *at_least == 0 => {
            Some(format!("{most} are enough; whether fewer are depends on how the Pods are packed."))
        }
        (Some(most), None) => Some(format!(
            "{most} are enough; fewer than {at_least} are not. In between it depends on how the Pods are packed."
        )),
        (Some(most), Some(best)) if most == best && most == at_least => {
            Some("Whatever the open attributes are, as many are needed. This is proven.".to_owned())
        }
        (Some(most), Some(best)) => Some(format!(
            "{most} are enough whatever the open attributes are, {best} if they get the values that suit best; fewer than {at_least} are never enough."
        )),
        (None, Some(best)) => Some(format!(
            "{best} are enough if the open attributes get the values that suit best; otherwise no number may be. Fewer than {at_least} are never enough."
        )),
        (None, None) if *at_least > up_to => Some(format!("At least {at_least} are needed. This is proven.")),
        (None, None) => None,
    };
    proven.into_iter().for_each(&mut say);
    if at_most.is_none() || *left_count > 0 {
        say(match pods {
            1 => "The Pod gets no place.".to_owned(),
            pods => format!("{placed} of {} get a place.", count_of(pods, "Pod")),
        });
    }
    let mut rows = vec![row(["NODE", "PODS", "DEVICES"])];
    for node in nodes.iter().take(MOST_NODES) {
        let mut names = node.pods.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
        if let Some(more) = node.pods.len().checked_sub(MOST_NAMES).filter(|more| *more > 0) {
            names.push_str(&format!(" and {more} more"));
        }
        rows.push(row([&node.name, &names, &devices_in_words(&node.devices)]));
    }
    if rows.len() > 1 {
        lines.extend(table(&rows, &[]));
    }
    let mut say = |text: String| lines.extend(wrap(&clean(&text), width()));
    if nodes.len() > MOST_NODES {
        say(format!("And {} more (see `--output json`).", count(nodes.len().saturating_sub(MOST_NODES), "node")));
    }
    if nodes.len() > 1 {
        say(format!("Together: {}.", devices_in_words(devices)));
    }
    without_place(left, *left_count, &mut say);
    lines
}

/// The first Pods without a place, and why; then how many more there are.
fn without_place(left: &[PodLeft], count: u64, say: &mut dyn FnMut(String)) {
    for pod in left.iter().take(MOST_LEFT) {
        say(format!("Without a place: {}: {}", pod.pod, pod.why));
    }
    let more = count.saturating_sub(left.len().min(MOST_LEFT) as u64);
    if more > 0 {
        say(format!("And {} more without a place.", count_of(more, "Pod")));
    }
}
