//! Claims of PodGroups, from creation to the end (KEP-5729), and the PodGroups themselves (KEP-5832).

use apportion_core::control_plane::Component;
use apportion_core::controllers::kubelet::{Permission, may_use};
use apportion_core::decision::{CLAIM_FINALIZER, GROUP_FINALIZER};
use apportion_core::profile::{Mode, Profile};
use serde_json::json;

use crate::play::{Play, TEMPLATE, documents, group, pod};

/// r_001 r_002 r_005 r_006 r_032 r_047 r_049 r_060 r_084: made with the PodGroup, owned by it, without devices.
#[test]
fn r_047_a_pod_group_gets_its_claim_before_any_pod() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    let claim = play.claim();
    let owner = claim.metadata.controller().unwrap();
    assert_eq!((owner.kind.as_str(), owner.name.as_str()), ("PodGroup", "group"));
    assert_eq!(owner.api_version, "scheduling.k8s.io/v1alpha2");
    assert!(claim.status.allocation.is_none() && claim.status.reserved_for.is_empty());
}

/// r_033 r_034 r_050 r_051 r_214 r_215: name, annotation, and everything that the template says.
#[test]
fn r_033_a_generated_claim_is_named_after_owner_and_entry() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    let claim = play.claim();
    assert!(claim.metadata.name.starts_with("group-gpu-") && claim.metadata.name.len() == "group-gpu-".len() + 5);
    assert_eq!(claim.metadata.annotations["resource.kubernetes.io/pod-claim-name"], "gpu");
    assert_eq!((claim.metadata.labels["team"].as_str(), claim.metadata.annotations["note"].as_str()), ("ml", "copied"));
    let recorded = &play.group("group").unwrap().status.resource_claim_statuses;
    assert_eq!(recorded[0].resource_claim_name.as_ref(), Some(&claim.metadata.name));
}

/// r_003 r_015 r_016 r_052 r_054 r_056 r_061 r_062 r_063 r_085 r_086 r_106: one allocation, one reservation.
#[test]
fn r_062_pods_of_a_group_share_one_reservation() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.apply(&pod("m-1", TEMPLATE, "group"));
    let first = play.claim().clone();
    assert!(first.metadata.finalizers.contains(&CLAIM_FINALIZER.to_owned()));
    for name in ["m-2", "m-3", "m-4"] {
        play.apply(&pod(name, TEMPLATE, "group"));
        assert_eq!(play.pod(name).spec.node_name, "node-1");
        let recorded = &play.pod(name).status.resource_claim_statuses[0];
        assert_eq!(recorded.resource_claim_name.as_ref(), Some(&first.metadata.name));
    }
    assert_eq!(play.claim().status, first.status);
    let consumer = &first.status.reserved_for[0];
    assert_eq!((consumer.resource.as_str(), consumer.name.as_str()), ("podgroups", "group"));
}

/// r_007 r_014: thousands of Pods, one reservation.
#[test]
fn r_007_five_thousand_pods_use_one_claim() {
    let mut play = Play::new();
    play.patch("Node", "node-1", false, json!({ "status": { "allocatable": { "pods": "6000" } } }));
    play.apply(&group("group", "basic: {}", TEMPLATE));
    let member = documents(&pod("m", TEMPLATE, "group")).remove(0);
    for number in 0..5000 {
        let mut member = member.clone();
        member["metadata"]["name"] = json!(format!("m-{number}"));
        play.create(member).unwrap();
    }
    play.run(5);
    let pods = play.simulation.server().cluster().pods().values();
    assert_eq!(pods.filter(|pod| pod.spec.node_name == "node-1").count(), 5000);
    assert_eq!(play.claim().status.reserved_for.len(), 1);
}

/// r_018 r_022 r_068 r_057 r_058 r_059 r_064 r_065 r_069 r_087 r_088 r_134: only the end of the PodGroup frees the devices.
#[test]
fn r_065_the_claim_ends_with_the_pod_group_only() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.apply(&pod("m-1", TEMPLATE, "group"));
    play.delete("Pod", "m-1");
    assert!(play.claim().status.allocation.is_some(), "the claim outlives its Pods");
    play.delete("PodGroup", "group");
    assert_eq!(play.claims().len(), 0);
}

/// r_140 r_066 r_067 r_153 r_147 r_148 r_150 r_151 r_152: the finalizer holds while a Pod has not ended.
#[test]
fn r_147_a_pod_group_stays_while_a_pod_runs() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.apply(&pod("m-1", TEMPLATE, "group"));
    assert!(play.group("group").unwrap().metadata.finalizers.contains(&GROUP_FINALIZER.to_owned()));
    play.delete("PodGroup", "group");
    assert!(play.group("group").unwrap().metadata.is_deleting());
    assert_eq!(play.claim().status.reserved_for.len(), 1, "nothing is freed under a running Pod");
    play.patch("Pod", "m-1", true, json!({ "status": { "phase": "Succeeded" } }));
    assert!(play.group("group").is_none());
}

/// r_149: KEP-5832 wants the finalizer on every PodGroup.
#[test]
fn r_149_a_missing_finalizer_is_added() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.patch("PodGroup", "group", false, json!({ "metadata": { "finalizers": null } }));
    assert_eq!(play.group("group").unwrap().metadata.finalizers, [GROUP_FINALIZER]);
}

/// r_004 r_010 r_046 r_079: groups with one template have claims and devices of their own.
#[test]
fn r_010_two_groups_get_two_claims() {
    let mut play = Play::new();
    for name in ["a", "b"] {
        play.apply(&group(name, "basic: {}", TEMPLATE));
        play.apply(&pod(&format!("{name}-1"), TEMPLATE, name));
        play.apply(&pod(&format!("{name}-2"), TEMPLATE, name));
    }
    let device = |claim: &apportion_core::api::claim::ResourceClaim| {
        claim.status.allocation.as_ref().unwrap().devices.results[0].device.clone()
    };
    let devices: Vec<String> = play.claims().into_iter().map(device).collect();
    assert_eq!(devices.len(), 2);
    assert_ne!(devices[0], devices[1]);
}

/// r_035 r_038 r_039: an entry that equals none of the group's belongs to the Pod.
#[test]
fn r_039_an_entry_unlike_the_groups_is_the_pods_own() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    let other = pod("m-1", TEMPLATE, "group")
        .replace("{name: gpu, resource", "{name: own, resource")
        .replace("[{name: gpu}]", "[{name: own}]");
    play.apply(&other);
    assert_eq!(play.claims().len(), 2);
    let own = play.claims().into_iter().find(|claim| claim.metadata.name.starts_with("m-1-own-")).unwrap().clone();
    assert_eq!(own.status.reserved_for[0].resource, "pods");
}

/// r_019 r_070 r_071 r_072 r_097 r_101: who may use a claim, and an old kubelet's view of it.
#[test]
fn r_071_members_are_allowed_by_the_name_of_their_group() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.apply(&pod("m-1", TEMPLATE, "group"));
    let cluster = play.simulation.server().cluster();
    let member = play.pod("m-1");
    let claim = play.claim().metadata.name.clone();
    assert_eq!(may_use(cluster, member, true), [Permission::Granted { claim, through_group: true }]);
    assert!(matches!(may_use(cluster, member, false).as_slice(), [Permission::Refused(_)]));
    let mut stranger = member.clone();
    stranger.metadata.uid = "other".to_owned();
    stranger.spec.scheduling_group = None;
    assert!(matches!(may_use(cluster, &stranger, true).as_slice(), [Permission::Refused(_)]));
}

/// r_090 r_091 r_092 r_093 r_094 r_095 r_098 r_102 r_103: the feature goes and comes back.
#[test]
fn r_092_a_scheduler_without_the_feature_lists_pods_beside_the_group() {
    let mut play = Play::new();
    let named = "resourceClaimName: shared";
    play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: shared}, spec: {devices: {requests: [{name: req, exactly: {deviceClassName: gpu}}]}}}");
    play.apply(&group("group", "basic: {}", named));
    play.apply(&pod("m-1", named, "group"));
    play.restart(Component::Scheduler, |profile| profile.features.workload_resource_claims = false);
    play.apply(&pod("m-2", named, "group"));
    let resources = |play: &Play| -> Vec<String> {
        play.named_claim("shared").status.reserved_for.iter().map(|consumer| consumer.resource.clone()).collect()
    };
    assert_eq!(resources(&play), ["podgroups", "pods"]);
    play.restart(Component::Controllers, |profile| profile.features.workload_resource_claims = false);
    play.delete("Pod", "m-2");
    play.delete("Pod", "m-1");
    play.delete("PodGroup", "group");
    assert_eq!(resources(&play), ["podgroups"], "without the feature nobody removes it");
    play.restart(Component::Controllers, |_| {});
    assert_eq!(resources(&play), [""; 0]);
    assert!(play.named_claim("shared").status.allocation.is_none());
}

/// r_089: with the feature a PodGroup gets its claim, without it none, and each component follows when it is switched.
#[test]
fn r_089_the_feature_on_off_and_on_again() {
    let mut play = Play::new();
    for component in Component::ALL {
        play.restart(component, |profile| profile.features.workload_resource_claims = false);
    }
    play.apply(&group("before", "basic: {}", TEMPLATE));
    assert!(play.group("before").unwrap().spec.resource_claims.is_empty(), "the field is dropped");
    play.apply(&pod("b-1", TEMPLATE, "before"));
    let owner = |play: &Play, index: usize| play.claims()[index].metadata.controller().unwrap().kind.clone();
    assert_eq!((play.claims().len(), owner(&play, 0).as_str()), (1, "Pod"));
    for component in Component::ALL {
        play.restart(component, |_| {});
    }
    play.apply(&group("with", "basic: {}", TEMPLATE));
    play.apply(&pod("w-1", TEMPLATE, "with"));
    let shared = play.claims().iter().position(|claim| claim.metadata.name.starts_with("with-")).unwrap();
    assert_eq!(owner(&play, shared), "PodGroup");
    assert_eq!(play.claims()[shared].status.reserved_for[0].resource, "podgroups");
    // Controllers without the feature make a claim of its own for the next member; what runs stays as it is.
    play.restart(Component::Controllers, |profile| profile.features.workload_resource_claims = false);
    play.delete("Pod", "w-1");
    play.delete("PodGroup", "with");
    let left = |play: &Play| play.claims().iter().filter(|claim| claim.metadata.name.starts_with("with-")).count();
    assert_eq!(left(&play), 1, "reserved for a PodGroup that is gone, and nobody looks");
    play.restart(Component::Controllers, |_| {});
    assert_eq!(left(&play), 0);
}

/// r_048: a claim that the PodGroup has for an entry is recorded, whoever made it and whenever; no second one is made.
#[test]
fn r_048_a_claim_that_exists_is_not_made_again() {
    let mut play = Play::new();
    play.simulation.stop(Component::Controllers);
    play.apply(&group("group", "basic: {}", TEMPLATE));
    let uid = play.group("group").unwrap().metadata.uid.clone();
    let made = |name: &str, annotations: serde_json::Value| {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {
                "name": name, "annotations": annotations,
                "ownerReferences": [{
                    "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "name": "group", "uid": uid,
                    "controller": true,
                }],
            },
            "spec": { "devices": { "requests": [{ "name": "req", "exactly": { "deviceClassName": "gpu" } }] } },
        })
    };
    play.create(made("of-nothing", json!({}))).unwrap();
    play.create(made("of-another", json!({ "resource.kubernetes.io/pod-claim-name": "other" }))).unwrap();
    play.create(made("mine", json!({ "resource.kubernetes.io/pod-claim-name": "gpu" }))).unwrap();
    play.restart(Component::Controllers, |_| {});
    let recorded =
        |play: &Play| play.group("group").unwrap().status.resource_claim_statuses[0].resource_claim_name.clone();
    assert_eq!(recorded(&play), Some("mine".to_owned()));
    assert_eq!(play.claims().len(), 3, "none was made beside it");
    play.restart(Component::Controllers, |_| {});
    play.apply(&pod("m-1", TEMPLATE, "group"));
    assert_eq!((play.claims().len(), recorded(&play)), (3, Some("mine".to_owned())));
}

/// r_133 r_138 r_166 r_156 r_157 r_158 r_174 r_175 r_245: Pods before their PodGroup wait and recover.
#[test]
fn r_156_pods_wait_for_their_pod_group() {
    let mut play = Play::new();
    play.apply(&pod("m-1", TEMPLATE, "late"));
    play.run(60);
    assert!(play.pod("m-1").spec.node_name.is_empty() && play.claims().is_empty());
    play.apply(&group("late", "basic: {}", TEMPLATE));
    assert_eq!(play.pod("m-1").spec.node_name, "node-1");
}

/// r_124 r_129 r_145 r_159 r_160 r_161 r_164 r_165 r_167 r_171 r_172 r_176 r_183: all or nothing, and the group says so.
#[test]
fn r_176_no_pod_of_a_gang_is_placed_if_not_all_fit() {
    let mut play = Play::new();
    play.apply(&group("gang", "gang: {minCount: 5}", "resourceClaimTemplateName: unused"));
    for number in 1..=5 {
        play.apply(&pod(&format!("g-{number}"), TEMPLATE, "gang"));
    }
    play.run(10);
    let placed = |play: &Play| {
        play.simulation.server().cluster().pods().values().filter(|pod| !pod.spec.node_name.is_empty()).count()
    };
    assert_eq!(placed(&play), 0, "five devices are needed, there are four");
    assert!(play.claims().iter().all(|claim| claim.status.allocation.is_none()));
    let conditions = play.group("gang").unwrap().status.conditions.clone();
    let unschedulable = Some(("False".to_owned(), "Unschedulable".to_owned()));
    assert_eq!(play.condition(&conditions, "PodGroupScheduled"), unschedulable);
    let slice = documents(crate::play::WORLD).remove(2);
    let mut more = slice.clone();
    more["metadata"]["name"] = json!("slice-2");
    more["spec"]["pool"]["name"] = json!("more");
    play.create(more).unwrap();
    play.run(10);
    assert_eq!(placed(&play), 5);
    let conditions = play.group("gang").unwrap().status.conditions.clone();
    let scheduled = Some(("True".to_owned(), "Scheduled".to_owned()));
    assert_eq!(play.condition(&conditions, "PodGroupScheduled"), scheduled);
}

/// r_162: a basic group is scheduled as soon as one of its Pods is.
#[test]
fn r_162_a_basic_group_is_scheduled_with_its_first_pod() {
    let mut play = Play::new();
    play.apply(&group("group", "basic: {}", TEMPLATE));
    play.apply(&pod("m-1", TEMPLATE, "group"));
    let conditions = play.group("group").unwrap().status.conditions.clone();
    assert_eq!(play.condition(&conditions, "PodGroupScheduled"), Some(("True".to_owned(), "Scheduled".to_owned())));
}

/// r_132 r_143: admission looks for the Workload and its template.
#[test]
fn r_132_a_pod_group_comes_after_its_workload() {
    let mut play = Play::new();
    let mut member = documents(&group("g", "basic: {}", TEMPLATE)).remove(0);
    member["spec"]["podGroupTemplateRef"] = json!({ "workload": { "workloadName": "w", "podGroupTemplateName": "t" } });
    let refused = play.create(member.clone()).unwrap_err();
    assert!(refused.ends_with("PodGroup rejected: Workload \"w\" not found"), "{refused}");
    play.apply("{apiVersion: scheduling.k8s.io/v1alpha2, kind: Workload, metadata: {name: w}, spec: {podGroupTemplates: [{name: t}]}}");
    play.create(member).unwrap();
}

/// r_171 r_176: a gang that fits in one way only finds it. The small Pod would take the node that the large one needs.
#[test]
fn r_176_a_gang_tries_other_nodes() {
    let mut play = Play::new();
    play.apply("{apiVersion: v1, kind: Node, metadata: {name: node-2}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '9'}}}");
    play.apply(&group("gang", "gang: {minCount: 2}", "resourceClaimTemplateName: unused"));
    for (name, cpu) in [("small", "4"), ("large", "16")] {
        let mut member = documents(&pod(name, TEMPLATE, "gang")).remove(0);
        member["spec"]["resourceClaims"] = json!([]);
        member["spec"]["containers"][0]["resources"] = json!({ "requests": { "cpu": cpu } });
        play.create(member).unwrap();
    }
    play.run(5);
    assert_eq!(
        (play.pod("small").spec.node_name.as_str(), play.pod("large").spec.node_name.as_str()),
        ("node-2", "node-1")
    );
}

/// A slice of node-1 with one large and one small device, and claim templates for any of them and for the large one.
const LARGE_AND_SMALL: &str = "
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: sized}
spec:
  driver: sized.example.com
  nodeName: node-1
  pool: {name: sized, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: d-0, attributes: {size: {string: large}}}
  - {name: d-1, attributes: {size: {string: small}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: sized}
spec: {selectors: [{cel: {expression: device.driver == 'sized.example.com'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: any}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: sized}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: large}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: sized, selectors: [{cel: {expression: 'device.attributes[\"sized.example.com\"].size == \"large\"'}}]}}]}}}
";

fn device_of(play: &Play, pod: &str) -> Option<String> {
    let status = play.pod(pod).status.resource_claim_statuses.iter().find(|status| status.name == "gpu")?;
    let claim = play.named_claim(status.resource_claim_name.as_ref()?);
    Some(claim.status.allocation.as_ref()?.devices.results[0].device.clone())
}

/// r_171 r_176: one device of one node serves all members, so the node must have room for all.
#[test]
fn r_176_a_gang_that_shares_a_device_goes_where_all_of_it_has_room() {
    let mut play = Play::new();
    // Each of many nodes takes one member: none of them is worth a try.
    for number in 0..300 {
        let name = format!("n-{number:03}");
        play.create(json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
            "status": { "allocatable": { "cpu": "1", "pods": "110" } } }))
            .unwrap();
        play.create(json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name },
            "spec": { "driver": "gpu.example.com", "nodeName": name, "devices": [{ "name": "gpu-0" }],
                "pool": { "name": name, "generation": 1, "resourceSliceCount": 1 } } }))
            .unwrap();
    }
    play.apply(&group("gang", "gang: {minCount: 3}", TEMPLATE));
    for name in ["a", "b", "c"] {
        let mut member = documents(&pod(name, TEMPLATE, "gang")).remove(0);
        member["spec"]["containers"][0]["resources"]["requests"] = json!({ "cpu": "1" });
        play.create(member).unwrap();
    }
    play.run(60);
    assert_eq!(["a", "b", "c"].map(|name| play.pod(name).spec.node_name.clone()), ["node-1"; 3]);
}

/// r_171 r_176: on one node, too. The first Pod would take the device that the second one needs; only another choice of devices lets
/// both fit.
#[test]
fn r_176_a_gang_tries_other_devices_on_the_same_node() {
    for (mode, fits) in [(Mode::Sound, true), (Mode::Reference, false)] {
        let mut play = Play::with(Profile { mode, ..crate::play::profile() });
        play.apply(LARGE_AND_SMALL);
        play.apply(&group("gang", "gang: {minCount: 2}", "resourceClaimTemplateName: unused"));
        play.apply(&pod("modest", "resourceClaimTemplateName: any", "gang"));
        play.apply(&pod("greedy", "resourceClaimTemplateName: large", "gang"));
        play.run(5);
        let devices = (device_of(&play, "modest"), device_of(&play, "greedy"));
        let wanted = if fits { (Some("d-1".to_owned()), Some("d-0".to_owned())) } else { (None, None) };
        assert_eq!(devices, wanted, "{mode:?}");
    }
}

/// r_171 r_176: where the choice is of the devices for a claim that all members share, and where nothing helps.
#[test]
fn r_176_a_gang_tries_other_devices_for_its_shared_claim() {
    for (second, fits) in [("large", true), ("any", true), ("none", false)] {
        let mut play = Play::new();
        play.apply(LARGE_AND_SMALL);
        play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: none}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: sized, count: 2}}]}}}}");
        play.apply(&group("gang", "gang: {minCount: 2}", "resourceClaimTemplateName: any"));
        play.apply(&pod("shares", "resourceClaimTemplateName: any", "gang"));
        let mut both = documents(&pod("both", "resourceClaimTemplateName: any", "gang")).remove(0);
        both["spec"]["resourceClaims"]
            .as_array_mut()
            .unwrap()
            .push(json!({ "name": "own", "resourceClaimTemplateName": second }));
        play.create(both).unwrap();
        play.run(5);
        let placed = ["shares", "both"].map(|name| !play.pod(name).spec.node_name.is_empty());
        assert_eq!(placed, [fits, fits], "{second}");
        let allocated = play.claims().iter().filter(|claim| claim.status.allocation.is_some()).count();
        assert_eq!(allocated, if fits { 2 } else { 0 }, "{second}");
    }
}
