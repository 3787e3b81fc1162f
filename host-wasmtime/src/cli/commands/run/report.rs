//! What DRA did, for people: the verdict, nodes, Pods with their devices, and at the end, where a terminal stops
//! scrolling, what stays Pending.

use std::collections::{BTreeMap, BTreeSet};

use apportion_core::ask::{AllocatedDevice, ClaimReport, NodeReport, PodClaimReport, PodReport, Report};
use apportion_core::finding::{Code, Finding};

use super::pending;
use crate::cli::arguments::LookArguments;
use crate::cli::input::{Input, Places, Taken};
use crate::cli::listed::{section, titled};
use crate::cli::pen::{Ink, Pen};
use crate::cli::text::{alike, and, clean, count, table, width, wrap};
use crate::cli::tree::{device_lines, hang};

/// Nodes that are listed; of further ones only the number is told, those without Pods first.
const MAX_NODES: usize = 20;

/// Devices of one claim that are listed.
const MAX_DEVICES: usize = 24;

/// Claims without devices that are named.
const MAX_IDLE: usize = 12;

pub(crate) fn show(
    report: &Report,
    input: &Input,
    taken: &Taken,
    kubernetes: &str,
    pen: Pen,
    (look, namespace): (&LookArguments, &str),
) -> String {
    let LookArguments { verbose: is_verbose, is_brief, .. } = *look;
    let mut out = Vec::new();
    out.push(match report.pods.is_empty() {
        true => pen.paint(Ink::Strong, &nothing(report, taken, namespace)),
        false => verdict(report, pen),
    });
    out.extend(faint(&format!("{}.", taken.sentence(&input.sources)), pen));
    out.extend(faint(&format!("Answered for {kubernetes}."), pen));
    if let Some(problems) = taken.problems() {
        out.push(pen.paint(Ink::Doubt, &problems));
    }

    if !report.nodes.is_empty() && !is_brief {
        out.push(String::new());
        out.extend(nodes(report, pen, is_verbose));
    }
    let claims = report.claims.iter().map(|claim| ((claim.namespace.as_str(), claim.name.as_str()), claim)).collect();
    let mut tree = Tree { claims, pen, is_verbose, told: BTreeMap::new() };
    let placed = report.pods.iter().filter(|pod| pod.node.is_some() && !is_brief);
    out.extend(titled("PODS", tree.pods(placed), pen));
    let used = report.pods.iter().flat_map(|pod| pod.claims.iter().map(|entry| (&pod.namespace, entry.claim.as_ref())));
    let used: BTreeSet<(&String, Option<&String>)> = used.collect();
    let is_idle = |claim: &&ClaimReport| !used.contains(&(&claim.namespace, Some(&claim.name)));
    let idle: Vec<&ClaimReport> = report.claims.iter().filter(is_idle).filter(|_| !is_brief).collect();
    out.extend(titled("CLAIMS THAT NO POD USES", tree.idle_claims(&idle), pen));
    let places = Places::new(input);
    let told_above = |finding: &&Finding| finding.code == Code::RunNodesInferred && !is_verbose;
    let findings = report.findings.iter().filter(|finding| !told_above(finding));
    out.extend(section(findings, &places, pen, is_verbose));
    let (pending, over): (Vec<&PodReport>, Vec<&PodReport>) =
        report.pods.iter().filter(|pod| pod.node.is_none()).partition(|pod| pod.is_stuck());
    let stuck: Vec<&PodReport> = report.pods.iter().filter(|pod| pod.node.is_some() && pod.is_stuck()).collect();
    for (title, pods) in [("PENDING", pending), ("OVER WITHOUT A NODE", over), ("ON A NODE, NOT STARTED", stuck)] {
        out.extend(titled(title, pending::show(&pods, &places, &input.sources, pen), pen));
    }
    out.push(String::new());
    out.join("\n")
}

fn verdict(report: &Report, pen: Pen) -> String {
    let stuck = report.pods.iter().filter(|pod| pod.node.is_some() && pod.is_stuck()).count();
    let verdict = places(report, pen);
    match stuck {
        0 => verdict,
        _ => format!("{verdict}{}", pen.paint(Ink::Bad, &format!(", {stuck} of them cannot start"))),
    }
}

/// Why there is no Pod in the report.
fn nothing(report: &Report, taken: &Taken, namespace: &str) -> String {
    let says = |code: Code| report.findings.iter().any(|finding| finding.code == code);
    let is_noted = says(Code::RunEvicted);
    let say = if is_noted { "the notes and `--events` say" } else { "`--events` says" };
    match taken.kinds.contains_key("Pod") {
        true if !namespace.is_empty() => format!("No Pod is in namespace `{namespace}`"),
        true => format!("No Pod is left: each was refused, evicted or deleted; {say} which"),
        false if says(Code::RunRefused) => "No Pod is made: each was refused; the notes say why".to_owned(),
        false => "No Pod is given, so nothing is scheduled".to_owned(),
    }
}

fn places(report: &Report, pen: Pen) -> String {
    let all = report.pods.iter().filter(|pod| pod.node.is_some() || pod.is_stuck()).count();
    if all == 0 {
        return pen.paint(Ink::Good, "No Pod waits: each is over");
    }
    let pending = report.pods.iter().filter(|pod| pod.node.is_none() && pod.is_stuck()).count();
    let placed = all.saturating_sub(pending);
    let pods = count(all, "Pod");
    match (placed, pending) {
        (1, 0) => pen.paint(Ink::Good, &format!("{pods}: it has a node")),
        (_, 0) => pen.paint(Ink::Good, &format!("{pods}: all have a node")),
        (0, 1) => pen.paint(Ink::Bad, &format!("{pods}: it is Pending")),
        (0, _) => pen.paint(Ink::Bad, &format!("{pods}: all are Pending")),
        (_, _) => {
            let has = if placed == 1 { "has" } else { "have" };
            let is = if pending == 1 { "is" } else { "are" };
            pen.paint(Ink::Bad, &format!("{pods}: {placed} {has} a node, {pending} {is} Pending"))
        }
    }
}

fn faint(text: &str, pen: Pen) -> Vec<String> {
    wrap(&clean(text), width()).iter().map(|line| pen.paint(Ink::Faint, line)).collect()
}

fn nodes(Report { nodes, findings, .. }: &Report, pen: Pen, is_verbose: bool) -> Vec<String> {
    let mut shown: Vec<&NodeReport> = nodes.iter().collect();
    if shown.len() > MAX_NODES && !is_verbose {
        shown.sort_by_key(|node| std::cmp::Reverse(node.pods.len()));
        shown.truncate(MAX_NODES);
        shown.sort_by(|some, others| some.name.cmp(&others.name));
    }
    let all_inferred = nodes.iter().all(|node| node.inferred);
    let is_mixed = !all_inferred && nodes.iter().any(|node| node.inferred);
    let mut rows = vec![["NODE", "LOCAL DEVICES", "IN USE", "PODS"].map(str::to_owned).to_vec()];
    for node in &shown {
        let mut row = vec![
            clean(&node.name).into_owned(),
            node.local_devices.to_string(),
            node.allocated_devices.to_string(),
            node.pods.len().to_string(),
        ];
        if is_mixed && node.inferred {
            row.push("inferred".to_owned());
        }
        rows.push(row);
    }
    let mut lines = table(&rows, &[1, 2, 3]);
    if let Some(head) = lines.first_mut() {
        *head = pen.paint(Ink::Strong, head);
    }
    let hidden: Vec<&NodeReport> =
        nodes.iter().filter(|node| !shown.iter().any(|known| known.name == node.name)).collect();
    if !hidden.is_empty() {
        let pods = hidden.iter().map(|node| node.pods.len()).fold(0, usize::saturating_add);
        let more = format!("and {}, with {}; `-v` lists them", count(hidden.len(), "more node"), count(pods, "Pod"));
        lines.push(pen.paint(Ink::Faint, &more));
    }
    if all_inferred {
        // The note is about a node where nothing names one.
        let is_of_invented = |note: &&Finding| note.code == Code::RunNodesInferred && note.object.is_some();
        let hint = findings.iter().find(is_of_invented).and_then(|note| note.hint.as_ref());
        let why = hint.map(|hint| format!("No Node is given: {hint}."));
        let why = why.unwrap_or_else(|| {
            "No Node is given, so they are inferred, without taints and with any amount of CPU and memory.".to_owned()
        });
        lines.extend(faint(&why, pen));
    }
    lines
}

/// Pods with their claims and devices.
struct Tree<'r> {
    claims: BTreeMap<(&'r str, &'r str), &'r ClaimReport>,
    pen: Pen,
    is_verbose: bool,
    /// Claims whose devices were listed, with the Pod they stand under.
    told: BTreeMap<(&'r str, &'r str), &'r str>,
}

impl<'r> Tree<'r> {
    /// Pods of one owner together, in the order of their first.
    fn pods(&mut self, pods: impl Iterator<Item = &'r PodReport>) -> Vec<String> {
        let mut lines = Vec::new();
        // One without an owner stands alone.
        let groups = alike(pods.enumerate(), |(index, pod)| pod.owner.as_ref().ok_or(*index));
        for members in groups {
            let owner = members.first().and_then(|(_, first)| first.owner.as_ref());
            let is_alone = owner.is_none();
            let number = count(members.len(), "Pod");
            let blocks: Vec<Vec<String>> = members.into_iter().map(|(_, pod)| self.pod(pod, is_alone)).collect();
            match owner {
                None => lines.extend(blocks.into_iter().flatten()),
                Some(owner) => {
                    let owner = clean(&owner.to_string()).into_owned();
                    lines.push(format!("{}, {number}", self.pen.paint(Ink::Strong, &owner)));
                    lines.extend(self.hang(blocks));
                }
            }
        }
        lines
    }

    fn pod(&mut self, pod: &'r PodReport, with_namespace: bool) -> Vec<String> {
        let name = match with_namespace {
            true => format!("{}/{}", pod.namespace, pod.name),
            false => pod.name.clone(),
        };
        let node = clean(pod.node.as_deref().unwrap_or_default()).into_owned();
        let mut line = format!("{} {} {node}", self.pen.paint(Ink::Strong, &clean(&name)), self.pen.arrow());
        if pod.claims.is_empty() {
            line.push_str(&self.pen.paint(Ink::Faint, "  no claims"));
        }
        let mut lines = vec![line];
        let blocks: Vec<Vec<String>> = pod.claims.iter().map(|entry| self.entry(pod, entry)).collect();
        lines.extend(self.hang(blocks));
        lines
    }

    fn entry(&mut self, pod: &'r PodReport, entry: &'r PodClaimReport) -> Vec<String> {
        let claim =
            entry.claim.as_ref().and_then(|name| self.claims.get(&(pod.namespace.as_str(), name.as_str())).copied());
        let Some(claim) = claim else {
            if let Some(name) = &entry.claim {
                return vec![self.claim_line(name, &["not there".to_owned()])];
            }
            let verb = if pod.reasons.is_empty() { "needs" } else { "has" };
            return vec![format!("{} {verb} no claim", clean(&entry.name))];
        };
        let mut remarks = Vec::new();
        if let Some(template) = &claim.template {
            remarks.push(format!("from template {template}"));
        }
        remarks.extend(users(claim));
        let known = self.told.get(&(claim.namespace.as_str(), claim.name.as_str())).copied();
        if let Some(first) = known {
            remarks.push(format!("devices: see {first}"));
        }
        let mut lines = vec![self.claim_line(&claim.name, &remarks)];
        if known.is_none() {
            self.told.insert((&claim.namespace, &claim.name), &pod.name);
            lines.extend(self.devices(&claim.devices));
        }
        lines
    }

    fn claim_line(&self, name: &str, remarks: &[String]) -> String {
        let mut line = format!("claim {}", clean(name));
        if !remarks.is_empty() {
            line.push_str(&self.pen.paint(Ink::Faint, &clean(&format!(" ({})", remarks.join(", ")))));
        }
        line
    }

    /// Claims of Pods that are not given, and those that nobody asked for yet.
    fn idle_claims(&self, claims: &[&'r ClaimReport]) -> Vec<String> {
        let name = |claim: &ClaimReport| clean(&format!("{}/{}", claim.namespace, claim.name)).into_owned();
        let mut lines = Vec::new();
        for claim in claims.iter().filter(|claim| claim.allocated) {
            lines.push(self.pen.paint(Ink::Strong, &name(claim)));
            lines.extend(self.devices(&claim.devices));
        }
        let mut names: Vec<String> = claims.iter().filter(|claim| !claim.allocated).map(|claim| name(claim)).collect();
        let hidden = if self.is_verbose { 0 } else { names.len().saturating_sub(MAX_IDLE) };
        if hidden > 0 {
            names.truncate(MAX_IDLE);
            names.push(format!("{hidden} more"));
        }
        if !names.is_empty() {
            let text = format!("{}: not allocated, devices are picked when a Pod uses the claim", and(&names));
            lines.extend(wrap(&text, width()));
        }
        lines
    }

    fn devices(&self, devices: &[AllocatedDevice]) -> Vec<String> {
        let shown = if self.is_verbose { devices.len() } else { MAX_DEVICES };
        let mut lines = device_lines(devices.iter().take(shown), self.pen);
        let hidden = devices.len().saturating_sub(shown);
        if hidden > 0 {
            lines.push(self.pen.paint(Ink::Faint, &format!("and {}; `-v` lists them", count(hidden, "more device"))));
        }
        self.hang(lines.into_iter().map(|line| vec![line]).collect())
    }

    fn hang(&self, blocks: Vec<Vec<String>>) -> Vec<String> {
        hang(blocks, self.pen)
    }
}

/// Who uses a claim, where it is more than its Pod: the PodGroup that a claim was made for, or all that share it.
fn users(claim: &ClaimReport) -> Option<String> {
    let name = |group: &str| group.split_once('/').map_or(group, |(_, name)| name).to_owned();
    let groups = claim.reserved_for.iter().filter_map(|consumer| consumer.strip_prefix("podgroups "));
    let groups: Vec<String> = groups.map(name).collect();
    let pods = claim.reserved_for.len().saturating_sub(groups.len());
    if let ([group], 0, Some(_)) = (groups.as_slice(), pods, &claim.template) {
        return Some(format!("of PodGroup {group}"));
    }
    let mut users: Vec<String> = groups.iter().map(|group| format!("PodGroup {group}")).collect();
    if pods > 0 {
        users.push(count(pods, "Pod"));
    }
    (claim.reserved_for.len() > 1 || !groups.is_empty()).then(|| format!("shared by {}", users.join(" and ")))
}
