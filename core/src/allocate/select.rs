//! Which devices the class and the selectors of a request accept.
//!
//! A verdict is a property of (class, selectors, device) and is found at most once per node; devices that look the same to the
//! selectors share the evaluation ([`Judge`]). Errors are verdicts too: they count only when the search reaches the pair,
//! because the reference evaluates no earlier.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use super::bits::Bits;
use super::failure::{Fatal, bad_device_selector};
use super::judge::Judge;
use super::plan::{Plan, Unit, label, reference};
use super::pools::{NodeDevice, NodeView};
use super::{Failure, Grid};
use crate::api::claim::ResourceClaim;
use crate::api::node::Node;
use crate::api::slice::AttributeValue;
use crate::cluster::device_matches;
use crate::cluster::selectors::SelectorProblem;
use crate::finding::{Code, Finding, ObjectRef};
use crate::profile::{Profile, Version};

/// What the reference appends from 1.37 on.
const NO_SUCH_KEY: &str = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields";

/// What selection says about a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Verdict {
    /// Not asked yet.
    #[default]
    Unknown,
    /// Some selector refuses it.
    Refused,
    /// All selectors accept it.
    Accepted,
    /// A selector could not be evaluated.
    Failed,
}

/// A selector that could not be evaluated.
struct SelectorError {
    /// Whether it is one of the class's selectors, not of the request's.
    of_class: bool,
    index: usize,
    problem: Problem,
}

enum Problem {
    Selector(SelectorProblem),
    NodeSelector(String),
}

/// Computed attributes by name.
pub(super) type Derived = BTreeMap<String, Result<AttributeValue, SelectorProblem>>;

/// The verdicts of one node.
pub(super) struct Verdicts<'s, 'c> {
    profile: &'s Profile,
    node: &'s Node,
    judge: &'s mut Judge<'c>,
    devices: &'s [NodeDevice<'c>],
    /// By pair of class and selectors.
    known: Grid<Verdict>,
    /// By pair of class and selectors: devices that are not known to be refused.
    open: SmallVec<[Bits; 1]>,
    /// Whether some device is not among those.
    has_closed: bool,
    /// By class: what its selectors alone say. Errors are not kept here.
    of_class: Grid<Verdict>,
    errors: BTreeMap<(usize, usize), SelectorError>,
}

impl<'s, 'c> Verdicts<'s, 'c> {
    pub(super) fn new(
        plan: &Plan<'_>,
        view: &'s NodeView<'c>,
        node: &'s Node,
        profile: &'s Profile,
        judge: &'s mut Judge<'c>,
    ) -> Self {
        let known = Grid::new(plan.selections, view.devices.len());
        let of_class = Grid::new(plan.classes, view.devices.len());
        let open = smallvec![Bits::below(view.devices.len()); plan.selections];
        Self {
            profile,
            node,
            judge,
            devices: &view.devices,
            known,
            open,
            has_closed: false,
            of_class,
            errors: BTreeMap::new(),
        }
    }

    /// For another search, which takes the steps of one that knows nothing: no device is known to be refused. Verdicts are kept.
    pub(super) fn start_over(&mut self) {
        if std::mem::take(&mut self.has_closed) {
            self.open.fill(Bits::below(self.devices.len()));
        }
    }

    /// The first of some devices, from a position on, that is not known to be refused.
    pub(super) fn next_open(&self, unit: &Unit<'_>, devices: &Bits, from: usize) -> Option<usize> {
        self.open.get(unit.selection)?.next_common(devices, from)
    }

    /// The verdict on a device, found now if it is not known.
    pub(super) fn verdict(&mut self, unit: &Unit<'_>, position: usize) -> Verdict {
        let known = self.known.get(unit.selection, position);
        if known != Verdict::Unknown {
            if known == Verdict::Refused {
                self.close(unit, position);
            }
            return known;
        }
        let Some(device) = self.devices.get(position) else {
            return Verdict::Refused;
        };
        let verdict = match self.evaluate(unit, position, device) {
            Ok(true) => Verdict::Accepted,
            Ok(false) => {
                self.close(unit, position);
                Verdict::Refused
            }
            Err(error) => {
                self.errors.insert((unit.selection, position), error);
                Verdict::Failed
            }
        };
        self.known.set(unit.selection, position, verdict);
        verdict
    }

    fn close(&mut self, unit: &Unit<'_>, position: usize) {
        if let Some(open) = self.open.get_mut(unit.selection) {
            open.remove(position);
            self.has_closed = true;
        }
    }

    /// Whether a device is accepted.
    ///
    /// # Errors
    ///
    /// The failure of a selector, in the words of the unit that asks.
    pub(super) fn accepts(&mut self, claim: &ResourceClaim, unit: &Unit<'_>, position: usize) -> Result<bool, Fatal> {
        match self.verdict(unit, position) {
            Verdict::Accepted => Ok(true),
            Verdict::Refused | Verdict::Unknown => Ok(false),
            Verdict::Failed => match (self.errors.get(&(unit.selection, position)), self.devices.get(position)) {
                (Some(error), Some(device)) => Err(error.failure(claim, unit, device, self.profile.version)),
                _ => Ok(false),
            },
        }
    }

    /// The attributes that a unit computes of a device, in its order, each at most once. An error counts only when a constraint
    /// looks at the attribute.
    pub(super) fn derive(&mut self, unit: &Unit<'c>, position: usize) -> Derived {
        let Some(device) = self.devices.get(position) else {
            return Derived::new();
        };
        let mut derived = Derived::new();
        for attribute in unit.derived {
            derived.insert(attribute.name.clone(), self.judge.derive(&attribute.expression, device));
        }
        derived
    }

    fn evaluate(&mut self, unit: &Unit<'_>, position: usize, device: &NodeDevice<'c>) -> Result<bool, SelectorError> {
        let waits = device.device.binding_conditions.as_ref().is_some_and(|conditions| !conditions.is_empty());
        if waits && !self.profile.features.device_binding_and_status {
            return Ok(false);
        }
        let error = |of_class, (index, problem)| SelectorError { of_class, index, problem: Problem::Selector(problem) };
        match self.of_class.get(unit.class_number, position) {
            Verdict::Refused => return Ok(false),
            Verdict::Accepted => {}
            Verdict::Unknown | Verdict::Failed => {
                let accepts = self.judge.class_accepts(unit.class_number, device);
                let accepts = accepts.map_err(|problem| error(true, problem))?;
                let verdict = if accepts { Verdict::Accepted } else { Verdict::Refused };
                self.of_class.set(unit.class_number, position, verdict);
                if !accepts {
                    return Ok(false);
                }
            }
        }
        let accepts = self.judge.selection_accepts(unit.selection, device);
        if !accepts.map_err(|problem| error(false, problem))? {
            return Ok(false);
        }
        if device.slice.spec.per_device_node_selection == Some(true) {
            return device_matches(self.node, device.device).map_err(|error| SelectorError {
                of_class: false,
                index: 0,
                problem: Problem::NodeSelector(error.to_string()),
            });
        }
        Ok(true)
    }
}

impl SelectorError {
    fn failure(&self, claim: &ResourceClaim, unit: &Unit<'_>, device: &NodeDevice<'_>, version: Version) -> Fatal {
        let names_device = version >= Version::V1_37;
        let mut place = String::new();
        let mut advice = "";
        let (code, word, text, message) = match &self.problem {
            Problem::Selector(SelectorProblem::Compile(text)) => {
                let message = format!("the selector does not compile: {text}");
                (Code::AllocSelectorCompile, "CEL compile error", text, message)
            }
            Problem::Selector(SelectorProblem::Runtime(text)) => {
                let message = format!("the selector fails on device `{}`: {text}", device.label());
                if names_device {
                    place = format!(" on device {}", device.label());
                }
                if names_device && text.contains("no such key:") {
                    advice = NO_SUCH_KEY;
                }
                (Code::AllocSelectorRuntime, "CEL runtime error", text, message)
            }
            Problem::NodeSelector(text) => {
                return bad_device_selector(&device.slice.metadata.name, &device.device.name, text);
            }
        };
        let index = self.index;
        let (owner, path, object) = if self.of_class {
            let object = ObjectRef {
                kind: "DeviceClass".to_owned(),
                namespace: String::new(),
                name: unit.class_name.to_owned(),
            };
            (format!("class {}", unit.class_name), format!("spec.selectors[{index}].cel.expression"), object)
        } else {
            let path = format!("{}.selectors[{index}].cel.expression", unit.path());
            (format!("claim {}", label(claim)), path, reference(claim))
        };
        let finding = Finding::new(code, path, message).about(object);
        Box::new(Failure { finding, reference: format!("{owner}: selector #{index}{place}: {word}: {text}{advice}") })
    }
}
