//! Known defects of the reference, reproduced on demand.

use crate::profile::{Mode, Profile, Release, Version};

/// Which defects are reproduced. The names are those of the conformance vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Quirks {
    /// `counter-rollback`: what a device reserved stays reserved when a later test rejects it.
    pub(super) counter_rollback: bool,
    /// `empty-share`: a device that is held in shares without amounts draws its counters once more for the next share.
    pub(super) empty_share: bool,
    /// `list-match-restore`: a narrowed set of common values is not widened again on the way back.
    pub(super) list_match_restore: bool,
    /// `distinct-per-device`: devices of one request are compared only with the latest one.
    pub(super) distinct_per_device: bool,
    /// `counters-by-pool-id`: pools of different drivers with equal names share their counters.
    pub(super) counters_by_pool_id: bool,
    /// `config-once`: a claim's configuration is listed once per request that it names.
    pub(super) config_once: bool,
    /// `all-alternative`: after one device of a later alternative for all devices, the search goes on with the first alternative.
    pub(super) all_alternative: bool,
}

impl Quirks {
    /// What a profile asks for.
    pub(super) fn of(profile: &Profile) -> Self {
        if profile.mode == Mode::Reference { Self::known_in(profile.release()) } else { Self::default() }
    }

    /// The defects of a release. One was repaired for 1.36, all others for 1.37, two of these in patches of 1.36 as well.
    pub(super) fn known_in(release: Release) -> Self {
        let is_until = |patch| release <= Release { version: Version::V1_36, patch };
        let is_old = release.version <= Version::V1_36;
        Self {
            counter_rollback: is_until(2),
            empty_share: is_old,
            list_match_restore: is_old,
            distinct_per_device: is_old,
            counters_by_pool_id: is_until(3),
            config_once: is_old,
            all_alternative: release.version <= Version::V1_35,
        }
    }

    /// Each of them alone, with its name.
    pub(super) fn each(self) -> impl Iterator<Item = (&'static str, Self)> {
        let none = Self::default();
        [
            ("counter-rollback", self.counter_rollback, Self { counter_rollback: true, ..none }),
            ("empty-share", self.empty_share, Self { empty_share: true, ..none }),
            ("list-match-restore", self.list_match_restore, Self { list_match_restore: true, ..none }),
            ("distinct-per-device", self.distinct_per_device, Self { distinct_per_device: true, ..none }),
            ("counters-by-pool-id", self.counters_by_pool_id, Self { counters_by_pool_id: true, ..none }),
            ("config-once", self.config_once, Self { config_once: true, ..none }),
            ("all-alternative", self.all_alternative, Self { all_alternative: true, ..none }),
        ]
        .into_iter()
        .filter_map(|(name, is_on, alone)| is_on.then_some((name, alone)))
    }
}
