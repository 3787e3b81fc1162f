//! What is taken of each device, kept up to date while claims change.

use std::collections::BTreeMap;

use crate::api::claim::{DeviceRequestAllocationResult, ResourceClaim};
use crate::api::quantity::Quantity;

/// What is taken of one device.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Usage {
    /// Results that hold the device as a whole. More than one only if claims contradict each other.
    pub(crate) whole: u32,
    /// Results that hold a share.
    pub(crate) shares: u32,
    /// Capacity taken by all shares together. Entries stay until all of them are zero.
    pub(crate) consumed: BTreeMap<String, Quantity>,
}

impl Usage {
    /// Whether nothing is taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole == 0 && self.shares == 0 && self.consumed.is_empty()
    }

    /// Whether the device holds its shared counters.
    pub(crate) fn is_allocated(&self) -> bool {
        !self.is_empty()
    }

    /// Adds consumed capacity.
    pub(crate) fn consume(&mut self, amounts: &BTreeMap<String, Quantity>) {
        for (name, amount) in amounts {
            match self.consumed.get_mut(name) {
                Some(sum) => *sum = sum.saturating_add(amount),
                None => drop(self.consumed.insert(name.clone(), amount.clone())),
            }
        }
    }

    /// Takes one result into account.
    pub(crate) fn take(&mut self, result: &DeviceRequestAllocationResult, has_shares: bool) {
        if is_share(result, has_shares) {
            self.shares = self.shares.saturating_add(1);
            self.consume(&result.consumed_capacity);
        } else {
            self.whole = self.whole.saturating_add(1);
        }
    }

    /// Undoes [`Usage::take`] of an equal result.
    pub(crate) fn release(&mut self, result: &DeviceRequestAllocationResult, has_shares: bool) {
        if !is_share(result, has_shares) {
            self.whole = self.whole.saturating_sub(1);
            return;
        }
        self.shares = self.shares.saturating_sub(1);
        for (name, amount) in &result.consumed_capacity {
            if let Some(sum) = self.consumed.get_mut(name) {
                *sum = sum.saturating_sub(amount);
            }
        }
        if self.consumed.values().all(Quantity::is_zero) {
            self.consumed.clear();
        }
    }
}

/// Without the feature every result holds its device as a whole.
fn is_share(result: &DeviceRequestAllocationResult, has_shares: bool) -> bool {
    has_shares && result.share_id.is_some()
}

/// The results of a claim that take something away from others. Admin access takes nothing.
pub(super) fn results(claim: &ResourceClaim) -> impl Iterator<Item = &DeviceRequestAllocationResult> {
    let results = claim.status.allocation.iter().flat_map(|allocation| allocation.devices.results.iter());
    results.filter(|result| result.admin_access != Some(true))
}
