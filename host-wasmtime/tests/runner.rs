//! The runner as a library: what holds when the component stops, and what it may do at all.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use apportion::{Cluster, Door, Error, HostLimits, Native, Runner, Stop};
use apportion_core::allocate::{ClaimNames, KnownQuestion, Limits, Outcome};
use apportion_core::finding::{Code, ObjectRef};
use apportion_core::profile::{Profile, Version};
use serde_json::{Value, json};

const NODE: &str = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}}"#;

fn cluster(host_limits: HostLimits) -> Cluster {
    Runner::new().unwrap().cluster(&Profile::default(), Limits::default(), host_limits).unwrap()
}

fn node() -> ObjectRef {
    ObjectRef { kind: "Node".to_owned(), namespace: String::new(), name: "node-a".to_owned() }
}

/// A slice with many devices, as one JSON text.
fn slice(devices: usize) -> String {
    let devices: Vec<String> = (0..devices).map(|index| format!(r#"{{"name": "device-{index}"}}"#)).collect();
    format!(
        r#"{{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {{"name": "s"}}, "spec": {{
            "driver": "gpu.example.com", "nodeName": "node-a", "devices": [{}],
            "pool": {{"name": "node-a", "generation": 1, "resourceSliceCount": 1}}}}}}"#,
        devices.join(", ")
    )
}

#[test]
fn the_component_imports_nothing() {
    assert_eq!(Runner::new().unwrap().imports(), [""; 0]);
}

#[test]
fn a_component_that_imports_something_is_refused() {
    let header = b"\0asm\x0d\0\x01\0";
    let function_type = [0x07, 0x05, 0x01, 0x40, 0x00, 0x01, 0x00];
    let import_of_now = [0x0a, 0x08, 0x01, 0x00, 0x03, b'n', b'o', b'w', 0x01, 0x00];
    let bytes = [&header[..], &function_type, &import_of_now].concat();
    let Err(Error::Load(text)) = Runner::from_wasm(&bytes) else { panic!("loaded") };
    assert!(text.contains("now"), "{text}");
    assert!(matches!(Runner::from_wasm(b"no component"), Err(Error::Load(_))));
}

#[test]
fn facts_stay_between_calls() {
    let mut cluster = cluster(HostLimits::default());
    assert_eq!(cluster.apply(&[NODE.to_owned()]).unwrap(), [[]]);
    assert_eq!(cluster.get(&node()).unwrap().unwrap()["metadata"]["name"], "node-a");
    assert!(cluster.delete(&node()).unwrap());
    assert!(!cluster.delete(&node()).unwrap());
    assert_eq!(cluster.get(&node()).unwrap(), None);
}

#[test]
fn findings_come_per_object() {
    let mut cluster = cluster(HostLimits::default());
    let objects = [NODE.to_owned(), "{".to_owned(), r#"{"apiVersion": "v1", "kind": "Secret"}"#.to_owned()];
    let codes: Vec<Vec<Code>> = cluster
        .apply(&objects)
        .unwrap()
        .iter()
        .map(|found| found.iter().map(|finding| finding.code).collect())
        .collect();
    assert_eq!(codes, [vec![], vec![Code::ReadBadJson], vec![Code::ReadUnknownKind]]);
}

#[test]
fn too_much_memory_costs_the_call_and_nothing_else() {
    let limits = HostLimits { memory: 16 << 20, ..HostLimits::default() };
    let mut cluster = cluster(limits);
    cluster.apply(&[NODE.to_owned()]).unwrap();
    let error = cluster.apply(&[slice(1_000_000)]).unwrap_err();
    assert!(matches!(&error, Error::Stopped(Stop::Memory { limit }) if *limit == limits.memory), "{error}");
    assert_eq!(error.findings()[0].code, Code::LimitMemory);
    assert_eq!(cluster.stops(), 1);
    assert!(cluster.get(&node()).unwrap().is_some(), "the fresh instance has the objects applied before");
    assert_eq!(cluster.run().unwrap().nodes.len(), 1);
    assert_eq!(cluster.stops(), 1);
}

#[test]
fn claims_placed_in_one_call_keep_their_devices_after_a_stop() {
    const CLASS: &str =
        r#"{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}"#;
    let claim = |number: usize| {
        format!(
            r#"{{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {{"namespace": "ml", "name": "c{number}"}},
                "spec": {{"devices": {{"requests": [{{"name": "r", "exactly": {{"deviceClassName": "gpu", "count": 1}}}}]}}}}}}"#
        )
    };
    let key = |number: usize| ("ml".to_owned(), format!("c{number}"));
    let mut objects = vec![NODE.to_owned(), CLASS.to_owned(), slice(2)];
    objects.extend((0..5).map(claim));
    let limits = HostLimits { memory: 16 << 20, ..HostLimits::default() };
    let (mut component, mut native) = (cluster(limits), Native::new(Profile::default(), Limits::default()));
    let question = KnownQuestion { claims: ClaimNames::of((0..5).map(key)), take: true, ..Default::default() };
    let mut told = Vec::new();
    for door in [&mut component as &mut dyn Door, &mut native] {
        door.apply(&objects).unwrap();
        let answers = door.allocate_each(&question).unwrap();
        // Two devices: the third claim finds no place, and nobody is asked after it.
        let names = answers.iter().map(|answer| match &answer.outcome {
            Outcome::Allocated { allocations, .. } => allocations[0].devices.results[0].device.clone(),
            _ => String::new(),
        });
        told.push((names.collect::<Vec<_>>(), answers.iter().map(|answer| answer.steps).collect::<Vec<_>>()));
    }
    assert_eq!(told[0].0, ["device-0", "device-1", ""]);
    assert_eq!(told[0], told[1]);
    component.apply(&[slice(1_000_000)]).unwrap_err();
    let again =
        component.allocate_each(&KnownQuestion { claims: ClaimNames::of([key(3)]), ..question.clone() }).unwrap();
    assert!(matches!(again[0].outcome, Outcome::Unsatisfied { .. }), "the fresh instance knows who has the devices");
    let unknown = KnownQuestion { claims: ClaimNames::of([key(3), key(9)]), ..question };
    assert!(matches!(component.allocate_each(&unknown), Err(Error::Refused(_))));
}

/// Shares of a device with everything that a result can have, then devices of their own, of claims with configuration.
#[test]
fn answers_one_after_another_are_whole_also_after_a_stop() {
    let object = |kind: &str, name: &str, spec: Value| {
        let metadata = json!({"namespace": if kind == "ResourceClaim" { "ml" } else { "" }, "name": name});
        json!({"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}).to_string()
    };
    let pool = json!({"name": "node-a", "generation": 1, "resourceSliceCount": 1});
    let taint = json!({"key": "t", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"});
    let nic = json!({"name": "nic-0", "allowMultipleAllocations": true, "capacity": {"bandwidth": {"value": "10"}},
        "taints": [taint], "bindsToNode": true, "bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]});
    let devices = json!([nic, {"name": "vf-0"}, {"name": "vf-1"}]);
    let slice = json!({"driver": "nic.example.com", "nodeName": "node-a", "devices": devices, "pool": pool});
    let config = json!([{"opaque": {"driver": "nic.example.com", "parameters": {"mtu": 9000}}}]);
    let class = |expression: &str| json!({"selectors": [{"cel": {"expression": expression}}], "config": config});
    let shared = json!({"deviceClassName": "nic", "capacity": {"requests": {"bandwidth": "3"}}, "tolerations": [{"operator": "Exists"}]});
    let claim =
        |request: &Value| json!({"devices": {"requests": [{"name": "r", "exactly": request}], "config": config}});
    let mut objects = vec![
        NODE.to_owned(),
        object("DeviceClass", "nic", class("device.allowMultipleAllocations == true")),
        object("DeviceClass", "vf", class("device.allowMultipleAllocations == false")),
        object("ResourceSlice", "s", slice),
    ];
    let requests = [&shared, &shared, &shared, &json!({"deviceClassName": "vf"}), &json!({"deviceClassName": "vf"})];
    let names: Vec<String> = (0..=requests.len()).map(|number| format!("c{number}")).collect();
    let all = requests.into_iter().chain([&shared]);
    objects.extend(all.zip(&names).map(|(request, name)| object("ResourceClaim", name, claim(request))));
    let claims = vec![ClaimNames { namespace: "ml".to_owned(), names: names.clone() }];
    let question = KnownQuestion { claims, take: true, ..KnownQuestion::default() };

    let limits = HostLimits { memory: 16 << 20, ..HostLimits::default() };
    let (mut component, mut native) = (cluster(limits), Native::new(Profile::default(), Limits::default()));
    for door in [&mut component as &mut dyn Door, &mut native] {
        assert_eq!(door.apply(&objects).unwrap().concat(), []);
    }
    let answers = native.allocate_each(&question).unwrap();
    assert_eq!(answers.iter().filter(|answer| answer.allocations().len() == 1).count(), 5);
    assert!(matches!(answers[5].outcome, Outcome::Unsatisfied { .. }), "three shares of 3 leave 1 of 10");
    assert_eq!(component.allocate_each(&question).unwrap(), answers);
    component.apply(&[self::slice(1_000_000)]).unwrap_err();
    for name in names {
        let claim = ObjectRef { kind: "ResourceClaim".to_owned(), namespace: "ml".to_owned(), name };
        assert_eq!(component.get(&claim).unwrap(), native.get(&claim).unwrap());
    }
}

#[test]
fn an_instance_that_does_not_fit_its_limits_is_not_had() {
    let limits = HostLimits { memory: 1 << 16, ..HostLimits::default() };
    let refused = Runner::new().unwrap().cluster(&Profile::default(), Limits::default(), limits);
    assert!(matches!(refused, Err(Error::Stopped(Stop::Memory { .. }))));
}

#[test]
fn the_profile_crosses_the_border() {
    let mut profile = Profile::of(Version::V1_34);
    assert!(profile.features.set("DRADeviceTaints", true));
    let mut component = Runner::new().unwrap().cluster(&profile, Limits::default(), HostLimits::default()).unwrap();
    let mut native = Native::new(profile, Limits::default());
    for door in [&mut component as &mut dyn Door, &mut native] {
        door.apply(&[NODE.to_owned(), slice(3)]).unwrap();
    }
    assert_eq!(component.run().unwrap(), native.run().unwrap());
}
