//! The one door through which every host asks: events in, questions answered.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::allocate::{Answer, Fits, KnownQuestion, Limits, Question, allocate, allocate_each, allocate_known, fits};
use crate::api::claim::ResourceClaim;
pub use crate::api::object::parse;
use crate::api::object::{Object, read_object, read_text};
use crate::api::quantity::Quantity;
use crate::api::read::{Json, Path};
use crate::ask::{Report, inquire, run};
use crate::cluster::{Cluster, Key, SharedMap};
use crate::control_plane::admission::admit;
use crate::derive;
use crate::finding::{Code, Finding, ObjectRef};
use crate::profile::Profile;

/// A cluster and the limits on what a question may cost.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Shared with forks until one of them changes it, or asks.
    facts: Arc<Facts>,
    limits: Limits,
    /// What a fork was made of.
    origin: Option<Arc<Facts>>,
    /// Questions that were read once, by number.
    prepared: SharedMap<u32, Arc<Question>>,
    /// The number given last.
    last_prepared: u32,
}

/// What changes are made to.
#[derive(Clone, Debug)]
struct Facts {
    cluster: Cluster,
    /// Names generated so far.
    generated: u64,
    /// Another one after each change, the same in a fork until it is changed: who has the same one knows the same.
    version: Arc<()>,
}

impl Engine {
    /// An engine over an empty cluster.
    pub fn new(profile: Profile, limits: Limits) -> Self {
        let facts = Facts { cluster: Cluster::new(profile), generated: 0, version: Arc::default() };
        Self { facts: Arc::new(facts), limits, origin: None, prepared: SharedMap::default(), last_prepared: 0 }
    }

    /// The facts.
    pub fn cluster(&self) -> &Cluster {
        &self.facts.cluster
    }

    /// An engine with the same facts and prepared questions, to try something out. It takes the same time for any cluster, and shares with
    /// this one what neither of them changes.
    pub fn fork(&self) -> Self {
        Self { origin: Some(Arc::clone(&self.facts)), ..self.clone() }
    }

    /// Takes over the facts of a fork. False, and nothing happens, when this engine has changed since the fork was made, or the fork was
    /// made of another one.
    ///
    /// The same object applied again and the deletion of nothing are no change. Prepared questions stay those of each. What was forked off
    /// the fork after its last change can be committed next.
    pub fn commit(&mut self, fork: &Self) -> bool {
        let is_of_this = |origin: &Arc<Facts>| Arc::ptr_eq(&origin.version, &self.facts.version);
        let can_be = fork.origin.as_ref().is_some_and(is_of_this);
        if can_be {
            self.adopt(fork);
        }
        can_be
    }

    /// Takes over the facts of another engine, whatever happened to this one: for hosts that know themselves what has changed. Prepared
    /// questions stay those of each.
    pub fn adopt(&mut self, other: &Self) {
        self.facts = Arc::clone(&other.facts);
    }

    /// Goes back to the facts with which this fork was made. False, and nothing happens, for an engine that is no fork.
    pub fn revert(&mut self) -> bool {
        let origin = self.origin.as_ref();
        origin.map(|origin| self.facts = Arc::clone(origin)).is_some()
    }

    /// Keeps a question, whose claims are read and need not be read again; its number. Forks made later know it. `None` when all numbers
    /// were given.
    pub fn prepare(&mut self, question: Question) -> Option<u32> {
        self.last_prepared = self.last_prepared.checked_add(1)?;
        self.prepared.insert(self.last_prepared, Arc::new(question));
        Some(self.last_prepared)
    }

    /// A question that was prepared.
    pub fn prepared(&self, number: u32) -> Option<&Arc<Question>> {
        self.prepared.get(&number)
    }

    /// Drops a question that was prepared. False when there is none. Forks keep it.
    pub fn forget(&mut self, number: u32) -> bool {
        self.prepared.remove(&number).is_some()
    }

    /// Takes objects in, each one JSON text; objects with the same key are replaced.
    ///
    /// An object with an error among its findings is left out, as the API server would refuse it.
    /// As with kubectl, a namespaced object without a namespace goes to `default`, and one with `generateName` is a new
    /// object each time.
    /// Findings come per object, in the order given.
    pub fn apply<'t>(&mut self, objects: impl IntoIterator<Item = &'t str>) -> Vec<Vec<Finding>> {
        objects.into_iter().map(|text| self.apply_one(text)).collect()
    }

    fn apply_one(&mut self, text: &str) -> Vec<Finding> {
        let reading = read_text(text);
        let usable = reading.is_usable();
        if let (true, Some(object)) = (usable, reading.object) {
            self.take(object);
        }
        reading.findings
    }

    /// Has the API server of the cluster's Kubernetes admit objects, each one JSON text: what it refuses is left out, fields that it drops are
    /// gone, defaults are set.
    ///
    /// Findings come per object, in the order given; an object with an error among them is left out. Otherwise as [`Engine::apply`].
    pub fn submit<'t>(&mut self, objects: impl IntoIterator<Item = &'t str>) -> Vec<Vec<Finding>> {
        objects.into_iter().map(|text| self.submit_one(text)).collect()
    }

    fn submit_one(&mut self, text: &str) -> Vec<Finding> {
        let (object, findings) = admit(text, self.facts.cluster.profile());
        match object {
            Some(object) => {
                if findings.iter().any(|finding| finding.code == Code::ValidateDroppedField)
                    && let Ok(written) = parse(text)
                {
                    self.change().note_dropped(object.reference(), written, &findings);
                }
                self.take(object);
            }
            None => self.change().note_refused(parse(text).unwrap_or_default(), &findings),
        }
        findings
    }

    fn take(&mut self, mut object: Object) {
        if object.is_namespaced() && object.metadata().namespace.is_empty() {
            object.metadata_mut().namespace = "default".to_owned();
        }
        if object.metadata().name.is_empty() {
            let facts = Arc::make_mut(&mut self.facts);
            facts.generated = facts.generated.saturating_add(1);
            derive::give_name(&mut object, facts.generated);
        }
        let is_known = || self.facts.cluster.get(&object.reference()).is_some_and(|known| known == object);
        if !self.is_shared() || !is_known() {
            self.change().apply(object);
        }
    }

    /// Allocates claims together on one of the nodes asked for.
    pub fn allocate(&mut self, question: &Question) -> Answer {
        allocate(&mut Arc::make_mut(&mut self.facts).cluster, question, &self.limits)
    }

    /// On which of the nodes asked for the claims fit, without devices and reasons.
    pub fn fits(&mut self, question: &Question) -> Fits {
        fits(&mut Arc::make_mut(&mut self.facts).cluster, question, &self.limits)
    }

    /// Allocates claims that are in the cluster, and has them take the answer if that is asked for.
    ///
    /// # Errors
    ///
    /// A finding when a key is that of no claim.
    pub fn allocate_known(&mut self, question: &KnownQuestion) -> Result<Answer, Vec<Finding>> {
        let limits = self.limits;
        allocate_known(self.ask(question), question, &limits).map_err(unknown)
    }

    /// Allocates claims that are in the cluster each by itself, one after another.
    ///
    /// # Errors
    ///
    /// As for [`Engine::allocate_known`].
    pub fn allocate_each(&mut self, question: &KnownQuestion) -> Result<Vec<Answer>, Vec<Finding>> {
        let limits = self.limits;
        allocate_each(self.ask(question), question, &limits).map_err(unknown)
    }

    /// Removes an object; of a kind with namespaces, no namespace means `default`. False when there is none.
    pub fn delete(&mut self, object: &ObjectRef) -> bool {
        let object = self.meant(object);
        let is_there = !self.is_shared() || self.facts.cluster.get(&object).is_some();
        is_there && self.change().delete(&object)
    }

    /// An object as JSON in the `v1` form, as it is now; of a kind with namespaces, no namespace means `default`.
    pub fn get(&self, object: &ObjectRef) -> Option<Value> {
        self.facts.cluster.get(&self.meant(object)).map(|object| object.write())
    }

    /// The object that is meant where no namespace is named.
    fn meant<'o>(&self, object: &'o ObjectRef) -> Cow<'o, ObjectRef> {
        if !object.namespace.is_empty() || self.facts.cluster.get(object).is_some() {
            return Cow::Borrowed(object);
        }
        Cow::Owned(ObjectRef { namespace: "default".to_owned(), ..object.clone() })
    }

    /// Answers a question that changes nothing; see [`crate::ask`] for its shape.
    ///
    /// # Errors
    ///
    /// The findings, when the inquiry cannot be read or names what is not there.
    pub fn inquire(&self, inquiry: Value) -> Result<Value, Vec<Finding>> {
        inquire(&self.facts.cluster, inquiry, &self.limits)
    }

    /// Plays the cluster's controllers and scheduler until nothing changes.
    pub fn run(&mut self) -> Report {
        let limits = self.limits;
        run(self.change(), &limits)
    }

    /// Whether a fork may be compared with this.
    fn is_shared(&self) -> bool {
        Arc::strong_count(&self.facts) > 1 || Arc::strong_count(&self.facts.version) > 1
    }

    /// The cluster, to be changed.
    fn change(&mut self) -> &mut Cluster {
        let facts = Arc::make_mut(&mut self.facts);
        facts.version = Arc::default();
        &mut facts.cluster
    }

    /// The cluster, to be asked, and changed if answers are taken.
    fn ask(&mut self, question: &KnownQuestion) -> &mut Cluster {
        if question.take { self.change() } else { &mut Arc::make_mut(&mut self.facts).cluster }
    }
}

fn unknown((namespace, name): Key) -> Vec<Finding> {
    let message = format!("there is no claim `{name}` in namespace `{namespace}`");
    vec![Finding::new(Code::ReadBadSettings, "claims", message)]
}

/// Reads one claim from JSON text, for a [`Question`]. The namespace is left as written.
///
/// # Errors
///
/// The findings, when the text is not a usable claim.
pub fn read_claim(text: &str) -> Result<ResourceClaim, Vec<Finding>> {
    read_claim_value(parse(text).map_err(|finding| vec![finding])?)
}

/// Reads one claim from JSON, for a [`Question`]. The namespace is left as written.
///
/// # Errors
///
/// The findings, when the value is not a usable claim.
pub fn read_claim_value(value: Value) -> Result<ResourceClaim, Vec<Finding>> {
    let reading = read_object(value);
    let usable = reading.is_usable();
    match reading.object {
        Some(Object::ResourceClaim(claim)) if usable => Ok(Arc::unwrap_or_clone(claim)),
        Some(_) if usable => Err(vec![Finding::new(Code::ReadWrongType, "kind", "the object is not a ResourceClaim")]),
        _ => Err(reading.findings),
    }
}

/// Reads one quantity, for a [`Question`].
///
/// # Errors
///
/// The finding, when the value is not a quantity.
pub fn read_quantity(value: Value) -> Result<Quantity, Finding> {
    let mut findings = Vec::new();
    Json::read(value, &Path::ROOT, &mut findings).map_err(|_| {
        findings.pop().unwrap_or_else(|| Finding::new(Code::Internal, "", "a quantity was refused silently"))
    })
}
