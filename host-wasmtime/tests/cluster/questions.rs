//! Questions about a live cluster, with the rights of the printed role.

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, READER, deploy};
use crate::objects::{namespace, source};
use crate::program::{ask, json as read};
use crate::requests::documents;
use crate::stuck::{WITHOUT, make, stuck};

fn findings(answer: &Value, code: &str) -> Vec<String> {
    let of = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let all = [of(&answer["findings"]), of(&answer["input"]["findings"])].concat();
    all.iter().filter(|one| one["code"] == *code).map(|one| one["message"].to_string()).collect()
}

/// Gives the reader what a command prints.
fn grant(plane: &ControlPlane, command: &str) {
    let printed = ask(plane, READER, &[command, "--print-rbac"]);
    let mut roles = documents(&String::from_utf8(printed.stdout).unwrap());
    let mut role = roles.remove(0);
    role["metadata"]["name"] = json!(format!("reader-{command}"));
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": { "name": format!("reader-{command}") },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": format!("reader-{command}") },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader" }],
    });
    plane.requests.apply(&role);
    plane.requests.apply(&binding);
}

#[test]
#[ignore = "needs a control plane: cargo xtask e2e"]
fn the_printed_role_is_enough_for_all_questions() {
    let plane = ControlPlane::start("questions");
    make(&plane);
    let run = ["run", "--from-cluster", "-o", "json"];
    let without = read(&ask(&plane, READER, &run));
    assert_eq!(findings(&without, "cluster/forbidden").len(), 9, "{without}");
    grant(&plane, "run");
    let answer = plane.until("the role", 20, |plane| {
        let answer = read(&ask(plane, READER, &run));
        findings(&answer, "cluster/forbidden").is_empty().then_some(answer)
    });
    assert_eq!(findings(&answer, "cluster/missing-api"), Vec::<String>::new());
    assert_eq!(answer["input"]["objects"]["Pod"], 1 + stuck().len() + WITHOUT.len(), "{answer}");

    for (name, _, says) in stuck() {
        let output = ask(&plane, READER, &["explain", "--from-cluster", "--pod", &format!("ml/{name}"), "-o", "json"]);
        let answer = read(&output);
        let headline = answer["explanations"][0]["headline"].as_str().unwrap_or_else(|| panic!("{name}: {answer}"));
        assert!(headline.contains(says), "{name}: {headline}");
    }
    let answer = read(&ask(&plane, READER, &["explain", "--from-cluster", "--pod", "ml/fits", "-o", "json"]));
    assert_eq!(answer["explanations"][0]["state"], "placed", "{answer}");
    // A cluster that its own controllers keep in order has nothing wrong.
    let checked = ask(&plane, READER, &["check", "--from-cluster", "-o", "json"]);
    let answer = read(&checked);
    assert_eq!(answer["findings"], json!([]), "{answer}");
    assert_eq!(checked.status.code(), Some(0));
    let commands: [&[&str]; 4] = [
        &["fit", "--claim", "ml/two"],
        &["what-if", "--cordon", "node-a"],
        &["taint", "--preview"],
        &["snapshot", "--anonymize"],
    ];
    for command in commands {
        let output = ask(&plane, READER, &[command, &["--from-cluster"]].concat());
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!output.stdout.is_empty(), "{command:?}");
    }

    // Cluster-wide templates have a role of their own.
    let crd = std::fs::read_to_string(deploy("kustomize/base/crd.yaml")).unwrap();
    plane.requests.apply(&documents(&crd)[0]);
    plane.until("the kind of sources", 30, |plane| plane.requests.try_apply(&source("h100"), "").ok());
    plane.requests.merge(&namespace("ml", json!({})), &json!({ "metadata": { "labels": { "team": "ml" } } }));
    grant(&plane, "plan");
    let plan = plane.until("the role", 20, |plane| {
        let output = ask(plane, READER, &["plan", "--from-cluster", "-o", "json"]);
        (output.status.code() == Some(0) || output.status.code() == Some(1)).then(|| read(&output))
    });
    assert!(plan.to_string().contains("\"ml\""), "{plan}");
}
