//! The steps of one submission.

use serde_json::Value;

use super::group::Shape;
use super::kind::{Kind, split};
use super::meta;
use super::node::Node;
use super::report::Report;
use super::schema::{POD_TEMPLATE, fit};
use super::{
    Admission, Operation, Submission, claim, claim_status, class, controllers, defaults, features, others, places, pod,
    pod_group, pod_status, pod_templates, pool_status, slice, source, taints, template, workload,
};
use crate::api::object::{no_kind, read_object};
use crate::api::other_workload::{Place, found_in};
use crate::api::read::Path;
use crate::api::versions;
use crate::finding::{Code, ErrorKind, Finding, ObjectRef, Severity};
use crate::profile::Profile;

/// What the API server takes in one request, in bytes: the default of its `MaxRequestBodyBytes`.
const LARGEST_REQUEST: usize = 3 << 20;

/// What is said about an object of so many bytes, if it is more than a request can carry.
pub(super) fn too_large(bytes: usize) -> Option<Finding> {
    let message = format!("the object has {bytes} bytes as JSON, the API server takes {LARGEST_REQUEST}");
    (bytes > LARGEST_REQUEST).then(|| Finding::new(Code::ValidateTooLarge, "", message))
}

/// What the API server answers, what we add, and the object as it is stored.
pub(super) fn run(submission: Submission, profile: &Profile) -> Admission {
    let Submission { mut object, old, operation, circumstances } = submission;
    let mut out = Report::new(profile, circumstances);
    out.is_manifest = !meta::is_identified(&object);
    let reference = reference(&object);
    let api_version = text(&object, "apiVersion").to_owned();
    let kind = text(&object, "kind").to_owned();
    let (group, version) = split(&api_version);
    if kind.is_empty() || api_version.is_empty() {
        let missing = if kind.is_empty() { "kind" } else { "apiVersion" };
        out.note(no_kind(&object, missing));
    } else if let Some(finding) = too_large(claim::length(&object)) {
        out.note(finding);
    } else if let Some(known) = Kind::of(group, &kind) {
        run_kind(&mut out, known, version, &mut object, old, operation);
    } else if let Some(row) = pod_templates::of(group, &kind) {
        let old = old.filter(|_| operation == Operation::Update);
        if row.by_server && version != "v1" {
            let message = format!("{kind} is not served: no Kubernetes has it in `{api_version}`");
            let newest = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
            let hint = format!("this Kubernetes serves it in `{newest}`");
            out.note(Finding::new(Code::ValidateNotServed, "apiVersion", message).with_hint(hint));
        }
        run_templates(&mut out, &kind, row, &mut object, old.as_ref());
    } else if !run_found(&mut out, &mut object) {
        // What has no rules here is read like everywhere else.
        read_object(object.clone()).findings.into_iter().for_each(|finding| out.note(finding));
    }
    let mut findings = out.finish();
    hint_at_lost(&mut findings);
    for finding in &mut findings {
        finding.object = Some(reference.clone());
    }
    Admission { object, findings }
}

/// What is missing may stand under a field that is not known, or is dropped: then the way out of that one is the way out of both.
fn hint_at_lost(findings: &mut [Finding]) {
    let lost = findings.iter().filter_map(|finding| match finding.code {
        Code::ReadUnknownField => Some((finding.path.clone(), finding.hint.clone()?, false)),
        Code::ValidateDroppedField => Some((finding.path.clone(), finding.message.clone(), true)),
        _ => None,
    });
    let lost: Vec<(String, String, bool)> = lost.collect();
    for finding in findings.iter_mut().filter(|finding| finding.refuses() && finding.hint.is_none()) {
        let (parent, name) = finding.path.rsplit_once('.').unwrap_or(("", &finding.path));
        let is_way_out = |(path, hint, is_dropped): &&(String, String, bool)| {
            let is_below = path.strip_prefix(finding.path.as_str()).is_some_and(|rest| rest.starts_with('.'));
            let is_beside = path.rsplit_once('.').is_some_and(|(other, _)| other == parent);
            let is_missing = finding.kind == Some(ErrorKind::Required);
            is_below || (is_beside && is_missing && (*is_dropped || hint.contains(&format!("`{name}`"))))
        };
        finding.hint = lost.iter().find(is_way_out).map(|(_, hint, _)| hint.clone());
    }
}

fn run_kind(
    out: &mut Report<'_>,
    kind: Kind,
    version: &str,
    object: &mut Value,
    mut old: Option<Value>,
    operation: Operation,
) {
    if let Some(why) = kind.not_served(version, out.profile.version, out.features()) {
        let finding =
            Finding::new(Code::ValidateNotServed, "apiVersion", format!("{} is not served: {why}", kind.name()));
        out.note(match kind.newest(out.profile.version) {
            Some(newest) if newest != version => finding.with_hint(format!("this Kubernetes serves it in `{newest}`")),
            _ => finding,
        });
    }
    let schema = kind.schema(version);
    if !fit(out, object, schema, &Path::ROOT) {
        return;
    }
    if let Some(old) = &mut old {
        let mut unread = Report::new(out.profile, out.circumstances);
        let old_version = split(text(old, "apiVersion")).1.to_owned();
        let old_version = if old_version.is_empty() { version } else { &old_version };
        if !fit(&mut unread, old, kind.schema(old_version), &Path::ROOT) {
            let first = unread.findings.iter().find(|finding| finding.severity == Severity::Error);
            let why = first.map(|finding| format!(": {}: {}", finding.path, finding.message)).unwrap_or_default();
            let message = format!("the stored object does not have the shape of its kind{why}");
            out.note(Finding::new(Code::ReadWrongType, "", message));
            return;
        }
        prepare(kind, old_version, old);
    }
    match (&old, operation) {
        (_, Operation::Create) => meta::reset(object, kind.has_status()),
        (Some(old), Operation::Update) => {
            meta::complete(object, old, kind.is_replaced_unseen(version, out.profile.version));
        }
        _ => {}
    }
    prepare(kind, version, object);
    let before = out.findings.len();
    let is_union = Shape::of(version) == Shape::Beta1;
    let modes = kind == Kind::PodGroup && version != "v1alpha1";
    if modes && let Some(old) = &mut old {
        defaults::disruption_mode(old, is_union);
    }
    features::drop_disabled(out, kind.name(), object, old.as_ref(), operation);
    if modes {
        defaults::disruption_mode(object, is_union);
        // The default of a feature that is off is dropped like any other value, but nobody wrote it.
        let mut unread = Report::new(out.profile, out.circumstances);
        features::drop_disabled(&mut unread, kind.name(), object, old.as_ref(), operation);
    }
    match (&old, operation) {
        (Some(old), Operation::Update) => check(out, kind, version, &Node::root(object), Some(&Node::root(old))),
        (Some(old), Operation::StatusUpdate) => {
            meta::keep_for_status(object, old);
            update_status(out, kind, object, old);
        }
        (_, Operation::Create) => check(out, kind, version, &Node::root(object), None),
        (None, Operation::Update | Operation::StatusUpdate) => {
            out.note(Finding::new(Code::ReadBadSettings, "", "an update needs the stored object as well"));
        }
    }
    if versions::is_flat(version) {
        for finding in out.findings.iter_mut().skip(before) {
            finding.path = versions::flat_path(kind.name(), &finding.path);
        }
        versions::stored_as(kind.name(), object);
    }
}

/// The internal form with its defaults.
fn prepare(kind: Kind, version: &str, object: &mut Value) {
    let flat = versions::is_flat(version);
    if flat {
        versions::raise(kind.name(), version, object);
    }
    defaults::set(kind.name(), object, flat);
}

/// The rules of a kind for an object that is created, or changed where there is an `old` one.
fn check(out: &mut Report<'_>, kind: Kind, version: &str, object: &Node<'_, '_>, old: Option<&Node<'_, '_>>) {
    let shape = Shape::of(version);
    match kind {
        Kind::ResourceClaim => claim::check(out, object, old),
        Kind::ResourceClaimTemplate | Kind::ClusterResourceClaimTemplate => {
            template::check(out, object, old, kind.scope());
        }
        Kind::TemplateSource => source::check(out, object, old),
        Kind::DeviceClass => class::check(out, object, old),
        Kind::ResourceSlice => slice::check(out, object, old),
        Kind::DeviceTaintRule => taints::check_rule(out, object, old),
        Kind::ResourcePoolStatusRequest => pool_status::check(out, object, old),
        Kind::Workload => workload::check(out, object, old, shape),
        Kind::PodGroup => pod_group::check(out, object, old, shape),
        Kind::CompositePodGroup => pod_group::check_composite(out, object, old),
        Kind::Pod => pod::check(out, object, old),
        Kind::Node
        | Kind::Namespace
        | Kind::PriorityClass
        | Kind::PodDisruptionBudget
        | Kind::PersistentVolumeClaim
        | Kind::PersistentVolume
        | Kind::StorageClass
        | Kind::CSINode
        | Kind::CSIDriver
        | Kind::CSIStorageCapacity
        | Kind::VolumeAttachment => others::check(out, kind, object, old),
    }
}

fn update_status(out: &mut Report<'_>, kind: Kind, object: &mut Value, old: &Value) {
    if !kind.has_status() {
        return out.note(Finding::new(Code::ReadBadSettings, "", format!("{} has no status", kind.name())));
    }
    if kind == Kind::ResourceClaim {
        claim_status::forget_deallocated(object, old);
    }
    let (object, old) = (&Node::root(object), &Node::root(old));
    meta::update(out, object, old);
    let status = object.field("status");
    match kind {
        Kind::ResourceClaim => claim_status::check(out, object, old),
        Kind::DeviceTaintRule => taints::check_status(out, &status),
        Kind::ResourcePoolStatusRequest => pool_status::check_status(out, &status, old),
        Kind::PodGroup => pod_group::check_status(out, object, &status),
        Kind::Pod => pod_status::check(out, object),
        Kind::Node => others::node_status(out, &status),
        Kind::TemplateSource | Kind::CompositePodGroup => meta::conditions(out, &status.field("conditions")),
        Kind::ResourceClaimTemplate
        | Kind::ClusterResourceClaimTemplate
        | Kind::DeviceClass
        | Kind::ResourceSlice
        | Kind::Workload
        | Kind::Namespace
        | Kind::PriorityClass
        | Kind::PodDisruptionBudget
        | Kind::PersistentVolumeClaim
        | Kind::PersistentVolume
        | Kind::StorageClass
        | Kind::CSINode
        | Kind::CSIDriver
        | Kind::CSIStorageCapacity
        | Kind::VolumeAttachment => {}
    }
}

/// A kind of which a controller makes Pods.
fn run_templates(out: &mut Report<'_>, kind: &str, row: &pod_templates::Row, object: &mut Value, old: Option<&Value>) {
    let mut is_read = row.schema.is_none_or(|schema| fit(out, object, schema, &Path::ROOT));
    for path in row.paths {
        places::each(object, path, &Path::ROOT, &mut |value, at| is_read &= fit(out, value, &POD_TEMPLATE, at));
    }
    if !is_read {
        return;
    }
    match old {
        Some(old) => meta::complete(object, old, row.by_server),
        None => meta::reset(object, row.by_server),
    }
    controllers::check(out, kind, &Node::root(object), old.map(Node::root).as_ref());
    for path in row.paths {
        places::each(object, path, &Path::ROOT, &mut |value, at| {
            features::drop_from_template(out, (value, at), old, path);
            pod::check_template(out, &Node { value, at: *at }, kind);
        });
    }
}

/// Pod templates in a kind that is not known; whether there are any. Their claims are judged alone: what else is needed, and what may be
/// left out, is up to the controller that makes Pods of them.
fn run_found(out: &mut Report<'_>, object: &mut Value) -> bool {
    let places: Vec<Place> = object.get("spec").into_iter().flat_map(found_in).map(|found| found.place).collect();
    for Place { path, pointer, .. } in places.iter().filter(|place| !place.is_override) {
        let Some(value) = object.pointer_mut(pointer) else { continue };
        let at = &Path::ROOT.field(path);
        let mut unread = Report::new(out.profile, out.circumstances);
        let is_read = fit(&mut unread, value, &POD_TEMPLATE, at);
        let of_claims = |finding: &Finding| {
            finding.path.contains(".spec.resourceClaims") || finding.path.contains(".resources.claims")
        };
        unread.findings.into_iter().filter(of_claims).for_each(|finding| out.note(finding));
        if is_read {
            features::drop_from_template(out, (value, at), None, "");
            pod::check_claims(out, &Node { value, at: *at }.field("spec"), false);
        }
    }
    !places.is_empty()
}

/// Which object a finding is about.
fn reference(object: &Value) -> ObjectRef {
    reference_of(text(object, "kind"), |name| object.get("metadata").map(|meta| text(meta, name)).unwrap_or_default())
}

/// A reference to an object of a kind, by what stands in the fields of its metadata.
pub(super) fn reference_of<'v>(kind: &str, meta: impl Fn(&str) -> &'v str) -> ObjectRef {
    let name = meta("name");
    ObjectRef {
        kind: kind.to_owned(),
        namespace: meta("namespace").to_owned(),
        name: if name.is_empty() { meta("generateName") } else { name }.to_owned(),
    }
}

fn text<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}
