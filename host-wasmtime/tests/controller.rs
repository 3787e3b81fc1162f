//! `apportion controller` against an API server in this process, with everything that goes wrong between the two.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::api_server::{ApiServer, Fault, Request};
use crate::running::{HOME, Running};
use serde_json::{Value, json};

const PARTS: [&str; 7] =
    ["template-sync", "explainer", "conditions", "claims", "podgroup-protection", "taint-eviction", "scheduler"];

const SYNC: &[&str] = &["--controllers", "template-sync"];

fn namespaces(server: &ApiServer, count: usize) {
    let named = |name: String| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": { "team": "ml" } } });
    server.apply(&(0..count).map(|number| named(format!("ml-{number:03}"))).collect::<Vec<_>>());
}

fn source(class: &str) -> Value {
    json!({
        "apiVersion": "apportion.dev/v1alpha1", "kind": "ClusterResourceClaimTemplate", "metadata": { "name": "gpu" },
        "spec": {
            "targets": [{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }],
            "template": { "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": class } }] } } },
        },
    })
}

fn copies(server: &ApiServer, class: &str) -> usize {
    let is_of = |copy: &&Value| copy["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == *class;
    server.list("resourceclaimtemplates").iter().filter(is_of).count()
}

fn ready(server: &ApiServer) -> Option<Value> {
    let source = server.get("clusterresourceclaimtemplates", "", "gpu")?;
    let conditions = source["status"]["conditions"].as_array()?.clone();
    conditions.into_iter().find(|one| one["type"] == "Ready" && one["status"] == "True")?;
    Some(source["status"].clone())
}

/// Waits until every namespace has the current copy and the status says so.
fn until_synchronized(server: &ApiServer, class: &str, count: usize) {
    server.until("all copies", 60, |server| (copies(server, class) == count).then_some(()));
    server.until("the status", 30, |server| ready(server).filter(|status| status["current"] == count));
}

/// The number of writes once none came for a while: a status follows what it tells of a moment later.
fn writes_at_rest(server: &ApiServer) -> usize {
    let mut last = (server.store().writes(), Instant::now());
    server.until("no more writes", 30, |server| {
        let writes = server.store().writes();
        if writes != last.0 {
            last = (writes, Instant::now());
        }
        (last.1.elapsed() > Duration::from_millis(1500)).then_some(writes)
    })
}

#[test]
fn copies_are_made_kept_and_left_alone() {
    let server = ApiServer::start("copies");
    namespaces(&server, 20);
    let running = Running::start(&server, SYNC);
    server.until("readiness", 30, |_| running.get("/readyz").filter(|answer| answer.0 == 200));
    server.apply(&[source("h100")]);
    until_synchronized(&server, "h100", 20);
    assert_eq!(running.get("/livez").unwrap().0, 200);
    assert_eq!(running.get("/elsewhere").unwrap().0, 404);
    // A namespace that comes gets its copy at once.
    namespaces(&server, 21);
    until_synchronized(&server, "h100", 21);
    assert_eq!(running.metric("apportion_template_sync_seconds_count"), 1.0);
    assert_eq!(running.metric("apportion_writes_total{part=\"template-sync\",verb=\"create\",code=\"200\"}"), 21.0);
    assert_eq!(running.metric("apportion_leader"), 1.0);
    assert_eq!(running.metric("apportion_copies{source=\"gpu\",state=\"current\"}"), 21.0);
    // Drift.
    server.delete("resourceclaimtemplates", "ml-003", "gpu");
    until_synchronized(&server, "h100", 21);
    // A changed template.
    server.apply(&[source("h200")]);
    until_synchronized(&server, "h200", 21);
    // Nothing to do, nothing written.
    let writes = writes_at_rest(&server);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(server.store().writes(), writes);
    let output = running.stop();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let lease = server.get("leases", HOME, "apportion-controller").unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "", "the lease is given back");
    // One that starts anew finds everything as it should be.
    let running = Running::start(&server, SYNC);
    server.until("leading", 30, |_| {
        (running.get("/readyz")?.0 == 200 && running.metric("apportion_leader") == 1.0).then_some(())
    });
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(server.store().writes(), writes);
}

/// Faults of all kinds while copies are made: nothing is missing and nothing is there twice.
#[test]
fn nothing_is_lost_when_requests_fail() {
    let server = ApiServer::start("faults");
    namespaces(&server, 30);
    let is_create: fn(&Request) -> bool = |request| request.method == "POST" && request.is_write();
    let is_status: fn(&Request) -> bool = |request| request.path.ends_with("/status");
    let is_list: fn(&Request) -> bool = |request| request.method == "GET" && !request.query.contains_key("watch");
    let fault = |fits: fn(&Request) -> bool, times: usize, code: u16| Fault { fits, times, code };
    server.store().faults = vec![
        fault(is_list, 2, 500),
        fault(is_create, 5, 409),
        fault(is_create, 5, 429),
        fault(is_create, 5, 500),
        fault(is_create, 5, 0),
        // The write happens, its answer is lost.
        fault(is_create, 5, 1),
        fault(is_status, 2, 409),
        fault(is_status, 1, 1),
    ];
    let running = Running::start(&server, SYNC);
    server.apply(&[source("h100")]);
    server.until("some copies", 60, |server| (copies(server, "h100") > 3).then_some(()));
    server.cut_watches();
    until_synchronized(&server, "h100", 30);
    // The server forgets what it told: everything is listed again.
    {
        let mut store = server.store();
        store.compacted = store.version;
    }
    server.delete("resourceclaimtemplates", "ml-001", "gpu");
    server.cut_watches();
    server.delete("resourceclaimtemplates", "ml-002", "gpu");
    until_synchronized(&server, "h100", 30);
    assert!(server.store().faults.iter().all(|fault| fault.times == 0), "every fault happened");
    let traps = running.metric("apportion_component_traps_total{part=\"template-sync\"}");
    assert_eq!(traps, 0.0, "no call stopped the component");
}

#[test]
fn a_server_without_time_is_left_alone_as_long_as_it_wants() {
    let server = ApiServer::start("busy");
    namespaces(&server, 1);
    let is_create: fn(&Request) -> bool = |request| request.method == "POST" && request.is_write();
    server.store().faults = vec![Fault { fits: is_create, times: 1, code: 429 }];
    let _running = Running::start(&server, SYNC);
    server.apply(&[source("h100")]);
    server.until("the refusal", 30, |server| server.store().requests.iter().any(is_create).then_some(()));
    let refused = Instant::now();
    server.until("the copy", 30, |server| (copies(server, "h100") == 1).then_some(()));
    let pause = refused.elapsed();
    assert!(pause > Duration::from_millis(2500) && pause < Duration::from_secs(10), "{pause:?}");
}

#[test]
fn a_refusal_of_one_namespace_delays_no_other() {
    let server = ApiServer::start("refusal");
    namespaces(&server, 10);
    server.store().admit = Some(|object| {
        let is_refused = object["kind"] == "ResourceClaimTemplate" && object["metadata"]["namespace"] == "ml-004";
        is_refused.then(|| (403, "exceeded quota: templates".to_owned()))
    });
    server.apply(&[source("h100")]);
    let _running = Running::start(&server, SYNC);
    let status = server.until("the refusal in the status", 30, |server| {
        let status = server.get("clusterresourceclaimtemplates", "", "gpu")?["status"].clone();
        (status["current"] == 9 && status["refused"] == 1).then_some(status)
    });
    assert_eq!(status["failures"][0]["reason"], "QuotaExceeded");
    let events = server.until("an Event", 10, |server| Some(server.list("events")).filter(|events| !events.is_empty()));
    assert!(events[0]["note"].as_str().unwrap().contains("exceeded quota"), "{events:?}");
    assert_eq!(events[0]["metadata"]["namespace"], "default");
    server.store().admit = None;
    until_synchronized(&server, "h100", 10);
}

#[test]
fn a_users_template_stays_and_is_told() {
    let server = ApiServer::start("users");
    namespaces(&server, 3);
    server.apply(&[json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": { "name": "gpu", "namespace": "ml-001" },
        "spec": { "spec": { "devices": { "requests": [{ "name": "mine", "exactly": { "deviceClassName": "mine" } }] } } },
    })]);
    server.apply(&[source("h100")]);
    let _running = Running::start(&server, SYNC);
    server.until("the conflict in the status", 30, |server| {
        let status = server.get("clusterresourceclaimtemplates", "", "gpu")?["status"].clone();
        (status["current"] == 2 && status["conflicting"] == 1).then_some(())
    });
    assert_eq!(copies(&server, "mine"), 1);
    let regarding = |server: &ApiServer| -> Vec<String> {
        server.list("events").iter().map(|event| event["regarding"]["kind"].as_str().unwrap().to_owned()).collect()
    };
    server.until("both Events", 10, |server| (regarding(server).len() == 2).then_some(()));
    server.delete("resourceclaimtemplates", "ml-001", "gpu");
    until_synchronized(&server, "h100", 3);
}

/// Of two replicas one writes; when it is gone without a word the other follows, and in between nobody does.
#[test]
fn one_replica_leads_and_the_other_follows() {
    let server = ApiServer::start("replicas");
    namespaces(&server, 5);
    let first = Running::start(&server, SYNC);
    server.until("the first leads", 30, |_| {
        (first.get("/readyz")?.0 == 200 && first.metric("apportion_leader") == 1.0).then_some(())
    });
    let second = Running::start(&server, SYNC);
    server.until("the second is ready", 30, |_| second.get("/readyz").filter(|answer| answer.0 == 200));
    server.apply(&[source("h100")]);
    until_synchronized(&server, "h100", 5);
    assert_eq!(second.metric("apportion_leader"), 0.0);
    // It stands still, as a machine that swaps does, and does not know that its lease is somebody else's by now.
    first.signal("-STOP");
    namespaces(&server, 6);
    until_synchronized(&server, "h100", 6);
    assert_eq!(second.metric("apportion_leader"), 1.0);
    let writes = writes_at_rest(&server);
    first.signal("-CONT");
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(server.store().writes(), writes, "it sees that its time is over before it writes");
    assert_eq!(first.metric("apportion_leader"), 0.0);
    // One that ends gives the lease back: no waiting.
    let start = Instant::now();
    assert_eq!(second.stop().status.code(), Some(0));
    server.until("the first leads again", 10, |_| (first.metric("apportion_leader") == 1.0).then_some(()));
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// What a watch has told may be older than the last write of the one that led before.
#[test]
fn a_replica_that_begins_to_lead_lists_everything_anew() {
    let server = ApiServer::start("takeover");
    namespaces(&server, 5);
    let first = Running::start(&server, SYNC);
    server.apply(&[source("h100")]);
    until_synchronized(&server, "h100", 5);
    let second = Running::start(&server, SYNC);
    server.until("the second is ready", 30, |_| second.get("/readyz").filter(|answer| answer.0 == 200));
    // From here on no watch tells anything.
    server.store().is_silent = true;
    namespaces(&server, 6);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(copies(&server, "h100"), 5, "nobody knows");
    assert_eq!(first.stop().status.code(), Some(0));
    until_synchronized(&server, "h100", 6);
    assert_eq!(second.metric("apportion_leader"), 1.0);
}

#[test]
fn without_its_kind_the_controller_waits() {
    let server = ApiServer::start("without-crd");
    namespaces(&server, 2);
    server.store().missing = vec!["apportion.dev/v1alpha1/clusterresourceclaimtemplates"];
    server.apply(&[json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": { "name": "gpu", "namespace": "ml-000", "labels": { "app.kubernetes.io/managed-by": "apportion-template-sync" } },
        "spec": { "spec": {} },
    })]);
    let running = Running::start(&server, SYNC);
    server.until("an answer", 30, |_| running.get("/livez").filter(|answer| answer.0 == 200));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(running.get("/readyz").unwrap().0, 503);
    assert_eq!(server.store().writes(), 0, "a copy is not removed because its source cannot be seen");
    server.store().missing.clear();
    server.until("readiness", 30, |_| running.get("/readyz").filter(|answer| answer.0 == 200));
}

#[test]
fn an_object_that_cannot_be_read_stops_nobody() {
    let server = ApiServer::start("unreadable");
    namespaces(&server, 3);
    let mut broken = source("h100");
    broken["metadata"]["name"] = json!("broken");
    broken["spec"]["targets"] = json!("everywhere");
    // Parameters of a device may nest as deep as their author likes.
    let mut deep = source("h100");
    deep["kind"] = json!("ResourceClaimTemplate");
    deep["apiVersion"] = json!("resource.k8s.io/v1");
    deep["metadata"] = json!({ "name": "deep", "namespace": "ml-000" });
    let parameters = (0..200).fold(json!({}), |inner, _| json!({ "x": inner }));
    deep["spec"] =
        json!({ "spec": { "devices": { "config": [{ "opaque": { "driver": "d", "parameters": parameters } }] } } });
    server.apply(&[broken, source("h100"), deep]);
    let running = Running::start(&server, SYNC);
    until_synchronized(&server, "h100", 3);
    assert!(running.metric("apportion_unreadable_objects_total{part=\"template-sync\"}") >= 1.0);
}

/// The number of copies that were asked to be deleted.
fn deletions(server: &ApiServer) -> usize {
    server.store().requests.iter().filter(|request| request.method == "DELETE").count()
}

/// Waits until it works: everything is known, and it leads.
fn until_leading(server: &ApiServer, running: &Running) {
    server.until("leading", 30, |_| {
        (running.get("/readyz")?.0 == 200 && running.metric("apportion_leader") == 1.0).then_some(())
    });
}

#[test]
fn a_source_that_is_not_understood_keeps_its_copies_over_restarts() {
    let server = ApiServer::start("not-understood");
    namespaces(&server, 3);
    server.apply(&[source("h100")]);
    let running = Running::start(&server, SYNC);
    until_synchronized(&server, "h100", 3);
    let mut unread = source("h100");
    unread["spec"]["template"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = json!("1");
    let mut later = source("h100");
    later["spec"]["template"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = json!(1);
    later["spec"]["targets"] = json!([{ "namespaceQuery": "team = ml" }]);
    server.apply(&[unread]);
    let degraded = |field: &str| {
        server.until("the flaw in the status", 30, |server| {
            let status = server.get("clusterresourceclaimtemplates", "", "gpu")?["status"].clone();
            let conditions = status["conditions"].as_array()?.clone();
            let message = conditions.iter().find(|one| one["type"] == "Degraded")?["message"].as_str()?.to_owned();
            (message.contains(field) && ready(server).is_none()).then_some(())
        });
    };
    degraded("count");
    running.stop();
    let running = Running::start(&server, SYNC);
    until_leading(&server, &running);
    server.apply(&[later]);
    degraded("namespaceQuery");
    running.stop();
    let running = Running::start(&server, SYNC);
    until_leading(&server, &running);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!((copies(&server, "h100"), deletions(&server)), (3, 0));
    // It works on as soon as it is understood.
    server.apply(&[source("h200")]);
    until_synchronized(&server, "h200", 3);
}

/// Lists lack a source, as those of a server do that lags behind or was restored.
#[test]
fn a_source_that_a_list_lacks_keeps_its_copies() {
    let server = ApiServer::start("lacking");
    namespaces(&server, 3);
    server.apply(&[source("h100")]);
    let running = Running::start(&server, SYNC);
    until_synchronized(&server, "h100", 3);
    {
        let mut store = server.store();
        store.unlisted = "clusterresourceclaimtemplates";
        store.compacted = store.version;
    }
    server.cut_watches();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!((copies(&server, "h100"), deletions(&server)), (3, 0));
    running.stop();
    let running = Running::start(&server, SYNC);
    until_leading(&server, &running);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!((copies(&server, "h100"), deletions(&server)), (3, 0));
}

/// The watch is late with a template that a user made.
#[test]
fn what_is_there_already_is_a_conflict_and_is_told() {
    let server = ApiServer::start("exists");
    namespaces(&server, 2);
    server.apply(&[source("h100")]);
    let _running = Running::start(&server, SYNC);
    until_synchronized(&server, "h100", 2);
    server.store().silent = "resourceclaimtemplates";
    taken(&server, "ml-002");
    namespaces(&server, 3);
    server.until("the conflict in the status", 30, |server| {
        let status = server.get("clusterresourceclaimtemplates", "", "gpu")?["status"].clone();
        (status["conflicting"] == 1).then_some(())
    });
}

/// A user's template of the copies' name.
fn taken(server: &ApiServer, namespace: &str) {
    let mut users = server.get("resourceclaimtemplates", "ml-000", "gpu").unwrap();
    users["metadata"] = json!({ "name": "gpu", "namespace": namespace });
    server.apply(&[users]);
}

fn print(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_apportion")).arg("controller").args(arguments).env_clear().output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn documents(text: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let problems = apportion_yaml::read_each(text.as_bytes(), &apportion_yaml::Limits::default(), |document| {
        all.push(document.value)
    });
    assert!(problems.is_empty(), "{problems:?}");
    all
}

fn deploy(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(path)).unwrap()
}

/// The files of the deployment are what the program prints.
#[test]
fn the_roles_in_the_deployment_are_those_that_are_printed() {
    assert_eq!(
        deploy("kustomize/base/rbac.yaml"),
        print(&["--print-rbac"]),
        "apportion controller --print-rbac > deploy/kustomize/base/rbac.yaml"
    );
    assert_eq!(deploy("kustomize/base/crd.yaml"), print(&["--print-crd"]));
    for part in ["conditions", "claims", "podgroup-protection", "taint-eviction", "scheduler"] {
        let printed = print(&["--print-rbac", "--controllers", part]);
        let own: Vec<Value> = documents(&printed)
            .into_iter()
            .filter(|one| !one["metadata"]["name"].as_str().unwrap().ends_with("-leader"))
            .collect();
        assert_eq!(documents(&deploy(&format!("kustomize/components/{part}/rbac.yaml"))), own, "{part}");
    }
    // The chart puts its release's namespace in.
    assert_eq!(deploy("helm/apportion/crds/crd.yaml"), deploy("kustomize/base/crd.yaml"));
    for part in PARTS {
        let printed =
            documents(&print(&["--print-rbac", "--controllers", part, "--namespace", "{{ .Release.Namespace }}"]));
        let of_chart = |name: &str| documents(&deploy(&format!("helm/apportion/rbac/{name}.yaml")));
        assert_eq!([of_chart(part), of_chart("leader")].concat(), printed, "{part}");
    }
}

/// What a role allows, as group, resource and verb.
fn allowed(text: &str) -> Vec<(String, String, String)> {
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut all = Vec::new();
    for document in documents(text) {
        for rule in document["rules"].as_array().into_iter().flatten() {
            for group in strings(&rule["apiGroups"]) {
                for resource in strings(&rule["resources"]) {
                    all.extend(strings(&rule["verbs"]).into_iter().map(|verb| (group.clone(), resource.clone(), verb)));
                }
            }
        }
    }
    all
}

/// Since Kubernetes 1.36 whoever changes an allocation or reservations needs more than the status.
#[test]
fn whoever_writes_reservations_may_bind_claims() {
    for part in PARTS {
        let allowed = allowed(&print(&["--print-rbac", "--controllers", part]));
        let verbs = |resource: &str| -> Vec<String> {
            allowed.iter().filter(|one| one.1 == resource).map(|(_, _, verb)| verb.clone()).collect()
        };
        assert_eq!(verbs("resourceclaims/binding"), verbs("resourceclaims/status"), "{part}");
    }
}

/// What a request needs.
fn needed(request: &Request) -> (String, String, String) {
    let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
    let (group, mut rest) = match parts.as_slice() {
        ["api", _, rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        other => panic!("{other:?}"),
    };
    if let ["namespaces", _, inner @ ..] = rest
        && !inner.is_empty()
    {
        rest = inner;
    }
    let resource = match rest {
        [plural, _, subresource] => format!("{plural}/{subresource}"),
        [plural, ..] => (*plural).to_owned(),
        [] => panic!("{}", request.path),
    };
    let verb = match (request.method.as_str(), rest.len()) {
        ("GET", 1) if request.query.contains_key("watch") => "watch",
        ("GET", 1) => "list",
        ("GET", _) => "get",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", _) => "delete",
        other => panic!("{other:?}"),
    };
    (group.to_owned(), resource, verb.to_owned())
}

/// Everything that the controller asks for is in its roles, and all that template-sync may do it does.
#[test]
fn the_roles_allow_what_is_done_and_nothing_else() {
    let server = ApiServer::start("roles");
    namespaces(&server, 3);
    server.apply(&[source("h100")]);
    server.store().admit = Some(|object| {
        let is_refused = object["kind"] == "ResourceClaimTemplate" && object["metadata"]["namespace"] == "ml-001";
        is_refused.then(|| (403, "exceeded quota: templates".to_owned()))
    });
    let running = Running::start(&server, SYNC);
    server.until("an Event", 30, |server| Some(server.list("events")).filter(|events| !events.is_empty()));
    server.store().admit = None;
    until_synchronized(&server, "h100", 3);
    let mut drifted = server.get("resourceclaimtemplates", "ml-000", "gpu").unwrap();
    drifted["metadata"]["labels"]["apportion.dev/source-name"] = json!("x");
    server.apply(&[drifted]);
    server.until("the repair", 20, |server| {
        let copy = server.get("resourceclaimtemplates", "ml-000", "gpu")?;
        (copy["metadata"]["labels"]["apportion.dev/source-name"] == "gpu").then_some(())
    });
    server.apply(&[source("h200")]);
    until_synchronized(&server, "h200", 3);
    server.store().silent = "resourceclaimtemplates";
    taken(&server, "ml-003");
    namespaces(&server, 4);
    server.until("the conflict", 30, |server| {
        let source = server.get("clusterresourceclaimtemplates", "", "gpu")?;
        (source["status"]["conflicting"] == 1).then_some(())
    });
    running.stop();
    server.store().silent = "";
    server.delete("clusterresourceclaimtemplates", "", "gpu");
    let running = Running::start(&server, SYNC);
    // In its first minute a controller deletes nothing whose reason it has not seen.
    server
        .until("the end of the copies", 100, |server| (server.list("resourceclaimtemplates").len() == 1).then_some(()));
    running.stop();
    let allowed = allowed(&print(&["--print-rbac", "--controllers", "template-sync", "--namespace", HOME]));
    let mut unused = allowed.clone();
    for request in &server.store().requests {
        let needed = needed(request);
        assert!(allowed.contains(&needed), "{} {} is not allowed", request.method, request.path);
        unused.retain(|one| *one != needed);
    }
    // A repetition of an Event comes too late for this test.
    assert_eq!(unused, [("events.k8s.io".to_owned(), "events".to_owned(), "patch".to_owned())]);
}
