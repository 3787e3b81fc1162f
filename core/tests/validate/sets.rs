//! Objects seen together.

use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::finding::{Code, Finding, Severity};
use apportion_core::profile::Profile;
use apportion_core::validate::{Submission, validate, validate_set};
use serde_json::{Value, json};

fn found(objects: &[Value]) -> Vec<(usize, Code, String, Severity)> {
    let all = validate_set(objects, &Profile::default());
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    assert_eq!(all, validate_set(&texts, &Profile::default()), "the same objects as texts");
    let numbered = all.into_iter().enumerate();
    numbered.flat_map(|(at, list)| list.into_iter().map(move |one| (at, one.code, one.path, one.severity))).collect()
}

fn object(api_version: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "namespace": "n" }, "spec": spec })
}

fn claim(name: &str, class: &str) -> Value {
    let requests = json!([{ "name": "r", "exactly": { "deviceClassName": class } }]);
    object("resource.k8s.io/v1", "ResourceClaim", name, json!({ "devices": { "requests": requests } }))
}

fn pod(name: &str, claims: Value) -> Value {
    object(
        "v1",
        "Pod",
        name,
        json!({ "resourceClaims": claims, "containers": [
        { "name": "c", "resources": { "claims": [{ "name": "a", "request": "nope" }] } },
    ] }),
    )
}

#[test]
fn dangling_references_are_found() {
    let class = object("resource.k8s.io/v1", "DeviceClass", "gpu", json!({}));
    let at = "spec.devices.requests[0].exactly.deviceClassName".to_owned();
    // A class that is not here may come with its driver, a slip of the finger does not.
    for (name, severity) in [("other", Severity::Info), ("gpus", Severity::Warning)] {
        let objects = [claim("c", name), class.clone()];
        assert_eq!(found(&objects), [(0, Code::LinkUnknownClass, at.clone(), severity)]);
    }
    assert_eq!(found(&[claim("c", "gpus")]), [(0, Code::LinkUnknownClass, at, Severity::Info)]);
    let objects = [pod("p", json!([{ "name": "a", "resourceClaimName": "c" }])), claim("c", "gpu")];
    let codes: Vec<Code> = found(&objects).into_iter().map(|(_, code, _, _)| code).collect();
    assert_eq!(codes, [Code::LinkUnknownRequest, Code::LinkUnknownClass]);
    let alone = [pod("p", json!([{ "name": "a", "resourceClaimTemplateName": "t" }]))];
    assert_eq!(found(&alone)[0].1, Code::LinkUnknownTemplate);
}

#[test]
fn a_claim_that_nearly_is_the_groups_is_found() {
    let entries = json!([{ "name": "shared", "resourceClaimTemplateName": "t" }]);
    let group = object("scheduling.k8s.io/v1alpha2", "PodGroup", "g", json!({ "resourceClaims": entries }));
    let template = object("resource.k8s.io/v1", "ResourceClaimTemplate", "t", json!({ "spec": {} }));
    let member = |claim: Value| {
        object("v1", "Pod", "p", json!({ "schedulingGroup": { "podGroupName": "g" }, "resourceClaims": [claim] }))
    };
    let exact = json!({ "name": "shared", "resourceClaimTemplateName": "t" });
    assert_eq!(found(&[group.clone(), template.clone(), member(exact)]), []);
    for near in [
        json!({ "name": "other", "resourceClaimTemplateName": "t" }),
        json!({ "name": "shared", "resourceClaimName": "t" }),
    ] {
        let codes: Vec<Code> =
            found(&[group.clone(), template.clone(), member(near)]).into_iter().map(|one| one.1).collect();
        assert!(codes.contains(&Code::LinkNearGroupClaim), "{codes:?}");
    }
}

#[test]
fn slices_of_a_pool_must_agree() {
    let slice = |name: &str, count: i64, spec: Value| {
        let mut all =
            json!({ "driver": "d.io", "pool": { "name": "p", "generation": 1, "resourceSliceCount": count } });
        all.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        object("resource.k8s.io/v1", "ResourceSlice", name, all)
    };
    let devices = json!({ "devices": [{ "name": "x" }] });
    let codes = |objects: &[Value]| found(objects).into_iter().map(|one| (one.0, one.1)).collect::<Vec<_>>();
    let disagree = [slice("a", 2, devices.clone()), slice("b", 3, json!({ "devices": [{ "name": "y" }] }))];
    assert_eq!(codes(&disagree), [(0, Code::LinkPoolDisagrees), (1, Code::LinkPoolDisagrees)]);
    let twice = [slice("a", 2, devices.clone()), slice("b", 2, devices)];
    assert_eq!(codes(&twice), [(1, Code::LinkPoolDisagrees)]);
    let counter = json!({ "devices": [{ "name": "x", "consumesCounters": [{ "counterSet": "s", "counters": { "m": { "value": "1" } } }] }] });
    assert_eq!(codes(&[slice("a", 1, counter)]), [(0, Code::LinkUnknownCounter)]);
}

#[test]
fn too_many_pods_on_one_claim_are_counted_through_workloads() {
    let workload = |replicas: u64| {
        let spec = json!({ "resourceClaims": [{ "name": "a", "resourceClaimName": "c" }] });
        object("apps/v1", "Deployment", "d", json!({ "replicas": replicas, "template": { "spec": spec } }))
    };
    let claims = claim("c", "gpu");
    let class = object("resource.k8s.io/v1", "DeviceClass", "gpu", json!({}));
    assert_eq!(found(&[workload(256), claims.clone(), class.clone()]), []);
    let at = "spec.template.spec.resourceClaims[0].resourceClaimName".to_owned();
    assert_eq!(found(&[workload(257), claims, class]), [(0, Code::LinkClaimSharedByMany, at, Severity::Warning)]);
}

#[test]
fn admin_access_hangs_on_a_label() {
    let mut admin = claim("c", "gpu");
    admin["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = json!(true);
    let class = object("resource.k8s.io/v1", "DeviceClass", "gpu", json!({}));
    let space = |labels: Value| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "n", "labels": labels } });
    let codes = |space: Value| -> Vec<Code> {
        found(&[admin.clone(), class.clone(), space]).into_iter().map(|one| one.1).collect()
    };
    assert_eq!(codes(space(json!({}))), [Code::RunAdminNamespace]);
    assert_eq!(codes(json!({})), [Code::LinkAdminLabel]);
    // What a cluster took stays.
    admin["metadata"]["uid"] = json!("7a1b3c5d-0000-4000-8000-000000000001");
    let kept = found(&[admin.clone(), class.clone(), space(json!({}))]);
    assert_eq!(
        kept.into_iter().map(|one| (one.1, one.3)).collect::<Vec<_>>(),
        [(Code::LinkAdminLabel, Severity::Warning)]
    );
    admin["metadata"].as_object_mut().unwrap().remove("uid");
    let codes = |space: Value| -> Vec<Code> {
        found(&[admin.clone(), class.clone(), space]).into_iter().map(|one| one.1).collect()
    };
    assert_eq!(codes(space(json!({ "resource.kubernetes.io/admin-access": "true" }))), [Code::SecurityAdminNamespace]);
    let role = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": "r" },
        "rules": [{ "apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "patch"] }] });
    assert_eq!(found(&[role])[0].1, Code::SecurityNamespaceLabels);
}

#[test]
fn selectors_are_held_against_the_slices_of_the_set() {
    let devices = json!([
        { "name": "d0", "attributes": { "model": { "string": "a100" }, "other.example.com/index": { "int": 0 } }, "capacity": { "memory": { "value": "80Gi" } } },
        { "name": "d1", "attributes": { "model": { "string": "h100" } } },
    ]);
    let spec = json!({ "driver": "gpu.example.com", "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 }, "allNodes": true, "devices": devices });
    let slice = object("resource.k8s.io/v1", "ResourceSlice", "s", spec);
    let hint = |expression: &str| -> Option<(Code, String)> {
        let class = object(
            "resource.k8s.io/v1",
            "DeviceClass",
            "gpu",
            json!({ "selectors": [{ "cel": { "expression": expression } }] }),
        );
        let mut all = validate_set(&[class, slice.clone()], &Profile::default()).swap_remove(0);
        assert!(all.iter().all(|finding| finding.path == "spec.selectors[0].cel.expression"), "{all:?}");
        all.pop().map(|finding| (finding.code, finding.hint.unwrap_or_default()))
    };
    for right in [
        r#"device.attributes["gpu.example.com"].model == "a100""#,
        r#"device.attributes["elsewhere.example.com"].anything == 1"#,
        r#"device.attributes["other.example.com"].index > 0 && device.attributes["other.example.com"].index == 1.0"#,
        r#"device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) >= 0"#,
        r#""modle" in device.attributes["gpu.example.com"]"#,
        "device.driver ==",
    ] {
        assert_eq!(hint(right), None, "{right}");
    }
    for (wrong, code, expected) in [
        (
            r#"device.attributes["gpu.example.com"].modle == "a100""#,
            Code::LintUnknownAttribute,
            r#"did you mean `device.attributes["gpu.example.com"].model`?"#,
        ),
        (
            r#"device.attributes["gpu.example.com"].memory.isGreaterThan(quantity("1Gi"))"#,
            Code::LintUnknownAttribute,
            r#"write `device.capacity["gpu.example.com"].memory`"#,
        ),
        (
            r#"device.attributes["other.example.com"].name == "x""#,
            Code::LintUnknownAttribute,
            "of this domain they have index",
        ),
    ] {
        assert_eq!(hint(wrong), Some((code, expected.to_owned())), "{wrong}");
    }
    let compared = hint(r#"2 == device.attributes["gpu.example.com"].model"#);
    assert_eq!(compared.map(|(code, _)| code), Some(Code::LintNeverEqual));
}

#[test]
fn names_that_are_nearly_those_of_something_are_met_with_what_was_meant() {
    let hints = |objects: &[Value]| -> Vec<String> {
        let all = validate_set(objects, &Profile::default());
        let hints = all.into_iter().flatten().filter_map(|finding| finding.hint);
        hints.filter(|hint| hint.starts_with("did you mean")).collect()
    };
    let slice = |set: &str, counter: &str| {
        let draws = json!([{ "counterSet": set, "counters": { counter: { "value": "1" } } }]);
        let pool = json!({ "name": "p", "generation": 1, "resourceSliceCount": 2 });
        let one = json!({ "driver": "d.io", "nodeName": "a", "pool": pool, "devices": [{ "name": "x", "consumesCounters": draws }] });
        let counters = json!([{ "name": "whole", "counters": { "memory": { "value": "1" } } }]);
        let other = json!({ "driver": "d.io", "nodeName": "a", "pool": pool, "sharedCounters": counters });
        [("devices", one), ("counters", other)]
            .map(|(name, spec)| object("resource.k8s.io/v1", "ResourceSlice", name, spec))
    };
    assert_eq!(hints(&slice("whole", "memory")), [""; 0]);
    assert_eq!(hints(&slice("whoel", "memory")), ["did you mean `whole`?"]);
    assert_eq!(hints(&slice("whole", "memroy")), ["did you mean `memory`?"]);
    let mut training = claim("c", "gpu");
    training["spec"]["devices"]["requests"][0]["name"] = json!("note");
    let pod = pod("p", json!([{ "name": "a", "resourceClaimName": "c" }]));
    assert_eq!(hints(&[pod, training]), ["did you mean `note`?"]);
}

#[test]
fn what_was_meant_is_found_among_thousands() {
    let of = |kind: &str, name: String| object("resource.k8s.io/v1", kind, &name, json!({ "spec": {} }));
    let mut objects: Vec<Value> =
        (0..2000).map(|number| of("ResourceClaimTemplate", format!("s{number}-gpu"))).collect();
    objects.extend(
        (0..2000)
            .map(|number| object("resource.k8s.io/v1", "DeviceClass", &format!("c{number}.example.com"), json!({}))),
    );
    objects.push(of("ResourceClaimTemplate", "training-gpus".to_owned()));
    objects.push(object("resource.k8s.io/v1", "DeviceClass", "training.example.com", json!({})));
    let pods = (0..500).map(|number| {
        pod(&format!("p{number}"), json!([{ "name": "gpu", "resourceClaimTemplateName": "trainnig-gpus" }]))
    });
    objects.extend(pods);
    objects.extend((0..500).map(|number| claim(&format!("c{number}"), "trainig.example.com")));
    let all = validate_set(&objects, &Profile::default());
    let hints: Vec<String> = all.into_iter().flatten().filter_map(|finding| finding.hint).collect();
    let count = |hint: &str| hints.iter().filter(|one| *one == hint).count();
    assert_eq!(count("did you mean `training-gpus`?"), 500);
    assert_eq!(count("did you mean `training.example.com`?"), 500);
}

#[test]
fn references_inside_an_object_are_met_with_what_was_meant() {
    let hint = |object: &Value| {
        let findings = validate(Submission::create(object.clone()), &Profile::default());
        findings.into_iter().filter_map(|finding| finding.hint).find(|hint| hint.starts_with("did you mean"))
    };
    let pod = pod("p", json!([{ "name": "aa", "resourceClaimName": "c" }]));
    assert_eq!(hint(&pod).as_deref(), Some("did you mean `aa`?"));
    let alternatives = json!([{ "name": "large", "deviceClassName": "gpu" }]);
    let requests = json!([{ "name": "gpu", "firstAvailable": alternatives }]);
    let constraints = json!([{ "requests": ["gpu/lagre"], "matchAttribute": "d.io/model" }]);
    let spec = json!({ "devices": { "requests": requests, "constraints": constraints } });
    let claim = object("resource.k8s.io/v1", "ResourceClaim", "c", spec);
    assert_eq!(hint(&claim).as_deref(), Some("did you mean `gpu/large`?"));
}

#[test]
fn selectors_that_cannot_work_are_met_with_what_to_write() {
    let attributes = json!({
        "model": { "string": "A100" }, "driverVersion": { "version": "580.95.5" },
        "resource.kubernetes.io/numaNode": { "int": 0 }, "ready": { "bool": true },
    });
    let device = json!({ "name": "x", "attributes": attributes, "capacity": { "memory": { "value": "40Gi" } } });
    let pool = json!({ "name": "p", "generation": 1, "resourceSliceCount": 1 });
    let spec = json!({ "driver": "gpu.nvidia.com", "nodeName": "a", "pool": pool, "devices": [device] });
    let slice = object("resource.k8s.io/v1", "ResourceSlice", "s", spec);
    let hints = |expression: &str| -> Vec<String> {
        let mut claim = claim("c", "gpu");
        claim["spec"]["devices"]["requests"][0]["exactly"]["selectors"] =
            json!([{ "cel": { "expression": expression } }]);
        let all = [vec![slice.clone(), claim.clone()], vec![claim.clone()]]
            .map(|objects| validate_set(&objects, &Profile::default()).into_iter().flatten().collect::<Vec<_>>());
        let own = validate(Submission::create(claim), &Profile::default());
        let found = all.into_iter().flatten().chain(own);
        let found = found.filter(|one| one.code != Code::LintUnguarded && one.code != Code::LinkUnknownClass);
        let mut hints: Vec<String> = found.filter_map(|one| one.hint).collect();
        hints.sort();
        hints.dedup();
        hints
    };
    let (d, r) = ("device.attributes[\"gpu.nvidia.com\"]", "device.attributes[\"resource.kubernetes.io\"]");
    let memory = "device.capacity[\"gpu.nvidia.com\"].memory";
    let is_amount = format!("`{memory}` is an amount, which no operator compares");
    let cases = [
        // Constants.
        (format!("{memory}.compareTo(quantity('80GB')) >= 0"), "write `80G` or `80Gi`".to_owned()),
        (
            format!("{memory}.isGreaterThan(quantity('lots'))"),
            "write a number with an optional suffix, for instance `40Gi`, `500m` or `2`".to_owned(),
        ),
        (format!("{d}.driverVersion.compareTo(semver('590.0')) >= 0"), "write `590.0.0`".to_owned()),
        (format!("{d}.driverVersion == semver('v1.2.3')"), "write `1.2.3`".to_owned()),
        // Types.
        (
            format!("{d}.driverVersion >= '570.0.0'"),
            format!("write `{d}.driverVersion.compareTo(semver(\"570.0.0\")) >= 0`"),
        ),
        (
            format!("'570.0.0' < {d}.driverVersion"),
            format!("write `{d}.driverVersion.compareTo(semver(\"570.0.0\")) > 0`"),
        ),
        (
            format!("{d}.driverVersion != '570'"),
            format!("write `{d}.driverVersion.compareTo(semver(\"570.0.0\")) != 0`"),
        ),
        (
            format!("{d}.driverVersion.isLessThan(quantity('570'))"),
            format!("write `{d}.driverVersion.compareTo(semver(\"570.0.0\")) < 0`"),
        ),
        (format!("{r}.numaNode == '0'"), format!("write `{r}.numaNode == 0`")),
        (format!("{r}.numaNode in ['0', '1']"), format!("write `{r}.numaNode in [0, 1]`")),
        (format!("{r}.numaNode.compareTo(quantity('1')) < 0"), format!("write `{r}.numaNode < 1`")),
        (format!("{d}.model > 5"), format!("write `{d}.model > \"5\"`")),
        (format!("{d}.ready == 'True'"), format!("write `{d}.ready == true`")),
        (format!("{d}.model"), format!("compare it with a value: `{d}.model == \"...\"`")),
        (format!("{d}.ready && !{r}.numaNode"), format!("compare it with a value: `{r}.numaNode == 1`")),
        (
            format!("{memory} >= quantity('80Gi')"),
            format!("{is_amount}: write `{memory}.compareTo(quantity(\"80Gi\")) >= 0`"),
        ),
        (format!("{memory} > '80GB'"), format!("{is_amount}: write `{memory}.compareTo(quantity(\"80Gi\")) > 0`")),
        (
            format!("{memory}.compareTo('80Gi') >= 0"),
            format!(
                "`{memory}` is an amount, not compared with a text by this method: write `{memory}.compareTo(quantity(\"80Gi\")) >= 0`"
            ),
        ),
        ("1 + 1".to_owned(), "a selector must be true or false: compare the value, for instance with `==`".to_owned()),
        // Words.
        ("device.attributes.gpu.nvidia.com.model == 'A100'".to_owned(), format!("write `{d}.model`")),
        (
            "has(device.capacity.gpu.nvidia.com.memory)".to_owned(),
            format!("`gpu.nvidia.com` without quotes is a row of names, not a domain: write `{memory}`"),
        ),
        (format!("{d}.ready and true"), "write `&&` instead of `and`".to_owned()),
        (format!("{d}.ready OR true"), "write `||` instead of `OR`".to_owned()),
        (format!("{d}.ready && not {d}.ready"), "write `!` instead of `not`".to_owned()),
        (format!("{d}.model = 'A100'"), "write `==` instead of `=`".to_owned()),
        (format!("{d}.model <> 'A100'"), "write `!=` instead of `<>`".to_owned()),
        (format!("{d}.ready & true"), "write `&&` instead of `&`".to_owned()),
        (format!("{d}.model.contain('A')"), "did you mean `contains`?".to_owned()),
        (format!("{d}.model.startswith('A')"), "did you mean `startsWith`?".to_owned()),
        (format!("{d}.ready == True"), "did you mean `true`?".to_owned()),
        ("device.attribute['a.b'].c".to_owned(), "did you mean `device.attributes`?".to_owned()),
        ("attributes['a.b'].c".to_owned(), "write `device.attributes`".to_owned()),
        // Nothing is wrong.
        (
            format!("{d}.ready && {r}.numaNode < 1 && {memory}.isGreaterThan(quantity('8Gi')) && isQuantity('80GB')"),
            String::new(),
        ),
        (format!("{d}.driverVersion.compareTo(semver('1.2', true)) > 0 && {d}.model in ['A', 'B']"), String::new()),
    ];
    for (expression, hint) in cases {
        assert_eq!(hints(&expression).join("; "), hint, "{expression}");
    }
}

#[test]
fn what_is_meant_is_guessed_from_the_habits_of_others() {
    let hints = |objects: &[Value]| -> Vec<String> {
        let all = validate_set(objects, &Profile::default()).into_iter().flatten();
        let own = objects.iter().flat_map(|one| validate(Submission::create(one.clone()), &Profile::default()));
        all.chain(own).filter_map(|finding| finding.hint).collect()
    };
    let template = |name: &str| object("resource.k8s.io/v1", "ResourceClaimTemplate", name, json!({ "spec": {} }));
    let wanted = pod("p", json!([{ "name": "a", "resourceClaimTemplateName": "gpuu" }]));
    let has = |found: &[String], hint: &str| assert!(found.iter().any(|one| one == hint), "{hint}: {found:?}");
    has(&hints(&[wanted.clone(), template("gpu")]), "did you mean `gpu`?");
    has(&hints(&[wanted.clone(), template("other")]), "there are n/other");
    has(&hints(&[wanted, template("")]), "what is given of that kind has no name: set `metadata.name`");
    let class = "write the name of the DeviceClass with `extendedResourceName: nvidia.com/gpu`";
    has(&hints(&[claim("c", "nvidia.com/gpu")]), class);
    let mut nameless = claim("c", "gpu");
    nameless["spec"]["devices"]["requests"][0]["name"] = json!("");
    nameless["spec"]["devices"]["constraints"] = json!([{ "requests": ["gpu"], "matchAttribute": "pcieRoot" }]);
    let found = hints(&[nameless]);
    has(&found, "the name of the request is missing: set `name`");
    has(&found, "write `resource.kubernetes.io/pcieRoot`");
    assert!(!found.iter().any(|one| one.starts_with("its requests are")), "{found:?}");
    let device = json!({ "name": "x", "attributes": { "model": "A100", "ready": true, "numa": 1 }, "capacity": { "memory": "40Gi" } });
    let pool = json!({ "name": "p", "generation": 1, "resourceSliceCount": 1 });
    let spec = json!({ "driver": "d.io", "nodeName": "a", "pool": pool, "devices": [device] });
    let found = hints(&[object("resource.k8s.io/v1", "ResourceSlice", "s", spec)]);
    for hint in ["{string: A100}", "{bool: true}", "{int: 1}", "{value: 40Gi}"] {
        has(&found, &format!("write `{hint}`"));
    }
}

/// Errors about a set, and those of a run of its objects, each by what it is about and says.
fn errors(objects: &[Value]) -> [Vec<(String, Code, String)>; 2] {
    let of_run = {
        let mut engine = Engine::new(Profile::default(), Limits::default());
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        assert!(engine.submit(texts.iter().map(String::as_str)).iter().flatten().all(|one| !one.refuses()));
        engine.run().findings
    };
    let of_set: Vec<Finding> = validate_set(objects, &Profile::default()).into_iter().flatten().collect();
    [of_set, of_run].map(|found| {
        let errors = found.into_iter().filter(|one| matches!(one.code, Code::RunRefused | Code::RunAdminNamespace));
        let errors = errors.filter(|one| one.severity == Severity::Error);
        errors.map(|one| (one.object.unwrap().name, one.code, one.message)).collect()
    })
}

#[test]
fn admission_says_the_same_in_a_run() {
    let class = |name: &str, policy: Value| {
        json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": name }, "value": 5,
            "preemptionPolicy": policy })
    };
    let pod = |spec: Value| {
        let mut pod = object("v1", "Pod", "p", json!({ "containers": [{ "name": "c", "image": "i" }] }));
        pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        pod
    };
    let mut admin = claim("c", "gpu");
    admin["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = json!(true);
    let space = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "n" } });
    let metadata = json!({ "name": "n", "uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z" });
    let going =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata, "status": { "phase": "Terminating" } });
    let template = json!({ "metadata": { "labels": { "a": "b" } }, "spec": pod(json!({}))["spec"] });
    let selector = json!({ "matchLabels": { "a": "b" } });
    let deployment = object("apps/v1", "Deployment", "d", json!({ "selector": selector, "template": template }));
    let once = json!({ "spec": pod(json!({ "restartPolicy": "Never" }))["spec"] });
    let cron = json!({ "schedule": "@daily", "jobTemplate": { "spec": { "template": once } } });
    let mut stored = pod(json!({}));
    stored["metadata"]["uid"] = json!("p");
    for (objects, code) in [
        (vec![pod(json!({ "priorityClassName": "hihg" })), class("high", Value::Null)], Some(Code::RunRefused)),
        (vec![pod(json!({ "priorityClassName": "high" })), class("high", Value::Null)], None),
        (vec![pod(json!({ "priorityClassName": "system-node-critical" })), class("high", Value::Null)], None),
        (
            vec![
                pod(json!({ "priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority" })),
                class("high", json!("Never")),
            ],
            Some(Code::RunRefused),
        ),
        // The class may be in the cluster, or the number is there already.
        (vec![pod(json!({ "priorityClassName": "hihg" }))], None),
        (vec![pod(json!({ "priorityClassName": "hihg", "priority": 5 })), class("high", Value::Null)], None),
        (vec![admin.clone(), space], Some(Code::RunAdminNamespace)),
        (vec![admin.clone()], None),
        (vec![admin, going.clone()], Some(Code::RunRefused)),
        (vec![pod(json!({})), going.clone()], Some(Code::RunRefused)),
        (vec![deployment.clone(), going.clone()], Some(Code::RunRefused)),
        (vec![object("batch/v1", "CronJob", "c", cron), going.clone()], Some(Code::RunRefused)),
        // What is there already stays.
        (vec![stored, going], None),
    ] {
        let [of_set, of_run] = errors(&objects);
        assert_eq!(of_set, of_run, "{objects:?}");
        assert_eq!(of_set.first().map(|one| one.1), code, "{objects:?}");
    }
    let deployment = |class: &str| {
        let spec = json!({ "priorityClassName": class, "containers": [] });
        object("apps/v1", "Deployment", "d", json!({ "template": { "spec": spec } }))
    };
    let at = "spec.template.spec.priorityClassName".to_owned();
    let known = class("high", Value::Null);
    assert_eq!(found(&[deployment("hihg"), known]), [(0, Code::RunRefused, at.clone(), Severity::Error)]);
    assert_eq!(found(&[deployment("hihg")]), [(0, Code::RunRefused, at, Severity::Info)]);
}
