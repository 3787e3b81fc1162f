//! Request policies of consumable capacity (KEP-5075).

use std::collections::BTreeSet;

use super::node::Node;
use super::report::Report;
use crate::api::quantity::Quantity;
use crate::finding::{Code, Finding};
use crate::profile::Version;

const MOST_VALUES: usize = 10;

/// The policy of a capacity of this size.
pub(super) fn check(out: &mut Report<'_>, policy: &Node<'_, '_>, capacity: &Quantity) {
    let (values, range, default) = (policy.field("validValues"), policy.field("validRange"), policy.field("default"));
    if values.len() > 0 && range.is_set() {
        out.forbidden(policy.at, "a policy has either `validValues` or `validRange`, not both");
        return;
    }
    if values.len() == 0 && !range.is_set() {
        return;
    }
    let Some(usual) = default.quantity() else {
        out.required(default.at, "a default is needed");
        return;
    };
    if range.is_set() {
        check_range(out, &range, capacity, &usual);
    } else {
        check_values(out, &values, capacity, &usual);
    }
}

fn check_values(out: &mut Report<'_>, values: &Node<'_, '_>, capacity: &Quantity, usual: &Quantity) {
    let amounts: Vec<Quantity> = values.items().map(|value| value.quantity().unwrap_or_default()).collect();
    for (index, pair) in amounts.windows(2).enumerate() {
        if let [left, right] = pair
            && left > right
        {
            out.invalid(values.at.index(index.saturating_add(1)), "the values must ascend");
        }
    }
    if amounts.len() > MOST_VALUES {
        out.too_many(values.at, amounts.len(), MOST_VALUES);
    } else {
        for (index, amount) in amounts.iter().enumerate() {
            if amount > capacity {
                out.invalid(values.at.index(index), format!("`{amount}` is more than the capacity `{capacity}`"));
            }
        }
        // Values are told apart as whole numbers where fractions are not supported.
        let fractions = out.features().fractional_capacity_range;
        let mut seen = BTreeSet::new();
        for (index, amount) in amounts.iter().enumerate() {
            let is_new = if fractions {
                amounts.iter().take(index).all(|earlier| earlier != amount)
            } else {
                seen.insert(amount.value_rounded_up())
            };
            if !is_new {
                out.duplicate(values.at.index(index), &amount.to_string());
            }
        }
    }
    // The reference forgets to look for the default where there are too many values.
    if amounts.len() > MOST_VALUES || !amounts.contains(usual) {
        out.invalid(values.at, format!("the default `{usual}` is not among the values"));
    }
}

fn check_range(out: &mut Report<'_>, range: &Node<'_, '_>, capacity: &Quantity, usual: &Quantity) {
    let (min_node, max_node, step_node) = (range.field("min"), range.field("max"), range.field("step"));
    let Some(min) = min_node.quantity() else {
        out.required(min_node.at, "a minimum is needed");
        return;
    };
    if &min > capacity {
        out.invalid(min_node.at, format!("`{min}` is more than the capacity `{capacity}`"));
    }
    if usual < &min {
        out.invalid(min_node.at, format!("the default `{usual}` is less than the minimum `{min}`"));
    }
    let max = max_node.quantity();
    if let Some(max) = &max {
        if &min > max {
            out.invalid(max_node.at, format!("the minimum `{min}` is more than the maximum `{max}`"));
        }
        if max > capacity {
            out.invalid(max_node.at, format!("`{max}` is more than the capacity `{capacity}`"));
        }
        if usual > max {
            out.invalid(max_node.at, format!("the default `{usual}` is more than the maximum `{max}`"));
        }
    }
    let Some(step) = step_node.quantity() else { return };
    if min.checked_add(&step).is_none_or(|first| &first > capacity) {
        let message = format!("one step of `{step}` above the minimum is more than the capacity `{capacity}`");
        out.invalid(step_node.at, message);
    }
    let is_fractional = |amount: &Quantity| amount.milli_rounded_up() != amount.value_rounded_up().saturating_mul(1000);
    let in_thousandths = out.features().fractional_capacity_range
        && [Some(&min), max.as_ref(), Some(&step), Some(usual)].into_iter().flatten().any(is_fractional);
    let whole = |amount: &Quantity| if in_thousandths { amount.milli_rounded_up() } else { amount.value_rounded_up() };
    if out.profile.version >= Version::V1_37 && step.signum() <= 0 {
        out.invalid(step_node.at, "must be greater than zero");
        return;
    }
    if whole(&step) == 0 {
        let message = "a step of zero makes the API server's validation crash";
        out.note(Finding::new(Code::ValidateCrash, step_node.at, message).with_hint("leave `step` out"));
        return;
    }
    for amount in std::iter::once(usual).chain(max.as_ref()) {
        let above = whole(amount).wrapping_sub(whole(&min));
        if above.wrapping_rem(whole(&step)) != 0 {
            out.invalid(step_node.at, format!("`{amount}` cannot be reached from `{min}` in steps of `{step}`"));
        }
    }
}
