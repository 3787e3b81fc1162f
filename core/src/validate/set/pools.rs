//! Slices of one pool must agree, or none of its devices is given out.

use std::collections::{BTreeMap, BTreeSet};

use super::json::{Json, entries, field, inner, kind, list, text};
use crate::finding::{Code, Finding, Severity};
use crate::gather::Gather;
use crate::near::did_you_mean;

/// A slice with its place in the set.
type Slice<'v> = (usize, &'v Json<'v>);

/// Looks at the newest generation of every pool; a pool is known by its driver and its name.
pub(super) fn check(objects: &[Json<'_>], all: &mut [Vec<Finding>]) {
    let mut pools: BTreeMap<(&str, &str), Vec<Slice<'_>>> = BTreeMap::new();
    for (number, object) in objects.iter().enumerate() {
        if kind(object) == "ResourceSlice"
            && let Some(spec) = field(object, "spec")
        {
            let pool = inner(spec, "pool.name").and_then(Json::as_str).unwrap_or_default();
            pools.entry((text(spec, "driver"), pool)).or_default().push((number, object));
        }
    }
    for ((driver, pool), slices) in pools {
        let newest = slices.iter().map(|(_, slice)| number(slice, "generation")).max().unwrap_or_default();
        let (current, outdated): (Vec<Slice<'_>>, Vec<Slice<'_>>) =
            slices.into_iter().partition(|(_, slice)| number(slice, "generation") == newest);
        let mut add = |at: usize, finding: Finding| {
            if let Some(findings) = all.get_mut(at) {
                findings.push(finding);
            }
        };
        for (at, _) in outdated {
            let message =
                format!("pool `{pool}` of `{driver}` has slices of generation {newest}, so this one is outdated");
            let finding = Finding::new(Code::LinkPoolDisagrees, "spec.pool.generation", message);
            add(at, finding.with_severity(Severity::Info));
        }
        counts(driver, pool, &current, &mut add);
        devices(&current, &mut add);
        counters(&current, &mut add);
    }
}

fn number(slice: &Json<'_>, name: &str) -> i64 {
    inner(slice, "spec.pool").and_then(|pool| field(pool, name)).and_then(Json::as_i64).unwrap_or_default()
}

fn counts(driver: &str, pool: &str, slices: &[Slice<'_>], add: &mut impl FnMut(usize, Finding)) {
    const AT: &str = "spec.pool.resourceSliceCount";
    let counts: BTreeSet<i64> = slices.iter().map(|(_, slice)| number(slice, "resourceSliceCount")).gather();
    let there = i64::try_from(slices.len()).unwrap_or(i64::MAX);
    for (at, slice) in slices {
        let count = number(slice, "resourceSliceCount");
        if counts.len() > 1 {
            let listed: Vec<String> = counts.iter().take(4).map(ToString::to_string).collect();
            let message =
                format!("the slices of pool `{pool}` of `{driver}` disagree on their number: {}", listed.join(", "));
            add(*at, Finding::new(Code::LinkPoolDisagrees, AT, message));
        } else if count < there {
            let message = format!("pool `{pool}` of `{driver}` has {there} slices, more than the {count} it speaks of");
            add(*at, Finding::new(Code::LinkPoolDisagrees, AT, message));
        } else if count > there {
            let message = format!("pool `{pool}` of `{driver}` has {there} of its {count} slices here");
            // A set of manifests may well hold only some.
            add(*at, Finding::new(Code::LinkPoolIncomplete, AT, message).with_severity(Severity::Info));
        }
    }
}

fn devices(slices: &[Slice<'_>], add: &mut impl FnMut(usize, Finding)) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, slice) in slices {
        for (number, device) in list(inner(slice, "spec.devices")).iter().enumerate() {
            let name = text(device, "name");
            match seen.get(name) {
                Some(other) if other != at => {
                    let message =
                        format!("another slice of the pool has a device `{name}` as well: the pool is invalid");
                    add(*at, Finding::new(Code::LinkPoolDisagrees, format!("spec.devices[{number}].name"), message));
                }
                _ => drop(seen.insert(name, *at)),
            }
        }
    }
}

fn counters(slices: &[Slice<'_>], add: &mut impl FnMut(usize, Finding)) {
    let mut sets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (at, slice) in slices {
        for (number, set) in list(inner(slice, "spec.sharedCounters")).iter().enumerate() {
            let counters = entries(field(set, "counters")).map(|(name, _)| name).gather();
            if sets.insert(text(set, "name"), counters).is_some() {
                let name = text(set, "name");
                let message = format!("the pool has another counter set `{name}`: the pool is invalid");
                add(*at, Finding::new(Code::LinkPoolDisagrees, format!("spec.sharedCounters[{number}].name"), message));
            }
        }
    }
    let there = i64::try_from(slices.len()).unwrap_or(i64::MAX);
    let is_complete = slices.iter().all(|(_, slice)| number(slice, "resourceSliceCount") <= there);
    for (at, slice) in slices {
        for (number, device) in list(inner(slice, "spec.devices")).iter().enumerate() {
            let basic = field(device, "basic").unwrap_or(device);
            let inside = if field(device, "basic").is_some() { ".basic" } else { "" };
            for (which, uses) in list(field(basic, "consumesCounters")).iter().enumerate() {
                let path = format!("spec.devices[{number}]{inside}.consumesCounters[{which}]");
                let name = text(uses, "counterSet");
                let Some(known) = sets.get(name) else {
                    let here = if is_complete { "" } else { " that is here" };
                    let end = if is_complete { ": the pool is invalid" } else { "" };
                    let message = format!("no slice of the pool{here} has a counter set `{name}`{end}");
                    let finding = Finding::new(Code::LinkUnknownCounter, format!("{path}.counterSet"), message);
                    let meant = did_you_mean(name, &mut sets.keys().copied());
                    let finding = meant.into_iter().fold(finding, Finding::with_hint);
                    add(*at, if is_complete { finding } else { finding.with_severity(Severity::Info) });
                    continue;
                };
                for (counter, _) in entries(field(uses, "counters")) {
                    if !known.contains(counter) {
                        let message = format!("counter set `{name}` has no counter `{counter}`: the pool is invalid");
                        let path = format!("{path}.counters[{counter}]");
                        let finding = Finding::new(Code::LinkUnknownCounter, path, message);
                        let meant = did_you_mean(counter, &mut known.iter().copied());
                        add(*at, meant.into_iter().fold(finding, Finding::with_hint));
                    }
                }
            }
        }
    }
}
