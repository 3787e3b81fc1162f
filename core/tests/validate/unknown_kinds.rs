//! Pod templates in kinds that are not known.

use apportion_core::finding::{Code, Severity};
use apportion_core::profile::Profile;
use apportion_core::validate::{in_default_namespace, validate_set};
use serde_json::{Value, json};

use crate::{brief, create};

fn template(claim: &str, used: &str) -> Value {
    json!({ "spec": {
        "containers": [{ "name": "c", "resources": { "claims": [{ "name": used }] } }],
        "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": claim }],
    } })
}

fn object(api_version: &str, kind: &str, spec: Value) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "x", "namespace": "n" }, "spec": spec })
}

/// Codes and paths of what shows only when the object is seen together with others, none of which are given.
fn linked(object: &Value) -> Vec<(Code, String)> {
    let found = validate_set(std::slice::from_ref(object), &Profile::default());
    found.into_iter().flatten().map(|finding| (finding.code, finding.path)).collect()
}

#[test]
fn claims_are_judged_wherever_a_pod_template_stands() {
    let pools = json!({ "pools": [{ "replicas": 2 }, { "podTemplate": template("gpu", "gpus") }] });
    let at = "spec.pools[1].podTemplate.spec";
    let trainer = object("example.com/v1", "Trainer", pools);
    // Images and the like are up to the controller of the kind.
    assert_eq!(
        brief(&create(trainer.clone())),
        [(Code::ValidateNotFound, &*format!("{at}.containers[0].resources.claims[0]"))]
    );
    assert_eq!(
        linked(&trainer),
        [(Code::LinkUnknownTemplate, format!("{at}.resourceClaims[0].resourceClaimTemplateName"))]
    );

    let jobs = json!({ "template": { "spec": { "replicatedJobs": [
        { "name": "node", "template": { "spec": { "template": template("gpu", "gpus") } } },
    ] } } });
    let runtime = object("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", jobs.clone());
    let at = "spec.template.spec.replicatedJobs[0].template.spec.template.spec";
    assert_eq!(brief(&create(runtime.clone())).len(), 1);
    assert_eq!(linked(&runtime)[0].1, format!("{at}.resourceClaims[0].resourceClaimTemplateName"));
    // Which namespace its Pods are in is not known.
    assert_eq!(linked(&object("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", jobs)), []);

    let wrong = json!({ "template": { "spec": { "containers": [{}], "resourceClaims": "gpu", "tolerations": 1 } } });
    let found = create(object("example.com/v1", "Trainer", wrong));
    assert_eq!(brief(&found), [(Code::ReadWrongType, "spec.template.spec.resourceClaims")]);
}

#[test]
fn overrides_and_patches_name_claims_too() {
    let job = object(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        json!({ "podTemplateOverrides": [template("gpu", "of-the-runtime")] }),
    );
    assert_eq!(create(job.clone()), []);
    assert_eq!(linked(&job)[0].1, "spec.podTemplateOverrides[0].spec.resourceClaims[0].resourceClaimTemplateName");

    let patch = json!({ "resourceClaims": [{ "name": "gpu", "resourceClaimTemplateName": "gpu" }] }).to_string();
    let steps = json!({ "templates": [{ "name": "a" }, { "name": "b", "podSpecPatch": patch }] });
    let workflow = object("argoproj.io/v1alpha1", "WorkflowTemplate", steps.clone());
    let at = "spec.templates[1].podSpecPatch".to_owned();
    assert_eq!(linked(&workflow), [(Code::LinkUnknownTemplate, at)]);
    let at = "spec.workflowSpec.templates[1].podSpecPatch".to_owned();
    let cron = object("argoproj.io/v1alpha1", "CronWorkflow", json!({ "workflowSpec": steps }));
    assert_eq!(linked(&cron), [(Code::LinkUnknownTemplate, at)]);
}

#[test]
fn what_holds_no_pod_template_plays_no_part() {
    for spec in [json!({}), json!("text"), json!({ "containers": [{ "name": "c" }] }), json!({ "a": [[[1]]] })] {
        let found = create(object("example.com/v1", "Other", spec.clone()));
        assert_eq!(brief(&found), [(Code::ReadUnknownKind, "kind")], "{spec}");
    }
    let mut deep = template("gpu", "gpu");
    for _ in 0..40 {
        deep = json!({ "next": deep });
    }
    assert_eq!(brief(&create(object("example.com/v1", "Other", deep))), [(Code::ReadUnknownKind, "kind")]);
    let mut trainer = object("example.com/v1", "Trainer", json!({ "template": template("gpu", "gpu") }));
    trainer["metadata"] = json!({ "name": "x" });
    assert_eq!(in_default_namespace(trainer)["metadata"]["namespace"], "default");
}

/// Code, severity and hint of the only finding about an object without a spec.
fn meant(api_version: &str, kind: &str) -> (Code, Severity, String) {
    let findings = create(object(api_version, kind, json!({})));
    assert_eq!(findings.len(), 1, "{findings:?}");
    let finding = &findings[0];
    (finding.code, finding.severity, finding.hint.clone().unwrap_or_default())
}

#[test]
fn a_misspelt_kind_is_noticed() {
    let did_you_mean = |kind: &str| format!("did you mean `{kind}`?");
    for (api_version, kind, hint) in [
        ("resource.k8s.io/v1", "ResourceClaimTemplat", did_you_mean("ResourceClaimTemplate")),
        ("resource.k8s.io/v1", "resourceclaim", did_you_mean("ResourceClaim")),
        ("resource.k8s.io/v1beta1", "DeviceClas", did_you_mean("DeviceClass")),
        ("resource.k8s.io/v1", "ResourceClass", "Kubernetes 1.31 replaced it by `DeviceClass`".to_owned()),
        ("apportion.dev/v1alpha1", "ClusterResourceClaimTemplat", did_you_mean("ClusterResourceClaimTemplate")),
        ("v1", "pod", did_you_mean("Pod")),
        ("v1", "Secrets", did_you_mean("Secret")),
        ("apps/v1", "Deploymnet", did_you_mean("Deployment")),
        ("apps/v1", "Pod", "`Pod` is of `apiVersion: v1`".to_owned()),
        ("batch/v1", "Frobnicator", "its kinds are Job, CronJob, JobTemplate".to_owned()),
        ("v1", "Frobnicator", String::new()),
    ] {
        assert_eq!(meant(api_version, kind), (Code::ValidateNotServed, Severity::Error, hint), "{kind}");
    }
    let (code, severity, hint) = meant("v1", "Deployment");
    assert_eq!((code, severity), (Code::ValidateNotServed, Severity::Error));
    assert!(hint.contains("group `apps`"), "{hint}");
    for api_version in ["resource.k8s.io", "resources.k8s.io/v1"] {
        let (code, severity, hint) = meant(api_version, "ResourceClaim");
        assert_eq!((code, severity), (Code::ReadUnknownKind, Severity::Warning));
        assert!(hint.contains("`resource.k8s.io/`"), "{hint}");
    }
    for (api_version, kind) in [
        ("resource.k8s.io/v1", "ResourceClaimList"),
        ("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
        ("batch.volcano.sh/v1alpha1", "Job"),
        ("node.k8s.io/v1", "RuntimeClass"),
        ("v1", "Secret"),
    ] {
        assert_eq!(meant(api_version, kind), (Code::ReadUnknownKind, Severity::Info, String::new()), "{kind}");
    }
    let (code, severity, hint) = meant("kustomize.config.k8s.io/v1beta1", "Kustomization");
    assert_eq!((code, severity), (Code::ReadUnknownKind, Severity::Warning));
    assert!(hint.contains("`kubectl kustomize`"), "{hint}");
}

#[test]
fn a_kind_without_rules_is_read_as_everywhere() {
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "a" }, "status": { "allocatable": { "cpu": "abc" } } });
    assert_eq!(brief(&create(node)), [(Code::ReadBadQuantity, "status.allocatable[cpu]")]);
}

#[test]
fn a_kind_that_asks_for_devices_is_no_bystander() {
    let claims = json!([{ "name": "gpu", "resourceClaimTemplateName": "gpu" }]);
    for (spec, path) in [
        (json!({ "resourceClaims": claims }), "spec.resourceClaims"),
        (
            json!({ "template": { "cliques": [{ "spec": { "podSpec": { "containers": [{ "name": "c" }] } } }] } }),
            "spec.template.cliques[0].spec.podSpec",
        ),
        (
            json!({ "draResources": [{ "resourceClaimTemplateName": "gpu" }] }),
            "spec.draResources[0].resourceClaimTemplateName",
        ),
        (json!({ "gpu": { "deviceClassName": "gpu.example.com" } }), "spec.gpu.deviceClassName"),
    ] {
        let found = create(object("example.com/v1", "Machine", spec));
        assert_eq!(brief(&found), [(Code::ReadUnknownKind, path)]);
        assert_eq!(found[0].severity, Severity::Warning);
        assert!(found[0].hint.as_ref().unwrap().contains("kubectl get pods"));
    }
    // A definition only names such fields.
    let definition =
        json!({ "properties": { "resourceClaims": { "type": "array" }, "deviceClassName": { "type": "string" } } });
    let found = create(object("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition));
    assert_eq!(found[0].severity, Severity::Info);
}

#[test]
fn what_is_no_object_is_met_with_how_to_print_one() {
    for document in [json!("NAME READY x 1/1"), json!({ "Error from server (NotFound)": "no such pod" })] {
        let found = create(document);
        assert_eq!(brief(&found), [(Code::ReadNoKind, "kind")]);
        assert!(found[0].hint.as_ref().unwrap().contains("-o yaml"));
    }
}
