//! Scenario files and generated scenarios, read into what is measured.

use std::rc::Rc;

use anyhow::{Context, Result, bail};
use apportion_core::allocate::{Answer, Limits, Outcome, Question};
use apportion_core::api::claim::ResourceClaim;
use apportion_core::engine::read_claim_value;
use apportion_core::finding::Finding;
use apportion_core::profile::Profile;
use apportion_core::wire;
use serde_json::{Value, json};

use super::shapes;
use crate::allocator::{self, Mode};

/// A scenario, or one parameter set of it, not yet expanded: the largest have thousands of nodes.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the workload.
    pub id: String,
    scenario: Rc<Value>,
    set: Option<Value>,
}

/// What one operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One question.
    Question,
    /// Claims one after the other until one does not fit.
    Sequence,
}

/// The outcome that must come out before anything is measured.
#[derive(Clone, PartialEq, Debug)]
enum Expected {
    /// As in the conformance vectors.
    Outcome(Value),
    /// So many claims of a sequence.
    Claims(u64),
    /// The node and the device of the only claim.
    Place(String, String),
}

/// A workload, ready to be set up.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name.
    pub id: String,
    /// What one operation is.
    pub kind: Kind,
    /// The Kubernetes asked.
    pub profile: Profile,
    /// The limits of one question.
    pub limits: Limits,
    /// Everything in the cluster, as JSON texts.
    pub objects: Vec<String>,
    /// The question; for a sequence, without claims.
    pub question: Question,
    /// The claims of a sequence, repeated as often as one operation can need, each under a name of its own.
    pub claims: Vec<ResourceClaim>,
    expected: Expected,
    /// The same for the reference.
    reference: Value,
}

/// All workloads.
pub fn sources() -> Vec<Source> {
    shapes::all().into_iter().flat_map(split).collect()
}

/// One source per parameter set.
pub fn split(scenario: Value) -> Vec<Source> {
    let text = |value: &Value| value.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let scenario = Rc::new(scenario);
    match scenario.get("parameterSets").and_then(Value::as_array) {
        Some(sets) => sets
            .iter()
            .map(|set| Source { id: text(set), scenario: Rc::clone(&scenario), set: Some(set.clone()) })
            .collect(),
        None => vec![Source { id: text(&scenario), scenario: Rc::clone(&scenario), set: None }],
    }
}

impl Source {
    /// The scenario as it is written.
    pub fn scenario(&self) -> &Value {
        &self.scenario
    }

    /// Makes the objects, the question and what must come out.
    ///
    /// # Errors
    ///
    /// When the scenario does not keep to its schema.
    pub fn expand(&self) -> Result<Workload> {
        self.try_expand().with_context(|| format!("scenario `{}`", self.id))
    }

    fn try_expand(&self) -> Result<Workload> {
        let scenario = self.scenario.as_ref();
        let list = |name: &str| scenario.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let (mut nodes, mut slices, mut used) = (Vec::new(), list("slices"), list("allocatedDevices"));
        let mut node = None;
        match &self.set {
            Some(set) => (nodes, slices, used) = expand_nodes(scenario, set)?,
            None => {
                nodes.push(scenario.get("node").cloned().context("no node")?);
                node = scenario.pointer("/node/metadata/name").and_then(Value::as_str).map(str::to_owned);
            }
        }
        let kind = match scenario.get("kind").and_then(Value::as_str) {
            Some("single" | "nodes") => Kind::Question,
            Some("sequence") => Kind::Sequence,
            other => bail!("unknown kind {other:?}"),
        };
        let expected = self.expected()?;
        let asked = allocator::asked(&json!({ "features": scenario.get("features") }), Mode::Sound);
        let (profile, limits) = wire::settings(asked.settings).map_err(|findings| refused(&findings))?;
        let mut question = wire::question(json!({
            "claims": list("claims"),
            "nodes": node.into_iter().collect::<Vec<_>>(),
            "inUse": { "shares": list("allocatedSharedDevices"), "consumed": list("consumedCapacity") },
        }))
        .map_err(|findings| refused(&findings))?;
        let mut claims = Vec::new();
        if let Expected::Claims(count) = &expected {
            question.claims.clear();
            let cycle = list("claimCycle");
            for (index, claim) in cycle.iter().cycle().take(usize::try_from(*count)?.saturating_add(1)).enumerate() {
                let mut claim = read_claim_value(claim.clone()).map_err(|findings| refused(&findings))?;
                claim.metadata.name = format!("claim-{index}");
                claims.push(claim);
            }
        }
        let classes = list("classes");
        let reference = json!({
            "id": self.id, "kind": scenario.get("kind"), "features": scenario.get("features"),
            "classes": classes.clone(), "claims": list("claims"), "claimCycle": list("claimCycle"),
            "allocatedSharedDevices": list("allocatedSharedDevices"),
            "consumedCapacity": list("consumedCapacity"), "allocatedDevices": used.clone(),
            "nodes": nodes.clone(), "slices": slices.clone(),
        });
        let holders = used.chunks(32).enumerate().map(|(index, devices)| holder(index, devices));
        let objects = nodes.iter().chain(&classes).chain(&slices).map(Value::to_string);
        let objects = objects.chain(holders.map(|claim| claim.to_string())).collect();
        Ok(Workload { id: self.id.clone(), kind, profile, limits, objects, question, claims, expected, reference })
    }

    fn expected(&self) -> Result<Expected> {
        if let Some(set) = &self.set {
            let index = set.get("expectedNodeIndex").and_then(Value::as_u64).context("no expectedNodeIndex")?;
            let device = set.get("expectedDevice").and_then(Value::as_str).context("no expectedDevice")?;
            return Ok(Expected::Place(node_name(index), device.to_owned()));
        }
        if let Some(count) = self.scenario.get("expectedAllocatedClaims").and_then(Value::as_u64) {
            return Ok(Expected::Claims(count));
        }
        Ok(Expected::Outcome(self.scenario.get("expected").cloned().context("no expected outcome")?))
    }
}

fn refused(findings: &[Finding]) -> anyhow::Error {
    anyhow::anyhow!("{}", serde_json::to_string(findings).unwrap_or_default())
}

fn node_name(index: u64) -> String {
    format!("node-{index:05}")
}

/// A claim that holds devices.
fn holder(index: usize, devices: &[Value]) -> Value {
    let results: Vec<Value> = devices
        .iter()
        .map(|device| {
            let mut result = device.clone();
            if let Some(map) = result.as_object_mut() {
                map.insert("request".to_owned(), json!("held"));
            }
            result
        })
        .collect();
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": { "name": format!("holder-{index}"), "namespace": "holders" }, "spec": {},
        "status": { "allocation": { "devices": { "results": results } } },
    })
}

type Expanded = (Vec<Value>, Vec<Value>, Vec<Value>);

fn expand_nodes(scenario: &Value, set: &Value) -> Result<Expanded> {
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64).context(name.to_owned());
    let (count, percent) = (number(set, "nodes")?, number(set, "usedPercent")?);
    let per_node = number(scenario, "devicesPerNode")?;
    let template = |name: &str| scenario.get(name).map(Value::to_string).context(name.to_owned());
    let (node, slice) = (template("nodeTemplate")?, template("sliceTemplate")?);
    let (mut nodes, mut slices, mut used) = (Vec::new(), Vec::new(), Vec::new());
    let full = per_node * count * percent / 100;
    for index in 0..count {
        let name = node_name(index);
        nodes.push(serde_json::from_str(&node.replace("${node}", &name))?);
        let slice: Value = serde_json::from_str(&slice.replace("${node}", &name))?;
        let left = full.saturating_sub(index * per_node).min(per_node);
        let driver = slice.pointer("/spec/driver").cloned().unwrap_or_default();
        used.extend((0..left).map(|j| json!({ "driver": driver, "pool": name, "device": format!("gpu-{j}") })));
        slices.push(slice);
    }
    Ok((nodes, slices, used))
}

impl Workload {
    /// The workload as the reference program reads it.
    pub fn reference(&self) -> &Value {
        &self.reference
    }

    /// How many claims of a sequence fit.
    pub fn claim_count(&self) -> u64 {
        match self.expected {
            Expected::Claims(count) => count,
            Expected::Outcome(_) | Expected::Place(..) => 0,
        }
    }

    /// Compares an answer with what must come out.
    ///
    /// # Errors
    ///
    /// What differs, in one line.
    pub fn check(&self, answer: &Answer) -> Result<(), String> {
        match (&self.expected, &answer.outcome) {
            (Expected::Place(node, device), Outcome::Allocated { node: got, allocations }) => {
                let first = allocations.first().and_then(|allocation| allocation.devices.results.first());
                let got_device = first.map_or("", |result| result.device.as_str());
                if node == got && device == got_device {
                    Ok(())
                } else {
                    Err(format!("expected {device} of {node}, got {got_device} of {got}"))
                }
            }
            (Expected::Outcome(expected), Outcome::Failed { .. })
                if expected.get("status") == Some(&json!("error")) && expected.get("error").is_none() =>
            {
                Ok(())
            }
            (Expected::Outcome(expected), _) => {
                allocator::check(&json!({ "expected": expected }), Mode::Sound, &answer.to_json().to_string())
            }
            (_, other) => Err(format!("the claim is not allocated: {}", summary(other))),
        }
    }
}

fn summary(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Allocated { node, .. } => format!("allocated on {node}"),
        Outcome::Unsatisfied { nodes } => format!("refused by {} nodes", nodes.len()),
        Outcome::Failed { failure, .. } => format!("failed: {}", failure.finding.message),
        Outcome::GaveUp { node, .. } => format!("gave up on {node}"),
    }
}
