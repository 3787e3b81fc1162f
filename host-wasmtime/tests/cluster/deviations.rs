//! Steps of recorded histories at which ours settles otherwise than was recorded, and what it must show instead.

use serde_json::{Value, json};

use crate::view::with_rows;

/// What must be seen at the end of a step.
pub(crate) enum Instead {
    /// The recorded state with these rows.
    Rows(Value),
    /// That, or the recorded state as it is.
    OrRows(Value),
}

/// One step of a history.
pub(crate) struct Deviation {
    pub(crate) history: &'static str,
    /// Its place in the history; the first one is 0.
    pub(crate) step: usize,
    pub(crate) why: &'static str,
    pub(crate) instead: Instead,
}

impl Deviation {
    /// The states that may be seen, by the recorded one.
    pub(crate) fn states(&self, recorded: &Value) -> Vec<Value> {
        let (rows, or_recorded) = match &self.instead {
            Instead::Rows(rows) => (rows, false),
            Instead::OrRows(rows) => (rows, true),
        };
        let ours = with_rows(recorded, rows);
        assert_ne!(ours, *recorded, "{}, step {}: {}: there is no difference", self.history, self.step, self.why);
        if or_recorded { vec![ours, recorded.clone()] } else { vec![ours] }
    }
}

/// A claim that was made for an entry and waits.
fn made(entry: &str, owner: &str) -> Value {
    json!({
        "name": null, "entry": entry, "owners": [owner], "labels": null, "finalizers": null, "deleting": false,
        "allocated": false, "reserved": [],
    })
}

/// The same with devices, for whoever owns it.
fn given(entry: &str, owner: &str) -> Value {
    let mut claim = made(entry, owner);
    claim["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
    (claim["allocated"], claim["reserved"]) = (json!(true), json!([owner]));
    claim
}

/// What is recorded in the status of a Pod or group for an entry.
fn entry(name: &str, owner: &str) -> Value {
    json!({ "name": name, "claim": format!("{name} of {owner}") })
}

/// A rule after it has deleted whatever Pods it was to delete.
fn completed(rule: &str) -> Value {
    let condition = json!({ "type": "EvictionInProgress", "status": "False", "reason": "Completed" });
    json!({ "name": rule, "conditions": [condition] })
}

fn stays(pod: &str) -> Value {
    json!({ "name": pod, "deleting": false, "disrupted": null })
}

/// All of them.
pub(crate) fn deviations() -> Vec<Deviation> {
    let instead = |history, step, why, rows| Deviation { history, step, why, instead: Instead::Rows(rows) };
    let dotted = "e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e.e";
    let lost = "claim-recreated-other-entries";
    let both = json!([entry("one", "p"), entry("two", "p")]);
    let both = json!({ "claims": [made("one", "p"), made("two", "p")], "pods": [{ "name": "p", "entries": both }] });
    let deleted = "generated-claim-deleted";
    let remade = "a generated claim that was deleted is made again at once";
    let pod = |is_placed| json!({ "name": "a", "placed": is_placed, "entries": [entry("gpu", "a")] });
    let group = json!({ "name": "group", "entries": [entry("gpu", "group")] });
    let member = json!({ "name": "m", "placed": true, "entries": [entry("gpu", "group")] });
    let waits = json!({ "claims": [made("gpu", "a"), made("gpu", "group")], "pods": [pod(false)], "groups": [group] });
    let runs = json!({ "claims": [given("gpu", "a"), made("gpu", "group")], "pods": [pod(true)], "groups": [group] });
    let joined = json!({
        "claims": [given("gpu", "a"), given("gpu", "group")], "pods": [pod(true), member], "groups": [group],
    });
    let tolerates = "a toleration for every effect keeps a Pod";
    vec![
        instead(lost, 2, "both entries are recorded, once", both.clone()),
        instead(lost, 3, "and stay so", both),
        instead(
            "foreign-claim-recorded",
            2,
            "the Pod's own claim is recorded again",
            json!({ "pods": [{ "name": "b", "entries": [entry("gpu", "b")] }] }),
        ),
        instead(deleted, 2, remade, waits),
        instead(deleted, 3, remade, runs),
        instead(deleted, 4, "members have the name of the new claim", joined.clone()),
        instead(deleted, 5, "and stay so", joined),
        instead(
            "long-names",
            1,
            "no name is cut after a dot",
            json!({
                "claims": [given("gpu", dotted)],
                "pods": [{ "name": dotted, "placed": true, "entries": [entry("gpu", dotted)] }],
            }),
        ),
        Deviation {
            history: "partitionable",
            step: 4,
            why: "who gets what is free depends on whom kube-scheduler tries first",
            instead: Instead::OrRows(json!({
                "claims": [given("gpu", "b"), made("gpu", "d")],
                "pods": [{ "name": "b", "placed": true }, { "name": "d", "placed": false }],
            })),
        },
        instead("taint-noexecute-slice", 3, tolerates, json!({ "pods": [stays("any-effect")] })),
        instead("taint-noexecute-slice", 5, tolerates, json!({ "pods": [stays("late-any-effect")] })),
        instead(
            "taint-rule-deleted",
            4,
            "recorded before the rule says that nobody is left",
            json!({ "rules": [completed("old")] }),
        ),
        instead(
            "taint-rule-selectors",
            3,
            "a rule without selector taints nothing",
            json!({ "claims": [given("gpu", "pod-2")], "pods": [{ "name": "pod-2", "placed": true }] }),
        ),
        instead(
            "taint-rule-selectors",
            6,
            "recorded before the rule says that nobody is left",
            json!({ "rules": [completed("all")] }),
        ),
        instead(
            "workload",
            3,
            "recorded while kube-scheduler let a Pod wait",
            json!({ "pods": [{ "name": "w-1", "placed": true }] }),
        ),
    ]
}
