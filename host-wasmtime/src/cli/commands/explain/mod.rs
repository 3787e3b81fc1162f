//! `apportion explain`: why something is Pending; with a code, what that means.

mod codes;
mod procedure;

pub(super) use codes::codes;

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use apportion::Door;
use apportion_core::ask::{Inquiry, PodScores, ScoresRequest};
use apportion_core::explain::{
    Change, ClosestNode, DeviceDetail, Explanation, NodeDetail, ReasonCount, ReasonKind, Request, RequestExplanation,
    State, Suggestion,
};
use apportion_core::finding::{Finding, ObjectRef};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::arguments::{EngineArguments, NamespaceArguments, RepeatedArguments, ViewArguments};
use crate::cli::ask::{self, Asked};
use crate::cli::codes::entries;
use crate::cli::files;
use crate::cli::listed::help;
use crate::cli::pen::{Ink, Pen};
use crate::cli::scores;
use crate::cli::shown::Shown;
use crate::cli::text::{self, alike, clean, count, indented, item, plural};

const EXAMPLE: &str = "\
Example:
  apportion explain examples/gpu-sharing/ pod/ml/huge-model
  apportion explain -f examples/gpu-sharing/ --claim ml/huge --node node-a
  apportion explain --from-cluster --pod ml/huge-model
  apportion explain read/unknown-field";

/// Say why a claim, Pod or PodGroup is Pending and what would help; with a code such as `read/unknown-field`, what it means
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ExplainArguments {
    /// Manifests, as behind `-f`; what is to be explained, as KIND/NAME or KIND/NAMESPACE/NAME (`pod/x`, `deploy/ml/x`); or a
    /// code. Without anything all codes are listed
    #[arg(value_name = "PATH|KIND/NAME|CODE")]
    given: Vec<String>,
    #[command(flatten)]
    pub(super) input: RepeatedArguments,
    /// A ResourceClaim, as NAMESPACE/NAME; the name alone where it is the only one
    #[arg(long, short = 'c', value_name = "NAME", group = "subject", help_heading = "What")]
    claim: Option<String>,
    /// A Pod; without any of these four, everything that is Pending
    #[arg(long, short = 'p', value_name = "NAME", group = "subject", help_heading = "What")]
    pod: Option<String>,
    /// A PodGroup
    #[arg(long, value_name = "NAME", group = "subject", help_heading = "What")]
    podgroup: Option<String>,
    /// A ResourceClaimTemplate: whether a claim made from it would fit
    #[arg(long, value_name = "NAME", group = "subject", help_heading = "What")]
    claim_template: Option<String>,
    /// List every device of a node with all reasons against it, and ask for these nodes only
    #[arg(long = "node", value_name = "NODE", num_args = 1.., help_heading = "What")]
    nodes: Vec<String>,
    /// List this device only: DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE
    #[arg(long, short = 'd', value_name = "DEVICE", help_heading = "What")]
    device: Option<String>,
    /// Show how kube-scheduler's default profile scores the nodes that fit the Pod, by plugin; implies `--placement scores`
    #[arg(long, help_heading = "What", conflicts_with = "apply")]
    scores: bool,
    /// Print what the suggestion with this number takes: the manifests, below the steps with their commands; or the setting
    #[arg(long, value_name = "N")]
    apply: Option<usize>,
    /// With `--apply`: write a manifest for each step and `steps.sh` with the commands into this folder
    #[arg(long, value_name = "FOLDER", requires = "apply")]
    output_dir: Option<PathBuf>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    #[command(flatten)]
    pub(super) view: ViewArguments,
}

pub(super) fn explain(arguments: &ExplainArguments) -> Result<Shown> {
    let mut files = arguments.input.files.clone();
    let (mut subject, mut codes) = (flagged(arguments), Vec::new());
    for text in &arguments.given {
        match (arguments.namespace.object(text), entries().any(|entry| entry.code == *text)) {
            (_, true) => codes.push(text.as_str()),
            (Some(_), _) if subject.is_some() => bail!("one thing can be explained at a time: `{text}` is another"),
            (Some(object), _) => subject = Some(object),
            (None, _) if files::is_path(text) => files.push(text.clone()),
            (None, _) => codes.push(text.as_str()),
        }
    }
    let has_objects = arguments.input.cluster.from_cluster || !files.is_empty();
    match (codes.as_slice(), has_objects) {
        ([], true) => cluster(arguments, &files, subject),
        ([], false) if subject.is_some() || arguments.apply.is_some() => {
            bail!("no manifests are given: name files or folders, or use `--from-cluster`")
        }
        ([], false) => self::codes(&arguments.view, None),
        ([code], false) if subject.is_none() => self::codes(&arguments.view, Some(code)),
        ([code, ..], _) => bail!("`{code}` is no file, and not KIND/NAME such as `pod/{code}`"),
    }
}

/// Kinds of which no object can be Pending.
const NEVER_PENDING: [&str; 15] = [
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "ClusterResourceClaimTemplate",
    "DeviceClass",
    "DeviceTaintRule",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "Service",
    "StorageClass",
    "VolumeAttachment",
];

/// Why something in manifests is Pending.
fn cluster(arguments: &ExplainArguments, files: &[String], subject: Option<ObjectRef>) -> Result<Shown> {
    let view = &arguments.view;
    let request = Request {
        subject: subject.clone(),
        nodes: arguments.nodes.clone(),
        device: arguments.device.clone(),
        suggestions: true,
    };
    let engine = arguments.engine.clone();
    let engine = if arguments.scores { engine.with_scores() } else { engine };
    let mut asked = ask::cluster(&engine, &view.look, files, &arguments.input.cluster, &arguments.namespace)?;
    let (mut answer, mut explanations): (Value, Vec<Explanation>) = asked.inquire(&Inquiry::Explain(request))?;
    let namespace = arguments.namespace.name();
    if subject.is_none() && !namespace.is_empty() {
        explanations.retain(|one| one.subject.namespace == namespace);
        answer = json!(explanations);
    }
    if let Some(number) = arguments.apply {
        let suggestion = suggestion(&explanations, number)?;
        let stdout = match &arguments.output_dir {
            Some(folder) => procedure::written(suggestion, folder)?,
            None => procedure::printed(suggestion, number)?,
        };
        let stdout = stdout.into();
        return Ok(Shown { stdout, stderr: asked.stderr(), verdict: asked.taken.verdict(true) });
    }
    let scored = if arguments.scores { Some(scores(&mut asked, subject)?) } else { None };
    let of_scores = |pen| {
        let lines =
            scored.iter().flat_map(|(_, found)| found).flat_map(|pod| [vec![String::new()], scores::of_pod(pod, pen)]);
        text::lines(lines.flatten())
    };
    let table = |pen| match asked.taken.problems() {
        _ if !explanations.is_empty() => show(&explanations, view.look.is_brief, pen) + &of_scores(pen),
        Some(problems) if asked.taken.has_errors() => format!("Nothing that was read is Pending. {problems}\n"),
        _ if asked.taken.kinds.keys().all(|kind| NEVER_PENDING.contains(&kind.as_str())) => {
            "No Pod, workload or ResourceClaim is given, so nothing can be Pending.\n".to_owned()
        }
        _ => "Nothing is Pending.\n".to_owned(),
    };
    let is_fine = explanations.iter().all(|one| matches!(one.state, State::Placed | State::Fits));
    let body = || match &scored {
        Some((scores, _)) => json!({ "explanations": answer, "scores": scores }),
        None => json!({ "explanations": answer }),
    };
    let shown = asked.show(view.output, "Explanations", body, table, is_fine);
    asked.with_remarks(shown)
}

/// How nodes compare for the Pod that is explained.
fn scores(asked: &mut Asked<'_, Box<dyn Door>>, subject: Option<ObjectRef>) -> Result<(Value, Vec<PodScores>)> {
    match subject.filter(|subject| subject.kind == "Pod") {
        Some(pod) => asked.inquire(&Inquiry::Scores(ScoresRequest { pods: vec![pod], brief: false })),
        None => bail!("`--scores` needs a Pod to be named, for instance `--pod ml/train`"),
    }
}

/// What the user named behind a flag.
fn flagged(arguments: &ExplainArguments) -> Option<ObjectRef> {
    let subjects = [
        ("ResourceClaim", &arguments.claim),
        ("Pod", &arguments.pod),
        ("PodGroup", &arguments.podgroup),
        ("ResourceClaimTemplate", &arguments.claim_template),
    ];
    subjects.into_iter().find_map(|(kind, name)| Some(arguments.namespace.named(kind, name.as_ref()?)))
}

/// The suggestion of a number. Pods of one workload, for which it is the same, count as one.
fn suggestion(explanations: &[Explanation], number: usize) -> Result<&Suggestion> {
    let Some((first, others)) = explanations.split_first() else { bail!("nothing is Pending") };
    let manifests = |one| numbered(one, number).map(|suggestion| &suggestion.manifests);
    let is_same = |other| likeness(other) == likeness(first) && manifests(other) == manifests(first);
    if !others.iter().all(|other| manifests(first).is_some() && is_same(other)) {
        bail!("`--apply` needs one Pod, claim or PodGroup to be named, {} are Pending", explanations.len());
    }
    numbered(first, number).ok_or_else(|| match first.suggestions.len() {
        0 => anyhow!("there are no suggestions"),
        last => anyhow!("there is no suggestion {number}; the last one is {last}"),
    })
}

fn numbered(explanation: &Explanation, number: usize) -> Option<&Suggestion> {
    explanation.suggestions.get(number.checked_sub(1)?)
}

/// Reasons of one request that are shown.
const MAX_REASONS: usize = 8;

/// Subjects that are named where they have the same explanation.
const MAX_NAMES: usize = 5;

/// All explanations; equal ones together.
fn show(explanations: &[Explanation], is_brief: bool, pen: Pen) -> String {
    let mut lines: Vec<String> = Vec::new();
    for members in alike(explanations, |one| likeness(one)) {
        let Some(first) = members.first() else { continue };
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(title(&members, pen));
        lines.extend(body(first, is_brief, pen));
    }
    text::lines(lines.iter().map(|line| line.trim_end().to_owned()))
}

/// What an explanation says, without the name of its subject and of claims that were made for it.
fn likeness(explanation: &Explanation) -> String {
    let mut text = serde_json::to_string(&(
        explanation.state,
        &explanation.plain,
        &explanation.headline,
        &explanation.stage,
        &explanation.requests,
        &explanation.conflict,
        &explanation.details,
    ))
    .unwrap_or_default();
    for request in &explanation.requests {
        text = text.replace(&request.claim, "<claim>");
    }
    text.replace(&explanation.subject.name, "<subject>")
}

fn title(members: &[&Explanation], pen: Pen) -> Vec<String> {
    let name = |one: &Explanation| match one.subject.namespace.as_str() {
        "" => one.subject.name.clone(),
        namespace => format!("{namespace}/{}", one.subject.name),
    };
    let Some(first) = members.first() else { return Vec::new() };
    let shown: Vec<String> = members.iter().take(MAX_NAMES).map(|one| clean(&name(one)).into_owned()).collect();
    let more = match members.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = format!("{} {}{more}", plural(members.len(), &first.subject.kind), shown.join(", "));
    let (ink, what) = match first.state {
        State::Placed | State::Fits => (Ink::Good, ""),
        State::Blocked | State::NoDevices if first.subject.kind == "ResourceClaimTemplate" => {
            (Ink::Bad, if members.len() == 1 { " does not fit" } else { " do not fit" })
        }
        State::Blocked | State::NoDevices => {
            (Ink::Bad, if members.len() == 1 { " is Pending" } else { " are Pending" })
        }
        State::GaveUp => (Ink::Doubt, ": not known"),
    };
    vec![format!("{}{what}", pen.paint(ink, &names))]
}

/// What is said of a subject: the cause, the devices that were looked at unless it `is_brief`, and what would help.
fn body(explanation: &Explanation, is_brief: bool, pen: Pen) -> Vec<String> {
    let mut lines = explanation.plain.as_ref().map(|plain| indented(plain, 2)).unwrap_or_default();
    lines.extend(indented(&explanation.headline, 2));
    let mut stage = explanation.stage.as_slice();
    if explanation.state == State::Blocked
        && let Some((first, rest)) = stage.split_first()
    {
        stage = rest;
        lines.extend(hint(first, pen));
    }
    for finding in stage {
        lines.extend(item("- ", &format!("{} [{}]", finding.message, finding.code), 2));
        lines.extend(hint(finding, pen));
    }
    if matches!(explanation.state, State::Placed | State::Fits) {
        return lines;
    }
    if is_brief {
        lines.extend(conflict_lines(explanation, pen));
        lines.extend(suggestion_lines(&explanation.suggestions, pen));
        return lines;
    }
    for request in &explanation.requests {
        lines.extend(request_lines(request, explanation.requests.len() > 1, pen));
    }
    if let Some(closest) = &explanation.closest {
        lines.push(String::new());
        lines.push(format!("  {}", closest_line(closest, explanation)));
    }
    for node in &explanation.details {
        lines.extend(node_lines(node, pen));
    }
    lines.extend(conflict_lines(explanation, pen));
    lines.extend(suggestion_lines(&explanation.suggestions, pen));
    lines
}

fn conflict_lines(explanation: &Explanation, pen: Pen) -> Vec<String> {
    if explanation.conflict.is_empty() {
        return Vec::new();
    }
    let title = "These conditions contradict each other; without any one of them the others can be met:";
    let mut lines = vec![String::new(), format!("  {}", pen.paint(Ink::Strong, title))];
    lines.extend(explanation.conflict.iter().flat_map(|part| item("- ", &part.text, 2)));
    lines
}

fn hint(finding: &Finding, pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(object) = finding.object.as_ref().filter(|object| !object.name.is_empty()) {
        let path = if finding.path.is_empty() { String::new() } else { format!(", {}", finding.path) };
        lines.push(pen.paint(Ink::Faint, &clean(&format!("    at {object}{path}"))));
    }
    lines.extend(help(finding.hint.as_deref()));
    lines
}

fn request_lines(request: &RequestExplanation, names_claim: bool, pen: Pen) -> Vec<String> {
    let claim = if names_claim { format!(" of claim {}", request.claim) } else { String::new() };
    let needs = match request.is_all {
        true => "all devices".to_owned(),
        false => counted(request.needed, "device"),
    };
    let of = match &request.serves {
        Some(served) => format!("Container {}, {}", served.container, served.resource),
        None => format!("Request {}{claim}", request.request),
    };
    let head = format!("{of}: {needs} of class {}", request.class);
    let mut lines = vec![String::new(), format!("  {}", pen.paint(Ink::Strong, &clean(&head)))];
    let of_class = match (request.devices, request.other_devices) {
        (0, 0) => "no devices are there".to_owned(),
        (0, 1) => "1 device is there, not of this class".to_owned(),
        (0, other) => format!("{} are there, none of this class", counted(other, "device")),
        (devices, _) if request.usable == 0 => {
            format!("{} of this class, none can be used:", counted(devices, "device"))
        }
        (devices, _) => {
            let best =
                if request.needed > 1 { format!(" (at most {} on one node)", request.best) } else { String::new() };
            let colon = if request.reasons.is_empty() { "" } else { ":" };
            format!("{} of this class, {} can be used{best}{colon}", counted(devices, "device"), request.usable)
        }
    };
    lines.extend(indented(&of_class, 2));
    let width = request.reasons.iter().map(|reason| reason.devices.to_string().len()).max().unwrap_or_default();
    let mut reasons: Vec<&ReasonCount> = request.reasons.iter().collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.devices));
    for reason in reasons.iter().take(MAX_REASONS) {
        lines.extend(item(&format!("{:>width$} ", reason.devices), &reason.text, 4));
    }
    let hidden = reasons.len().saturating_sub(MAX_REASONS);
    if hidden > 0 {
        lines.push(format!("    {hidden} further reasons; `--output yaml` has all"));
    }
    for read in &request.reads {
        let values: Vec<String> = read.values.iter().map(|one| format!("{} on {}", one.value, one.devices)).collect();
        let text = match (read.present, read.values.is_empty()) {
            (0, _) => format!("none of {} has `{}`", counted(read.devices, "device"), read.name),
            (present, _) if present < read.devices => {
                let has = if present == 1 { "has" } else { "have" };
                format!("{present} of {} {has} `{}`: {}", read.devices, read.name, values.join(", "))
            }
            _ => format!("`{}` is {}", read.name, values.join(", ")),
        };
        lines.extend(indented(&text, 4).iter().map(|line| pen.paint(Ink::Faint, line)));
        if let Some(meant) = &read.did_you_mean {
            lines.extend(indented(&format!("did you mean `{meant}`?"), 4));
        }
    }
    lines
}

fn closest_line(closest: &ClosestNode, explanation: &Explanation) -> String {
    // The node itself is one of them.
    let alike = match closest.alike.saturating_sub(1) {
        0 => String::new(),
        1 => "; 1 other node is exactly like it".to_owned(),
        alike => format!("; {alike} other nodes are exactly like it"),
    };
    let asked = if explanation.suitable_nodes < explanation.nodes {
        format!(", of {} of {} nodes that could be asked", explanation.suitable_nodes, explanation.nodes)
    } else {
        String::new()
    };
    let name = clean(&closest.name);
    format!("Closest node{asked}: {name} ({} of {}){alike}", closest.found, counted(closest.needed, "device"))
}

fn node_lines(node: &NodeDetail, pen: Pen) -> Vec<String> {
    let mut lines =
        vec![String::new(), format!("  {}", pen.paint(Ink::Strong, &clean(&format!("Node {}", node.name))))];
    for pool in &node.pools {
        lines.extend(item("- ", pool, 2));
    }
    for request in &node.requests {
        let text = format!(
            "request {} of claim {}: {} of {} can be used",
            request.request,
            request.claim,
            request.usable,
            counted(request.needed, "device")
        );
        lines.extend(indented(&text, 2));
        lines.extend(request.devices.iter().flat_map(|device| device_lines(device, pen)));
    }
    lines
}

fn device_lines(device: &DeviceDetail, pen: Pen) -> Vec<String> {
    let id = &device.device;
    let name = clean(&format!("{}/{}/{}", id.driver, id.pool, id.device)).into_owned();
    let mut lines = vec![match device.reasons.is_empty() {
        true => format!("    {}  {}", pen.paint(Ink::Device, &name), pen.paint(Ink::Good, "can be used")),
        false => format!("    {}", pen.paint(Ink::Device, &name)),
    }];
    // What else is against a device of another class is of no interest.
    let is_other = device.reasons.iter().any(|reason| reason.kind == ReasonKind::NotOfClass);
    for reason in device.reasons.iter().filter(|reason| !is_other || reason.kind == ReasonKind::NotOfClass) {
        lines.extend(item("- ", &reason.text, 6));
    }
    lines
}

fn suggestion_lines(suggestions: &[Suggestion], pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, suggestion) in suggestions.iter().enumerate() {
        if index == 0 {
            lines.push(String::new());
            let head = "Each of these alone would help, the smallest change first:";
            lines.push(format!("  {}", pen.paint(Ink::Strong, head)));
        }
        let number = index.saturating_add(1);
        let then = suggestion.node.as_ref().map(|node| format!(" {} {node}", pen.arrow())).unwrap_or_default();
        lines.extend(item(&format!("{number}. "), &format!("{}{then}", suggestion.text), 2));
    }
    let has_setting = suggestions.iter().any(|suggestion| suggestion.changes.iter().any(is_setting));
    let has_command = suggestions.iter().any(|suggestion| suggestion.steps.iter().any(|step| step.command.is_some()));
    let what = match (suggestions.iter().any(|suggestion| !suggestion.manifests.is_empty()), has_setting) {
        (true, true) => Some("changed manifest of a suggestion, or the setting"),
        (true, false) => Some("changed manifest of a suggestion"),
        (false, true) => Some("setting of a suggestion"),
        (false, false) => has_command.then_some("commands of a suggestion"),
    };
    if let Some(what) = what {
        lines.push(pen.paint(Ink::Faint, &format!("  `--apply N` prints the {what}")));
    }
    lines
}

/// Whether a change is one of the programs' arguments.
fn is_setting(change: &Change) -> bool {
    matches!(change, Change::EnableGate { .. })
}

fn counted(number: u64, noun: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), noun)
}
