//! Which taints a device has, and taints against tolerations.

use super::plan::Unit;
use super::pools::NodeDevice;
use crate::api::claim::{DeviceSelector, DeviceToleration, TolerationOperator};
use crate::api::class::DeviceTaintRule;
use crate::api::slice::{Device, DeviceTaint, ResourceSlice, TaintEffect};
use crate::cluster::Cluster;
use crate::cluster::selectors::Selectors;
use crate::profile::{Mode, Version};

/// Whether a toleration covers a taint.
///
/// An empty effect or key covers every one. `Equal` compares values even where the key is empty; unknown operators
/// cover nothing.
pub fn tolerates(toleration: &DeviceToleration, taint: &DeviceTaint) -> bool {
    let is_covered = |wanted: &str, text: &str| wanted.is_empty() || wanted == text;
    is_covered(&toleration.effect, taint.effect.text())
        && is_covered(&toleration.key, &taint.key)
        && match &toleration.operator {
            Some(TolerationOperator::Exists) => true,
            None | Some(TolerationOperator::Equal) => toleration.value == taint.value,
            // What is empty means `Equal`.
            Some(TolerationOperator::Unknown(text)) => text.is_empty() && toleration.value == taint.value,
        }
}

/// Whether a unit tolerates every blocking taint of a device. Admin access makes no difference.
pub(super) fn tolerated(unit: &Unit<'_>, device: &NodeDevice<'_>) -> bool {
    blocks(unit, device).next().is_none()
}

/// The blocking taints of a device that a unit does not tolerate.
pub(super) fn blocks<'c>(unit: &Unit<'_>, device: &NodeDevice<'c>) -> impl Iterator<Item = &'c DeviceTaint> {
    let is_tolerated = |taint: &DeviceTaint| unit.tolerations.iter().any(|toleration| tolerates(toleration, taint));
    device.taints.iter().copied().filter(move |taint| !is_tolerated(taint))
}

/// Taints that block, of the driver and of taint rules. The reference takes a rule without a selector for one about all devices.
pub(crate) fn blocking<'c>(
    cluster: &'c Cluster,
    selectors: &mut Selectors,
    slice: &ResourceSlice,
    device: &'c Device,
) -> Vec<&'c DeviceTaint> {
    let profile = cluster.profile();
    let rules = match profile.features.device_taint_rules {
        true => cluster.taint_rules_for(&slice.spec.pool.name, &device.name),
        false => Vec::new(),
    };
    let is_of_all = |rule: &DeviceTaintRule| profile.mode == Mode::Reference && rule.spec.device_selector.is_none();
    let rules = rules.into_iter().filter(|rule| is_of_all(rule) || applies(cluster, selectors, rule, slice, device));
    let all = device.taints.iter().chain(rules.map(|rule| &rule.spec.taint));
    all.filter(|taint| matches!(taint.effect, TaintEffect::NoSchedule | TaintEffect::NoExecute)).collect()
}

/// Whether a rule is for a device: everything that it selects by must hold. A rule without a selector taints nothing, as the API says.
///
/// Class and expressions could be stated up to 1.34 and in proposals; other versions do not know them, and what they make of such a rule
/// is left open: it taints nothing. An expression that fails selects nothing.
pub(crate) fn applies(
    cluster: &Cluster,
    selectors: &mut Selectors,
    rule: &DeviceTaintRule,
    slice: &ResourceSlice,
    device: &Device,
) -> bool {
    let Some(selector) = &rule.spec.device_selector else {
        return false;
    };
    let is_equal = |wanted: &Option<String>, text: &str| wanted.as_deref().is_none_or(|wanted| wanted == text);
    if !is_equal(&selector.driver, &slice.spec.driver)
        || !is_equal(&selector.pool, &slice.spec.pool.name)
        || !is_equal(&selector.device, &device.name)
    {
        return false;
    }
    let profile = cluster.profile();
    if !matches!(profile.version, Version::V1_34 | Version::All) {
        return selector.device_class_name.is_none() && selector.selectors.is_empty();
    }
    let mut all_match = |list: &[DeviceSelector]| {
        let expressions = list.iter().filter_map(|selector| selector.cel.as_ref());
        let mut expressions = expressions.map(|cel| cel.expression.as_str());
        expressions.all(|expression| selectors.matches(profile, expression, slice, device) == Ok(true))
    };
    let is_of_class = match &selector.device_class_name {
        None => true,
        Some(name) => cluster.classes().get(name).is_some_and(|class| all_match(&class.spec.selectors)),
    };
    is_of_class && all_match(&selector.selectors)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::allocate::Limits;
    use crate::engine::Engine;
    use crate::profile::{Profile, Version};
    use crate::wire;

    /// Whether a claim for any device fits where one device, of model `x`, may be tainted by a rule.
    fn fits(version: Version, selector: &Value) -> bool {
        let mut profile = Profile::of(version);
        profile.features.device_taints = true;
        profile.features.device_taint_rules = true;
        let mut engine = Engine::new(profile, Limits::default());
        let of_x = json!([{ "cel": { "expression": "device.attributes[\"d.example.com\"].model == \"x\"" } }]);
        let objects = [
            json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "any" } }),
            json!({
                "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
                "metadata": { "name": "x" }, "spec": { "selectors": of_x },
            }),
            json!({
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
                "spec": {
                    "driver": "d.example.com", "nodeName": "n",
                    "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 },
                    "devices": [{ "name": "dev", "attributes": { "model": { "string": "x" } } }],
                },
            }),
            json!({
                "apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule", "metadata": { "name": "r" },
                "spec": { "deviceSelector": selector, "taint": { "key": "sick", "effect": "NoSchedule" } },
            }),
        ];
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        engine.apply(texts.iter().map(String::as_str));
        let claim = json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c" },
            "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "any" } }] } },
        });
        let question = wire::question(json!({ "claims": [claim], "nodes": ["n"] })).unwrap();
        engine.allocate(&question).to_json()["status"] == "allocated"
    }

    #[test]
    fn a_rule_taints_the_devices_for_which_all_that_it_selects_by_holds() {
        let all = Version::All;
        assert!(!fits(all, &json!({})));
        assert!(!fits(all, &json!({ "driver": "d.example.com", "pool": "p", "device": "dev" })));
        assert!(fits(all, &json!({ "driver": "other.example.com" })));
        assert!(fits(all, &json!({ "pool": "p", "device": "other" })));
        assert!(fits(all, &Value::Null));
    }

    #[test]
    fn a_rule_selects_by_class_and_expressions_where_the_version_has_them() {
        let expression = |text: &str| json!({ "selectors": [{ "cel": { "expression": text } }] });
        for version in [Version::V1_34, Version::All] {
            assert!(!fits(version, &json!({ "deviceClassName": "x" })));
            assert!(fits(version, &json!({ "deviceClassName": "missing" })));
            assert!(!fits(version, &expression("device.driver == \"d.example.com\"")));
            assert!(fits(version, &expression("device.driver == \"e.example.com\"")));
            assert!(fits(version, &expression("device.attributes[\"d.example.com\"].nothing == 1")));
        }
        assert!(fits(Version::V1_36, &json!({ "deviceClassName": "x" })));
    }
}
