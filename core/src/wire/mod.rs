//! Questions and settings as JSON, for doors that speak JSON: files, the npm package, conformance cases.

pub mod batch;
pub mod controller;
pub mod simulation;

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::allocate::{Answer, ClaimNames, DeviceId, InUse, KnownQuestion, Limits, Question};
use crate::cel::Environment;
use crate::control_plane::{Build, Component};
use crate::engine::{Engine, parse, read_claim_value, read_quantity};
use crate::evaluate::{DeviceSample, read_device};
use crate::finding::{Code, Finding};
use crate::near::nearest;
use crate::profile::{Features, Mode, Profile, Ranking, Release, Version};
use crate::validate::{Circumstances, Operation, Submission, validate, validate_set};

/// Settings of an engine; all may be left out.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct Settings {
    /// Whose rules hold: `1.36` its newest patch, `1.36.2` that one, `1.38` a preview, `all`, the default, the newest release with every gate on.
    #[cfg_attr(feature = "types", ts(optional, type = "Version | `${Exclude<Version, \"all\">}.${number}`"))]
    version: Option<String>,
    /// Feature gates that differ from the version's defaults, by name.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    feature_gates: BTreeMap<String, bool>,
    /// Components that are of another version or have other gates, by the names of their programs; for simulations.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    components: BTreeMap<String, Build>,
    /// The correct answer, or the version's own with its known defects.
    #[cfg_attr(feature = "types", ts(as = "Option<Mode>"))]
    mode: Option<String>,
    /// Which node a Pod gets, of those that fit: the one that kube-scheduler scores best (the default), or the first by name.
    #[cfg_attr(feature = "types", ts(as = "Option<Ranking>"))]
    placement: Option<String>,
    /// Search steps that one question may take: one step is one device tried for one request.
    max_steps: Option<u64>,
}

/// Reads the settings of an engine: `{"version": "1.36", "featureGates": {"DRAListTypeAttributes": true}, "mode": "sound",
/// "maxSteps": 1000000}`; every field may be left out.
///
/// # Errors
///
/// A finding for every setting that is not known.
pub fn settings(value: Value) -> Result<(Profile, Limits), Vec<Finding>> {
    let settings: Settings = read(value, "")?;
    let mode = choice("mode", settings.mode.as_deref(), [("sound", Mode::Sound), ("reference", Mode::Reference)])?;
    let version = settings.version.as_deref().map_or(Ok(Version::All.into()), release)?;
    let gates = settings.feature_gates.iter().map(|(name, on)| (name.as_str(), *on));
    let rankings = [("scores", Ranking::Scores), ("first", Ranking::First)];
    let placement = choice("placement", settings.placement.as_deref(), rankings)?;
    let profile = Profile { placement, ..profile(version, gates, mode)? };
    let limits = settings.max_steps.map_or_else(Limits::default, |max_steps| Limits { max_steps });
    built(settings.components, &profile)?;
    Ok((profile, limits))
}

/// The components that settings give a version or gates of their own, each with what it is then.
///
/// # Errors
///
/// A finding for every component, version and gate that does not exist.
pub fn components(value: &Value, profile: &Profile) -> Result<Vec<(Component, Profile)>, Vec<Finding>> {
    let builds = value.get("components").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    built(read(builds, "components")?, profile)
}

fn built(builds: BTreeMap<String, Build>, profile: &Profile) -> Result<Vec<(Component, Profile)>, Vec<Finding>> {
    let (mut components, mut findings) = (Vec::new(), Vec::new());
    for (name, build) in builds {
        let read = Component::parse(&name).and_then(|component| Ok((component, build.profile(profile)?)));
        match read {
            Ok(read) => components.push(read),
            Err(message) => findings.extend(bad(format_args!("components[{name}]"), message)),
        }
    }
    if findings.is_empty() { Ok(components) } else { Err(findings) }
}

/// A release's profile with single gates changed.
///
/// # Errors
///
/// A finding for every gate that no feature has.
pub fn profile<'g>(
    release: impl Into<Release>,
    gates: impl IntoIterator<Item = (&'g str, bool)>,
    mode: Mode,
) -> Result<Profile, Vec<Finding>> {
    let mut profile = Profile { mode, ..Profile::of(release) };
    let findings: Vec<Finding> = gates
        .into_iter()
        .filter(|(name, on)| !profile.features.set(name, *on))
        .map(|(name, _)| unknown(&format!("featureGates[{name}]"), "feature gate", name, Features::gates()))
        .collect();
    if findings.is_empty() { Ok(profile) } else { Err(findings) }
}

/// "Allocate these claims together, on one of these nodes."
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "Question"))]
pub(crate) struct WireQuestion {
    /// Unallocated ResourceClaims of one Pod, in its order. They need not be in the cluster.
    #[cfg_attr(feature = "types", ts(type = "Array<unknown>"))]
    claims: Vec<Value>,
    /// Candidate nodes in the order of trying; empty or left out for all nodes by name.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    nodes: Vec<String>,
    /// What is taken beyond what the claims in the cluster say.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    in_use: WireInUse,
}

/// A question that was prepared, about the same nodes or others.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields, rename = "PreparedQuestion"))]
pub(crate) struct WirePrepared {
    /// Its number.
    prepared: u32,
    /// Candidate nodes in the order of trying; those of the question where they are left out.
    nodes: Option<Vec<String>>,
    /// What is taken beyond what the claims in the cluster say; what the question says where it is left out.
    in_use: Option<WireInUse>,
}

/// "Allocate these claims of the cluster."
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields, rename = "KnownQuestion"))]
pub(crate) struct WireKnown {
    /// Names of the claims, in the order of the question. A claim that has devices is to get others; those that it has are in use meanwhile.
    #[cfg_attr(feature = "types", ts(type = "Array<ClaimNames>"))]
    claims: Vec<WireNames>,
    /// Candidate nodes in the order of trying; empty or left out for all nodes by name.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    nodes: Vec<String>,
    /// What is taken beyond what the claims in the cluster say.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    in_use: WireInUse,
    /// Whether the cluster's claims are to have the allocations of the answer from then on.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    take: bool,
}

/// Names of claims in one namespace.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ClaimNames"))]
pub(crate) struct WireNames {
    /// Namespace; `default` where it is left out.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    namespace: String,
    /// Names, in the order of the question.
    names: Vec<String>,
}

/// What is taken beyond what the claims in the cluster say.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "InUse"))]
pub(crate) struct WireInUse {
    /// Devices taken as a whole.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    devices: Vec<WireDevice>,
    /// Shares of shared devices.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    shares: Vec<WireDevice>,
    /// Capacity taken of shared devices.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    consumed: Vec<WireDevice>,
}

/// A device that is taken.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DeviceInUse"))]
pub(crate) struct WireDevice {
    /// Driver.
    driver: String,
    /// Pool of the driver.
    pool: String,
    /// Device of the pool.
    device: String,
    /// Of a share: which one it is.
    #[serde(rename = "shareID", default)]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    share_id: String,
    /// Of capacity: Kubernetes quantities by name.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(optional, type = "{ [name: string]: string }"))]
    capacity: BTreeMap<String, Value>,
}

impl WireDevice {
    fn split(self) -> (DeviceId, String, BTreeMap<String, Value>) {
        (DeviceId { driver: self.driver, pool: self.pool, device: self.device }, self.share_id, self.capacity)
    }
}

/// Reads a question: `{"claims": [<ResourceClaim>], "nodes": ["node-a"], "inUse": {"devices": [{"driver", "pool",
/// "device"}], "shares": [{.., "shareID"}], "consumed": [{.., "capacity": {"memory": "1Gi"}}]}}`.
///
/// # Errors
///
/// A finding for everything that cannot be read.
pub fn question(value: Value) -> Result<Question, Vec<Finding>> {
    let wire: WireQuestion = read(value, "")?;
    let mut findings = Vec::new();
    let mut question = Question { nodes: wire.nodes, ..Question::default() };
    for claim in wire.claims {
        match read_claim_value(claim) {
            Ok(claim) => question.claims.push(claim),
            Err(mut errors) => findings.append(&mut errors),
        }
    }
    question.in_use = in_use(wire.in_use, &mut findings);
    if findings.is_empty() { Ok(question) } else { Err(findings) }
}

/// Reads a question for an engine: as [`question`], or `{"prepared": 7}` for one that was prepared there, with `nodes` and `inUse` where they
/// are others.
///
/// # Errors
///
/// A finding for everything that cannot be read, and for a number that no question has.
pub fn question_of(engine: &Engine, value: Value) -> Result<Question, Vec<Finding>> {
    if value.get("prepared").is_none() {
        return question(value);
    }
    prepared(engine, read(value, "")?)
}

fn prepared(engine: &Engine, wire: WirePrepared) -> Result<Question, Vec<Finding>> {
    let mut findings = Vec::new();
    let in_use = wire.in_use.map(|wire| in_use(wire, &mut findings));
    if findings.is_empty() { again(engine, wire.prepared, wire.nodes, in_use) } else { Err(findings) }
}

/// A question that was prepared, with other nodes and devices in use where they are given.
///
/// # Errors
///
/// A finding when no question has the number.
pub fn again(
    engine: &Engine,
    prepared: u32,
    nodes: Option<Vec<String>>,
    in_use: Option<InUse>,
) -> Result<Question, Vec<Finding>> {
    let known = engine.prepared(prepared).ok_or_else(|| bad("prepared", "no question has this number"))?;
    let (nodes, in_use) =
        (nodes.unwrap_or_else(|| known.nodes.clone()), in_use.unwrap_or_else(|| known.in_use.clone()));
    Ok(Question { claims: known.claims.clone(), nodes, in_use })
}

fn in_use(wire: WireInUse, findings: &mut Vec<Finding>) -> InUse {
    let mut in_use = InUse::default();
    in_use.devices.extend(wire.devices.into_iter().map(|device| device.split().0));
    in_use.shares.extend(wire.shares.into_iter().map(|device| {
        let (id, share, _) = device.split();
        (id, share)
    }));
    for device in wire.consumed {
        let (id, _, capacity) = device.split();
        let mut amounts = BTreeMap::new();
        for (name, value) in capacity {
            match read_quantity(value) {
                Ok(quantity) => drop(amounts.insert(name, quantity)),
                Err(finding) => findings.push(finding),
            }
        }
        in_use.consumed.push((id, amounts));
    }
    in_use
}

/// Answers the JSON text of one question, or of a list of them with a list of answers, none of which takes devices from another; questions
/// as [`question_of`] reads them. A question that cannot be read has the answer `{"status": "unreadable", "findings": [..]}`.
///
/// # Errors
///
/// The finding when the text is not JSON.
pub fn allocate(engine: &mut Engine, questions: &str) -> Result<String, Vec<Finding>> {
    each(engine, questions, |engine, one| engine.allocate(&one).to_text())
}

/// On which nodes the claims fit, for one question or for a list; otherwise as [`allocate`]. See [`crate::allocate::Fits::to_json`].
///
/// # Errors
///
/// As for [`allocate`].
pub fn fits(engine: &mut Engine, questions: &str) -> Result<String, Vec<Finding>> {
    each(engine, questions, |engine, one| engine.fits(&one).to_json().to_string())
}

/// Answers the JSON text of a question about claims of one Pod that are in the cluster: `{"claims": [{"namespace": "ml", "names": ["a", "b"]}],
/// "nodes", "inUse", "take": true}`. The answer is that of [`allocate`] for the same claims.
///
/// # Errors
///
/// A finding for everything that cannot be read, and when a name is that of no claim.
pub fn allocate_known(engine: &mut Engine, question: &str) -> Result<String, Vec<Finding>> {
    Ok(engine.allocate_known(&known(question)?)?.to_text())
}

/// The same for claims that are not one Pod's: each by itself, one after another, the later ones without the devices that earlier ones took where
/// answers are taken. A list with an answer per claim, until one finds no place; after that none is asked.
///
/// # Errors
///
/// As for [`allocate_known`]; then none is asked at all.
pub fn allocate_each(engine: &mut Engine, question: &str) -> Result<String, Vec<Finding>> {
    let answers = engine.allocate_each(&known(question)?)?;
    Ok(list(answers.iter().map(Answer::to_text)))
}

fn known(text: &str) -> Result<KnownQuestion, Vec<Finding>> {
    let wire: WireKnown = serde_json::from_str(text).map_err(|error| match parse(text) {
        Ok(_) => bad("", error.to_string()),
        Err(finding) => vec![finding],
    })?;
    let named = |WireNames { namespace, names }| ClaimNames {
        namespace: if namespace.is_empty() { "default".to_owned() } else { namespace },
        names,
    };
    let claims = wire.claims.into_iter().map(named).collect();
    let mut findings = Vec::new();
    let in_use = in_use(wire.in_use, &mut findings);
    if findings.is_empty() {
        Ok(KnownQuestion { claims, nodes: wire.nodes, in_use, take: wire.take })
    } else {
        Err(findings)
    }
}

/// Keeps a question, so that its claims are read once and asked about often: `{"prepared": 7}`, which [`question_of`] reads again.
///
/// # Errors
///
/// As for [`question`].
pub fn prepare(engine: &mut Engine, value: Value) -> Result<Value, Vec<Finding>> {
    let number = engine.prepare(question(value)?).ok_or_else(|| bad("", "all numbers were given"))?;
    Ok(json!({ "prepared": number }))
}

/// Drops a question that was prepared, `{"prepared": 7}`: whether there was one.
///
/// # Errors
///
/// A finding for everything that cannot be read.
pub fn forget(engine: &mut Engine, value: Value) -> Result<Value, Vec<Finding>> {
    let wire: WirePrepared = read(value, "")?;
    Ok(json!(engine.forget(wire.prepared)))
}

/// Answers a question with a JSON text.
type Ask = fn(&mut Engine, Question) -> String;

fn each(engine: &mut Engine, questions: &str, ask: Ask) -> Result<String, Vec<Finding>> {
    // Those that were prepared are asked often, and need no tree.
    if let Ok(all) = serde_json::from_str::<Vec<WirePrepared>>(questions) {
        return Ok(list(all.into_iter().map(|one| {
            let question = prepared(engine, one);
            answer(engine, question, ask)
        })));
    }
    let mut one = |value| {
        let question = question_of(engine, value);
        answer(engine, question, ask)
    };
    Ok(match parse(questions).map_err(|finding| vec![finding])? {
        Value::Array(all) => list(all.into_iter().map(one)),
        value => one(value),
    })
}

fn answer(engine: &mut Engine, question: Result<Question, Vec<Finding>>, ask: Ask) -> String {
    match question {
        Ok(question) => ask(engine, question),
        Err(findings) => unreadable(&findings).to_string(),
    }
}

/// A JSON list of JSON texts.
fn list(texts: impl Iterator<Item = String>) -> String {
    format!("[{}]", texts.collect::<Vec<_>>().join(","))
}

/// "Does this selector accept this device?"
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields, rename = "SelectorQuestion"))]
pub(crate) struct WireEvaluation {
    /// The CEL expression.
    expression: String,
    /// Whether the expression is stored already, as for the scheduler, or new, as for the API server; `stored` if left out.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<Stage>"))]
    environment: Option<String>,
    /// Whose rules hold; `1.36` if left out.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<Version>"))]
    version: Option<String>,
    /// What the expression may use.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    features: WireFeatures,
    /// The device, as in a ResourceSlice, with its driver.
    #[cfg_attr(feature = "types", ts(type = "{ driver: string; [field: string]: unknown }"))]
    device: Value,
}

/// Whether an expression is stored already, as for the scheduler, or new, as for the API server.
#[cfg(feature = "types")]
#[derive(ts_rs::TS)]
#[ts(rename_all = "lowercase")]
#[expect(dead_code, reason = "read by name")]
pub(crate) enum Stage {
    Stored,
    New,
}

/// What an expression may use.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "SelectorFeatures"))]
pub(crate) struct WireFeatures {
    /// Feature `DRAConsumableCapacity`: `device.allowMultipleAllocations`.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    consumable_capacity: bool,
    /// Feature `DRAListTypeAttributes`: lists as attributes, `includes`.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    list_type_attributes: bool,
}

/// A question about one selector, for [`crate::evaluate::evaluate`].
#[derive(Clone, PartialEq, Debug)]
pub struct SelectorQuestion {
    /// The expression.
    pub expression: String,
    /// The device.
    pub device: DeviceSample,
    /// What the expression may use.
    pub environment: Environment,
}

/// Reads a question about one selector: `{"expression", "environment": "stored" | "new", "version": "1.36",
/// "features": {"consumableCapacity", "listTypeAttributes"}, "device": {"driver", "attributes", "capacity",
/// "allowMultipleAllocations"}}`. The environment is `stored` and the version 1.36 where left out.
///
/// # Errors
///
/// A finding for everything that cannot be read.
pub fn selector(value: Value) -> Result<SelectorQuestion, Vec<Finding>> {
    let wire: WireEvaluation = read(value, "")?;
    let stored = choice("environment", wire.environment.as_deref(), [("stored", true), ("new", false)])?;
    let Release { version, .. } = release(wire.version.as_deref().unwrap_or("1.36"))?;
    let environment = Environment {
        stored,
        consumable_capacity: wire.features.consumable_capacity,
        list_type_attributes: wire.features.list_type_attributes,
        version,
    };
    Ok(SelectorQuestion { expression: wire.expression, device: read_device(wire.device)?, environment })
}

/// One request to the API server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields, rename = "Submission"))]
pub(crate) struct WireSubmission {
    /// The object as it is sent.
    #[cfg_attr(feature = "types", ts(type = "unknown"))]
    object: Value,
    /// The object as it is stored; for updates.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(optional, type = "unknown"))]
    old_object: Option<Value>,
    /// What is done with it; `create` when left out.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(as = "Option<Operation>"))]
    operation: Option<String>,
    /// Whether the object's namespace has the label that allows admin access; left out where that is not known.
    #[serde(default)]
    admin_namespace: Option<bool>,
    /// Whether the user has the extra permissions that some changes of a claim's status need; true when left out.
    #[serde(default)]
    authorized: Option<bool>,
}

/// Reads a request to the API server: `{"object": {..}, "oldObject": {..}, "operation": "create" | "update" |
/// "statusUpdate", "adminNamespace": true, "authorized": true}`. All but `object` may be left out; the operation is then
/// `create`, nothing is known of the namespace, and the user may do everything.
///
/// # Errors
///
/// A finding for everything that cannot be read.
pub fn submission(value: Value) -> Result<Submission, Vec<Finding>> {
    let wire: WireSubmission = read(value, "")?;
    let known =
        [("create", Operation::Create), ("update", Operation::Update), ("statusUpdate", Operation::StatusUpdate)];
    let operation = choice("operation", wire.operation.as_deref(), known)?;
    let circumstances =
        Circumstances { admin_namespace: wire.admin_namespace, authorized: wire.authorized.unwrap_or(true) };
    Ok(Submission { object: wire.object, old: wire.old_object, operation, circumstances })
}

/// A question about manifests.
#[derive(Clone, PartialEq, Debug)]
pub enum ValidationQuestion {
    /// What the API server answers to one request.
    One(Profile, Box<Submission>),
    /// What only shows when objects are seen together.
    Set(Profile, Vec<Value>),
}

impl ValidationQuestion {
    /// The answer: `{"findings": [..]}`; for a set a list per object.
    pub fn answer(self) -> Value {
        match self {
            Self::One(profile, submission) => json!({ "findings": validate(*submission, &profile) }),
            Self::Set(profile, objects) => json!({ "findings": validate_set(&objects, &profile) }),
        }
    }
}

/// Reads a question about manifests: `{"settings": .., "submission": ..}` or `{"settings": .., "objects": [..]}`, the
/// parts as [`settings`] and [`submission`] read them; the settings may be left out.
///
/// # Errors
///
/// A finding for everything that cannot be read.
pub fn validation(mut value: Value) -> Result<ValidationQuestion, Vec<Finding>> {
    let mut part = |name: &str| value.get_mut(name).map(Value::take);
    let (profile, _) = settings(part("settings").unwrap_or_else(|| json!({})))?;
    match (part("submission"), part("objects")) {
        (Some(one), None) => Ok(ValidationQuestion::One(profile, Box::new(submission(one)?))),
        (None, Some(Value::Array(objects))) => Ok(ValidationQuestion::Set(profile, objects)),
        _ => Err(bad("", "a question about manifests has either a `submission` or a list `objects`")),
    }
}

fn release(text: &str) -> Result<Release, Vec<Finding>> {
    Release::parse(text).ok_or_else(|| vec![unknown("version", "Kubernetes version", text, Release::KNOWN)])
}

/// What a text stands for; the first where it is left out.
fn choice<T: Copy, const N: usize>(path: &str, text: Option<&str>, known: [(&str, T); N]) -> Result<T, Vec<Finding>> {
    let found = known.iter().find(|(name, _)| text.is_none_or(|text| text == *name));
    let names = known.iter().map(|(name, _)| *name);
    found.map(|(_, value)| *value).ok_or_else(|| vec![unknown(path, path, text.unwrap_or_default(), names)])
}

fn unknown<'n>(path: &str, what: &str, text: &str, known: impl IntoIterator<Item = &'n str>) -> Finding {
    let known: Vec<&str> = known.into_iter().collect();
    let finding = Finding::new(Code::ReadBadSettings, path, format!("there is no {what} `{text}`"));
    finding.with_hint(match nearest(text, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", known.join(", ")),
    })
}

fn bad(path: impl Display, message: impl Into<String>) -> Vec<Finding> {
    vec![Finding::new(Code::ReadBadSettings, path, message)]
}

fn read<T: DeserializeOwned>(value: Value, path: &str) -> Result<T, Vec<Finding>> {
    serde_json::from_value(value).map_err(|error| bad(path, error.to_string()))
}

/// The answer of a call that cannot be read.
fn unreadable(findings: &[Finding]) -> Value {
    json!({ "status": "unreadable", "findings": findings })
}

fn no_call(name: &str) -> Vec<Finding> {
    bad(name, format!("there is no call `{name}`"))
}

fn texts(objects: &[Value]) -> Vec<String> {
    objects.iter().map(Value::to_string).collect()
}
