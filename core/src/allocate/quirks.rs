//! Known defects of the reference, reproduced on demand.

use crate::profile::{Mode, Profile, Version};

/// Which defects are reproduced. The names are those of the conformance vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Quirks {
    /// `counter-rollback`: what a device reserved stays reserved when a later test rejects it.
    pub(super) counter_rollback: bool,
    /// `list-match-restore`: a narrowed set of common values is not widened again on the way back.
    pub(super) list_match_restore: bool,
    /// `distinct-per-device`: devices of one request are compared only with the latest one.
    pub(super) distinct_per_device: bool,
    /// `counters-by-pool-id`: pools of different drivers with equal names share their counters.
    pub(super) counters_by_pool_id: bool,
    /// `config-once`: a claim's configuration is listed once per request that it names.
    pub(super) config_once: bool,
}

impl Quirks {
    /// What a profile asks for. All five defects were repaired for 1.37.
    pub(super) fn of(profile: &Profile) -> Self {
        let has_defects = profile.mode == Mode::Reference && profile.version <= Version::V1_36;
        Self {
            counter_rollback: has_defects,
            list_match_restore: has_defects,
            distinct_per_device: has_defects,
            counters_by_pool_id: has_defects,
            config_once: has_defects,
        }
    }
}
