//! Explanations as plain text, everything in them.

use std::fmt::Write as _;

use apportion_core::explain::{Explanation, NodeDetail};
use apportion_core::finding::Finding;

pub(crate) fn explanations(all: &[Explanation]) -> String {
    let mut text = String::new();
    for explanation in all {
        one(&mut text, explanation);
    }
    text
}

pub(crate) fn findings(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("not asked: {}\n", line(finding))).collect()
}

fn line(finding: &Finding) -> String {
    let object = finding.object.as_ref().map(|object| format!(" ({object} {})", finding.path)).unwrap_or_default();
    let hint = finding.hint.as_ref().map(|hint| format!("; help: {hint}")).unwrap_or_default();
    format!("[{}] {}{object}{hint}", finding.code, finding.message)
}

fn one(text: &mut String, explanation: &Explanation) {
    let Explanation { subject, state, plain, headline, .. } = explanation;
    writeln!(text, "{subject}: {state:?}").unwrap();
    if let Some(plain) = plain {
        writeln!(text, "  {plain}").unwrap();
    }
    writeln!(text, "  {headline}").unwrap();
    for finding in &explanation.stage {
        writeln!(text, "  stage {}", line(finding)).unwrap();
    }
    for request in &explanation.requests {
        let needed = if request.is_all { "all devices".to_owned() } else { request.needed.to_string() };
        writeln!(
            text,
            "  request {} of {}: {needed} of class {}; {} of the class, {} usable, {} on one node; {} others",
            request.request,
            request.claim,
            request.class,
            request.devices,
            request.usable,
            request.best,
            request.other_devices
        )
        .unwrap();
        for reason in &request.reasons {
            writeln!(text, "    {} {} ({} only that)", reason.devices, reason.text, reason.alone).unwrap();
        }
        for read in &request.reads {
            let values: Vec<String> =
                read.values.iter().map(|one| format!("{} on {}", one.value, one.devices)).collect();
            let hint = read.did_you_mean.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default();
            let values = values.join(", ");
            writeln!(text, "    reads {}: on {} of {} ({values}){hint}", read.name, read.present, read.devices)
                .unwrap();
        }
    }
    if let Some(closest) = &explanation.closest {
        let alike = closest.alike;
        writeln!(text, "  closest {}: {} of {}, {alike} alike", closest.name, closest.found, closest.needed).unwrap();
    }
    for node in &explanation.details {
        detail(text, node);
    }
    for part in &explanation.conflict {
        writeln!(text, "  conflict {}: {}", part.kind, part.text).unwrap();
    }
    for (index, suggestion) in explanation.suggestions.iter().enumerate() {
        let node = suggestion.node.as_ref().map(|node| format!(" -> {node}")).unwrap_or_default();
        writeln!(text, "  {}. {}{node}", index + 1, suggestion.text).unwrap();
    }
}

fn detail(text: &mut String, node: &NodeDetail) {
    writeln!(text, "  node {}", node.name).unwrap();
    for pool in &node.pools {
        writeln!(text, "    {pool}").unwrap();
    }
    for request in &node.requests {
        writeln!(
            text,
            "    request {} of {}: {} of {}",
            request.request, request.claim, request.usable, request.needed
        )
        .unwrap();
        for device in &request.devices {
            let id = &device.device;
            let verdict = if device.reasons.is_empty() { " can be used" } else { "" };
            writeln!(text, "      {}/{}/{}{verdict}", id.driver, id.pool, id.device).unwrap();
            for reason in &device.reasons {
                writeln!(text, "        {:?}: {}", reason.kind, reason.text).unwrap();
            }
        }
    }
}
