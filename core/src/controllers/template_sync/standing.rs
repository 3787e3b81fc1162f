//! How the copies of each source stand, namespace by namespace.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::desired::{Desired, hash};
use super::source::{Source, sources};
use super::status::{Counts, Refusal, recorded_refusals};
use super::usage::is_to_go;
use super::{SOURCE_UID, Settings, State, decide_for, in_charge, is_copy, rivals};
use crate::api::claim::ResourceClaimTemplate;
use crate::cluster::Cluster;
use crate::gather::Gather;

/// A source, and what all its copies have in common: found out once for all namespaces.
pub(super) struct Standing<'s> {
    cluster: &'s Cluster,
    settings: &'s Settings,
    own: Source<'s>,
    /// All sources with that target.
    rivals: Vec<Source<'s>>,
    desired: Option<Desired>,
}

impl<'s> Standing<'s> {
    pub(super) fn of(cluster: &'s Cluster, settings: &'s Settings, own: Source<'s>) -> Self {
        let (rivals, desired) = (rivals(cluster, settings, own.target()), Desired::of(own));
        Self { cluster, settings, own, rivals, desired }
    }

    pub(super) fn in_namespace(&self, namespace: &str) -> State {
        let space = self.settings.namespace(self.cluster, namespace);
        let keeps =
            || self.found(namespace).is_some_and(|copy| self.own.flaw(self.settings).is_some() && self.has(copy));
        if !space.is_some_and(|space| self.own.selects(space)) && !keeps() {
            return State::NotWanted;
        }
        match in_charge(&self.rivals, space).filter(|first| first.metadata.uid != self.own.metadata.uid) {
            Some(first) => State::Superseded { by: first.metadata.name.clone() },
            None => decide_for(self.cluster, self.settings, self.own, self.desired.as_ref(), namespace).1,
        }
    }

    /// Classes that it names and that are not there, by name.
    pub(super) fn missing_classes(&self) -> BTreeSet<&'s str> {
        let classes = self.cluster.classes();
        self.own.classes().filter(|name| !classes.contains_key(*name)).gather()
    }

    /// System namespaces whose labels it selects and that get no copy, by name.
    pub(super) fn skipped(&self) -> Vec<&'s str> {
        let spaces = self.cluster.namespaces().iter().filter(|(_, space)| self.own.skips(space));
        spaces.map(|(name, _)| name.as_str()).collect()
    }

    /// How many others come before it.
    fn rank(&self) -> usize {
        self.rivals.iter().filter(|other| other.rank() < self.own.rank()).count()
    }

    /// Whether a template is a copy of it.
    pub(super) fn has(&self, template: &ResourceClaimTemplate) -> bool {
        is_copy(template) && template.metadata.labels.get(SOURCE_UID) == Some(&self.own.metadata.uid)
    }

    /// The template that has the name of a copy.
    fn found(&self, namespace: &str) -> Option<&'s ResourceClaimTemplate> {
        self.cluster.templates().get(&(namespace.to_owned(), self.own.target().to_owned()))
    }
}

/// How a source stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "SourceStanding"))]
pub struct Stands {
    /// Kind, as references name it.
    pub kind: String,
    /// Namespace, of a master template.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Name of the copies.
    pub target: String,
    /// Its place among the sources of copies with that name, from 0: of those that select a namespace the first one is in charge of it.
    pub rank: usize,
    /// Name of the template in the controller's namespace that it names as its own; empty where it names none.
    pub master: String,
    /// Whether at least one namespace is selected and all of them have the current copy.
    pub is_ready: bool,
    /// Whether nothing is written for now.
    pub is_paused: bool,
    /// Whether the status was written for the latest change of the source; always for one without a status.
    pub is_observed: bool,
    /// What the current copies are known by; empty where there is nothing to copy.
    pub template_hash: String,
    /// Namespaces in numbers.
    pub counts: Counts,
    /// Device classes that it names and that are not there.
    pub missing_classes: Vec<String>,
    /// System namespaces that a selector matches and that get no copy, because only their names select them.
    pub skipped: Vec<String>,
    /// Selected namespaces, and others that have a copy, by name.
    pub places: Vec<Place>,
}

/// How the copy of a source in one namespace stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "CopyStanding"))]
pub struct Place {
    /// The namespace.
    pub namespace: String,
    /// `Current`, `Updating`, `Conflicting`, `Refused`, or `Leftover` where the namespace is not selected any more.
    pub state: &'static str,
    /// A word for programs; empty where all is well.
    pub reason: &'static str,
    /// The same for people.
    pub message: String,
}

/// How all sources stand by the facts, each by its kind and name. What only the API server knows is taken from the last status.
pub fn standings(cluster: &Cluster, settings: &Settings) -> Vec<Stands> {
    let leftovers = copies_by_source(cluster);
    sources(cluster, &settings.home).map(|own| stands(cluster, settings, own, &leftovers)).collect()
}

/// Copies by the UID of their source.
fn copies_by_source(cluster: &Cluster) -> BTreeMap<&str, Vec<&ResourceClaimTemplate>> {
    let mut found: BTreeMap<&str, Vec<&ResourceClaimTemplate>> = BTreeMap::new();
    for copy in cluster.templates().values().filter(|template| is_copy(template)) {
        if let Some(uid) = copy.metadata.labels.get(SOURCE_UID) {
            found.entry(uid).or_default().push(copy);
        }
    }
    found
}

fn stands(
    cluster: &Cluster,
    settings: &Settings,
    own: Source<'_>,
    copies: &BTreeMap<&str, Vec<&ResourceClaimTemplate>>,
) -> Stands {
    let standing = Standing::of(cluster, settings, own);
    let (mut counts, refusals) = (Counts::default(), recorded_refusals(own));
    let mut places: BTreeMap<&str, Place> = BTreeMap::new();
    for namespace in cluster.namespaces().keys() {
        let state = standing.in_namespace(namespace);
        let refusal = refusals.get(namespace.as_str());
        if let Some(place) = place(&standing, namespace, &state, refusal) {
            places.insert(namespace, place);
        }
        counts.add(&state, refusal.is_some());
    }
    for copy in copies.get(own.metadata.uid.as_str()).into_iter().flatten() {
        let namespace = copy.metadata.namespace.as_str();
        places.entry(namespace).or_insert_with(|| leftover(cluster, settings, copy));
    }
    let reference = own.reference();
    Stands {
        kind: reference.kind,
        namespace: reference.namespace,
        name: reference.name,
        target: own.target().to_owned(),
        rank: standing.rank(),
        master: own.master_name().to_owned(),
        is_ready: counts.is_ready(),
        is_paused: own.is_paused(),
        is_observed: own.is_observed(),
        template_hash: own.spec.map(hash).unwrap_or_default(),
        missing_classes: standing.missing_classes().into_iter().map(str::to_owned).collect(),
        skipped: standing.skipped().into_iter().map(str::to_owned).collect(),
        places: places.into_values().collect(),
        counts,
    }
}

/// `None` where no copy is wanted.
fn place(standing: &Standing<'_>, namespace: &str, state: &State, refusal: Option<&Refusal>) -> Option<Place> {
    let failure = state.failure();
    let (state, reason, message) = match (state, failure.as_ref().or(refusal)) {
        (State::NotWanted, _) => return None,
        (State::Current, _) => ("Current", "", ""),
        (State::Conflict | State::Superseded { .. }, Some(failure)) => {
            ("Conflicting", failure.reason.text(), &*failure.message)
        }
        (State::Refused { .. } | State::Changing | State::Replacing { .. }, Some(failure)) => {
            ("Refused", failure.reason.text(), &*failure.message)
        }
        (State::Conflict | State::Superseded { .. } | State::Refused { .. }, None) => return None,
        (State::Replacing { .. }, None) => ("Updating", "Outdated", "it is to be deleted and made again"),
        (State::Changing, None) => match standing.found(namespace) {
            None => ("Updating", "Missing", "it is to be made"),
            Some(copy) if copy.metadata.is_deleting() => ("Updating", "Missing", "the earlier one is being deleted"),
            Some(copy) if is_copy(copy) => ("Updating", "Drifted", "its marks are to be repaired"),
            Some(_) => ("Updating", "Foreign", "a template of that name is to be taken over"),
        },
        (State::Outdated, _) => match standing.found(namespace) {
            None => ("Updating", "Paused", "it is to be made once the source is no longer paused"),
            Some(_) => ("Updating", "Outdated", "it stays as it is"),
        },
    };
    Some(Place { namespace: namespace.to_owned(), state, reason, message: message.to_owned() })
}

/// A copy in a namespace that its source does not select.
fn leftover(cluster: &Cluster, settings: &Settings, copy: &ResourceClaimTemplate) -> Place {
    let message = match is_to_go(cluster, settings, copy) || copy.metadata.is_deleting() {
        true => "it is to be deleted",
        false => "it stays while it is used, or while the source is paused",
    };
    let namespace = copy.metadata.namespace.clone();
    Place { namespace, state: "Leftover", reason: "NotSelected", message: message.to_owned() }
}
