//! Selectors held against the attributes and capacities that the slices of the set publish.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::json::{Json, each_asked, entries, field, inner, kind, list, text};
use crate::cel::{Advice, Environment, MOST_BYTES, Mention, advice as advise, mentions};
use crate::finding::{Code, Finding};
use crate::near::nearest;
use crate::profile::Profile;

/// Names told in a hint.
const MOST_NAMES: usize = 6;

/// The attributes and capacities of all slices: by domain and name the types of their values in CEL.
#[derive(Default)]
pub(super) struct Published {
    attributes: Names,
    capacities: Names,
}

type Names = BTreeMap<String, BTreeMap<String, BTreeSet<&'static str>>>;

impl Published {
    /// Adds what an object publishes, if it is a slice.
    pub(super) fn add(&mut self, object: &Json<'_>) {
        let Some(spec) = field(object, "spec").filter(|_| kind(object) == "ResourceSlice") else { return };
        let driver = text(spec, "driver");
        for device in list(field(spec, "devices")) {
            let device = field(device, "basic").unwrap_or(device);
            for (part, names) in [("attributes", &mut self.attributes), ("capacity", &mut self.capacities)] {
                for (key, value) in entries(field(device, part)) {
                    let (domain, name) = key.split_once('/').unwrap_or((driver, key));
                    let of = if part == "capacity" { Some("kubernetes.Quantity") } else { attribute_type(value) };
                    // Nearly always known already.
                    match names.get_mut(domain).and_then(|names| names.get_mut(name)) {
                        Some(types) => types.extend(of),
                        None => {
                            let names = names.entry(domain.to_owned()).or_default();
                            names.entry(name.to_owned()).or_default().extend(of);
                        }
                    }
                }
            }
        }
    }

    fn names(&self, is_capacity: bool) -> &Names {
        if is_capacity { &self.capacities } else { &self.attributes }
    }
}

/// The CEL type of an attribute with one value; of a list nothing is said.
fn attribute_type(value: &Json<'_>) -> Option<&'static str> {
    [("int", "int"), ("bool", "bool"), ("string", "string"), ("version", "kubernetes.Semver")]
        .into_iter()
        .find_map(|(member, of)| field(value, member).map(|_| of))
}

/// Looks at every selector of the set, if the set has slices at all.
pub(super) fn check(objects: &[Json<'_>], published: &Published, profile: &Profile, all: &mut [Vec<Finding>]) {
    if published.attributes.is_empty() && published.capacities.is_empty() {
        return;
    }
    let environment = Environment::stored(profile.version, &profile.features);
    // Many objects have the same selectors.
    let mut known: BTreeMap<&str, Vec<Judged>> = BTreeMap::new();
    for (object, findings) in objects.iter().zip(all) {
        for (path, expression) in selectors(object) {
            if expression.len() > MOST_BYTES {
                continue;
            }
            for (code, message, hint) in
                known.entry(expression).or_insert_with(|| judge(expression, &environment, published))
            {
                findings.push(Finding::new(*code, &path, message.as_str()).with_hint(hint.as_str()));
            }
        }
    }
}

/// What is wrong: code, message, hint.
type Judged = (Code, String, String);

/// What is wrong with an expression, given what is published.
fn judge(expression: &str, environment: &Environment, published: &Published) -> Vec<Judged> {
    let types = |domain: &str, name: &str| -> Vec<&'static str> {
        let types = published.attributes.get(domain).and_then(|names| names.get(name));
        types.into_iter().flatten().copied().collect()
    };
    let advice = advise(expression, environment, &types);
    let mentions = mentions(expression, environment);
    let mut judged: Vec<Judged> =
        mentions.iter().filter_map(|mention| judge_name(mention, published, &advice)).collect();
    // What fails on any device is said of the expression by itself.
    let by_itself = advise(expression, environment, &|_, _| Vec::new());
    for one in advice.iter().filter(|one| !by_itself.contains(one)) {
        let code = if one.is_never_equal { Code::LintNeverEqual } else { Code::LintSelectorFails };
        let is_said = one.is_never_equal && judged.iter().any(|(_, _, hint)| *hint == one.remedy);
        judged.extend((!is_said).then(|| (code, one.problem.clone(), one.remedy.clone())));
    }
    judged
}

/// The selectors of an object, each with its path.
fn selectors<'v>(object: &'v Json<'v>) -> Vec<(String, &'v str)> {
    let mut found = Vec::new();
    let mut add = |at: &dyn fmt::Display, holder: &'v Json<'v>| {
        for (number, selector) in list(field(holder, "selectors")).iter().enumerate() {
            if let Some(expression) = inner(selector, "cel.expression").and_then(Json::as_str) {
                found.push((format!("{at}.selectors[{number}].cel.expression"), expression));
            }
        }
    };
    match field(object, "spec").filter(|_| kind(object) == "DeviceClass") {
        Some(class) => add(&"spec", class),
        None => each_asked(object, &mut add),
    }
    found
}

/// What is wrong with a name that a selector reads.
fn judge_name(mention: &Mention, published: &Published, advice: &[Advice]) -> Option<Judged> {
    let Mention { is_capacity, domain, name, compared_with } = mention;
    let read = |is_capacity: bool, name: &str| {
        let map = if is_capacity { "capacity" } else { "attributes" };
        format!("device.{map}[\"{domain}\"].{name}")
    };
    let own = published.names(*is_capacity).get(domain.as_str());
    let other = published.names(!is_capacity).get(domain.as_str());
    if own.is_none() && other.is_none() {
        // The slices may be those of another driver.
        return None;
    }
    let Some(types) = own.and_then(|names| names.get(name.as_str())) else {
        let what = if *is_capacity { "capacity" } else { "attribute" };
        let message = format!("no device of the slices given has the {what} `{name}` of `{domain}`");
        let hint = if other.is_some_and(|names| names.contains_key(name.as_str())) {
            format!("write `{}`", read(!is_capacity, name))
        } else {
            let mut names: Vec<&str> = own.into_iter().flat_map(BTreeMap::keys).map(String::as_str).collect();
            match nearest(name, names.iter().copied()) {
                Some(meant) => format!("did you mean `{}`?", read(*is_capacity, meant)),
                None if names.is_empty() => format!("the devices have no {what} of this domain"),
                None => {
                    let more = if names.len() > MOST_NAMES { ", ..." } else { "" };
                    names.truncate(MOST_NAMES);
                    format!("of this domain they have {}{more}", names.join(", "))
                }
            }
        };
        return Some((Code::LintUnknownAttribute, message, hint));
    };
    let other = compared_with.as_deref()?;
    if types.is_empty() || types.iter().any(|own| could_be_equal(own, other)) {
        return None;
    }
    let own = types.iter().copied().collect::<Vec<_>>().join(" or ");
    let name = read(*is_capacity, name);
    let message =
        format!("`{name}` is of type {own} on every device of the slices given, never equal to one of type {other}");
    let hint = match advice.iter().find(|one| one.is_never_equal && one.problem.contains(&name)) {
        Some(meant) => meant.remedy.clone(),
        None => {
            "compare with a value of that type; `string(...)`, `int(...)`, `semver(...)` and `quantity(...)` convert"
                .to_owned()
        }
    };
    Some((Code::LintNeverEqual, message, hint))
}

/// CEL compares numbers of all types by value; everything else only within its type.
fn could_be_equal(one: &str, other: &str) -> bool {
    let is_number = |of: &str| matches!(of, "int" | "uint" | "double");
    one == other || (is_number(one) && is_number(other))
}
