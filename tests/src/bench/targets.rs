//! What each workload may cost. The component may take 1.6 times as long.

use std::time::Duration;

/// How much longer than the native core the component may take.
pub const COMPONENT_FACTOR: f64 = 1.6;

/// Claims per second at scale, on the native core.
pub const NATIVE_RATE: f64 = 20_000.0;

/// Claims per second at scale, through the component.
pub const COMPONENT_RATE: f64 = 10_000.0;

/// Reading and indexing at scale, in seconds.
pub const READ_SECONDS: f64 = 3.0;

/// Memory at scale, in bytes.
pub const PEAK_BYTES: u64 = 1 << 30;

/// A fork that is asked once and dropped, on the native core, in seconds.
pub const FORK_ASKED: f64 = 10e-6;

/// A fork that takes one claim and is dropped, on the native core, in seconds.
pub const FORK_TAKEN: f64 = 50e-6;

/// The target of a workload on the native core, by its name. The first prefix that fits counts.
pub fn target(id: &str) -> Option<Duration> {
    const MICROSECONDS: [(&str, u64); 15] = [
        ("nodes-5000-used-0", 20),
        ("nodes-5000-used-50", 60),
        ("nodes-5000-used-99", 100),
        ("match-pcie-", 50),
        ("unsat-match-pcie-", 50),
        ("match-numa-2x32-count1", 100),
        ("match-numa-", 200),
        ("unsat-match-numa-", 200),
        ("unsat-count-", 20),
        ("mig-8x7-1g", 500),
        ("mig-8x7-mixed", 500),
        ("first-available-models", 50),
        ("first-available-counts", 10),
        ("consumable-nic-1000", 1000),
        ("cliff-", 100),
    ];
    let found = MICROSECONDS.iter().find(|(prefix, _)| id.starts_with(prefix));
    found.map(|(_, microseconds)| Duration::from_micros(*microseconds))
}
