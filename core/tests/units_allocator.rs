//! The recorded answers of the reference to small questions: capacity, tolerations, node selectors.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads files and fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path as FilePath;

use apportion_core::allocate::capacity::Rounding;
use apportion_core::allocate::{capacity, tolerates};
use apportion_core::api::claim::{CapacityRequirements, DeviceToleration};
use apportion_core::api::node::{Node, NodeSelector};
use apportion_core::api::quantity::Quantity;
use apportion_core::api::read::{Json, Path};
use apportion_core::api::slice::{Device, DeviceCapacity, DeviceTaint};
use apportion_core::cluster::node_selector;
use serde_json::Value;

fn cases(file: &str) -> Vec<Value> {
    let path = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/units").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() > 100, "{file}: {} cases", cases.len());
    cases
}

fn read<T: Json>(value: &Value) -> T {
    T::read(value.clone(), &Path::ROOT, &mut Vec::new()).unwrap()
}

#[test]
fn requests_consume_capacity_as_recorded() {
    for case in cases("capacity-1.37.2.jsonl") {
        let capacities: BTreeMap<String, DeviceCapacity> = read(&case["capacity"]);
        let request: Option<CapacityRequirements> = read(&case["request"]);
        let taken: BTreeMap<String, Quantity> = read(&case["consumedByOthers"]);
        let device = Device { capacity: capacities.clone().into(), ..Device::default() };
        let fits = capacity::grantable(request.as_ref(), &device, Rounding::default())
            .is_some_and(|amounts| capacity::is_left(&amounts, &capacities, [&taken]));
        assert_eq!(fits, case["fits"].as_bool().unwrap(), "{case}");
        if fits {
            let consumed: BTreeMap<String, Quantity> = read(&case["consumed"]);
            assert_eq!(capacity::consumed(request.as_ref(), &capacities, Rounding::default()), consumed, "{case}");
        }
    }
}

#[test]
fn tolerations_cover_taints_as_recorded() {
    for case in cases("tolerations-1.37.2.jsonl") {
        let (toleration, taint): (DeviceToleration, DeviceTaint) = (read(&case["toleration"]), read(&case["taint"]));
        assert_eq!(tolerates(&toleration, &taint), case["tolerated"].as_bool().unwrap(), "{case}");
    }
}

#[test]
fn node_selectors_match_nodes_as_recorded() {
    for case in cases("nodeselector-1.37.2.jsonl") {
        let (selector, mut node): (NodeSelector, Value) = (read(&case["nodeSelector"]), case["node"].clone());
        node.as_object_mut().unwrap().retain(|name, _| name != "apiVersion" && name != "kind");
        let node: Node = read(&node);
        match node_selector::matches(&selector, &node) {
            Ok(is_match) => {
                assert!(case.get("error").is_none(), "{case}");
                assert_eq!(is_match, case["matches"].as_bool().unwrap(), "{case}");
            }
            Err(error) => assert!(case.get("error").is_some(), "{error} {case}"),
        }
    }
}
