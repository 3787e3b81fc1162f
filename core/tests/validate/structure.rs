//! Unknown and misspelt fields, wrong types, selectors that compile and yet go wrong.

use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::finding::{Code, ErrorKind, Finding, Severity};
use apportion_core::profile::Profile;
use apportion_core::validate::in_default_namespace;
use serde_json::{Value, json};

use crate::{brief, create};

fn claim(request: Value) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "n" },
        "spec": { "devices": { "requests": [request] } },
    })
}

fn selecting(expression: &str) -> Value {
    claim(json!({ "name": "r", "exactly": {
        "deviceClassName": "gpu.example.com", "selectors": [{ "cel": { "expression": expression } }],
    } }))
}

#[test]
fn a_misspelt_field_is_reported_with_a_suggestion() {
    let findings = create(claim(json!({ "name": "r", "exactly": { "deviceClasName": "c", "deviceClassName": "c" } })));
    assert_eq!(brief(&findings), [(Code::ReadUnknownField, "spec.devices.requests[0].exactly.deviceClasName")]);
    let findings = create(claim(json!({ "name": "r", "exactly": { "deviceclassname": "c" } })));
    assert_eq!(findings[0].hint.as_deref(), Some("write `deviceClassName`: upper and lower case matter"));
    let findings = create(claim(json!({ "name": "r", "deviceClassName": "c" })));
    assert!(findings[0].hint.as_deref().unwrap().contains("`exactly`"), "{findings:?}");
    let findings = create(claim(
        json!({ "name": "r", "exactly": { "deviceClassName": "c", "selectors": [{ "expression": "true" }] } }),
    ));
    assert_eq!(findings[0].hint.as_deref(), Some("`expression` belongs into `cel`"));
}

#[test]
fn a_wrong_type_stops_the_rules() {
    let findings = create(claim(json!({ "name": 1, "exactly": { "deviceClassName": "", "count": "2" } })));
    let paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, ["spec.devices.requests[0].exactly.count", "spec.devices.requests[0].name"]);
    assert!(findings.iter().all(|finding| finding.kind == Some(ErrorKind::TypeInvalid)));
    assert_eq!(findings[0].hint.as_deref(), Some("write 2 without quotes"));
}

#[test]
fn the_removed_source_of_a_pod_claim_is_explained() {
    let findings = create(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "n" },
        "spec": { "containers": [{ "name": "c", "image": "i" }], "resourceClaims": [{ "name": "a", "source": { "resourceClaimName": "c" } }] },
    }));
    let codes = [Code::ReadUnknownField, Code::ValidateInvalid];
    assert_eq!(findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), codes);
    assert!(findings[0].hint.as_deref().unwrap().contains("removed in 1.31"));
}

#[test]
fn pod_templates_of_workloads_are_checked_in_place() {
    let container = json!({ "name": "c", "image": "i", "resources": { "claims": [{ "name": "nope" }] } });
    let spec = json!({ "restartPolicy": "Never", "containers": [container] });
    let job = |group: &str, kind: &str, spec: Value| {
        create(json!({ "apiVersion": group, "kind": kind, "metadata": { "name": "j" }, "spec": spec }))
    };
    let findings = job(
        "batch/v1",
        "CronJob",
        json!({ "schedule": "0 3 * * *", "jobTemplate": { "spec": { "template": { "spec": spec } } } }),
    );
    let at = "spec.jobTemplate.spec.template.spec.containers[0].resources.claims[0]";
    assert_eq!(brief(&findings), [(Code::ValidateNotFound, at)]);
    let set = json!({ "replicatedJobs": [{ "name": "r", "template": { "spec": { "template": { "spec": spec } } } }] });
    let findings = job("jobset.x-k8s.io/v1alpha2", "JobSet", set);
    assert_eq!((findings.len(), findings[0].severity), (1, Severity::Error));
    // Its webhook refuses it, or its Pods are; nothing comes of it either way.
    assert!(findings[0].refuses());
}

#[test]
fn selectors_are_looked_through() {
    let codes =
        |expression: &str| -> Vec<Code> { create(selecting(expression)).iter().map(|finding| finding.code).collect() };
    let gpu = r#"device.attributes["gpu.example.com"]"#;
    assert_eq!(codes(&format!("{gpu}.model == 'a'")), [Code::LintUnguarded]);
    for guarded in [
        format!("has({gpu}.model) && {gpu}.model == 'a'"),
        format!("{gpu}.model == 'a' && 'model' in {gpu}"),
        format!("!has({gpu}.model) || {gpu}.model == 'a'"),
        format!("has({gpu}.model) ? {gpu}.model == 'a' : false"),
        format!("device.driver == 'gpu.example.com' && {gpu}.model == 'a'"),
        format!("{gpu}.?model.orValue('') == 'a'"),
        format!("cel.bind(gpu, {gpu}, 'model' in gpu && gpu.model == 'a')"),
        format!("cel.bind(all, device.attributes, has(all['gpu.example.com'].model) && {gpu}.model == 'a')"),
        // A bound name is computed where it is first used.
        format!("cel.bind(model, {gpu}.model, 'model' in {gpu} && model == 'a')"),
        format!("cel.bind(known, 'model' in {gpu}, known && {gpu}.model == 'a')"),
        format!("cel.bind(mine, device.driver == 'gpu.example.com', mine && {gpu}.model == 'a')"),
        format!("cel.bind(domain, 'gpu.example.com', domain == device.driver && {gpu}.model == 'a')"),
    ] {
        assert_eq!(codes(&guarded), [], "{guarded}");
    }
    assert!(codes("has(device.attributes.model.x)").contains(&Code::LintUnqualified));
    assert!(codes(r#"device.attributes["gpu.example.com/model"].x == 1"#).contains(&Code::LintUnqualified));
    assert!(codes(&format!("{gpu}.ready.bool")).contains(&Code::LintWireMember));
    assert!(codes(&format!("{gpu}.memory == quantity('1Gi')")).contains(&Code::LintNeverEqual));
    assert_eq!(codes(&format!("cel.bind(gpu, {gpu}, gpu.model == 'a')")), [Code::LintUnguarded]);
    assert_eq!(codes(&format!("cel.bind(model, {gpu}.model, model == 'a')")), [Code::LintUnguarded]);
    assert_eq!(
        codes(&format!("cel.bind(d, device, d.driver == 'other.example.com' && {gpu}.model == 'a')")),
        [Code::LintUnguarded]
    );
    assert!(codes(&format!("cel.bind(gpu, {gpu}, gpu.ready.bool)")).contains(&Code::LintWireMember));
    assert!(
        codes(&format!("cel.bind(memory, {gpu}.memory, memory == quantity('1Gi'))")).contains(&Code::LintNeverEqual)
    );
    // Names of names of names end.
    let doubled: String = (1..60).map(|level| format!("cel.bind(v{level}, v{0} && v{0}, ", level - 1)).collect();
    let ends = format!("cel.bind(v0, {gpu}.ready, {doubled}v59{}", ")".repeat(60));
    assert!(codes(&ends).len() <= 2);
    // Another variable of the same name.
    assert_eq!(codes(&format!("cel.bind(m, {gpu}.model, ['a'].all(m, m == 'a'))")), []);
    assert_eq!(codes("device.name == 'x'"), [Code::ValidateSelector]);
    assert_eq!(codes("1 + 1"), [Code::ValidateSelector]);
}

#[test]
fn what_no_request_can_carry_is_not_looked_into() {
    let claim = |text: usize| {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": { "name": "-", "namespace": "n", "labels": { "a": "x".repeat(text) } },
        })
    };
    let told = apportion_core::validate::too_large(&claim(3 << 20).to_string());
    assert_eq!(told.map(|finding| vec![finding]), Some(create(claim(3 << 20))));
    let codes = |text| create(claim(text)).into_iter().map(|finding| finding.code).collect::<Vec<_>>();
    assert_eq!(codes(3 << 20), [Code::ValidateTooLarge]);
    assert!(!codes(100).contains(&Code::ValidateTooLarge));
}

#[test]
fn comparisons_of_amounts_and_versions_show_how() {
    let hint = |expression: &str| {
        let findings = create(selecting(expression));
        let refused = findings.iter().find(|finding| finding.code == Code::ValidateSelector);
        refused.and_then(|finding| finding.hint.clone()).unwrap_or_default()
    };
    let memory = r#"device.capacity["gpu.example.com"].memory"#;
    for wrong in [" >= quantity('40Gi')", " > 40"] {
        assert!(hint(&format!("{memory}{wrong}")).contains(".compareTo(quantity("), "{wrong}");
    }
    assert!(hint(&format!("{memory}.compareTo('40Gi') >= 0")).contains(".compareTo(quantity(\"40Gi\")) >= 0`"));
    let version = r#"device.attributes["gpu.example.com"].version"#;
    assert!(hint(&format!("{version} > semver('1.0.0')")).contains(".compareTo(semver(\"1.0.0\")) > 0`"));
    assert_eq!(hint("device.driver > 1"), "");
}

/// What is read as something else is said once, and by a run in the same words.
#[test]
fn a_run_says_of_a_wrong_type_what_validate_says() {
    let template = |value: Value| json!({ "metadata": { "labels": { "a": value } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } });
    let of = |api: &str, kind: &str, spec: Value| json!({ "apiVersion": api, "kind": kind, "metadata": { "name": "o" }, "spec": spec });
    let selected = json!({ "selector": { "matchLabels": { "a": "true" } }, "template": template(json!(true)) });
    let mut once = template(json!(1));
    once["spec"]["restartPolicy"] = json!("Never");
    let job = json!({ "template": once });
    let requests = json!([{ "name": "r", "exactly": { "deviceClassName": "gpu", "count": "x" } }]);
    let container = json!({ "name": "c", "image": "i", "resources": { "requests": { "cpu": [1] } } });
    for object in [
        of("apps/v1", "Deployment", selected.clone()),
        of("apps/v1", "StatefulSet", selected),
        of("batch/v1", "Job", job.clone()),
        of("batch/v1", "CronJob", json!({ "schedule": "@daily", "jobTemplate": { "spec": job } })),
        of(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            json!({ "replicatedJobs": [{ "name": "w", "template": { "spec": job } }] }),
        ),
        of("v1", "Pod", json!({ "containers": [container] })),
        of("resource.k8s.io/v1", "ResourceClaim", json!({ "devices": { "requests": requests } })),
    ] {
        let errors = |findings: Vec<Finding>| -> Vec<(String, String)> {
            findings.into_iter().filter(Finding::refuses).map(|one| (one.path, one.message)).collect()
        };
        let validated = errors(create(in_default_namespace(object.clone())));
        assert_eq!(validated.len(), 1, "{object}: {validated:?}");
        let mut engine = Engine::new(Profile::default(), Limits::default());
        assert_eq!(errors(engine.submit([object.to_string().as_str()]).remove(0)), validated, "{object}");
    }
}
