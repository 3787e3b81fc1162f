//! Selectors of labels and nodes, and corrections of findings.

use std::collections::BTreeMap;

use apportion_core::api::node::{NodeSelectorOperator, NodeSelectorRequirement};
use apportion_core::api::read::{Json, Path};
use apportion_core::api::source::LabelSelector;
use apportion_core::finding::{Fix, value_at};
use serde_json::json;

fn requirement(key: &str, operator: NodeSelectorOperator, values: &[&str]) -> NodeSelectorRequirement {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    NodeSelectorRequirement { key: key.to_owned(), operator, values, ..Default::default() }
}

#[test]
fn requirements_compare_labels() {
    use NodeSelectorOperator as Op;
    let labels = BTreeMap::from([("zone".to_owned(), "a".to_owned()), ("slots".to_owned(), "8".to_owned())]);
    let cases = [
        (requirement("zone", Op::In, &["a", "b"]), true),
        (requirement("zone", Op::In, &[]), false),
        (requirement("zone", Op::NotIn, &["a"]), false),
        (requirement("none", Op::NotIn, &["a"]), true),
        (requirement("zone", Op::Exists, &[]), true),
        (requirement("zone", Op::DoesNotExist, &[]), false),
        (requirement("none", Op::DoesNotExist, &[]), true),
        (requirement("slots", Op::Gt, &["7"]), true),
        (requirement("slots", Op::Gt, &["8"]), false),
        (requirement("slots", Op::Lt, &["9"]), true),
        (requirement("zone", Op::Lt, &["9"]), false),
        (requirement("zone", Op::Unknown("Like".to_owned()), &["a"]), false),
    ];
    for (requirement, expected) in cases {
        assert_eq!(requirement.holds(labels.get(&requirement.key)), expected, "{requirement:?}");
    }
}

#[test]
fn labels_satisfy_a_selector_as_in_the_reference() {
    let labels = BTreeMap::from([("team".to_owned(), "ml".to_owned())]);
    for (expression, holds) in [
        (json!({ "key": "team", "operator": "In", "values": ["ml", "x"] }), true),
        (json!({ "key": "team", "operator": "In", "values": ["x"] }), false),
        (json!({ "key": "team", "operator": "NotIn", "values": ["ml"] }), false),
        (json!({ "key": "other", "operator": "NotIn", "values": ["ml"] }), true),
        (json!({ "key": "team", "operator": "Exists" }), true),
        (json!({ "key": "team", "operator": "DoesNotExist" }), false),
        (json!({ "key": "other", "operator": "DoesNotExist" }), true),
        (json!({ "key": "team", "operator": "Near" }), false),
    ] {
        let value = json!({ "matchLabels": { "team": "ml" }, "matchExpressions": [expression.clone()] });
        let selector = LabelSelector::read(value, &Path::ROOT, &mut Vec::new()).unwrap();
        assert_eq!(selector.matches(&labels), holds, "{expression}");
    }
}

#[test]
fn a_fix_changes_the_field_of_its_path_and_nothing_else() {
    let object = json!({ "spec": { "devices": [{ "a.b/c": { "cuont": 1 } }], "list": ["x"] } });
    let fixed = |fix: Fix, path: &str| {
        let mut object = object.clone();
        fix.apply(&mut object, path).then_some(object)
    };
    let renamed = fixed(Fix::Rename("count".to_owned()), "spec.devices[0][a.b/c].cuont").unwrap();
    assert_eq!(renamed, json!({ "spec": { "devices": [{ "a.b/c": { "count": 1 } }], "list": ["x"] } }));
    let set = fixed(Fix::Set(json!(2)), "spec.list[0]").unwrap();
    assert_eq!(set.pointer("/spec/list"), Some(&json!([2])));
    for path in ["", "spec.none", "spec.list[1]", "spec.list.x", "kind", "spec[", "[]]"] {
        assert_eq!(fixed(Fix::Set(json!(2)), path), None, "{path}");
    }
    assert_eq!(fixed(Fix::Rename("list".to_owned()), "spec.devices"), None);
    let nested = fixed(Fix::Nest("inner".to_owned()), "spec.list").unwrap();
    assert_eq!(nested.pointer("/spec/inner/list/0"), Some(&json!("x")));
    assert_eq!(fixed(Fix::Nest("devices".to_owned()), "spec.list"), None);
    assert_eq!(fixed(Fix::Nest("inner".to_owned()), "spec.none"), None);
    let mut back = nested;
    assert!(Fix::Unnest.apply(&mut back, "spec.inner"));
    assert_eq!(back, object);
    assert!(!Fix::Unnest.apply(&mut back, "spec.list"));
    let mut taken = json!({ "a": { "b": 1 }, "b": 2 });
    assert!(!Fix::Unnest.apply(&mut taken, "a"));
    assert_eq!(value_at(&object, "spec.devices[0][a.b/c].cuont"), Some(&json!(1)));
    assert_eq!(value_at(&object, "spec.list[1]"), None);
}
