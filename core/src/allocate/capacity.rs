//! Consumable capacity: what a request consumes of a device, and whether that is left (KEP-5075).

use std::collections::BTreeMap;

use crate::api::claim::CapacityRequirements;
use crate::api::quantity::{Format, Quantity};
use crate::api::slice::{CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity};

/// A device's capacities by qualified name.
pub type Capacities = BTreeMap<String, DeviceCapacity>;

/// What a request consumes of each capacity of a device, before any check: the amount asked for, rounded as the
/// policy says; the policy's default, or the whole capacity, where none is asked for.
///
/// Names that the device does not have are left out.
pub fn consumed(request: Option<&CapacityRequirements>, capacities: &Capacities) -> BTreeMap<String, Quantity> {
    let amount = |(name, capacity): (&String, &DeviceCapacity)| {
        let asked = request.and_then(|request| request.requests.get(name));
        (name.clone(), amount(asked, capacity))
    };
    capacities.iter().map(amount).collect()
}

/// The amounts that a request consumes, if the device could ever grant them.
///
/// `None` when the request names a capacity that the device does not have, or an amount breaks the policy.
pub fn grantable(
    request: Option<&CapacityRequirements>,
    capacities: &Capacities,
) -> Option<BTreeMap<String, Quantity>> {
    let is_known = request.is_none_or(|request| request.requests.keys().all(|name| capacities.contains_key(name)));
    let amounts = is_known.then(|| consumed(request, capacities))?;
    let is_allowed = |(amount, capacity): (&Quantity, &DeviceCapacity)| match &capacity.request_policy {
        Some(policy) => is_allowed(amount, policy),
        None => true,
    };
    amounts.values().zip(capacities.values()).all(is_allowed).then_some(amounts)
}

/// Whether the amounts are left, given what is consumed already.
pub fn is_left<'a>(
    amounts: &BTreeMap<String, Quantity>,
    capacities: &Capacities,
    taken: impl IntoIterator<Item = &'a BTreeMap<String, Quantity>> + Clone,
) -> bool {
    capacities.iter().all(|(name, capacity)| {
        let mut sum = amounts.get(name).cloned().unwrap_or_default();
        for others in taken.clone() {
            if let Some(other) = others.get(name) {
                sum = sum.saturating_add(other);
            }
        }
        sum <= capacity.value
    })
}

fn amount(asked: Option<&Quantity>, capacity: &DeviceCapacity) -> Quantity {
    let policy = capacity.request_policy.as_deref();
    match (asked, policy) {
        (None, policy) => policy.and_then(|policy| policy.default.clone()).unwrap_or_else(|| capacity.value.clone()),
        (Some(asked), None) => asked.clone(),
        (Some(asked), Some(policy)) => rounded_up(asked, policy),
    }
}

fn rounded_up(asked: &Quantity, policy: &CapacityRequestPolicy) -> Quantity {
    match &policy.valid_range {
        Some(range) if range.min.is_some() => round_in_range(asked, range),
        _ => policy.valid_values.iter().find(|value| asked <= *value).unwrap_or(asked).clone(),
    }
}

fn round_in_range(asked: &Quantity, range: &CapacityRequestPolicyRange) -> Quantity {
    let Some(min) = &range.min else {
        return asked.clone();
    };
    if asked < min {
        return min.clone();
    }
    let Some(step) = &range.step else {
        return asked.clone();
    };
    // In whole numbers, each rounded up first.
    let (asked, step, min) = (whole(asked), whole(step), whole(min));
    let steps = asked.saturating_sub(min).checked_div(step).unwrap_or(0);
    let steps = if is_multiple(asked.saturating_sub(min), step) { steps } else { steps.saturating_add(1) };
    let rounded = min.saturating_add(step.saturating_mul(steps));
    Quantity::from_i64(i64::try_from(rounded).unwrap_or(i64::MAX), Format::BinarySi)
}

fn whole(quantity: &Quantity) -> i128 {
    i128::from(quantity.value_rounded_up())
}

/// A step of zero allows every amount; the API server refuses it.
fn is_multiple(distance: i128, step: i128) -> bool {
    distance.checked_rem(step).is_none_or(|rest| rest == 0)
}

fn is_allowed(amount: &Quantity, policy: &CapacityRequestPolicy) -> bool {
    if policy.default.as_ref() == Some(amount) {
        return true;
    }
    match &policy.valid_range {
        Some(range) => {
            let is_below = range.max.as_ref().is_none_or(|max| amount <= max);
            let min = range.min.as_ref().map_or(0, whole);
            let on_step =
                range.step.as_ref().is_none_or(|step| is_multiple(whole(amount).saturating_sub(min), whole(step)));
            is_below && on_step
        }
        None => policy.valid_values.is_empty() || policy.valid_values.contains(amount),
    }
}
