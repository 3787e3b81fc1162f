//! `apportion.dev`.

use super::meta::{CONDITION, META};
use super::resource::TEMPLATE_SPEC;
use super::{Field, Type, field};
use Type::{Flag, Int32, Int64, List, Map, Object, Opt, Text};

/// ClusterResourceClaimTemplate.
pub(in crate::validate) static TEMPLATE_SOURCE: &[Field] = &[
    field("apiVersion", Text),
    field("kind", Text),
    field("metadata", Object(META)),
    field("spec", Opt(&Object(SPEC))),
    field("status", Object(STATUS)),
];

static SPEC: &[Field] = &[
    field("template", Opt(&Object(TEMPLATE_SPEC))),
    field("source", Opt(&Object(MASTER))),
    field("templateName", Opt(&Text)),
    field("targets", List(&Object(TARGET))),
    field("conflictPolicy", Opt(&Text)),
    field("deletionPolicy", Opt(&Text)),
    field("updateStrategy", Opt(&Text)),
    field("maxUnavailable", Opt(&Int32)),
    field("paused", Flag),
];

static MASTER: &[Field] = &[field("name", Text)];

static TARGET: &[Field] = &[
    field("namespaceSelector", Opt(&Object(LABEL_SELECTOR))),
    field("names", List(&Text)),
    field("excludeNames", List(&Text)),
];

static LABEL_SELECTOR: &[Field] =
    &[field("matchLabels", Map(&Text)), field("matchExpressions", List(&Object(LABEL_REQUIREMENT)))];

static LABEL_REQUIREMENT: &[Field] = &[field("key", Text), field("operator", Text), field("values", List(&Text))];

static STATUS: &[Field] = &[
    field("observedGeneration", Int64),
    field("templateHash", Text),
    field("matched", Int64),
    field("current", Int64),
    field("updating", Int64),
    field("conflicting", Int64),
    field("refused", Int64),
    field("skipped", List(&Text)),
    field("failing", Int64),
    field("failures", List(&Object(FAILURE))),
    field("conditions", List(&Object(CONDITION))),
];

static FAILURE: &[Field] = &[field("namespace", Text), field("reason", Text), field("message", Text)];
