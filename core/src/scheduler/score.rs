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

fn of_claim(claim: &ResourceClaim, allocation: &AllocationResult) -> i64 {
    let mut sum = 0i64;
    for request in &claim.spec.devices.requests {
        let prefix = format!("{}/", request.name);
        let chosen = allocation.devices.results.iter().find_map(|result| result.request.strip_prefix(&prefix));
        let index = chosen.and_then(|name| request.first_available.iter().position(|sub| sub.name == name));
        let index = index.and_then(|index| i64::try_from(index).ok());
        sum = sum.saturating_add(index.map_or(0, |index| MOST.saturating_sub(index)));
    }
    sum
}
