//! What the laws over a history find: each law broken once, and what looks like it and breaks none.

use apportion_core::api::source::{SOURCE_API_VERSION, SOURCE_KIND};
use apportion_core::check::{History, unsettled};
use apportion_core::controller::{Part, Settings};
use apportion_core::decision::Time;
use apportion_core::finding::Finding;
use apportion_core::profile::Profile;
use serde_json::{Value, json};

use crate::check::{claim, counters, pod, slice};

/// A history, and what was found in it.
#[derive(Default)]
struct Told {
    history: History,
    found: Vec<(&'static str, String)>,
}

impl Told {
    fn new() -> Self {
        Self { history: History::new(Profile::default()), found: Vec::new() }
    }

    fn then(mut self, kind: &str, object: Value) -> Self {
        let findings = self.history.note(json!({ "type": kind, "object": object }));
        self.found.extend(findings.into_iter().map(short));
        self
    }

    fn put(self, object: Value) -> Self {
        self.then("MODIFIED", object)
    }

    fn gone(self, object: Value) -> Self {
        self.then("DELETED", object)
    }

    fn finds(self, expected: &[(&'static str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(code, name)| (*code, (*name).to_owned())).collect();
        assert_eq!(self.found, expected);
    }
}

fn short(finding: Finding) -> (&'static str, String) {
    assert!(finding.hint.is_some(), "{finding:?}");
    (finding.code.text(), finding.object.unwrap_or_default().name)
}

/// The two slices of [`slice`]'s pool.
fn published() -> Told {
    Told::new().put(slice()).put(counters())
}

/// A claim with a share of `x`, and so much of its memory.
fn share(name: &str, id: &str, memory: &str) -> Value {
    let mut claim = claim(name, &["x"], &[]);
    let result = &mut claim["status"]["allocation"]["devices"]["results"][0];
    result["shareID"] = json!(id);
    result["consumedCapacity"] = json!({ "memory": memory });
    claim
}

/// [`slice`] with memory that several claims share.
fn shared() -> Value {
    let mut slice = slice();
    let device = &mut slice["spec"]["devices"][2];
    device["allowMultipleAllocations"] = json!(true);
    device["capacity"] = json!({ "memory": { "value": "10Gi" } });
    slice
}

#[test]
fn a_device_given_twice_is_told_once_and_about_the_later_claim() {
    let twice = published().put(claim("two", &["x"], &[])).put(claim("one", &["x"], &[]));
    // Whatever else changes of it breaks no law again.
    twice.put(claim("one", &["x"], &["p"])).finds(&[("check/device-held-twice", "one")]);
}

#[test]
fn a_device_that_was_given_back_is_given_again() {
    let free = published().put(claim("one", &["x"], &[])).put(claim("one", &[], &[])).put(claim("two", &["x"], &[]));
    free.gone(claim("two", &["x"], &[])).put(claim("three", &["x"], &[])).finds(&[]);
}

#[test]
fn admin_access_takes_nothing() {
    let mut monitor = claim("monitor", &["x"], &[]);
    monitor["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = json!(true);
    published().put(claim("one", &["x"], &[])).put(monitor.clone()).gone(monitor).finds(&[]);
}

#[test]
fn a_share_is_held_once_and_all_shares_fit_in_the_device() {
    let fits = || Told::new().put(shared()).put(counters()).put(share("one", "1", "4Gi")).put(share("two", "2", "6Gi"));
    fits().finds(&[]);
    fits().put(share("three", "2", "0")).finds(&[("check/device-held-twice", "three")]);
    fits().put(share("three", "3", "1Gi")).finds(&[("check/capacity-overdrawn", "three")]);
    fits().gone(share("one", "1", "4Gi")).put(share("three", "3", "4Gi")).finds(&[]);
}

#[test]
fn a_whole_device_is_not_shared() {
    let told = Told::new().put(shared()).put(counters()).put(share("one", "1", "1Gi"));
    told.put(claim("two", &["x"], &[])).finds(&[("check/device-held-twice", "two")]);
}

#[test]
fn partitions_together_draw_no_more_than_there_is() {
    let one = || published().put(claim("one", &["a"], &[]));
    one().put(claim("two", &["b"], &[])).finds(&[("check/counter-overdrawn", "two")]);
    one().gone(claim("one", &["a"], &[])).put(claim("two", &["b"], &[])).finds(&[]);
    one().put(claim("two", &["x"], &[])).finds(&[]);
}

#[test]
fn a_pool_that_shrinks_or_goes_breaks_no_law() {
    let mut small = counters();
    small["spec"]["sharedCounters"][0]["counters"]["m"]["value"] = json!("1");
    let told = published().put(claim("one", &["a"], &["p"])).put(small).gone(slice()).gone(counters());
    told.put(claim("one", &["a"], &["p", "q"])).finds(&[]);
}

#[test]
fn a_claim_keeps_its_devices_while_a_pod_runs_on_them() {
    let running = || published().put(claim("one", &["x"], &["p"])).put(pod("p", "one"));
    let lost = [("check/devices-lost", "one")];
    running().put(claim("one", &["x"], &[])).finds(&lost);
    running().put(claim("one", &[], &["p"])).finds(&lost);
    running().put(claim("one", &["a"], &["p"])).finds(&lost);
    running().gone(claim("one", &["x"], &["p"])).finds(&lost);
    let mut other = claim("one", &[], &[]);
    other["metadata"]["uid"] = json!("another");
    running().put(other).finds(&lost);
}

#[test]
fn a_claim_gives_its_devices_back_when_its_pods_ended_or_never_began() {
    let mut ended = pod("p", "one");
    ended["status"]["phase"] = json!("Failed");
    let mut unbound = pod("p", "one");
    unbound["spec"].as_object_mut().unwrap().remove("nodeName");
    let mut later = pod("p", "one");
    later["metadata"]["uid"] = json!("another");
    for pod in [ended, unbound, later] {
        published().put(claim("one", &["x"], &["p"])).put(pod).put(claim("one", &[], &[])).finds(&[]);
    }
    published().put(claim("one", &["x"], &["p"])).put(claim("one", &[], &[])).finds(&[]);
}

fn template(marks: Value) -> Value {
    let mut metadata = json!({ "name": "gpu", "namespace": "ns", "uid": "t" });
    metadata.as_object_mut().unwrap().extend(marks.as_object().unwrap().clone());
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": { "spec": {} } })
}

fn source() -> Value {
    json!({
        "apiVersion": SOURCE_API_VERSION, "kind": "ClusterResourceClaimTemplate", "metadata": { "name": "gpu", "uid": "s" },
        "spec": { "source": { "name": "master" }, "targets": [{ "names": ["*"] }] },
    })
}

#[test]
fn a_users_template_with_the_name_of_copies_is_missed() {
    let mut copy = template(json!({ "labels": {
        "app.kubernetes.io/managed-by": "apportion-template-sync", "apportion.dev/source-uid": "s",
    } }));
    let of_user = template(json!({}));
    let lost = [("check/template-lost", "gpu")];
    let with_source = || Told::new().put(source());
    with_source().put(of_user.clone()).gone(of_user.clone()).finds(&lost);
    with_source().put(of_user.clone()).gone(source()).gone(of_user.clone()).finds(&lost);
    with_source().put(copy.clone()).gone(copy.clone()).finds(&[]);
    // Marked like a copy, and written by somebody else.
    copy["metadata"]["managedFields"] = json!([{ "manager": "kubectl" }]);
    with_source().put(copy.clone()).gone(copy).finds(&lost);
    Told::new().put(of_user.clone()).gone(of_user.clone()).finds(&[]);
    let mut other = of_user.clone();
    other["metadata"]["name"] = json!("other");
    with_source().put(other.clone()).gone(other.clone()).finds(&[]);
    other["metadata"]["name"] = json!("master");
    with_source().put(other.clone()).gone(other).finds(&[]);
    let going = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "ns", "deletionTimestamp": "2026-01-01T00:00:00Z" } });
    with_source().put(going).put(of_user.clone()).gone(of_user).finds(&[]);
}

#[test]
fn a_list_says_all_that_there_is_whatever_happened_meanwhile() {
    let item = |name: &str, devices: &[&str]| {
        let mut item = claim(name, devices, &[]);
        item.as_object_mut().unwrap().retain(|field, _| !["kind", "apiVersion"].contains(&field.as_str()));
        item
    };
    let list =
        |items: Vec<Value>| json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimList", "items": items });
    // `one` took over what `two` had, and `three` went with what `four` has: in a list the order is lost.
    let told = published().put(claim("two", &["x"], &[])).put(claim("three", &["a"], &[]));
    let items = vec![item("four", &["a"]), item("one", &["x"]), item("two", &[])];
    let told = told.then("LISTED", list(items));
    let told = told.then("LISTED", list(vec![item("four", &["a"])])).put(claim("five", &["x"], &[]));
    told.put(claim("six", &["x"], &[])).finds(&[("check/device-held-twice", "six")]);
    let found = published().then("LISTED", list(vec![item("one", &["x"]), item("two", &["x"])]));
    found.finds(&[("check/device-held-twice", "two")]);
    let emptied = published().put(claim("one", &["x"], &[])).then("LISTED", list(vec![]));
    emptied.put(claim("two", &["x"], &[])).finds(&[]);
}

#[test]
fn sources_are_listed_apart_from_templates_of_the_same_kind() {
    let of_user = template(json!({}));
    let none =
        |version: &str| json!({ "apiVersion": version, "kind": "ClusterResourceClaimTemplateList", "items": [] });
    let told = Told::new().put(source()).then("LISTED", none("resource.k8s.io/v1alpha3")).put(of_user.clone());
    told.then("BOOKMARK", json!({})).gone(of_user).finds(&[("check/template-lost", "gpu")]);
}

#[test]
fn what_a_fresh_start_would_write_has_not_settled() {
    let settings =
        Settings { part: Part::TemplateSync, home: "home".to_owned(), allow_admin_access: false, conditions: true };
    let found = |objects: &[Value]| {
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        let now = Time::from_seconds(1_800_000_000);
        let found = unsettled(texts.iter().map(String::as_str), &Profile::default(), settings.clone(), now);
        found.into_iter().map(|finding| finding.object.unwrap().kind).collect::<Vec<_>>()
    };
    let mut whole = source();
    whole["spec"] = json!({ "template": { "spec": {} }, "targets": [{ "names": ["*"] }] });
    let space = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "ns", "uid": "n" } });
    assert_eq!(found(&[space, whole]), [SOURCE_KIND, "ResourceClaimTemplate"], "a status, and a copy");
    assert_eq!(found(&[template(json!({}))]), [""; 0]);
}

#[test]
fn what_cannot_be_read_is_told() {
    let mut broken = claim("one", &["x"], &[]);
    broken["status"]["allocation"]["devices"]["results"] = json!(7);
    let mut history = History::new(Profile::default());
    let found = history.note(json!({ "type": "ADDED", "object": broken }));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].object.as_ref().unwrap().name, "one");
    for event in [json!({ "type": "FLOWN" }), json!(7), json!({})] {
        assert_eq!(history.note(event)[0].code.text(), "read/bad-settings");
    }
}
