//! Cluster-wide claim templates: as proposed in-tree (KEP-5978), and the copies of the synchronisation controller.

use apportion_core::api::claim::ResourceClaimTemplate;
use apportion_core::cluster::Cluster;
use apportion_core::controllers::template_sync::{self, Settings, State, Work};
use apportion_core::decision::Action;
use apportion_core::finding::ObjectRef;
use serde_json::json;

use crate::play::{Play, documents, pod, profile};

const CLUSTER: &str = "apiVersion: resource.k8s.io/v1\nkind: ClusterResourceClaimTemplate\nmetadata: {name: h100}\nspec: {metadata: {labels: {team: ml}}, spec: {devices: {requests: [{name: req, exactly: {deviceClassName: gpu}}]}}}\n";
const ENTRY: &str = "clusterResourceClaimTemplateName: h100";

/// r_200 r_201 r_202 r_207 r_209 r_214 r_220 r_224 r_225 r_230: a claim of the Pod's namespace, owned by the Pod.
#[test]
fn r_201_a_cluster_wide_template_makes_a_claim_in_the_consumers_namespace() {
    let mut play = Play::new();
    play.apply(CLUSTER);
    play.apply(&pod("p", ENTRY, ""));
    let claim = play.claim();
    assert_eq!((claim.metadata.namespace.as_str(), claim.metadata.labels["team"].as_str()), ("default", "ml"));
    assert_eq!(claim.metadata.controller().unwrap().kind, "Pod");
    assert_eq!(play.pod("p").spec.node_name, "node-1");
    play.delete("Pod", "p");
    assert!(play.claims().is_empty());
}

/// r_215: the claim has all that the template says.
#[test]
fn r_215_a_claim_has_the_whole_spec_of_its_template() {
    let spec = json!({ "devices": {
        "requests": [
            { "name": "req", "exactly": { "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2, "adminAccess": false } },
            { "name": "alt", "firstAvailable": [{ "name": "one", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1 }] },
        ],
        "constraints": [{ "requests": ["req", "alt"], "matchAttribute": "gpu.example.com/model" }],
        "config": [{ "requests": ["req"], "opaque": { "driver": "gpu.example.com", "parameters": { "mode": "fast" } } }],
    } });
    let mut template = documents(CLUSTER).remove(0);
    template["spec"]["spec"] = spec.clone();
    let mut play = Play::new();
    play.create(template).unwrap();
    play.apply(&pod("p", ENTRY, ""));
    let claim = &play.claim().metadata;
    let key = ObjectRef::new("ResourceClaim", &*claim.namespace, &*claim.name);
    assert_eq!(play.simulation.server().get(&key).unwrap()["spec"], spec);
}

/// r_208 r_221: the same for a PodGroup.
#[test]
fn r_221_a_pod_group_owns_its_claim_from_a_cluster_wide_template() {
    let mut play = Play::new();
    play.apply(CLUSTER);
    play.apply(&crate::play::group("g", "basic: {}", ENTRY));
    assert_eq!(play.claim().metadata.controller().unwrap().kind, "PodGroup");
}

/// r_205 r_219 r_227 r_245: no fallback to a namespaced template of that name; the consumer waits, is told, and recovers.
#[test]
fn r_205_a_missing_cluster_wide_template_is_not_replaced_by_a_namespaced_one() {
    let mut play = Play::new();
    let entry = "clusterResourceClaimTemplateName: gpu-template";
    play.apply(&pod("p", entry, ""));
    play.run(5);
    assert!(play.claims().is_empty());
    let notes = play.notes("FailedResourceClaimCreation");
    assert!(notes.iter().all(|note| note.contains("\"gpu-template\" not found")) && !notes.is_empty(), "{notes:?}");
    play.apply(&CLUSTER.replace("name: h100", "name: gpu-template"));
    assert_eq!(play.pod("p").spec.node_name, "node-1");
}

/// r_203 r_206 r_229 r_231: namespaces have claims and devices of their own.
#[test]
fn r_229_namespaces_do_not_share_claims() {
    let mut play = Play::new();
    play.apply(CLUSTER);
    for namespace in ["a", "b"] {
        let mut member = documents(&pod("p", ENTRY, "")).remove(0);
        member["metadata"]["namespace"] = json!(namespace);
        play.create(member).unwrap();
    }
    play.run(1);
    let places: Vec<_> = play.claims().iter().map(|claim| claim.metadata.namespace.clone()).collect();
    assert_eq!(places, ["a", "b"]);
}

/// r_218 r_228: a template that is replaced leaves its claims alone.
#[test]
fn r_228_claims_outlive_their_template() {
    let mut play = Play::new();
    play.apply(CLUSTER);
    play.apply(&pod("p", ENTRY, ""));
    let before = play.claim().clone();
    play.delete("ClusterResourceClaimTemplate", "h100");
    assert_eq!(play.claim(), &before);
}

/// r_232 r_234 r_237 r_239: with the gate off nothing is resolved, no template is taken, and what was made stays.
#[test]
fn r_237_without_the_gate_claims_stay_and_none_are_made() {
    use apportion_core::control_plane::Component;
    let mut play = Play::new();
    play.apply(CLUSTER);
    play.apply(&pod("p", ENTRY, ""));
    play.restart(Component::Controllers, |profile| profile.features.cluster_resource_claim_templates = false);
    play.apply(&pod("q", ENTRY, ""));
    play.run(5);
    assert!(play.claim().metadata.name.starts_with("p-"));
    assert!(play.pod("q").spec.node_name.is_empty());
    play.restart(Component::Controllers, |_| {});
    assert_eq!(play.pod("q").spec.node_name, "node-1");
    play.restart(Component::Server, |profile| profile.features.cluster_resource_claim_templates = false);
    let another = documents(&CLUSTER.replace("name: h100", "name: another")).remove(0);
    assert!(play.create(another).unwrap_err().contains("feature is disabled"));
}

/// A cluster for the synchronisation controller, and the controller carried out until it wants nothing more.
struct Sync {
    play: Play,
}

fn home() -> Settings {
    Settings { home: "templates".to_owned(), ..Settings::default() }
}

impl Sync {
    fn new(source: &str) -> Self {
        let mut play = Play::with(profile());
        for namespace in ["templates", "a", "b", "kube-system"] {
            play.apply(&format!(
                "{{apiVersion: v1, kind: Namespace, metadata: {{name: {namespace}, labels: {{team: {namespace}}}}}}}"
            ));
        }
        play.apply(source);
        let mut sync = Self { play };
        sync.settle();
        sync
    }

    fn cluster(&self) -> &Cluster {
        self.play.simulation.server().cluster()
    }

    /// How the copy of a source in a namespace stands: the word for programs, and that for people.
    fn stands(&self, source: &str, namespace: &str) -> (&'static str, String) {
        let standings = template_sync::standings(self.cluster(), &home());
        let own = standings.into_iter().find(|one| one.name == source).unwrap();
        let place = own.places.into_iter().find(|place| place.namespace == namespace).unwrap();
        (place.reason, place.message)
    }

    /// Gives the number of writes.
    fn settle(&mut self) -> usize {
        let mut writes = 0;
        loop {
            let mut actions = Vec::new();
            for work in template_sync::all_work(self.cluster(), &home()) {
                let Work::Copy { namespace, name } = work else { continue };
                actions.extend(template_sync::reconcile(self.cluster(), &home(), &namespace, &name).0.actions);
            }
            if actions.is_empty() {
                return writes;
            }
            for action in actions {
                writes += 1;
                let now = self.play.simulation.now();
                let server = self.play.simulation.server_mut();
                match action {
                    Action::Create { object, .. } => drop(server.create(object.write(), now).unwrap()),
                    Action::Update(object) => server.update(object.write(), false, now).unwrap(),
                    Action::Patch(patch) => server.patch(&patch, now).unwrap(),
                    Action::Delete { object, uid, resource_version } => {
                        server.delete_version(&object, &uid, &resource_version, None, now).unwrap()
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert!(writes < 100, "the controller contradicts itself");
        }
    }

    fn places(&self) -> Vec<String> {
        let copies = self.cluster().templates().iter().filter(|(_, template)| template_sync::is_copy(template));
        copies.map(|(key, _)| key.0.clone()).collect()
    }
}

fn source(annotation: &str) -> String {
    CLUSTER.replace("{name: h100}", &format!("{{name: h100, annotations: {{{annotation}}}}}"))
}

/// r_247 r_248 r_250 r_255: copies where they are wanted, counted, and nothing written when all is well.
#[test]
fn r_247_copies_are_made_in_the_selected_namespaces() {
    let mut sync = Sync::new(&source("apportion.dev/namespaces: '*'"));
    assert_eq!(sync.places(), ["a", "b", "templates"], "system namespaces get one only by name");
    assert_eq!(sync.settle(), 0);
    let is_copy = |template: &&ResourceClaimTemplate| template_sync::is_copy(template);
    let copies = sync.cluster().templates().values().filter(is_copy);
    assert_eq!(copies.filter(|copy| copy.metadata.labels[template_sync::SOURCE_NAME] == "h100").count(), 3);
}

/// A source that says nothing is for no namespace.
#[test]
fn r_254_an_empty_selection_selects_nothing() {
    assert_eq!(Sync::new(CLUSTER).places(), [""; 0]);
}

/// r_249 r_254: a namespace comes, is labelled, loses its label, goes.
#[test]
fn r_254_namespaces_come_and_go() {
    let mut sync = Sync::new(&source("apportion.dev/namespace-selector: team=a"));
    assert_eq!(sync.places(), ["a"]);
    sync.play.patch("Namespace", "b", false, json!({ "metadata": { "labels": { "team": "a" } } }));
    sync.settle();
    assert_eq!(sync.places(), ["a", "b"]);
    sync.play.patch("Namespace", "a", false, json!({ "metadata": { "labels": { "team": "x" } } }));
    sync.settle();
    assert_eq!(sync.places(), ["b"]);
}

/// r_251: a changed source replaces the copies; a template's spec cannot be changed.
#[test]
fn r_251_a_changed_source_replaces_its_copies() {
    let annotation = "apportion.dev/namespaces: a";
    let mut sync = Sync::new(&source(annotation));
    sync.play.delete("ClusterResourceClaimTemplate", "h100");
    sync.play.apply(&source(annotation).replace("name: req", "name: other"));
    sync.settle();
    let copy = sync.cluster().templates().get(&("a".to_owned(), "h100".to_owned())).unwrap();
    assert_eq!(copy.spec.spec.devices.requests[0].name, "other");
    assert_eq!(sync.places(), ["a"]);
}

/// r_252: without the source the copies go, and nothing else.
#[test]
fn r_252_copies_go_with_their_source() {
    let mut sync = Sync::new(&source("apportion.dev/namespaces: 'a,b'"));
    let others = sync.cluster().templates().len() - 2;
    sync.play.delete("ClusterResourceClaimTemplate", "h100");
    sync.settle();
    assert_eq!((sync.places().len(), sync.cluster().templates().len()), (0, others));
}

/// r_253: a user's template of the same name is left alone and reported.
#[test]
fn r_253_a_users_template_is_never_touched() {
    let mut sync = Sync::new(&source("apportion.dev/namespaces: b"));
    sync.play.apply("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: h100, namespace: a}, spec: {spec: {}}}");
    sync.play.patch(
        "ClusterResourceClaimTemplate",
        "h100",
        false,
        json!({ "metadata": { "annotations": { "apportion.dev/namespaces": "a,b" } } }),
    );
    sync.settle();
    let (decision, state) = template_sync::reconcile(sync.cluster(), &home(), "a", "h100");
    assert_eq!((decision.actions.len(), state), (0, State::Conflict));
    assert_eq!(decision.events[0].reason, "Conflict");
    assert_eq!(sync.places(), ["b"]);
}

/// r_255: a copy whose metadata was edited is repaired; one whose label was taken away is the user's.
#[test]
fn r_255_drift_is_repaired() {
    let mut sync = Sync::new(&source("apportion.dev/namespaces: default"));
    sync.play.apply("{apiVersion: v1, kind: Namespace, metadata: {name: default}}");
    sync.settle();
    sync.play.patch("ResourceClaimTemplate", "h100", false, json!({ "metadata": { "annotations": null } }));
    // The cluster's own controller was faster.
    assert_eq!(sync.settle(), 0);
    let copy = sync.cluster().templates().get(&("default".to_owned(), "h100".to_owned())).unwrap();
    assert!(copy.metadata.annotations.contains_key(template_sync::CONTENT_HASH));
    sync.play.patch("ResourceClaimTemplate", "h100", false, json!({ "metadata": { "labels": null } }));
    assert_eq!(sync.settle(), 0);
    assert_eq!(sync.stands("h100", "default").0, "Conflict");
}

/// r_248: master templates in the controller's namespace, mapped by annotation to another name.
#[test]
fn r_248_a_master_template_is_copied_under_another_name() {
    let master = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: master, namespace: templates, annotations: {apportion.dev/namespaces: 'a', apportion.dev/template-name: gpu}}, spec: {spec: {}}}";
    let sync = Sync::new(master);
    let copy = sync.cluster().templates().get(&("a".to_owned(), "gpu".to_owned())).unwrap();
    assert!(copy.metadata.owner_references.is_empty(), "an owner cannot be in another namespace");
}

/// Two sources with one target: the older one, whatever the order of looking.
#[test]
fn r_253_the_older_of_two_sources_wins() {
    let mut sync = Sync::new(&source("apportion.dev/namespaces: a"));
    sync.play.run(5);
    sync.play.apply(
        &source("apportion.dev/namespaces: a, apportion.dev/template-name: h100")
            .replace("name: h100,", "name: younger,")
            .replace("a, app", "a', app")
            .replace("namespaces: a'", "namespaces: 'a'"),
    );
    assert_eq!(sync.settle(), 0);
    let (reason, message) = sync.stands("younger", "a");
    assert_eq!((reason, &*message), ("Superseded", "h100 is older and has the same target"));
}

const SOURCE: &str = "apiVersion: apportion.dev/v1alpha1\nkind: ClusterResourceClaimTemplate\nmetadata: {name: shared-gpu}\nspec:\n  targets: [{namespaceSelector: {matchLabels: {team: ml}}}]\n  template: {spec: {devices: {requests: [{name: req, exactly: {deviceClassName: gpu}}]}}}\n";
const TEAM: &str = "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {team: ml}}}";

fn stored_source(play: &Play) -> serde_json::Value {
    play.simulation.server().list("ClusterResourceClaimTemplate.apportion.dev").next().unwrap().clone()
}

/// The objects in the order of a file: the source may come last.
fn begun(texts: &[&str]) -> Play {
    let mut play = Play::new();
    let objects: Vec<String> = texts.iter().flat_map(|text| documents(text)).map(|object| object.to_string()).collect();
    play.simulation.apply(objects.iter().map(String::as_str));
    play.simulation.begin();
    play.run(5);
    play
}

#[test]
fn a_source_of_the_input_is_copied_and_pods_use_the_copy() {
    let user =
        pod("p", "resourceClaimTemplateName: shared-gpu", "").replace("{name: p}", "{name: p, namespace: default}");
    let mut play = begun(&[&user, TEAM, SOURCE]);
    assert_eq!(play.pod("p").spec.node_name, "node-1");
    assert!(template_sync::is_copy(
        play.simulation.server().cluster().templates().get(&("default".into(), "shared-gpu".into())).unwrap()
    ));
    assert_eq!(stored_source(&play)["status"]["conditions"][0]["status"], "True", "{}", stored_source(&play)["status"]);
    // Another namespace that is wanted later gets its copy, too.
    play.apply("{apiVersion: v1, kind: Namespace, metadata: {name: later, labels: {team: ml}}}");
    play.run(2);
    assert!(play.simulation.server().cluster().templates().contains_key(&("later".into(), "shared-gpu".into())));
    // Copies go with their source.
    let key = stored_source(&play);
    let object = apportion_core::finding::ObjectRef {
        kind: "ClusterResourceClaimTemplate.apportion.dev".to_owned(),
        name: key["metadata"]["name"].as_str().unwrap().to_owned(),
        ..Default::default()
    };
    let now = play.simulation.now();
    play.simulation.server_mut().delete(&object, "", None, now).unwrap();
    play.run(5);
    let templates = play.simulation.server().cluster().templates();
    assert!(!templates.contains_key(&("default".into(), "shared-gpu".into())));
}

#[test]
fn a_template_of_a_user_is_left_alone_unless_the_source_takes_it_over() {
    let own = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: shared-gpu, namespace: default}\nspec: {spec: {devices: {requests: [{name: req, exactly: {deviceClassName: gpu}}]}}}\n";
    for (policy, is_copy) in [("Fail", false), ("AdoptIfEqual", true)] {
        let text = SOURCE.replace("spec:\n  targets", &format!("spec:\n  conflictPolicy: {policy}\n  targets"));
        let play = begun(&[own, TEAM, &text]);
        let template =
            play.simulation.server().cluster().templates().get(&("default".into(), "shared-gpu".into())).unwrap();
        assert_eq!(template_sync::is_copy(template), is_copy, "{policy}");
        assert_eq!(play.notes("Conflict").is_empty(), is_copy, "{policy}");
    }
}

/// What is refused is told in the status, and tried again.
#[test]
fn a_copy_that_asks_for_admin_access_is_refused_and_told_of() {
    let text = SOURCE.replace("{deviceClassName: gpu}", "{deviceClassName: gpu, adminAccess: true}");
    let play = begun(&[TEAM, &text]);
    let templates = play.simulation.server().cluster().templates();
    assert!(!templates.contains_key(&("default".into(), "shared-gpu".into())));
    assert!(
        stored_source(&play)["status"].to_string().contains("AdminAccessNotAllowed"),
        "{}",
        stored_source(&play)["status"]
    );
}

/// Controllers that start anew copy nothing twice, and forget nothing.
#[test]
fn template_sync_that_stops_between_two_writes_goes_on() {
    for lost in 0..4 {
        let mut play = Play::new();
        play.simulation.begin();
        play.simulation.lose_write_after(lost);
        play.apply(TEAM);
        play.apply(SOURCE);
        play.restart(apportion_core::control_plane::Component::Controllers, |_| {});
        play.run(5);
        let templates = play.simulation.server().cluster().templates();
        assert!(templates.contains_key(&("default".into(), "shared-gpu".into())), "write {lost}");
    }
}
