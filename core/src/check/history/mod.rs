//! Laws over what happens in a cluster, held against the API server's changes alone: whoever wrote them.
//!
//! At every revision each device, share and counter is held once. No claim loses devices while a Pod uses them. No template goes
//! that template-sync did not make.
//!
//! A claim is judged when it takes something, by the slices of that moment: a driver that makes its pool smaller later breaks no
//! law. What a dump says about that is [`super::inspect`]'s.

mod holders;
mod templates;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{devices, of_claim};
use crate::api::claim::{DeviceRequestAllocationResult, ResourceClaim};
use crate::api::object::{Object, read_object};
use crate::cluster::Cluster;
use crate::finding::{Code, Finding, ObjectRef, Severity};
use crate::gather::Gather;
use crate::profile::Profile;
use holders::Holders;
use templates::Templates;

/// What has happened in a cluster so far, as far as the next change is judged by it.
#[derive(Clone, Debug, Default)]
pub struct History {
    cluster: Cluster,
    holders: Holders,
    templates: Templates,
}

/// An object before and after a change.
type Step = (Option<Object>, Option<Object>);

impl History {
    /// Nothing has happened yet.
    pub fn new(profile: Profile) -> Self {
        Self { cluster: Cluster::new(profile), ..Self::default() }
    }

    /// Takes one event of a watch in, `{"type": "ADDED", "object": {..}}`, and says which laws it breaks. `MODIFIED`, `DELETED` and
    /// `BOOKMARK` are the API server's. `LISTED` has a list of one kind as its object: all that there are now, whatever happened
    /// since that kind was heard of last.
    ///
    /// Events come in the order of their revisions.
    pub fn note(&mut self, mut event: Value) -> Vec<Finding> {
        let object = event.get_mut("object").map(Value::take).unwrap_or_default();
        let mut findings = Vec::new();
        let changes = match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "ADDED" | "MODIFIED" => read(object, &mut findings).into_iter().collect(),
            "DELETED" => read(object, &mut findings).map(|(object, _)| (object, None)).into_iter().collect(),
            "LISTED" => self.read_list(object, &mut findings),
            "BOOKMARK" => Vec::new(),
            other => {
                let message = format!("`{other}` is no type of a watch event");
                let hint = "one of ADDED, MODIFIED, DELETED, BOOKMARK, LISTED";
                return vec![Finding::new(Code::ReadBadSettings, "type", message).with_hint(hint)];
            }
        };
        findings.extend(self.step(changes));
        findings
    }

    /// What happens at one moment.
    fn step(&mut self, changes: Vec<(ObjectRef, Option<Object>)>) -> Vec<Finding> {
        let mut steps: Vec<Step> = Vec::with_capacity(changes.len());
        for (reference, after) in changes {
            let before = self.cluster.get(&reference);
            match &after {
                Some(object) => self.cluster.apply(object.clone()),
                None => drop(self.cluster.delete(&reference)),
            }
            self.templates.hear(after.as_ref());
            if let Some(Object::ResourceClaim(claim)) = &before {
                self.holders.release(claim);
            }
            steps.push((before, after));
        }
        let mut findings = Vec::new();
        for (before, after) in &steps {
            match (before, after) {
                (before, Some(Object::ResourceClaim(claim))) => {
                    let before = match before {
                        Some(Object::ResourceClaim(before)) if before.metadata.uid == claim.metadata.uid => {
                            Some(&**before)
                        }
                        Some(Object::ResourceClaim(before)) => {
                            findings.extend(self.lost(before, None));
                            None
                        }
                        _ => None,
                    };
                    self.holders.take(claim);
                    self.judge(claim, before, &mut findings);
                    findings.extend(before.and_then(|before| self.lost(before, Some(claim))));
                }
                (Some(Object::ResourceClaim(claim)), None) => findings.extend(self.lost(claim, None)),
                (Some(Object::ResourceClaimTemplate(template)), None) => {
                    findings.extend(self.templates.lost(&self.cluster, template));
                }
                _ => {}
            }
        }
        findings
    }

    /// Whether what a claim has taken was there to be taken.
    fn judge(&self, claim: &ResourceClaim, before: Option<&ResourceClaim>, findings: &mut Vec<Finding>) {
        let is_new = |result: &&DeviceRequestAllocationResult| {
            before.is_none_or(|before| before.held().all(|old| old != *result))
        };
        let taken: BTreeSet<_> = claim.held().filter(is_new).map(|result| result.device()).gather();
        let held = taken.iter().map(|device| (*device, self.holders.of(&self.cluster, *device))).gather();
        let pools: BTreeSet<(&str, &str)> = taken.iter().map(|(driver, pool, _)| (*driver, *pool)).gather();
        let mut found = Vec::new();
        devices::twice(&held, &mut found);
        for (driver, pool) in pools {
            let slices = self.cluster.newest_of_pool(driver, pool);
            let published = slices.iter().flat_map(|slice| &slice.spec.devices);
            let published = published.map(|device| ((driver, pool, device.name.as_str()), device));
            let published = published.filter(|(key, _)| taken.contains(key)).gather();
            devices::capacity(&held, &published, &mut found);
            if published.values().any(|device| !device.consumes_counters.is_empty()) {
                let all = self.holders.of_pool(&self.cluster, driver, pool);
                found.extend(devices::overdrawn(&slices, &all).into_iter().map(|(_, message)| {
                    of_claim(claim, Code::CheckCounterOverdrawn, devices::RESULTS, message, devices::OVERDRAWN)
                }));
            }
        }
        // What others did was told when they did it.
        let own = claim.metadata.reference("ResourceClaim");
        findings.extend(found.into_iter().filter(|finding| finding.object.as_ref() == Some(&own)));
    }

    /// Whether a claim lost devices, or the right of a Pod to them, although that Pod is on its node and has not ended.
    fn lost(&self, before: &ResourceClaim, after: Option<&ResourceClaim>) -> Option<Finding> {
        let keeps_devices = before.held().all(|old| after.is_some_and(|after| after.held().any(|own| own == old)));
        let is_reserved =
            |uid: &str| after.is_some_and(|after| after.status.reserved_for.iter().any(|own| own.uid == uid));
        before.held().next()?;
        let users = before.status.reserved_for.iter().filter(|user| user.resource == "pods");
        let mut losers = users.filter(|user| !keeps_devices || !is_reserved(&user.uid)).filter_map(|user| {
            let pod = self.cluster.pods().get(&(before.metadata.namespace.clone(), user.name.clone()))?;
            Some(pod).filter(|pod| pod.metadata.uid == user.uid && !pod.is_finished())
        });
        let pod = losers.find(|pod| !pod.spec.node_name.is_empty())?;
        let (what, pod_name) = (if keeps_devices { "its reservation" } else { "devices" }, &pod.metadata.name);
        let message = format!("the claim lost {what} while Pod `{pod_name}` uses it on node `{}`", pod.spec.node_name);
        let hint = format!(
            "delete Pod `{pod_name}`: others may be given its devices; the audit log says who changed the claim"
        );
        Some(of_claim(before, Code::CheckDevicesLost, devices::RESULTS, message, hint))
    }

    /// The objects of a list, and those that are gone because they are not in it.
    fn read_list(&self, mut list: Value, findings: &mut Vec<Finding>) -> Vec<(ObjectRef, Option<Object>)> {
        let text = |name: &str| list.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind").trim_end_matches("List").to_owned());
        let items = list.get_mut("items").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
        let mut changes = Vec::with_capacity(items.len());
        for mut item in items {
            // Items of a list do not name their type.
            if let Some(item) = item.as_object_mut() {
                item.entry("apiVersion").or_insert_with(|| json!(api_version));
                item.entry("kind").or_insert_with(|| json!(kind));
            }
            changes.extend(read(item, findings));
        }
        let nobody = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "x" } });
        let Some(kind) = read_object(nobody).object.map(|object| object.reference().kind) else { return changes };
        let there: BTreeSet<&ObjectRef> = changes.iter().map(|(object, _)| object).gather();
        let known = self.cluster.objects().into_iter().map(|object| object.reference());
        let gone: Vec<_> = known.filter(|known| known.kind == kind && !there.contains(known)).collect();
        changes.extend(gone.into_iter().map(|object| (object, None)));
        changes
    }
}

/// One object. One that cannot be read is told, and counts as gone: what it holds is not known.
fn read(object: Value, findings: &mut Vec<Finding>) -> Option<(ObjectRef, Option<Object>)> {
    let reading = read_object(object);
    let is_usable = reading.is_usable();
    let object = reading.object?;
    let reference = object.reference();
    let errors = reading.findings.into_iter().filter(|finding| finding.severity == Severity::Error);
    findings.extend(errors.map(|finding| finding.about(reference.clone())));
    Some((reference, Some(object).filter(|_| is_usable)))
}
