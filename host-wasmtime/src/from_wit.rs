//! Records of the contract to the core's types.

use std::collections::BTreeMap;
use std::sync::Arc;

use apportion_core::allocate::{
    Answer, Failure, Fits, FitsOutcome, Inability, NodeRefusal, Outcome, RequestFunnel, Unable,
};
use apportion_core::api::claim::{AllocationResult, DeviceRequestAllocationResult, GrantedDevice};
use apportion_core::api::node::NodeSelector;
use apportion_core::api::read::{Json, Path};
use apportion_core::ask::{AllocatedDevice, ClaimReport, NodeReport, PodClaimReport, PodReport, Report};
use apportion_core::engine::read_quantity;
use apportion_core::finding::{Code, ErrorKind, Finding, Fix, ObjectRef, Severity};
use serde_json::Value;

use crate::bindings::exports::apportion::dra::decisions as wit;
use crate::bindings::exports::apportion::dra::types::{
    ErrorKind as WitErrorKind, Fix as WitFix, Severity as WitSeverity,
};

pub(crate) fn findings(findings: Vec<wit::Finding>) -> Vec<Finding> {
    findings.into_iter().map(finding).collect()
}

fn finding(finding: wit::Finding) -> Finding {
    let severity = match finding.severity {
        WitSeverity::Error => Severity::Error,
        WitSeverity::Warning => Severity::Warning,
        WitSeverity::Info => Severity::Info,
    };
    // A component newer than this program may know codes that the program does not: the text carries them.
    let (code, message) = match Code::of(&finding.code) {
        Some(code) => (code, finding.message),
        None => (Code::Internal, format!("{}: {}", finding.code, finding.message)),
    };
    let object = finding.object.map(object_ref);
    let kind = finding.kind.map(error_kind);
    // A correction that cannot be read is none.
    let fix = finding.fix.and_then(|fix| match fix {
        WitFix::Rename(name) => Some(Fix::Rename(name)),
        WitFix::Set(text) => json(&text).ok().map(Fix::Set),
        WitFix::Nest(name) => Some(Fix::Nest(name)),
        WitFix::Unnest => Some(Fix::Unnest),
    });
    Finding { code, severity, kind, object, path: finding.path, message, hint: finding.hint, fix }
}

fn error_kind(kind: WitErrorKind) -> ErrorKind {
    match kind {
        WitErrorKind::Required => ErrorKind::Required,
        WitErrorKind::Invalid => ErrorKind::Invalid,
        WitErrorKind::NotSupported => ErrorKind::NotSupported,
        WitErrorKind::Duplicate => ErrorKind::Duplicate,
        WitErrorKind::TooMany => ErrorKind::TooMany,
        WitErrorKind::TooLong => ErrorKind::TooLong,
        WitErrorKind::Forbidden => ErrorKind::Forbidden,
        WitErrorKind::NotFound => ErrorKind::NotFound,
        WitErrorKind::TypeInvalid => ErrorKind::TypeInvalid,
        WitErrorKind::Internal => ErrorKind::Internal,
    }
}

pub(crate) fn object_ref(object: wit::ObjectRef) -> ObjectRef {
    ObjectRef { kind: object.kind, namespace: object.namespace, name: object.name }
}

pub(crate) fn json(text: &str) -> Result<Value, Finding> {
    serde_json::from_str(text)
        .map_err(|error| Finding::new(Code::Internal, "", format!("the component wrote bad JSON: {error}")))
}

pub(crate) fn answer(answer: wit::Answer) -> Result<Answer, Vec<Finding>> {
    let outcome = match answer.outcome {
        wit::Outcome::Allocated(allocated) => Outcome::Allocated {
            node: allocated.node,
            allocations: allocated
                .claims
                .into_iter()
                .map(|claim| read(&claim.allocation).map(Arc::new))
                .collect::<Result<_, _>>()?,
        },
        wit::Outcome::Unsatisfied(nodes) => Outcome::Unsatisfied { nodes: refusals(nodes) },
        wit::Outcome::Failed(failed) => Outcome::Failed { node: failed.node, failure: failure(failed.failure) },
        wit::Outcome::GaveUp(gave_up) => Outcome::GaveUp { node: gave_up.node, nodes: refusals(gave_up.nodes) },
    };
    Ok(Answer { outcome, findings: findings(answer.findings), steps: answer.steps })
}

pub(crate) fn places(places: wit::Places) -> Fits {
    let outcome = match places.outcome {
        wit::PlacesOutcome::Known(fits) => FitsOutcome::Known(fits),
        wit::PlacesOutcome::Failed(failed) => {
            FitsOutcome::Failed { node: failed.node, failure: failure(failed.failure) }
        }
        wit::PlacesOutcome::GaveUp(gave_up) => FitsOutcome::GaveUp { node: gave_up.node, fits: gave_up.fits },
    };
    Fits { outcome, steps: places.steps }
}

/// The answer about claims that were asked for together.
pub(crate) fn known_answer(parts: wit::Answers) -> Result<Answer, Vec<Finding>> {
    let mut answers = answers(parts)?.into_iter();
    let mut whole =
        answers.next().ok_or_else(|| vec![Finding::new(Code::Internal, "", "the component gave no answer")])?;
    if let Outcome::Allocated { allocations, .. } = &mut whole.outcome {
        allocations.extend(answers.flat_map(|answer| answer.allocations().to_vec()));
    }
    Ok(whole)
}

/// Answers about one claim each.
pub(crate) fn answers(answers: wit::Answers) -> Result<Vec<Answer>, Vec<Finding>> {
    let wit::Answers { nodes, frames, granted, placed, devices, last } = answers;
    let frames = frames.iter().map(|text| frame(text, &nodes)).collect::<Result<Vec<_>, _>>()?;
    let granted = granted.into_iter().map(granted_device).collect::<Result<Vec<_>, _>>()?;
    let mut devices = devices.into_iter();
    let mut answers = Vec::with_capacity(placed.len().saturating_add(1));
    for placed in placed {
        let mut allocation = entry(&frames, placed.frame)?.clone();
        let count = devices.len().min(usize::try_from(placed.devices).unwrap_or(usize::MAX));
        allocation.devices.results.reserve_exact(count);
        for device in devices.by_ref().take(count) {
            let granted = Arc::clone(entry(&granted, device.granted)?);
            allocation.devices.results.push(DeviceRequestAllocationResult { share_id: device.share_id, granted });
        }
        let (node, allocations) = (entry(&nodes, placed.node)?.clone(), vec![Arc::new(allocation)]);
        let outcome = Outcome::Allocated { node, allocations };
        answers.push(Answer { outcome, findings: findings(placed.findings), steps: placed.steps });
    }
    if let Some(last) = last {
        answers.push(answer(last)?);
    }
    Ok(answers)
}

/// An allocation without results.
fn frame(frame: &wit::Frame, nodes: &[String]) -> Result<AllocationResult, Vec<Finding>> {
    match frame {
        wit::Frame::Everywhere => Ok(AllocationResult::default()),
        wit::Frame::OnNode(node) => {
            let node_selector = Some(Arc::new(NodeSelector::of_node(entry(nodes, *node)?)));
            Ok(AllocationResult { node_selector, ..AllocationResult::default() })
        }
        wit::Frame::Other(text) => read(text),
    }
}

fn entry<T>(list: &[T], position: u32) -> Result<&T, Vec<Finding>> {
    let entry = usize::try_from(position).ok().and_then(|position| list.get(position));
    entry.ok_or_else(|| {
        let message = format!("the component names entry {position} of a list of {}", list.len());
        vec![Finding::new(Code::Internal, "", message)]
    })
}

fn granted_device(device: wit::GrantedDevice) -> Result<Arc<GrantedDevice>, Vec<Finding>> {
    let more = if device.more.is_empty() { GrantedDevice::default() } else { read(&device.more)? };
    let mut consumed_capacity = BTreeMap::new();
    for amount in device.consumed_capacity {
        let quantity = read_quantity(amount.quantity.into()).map_err(|finding| vec![finding])?;
        consumed_capacity.insert(amount.name, quantity);
    }
    Ok(Arc::new(GrantedDevice {
        request: device.request,
        driver: device.id.driver,
        pool: device.id.pool,
        device: device.id.device,
        admin_access: device.admin_access.then_some(true),
        consumed_capacity,
        ..more
    }))
}

fn read<T: Json>(text: &str) -> Result<T, Vec<Finding>> {
    let value = json(text).map_err(|finding| vec![finding])?;
    let mut findings = Vec::new();
    T::read(value, &Path::ROOT, &mut findings).map_err(|_| findings)
}

fn refusals(nodes: Vec<wit::NodeRefusal>) -> Vec<NodeRefusal> {
    nodes
        .into_iter()
        .map(|refusal| NodeRefusal {
            node: refusal.node,
            failure: refusal.failure.map(failure),
            requests: refusal.requests.into_iter().map(funnel).collect(),
        })
        .collect()
}

fn failure(failure: wit::Failure) -> Failure {
    Failure { finding: finding(failure.finding), reference: failure.reference }
}

fn funnel(funnel: wit::RequestFunnel) -> RequestFunnel {
    let wit::RequestFunnel { claim, request, needed, devices, matching, able, tolerated, free, unable } = funnel;
    let unable = unable.into_iter().map(self::unable).collect();
    RequestFunnel { claim, request, needed, devices, matching, able, tolerated, free, unable }
}

fn unable(wit::Unable { why, detail, devices }: wit::Unable) -> Unable {
    let why = match why {
        wit::Inability::PoolIncomplete => Inability::PoolIncomplete,
        wit::Inability::PoolInvalid => Inability::PoolInvalid,
        wit::Inability::FeatureOff => Inability::FeatureOff,
        wit::Inability::NeedsDriver => Inability::NeedsDriver,
        wit::Inability::ConstraintMissing => Inability::ConstraintMissing,
        wit::Inability::CapacityNever => Inability::CapacityNever,
        wit::Inability::CounterNever => Inability::CounterNever,
        wit::Inability::OtherGroup => Inability::OtherGroup,
        wit::Inability::CounterShort => Inability::CounterShort,
        wit::Inability::CapacityShort => Inability::CapacityShort,
    };
    Unable { why, detail, devices }
}

pub(crate) fn report(report: wit::Report) -> Report {
    Report {
        nodes: report.nodes.into_iter().map(node_report).collect(),
        pods: report.pods.into_iter().map(pod_report).collect(),
        claims: report.claims.into_iter().map(claim_report).collect(),
        findings: findings(report.findings),
    }
}

fn node_report(node: wit::NodeReport) -> NodeReport {
    let wit::NodeReport { name, inferred, local_devices, allocated_devices, pods } = node;
    NodeReport { name, inferred, local_devices, allocated_devices, pods }
}

fn pod_report(pod: wit::PodReport) -> PodReport {
    PodReport {
        namespace: pod.namespace,
        name: pod.name,
        owner: pod.owner.map(object_ref),
        node: pod.node,
        reasons: findings(pod.reasons),
        claims: pod
            .claims
            .into_iter()
            .map(|wit::PodClaimReport { name, claim }| PodClaimReport { name, claim })
            .collect(),
    }
}

fn claim_report(claim: wit::ClaimReport) -> ClaimReport {
    ClaimReport {
        namespace: claim.namespace,
        name: claim.name,
        template: claim.template,
        allocated: claim.allocated,
        devices: claim.devices.into_iter().map(device).collect(),
        reserved_for: claim.reserved_for,
    }
}

fn device(device: wit::AllocatedDevice) -> AllocatedDevice {
    AllocatedDevice {
        request: device.request,
        driver: device.id.driver,
        pool: device.id.pool,
        device: device.id.device,
        admin_access: device.admin_access,
        share_id: device.share_id,
        consumed_capacity: device.consumed_capacity.into_iter().map(|amount| (amount.name, amount.quantity)).collect(),
    }
}
