//! Formats of names and values.

use apportion_core::finding::Finding;
use apportion_core::profile::Profile;
use apportion_core::validate::{Operation, Submission, validate};
use serde_json::{Value, json};

use crate::create;

/// How many findings there are at a place.
fn count(findings: &[Finding], path: &str) -> usize {
    findings.iter().filter(|finding| finding.path == path).count()
}

/// The findings about a slice with one device.
fn of_device(device: Value) -> Vec<Finding> {
    create(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
        "spec": { "driver": "d", "pool": { "name": "p", "resourceSliceCount": 1 }, "allNodes": true, "devices": [device] },
    }))
}

#[test]
fn an_empty_key_breaks_two_rules() {
    for (key, problems) in [("", 2), ("a/b/c", 1), ("example.com/Some_name", 0)] {
        let device = json!({ "name": "d", "taints": [{ "key": key, "effect": "NoSchedule" }] });
        assert_eq!(count(&of_device(device), "spec.devices[0].taints[0].key"), problems, "{key}");
    }
}

#[test]
fn versions_follow_semver() {
    let is_version = |text: &str| {
        let device = json!({ "name": "d", "attributes": { "v": { "version": text } } });
        count(&of_device(device), "spec.devices[0].attributes[v].version") == 0
    };
    for good in ["1.2.3", "0.0.0", "1.2.3-alpha.1+b.007", "1.0.0--", "1.0.0-0a"] {
        assert!(is_version(good), "{good}");
    }
    for bad in ["v1.2.3", "1.2", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b", ""] {
        assert!(!is_version(bad), "{bad}");
    }
}

#[test]
fn interface_addresses_are_canonical() {
    let is_address = |text: &str| {
        let claim = |status: Value| {
            let metadata = json!({ "name": "c", "namespace": "n", "resourceVersion": "1" });
            json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "status": status })
        };
        let device = json!({ "driver": "d", "pool": "p", "device": "d", "networkData": { "ips": [text] } });
        let object = claim(json!({ "devices": [device] }));
        let operation = Operation::StatusUpdate;
        let submission = Submission { object, old: Some(claim(json!({}))), operation, ..Submission::default() };
        count(&validate(submission, &Profile::default()), "status.devices[0].networkData.ips[0]") == 0
    };
    for good in ["192.168.1.2/24", "10.0.0.0/8", "2001:db8::1/64", "::1/128"] {
        assert!(is_address(good), "{good}");
    }
    for bad in
        ["192.168.1.2", "192.168.01.2/24", "192.168.1.2/33", "2001:DB8::1/64", "::ffff:1.2.3.4/96", "1.2.3.4/024"]
    {
        assert!(!is_address(bad), "{bad}");
    }
}
