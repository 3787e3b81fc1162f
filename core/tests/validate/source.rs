//! ClusterResourceClaimTemplates of `apportion.dev`: each rule of ours, and what an API server makes of the same object.

use apportion_core::cel::{COST_LIMIT, DeviceView, Environment, compile};
use apportion_core::finding::{Code, Finding, Fix};
use apportion_core::profile::{Features, Profile, Version};
use apportion_core::validate::{source_definition, validate_set};
use serde_json::{Value, json};

use super::{brief, create, create_in, update};

fn source(spec: Value) -> Value {
    json!({
        "apiVersion": "apportion.dev/v1alpha1", "kind": "ClusterResourceClaimTemplate", "metadata": { "name": "gpu" },
        "spec": spec,
    })
}

/// A spec in which nothing is wrong.
fn good() -> Value {
    let exactly = json!({ "deviceClassName": "gpu.example.com" });
    json!({
        "targets": [{ "names": ["research"] }],
        "template": { "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": exactly }] } } },
    })
}

/// The good spec with other values at some places; `null` takes a field out.
fn with(changes: &[(&str, Value)]) -> Value {
    let mut object = source(good());
    for (at, value) in changes {
        let (parent, name) = at.rsplit_once('/').unwrap();
        let parent = object.pointer_mut(parent).unwrap();
        match name.parse::<usize>() {
            Ok(index) => parent[index] = value.clone(),
            Err(_) if value.is_null() => drop(parent.as_object_mut().unwrap().remove(name)),
            Err(_) => parent[name] = value.clone(),
        }
    }
    object
}

fn selector(expression: Value) -> Vec<(&'static str, Value)> {
    vec![("/spec/targets/0/namespaceSelector", json!({ "matchExpressions": [expression] }))]
}

fn asked(field: &str, value: Value) -> Vec<(&'static str, Value)> {
    let mut exactly = json!({ "deviceClassName": "gpu.example.com" });
    exactly[field] = value;
    vec![("/spec/template/spec/devices/requests/0/exactly", exactly)]
}

fn devices(field: &'static str, value: Value) -> Vec<(&'static str, Value)> {
    let mut devices = good()["template"]["spec"]["devices"].clone();
    devices[field] = value;
    vec![("/spec/template/spec/devices", devices)]
}

/// Who refuses an object.
#[derive(PartialEq, Debug)]
enum By {
    Both,
    /// What no definition can say, and why.
    Us(&'static str),
}
use By::{Both, Us};

/// What is changed, the code and path of the finding, and who refuses it.
type Case = (Vec<(&'static str, Value)>, Code, &'static str, By);

#[rustfmt::skip]
fn refused() -> Vec<Case> {
    let long = "x".repeat(64);
    let many = |number: usize| (0..number).map(|at| json!(format!("n{at}"))).collect::<Value>();
    let key = "spec.targets[0].namespaceSelector.matchExpressions[0].key";
    let values = "spec.targets[0].namespaceSelector.matchExpressions[0].values";
    let requests = "spec.template.spec.devices.requests";
    let request: &'static str = "spec.template.spec.devices.requests[0]";
    vec![
        // Required and exclusive fields.
        (vec![("/spec", Value::Null)], Code::ValidateRequired, "spec", Both),
        (vec![("/spec/template", Value::Null)], Code::ValidateRequired, "spec", Both),
        (vec![("/spec/source", json!({ "name": "x" }))], Code::ValidateInvalid, "spec", Both),
        (vec![("/spec/template", json!({}))], Code::ValidateRequired, "spec.template.spec", Both),
        (vec![("/spec/template", Value::Null), ("/spec/source", json!({}))], Code::ValidateRequired, "spec.source.name", Both),
        (vec![("/spec/targets/0", json!({}))], Code::ValidateRequired, "spec.targets[0]", Both),
        (vec![("/spec/targets/0", json!({ "names": [] }))], Code::ValidateRequired, "spec.targets[0]", Both),
        (vec![("/spec/targets/0", json!({ "namespaceSelector": {} }))], Code::ValidateRequired, "spec.targets[0]", Both),
        (vec![("/spec/targets/0", json!({ "namespaceSelector": { "matchLabels": {} }, "excludeNames": ["a"] }))], Code::ValidateRequired, "spec.targets[0]", Both),
        // Closed sets.
        (vec![("/spec/conflictPolicy", json!("Overwrite"))], Code::ValidateNotSupported, "spec.conflictPolicy", Both),
        (vec![("/spec/conflictPolicy", json!(""))], Code::ValidateNotSupported, "spec.conflictPolicy", Both),
        (vec![("/spec/deletionPolicy", json!("delete"))], Code::ValidateNotSupported, "spec.deletionPolicy", Both),
        (vec![("/spec/updateStrategy", json!("Recreat"))], Code::ValidateNotSupported, "spec.updateStrategy", Both),
        // Types and numbers.
        (vec![("/spec/paused", json!("true"))], Code::ReadWrongType, "spec.paused", Both),
        (vec![("/spec/maxUnavailable", json!("1"))], Code::ReadWrongType, "spec.maxUnavailable", Both),
        (vec![("/spec/maxUnavailable", json!(1.5))], Code::ReadWrongType, "spec.maxUnavailable", Both),
        (vec![("/spec/maxUnavailable", json!(1_i64 << 40))], Code::ReadWrongType, "spec.maxUnavailable", Both),
        (vec![("/spec/maxUnavailable", json!(0))], Code::ValidateInvalid, "spec.maxUnavailable", Both),
        (vec![("/spec/maxUnavailable", json!(-3))], Code::ValidateInvalid, "spec.maxUnavailable", Both),
        (vec![("/spec/targets", json!({ "names": ["a"] }))], Code::ReadWrongType, "spec.targets", Both),
        (vec![("/spec/targets/0/names", json!("a"))], Code::ReadWrongType, "spec.targets[0].names", Both),
        (vec![("/spec/targets/0/names", json!([1]))], Code::ReadWrongType, "spec.targets[0].names[0]", Both),
        (vec![("/spec/source", json!("x")), ("/spec/template", Value::Null)], Code::ReadWrongType, "spec.source", Both),
        // Names.
        (vec![("/spec/templateName", json!("GPU"))], Code::ValidateInvalid, "spec.templateName", Both),
        (vec![("/spec/templateName", json!(""))], Code::ValidateInvalid, "spec.templateName", Both),
        (vec![("/spec/template", Value::Null), ("/spec/source", json!({ "name": "a_b" }))], Code::ValidateInvalid, "spec.source.name", Both),
        (vec![("/spec/targets/0/names", json!(["ml-*"]))], Code::ValidateInvalid, "spec.targets[0].names[0]", Both),
        (vec![("/spec/targets/0/names", json!([""]))], Code::ValidateInvalid, "spec.targets[0].names[0]", Both),
        (vec![("/spec/targets/0/names", json!(["a.b"]))], Code::ValidateInvalid, "spec.targets[0].names[0]", Both),
        (vec![("/spec/targets/0/names", json!([long]))], Code::ValidateInvalid, "spec.targets[0].names[0]", Both),
        (vec![("/spec/targets/0/excludeNames", json!(["*"]))], Code::ValidateInvalid, "spec.targets[0].excludeNames[0]", Both),
        (vec![("/spec/targets/0/names", json!(["a", null]))], Code::ReadWrongType, "spec.targets[0].names[1]", Both),
        (vec![("/spec/targets/0/namespaceSelector", json!({ "matchLabels": { "team": null } }))], Code::ReadWrongType, "spec.targets[0].namespaceSelector.matchLabels[team]", Both),
        // Sizes and repetitions.
        (vec![("/spec/targets/0/names", json!(["a", "b", "a"]))], Code::ValidateDuplicate, "spec.targets[0].names[2]", Both),
        (vec![("/spec/targets/0/excludeNames", json!(["a", "a"]))], Code::ValidateDuplicate, "spec.targets[0].excludeNames[1]", Both),
        (vec![("/spec/targets/0/names", many(1001))], Code::ValidateTooMany, "spec.targets[0].names", Both),
        (vec![("/spec/targets", json!(vec![json!({ "names": ["a"] }); 33]))], Code::ValidateTooMany, "spec.targets", Both),
        // Label selectors.
        (selector(json!({ "key": "x", "operator": "Foo" })), Code::ValidateNotSupported, "spec.targets[0].namespaceSelector.matchExpressions[0].operator", Both),
        (selector(json!({ "key": "x" })), Code::ValidateRequired, "spec.targets[0].namespaceSelector.matchExpressions[0].operator", Both),
        (selector(json!({ "operator": "Exists" })), Code::ValidateRequired, key, Both),
        (selector(json!({ "key": "a b", "operator": "Exists" })), Code::ValidateInvalid, key, Both),
        (selector(json!({ "key": "a/b/c", "operator": "Exists" })), Code::ValidateInvalid, key, Both),
        (selector(json!({ "key": long, "operator": "Exists" })), Code::ValidateInvalid, key, Both),
        (selector(json!({ "key": "x", "operator": "In" })), Code::ValidateRequired, values, Both),
        (selector(json!({ "key": "x", "operator": "NotIn", "values": [] })), Code::ValidateRequired, values, Both),
        (selector(json!({ "key": "x", "operator": "Exists", "values": ["a"] })), Code::ValidateForbidden, values, Both),
        (selector(json!({ "key": "x", "operator": "DoesNotExist", "values": ["a"] })), Code::ValidateForbidden, values, Both),
        (selector(json!({ "key": "x", "operator": "In", "values": ["-a"] })), Code::ValidateInvalid, "spec.targets[0].namespaceSelector.matchExpressions[0].values[0]", Both),
        (selector(json!({ "key": "x", "operator": "In", "values": ["a", "a"] })), Code::ValidateDuplicate, "spec.targets[0].namespaceSelector.matchExpressions[0].values[1]", Both),
        (vec![("/spec/targets/0/namespaceSelector", json!({ "matchLabels": { "team": "a b" } }))], Code::ValidateInvalid, "spec.targets[0].namespaceSelector.matchLabels[team]", Both),
        (vec![("/spec/targets/0/namespaceSelector", json!({ "matchLabels": { "a b": "x" } }))], Code::ValidateInvalid, "spec.targets[0].namespaceSelector.matchLabels", Us("the length of a key has no bound, and neither has the cost of a rule about it")),
        // The claims, by the rules of ResourceClaimTemplates.
        (vec![("/spec/template/metadata", json!({ "name": "x" }))], Code::ValidateForbidden, "spec.template.metadata.name", Us("kubectl refuses it as an unknown field")),
        (vec![("/spec/template/metadata", json!({ "labels": { "a": "b c" } }))], Code::ValidateInvalid, "spec.template.metadata.labels", Both),
        (vec![("/spec/template/spec/devices/requests/0/name", json!("GPU"))], Code::ValidateInvalid, "spec.template.spec.devices.requests[0].name", Both),
        (vec![("/spec/template/spec/devices/requests/0/exactly", Value::Null)], Code::ValidateRequired, request, Both),
        (vec![("/spec/template/spec/devices/requests/0/firstAvailable", json!([{ "name": "a", "deviceClassName": "x" }]))], Code::ValidateInvalid, request, Both),
        (vec![("/spec/template/spec/devices/requests/0/exactly", json!({}))], Code::ValidateRequired, "spec.template.spec.devices.requests[0].exactly.deviceClassName", Both),
        (vec![("/spec/template/spec/devices/requests/0", json!({ "name": "gpu", "firstAvailable": [{ "name": "A", "deviceClassName": "x" }] }))], Code::ValidateInvalid, "spec.template.spec.devices.requests[0].firstAvailable[0].name", Both),
        (vec![("/spec/template/spec/devices/requests", json!(vec![good()["template"]["spec"]["devices"]["requests"][0].clone(); 2]))], Code::ValidateDuplicate, "spec.template.spec.devices.requests[1]", Both),
        (vec![("/spec/template/spec/devices/requests", json!(vec![json!({}); 33]))], Code::ValidateTooMany, requests, Both),
        (asked("count", json!("1")), Code::ReadWrongType, "spec.template.spec.devices.requests[0].exactly.count", Both),
        (asked("count", json!(-1)), Code::ValidateInvalid, "spec.template.spec.devices.requests[0].exactly.count", Both),
        (asked("allocationMode", json!("Some")), Code::ValidateNotSupported, "spec.template.spec.devices.requests[0].exactly.allocationMode", Both),
        (vec![("/spec/template/spec/devices/requests/0/exactly", json!({ "deviceClassName": "x", "allocationMode": "All", "count": 2 }))], Code::ValidateInvalid, "spec.template.spec.devices.requests[0].exactly.count", Both),
        (asked("selectors", json!([{}])), Code::ValidateRequired, "spec.template.spec.devices.requests[0].exactly.selectors[0].cel", Both),
        (asked("selectors", json!([{ "cel": { "expression": "device.drver" } }])), Code::ValidateSelector, "spec.template.spec.devices.requests[0].exactly.selectors[0].cel.expression", Us("no definition compiles expressions")),
        (asked("tolerations", json!([{ "operator": "Equals" }])), Code::ValidateNotSupported, "spec.template.spec.devices.requests[0].exactly.tolerations[0].operator", Both),
        (asked("tolerations", json!([{ "operator": "Exists", "value": "x" }])), Code::ValidateInvalid, "spec.template.spec.devices.requests[0].exactly.tolerations[0].value", Us("the number of tolerations has no bound")),
        (asked("capacity", json!({ "requests": { "memory": "40 Gi" } })), Code::ReadBadQuantity, "spec.template.spec.devices.requests[0].exactly.capacity.requests[memory]", Both),
        (devices("constraints", json!([{}])), Code::ValidateRequired, "spec.template.spec.devices.constraints[0]", Both),
        (devices("constraints", json!([{ "matchAttribute": "model" }])), Code::ValidateInvalid, "spec.template.spec.devices.constraints[0].matchAttribute", Both),
        (devices("constraints", json!([{ "matchAttribute": "a.example.com/b", "requests": ["other"] }])), Code::ValidateInvalid, "spec.template.spec.devices.constraints[0].requests[0]", Both),
        (devices("config", json!([{ "requests": ["gpus"], "opaque": { "driver": "a.example.com", "parameters": {} } }])), Code::ValidateInvalid, "spec.template.spec.devices.config[0].requests[0]", Both),
        (devices("config", json!([{}])), Code::ValidateRequired, "spec.template.spec.devices.config[0].opaque", Both),
        (devices("config", json!([{ "opaque": { "driver": "a.example.com", "parameters": 1 } }])), Code::ValidateInvalid, "spec.template.spec.devices.config[0].opaque.parameters", Both),
    ]
}

fn accepted() -> Vec<Value> {
    let expressions = json!([
        { "key": "example.com/team", "operator": "NotIn", "values": ["a", "b"] }, { "key": "x", "operator": "Exists" },
    ]);
    let alternatives = json!([{ "name": "a", "deviceClassName": "x", "allocationMode": "All" }, { "name": "b", "deviceClassName": "y", "count": 2 }]);
    let constraints = json!([{ "requests": ["gpu/a"], "matchAttribute": "a.example.com/b" }]);
    let config =
        json!([{ "requests": ["gpu"], "opaque": { "driver": "a.example.com", "parameters": { "any": [1] } } }]);
    vec![
        source(good()),
        with(&[
            ("/spec/template", Value::Null),
            ("/spec/source", json!({ "name": "master" })),
            ("/spec/paused", json!(true)),
        ]),
        with(&[(
            "/spec/targets/0",
            json!({ "namespaceSelector": { "matchExpressions": expressions, "matchLabels": { "a": "" } } }),
        )]),
        with(&[("/spec/targets/0", json!({ "names": ["*", "kube-system"], "excludeNames": ["default"] }))]),
        with(&[
            ("/spec/maxUnavailable", json!(1)),
            ("/spec/conflictPolicy", json!("Adopt")),
            ("/spec/templateName", json!("a.b")),
        ]),
        with(&[
            ("/spec/template/spec/devices/requests/0", json!({ "name": "gpu", "firstAvailable": alternatives })),
            ("/spec/template/spec/devices/constraints", constraints),
            ("/spec/template/spec/devices/config", config),
            ("/spec/template/metadata", json!({ "labels": { "a.example.com/b": "c" }, "annotations": { "d": "e f" } })),
        ]),
        with(&asked("capacity", json!({ "requests": { "memory": "40Gi", "cores": 2 } }))),
    ]
}

#[test]
fn r_215_what_is_refused_here_is_refused_by_the_definition() {
    for (changes, code, path, by) in refused() {
        let object = with(&changes);
        let findings = create(object.clone());
        assert!(brief(&findings).contains(&(code, path)), "{changes:?}: {findings:?}");
        let refused = !by_definition(&object).is_empty();
        assert_eq!(refused, by == Both, "{changes:?}: {by:?}: {:?}", by_definition(&object));
    }
}

#[test]
fn what_is_accepted_here_is_accepted_by_the_definition() {
    for object in accepted() {
        assert_eq!(create(object.clone()), [], "{object}");
        assert_eq!(by_definition(&object), Vec::<String>::new(), "{object}");
    }
}

#[test]
fn the_definition_in_the_deployment_is_the_generated_one() {
    let head = "# Generated by `apportion controller --print-crd`.\n";
    let generated = format!("{head}{}", apportion_yaml::write(&source_definition()));
    for place in ["kustomize/base", "helm/apportion/crds"] {
        let path = format!("{}/../deploy/{place}/crd.yaml", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_DEFINITION").is_some() {
            std::fs::write(&path, &generated).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), generated, "{path}: run with UPDATE_DEFINITION=1");
    }
}

#[test]
fn misspelt_fields_and_values_have_a_fix() {
    let fix = |object: Value, code: Code, path: &str| -> Option<Fix> {
        let findings = create(object);
        let found = findings.iter().find(|finding| (finding.code, finding.path.as_str()) == (code, path));
        found.unwrap_or_else(|| panic!("{path}: {findings:?}")).fix.clone()
    };
    let renamed = |name: &str| Some(Fix::Rename(name.to_owned()));
    let spec = json!({ "target": [], "template": good()["template"] });
    assert_eq!(fix(source(spec), Code::ReadUnknownField, "spec.target"), renamed("targets"));
    let target = with(&[("/spec/targets/0", json!({ "namespaceSelector": { "matchLabel": { "a": "b" } } }))]);
    assert_eq!(
        fix(target, Code::ReadUnknownField, "spec.targets[0].namespaceSelector.matchLabel"),
        renamed("matchLabels")
    );
    let policy = |text: &str| with(&[("/spec/conflictPolicy", json!(text))]);
    let set = |text: &str| Some(Fix::Set(json!(text)));
    assert_eq!(fix(policy("adoptIfEqual"), Code::ValidateNotSupported, "spec.conflictPolicy"), set("AdoptIfEqual"));
    assert_eq!(fix(policy("AdoptIfEqul"), Code::ValidateNotSupported, "spec.conflictPolicy"), set("AdoptIfEqual"));
    assert_eq!(fix(policy("Overwrite"), Code::ValidateNotSupported, "spec.conflictPolicy"), None);
    let number = with(&[("/spec/maxUnavailable", json!("2"))]);
    assert_eq!(fix(number, Code::ReadWrongType, "spec.maxUnavailable"), Some(Fix::Set(json!(2))));
    let named = with(&[("/spec/template", Value::Null), ("/spec/source", json!("master"))]);
    assert_eq!(fix(named, Code::ReadWrongType, "spec.source"), Some(Fix::Set(json!({ "name": "master" }))));
    // The shape that KEP-5978 proposed.
    let proposed = create(source(json!({ "spec": {}, "targets": [{ "names": ["a"] }] })));
    assert!(
        proposed.iter().any(|finding| finding.hint.as_deref() == Some("`spec` belongs into `template`")),
        "{proposed:?}"
    );
}

#[test]
fn a_source_that_can_select_nothing_is_warned_of() {
    let found = |object: Value| create(object).iter().map(|one| (one.code, one.path.clone())).collect::<Vec<_>>();
    let none = with(&[("/spec/targets", Value::Null)]);
    assert_eq!(found(none), [(Code::LinkNoNamespace, "spec.targets".to_owned())]);
    let both = with(&[("/spec/targets/0", json!({ "names": ["a", "b"], "excludeNames": ["b"] }))]);
    assert_eq!(found(both), [(Code::LinkNoNamespace, "spec.targets[0].excludeNames[0]".to_owned())]);
}

#[test]
fn annotations_that_select_nothing_are_told() {
    let with = |name: &str, value: &str| {
        let mut template = template("home", "master");
        template["metadata"]["annotations"] = json!({ name: value });
        let found = create(template);
        found.into_iter().map(|one| (one.code, one.path, one.hint)).collect::<Vec<_>>()
    };
    for (name, value) in [
        ("apportion.dev/namespaces", "research, *"),
        ("apportion.dev/excluded-namespaces", "research"),
        ("apportion.dev/namespace-selector", "team=ml, example.com/x"),
        ("apportion.dev/template-name", "gpu"),
        ("apportion.dev/content-hash", "a b"),
    ] {
        assert_eq!(with(name, value), [], "{name}");
    }
    for (name, value) in [
        ("apportion.dev/namespaces", "ml-*"),
        ("apportion.dev/excluded-namespaces", "a, B"),
        ("apportion.dev/namespace-selector", "team!=ml"),
        ("apportion.dev/template-name", "a_b"),
        ("apportion.dev/namespace", "a"),
    ] {
        let found = with(name, value);
        let told = (found[0].0, found[0].1.as_str());
        assert_eq!(told, (Code::LinkNoNamespace, format!("metadata.annotations[{name}]").as_str()), "{found:?}");
    }
    let meant = with("apportion.dev/namespace", "a")[0].2.clone();
    assert_eq!(meant.as_deref(), Some("did you mean `apportion.dev/namespaces`?"));
}

#[test]
fn fields_of_gates_that_are_off_are_told_where_the_source_has_them() {
    let object = with(&asked("tolerations", json!([{ "operator": "Exists" }])));
    let found = create_in(Version::V1_35, object);
    assert_eq!(
        brief(&found),
        [(Code::ValidateDroppedField, "spec.template.spec.devices.requests[0].exactly.tolerations")]
    );
}

#[test]
fn another_version_is_not_served() {
    let mut object = source(good());
    object["apiVersion"] = json!("apportion.dev/v1");
    assert_eq!(brief(&create(object)), [(Code::ValidateNotServed, "apiVersion")]);
}

#[test]
fn every_part_of_a_source_can_be_changed() {
    let mut old = with(&[]);
    old["metadata"]["resourceVersion"] = json!("1");
    for mut new in accepted() {
        new["metadata"]["resourceVersion"] = json!("1");
        assert_eq!(update(&Profile::default(), old.clone(), new.clone()), [], "{new}");
    }
    let mut renamed = old.clone();
    renamed["metadata"]["uid"] = json!("other");
    renamed["spec"]["maxUnavailable"] = json!(0);
    let found = update(&Profile::default(), old, renamed);
    assert_eq!(
        brief(&found),
        [(Code::ValidateInvalid, "spec.maxUnavailable"), (Code::ValidateImmutable, "metadata.uid")]
    );
}

fn set(objects: &[Value]) -> Vec<(usize, Code, String)> {
    let all = validate_set(objects, &Profile::default());
    let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
    assert_eq!(all, validate_set(&texts, &Profile::default()), "the same objects as texts");
    let each = |(at, list): (usize, Vec<Finding>)| list.into_iter().map(move |one| (at, one.code, one.path));
    let found = all.into_iter().enumerate().flat_map(each);
    found.filter(|(_, code, _)| *code != Code::LinkUnknownClass).collect()
}

fn space(name: &str, labels: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": labels } })
}

fn template(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": { "name": name, "namespace": namespace }, "spec": good()["template"],
    })
}

fn pod(namespace: &str, entry: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": namespace },
        "spec": { "containers": [{ "name": "c", "image": "x" }], "resourceClaims": [entry] },
    })
}

fn selecting(label: &str) -> Value {
    with(&[("/spec/targets/0", json!({ "namespaceSelector": { "matchLabels": { "team": label } } }))])
}

#[test]
fn a_master_that_is_not_there_is_told() {
    let source = with(&[("/spec/template", Value::Null), ("/spec/source", json!({ "name": "master" }))]);
    let at = "spec.source.name".to_owned();
    assert_eq!(set(&[source.clone(), template("home", "other")]), [(0, Code::LinkUnknownTemplate, at)]);
    assert_eq!(set(&[source, template("home", "master")]), []);
}

#[test]
fn targets_that_select_none_of_the_namespaces_given_are_told() {
    let (ml, system) = (space("research", json!({ "team": "ml" })), space("kube-system", json!({ "team": "ops" })));
    let at = |path: &str| (0, Code::LinkNoNamespace, path.to_owned());
    assert_eq!(set(&[selecting("ml"), ml.clone(), system.clone()]), []);
    assert_eq!(set(&[selecting("web"), ml.clone()]), [at("spec.targets")]);
    assert_eq!(set(&[selecting("web")]), [], "no namespace is given");
    // A selector does not select a system namespace, its name does.
    assert_eq!(set(&[selecting("ops"), ml.clone(), system.clone()]), [at("spec.targets")]);
    let named = with(&[("/spec/targets/0", json!({ "names": ["kube-system"] }))]);
    assert_eq!(set(&[named, ml.clone(), system]), []);
    let misspelt = with(&[("/spec/targets/0", json!({ "names": ["reserach"] }))]);
    let found = validate_set(&[misspelt, ml], &Profile::default());
    let told = found[0].iter().find(|one| one.code == Code::LinkNoNamespace).unwrap();
    assert_eq!(
        (told.path.as_str(), told.hint.as_deref()),
        ("spec.targets[0].names[0]", Some("did you mean `research`?"))
    );
}

#[test]
fn two_sources_of_one_name_in_a_namespace_are_told() {
    let research = space("research", json!({ "team": "ml" }));
    let other = |at: &str, value: Value| {
        let mut other = with(&[(at, value), ("/spec/templateName", json!("gpu"))]);
        other["metadata"]["name"] = json!("other");
        other
    };
    let objects = [source(good()), other("/spec/paused", json!(true)), research.clone()];
    let conflict = |number: usize, path: &str| (number, Code::LinkCopyConflict, path.to_owned());
    assert_eq!(set(&objects), [conflict(0, "metadata.name"), conflict(1, "spec.templateName")]);
    let apart = other("/spec/targets/0", json!({ "names": ["*"], "excludeNames": ["research"] }));
    assert_eq!(set(&[source(good()), apart, research.clone(), space("b", json!({}))]), []);
    // What somebody else made stays.
    assert_eq!(set(&[source(good()), template("research", "gpu"), research.clone()]), [conflict(0, "metadata.name")]);
    let mut copy = template("research", "gpu");
    copy["metadata"]["labels"] = json!({ "app.kubernetes.io/managed-by": "apportion-template-sync" });
    assert_eq!(set(&[source(good()), copy, research]), []);
}

#[test]
fn r_205_a_pod_finds_the_copy_of_its_namespace_and_no_template_of_another_kind() {
    let named = |field: &str| json!({ "name": "g", field: "gpu" });
    let copied = named("resourceClaimTemplateName");
    assert_eq!(set(&[source(good()), pod("research", copied.clone())]), []);
    assert_eq!(set(&[selecting("ml"), pod("a", copied.clone()), space("a", json!({ "team": "ml" }))]), []);
    let at = |field: &str| (1, Code::LinkUnknownTemplate, format!("spec.resourceClaims[0].{field}"));
    assert_eq!(set(&[source(good()), pod("other", copied)]), [at("resourceClaimTemplateName")]);
    let field = "clusterResourceClaimTemplateName";
    assert_eq!(set(&[source(good()), pod("research", named(field))]), [at(field)]);
}

/// What the definition has against an object: the checks of structural schemas, and the rules in CEL by our own implementation.
fn by_definition(object: &Value) -> Vec<String> {
    let definition = source_definition();
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let mut wrong = Vec::new();
    holds(schema, object, String::new(), &mut wrong);
    wrong
}

fn holds(schema: &Value, value: &Value, at: String, wrong: &mut Vec<String>) {
    let is_of = |kind: &str| match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => unreachable!("type {other}"),
    };
    let fits = schema["type"].as_str().is_none_or(is_of)
        && (schema["x-kubernetes-int-or-string"] != true || value.is_i64() || value.is_string());
    if !fits {
        wrong.push(format!("{at}: type"));
        return;
    }
    let mut say = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("{at}: {what}"))
        }
    };
    let within = |name: &str, number: usize| schema[name].as_u64().is_none_or(|most| number as u64 <= most);
    say(schema["enum"].as_array().is_none_or(|known| known.contains(value)), "enum");
    if let Some(text) = value.as_str() {
        say(within("maxLength", text.chars().count()), "maxLength");
        if let Some(pattern) = schema["pattern"].as_str() {
            say(is_true(&format!("{}.matches({})", json!(text), json!(pattern)), value), "pattern");
        }
    }
    if let Some(number) = value.as_i64() {
        say(schema["minimum"].as_i64().is_none_or(|least| number >= least), "minimum");
        say(schema["maximum"].as_i64().is_none_or(|most| number <= most), "maximum");
        let is_int32 = schema["format"] != "int32" || i32::try_from(number).is_ok();
        say(is_int32, "format");
    }
    if let Some(items) = value.as_array() {
        say(within("maxItems", items.len()), "maxItems");
        let is_set = schema["x-kubernetes-list-type"] == "set";
        say(!is_set || items.iter().enumerate().all(|(at, one)| !items[..at].contains(one)), "set");
    }
    if let Some(map) = value.as_object() {
        say(within("maxProperties", map.len()), "maxProperties");
        for name in schema["required"].as_array().into_iter().flatten() {
            say(map.contains_key(name.as_str().unwrap()), &format!("required {name}"));
        }
    }
    let before = wrong.len();
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        holds(&schema["items"], item, format!("{at}[{index}]"), wrong);
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let found = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
        // What is not known is pruned.
        if let Some(schema) = found {
            holds(schema, inner, format!("{at}.{name}"), wrong);
        }
    }
    // The rules are asked where the schema holds, and no list is too long.
    if wrong.len() == before && wrong.is_empty() {
        for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
            if !is_true(rule["rule"].as_str().unwrap(), value) {
                wrong.push(format!("{at}: {}", rule["message"]));
            }
        }
    }
}

/// Evaluates a rule with `self` as a value.
fn is_true(rule: &str, value: &Value) -> bool {
    let source = format!("[{}].all(self, {rule})", literal(value));
    let env = Environment::stored(Version::All, &Features::of(Version::All));
    let program = compile(&source, &env).map_err(|error| format!("{source}: {error}")).unwrap();
    let (attributes, capacity) = (Default::default(), Default::default());
    let device =
        DeviceView { driver: "", attributes: &attributes, capacity: &capacity, allow_multiple_allocations: false };
    program.matches(&device, COST_LIMIT).map_err(|error| format!("{source}: {error}")).unwrap().matched
}

/// A value as CEL writes it, without a static type.
fn literal(value: &Value) -> String {
    let inner = match value {
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entries = map.iter().map(|(name, value)| format!("{}: {}", json!(name), literal(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    };
    format!("dyn({inner})")
}

#[test]
fn the_trials_are_told() {
    // A misspelt field, values outside their sets, two templates at once, and one that is not there.
    let typo = json!({ "target": [{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }], "template": good()["template"] });
    let codes = |spec: Value| create(source(spec)).iter().map(|one| one.code).collect::<Vec<_>>();
    assert_eq!(codes(typo), [Code::ReadUnknownField, Code::LinkNoNamespace]);
    let bad = json!({
        "conflictPolicy": "Overwrite", "maxUnavailable": 0,
        "targets": [{ "names": ["*"], "namespaceSelector": { "matchExpressions": [{ "key": "x", "operator": "Foo" }] } }],
        "template": { "spec": { "devices": { "requests": [{ "name": "GPU", "exactly": { "deviceClassName": "gpu" } }] } } },
    });
    let mut found = codes(bad);
    found.sort();
    let (invalid, unknown) = (Code::ValidateInvalid, Code::ValidateNotSupported);
    assert_eq!(found, [invalid, invalid, unknown, unknown]);
}
