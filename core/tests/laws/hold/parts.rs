//! Part of a dump: what is not given is not said to be missing.

use crate::ask::Report;
use apportion_core::check::inspect;
use apportion_core::finding::{Code, Finding};

use crate::Contradiction;
use crate::ask;
use crate::generate::Case;

/// Kinds that a dump may lack, and the findings that take them for known.
const KINDS: [(&str, &[Code]); 7] = [
    ("ResourceClaim", &[Code::RunMissingClaim]),
    ("ResourceClaimTemplate", &[Code::RunMissingTemplate]),
    ("DeviceClass", &[Code::AllocUnknownClass]),
    ("PodGroup", &[Code::RunGroupMissing]),
    ("ResourceSlice", &[Code::RunTooFewDevices, Code::RunTooFewMatching, Code::CheckDeviceGone]),
    ("Node", &[]),
    ("Pod", &[Code::CheckConsumerGone, Code::CheckOwnerGone, Code::CheckIdleDevices]),
];

/// Words that deny. Each is looked for only where the object that is not given is named.
const DENIALS: [&str; 4] = ["does not exist", "there is no ", "create the ", "do not exist"];

fn denies(kind: &str, codes: &[Code], finding: &Finding) -> bool {
    // It names the claim whose request has no class.
    if finding.code == Code::AllocUnknownClass && kind != "DeviceClass" {
        return false;
    }
    // It names the claim whose request the devices that there are cannot grant.
    if finding.code.text().starts_with("run/devices-") && !codes.contains(&finding.code) {
        return false;
    }
    let word = match kind {
        "ResourceClaim" => "claim `",
        "ResourceClaimTemplate" => "template `",
        "DeviceClass" => "class `",
        "PodGroup" => "PodGroup `",
        "Node" => "node `",
        _ => "\0",
    };
    let text = format!("{} {}", finding.message, finding.hint.as_deref().unwrap_or_default());
    codes.contains(&finding.code) || (text.contains(word) && DENIALS.iter().any(|denial| text.contains(denial)))
}

fn of_report(report: &Report) -> impl Iterator<Item = &Finding> {
    report.pods.iter().flat_map(|pod| &pod.reasons).chain(&report.findings)
}

/// Without one kind, or with Pods alone, nothing is said about what is not given, and Pods that run go on running.
pub(super) fn not_denied(case: &Case) -> Result<(), Contradiction> {
    let all: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    let others: Vec<&str> = all.iter().copied().filter(|kind| *kind != "Pod").collect();
    let mut parts: Vec<Vec<&str>> = all.iter().map(|kind| vec![*kind]).collect();
    parts.push(others);
    for lost in parts {
        let mut part = case.clone();
        part.objects.retain(|object| !lost.iter().any(|kind| object["kind"] == *kind));
        for (index, _) in ask::refused(&part).into_iter().rev() {
            part.objects.remove(index);
        }
        if !ask::is_dump(&part) {
            continue;
        }
        let lost_name = if lost.len() > 1 { "all but Pods".to_owned() } else { lost[0].to_owned() };
        let (_, report) = ask::run(&part);
        let (engine, _) = ask::engine(&part);
        let explained =
            ask::explain(&engine, None, false).map_err(|text| format!("explain is not answered | {text}"))?;
        let (profile, _) = ask::settings(&part);
        let checked = inspect(part.objects.clone(), &profile, None);
        for (kind, codes) in KINDS.iter().filter(|(kind, _)| lost.contains(kind)) {
            let run = of_report(&report).map(|finding| ("run", finding));
            let explain = explained.iter().flat_map(|one| &one.stage).map(|finding| ("explain", finding));
            let check = checked.iter().map(|finding| ("check", finding));
            for (command, finding) in run.chain(explain).chain(check) {
                if denies(kind, codes, finding) {
                    let hint = finding.hint.as_deref().unwrap_or_default();
                    return Err(format!(
                        "{command} without {lost_name} denies a {kind} ({}) | {:?}: {} ({hint})",
                        finding.code, finding.object, finding.message
                    ));
                }
            }
        }
        for pod in
            part.objects.iter().filter(|object| object["kind"] == "Pod" && object["status"]["phase"] == "Running")
        {
            if pod["metadata"].get("deletionTimestamp").is_some() {
                continue;
            }
            let (namespace, name) = (ask::meta(pod, "namespace"), ask::meta(pod, "name"));
            let in_report = report.pods.iter().find(|one| one.namespace == namespace && one.name == name);
            if in_report.is_some_and(|one| one.node.is_none()) {
                return Err(format!("run without {lost_name}: a running Pod is Pending | {namespace}/{name}"));
            }
            let of_explain = explained.iter().find(|one| {
                one.subject.kind == "Pod" && one.subject.namespace == namespace && one.subject.name == name
            });
            if let Some(one) = of_explain {
                return Err(format!(
                    "explain without {lost_name}: a running Pod is Pending | {namespace}/{name}: {}",
                    one.headline
                ));
            }
        }
    }
    Ok(())
}
