//! Metadata that all objects have.

use std::collections::BTreeMap;

use super::read::api_struct;
use crate::finding::ObjectRef;

api_struct! {
    /// `ObjectMeta`; only what decisions need is typed, the rest is kept.
    open ObjectMeta {
        /// Name, unique for the kind in its namespace.
        "name" name: String,
        /// Prefix from which the server makes a name.
        "generateName" generate_name: String,
        /// Namespace; empty for cluster-scoped kinds.
        "namespace" namespace: String,
        /// Unique id; empty before the server gave one.
        "uid" uid: String,
        /// Version for optimistic concurrency; opaque.
        "resourceVersion" resource_version: String,
        /// RFC 3339 time of creation; empty before the server gave one.
        "creationTimestamp" creation_timestamp: String,
        /// RFC 3339 time at which deletion was asked for; empty while it was not.
        "deletionTimestamp" deletion_timestamp: String,
        /// Labels.
        "labels" labels: BTreeMap<String, String>,
        /// Annotations.
        "annotations" annotations: BTreeMap<String, String>,
        /// Owners; the object goes when they are gone.
        "ownerReferences" owner_references: Vec<OwnerReference>,
        /// What must happen before the object may go.
        "finalizers" finalizers: Vec<String>,
    }

    /// `OwnerReference`.
    closed OwnerReference {
        /// API version of the owner.
        "apiVersion" api_version: String,
        /// Kind of the owner.
        "kind" kind: String,
        /// Name of the owner, in the same namespace or cluster-scoped.
        "name" name: String,
        /// UID of the owner.
        "uid" uid: String,
        /// Whether this owner is the managing controller.
        "controller" controller: Option<bool>,
        /// Whether the owner's deletion waits for this object.
        "blockOwnerDeletion" block_owner_deletion: Option<bool>,
    }
}

impl ObjectMeta {
    /// Whether somebody asked for the object to be deleted.
    pub fn is_deleting(&self) -> bool {
        !self.deletion_timestamp.is_empty()
    }

    /// Whether something must happen before the object may go, by the name of that.
    pub(crate) fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|finalizer| finalizer == name)
    }

    /// Kind, namespace and name of the object with this metadata.
    pub fn reference(&self, kind: &str) -> ObjectRef {
        ObjectRef::new(kind, &*self.namespace, &*self.name)
    }

    /// The object as the owner that manages another one.
    pub fn as_controller(&self, api_version: &str, kind: &str) -> OwnerReference {
        OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            controller: Some(true),
            ..OwnerReference::default()
        }
    }

    /// The owner that manages the object.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller == Some(true))
    }
}
