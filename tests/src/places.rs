//! Places of Pods: generated clusters, answered by the native core and by a release's own kube-scheduler, and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Result;
use apportion_core::allocate::Limits;
use apportion_core::decision::Time;
use apportion_core::engine::Engine;
use apportion_core::profile::{Mode, Profile, Ranking, Release, Version};
use apportion_core::scheduler::{self, NodeCache, Places, Plugin, Settings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::differential::Tally;
use crate::reference;

/// When the Pods of the clusters look for a place: after all that happened in them.
const NOW: Time = Time::from_seconds(1_767_312_000);

/// What became of a cluster's Pod, as both sides say it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Answer {
    /// Nodes that fit, by name.
    feasible: BTreeSet<String>,
    /// What each other node has against the Pod.
    refused: BTreeMap<String, Refusal>,
    /// What each plugin gives each node that fits; a plugin that is left out gives nothing.
    scores: BTreeMap<String, BTreeMap<String, i64>>,
    /// The sums with the weights.
    total: BTreeMap<String, i64>,
    /// Who goes from which node; ours has only the node that is chosen.
    candidates: BTreeMap<String, Candidate>,
    /// Candidates that may be chosen.
    best: BTreeSet<String>,
    /// The sentence about a Pod that fits nowhere.
    message: String,
    /// What went wrong.
    error: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Refusal {
    reasons: BTreeSet<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Candidate {
    victims: Vec<String>,
    violations: i64,
}

impl Answer {
    /// What became of the Pod, in a word.
    fn status(&self) -> &'static str {
        match self {
            _ if !self.error.is_empty() => "error",
            _ if !self.feasible.is_empty() => "fits",
            _ if !self.candidates.is_empty() => "preempts",
            _ => "unschedulable",
        }
    }
}

/// Compares the native core with kube-scheduler on clusters; a difference is written below `target/differences`.
///
/// # Errors
///
/// When the program with kube-scheduler breaks or a file cannot be written.
pub fn compare(root: &Path, program: &Path, version: Version, cases: &[Value]) -> Result<Tally> {
    let answers = reference::ask(program, cases)?;
    let mut tally = Tally::default();
    for (case, answer) in cases.iter().zip(answers) {
        let theirs: Answer = serde_json::from_value(answer.clone())?;
        let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
        *tally.statuses.entry(theirs.status().to_owned()).or_default() += 1;
        *tally.themes.entry(text("theme").to_owned()).or_default() += 1;
        let ours = ours(case, version);
        let differences = differences(&theirs, &ours);
        if differences.is_empty() {
            tally.passed += 1;
            continue;
        }
        let mut cause = is_due_to_nominated(program, version, case)?.then_some("nominated");
        if cause.is_none() && is_drawn(program, case, &ours)? {
            cause = Some("drawn");
        }
        if let Some(cause) = cause {
            *tally.defects.entry(cause.to_owned()).or_default() += 1;
            tally.passed += 1;
            continue;
        }
        tally.failed += 1;
        let (id, theme) = (text("id"), text("theme"));
        for kind in differences.iter().map(|(kind, _)| *kind).collect::<BTreeSet<_>>() {
            *tally.differences.entry(format!("{theme}: {kind}")).or_default() += 1;
        }
        let file = root.join("target/differences").join(format!("{id}-{version}.json"));
        fs::create_dir_all(root.join("target/differences"))?;
        let mut whole = case.clone();
        if let Some(map) = whole.as_object_mut() {
            map.insert("expected".to_owned(), answer);
            map.insert("got".to_owned(), json!(ours));
        }
        fs::write(&file, serde_json::to_string_pretty(&whole)?)?;
        let why: Vec<String> = differences.iter().map(|(kind, text)| format!("{kind}: {text}")).collect();
        println!("FAILED {id} {theme} ({}):\n  {}", file.display(), why.join("\n  "));
    }
    Ok(tally)
}

/// Whether a difference is there only because Pods are nominated for nodes: without those that are, both answer the same. kube-scheduler
/// counts them only when it filters the node that they are nominated for, and not when it scores.
fn is_due_to_nominated(program: &Path, version: Version, case: &Value) -> Result<bool> {
    let mut without = case.clone();
    let Some(objects) = without.get_mut("objects").and_then(Value::as_array_mut) else { return Ok(false) };
    let before = objects.len();
    objects.retain(|object| object.pointer("/status/nominatedNodeName").is_none());
    if objects.len() == before {
        return Ok(false);
    }
    let answers = reference::ask(program, std::slice::from_ref(&without))?;
    let theirs: Answer = serde_json::from_value(answers.into_iter().next().unwrap_or_default())?;
    Ok(differences(&theirs, &ours(&without, version)).is_empty())
}

/// How often a question is asked again where the answer depends on chance: in so many rounds of so many. Each node has a chance of its own, so that
/// one answer for many nodes may be rare.
const ROUNDS: usize = 20;
const DRAWS: usize = 60;

/// Whether kube-scheduler sometimes gives our answer: it takes the volumes of a class in a random order, and up to 1.35 the pools of devices as well.
fn is_drawn(program: &Path, case: &Value, ours: &Answer) -> Result<bool> {
    for _ in 0..ROUNDS {
        for answer in reference::ask(program, &vec![case.clone(); DRAWS])? {
            if differences(&serde_json::from_value(answer)?, ours).is_empty() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The native core's answer.
fn ours(case: &Value, version: Version) -> Answer {
    let features = Profile::of(Release::from(version)).features;
    let mode = if case.get("mode").and_then(Value::as_str) == Some("sound") { Mode::Sound } else { Mode::Reference };
    let profile = Profile { mode, placement: Ranking::Scores, features, ..Profile::of(Release::from(version)) };
    let mut engine = Engine::new(profile.clone(), Limits::default());
    let mut objects: Vec<&Value> = case.get("objects").and_then(Value::as_array).into_iter().flatten().collect();
    // As the API server lists them to a scheduler that starts: which of two like Pods came first decides who has to go.
    objects.sort_by_key(|object| {
        ["/metadata/namespace", "/metadata/name"].map(|path| object.pointer(path).and_then(Value::as_str))
    });
    let texts: Vec<String> =
        objects.into_iter().chain(case.get("schedulerConfiguration")).map(Value::to_string).collect();
    engine.apply(texts.iter().map(String::as_str));
    let mut cluster = engine.cluster().clone();
    let mut book = NodeCache::new(&cluster);
    let limits = Limits::default();
    let settings = Settings {
        profile: &profile,
        limits: &limits,
        now: NOW,
        records_failures: true,
        records_scores: true,
        preempts: true,
    };
    let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let found = scheduler::places(&mut cluster, &mut book, settings, &(text("namespace"), text("pod")));
    found.map_or_else(|| Answer { error: "held".to_owned(), ..Answer::default() }, said)
}

fn said(places: Places) -> Answer {
    let nodes = || places.scores.iter().flat_map(|scores| &scores.nodes);
    let plugins = |scores: [i64; Plugin::ALL.len()]| {
        Plugin::ALL.iter().zip(scores).map(|(plugin, score)| (plugin.name().to_owned(), score)).collect()
    };
    let candidate = |takeover: &scheduler::Takeover| Candidate {
        victims: takeover.victims.iter().map(|(namespace, name)| format!("{namespace}/{name}")).collect(),
        violations: i64::try_from(takeover.violations).unwrap_or(i64::MAX),
    };
    let takeover = places.takeover.as_ref();
    Answer {
        feasible: nodes().map(|scores| scores.node.clone()).collect(),
        scores: nodes().map(|scores| (scores.node.clone(), plugins(scores.plugins))).collect(),
        total: nodes().map(|scores| (scores.node.clone(), scores.total)).collect(),
        refused: places
            .refused
            .into_iter()
            .map(|(node, reasons)| (node, Refusal { reasons: reasons.into_iter().collect() }))
            .collect(),
        candidates: takeover.map(|takeover| (takeover.node.clone(), candidate(takeover))).into_iter().collect(),
        best: takeover.map(|takeover| takeover.node.clone()).into_iter().collect(),
        message: places.message.unwrap_or_default(),
        error: String::new(),
    }
}

/// What differs, by kind, with the details of each.
fn differences(theirs: &Answer, ours: &Answer) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if !theirs.error.is_empty() || !ours.error.is_empty() {
        // kube-scheduler says what went wrong first, which depends on chance.
        let is_told = !ours.error.is_empty() || ours.message.contains(theirs.error.trim());
        if theirs.error.is_empty() || !is_told {
            all.push(("error", format!("expected `{}`, got `{}{}`", theirs.error, ours.error, ours.message)));
        }
        return all;
    }
    if theirs.feasible != ours.feasible {
        all.push(("feasible", format!("expected {:?}, got {:?}", theirs.feasible, ours.feasible)));
    }
    for (node, refusal) in &theirs.refused {
        let own = ours.refused.get(node);
        if own.is_some_and(|own| own != refusal) {
            let own = own.map(|own| &own.reasons);
            all.push(("refused", format!("{node}: expected {:?}, got {own:?}", refusal.reasons)));
        }
    }
    if theirs.feasible == ours.feasible {
        for (node, scores) in &theirs.scores {
            let own = ours.scores.get(node).cloned().unwrap_or_default();
            for (plugin, score) in &own {
                let expected = scores.get(plugin).copied().unwrap_or_default();
                if expected != *score {
                    all.push(("scores", format!("{node} {plugin}: expected {expected}, got {score}")));
                }
            }
            let unknown = scores.iter().filter(|(plugin, score)| **score != 0 && !own.contains_key(*plugin));
            all.extend(
                unknown.map(|(plugin, score)| ("scores", format!("{node} {plugin}: expected {score}, is not known"))),
            );
        }
        if theirs.total != ours.total && all.iter().all(|(kind, _)| *kind != "scores") {
            all.push(("total", format!("expected {:?}, got {:?}", theirs.total, ours.total)));
        }
    }
    match ours.candidates.first_key_value() {
        None if theirs.best.is_empty() => {}
        None => all.push(("victims", format!("expected {:?}, got none", theirs.best))),
        Some((node, own)) if !theirs.best.contains(node) => {
            let expected = theirs.candidates.get(node);
            all.push((
                "victims",
                format!("expected one of {:?}, got {node}: {own:?}, there expected {expected:?}", theirs.best),
            ));
        }
        Some((node, own)) => {
            let expected = theirs.candidates.get(node);
            if expected != Some(own) {
                all.push(("victims", format!("{node}: expected {expected:?}, got {own:?}")));
            }
        }
    }
    let (expected, own) = (plain(&theirs.message), plain(&ours.message));
    if expected != own && all.is_empty() {
        all.push(("message", format!("expected `{expected}`, got `{own}`")));
    }
    all
}

/// A sentence without the node that was drawn.
fn plain(message: &str) -> String {
    match message.split_once("placement for pod on node ") {
        Some((before, after)) => {
            format!("{before}placement for pod on node {}", after.split_once(',').map_or("", |(_, victims)| victims))
        }
        None => message.to_owned(),
    }
}

/// The case of a seed.
pub fn make(seed: u64, version: Version) -> Value {
    crate::generate::places::cluster(seed, version)
}
