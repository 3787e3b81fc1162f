//! DeviceClasses.

use super::claim::configuration;
use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::Report;
use super::schema::{CLASS_CONFIGS, SELECTORS, same};
use super::selectors;

const MOST_CONFIGURATIONS: usize = 32;

/// A class. In a changed one a list that stays as it is counts as stored, any change makes all of it new.
pub(super) fn check(out: &mut Report<'_>, class: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    meta::check_without_prefix(out, class, Scope::Cluster);
    if let Some(old) = old {
        meta::update(out, class, old);
    }
    let spec = class.field("spec");
    let before = |name: &str| old.and_then(|old| old.peek("spec").get(name)).unwrap_or(&serde_json::Value::Null);
    let selectors = spec.field("selectors");
    let stored = old.is_some() && same(&SELECTORS, selectors.value, before("selectors"));
    selectors::check_all(out, &selectors, stored);
    let config = spec.field("config");
    let stored = old.is_some() && same(&CLASS_CONFIGS, config.value, before("config"));
    out.list(&config, MOST_CONFIGURATIONS, |out, config| configuration(out, config, stored));
    let resource = spec.field("extendedResourceName");
    if resource.is_set() && !names::is_extended_resource(resource.text()) {
        let text = super::report::shown(resource.text());
        out.invalid(resource.at, format!("`{text}` is not a name of an extended resource"));
        out.hint("write a domain of your own, a slash, and a name, for instance `example.com/gpu`");
    }
}
