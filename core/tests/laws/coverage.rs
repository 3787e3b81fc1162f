//! The generator meets every feature, and each of them matters: without it something else comes out.

use serde_json::Value;

use crate::ask;
use crate::generate::{Case, generate};
use crate::same::{Depth, same};

/// Takes a feature out of a case.
type Strip = fn(&mut Case);

/// Seeds that are looked at.
const SEEDS: u64 = 500;

fn without_kind(case: &mut Case, kind: &str, group: &str) {
    case.objects.retain(|object| {
        object["kind"] != kind || !object["apiVersion"].as_str().unwrap_or_default().starts_with(group)
    });
}

/// Takes fields of a name out of objects of some kinds, wherever they stand.
fn without_field(case: &mut Case, kinds: &[&str], field: &str) {
    fn strip(value: &mut Value, field: &str) {
        match value {
            Value::Object(map) => {
                map.remove(field);
                map.values_mut().for_each(|inner| strip(inner, field));
            }
            Value::Array(items) => items.iter_mut().for_each(|inner| strip(inner, field)),
            _ => {}
        }
    }
    for object in &mut case.objects {
        if kinds.iter().any(|kind| object["kind"] == *kind) {
            strip(object, field);
        }
    }
}

const CLAIMS: [&str; 3] = ["ResourceClaim", "ResourceClaimTemplate", "ClusterResourceClaimTemplate"];
const MAKERS: [&str; 9] =
    ["Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "JobSet", "LeaderWorkerSet"];

fn without_pods(case: &mut Case, is_out: impl Fn(&Value) -> bool) {
    case.objects.retain(|object| object["kind"] != "Pod" || !is_out(object));
}

fn without_objects(case: &mut Case, kind: &str, text: &str) {
    case.objects.retain(|object| object["kind"] != kind || !object.to_string().contains(text));
}

/// Lets every pool say how many slices it has.
fn complete(case: &mut Case) {
    let key = |object: &Value| (object["spec"]["driver"].clone(), object["spec"]["pool"]["name"].clone());
    let is_slice = |object: &&Value| object["kind"] == "ResourceSlice";
    let keys: Vec<_> = case.objects.iter().filter(is_slice).map(key).collect();
    for object in case.objects.iter_mut().filter(|object| object["kind"] == "ResourceSlice") {
        let own = key(object);
        object["spec"]["pool"]["resourceSliceCount"] =
            serde_json::json!(keys.iter().filter(|key| **key == own).count());
    }
}

macro_rules! kinds {
    ($($kind:literal in $group:literal: $least:literal;)*) => {
        [$((concat!($kind, " in ", $group), $least, (|case| without_kind(case, $kind, $group)) as Strip),)*]
    };
}

/// Kinds, how often each must matter at least, and how it is taken out. What plays no part yet has 0.
const KINDS: [(&str, usize, Strip); 23] = kinds! {
    "Namespace" in "v1": 1;
    "Node" in "v1": 100;
    "DeviceClass" in "resource.k8s.io": 100;
    "ResourceSlice" in "resource.k8s.io": 100;
    "DeviceTaintRule" in "resource.k8s.io": 5;
    "ResourceClaim" in "resource.k8s.io": 100;
    "ResourceClaimTemplate" in "resource.k8s.io": 50;
    "ClusterResourceClaimTemplate" in "resource.k8s.io": 5;
    "ClusterResourceClaimTemplate" in "apportion.dev": 0;
    "Pod" in "v1": 100;
    "PodGroup" in "scheduling.k8s.io": 20;
    "Workload" in "scheduling.k8s.io": 0;
    "Deployment" in "apps": 5;
    "ReplicaSet" in "apps": 5;
    "StatefulSet" in "apps": 5;
    "DaemonSet" in "apps": 5;
    "Job" in "batch": 5;
    "CronJob" in "batch": 5;
    "JobSet" in "jobset.x-k8s.io": 5;
    "LeaderWorkerSet" in "leaderworkerset.x-k8s.io": 5;
    "PriorityClass" in "scheduling.k8s.io": 0;
    "ResourcePoolStatusRequest" in "resource.k8s.io": 0;
    "PodGroup" in "scheduling.k8s.io/v1alpha1": 1;
};

/// Features, how often each must matter at least, and how it is taken out.
const FEATURES: [(&str, usize, Strip); 39] = [
    ("gangs", 15, |case| without_field(case, &["PodGroup"], "gang")),
    ("claims of groups", 10, |case| without_field(case, &["PodGroup"], "resourceClaims")),
    ("podGroupResourceClaim", 1, |case| without_objects(case, "Pod", "podGroupResourceClaim")),
    ("workloadRef", 1, |case| without_field(case, &["Pod"], "workloadRef")),
    ("schedulingGroup", 10, |case| without_field(case, &["Pod"], "schedulingGroup")),
    ("cluster-wide templates", 2, |case| without_objects(case, "Pod", "clusterResourceClaimTemplateName")),
    ("priority", 1, |case| without_field(case, &MAKERS, "priority")),
    ("priorityClassName", 0, |case| without_field(case, &MAKERS, "priorityClassName")),
    ("admin access", 5, |case| without_field(case, &CLAIMS, "adminAccess")),
    ("the label for admin access", 1, |case| {
        without_field(case, &["Namespace"], "resource.kubernetes.io/admin-access")
    }),
    ("the old label for admin access", 0, |case| without_field(case, &["Namespace"], "resource.k8s.io/admin-access")),
    ("Pods placed by hand", 5, |case| {
        without_pods(case, |pod| pod["spec"]["nodeName"].is_string() && pod.get("status").is_none());
    }),
    ("Pods that run", 30, |case| without_pods(case, |pod| pod["status"]["phase"] == "Running")),
    ("Pods that ended", 10, |case| {
        without_pods(case, |pod| pod["status"]["phase"] == "Succeeded" || pod["status"]["phase"] == "Failed");
    }),
    ("Pods that are going", 3, |case| without_pods(case, |pod| pod["metadata"].get("deletionTimestamp").is_some())),
    ("allocated claims", 30, |case| without_objects(case, "ResourceClaim", "\"allocation\"")),
    ("reservations", 5, |case| without_field(case, &["ResourceClaim"], "reservedFor")),
    ("generated claims of a dump", 5, |case| without_objects(case, "ResourceClaim", "ownerReferences")),
    ("taints of devices", 10, |case| without_field(case, &["ResourceSlice"], "taints")),
    ("taints of nodes", 5, |case| without_field(case, &["Node"], "taints")),
    ("tolerations of claims", 2, |case| without_field(case, &CLAIMS, "tolerations")),
    ("extended resources", 2, |case| without_field(case, &["DeviceClass"], "extendedResourceName")),
    ("binding conditions", 2, |case| without_field(case, &["ResourceSlice"], "bindingConditions")),
    ("shared devices", 5, |case| without_field(case, &["ResourceSlice"], "allowMultipleAllocations")),
    ("request policies", 2, |case| without_field(case, &["ResourceSlice"], "requestPolicy")),
    ("counters", 5, |case| without_field(case, &["ResourceSlice"], "consumesCounters")),
    ("prioritised lists", 10, |case| without_field(case, &CLAIMS, "firstAvailable")),
    ("matchAttribute", 2, |case| without_objects(case, "ResourceClaim", "matchAttribute")),
    ("distinctAttribute", 2, |case| without_objects(case, "ResourceClaim", "distinctAttribute")),
    ("All mode", 5, |case| without_field(case, &CLAIMS, "allocationMode")),
    ("selectors", 10, |case| without_field(case, &CLAIMS, "selectors")),
    ("capacity of requests", 2, |case| without_field(case, &CLAIMS, "capacity")),
    ("incomplete pools", 5, complete),
    ("node selectors of Pods", 5, |case| without_field(case, &MAKERS, "nodeSelector")),
    ("scheduling gates", 3, |case| without_field(case, &MAKERS, "schedulingGates")),
    ("affinity between Pods", 3, |case| without_field(case, &MAKERS, "affinity")),
    ("topology spread", 2, |case| without_field(case, &MAKERS, "topologySpreadConstraints")),
    ("ports of the host", 0, |case| without_field(case, &MAKERS, "ports")),
    ("other settings", 20, |case| case.settings = serde_json::json!({})),
];

/// How often a feature occurs, and how often what comes out is another without it.
fn count(cases: &[(Case, crate::ask::Report)], strip: Strip) -> (usize, usize) {
    let (mut occurs, mut matters) = (0, 0);
    for (case, report) in cases {
        let mut other = case.clone();
        strip(&mut other);
        if other.objects == case.objects && other.settings == case.settings {
            continue;
        }
        occurs += 1;
        matters += usize::from(same(report, &ask::run(&other).1, Depth::Codes).is_err());
    }
    (occurs, matters)
}

#[test]
fn every_feature_is_met_and_matters() {
    let cases: Vec<_> = (0..SEEDS)
        .map(|seed| {
            let case = generate(seed);
            let report = ask::run(&case).1;
            (case, report)
        })
        .collect();
    let mut rare = Vec::new();
    for (name, least, strip) in KINDS.iter().chain(&FEATURES) {
        let (occurs, matters) = count(&cases, *strip);
        println!("{name}: in {occurs} clusters, decides in {matters}");
        if occurs < 8 || matters < *least {
            rare.push(format!("{name}: in {occurs} clusters, decides in {matters}, at least {least}"));
        }
    }
    assert!(rare.is_empty(), "{rare:#?}");
}

/// Pods and claims of every outcome, under every version, with few objects that nobody meant to be wrong.
#[test]
fn outcomes_are_mixed() {
    let (mut placed, mut pending, mut spoiled, mut objects) = (0, 0, 0, 0);
    let mut reasons = std::collections::BTreeMap::new();
    let mut versions = std::collections::BTreeSet::new();
    for seed in 0..SEEDS {
        let case = generate(seed);
        versions.insert(case.settings["version"].as_str().unwrap_or_default().to_owned());
        assert!((1..=6).contains(&case.objects.iter().filter(|one| one["kind"] == "Node").count().max(1)));
        objects += case.objects.len();
        spoiled += ask::refused(&case).len();
        for pod in &ask::run(&case).1.pods {
            match &pod.node {
                Some(_) => placed += 1,
                None => pending += 1,
            }
            for reason in pod.reasons.iter().take(1) {
                *reasons.entry(reason.code.text()).or_insert(0) += 1;
            }
        }
    }
    println!("{placed} Pods placed, {pending} Pending; {spoiled} of {objects} objects refused; {reasons:#?}");
    assert_eq!(versions.len(), 5);
    assert!(placed > 500 && pending > 500, "{placed} placed, {pending} Pending");
    assert!(spoiled > 100 && spoiled * 5 < objects, "{spoiled} of {objects} objects are refused");
    assert!(reasons.len() > 12, "{reasons:?}");
}

/// Each fault makes an object that is refused, in nearly every cluster.
#[test]
fn every_fault_is_refused() {
    use crate::generate::FAULTS;
    for (name, (kind, fault)) in &FAULTS {
        let (mut refused, mut taken) = (0, 0);
        for seed in 0..150 {
            let case = generate(seed);
            let before = ask::refused(&case);
            let Some(index) = case.objects.iter().position(|object| object["kind"] == *kind) else { continue };
            let mut other = case.clone();
            if before.iter().any(|(of, _)| *of == index) || !fault(&mut other.objects[index]) {
                continue;
            }
            // A gate may be off that has the field dropped.
            match ask::refused(&other).iter().any(|(of, _)| *of == index) {
                true => refused += 1,
                false => taken += 1,
            }
        }
        assert!(refused > 5 * taken, "{name}: refused {refused}, taken {taken}");
    }
}

/// The law of suggestions has something to hold: those that can be carried out.
#[test]
fn suggestions_are_made_and_can_be_carried_out() {
    let all: usize = (0..200).map(|seed| crate::hold::suggestions::count(&generate(seed))).sum();
    println!("{all} suggestions can be carried out");
    assert!(all > 200, "{all} suggestions");
}
