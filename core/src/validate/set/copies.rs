//! Sources of copies: which namespaces of the set they select, and who makes which template there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::index::{Index, Key};
use super::json::{Json, entries, field, inner, is_source, kind, name};
use super::missing;
use crate::api::meta::ObjectMeta;
use crate::api::read::{Json as _, Path};
use crate::api::source::{
    ConflictPolicy, MANAGED_BY, MANAGER, Selection, TEMPLATE_NAME, TemplateSource, TemplateSourceSpec,
    annotations_select, is_annotated,
};
use crate::finding::{Code, Finding, Severity};
use crate::gather::Gather;
use crate::near::nearest;

/// Namespaces that a message names.
const MOST_NAMED: usize = 3;

/// A source, of any kind.
pub(super) struct Source<'v> {
    pub(super) object: &'v Json<'v>,
    /// Name of its copies.
    target: String,
    metadata: ObjectMeta,
    /// `None` where annotations say it.
    spec: Option<TemplateSourceSpec>,
}

type Labels = BTreeMap<String, String>;

/// All sources of a set.
#[derive(Default)]
pub(super) struct Copies<'v> {
    sources: Vec<Source<'v>>,
    spaces: BTreeMap<&'v str, Labels>,
}

impl<'v> Source<'v> {
    fn of(object: &'v Json<'v>) -> Option<Self> {
        let read = |value: &Json<'_>| Value::from(value);
        if is_source(object) {
            let source = TemplateSource::read(read(object), &Path::ROOT, &mut Vec::new()).ok()?;
            let target = source.target().to_owned();
            return Some(Self { object, target, metadata: source.metadata, spec: Some(source.spec) });
        }
        let is_template = matches!(kind(object), "ClusterResourceClaimTemplate" | "ResourceClaimTemplate");
        inner(object, "metadata.annotations").filter(|annotations| is_template && annotations.is_object())?;
        let metadata = ObjectMeta::read(read(field(object, "metadata")?), &Path::ROOT, &mut Vec::new()).ok()?;
        is_annotated(&metadata.annotations).then(|| {
            let target = metadata.annotations.get(TEMPLATE_NAME).filter(|own| !own.is_empty());
            let target = target.unwrap_or(&metadata.name).clone();
            Self { object, target, metadata, spec: None }
        })
    }

    fn selects(&self, space: &str, labels: &Labels) -> Selection {
        match &self.spec {
            // What copies are made of is not made a copy itself.
            None if self.metadata.namespace == space => Selection::NotSelected,
            None => annotations_select(&self.metadata.annotations, space, labels),
            Some(spec) => spec.selects(space, labels),
        }
    }

    /// Whether it may select a namespace whose labels are not known.
    fn may_select(&self, space: &str) -> bool {
        let by_label = match &self.spec {
            None => true,
            Some(spec) => spec.targets.iter().any(|target| {
                target.namespace_selector.as_ref().is_some_and(|selector| !selector.is_empty())
                    && !target.exclude_names.iter().any(|name| name == space)
            }),
        };
        by_label || self.selects(space, &Labels::new()) == Selection::Selected
    }

    /// Names that its targets list, each with its place.
    fn named(&self) -> impl Iterator<Item = (String, &str)> {
        let targets = self.spec.iter().flat_map(|spec| spec.targets.iter().enumerate());
        targets.flat_map(|(number, target)| {
            let names = target.names.iter().enumerate().filter(|(_, name)| *name != "*");
            names.map(move |(place, name)| (format!("spec.targets[{number}].names[{place}]"), name.as_str()))
        })
    }

    /// Where it says which namespaces it is for.
    const fn place(&self) -> &'static str {
        if self.spec.is_some() { "spec.targets" } else { "metadata.annotations" }
    }
}

impl<'v> Copies<'v> {
    pub(super) fn of(objects: &'v [Json<'_>], namespaces: &BTreeMap<&'v str, &'v Json<'v>>) -> Self {
        let sources: Vec<Source<'v>> = objects.iter().filter_map(Source::of).collect();
        if sources.is_empty() {
            return Self::default();
        }
        let labels = |space: &Json<'_>| {
            let labels = entries(inner(space, "metadata.labels"));
            labels.filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned()))).gather()
        };
        let spaces = namespaces.iter().map(|(name, space)| (*name, labels(space))).gather();
        Self { sources, spaces }
    }

    /// The source that makes the template of a name in a namespace, or may make it.
    pub(super) fn maker(&self, Key(space, name): Key<'_>) -> Option<&Source<'v>> {
        self.sources.iter().find(|source| source.target == name && self.is_for(source, space))
    }

    /// The source of copies of a name, wherever they are.
    pub(super) fn source(&self, name: &str) -> Option<&Source<'v>> {
        self.sources.iter().find(|source| source.target == name)
    }

    fn is_for(&self, source: &Source<'_>, space: &str) -> bool {
        match self.spaces.get(space) {
            Some(labels) => source.selects(space, labels) == Selection::Selected,
            None => source.may_select(space),
        }
    }

    /// What is wrong with the source that an object is.
    pub(super) fn check(&self, object: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
        let own = self.sources.iter().find(|source| std::ptr::eq(source.object, object));
        let Some(source) = own else { return };
        master(source, index, found);
        self.reach(source, found);
        self.rivals(source, index, found);
    }

    /// Namespaces that it selects, and that it skips.
    fn reach(&self, source: &Source<'_>, found: &mut Vec<Finding>) {
        if self.spaces.is_empty() {
            return;
        }
        let mut is_elsewhere = false;
        for (at, space) in source.named().filter(|(_, space)| !self.spaces.contains_key(space)) {
            is_elsewhere = true;
            let finding = Finding::new(Code::LinkNoNamespace, at, format!("there is no namespace `{space}`"));
            found.push(match nearest(space, self.spaces.keys().copied()) {
                Some(meant) => finding.with_hint(format!("did you mean `{meant}`?")),
                None => finding.with_severity(Severity::Info),
            });
        }
        let of = |wanted: Selection| -> Vec<&str> {
            let spaces = self.spaces.iter().filter(|(space, labels)| source.selects(space, labels) == wanted);
            spaces.map(|(space, _)| *space).collect()
        };
        let (selected, skipped) = (of(Selection::Selected), of(Selection::Skipped));
        let says_nothing = source.spec.as_ref().is_some_and(|spec| spec.targets.is_empty());
        if !skipped.is_empty() {
            let message = format!("a selector skips system namespaces: {} gets no copy", listed(&skipped));
            let severity = if selected.is_empty() { Severity::Warning } else { Severity::Info };
            let finding = Finding::new(Code::LinkNoNamespace, source.place(), message).with_severity(severity);
            let hint = "only the name of a namespace that begins with `kube-` selects it: use `names`";
            found.push(finding.with_hint(hint));
        } else if selected.is_empty() && !is_elsewhere && !says_nothing {
            let message = format!(
                "none of the namespaces given is selected: {}",
                listed(&self.spaces.keys().copied().collect::<Vec<_>>())
            );
            found.push(Finding::new(Code::LinkNoNamespace, source.place(), message));
        }
    }

    /// Others that make, or made, a template of the same name in a namespace.
    fn rivals(&self, source: &Source<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
        let mut spaces: BTreeSet<&str> = self.spaces.keys().copied().gather();
        spaces.extend(source.named().map(|(_, space)| space));
        spaces.retain(|space| self.is_for(source, space));
        let target = &source.target;
        let at = match source.spec.as_ref().map(|spec| spec.template_name.is_empty()) {
            Some(false) => "spec.templateName",
            _ => "metadata.name",
        };
        for other in
            self.sources.iter().filter(|other| other.target == *target && !std::ptr::eq(other.object, source.object))
        {
            let born = |one: &Source<'_>| (one.metadata.creation_timestamp.clone(), one.metadata.name.clone());
            let is_known =
                !source.metadata.creation_timestamp.is_empty() && !other.metadata.creation_timestamp.is_empty();
            if is_known && born(source) < born(other) {
                continue;
            }
            let shared: Vec<&str> = spaces.iter().copied().filter(|space| self.is_for(other, space)).collect();
            if !shared.is_empty() {
                let message =
                    format!("`{}` makes copies named `{target}` as well, in {}", name(other.object), listed(&shared));
                let hint = "the older one is copied: give one of them another `templateName`, or other targets";
                found.push(Finding::new(Code::LinkCopyConflict, at, message).with_hint(hint));
            }
        }
        let stays = source.spec.as_ref().is_none_or(|spec| spec.conflict_policy == ConflictPolicy::Fail);
        let master = source.spec.as_ref().and_then(|spec| spec.source.as_ref()).map(|master| &master.name);
        if !stays || master == Some(target) {
            return;
        }
        let is_foreign = |space: &&&str| {
            index.templates.get(&Key(space, target)).is_some_and(|template| {
                let labels = inner(template, "metadata.labels");
                let manager = labels.and_then(|labels| field(labels, MANAGED_BY)).and_then(Json::as_str);
                manager != Some(MANAGER)
            })
        };
        let taken: Vec<&str> = spaces.iter().filter(is_foreign).copied().collect();
        if !taken.is_empty() {
            let message = format!(
                "there is a ResourceClaimTemplate `{target}` already in {}: it stays, and no copy is made",
                listed(&taken)
            );
            let hint = "delete it, give the copies another `templateName`, or set `conflictPolicy: AdoptIfEqual`";
            found.push(Finding::new(Code::LinkCopyConflict, at, message).with_hint(hint));
        }
    }
}

/// The master that it names is to be in the controller's namespace, wherever that is.
fn master(source: &Source<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    let Some(master) = source.spec.as_ref().and_then(|spec| spec.source.as_ref()) else { return };
    let names: BTreeSet<&str> = index.templates.keys().map(|key| key.1).gather();
    if !master.name.is_empty() && !names.contains(master.name.as_str()) {
        let message = format!(
            "there is no ResourceClaimTemplate `{}`, which has to be in the namespace of the controller",
            master.name
        );
        let names = names.iter().map(|name| Key("", name));
        let (at, wanted) = ("spec.source.name".to_owned(), Key("", &master.name));
        found.push(missing(Code::LinkUnknownTemplate, at, message, wanted, names));
    }
}

/// Some of these namespaces.
fn listed(spaces: &[&str]) -> String {
    let mut shown: Vec<String> = spaces.iter().take(MOST_NAMED).map(|space| format!("`{space}`")).collect();
    let more = spaces.len().saturating_sub(MOST_NAMED);
    shown.extend((more > 0).then(|| format!("{more} more")));
    shown.join(", ")
}

/// A template that a Pod or PodGroup names and that is not there: copies of that name may be for other namespaces.
pub(super) fn unknown_template(at: String, key: Key<'_>, index: &Index<'_>) -> Option<Finding> {
    if index.templates.contains_key(&key) || index.copies.maker(key).is_some() {
        return None;
    }
    let Key(space, wanted) = key;
    let message = format!("there is no ResourceClaimTemplate `{wanted}` in namespace `{space}`");
    Some(match index.copies.source(wanted) {
        Some(source) => {
            let (kind, from) = (kind(source.object), name(source.object));
            Finding::new(Code::LinkUnknownTemplate, at, message)
                .with_hint(format!("{kind} `{from}` makes copies of that name, and does not select `{space}`"))
        }
        None => missing(Code::LinkUnknownTemplate, at, message, key, index.templates.keys().copied()),
    })
}

/// The same for a cluster-wide template.
pub(super) fn unknown_cluster_template(at: String, wanted: &str, index: &Index<'_>) -> Option<Finding> {
    if index.cluster_templates.contains_key(wanted) {
        return None;
    }
    let message = format!("there is no ClusterResourceClaimTemplate `{wanted}`");
    let known = index.cluster_templates.keys().map(|name| Key("", name));
    let finding = missing(Code::LinkUnknownTemplate, at, message, Key("", wanted), known);
    Some(match index.copies.sources.iter().find(|source| is_source(source.object) && name(source.object) == wanted) {
        Some(source) => finding.with_severity(Severity::Warning).with_hint(format!(
            "that of `apportion.dev` is copied to namespaces: write `resourceClaimTemplateName: {}`",
            source.target
        )),
        None => finding,
    })
}
