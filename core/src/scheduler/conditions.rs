//! Conditions that drivers report before a Pod may be bound.
//!
//! Source: KEP-5007.

use serde_json::Value;

use crate::api::claim::{DeviceRequestAllocationResult, ResourceClaim};
use crate::decision::Time;
use crate::profile::Features;

/// Seconds until a claim that is not ready is given up.
pub(super) const TIMEOUT_SECONDS: i64 = 600;

/// What the drivers of a claim's devices say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Readiness {
    /// Nothing is waited for.
    Ready,
    /// Not yet.
    Waits,
    /// Not in time.
    TimedOut,
    /// No: the reason, in the reference's words.
    Failed(String),
}

/// Whether binding conditions are looked at.
pub(super) fn are_on(features: &Features) -> bool {
    features.device_binding_and_status
}

/// Whether some device of the claim has conditions to wait for.
pub(super) fn has_conditions(claim: &ResourceClaim) -> bool {
    results(claim).next().is_some()
}

/// What the drivers say about a claim. Failure wins over success; a device that is not reported on is not ready.
pub(super) fn readiness(claim: &ResourceClaim, now: Time) -> Readiness {
    let mut is_ready = true;
    for result in results(claim) {
        let reported = claim.status.devices.iter().find(|device| is_about(device, result));
        let conditions = reported.and_then(|device| device.get("conditions")).and_then(Value::as_array);
        let is_true = |wanted: &String| {
            conditions
                .into_iter()
                .flatten()
                .find(|condition| field(condition, "type") == wanted && field(condition, "status") == "True")
        };
        if let Some(failure) = result.binding_failure_conditions.iter().find_map(is_true) {
            let (reason, message) = (field(failure, "reason"), field(failure, "message"));
            let name = &claim.metadata.name;
            return Readiness::Failed(format!(
                "device binding failed: claim={name}, reason={reason}, message=\"{message}\""
            ));
        }
        is_ready &= result.binding_conditions.iter().all(|wanted| is_true(wanted).is_some());
    }
    match is_ready {
        true => Readiness::Ready,
        false if deadline(claim).is_some_and(|deadline| deadline < now) => Readiness::TimedOut,
        false => Readiness::Waits,
    }
}

/// When the claim is given up; never without a time of allocation.
pub(super) fn deadline(claim: &ResourceClaim) -> Option<Time> {
    let time = &claim.status.allocation.as_ref()?.allocation_timestamp;
    Some(Time::parse(time)?.plus_seconds(TIMEOUT_SECONDS))
}

fn results(claim: &ResourceClaim) -> impl Iterator<Item = &DeviceRequestAllocationResult> {
    let results = claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
    results.filter(|result| !result.binding_conditions.is_empty() || !result.binding_failure_conditions.is_empty())
}

fn is_about(device: &Value, result: &DeviceRequestAllocationResult) -> bool {
    field(device, "driver") == result.driver
        && field(device, "pool") == result.pool
        && field(device, "device") == result.device
}

fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
