//! The examples of the proposals, as their texts write them.

use std::path::Path;

use apportion_core::finding::ErrorKind;
use apportion_core::profile::{Profile, Version};
use apportion_core::validate::{Submission, in_default_namespace, validate};
use serde_json::{Value, json};

use crate::play::{Play, documents, pod};

/// The manifests of a text: each starts with `apiVersion:` or `kind:` and ends at an empty line, a separator or a fence. Those with
/// ellipses are sketches.
fn manifests(file: &str) -> Option<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/source-documents").join(file);
    let text = std::fs::read_to_string(path).ok()?;
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines().chain([""]) {
        let ends = line.is_empty() || line == "---" || line.starts_with("```");
        let starts = line.starts_with("apiVersion:") || line.starts_with("kind:");
        if starts && open.is_none() {
            open = Some(format!("{line}\n"));
        } else if ends {
            let manifest = open.take().filter(|manifest| !manifest.contains("..."));
            found.extend(manifest.iter().flat_map(|manifest| documents(manifest)));
        } else if let Some(manifest) = &mut open {
            manifest.push_str(line);
            manifest.push('\n');
        }
    }
    Some(found)
}

/// Two Deployments' Pods in two groups, with one template: two claims, each with a device of its own.
fn plays_the_example_of_kep_5729(file: &str) {
    let Some(manifests) = manifests(file) else { return };
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: example}}");
    let of = |kind: &str| manifests.iter().filter(|manifest| manifest["kind"] == kind).cloned().collect::<Vec<Value>>();
    for object in of("ResourceClaimTemplate").into_iter().chain(of("Workload")).chain(of("PodGroup")) {
        play.create(object).unwrap();
    }
    play.run(1);
    assert_eq!(play.claims().len(), 2, "one claim for each PodGroup, before there are Pods");
    for deployment in of("Deployment") {
        for replica in 0..deployment["spec"]["replicas"].as_i64().unwrap() {
            let name = format!("{}-{replica}", deployment["metadata"]["name"].as_str().unwrap());
            let mut pod = deployment["spec"]["template"].clone();
            pod["apiVersion"] = json!("v1");
            pod["kind"] = json!("Pod");
            pod["metadata"]["name"] = json!(name);
            play.create(pod).unwrap();
        }
    }
    play.run(1);
    let claims = play.claims();
    assert_eq!(claims.len(), 2);
    let mut devices = Vec::new();
    for claim in claims {
        assert_eq!(claim.status.reserved_for.len(), 1);
        assert_eq!(claim.status.reserved_for[0].resource, "podgroups");
        devices.push(claim.status.allocation.as_ref().unwrap().devices.results[0].device.clone());
    }
    assert_ne!(devices[0], devices[1]);
    for number in 1..=2 {
        let names: Vec<_> = (0..2)
            .map(|replica| play.pod(&format!("wl-claim-example-{number}-{replica}")))
            .inspect(|pod| assert_eq!(pod.spec.node_name, "node-1"))
            .map(|pod| pod.status.resource_claim_statuses[0].resource_claim_name.clone().unwrap())
            .collect();
        assert_eq!(names[0], names[1], "Pods of a group share its claim");
    }
}

/// r_036 r_037 r_040 r_041 r_042 r_043 r_045 r_046 r_141.
#[test]
fn r_043_the_example_of_the_later_revision_of_kep_5729() {
    plays_the_example_of_kep_5729("kep-5729-later-revision.txt");
}

/// r_044: the spelling of `v1alpha1`.
#[test]
fn r_044_the_example_of_the_earlier_revision_of_kep_5729() {
    plays_the_example_of_kep_5729("kep-5729-earlier-revision.md");
}

/// r_200 r_210: the Pod of the story, in a namespace that nobody prepared.
#[test]
fn r_210_the_story_of_kep_5978() {
    let Some(manifests) = manifests("kep-5978.txt") else { return };
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ClusterResourceClaimTemplate, metadata: {name: nvidia-h100-80gb}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}");
    let pod = manifests.into_iter().find(|manifest| manifest["kind"] == "Pod").unwrap();
    play.create(pod).unwrap();
    play.run(1);
    let claim = play.claim();
    assert_eq!(claim.metadata.namespace, "project-alpha");
    assert!(claim.metadata.name.starts_with("gpu-pod-gpu-") && claim.status.allocation.is_some());
}

/// r_127 r_144: the PodGroup of the proposal, after its Workload.
#[test]
fn r_127_the_pod_group_of_kep_5832() {
    let Some(manifests) = manifests("kep-5832.txt") else { return };
    let mut play = Play::new();
    play.apply("{apiVersion: scheduling.k8s.io/v1alpha2, kind: Workload, metadata: {name: training-workload, namespace: ns-1}, spec: {podGroupTemplates: [{name: pd-1-template}]}}");
    let group = manifests.into_iter().find(|manifest| manifest["kind"] == "PodGroup").unwrap();
    play.create(group).unwrap();
    let groups = play.simulation.server().cluster().pod_groups();
    assert_eq!(groups.values().next().unwrap().min_count(), Some(2));
}

/// r_300 r_301 r_338: every manifest of the page is taken, by the version that it was written for, and does what the page says of it.
///
/// But for one word: the API calls a field `bool` that the page calls `boolean`, and no version takes that.
#[test]
fn r_300_the_examples_of_the_concept_page() {
    let Some(mut manifests) = manifests("dra-concept-page.md") else { return };
    assert_eq!(manifests.len(), 5, "slice, two templates, slice with counters, taint rule");
    let mut profile = Profile::of(Version::V1_34);
    for gate in ["DRAPartitionableDevices", "DRADeviceTaints", "DRADeviceTaintRules"] {
        assert!(profile.features.set(gate, true));
    }
    let refusals = |manifests: &[Value], profile: &Profile| -> Vec<(ErrorKind, String)> {
        let answers = manifests.iter().map(|manifest| in_default_namespace(manifest.clone()));
        let findings = answers.flat_map(|manifest| validate(Submission::create(manifest), profile));
        findings.filter_map(|finding| Some((finding.kind?, finding.path))).collect()
    };
    let cat = "spec.devices[0].basic.attributes[cat]".to_owned();
    let word = (ErrorKind::Invalid, cat);
    let by_its_version = refusals(&manifests, &profile);
    assert_eq!(by_its_version.as_slice(), std::slice::from_ref(&word));
    // Since 1.35 a slice has either counters or devices.
    let both = (ErrorKind::Invalid, "spec".to_owned());
    assert_eq!(refusals(&manifests, &crate::play::profile()), [word, both]);
    let attribute = manifests[0].pointer_mut("/spec/devices/0/basic/attributes/cat").unwrap();
    *attribute = json!({ "bool": attribute["boolean"] });
    assert_eq!(refusals(&manifests, &profile), []);

    let mut play = Play::with(profile);
    play.apply("{apiVersion: v1, kind: Node, metadata: {name: worker-1}}");
    play.apply("{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {resource.kubernetes.io/admin-access: 'true'}}}");
    for driver in ["resource-driver.example.com", "dra.example.com"] {
        let name = if driver.starts_with("dra") { "counted" } else { "resource.example.com" };
        play.apply(&format!("{{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {{name: {name}}}, spec: {{selectors: [{{cel: {{expression: device.driver == '{driver}'}}}}]}}}}"));
    }
    let (rules, others): (Vec<Value>, Vec<Value>) =
        manifests.into_iter().partition(|manifest| manifest["kind"] == "DeviceTaintRule");
    for object in others {
        play.create(object).unwrap();
    }
    let result = |play: &Play, pod: &str| {
        let name = play.pod(pod).status.resource_claim_statuses[0].resource_claim_name.clone().unwrap();
        let allocation = play.named_claim(&name).status.allocation.clone();
        allocation.map(|all| (all.devices.results[0].request.clone(), all.devices.results[0].device.clone()))
    };
    let given = |request: &str, device: &str| Some((request.to_owned(), device.to_owned()));
    play.apply(&pod("choosy", "resourceClaimTemplateName: prioritized-list-claim-template", ""));
    assert_eq!(result(&play, "choosy"), given("req-0/large-black", "large-black-cat"));
    play.apply(&pod("admin", "resourceClaimTemplateName: large-black-cat-claim-template", ""));
    assert_eq!(result(&play, "admin"), given("req-0", "large-black-cat"), "though it is in use");
    // Either of the two devices leaves too little for the other.
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: part}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: counted}}]}}}}");
    play.apply(&pod("first", "resourceClaimTemplateName: part", ""));
    play.apply(&pod("second", "resourceClaimTemplateName: part", ""));
    assert_eq!((result(&play, "first"), result(&play, "second")), (given("r", "device-1"), None));
    assert_eq!(play.pod("first").spec.node_name, "worker-1");
    for rule in rules {
        play.create(rule).unwrap();
    }
    play.run(1);
    let is_leaving = |name: &str| play.pod(name).metadata.is_deleting();
    assert_eq!(["first", "choosy"].map(is_leaving), [true, false], "the rule is for one driver");
}
