//! ResourceClaims and the requests in claims and templates.
//!
//! Source: `pkg/apis/resource/validation`, KEP-4381, KEP-4816 (alternatives), KEP-5075 (`distinctAttribute`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::derived::{self, Compared};
use super::meta::{self, Scope};
use super::names;
use super::node::{Node, quantity, shown_key};
use super::report::{Report, shown};
use super::schema::{CLAIM_SPEC, same};
use super::selectors;
use super::{ADMIN_LABEL, taints};
use crate::gather::Gather;
use crate::near::did_you_mean;
use crate::profile::Version;

/// Requests, constraints, configurations, selectors, requests in a reference, and capacities with an amount.
const MOST: usize = 32;
/// Alternatives of a request.
const MOST_ALTERNATIVES: usize = 8;
/// Opaque parameters, in bytes of compact JSON.
const LONGEST_PARAMETERS: usize = 10 * 1024;

/// A claim that is created, or changed: its spec cannot be.
pub(super) fn check(out: &mut Report<'_>, claim: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    meta::check_whole(out, claim, old, Scope::Namespace);
    let spec = claim.field("spec");
    match old {
        None => {
            check_spec(out, &spec);
            check_amounts(out, &spec);
            admin_access(out, claim, &spec);
        }
        Some(old) if !same(&CLAIM_SPEC, spec.value, old.peek("spec")) => {
            out.immutable(spec.at);
            out.hint("delete the claim and create it anew");
        }
        Some(_) => {}
    }
}

/// The spec of a claim, also in templates.
pub(super) fn check_spec(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    let devices = spec.field("devices");
    let names = Requests::of(&devices);
    let compared = Compared::of(&devices);
    out.set(&devices.field("requests"), MOST, "name", |out, node| request(out, node, &compared));
    out.list(&devices.field("constraints"), MOST, |out, constraint| check_constraint(out, constraint, &names));
    out.list(&devices.field("config"), MOST, |out, config| {
        names.check_all(out, &config.field("requests"));
        configuration(out, config, false);
    });
}

/// What the requests of a spec ask of capacities. It is not looked at again once it is stored.
pub(super) fn check_amounts(out: &mut Report<'_>, spec: &Node<'_, '_>) {
    for request in spec.field("devices").field("requests").items() {
        amounts(out, &request.field("exactly").field("capacity").field("requests"));
        for alternative in request.field("firstAvailable").items() {
            amounts(out, &alternative.field("capacity").field("requests"));
        }
    }
}

/// Amounts of a device's capacities by name. Before 1.38 the API server does not look at them.
pub(super) fn amounts(out: &mut Report<'_>, amounts: &Node<'_, '_>) {
    if !out.profile.version.is_after_1_37() {
        return;
    }
    for (name, _) in amounts.entries() {
        names::qualified(out, name, &amounts.at);
    }
    if !out.most(amounts, MOST) {
        return;
    }
    for (name, value) in amounts.entries() {
        if quantity(value).is_some_and(|amount| amount.signum() < 0) {
            let name = shown_key(name, names::LONGEST_QUALIFIED);
            out.invalid(amounts.at.key(&name), "must not be negative");
        }
    }
}

/// Admin access is allowed in labelled namespaces only. The path lacks `exactly`, and in templates the second `spec`.
pub(super) fn admin_access(out: &mut Report<'_>, object: &Node<'_, '_>, spec: &Node<'_, '_>) {
    if out.circumstances.admin_namespace != Some(false) {
        return;
    }
    let requests = spec.peek("devices").get("requests").and_then(Value::as_array);
    let asks = |request: &Value| request.pointer("/exactly/adminAccess") == Some(&Value::Bool(true));
    if let Some(index) = requests.into_iter().flatten().position(asks) {
        no_admin_access(out, object, format!("spec.devices.requests[{index}].adminAccess"));
        out.hint(format!("label the namespace `{ADMIN_LABEL}: \"true\"`, or use another one"));
    }
}

/// Admin access at a place of an object whose namespace does not allow it.
pub(super) fn no_admin_access(out: &mut Report<'_>, object: &Node<'_, '_>, at: String) {
    let namespace = object.field("metadata").text_of("namespace");
    out.forbidden(at, format!("admin access is not allowed in namespace `{namespace}`"));
}

fn request(out: &mut Report<'_>, request: &Node<'_, '_>, compared: &Compared<'_>) {
    let name = request.field("name");
    out.text(&name, names::label);
    if name.text().is_empty() {
        out.hint("the name of the request is missing: set `name`");
    }
    let (exactly, alternatives) = (request.field("exactly"), request.field("firstAvailable"));
    match (exactly.is_set(), alternatives.len() > 0) {
        (false, false) => out.required(request.at, "a request needs either `exactly` or `firstAvailable`"),
        (true, true) => out.invalid(request.at, "a request has either `exactly` or `firstAvailable`, not both"),
        (true, false) => asked(out, &exactly, name.text(), compared),
        (false, true) => {
            out.set(&alternatives, MOST_ALTERNATIVES, "name", |out, alternative| {
                let alternative_name = alternative.field("name");
                out.text(&alternative_name, names::label);
                asked(out, alternative, &format!("{}/{}", name.text(), alternative_name.text()), compared);
            });
        }
    }
}

/// What both forms of a request have; `reference` names it as constraints do.
fn asked(out: &mut Report<'_>, request: &Node<'_, '_>, reference: &str, compared: &Compared<'_>) {
    let class = request.field("deviceClassName");
    out.needed_text(&class, "a device class is needed", names::subdomain);
    if class.text().contains('/') {
        out.hint(format!("write the name of the DeviceClass with `extendedResourceName: {}`", shown(class.text())));
    }
    selectors::check_all(out, &request.field("selectors"), false);
    derived::check(out, &request.field("derivedAttributes"), reference, compared);
    let (mode, count) = (request.field("allocationMode"), request.field("count"));
    match mode.text() {
        "All" if count.int() != 0 => {
            out.invalid(count.at, "must not be given with `allocationMode: All`");
            out.hint("leave `count` out");
        }
        "All" => {}
        "ExactCount" if count.int() <= 0 => out.invalid(count.at, "must be greater than zero"),
        "ExactCount" => {}
        other => out.not_supported(mode.at, other, &["All", "ExactCount"]),
    }
    for toleration in request.field("tolerations").items() {
        taints::toleration(out, &toleration);
    }
}

fn check_constraint(out: &mut Report<'_>, constraint: &Node<'_, '_>, names: &Requests<'_>) {
    names.check_all(out, &constraint.field("requests"));
    let (matching, distinct) = (constraint.field("matchAttribute"), constraint.field("distinctAttribute"));
    // Before 1.37 the second of both was not looked at.
    let looks_at_both = out.profile.version >= Version::V1_37;
    match (matching.is_set(), distinct.is_set()) {
        (false, false) if out.features().consumable_capacity => {
            out.required(constraint.at, "a constraint needs `matchAttribute` or `distinctAttribute`");
        }
        (false, false) => out.required(matching.at, "a constraint needs `matchAttribute`"),
        (is_matching, is_distinct) => {
            if is_matching {
                names::fully_qualified(out, &matching);
            }
            if is_distinct && (!is_matching || looks_at_both) {
                names::fully_qualified(out, &distinct);
            }
        }
    }
}

/// A configuration for a driver. Parameters that are stored already may be longer than is allowed today.
pub(super) fn configuration(out: &mut Report<'_>, config: &Node<'_, '_>, stored: bool) {
    let opaque = config.field("opaque");
    if !opaque.is_set() {
        out.required(opaque.at, "a configuration needs `opaque`");
        return;
    }
    names::driver(out, &opaque.field("driver"));
    parameters(out, &opaque.field("parameters"), stored);
}

/// A JSON object for a driver.
pub(super) fn parameters(out: &mut Report<'_>, parameters: &Node<'_, '_>, stored: bool) {
    let value = parameters.value;
    if value.is_null() {
        out.required(parameters.at, "parameters are needed");
        return;
    }
    let length = length(value);
    if !stored && length > LONGEST_PARAMETERS {
        out.too_long(parameters.at, length, LONGEST_PARAMETERS);
    } else if !value.is_object() {
        out.invalid(parameters.at, "must be an object");
    }
}

/// The length of a value as compact JSON, in bytes. Counted without keeping it: every object is measured.
pub(super) fn length(value: &Value) -> usize {
    struct Counted(usize);
    impl std::io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // Neither the counter nor a value can fail.
    serde_json::to_writer(&mut counted, value).map_or(usize::MAX, |()| counted.0)
}

/// The names that constraints, configurations and results can refer to.
pub(super) struct Requests<'v>(BTreeMap<&'v str, BTreeSet<&'v str>>);

impl<'v> Requests<'v> {
    /// The names of a claim's `spec.devices`.
    pub(super) fn of(devices: &Node<'v, '_>) -> Self {
        let name = |value: &'v Value| value.get("name").and_then(Value::as_str).unwrap_or_default();
        let requests = devices.peek("requests").as_array().map(Vec::as_slice).unwrap_or_default();
        let names = requests.iter().map(|request| {
            let alternatives = request.get("firstAvailable").and_then(Value::as_array);
            (name(request), alternatives.into_iter().flatten().map(name).gather())
        });
        Self(names.gather())
    }

    /// A list of references.
    pub(super) fn check_all(&self, out: &mut Report<'_>, references: &Node<'_, '_>) {
        out.set(references, MOST, "", |out, reference| self.check(out, reference));
    }

    /// A reference: `request` or `request/subrequest`.
    pub(super) fn check(&self, out: &mut Report<'_>, reference: &Node<'_, '_>) {
        let text = reference.text();
        let mut parts = text.splitn(3, '/');
        let (main, sub, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        if more.is_some() {
            let message = format!("`{}` is neither `request` nor `request/subrequest`", shown(text));
            return out.invalid(reference.at, message);
        }
        for part in std::iter::once(main).chain(sub) {
            out.invalid_each(reference.at, part, &names::label(part));
        }
        let known = self.0.get(main).is_some_and(|alternatives| sub.is_none_or(|sub| alternatives.contains(sub)));
        if !known {
            out.invalid(reference.at, format!("the claim has no request `{}`", shown(text)));
            let alternatives =
                self.0.iter().flat_map(|(main, subs)| subs.iter().map(move |sub| format!("{main}/{sub}")));
            let all: Vec<String> = self.0.keys().map(|&name| name.to_owned()).chain(alternatives).collect();
            let meant = did_you_mean(text, &mut all.iter().map(String::as_str));
            let names: Vec<&str> = self.0.keys().copied().filter(|name| !name.is_empty()).take(8).collect();
            if let Some(meant) = meant {
                out.hint(meant);
            } else if !names.is_empty() {
                out.hint(format!("its requests are {}", names.join(", ")));
            }
        }
    }
}
