//! Attributes whose values only a running driver knows: what surely fits without them, and what may fit with them.
//!
//! Devices of new nodes are marked. At worst, no selector that reads an open attribute accepts a marked device, and no constraint on one can
//! be met there. At best, all of these selectors do, and these constraints are left out.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::claim::{
    AllocationMode, DeviceClaim, DeviceConstraint, DeviceDerivedAttribute, DeviceSelector, ResourceClaimSpec,
};
use crate::api::object::Object;
use crate::api::slice::{Attribute, AttributeValue, Device};
use crate::cel::{Environment, Field, Reads, compile};
use crate::control_plane::Simulation;
use crate::finding::{Code, Finding};
use crate::profile::Profile;

/// Domain and name of the attribute that marks devices.
const MARK: (&str, &str) = ("apportion.dev", "open");

/// How open attributes turn out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outlook {
    Worst,
    Best,
}

/// The open attributes, by domain and name.
pub(super) struct Open(BTreeSet<(String, String)>);

impl Open {
    /// Reads attributes as `domain/name`.
    ///
    /// # Errors
    ///
    /// A finding for each one that has no domain.
    pub(super) fn parse(names: &[String]) -> Result<Self, Vec<Finding>> {
        let (mut open, mut findings) = (BTreeSet::new(), Vec::new());
        for name in names {
            match name.split_once('/') {
                Some((domain, id)) if !domain.is_empty() && !id.is_empty() => {
                    open.insert((domain.to_owned(), id.to_owned()));
                }
                _ => {
                    let message = format!("attribute `{name}` has no domain");
                    let hint = "write it as `domain/name`; the domain of a driver's own attributes is its name";
                    findings.push(Finding::new(Code::ReadBadSettings, "open", message).with_hint(hint));
                }
            }
        }
        if findings.is_empty() { Ok(Self(open)) } else { Err(findings) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the open attributes from a device, and marks it.
    pub(super) fn mark(&self, driver: &str, device: &mut Device) {
        if self.is_empty() {
            return;
        }
        let attributes = Arc::make_mut(&mut device.attributes);
        attributes.retain(|name, _| {
            let (domain, id) = name.split_once('/').unwrap_or((driver, name));
            !self.has(domain, id)
        });
        let value = AttributeValue::Bool(true);
        attributes.insert(format!("{}/{}", MARK.0, MARK.1), Attribute { value, ..Attribute::default() });
    }

    fn has(&self, domain: &str, id: &str) -> bool {
        self.0.contains(&(domain.to_owned(), id.to_owned()))
    }

    /// Rewrites what classes, templates and claims without devices say about open attributes.
    pub(super) fn rewrite(&self, simulation: &mut Simulation, outlook: Outlook) {
        if self.is_empty() {
            return;
        }
        let profile = simulation.server().cluster().profile().clone();
        let writer = Writer { open: self, outlook, profile: &profile };
        let now = simulation.now();
        for mut object in simulation.server().cluster().objects() {
            let is_changed = match &mut object {
                Object::DeviceClass(class) => writer.selectors(&mut Arc::make_mut(class).spec.selectors),
                Object::ResourceClaim(claim) if claim.status.allocation.is_none() => {
                    writer.spec(&mut Arc::make_mut(claim).spec)
                }
                Object::ResourceClaimTemplate(template) | Object::ClusterResourceClaimTemplate(template) => {
                    writer.spec(&mut Arc::make_mut(template).spec.spec)
                }
                _ => false,
            };
            if is_changed {
                simulation.server_mut().seed_object(object, now);
            }
        }
    }
}

struct Writer<'o> {
    open: &'o Open,
    outlook: Outlook,
    profile: &'o Profile,
}

impl Writer<'_> {
    fn spec(&self, spec: &mut Arc<ResourceClaimSpec>) -> bool {
        let mut changed = ResourceClaimSpec::clone(spec);
        let is_changed = self.claim(&mut changed.devices);
        if is_changed {
            *spec = Arc::new(changed);
        }
        is_changed
    }

    fn claim(&self, claim: &mut DeviceClaim) -> bool {
        let mut is_changed = false;
        let mut derived = BTreeSet::new();
        for request in &mut claim.requests {
            let exact = request.exactly.iter_mut();
            let exact = exact.map(|one| (&mut one.selectors, &mut one.allocation_mode, &one.derived_attributes));
            let lists = request.first_available.iter_mut();
            let lists = lists.map(|one| (&mut one.selectors, &mut one.allocation_mode, &one.derived_attributes));
            for (selectors, mode, attributes) in exact.chain(lists) {
                derived.extend(self.derived(attributes));
                if self.selectors(selectors) {
                    is_changed = true;
                    if self.outlook == Outlook::Best {
                        // Where more devices match, a request for all of them needs more; one is what it needs at least.
                        *mode = AllocationMode::ExactCount;
                    }
                }
            }
        }
        if self.outlook == Outlook::Best {
            let is_known = |constraint: &DeviceConstraint| {
                let names = [&constraint.match_attribute, &constraint.distinct_attribute];
                names.into_iter().flatten().all(|name| {
                    !derived.contains(name)
                        && name.split_once('/').is_none_or(|(domain, id)| !self.open.has(domain, id))
                })
            };
            let before = claim.constraints.len();
            claim.constraints.retain(is_known);
            is_changed |= claim.constraints.len() < before;
        }
        is_changed
    }

    /// Derived attributes that depend on open ones.
    fn derived(&self, attributes: &[DeviceDerivedAttribute]) -> Vec<String> {
        let depends = attributes.iter().filter(|one| self.reads_open(&one.expression));
        depends.map(|one| one.name.clone()).collect()
    }

    fn selectors(&self, selectors: &mut [DeviceSelector]) -> bool {
        let mut is_changed = false;
        for cel in selectors.iter_mut().filter_map(|selector| selector.cel.as_mut()) {
            if self.reads_open(&cel.expression) {
                let is_marked = format!("'{}' in device.attributes['{}']", MARK.1, MARK.0);
                cel.expression = match self.outlook {
                    Outlook::Worst => format!("!({is_marked}) && ({})", cel.expression),
                    Outlook::Best => format!("({is_marked}) || ({})", cel.expression),
                };
                is_changed = true;
            }
        }
        is_changed
    }

    /// Whether an expression looks at an open attribute; one that cannot be compiled looks at nothing.
    fn reads_open(&self, expression: &str) -> bool {
        let environment = Environment::stored(self.profile.version, &self.profile.features);
        let Ok(program) = compile(expression, &environment) else { return false };
        match program.reads() {
            Reads::Everything => true,
            Reads::Fields(fields) => fields.iter().any(|field| match field {
                Field::Attribute { domain, id } => self.open.has(domain, id),
                Field::AttributesOf(domain) => self.open.0.iter().any(|(known, _)| known == domain),
                Field::Attributes => true,
                Field::Driver
                | Field::AllowMultipleAllocations
                | Field::Capacity { .. }
                | Field::CapacityOf(_)
                | Field::Capacities => false,
            }),
        }
    }
}
