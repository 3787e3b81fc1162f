//! The core's types to records of the contract.

use apportion_core::allocate::{
    Answer, Failure, Fits, FitsOutcome, Inability, NodeRefusal, Outcome, RequestFunnel, Unable,
};
use apportion_core::api::claim::{AllocationResult, DeviceRequestAllocationResult, GrantedDevice};
use apportion_core::api::quantity::Quantity;
use apportion_core::api::read::Json;
use apportion_core::ask::{AllocatedDevice, ClaimReport, NodeReport, PodClaimReport, PodReport, Report};
use apportion_core::cel::CompileErrorKind;
use apportion_core::evaluate::{Evaluation, Verdict};
use apportion_core::finding::{ErrorKind, Finding, Fix, ObjectRef, Severity};

use crate::bindings::exports::apportion::dra::decisions as wit;
use crate::bindings::exports::apportion::dra::selectors;
use crate::bindings::exports::apportion::dra::types::{
    ErrorKind as WitErrorKind, Fix as WitFix, Severity as WitSeverity,
};

pub(crate) fn findings(findings: Vec<Finding>) -> Vec<wit::Finding> {
    findings.into_iter().map(finding).collect()
}

fn finding(finding: Finding) -> wit::Finding {
    wit::Finding {
        code: finding.code.text().to_owned(),
        severity: match finding.severity {
            Severity::Error => WitSeverity::Error,
            Severity::Warning => WitSeverity::Warning,
            Severity::Info => WitSeverity::Info,
        },
        kind: finding.kind.map(error_kind),
        object: finding.object.map(object_ref),
        path: finding.path,
        message: finding.message,
        hint: finding.hint,
        fix: finding.fix.map(fix),
    }
}

fn fix(fix: Fix) -> WitFix {
    match fix {
        Fix::Rename(name) => WitFix::Rename(name),
        Fix::Set(value) => WitFix::Set(value.to_string()),
        Fix::Nest(name) => WitFix::Nest(name),
        Fix::Unnest => WitFix::Unnest,
    }
}

fn error_kind(kind: ErrorKind) -> WitErrorKind {
    match kind {
        ErrorKind::Required => WitErrorKind::Required,
        ErrorKind::Invalid => WitErrorKind::Invalid,
        ErrorKind::NotSupported => WitErrorKind::NotSupported,
        ErrorKind::Duplicate => WitErrorKind::Duplicate,
        ErrorKind::TooMany => WitErrorKind::TooMany,
        ErrorKind::TooLong => WitErrorKind::TooLong,
        ErrorKind::Forbidden => WitErrorKind::Forbidden,
        ErrorKind::NotFound => WitErrorKind::NotFound,
        ErrorKind::TypeInvalid => WitErrorKind::TypeInvalid,
        ErrorKind::Internal => WitErrorKind::Internal,
    }
}

pub(crate) fn object_ref(object: ObjectRef) -> wit::ObjectRef {
    wit::ObjectRef { kind: object.kind, namespace: object.namespace, name: object.name }
}

pub(crate) fn answer(answer: Answer) -> wit::Answer {
    wit::Answer {
        outcome: match answer.outcome {
            Outcome::Allocated { node, allocations } => wit::Outcome::Allocated(wit::Allocated {
                node,
                claims: allocations.iter().map(|allocation| claim_allocation(allocation)).collect(),
            }),
            Outcome::Unsatisfied { nodes } => wit::Outcome::Unsatisfied(refusals(nodes)),
            Outcome::Failed { node, failure: why } => wit::Outcome::Failed(wit::Failed { node, failure: failure(why) }),
            Outcome::GaveUp { node, nodes } => wit::Outcome::GaveUp(wit::GaveUp { node, nodes: refusals(nodes) }),
        },
        findings: findings(answer.findings),
        steps: answer.steps,
    }
}

pub(crate) fn places(fits: Fits) -> wit::Places {
    let outcome = match fits.outcome {
        FitsOutcome::Known(fits) => wit::PlacesOutcome::Known(fits),
        FitsOutcome::Failed { node, failure: why } => {
            wit::PlacesOutcome::Failed(wit::Failed { node, failure: failure(why) })
        }
        FitsOutcome::GaveUp { node, fits } => wit::PlacesOutcome::GaveUp(wit::PlacesGaveUp { node, fits }),
    };
    wit::Places { outcome, steps: fits.steps }
}

fn claim_allocation(allocation: &AllocationResult) -> wit::ClaimAllocation {
    let devices = allocation.devices.results.iter().map(picked).collect();
    wit::ClaimAllocation { devices, allocation: json(allocation) }
}

pub(crate) fn json(value: &impl Json) -> String {
    value.write().unwrap_or_default().to_string()
}

fn refusals(nodes: Vec<NodeRefusal>) -> Vec<wit::NodeRefusal> {
    nodes
        .into_iter()
        .map(|refusal| wit::NodeRefusal {
            node: refusal.node,
            failure: refusal.failure.map(failure),
            requests: refusal.requests.into_iter().map(funnel).collect(),
        })
        .collect()
}

fn failure(failure: Failure) -> wit::Failure {
    wit::Failure { finding: finding(failure.finding), reference: failure.reference }
}

fn funnel(funnel: RequestFunnel) -> wit::RequestFunnel {
    let RequestFunnel { claim, request, needed, devices, matching, able, tolerated, free, unable } = funnel;
    let unable = unable.into_iter().map(self::unable).collect();
    wit::RequestFunnel { claim, request, needed, devices, matching, able, tolerated, free, unable }
}

fn unable(Unable { why, detail, devices }: Unable) -> wit::Unable {
    let why = match why {
        Inability::PoolIncomplete => wit::Inability::PoolIncomplete,
        Inability::PoolInvalid => wit::Inability::PoolInvalid,
        Inability::FeatureOff => wit::Inability::FeatureOff,
        Inability::NeedsDriver => wit::Inability::NeedsDriver,
        Inability::ConstraintMissing => wit::Inability::ConstraintMissing,
        Inability::CapacityNever => wit::Inability::CapacityNever,
        Inability::CounterNever => wit::Inability::CounterNever,
        Inability::OtherGroup => wit::Inability::OtherGroup,
        Inability::CounterShort => wit::Inability::CounterShort,
        Inability::CapacityShort => wit::Inability::CapacityShort,
    };
    wit::Unable { why, detail, devices }
}

pub(crate) fn report(report: Report) -> wit::Report {
    wit::Report {
        nodes: report.nodes.into_iter().map(node_report).collect(),
        pods: report.pods.into_iter().map(pod_report).collect(),
        claims: report.claims.into_iter().map(claim_report).collect(),
        findings: findings(report.findings),
    }
}

fn node_report(node: NodeReport) -> wit::NodeReport {
    wit::NodeReport {
        name: node.name,
        inferred: node.inferred,
        local_devices: node.local_devices,
        allocated_devices: node.allocated_devices,
        pods: node.pods,
    }
}

fn pod_report(pod: PodReport) -> wit::PodReport {
    wit::PodReport {
        namespace: pod.namespace,
        name: pod.name,
        owner: pod.owner.map(object_ref),
        node: pod.node,
        reasons: findings(pod.reasons),
        claims: pod
            .claims
            .into_iter()
            .map(|PodClaimReport { name, claim }| wit::PodClaimReport { name, claim })
            .collect(),
    }
}

fn claim_report(claim: ClaimReport) -> wit::ClaimReport {
    wit::ClaimReport {
        namespace: claim.namespace,
        name: claim.name,
        template: claim.template,
        allocated: claim.allocated,
        devices: claim.devices.into_iter().map(device).collect(),
        reserved_for: claim.reserved_for,
    }
}

/// The same as [`device`] of the result, without what is in between.
fn picked(result: &DeviceRequestAllocationResult) -> wit::AllocatedDevice {
    let (request, id, admin_access, consumed_capacity) = granted(result);
    wit::AllocatedDevice { request, id, admin_access, share_id: result.share_id.clone(), consumed_capacity }
}

/// Request, device, whether with admin access, and what is consumed.
pub(crate) fn granted(device: &GrantedDevice) -> (String, wit::DeviceId, bool, Vec<wit::Amount>) {
    let amount =
        |(name, quantity): (&String, &Quantity)| wit::Amount { name: name.clone(), quantity: quantity.to_string() };
    let GrantedDevice { request, driver, pool, device: name, admin_access, consumed_capacity, .. } = device;
    let id = wit::DeviceId { driver: driver.clone(), pool: pool.clone(), device: name.clone() };
    (request.clone(), id, *admin_access == Some(true), consumed_capacity.iter().map(amount).collect())
}

fn device(device: AllocatedDevice) -> wit::AllocatedDevice {
    wit::AllocatedDevice {
        request: device.request,
        id: wit::DeviceId { driver: device.driver, pool: device.pool, device: device.device },
        admin_access: device.admin_access,
        share_id: device.share_id,
        consumed_capacity: device
            .consumed_capacity
            .into_iter()
            .map(|(name, quantity)| wit::Amount { name, quantity })
            .collect(),
    }
}

pub(crate) fn evaluation(evaluation: Evaluation) -> selectors::Evaluation {
    selectors::Evaluation {
        verdict: match evaluation.verdict {
            Verdict::Match => selectors::Verdict::Match,
            Verdict::NoMatch => selectors::Verdict::NoMatch,
            Verdict::CompileError(error) => selectors::Verdict::CompileError(selectors::CompileError {
                kind: match error.kind {
                    CompileErrorKind::Invalid => selectors::CompileErrorKind::Invalid,
                    CompileErrorKind::WrongResult => selectors::CompileErrorKind::WrongResult,
                    CompileErrorKind::NotSupportedHere => selectors::CompileErrorKind::NotSupportedHere,
                },
                message: error.message,
                offset: error.offset as u64,
                line: error.line,
                column: error.column,
            }),
            Verdict::RuntimeError(message) => selectors::Verdict::RuntimeError(message),
        },
        actual_cost: evaluation.actual_cost,
        max_cost: evaluation.max_cost,
    }
}
