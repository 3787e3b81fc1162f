//! ResourcePoolStatusRequests (KEP-5677).

use serde_json::Value;

use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::Report;
use super::schema::{POOL_STATUS_SPEC, POOL_STATUS_STATUS, same};

const MOST_POOLS: usize = 1000;
const MOST_CONDITIONS: usize = 10;
const HIGHEST_LIMIT: i64 = 1000;
const LONGEST_ERROR: usize = 256;

/// A request that is created, or changed: its spec cannot be.
pub(super) fn check(out: &mut Report<'_>, request: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    meta::check_parts(out, request, old, Scope::Cluster);
    let spec = request.field("spec");
    if let Some(old) = old {
        if !same(&POOL_STATUS_SPEC, spec.value, old.peek("spec")) {
            out.immutable(spec.at);
        }
        return;
    }
    names::driver(out, &spec.field("driver"));
    pool_name(out, &spec.field("poolName"));
    let partition = spec.field("defaultPartitionTypeAttribute");
    if partition.is_set() {
        names::fully_qualified(out, &partition);
    }
    let limit = spec.field("limit");
    if limit.is_set() && !(1..=HIGHEST_LIMIT).contains(&limit.int()) {
        out.invalid(limit.at, format!("must be from 1 to {HIGHEST_LIMIT}"));
    }
}

/// The status of a request, which is written once.
pub(super) fn check_status(out: &mut Report<'_>, status: &Node<'_, '_>, old: &Node<'_, '_>) {
    if old.has("status") {
        if !same(&POOL_STATUS_STATUS, status.value, old.peek("status")) {
            out.immutable(status.at);
        }
        return;
    }
    if !status.is_set() {
        return;
    }
    let count = status.field("poolCount");
    if !count.is_set() {
        out.required(count.at, "the number of pools is needed");
    }
    out.not_negative(&count);
    out.list(&status.field("pools"), MOST_POOLS, pool);
    let conditions = status.field("conditions");
    out.most(&conditions, MOST_CONDITIONS);
    meta::conditions(out, &conditions);
}

fn pool(out: &mut Report<'_>, pool: &Node<'_, '_>) {
    names::driver(out, &pool.field("driver"));
    let name = pool.field("poolName");
    names::pool(out, &name);
    out.set_text(&pool.field("nodeName"), names::subdomain);
    let slices = pool.field("resourceSliceCount");
    if slices.is_set() && slices.int() < 1 {
        out.invalid(slices.at, "must be greater than zero");
    }
    not_negative(
        out,
        pool,
        &["generation", "totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"],
    );
    for part in pool.field("partitionSummary").items() {
        for name in ["attribute", "type"] {
            let text = part.field(name);
            if text.text().is_empty() {
                out.required(text.at, "a value is needed");
            }
        }
        numbers(out, &part, &["total", "allocatable"]);
    }
    let shareable = pool.field("shareableSummary");
    if shareable.is_set() {
        numbers(out, &shareable, &["fullyAvailableDevices", "partiallyAvailableDevices"]);
    }
    out.longest(&pool.field("validationError"), LONGEST_ERROR);
}

/// Numbers that are needed, none of them negative.
fn numbers(out: &mut Report<'_>, of: &Node<'_, '_>, names: &[&str]) {
    for name in names {
        if !of.has(name) {
            out.required(of.at.field(name), "a number is needed");
        }
    }
    not_negative(out, of, names);
}

fn not_negative(out: &mut Report<'_>, of: &Node<'_, '_>, names: &[&str]) {
    names.iter().for_each(|name| out.not_negative(&of.field(name)));
}

/// A pool name where it is optional: an empty one is no name.
fn pool_name(out: &mut Report<'_>, name: &Node<'_, '_>) {
    match name.value {
        Value::String(text) if text.is_empty() => out.invalid(name.at, "must not be empty"),
        Value::Null => {}
        _ => names::pool(out, name),
    }
}
