//! Whether two answers say the same.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::ask::{ClaimReport, PodReport, Report};

use crate::Contradiction;

/// How far two reports are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Everything that is said about Pods and claims.
    All,
    /// Everything but the words of reasons.
    Codes,
    /// Everything but reasons.
    Facts,
}

type Named<'r, T> = BTreeMap<(&'r str, &'r str), &'r T>;

fn pods(report: &Report) -> Named<'_, PodReport> {
    report.pods.iter().map(|pod| ((pod.namespace.as_str(), pod.name.as_str()), pod)).collect()
}

fn claims(report: &Report) -> Named<'_, ClaimReport> {
    report.claims.iter().map(|claim| ((claim.namespace.as_str(), claim.name.as_str()), claim)).collect()
}

fn equal<T: PartialEq + Debug>(what: &str, of: &impl Debug, one: T, other: T) -> Result<(), Contradiction> {
    if one == other { Ok(()) } else { Err(format!("{what} | {of:?}: {one:?}, then {other:?}")) }
}

/// Whether two reports say the same of the same Pods and claims.
pub(crate) fn same(one: &Report, other: &Report, depth: Depth) -> Result<(), Contradiction> {
    let (old, new) = (pods(one), pods(other));
    equal("which Pods there are", &"Pods", old.keys().collect::<Vec<_>>(), new.keys().collect())?;
    for (key, pod) in &old {
        let then = new[key];
        let reason = |pod: &PodReport| pod.reasons.first().map(|reason| (reason.code, reason.message.clone()));
        if pod.node.is_some() != then.node.is_some() {
            let (was, is) = ((&pod.node, reason(pod)), (&then.node, reason(then)));
            return Err(format!("whether a Pod is Pending | {key:?}: {was:?}, then {is:?}"));
        }
        equal("the node of a Pod", key, &pod.node, &then.node)?;
        equal("the claims of a Pod", key, &pod.claims, &then.claims)?;
        if depth == Depth::Facts {
            continue;
        }
        let (was, is) = (reason(pod), reason(then));
        if was.as_ref().map(|reason| reason.0) != is.as_ref().map(|reason| reason.0) {
            return Err(format!("the first reason of a Pod | {key:?}: {was:?}, then {is:?}"));
        }
        if depth == Depth::All {
            equal("the words of a Pod's first reason", key, was, is)?;
        }
    }
    let (old, new) = (claims(one), claims(other));
    equal("which claims there are", &"claims", old.keys().collect::<Vec<_>>(), new.keys().collect())?;
    for (key, claim) in &old {
        let then = new[key];
        equal("whether a claim has devices", key, claim.allocated, then.allocated)?;
        equal("the devices of a claim", key, &claim.devices, &then.devices)?;
        equal("the template of a claim", key, &claim.template, &then.template)?;
        let sorted = |claim: &ClaimReport| {
            let mut all = claim.reserved_for.clone();
            all.sort();
            all
        };
        equal("who may use a claim", key, sorted(claim), sorted(then))?;
    }
    Ok(())
}
