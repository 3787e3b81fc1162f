//! What a request asks of devices by itself, beside its class.

use super::statistics::{Held, Subject, fields, full_name, held, likely};
use crate::allocate::inspect::UnitSeen;
use crate::api::claim::{DeviceSelector, ResourceClaim};
use crate::cel::Field;
use crate::cluster::Cluster;

/// The unit's own selectors.
pub(crate) fn own_selectors<'c>(claim: &'c ResourceClaim, unit: &UnitSeen) -> &'c [DeviceSelector] {
    let own = claim.spec.devices.requests.get(unit.request).and_then(|request| match unit.sub {
        Some(sub) => request.first_available.get(sub).map(|sub| sub.selectors.as_slice()),
        None => request.exactly.as_ref().map(|exact| exact.selectors.as_slice()),
    });
    own.unwrap_or_default()
}

/// Fields of devices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compared(Vec<(Field, String)>);

impl Compared {
    /// The fields that the unit's own selectors read, and those that were probably meant by fields that no device has.
    pub(crate) fn of(cluster: &mut Cluster, claim: &ResourceClaim, unit: &UnitSeen) -> Self {
        let mut memory = cluster.lend_memory();
        let mut all: Vec<Field> = Vec::new();
        for cel in own_selectors(claim, unit).iter().filter_map(|selector| selector.cel.as_ref()) {
            let compiled = memory.selectors.program(cluster.profile(), &cel.expression);
            all.extend(compiled.reads().map(fields).unwrap_or_default().into_iter().cloned());
        }
        cluster.return_memory(memory);
        let subjects = || {
            let slices = cluster.inventory().all_slices().map(|entry| &entry.slice.spec);
            slices.flat_map(|spec| spec.devices.iter().map(|device| Subject { driver: &spec.driver, device }))
        };
        let missing = |field: &&Field| subjects().all(|subject| held(subject, field, &full_name(field)).is_none());
        let meant = all.iter().filter(missing).filter_map(|field| likely(&subjects().collect::<Vec<_>>(), field));
        let meant: Vec<Field> = meant.collect();
        all.extend(meant);
        Self(all.into_iter().map(|field| (full_name(&field), field)).map(|(full, field)| (field, full)).collect())
    }

    /// What a device has for them, in their order.
    pub(crate) fn held<'c>(&self, subject: Subject<'c>) -> impl Iterator<Item = Option<Held<'c>>> {
        self.0.iter().map(move |(field, full)| held(subject, field, full))
    }
}
