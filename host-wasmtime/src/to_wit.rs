//! The core's types to records of the contract.

use std::collections::BTreeMap;
use std::sync::Arc;

use apportion_core::allocate::{ClaimNames, DeviceId, InUse, KnownQuestion, Question};
use apportion_core::api::claim::ResourceClaim;
use apportion_core::api::object::Object;
use apportion_core::api::quantity::Quantity;
use apportion_core::finding::ObjectRef;
use apportion_core::profile::{Features, Mode, Profile, Ranking, Version};

use crate::bindings::exports::apportion::dra::decisions as wit;

pub(crate) fn profile(profile: &Profile) -> wit::Profile {
    let usual = Features::of(profile.version);
    wit::Profile {
        version: version(profile.version),
        patch: Some(profile.patch),
        gates: Features::gates()
            .filter_map(|name| Some((name, profile.features.get(name)?)))
            .filter(|(name, enabled)| usual.get(name) != Some(*enabled))
            .map(|(name, enabled)| wit::Gate { name: name.to_owned(), enabled })
            .collect(),
        mode: match profile.mode {
            Mode::Sound => wit::Mode::Sound,
            Mode::Reference => wit::Mode::Reference,
        },
        placement: match profile.placement {
            Ranking::First => wit::Ranking::First,
            Ranking::Scores => wit::Ranking::Scores,
        },
    }
}

pub(crate) fn version(version: Version) -> wit::Version {
    match version {
        Version::V1_34 => wit::Version::V1Dot34,
        Version::V1_35 => wit::Version::V1Dot35,
        Version::V1_36 => wit::Version::V1Dot36,
        Version::V1_37 => wit::Version::V1Dot37,
        Version::V1_38 => wit::Version::V1Dot38,
        Version::All => wit::Version::All,
    }
}

pub(crate) fn object_ref(object: &ObjectRef) -> wit::ObjectRef {
    wit::ObjectRef { kind: object.kind.clone(), namespace: object.namespace.clone(), name: object.name.clone() }
}

pub(crate) fn question(question: &Question) -> wit::Question {
    wit::Question {
        claims: question.claims.iter().map(claim).collect(),
        nodes: question.nodes.clone(),
        in_use: in_use(&question.in_use),
    }
}

pub(crate) fn known_question(question: &KnownQuestion) -> wit::KnownQuestion {
    let names = |of: &ClaimNames| wit::ClaimNames { namespace: of.namespace.clone(), names: of.names.clone() };
    wit::KnownQuestion {
        claims: question.claims.iter().map(names).collect(),
        nodes: question.nodes.clone(),
        in_use: in_use(&question.in_use),
        take: question.take,
    }
}

fn in_use(in_use: &InUse) -> wit::InUse {
    let InUse { devices, shares, consumed } = in_use;
    wit::InUse {
        devices: devices.iter().map(device_id).collect(),
        shares: shares.iter().map(|(id, share)| wit::Share { id: device_id(id), share_id: share.clone() }).collect(),
        consumed: consumed
            .iter()
            .map(|(id, capacity)| wit::Consumed { id: device_id(id), capacity: amounts(capacity) })
            .collect(),
    }
}

fn claim(claim: &ResourceClaim) -> String {
    Object::ResourceClaim(Arc::new(claim.clone())).write().to_string()
}

fn device_id(id: &DeviceId) -> wit::DeviceId {
    wit::DeviceId { driver: id.driver.clone(), pool: id.pool.clone(), device: id.device.clone() }
}

fn amounts(amounts: &BTreeMap<String, Quantity>) -> Vec<wit::Amount> {
    amounts.iter().map(|(name, amount)| wit::Amount { name: name.clone(), quantity: amount.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gates_that_differ_from_the_version_cross() {
        let mut profile = Profile::of(Version::V1_36);
        assert!(super::profile(&profile).gates.is_empty());
        assert!(profile.features.set("DRADeviceTaints", false));
        let gates = super::profile(&profile).gates;
        assert_eq!((gates.len(), gates[0].name.as_str(), gates[0].enabled), (1, "DRADeviceTaints", false));
    }
}
