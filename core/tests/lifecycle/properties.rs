//! Laws that hold after any history: random requests, components that end between two writes, writes that others get ahead
//! of, watches that lag and repeat.
//!
//! `LIFECYCLE_STEPS` sets how many steps are played, `LIFECYCLE_SEED` plays one history again; both are printed.

use std::collections::{BTreeMap, BTreeSet};

use apportion_core::allocate::Limits;
use apportion_core::api::claim::ResourceClaim;
use apportion_core::api::pod::{Pod, PodResourceClaim};
use apportion_core::api::quantity::Quantity;
use apportion_core::cluster::entries::{Resolved, is_reserved_for_pod, resolve};
use apportion_core::control_plane::server::{Entry, Happened};
use apportion_core::control_plane::{Command, Component, Settled, Simulation};
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Profile, Version};
use apportion_core::scheduler::{self, NodeCache, Settings, is_waiting};
use apportion_core::{
    controllers::{claims, podgroup_protection as protection, taint_eviction as eviction},
    decision::{Action, CLAIM_FINALIZER, GROUP_FINALIZER, Patch, Time},
};
use serde_json::{Value, json};

/// Steps of one history.
const STEPS: u64 = 120;

/// Steps of all histories, unless the environment says otherwise.
const ALL_STEPS: u64 = 100_000;

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[usize::try_from(self.roll(texts.len() as u64)).unwrap()]
    }
}

const NS: &str = "ns";

/// r_065, r_067, r_069, r_080, r_081, r_082, r_095, r_147: what never and what always holds.
#[test]
fn r_080_laws_hold_after_any_history() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let steps = number("LIFECYCLE_STEPS").unwrap_or(ALL_STEPS);
    let seeds: Vec<u64> = match number("LIFECYCLE_SEED") {
        Some(seed) => vec![seed],
        None => (1..=steps.div_ceil(STEPS)).collect(),
    };
    println!("seeds {}..={}, {STEPS} steps each", seeds[0], seeds[seeds.len() - 1]);
    // Histories know nothing of each other; each processor plays its share of them.
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for first in 0..processors {
            let own: Vec<u64> = seeds.iter().copied().skip(first).step_by(processors).collect();
            scope.spawn(move || own.into_iter().for_each(|seed| History::new(seed).play()));
        }
    });
}

struct History {
    seed: u64,
    dice: Dice,
    simulation: Simulation,
    log: Vec<String>,
    /// What must hold of every change, and how many of them it has seen.
    laws: apportion_core::check::History,
    seen: usize,
    /// UIDs of Pods that somebody asked to go.
    asked_to_go: BTreeSet<String>,
    /// Devices of `slice-a` that ever had a taint of effect `NoExecute`.
    broken: BTreeSet<String>,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut profile = Profile::of(Version::All);
        profile.features.workload_aware_preemption = false;
        let mut simulation = Simulation::new(profile, Limits::default(), Time::from_seconds(1_750_000_000));
        simulation.restart(Component::Controllers, simulation.profile(Component::Controllers).clone());
        simulation.server_mut().keep_history();
        let laws = apportion_core::check::History::new(simulation.server().cluster().profile().clone());
        let (asked_to_go, broken) = (BTreeSet::new(), BTreeSet::new());
        let mut history =
            Self { seed, dice: Dice(seed), simulation, log: Vec::new(), laws, seen: 0, asked_to_go, broken };
        for object in world() {
            history.create(object);
        }
        history
    }

    fn play(&mut self) {
        for step in 0..STEPS {
            self.mischief();
            self.request();
            let pause = i64::try_from(self.dice.roll(4)).unwrap();
            let until = self.simulation.now().plus_seconds(pause);
            let settled = self.simulation.run_until(until);
            assert_eq!(settled, Settled::Quiet, "{}", self.story());
            self.check_changes();
            self.check_always();
            if step % 10 == 9 {
                self.calm_down();
                self.check_when_quiet();
            }
        }
    }

    /// Every change since the last time breaks no law.
    fn check_changes(&mut self) {
        for Entry { happened, value, object, .. } in &self.simulation.server().history()[self.seen..] {
            let kind = match happened {
                Happened::Added => "ADDED",
                Happened::Modified => "MODIFIED",
                Happened::Deleted => "DELETED",
                Happened::Refused => continue,
            };
            let found = self.laws.note(json!({ "type": kind, "object": value }));
            assert!(found.is_empty(), "{object}: {found:?}\n{}", self.story());
        }
        self.seen = self.simulation.server().history().len();
    }

    fn story(&self) -> String {
        format!("seed {}:\n{}", self.seed, self.log.join("\n"))
    }

    /// Things that go wrong.
    fn mischief(&mut self) {
        match self.dice.roll(12) {
            0 => {
                let writes = self.dice.roll(6);
                self.log.push(format!("lose write {writes}"));
                self.simulation.lose_write_after(writes);
            }
            1 => {
                let component = if self.dice.roll(2) == 0 { Component::Controllers } else { Component::Scheduler };
                self.log.push(format!("restart {component:?}"));
                self.simulation.restart(component, self.simulation.profile(component).clone());
            }
            2 => {
                let writes = self.dice.roll(6);
                self.log.push(format!("disturb write {writes}"));
                self.simulation.disturb_write_after(writes);
            }
            3 => {
                self.log.push("lag".to_owned());
                self.simulation.lag();
            }
            4 => {
                self.log.push("catch up".to_owned());
                self.simulation.catch_up();
            }
            _ => {}
        }
    }

    fn request(&mut self) {
        match self.dice.roll(18) {
            0..=4 => self.create_pod(),
            5 | 6 => self.create_group(),
            7 => self.delete("PodGroup"),
            8 | 9 => self.delete("Pod"),
            10 => self.end_pods(),
            11 => self.set_phase(),
            12 => self.delete("ResourceClaim"),
            13 => self.change_template(),
            14 => self.change_slice(),
            15 | 16 => self.change_nodes(),
            _ => self.create_claim(),
        }
    }

    fn create(&mut self, object: Value) {
        let now = self.simulation.now();
        self.log.push(format!("create {} {}", object["kind"].as_str().unwrap(), object["metadata"]["name"]));
        // A name that is taken is a request that is refused.
        let _ = self.simulation.server_mut().create(object, now);
    }

    fn create_pod(&mut self) {
        let name = format!("p{}", self.dice.roll(14));
        let group = self.dice.pick(&["", "", "g0", "g1", "g2"]);
        let mut entries = Vec::new();
        for entry in ["one", "two"] {
            match self.dice.roll(5) {
                0 => entries.push(json!({ "name": entry, "resourceClaimTemplateName": "t0" })),
                1 => entries.push(json!({ "name": entry, "resourceClaimTemplateName": "t1" })),
                2 => entries.push(json!({ "name": entry, "resourceClaimName": "shared" })),
                3 if !group.is_empty() => {
                    entries.push(json!({ "name": entry, "podGroupResourceClaim": "one" }));
                }
                _ => {}
            }
        }
        let uses: Vec<Value> = entries.iter().map(|entry| json!({ "name": entry["name"] })).collect();
        let mut spec = json!({
            "containers": [{ "name": "c", "resources": { "claims": uses, "requests": { "cpu": "1" } } }],
            "resourceClaims": entries,
        });
        if !group.is_empty() {
            spec["schedulingGroup"] = json!({ "podGroupName": group });
        }
        self.create(
            json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": NS }, "spec": spec }),
        );
    }

    fn create_group(&mut self) {
        let name = self.dice.pick(&["g0", "g1", "g2"]);
        let policy = match self.dice.roll(2) {
            0 => json!({ "basic": {} }),
            _ => json!({ "gang": { "minCount": 2 } }),
        };
        let entries = match self.dice.roll(3) {
            0 => json!([]),
            1 => json!([{ "name": "one", "resourceClaimTemplateName": "t0" }]),
            _ => {
                json!([{ "name": "one", "resourceClaimTemplateName": "t0" }, { "name": "two", "resourceClaimName": "shared" }])
            }
        };
        self.create(json!({
            "apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
            "metadata": { "name": name, "namespace": NS },
            "spec": { "schedulingPolicy": policy, "resourceClaims": entries },
        }));
    }

    fn create_claim(&mut self) {
        self.create(json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": { "name": "shared", "namespace": NS }, "spec": request("gpu"),
        }));
    }

    fn change_template(&mut self) {
        if self.dice.roll(2) == 0 {
            return self.delete("ResourceClaimTemplate");
        }
        for object in templates() {
            self.create(object);
        }
    }

    /// A device is tainted, or all taints go.
    fn change_slice(&mut self) {
        let key = ObjectRef { kind: "ResourceSlice".to_owned(), namespace: String::new(), name: "slice-a".to_owned() };
        let Some(mut slice) = self.simulation.server().get(&key) else { return };
        slice["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        let which = usize::try_from(self.dice.roll(3)).unwrap();
        let effect = self.dice.pick(&["NoSchedule", "NoExecute", ""]);
        for device in slice["spec"]["devices"].as_array_mut().unwrap() {
            device.as_object_mut().unwrap().remove("taints");
        }
        if !effect.is_empty() {
            slice["spec"]["devices"][which]["taints"] = json!([{ "key": "broken", "effect": effect }]);
        }
        if effect == "NoExecute" {
            self.broken.insert(format!("d{which}"));
        }
        self.log.push(format!("taint {which} {effect}"));
        let now = self.simulation.now();
        self.simulation.server_mut().update(slice, false, now).unwrap();
    }

    /// A node goes with its slices and Pods, or a slice alone; or what is missing comes back.
    fn change_nodes(&mut self) {
        match self.dice.roll(6) {
            0 => {
                let node = self.dice.pick(&["a", "b"]).to_owned();
                self.log.push(format!("remove node {node}"));
                let pods = self.simulation.server().cluster().pods().values();
                self.asked_to_go
                    .extend(pods.filter(|pod| pod.spec.node_name == node).map(|pod| pod.metadata.uid.clone()));
                // One that is gone already is a request that is refused.
                let _ = self.simulation.perform(Command::RemoveNode(node));
            }
            1 => {
                let name = self.dice.pick(&["slice-a", "slice-b", "slice-c", "set-b"]).to_owned();
                self.log.push(format!("remove slice {name}"));
                let slice = ObjectRef { kind: "ResourceSlice".to_owned(), namespace: String::new(), name };
                let now = self.simulation.now();
                let _ = self.simulation.server_mut().delete(&slice, "", None, now);
            }
            _ => {
                world().into_iter().filter(|object| object["metadata"].get("namespace").is_none()).for_each(|object| {
                    let now = self.simulation.now();
                    let _ = self.simulation.server_mut().create(object, now);
                })
            }
        }
    }

    fn any(&mut self, kind: &str) -> Option<ObjectRef> {
        let names: Vec<String> = self
            .simulation
            .server()
            .list(kind)
            .map(|object| object["metadata"]["name"].as_str().unwrap().to_owned())
            .collect();
        if names.is_empty() {
            return None;
        }
        let name = names[usize::try_from(self.dice.roll(names.len() as u64)).unwrap()].clone();
        Some(ObjectRef { kind: kind.to_owned(), namespace: NS.to_owned(), name })
    }

    fn delete(&mut self, kind: &str) {
        let Some(object) = self.any(kind) else { return };
        self.log.push(format!("delete {object}"));
        if let Some(pod) = self.simulation.server().cluster().pods().get(&(NS.to_owned(), object.name.clone())) {
            self.asked_to_go.extend((kind == "Pod").then(|| pod.metadata.uid.clone()));
        }
        let now = self.simulation.now();
        self.simulation.server_mut().delete(&object, "", None, now).unwrap();
    }

    /// The kubelets end what is to end.
    fn end_pods(&mut self) {
        let ending: Vec<ObjectRef> = self
            .simulation
            .server()
            .cluster()
            .pods()
            .values()
            .filter(|pod| pod.metadata.is_deleting())
            .map(|pod| ObjectRef { kind: "Pod".to_owned(), namespace: NS.to_owned(), name: pod.metadata.name.clone() })
            .collect();
        let now = self.simulation.now();
        for pod in ending {
            self.log.push(format!("end {pod}"));
            self.simulation.server_mut().delete(&pod, "", Some(0), now).unwrap();
        }
    }

    /// The kubelet of a Pod with a node reports.
    fn set_phase(&mut self) {
        let Some(object) = self.any("Pod") else { return };
        let pod = self.simulation.server().cluster().pods().get(&(NS.to_owned(), object.name.clone())).unwrap();
        if pod.spec.node_name.is_empty() || pod.is_finished() {
            return;
        }
        let phase = self.dice.pick(&["Running", "Succeeded", "Failed"]);
        self.log.push(format!("{object} {phase}"));
        let patch = Patch::merge(object, true, json!({ "status": { "phase": phase } }));
        let now = self.simulation.now();
        self.simulation.server_mut().patch(&patch, now).unwrap();
    }

    /// Nothing goes wrong for a while.
    fn calm_down(&mut self) {
        self.simulation.lose_write_after(u64::MAX);
        self.simulation.disturb_write_after(u64::MAX);
        self.simulation.catch_up();
        for component in [Component::Controllers, Component::Scheduler] {
            self.simulation.restart(component, self.simulation.profile(component).clone());
        }
        self.end_pods();
        let until = self.simulation.now().plus_seconds(60);
        assert_eq!(self.simulation.run_until(until), Settled::Quiet, "{}", self.story());
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n{}", self.story())
    }

    /// What holds at every moment.
    fn check_always(&self) {
        let cluster = self.simulation.server().cluster();
        let mut taken: BTreeMap<[&str; 3], &str> = BTreeMap::new();
        let mut generated: BTreeSet<(String, String)> = BTreeSet::new();
        for claim in cluster.claims().values() {
            let results = claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
            for result in results {
                let id = [result.driver.as_str(), &result.pool, &result.device];
                if let Some(other) = taken.insert(id, &claim.metadata.name) {
                    self.fail(&format!("{id:?} is given to {other} and to {}", claim.metadata.name));
                }
            }
            let entry = claim.metadata.annotations.get("resource.kubernetes.io/pod-claim-name");
            let (Some(owner), Some(entry)) = (claim.metadata.controller(), entry) else { continue };
            if !claim.metadata.is_deleting() && !generated.insert((owner.uid.clone(), entry.clone())) {
                self.fail(&format!("entry {entry} of {} {} has two claims", owner.kind, owner.name));
            }
        }
        self.check_counters(&taken);
        self.check_asked_for();
        for pod in cluster.pods().values().filter(|pod| !pod.spec.node_name.is_empty() && !pod.is_finished()) {
            self.check_placed(pod);
        }
    }

    /// Nothing was made or deleted that the facts did not ask for.
    fn check_asked_for(&self) {
        let cluster = self.simulation.server().cluster();
        for claim in cluster.claims().values() {
            let entry = claim.metadata.annotations.get("resource.kubernetes.io/pod-claim-name");
            let (Some(owner), Some(entry)) = (claim.metadata.controller(), entry) else { continue };
            let key = (NS.to_owned(), owner.name.clone());
            let pod = cluster.pods().get(&key).filter(|pod| pod.metadata.uid == owner.uid);
            let group = cluster.pod_groups().get(&key).filter(|group| group.metadata.uid == owner.uid);
            let entries = pod.map(|pod| &pod.spec.resource_claims).or(group.map(|group| &group.spec.resource_claims));
            let asks = |entries: &Vec<PodResourceClaim>| {
                entries.iter().any(|own| own.name == *entry && own.resource_claim_template_name.is_some())
            };
            if !entries.is_none_or(asks) {
                self.fail(&format!("nobody asked for claim {}", claim.metadata.name));
            }
        }
        let is_broken = |claim: &ResourceClaim| {
            let results = claim.status.allocation.iter().flat_map(|allocation| &allocation.devices.results);
            results.into_iter().any(|result| result.pool == "a" && self.broken.contains(&result.device))
        };
        // One that has ended has given its claims back.
        let going = cluster.pods().values().filter(|pod| pod.metadata.is_deleting() && !pod.is_finished());
        for pod in going {
            let mut claims = cluster.claims().values().filter(|claim| is_reserved_for_pod(pod, claim, true));
            if !self.asked_to_go.contains(&pod.metadata.uid) && !claims.any(|claim| is_broken(claim)) {
                self.fail(&format!("nobody asked for {} to go", pod.metadata.name));
            }
        }
    }

    /// No counter gives more than it has.
    fn check_counters(&self, taken: &BTreeMap<[&str; 3], &str>) {
        let cluster = self.simulation.server().cluster();
        let mut drawn: BTreeMap<String, Quantity> = BTreeMap::new();
        for slice in cluster.slices().values() {
            for device in &slice.spec.devices {
                if !taken.contains_key(&[slice.spec.driver.as_str(), &slice.spec.pool.name, &device.name]) {
                    continue;
                }
                for consumption in &device.consumes_counters {
                    for (name, counter) in &consumption.counters {
                        let sum = drawn.entry(format!("{}/{name}", consumption.counter_set)).or_default();
                        *sum = sum.saturating_add(&counter.value);
                    }
                }
            }
        }
        for set in cluster.slices().values().flat_map(|slice| &slice.spec.shared_counters) {
            for (name, counter) in &set.counters {
                let used = drawn.get(&format!("{}/{name}", set.name)).cloned().unwrap_or_default();
                if used > counter.value {
                    self.fail(&format!("counter {}/{name} is overdrawn: {used}", set.name));
                }
            }
        }
    }

    /// A Pod with a node has its devices.
    fn check_placed(&self, pod: &Pod) {
        let cluster = self.simulation.server().cluster();
        let group = pod.group_name().and_then(|name| cluster.pod_groups().get(&(NS.to_owned(), name.to_owned())));
        for entry in &pod.spec.resource_claims {
            let Resolved::Claim { name, .. } = resolve(pod, entry, group) else { continue };
            let name = name.to_owned();
            match cluster.claims().get(&(NS.to_owned(), name.clone())) {
                None => self.fail(&format!("{} runs and its claim {name} is gone", pod.metadata.name)),
                Some(claim) if claim.status.allocation.is_none() => {
                    self.fail(&format!("{} runs and its claim {name} has no devices", pod.metadata.name))
                }
                Some(claim) if !is_reserved_for_pod(pod, claim, true) => {
                    self.fail(&format!("{} runs and its claim {name} is not reserved for it", pod.metadata.name))
                }
                Some(_) => {}
            }
        }
    }

    /// What holds when nothing happens any more.
    fn check_when_quiet(&mut self) {
        self.check_always();
        let cluster = self.simulation.server().cluster();
        let uids: BTreeSet<&str> = cluster
            .pods()
            .values()
            .map(|pod| pod.metadata.uid.as_str())
            .chain(cluster.pod_groups().values().map(|group| group.metadata.uid.as_str()))
            .collect();
        for claim in cluster.claims().values() {
            let name = &claim.metadata.name;
            let reserved = &claim.status.reserved_for;
            if claim.status.allocation.is_some() && reserved.is_empty() {
                self.fail(&format!("claim {name} has devices and no consumer"));
            }
            if let Some(gone) = reserved.iter().find(|consumer| !uids.contains(consumer.uid.as_str())) {
                self.fail(&format!("claim {name} is reserved for {}, which is gone", gone.name));
            }
            if claim.metadata.controller().is_some_and(|owner| !uids.contains(owner.uid.as_str()))
                && reserved.is_empty()
            {
                self.fail(&format!("claim {name} has lost its owner"));
            }
            let has_finalizer = claim.metadata.finalizers.iter().any(|finalizer| finalizer == CLAIM_FINALIZER);
            if claim.metadata.is_deleting() && has_finalizer && reserved.is_empty() {
                self.fail(&format!("claim {name} keeps its finalizer"));
            }
        }
        for (key, group) in cluster.pod_groups() {
            let in_use = cluster.pods().values().any(|pod| pod.group_name() == Some(&key.1) && !pod.is_finished());
            if group.metadata.is_deleting() && !in_use {
                self.fail(&format!("PodGroup {} keeps its finalizer", key.1));
            }
            if !group.metadata.is_deleting() && !group.metadata.finalizers.contains(&GROUP_FINALIZER.to_owned()) {
                self.fail(&format!("PodGroup {} has no finalizer", key.1));
            }
        }
        self.check_no_actions();
    }

    /// Quiet facts give no actions.
    fn check_no_actions(&mut self) {
        let profile = self.simulation.profile(Component::Controllers).clone();
        let cluster = self.simulation.server().cluster().clone();
        for work in claims::all_work(&cluster) {
            let decision = claims::reconcile(&cluster, &profile, &claims::Memory::default(), &work);
            if !decision.actions.is_empty() {
                self.fail(&format!("{work:?} asks for {:?}", decision.actions));
            }
        }
        for key in cluster.pod_groups().keys() {
            let decision = protection::reconcile(&cluster, &profile, key);
            if !decision.actions.is_empty() {
                self.fail(&format!("{key:?} asks for {:?}", decision.actions));
            }
        }
        let now = self.simulation.now();
        let decision = eviction::reconcile(&cluster, &profile, &mut eviction::Memory::default(), now);
        if !decision.actions.is_empty() {
            self.fail(&format!("evictions ask for {:?}", decision.actions));
        }
        let mut changed = cluster.clone();
        let mut book = NodeCache::new(&cluster);
        let waiting: Vec<_> =
            cluster.pods().iter().filter(|(_, pod)| is_waiting(&cluster, pod)).map(|(key, _)| key.clone()).collect();
        for key in waiting {
            let now = self.simulation.now();
            let limits = Limits::default();
            let settings = Settings {
                profile: &profile,
                limits: &limits,
                now,
                records_failures: true,
                records_scores: false,
                preempts: false,
            };
            let scheduled = scheduler::schedule(&mut changed, &mut book, settings, &key);
            // Places that others took since the last attempt may change the reason why there is none.
            let places = scheduled.decision.actions.iter().filter(|action| !matches!(action, Action::Patch(_)));
            if let Some(action) = places.into_iter().next() {
                self.fail(&format!("{key:?} asks for {action:?}"));
            }
            assert_eq!(changed.claims(), cluster.claims(), "an attempt leaves the facts as they were");
            assert_eq!(changed.pods(), cluster.pods(), "an attempt leaves the facts as they were");
        }
    }
}

fn request(class: &str) -> Value {
    json!({ "devices": { "requests": [{ "name": "req", "exactly": { "deviceClassName": class } }] } })
}

fn templates() -> Vec<Value> {
    let template = |name: &str, class: &str| {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": { "name": name, "namespace": NS }, "spec": { "spec": request(class) },
        })
    };
    vec![template("t0", "gpu"), template("t1", "part")]
}

/// Two nodes, whole devices on one of them, partitions of one device on the other.
fn world() -> Vec<Value> {
    let node = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": name },
            "status": { "allocatable": { "cpu": "6", "memory": "8Gi", "pods": "8" } },
        })
    };
    let class = |name: &str| {
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": name },
            "spec": { "selectors": [{ "cel": { "expression": format!("device.driver == '{name}.example.com'") } }] },
        })
    };
    let part = |name: &str, memory: &str| json!({ "name": name, "consumesCounters": [{ "counterSet": "set", "counters": { "memory": { "value": memory } } }] });
    let slice = |name: &str, driver: &str, node: &str, count: u64, spec: Value| {
        let mut slice = json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name },
            "spec": {
                "driver": driver, "nodeName": node,
                "pool": { "name": node, "generation": 1, "resourceSliceCount": count },
            },
        });
        for (field, value) in spec.as_object().unwrap() {
            slice["spec"][field] = value.clone();
        }
        slice
    };
    let mut objects = vec![
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NS } }),
        node("a"),
        node("b"),
        class("gpu"),
        class("part"),
        slice(
            "slice-a",
            "gpu.example.com",
            "a",
            1,
            json!({ "devices": [{ "name": "d0" }, { "name": "d1" }, { "name": "d2" }] }),
        ),
        slice("slice-c", "gpu.example.com", "b", 1, json!({ "devices": [{ "name": "d0" }] })),
        slice(
            "set-b",
            "part.example.com",
            "b",
            2,
            json!({
                "sharedCounters": [{ "name": "set", "counters": { "memory": { "value": "8Gi" } } }],
            }),
        ),
        slice(
            "slice-b",
            "part.example.com",
            "b",
            2,
            json!({
                "devices": [part("whole", "8Gi"), part("half-0", "4Gi"), part("half-1", "4Gi"), part("odd", "6Gi")],
            }),
        ),
    ];
    objects.extend(templates());
    objects
}
