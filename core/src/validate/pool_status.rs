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

/// A request that is created.
pub(super) fn create(out: &mut Report<'_>, request: &Node<'_, '_>) {
    meta::check(out, request, Scope::Cluster);
    let spec = request.field("spec");
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

/// A request that is changed: its spec cannot be.
pub(super) fn update(out: &mut Report<'_>, request: &Node<'_, '_>, old: &Node<'_, '_>) {
    meta::update(out, request, old);
    meta::recheck(out, request);
    let spec = request.field("spec");
    if !same(&POOL_STATUS_SPEC, spec.value, old.peek("spec")) {
        out.immutable(spec.at);
    }
}

/// A request whose status is written: once.
pub(super) fn update_status(out: &mut Report<'_>, request: &Node<'_, '_>, old: &Node<'_, '_>) {
    meta::update(out, request, old);
    let status = request.field("status");
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
    } else if count.int() < 0 {
        out.invalid(count.at, "must not be negative");
    }
    out.list(&status.field("pools"), MOST_POOLS, pool);
    let conditions = status.field("conditions");
    if conditions.len() > MOST_CONDITIONS {
        out.too_many(conditions.at, conditions.len(), MOST_CONDITIONS);
    }
    meta::conditions(out, &conditions);
}

fn pool(out: &mut Report<'_>, pool: &Node<'_, '_>) {
    names::driver(out, &pool.field("driver"));
    let name = pool.field("poolName");
    if name.text().is_empty() {
        out.required(name.at, "a pool name is needed");
    } else {
        pool_name(out, &name);
    }
    out.set_text(&pool.field("nodeName"), names::subdomain);
    let slices = pool.field("resourceSliceCount");
    if slices.is_set() && slices.int() < 1 {
        out.invalid(slices.at, "must be greater than zero");
    }
    for name in ["generation", "totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"] {
        let number = pool.field(name);
        if number.int() < 0 {
            out.invalid(number.at, "must not be negative");
        }
    }
    let error = pool.field("validationError");
    if error.text().len() > LONGEST_ERROR {
        out.too_long(error.at, error.text().len(), LONGEST_ERROR);
    }
}

/// A pool name where it is optional: an empty one is no name.
fn pool_name(out: &mut Report<'_>, name: &Node<'_, '_>) {
    match name.value {
        Value::String(text) if text.is_empty() => out.invalid(name.at, "must not be empty"),
        Value::Null => {}
        _ => names::pool(out, name),
    }
}
