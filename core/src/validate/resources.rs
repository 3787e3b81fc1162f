//! What containers and Pods ask for: names and amounts of resources.
//!
//! Source: `validateResourceRequirements`, `validatePodResourceConsistency` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::names;
use super::node::{Node, quantity};
use super::report::{Report, shown};
use crate::api::quantity::Quantity;
use crate::finding::Fix;
use crate::near::nearest;

/// Resources without a domain that a container can ask for.
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// Others without a domain that are known, for quotas.
const OF_QUOTAS: &str = "requests.cpu requests.memory requests.ephemeral-storage limits.cpu limits.memory \
    limits.ephemeral-storage storage requests.storage";
/// Resources of quotas that are counted.
const COUNTED: &str = "pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims \
    services.nodeports services.loadbalancers";
const HUGE_PAGES: &str = "hugepages-";

/// `resources` of a container.
pub(super) fn of_container(out: &mut Report<'_>, resources: &Node<'_, '_>) {
    requirements(out, resources, container_name);
}

/// `resources` of a Pod, beside what its containers ask for.
pub(super) fn of_pod(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let resources = spec.field("resources");
    if !resources.is_set() {
        return;
    }
    requirements(out, &resources, pod_name);
    let (requests, limits) = (resources.field("requests"), resources.field("limits"));
    for (name, value) in requests.entries() {
        let Some(asked) = quantity(value) else { continue };
        let sum = requested_together(spec, name);
        if sum > asked {
            let message = format!("must be greater than or equal to aggregate container requests of {sum}");
            out.invalid(requests.at.key(name), message);
            out.hint(format!("`{name}` of the Pod must cover all of its containers"));
        }
    }
    for (index, container) in spec.field("containers").list().iter().enumerate() {
        let own = container.pointer("/resources/limits").and_then(Value::as_object);
        for (name, value) in own.into_iter().flatten() {
            let (Some(own), Some(most)) = (quantity(value), quantity(limits.peek(name))) else { continue };
            if own > most {
                // The reference puts these together in this order.
                let at = format!("{}.containers[{index}][{name}].limits", resources.at);
                out.invalid(at, format!("must be less than or equal to pod limits of {most}"));
            }
        }
    }
}

/// What all containers request of a resource while the Pod runs or starts.
fn requested_together(spec: &Node<'_, '_>, name: &str) -> Quantity {
    let of = |container: &Value| {
        let part = |part: &str| container.get("resources").and_then(|resources| resources.get(part)?.get(name));
        part("requests").or_else(|| part("limits")).and_then(quantity).unwrap_or_default()
    };
    let main = spec.peek("containers").as_array().into_iter().flatten();
    let mut running = main.fold(Quantity::default(), |sum, container| sum.saturating_add(&of(container)));
    let (mut sidecars, mut starting) = (Quantity::default(), Quantity::default());
    for container in spec.peek("initContainers").as_array().into_iter().flatten() {
        let own = of(container);
        if container.get("restartPolicy").and_then(Value::as_str) == Some("Always") {
            running = running.saturating_add(&own);
            sidecars = sidecars.saturating_add(&own);
            starting = starting.max(sidecars.clone());
        } else {
            starting = starting.max(sidecars.saturating_add(&own));
        }
    }
    running.max(starting)
}

fn requirements(
    out: &mut Report<'_>,
    resources: &Node<'_, '_>,
    name_rule: fn(&mut Report<'_>, &str, &dyn std::fmt::Display, bool),
) {
    let (limits, requests) = (resources.field("limits"), resources.field("requests"));
    if limits.len() == 0 && requests.len() == 0 {
        return;
    }
    for list in [&limits, &requests] {
        for (name, value) in list.entries() {
            let at = list.at.key(name);
            name_rule(out, name, &at, list.has(name) && similar(name).is_some_and(|meant| !list.has(meant)));
            if let Some(amount) = quantity(value) {
                check_amount(out, name, &amount, &at);
            }
        }
    }
    for (name, value) in requests.entries() {
        let overcommits = names::is_native_resource(name) && !name.starts_with(HUGE_PAGES);
        let Some(asked) = quantity(value) else { continue };
        match quantity(limits.peek(name)) {
            Some(limit) if asked != limit && !overcommits => {
                out.invalid(requests.at, format!("must be equal to {name} limit of {limit}"));
                out.hint(format!("`{name}` is given whole: write the same amount in `requests` and `limits`"));
            }
            Some(limit) if asked > limit => {
                out.invalid(requests.at, format!("must be less than or equal to {name} limit of {limit}"));
            }
            None if !overcommits => {
                out.required(limits.at, "Limit must be set for non overcommitable resources");
                out.hint(format!("write `{name}` in `limits`; `requests` then follows from it"));
            }
            _ => {}
        }
    }
    let has = |wanted: &dyn Fn(&str) -> bool| limits.entries().chain(requests.entries()).any(|(name, _)| wanted(name));
    if has(&|name| name.starts_with(HUGE_PAGES)) && !has(&|name| matches!(name, "cpu" | "memory")) {
        out.forbidden(resources.at, "HugePages require cpu or memory");
    }
}

/// The resource that was meant, where a name without a domain is none. A slip is seldom in the first letter: `gpu` is no `cpu`.
fn similar(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    nearest(&name, OF_CONTAINERS.into_iter().filter(|known| known.chars().next() == name.chars().next()))
}

fn is_word(words: &str, wanted: &str) -> bool {
    words.split(' ').any(|word| word == wanted)
}

/// A name of any resource. False where more rules would only say the same.
fn any_name(out: &mut Report<'_>, name: &str, at: &dyn std::fmt::Display) -> bool {
    let problems = names::label_key(name);
    out.invalid_each(at, name, &problems);
    let is_standard = OF_CONTAINERS.contains(&name)
        || [OF_QUOTAS, COUNTED].iter().any(|names| is_word(names, name))
        || name.starts_with(HUGE_PAGES);
    if problems.is_empty() && !name.contains('/') && !is_standard {
        out.invalid(at, format!("`{}` must be a standard resource type or fully qualified", shown(name)));
        match similar(name) {
            Some(meant) => out.hint(format!("did you mean `{meant}`?")),
            None => out.hint(domain_missing(name)),
        }
        return false;
    }
    problems.is_empty()
}

fn domain_missing(name: &str) -> String {
    format!("write the domain of the resource and a slash, as in `example.com/{}`", shown(name))
}

fn container_name(out: &mut Report<'_>, name: &str, at: &dyn std::fmt::Display, is_certain: bool) {
    any_name(out, name, at);
    if !name.contains('/') {
        if !OF_CONTAINERS.contains(&name) && !name.starts_with(HUGE_PAGES) {
            out.invalid(at, format!("`{}` must be a standard resource for containers", shown(name)));
            match similar(name) {
                Some(meant) => {
                    out.hint(format!("did you mean `{meant}`?"));
                    if is_certain && name.eq_ignore_ascii_case(meant) {
                        out.fix(Fix::Rename(meant.to_owned()));
                    }
                }
                None => out.hint(domain_missing(name)),
            }
        }
    } else if !names::is_native_resource(name) && !names::is_extended_resource(name) {
        out.invalid(at, format!("`{}` doesn't follow extended resource name standard", shown(name)));
    }
}

fn pod_name(out: &mut Report<'_>, name: &str, at: &dyn std::fmt::Display, _: bool) {
    if any_name(out, name, at) && !matches!(name, "cpu" | "memory") && !name.starts_with(HUGE_PAGES) {
        out.not_supported(at, name, &["cpu", "hugepages-", "memory"]);
        out.hint("other resources belong to a container");
    }
}

/// An amount of a resource that somebody has or asks for.
pub(super) fn check_quantity(out: &mut Report<'_>, name: &str, amount: &Quantity, at: &dyn std::fmt::Display) {
    if amount.signum() < 0 {
        out.invalid(at, "must be greater than or equal to 0");
    }
    if (is_word(COUNTED, name) || names::is_extended_resource(name)) && amount.as_i64().is_none() {
        out.invalid(at, "must be an integer");
        out.hint("devices are given whole; a share of one is asked for with a ResourceClaim and `capacity`");
    }
}

/// The same of what is asked for.
fn check_amount(out: &mut Report<'_>, name: &str, amount: &Quantity, at: &dyn std::fmt::Display) {
    check_quantity(out, name, amount, at);
    if let Some(page) = name.strip_prefix(HUGE_PAGES) {
        let whole = |bytes: i64, page: i64| bytes.checked_rem(page).is_some_and(|rest| rest == 0);
        let divides = match (amount.as_i64(), Quantity::parse(page).ok().and_then(|page| page.as_i64())) {
            (Some(bytes), Some(page)) => whole(bytes, page),
            _ => false,
        };
        if !divides {
            out.invalid(at, format!("{amount} is not positive integer multiple of {name}"));
        }
    }
}

/// A list of resources of which each must be one that a container can have: `overhead`.
pub(super) fn overhead(out: &mut Report<'_>, overhead: &Node<'_, '_>) {
    for (name, value) in overhead.entries() {
        let at = overhead.at.key(name);
        container_name(out, name, &at, false);
        if let Some(amount) = quantity(value) {
            check_amount(out, name, &amount, &at);
        }
    }
}
