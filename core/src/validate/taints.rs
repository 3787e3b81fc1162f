//! Taints, tolerations and DeviceTaintRules.
//!
//! Source: KEP-5055; `validateDeviceTaint`, `validateDeviceToleration`.

use serde_json::Value;

use super::meta::{self, Scope};
use super::names;
use super::node::Node;
use super::report::Report;
use super::selectors;
use crate::finding::{Code, Finding, Severity};
use crate::profile::Profile;

const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];
/// The effects of taints of nodes.
pub(super) const EFFECTS_OF_NODES: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const MOST_CONDITIONS: usize = 8;

/// That taints of devices have no effect, where their feature is off.
pub(crate) fn without_effect(profile: &Profile) -> Option<Finding> {
    let message = "a taint of a device has no effect: the feature gate `DRADeviceTaints` is off";
    let finding = Finding::new(Code::ValidateDroppedField, "spec.devices[].taints", message);
    (!profile.features.device_taints).then(|| {
        let hint = "turn the feature gate `DRADeviceTaints` on, or ask about a version in which it is on";
        finding.with_severity(Severity::Error).with_hint(hint)
    })
}

/// What is wrong with a taint of a device that is written as `key=value:effect`.
pub(crate) fn flaw(key: &str, value: &str, effect: &str) -> Option<String> {
    let text = |what: &str, text: &str, problems: Vec<&str>| {
        problems.first().map(|problem| format!("the {what} `{text}` of the taint {problem}"))
    };
    let of_key = text("key", key, names::label_key(key)).or_else(|| text("value", value, names::label_value(value)));
    of_key.or_else(|| {
        let is_known = EFFECTS.contains(&effect);
        (!is_known).then(|| format!("`{effect}` is no effect of a taint: use one of {}", EFFECTS.join(", ")))
    })
}

/// A toleration of a request.
pub(super) fn toleration(out: &mut Report<'_>, toleration: &Node<'_, '_>) {
    let (key, value) = (toleration.field("key"), toleration.field("value"));
    out.some_text(&key, names::label_key);
    match toleration.text_of("operator") {
        "Exists" if !value.text().is_empty() => {
            out.invalid(value.at, "must be empty with operator `Exists`");
        }
        "Exists" => {}
        // Left out means `Equal`.
        "" | "Equal" => out.text(&value, names::label_value),
        other => out.not_supported(toleration.at.field("operator"), other, &["Equal", "Exists"]),
    }
    out.one_of(&toleration.field("effect"), &EFFECTS);
}

/// A taint of a device or rule. An effect that is stored already is not looked at again.
pub(super) fn taint(out: &mut Report<'_>, taint: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    let (key, value, effect) = (taint.field("key"), taint.field("value"), taint.field("effect"));
    out.text(&key, names::label_key);
    out.text(&value, names::label_value);
    if old.is_some_and(|old| old.text_of("effect") == effect.text()) {
        return;
    }
    if effect.text().is_empty() {
        out.required(effect.at, "the effect of the taint is needed");
        out.hint(format!("one of {}", EFFECTS.join(", ")));
    }
    out.one_of(&effect, &EFFECTS);
}

/// The status of a DeviceTaintRule.
pub(super) fn check_status(out: &mut Report<'_>, status: &Node<'_, '_>) {
    let conditions = status.field("conditions");
    meta::conditions(out, &conditions);
    out.most(&conditions, MOST_CONDITIONS);
}

/// A DeviceTaintRule that is created or changed.
pub(super) fn check_rule(out: &mut Report<'_>, rule: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    meta::check_parts(out, rule, old, Scope::Cluster);
    let spec = rule.field("spec");
    let selector = spec.field("deviceSelector");
    reach(out, &selector);
    if selector.has("driver") {
        names::driver(out, &selector.field("driver"));
    }
    if selector.has("pool") {
        names::pool(out, &selector.field("pool"));
    }
    out.set_text(&selector.field("device"), names::label);
    out.set_text(&selector.field("deviceClassName"), names::subdomain);
    selectors::check_all(out, &selector.field("selectors"), false);
    let before = old.map(|old| old.peek("spec").get("taint").unwrap_or(&Value::Null));
    taint(out, &spec.field("taint"), before.map(Node::root).as_ref());
}

/// A rule that reaches nothing or everything.
fn reach(out: &mut Report<'_>, selector: &Node<'_, '_>) {
    if !selector.is_set() {
        let message = "without `deviceSelector` the rule selects no device";
        let finding = Finding::new(Code::LintTaintsNothing, selector.at, message);
        out.note(finding.with_hint("name a driver, a pool or a device"));
    } else if selector.len() == 0 {
        let at = selector.at.to_string();
        let inside = |finding: &Finding| finding.path.strip_prefix(&at).is_some_and(|rest| rest.starts_with('.'));
        let dropped: Vec<&str> = out
            .findings
            .iter()
            .filter(|finding| finding.code == Code::ValidateDroppedField && inside(finding))
            .filter_map(|finding| finding.path.rsplit('.').next())
            .collect();
        let message = match dropped.as_slice() {
            [] => "an empty `deviceSelector` selects every device of every driver".to_owned(),
            names => format!(
                "without `{}`, which Kubernetes {} drops, the rule selects every device of every driver",
                names.join("`, `"),
                out.profile.version
            ),
        };
        let finding = Finding::new(Code::SecurityTaintsEverything, selector.at, message);
        out.note(finding.with_hint("name at least a driver"));
    }
}
