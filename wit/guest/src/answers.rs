//! Answers about claims of the cluster, with what they have in common once.

use std::collections::BTreeMap;
use std::sync::Arc;

use apportion_core::allocate::{Answer, Outcome};
use apportion_core::api::claim::{AllocationResult, DeviceAllocationResult, GrantedDevice};
use apportion_core::api::node::NodeSelector;
use apportion_core::api::read::Rest;

use crate::bindings::exports::apportion::dra::decisions as wit;
use crate::to_wire;

/// The answer about claims that were asked for together.
pub(crate) fn answer(answer: Answer) -> wit::Answers {
    match &answer.outcome {
        Outcome::Allocated { node, allocations } if !allocations.is_empty() => {
            let mut table = Table::default();
            for allocation in allocations {
                table.place(node, allocation);
            }
            table.tell_at(0, &answer);
            table.finish(None)
        }
        _ => Table::default().finish(Some(to_wire::answer(answer))),
    }
}

/// The answers about one claim each.
pub(crate) fn answers(answers: Vec<Answer>) -> wit::Answers {
    let mut table = Table::default();
    table.placed.reserve_exact(answers.len());
    table.devices.reserve_exact(answers.len());
    let mut last = None;
    for answer in answers {
        match (&answer.outcome, answer.allocations()) {
            (Outcome::Allocated { node, .. }, [allocation]) => {
                table.place(node, allocation);
                table.tell_at(table.placed.len().saturating_sub(1), &answer);
            }
            _ => last = Some(to_wire::answer(answer)),
        }
    }
    table.finish(last)
}

/// What the answers so far have in common, each once where equal ones follow one another.
#[derive(Default)]
struct Table {
    nodes: Vec<String>,
    frames: Vec<wit::Frame>,
    /// The allocation that the last frame is of.
    framed: Option<Arc<AllocationResult>>,
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

    fn frame(&mut self, node: u32, name: &str, allocation: &Arc<AllocationResult>) -> u32 {
        if !self.framed.as_ref().is_some_and(|known| has_equal_frame(known, allocation)) {
            let frame = match &allocation.node_selector {
                None if has_selector_alone(allocation) => wit::Frame::Everywhere,
                Some(selector) if has_selector_alone(allocation) && **selector == NodeSelector::of_node(name) => {
                    wit::Frame::OnNode(node)
                }
                _ => wit::Frame::Other(to_wire::json(&without_results(allocation))),
            };
            self.frames.push(frame);
            self.framed = Some(Arc::clone(allocation));
        }
        latest(&self.frames)
    }

    fn place(&mut self, name: &String, allocation: &Arc<AllocationResult>) {
        let node = self.node(name);
        let frame = self.frame(node, name, allocation);
        let devices = position(allocation.devices.results.len());
        self.placed.push(wit::PlacedClaim { node, frame, devices, findings: Vec::new(), steps: 0 });
        for result in &allocation.devices.results {
            if !self.granted.last().is_some_and(|known| Arc::ptr_eq(known, &result.granted)) {
                self.granted.push(Arc::clone(&result.granted));
            }
            let granted = latest(&self.granted);
            self.devices.push(wit::PlacedDevice { granted, share_id: result.share_id.clone() });
        }
    }

    /// The claim at a position has the answer's findings and steps.
    fn tell_at(&mut self, position: usize, answer: &Answer) {
        if let Some(placed) = self.placed.get_mut(position) {
            placed.findings = to_wire::findings(answer.findings.clone());
            placed.steps = answer.steps;
        }
    }

    fn finish(self, last: Option<wit::Answer>) -> wit::Answers {
        wit::Answers {
            nodes: self.nodes,
            frames: self.frames,
            granted: self.granted.iter().map(|granted| granted_device(granted)).collect(),
            placed: self.placed,
            devices: self.devices,
            last,
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

/// Whether there is nothing beside the results and the node selector.
fn has_selector_alone(allocation: &AllocationResult) -> bool {
    let AllocationResult { devices, node_selector: _, allocation_timestamp, rest } = allocation;
    let known = [&devices.rest, rest].iter().all(|rest| **rest == Rest::default());
    known && devices.config.is_empty() && allocation_timestamp.is_empty()
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
