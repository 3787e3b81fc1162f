//! The allocator against a search that tries everything, and laws that every answer keeps, on small inputs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests look at what must be there"
)]

use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::profile::{Profile, Version};
use apportion_core::wire;
use proptest::prelude::*;
use serde_json::{Value, json};

const DRIVER: &str = "d.example.com";

/// One device of a small cluster.
#[derive(Clone, Debug)]
struct Device {
    numa: i64,
    rack: Option<i64>,
    is_taken: bool,
    /// What it draws from the counter of its pool.
    draws: i64,
}

/// One alternative of a request.
#[derive(Clone, Debug)]
struct Ask {
    count: usize,
    numa: Option<i64>,
}

#[derive(Clone, Debug)]
struct Claim {
    /// Requests with their alternatives; one alternative is an exact request.
    requests: Vec<Vec<Ask>>,
    match_rack: bool,
    distinct_numa: bool,
}

/// Pools with what their counter has, and claims.
#[derive(Clone, Debug)]
struct Problem {
    pools: Vec<(i64, Vec<Device>)>,
    claims: Vec<Claim>,
}

fn problems() -> impl Strategy<Value = Problem> {
    let device = (0..3_i64, prop::option::weighted(0.8, 0..2_i64), prop::bool::weighted(0.2), 0..4_i64)
        .prop_map(|(numa, rack, is_taken, draws)| Device { numa, rack, is_taken, draws });
    let pool = (0..9_i64, prop::collection::vec(device, 1..4));
    let ask = (1..3_usize, prop::option::weighted(0.4, 0..3_i64)).prop_map(|(count, numa)| Ask { count, numa });
    let request = prop_oneof![3 => prop::collection::vec(ask.clone(), 1), 1 => prop::collection::vec(ask, 2)];
    let claim = (prop::collection::vec(request, 1..3), prop::bool::weighted(0.4), prop::bool::weighted(0.2))
        .prop_map(|(requests, match_rack, distinct_numa)| Claim { requests, match_rack, distinct_numa });
    (prop::collection::vec(pool, 1..3), prop::collection::vec(claim, 1..3))
        .prop_map(|(pools, claims)| Problem { pools, claims })
}

/// Pool and device, both by position.
type Pick = (usize, usize);

/// A claim's picks: name of the request (with its alternative) and device.
type Picks = Vec<(String, Pick)>;

impl Problem {
    fn device(&self, (pool, device): Pick) -> &Device {
        &self.pools[pool].1[device]
    }

    fn devices(&self) -> Vec<Pick> {
        (0..self.pools.len()).flat_map(|pool| (0..self.pools[pool].1.len()).map(move |device| (pool, device))).collect()
    }

    fn slices(&self) -> Vec<Value> {
        let mut slices = Vec::new();
        for (index, (counter, devices)) in self.pools.iter().enumerate() {
            let pool = json!({ "name": format!("p{index}"), "generation": 1, "resourceSliceCount": 2 });
            let devices: Vec<Value> = devices
                .iter()
                .enumerate()
                .map(|(position, device)| {
                    let mut value = json!({
                        "name": format!("dev-{position}"), "attributes": { "numa": { "int": device.numa } },
                    });
                    if let Some(rack) = device.rack {
                        value["attributes"]["rack"] = json!({ "int": rack });
                    }
                    if device.draws > 0 {
                        let amount = json!({ "units": { "value": device.draws.to_string() } });
                        value["consumesCounters"] = json!([{ "counterSet": "set", "counters": amount }]);
                    }
                    value
                })
                .collect();
            let of = |name: &str, rest: Value| {
                let mut spec = json!({ "driver": DRIVER, "nodeName": "node", "pool": pool });
                spec.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
                json!({
                    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                    "metadata": { "name": format!("p{index}-{name}") }, "spec": spec,
                })
            };
            let counters = json!([{ "name": "set", "counters": { "units": { "value": counter.to_string() } } }]);
            slices.push(of("counters", json!({ "sharedCounters": counters })));
            slices.push(of("devices", json!({ "devices": devices })));
        }
        slices
    }

    fn question(&self) -> Value {
        let claims: Vec<Value> = self.claims.iter().enumerate().map(|(index, claim)| claim.write(index)).collect();
        let taken = self.devices().into_iter().filter(|pick| self.device(*pick).is_taken);
        let taken: Vec<Value> = taken.map(id).collect();
        json!({ "claims": claims, "nodes": ["node"], "inUse": { "devices": taken } })
    }

    fn engine(&self, slices: &[Value]) -> Engine {
        let mut engine = Engine::new(Profile::of(Version::V1_37), Limits::default());
        let class = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": { "name": "any" } });
        let texts: Vec<String> = slices.iter().chain([&class]).map(Value::to_string).collect();
        for findings in engine.apply(texts.iter().map(String::as_str)) {
            assert!(findings.is_empty(), "{findings:?}");
        }
        engine
    }

    fn answer(&self) -> Value {
        ask(&mut self.engine(&self.slices()), &self.question())
    }

    /// The first complete assignment in the order of claims, requests, alternatives and devices that breaks no rule. Every assignment is
    /// built to its end before anything is checked.
    fn first_solution(&self) -> Option<Vec<Picks>> {
        let mut requests = Vec::new();
        for (claim, content) in self.claims.iter().enumerate() {
            requests.extend(content.requests.iter().enumerate().map(|(index, asks)| (claim, index, asks)));
        }
        self.extend(&requests, &mut vec![Vec::new(); self.claims.len()])
    }

    fn extend(&self, left: &[(usize, usize, &Vec<Ask>)], chosen: &mut Vec<Picks>) -> Option<Vec<Picks>> {
        let Some(((claim, index, asks), later)) = left.split_first() else {
            return self.is_valid(chosen).then(|| chosen.clone());
        };
        for (alternative, ask) in asks.iter().enumerate() {
            let name = if asks.len() == 1 { format!("r{index}") } else { format!("r{index}/s{alternative}") };
            for picks in combinations(&self.devices(), ask.count) {
                if picks.iter().any(|pick| ask.numa.is_some_and(|numa| numa != self.device(*pick).numa)) {
                    continue;
                }
                let before = chosen[*claim].len();
                chosen[*claim].extend(picks.into_iter().map(|pick| (name.clone(), pick)));
                let found = self.extend(later, chosen);
                chosen[*claim].truncate(before);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    fn is_valid(&self, chosen: &[Picks]) -> bool {
        let mut all: Vec<Pick> = chosen.iter().flatten().map(|(_, pick)| *pick).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        let is_free = |pick: &Pick| !self.device(*pick).is_taken;
        let keeps_constraints = self.claims.iter().zip(chosen).all(|(claim, picks)| {
            let devices: Vec<&Device> = picks.iter().map(|(_, pick)| self.device(*pick)).collect();
            let mut numas: Vec<i64> = devices.iter().map(|device| device.numa).collect();
            numas.sort_unstable();
            numas.dedup();
            let has_one_rack = devices.iter().all(|device| device.rack.is_some() && device.rack == devices[0].rack);
            (!claim.match_rack || has_one_rack) && (!claim.distinct_numa || numas.len() == devices.len())
        });
        all.len() == count && all.iter().all(is_free) && keeps_constraints && self.keeps_counters(&all)
    }

    /// Devices that draw nothing can be taken from a pool that is overdrawn already.
    fn keeps_counters(&self, picked: &[Pick]) -> bool {
        self.pools.iter().enumerate().all(|(index, (counter, devices))| {
            let own = || picked.iter().filter(|pick| pick.0 == index).map(|pick| self.device(*pick).draws);
            let taken: i64 = devices.iter().filter(|device| device.is_taken).map(|device| device.draws).sum();
            own().all(|draws| draws == 0) || taken + own().sum::<i64>() <= *counter
        })
    }
}

impl Claim {
    fn write(&self, index: usize) -> Value {
        let ask = |ask: &Ask| {
            let mut value = json!({ "deviceClassName": "any", "allocationMode": "ExactCount", "count": ask.count });
            if let Some(numa) = ask.numa {
                let expression = format!("device.attributes[\"{DRIVER}\"].numa == {numa}");
                value["selectors"] = json!([{ "cel": { "expression": expression } }]);
            }
            value
        };
        let requests: Vec<Value> = self
            .requests
            .iter()
            .enumerate()
            .map(|(number, asks)| match asks.as_slice() {
                [only] => json!({ "name": format!("r{number}"), "exactly": ask(only) }),
                several => {
                    let subrequests: Vec<Value> = several
                        .iter()
                        .enumerate()
                        .map(|(position, sub)| {
                            let mut value = ask(sub);
                            value["name"] = json!(format!("s{position}"));
                            value
                        })
                        .collect();
                    json!({ "name": format!("r{number}"), "firstAvailable": subrequests })
                }
            })
            .collect();
        let mut constraints = Vec::new();
        if self.match_rack {
            constraints.push(json!({ "matchAttribute": format!("{DRIVER}/rack") }));
        }
        if self.distinct_numa {
            constraints.push(json!({ "distinctAttribute": format!("{DRIVER}/numa") }));
        }
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": { "name": format!("c{index}"), "namespace": "default", "uid": format!("u{index}") },
            "spec": { "devices": { "requests": requests, "constraints": constraints } },
        })
    }
}

/// All ways to choose so many, in ascending order.
fn combinations(from: &[Pick], count: usize) -> Vec<Vec<Pick>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, first) in from.iter().enumerate() {
        for mut rest in combinations(&from[index + 1..], count - 1) {
            rest.insert(0, *first);
            all.push(rest);
        }
    }
    all
}

fn id((pool, device): Pick) -> Value {
    json!({ "driver": DRIVER, "pool": format!("p{pool}"), "device": format!("dev-{device}") })
}

fn ask(engine: &mut Engine, question: &Value) -> Value {
    let mut answer = engine.allocate(&wire::question(question.clone()).unwrap()).to_json();
    answer.as_object_mut().unwrap().remove("steps");
    answer
}

/// What an answer gives each claim; `None` when they do not fit.
fn picks(answer: &Value) -> Option<Vec<Picks>> {
    let number = |value: &Value, prefix: &str| value.as_str().unwrap().strip_prefix(prefix).unwrap().parse().unwrap();
    match answer["status"].as_str().unwrap() {
        "allocated" => {
            let of = |allocation: &Value| {
                let results = allocation["devices"]["results"].as_array().unwrap();
                let pick = |result: &Value| (number(&result["pool"], "p"), number(&result["device"], "dev-"));
                results.iter().map(|result| (result["request"].as_str().unwrap().to_owned(), pick(result))).collect()
            };
            Some(answer["allocations"].as_array().unwrap().iter().map(of).collect())
        }
        "none" => None,
        other => panic!("{other}: {answer}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_is_the_first_of_all_solutions(problem in problems()) {
        prop_assert_eq!(picks(&problem.answer()), problem.first_solution());
    }

    #[test]
    fn an_answer_breaks_no_rule(problem in problems()) {
        if let Some(chosen) = picks(&problem.answer()) {
            prop_assert!(problem.is_valid(&chosen), "{:?}", chosen);
        }
    }

    #[test]
    fn one_more_free_device_breaks_nothing(problem in problems(), numa in 0..3_i64, first in any::<bool>()) {
        if picks(&problem.answer()).is_some() {
            let mut larger = problem.clone();
            let device = Device { numa, rack: Some(0), is_taken: false, draws: 0 };
            let devices = &mut larger.pools[0].1;
            if first { devices.insert(0, device) } else { devices.push(device) }
            prop_assert!(picks(&larger.answer()).is_some());
        }
    }

    #[test]
    fn the_order_in_which_slices_arrive_makes_no_difference(problem in problems(), seed in any::<u64>()) {
        let mut slices = problem.slices();
        let count = slices.len();
        slices.rotate_left(usize::try_from(seed % count as u64).unwrap());
        if seed % 2 == 0 {
            slices.reverse();
        }
        prop_assert_eq!(ask(&mut problem.engine(&slices), &problem.question()), problem.answer());
    }

    #[test]
    fn what_is_allocated_and_given_back_leaves_no_trace(problem in problems()) {
        let mut engine = problem.engine(&problem.slices());
        let before = ask(&mut engine, &problem.question());
        if before["status"] == "allocated" {
            for (index, claim) in problem.claims.iter().enumerate() {
                let mut claim = claim.write(index);
                claim["status"] = json!({ "allocation": before["allocations"][index] });
                let findings = engine.apply([claim.to_string().as_str()]);
                prop_assert!(findings.iter().all(Vec::is_empty), "{:?}", findings);
            }
            let mut without = problem.clone();
            for (_, pick) in picks(&before).unwrap().into_iter().flatten() {
                without.pools[pick.0].1[pick.1].is_taken = true;
            }
            // The claims in the cluster hold what the question said is taken, and no more.
            prop_assert_eq!(picks(&ask(&mut engine, &problem.question())), without.first_solution());
            for index in 0..problem.claims.len() {
                let (kind, namespace) = ("ResourceClaim".to_owned(), "default".to_owned());
                let claim = apportion_core::finding::ObjectRef { kind, namespace, name: format!("c{index}") };
                prop_assert!(engine.delete(&claim));
            }
        }
        prop_assert_eq!(ask(&mut engine, &problem.question()), before);
    }
}
