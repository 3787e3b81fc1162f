//! Laws of the search, on generated questions that are short of devices.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Answer, ClaimNames, DeviceId, FitsOutcome, InUse, KnownQuestion, Limits, Outcome, Question, allocate,
    allocate_each, allocate_known, allocate_with, fits,
};
use crate::api::claim::ResourceClaim;
use crate::api::object::{Object, read_object};
use crate::cluster::{Cluster, Key};
use crate::engine::read_claim_value;
use crate::finding::ObjectRef;
use crate::profile::{Mode, Profile, Version};

/// Numbers that look random and are the same on every run.
struct Dice(u64);

impl Dice {
    /// A number below `bound`.
    fn roll(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.roll(chances) == 0
    }

    fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[usize::try_from(self.roll(texts.len() as u64)).unwrap()]
    }
}

const SELECTORS: [&str; 7] = [
    r#"device.attributes["a.example.com"].kind == "k0""#,
    r#"device.attributes["a.example.com"].kind != "k1""#,
    r#"has(device.attributes["a.example.com"].numa) && device.attributes["a.example.com"].numa == 0"#,
    r#"device.attributes["a.example.com"].?numa.orValue(1) > 0"#,
    r#"device.attributes["a.example.com"].?kind.orValue("") in ["k1", "k2"]"#,
    "true",
    // An error on devices without the attribute.
    r#"device.attributes["a.example.com"].rare == 1"#,
];

fn device(dice: &mut Dice, name: &str, style: u64) -> Value {
    let mut attributes = json!({});
    if !dice.one_in(30) {
        attributes["a.example.com/kind"] = json!({ "string": format!("k{}", dice.roll(3)) });
    }
    if !dice.one_in(20) {
        attributes["a.example.com/numa"] = json!({ "int": dice.roll(2) });
    }
    if !dice.one_in(4) {
        attributes["a.example.com/rare"] = json!({ "int": dice.roll(2) });
    }
    if style == 1 {
        let links: Vec<u64> = (0..=dice.roll(2)).map(|_| dice.roll(4)).collect();
        attributes["a.example.com/links"] = json!({ "ints": links });
    }
    let mut device = json!({ "name": name, "attributes": attributes });
    if style == 2 {
        let slices = dice.roll(4) + 1;
        let set = format!("set-{}", dice.roll(2));
        let draws = if dice.one_in(3) {
            json!({ "valueFrom": { "capacityKey": "bandwidth" } })
        } else {
            json!({ "value": slices.to_string() })
        };
        device["consumesCounters"] = json!([{ "counterSet": set, "counters": { "slices": draws } }]);
        device["allowMultipleAllocations"] = json!(dice.one_in(4));
    }
    if style == 3 {
        device["allowMultipleAllocations"] = json!(dice.one_in(2));
        device["capacity"] = json!({ "bandwidth": { "value": (dice.roll(3) + 1).to_string() } });
    }
    if dice.one_in(8) {
        device["taints"] = json!([{ "key": "t", "effect": dice.pick(&["NoSchedule", "NoExecute", "None"]) }]);
    }
    device
}

fn slices(dice: &mut Dice, most_devices: u64) -> Vec<Value> {
    let mut slices = Vec::new();
    for driver in ["a.example.com", "b.example.com"] {
        let style = dice.roll(4);
        let devices: Vec<Value> =
            (0..=dice.roll(most_devices)).map(|index| device(dice, &format!("d{index}"), style)).collect();
        let pool = json!({ "name": "n", "generation": 1, "resourceSliceCount": if style == 2 { 2 } else { 1 } });
        let slice = |name: String, field: &str, content: Value| {
            json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name },
                "spec": { "driver": driver, "nodeName": "n", "pool": pool, field: content } })
        };
        slices.push(slice(format!("devices-{driver}"), "devices", json!(devices)));
        if style == 2 {
            let counters =
                |value: u64| json!({ "slices": { "value": value.to_string(), "requestPolicy": { "default": "1" } } });
            let sets: Vec<Value> = (0..2)
                .map(|set| json!({ "name": format!("set-{set}"), "counters": counters(dice.roll(6) + 2) }))
                .collect();
            slices.push(slice(format!("counters-{driver}"), "sharedCounters", json!(sets)));
        }
    }
    slices
}

/// Expressions that compute attributes, the last one not of every device.
const COMPUTED: [&str; 4] = [
    "device.driver",
    "device.attributes[\"a.example.com\"].?kind.orValue(\"x\")",
    "device.attributes[\"a.example.com\"].?numa.orValue(7)",
    "device.attributes[\"a.example.com\"].numa",
];

fn request(dice: &mut Dice, has_admin: bool, has_derived: bool) -> Value {
    let mut fields = json!({ "deviceClassName": dice.pick(&["any", "any", "a"]), "allocationMode": "ExactCount" });
    if dice.one_in(20) {
        fields["allocationMode"] = json!("All");
    } else {
        fields["count"] = json!(dice.roll(3) + 1);
    }
    if dice.one_in(2) {
        let safe = &SELECTORS[2..6];
        let expression = if dice.one_in(5) { dice.pick(&SELECTORS) } else { dice.pick(safe) };
        fields["selectors"] = json!([{ "cel": { "expression": expression } }]);
    }
    if dice.one_in(4) {
        fields["tolerations"] = json!([{ "key": "t", "operator": "Exists" }]);
    }
    if has_admin && dice.one_in(8) {
        fields["adminAccess"] = json!(true);
    }
    if dice.one_in(8) {
        fields["capacity"] = json!({ "requests": { "bandwidth": (dice.roll(2) + 1).to_string() } });
    }
    if has_derived && dice.one_in(2) {
        let name = format!("a.example.com/{}", dice.pick(&["kind", "numa"]));
        let expression = if dice.one_in(5) { dice.pick(&COMPUTED) } else { dice.pick(&COMPUTED[..3]) };
        fields["derivedAttributes"] = json!([{ "name": name, "expression": expression }]);
    }
    fields
}

fn claim(dice: &mut Dice, name: &str, most_requests: u64, has_derived: bool) -> Value {
    let mut requests = Vec::new();
    for index in 0..=dice.roll(most_requests) {
        let name = format!("r{index}");
        if dice.one_in(5) {
            let alternatives: Vec<Value> = (0..=dice.roll(3))
                .map(|sub| {
                    let mut fields = request(dice, false, has_derived);
                    fields["name"] = json!(format!("s{sub}"));
                    fields
                })
                .collect();
            requests.push(json!({ "name": name, "firstAvailable": alternatives }));
        } else {
            requests.push(json!({ "name": name, "exactly": request(dice, true, has_derived) }));
        }
    }
    let mut constraints = Vec::new();
    while dice.one_in(2) && constraints.len() < 3 {
        let attribute = format!("a.example.com/{}", dice.pick(&["kind", "numa", "links"]));
        let kind = dice.pick(&["matchAttribute", "matchAttribute", "distinctAttribute"]);
        let mut constraint = json!({ kind: attribute });
        if dice.one_in(3) {
            constraint["requests"] = json!([dice.pick(&["r0", "r1", "r1/s0"]), "r2"]);
        }
        constraints.push(constraint);
    }
    json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": name, "namespace": "d" },
        "spec": { "devices": { "requests": requests, "constraints": constraints } } })
}

fn profile(mode: Mode) -> Profile {
    let mut profile = Profile::of(Version::V1_36);
    profile.mode = mode;
    profile.features.list_type_attributes = true;
    profile
}

/// A node and classes.
fn surroundings() -> Vec<Value> {
    let class = |name: &str, selectors: Value| {
        json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name },
            "spec": { "selectors": selectors } })
    };
    let of_driver = json!([{ "cel": { "expression": "device.driver == \"a.example.com\"" } }]);
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "n" } });
    vec![node, class("any", json!([])), class("a", of_driver)]
}

fn world(seed: u64, mode: Mode) -> (Cluster, Question) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let (most_devices, most_requests) = if dice.one_in(3) { (12, 4) } else { (5, 2) };
    let mut profile = profile(mode);
    let has_derived = mode == Mode::Sound && dice.one_in(3);
    if has_derived {
        profile = Profile::of(Version::All);
    }
    let mut cluster = Cluster::new(profile);
    for object in surroundings().into_iter().chain(slices(&mut dice, most_devices)) {
        cluster.apply(read_object(object).object.unwrap());
    }
    let mut question = Question::default();
    for index in 0..=dice.roll(2) {
        let claim = claim(&mut dice, &format!("c{index}"), most_requests, has_derived);
        question.claims.push(read_claim_value(claim).unwrap());
    }
    while dice.one_in(2) {
        let driver = dice.pick(&["a.example.com", "b.example.com"]).to_owned();
        let device = format!("d{}", dice.roll(5));
        question.in_use.devices.push(DeviceId { driver, pool: "n".to_owned(), device });
    }
    (cluster, question)
}

fn ask(seed: u64, mode: Mode, patience: u64) -> Answer {
    let (mut cluster, question) = world(seed, mode);
    allocate_with(&mut cluster, &question, &Limits { max_steps: 300_000 }, patience, &[])
}

#[test]
fn fewer_than_one_device_cannot_be_asked_for() {
    let (mut cluster, mut question) = world(1, Mode::Sound);
    let request =
        json!({ "name": "r", "exactly": { "deviceClassName": "any", "allocationMode": "ExactCount", "count": -1 } });
    let claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c" },
        "spec": { "devices": { "requests": [request] } } });
    question.claims = vec![read_claim_value(claim).unwrap()];
    let Outcome::Failed { failure, .. } = allocate_with(&mut cluster, &question, &Limits::default(), 0, &[]).outcome
    else {
        panic!("devices were given");
    };
    assert_eq!(failure.finding.path, "spec.devices.requests[0].exactly.count");
}

#[test]
fn a_guided_search_gives_the_answer_of_the_plain_one() {
    let mut counts = [0; 5];
    for seed in 0..SEEDS {
        let plain = ask(seed, Mode::Sound, u64::MAX);
        let kind = match plain.outcome {
            Outcome::Allocated { .. } => 0,
            Outcome::Unsatisfied { .. } => 1,
            Outcome::Failed { .. } => 2,
            Outcome::GaveUp { .. } => 3,
        };
        counts[kind] += 1;
        if kind == 3 {
            continue;
        }
        let guided = ask(seed, Mode::Sound, 0);
        assert_eq!(guided.outcome, plain.outcome, "seed {seed}");
        let usual = ask(seed, Mode::Sound, super::node::PATIENCE);
        assert_eq!(usual.outcome, plain.outcome, "seed {seed}");
    }
    println!("allocated, none, error, gave up: {counts:?}");
    assert!(counts[0] > SEEDS / 5 && counts[1] > SEEDS / 10 && counts[2] > SEEDS / 50 && counts[3] < SEEDS / 20);
}

const SEEDS: u64 = 2_000;

/// Something happens to the cluster: a slice comes, changes or goes, a node changes, a claim takes devices or gives them back.
fn event(dice: &mut Dice, objects: &mut BTreeMap<ObjectRef, Value>, cluster: &mut Cluster, taken: Option<Value>) {
    let changed = match dice.roll(5) {
        0 | 1 => slices(dice, 5)
            .into_iter()
            .map(|mut slice| {
                match dice.roll(4) {
                    0 => {
                        slice["spec"].as_object_mut().unwrap().remove("nodeName");
                        slice["spec"]["allNodes"] = json!(true);
                    }
                    1 => slice["spec"]["nodeName"] = json!("m"),
                    _ => {}
                }
                slice["spec"]["pool"]["generation"] = json!(1 + dice.roll(2));
                slice
            })
            .collect(),
        2 => vec![
            json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "m", "labels": { "x": dice.roll(2).to_string() } } }),
        ],
        3 => taken.into_iter().collect(),
        _ => {
            let goes = |object: &&ObjectRef| matches!(object.kind.as_str(), "ResourceSlice" | "ResourceClaim");
            let candidates: Vec<ObjectRef> = objects.keys().filter(goes).cloned().collect();
            if let Some(object) = candidates.get(usize::try_from(dice.roll(8)).unwrap()) {
                assert!(cluster.delete(object));
                objects.remove(object);
            }
            Vec::new()
        }
    };
    for value in changed {
        let object = read_object(value.clone()).object.unwrap();
        objects.insert(object.reference(), value);
        cluster.apply(object);
    }
}

#[test]
fn a_warm_cluster_answers_as_a_fresh_one() {
    let mut fits = 0;
    for seed in 0..150 {
        let (mut warm, mut question) = world(seed, Mode::Sound);
        question.in_use = InUse::default();
        let mut dice = Dice(seed * 7 + 3);
        let mut objects: BTreeMap<ObjectRef, Value> = BTreeMap::new();
        warm = Cluster::new(warm.profile().clone());
        for value in surroundings() {
            let object = read_object(value.clone()).object.unwrap();
            objects.insert(object.reference(), value);
            warm.apply(object);
        }
        let mut taken = None;
        for turn in 0..12 {
            event(&mut dice, &mut objects, &mut warm, taken.take());
            let mut fresh = Cluster::new(warm.profile().clone());
            for value in objects.values() {
                fresh.apply(read_object(value.clone()).object.unwrap());
            }
            let limits = Limits { max_steps: 20_000 };
            let answer = allocate(&mut warm, &question, &limits);
            assert_eq!(answer, allocate(&mut fresh, &question, &limits), "seed {seed}, turn {turn}");
            if let Outcome::Allocated { allocations, .. } = &answer.outcome {
                fits += 1;
                let mut claim = question.claims[0].clone();
                claim.metadata.name = format!("taken-{turn}");
                claim.status.allocation = allocations.first().cloned();
                taken = Some(Object::ResourceClaim(Arc::new(claim)).write());
            }
        }
    }
    assert!(fits > 100, "{fits}");
}

#[test]
fn devices_that_look_the_same_to_a_selector_cost_one_evaluation() {
    let mut cluster = Cluster::new(Profile::of(Version::V1_36));
    let mut apply = |value: Value| cluster.apply(read_object(value).object.unwrap());
    surroundings().into_iter().for_each(&mut apply);
    for slice in 0..4 {
        let device = |index: u64| {
            let kind = json!({ "string": format!("k{}", index % 2) });
            json!({ "name": format!("d{slice}-{index}"), "attributes": { "kind": kind, "serial": { "int": index } } })
        };
        apply(
            json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": format!("s{slice}") },
            "spec": { "driver": "a.example.com", "nodeName": "n", "devices": (0..16).map(device).collect::<Vec<_>>(),
                "pool": { "name": "n", "generation": 1, "resourceSliceCount": 4 } } }),
        );
    }
    let selector = json!([{ "cel": { "expression": SELECTORS[0] } }]);
    let request = json!({ "name": "r", "exactly": { "deviceClassName": "a", "allocationMode": "ExactCount", "count": 31,
        "selectors": selector } });
    let claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "d" },
        "spec": { "devices": { "requests": [request, { "name": "none", "exactly": { "deviceClassName": "a", "allocationMode": "ExactCount",
            "count": 1, "selectors": [{ "cel": { "expression": "false" } }] } }] } } });
    let question = Question { claims: vec![read_claim_value(claim).unwrap()], ..Question::default() };
    for asked in 1..=3 {
        let answer = allocate(&mut cluster, &question, &Limits::default());
        assert!(matches!(answer.outcome, Outcome::Unsatisfied { .. }));
        // The class once, the kinds twice, `false` once; nothing of it is kept for the next question.
        let memory = cluster.lend_memory();
        assert_eq!(memory.selectors.evaluations, asked * 4);
        cluster.return_memory(memory);
    }
}

#[test]
fn a_later_alternative_for_all_devices_gets_one_up_to_1_35() {
    let ask = |version: Version, mode: Mode, first: u64| {
        // None stands for all.
        let first_mode = if first == 0 { "All" } else { "ExactCount" };
        let mut cluster = Cluster::new(Profile { mode, ..Profile::of(version) });
        let slice = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
            "spec": { "driver": "a.example.com", "nodeName": "n", "devices": [{ "name": "d0" }, { "name": "d1" }],
                "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 } } });
        for object in surroundings().into_iter().chain([slice]) {
            cluster.apply(read_object(object).object.unwrap());
        }
        let none = json!([{ "cel": { "expression": "false" } }]);
        let list = json!([
            { "name": "none", "deviceClassName": "any", "allocationMode": first_mode, "count": first, "selectors": none },
            { "name": "all", "deviceClassName": "any", "allocationMode": "All" },
        ]);
        let claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": { "name": "c", "namespace": "d" },
            "spec": { "devices": { "requests": [{ "name": "r", "firstAvailable": list }] } } });
        let claims = vec![read_claim_value(claim).unwrap()];
        let question = Question { claims, nodes: vec!["n".to_owned()], in_use: InUse::default() };
        let answer = allocate(&mut cluster, &question, &Limits::default());
        let devices = match &answer.outcome {
            Outcome::Allocated { allocations, .. } => allocations[0].devices.results.len(),
            _ => 0,
        };
        (devices, answer.findings.iter().filter(|finding| finding.message.contains("`all-alternative`")).count())
    };
    // The first alternative asks for one device, and one has been taken; or for two, and there is no second one for it.
    for version in [Version::V1_34, Version::V1_35] {
        assert_eq!(ask(version, Mode::Reference, 1), (1, 0));
        assert_eq!(ask(version, Mode::Reference, 2), (0, 0));
        assert_eq!(ask(version, Mode::Sound, 1), (2, 1));
        assert_eq!(ask(version, Mode::Sound, 2), (2, 1));
        // Both are for all devices, and the second gets those of the first.
        assert_eq!(ask(version, Mode::Reference, 0), (0, 0));
        assert_eq!(ask(version, Mode::Sound, 0), (2, 1));
    }
    assert_eq!(ask(Version::V1_36, Mode::Reference, 2), (2, 0));
    assert_eq!(ask(Version::V1_36, Mode::Sound, 1), (2, 0));
}

#[test]
fn devices_that_agree_with_a_refused_one_are_not_tried_and_errors_are_not_skipped() {
    let ask = |devices: Value, selectors: [&str; 2]| {
        let mut cluster = Cluster::new(Profile::of(Version::V1_36));
        let slice = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
            "spec": { "driver": "a", "nodeName": "n", "devices": devices,
                "pool": { "name": "n", "generation": 1, "resourceSliceCount": 1 } } });
        for object in surroundings().into_iter().chain([slice]) {
            cluster.apply(read_object(object).object.unwrap());
        }
        let selectors =
            selectors.map(|text| json!({ "cel": { "expression": format!("device.attributes['a'].{text}") } }));
        let claim = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c", "namespace": "d" },
            "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "any", "selectors": selectors } }] } } });
        let claims = vec![read_claim_value(claim).unwrap()];
        let nodes = vec!["n".to_owned()];
        allocate(&mut cluster, &Question { claims, nodes, in_use: InUse::default() }, &Limits::default())
    };
    let device = |name: &str, kind: &str| json!({ "name": name, "attributes": { "kind": { "string": kind }, "size": { "int": 1 } } });
    let unlike = json!({ "name": "d2", "attributes": { "kind": { "string": "x" } } });
    let kinds = [device("d0", "x"), device("d1", "x"), unlike, device("d3", "y")];

    // The three of kind `x` agree on all that was asked when the first was refused.
    let answer = ask(json!(kinds), ["kind == 'y'", "size == 1"]);
    assert!(matches!(answer.outcome, Outcome::Allocated { .. }), "{answer:?}");
    assert_eq!(answer.steps, 2);
    // Asked in the other order, the third is unlike them, and its error ends the question.
    let answer = ask(json!(kinds), ["size == 1", "kind == 'y'"]);
    assert!(matches!(answer.outcome, Outcome::Failed { .. }), "{answer:?}");
    assert_eq!(answer.steps, 2);
}

#[test]
fn a_claim_of_the_cluster_gets_the_same_answer_and_takes_it() {
    let (mut cluster, question) = world(5, Mode::Sound);
    for claim in &question.claims {
        cluster.apply(Object::ResourceClaim(Arc::new(claim.clone())));
    }
    let keys: Vec<Key> = question.claims.iter().map(|claim| ("d".to_owned(), claim.metadata.name.clone())).collect();
    let claims = ClaimNames::of(keys.clone());
    let known = KnownQuestion { claims, in_use: question.in_use.clone(), take: true, ..Default::default() };
    let answer = allocate(&mut cluster, &question, &Limits::default());
    assert_eq!(allocate_known(&mut cluster, &known, &Limits::default()), Ok(answer.clone()));
    if let Outcome::Allocated { allocations, .. } = answer.outcome {
        for (key, allocation) in keys.iter().zip(allocations) {
            assert_eq!(cluster.claims().get(key).unwrap().status.allocation, Some(allocation));
        }
    }
    let unknown = ("d".to_owned(), "nobody".to_owned());
    let question = KnownQuestion { claims: ClaimNames::of([unknown.clone()]), ..Default::default() };
    assert_eq!(allocate_known(&mut cluster, &question, &Limits::default()), Err(unknown));
}

#[test]
fn claims_asked_about_in_one_go_get_the_answers_of_one_after_another() {
    let (mut placed, mut together) = (0, 0);
    for seed in 0..400 {
        let mode = if seed % 4 == 0 { Mode::Reference } else { Mode::Sound };
        let (mut cluster, asked) = world(seed, mode);
        let mut claims: Vec<Key> = Vec::new();
        for claim in &asked.claims {
            for copy in 0..4 {
                let mut claim = claim.clone();
                claim.metadata.name = format!("{}-{copy}", claim.metadata.name);
                claims.push(("d".to_owned(), claim.metadata.name.clone()));
                cluster.apply(Object::ResourceClaim(Arc::new(claim)));
            }
        }
        // Sometimes one of them twice.
        claims.extend(claims.get(2).filter(|_| seed % 3 == 0).cloned());
        let mut memory = cluster.lend_memory();
        let all = KnownQuestion { in_use: asked.in_use.clone(), ..Default::default() };
        let row: Vec<&ResourceClaim> = claims[..4].iter().map(|key| &**cluster.claims().get(key).unwrap()).collect();
        together += super::row::answers(&cluster, &mut memory, &row, &all, &Limits::default()).len();
        cluster.return_memory(memory);
        let question = KnownQuestion {
            claims: ClaimNames::of(claims.clone()),
            in_use: asked.in_use.clone(),
            take: true,
            ..Default::default()
        };
        let start = cluster.clone();
        let mut expected = Vec::new();
        for key in &claims {
            let one = KnownQuestion { claims: ClaimNames::of([key.clone()]), ..question.clone() };
            expected.push(allocate_known(&mut cluster, &one, &Limits::default()).unwrap());
            if !matches!(expected.last().unwrap().outcome, Outcome::Allocated { .. }) {
                break;
            }
        }
        placed += expected.len();
        let mut other = start.clone();
        assert_eq!(allocate_each(&mut other, &question, &Limits::default()), Ok(expected), "seed {seed}");
        assert_eq!(other.claims(), cluster.claims());
        // A key that no claim has leaves everything as it was.
        let mut other = start.clone();
        let unknown = ("d".to_owned(), "nobody".to_owned());
        let with_unknown = claims.first().cloned().into_iter().chain([unknown.clone()]);
        let question = KnownQuestion { claims: ClaimNames::of(with_unknown), ..question };
        assert_eq!(allocate_each(&mut other, &question, &Limits::default()), Err(unknown));
        assert_eq!(other.claims(), start.claims());
    }
    assert!(placed > 600 && together > 100, "{placed} placed, {together} of them together");
}

#[test]
fn claims_fit_on_a_node_when_they_are_allocated_where_it_is_the_only_one() {
    let (mut fit, mut refused, mut failed) = (0, 0, 0);
    for seed in 0..400 {
        let mode = if seed % 4 == 0 { Mode::Reference } else { Mode::Sound };
        let (mut cluster, mut question) = world(seed, mode);
        if seed % 3 == 0 {
            // A name that comes twice, and one that nobody knows.
            question.nodes = cluster.nodes().keys().cloned().collect();
            question.nodes.reverse();
            question.nodes.extend(question.nodes.first().cloned());
            question.nodes.push("nobody".to_owned());
        }
        let names: Vec<String> =
            if question.nodes.is_empty() { cluster.nodes().keys().cloned().collect() } else { question.nodes.clone() };
        let found = fits(&mut cluster, &question, &Limits::default());
        let mut expected = Vec::new();
        let mut failure_on = None;
        for name in &names {
            match allocate(&mut cluster, &question.on(vec![name.clone()]), &Limits::default()).outcome {
                Outcome::Failed { node, .. } => {
                    failure_on = Some(node);
                    break;
                }
                outcome => expected.push(matches!(outcome, Outcome::Allocated { .. })),
            }
        }
        fit += expected.iter().filter(|fits| **fits).count();
        refused += expected.iter().filter(|fits| !**fits).count();
        match (found.outcome, failure_on) {
            (FitsOutcome::Known(found), None) => assert_eq!(found, expected, "seed {seed}"),
            (FitsOutcome::Failed { node, .. }, Some(expected)) => {
                failed += 1;
                assert_eq!(node, expected, "seed {seed}");
            }
            (found, expected) => panic!("seed {seed}: {found:?}, alone it fails on {expected:?}"),
        }
        let none = fits(&mut cluster, &question, &Limits { max_steps: 0 }).outcome;
        assert!(!matches!(none, FitsOutcome::Known(found) if found != expected), "seed {seed}");
    }
    assert!(fit > 50 && refused > 50 && failed > 5, "{fit} fit, {refused} do not, {failed} failed");
}
