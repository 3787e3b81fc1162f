//! Consumable capacity: what a request consumes of a device, and whether that is left (KEP-5075).

use std::borrow::Cow;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::pools::NodeDevice;
use crate::api::claim::CapacityRequirements;
use crate::api::quantity::{Format, Quantity, divide, multiply};
use crate::api::slice::{CapacityRequestPolicy, CapacityRequestPolicyRange, Counter, Device, DeviceCapacity};
use crate::profile::{Profile, Version};

/// How amounts are computed; versions differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rounding {
    /// Ranges are counted in thousandths where all bounds can be written in them (feature `DRAFractionalCapacityRange`); else in whole
    /// numbers, each bound rounded up first.
    pub has_fractions: bool,
    /// From 1.37 on: an amount that is negative or cannot be counted in 64 bits ends the attempt ([`problem`]), and a rounded amount is
    /// written in the style of the step.
    pub is_checked: bool,
    /// From 1.38 on: the driver's name may stand before a capacity, or be left out.
    pub ignores_driver: bool,
}

impl Rounding {
    /// What a Kubernetes does.
    pub fn of(profile: &Profile) -> Self {
        Self {
            has_fractions: profile.features.fractional_capacity_range,
            is_checked: profile.version >= Version::V1_37,
            ignores_driver: profile.version.is_after_1_37(),
        }
    }
}

/// A device's capacities by qualified name.
pub type Capacities = BTreeMap<String, DeviceCapacity>;

/// A request with the names that the device has for its capacities. Both spellings of one name together mean nothing.
pub(super) fn spelt<'r>(
    request: Option<&'r CapacityRequirements>,
    device: &NodeDevice<'_>,
    rounding: Rounding,
) -> Option<Cow<'r, CapacityRequirements>> {
    let request = request?;
    let (has, driver) = (|name: &str| device.device.capacity.contains_key(name), &device.slice.spec.driver);
    let other = |name: &str| match name.split_once('/') {
        Some((domain, id)) => (domain == &**driver).then(|| id.to_owned()),
        None => Some(format!("{driver}/{name}")),
    };
    let meant = |name: &String| {
        let is_meant = |other: &String| has(other) && !request.requests.contains_key(other);
        if has(name) { None } else { other(name).filter(is_meant) }
    };
    if !rounding.ignores_driver || request.requests.keys().all(|name| meant(name).is_none()) {
        return Some(Cow::Borrowed(request));
    }
    let mut spelt = CapacityRequirements { requests: BTreeMap::new(), ..request.clone() };
    for (name, amount) in &request.requests {
        spelt.requests.insert(meant(name).unwrap_or_else(|| name.clone()), amount.clone());
    }
    Some(Cow::Owned(spelt))
}

/// Amounts in the order of a device's capacities.
pub(super) type Amounts = SmallVec<[Quantity; 1]>;

/// What a request consumes of each capacity of a device, before any check: the amount asked for, rounded as the
/// policy says; the policy's default, or the whole capacity, where none is asked for.
///
/// Names that the device does not have are left out.
pub fn consumed(
    request: Option<&CapacityRequirements>,
    capacities: &Capacities,
    rounding: Rounding,
) -> BTreeMap<String, Quantity> {
    named(&amounts(request, capacities, rounding), capacities)
}

/// The amounts that a request consumes, if the device could ever grant them.
///
/// `None` when the request names a capacity that the device does not have, or an amount breaks the policy.
pub fn grantable(
    request: Option<&CapacityRequirements>,
    device: &Device,
    rounding: Rounding,
) -> Option<BTreeMap<String, Quantity>> {
    grantable_amounts(request, device, rounding).map(|amounts| named(&amounts, &device.capacity))
}

/// Why an amount that a request consumes of a device cannot be computed, in the reference's words; devices that lack a capacity asked for
/// are not looked at. Up to 1.36 there is no such reason.
pub(super) fn problem(request: Option<&CapacityRequirements>, device: &Device, rounding: Rounding) -> Option<String> {
    let capacities = &device.capacity;
    let asked = |name: &String| request.and_then(|request| request.requests.get(name));
    if !rounding.is_checked || !is_known(request, device) {
        return None;
    }
    capacities.iter().find_map(|(name, capacity)| {
        let range = capacity.request_policy.as_deref().and_then(|policy| policy.valid_range.as_ref());
        let cannot = asked(name).zip(range).and_then(|(asked, range)| not_representable(asked, range, rounding));
        let problem = cannot
            .map(|why| format!("capacity request cannot be represented in the device's range arithmetic: {why}"))
            .or_else(|| {
                let amount = of_capacity(asked(name), capacity, rounding);
                (amount.signum() < 0).then(|| "capacity value is negative".to_owned())
            });
        problem.map(|problem| format!("capacity \"{name}\": {problem}"))
    })
}

fn not_representable(asked: &Quantity, range: &CapacityRequestPolicyRange, rounding: Rounding) -> Option<String> {
    let (min, step) = (range.min.as_ref()?, range.step.as_ref()?);
    if asked < min {
        return None;
    }
    let unit = Unit::of(range, rounding);
    let largest = Quantity::from_i64(i64::MAX, Format::DecimalSi);
    if unit == Unit::Thousandth && !is_in_thousandths(asked) {
        return Some(format!("request {asked} is not a representable milli value"));
    }
    if unit == Unit::One && *asked > largest {
        return Some(format!("request {asked} exceeds MaxInt64"));
    }
    let limit = if unit == Unit::One { "MaxInt64" } else { "the milli-value range" };
    let is_checked = unit == Unit::Thousandth || min.signum() >= 0;
    let passes = unit.round(asked, min, step) > i128::from(i64::MAX);
    (is_checked && passes).then(|| format!("rounding request {asked} up to the next step passes {limit}"))
}

/// Amounts by name.
pub(super) fn named(amounts: &[Quantity], capacities: &Capacities) -> BTreeMap<String, Quantity> {
    let mut named = BTreeMap::new();
    for (name, amount) in capacities.keys().zip(amounts) {
        named.insert(name.clone(), amount.clone());
    }
    named
}

/// [`consumed`] without the names.
pub(super) fn amounts(request: Option<&CapacityRequirements>, capacities: &Capacities, rounding: Rounding) -> Amounts {
    let asked = |name: &String| request.and_then(|request| request.requests.get(name));
    capacities.iter().map(|(name, capacity)| of_capacity(asked(name), capacity, rounding)).collect()
}

/// [`grantable`] without the names.
pub(super) fn grantable_amounts(
    request: Option<&CapacityRequirements>,
    device: &Device,
    rounding: Rounding,
) -> Option<Amounts> {
    let capacities = &device.capacity;
    let amounts = is_known(request, device).then(|| amounts(request, capacities, rounding))?;
    let is_allowed = |(amount, capacity): (&Quantity, &DeviceCapacity)| match &capacity.request_policy {
        Some(policy) => is_allowed(amount, policy, rounding),
        None => true,
    };
    amounts.iter().zip(capacities.values()).all(is_allowed).then_some(amounts)
}

/// Whether the device has every capacity that the request names, by itself or by drawing from a counter (KEP-5941).
fn is_known(request: Option<&CapacityRequirements>, device: &Device) -> bool {
    let has = |name: &String| device.capacity.contains_key(name) || device.capacity_keys().any(|key| key == name);
    request.is_none_or(|request| request.requests.keys().all(has))
}

/// What a device draws from counters because of a request, by capacity (KEP-5941): what is consumed of the device's own capacity of that
/// name, else what is asked for, rounded as the counter's policy says; the policy's default, or the whole counter, where nothing is
/// asked for. `None` where the policy of a counter does not allow the amount.
pub(super) fn requested<'c>(
    request: Option<&CapacityRequirements>,
    device: &Device,
    rounding: Rounding,
    counter: impl Fn(&str, &str) -> Option<&'c Counter>,
) -> Option<BTreeMap<String, Quantity>> {
    let mut drawn: BTreeMap<String, Quantity> = BTreeMap::new();
    for consumption in &device.consumes_counters {
        for (name, from) in &consumption.counters {
            let Some(from) = &from.value_from else { continue };
            let counter = counter(&consumption.counter_set, name)?;
            let asked = request.and_then(|request| request.requests.get(&from.capacity_key));
            let amount = match (drawn.get(&from.capacity_key), device.capacity.get(&from.capacity_key)) {
                (Some(known), _) => known.clone(),
                (None, Some(own)) => amount(asked, &own.value, own.request_policy.as_deref(), rounding),
                (None, None) => amount(asked, &counter.value, counter.request_policy.as_deref(), rounding),
            };
            if counter.request_policy.as_ref().is_some_and(|policy| !is_allowed(&amount, policy, rounding)) {
                return None;
            }
            drawn.insert(from.capacity_key.clone(), amount);
        }
    }
    Some(drawn)
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

fn of_capacity(asked: Option<&Quantity>, capacity: &DeviceCapacity, rounding: Rounding) -> Quantity {
    amount(asked, &capacity.value, capacity.request_policy.as_deref(), rounding)
}

fn amount(
    asked: Option<&Quantity>,
    whole: &Quantity,
    policy: Option<&CapacityRequestPolicy>,
    rounding: Rounding,
) -> Quantity {
    match (asked, policy) {
        (None, policy) => policy.and_then(|policy| policy.default.clone()).unwrap_or_else(|| whole.clone()),
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
    unit.quantity(unit.round(asked, min, step), if rounding.is_checked { step.format() } else { Format::BinarySi })
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
        let in_thousandths = rounding.has_fractions && has_step && bounds.all(is_in_thousandths);
        if in_thousandths { Self::Thousandth } else { Self::One }
    }

    fn count(self, quantity: &Quantity) -> i128 {
        i128::from(match self {
            Self::One => quantity.value_rounded_up(),
            Self::Thousandth => quantity.milli_rounded_up(),
        })
    }

    /// The smallest whole number of steps from the least amount on that is enough.
    fn round(self, asked: &Quantity, min: &Quantity, step: &Quantity) -> i128 {
        let (asked, step, min) = (self.count(asked), self.count(step), self.count(min));
        let distance = asked.saturating_sub(min);
        let (steps, rest) = if step == 0 { (0, 0) } else { divide(distance, step) };
        let steps = if rest == 0 { steps } else { steps.saturating_add(1) };
        min.saturating_add(multiply(step, steps))
    }

    fn quantity(self, count: i128, format: Format) -> Quantity {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        match self {
            Self::One => Quantity::from_i64(count, format),
            Self::Thousandth => Quantity::from_milli(count, format),
        }
    }
}

/// Whether an amount is a whole number of thousandths, few enough to be counted.
fn is_in_thousandths(amount: &Quantity) -> bool {
    Quantity::from_milli(amount.milli_rounded_up(), amount.format()) == *amount
}

/// A step of zero allows every amount; the API server refuses it.
fn is_multiple(distance: i128, step: i128) -> bool {
    step == 0 || divide(distance, step).1 == 0
}

/// Whether a policy allows an amount.
pub(super) fn is_allowed(amount: &Quantity, policy: &CapacityRequestPolicy, rounding: Rounding) -> bool {
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
        let fractions = Rounding { has_fractions: true, is_checked: true, ..Rounding::default() };
        assert_eq!(round_in_range(&asked, &range, fractions), Quantity::parse("750m").unwrap());
        // Without it all bounds are rounded up: one step of 1 from 1.
        assert_eq!(round_in_range(&asked, &range, Rounding::default()), Quantity::parse("1").unwrap());
        let policy = CapacityRequestPolicy { valid_range: Some(range), ..Default::default() };
        assert!(is_allowed(&Quantity::parse("750m").unwrap(), &policy, fractions));
        assert!(!is_allowed(&Quantity::parse("600m").unwrap(), &policy, fractions));
    }
    #[test]
    fn amounts_beyond_64_bits_are_an_error_from_1_37_on() {
        let range = |min, step| CapacityRequestPolicyRange { min: text(min), step: text(step), ..Default::default() };
        let capacity = |range| {
            let policy = CapacityRequestPolicy { valid_range: Some(range), ..Default::default() };
            let capacity = DeviceCapacity { request_policy: Some(Box::new(policy)), ..Default::default() };
            BTreeMap::from([("memory".to_owned(), capacity)])
        };
        let checked = Rounding { is_checked: true, ..Rounding::default() };
        let problem = |asked: &str, capacities: &Capacities, rounding| {
            let requests = BTreeMap::from([("memory".to_owned(), text(asked).unwrap())]);
            let device = Device { capacity: capacities.clone().into(), ..Default::default() };
            problem(Some(&CapacityRequirements { requests, ..Default::default() }), &device, rounding)
        };
        let steps = capacity(range("1", "4611686018427387904"));
        let reason = "capacity \"memory\": capacity request cannot be represented in the device's range arithmetic: ";
        let expected = |why: &str| Some(format!("{reason}{why}"));
        assert_eq!(problem("9E", &steps, checked), expected("rounding request 9E up to the next step passes MaxInt64"));
        assert_eq!(problem("9E", &steps, Rounding::default()), None);
        assert_eq!(problem("1e19", &steps, checked), expected("request 10e18 exceeds MaxInt64"));
        assert_eq!(problem("4E", &steps, checked), None);
        let negative = capacity(range("-5", "1"));
        assert_eq!(
            problem("-3", &negative, checked).as_deref(),
            Some("capacity \"memory\": capacity value is negative")
        );
        let finer = Rounding { has_fractions: true, is_checked: true, ..Rounding::default() };
        let expected = expected("request 1u is not a representable milli value");
        assert_eq!(problem("1u", &capacity(range("0", "1m")), finer), expected);
    }
}
