//! Attributes and counters of devices, also where several devices include them.

use super::names;
use super::node::Node;
use super::report::{Report, shown};
use super::request_policy;

/// Attributes and capacities of a device together.
pub(super) const MOST_ENTRIES: usize = 32;
/// Bytes of a text or version.
const LONGEST_VALUE: usize = 64;

const SCALARS: [&str; 4] = ["int", "bool", "string", "version"];
/// The fields of attributes that hold lists.
pub(super) const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];

/// An attribute: one value of one type.
pub(super) fn attribute(out: &mut Report<'_>, attribute: &Node<'_, '_>) {
    let set = SCALARS.iter().chain(&LISTS).filter(|name| attribute.has(name)).count();
    out.longest(&attribute.field("string"), LONGEST_VALUE);
    let one = attribute.field("version");
    if one.is_set() {
        version(out, &one);
    }
    for name in LISTS {
        let list = attribute.field(name);
        if list.is_set() && list.len() == 0 {
            out.invalid(list.at, "must not be empty");
        }
    }
    attribute.field("strings").items().for_each(|item| out.longest(&item, LONGEST_VALUE));
    attribute.field("versions").items().for_each(|item| version(out, &item));
    if set != 1 {
        out.invalid(attribute.at, "exactly one value is needed");
        out.hint(format!("set one of {}", SCALARS.join(", ")));
    }
}

/// A version; an item that is `null` is an empty one.
fn version(out: &mut Report<'_>, node: &Node<'_, '_>) {
    if !names::is_semver(node.text()) {
        out.invalid(node.at, format!("`{}` is not a semantic version", shown(node.text())));
        out.hint("write three numbers without `v`, for instance `1.2.3`");
    }
    out.longest(node, LONGEST_VALUE);
}

/// Counters that devices draw from.
pub(super) fn published(out: &mut Report<'_>, counters: &Node<'_, '_>) {
    for (key, value) in counters.entries() {
        let counter = Node { value, at: counters.at.key(key) };
        let policy = counter.field("requestPolicy");
        if policy.is_set() {
            request_policy::check(out, &policy, &counter.field("value").quantity().unwrap_or_default());
        }
    }
}

/// Amounts that a device draws: each is given, or comes from the request (KEP-5941).
pub(super) fn drawn(out: &mut Report<'_>, counters: &Node<'_, '_>) {
    for (key, value) in counters.entries() {
        let counter = Node { value, at: counters.at.key(key) };
        let from = counter.field("valueFrom");
        if !from.is_set() {
            continue;
        }
        let capacity = from.field("capacityKey");
        if counter.has("value") {
            out.invalid(counter.at, "only one of `value`, `valueFrom` can be set");
        }
        if capacity.text().is_empty() {
            out.required(capacity.at, "the capacity that requests ask for is needed");
        } else {
            names::qualified(out, capacity.text(), &capacity.at);
        }
    }
}
