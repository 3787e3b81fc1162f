//! Records of the contract to the core's types.

use std::sync::Arc;

use apportion_core::allocate::{Answer, Failure, NodeRefusal, Outcome, RequestFunnel};
use apportion_core::api::claim::{AllocationResult, DeviceRequestAllocationResult};
use apportion_core::api::read::{Json, Path};
use apportion_core::engine::read_quantity;
use apportion_core::finding::{Code, ErrorKind, Finding, Fix, ObjectRef, Severity};
use apportion_core::simulate::{AllocatedDevice, ClaimReport, NodeReport, PodClaimReport, PodReport, Report};
use serde_json::Value;

use crate::bindings::exports::apportion::dra::decisions as wit;
use crate::bindings::exports::apportion::dra::types::{
    AllocatedDevice as AllocatedDeviceOfWit, ErrorKind as WitErrorKind, Fix as WitFix, Severity as WitSeverity,
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
                .map(|claim| match claim.allocation.as_str() {
                    "" => devices(claim.devices).map(Arc::new),
                    text => allocation(text).map(Arc::new),
                })
                .collect::<Result<_, _>>()?,
        },
        wit::Outcome::Unsatisfied(nodes) => Outcome::Unsatisfied { nodes: refusals(nodes) },
        wit::Outcome::Failed(failed) => Outcome::Failed { node: failed.node, failure: failure(failed.failure) },
        wit::Outcome::GaveUp(gave_up) => Outcome::GaveUp { node: gave_up.node, nodes: refusals(gave_up.nodes) },
    };
    Ok(Answer { outcome, findings: findings(answer.findings), steps: answer.steps })
}

/// An allocation of which only the devices crossed.
fn devices(devices: Vec<AllocatedDeviceOfWit>) -> Result<AllocationResult, Vec<Finding>> {
    let mut allocation = AllocationResult::default();
    for device in devices {
        let mut result = DeviceRequestAllocationResult {
            request: device.request,
            driver: device.id.driver,
            pool: device.id.pool,
            device: device.id.device,
            admin_access: device.admin_access.then_some(true),
            share_id: device.share_id,
            ..DeviceRequestAllocationResult::default()
        };
        for amount in device.consumed_capacity {
            let quantity = read_quantity(amount.quantity.into()).map_err(|finding| vec![finding])?;
            result.consumed_capacity.insert(amount.name, quantity);
        }
        allocation.devices.results.push(result);
    }
    Ok(allocation)
}

fn allocation(text: &str) -> Result<AllocationResult, Vec<Finding>> {
    let value = json(text).map_err(|finding| vec![finding])?;
    let mut findings = Vec::new();
    AllocationResult::read(value, &Path::ROOT, &mut findings).map_err(|_| findings)
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
    let wit::RequestFunnel { claim, request, needed, devices, matching, tolerated, free } = funnel;
    RequestFunnel { claim, request, needed, devices, matching, tolerated, free }
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
