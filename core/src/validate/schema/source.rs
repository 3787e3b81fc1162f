//! `apportion.dev`.

use super::Type;
use super::meta::{CONDITION, LABEL_SELECTOR, META};
use super::resource::TEMPLATE_SPEC;
use Type::{Flag, Int32, Int64, List, Opt, Text};

/// ClusterResourceClaimTemplate.
pub(in crate::validate) static TEMPLATE_SOURCE: Type = kind! { spec: Opt(&SPEC); status: STATUS };

const SPEC: Type = object! {
    template: Opt(&TEMPLATE_SPEC);
    source: Opt(&MASTER);
    templateName: Opt(&Text);
    targets: List(&TARGET);
    conflictPolicy, deletionPolicy, updateStrategy: Opt(&Text);
    maxUnavailable: Opt(&Int32);
    paused: Flag;
};

const MASTER: Type = object! { name: Text };

const TARGET: Type = object! { namespaceSelector: Opt(&LABEL_SELECTOR); names, excludeNames: List(&Text) };

const STATUS: Type = object! {
    observedGeneration: Int64;
    templateHash: Text;
    matched, current, updating, conflicting, refused: Int64;
    skipped: List(&Text);
    failing: Int64;
    failures: List(&FAILURE);
    conditions: List(&CONDITION);
};

const FAILURE: Type = object! { namespace, reason, message: Text };
