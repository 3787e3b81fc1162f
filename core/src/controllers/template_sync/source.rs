//! Sources of three kinds, seen as one.

use serde_json::Value;

use crate::api::claim::{ResourceClaimTemplate, ResourceClaimTemplateSpec};
use crate::api::meta::{ObjectMeta, OwnerReference};
use crate::api::pod::Namespace;
use crate::api::source::{
    ConflictPolicy, DeletionPolicy, SOURCE_API_VERSION, SOURCE_KIND, Target, TemplateSource, UpdateStrategy,
};
use crate::cluster::Cluster;
use crate::finding::ObjectRef;

/// Annotation of a source: names of namespaces, separated by commas; `*` for all but system namespaces.
pub const NAMESPACES: &str = "apportion.dev/namespaces";

/// Annotation of a source: labels that a namespace must have, `key=value`, separated by commas.
pub const NAMESPACE_SELECTOR: &str = "apportion.dev/namespace-selector";

/// Annotation of a source: names of namespaces that get no copy, separated by commas.
pub const EXCLUDED_NAMESPACES: &str = "apportion.dev/excluded-namespaces";

/// Annotation of a source: name of the copies; the source's own where it is left out.
pub const TEMPLATE_NAME: &str = "apportion.dev/template-name";

/// Namespaces that only an explicit name selects.
const SYSTEM: &str = "kube-";

/// A source, of any kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    pub(super) metadata: &'s ObjectMeta,
    /// What copies are made of; absent where the master that is named is not there.
    pub(super) spec: Option<&'s ResourceClaimTemplateSpec>,
    /// Namespace and name of the master that is named.
    master: Option<(&'s str, &'s str)>,
    form: Form<'s>,
}

#[derive(Clone, Copy, Debug)]
enum Form<'s> {
    /// A ClusterResourceClaimTemplate of `apportion.dev`.
    Custom(&'s TemplateSource),
    /// One as proposed for `resource.k8s.io`, with annotations.
    Proposed,
    /// A ResourceClaimTemplate of the controller's namespace, with annotations.
    Master,
}

/// All sources: those of `apportion.dev`, those of `resource.k8s.io`, those of the controller's namespace that say which namespaces
/// they are for, each by name.
pub(super) fn sources<'c>(cluster: &'c Cluster, home: &'c str) -> impl Iterator<Item = Source<'c>> + 'c {
    let custom = cluster.template_sources().values().map(move |source| Source::custom(source, cluster, home));
    let proposed = cluster.cluster_templates().values().map(Source::proposed);
    let masters = super::of_namespace(cluster, home).filter(|(_, template)| !super::is_copy(template));
    let masters = masters.map(|(_, template)| Source::master(template));
    custom.chain(proposed).chain(masters.filter(|master| master.is_annotated()))
}

impl<'s> Source<'s> {
    /// A ClusterResourceClaimTemplate of `apportion.dev`.
    pub(super) fn custom(source: &'s TemplateSource, cluster: &'s Cluster, home: &'s str) -> Self {
        let master = source.spec.source.as_ref().map(|master| master.name.as_str());
        let spec = match master {
            Some(name) => cluster.templates().get(&(home.to_owned(), name.to_owned())).map(|template| &template.spec),
            None => source.spec.template.as_ref(),
        };
        let master = master.map(|name| (home, name));
        Self { metadata: &source.metadata, spec, master, form: Form::Custom(source) }
    }

    /// A ClusterResourceClaimTemplate as proposed for `resource.k8s.io`.
    pub(super) fn proposed(template: &'s ResourceClaimTemplate) -> Self {
        Self { metadata: &template.metadata, spec: Some(&template.spec), master: None, form: Form::Proposed }
    }

    /// A ResourceClaimTemplate of the controller's namespace.
    pub(super) fn master(template: &'s ResourceClaimTemplate) -> Self {
        Self { metadata: &template.metadata, spec: Some(&template.spec), master: None, form: Form::Master }
    }

    /// Kind, namespace and name.
    pub(super) fn reference(self) -> ObjectRef {
        let kind = match self.form {
            Form::Custom(_) => SOURCE_KIND,
            Form::Proposed => "ClusterResourceClaimTemplate",
            Form::Master => "ResourceClaimTemplate",
        };
        let (namespace, name) = (self.metadata.namespace.clone(), self.metadata.name.clone());
        ObjectRef { kind: kind.to_owned(), namespace, name }
    }

    /// The reference that makes copies go with their source, where they are to. An owner must be cluster-wide or in the same
    /// namespace, so masters own nothing.
    pub(super) fn owner(self) -> Option<OwnerReference> {
        let api_version = match self.form {
            Form::Custom(_) => SOURCE_API_VERSION,
            Form::Proposed => "resource.k8s.io/v1",
            Form::Master => return None,
        };
        (self.deletion_policy() == DeletionPolicy::Delete).then(|| OwnerReference {
            api_version: api_version.to_owned(),
            kind: "ClusterResourceClaimTemplate".to_owned(),
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
            controller: Some(true),
            ..OwnerReference::default()
        })
    }

    /// Whether its author needs no right to the controller's namespace, and so must not gain from what the controller may do.
    pub(super) fn is_cluster_wide(self) -> bool {
        !matches!(self.form, Form::Master)
    }

    fn annotation(self, name: &str) -> &'s str {
        self.metadata.annotations.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Whether it says which namespaces it is for.
    fn is_annotated(self) -> bool {
        [NAMESPACES, NAMESPACE_SELECTOR].iter().any(|name| self.metadata.annotations.contains_key(*name))
    }

    /// Whether it may be for some namespace.
    pub(super) fn is_for_some(self) -> bool {
        matches!(self.form, Form::Custom(_)) || self.is_annotated()
    }

    /// Name of the master that it names; empty where it has its own template.
    pub(super) fn master_name(self) -> &'s str {
        self.master.map(|(_, name)| name).unwrap_or_default()
    }

    /// Name of its copies.
    pub(super) fn target(self) -> &'s str {
        match self.form {
            Form::Custom(source) => source.target(),
            Form::Proposed | Form::Master => match self.annotation(TEMPLATE_NAME) {
                "" => &self.metadata.name,
                own => own,
            },
        }
    }

    pub(super) fn conflict_policy(self) -> ConflictPolicy {
        match self.form {
            Form::Custom(source) => source.spec.conflict_policy.clone(),
            Form::Proposed | Form::Master => ConflictPolicy::Fail,
        }
    }

    pub(super) fn deletion_policy(self) -> DeletionPolicy {
        match self.form {
            Form::Custom(source) => source.spec.deletion_policy.clone(),
            Form::Proposed | Form::Master => DeletionPolicy::Delete,
        }
    }

    pub(super) fn update_strategy(self) -> UpdateStrategy {
        match self.form {
            Form::Custom(source) => source.spec.update_strategy.clone(),
            Form::Proposed | Form::Master => UpdateStrategy::Recreate,
        }
    }

    /// How many copies may be missing at a time while they are replaced.
    pub(super) fn max_unavailable(self) -> Option<usize> {
        let Form::Custom(source) = self.form else { return None };
        usize::try_from(source.spec.max_unavailable?).ok()
    }

    /// Names of the device classes that it asks for devices of.
    pub(super) fn classes(self) -> impl Iterator<Item = &'s str> {
        let requests = self.spec.into_iter().flat_map(|spec| &spec.spec.devices.requests);
        requests.flat_map(|request| {
            let exact = request.exactly.iter().map(|exact| exact.device_class_name.as_str());
            exact.chain(request.first_available.iter().map(|alternative| alternative.device_class_name.as_str()))
        })
    }

    /// How the copies stood when the controller wrote it last.
    pub(super) fn status(self) -> Option<&'s Value> {
        let Form::Custom(source) = self.form else { return None };
        source.status.as_ref()
    }

    /// Whether its status is about its latest change. Sources without a status have nothing that could lag behind.
    pub(super) fn is_observed(self) -> bool {
        let Form::Custom(_) = self.form else { return true };
        let seen = self.status().and_then(|status| status.get("observedGeneration"));
        seen.is_some() && seen == self.metadata.rest.get("generation")
    }

    pub(super) fn is_paused(self) -> bool {
        matches!(self.form, Form::Custom(source) if source.spec.is_paused)
    }

    /// Whether a namespace is to have a copy. A source that says nothing is for no namespace.
    pub(super) fn selects(self, namespace: &Namespace) -> bool {
        let metadata = &namespace.metadata;
        // What copies are made of is not made a copy itself.
        let is_own = self.metadata.namespace == metadata.name || self.master == Some((&metadata.name, self.target()));
        if metadata.is_deleting() || self.metadata.is_deleting() || is_own {
            return false;
        }
        match self.form {
            Form::Custom(source) => source.spec.targets.iter().any(|target| is_target(target, metadata)),
            Form::Proposed | Form::Master => self.selects_by_annotation(metadata),
        }
    }

    fn selects_by_annotation(self, namespace: &ObjectMeta) -> bool {
        let has = |annotation: &str, name: &str| words(self.annotation(annotation)).any(|word| word == name);
        let name = namespace.name.as_str();
        if has(EXCLUDED_NAMESPACES, name) {
            return false;
        }
        let mut labels = words(self.annotation(NAMESPACE_SELECTOR)).peekable();
        let has_selector = labels.peek().is_some();
        let by_label = has_selector
            && labels.all(|pair| match pair.split_once('=') {
                Some((key, value)) => namespace.labels.get(key).is_some_and(|label| label == value),
                None => namespace.labels.contains_key(pair),
            });
        has(NAMESPACES, name) || !name.starts_with(SYSTEM) && (has(NAMESPACES, "*") || by_label)
    }

    /// The first source of a name wins: the oldest, then by name.
    pub(super) fn rank(self) -> (&'s str, &'s str, u8) {
        let form = match self.form {
            Form::Custom(_) => 0,
            Form::Proposed => 1,
            Form::Master => 2,
        };
        (&self.metadata.creation_timestamp, &self.metadata.name, form)
    }
}

fn is_target(target: &Target, namespace: &ObjectMeta) -> bool {
    let name = &namespace.name;
    if target.exclude_names.contains(name) {
        return false;
    }
    let selector = target.namespace_selector.as_ref().filter(|selector| !selector.is_empty());
    let by_label = selector.is_some_and(|selector| selector.matches(&namespace.labels));
    let is_named = |wanted: &str| target.names.iter().any(|name| name == wanted);
    is_named(name) || !name.starts_with(SYSTEM) && (is_named("*") || by_label)
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}
