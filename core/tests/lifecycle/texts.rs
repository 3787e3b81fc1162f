//! Manifests in the forms of the proposals and of the concept page: each old and new spelling together, as their examples have them.

use apportion_core::finding::ErrorKind;
use apportion_core::profile::{Profile, Version};
use apportion_core::validate::{Submission, in_default_namespace, validate};
use serde_json::{Value, json};

use crate::play::{Play, documents, pod};

/// A template, a Workload with two groups, a PodGroup for each of them, and a Deployment of two Pods in each, one document each. The
/// versions differ in how a PodGroup names its template, a Workload's group its policy and a Pod its PodGroup.
fn two_groups(version: &str, policy: &str, of_template: fn(&str) -> String, of_pod: fn(&str) -> String) -> Vec<Value> {
    let claims = "resourceClaims: [{name: accelerator, resourceClaimTemplateName: accelerators}]";
    let group = |name: &str| format!("{{name: {name}, {policy}: {{basic: {{}}}}, {claims}}}");
    let mut text = format!(
        "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {{name: accelerators, namespace: default}}, spec: {{spec: \
         {{devices: {{requests: [{{name: one, exactly: {{deviceClassName: example}}}}]}}}}}}}}\n---\n\
         {{apiVersion: scheduling.k8s.io/{version}, kind: Workload, metadata: {{name: training, namespace: default}}, spec: \
         {{podGroupTemplates: [{}, {}]}}}}\n",
        group("left"),
        group("right"),
    );
    for side in ["left", "right"] {
        text += &format!(
            "---\n{{apiVersion: scheduling.k8s.io/{version}, kind: PodGroup, metadata: {{name: {side}-group, namespace: default}}, spec: \
             {{{}, {claims}}}}}\n---\n\
             {{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {side}, namespace: default}}, spec: {{replicas: 2, selector: \
             {{matchLabels: {{side: {side}}}}}, template: {{metadata: {{labels: {{side: {side}}}}}, spec: {{containers: [{{name: main, image: \
             pause, resources: {{claims: [{{name: device}}]}}}}], resourceClaims: [{{name: device, podGroupResourceClaim: accelerator}}], \
             {}}}}}}}}}\n",
            of_template(side),
            of_pod(side),
        );
    }
    documents(&text)
}

/// Two Deployments' Pods in two groups, with one template: two claims, each with a device of its own.
fn two_groups_get_two_claims(manifests: &[Value]) {
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
    for side in ["left", "right"] {
        let names: Vec<_> = (0..2)
            .map(|replica| play.pod(&format!("{side}-{replica}")))
            .inspect(|pod| assert_eq!(pod.spec.node_name, "node-1"))
            .map(|pod| pod.status.resource_claim_statuses[0].resource_claim_name.clone().unwrap())
            .collect();
        assert_eq!(names[0], names[1], "Pods of a group share its claim");
    }
}

/// r_036 r_037 r_040 r_041 r_042 r_043 r_045 r_046 r_141.
#[test]
fn r_043_the_forms_of_the_later_revision_of_kep_5729() {
    let of_template =
        |side: &str| format!("podGroupTemplateRef: {{workloadName: training, podGroupTemplateName: {side}}}");
    let of_pod = |side: &str| format!("schedulingGroup: {{podGroupName: {side}-group}}");
    two_groups_get_two_claims(&two_groups("v1alpha2", "schedulingPolicy", of_template, of_pod));
}

/// r_044: the spelling of `v1alpha1`.
#[test]
fn r_044_the_forms_of_the_earlier_revision_of_kep_5729() {
    let of_template = |side: &str| format!("workloadRef: {{name: training}}, podGroupTemplateRef: {{name: {side}}}");
    let of_pod = |side: &str| format!("workloadRef: {{name: training, podGroupName: {side}-group}}");
    two_groups_get_two_claims(&two_groups("v1alpha1", "policy", of_template, of_pod));
}

/// r_200 r_210: a Pod in a namespace that nobody prepared.
#[test]
fn r_210_a_pod_in_a_new_namespace_gets_a_claim_from_a_cluster_wide_template() {
    let mut play = Play::new();
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ClusterResourceClaimTemplate, metadata: {name: large-gpu}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}");
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: trainer, namespace: new-team}, spec: {containers: [{name: main, image: train, resources: {claims: [{name: gpu}]}}], resourceClaims: [{name: gpu, clusterResourceClaimTemplateName: large-gpu}]}}";
    play.create(documents(pod).remove(0)).unwrap();
    play.run(1);
    let claim = play.claim();
    assert_eq!(claim.metadata.namespace, "new-team");
    assert!(claim.metadata.name.starts_with("trainer-gpu-") && claim.status.allocation.is_some());
}

/// r_045 r_127 r_144: a PodGroup as the proposal writes it, after its Workload.
#[test]
fn r_127_the_form_of_the_pod_group_of_kep_5832() {
    let mut play = Play::new();
    play.apply("{apiVersion: scheduling.k8s.io/v1alpha2, kind: Workload, metadata: {name: pair, namespace: ml}, spec: {podGroupTemplates: [{name: both}]}}");
    let group = "{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: pair-0, namespace: ml}, spec: {podGroupTemplateRef: {workload: {workloadName: pair, podGroupTemplateName: both}}, schedulingPolicy: {gang: {minCount: 2}}}, status: {conditions: [{type: PodGroupScheduled, status: 'True'}]}}";
    play.create(documents(group).remove(0)).unwrap();
    let groups = play.simulation.server().cluster().pod_groups();
    assert_eq!(groups.values().next().unwrap().min_count(), Some(2));
}

/// What the concept page shows, in its forms: a slice in the oldest version with one type spelled as the page does, two templates, a
/// slice with counters and devices together, and a rule.
const PAGE: &str = r#"
{apiVersion: resource.k8s.io/v1beta1, kind: ResourceSlice, metadata: {name: paints}, spec: {driver: paint.example.com, allNodes: true,
  pool: {name: shelf, generation: 1, resourceSliceCount: 1},
  devices: [{name: big-red, basic: {attributes: {color: {string: red}, size: {string: big}, wet: {boolean: true}}}}]}}
---
{apiVersion: resource.k8s.io/v1beta2, kind: ResourceClaimTemplate, metadata: {name: every-paint},
  spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: paint, allocationMode: All, adminAccess: true}}]}}}}
---
{apiVersion: resource.k8s.io/v1beta2, kind: ResourceClaimTemplate, metadata: {name: red-or-two-blue},
  spec: {spec: {devices: {requests: [{name: r, firstAvailable: [
    {name: big-red, deviceClassName: paint, selectors: [{cel: {expression: 'device.attributes["paint.example.com"].color == "red" && device.attributes["paint.example.com"].size == "big"'}}]},
    {name: small-blue, deviceClassName: paint, count: 2, selectors: [{cel: {expression: 'device.attributes["paint.example.com"].color == "blue" && device.attributes["paint.example.com"].size == "small"'}}]},
  ]}]}}}}
---
{apiVersion: resource.k8s.io/v1beta2, kind: ResourceSlice, metadata: {name: parts}, spec: {driver: part.example.com, nodeName: worker,
  pool: {name: parts, generation: 1, resourceSliceCount: 1},
  sharedCounters: [{name: chip, counters: {memory: {value: 8Gi}}}],
  devices: [
    {name: part-a, consumesCounters: [{counterSet: chip, counters: {memory: {value: 6Gi}}}]},
    {name: part-b, consumesCounters: [{counterSet: chip, counters: {memory: {value: 6Gi}}}]}]}}
---
{apiVersion: resource.k8s.io/v1alpha3, kind: DeviceTaintRule, metadata: {name: broken},
  spec: {deviceSelector: {driver: part.example.com}, taint: {key: part.example.com/broken, value: all, effect: NoExecute}}}
"#;

/// r_300 r_301 r_338: every manifest of the page is taken, by the version that it was written for, and does what the page says of it.
///
/// But for one word: the API calls a field `bool` that the page calls `boolean`, and no version takes that.
#[test]
fn r_300_the_forms_of_the_concept_page() {
    let mut manifests = documents(PAGE);
    let mut profile = Profile::of(Version::V1_34);
    for gate in ["DRAPartitionableDevices", "DRADeviceTaints", "DRADeviceTaintRules"] {
        assert!(profile.features.set(gate, true));
    }
    let refusals = |manifests: &[Value], profile: &Profile| -> Vec<(ErrorKind, String)> {
        let answers = manifests.iter().map(|manifest| in_default_namespace(manifest.clone()));
        let findings = answers.flat_map(|manifest| validate(Submission::create(manifest), profile));
        findings.filter_map(|finding| Some((finding.kind?, finding.path))).collect()
    };
    let field = "spec.devices[0].basic.attributes[wet]".to_owned();
    let word = (ErrorKind::Invalid, field);
    let by_its_version = refusals(&manifests, &profile);
    assert_eq!(by_its_version.as_slice(), std::slice::from_ref(&word));
    // Since 1.35 a slice has either counters or devices.
    let both = (ErrorKind::Invalid, "spec".to_owned());
    assert_eq!(refusals(&manifests, &crate::play::profile()), [word, both]);
    let attribute = manifests[0].pointer_mut("/spec/devices/0/basic/attributes/wet").unwrap();
    *attribute = json!({ "bool": attribute["boolean"] });
    assert_eq!(refusals(&manifests, &profile), []);

    let mut play = Play::with(profile);
    play.apply("{apiVersion: v1, kind: Node, metadata: {name: worker}}");
    play.apply("{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {resource.kubernetes.io/admin-access: 'true'}}}");
    for driver in ["paint.example.com", "part.example.com"] {
        let name = if driver.starts_with("part") { "counted" } else { "paint" };
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
    play.apply(&pod("choosy", "resourceClaimTemplateName: red-or-two-blue", ""));
    assert_eq!(result(&play, "choosy"), given("r/big-red", "big-red"));
    play.apply(&pod("admin", "resourceClaimTemplateName: every-paint", ""));
    assert_eq!(result(&play, "admin"), given("r", "big-red"), "though it is in use");
    // Either of the two devices leaves too little for the other.
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: part}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: counted}}]}}}}");
    play.apply(&pod("first", "resourceClaimTemplateName: part", ""));
    play.apply(&pod("second", "resourceClaimTemplateName: part", ""));
    assert_eq!((result(&play, "first"), result(&play, "second")), (given("r", "part-a"), None));
    assert_eq!(play.pod("first").spec.node_name, "worker");
    for rule in rules {
        play.create(rule).unwrap();
    }
    play.run(1);
    let is_leaving = |name: &str| play.pod(name).metadata.is_deleting();
    assert_eq!(["first", "choosy"].map(is_leaving), [true, false], "the rule is for one driver");
}
