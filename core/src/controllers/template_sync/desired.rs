//! What a copy consists of: how it is made, marked, taken over and removed.

use serde_json::{Map, Value, json};

use super::source::Source;
use super::{CONTENT_HASH, DELETION_POLICY, FIELD_MANAGER, MANAGED_BY, MANAGER, SOURCE_NAME, SOURCE_UID};
use crate::api::claim::{ResourceClaimTemplate, ResourceClaimTemplateSpec};
use crate::api::meta::OwnerReference;
use crate::api::read::Json;
use crate::api::source::DeletionPolicy;
use crate::decision::{Action, Merging, Patch};
use crate::derive;
use crate::finding::ObjectRef;

/// Longest value of a label.
const MAX_LABEL: usize = 63;

/// What all copies of a source have in common: all but their namespace.
pub(super) struct Desired(ResourceClaimTemplate);

impl Desired {
    /// `None` where there is nothing to copy.
    pub(super) fn of(source: Source<'_>) -> Option<Self> {
        let spec = source.spec?;
        let mut copy = ResourceClaimTemplate { spec: spec.with_defaults(), ..ResourceClaimTemplate::default() };
        let metadata = &mut copy.metadata;
        metadata.name = source.target().to_owned();
        metadata.labels.extend([
            (MANAGED_BY.to_owned(), MANAGER.to_owned()),
            (SOURCE_NAME.to_owned(), label_of(&source.metadata.name)),
            (SOURCE_UID.to_owned(), source.metadata.uid.clone()),
        ]);
        metadata.annotations.insert(CONTENT_HASH.to_owned(), hash(spec));
        match source.deletion_policy() {
            DeletionPolicy::Delete | DeletionPolicy::Unknown(_) => {}
            policy @ (DeletionPolicy::Orphan | DeletionPolicy::DeleteWhenUnused) => {
                metadata.annotations.insert(DELETION_POLICY.to_owned(), policy.text().to_owned());
            }
        }
        metadata.owner_references.extend(source.owner());
        Some(Self(copy))
    }

    /// The copy for a namespace.
    pub(super) fn copy(&self, namespace: &str) -> ResourceClaimTemplate {
        let mut copy = self.0.clone();
        copy.metadata.namespace = namespace.to_owned();
        copy
    }

    /// Whether a template has the spec of a copy, which the API server completes and writes in its own way.
    pub(super) fn is_spec_of(&self, template: &ResourceClaimTemplate) -> bool {
        let wanted = &self.0.spec;
        template.spec == *wanted || template.spec.with_defaults() == *wanted
    }

    /// Gives a template the marks that it lacks; what else it has stays.
    pub(super) fn repairs(&self, copy: &ResourceClaimTemplate) -> Vec<Action> {
        let (is, should) = (&copy.metadata, &self.0.metadata);
        let has_labels = should.labels.iter().all(|(key, value)| is.labels.get(key) == Some(value));
        let has_notes = should.annotations.iter().all(|(key, value)| is.annotations.get(key) == Some(value));
        let has_owner = should.owner_references.iter().all(|owner| is.owner_references.contains(owner));
        let stays = should.owner_references.is_empty() && is.owner_references.iter().any(is_source);
        let mut actions = Vec::new();
        if !(has_labels && has_notes && has_owner) {
            actions.push(self.marks(copy, None));
        }
        if stays {
            // The source no longer takes its copies with it: an owner that is left out of what is applied may stay.
            let others: Vec<Value> =
                is.owner_references.iter().filter(|owner| !is_source(owner)).filter_map(Json::write).collect();
            let fields = json!({ "metadata": { "ownerReferences": others } });
            actions.push(patch(copy, Merging::Merge, fields));
        }
        actions
    }

    /// Makes somebody's template a copy. Its spec stays; where it is another one, its marks say which.
    pub(super) fn adoption(&self, template: &ResourceClaimTemplate) -> Action {
        let own = (!self.is_spec_of(template)).then(|| hash(&template.spec));
        self.marks(template, own)
    }

    fn marks(&self, copy: &ResourceClaimTemplate, hash: Option<String>) -> Action {
        let should = &self.0.metadata;
        let mut annotations = should.annotations.clone();
        annotations.extend(hash.map(|hash| (CONTENT_HASH.to_owned(), hash)));
        let mut metadata = Map::new();
        metadata.insert("labels".to_owned(), json!(should.labels));
        metadata.insert("annotations".to_owned(), json!(annotations));
        if let Some(owners) = should.owner_references.write_field() {
            metadata.insert("ownerReferences".to_owned(), owners);
        }
        let fields = json!({ "metadata": metadata });
        patch(copy, Merging::Apply(FIELD_MANAGER.to_owned()), fields)
    }
}

/// Whether a template has an owner that manages it and is none of its sources: it may have one such owner only, so that it can be
/// made nobody else's copy.
pub(super) fn is_managed_by_others(template: &ResourceClaimTemplate) -> bool {
    template.metadata.controller().is_some_and(|owner| !is_source(owner))
}

/// Whether an owner is a cluster-wide template.
pub(super) fn is_source(owner: &OwnerReference) -> bool {
    owner.kind == "ClusterResourceClaimTemplate"
}

fn patch(copy: &ResourceClaimTemplate, merging: Merging, fields: Value) -> Action {
    Action::Patch(Patch::of(reference(copy), &copy.metadata, false, merging, fields))
}

/// Whoever takes the mark off a copy makes it a template of their own: then it must not go.
pub(super) fn remove(copy: &ResourceClaimTemplate) -> Action {
    let (uid, resource_version) = (copy.metadata.uid.clone(), copy.metadata.resource_version.clone());
    Action::Delete { object: reference(copy), uid, resource_version }
}

pub(super) fn reference(copy: &ResourceClaimTemplate) -> ObjectRef {
    copy.metadata.reference("ResourceClaimTemplate")
}

/// What a spec is known by.
pub(super) fn hash(spec: &ResourceClaimTemplateSpec) -> String {
    derive::letters(12, &["template", &spec.with_defaults().write().unwrap_or(Value::Null).to_string()])
}

/// A name as the value of a label, which is shorter; the UID beside it tells apart what is cut alike.
pub(super) fn label_of(name: &str) -> String {
    name.get(..MAX_LABEL).unwrap_or(name).trim_end_matches(['-', '.']).to_owned()
}
