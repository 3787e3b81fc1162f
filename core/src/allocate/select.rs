//! Which devices the class and the selectors of a request accept.
//!
//! A verdict is a property of (class, selectors, device) and is found at most once per node; devices that look the same to the
//! selectors share the evaluation ([`Judge`]), and those of one slice the verdict: with a refused device, the later ones that
//! agree with it in all that was asked are no candidates any more. The reference would ask them, get the same answer and go on,
//! so this changes no result. Errors are verdicts too: they count only when the search reaches the pair, because the reference
//! evaluates no earlier, and are not shared.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use super::failure::{Fatal, bad_device_selector};
use super::judge::Judge;
use super::plan::{Plan, Unit, label, reference};
use super::pools::{NodeDevice, NodeView};
use super::{Failure, Grid};
use crate::api::claim::ResourceClaim;
use crate::api::node::Node;
use crate::api::slice::AttributeValue;
use crate::bits::Bits;
use crate::cel::{Advice, Environment, compile, failure_advice};
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

/// A verdict, and what decided.
#[derive(Clone, Copy, Default)]
struct Known {
    verdict: Verdict,
    asked: Asked,
}

/// How many selectors decided, those of the class first; nothing where something else did.
type Asked = Option<u32>;

/// What the selectors of a class say about a device.
#[derive(Clone, Copy, Default)]
enum OfClass {
    /// Not known.
    #[default]
    Unknown,
    /// All accept it.
    Accepted,
    /// The last of so many refuses it.
    Refused(Asked),
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
    known: Grid<Known>,
    /// By pair of class and selectors: devices that are not known to be refused.
    open: SmallVec<[Bits; 1]>,
    /// Whether some device is not among those.
    has_closed: bool,
    /// By class: what its selectors alone say. Errors are not kept here.
    of_class: Grid<OfClass>,
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

    /// The node.
    pub(super) fn node(&self) -> &'s Node {
        self.node
    }

    /// Steps that evaluations took since this was asked last, beyond those that asked for them.
    pub(super) fn uncounted(&mut self) -> u64 {
        self.judge.uncounted()
    }

    /// Whether class and selectors accept a device that the node need not have.
    pub(super) fn would_accept(&mut self, unit: &Unit<'_>, device: &NodeDevice<'c>) -> bool {
        let refused = self.judge.class_refuses(unit.class_number, device);
        refused == Ok(None) && self.judge.selection_refuses(unit.selection, device) == Ok(None)
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
        let Some(device) = self.devices.get(position) else {
            return Verdict::Refused;
        };
        match known.verdict {
            Verdict::Unknown => {}
            Verdict::Refused if self.open.get(unit.selection).is_some_and(|open| open.contains(position)) => {
                self.settle(unit, position, device, known);
                return known.verdict;
            }
            Verdict::Accepted | Verdict::Refused | Verdict::Failed => return known.verdict,
        }
        let found = match self.evaluate(unit, position, device) {
            Ok((true, asked)) => Known { verdict: Verdict::Accepted, asked },
            Ok((false, asked)) => Known { verdict: Verdict::Refused, asked },
            Err(error) => {
                self.errors.insert((unit.selection, position), error);
                Known { verdict: Verdict::Failed, asked: None }
            }
        };
        self.settle(unit, position, device, found);
        found.verdict
    }

    /// Notes a verdict, also for the later devices of the slice that look the same to all selectors that were asked.
    fn settle(&mut self, unit: &Unit<'_>, position: usize, device: &NodeDevice<'c>, found: Known) {
        self.known.set(unit.selection, position, found);
        let mut open = self.open.get_mut(unit.selection).filter(|_| found.verdict == Verdict::Refused);
        if let Some(open) = &mut open {
            open.remove(position);
            self.has_closed = true;
        }
        let Some(asked) = found.asked else {
            return;
        };
        let Some(groups) = self.judge.groups(unit.class_number, unit.selection, asked as usize, device.entry) else {
            return;
        };
        // The request's own selectors tell more devices apart than those of the class.
        let look = groups.iter().rev().map(|groups| (*groups, groups.get(device.position).copied()));
        let look: SmallVec<[(&[u32], Option<u32>); 2]> = look.collect();
        let later = self.devices.iter().enumerate().skip(position + 1);
        for (other, peer) in later.take_while(|(_, peer)| std::ptr::eq(peer.entry, device.entry)) {
            let is_alike = look.iter().all(|(groups, own)| groups.get(peer.position).copied() == *own);
            if is_alike && !must_wait(self.profile, peer) {
                self.known.set(unit.selection, other, found);
                if let Some(open) = &mut open {
                    open.remove(other);
                }
            }
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
                (Some(error), Some(device)) => Err(error.failure(claim, unit, device, self.profile)),
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

    /// Whether a device is accepted, and how many selectors decided that.
    fn evaluate(
        &mut self,
        unit: &Unit<'_>,
        position: usize,
        device: &NodeDevice<'c>,
    ) -> Result<(bool, Asked), SelectorError> {
        if must_wait(self.profile, device) {
            return Ok((false, None));
        }
        let error = |of_class, (index, problem)| SelectorError { of_class, index, problem: Problem::Selector(problem) };
        // A device with an attribute that fails every expression is like no other.
        let count = |asked: usize| u32::try_from(asked).ok().filter(|_| device.entry.unusable.is_empty());
        match self.of_class.get(unit.class_number, position) {
            OfClass::Refused(asked) => return Ok((false, asked)),
            OfClass::Accepted => {}
            OfClass::Unknown => {
                let refused = self.judge.class_refuses(unit.class_number, device);
                let refused = refused.map_err(|problem| error(true, problem))?.map(count);
                self.of_class.set(unit.class_number, position, refused.map_or(OfClass::Accepted, OfClass::Refused));
                if let Some(asked) = refused {
                    return Ok((false, asked));
                }
            }
        }
        let of_class = self.judge.count_of_class(unit.class_number);
        let refused = self.judge.selection_refuses(unit.selection, device);
        if let Some(own) = refused.map_err(|problem| error(false, problem))? {
            return Ok((false, count(of_class + own)));
        }
        if device.slice.spec.per_device_node_selection == Some(true) {
            let matches = device_matches(self.node, device.device).map_err(|error| SelectorError {
                of_class: false,
                index: 0,
                problem: Problem::NodeSelector(error.to_string()),
            });
            return Ok((matches?, None));
        }
        Ok((true, count(of_class + unit.selectors.len())))
    }
}

/// Whether a device would have to be waited for where nobody does; it is never accepted.
pub(super) fn must_wait(profile: &Profile, device: &NodeDevice<'_>) -> bool {
    let waits = || device.device.binding_conditions.as_ref().is_some_and(|conditions| !conditions.is_empty());
    !profile.features.device_binding_and_status && waits()
}

impl SelectorError {
    /// The text of the selector.
    fn expression<'u>(&self, unit: &'u Unit<'_>) -> Option<&'u str> {
        let of_class = unit.class.map(|class| class.spec.selectors.as_slice()).unwrap_or_default();
        let selectors = if self.of_class { of_class } else { unit.selectors };
        Some(selectors.get(self.index)?.cel.as_ref()?.expression.as_str())
    }

    /// What is wrong with the selector, given the attributes of the device on which it fails.
    fn advice(&self, unit: &Unit<'_>, device: &NodeDevice<'_>, profile: &Profile) -> Option<Advice> {
        let types = |domain: &str, name: &str| -> Vec<&'static str> {
            let full = device.device.attributes.get(&format!("{domain}/{name}"));
            let own = || device.device.attributes.get(name).filter(|_| domain == device.slice.spec.driver);
            full.or_else(own).and_then(|one| one.value.cel_type()).into_iter().collect()
        };
        failure_advice(self.expression(unit)?, &Environment::stored(profile.version, &profile.features), &types)
    }

    fn failure(&self, claim: &ResourceClaim, unit: &Unit<'_>, device: &NodeDevice<'_>, profile: &Profile) -> Fatal {
        let names_device = profile.version >= Version::V1_37;
        let mut place = String::new();
        let mut advice = "";
        let hint;
        let (code, word, text, message) = match &self.problem {
            Problem::Selector(SelectorProblem::Compile(text)) => {
                let message = format!("the selector does not compile: {text}");
                let environment = Environment::stored(profile.version, &profile.features);
                hint = self
                    .expression(unit)
                    .and_then(|text| compile(text, &environment).err())
                    .and_then(|error| error.hint);
                (Code::AllocSelectorCompile, "CEL compile error", text, message)
            }
            Problem::Selector(SelectorProblem::Runtime(text)) => {
                let advised = self.advice(unit, device, profile);
                let because = advised.as_ref().map(|one| format!(", since {}", one.problem)).unwrap_or_default();
                let message = format!("the selector fails on device `{}`{because}: {text}", device.label());
                hint = advised.map(|one| one.remedy);
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
        let finding = Finding { hint, ..Finding::new(code, path, message).about(object) };
        Box::new(Failure { finding, reference: format!("{owner}: selector #{index}{place}: {word}: {text}{advice}") })
    }
}
