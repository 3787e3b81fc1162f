//! Answers about claims one after another, with what they have in common once.

use std::collections::BTreeMap;
use std::sync::Arc;

use apportion_core::allocate::{Answer, Outcome};
use apportion_core::api::claim::{AllocationResult, DeviceAllocationResult, GrantedDevice};

use crate::bindings::exports::apportion::dra::decisions as wit;
use crate::to_wire;

/// The answers as one record of the contract.
pub(crate) fn answers(answers: Vec<Answer>) -> wit::Answers {
    let mut table = Table::default();
    table.placed.reserve_exact(answers.len());
    table.devices.reserve_exact(answers.len());
    let mut last = None;
    for answer in answers {
        match (&answer.outcome, answer.allocations()) {
            (Outcome::Allocated { node, .. }, [allocation]) => {
                let placed = wit::PlacedClaim {
                    node: table.node(node),
                    frame: table.frame(allocation),
                    devices: position(allocation.devices.results.len()),
                    findings: to_wire::findings(answer.findings.clone()),
                    steps: answer.steps,
                };
                table.place(placed, allocation);
            }
            _ => last = Some(to_wire::answer(answer)),
        }
    }
    let Table { nodes, frames, granted, placed, devices } = table;
    wit::Answers {
        nodes,
        frames: frames.iter().map(|allocation| to_wire::json(&without_results(allocation))).collect(),
        granted: granted.iter().map(|granted| granted_device(granted)).collect(),
        placed,
        devices,
        last,
    }
}

/// What the answers so far have in common, each once where equal ones follow one another.
#[derive(Default)]
struct Table {
    nodes: Vec<String>,
    frames: Vec<Arc<AllocationResult>>,
    granted: Vec<Arc<GrantedDevice>>,
    placed: Vec<wit::PlacedClaim>,
    devices: Vec<wit::PlacedDevice>,
}

impl Table {
    fn node(&mut self, name: &String) -> u32 {
        if self.nodes.last() != Some(name) {
            self.nodes.push(name.clone());
        }
        latest(&self.nodes)
    }

    fn frame(&mut self, allocation: &Arc<AllocationResult>) -> u32 {
        if !self.frames.last().is_some_and(|known| has_equal_frame(known, allocation)) {
            self.frames.push(Arc::clone(allocation));
        }
        latest(&self.frames)
    }

    fn place(&mut self, placed: wit::PlacedClaim, allocation: &AllocationResult) {
        self.placed.push(placed);
        for result in &allocation.devices.results {
            if !self.granted.last().is_some_and(|known| Arc::ptr_eq(known, &result.granted)) {
                self.granted.push(Arc::clone(&result.granted));
            }
            let granted = latest(&self.granted);
            self.devices.push(wit::PlacedDevice { granted, share_id: result.share_id.clone() });
        }
    }
}

fn latest<T>(list: &[T]) -> u32 {
    position(list.len().saturating_sub(1))
}

/// Lists of answers are far shorter than what an instance can hold.
fn position(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Whether two allocations differ in their results alone.
fn has_equal_frame(a: &AllocationResult, b: &AllocationResult) -> bool {
    let is_same_selector = match (&a.node_selector, &b.node_selector) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
        (a, b) => a.is_none() && b.is_none(),
    };
    is_same_selector
        && a.devices.config == b.devices.config
        && a.devices.rest == b.devices.rest
        && a.allocation_timestamp == b.allocation_timestamp
        && a.rest == b.rest
}

fn without_results(allocation: &AllocationResult) -> AllocationResult {
    let DeviceAllocationResult { results: _, config, rest } = &allocation.devices;
    AllocationResult {
        devices: DeviceAllocationResult { results: Vec::new(), config: config.clone(), rest: rest.clone() },
        ..allocation.clone()
    }
}

fn granted_device(granted: &GrantedDevice) -> wit::GrantedDevice {
    let more = GrantedDevice {
        request: String::new(),
        driver: String::new(),
        pool: String::new(),
        device: String::new(),
        admin_access: None,
        consumed_capacity: BTreeMap::new(),
        ..granted.clone()
    };
    let has_more = more != GrantedDevice::default();
    let (request, id, admin_access, consumed_capacity) = to_wire::granted(granted);
    let more = if has_more { to_wire::json(&more) } else { String::new() };
    wit::GrantedDevice { request, id, admin_access, consumed_capacity, more }
}
