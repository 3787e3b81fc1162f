//! Lines of a batch: a cluster with its questions in, the answers out, whatever stands in the line.

use apportion_core::ask;
use apportion_core::wire::batch::{FORMAT, answer};
use serde_json::{Value, json};

const DEFAULTS: &str = r#"{"ask":"run"}"#;

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name },
        "spec": { "containers": [{ "name": "main", "image": "registry.example/main:1" }] },
    })
}

fn node() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-a" },
        "status": { "allocatable": { "cpu": "1", "memory": "1Gi", "pods": "110" } },
    })
}

fn asked_of(line: &Value) -> Value {
    answer(&line.to_string(), 7, DEFAULTS)
}

#[test]
fn a_cluster_is_answered_with_its_id_and_index() {
    let answer = asked_of(&json!({ "format": FORMAT, "id": "a", "objects": [pod("x"), node()] }));
    assert_eq!((&answer["id"], &answer["index"], &answer["status"]), (&json!("a"), &json!(7), &json!("answered")));
    assert_eq!(answer["answers"][0]["answer"]["pods"][0]["node"], "node-a");
    assert_eq!(answer["answers"][0]["satisfied"], true);
    assert_eq!(answer["input"], json!({ "objects": 2, "leftAside": 0, "refused": 0, "findings": [] }));
}

#[test]
fn what_kubectl_and_snapshots_write_is_a_cluster() {
    let list = json!({ "apiVersion": "v1", "kind": "List", "metadata": {}, "items": [pod("x"), node()] });
    let snapshot = json!({ "format": ask::SNAPSHOT_FORMAT, "settings": {}, "objects": [pod("x"), node()] });
    for line in [list, snapshot] {
        assert_eq!(asked_of(&line)["answers"][0]["satisfied"], true, "{line}");
    }
}

#[test]
fn several_questions_are_asked_of_the_same_cluster() {
    let ask = json!(["explain", { "kind": "whatIf", "without": [{ "kind": "Node", "name": "node-a" }] }, "run"]);
    let answer = asked_of(&json!({ "objects": [pod("x"), node()], "ask": ask }));
    let answers = answer["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1]["answer"]["pods"][0]["after"], "pending", "{answer}");
    assert_eq!(answers[2]["satisfied"], true);
}

#[test]
fn what_cannot_be_read_is_an_answer_of_its_own() {
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (line, code) in [
        ("{", "read/bad-json"),
        ("", "read/bad-json"),
        (nested.as_str(), "read/bad-json"),
        ("[]", "read/bad-settings"),
        ("7", "read/bad-settings"),
        (r#"{"id":1}"#, "read/bad-settings"),
        (r#"{"objects":{}}"#, "read/bad-settings"),
        (r#"{"objects":[],"asks":[]}"#, "read/bad-settings"),
        (r#"{"objects":[],"ask":[]}"#, "read/bad-settings"),
        (r#"{"objects":[],"ask":"rnu"}"#, "read/bad-settings"),
        (r#"{"objects":[],"format":"apportion/batch/v2"}"#, "read/bad-settings"),
        (r#"{"objects":[],"settings":{"version":"9.9"}}"#, "read/bad-settings"),
    ] {
        let answer = answer(line, 0, DEFAULTS);
        assert_eq!((&answer["status"], &answer["findings"][0]["code"]), (&json!("failed"), &json!(code)), "{line}");
    }
    assert_eq!(answer(r#"{"id":"c-1"}"#, 0, DEFAULTS)["id"], "c-1");
}

#[test]
fn an_object_with_an_error_is_left_out_and_the_rest_is_answered() {
    let broken = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "bad" }, "spec": 7 });
    let line =
        json!({ "objects": [pod("x"), broken, node(), "text"], "findings": [{ "severity": "error", "message": "m" }] });
    let answer = asked_of(&line);
    assert_eq!(answer["status"], "answered");
    assert_eq!((&answer["input"]["objects"], &answer["input"]["refused"]), (&json!(2), &json!(3)));
    assert_eq!(answer["input"]["findings"][0]["message"], "m");
    assert_eq!(answer["input"]["findings"][1]["object"]["name"], "bad");
    assert_eq!(answer["answers"][0]["answer"]["pods"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_question_about_what_is_not_there_fails_alone() {
    let ask = json!([{ "kind": "explain", "subject": { "kind": "Pod", "name": "y" } }, "usage", { "kind": "x" }]);
    let answer = asked_of(&json!({ "objects": [pod("x")], "ask": ask }));
    assert_eq!(answer["status"], "failed");
    let is_answered: Vec<bool> =
        answer["answers"].as_array().unwrap().iter().map(|one| one.get("answer").is_some()).collect();
    assert_eq!(is_answered, [false, true, false]);
}
