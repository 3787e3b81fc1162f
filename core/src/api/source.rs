//! ClusterResourceClaimTemplates of `apportion.dev`: claim templates for several namespaces, and which ones.

use std::collections::BTreeMap;

use serde_json::Value;

use super::claim::ResourceClaimTemplateSpec;
use super::meta::ObjectMeta;
use super::read::{api_enum, api_struct};

/// API group of [`TemplateSource`].
pub const SOURCE_GROUP: &str = "apportion.dev/";

/// API version of [`TemplateSource`].
pub const SOURCE_API_VERSION: &str = "apportion.dev/v1alpha1";

/// Annotation of a source of another kind: names of namespaces, separated by commas; `*` for all but system namespaces.
pub const NAMESPACES: &str = "apportion.dev/namespaces";

/// Annotation of a source of another kind: labels that a namespace must have, `key=value`, separated by commas.
pub const NAMESPACE_SELECTOR: &str = "apportion.dev/namespace-selector";

/// Annotation of a source of another kind: names of namespaces that get no copy, separated by commas.
pub const EXCLUDED_NAMESPACES: &str = "apportion.dev/excluded-namespaces";

/// Annotation of a source of another kind: name of the copies; the source's own where it is left out.
pub const TEMPLATE_NAME: &str = "apportion.dev/template-name";

/// All annotations of a source of another kind.
pub const ANNOTATIONS: [&str; 4] = [NAMESPACES, NAMESPACE_SELECTOR, EXCLUDED_NAMESPACES, TEMPLATE_NAME];

/// Says that a template is a copy.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The value of [`MANAGED_BY`], and who reports.
pub const MANAGER: &str = "apportion-template-sync";

/// Begins the names of system namespaces.
const SYSTEM: &str = "kube-";

/// How references name its kind, apart from the kind of the same name that was proposed for `resource.k8s.io`.
pub const SOURCE_KIND: &str = "ClusterResourceClaimTemplate.apportion.dev";

api_struct! {
    /// `apportion.dev/v1alpha1` ClusterResourceClaimTemplate.
    closed TemplateSource {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// What is copied where.
        "spec" spec: TemplateSourceSpec,
        /// How the copies stand, as the controller wrote it last.
        "status" status: Option<Value>,
    }

    /// What is copied where, and what happens when something is in the way.
    closed TemplateSourceSpec {
        /// What the copies are made of.
        "template" template: Option<ResourceClaimTemplateSpec>,
        /// The same, as a template in the controller's namespace.
        "source" source: Option<MasterReference>,
        /// Name of the copies; the object's own where it is left out.
        "templateName" template_name: String,
        /// Which namespaces get a copy: those that any of them selects.
        "targets" targets: Vec<Target>,
        /// What happens where a template of that name belongs to somebody else.
        "conflictPolicy" conflict_policy: ConflictPolicy,
        /// What happens to the copies when the object is deleted.
        "deletionPolicy" deletion_policy: DeletionPolicy,
        /// What happens to the copies when the object is changed.
        "updateStrategy" update_strategy: UpdateStrategy,
        /// How many namespaces may be without their copy at a time while copies are deleted and made again; as many as may be where
        /// it is left out.
        "maxUnavailable" max_unavailable: Option<i64>,
        /// Whether nothing is written for now.
        "paused" is_paused: bool,
    }

    /// A ResourceClaimTemplate in the controller's namespace.
    closed MasterReference {
        /// Its name.
        "name" name: String,
    }

    /// Namespaces by label and by name. One that says nothing selects nothing.
    closed Target {
        /// Labels that a namespace must have; without any it selects nothing.
        "namespaceSelector" namespace_selector: Option<LabelSelector>,
        /// Names; `*` for all but system namespaces.
        "names" names: Vec<String>,
        /// Names that are left out.
        "excludeNames" exclude_names: Vec<String>,
    }

    /// `meta/v1` LabelSelector.
    closed LabelSelector {
        /// Labels and their values.
        "matchLabels" match_labels: BTreeMap<String, String>,
        /// Conditions on labels; all must hold.
        "matchExpressions" match_expressions: Vec<LabelSelectorRequirement>,
    }

    /// `meta/v1` LabelSelectorRequirement.
    closed LabelSelectorRequirement {
        /// Label.
        "key" key: String,
        /// How it is compared.
        "operator" operator: LabelOperator,
        /// With what, for `In` and `NotIn`.
        "values" values: Vec<String>,
    }
}

api_enum! {
    /// How a label is compared.
    LabelOperator {
        /// It has one of the values.
        In = "In",
        /// It has none of the values, or is missing.
        NotIn = "NotIn",
        /// It is there.
        Exists = "Exists",
        /// It is missing.
        DoesNotExist = "DoesNotExist",
    } default In

    /// What happens where a template of that name belongs to somebody else.
    ConflictPolicy {
        /// It stays as it is, and that is reported.
        Fail = "Fail",
        /// It is taken over where its spec is the same; else it stays as it is.
        AdoptIfEqual = "AdoptIfEqual",
        /// It is taken over whatever its spec is, and from then on treated as a copy.
        Adopt = "Adopt",
    } default Fail

    /// What happens to the copies when their source is deleted.
    DeletionPolicy {
        /// They go, too.
        Delete = "Delete",
        /// They stay.
        Orphan = "Orphan",
        /// They go once no Pod and no PodGroup of their namespace names them any more.
        DeleteWhenUnused = "DeleteWhenUnused",
    } default Delete

    /// What happens to the copies when their source is changed.
    UpdateStrategy {
        /// They are deleted and made again.
        Recreate = "Recreate",
        /// They stay; only new ones are made of the new template.
        OnlyNew = "OnlyNew",
    } default Recreate
}

impl TemplateSource {
    /// Name of the copies.
    pub fn target(&self) -> &str {
        if self.spec.template_name.is_empty() { &self.metadata.name } else { &self.spec.template_name }
    }
}

/// Whether a namespace gets a copy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Selection {
    /// It does not.
    NotSelected,
    /// Its labels are selected, but it is a system namespace, which only its name selects.
    Skipped,
    /// It does.
    Selected,
}

impl Selection {
    fn of(namespace: &str, is_named: bool, takes_all: bool, by_label: bool) -> Self {
        match namespace.starts_with(SYSTEM) {
            _ if is_named => Self::Selected,
            false if takes_all || by_label => Self::Selected,
            true if by_label => Self::Skipped,
            _ => Self::NotSelected,
        }
    }
}

impl TemplateSourceSpec {
    /// Whether a namespace with these labels gets a copy: it does where any target selects it.
    pub fn selects(&self, namespace: &str, labels: &BTreeMap<String, String>) -> Selection {
        let each = self.targets.iter().map(|target| target.selects(namespace, labels));
        each.max().unwrap_or(Selection::NotSelected)
    }
}

impl Target {
    /// Whether it selects a namespace with these labels.
    pub fn selects(&self, namespace: &str, labels: &BTreeMap<String, String>) -> Selection {
        let is_in = |list: &[String], wanted: &str| list.iter().any(|name| name == wanted);
        if is_in(&self.exclude_names, namespace) {
            return Selection::NotSelected;
        }
        let selector = self.namespace_selector.as_ref().filter(|selector| !selector.is_empty());
        let by_label = selector.is_some_and(|selector| selector.matches(labels));
        Selection::of(namespace, is_in(&self.names, namespace), is_in(&self.names, "*"), by_label)
    }
}

/// Whether an object says by annotation which namespaces it is for.
pub fn is_annotated(annotations: &BTreeMap<String, String>) -> bool {
    [NAMESPACES, NAMESPACE_SELECTOR].iter().any(|name| annotations.contains_key(*name))
}

/// Whether annotations select a namespace with these labels.
pub fn annotations_select(
    annotations: &BTreeMap<String, String>,
    namespace: &str,
    labels: &BTreeMap<String, String>,
) -> Selection {
    let has = |annotation: &str, name: &str| words(annotations, annotation).any(|word| word == name);
    if has(EXCLUDED_NAMESPACES, namespace) {
        return Selection::NotSelected;
    }
    let mut wanted = words(annotations, NAMESPACE_SELECTOR).peekable();
    let has_selector = wanted.peek().is_some();
    let by_label = has_selector
        && wanted.all(|pair| match pair.split_once('=') {
            Some((key, value)) => labels.get(key).is_some_and(|label| label == value),
            None => labels.contains_key(pair),
        });
    Selection::of(namespace, has(NAMESPACES, namespace), has(NAMESPACES, "*"), by_label)
}

/// The words of an annotation, which are separated by commas.
pub fn words<'a>(annotations: &'a BTreeMap<String, String>, name: &str) -> impl Iterator<Item = &'a str> {
    let list = annotations.get(name).map(String::as_str).unwrap_or_default();
    list.split(',').map(str::trim).filter(|word| !word.is_empty())
}

impl LabelSelector {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether labels satisfy it. One with an operator that is not known is satisfied by none.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| {
                let value = labels.get(&requirement.key);
                let is_listed = value.is_some_and(|value| requirement.values.contains(value));
                match requirement.operator {
                    LabelOperator::In => is_listed,
                    LabelOperator::NotIn => !is_listed,
                    LabelOperator::Exists => value.is_some(),
                    LabelOperator::DoesNotExist => value.is_none(),
                    LabelOperator::Unknown(_) => false,
                }
            })
    }
}
