//! An explanation on one screen: what stands in the way, and what would help.

use apportion_core::explain::{
    Change, ClosestNode, DeviceDetail, Explanation, NodeDetail, ReasonCount, ReasonKind, RequestExplanation, State,
    Suggestion,
};
use apportion_core::finding::Finding;

use super::pen::{Ink, Pen};
use super::text::{WIDTH, clean, wrap};

/// Reasons of one request that are shown.
const MAX_REASONS: usize = 8;

/// Subjects that are named where they have the same explanation.
const MAX_NAMES: usize = 5;

/// All explanations; equal ones together.
pub(crate) fn show(explanations: &[Explanation], pen: Pen) -> String {
    let mut groups: Vec<(String, Vec<&Explanation>)> = Vec::new();
    for explanation in explanations {
        let likeness = likeness(explanation);
        match groups.iter_mut().find(|(known, _)| *known == likeness) {
            Some((_, members)) => members.push(explanation),
            None => groups.push((likeness, vec![explanation])),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for (_, members) in groups {
        let Some(first) = members.first() else { continue };
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(title(&members, pen));
        lines.extend(body(first, pen));
    }
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What an explanation says, without the name of its subject and of claims that were made for it.
fn likeness(explanation: &Explanation) -> String {
    let mut text = serde_json::to_string(&(
        explanation.state,
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
    let names = format!("{} {}{more}", first.subject.kind, shown.join(", "));
    let (ink, what) = match first.state {
        State::Placed | State::Fits => (Ink::Good, ""),
        State::Blocked | State::NoDevices if first.subject.kind == "ResourceClaimTemplate" => {
            (Ink::Bad, " does not fit")
        }
        State::Blocked | State::NoDevices => {
            (Ink::Bad, if members.len() == 1 { " is Pending" } else { " are Pending" })
        }
        State::GaveUp => (Ink::Doubt, ": not known"),
    };
    vec![format!("{}{what}", pen.paint(ink, &names))]
}

fn body(explanation: &Explanation, pen: Pen) -> Vec<String> {
    let mut lines = indented(&explanation.headline, 2);
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
    if !explanation.conflict.is_empty() {
        lines.push(String::new());
        lines.push(format!(
            "  {}",
            pen.paint(Ink::Strong, "These cannot hold together; without any one of them the rest could:")
        ));
        for part in &explanation.conflict {
            lines.extend(item("- ", &part.text, 2));
        }
    }
    lines.extend(suggestion_lines(&explanation.suggestions, pen));
    lines
}

fn hint(finding: &Finding, pen: Pen) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(object) = finding.object.as_ref().filter(|object| !object.name.is_empty()) {
        let path = if finding.path.is_empty() { String::new() } else { format!(", {}", finding.path) };
        lines.push(pen.paint(Ink::Faint, &clean(&format!("    at {object}{path}"))));
    }
    if let Some(hint) = &finding.hint {
        lines.extend(indented(&format!("help: {hint}"), 4));
    }
    lines
}

fn request_lines(request: &RequestExplanation, names_claim: bool, pen: Pen) -> Vec<String> {
    let claim = if names_claim { format!(" of claim {}", request.claim) } else { String::new() };
    let needs = match request.is_all {
        true => "all devices".to_owned(),
        false => counted(request.needed, "device"),
    };
    let head = format!("Request {}{claim}: {needs} of class {}", request.request, request.class);
    let mut lines = vec![String::new(), format!("  {}", pen.paint(Ink::Strong, &clean(&head)))];
    let of_class = match (request.devices, request.other_devices) {
        (0, 0) => "no devices are there".to_owned(),
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
        let values: Vec<String> = read.values.iter().map(|(value, count)| format!("{value} on {count}")).collect();
        let text = match (read.present, read.values.is_empty()) {
            (0, _) => format!("none of {} has `{}`", counted(read.devices, "device"), read.name),
            (present, _) if present < read.devices => {
                format!("{present} of {} have `{}`: {}", read.devices, read.name, values.join(", "))
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
    let alike = match closest.alike {
        1 => String::new(),
        alike => format!("; {alike} nodes are exactly like it"),
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
    let is_setting = |change: &Change| matches!(change, Change::EnableGate { .. });
    let has_setting = suggestions.iter().any(|suggestion| suggestion.changes.iter().any(is_setting));
    let what = match (suggestions.iter().any(|suggestion| !suggestion.manifests.is_empty()), has_setting) {
        (true, true) => Some("changed manifest of a suggestion, or the setting"),
        (true, false) => Some("changed manifest of a suggestion"),
        (false, true) => Some("setting of a suggestion"),
        (false, false) => None,
    };
    if let Some(what) = what {
        lines.push(pen.paint(Ink::Faint, &format!("  `--apply N` prints the {what}")));
    }
    lines
}

fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn indented(text: &str, depth: usize) -> Vec<String> {
    item("", text, depth)
}

/// Text behind a mark, with the following lines below its first word.
fn item(mark: &str, text: &str, depth: usize) -> Vec<String> {
    let lead = " ".repeat(depth);
    let hang = " ".repeat(mark.chars().count());
    let width = WIDTH.saturating_sub(depth).saturating_sub(mark.chars().count());
    let lines = wrap(&clean(text), width).into_iter().enumerate();
    lines.map(|(index, line)| format!("{lead}{}{line}", if index == 0 { mark } else { &hang })).collect()
}
