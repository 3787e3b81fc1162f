//! Consumable capacity: what a request consumes of a device, and whether that is left (KEP-5075).

use std::collections::BTreeMap;

use crate::api::claim::CapacityRequirements;
use crate::api::quantity::{Format, Quantity};
use crate::api::slice::{CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity};
use crate::profile::Features;

/// In which unit ranges are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// In whole numbers, each bound rounded up first.
    Whole,
    /// In thousandths where all bounds can be written in them (feature `DRAFractionalCapacityRange`), else in whole numbers.
    Fractions,
}

impl Rounding {
    /// What features ask for.
    pub fn of(features: &Features) -> Self {
        if features.fractional_capacity_range { Self::Fractions } else { Self::Whole }
    }
}

/// A device's capacities by qualified name.
pub type Capacities = BTreeMap<String, DeviceCapacity>;

/// Amounts in the order of a device's capacities.
pub(super) type Amounts = Vec<Quantity>;

/// What a request consumes of each capacity of a device, before any check: the amount asked for, rounded as the
/// policy says; the policy's default, or the whole capacity, where none is asked for.
///
/// Names that the device does not have are left out.
pub fn consumed(
    request: Option<&CapacityRequirements>,
    capacities: &Capacities,
    rounding: Rounding,
) -> BTreeMap<String, Quantity> {
    named(amounts(request, capacities, rounding), capacities)
}

/// The amounts that a request consumes, if the device could ever grant them.
///
/// `None` when the request names a capacity that the device does not have, or an amount breaks the policy.
pub fn grantable(
    request: Option<&CapacityRequirements>,
    capacities: &Capacities,
    rounding: Rounding,
) -> Option<BTreeMap<String, Quantity>> {
    grantable_amounts(request, capacities, rounding).map(|amounts| named(amounts, capacities))
}

/// Amounts by name.
pub(super) fn named(amounts: Amounts, capacities: &Capacities) -> BTreeMap<String, Quantity> {
    capacities.keys().cloned().zip(amounts).collect()
}

/// [`consumed`] without the names.
pub(super) fn amounts(request: Option<&CapacityRequirements>, capacities: &Capacities, rounding: Rounding) -> Amounts {
    let asked = |name: &String| request.and_then(|request| request.requests.get(name));
    capacities.iter().map(|(name, capacity)| amount(asked(name), capacity, rounding)).collect()
}

/// [`grantable`] without the names.
pub(super) fn grantable_amounts(
    request: Option<&CapacityRequirements>,
    capacities: &Capacities,
    rounding: Rounding,
) -> Option<Amounts> {
    let is_known = request.is_none_or(|request| request.requests.keys().all(|name| capacities.contains_key(name)));
    let amounts = is_known.then(|| amounts(request, capacities, rounding))?;
    let is_allowed = |(amount, capacity): (&Quantity, &DeviceCapacity)| match &capacity.request_policy {
        Some(policy) => is_allowed(amount, policy, rounding),
        None => true,
    };
    amounts.iter().zip(capacities.values()).all(is_allowed).then_some(amounts)
}

/// [`is_left`] for amounts in order: of claims in the cluster, by name, and of picks.
pub(super) fn are_left(
    amounts: &[Quantity],
    capacities: &Capacities,
    in_use: Option<&BTreeMap<String, Quantity>>,
    picked: Option<&[Quantity]>,
) -> bool {
    capacities.iter().zip(amounts).enumerate().all(|(position, ((name, capacity), amount))| {
        let in_use = in_use.and_then(|in_use| in_use.get(name));
        let picked = picked.and_then(|picked| picked.get(position));
        if in_use.is_none() && picked.is_none() {
            return *amount <= capacity.value;
        }
        let others = in_use.into_iter().chain(picked);
        others.fold(amount.clone(), |sum, other| sum.saturating_add(other)) <= capacity.value
    })
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

fn amount(asked: Option<&Quantity>, capacity: &DeviceCapacity, rounding: Rounding) -> Quantity {
    let policy = capacity.request_policy.as_deref();
    match (asked, policy) {
        (None, policy) => policy.and_then(|policy| policy.default.clone()).unwrap_or_else(|| capacity.value.clone()),
        (Some(asked), None) => asked.clone(),
        (Some(asked), Some(policy)) => rounded_up(asked, policy, rounding),
    }
}

fn rounded_up(asked: &Quantity, policy: &CapacityRequestPolicy, rounding: Rounding) -> Quantity {
    match &policy.valid_range {
        Some(range) if range.min.is_some() => round_in_range(asked, range, rounding),
        _ => policy.valid_values.iter().find(|value| asked <= *value).unwrap_or(asked).clone(),
    }
}

fn round_in_range(asked: &Quantity, range: &CapacityRequestPolicyRange, rounding: Rounding) -> Quantity {
    let Some(min) = &range.min else {
        return asked.clone();
    };
    if asked < min {
        return min.clone();
    }
    let Some(step) = &range.step else {
        return asked.clone();
    };
    let unit = Unit::of(range, rounding);
    let (asked, step, min) = (unit.count(asked), unit.count(step), unit.count(min));
    let steps = asked.saturating_sub(min).checked_div(step).unwrap_or(0);
    let steps = if is_multiple(asked.saturating_sub(min), step) { steps } else { steps.saturating_add(1) };
    unit.quantity(min.saturating_add(step.saturating_mul(steps)))
}

/// What a range is counted in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    One,
    Thousandth,
}

impl Unit {
    fn of(range: &CapacityRequestPolicyRange, rounding: Rounding) -> Self {
        let mut bounds = [&range.min, &range.max, &range.step].into_iter().flatten();
        let has_step = range.step.as_ref().is_none_or(|step| step.milli_rounded_up() >= 1);
        let in_thousandths = rounding == Rounding::Fractions && has_step && bounds.all(is_in_thousandths);
        if in_thousandths { Self::Thousandth } else { Self::One }
    }

    fn count(self, quantity: &Quantity) -> i128 {
        i128::from(match self {
            Self::One => quantity.value_rounded_up(),
            Self::Thousandth => quantity.milli_rounded_up(),
        })
    }

    fn quantity(self, count: i128) -> Quantity {
        let whole = Quantity::from_i64(i64::try_from(count).unwrap_or(i64::MAX), Format::BinarySi);
        match self {
            Self::One => whole,
            Self::Thousandth => Quantity::parse(&format!("{count}m")).unwrap_or(whole),
        }
    }
}

/// Whether an amount is a whole number of thousandths, few enough to be counted.
fn is_in_thousandths(amount: &Quantity) -> bool {
    let text = format!("{}m", amount.milli_rounded_up());
    Quantity::parse(&text).is_ok_and(|exact| exact == *amount)
}

/// A step of zero allows every amount; the API server refuses it.
fn is_multiple(distance: i128, step: i128) -> bool {
    distance.checked_rem(step).is_none_or(|rest| rest == 0)
}

fn is_allowed(amount: &Quantity, policy: &CapacityRequestPolicy, rounding: Rounding) -> bool {
    if policy.default.as_ref() == Some(amount) {
        return true;
    }
    match &policy.valid_range {
        Some(range) => {
            let is_below = range.max.as_ref().is_none_or(|max| amount <= max);
            let unit = Unit::of(range, rounding);
            let min = range.min.as_ref().map_or(0, |min| unit.count(min));
            let is_step = |step| is_multiple(unit.count(amount).saturating_sub(min), unit.count(step));
            let on_step = range.step.as_ref().is_none_or(is_step);
            is_below && on_step
        }
        None => policy.valid_values.is_empty() || policy.valid_values.contains(amount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<Quantity> {
        Some(Quantity::parse(text).unwrap())
    }

    #[test]
    fn fractions_in_a_range_are_counted_in_thousandths_where_the_feature_is_on() {
        let range =
            CapacityRequestPolicyRange { min: text("500m"), max: text("2"), step: text("250m"), ..Default::default() };
        let asked = Quantity::parse("600m").unwrap();
        assert_eq!(round_in_range(&asked, &range, Rounding::Fractions), Quantity::parse("750m").unwrap());
        // Without it all bounds are rounded up: one step of 1 from 1.
        assert_eq!(round_in_range(&asked, &range, Rounding::Whole), Quantity::parse("1").unwrap());
        let policy = CapacityRequestPolicy { valid_range: Some(range), ..Default::default() };
        assert!(is_allowed(&Quantity::parse("750m").unwrap(), &policy, Rounding::Fractions));
        assert!(!is_allowed(&Quantity::parse("600m").unwrap(), &policy, Rounding::Fractions));
    }
}
