//! Questions about a live cluster: what is asked of the API server, and what becomes of what it does not give.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use crate::api_server::{ApiServer, Fault, Request};
use serde_json::Value;

const SMALL: &str = include_str!("cli/small.yaml");

fn run(server: &ApiServer, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
    command.args(arguments).env_clear().env("KUBECONFIG", server.kubeconfig());
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}

/// Commands and the arguments that each needs beside the cluster.
const COMMANDS: [&[&str]; 8] = [
    &["run"],
    &["explain"],
    &["check"],
    &["fit", "--claim", "ml/tuned"],
    &["what-if", "--cordon", "node-a"],
    &["taint", "--preview"],
    &["snapshot"],
    &["diff", "host-wasmtime/tests/cli/small.yaml"],
];

#[test]
fn the_answer_for_a_cluster_is_that_for_its_manifests() {
    let server = ApiServer::start("same");
    server.apply_yaml(SMALL);
    for format in ["json", "table"] {
        let from_file = run(&server, &["run", "-o", format, "-f", "host-wasmtime/tests/cli/small.yaml"]);
        let live = run(&server, &["run", "-o", format, "--from-cluster"]);
        assert_eq!(live.status.code(), from_file.status.code(), "{}", stderr(&live));
        if format == "json" {
            assert_eq!(json(&live)["report"]["pods"], json(&from_file)["report"]["pods"]);
            assert_eq!(json(&live)["input"]["files"][0], "context test");
        } else {
            assert!(stdout(&live).contains("from `context test`"), "{}", stdout(&live));
        }
    }
}

/// Parameters of a device may nest deeper than a parser goes.
#[test]
fn one_object_that_cannot_be_read_hides_no_other() {
    let server = ApiServer::start("deep");
    server.apply_yaml(SMALL);
    let parameters = (0..200).fold(serde_json::json!({}), |inner, _| serde_json::json!({ "x": inner }));
    server.apply(&[serde_json::json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "deep", "namespace": "ml" },
        "spec": { "devices": { "config": [{ "opaque": { "driver": "d", "parameters": parameters } }] } },
    })]);
    let output = run(&server, &["snapshot", "--from-cluster"]);
    assert!(stdout(&output).contains("\"tuned\""), "{}", stderr(&output));
    assert!(stderr(&output).contains("ml/deep"), "{}", stderr(&output));
}

#[test]
fn every_command_reads_and_none_writes() {
    let server = ApiServer::start("reads");
    server.apply_yaml(SMALL);
    for command in COMMANDS {
        let output = run(&server, &[command, &["--from-cluster"]].concat());
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command:?}: {}", stderr(&output));
        assert!(!stdout(&output).is_empty(), "{command:?}");
    }
    let store = server.store();
    assert!(store.requests.iter().all(|request| request.method == "GET"));
    assert!(store.requests.iter().all(|request| !request.path.contains("secrets")));
}

/// The printed role against what the server was asked for.
#[test]
fn the_role_allows_exactly_what_is_read() {
    let server = ApiServer::start("role");
    server.apply_yaml(SMALL);
    run(&server, &["run", "--from-cluster"]);
    let asked: BTreeSet<String> =
        server.store().requests.iter().map(|request| request.path.rsplit('/').next().unwrap().to_owned()).collect();
    let output = run(&server, &["run", "--print-rbac"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut roles = Vec::new();
    let limits = apportion_yaml::Limits::default();
    let problems = apportion_yaml::read_each(&output.stdout, &limits, |document| roles.push(document.value));
    assert!(problems.is_empty(), "{problems:?}");
    let rules = roles[0]["rules"].as_array().unwrap();
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let allowed: BTreeSet<String> = rules.iter().flat_map(|rule| strings(&rule["resources"])).collect();
    assert_eq!(allowed, asked);
    assert!(rules.iter().all(|rule| strings(&rule["verbs"]) == ["list"]));
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!("print_rbac", stdout(&output)) });
}

#[test]
fn pages_are_put_together() {
    let server = ApiServer::start("pages");
    for number in 0..25 {
        server.apply_yaml(&format!("{{apiVersion: v1, kind: Node, metadata: {{name: node-{number:02}}}}}"));
    }
    server.store().page = Some(4);
    let output = run(&server, &["snapshot", "--from-cluster"]);
    let kinds: Vec<Value> = json(&output)["objects"].as_array().unwrap().clone();
    assert_eq!(kinds.iter().filter(|object| object["kind"] == "Node").count(), 25);
}

#[test]
fn a_list_that_expired_is_begun_again() {
    let server = ApiServer::start("expired");
    for number in 0..9 {
        server.apply_yaml(&format!("{{apiVersion: v1, kind: Node, metadata: {{name: node-{number}}}}}"));
    }
    server.store().page = Some(4);
    let fits = |request: &Request| request.query.get("continue").is_some_and(|token| token == "8");
    server.store().faults.push(Fault { fits, times: 1, code: 410 });
    let output = run(&server, &["snapshot", "--from-cluster"]);
    assert_eq!(json(&output)["objects"].as_array().unwrap().len(), 9, "no Node is missing or there twice");
}

#[test]
fn what_is_not_served_or_not_allowed_is_told() {
    let server = ApiServer::start("without");
    server.apply_yaml(SMALL);
    {
        let mut store = server.store();
        store.missing = vec!["resource.k8s.io/v1/resourceslices", "resource.k8s.io/v1beta2/resourceslices"];
        store.missing.extend(["scheduling.k8s.io/v1beta1/podgroups", "scheduling.k8s.io/v1alpha3/podgroups"]);
        store.missing.push("scheduling.k8s.io/v1alpha2/podgroups");
        store.forbidden = vec!["pods"];
    }
    let output = run(&server, &["run", "--from-cluster", "-o", "json"]);
    let findings = json(&output)["input"]["findings"].clone();
    let told: Vec<(&str, &str)> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["code"].as_str().unwrap(), finding["severity"].as_str().unwrap()))
        .filter(|(code, _)| code.starts_with("cluster/"))
        .collect();
    assert_eq!(told, [("cluster/forbidden", "warning"), ("cluster/missing-api", "info")]);
    assert_eq!(json(&output)["input"]["objects"]["ResourceSlice"], 1, "an older version is asked for");
    let output = run(&server, &["run", "--from-cluster"]);
    assert!(stderr(&output).contains("you may not list pods"), "{}", stderr(&output));
}

#[test]
fn manifests_come_on_top_of_the_cluster() {
    let server = ApiServer::start("on-top");
    server.apply_yaml("{apiVersion: v1, kind: Node, metadata: {name: node-a, labels: {from: cluster}}}");
    let more = std::env::temp_dir().join(format!("apportion-on-top-{}.yaml", std::process::id()));
    std::fs::write(&more, "{apiVersion: v1, kind: Node, metadata: {name: node-a, labels: {from: file}}}").unwrap();
    let output = run(&server, &["snapshot", "--from-cluster", "-f", more.to_str().unwrap()]);
    std::fs::remove_file(more).unwrap();
    let objects = json(&output)["objects"].as_array().unwrap().clone();
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["metadata"]["labels"]["from"], "file");
}

#[test]
fn no_cluster_is_a_failure_to_ask() {
    let server = ApiServer::start("none");
    let output = run(&server, &["run", "--from-cluster", "--context", "elsewhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("elsewhere"), "{}", stderr(&output));
    server.store().faults.push(Fault { fits: |_| true, times: usize::MAX, code: 500 });
    let output = run(&server, &["run", "--from-cluster"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot be listed"), "{}", stderr(&output));
}
