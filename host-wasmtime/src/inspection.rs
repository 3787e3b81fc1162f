//! What is wrong in a dump, asked of an instance of its own.

use apportion_core::decision::Time;
use apportion_core::finding::Finding;
use apportion_core::profile::Profile;

use crate::error::{Error, Stop};
use crate::from_wit;
use crate::guard::HostLimits;
use crate::runner::Runner;
use crate::to_wit;

impl Runner {
    /// What is wrong with objects as they are in a cluster, each one JSON text: see [`apportion_core::check::inspect`].
    ///
    /// # Errors
    ///
    /// When the component stops in the middle of it.
    pub fn inspect(
        &self,
        objects: &[String],
        profile: &Profile,
        now: Option<Time>,
        limits: HostLimits,
    ) -> Result<Vec<Finding>, Error> {
        let stopped = |error: wasmtime::Error| Error::Stopped(Stop::of(&error, limits));
        let (mut store, instance) = self.instantiate(limits).map_err(stopped)?;
        let profile = to_wit::profile(profile);
        let answer = instance
            .apportion_dra_inspection()
            .call_inspect(&mut store, objects, &profile, now.map(Time::millis))
            .map_err(stopped)?;
        answer.map(from_wit::findings).map_err(|findings| Error::Refused(from_wit::findings(findings)))
    }
}
