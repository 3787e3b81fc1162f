//! Used, free, stranded and unknown are together what there is, and what is used is what claims have.

use std::collections::BTreeSet;

use apportion_core::api::quantity::Quantity;
use apportion_core::ask::{Devices, Inquiry, Usage, UsageOf};

use crate::generate::Case;
use crate::{Contradiction, ask};

pub(super) fn adds_up(case: &Case) -> Result<(), Contradiction> {
    let (engine, _) = ask::engine(case);
    let answer = engine.inquire(serde_json::to_value(Inquiry::Usage).unwrap()).unwrap();
    let usage: Usage = serde_json::from_value(answer).unwrap();
    let rows = usage.rows.iter().map(|row| (row.name.as_str(), row.devices));
    for (name, devices) in rows.chain([("all", usage.devices)]) {
        let Devices { total, used, free, stranded, unknown, .. } = devices;
        if total != used + free + stranded + unknown || (unknown > 0 && free + stranded > 0) {
            return Err(format!("usage does not add up | {name}: {devices:?}"));
        }
    }
    for of in [UsageOf::Model, UsageOf::Node] {
        let sum: u64 = usage.rows.iter().filter(|row| row.of == of).map(|row| row.devices.total).sum();
        if sum != usage.devices.total {
            return Err(format!("rows are not all devices | {of:?}: {sum} of {}", usage.devices.total));
        }
    }
    for amount in usage.counters.iter().chain(&usage.capacities) {
        let [total, used, free, stranded] =
            [&amount.total, &amount.used, &amount.free, &amount.stranded].map(|text| Quantity::parse(text).unwrap());
        let sum = used.saturating_add(&free).saturating_add(&stranded);
        if sum != total || free.signum() < 0 || stranded.signum() < 0 {
            return Err(format!("amounts do not add up | {amount:?}"));
        }
    }
    if !usage.is_played {
        return Ok(());
    }
    let (_, report) = ask::run(case);
    let held: BTreeSet<_> = report
        .claims
        .iter()
        .flat_map(|claim| &claim.devices)
        .filter(|device| !device.admin_access)
        .map(|device| (&device.driver, &device.pool, &device.device))
        .collect();
    for pool in &usage.pools {
        let text = |name: &str| pool[name].as_str().unwrap_or_default();
        let Some(allocated) = pool["allocatedDevices"].as_u64() else { continue };
        let of_pool = held.iter().filter(|(driver, name, _)| *driver == text("driver") && *name == text("poolName"));
        if of_pool.count() as u64 != allocated {
            return Err(format!("pools and claims disagree | {pool}"));
        }
    }
    Ok(())
}
