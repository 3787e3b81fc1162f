//! The same object under different Kubernetes.

use apportion_core::finding::{Code, ErrorKind, Finding, Severity};
use apportion_core::profile::{Features, Profile, Version};
use apportion_core::validate::{Submission, convert, submit};
use serde_json::{Value, json};

use crate::{brief, create, create_in, update};

fn object(api_version: &str, kind: &str, spec: Value) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": { "name": "o", "namespace": "n", "uid": "u", "resourceVersion": "1" }, "spec": spec,
    })
}

fn errors(findings: &[Finding]) -> Vec<(ErrorKind, &str)> {
    findings.iter().filter_map(|finding| Some((finding.kind?, finding.path.as_str()))).collect()
}

#[test]
fn a_field_of_a_feature_that_is_off_is_dropped_with_a_warning() {
    let request = json!({ "name": "r", "exactly": { "deviceClassName": "c", "tolerations": [{ "key": "k", "operator": "Exists" }] } });
    let claim = object("resource.k8s.io/v1", "ResourceClaim", json!({ "devices": { "requests": [request] } }));
    let dropped = (Code::ValidateDroppedField, "spec.devices.requests[0].exactly.tolerations");
    assert_eq!(brief(&create_in(Version::V1_35, claim.clone())), [dropped]);
    // 1.34 keeps the field, although its gate is off.
    assert_eq!(brief(&create_in(Version::V1_34, claim.clone())), []);
    assert_eq!(brief(&create_in(Version::V1_36, claim)), []);
}

#[test]
fn what_an_old_object_uses_already_stays() {
    let mut profile = Profile::of(Version::V1_36);
    assert!(profile.features.set("DRAExtendedResource", false));
    let class = |name: Option<&str>| {
        let mut class = object("resource.k8s.io/v1", "DeviceClass", json!({}));
        class["metadata"]["namespace"].take();
        if let Some(name) = name {
            class["spec"]["extendedResourceName"] = json!(name);
        }
        class
    };
    let found = update(&profile, class(Some("example.com/gpu")), class(Some("bad name")));
    assert_eq!(errors(&found), [(ErrorKind::Invalid, "spec.extendedResourceName")]);
    let found = update(&profile, class(None), class(Some("bad name")));
    assert_eq!(brief(&found), [(Code::ValidateDroppedField, "spec.extendedResourceName")]);
}

/// r_027 r_078 r_099 r_177: the gate under both names; without it the field is dropped, without its own gate the kind is not served.
#[test]
fn both_names_of_the_gate_keep_the_claims_of_groups() {
    let spec = json!({
        "schedulingPolicy": { "basic": {} },
        "resourceClaims": [{ "name": "a", "resourceClaimTemplateName": "t" }],
    });
    let mut template = spec.clone();
    template["name"] = json!("t");
    let group = object("scheduling.k8s.io/v1alpha2", "PodGroup", spec);
    let workload = object("scheduling.k8s.io/v1alpha2", "Workload", json!({ "podGroupTemplates": [template] }));
    for (object, place) in [(group, "spec.resourceClaims"), (workload, "spec.podGroupTemplates[0].resourceClaims")] {
        let with = |gates: &[&str]| {
            let mut profile = Profile::of(Version::V1_36);
            gates.iter().for_each(|gate| assert!(profile.features.set(gate, true)));
            apportion_core::validate::validate(apportion_core::validate::Submission::create(object.clone()), &profile)
        };
        assert_eq!(brief(&with(&["GenericWorkload"])), [(Code::ValidateDroppedField, place)]);
        for gate in ["DRAWorkloadResourceClaims", "WorkloadPodGroupResourceClaimTemplate"] {
            assert_eq!(brief(&with(&["GenericWorkload", gate])), []);
        }
        assert_eq!(with(&[])[0].code, Code::ValidateNotServed);
    }
}

/// r_338: the page's manifest of one slice, and what became of it.
#[test]
fn one_slice_may_carry_counters_and_devices_in_1_34_only() {
    let slice = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
        "spec": {
            "driver": "d.io", "pool": { "name": "p", "resourceSliceCount": 1 }, "nodeName": "n",
            "devices": [{ "name": "d" }], "sharedCounters": [{ "name": "c", "counters": { "x": { "value": "1" } } }],
        },
    });
    let mut profile = Profile::of(Version::V1_34);
    assert!(profile.features.set("DRAPartitionableDevices", true));
    let submission = apportion_core::validate::Submission::create(slice.clone());
    assert_eq!(brief(&apportion_core::validate::validate(submission, &profile)), []);
    assert_eq!(errors(&create_in(Version::V1_36, slice)), [(ErrorKind::Invalid, "spec")]);
}

/// r_235: with the gate off the field is refused on creation.
#[test]
fn proposed_spellings_are_known_to_the_newest_profile_only() {
    let pod = object(
        "v1",
        "Pod",
        json!({
            "containers": [{ "name": "c", "image": "i" }], "schedulingGroup": { "podGroupName": "g" },
            "resourceClaims": [
                { "name": "a", "podGroupResourceClaim": "x" }, { "name": "b", "clusterResourceClaimTemplateName": "t" },
            ],
        }),
    );
    assert_eq!(brief(&create(pod.clone())), []);
    let found = create_in(Version::V1_37, pod.clone());
    assert_eq!(
        errors(&found),
        [(ErrorKind::Invalid, "spec.resourceClaims[0]"), (ErrorKind::Invalid, "spec.resourceClaims[1]")]
    );
    assert!(
        found.iter().any(|finding| finding.code == Code::ValidateProposed && finding.severity == Severity::Warning)
    );
    let mut profile = Profile::default();
    assert!(profile.features.set("ClusterResourceClaimTemplates", false));
    let found = apportion_core::validate::validate(apportion_core::validate::Submission::create(pod), &profile);
    assert_eq!(errors(&found), [(ErrorKind::Forbidden, "spec.resourceClaims[1].clusterResourceClaimTemplateName")]);
}

/// r_300: `v1beta1`; see also the versions of the next test.
#[test]
fn flat_versions_have_the_rules_under_their_own_paths() {
    let claim = object(
        "resource.k8s.io/v1beta1",
        "ResourceClaim",
        json!({ "devices": { "requests": [
        { "name": "r", "deviceClassName": "Bad_", "count": -1 },
        { "name": "s", "count": 1, "firstAvailable": [{ "name": "x", "deviceClassName": "c" }] },
    ] } }),
    );
    let expected = [
        (ErrorKind::Invalid, "spec.devices.requests[0].deviceClassName"),
        (ErrorKind::Invalid, "spec.devices.requests[0].count"),
        (ErrorKind::Invalid, "spec.devices.requests[1]"),
    ];
    assert_eq!(errors(&create(claim)), expected);
    let slice = json!({
        "apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice", "metadata": { "name": "s" },
        "spec": {
            "driver": "d.io", "pool": { "name": "p", "resourceSliceCount": 1 }, "nodeName": "", "allNodes": true,
            "devices": [{ "name": "d", "basic": { "attributes": { "a": { "version": "v1" } } } }],
        },
    });
    assert_eq!(errors(&create(slice)), [(ErrorKind::Invalid, "spec.devices[0].basic.attributes[a].version")]);
}

/// r_300: each kind in both versions.
#[test]
fn r_300_every_release_takes_both_beta_versions() {
    let flat = json!({ "devices": { "requests": [{ "name": "r", "deviceClassName": "c" }] } });
    let nested = json!({ "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "c" } }] } });
    let slice = |device: Value| {
        let pool = json!({ "name": "p", "generation": 1, "resourceSliceCount": 1 });
        json!({ "driver": "d.io", "pool": pool, "nodeName": "n", "devices": [device] })
    };
    for (version, claim, device) in
        [("v1beta1", flat, json!({ "name": "d", "basic": {} })), ("v1beta2", nested, json!({ "name": "d" }))]
    {
        for (kind, spec) in [
            ("DeviceClass", json!({})),
            ("ResourceClaim", claim.clone()),
            ("ResourceClaimTemplate", json!({ "spec": claim })),
            ("ResourceSlice", slice(device)),
        ] {
            let mut one = object(&format!("resource.k8s.io/{version}"), kind, spec);
            if matches!(kind, "DeviceClass" | "ResourceSlice") {
                one["metadata"]["namespace"].take();
            }
            for kubernetes in [Version::V1_34, Version::V1_37] {
                assert_eq!(errors(&create_in(kubernetes, one.clone())), [], "{kind} {version}");
                assert!(create_in(kubernetes, one.clone()).iter().all(|found| found.code != Code::ValidateNotServed));
            }
        }
    }
}

#[test]
fn claims_survive_every_version_and_come_back() {
    let claim = object(
        "resource.k8s.io/v1",
        "ResourceClaim",
        json!({ "devices": { "requests": [
        { "name": "r", "exactly": { "deviceClassName": "c", "adminAccess": false, "unknown": 1 } },
        { "name": "s", "firstAvailable": [{ "name": "x", "deviceClassName": "c" }] },
    ], "more": [1] } }),
    );
    for version in ["v1beta2", "v1beta1", "v1alpha3"] {
        let there = convert(claim.clone(), version).unwrap();
        assert_eq!(there["apiVersion"], format!("resource.k8s.io/{version}"));
        let back = convert(there, "v1").unwrap();
        if version == "v1beta2" {
            assert_eq!(back, claim);
        } else {
            // What is unknown stays, if not in the place that only `v1` has.
            assert_eq!(back["spec"]["devices"]["requests"][1], claim["spec"]["devices"]["requests"][1]);
            assert_eq!(back["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"], false);
            assert!(back.to_string().contains("unknown"), "{back}");
        }
    }
}

#[test]
fn partitions_say_of_what_kind_they_are() {
    let slice = |attributes: Value, counters: Value| {
        let device = json!({ "name": "d", "attributes": attributes, "consumesCounters": counters });
        let mut slice = object(
            "resource.k8s.io/v1",
            "ResourceSlice",
            json!({ "driver": "gpu.example.com", "nodeName": "n",
            "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 },
            "partitionTypeAttribute": "gpu.example.com/profile", "devices": [device, { "name": "whole" }] }),
        );
        slice["metadata"]["namespace"].take();
        let found = create(slice);
        errors(&found).into_iter().map(|(kind, path)| (kind, path.to_owned())).collect::<Vec<_>>()
    };
    let draws = json!([{ "counterSet": "s", "counters": { "c": { "value": "1" } } }]);
    let at = "spec.devices[0].attributes[gpu.example.com/profile]".to_owned();
    assert_eq!(slice(json!({ "profile": { "string": "1g" } }), draws.clone()), []);
    assert_eq!(slice(json!({ "gpu.example.com/profile": { "string": "1g" } }), draws.clone()), []);
    assert_eq!(slice(json!({}), draws.clone()), [(ErrorKind::Required, at.clone())]);
    assert_eq!(slice(json!({ "profile": { "int": 1 } }), draws), [(ErrorKind::Invalid, at)]);
    assert_eq!(slice(json!({}), json!([])), [(ErrorKind::Invalid, "spec.partitionTypeAttribute".to_owned())]);
}

#[test]
fn a_pod_is_not_resized_by_an_update() {
    let pod = |cpu: &str, statuses: Value| {
        let container = json!({ "name": "c", "image": "i", "resources": { "requests": { "cpu": cpu } } });
        let mut pod = object("v1", "Pod", json!({ "containers": [container] }));
        pod["status"] = json!({ "nodeAllocatableResourceClaimStatuses": statuses });
        pod
    };
    let some = json!([{ "resourceClaimName": "a", "containers": ["c"], "resources": { "cpu": "1" } }]);
    let profile = Profile::of(Version::V1_37);
    let found = update(&profile, pod("1", json!([])), pod("2", json!([])));
    assert_eq!(errors(&found), [(ErrorKind::Forbidden, "spec")]);
    assert_eq!(errors(&update(&profile, pod("1", some.clone()), pod("1", some.clone()))), []);
    let found = update(&profile, pod("1", some.clone()), pod("2", some));
    assert_eq!(errors(&found), [(ErrorKind::Forbidden, "spec")]);
}

#[test]
fn a_member_of_a_group_has_no_eviction_responders() {
    let mut spec = json!({ "schedulingGroup": { "podGroupName": "g" }, "evictionResponders": [{ "name": "r" }] });
    spec["containers"] = json!([{ "name": "c", "image": "i" }]);
    let found = create(object("v1", "Pod", spec));
    assert_eq!(errors(&found), [(ErrorKind::Forbidden, "spec.schedulingGroup")]);
}

/// A template of groups with the children given.
fn composite(name: &str, groups: Value, composites: Value) -> Value {
    json!({ "name": name, "schedulingPolicy": { "gang": { "minGroupCount": 1 } },
        "podGroupTemplates": groups, "compositePodGroupTemplates": composites })
}

fn template(name: &str) -> Value {
    json!({ "name": name, "schedulingPolicy": { "basic": {} } })
}

fn workload(composites: Value) -> Value {
    object("scheduling.k8s.io/v1alpha3", "Workload", json!({ "compositePodGroupTemplates": composites }))
}

#[test]
fn templates_of_groups_of_groups_are_a_tree_with_names_of_its_own() {
    let good = workload(json!([composite("rack", json!([template("a"), template("b")]), json!([]))]));
    assert_eq!(errors(&create(good.clone())), []);
    let at = "spec.compositePodGroupTemplates[0]".to_owned();
    let twice = workload(json!([composite("rack", json!([template("rack")]), json!([]))]));
    let path = format!("{at}.podGroupTemplates[0].name");
    assert_eq!(errors(&create(twice)), [(ErrorKind::Duplicate, path.as_str())]);
    let childless = workload(json!([composite("rack", json!([]), json!([]))]));
    assert_eq!(errors(&create(childless)), [(ErrorKind::Invalid, at.as_str())]);
    let mut deep = composite("l5", json!([template("a")]), json!([]));
    for level in ["l4", "l3", "l2", "l1"] {
        deep = composite(level, json!([]), json!([deep]));
    }
    assert_eq!(errors(&create(workload(json!([deep])))), [(ErrorKind::Invalid, at.as_str())]);
    let mut priorities = good.clone();
    priorities["spec"]["compositePodGroupTemplates"][0]["podGroupTemplates"][1]["priority"] = json!(7);
    assert_eq!(errors(&create(priorities)), [(ErrorKind::Invalid, "spec")]);
    let mut count = good.clone();
    count["spec"]["compositePodGroupTemplates"][0]["schedulingPolicy"]["gang"]["minGroupCount"] = json!(-1);
    let path = format!("{at}.schedulingPolicy.gang.minGroupCount");
    assert_eq!(errors(&create(count.clone())), [(ErrorKind::Invalid, path.as_str())]);
    count["spec"]["compositePodGroupTemplates"][0]["schedulingPolicy"]["gang"]["minGroupCount"] = json!(2);
    assert_eq!(errors(&update(&Profile::default(), good.clone(), count)), []);
    let more = workload(json!([composite("rack", json!([template("a"), template("b"), template("c")]), json!([]))]));
    let path = format!("{at}.podGroupTemplates[2]");
    assert_eq!(errors(&update(&Profile::default(), good, more)), [(ErrorKind::Forbidden, path.as_str())]);
}

#[test]
fn a_group_of_groups_comes_from_a_template_and_stays_as_it_is() {
    let group = |spec: Value| object("scheduling.k8s.io/v1alpha3", "CompositePodGroup", spec);
    let reference = json!({ "workloadName": "w", "templateName": "rack" });
    let good = group(json!({ "workloadRef": reference, "schedulingPolicy": { "gang": { "minGroupCount": 2 } } }));
    assert_eq!(errors(&create(good.clone())), []);
    let bad =
        group(json!({ "parentCompositePodGroupName": "Not A Name", "schedulingPolicy": { "basic": {}, "gang": {} } }));
    let expected = [
        (ErrorKind::Invalid, "spec.parentCompositePodGroupName"),
        (ErrorKind::Required, "spec.workloadRef"),
        (ErrorKind::Invalid, "spec.schedulingPolicy"),
        (ErrorKind::Required, "spec.schedulingPolicy.gang.minGroupCount"),
    ];
    let found = create(bad);
    let mut found = errors(&found);
    found.sort_by_key(|(_, path)| expected.iter().position(|(_, known)| known == path));
    assert_eq!(found, expected);
    let mut changed = good.clone();
    changed["spec"]["schedulingPolicy"]["gang"]["minGroupCount"] = json!(3);
    let found = update(&Profile::default(), good, changed);
    assert_eq!(errors(&found), [(ErrorKind::Invalid, "spec.schedulingPolicy")]);
}

#[test]
fn what_no_supported_kubernetes_serves_is_refused_whatever_the_profile() {
    let of = |version: &str, kind: &str| {
        let object = json!({ "apiVersion": format!("resource.k8s.io/{version}"), "kind": kind, "metadata": { "name": "x", "namespace": "n" } });
        let found = create(object).into_iter().find(|one| one.code == Code::ValidateNotServed);
        found.map(|one| (one.message, one.hint.unwrap_or_default()))
    };
    let (message, hint) = of("v1alpha3", "ResourceClaim").unwrap();
    assert_eq!(message, "ResourceClaim is not served: no Kubernetes since 1.34 has it in `v1alpha3`");
    assert_eq!(hint, "this Kubernetes serves it in `v1`");
    assert!(of("v1alpha3", "ResourceSlice").is_some());
    for version in ["v1", "v1beta1", "v1beta2"] {
        assert_eq!(of(version, "ResourceClaim"), None);
    }
    assert_eq!(of("v1alpha3", "DeviceTaintRule"), None);
}

#[test]
fn what_is_missing_under_an_unknown_field_has_its_way_out() {
    let hint = |version: &str, request: Value| {
        let requests = json!({ "devices": { "requests": [request] } });
        let claim = json!({ "apiVersion": format!("resource.k8s.io/{version}"), "kind": "ResourceClaim", "metadata": { "name": "x", "namespace": "n" }, "spec": requests });
        let errors: Vec<_> = create(claim).into_iter().filter(|one| one.code == Code::ValidateRequired).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].hint.clone().unwrap_or_default()
    };
    assert_eq!(
        hint("v1beta1", json!({ "name": "r", "exactly": { "deviceClassName": "gpu" } })),
        "before `resource.k8s.io/v1beta2` there is no `exactly`: put its content directly into the request, or raise `apiVersion`"
    );
    assert_eq!(
        hint("v1", json!({ "name": "r", "deviceClassName": "gpu" })),
        "`deviceClassName` belongs into `exactly` since `resource.k8s.io/v1beta2`"
    );
    assert_eq!(
        hint("v1", json!({ "name": "r", "exactly": { "deviceClass": "gpu" } })),
        "did you mean `deviceClassName`?"
    );
    assert_eq!(hint("v1", json!({ "name": "r" })), "");
    let body = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "x", "namespace": "n" }, "spec": { "spec": { "devices": {} } } });
    assert!(create(body)[0].hint.as_ref().unwrap().contains("kind: ResourceClaimTemplate"));
}

#[test]
fn what_is_missing_because_a_gate_is_off_names_the_gate() {
    let constraints = json!([{ "distinctAttribute": "resource.kubernetes.io/numaNode" }]);
    let spec = json!({ "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "gpu" } }], "constraints": constraints } });
    let found = create_in(Version::V1_34, object("resource.k8s.io/v1", "ResourceClaim", spec));
    let missing = found.iter().find(|one| one.code == Code::ValidateRequired).unwrap();
    assert!(missing.hint.as_ref().unwrap().contains("`DRAConsumableCapacity` is off in Kubernetes 1.34"));
}

#[test]
fn a_pod_template_loses_what_a_pod_loses() {
    let entry = json!({ "name": "gpu", "resourceClaimName": "shared" });
    let container = json!({ "name": "c", "image": "i", "resources": { "claims": [{ "name": "gpu" }] } });
    let pod = json!({ "containers": [container], "resourceClaims": [entry] });
    let template = json!({ "metadata": { "labels": { "a": "b" } }, "spec": pod });
    let mut profile = Profile::of(Version::V1_34);
    profile.features.dynamic_resource_allocation = false;
    let dropped = |api: &str, kind: &str, spec: Value, path: &str| {
        let admission = submit(Submission::create(object(api, kind, spec)), &profile);
        let lost = ["resourceClaims", "containers[0].resources.claims"].map(|field| format!("{path}.spec.{field}"));
        let expected = lost.iter().map(|field| (Code::ValidateDroppedField, field.as_str()));
        assert_eq!(brief(&admission.findings), expected.collect::<Vec<_>>(), "{kind}");
        assert!(!admission.object.to_string().contains("laims"), "{kind}: {}", admission.object);
    };
    let selected = json!({ "selector": { "matchLabels": { "a": "b" } }, "template": template });
    dropped("apps/v1", "Deployment", selected, "spec.template");
    let mut once = template.clone();
    once["spec"]["restartPolicy"] = json!("Never");
    let job = json!({ "template": once });
    dropped("batch/v1", "Job", job.clone(), "spec.template");
    let cron = json!({ "schedule": "@daily", "jobTemplate": { "spec": job } });
    dropped("batch/v1", "CronJob", cron, "spec.jobTemplate.spec.template");
    let jobs = json!({ "replicatedJobs": [{ "name": "w", "template": { "spec": job } }] });
    dropped("jobset.x-k8s.io/v1alpha2", "JobSet", jobs, "spec.replicatedJobs[0].template.spec.template");
    dropped("example.com/v1", "Thing", json!({ "template": template }), "spec.template");
    // An update keeps what the stored object uses.
    let old =
        object("apps/v1", "Deployment", json!({ "selector": { "matchLabels": { "a": "b" } }, "template": template }));
    assert_eq!(brief(&update(&profile, old.clone(), old)), []);
}

/// Compared with the types of `k8s.io/api` of 0.34 to 0.37.
#[test]
fn a_field_is_dropped_by_the_versions_that_do_not_have_it() {
    let container = json!([{ "name": "c", "image": "i" }]);
    let pod = object("v1", "Pod", json!({ "containers": container, "workloadRef": { "name": "w", "podGroup": "g" } }));
    let template = json!({ "spec": { "containers": container, "restartPolicy": "Never" } });
    let job = object("batch/v1", "Job", json!({ "template": template, "scheduling": {} }));
    let driver = |field: &str, value: Value| object("storage.k8s.io/v1", "CSIDriver", json!({ field: value }));
    let device = json!({ "name": "d", "nodeAllocatableResourceMappings": { "cpu": { "allocationMultiplier": "1" } } });
    let pool = json!({ "name": "p", "generation": 1, "resourceSliceCount": 1 });
    let slice = object(
        "resource.k8s.io/v1",
        "ResourceSlice",
        json!({ "driver": "d", "nodeName": "n", "pool": pool, "devices": [device] }),
    );
    let class = object("resource.k8s.io/v1", "DeviceClass", json!({ "suitableNodes": {} }));
    for (object, field, versions) in [
        (
            &pod,
            "workloadRef",
            ["came with Kubernetes 1.35", "", "removed before Kubernetes 1.36", "removed before Kubernetes 1.37"],
        ),
        (
            &job,
            "scheduling",
            ["came with Kubernetes 1.37", "came with Kubernetes 1.37", "came with Kubernetes 1.37", ""],
        ),
        (
            &driver("serviceAccountTokenInSecrets", json!(false)),
            "serviceAccountTokenInSecrets",
            ["came with Kubernetes 1.35", "", "", ""],
        ),
        (
            &driver("preventPodSchedulingIfMissing", json!(false)),
            "preventPodSchedulingIfMissing",
            ["came with Kubernetes 1.36", "came with Kubernetes 1.36", "", ""],
        ),
        (
            &slice,
            "nodeAllocatableResourceMappings",
            ["came with Kubernetes 1.36", "came with Kubernetes 1.36", "", "removed before Kubernetes 1.37"],
        ),
        (&class, "suitableNodes", ["removed before Kubernetes 1."; 4]),
    ] {
        for (version, why) in [Version::V1_34, Version::V1_35, Version::V1_36, Version::V1_37].into_iter().zip(versions)
        {
            let mut profile = Profile::of(version);
            for gate in ["GenericWorkload", "DRANodeAllocatableResources"] {
                assert!(profile.features.set(gate, true));
            }
            let admission = submit(Submission::create(object.clone()), &profile);
            let is_dropped = |one: &&Finding| one.code == Code::ValidateDroppedField && one.path.ends_with(field);
            let said = admission.findings.iter().find(is_dropped).map_or("", |one| one.message.as_str());
            assert!(said.contains(why) && said.is_empty() == why.is_empty(), "{field} in {version}: {said}");
            assert_eq!(admission.object.to_string().contains(field), why.is_empty(), "{field} in {version}");
        }
    }
}

#[test]
fn gates_are_locked_where_recorded_servers_let_nobody_choose_them() {
    // Stable and still a choice; `--help` of the servers lists gates of the other stages only.
    const STABLE: [(&str, &str); 3] =
        [("1.36", "DRAPrioritizedList"), ("1.37", "DRADeviceTaints"), ("1.37", "DRADeviceTaintRules")];
    for minor in ["1.34", "1.35", "1.36", "1.37"] {
        let file = format!("{}/../tests/conformance/validation/{minor}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).unwrap();
        let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let choices: Vec<&str> = header["gates"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let version = Version::parse(minor).unwrap();
        let is_on = |gate: &str| Features::of(version).get(gate) == Some(true);
        for gate in Features::gates().filter(|gate| gate.starts_with("DRA")) {
            let is_choice = choices.contains(&gate) || STABLE.contains(&(minor, gate)) || !is_on(gate);
            assert_eq!(Features::locked(version, gate, false).is_none(), is_choice, "{gate} of {minor}");
            assert_eq!(Features::locked(version, gate, true), None);
        }
        for gate in choices {
            assert_eq!(Features::locked(version, gate, false), None, "{gate} of {minor}");
        }
    }
    // No server of the preview is recorded.
    for gate in
        ["DRAPartitionableDevices", "DRADeviceTaintRules", "DynamicResourceAllocation", "PodGroupPreemptionPolicy"]
    {
        let text = Features::locked(Version::V1_38, gate, false).unwrap();
        assert!(text.ends_with("it is locked to true in Kubernetes 1.38"), "{text}");
        assert_eq!(Features::locked(Version::All, gate, false), None);
    }
    for gate in ["DRAConsumableCapacity", "DRAFractionalCapacityRange"] {
        assert_eq!(Features::locked(Version::V1_38, gate, false), None);
    }
    assert_eq!(Features::locked(Version::V1_34, "DynamicResourceAllocation", false), None);
    assert!(Features::locked(Version::V1_35, "DynamicResourceAllocation", false).is_some());
    assert!(Features::locked(Version::V1_37, "GangScheduling", false).is_some());
}

/// What of a Workload an update may change, by the rules of each version.
#[test]
fn a_workload_keeps_what_its_version_does_not_let_change() {
    let template = |name: &str, policy: &str, value: Value| json!({ "name": name, policy: value });
    let gang = |count: i64| json!({ "gang": { "minCount": count } });
    for (version, of, list, policy) in [
        (Version::V1_35, "v1alpha1", "podGroups", "policy"),
        (Version::V1_36, "v1alpha2", "podGroupTemplates", "schedulingPolicy"),
        (Version::V1_37, "v1alpha3", "podGroupTemplates", "schedulingPolicy"),
        (Version::V1_37, "v1beta1", "podGroupTemplates", "schedulingPolicy"),
        (Version::V1_38, "v1beta1", "podGroupTemplates", "schedulingPolicy"),
        (Version::All, "v1beta1", "podGroupTemplates", "schedulingPolicy"),
    ] {
        let mut profile = Profile::of(version);
        assert!(profile.features.set("GenericWorkload", true));
        let workload = |controller: Value, templates: Value| {
            let spec = json!({ "controllerRef": controller, list: templates });
            object(&format!("scheduling.k8s.io/{of}"), "Workload", spec)
        };
        let job = json!({ "kind": "Job", "name": "a" });
        let refused = |changed: Value| {
            let old = workload(job.clone(), json!([template("t", policy, gang(2))]));
            let found = update(&profile, old, changed);
            found.into_iter().filter(Finding::refuses).map(|one| one.path).collect::<Vec<_>>()
        };
        let one = |value: Value| workload(job.clone(), json!([template("t", policy, value)]));
        assert_eq!(refused(one(gang(2))), [""; 0]);
        let other = workload(json!({ "kind": "Job", "name": "b" }), json!([template("t", policy, gang(2))]));
        assert_eq!(refused(other), ["spec.controllerRef"], "{of}");
        // Since 1.37 a gang may grow and shrink.
        let is_fixed = version <= Version::V1_36;
        assert_eq!(!refused(one(gang(3))).is_empty(), is_fixed, "{of}");
        for changed in [
            one(json!({ "basic": {} })),
            workload(job.clone(), json!([template("t", policy, gang(2)), template("u", policy, gang(2))])),
            workload(job.clone(), json!([template("u", policy, gang(2))])),
        ] {
            let paths = refused(changed.clone());
            assert!(
                !paths.is_empty() && paths.iter().all(|path| path.starts_with(&format!("spec.{list}"))),
                "{of}: {paths:?} {changed}"
            );
        }
    }
}
