//! What the controller remembers between two looks: what the API server refused, and which copies are being replaced.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::brake::Brake;
use super::desired::reference;
use super::rollout::Rollout;
use super::source::{Source, sources};
use super::{MANAGER, Reason, Refusal, SOURCE_UID, Settings, State, Work, is_copy, known_by, reconcile, told_of};
use crate::api::claim::ResourceClaimTemplate;
use crate::api::object::Object;
use crate::api::source::{ANNOTATIONS, SOURCE_GROUP, TemplateSource, is_annotated};
use crate::cluster::{Cluster, Key};
use crate::decision::{Action, Cause, Decision, EventRecord, Time, Trigger};
use crate::finding::{Code, Finding, Severity};
use crate::profile::Profile;
use crate::validate::{Submission, validate};

/// Settings and memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) settings: Settings,
    /// The latest refusals, by namespace and name of the copy.
    pub(crate) refusals: BTreeMap<Key, Refusal>,
    rollout: Rollout,
    brake: Brake,
}

impl Memory {
    pub(crate) fn new(home: String, allow_admin_access: bool) -> Self {
        let settings = Settings { home, allow_admin_access, unusable: BTreeMap::new() };
        Self { settings, ..Self::default() }
    }

    /// Judges an object by what was found while it was read, and a source by the rules of its kind as well.
    pub(crate) fn judge(&mut self, object: &Object, findings: &[Finding], profile: &Profile) {
        let key = known_by(object.metadata()).into_owned();
        let unread = findings.iter().find(|finding| finding.severity == Severity::Error);
        let flaw = match object {
            _ if unread.is_some() => unread.map(in_words),
            Object::TemplateSource(source) => flaw(source, profile),
            Object::ClusterResourceClaimTemplate(template) => flaw_of_template(object, template, profile),
            Object::ResourceClaimTemplate(template) if self.is_master(template) => {
                flaw_of_template(object, template, profile)
            }
            _ => None,
        };
        match flaw {
            Some(flaw) => drop(self.settings.unusable.insert(key, flaw)),
            None => drop(self.settings.unusable.remove(&key)),
        }
    }

    fn is_master(&self, template: &ResourceClaimTemplate) -> bool {
        template.metadata.namespace == self.settings.home && !is_copy(template)
    }

    /// It has been at work since a time; else it begins with the first copy that is looked at.
    pub(crate) fn begin(&mut self, since: Time) {
        self.brake.begin(since);
    }

    /// Forgets what is gone, and remembers which sources users change.
    pub(crate) fn note(&mut self, trigger: &Trigger) {
        let (before, after) = (trigger.before.as_deref(), trigger.after.as_deref());
        if let Some(gone) = before.map(Object::metadata)
            && after.is_none_or(|after| after.metadata().uid != gone.uid)
        {
            self.settings.unusable.remove(&*known_by(gone));
        }
        match (before, after) {
            (Some(Object::Namespace(gone)), None) => self.refusals.retain(|key, _| key.0 != gone.metadata.name),
            (Some(before), after)
                if self.is_source(before) && !after.is_some_and(|after| asks_alike(before, after)) =>
            {
                self.brake.release(&before.metadata().uid, after.is_none());
            }
            // It was changed while nobody looked.
            (None, Some(Object::TemplateSource(source))) if !is_observed(source) => {
                self.brake.release(&source.metadata.uid, false);
            }
            (None, Some(source)) if self.is_source(source) => self.brake.is_back(&source.metadata().uid),
            _ => {}
        }
    }

    fn is_source(&self, object: &Object) -> bool {
        match object {
            Object::TemplateSource(_) | Object::ClusterResourceClaimTemplate(_) => true,
            Object::ResourceClaimTemplate(template) => self.is_master(template),
            _ => false,
        }
    }

    /// What to do about one copy, how it stands, and what else to look at now. `None` where it has to wait for its turn.
    pub(crate) fn reconcile(
        &mut self,
        cluster: &Cluster,
        key: &Key,
        now: Time,
    ) -> Option<(Decision, State, Vec<Work>)> {
        self.brake.begin(now);
        let (mut decision, state) = reconcile(cluster, &self.settings, &key.0, &key.1);
        let deletes = decision.actions.iter().any(|action| matches!(action, Action::Delete { .. }));
        let mut next = Vec::new();
        match self.admit(cluster, key, deletes, now) {
            Ok(()) => next.extend(self.brake.let_go(key).and_then(|uid| status_of(cluster, &uid))),
            // The start holds the deletion for a minute at most; the status does not report that.
            Err((at, _)) if self.brake.is_starting() => {
                return Some((Decision { wake_up: Some(at), ..Decision::none() }, State::Outdated, next));
            }
            Err((at, uid)) => {
                decision = Decision { wake_up: Some(at), cause: Cause::Held, ..Decision::none() };
                if self.brake.hold(key, &uid) {
                    decision.events.extend(cluster.templates().get(key).map(waits));
                    next.extend(status_of(cluster, &uid));
                }
                return Some((decision, State::Outdated, next));
            }
        }
        match state {
            State::Replacing { most: Some(most) } if !self.rollout.admit(key, most) => return None,
            State::Replacing { .. } | State::Changing | State::Refused { .. } => {}
            State::NotWanted | State::Current | State::Outdated | State::Conflict | State::Superseded { .. } => {
                next.extend(self.rollout.close(key).map(|(namespace, name)| Work::Copy { namespace, name }));
            }
        }
        Some((decision, state, next))
    }

    /// Whether a copy may be deleted now, if it is to be; else when to ask again, and the UID of its source.
    fn admit(&mut self, cluster: &Cluster, key: &Key, deletes: bool, now: Time) -> Result<(), (Time, String)> {
        let Self { settings, brake, .. } = self;
        let uid = cluster.templates().get(key).and_then(|copy| copy.metadata.labels.get(SOURCE_UID));
        let uid = uid.map(String::as_str).unwrap_or_default();
        let rivals = sources(cluster, &settings.home).filter(|source| source.target() == key.1);
        let parts = rivals.flat_map(Source::parts).map(|metadata| metadata.uid.as_str());
        if brake.is_released(parts.chain([uid]), deletes, now) || !deletes {
            return Ok(());
        }
        let copies = || cluster.templates().values().filter(|template| is_copy(template)).count();
        brake.admit(key, copies, now).map_err(|at| (at, uid.to_owned()))
    }

    /// Writes the status of a source where it would say something else than it does.
    pub(crate) fn status(&self, cluster: &Cluster, name: &str, now: Time) -> Decision {
        super::status::status(cluster, self, name, now)
    }

    /// How many copies of a source wait to be deleted.
    pub(super) fn held(&self, source: &str) -> usize {
        self.brake.held(source)
    }

    /// Takes into account how the writes about a copy ended: with a refusal, or well. Gives what that matters to.
    pub(crate) fn answered(&mut self, cluster: &Cluster, key: &Key, refused: Option<(u16, String)>) -> BTreeSet<Work> {
        let changed = match refused {
            None => self.refusals.remove(key).is_some(),
            Some((status, message)) => {
                let refusal = Refusal { reason: Reason::of_answer(status, &message), message };
                self.refusals.insert(key.clone(), refusal.clone()) != Some(refusal)
            }
        };
        if changed { told_of(cluster, &self.settings, &key.0, &key.1) } else { BTreeSet::new() }
    }
}

fn is_observed(source: &TemplateSource) -> bool {
    let seen = source.status.as_ref().and_then(|status| status.get("observedGeneration"));
    seen.is_none() || seen == source.metadata.rest.get("generation")
}

/// Whether two versions of a source ask for the same.
fn asks_alike(before: &Object, after: &Object) -> bool {
    let (one, other) = (before.metadata(), after.metadata());
    let spec = match (before, after) {
        (Object::TemplateSource(before), Object::TemplateSource(after)) => before.spec == after.spec,
        (
            Object::ClusterResourceClaimTemplate(before) | Object::ResourceClaimTemplate(before),
            Object::ClusterResourceClaimTemplate(after) | Object::ResourceClaimTemplate(after),
        ) => before.spec == after.spec && one.annotations == other.annotations,
        _ => false,
    };
    spec && one.uid == other.uid && one.is_deleting() == other.is_deleting()
}

/// The status of the source with a UID, where there is one that has a status.
fn status_of(cluster: &Cluster, uid: &str) -> Option<Work> {
    let source = cluster.template_sources().values().find(|source| source.metadata.uid == uid)?;
    Some(Work::Status(source.metadata.name.clone()))
}

/// The Event at a copy that is not deleted yet.
fn waits(copy: &ResourceClaimTemplate) -> EventRecord {
    let note = "it is to be deleted, and waits because too many copies would go at once".to_owned();
    EventRecord::warning(MANAGER, reference(copy), &copy.metadata, "DeletionHeld", note)
}

fn in_words(finding: &Finding) -> String {
    format!("{}: {}", finding.path, finding.message)
}

/// The first finding with a code.
fn first(findings: &[Finding], code: Code) -> Option<&Finding> {
    findings.iter().find(|finding| finding.code == code)
}

/// The first thing in a template that is not understood.
fn flaw_of_template(object: &Object, template: &ResourceClaimTemplate, profile: &Profile) -> Option<String> {
    let annotations = &template.metadata.annotations;
    let is_ours = |name: &&String| name.starts_with(SOURCE_GROUP) && !ANNOTATIONS.contains(&name.as_str());
    if let Some(name) = annotations.keys().find(is_ours).filter(|_| is_annotated(annotations)) {
        return Some(format!("metadata.annotations[{name}]: no annotation of a source has this name"));
    }
    let findings = validate(Submission::create(object.clone().write()), profile);
    let codes = [Code::LinkNoNamespace, Code::ReadUnknownField, Code::ReadUnknownValue];
    codes.into_iter().find_map(|code| first(&findings, code)).map(in_words)
}

/// What in a source is not understood: a field of a later version, a rule that it breaks in the words of `validate`, or a value of
/// a later version.
fn flaw(source: &TemplateSource, profile: &Profile) -> Option<String> {
    let mut object = Object::TemplateSource(Arc::new(source.clone())).write();
    // That is ours.
    object.as_object_mut()?.remove("status");
    // A claim that asks for nothing is written as nothing.
    if let Some(template) = object.pointer_mut("/spec/template").and_then(Value::as_object_mut) {
        template.entry("spec").or_insert_with(|| json!({}));
    }
    let findings = validate(Submission::create(object), profile);
    let is_broken = |finding: &&Finding| finding.kind.is_some() && finding.severity == Severity::Error;
    let broken = || findings.iter().find(is_broken);
    let unknown = |code| first(&findings, code);
    let flaw = unknown(Code::ReadUnknownField).or_else(broken).or_else(|| unknown(Code::ReadUnknownValue));
    flaw.map(in_words)
}
