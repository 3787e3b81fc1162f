//! What forks cost.

use std::time::{Duration, Instant};

use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::Profile;
use apportion_core::wire;
use serde_json::{Value, json};

use crate::worlds;

/// Nodes with devices and nothing else.
fn devices(nodes: usize, each: usize) -> Vec<Value> {
    let mut objects = vec![worlds::class()];
    for index in 0..nodes {
        let name = format!("node-{index:04}");
        let device = |gpu| json!({ "name": format!("gpu-{gpu:02}"), "attributes": { "uuid": { "string": format!("{name}-{gpu}") } } });
        objects.push(worlds::node(&name, 64, 512));
        objects.push(worlds::slice(&name, (0..each).map(device).collect()));
    }
    objects
}

/// A claim for one device.
fn one(name: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": name, "namespace": "ml" },
        "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "gpu" } }] } },
    })
}

/// The shortest of many runs.
fn best(times: u32, mut work: impl FnMut(u32)) -> Duration {
    let time = |number| {
        let start = Instant::now();
        work(number);
        start.elapsed()
    };
    (0..times).map(time).min().unwrap()
}

fn claim(number: u32, device: Option<u32>) -> String {
    let mut claim = one(&format!("claim-{number:05}"));
    if let Some(device) = device {
        let result = json!({ "request": "gpu", "driver": worlds::DRIVER, "pool": format!("node-{:04}", device / 16),
            "device": format!("gpu-{:02}", device % 16) });
        claim["status"] = json!({ "allocation": { "devices": { "results": [result] } } });
    }
    claim.to_string()
}

#[test]
#[ignore = "is of use in release mode only"]
fn a_fork_costs_what_it_changes() {
    let mut engine = Engine::new(Profile::default(), Limits::default());
    let texts: Vec<String> = devices(5_000, 16).iter().map(Value::to_string).collect();
    engine.apply(texts.iter().map(String::as_str));
    engine.apply((0..20_000).map(|number| claim(number, Some(number))).collect::<Vec<_>>().iter().map(String::as_str));
    let asked = wire::question(json!({ "claims": [one("asked")] })).unwrap();
    let prepared = engine.prepare(asked.clone()).unwrap();
    println!("every node looked at for the first time: {:?}", best(1, |_| drop(engine.fits(&asked))));
    assert_eq!(engine.allocate(&asked).to_json()["node"], "node-1250");
    println!("every node looked at again: {:?}", best(20, |_| drop(engine.fits(&asked))));
    println!("ask: {:?}", best(1_000, |_| drop(engine.allocate(&asked))));
    println!(
        "ask, prepared, as JSON: {:?}",
        best(1_000, |_| {
            wire::allocate(&mut engine, &format!(r#"[{{"prepared":{prepared}}}]"#)).unwrap();
        })
    );
    println!("fork, drop: {:?}", best(1_000, |_| drop(engine.fork())));
    println!("fork, ask, drop: {:?}", best(1_000, |_| drop(engine.fork().allocate(&asked))));
    let claims: Vec<String> = (0..1_000).map(|number| claim(20_000 + number, Some(40_000 + number * 37))).collect();
    println!(
        "fork, one claim, drop: {:?}",
        best(1_000, |number| {
            drop(engine.fork().apply([claims[number as usize].as_str()]));
        })
    );
    println!(
        "fork, ask, one claim, ask, drop: {:?}",
        best(1_000, |number| {
            let mut fork = engine.fork();
            fork.allocate(&asked);
            fork.apply([claims[number as usize].as_str()]);
            fork.allocate(&asked);
        })
    );
    let slice = texts.last().unwrap();
    println!("fork, one slice, drop: {:?}", best(1_000, |_| drop(engine.fork().apply([slice.as_str()]))));
    let mut fork = engine.fork();
    println!(
        "one claim, revert: {:?}",
        best(1_000, |number| {
            fork.apply([claims[number as usize].as_str()]);
            fork.revert();
        })
    );
    println!(
        "fork, one claim, commit: {:?}",
        best(1_000, |number| {
            let mut fork = engine.fork();
            fork.apply([claims[number as usize].as_str()]);
            assert!(engine.commit(&fork));
        })
    );
    println!(
        "one claim: {:?}",
        best(1_000, |number| {
            assert!(engine.delete(&ObjectRef {
                kind: "ResourceClaim".to_owned(),
                namespace: "ml".to_owned(),
                name: format!("claim-{:05}", 20_000 + number),
            }));
            drop(engine.apply([claims[number as usize].as_str()]));
        })
    );
}
