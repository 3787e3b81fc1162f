//! DeviceTaintRules by the pool and device that they name.

use super::Cluster;
use super::shared_map::SharedMap;
use crate::api::class::DeviceTaintRule;
use crate::arrange::Arrange;

/// Names of rules by the pool, and in there by the device, that they name; empty for those that name none.
#[derive(Clone, Debug, Default)]
pub(super) struct RulesByDevice(SharedMap<String, SharedMap<String, SharedMap<String, ()>>>);

impl RulesByDevice {
    pub(super) fn add(&mut self, rule: &DeviceTaintRule) {
        let (pool, device) = place(rule);
        let of_pool = self.0.get_or_default(&pool.to_owned());
        if let Some(names) = of_pool.and_then(|of_pool| of_pool.get_or_default(&device.to_owned())) {
            names.insert(rule.metadata.name.clone(), ());
        }
    }

    pub(super) fn remove(&mut self, rule: &DeviceTaintRule) {
        let (pool, device) = place(rule);
        let Some(of_pool) = self.0.get_mut(pool) else { return };
        if let Some(names) = of_pool.get_mut(device) {
            names.remove(&rule.metadata.name);
            if names.is_empty() {
                of_pool.remove(device);
            }
        }
        if of_pool.is_empty() {
            self.0.remove(pool);
        }
    }
}

/// The pool and device that a rule names.
fn place(rule: &DeviceTaintRule) -> (&str, &str) {
    let selector = rule.spec.device_selector.as_ref();
    let pool = selector.and_then(|selector| selector.pool.as_deref());
    let device = selector.and_then(|selector| selector.device.as_deref());
    (pool.unwrap_or_default(), device.unwrap_or_default())
}

impl Cluster {
    pub(super) fn apply_taint_rule(&mut self, name: String, rule: DeviceTaintRule) {
        self.delete_taint_rule(&name);
        self.rules_by_device.add(&rule);
        self.taint_rules.insert(name, rule);
    }

    pub(super) fn delete_taint_rule(&mut self, name: &str) -> bool {
        self.relieve_by_rules();
        let removed = self.taint_rules.remove(name);
        removed.iter().for_each(|rule| self.rules_by_device.remove(rule));
        removed.is_some()
    }

    /// The rules that do not name another pool or device, by name.
    pub(crate) fn taint_rules_for(&self, pool: &str, device: &str) -> Vec<&DeviceTaintRule> {
        let of_pools = [pool, ""].into_iter().filter_map(|pool| self.rules_by_device.0.get(pool));
        let names = of_pools.flat_map(|of_pool| [device, ""].into_iter().filter_map(|device| of_pool.get(device)));
        let mut rules: Vec<&DeviceTaintRule> =
            names.flat_map(SharedMap::keys).filter_map(|name| self.taint_rules.get(name)).collect();
        rules.arrange_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        rules.dedup_by_key(|rule| &rule.metadata.name);
        rules
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::object::read_object;
    use crate::profile::Profile;

    #[test]
    fn only_rules_that_may_be_for_a_device_are_looked_at() {
        let mut cluster = Cluster::new(Profile::default());
        let apply = |cluster: &mut Cluster, name: &str, selector: Value| {
            let value = json!({ "apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule",
                "metadata": { "name": name },
                "spec": { "deviceSelector": selector, "taint": { "key": "sick", "effect": "NoSchedule" } } });
            cluster.apply(read_object(value).object.unwrap());
        };
        let found = |cluster: &Cluster, pool: &str, device: &str| -> Vec<String> {
            cluster.taint_rules_for(pool, device).into_iter().map(|rule| rule.metadata.name.clone()).collect()
        };
        apply(&mut cluster, "z-all", Value::Null);
        apply(&mut cluster, "y-driver", json!({ "driver": "d.example.com" }));
        apply(&mut cluster, "x-device", json!({ "device": "a" }));
        for number in 0..1000 {
            apply(&mut cluster, &format!("pool-{number}"), json!({ "pool": format!("p{number}") }));
            apply(&mut cluster, &format!("one-{number}"), json!({ "pool": format!("p{number}"), "device": "a" }));
        }
        assert_eq!(found(&cluster, "p7", "a"), ["one-7", "pool-7", "x-device", "y-driver", "z-all"]);
        assert_eq!(found(&cluster, "p7", "b"), ["pool-7", "y-driver", "z-all"]);
        assert_eq!(found(&cluster, "", ""), ["y-driver", "z-all"]);
        apply(&mut cluster, "pool-7", json!({ "pool": "p8", "device": "b" }));
        assert!(cluster.delete_taint_rule("one-7") && !cluster.delete_taint_rule("one-7"));
        assert_eq!(found(&cluster, "p7", "a"), ["x-device", "y-driver", "z-all"]);
        assert_eq!(found(&cluster, "p8", "b"), ["pool-7", "pool-8", "y-driver", "z-all"]);
    }
}
