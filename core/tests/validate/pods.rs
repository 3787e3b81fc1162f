//! Pods, the kinds of which a controller makes Pods, and what updates may change.

use apportion_core::finding::{ErrorKind, Finding, Severity};
use apportion_core::profile::{Profile, Version};
use apportion_core::validate::{Operation, Submission, admit, as_stored, validate};
use serde_json::{Value, json};

use crate::{create, create_in, update};

fn errors(findings: &[Finding]) -> Vec<(ErrorKind, &str)> {
    findings.iter().filter_map(|finding| Some((finding.kind?, finding.path.as_str()))).collect()
}

fn pod(spec: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "n" }, "spec": spec })
}

/// A Pod with one good container and more fields.
fn with(more: Value) -> Value {
    let mut spec = json!({ "containers": [{ "name": "c", "image": "i" }] });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    pod(spec)
}

fn asking(resources: Value) -> Value {
    pod(json!({ "containers": [{ "name": "c", "image": "i", "resources": resources }] }))
}

use ErrorKind::{Duplicate, Forbidden, Invalid, NotSupported, Required, TypeInvalid};

#[test]
fn resources_follow_the_rules_of_the_api_server() {
    let at = "spec.containers[0].resources";
    for (resources, expected) in [
        (json!({ "requests": { "cpu": "1", "memory": "1Gi" }, "limits": { "cpu": 2 } }), vec![]),
        (json!({ "limits": { "a.io/gpu": 2 } }), vec![]),
        (json!({ "requests": { "a.io/gpu": 2 }, "limits": { "a.io/gpu": "2" } }), vec![]),
        (json!({ "requests": { "a.io/gpu": 1 } }), vec![(Required, "limits")]),
        (json!({ "requests": { "a.io/gpu": 1 }, "limits": { "a.io/gpu": 2 } }), vec![(Invalid, "requests")]),
        (
            json!({ "limits": { "a.io/gpu": "500m" } }),
            vec![(Invalid, "limits[a.io/gpu]"), (Invalid, "requests[a.io/gpu]")],
        ),
        (json!({ "requests": { "gpu": 1 } }), vec![(Invalid, "requests[gpu]"), (Invalid, "requests[gpu]")]),
        (json!({ "requests": { "cpu": 2 }, "limits": { "cpu": 1 } }), vec![(Invalid, "requests")]),
        (json!({ "requests": { "cpu": "-1" } }), vec![(Invalid, "requests[cpu]")]),
        (json!({ "requests": { "memory": "lots" } }), vec![(TypeInvalid, "requests[memory]")]),
        (
            json!({ "limits": { "hugepages-2Mi": "3Mi", "cpu": 1 } }),
            vec![(Invalid, "limits[hugepages-2Mi]"), (Invalid, "requests[hugepages-2Mi]")],
        ),
        (
            json!({ "limits": { "requests.a.io/gpu": 1 } }),
            vec![(Invalid, "limits[requests.a.io/gpu]"), (Invalid, "requests[requests.a.io/gpu]")],
        ),
    ] {
        let expected: Vec<_> = expected.into_iter().map(|(kind, path)| (kind, format!("{at}.{path}"))).collect();
        let findings = create(asking(resources.clone()));
        let found: Vec<_> = errors(&findings).into_iter().map(|(kind, path)| (kind, path.to_owned())).collect();
        assert_eq!(found, expected, "{resources}");
    }
    let findings = create(asking(json!({ "limits": { "hugepages-2Mi": "4Mi" } })));
    assert_eq!(errors(&findings), [(Forbidden, at)]);
    let findings = create(asking(json!({ "limits": { "CPU": 1 } })));
    assert_eq!(findings.last().and_then(|finding| finding.hint.as_deref()), Some("did you mean `cpu`?"));
}

#[test]
fn resources_of_a_pod_cover_its_containers() {
    let asked = |cpu: u32| {
        let container = |name: &str| json!({ "name": name, "image": "i", "resources": { "requests": { "cpu": 2 } } });
        pod(json!({ "containers": [container("a"), container("b")], "resources": { "requests": { "cpu": cpu } } }))
    };
    assert_eq!(errors(&create(asked(4))), []);
    assert_eq!(errors(&create(asked(3))), [(Invalid, "spec.resources.requests[cpu]")]);
}

#[test]
fn containers_have_unique_names_and_images() {
    let of = |containers: Value| pod(json!({ "containers": containers }));
    let good = json!({ "name": "c", "image": "i" });
    for (object, expected) in [
        (of(json!([])), vec![(Required, "spec.containers")]),
        (pod(json!({})), vec![(Required, "spec.containers")]),
        (of(json!([good, good])), vec![(Duplicate, "spec.containers[1].name")]),
        (of(json!([{ "name": "c" }])), vec![(Required, "spec.containers[0].image")]),
        (of(json!([{ "image": "i" }])), vec![(Required, "spec.containers[0].name")]),
        (of(json!([{ "name": "C_", "image": "i" }])), vec![(Invalid, "spec.containers[0].name")]),
        (with(json!({ "initContainers": [good] })), vec![(Duplicate, "spec.initContainers[0].name")]),
        (with(json!({ "restartPolicy": "always" })), vec![(NotSupported, "spec.restartPolicy")]),
        (with(json!({ "priority": "high" })), vec![(TypeInvalid, "spec.priority")]),
        (with(json!({ "priorityClassName": "High" })), vec![(Invalid, "spec.priorityClassName")]),
        (with(json!({ "nodeSelector": { "a/b/c": "x" } })), vec![(Invalid, "spec.nodeSelector")]),
        (with(json!({ "overhead": { "cpu": "-1" } })), vec![(Invalid, "spec.overhead[cpu]")]),
        (
            with(json!({ "schedulingGates": [{ "name": "g" }, { "name": "g" }] })),
            vec![(Duplicate, "spec.schedulingGates[1]")],
        ),
        (with(json!({ "nodeName": "n", "schedulingGates": [{ "name": "g" }] })), vec![(Forbidden, "spec.nodeName")]),
    ] {
        assert_eq!(errors(&create(object.clone())), expected, "{object}");
    }
}

#[test]
fn tolerations_and_affinity_have_known_operators() {
    let toleration = |toleration: Value| with(json!({ "tolerations": [toleration] }));
    let nodes = |expression: Value| {
        let required = json!({ "nodeSelectorTerms": [{ "matchExpressions": [expression] }] });
        with(json!({ "affinity": { "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": required } } }))
    };
    let expression = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]";
    for (object, expected) in [
        (toleration(json!({ "operator": "Exists" })), vec![]),
        (toleration(json!({ "key": "a.io/b", "value": "c", "effect": "NoSchedule" })), vec![]),
        (
            toleration(json!({ "key": "a", "operator": "Exists", "value": "b" })),
            vec![(Invalid, "spec.tolerations[0].operator")],
        ),
        (toleration(json!({ "value": "b" })), vec![(Invalid, "spec.tolerations[0].operator")]),
        (toleration(json!({ "key": "a", "operator": "In" })), vec![(NotSupported, "spec.tolerations[0].operator")]),
        (toleration(json!({ "key": "a", "effect": "Never" })), vec![(NotSupported, "spec.tolerations[0].effect")]),
        (
            toleration(json!({ "key": "a", "effect": "NoSchedule", "tolerationSeconds": 3 })),
            vec![(Invalid, "spec.tolerations[0].effect")],
        ),
        (nodes(json!({ "key": "a", "operator": "Gt", "values": ["3"] })), vec![]),
    ] {
        assert_eq!(errors(&create(object.clone())), expected, "{object}");
    }
    let operator = format!("{expression}.operator");
    assert_eq!(
        errors(&create(nodes(json!({ "key": "a", "operator": "Equals", "values": ["3"] })))),
        [(Invalid, &*operator)]
    );
    let values = format!("{expression}.values");
    assert_eq!(errors(&create(nodes(json!({ "key": "a", "operator": "In" })))), [(Required, &*values)]);
}

#[test]
fn host_ports_are_in_range_and_used_once() {
    let ports = |ports: Value, on_host: bool| {
        let container = json!({ "name": "c", "image": "i", "ports": ports });
        pod(json!({ "containers": [container], "hostNetwork": on_host }))
    };
    let at = "spec.containers[0].ports";
    let found = |object: Value| -> Vec<String> {
        errors(&create(object)).into_iter().map(|(kind, path)| format!("{kind:?} {path}")).collect()
    };
    assert_eq!(found(ports(json!([{ "containerPort": 80 }, { "containerPort": 81, "hostPort": 81 }]), false)), [""; 0]);
    assert_eq!(found(ports(json!([{ "containerPort": 80 }]), true)), [""; 0]);
    assert_eq!(
        found(ports(json!([{ "containerPort": 80, "hostPort": 70000 }]), false)),
        [format!("Invalid {at}[0].hostPort")]
    );
    assert_eq!(
        found(ports(json!([{ "containerPort": 80, "hostPort": 81 }]), true)),
        [format!("Invalid {at}[0].hostPort")]
    );
    let twice = json!([{ "containerPort": 80, "hostPort": 80 }, { "containerPort": 81, "hostPort": 80 }]);
    assert_eq!(found(ports(twice, false)), [format!("Duplicate {at}[1].hostPort")]);
    assert_eq!(found(ports(json!([{ "name": "http" }]), false)), [format!("Required {at}[0].containerPort")]);
}

fn workload(kind: &str, spec: Value) -> Value {
    let group = if matches!(kind, "Job" | "CronJob") { "batch/v1" } else { "apps/v1" };
    json!({ "apiVersion": group, "kind": kind, "metadata": { "name": "w", "namespace": "n" }, "spec": spec })
}

fn template(restart: Value) -> Value {
    json!({
        "metadata": { "labels": { "a": "b" } },
        "spec": { "restartPolicy": restart, "containers": [{ "name": "c", "image": "i" }] },
    })
}

#[test]
fn replicated_pods_are_selected_by_their_labels() {
    let labels = (Invalid, "spec.template.metadata.labels");
    for kind in ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"] {
        let of = |selector: Value, restart: Value| {
            create(workload(kind, json!({ "selector": selector, "template": template(restart) })))
        };
        assert_eq!(errors(&of(json!({ "matchLabels": { "a": "b" } }), Value::Null)), [], "{kind}");
        assert_eq!(errors(&of(json!({ "matchLabels": { "a": "c" } }), Value::Null)), [labels], "{kind}");
        assert_eq!(errors(&of(json!({}), Value::Null)), [(Invalid, "spec.selector")], "{kind}");
        let findings = of(Value::Null, Value::Null);
        let missing = if kind == "DaemonSet" { vec![labels] } else { vec![(Required, "spec.selector"), labels] };
        assert_eq!(errors(&findings), missing, "{kind}");
        let never = of(json!({ "matchLabels": { "a": "b" } }), json!("Never"));
        assert_eq!(errors(&never), [(NotSupported, "spec.template.spec.restartPolicy")], "{kind}");
        let by_expression = |operator: &str, values: Value| {
            of(json!({ "matchExpressions": [{ "key": "a", "operator": operator, "values": values }] }), Value::Null)
        };
        assert_eq!(errors(&by_expression("In", json!(["b"]))), []);
        assert_eq!(errors(&by_expression("NotIn", json!(["b"]))), [labels]);
        assert_eq!(errors(&by_expression("Exists", json!([]))), []);
        assert_eq!(errors(&by_expression("Is", json!([]))), [(Invalid, "spec.selector.matchExpressions[0].operator")]);
    }
    let negative =
        json!({ "replicas": -1, "selector": { "matchLabels": { "a": "b" } }, "template": template(Value::Null) });
    assert_eq!(errors(&create(workload("Deployment", negative))), [(Invalid, "spec.replicas")]);
    let near = create(workload(
        "Deployment",
        json!({ "replicsa": 1, "selector": { "matchLabels": { "a": "b" } }, "template": template(Value::Null) }),
    ));
    assert_eq!(near[0].hint.as_deref(), Some("did you mean `replicas`?"));
}

#[test]
fn jobs_say_how_their_pods_end() {
    let job = |restart: Value, more: Value| {
        let mut spec = json!({ "template": template(restart) });
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        create(workload("Job", spec))
    };
    let restart = "spec.template.spec.restartPolicy";
    for (value, more, expected) in [
        (json!("Never"), json!({}), vec![]),
        (json!("OnFailure"), json!({ "completionMode": "Indexed", "completions": 3 }), vec![]),
        (Value::Null, json!({}), vec![(Required, restart)]),
        (json!("Always"), json!({}), vec![(Required, restart)]),
        (json!("Sometimes"), json!({}), vec![(NotSupported, restart), (NotSupported, restart)]),
        (json!("Never"), json!({ "completionMode": "Indexed" }), vec![(Required, "spec.completions")]),
        (json!("Never"), json!({ "completionMode": "indexed" }), vec![(NotSupported, "spec.completionMode")]),
        (json!("Never"), json!({ "parallelism": -1 }), vec![(Invalid, "spec.parallelism")]),
        (json!("Never"), json!({ "backoffLimit": -1 }), vec![(Invalid, "spec.backoffLimit")]),
        (json!("Never"), json!({ "backoffLimitPerIndex": 1 }), vec![(Invalid, "spec.backoffLimitPerIndex")]),
        (json!("Never"), json!({ "selector": { "matchLabels": { "a": "b" } } }), vec![(Invalid, "spec.selector")]),
    ] {
        let findings = job(value.clone(), more.clone());
        let mut found = errors(&findings);
        found.sort_by_key(|(_, path)| *path);
        assert_eq!(found, expected, "{value} {more}");
    }
}

#[test]
fn a_pod_keeps_its_spec() {
    let all = Profile::default();
    let old = as_stored(with(json!({ "resourceClaims": [{ "name": "a", "resourceClaimName": "x" }] })));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut object = old.clone();
        change(&mut object);
        errors(&update(&all, old.clone(), object))
            .into_iter()
            .map(|(kind, path)| format!("{kind:?} {path}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(changed(&|pod| pod["metadata"]["labels"] = json!({ "a": "b" })), [""; 0]);
    assert_eq!(changed(&|pod| pod["spec"]["containers"][0]["image"] = json!("j")), [""; 0]);
    assert_eq!(changed(&|pod| pod["spec"]["tolerations"] = json!([{ "operator": "Exists" }])), [""; 0]);
    assert_eq!(changed(&|pod| pod["spec"]["resourceClaims"][0]["resourceClaimName"] = json!("y")), ["Forbidden spec"]);
    assert_eq!(changed(&|pod| pod["spec"]["nodeSelector"] = json!({ "a": "b" })), ["Forbidden spec"]);
    assert_eq!(changed(&|pod| pod["spec"]["priority"] = json!(7)), ["Forbidden spec"]);
    assert_eq!(
        changed(&|pod| pod["spec"]["containers"][0]["resources"] = json!({ "requests": { "cpu": 1 } })),
        ["Forbidden spec"]
    );
    assert_eq!(
        changed(
            &|pod| pod["spec"]["containers"] = json!([{ "name": "c", "image": "i" }, { "name": "d", "image": "i" }])
        ),
        ["Forbidden spec.containers"]
    );
    assert_eq!(
        changed(&|pod| pod["spec"]["schedulingGates"] = json!([{ "name": "g" }])),
        ["Forbidden spec.schedulingGates[0].name"]
    );
}

/// A Pod as an API server stores it.
fn dumped() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "p", "namespace": "n", "uid": "u-1", "resourceVersion": "7", "generation": 2,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [{ "apiVersion": "v1", "kind": "X", "name": "x", "uid": "y", "controller": true }],
            "managedFields": [{ "manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": { "f:spec": {} }, "time": "2026-01-01T00:00:00Z" }],
        },
        "spec": {
            "containers": [{
                "name": "c", "image": "i", "imagePullPolicy": "Always", "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File", "ports": [{ "containerPort": 80, "protocol": "TCP" }],
                "resources": { "limits": { "a.io/gpu": "1", "cpu": "500m" }, "requests": { "a.io/gpu": "1", "cpu": "500m" } },
                "volumeMounts": [{ "name": "kube-api-access-x", "mountPath": "/var/run", "readOnly": true }],
            }],
            "ephemeralContainers": [{ "name": "debug", "image": "i" }],
            "nodeName": "n1", "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "enableServiceLinks": true,
            "schedulerName": "default-scheduler", "securityContext": {}, "serviceAccount": "default",
            "serviceAccountName": "default", "terminationGracePeriodSeconds": 30, "priority": 0,
            "preemptionPolicy": "PreemptLowerPriority",
            "tolerations": [
                { "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 },
                { "key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 },
            ],
            "volumes": [{ "name": "kube-api-access-x", "projected": { "defaultMode": 420, "sources": [] } }],
        },
        "status": { "phase": "Running", "qosClass": "Burstable", "conditions": [{ "type": "Ready", "status": "True", "lastProbeTime": null }] },
    })
}

#[test]
fn a_file_is_applied_to_what_is_stored() {
    let all = Profile::default();
    let container = json!({ "name": "c", "image": "i", "ports": [{ "containerPort": 80 }], "resources": { "limits": { "a.io/gpu": 1, "cpu": 0.5 } } });
    let file = pod(json!({ "containers": [container] }));
    assert_eq!(errors(&update(&all, dumped(), file.clone())), []);
    let mut other = file.clone();
    other["spec"]["containers"][0]["resources"]["limits"]["cpu"] = json!(1);
    assert_eq!(errors(&update(&all, dumped(), other)), [(Forbidden, "spec")]);
    let mut wrong = file.clone();
    wrong["metadata"]["creationTimestamp"] = json!("2020-01-01T00:00:00Z");
    assert_eq!(errors(&update(&all, dumped(), wrong)), [(Invalid, "metadata.creationTimestamp")]);
    let mut older = file;
    older["metadata"]["uid"] = json!("u-2");
    assert_eq!(errors(&update(&all, dumped(), older))[0], (Invalid, "metadata.uid"));
}

#[test]
fn a_stored_pod_is_valid_as_it_is_found() {
    for version in [Version::V1_34, Version::V1_35, Version::V1_36, Version::V1_37, Version::V1_38, Version::All] {
        let admission = admit(&dumped(), &Profile::of(version), None);
        assert_eq!(errors(&admission.findings), [], "{version}");
        assert_eq!(admission.object["status"], dumped()["status"]);
        assert_eq!(admission.object["metadata"], dumped()["metadata"]);
        let again = Submission {
            object: admission.object,
            old: Some(dumped()),
            operation: Operation::Update,
            ..Submission::default()
        };
        let findings = validate(again, &Profile::of(version));
        assert!(findings.iter().all(|finding| finding.severity != Severity::Error), "{findings:?}");
    }
}

#[test]
fn what_is_admitted_is_as_the_server_stores_it() {
    let new = asking(json!({ "limits": { "a.io/gpu": 1 } }));
    let stored = admit(&new, &Profile::default(), None).object;
    assert_eq!(stored["spec"]["containers"][0]["resources"]["requests"], json!({ "a.io/gpu": 1 }));
    let claim = json!({
        "apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "n" },
        "spec": { "devices": { "requests": [{ "name": "r", "deviceClassName": "g", "adminAccess": true, "cuont": 2 }] } },
    });
    let mut profile = Profile::of(Version::V1_36);
    assert!(profile.features.set("DRAAdminAccess", false));
    let admission = admit(&claim, &profile, None);
    assert!(!admission.is_refused());
    assert_eq!(admission.object["apiVersion"], "resource.k8s.io/v1");
    let request =
        json!({ "name": "r", "exactly": { "deviceClassName": "g", "allocationMode": "ExactCount", "count": 1 } });
    assert_eq!(admission.object["spec"]["devices"]["requests"], json!([request]));
    let again = admit(&admission.object, &profile, None);
    assert_eq!((&again.object, again.findings.len()), (&admission.object, 0));
}

#[test]
fn admin_access_needs_the_label_of_today() {
    let claim = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "n" },
        "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "g", "adminAccess": true } }] } },
    });
    let is_refused = |label: &str| {
        let labels = [(label.to_owned(), "true".to_owned())].into();
        admit(&claim, &Profile::of(Version::V1_34), Some(&labels)).is_refused()
    };
    assert!(!is_refused("resource.kubernetes.io/admin-access"));
    assert!(is_refused("resource.k8s.io/admin-access"));
}

#[test]
fn a_rule_without_its_removed_selector_taints_everything() {
    let rule = json!({
        "apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule", "metadata": { "name": "r" },
        "spec": { "deviceSelector": { "deviceClassName": "gpu" }, "taint": { "key": "a.io/b", "effect": "NoSchedule" } },
    });
    let mut profile = Profile::of(Version::V1_36);
    assert!(profile.features.set("DRADeviceTaintRules", true));
    let admission = admit(&rule, &profile, None);
    assert!(!admission.is_refused());
    assert_eq!(admission.object["spec"]["deviceSelector"], json!({}));
    assert!(
        admission
            .findings
            .iter()
            .any(|finding| finding.message.contains("every device") && finding.message.contains("`deviceClassName`"))
    );
}

#[test]
fn a_slice_has_devices_or_counters_from_1_35_on() {
    let slice = json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
        "spec": {
            "driver": "d.io", "nodeName": "n", "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 },
            "sharedCounters": [{ "name": "c", "counters": { "m": { "value": "8Gi" } } }],
            "devices": [{ "name": "x", "consumesCounters": [{ "counterSet": "c", "counters": { "m": { "value": "6Gi" } } }] }],
        },
    });
    for version in [Version::V1_36, Version::V1_37, Version::V1_38] {
        assert_eq!(errors(&create_in(version, slice.clone())), [(Invalid, "spec")]);
    }
    assert_eq!(errors(&create_in(Version::V1_34, slice)), []);
}

/// r_236: the same for PodGroups.
#[test]
fn r_236_a_group_with_the_field_fails_any_update() {
    let mut off = Profile::default();
    assert!(off.features.set("ClusterResourceClaimTemplates", false));
    let group = json!({
        "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": { "name": "g", "namespace": "n" },
        "spec": { "schedulingPolicy": { "basic": {} }, "resourceClaims": [{ "name": "a", "clusterResourceClaimTemplateName": "t" }] },
    });
    let mut labelled = group.clone();
    labelled["metadata"]["labels"] = json!({ "a": "b" });
    let findings = update(&off, as_stored(group.clone()), labelled.clone());
    assert_eq!(errors(&findings), [(Forbidden, "spec.resourceClaims[0].clusterResourceClaimTemplateName")]);
    assert_eq!(errors(&update(&Profile::default(), as_stored(group), labelled)), []);
}

#[test]
#[ignore = "prints what is found in a folder of manifests: `FOLDER=... cargo test ... -- --ignored --nocapture`"]
fn findings_of_a_folder() {
    let mut folders = vec![std::path::PathBuf::from(std::env::var("FOLDER").unwrap())];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        if folder.is_file() {
            let reading = apportion_yaml::read(&std::fs::read(&folder).unwrap(), &apportion_yaml::Limits::default());
            for document in reading.documents {
                let object = apportion_core::validate::in_default_namespace(document.value);
                let admission = admit(&object, &Profile::default(), None);
                count += 1;
                for finding in admission.findings.iter().filter(|finding| finding.severity == Severity::Error) {
                    let about = finding.object.as_ref().map(|object| format!("{} {}", object.kind, object.name));
                    println!(
                        "{} {} {} {}: {}",
                        folder.display(),
                        about.unwrap_or_default(),
                        finding.code.text(),
                        finding.path,
                        finding.message
                    );
                }
                if !admission.is_refused() {
                    let again = admit(&admission.object, &Profile::default(), None);
                    assert!(!again.is_refused(), "{:?}", again.findings);
                    assert_eq!(again.object, admission.object);
                }
            }
            continue;
        }
        let mut entries: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.retain(|path| {
            path.is_dir() || matches!(path.extension().and_then(|end| end.to_str()), Some("yaml" | "yml" | "json"))
        });
        folders.extend(entries);
    }
    println!("{count} objects");
}

#[test]
fn a_resource_without_a_domain_is_met_with_one() {
    let hints = |name: &str| {
        let spec = json!({ "containers": [{ "name": "c", "image": "x", "resources": { "limits": { name: 1 } } }] });
        let pod =
            json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "n" }, "spec": spec });
        let limits = format!("spec.containers[0].resources.limits[{name}]");
        let found = create(pod).into_iter().find(|finding| finding.path == limits);
        found.and_then(|finding| finding.hint).unwrap_or_default()
    };
    assert_eq!(hints("gpu"), "write the domain of the resource and a slash, as in `example.com/gpu`");
    assert_eq!(hints("memroy"), "did you mean `memory`?");
}
