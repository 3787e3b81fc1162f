//! Records of the contract to the core's types.

use std::collections::BTreeMap;

use apportion_core::allocate::{ClaimNames, DeviceId, InUse, KnownQuestion, Question};
use apportion_core::api::quantity::Quantity;
use apportion_core::cel::Environment;
use apportion_core::engine::{self, Engine, read_claim, read_quantity};
use apportion_core::evaluate::{DeviceSample, read_device};
use apportion_core::finding::{Finding, ObjectRef};
use apportion_core::profile::{Mode, Profile, Ranking, Release, Version};
use apportion_core::validate::{Circumstances, Operation, Submission};
use apportion_core::wire;

use crate::bindings::exports::apportion::dra::decisions as wit;
use crate::bindings::exports::apportion::dra::{selectors, validation};

pub(crate) fn profile(profile: &wit::Profile) -> Result<Profile, Vec<Finding>> {
    let mode = match profile.mode {
        wit::Mode::Sound => Mode::Sound,
        wit::Mode::Reference => Mode::Reference,
    };
    let placement = match profile.placement {
        wit::Ranking::First => Ranking::First,
        wit::Ranking::Scores => Ranking::Scores,
    };
    let release = Release::new(version(profile.version), profile.patch);
    let gates = profile.gates.iter().map(|gate| (gate.name.as_str(), gate.enabled));
    Ok(Profile { placement, ..wire::profile(release, gates, mode)? })
}

fn version(version: wit::Version) -> Version {
    match version {
        wit::Version::V1Dot34 => Version::V1_34,
        wit::Version::V1Dot35 => Version::V1_35,
        wit::Version::V1Dot36 => Version::V1_36,
        wit::Version::V1Dot37 => Version::V1_37,
        wit::Version::V1Dot38 => Version::V1_38,
        wit::Version::All => Version::All,
    }
}

pub(crate) fn device(text: &str) -> Result<DeviceSample, Vec<Finding>> {
    read_device(engine::parse(text).map_err(|finding| vec![finding])?)
}

pub(crate) fn environment(
    environment: selectors::Environment,
    of: wit::Version,
    features: selectors::Features,
) -> Environment {
    Environment {
        stored: environment == selectors::Environment::Stored,
        consumable_capacity: features.consumable_capacity,
        list_type_attributes: features.list_type_attributes,
        version: version(of),
    }
}

pub(crate) fn submission(submission: validation::Submission) -> Result<Submission, Finding> {
    let old = submission.old.as_deref().map(engine::parse).transpose();
    let circumstances = submission.circumstances;
    Ok(Submission {
        object: engine::parse(&submission.object)?,
        old: old?,
        operation: match submission.operation {
            validation::Operation::Create => Operation::Create,
            validation::Operation::Update => Operation::Update,
            validation::Operation::StatusUpdate => Operation::StatusUpdate,
        },
        circumstances: Circumstances {
            admin_namespace: circumstances.admin_namespace,
            authorized: circumstances.authorized,
        },
    })
}

pub(crate) fn object_ref(object: wit::ObjectRef) -> ObjectRef {
    ObjectRef { kind: object.kind, namespace: object.namespace, name: object.name }
}

pub(crate) fn question(question: wit::Question) -> Result<Question, Vec<Finding>> {
    let mut findings = Vec::new();
    let mut claims = Vec::with_capacity(question.claims.len());
    for text in &question.claims {
        match read_claim(text) {
            Ok(claim) => claims.push(claim),
            Err(mut errors) => findings.append(&mut errors),
        }
    }
    let in_use = in_use(question.in_use, &mut findings);
    if findings.is_empty() { Ok(Question { claims, nodes: question.nodes, in_use }) } else { Err(findings) }
}

/// A question, in full or prepared.
pub(crate) fn asked(engine: &Engine, asked: wit::Asked) -> Result<Question, Vec<Finding>> {
    let wit::PreparedQuestion { prepared, nodes, in_use } = match asked {
        wit::Asked::Question(asked) => return question(asked),
        wit::Asked::Prepared(asked) => asked,
    };
    let mut findings = Vec::new();
    let in_use = in_use.map(|taken| self::in_use(taken, &mut findings));
    if findings.is_empty() { wire::again(engine, prepared, nodes, in_use) } else { Err(findings) }
}

pub(crate) fn known_question(question: wit::KnownQuestion) -> Result<KnownQuestion, Vec<Finding>> {
    let mut findings = Vec::new();
    let names = |of: wit::ClaimNames| ClaimNames { namespace: of.namespace, names: of.names };
    let claims = question.claims.into_iter().map(names).collect();
    let in_use = in_use(question.in_use, &mut findings);
    let question = KnownQuestion { claims, nodes: question.nodes, in_use, take: question.take };
    if findings.is_empty() { Ok(question) } else { Err(findings) }
}

fn in_use(in_use: wit::InUse, findings: &mut Vec<Finding>) -> InUse {
    InUse {
        devices: in_use.devices.into_iter().map(device_id).collect(),
        shares: in_use.shares.into_iter().map(|share| (device_id(share.id), share.share_id)).collect(),
        consumed: in_use
            .consumed
            .into_iter()
            .map(|consumed| (device_id(consumed.id), amounts(consumed.capacity, findings)))
            .collect(),
    }
}

fn device_id(id: wit::DeviceId) -> DeviceId {
    DeviceId { driver: id.driver, pool: id.pool, device: id.device }
}

fn amounts(amounts: Vec<wit::Amount>, findings: &mut Vec<Finding>) -> BTreeMap<String, Quantity> {
    let mut read = BTreeMap::new();
    for amount in amounts {
        match read_quantity(amount.quantity.into()) {
            Ok(quantity) => drop(read.insert(amount.name, quantity)),
            Err(finding) => findings.push(finding),
        }
    }
    read
}
