//! Reading objects whose texts are borrowed: a set may hold many.

use std::fmt;

use crate::finding::ObjectRef;
use crate::validate::kind::split;
use crate::validate::pipeline;
pub(super) use serde_json_borrow::Value as Json;

/// A field of an object.
pub(super) fn field<'v>(value: &'v Json<'_>, name: &str) -> Option<&'v Json<'v>> {
    value.as_object()?.get(name)
}

/// What stands below a field, and below one of that, and so on: names with dots between them.
pub(super) fn inner<'v>(value: &'v Json<'v>, path: &str) -> Option<&'v Json<'v>> {
    path.split('.').try_fold(value, |value, name| field(value, name))
}

/// The elements of a list; none where there is none.
pub(super) fn list<'v>(value: Option<&'v Json<'v>>) -> &'v [Json<'v>] {
    value.and_then(Json::as_array).unwrap_or_default()
}

/// The entries of a map; none where there is none.
pub(super) fn entries<'v>(value: Option<&'v Json<'v>>) -> impl Iterator<Item = (&'v str, &'v Json<'v>)> {
    value.and_then(Json::as_object).into_iter().flat_map(|map| map.iter())
}

/// A text; empty where there is none.
pub(super) fn text<'v>(value: &'v Json<'_>, name: &str) -> &'v str {
    field(value, name).and_then(Json::as_str).unwrap_or_default()
}

/// The kind of an object.
pub(super) fn kind<'v>(object: &'v Json<'_>) -> &'v str {
    text(object, "kind")
}

/// Whether it is a ClusterResourceClaimTemplate of `apportion.dev`.
pub(super) fn is_source(object: &Json<'_>) -> bool {
    kind(object) == "ClusterResourceClaimTemplate" && split(text(object, "apiVersion")).0 == "apportion.dev"
}

/// Where the spec of the claims is that an object is, or is made into.
pub(super) fn claim_spec(object: &Json<'_>) -> Option<&'static str> {
    match kind(object) {
        "ResourceClaim" => Some("spec"),
        "ClusterResourceClaimTemplate" if is_source(object) => Some("spec.template.spec"),
        "ResourceClaimTemplate" | "ClusterResourceClaimTemplate" => Some("spec.spec"),
        _ => None,
    }
}

/// Visits what each request of a claim or template asks for, with its place: the request itself, as older versions have it, its
/// `exactly`, and its alternatives.
pub(super) fn each_asked<'v>(object: &'v Json<'v>, visit: &mut dyn FnMut(&dyn fmt::Display, &'v Json<'v>)) {
    let Some(prefix) = claim_spec(object) else { return };
    for (number, request) in list(inner(object, &format!("{prefix}.devices.requests"))).iter().enumerate() {
        let at = format!("{prefix}.devices.requests[{number}]");
        visit(&at, request);
        if let Some(exactly) = field(request, "exactly") {
            visit(&format_args!("{at}.exactly"), exactly);
        }
        for (number, alternative) in list(field(request, "firstAvailable")).iter().enumerate() {
            visit(&format_args!("{at}.firstAvailable[{number}]"), alternative);
        }
    }
}

/// Its name.
pub(super) fn name<'v>(object: &'v Json<'_>) -> &'v str {
    meta(object, "name")
}

/// Its namespace, as kubectl fills it in.
pub(super) fn namespace<'v>(object: &'v Json<'_>) -> &'v str {
    let namespace = meta(object, "namespace");
    if namespace.is_empty() { "default" } else { namespace }
}

/// Which object a finding is about.
pub(super) fn reference(object: &Json<'_>) -> ObjectRef {
    pipeline::reference_of(kind(object), |name| meta(object, name))
}

fn meta<'v>(object: &'v Json<'_>, name: &str) -> &'v str {
    field(object, "metadata").map(|meta| text(meta, name)).unwrap_or_default()
}
