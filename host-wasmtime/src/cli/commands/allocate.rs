//! `apportion allocate`.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use apportion_core::allocate::{Answer, Failure, NodeRefusal, Outcome, Question, RequestFunnel, Unable};
use apportion_core::api::claim::{AllocationResult, ResourceClaim};
use apportion_core::api::object::{Object, read_object};
use apportion_core::api::read::Json;
use apportion_core::ask::AllocatedDevice;
use apportion_core::engine::read_claim_value;
use apportion_core::explain::takes_no_pods;
use apportion_core::finding::{ObjectRef, Severity};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::arguments::{EngineArguments, InputArguments, NamespaceArguments, ViewArguments};
use crate::cli::ask;
use crate::cli::input::{Document, Input, Places, Taken};
use crate::cli::listed::section;
use crate::cli::note::Note;
use crate::cli::pen::{Ink, Pen};
use crate::cli::shown::Shown;
use crate::cli::text::{clean, columns, count, plural, row, table, width, wrap};
use crate::cli::tree::{device_lines, hang};

const EXAMPLE: &str = "\
Example:
  apportion allocate -f examples/gpu-sharing/ --claim ml/team-gpu --node node-c";

/// Allocate single claims together, without a Pod
#[derive(Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(crate) struct AllocateArguments {
    #[command(flatten)]
    input: InputArguments,
    /// A ResourceClaim of the manifests, as NAMESPACE/NAME; the name alone where it is the only one. Several are
    /// allocated together, as those of one Pod
    #[arg(long = "claim", short = 'c', value_name = "CLAIM", required = true, num_args = 1..)]
    claims: Vec<String>,
    /// Nodes to try, in this order; without any, all nodes by name
    #[arg(long = "node", value_name = "NODE", num_args = 1..)]
    nodes: Vec<String>,
    #[command(flatten)]
    namespace: NamespaceArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    view: ViewArguments,
}

/// Columns that the tree takes up before a leaf.
const TREE: usize = 6;

pub(super) fn allocate(arguments: &AllocateArguments) -> Result<Shown> {
    let AllocateArguments { input, view, engine, .. } = arguments;
    let mut asked = ask::cluster(engine, &view.look, &input.files(), &input.cluster, &arguments.namespace)?;
    let names = arguments.claims.iter().map(|name| arguments.namespace.named("ResourceClaim", name));
    let claims = names.map(|named| claim(&asked.input, &asked.taken, &named)).collect();
    let question = Question { claims: asked.or_input(claims)?, nodes: arguments.nodes.clone(), ..Question::default() };
    asked.or_input(known_nodes(&asked.input, &question.nodes))?;
    let answer = asked.door.allocate(&question)?;
    let table = |pen| show(&answer, &question, &asked.input, &asked.taken, pen, view.look.verbose);
    let is_allocated = matches!(answer.outcome, Outcome::Allocated { .. });
    Ok(asked.show(view.output, "Allocation", || json!({ "answer": answer.to_json() }), table, is_allocated))
}

/// Nodes that the user named, where Nodes are given at all; what slices and Pods say of nodes is not looked at here.
fn known_nodes(input: &Input, wanted: &[String]) -> Result<()> {
    let objects = input.documents.iter().map(Document::reference);
    let known: Vec<String> = objects.filter(|object| object.kind == "Node").map(|object| object.name).collect();
    match wanted.iter().find(|name| !known.is_empty() && !known.contains(name)) {
        Some(name) => {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            bail!("there is no Node `{name}`; there are {}", known.join(", "))
        }
        None => Ok(()),
    }
}

/// The claim that the user named.
fn claim(input: &Input, taken: &Taken, wanted: &ObjectRef) -> Result<ResourceClaim> {
    let ObjectRef { namespace, name: bare, .. } = wanted;
    let name = if namespace.is_empty() { bare.clone() } else { format!("{namespace}/{bare}") };
    // With the positions of the documents.
    let of_kind = |kind: &str| -> Vec<(ObjectRef, usize)> {
        let all = input.documents.iter().enumerate().map(|(index, document)| (document.reference(), index));
        all.filter(|(object, _)| object.kind == kind).collect()
    };
    let is_meant =
        |object: &ObjectRef| object.name == *bare && (namespace.is_empty() || object.namespace == *namespace);
    let claims = of_kind("ResourceClaim");
    let mut found: Vec<&(ObjectRef, usize)> = claims.iter().filter(|(object, _)| is_meant(object)).collect();
    // Of one object given twice the later counts, as with kubectl.
    found.reverse();
    found.dedup_by(|some, others| some.0 == others.0);
    let (object, index) = match found.as_slice() {
        [(object, index)] => (object, *index),
        [] => {
            let known: Vec<String> =
                claims.iter().map(|(object, _)| format!("`{}/{}`", object.namespace, object.name)).collect();
            if of_kind("ResourceClaimTemplate").iter().any(|(object, _)| is_meant(object)) {
                bail!(
                    "`{name}` is a ResourceClaimTemplate: claims are made from it when a Pod uses it, which `apportion run` shows"
                );
            }
            match known.is_empty() {
                true => bail!("the manifests hold no ResourceClaim"),
                false => bail!("the manifests hold no ResourceClaim `{name}`; there are {}", known.join(", ")),
            }
        }
        several => {
            let names: Vec<String> =
                several.iter().map(|(object, _)| format!("`{}/{}`", object.namespace, object.name)).collect();
            bail!("`{name}` could be {}: name one with its namespace", names.join(" or "));
        }
    };
    let is_refusal = |note: &Note| note.severity == Severity::Error && note.object.as_ref() == Some(object);
    if taken.notes.iter().any(is_refusal) {
        bail!("{object} was refused");
    }
    let mut claim = read_claim_value(input.object(index)).map_err(|findings| {
        let first = findings.first().map(|finding| format!(": {}: {}", finding.path, finding.message));
        anyhow!("{object} cannot be used{}", first.unwrap_or_default())
    })?;
    if claim.status.allocation.is_some() {
        bail!("{object} is allocated already; take `status.allocation` out of the manifest to ask for it anew");
    }
    claim.metadata.namespace.clone_from(&object.namespace);
    Ok(claim)
}

fn show(answer: &Answer, question: &Question, input: &Input, taken: &Taken, pen: Pen, is_verbose: bool) -> String {
    let refused = |title: &str, lines: Vec<String>| [vec![pen.paint(Ink::Bad, &clean(title))], lines].concat();
    let mut out = match &answer.outcome {
        Outcome::Allocated { node, allocations } => {
            let mut lines = allocated(node, allocations, question, pen);
            if let Some(but) = keeps_pods_away(input, node) {
                lines.insert(1, pen.paint(Ink::Doubt, &clean(&format!("Node {node} {but}"))));
            }
            lines
        }
        Outcome::Unsatisfied { nodes } => {
            let title = match nodes.as_slice() {
                [] => "Not allocated: there is no node to try".to_owned(),
                [only] => format!("Not allocated: it does not fit on node {}", only.node),
                several => format!("Not allocated: it fits on none of {}", count(several.len(), "node")),
            };
            refused(&title, refusals(nodes, pen))
        }
        Outcome::Failed { node, failure } => {
            let title = format!("Not allocated: the input is wrong, noticed on node {node}; no other node is tried");
            refused(&title, failure_lines(failure))
        }
        Outcome::GaveUp { node, nodes } => {
            let title = format!("Given up on node {node} after {} steps; `--max-steps` raises the limit", answer.steps);
            refused(&title, refusals(nodes, pen))
        }
    };
    if let Some(problems) = taken.problems() {
        out.insert(1, pen.paint(Ink::Doubt, &problems));
    }
    out.extend(section(answer.findings.iter(), &Places::new(input), pen, is_verbose));
    out.push(String::new());
    out.join("\n")
}

/// Why the node takes no new Pods, if it does not: a claim alone does not say which Pod uses it.
fn keeps_pods_away(input: &Input, node: &str) -> Option<String> {
    let is_it = |document: &Document| {
        let object = document.written_reference();
        object.kind == "Node" && object.name == node
    };
    let document = input.documents.iter().rposition(is_it)?;
    match read_object(input.object(document)).object? {
        Object::Node(node) => takes_no_pods(&node),
        _ => None,
    }
}

fn allocated(node: &str, allocations: &[Arc<AllocationResult>], question: &Question, pen: Pen) -> Vec<String> {
    let mut lines = vec![pen.paint(Ink::Good, &clean(&format!("Allocated on node {node}")))];
    let blocks = question.claims.iter().zip(allocations).map(|(claim, allocation)| {
        let name = clean(&format!("{}/{}", claim.metadata.namespace, claim.metadata.name)).into_owned();
        let mut block = vec![format!("claim {}", pen.paint(Ink::Strong, &name))];
        let devices: Vec<AllocatedDevice> = allocation.devices.results.iter().map(AllocatedDevice::from).collect();
        let mut leaves: Vec<Vec<String>> =
            device_lines(devices.iter(), pen).into_iter().map(|line| vec![line]).collect();
        leaves.push(vec![reachable(allocation)]);
        leaves
            .extend(allocation.devices.config.iter().filter_map(|config| Some(vec![configuration(&config.write()?)])));
        block.extend(hang(leaves, pen));
        block
    });
    lines.extend(hang(blocks.collect(), pen));
    lines
}

/// Where the devices can be used.
fn reachable(allocation: &AllocationResult) -> String {
    let Some(selector) = allocation.node_selector.as_ref().and_then(Json::write) else {
        return "usable on every node".to_owned();
    };
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let requirement = |value: &Value| {
        let values: Vec<String> = list(value.get("values")).iter().map(|value| text(Some(value))).collect();
        let (key, operator) = (text(value.get("key")), text(value.get("operator")));
        match (operator.as_str(), values.as_slice()) {
            ("In", [only]) if key == "metadata.name" => format!("name {only}"),
            ("In", [only]) => format!("{key}={only}"),
            (_, []) => format!("{key} {operator}"),
            _ => format!("{key} {operator} ({})", values.join(", ")),
        }
    };
    let terms: Vec<String> = list(selector.get("nodeSelectorTerms"))
        .iter()
        .map(|term| {
            let mut parts = list(term.get("matchFields"));
            parts.extend(list(term.get("matchExpressions")));
            parts.iter().map(requirement).collect::<Vec<String>>().join(" and ")
        })
        .collect();
    let nodes = match terms.as_slice() {
        [only] if only.starts_with("name ") => only.replacen("name", "node", 1),
        several => format!("nodes with {}", several.join(" or ")),
    };
    clean(&format!("usable on {nodes}")).into_owned()
}

fn configuration(config: &Value) -> String {
    let text = |pointer: &str| config.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let origin = match text("/source") {
        "FromClass" => " of the class",
        "FromClaim" => " of the claim",
        _ => "",
    };
    let requests: Vec<&str> =
        config.get("requests").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let meant = if requests.is_empty() { String::new() } else { format!(", for {}", requests.join(", ")) };
    let mut parameters = config.pointer("/opaque/parameters").cloned().unwrap_or_default();
    // What it is, in a word; then what it says.
    let kind = parameters.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(map) = parameters.as_object_mut().filter(|_| !kind.is_empty()) {
        map.remove("apiVersion");
        map.remove("kind");
    }
    let space = if kind.is_empty() { "" } else { " " };
    let whole = clean(&format!("configuration{origin}{meant}: {kind}{space}{parameters}")).into_owned();
    let width = width().saturating_sub(TREE);
    if columns(&whole) <= width {
        return whole;
    }
    let cut: String = whole.chars().take(width.saturating_sub(3)).collect();
    format!("{cut}...")
}

fn failure_lines(failure: &Failure) -> Vec<String> {
    let finding = &failure.finding;
    let mut lines = wrap(&clean(&format!("{} [{}]", finding.message, finding.code)), width());
    if let Some(hint) = &finding.hint {
        lines.extend(wrap(&clean(&format!("help: {hint}")), width()));
    }
    if !failure.reference.is_empty() {
        lines.extend(wrap(&clean(&format!("kube-scheduler says: {}", failure.reference)), width()));
    }
    lines
}

/// Which tests the devices of each node passed, for each request; equal nodes together.
fn refusals(nodes: &[NodeRefusal], pen: Pen) -> Vec<String> {
    let mut groups: Vec<(&NodeRefusal, Vec<&str>)> = Vec::new();
    for refusal in nodes {
        let is_alike = |known: &NodeRefusal| known.failure == refusal.failure && known.requests == refusal.requests;
        match groups.iter_mut().find(|(known, _)| is_alike(known)) {
            Some((_, names)) => names.push(&refusal.node),
            None => groups.push((refusal, vec![&refusal.node])),
        }
    }
    let mut rows = vec![row(["NODE", "REQUEST", "NEEDED", "DEVICES", "MATCHING", "ABLE", "TOLERATED", "FREE", ""])];
    let mut failures = Vec::new();
    for (refusal, names) in groups {
        let name = match names.as_slice() {
            [first, rest @ ..] if rest.len() > 1 => {
                format!("{first} and {} {} alike", rest.len(), plural(rest.len(), "node"))
            }
            several => several.join(", "),
        };
        let name = clean(&name).into_owned();
        if let Some(failure) = &refusal.failure {
            failures.push(pen.paint(Ink::Strong, &format!("node {name}")));
            failures.extend(failure_lines(failure));
        }
        for funnel in &refusal.requests {
            for Unable { why, detail, devices } in &funnel.unable {
                let because = if detail.is_empty() { String::new() } else { format!(": {detail}") };
                let text =
                    format!("{name}, {} {}: {devices} {}{because}", funnel.claim, funnel.request, why.text(*devices));
                failures.extend(wrap(&clean(&text), width()));
            }
        }
        let fits_alone = each_fits_alone(&refusal.requests);
        for (index, funnel) in refusal.requests.iter().enumerate() {
            rows.push(funnel_row(if index == 0 { &name } else { "" }, funnel, fits_alone));
        }
    }
    let mut lines = Vec::new();
    if rows.len() > 1 {
        lines.push(String::new());
        let mut table = table(&rows, &[2, 3, 4, 5, 6, 7]);
        if let Some(head) = table.first_mut() {
            *head = pen.paint(Ink::Strong, head);
        }
        lines.extend(table);
        let legend = "Every column counts those of the column before that pass one test more: the node reaches them; \
                      class and selectors match; they could serve the request at all; their taints are tolerated; they are free, with enough capacity left.";
        lines.push(String::new());
        lines.extend(wrap(legend, width()).iter().map(|line| pen.paint(Ink::Faint, line)));
    }
    if !failures.is_empty() {
        lines.push(String::new());
        lines.extend(failures);
    }
    lines
}

/// Whether every request, or one alternative of it, finds enough devices when nothing else is asked for.
fn each_fits_alone(funnels: &[RequestFunnel]) -> bool {
    let main = |funnel: &RequestFunnel| {
        let request = funnel.request.split_once('/').map_or(funnel.request.as_str(), |(main, _)| main);
        (funnel.claim.clone(), request.to_owned())
    };
    let has_enough = |funnel: &RequestFunnel| funnel.free >= funnel.needed.max(1);
    funnels.iter().all(|funnel| funnels.iter().any(|other| main(other) == main(funnel) && has_enough(other)))
}

fn funnel_row(node: &str, funnel: &RequestFunnel, fits_alone: bool) -> Vec<String> {
    let needed = funnel.needed.max(1);
    let tests = [
        (funnel.devices, "too few here"),
        (funnel.matching, "too few match"),
        (funnel.able, "too few able"),
        (funnel.tolerated, "too few without taints"),
        (funnel.free, "too few free"),
    ];
    let enough = if fits_alone { "enough, but not together" } else { "enough" };
    let why = tests.iter().find(|(left, _)| *left < needed).map_or(enough, |(_, why)| why);
    let mut row = vec![node.to_owned(), clean(&format!("{} {}", funnel.claim, funnel.request)).into_owned()];
    row.push(funnel.needed.to_string());
    row.extend(tests.iter().map(|(left, _)| left.to_string()));
    row.push(why.to_owned());
    row
}
