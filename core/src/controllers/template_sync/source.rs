//! Sources of three kinds, seen as one.

use serde_json::Value;

use super::Settings;
use crate::api::claim::{ResourceClaimTemplate, ResourceClaimTemplateSpec};
use crate::api::meta::{ObjectMeta, OwnerReference};
use crate::api::pod::Namespace;
use crate::api::source::{
    ConflictPolicy, DeletionPolicy, SOURCE_API_VERSION, SOURCE_KIND, Selection, TEMPLATE_NAME, TemplateSource,
    TemplateSourceSpec, UpdateStrategy, annotations_select, is_annotated,
};
use crate::cluster::Cluster;
use crate::finding::ObjectRef;

/// A source, of any kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    pub(super) metadata: &'s ObjectMeta,
    /// What copies are made of; absent where the master that is named is not there.
    pub(super) spec: Option<&'s ResourceClaimTemplateSpec>,
    /// Namespace and name of the master that is named.
    master: Option<(&'s str, &'s str)>,
    /// That master, where it is there.
    made_of: Option<&'s ObjectMeta>,
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
    let masters = super::of_namespace(cluster.templates(), home).filter(|(_, template)| !super::is_copy(template));
    let masters = masters.map(|(_, template)| Source::master(template));
    custom.chain(proposed).chain(masters.filter(|master| is_annotated(&master.metadata.annotations)))
}

impl<'s> Source<'s> {
    /// A ClusterResourceClaimTemplate of `apportion.dev`.
    pub(super) fn custom(source: &'s TemplateSource, cluster: &'s Cluster, home: &'s str) -> Self {
        let master = source.spec.source.as_ref().map(|master| master.name.as_str());
        let named = master.and_then(|name| cluster.templates().get(&(home.to_owned(), name.to_owned())));
        let spec = match master {
            Some(_) => named.map(|template| &template.spec),
            None => source.spec.template.as_ref(),
        };
        let (master, made_of) = (master.map(|name| (home, name)), named.map(|template| &template.metadata));
        Self { metadata: &source.metadata, spec, master, made_of, form: Form::Custom(source) }
    }

    /// A ClusterResourceClaimTemplate as proposed for `resource.k8s.io`.
    pub(super) fn proposed(template: &'s ResourceClaimTemplate) -> Self {
        Self::of_template(template, Form::Proposed)
    }

    /// A ResourceClaimTemplate of the controller's namespace.
    pub(super) fn master(template: &'s ResourceClaimTemplate) -> Self {
        Self::of_template(template, Form::Master)
    }

    fn of_template(template: &'s ResourceClaimTemplate, form: Form<'s>) -> Self {
        Self { metadata: &template.metadata, spec: Some(&template.spec), master: None, made_of: None, form }
    }

    /// What copies are made of: itself, and the master that it names.
    pub(super) fn parts(self) -> impl Iterator<Item = &'s ObjectMeta> {
        [self.metadata].into_iter().chain(self.made_of)
    }

    /// Why one of these is not understood.
    pub(super) fn flaw(self, settings: &Settings) -> Option<&String> {
        self.parts().find_map(|metadata| settings.flaw_of(metadata))
    }

    /// Kind, namespace and name.
    pub(super) fn reference(self) -> ObjectRef {
        let kind = match self.form {
            Form::Custom(_) => SOURCE_KIND,
            Form::Proposed => "ClusterResourceClaimTemplate",
            Form::Master => "ResourceClaimTemplate",
        };
        self.metadata.reference(kind)
    }

    /// The reference that makes copies go with their source, where they are to. An owner must be cluster-wide or in the same
    /// namespace, so masters own nothing.
    pub(super) fn owner(self) -> Option<OwnerReference> {
        let api_version = match self.form {
            Form::Custom(_) => SOURCE_API_VERSION,
            Form::Proposed => "resource.k8s.io/v1",
            Form::Master => return None,
        };
        (self.deletion_policy() == DeletionPolicy::Delete)
            .then(|| self.metadata.as_controller(api_version, "ClusterResourceClaimTemplate"))
    }

    /// Whether it may be for some namespace.
    pub(super) fn is_for_some(self) -> bool {
        matches!(self.form, Form::Custom(_)) || is_annotated(&self.metadata.annotations)
    }

    /// Name of the master that it names; empty where it has its own template.
    pub(super) fn master_name(self) -> &'s str {
        self.master.map(|(_, name)| name).unwrap_or_default()
    }

    /// Name of its copies.
    pub(super) fn target(self) -> &'s str {
        match self.form {
            Form::Custom(source) => source.target(),
            Form::Proposed | Form::Master => {
                let own = self.metadata.annotations.get(TEMPLATE_NAME).filter(|own| !own.is_empty());
                own.unwrap_or(&self.metadata.name)
            }
        }
    }

    fn custom_spec(self) -> Option<&'s TemplateSourceSpec> {
        if let Form::Custom(source) = self.form { Some(&source.spec) } else { None }
    }

    pub(super) fn conflict_policy(self) -> ConflictPolicy {
        self.custom_spec().map(|spec| spec.conflict_policy.clone()).unwrap_or_default()
    }

    pub(super) fn deletion_policy(self) -> DeletionPolicy {
        self.custom_spec().map(|spec| spec.deletion_policy.clone()).unwrap_or_default()
    }

    pub(super) fn update_strategy(self) -> UpdateStrategy {
        self.custom_spec().map(|spec| spec.update_strategy.clone()).unwrap_or_default()
    }

    /// How many copies may be missing at a time while they are replaced.
    pub(super) fn max_unavailable(self) -> Option<usize> {
        let number = self.custom_spec()?.max_unavailable?;
        (number >= 0).then(|| usize::try_from(number).unwrap_or(usize::MAX))
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
        self.custom_spec().is_some_and(|spec| spec.is_paused)
    }

    /// Whether a namespace is to have a copy. A source that says nothing is for no namespace.
    pub(super) fn selects(self, namespace: &Namespace) -> bool {
        self.selection(namespace) == Selection::Selected
    }

    /// Whether a namespace has no copy although its labels are selected, because it is a system namespace.
    pub(super) fn skips(self, namespace: &Namespace) -> bool {
        self.selection(namespace) == Selection::Skipped
    }

    fn selection(self, namespace: &Namespace) -> Selection {
        let metadata = &namespace.metadata;
        // What copies are made of is not made a copy itself.
        let is_own = self.metadata.namespace == metadata.name || self.master == Some((&metadata.name, self.target()));
        if metadata.is_deleting() || self.metadata.is_deleting() || is_own {
            return Selection::NotSelected;
        }
        match self.custom_spec() {
            Some(spec) => spec.selects(&metadata.name, &metadata.labels),
            None => annotations_select(&self.metadata.annotations, &metadata.name, &metadata.labels),
        }
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
