//! What holds for each field, and what it is for: read by the rules and by the definition.

use super::super::names;
use super::super::node::Node;
use super::super::report::Problems;
use crate::finding::{Code, ErrorKind};

/// A field.
pub(super) struct Row {
    /// Its place: names with dots between them, `[]` for the elements of a list, `{}` for the values of a map.
    pub(super) at: &'static str,
    /// What it is for.
    pub(super) text: &'static str,
    /// What holds for it.
    pub(super) bounds: &'static [Bound],
}

/// What holds for a field.
pub(super) enum Bound {
    /// It must be there, wherever what holds it is.
    Required,
    /// What it is where it is left out.
    Default(&'static str),
    /// It is one of these.
    OneOf(&'static [&'static str]),
    /// It is at least and at most so much.
    Between(i64, i64),
    /// It has at most so many entries.
    Most(usize),
    /// It has a format.
    Is(Format),
    /// Its keys have a format. A definition cannot bound the length of keys, and so not look at them.
    Keys(Format),
    /// Its entries differ.
    Set,
    /// Its entries are known by a field; for servers only.
    MapBy(&'static str),
    /// It is replaced as a whole; for servers only.
    OneValue,
    /// It is an object with any fields; for servers only, as all that follow.
    Object,
    /// Of its fields only these can be given.
    Only(&'static [&'static str]),
    /// Fields exclude or need each other.
    Rule(Rule),
    /// The same in a claim, where the rules of claims say it: expression and message.
    Claim(&'static str, &'static str),
}

/// A rule about several fields, in both languages.
pub(super) struct Rule {
    /// For servers, in CEL.
    pub(super) cel: &'static str,
    /// For us.
    pub(super) holds: fn(&Node<'_, '_>) -> bool,
    /// What kind of error it is.
    pub(super) kind: Kind,
    /// The field that is wrong; empty for the whole.
    pub(super) at: &'static str,
    /// What is wrong.
    pub(super) message: &'static str,
    /// What to do.
    pub(super) hint: &'static str,
}

/// What kind of error a broken rule is.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Required,
    Invalid,
    Forbidden,
}

impl Kind {
    pub(super) const fn of(self) -> (ErrorKind, Code) {
        match self {
            Self::Required => (ErrorKind::Required, Code::ValidateRequired),
            Self::Invalid => (ErrorKind::Invalid, Code::ValidateInvalid),
            Self::Forbidden => (ErrorKind::Forbidden, Code::ValidateForbidden),
        }
    }

    /// As definitions name it.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::Forbidden => "FieldValueForbidden",
        }
    }
}

/// The format of a text.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Subdomain,
    Label,
    /// The name of a namespace, or `*`.
    Namespace,
    LabelKey,
    LabelValue,
    /// The name of an attribute with its domain.
    Attribute,
    /// The domain of a driver.
    Driver,
    /// Any text that is not longer.
    Text(usize),
}

impl Format {
    /// What is wrong with a text.
    pub(super) fn problems(self, text: &str) -> Problems {
        match self {
            Self::Subdomain => names::subdomain(text),
            Self::Label => names::label(text),
            Self::Namespace if text == "*" => Vec::new(),
            Self::Namespace if text.contains(['*', '?']) => {
                vec!["is a pattern: name each namespace, select them by label, or write `*` alone for all"]
            }
            Self::Namespace => names::label(text),
            Self::LabelKey => names::label_key(text),
            Self::LabelValue => names::label_value(text),
            // Those of claims, which are judged there.
            Self::Attribute | Self::Driver | Self::Text(_) => Vec::new(),
        }
    }

    /// The same for servers: a regular expression and the greatest length.
    pub(super) const fn pattern(self) -> (Option<&'static str>, usize) {
        let (pattern, most) = match self {
            Self::Subdomain => (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", 253),
            Self::Label => ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63),
            Self::Namespace => (r"^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$", 63),
            Self::LabelKey => (
                r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
                317,
            ),
            Self::LabelValue => ("^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", 63),
            Self::Attribute => (
                r"^([A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*)/[A-Za-z_][A-Za-z0-9_]{0,31}$",
                96,
            ),
            Self::Driver => {
                (r"^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*$", 63)
            }
            Self::Text(most) => return (None, most),
        };
        (Some(pattern), most)
    }
}

/// What is said about a place.
pub(super) fn row(at: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.at == at)
}

macro_rules! rows {
    ($($at:literal $($text:literal)? [$($bound:expr),*];)*) => {
        static ROWS: &[Row] = &[$(Row { at: $at, text: concat!($($text)?), bounds: &[$($bound),*] }),*];
    };
}

use Bound::{Between, Claim, Default, Is, Keys, MapBy, Most, Object, OneOf, OneValue, Only, Required, Set};

rows! {
    "" "A ResourceClaimTemplate for several namespaces. Each namespace that a target selects gets a copy." [];
    "spec" [Required, Bound::Rule(NEEDS_TEMPLATE), Bound::Rule(ONE_TEMPLATE)];
    "spec.template" "What the copies are made of, as the spec of a ResourceClaimTemplate." [];
    "spec.source" "The same, as a ResourceClaimTemplate in the namespace of the controller." [];
    "spec.source.name" [Required, Is(Format::Subdomain)];
    "spec.templateName" "Name of the copies; that of this object where it is left out." [Is(Format::Subdomain)];
    "spec.targets"
        "Which namespaces get a copy; those that any target selects. Without targets there are none." [Most(32)];
    "spec.targets[]" [Bound::Rule(TARGET_SELECTS)];
    "spec.targets[].namespaceSelector"
        "Labels that a namespace must have. An empty selector selects nothing. System namespaces, whose names begin with kube-, are skipped; only names selects them." [OneValue];
    "spec.targets[].namespaceSelector.matchLabels" [Most(32), Keys(Format::LabelKey)];
    "spec.targets[].namespaceSelector.matchLabels{}" [Is(Format::LabelValue)];
    "spec.targets[].namespaceSelector.matchExpressions" [Most(32)];
    "spec.targets[].namespaceSelector.matchExpressions[]" [Bound::Rule(NEEDS_VALUES), Bound::Rule(TAKES_NO_VALUES)];
    "spec.targets[].namespaceSelector.matchExpressions[].key" [Required, Is(Format::LabelKey)];
    "spec.targets[].namespaceSelector.matchExpressions[].operator"
        [Required, OneOf(&["In", "NotIn", "Exists", "DoesNotExist"])];
    "spec.targets[].namespaceSelector.matchExpressions[].values" [Most(256), Set];
    "spec.targets[].namespaceSelector.matchExpressions[].values[]" [Is(Format::LabelValue)];
    "spec.targets[].names"
        "Namespaces by name; * for all but system namespaces, whose names begin with kube-." [Most(1000), Set];
    "spec.targets[].names[]" [Is(Format::Namespace)];
    "spec.targets[].excludeNames" "Namespaces that get no copy by this target." [Most(1000), Set];
    "spec.targets[].excludeNames[]" [Is(Format::Label)];
    "spec.conflictPolicy"
        "What happens where a ResourceClaimTemplate of that name belongs to somebody else. Fail leaves it alone; AdoptIfEqual takes it over where its spec is the same; Adopt takes it over whatever its spec is, and from then on treats it as a copy, so that another spec is replaced as updateStrategy says. One that another controller manages, or that is in the namespace of the controller, is never touched." [OneOf(&["Fail", "AdoptIfEqual", "Adopt"]), Default("Fail")];
    "spec.deletionPolicy"
        "What happens to the copies when this object is deleted. Delete takes them with it; Orphan leaves them; DeleteWhenUnused leaves each until no Pod that has not ended and no PodGroup of its namespace names it." [OneOf(&["Delete", "Orphan", "DeleteWhenUnused"]), Default("Delete")];
    "spec.updateStrategy"
        "What happens when the template is changed. Recreate deletes the copies and makes them again, since their spec cannot be changed; OnlyNew leaves them. Claims that exist stay as they are in both cases." [OneOf(&["Recreate", "OnlyNew"]), Default("Recreate")];
    "spec.maxUnavailable"
        "How many namespaces may be without their copy at a time while copies are deleted and made again; as many as may be where it is left out." [Between(1, 2_147_483_647)];
    "spec.paused" "Whether no copy is made, changed or deleted for now." [];
    // What claims must be is said by the rules of claims; here is what a server can be told of it.
    "spec.template.metadata" "Labels and annotations for the claims." [Only(&["labels", "annotations"])];
    "spec.template.metadata.labels{}" [Is(Format::LabelValue)];
    "spec.template.spec" "The spec of the claims." [Required];
    "spec.template.spec.devices"
        [Claim(KNOWN_IN_CONSTRAINTS, "a constraint names a request that is not there"),
            Claim(KNOWN_IN_CONFIG, "a configuration names a request that is not there")];
    "spec.template.spec.devices.requests" [Most(32), Claim(DIFFERENT_NAMES, "requests must differ in their names")];
    "spec.template.spec.devices.requests[]" [Claim(ONE_FORM, "a request has either `exactly` or `firstAvailable`")];
    "spec.template.spec.devices.requests[].name" [Required, Is(Format::Label)];
    "spec.template.spec.devices.requests[].firstAvailable"
        [Most(8), Claim(DIFFERENT_NAMES, "alternatives must differ in their names")];
    "spec.template.spec.devices.requests[].firstAvailable[].name" [Required, Is(Format::Label)];
    "spec.template.spec.devices.requests[].exactly"
        [Claim(COUNTED, "`count` must not be given with `allocationMode: All`")];
    "spec.template.spec.devices.requests[].exactly.deviceClassName" [Required, Is(Format::Subdomain)];
    "spec.template.spec.devices.requests[].exactly.allocationMode" [OneOf(&["All", "ExactCount", ""])];
    "spec.template.spec.devices.requests[].exactly.count" [Between(0, i64::MAX)];
    "spec.template.spec.devices.requests[].exactly.selectors" [Most(32)];
    "spec.template.spec.devices.requests[].exactly.selectors[].cel" [Required];
    "spec.template.spec.devices.requests[].exactly.selectors[].cel.expression" [Required, Is(Format::Text(10240))];
    "spec.template.spec.devices.requests[].exactly.tolerations[].operator" [OneOf(&["Equal", "Exists", ""])];
    "spec.template.spec.devices.requests[].exactly.tolerations[].effect"
        [OneOf(&["NoSchedule", "NoExecute", "None", ""])];
    "spec.template.spec.devices.requests[].exactly.tolerations[].value" [Is(Format::LabelValue)];
    "spec.template.spec.devices.requests[].exactly.derivedAttributes[].name" [Required, Is(Format::Attribute)];
    "spec.template.spec.devices.requests[].exactly.derivedAttributes[].expression" [Required, Is(Format::Text(10240))];
    "spec.template.spec.devices.constraints" [Most(32)];
    "spec.template.spec.devices.constraints[]"
        [Claim(COMPARES, "a constraint needs `matchAttribute` or `distinctAttribute`")];
    "spec.template.spec.devices.constraints[].requests" [Most(32), Set];
    "spec.template.spec.devices.constraints[].requests[]" [Is(Format::Text(127))];
    "spec.template.spec.devices.constraints[].matchAttribute" [Is(Format::Attribute)];
    "spec.template.spec.devices.constraints[].distinctAttribute" [Is(Format::Attribute)];
    "spec.template.spec.devices.config" [Most(32)];
    "spec.template.spec.devices.config[].requests" [Most(32), Set];
    "spec.template.spec.devices.config[].requests[]" [Is(Format::Text(127))];
    "spec.template.spec.devices.config[].opaque" [Required];
    "spec.template.spec.devices.config[].opaque.driver" [Required, Is(Format::Driver)];
    "spec.template.spec.devices.config[].opaque.parameters" [Required, Object];
    "status" "How the copies stand, as the controller saw it last." [];
    "status.matched" "Namespaces that are selected." [];
    "status.current" "Namespaces that have the current copy." [];
    "status.updating" "Namespaces whose copy is being made, or is to stay as it was." [];
    "status.conflicting" "Namespaces that have another template of that name." [];
    "status.refused" "Namespaces in which no copy can be made." [];
    "status.skipped"
        "System namespaces that a selector matches and that get no copy, because only names selects them." [Most(50)];
    "status.failing" "Namespaces without a copy that wait for somebody to do something." [];
    "status.failures" "The first of them." [Most(50), MapBy("namespace")];
    "status.failures[].namespace" [Required];
    "status.failures[].reason" [Required];
    "status.conditions" [MapBy("type")];
    "status.conditions[].type" [Required];
    "status.conditions[].status" [Required];
}

const NEEDS_TEMPLATE: Rule = Rule {
    cel: "has(self.template) || has(self.source)",
    holds: |spec| spec.has("template") || spec.has("source"),
    kind: Kind::Required,
    at: "",
    message: "either `template` or `source` is needed",
    hint: "write what the copies are made of under `template`",
};

const ONE_TEMPLATE: Rule = Rule {
    cel: "!has(self.template) || !has(self.source)",
    holds: |spec| !spec.has("template") || !spec.has("source"),
    kind: Kind::Invalid,
    at: "",
    message: "`template` and `source` exclude each other",
    hint: "take one of them out",
};

const TARGET_SELECTS: Rule = Rule {
    cel: "(has(self.names) && size(self.names) > 0) || (has(self.namespaceSelector) && \
          ((has(self.namespaceSelector.matchLabels) && size(self.namespaceSelector.matchLabels) > 0) || \
          (has(self.namespaceSelector.matchExpressions) && size(self.namespaceSelector.matchExpressions) > 0)))",
    holds: |target| {
        let selector = target.field("namespaceSelector");
        let some = |node: &Node<'_, '_>, name: &str| node.field(name).len() > 0;
        some(target, "names") || some(&selector, "matchLabels") || some(&selector, "matchExpressions")
    },
    kind: Kind::Required,
    at: "",
    message: "a target needs `names`, or a `namespaceSelector` that is not empty",
    hint: "for all namespaces but system namespaces write `names: [\"*\"]`",
};

const NEEDS_VALUES: Rule = Rule {
    cel: "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
    holds: |one| !matches!(one.text_of("operator"), "In" | "NotIn") || one.field("values").len() > 0,
    kind: Kind::Required,
    at: "values",
    message: "`In` and `NotIn` need `values`",
    hint: "list the values, or use `Exists` or `DoesNotExist`",
};

const TAKES_NO_VALUES: Rule = Rule {
    cel: "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0",
    holds: |one| !matches!(one.text_of("operator"), "Exists" | "DoesNotExist") || one.field("values").len() == 0,
    kind: Kind::Forbidden,
    at: "values",
    message: "`Exists` and `DoesNotExist` take no `values`",
    hint: "leave `values` out, or use `In` or `NotIn`",
};

const DIFFERENT_NAMES: &str = "self.all(one, self.exists_one(other, other.name == one.name))";

const ONE_FORM: &str = "has(self.exactly) != (has(self.firstAvailable) && size(self.firstAvailable) > 0)";

const COUNTED: &str =
    "!has(self.allocationMode) || self.allocationMode != 'All' || !has(self.count) || self.count == 0";

const COMPARES: &str = "has(self.matchAttribute) || has(self.distinctAttribute)";

const KNOWN_IN_CONSTRAINTS: &str = "!has(self.constraints) || self.constraints.all(one, !has(one.requests) || \
    one.requests.all(name, has(self.requests) && self.requests.exists(request, name == request.name || \
    name.startsWith(request.name + '/'))))";

const KNOWN_IN_CONFIG: &str = "!has(self.config) || self.config.all(one, !has(one.requests) || \
    one.requests.all(name, has(self.requests) && self.requests.exists(request, name == request.name || \
    name.startsWith(request.name + '/'))))";
