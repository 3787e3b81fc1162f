//! What `reference` mode does as Kubernetes does it, where `sound` mode does better.

use apportion_core::profile::{Mode, Profile, Version};

use crate::play::{Play, documents, group, pod, profile};

fn play(mode: Mode, version: Version) -> Play {
    Play::with(Profile { version, mode, ..profile() })
}

/// A Pod with two claim entries.
fn with_entries(one: &str, two: &str) -> String {
    pod("p", one, "").replace("resourceClaims: [", &format!("resourceClaims: [{{name: other, {two}}}, "))
}

const MADE: &str = "resourceClaimTemplateName: gpu-template";
const LATE: &str = "resourceClaimTemplateName: late";

/// kube-controller-manager stops at the first entry that it can make no claim for: those before it have a claim that is not recorded, those
/// after it have none.
#[test]
fn claims_are_recorded_once_all_of_them_can_be_made() {
    let found = |mode: Mode, entries: (&str, &str)| {
        let mut play = play(mode, Version::V1_37);
        play.apply(&with_entries(entries.0, entries.1));
        let before = (play.claims().len(), play.pod("p").status.resource_claim_statuses.len());
        let template = documents(crate::play::WORLD).remove(3);
        let mut late = template.clone();
        late["metadata"]["name"] = "late".into();
        play.create(late).unwrap();
        play.run(60);
        assert_eq!(play.pod("p").status.resource_claim_statuses.len(), 2);
        before
    };
    assert_eq!(found(Mode::Sound, (LATE, MADE)), (1, 1));
    assert_eq!(found(Mode::Reference, (LATE, MADE)), (1, 0));
    assert_eq!(found(Mode::Reference, (MADE, LATE)), (0, 0));
}

/// kube-scheduler takes a claim that two entries name for two. It finds devices for it twice, fails when it writes the second ones, and
/// later when it reserves the claim twice.
#[test]
fn a_claim_that_two_entries_name_keeps_a_pod_waiting() {
    let named = "resourceClaimName: c";
    for (mode, count, is_allocated, is_placed) in [
        (Mode::Sound, 3, true, true),
        (Mode::Reference, 3, false, false),
        (Mode::Reference, 2, true, false),
        (Mode::Reference, 1, true, false),
    ] {
        let mut play = play(mode, Version::V1_37);
        play.apply(&format!("{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: c}}, spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu, count: {count}}}}}]}}}}}}"));
        play.apply(&with_entries(named, named));
        play.run(20);
        let status = &play.named_claim("c").status;
        assert_eq!(status.allocation.is_some(), is_allocated, "{mode:?}, {count} of 4 devices");
        assert_eq!(!play.pod("p").spec.node_name.is_empty(), is_placed, "{mode:?}, {count} of 4 devices");
        assert_eq!(!status.reserved_for.is_empty(), is_placed, "{mode:?}, {count} of 4 devices");
    }
}

/// kube-scheduler 1.37 looks after a group's cycle for claims to give up, and fails where no member came so far, or a claim is gone.
#[test]
fn a_gang_that_lost_a_member_or_its_claim_fails_with_an_error() {
    let reason = |version: Version, lost: (&str, &str)| {
        let mut play = play(Mode::Reference, version);
        let claim = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 9}}]}}}";
        let named = "resourceClaimName: c";
        play.apply(&format!(
            "{claim}\n{}{}{}",
            group("g", "gang: {minCount: 2}", named),
            pod("a", named, "g"),
            pod("b", named, "g")
        ));
        play.run(5);
        play.delete(lost.0, lost.1);
        play.run(5);
        play.condition(&play.pod("a").status.conditions, "PodScheduled").unwrap().1
    };
    for lost in [("Pod", "b"), ("ResourceClaim", "c")] {
        assert_eq!(reason(Version::V1_36, lost), "Unschedulable");
        assert_eq!(reason(Version::V1_37, lost), "SchedulerError");
    }
}

/// Up to 1.36 a taint drives out only Pods that have claims in their spec.
#[test]
fn a_taint_reaches_extended_resources_from_1_37_on() {
    let stays = |mode: Mode, version: Version| {
        let mut play = play(mode, version);
        play.apply("{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: cards}, spec: {selectors: [{cel: {expression: device.driver == 'gpu.example.com'}}], extendedResourceName: example.com/gpu}}");
        play.apply("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: {limits: {example.com/gpu: 1}}}]}}");
        play.run(3);
        assert_eq!(play.pod("p").spec.node_name, "node-1");
        play.apply("{apiVersion: resource.k8s.io/v1beta2, kind: DeviceTaintRule, metadata: {name: r}, spec: {deviceSelector: {driver: gpu.example.com}, taint: {key: broken, effect: NoExecute}}}");
        play.run(5);
        let pods = play.simulation.server().cluster().pods();
        pods.values().all(|pod| !pod.metadata.is_deleting()) && !pods.is_empty()
    };
    assert!(stays(Mode::Reference, Version::V1_36) && !stays(Mode::Reference, Version::V1_37));
    assert!(!stays(Mode::Sound, Version::V1_36));
}
