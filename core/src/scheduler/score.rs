//! Nodes compared by the alternatives of prioritised lists: earlier ones are better.
//!
//! Source: KEP-4816, "Scoring".

use std::sync::Arc;

use super::needs::Need;
use crate::api::claim::{AllocationResult, ResourceClaim};

/// Most alternatives of one request.
const MOST: i64 = 8;

/// Whether nodes can differ in score.
pub(super) fn matters(needs: &[Need]) -> bool {
    needs
        .iter()
        .filter(|need| !need.is_allocated())
        .any(|need| need.claim.spec.devices.requests.iter().any(|request| request.first_available.len() > 1))
}

/// The score of a node where every claim without devices gets its first alternatives: no node has a higher one.
pub(super) fn highest(needs: &[Need]) -> i64 {
    let of_need = |need: &Need| match &need.claim.status.allocation {
        Some(allocation) => of_claim(&need.claim, allocation),
        None => {
            let requests = need.claim.spec.devices.requests.iter();
            let prioritized = requests.filter(|request| !request.first_available.is_empty()).count();
            MOST.saturating_mul(i64::try_from(prioritized).unwrap_or(i64::MAX))
        }
    };
    needs.iter().map(of_need).fold(0, i64::saturating_add)
}

/// The sum over all prioritised requests of how early their alternative stands. `allocations` belong to the claims without
/// devices, in order.
pub(super) fn score(needs: &[Need], allocations: &[Arc<AllocationResult>]) -> i64 {
    let mut new = allocations.iter();
    let mut sum = 0i64;
    for need in needs {
        let allocation = need.claim.status.allocation.as_ref().or_else(|| new.next());
        sum = sum.saturating_add(allocation.map_or(0, |allocation| of_claim(&need.claim, allocation)));
    }
    sum
}

/// Each alternative with a device counts. Up to 1.35 that can be two of one request, because of the defect `all-alternative`.
fn of_claim(claim: &ResourceClaim, allocation: &AllocationResult) -> i64 {
    let mut sum = 0i64;
    for request in &claim.spec.devices.requests {
        for (sub, worth) in request.first_available.iter().zip((0..=MOST).rev()) {
            let is_of_sub = |of: &str| of.split_once('/') == Some((request.name.as_str(), sub.name.as_str()));
            if allocation.devices.results.iter().any(|result| is_of_sub(&result.request)) {
                sum = sum.saturating_add(worth);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::read_claim_value;

    #[test]
    fn every_alternative_with_a_device_counts() {
        let score = |subs: &[&str]| {
            let results: Vec<_> = subs
                .iter()
                .map(|sub| json!({ "request": format!("r/{sub}"), "driver": "a", "pool": "n", "device": "d" }))
                .collect();
            let list = json!([{ "name": "a", "deviceClassName": "c" }, { "name": "b", "deviceClassName": "c" }]);
            let claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": { "name": "c", "namespace": "d" },
                "spec": { "devices": { "requests": [{ "name": "r", "firstAvailable": list }] } },
                "status": { "allocation": { "devices": { "results": results } } } });
            let claim = read_claim_value(claim).unwrap();
            of_claim(&claim, claim.status.allocation.as_ref().unwrap())
        };
        assert_eq!(score(&["a", "a"]), 8);
        assert_eq!(score(&["b"]), 7);
        assert_eq!(score(&["b", "a"]), 15);
    }
}
