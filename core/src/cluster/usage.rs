//! What is taken of each device, kept up to date while claims change.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::api::claim::DeviceRequestAllocationResult;
use crate::api::quantity::Quantity;

/// What is taken of one device.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Usage {
    /// Results that hold the device as a whole. More than one only if claims contradict each other.
    pub(crate) whole: u32,
    /// Results that hold a share.
    pub(crate) shares: u32,
    /// Capacity taken by all shares together.
    pub(crate) consumed: BTreeMap<String, Quantity>,
    /// What results that hold the device as a whole draw from counters because of their requests, by capacity (KEP-5941).
    pub(crate) drawn: BTreeMap<String, Quantity>,
    /// Whether it is not to be given out, in one question.
    pub(crate) is_barred: bool,
}

impl Usage {
    /// Whether nothing is taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole == 0 && self.shares == 0 && self.consumed.is_empty()
    }

    /// Whether a result holds the device as a whole.
    pub(crate) fn is_taken(&self) -> bool {
        self.whole > 0
    }

    /// Whether the device holds its shared counters.
    pub(crate) fn is_allocated(&self) -> bool {
        !self.is_empty()
    }

    /// Adds consumed capacity.
    pub(crate) fn consume(&mut self, amounts: &BTreeMap<String, Quantity>) {
        add(&mut self.consumed, amounts);
    }

    /// What all results together draw from counters because of their requests, by capacity; other capacities are in it, too.
    pub(crate) fn requested(&self) -> Cow<'_, BTreeMap<String, Quantity>> {
        if self.drawn.is_empty() {
            return Cow::Borrowed(&self.consumed);
        }
        let mut sum = self.drawn.clone();
        add(&mut sum, &self.consumed);
        Cow::Owned(sum)
    }

    /// Takes one result into account.
    pub(crate) fn take(&mut self, result: &DeviceRequestAllocationResult, has_shares: bool) {
        if is_share(result, has_shares) {
            self.shares = self.shares.saturating_add(1);
            self.consume(&result.consumed_capacity);
        } else {
            self.whole = self.whole.saturating_add(1);
            add(&mut self.drawn, &result.consumed_capacity);
        }
    }

    /// Undoes [`Usage::take`] of an equal result.
    pub(crate) fn release(&mut self, result: &DeviceRequestAllocationResult, has_shares: bool) {
        if !is_share(result, has_shares) {
            self.whole = self.whole.saturating_sub(1);
            subtract(&mut self.drawn, &result.consumed_capacity);
            return;
        }
        self.shares = self.shares.saturating_sub(1);
        subtract(&mut self.consumed, &result.consumed_capacity);
    }
}

fn add(sums: &mut BTreeMap<String, Quantity>, amounts: &BTreeMap<String, Quantity>) {
    for (name, amount) in amounts {
        match sums.get_mut(name) {
            Some(sum) => *sum = sum.saturating_add(amount),
            None => drop(sums.insert(name.clone(), amount.clone())),
        }
    }
}

/// Entries stay until all of them are zero.
fn subtract(sums: &mut BTreeMap<String, Quantity>, amounts: &BTreeMap<String, Quantity>) {
    for (name, amount) in amounts {
        if let Some(sum) = sums.get_mut(name) {
            *sum = sum.saturating_sub(amount);
        }
    }
    if sums.values().all(Quantity::is_zero) {
        sums.clear();
    }
}

/// Without the feature every result holds its device as a whole.
fn is_share(result: &DeviceRequestAllocationResult, has_shares: bool) -> bool {
    has_shares && result.share_id.is_some()
}
