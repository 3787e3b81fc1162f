//! The ResourceClaim controller: makes claims from templates, records their names, takes reservations away when their
//! consumers are gone, and frees devices with the last one.
//!
//! Source: KEP-4381, KEP-5729, KEP-5978; `pkg/controller/resourceclaim`.

mod generate;
mod release;
mod reserve;
mod template;
mod work;

use std::collections::BTreeMap;

use crate::api::claim::ResourceClaim;
use crate::cluster::entries::key_of;
use crate::cluster::{Cluster, Key};
use crate::decision::Decision;
use crate::profile::Profile;

pub use work::{Work, affected, all_work};

/// Name of the field manager of status writes.
pub(crate) const MANAGER: &str = "ResourceClaimController";

/// What the controller of the reference remembers: claims that it made within the last hour, deleted or not. It takes
/// them for existing ones. A sound controller remembers nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Memory {
    made: BTreeMap<Key, ResourceClaim>,
}

impl Memory {
    /// Remembers a claim that was made.
    pub fn remember(&mut self, claim: &ResourceClaim) {
        self.made.insert(key_of(&claim.metadata), claim.clone());
    }
}

/// What to do for one object. Without its gate the controller is not started.
pub fn reconcile(cluster: &Cluster, profile: &Profile, memory: &Memory, work: &Work) -> Decision {
    if !profile.features.dynamic_resource_allocation {
        return Decision::none();
    }
    match work {
        Work::Pod(key) => {
            let mut decision = generate::for_pod(cluster, profile, memory, key);
            reserve::for_placed(cluster, profile, key, &mut decision);
            decision
        }
        Work::PodGroup(key) => generate::for_group(cluster, profile, memory, key),
        Work::Claim(key) => release::claim(cluster, profile, key),
    }
}
