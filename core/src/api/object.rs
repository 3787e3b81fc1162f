//! One API object of any kind, and the reading of it.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::claim::{ResourceClaim, ResourceClaimTemplate};
use super::class::{DeviceClass, DeviceTaintRule};
use super::group::{PodGroup, SchedulingWorkload};
use super::meta::ObjectMeta;
use super::node::Node;
use super::others::{Bystander, PriorityClass};
use super::pod::{Namespace, Pod};
use super::pool_status::{POOL_STATUS_API_VERSION, ResourcePoolStatusRequest};
use super::read::{Json, Path};
use super::scheduler_configuration::{self, SchedulerConfiguration};
use super::slice::ResourceSlice;
use super::source::{SOURCE_API_VERSION, SOURCE_KIND, TemplateSource};
use super::unknown_kind;
use super::versions;
use super::workload::Workload;
use crate::finding::{Code, Finding, Fix, ObjectRef, Severity};

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident($ty:ty) = $kind:literal in $group:literal, $is_namespaced:literal;)*) => {
        /// Group and name of each kind.
        pub(super) static KINDS: &[(&str, &str)] = &[$(($group, $kind)),*];

        /// Whether objects of a kind are in a namespace; those of workload controllers are.
        pub(super) fn is_namespaced(group: &str, kind: &str) -> bool {
            match kind {
                $($kind if group == $group => $is_namespaced,)*
                _ => true,
            }
        }

        /// One API object; copies share it until one of them changes.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Object {
            $($(#[$doc])* $variant(Arc<$ty>),)*
            /// A workload controller, which makes Pods.
            Workload(Arc<Workload>),
        }

        impl Object {
            /// Kind as in the manifest.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    Self::Workload(workload) => &workload.kind,
                }
            }

            /// Metadata.
            pub fn metadata(&self) -> &ObjectMeta {
                match self {
                    $(Self::$variant(object) => &object.metadata,)*
                    Self::Workload(workload) => &workload.metadata,
                }
            }

            /// Metadata, to be changed.
            pub fn metadata_mut(&mut self) -> &mut ObjectMeta {
                match self {
                    $(Self::$variant(object) => &mut Arc::make_mut(object).metadata,)*
                    Self::Workload(workload) => &mut Arc::make_mut(workload).metadata,
                }
            }
        }

        impl Object {
            /// Whether objects of this kind live in a namespace.
            pub fn is_namespaced(&self) -> bool {
                match self {
                    $(Self::$variant(_) => $is_namespaced,)*
                    Self::Workload(_) => true,
                }
            }

            /// The object as JSON in the `v1` form.
            pub fn write(&self) -> Value {
                let (api_version, written) = match self {
                    $(Self::$variant(object) => (
                        if $group.is_empty() { "v1".to_owned() } else { format!("{}/v1", $group) },
                        object.write(),
                    ),)*
                    Self::Workload(workload) => (workload.api_version.clone(), Some(workload.write())),
                };
                let mut value = written.unwrap_or_default();
                if let Some(map) = value.as_object_mut() {
                    let api_version = match self {
                        Self::PodGroup(group) => group.api_version.clone(),
                        Self::SchedulingWorkload(workload) => workload.api_version.clone(),
                        Self::TemplateSource(_) => SOURCE_API_VERSION.to_owned(),
                        Self::ResourcePoolStatusRequest(_) => POOL_STATUS_API_VERSION.to_owned(),
                        _ => api_version,
                    };
                    map.entry("apiVersion").or_insert(Value::String(api_version));
                    map.insert("kind".to_owned(), Value::String(self.kind().to_owned()));
                }
                value
            }
        }

        fn read_kind(kind: &str, api_version: &str, group: &str, value: Value, findings: &mut Vec<Finding>) -> Option<Object> {
            match kind {
                $($kind if group == $group => <$ty>::read(value, &Path::ROOT, findings).ok().map(|object| Object::$variant(Arc::new(object))),)*
                _ => Workload::read(kind, api_version, value, findings).map(|workload| Object::Workload(Arc::new(workload))),
            }
        }
    };
}

kinds! {
    /// A node.
    Node(Node) = "Node" in "", false;
    /// A namespace.
    Namespace(Namespace) = "Namespace" in "", false;
    /// A Pod.
    Pod(Pod) = "Pod" in "", true;
    /// A claim.
    ResourceClaim(ResourceClaim) = "ResourceClaim" in "resource.k8s.io", true;
    /// A claim template.
    ResourceClaimTemplate(ResourceClaimTemplate) = "ResourceClaimTemplate" in "resource.k8s.io", true;
    /// A cluster-wide claim template (KEP-5978).
    ClusterResourceClaimTemplate(ResourceClaimTemplate) = "ClusterResourceClaimTemplate" in "resource.k8s.io", false;
    /// A claim template for several namespaces.
    TemplateSource(TemplateSource) = "ClusterResourceClaimTemplate" in "apportion.dev", false;
    /// A device class.
    DeviceClass(DeviceClass) = "DeviceClass" in "resource.k8s.io", false;
    /// A slice of a pool of devices.
    ResourceSlice(ResourceSlice) = "ResourceSlice" in "resource.k8s.io", false;
    /// A rule that taints devices.
    DeviceTaintRule(DeviceTaintRule) = "DeviceTaintRule" in "resource.k8s.io", false;
    /// A question about pools.
    ResourcePoolStatusRequest(ResourcePoolStatusRequest) = "ResourcePoolStatusRequest" in "resource.k8s.io", false;
    /// A group of Pods.
    PodGroup(PodGroup) = "PodGroup" in "scheduling.k8s.io", true;
    /// A Workload, which PodGroups are made from.
    SchedulingWorkload(SchedulingWorkload) = "Workload" in "scheduling.k8s.io", true;
    /// A priority for Pods.
    PriorityClass(PriorityClass) = "PriorityClass" in "scheduling.k8s.io", false;
    /// The configuration of a kube-scheduler; no object of an API server.
    SchedulerConfiguration(SchedulerConfiguration) = "KubeSchedulerConfiguration" in "kubescheduler.config.k8s.io", false;
    /// How many Pods may go at a time.
    PodDisruptionBudget(Bystander) = "PodDisruptionBudget" in "policy", true;
    /// Which Pods serve a name.
    Service(Bystander) = "Service" in "", true;
    /// A volume that Pods ask for.
    PersistentVolumeClaim(Bystander) = "PersistentVolumeClaim" in "", true;
    /// A volume.
    PersistentVolume(Bystander) = "PersistentVolume" in "", false;
    /// How volumes are made, and when.
    StorageClass(Bystander) = "StorageClass" in "storage.k8s.io", false;
    /// Which drivers a node has, and how many volumes of each.
    CSINode(Bystander) = "CSINode" in "storage.k8s.io", false;
    /// What a driver of volumes needs.
    CSIDriver(Bystander) = "CSIDriver" in "storage.k8s.io", false;
    /// How much space there is for new volumes.
    CSIStorageCapacity(Bystander) = "CSIStorageCapacity" in "storage.k8s.io", true;
    /// A volume that is attached to a node.
    VolumeAttachment(Bystander) = "VolumeAttachment" in "storage.k8s.io", false;
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write().serialize(serializer)
    }
}

impl Object {
    /// Kind, namespace and name.
    pub fn reference(&self) -> ObjectRef {
        let metadata = self.metadata();
        let name = if metadata.name.is_empty() { &metadata.generate_name } else { &metadata.name };
        let kind = if matches!(self, Self::TemplateSource(_)) { SOURCE_KIND } else { self.kind() };
        ObjectRef::new(kind, &*metadata.namespace, &**name)
    }
}

/// What was read of one document.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    /// The object; absent for kinds that play no part and for documents that are none.
    pub object: Option<Object>,
    /// Everything worth saying about the document.
    pub findings: Vec<Finding>,
}

impl Reading {
    /// Whether the API server would take the object: it was read without an error.
    pub fn is_usable(&self) -> bool {
        self.object.is_some() && self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }
}

/// Parses a JSON text.
///
/// # Errors
///
/// The finding, when it is none.
pub fn parse(text: &str) -> Result<Value, Finding> {
    serde_json::from_str(text).map_err(|error| Finding::new(Code::ReadBadJson, "", format!("not valid JSON: {error}")))
}

/// Reads one object from JSON, as [`read_object`]; a text that is not valid JSON is one finding.
pub fn read_text(text: &str) -> Reading {
    match parse(text) {
        Ok(value) => read_object(value),
        Err(finding) => Reading { object: None, findings: vec![finding] },
    }
}

/// Reads one object, converting older versions to `v1`.
pub fn read_object(mut value: Value) -> Reading {
    let mut findings = Vec::new();
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let named = |name: &str| value.pointer(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let written = ObjectRef::new(&kind, named("/metadata/namespace"), named("/metadata/name"));
    if let Some(map) = value.as_object_mut() {
        map.remove("apiVersion");
        map.remove("kind");
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    if kind.is_empty() || api_version.is_empty() {
        let missing = if kind.is_empty() { "kind" } else { "apiVersion" };
        findings.push(no_kind(&value, missing));
        return Reading { object: None, findings };
    }
    let flat = group == "resource.k8s.io" && versions::is_flat(version);
    if flat {
        versions::raise(&kind, version, &mut value);
    }
    let known_version = group != "resource.k8s.io" || flat || matches!(version, "v1" | "v1beta2");
    if !known_version && kind != "DeviceTaintRule" {
        findings.push(
            Finding::new(
                Code::ReadUnknownVersion,
                "apiVersion",
                format!("no supported Kubernetes serves `{api_version}`"),
            )
            .with_hint("use `resource.k8s.io/v1`"),
        );
    }
    let asking = unknown_kind::asks_for_devices(group, &kind, &value);
    let mut object = read_kind(&kind, &api_version, group, value, &mut findings);
    match &mut object {
        Some(Object::PodGroup(group)) => Arc::make_mut(group).api_version.clone_from(&api_version),
        Some(Object::SchedulingWorkload(workload)) => Arc::make_mut(workload).api_version.clone_from(&api_version),
        Some(Object::SchedulerConfiguration(configuration)) => {
            let configuration = Arc::make_mut(configuration);
            configuration.metadata.name = scheduler_configuration::NAME.to_owned();
            configuration.check(&mut findings);
            // It reads its file strictly.
            let unknown = findings.iter_mut().filter(|finding| finding.code == Code::ReadUnknownField);
            unknown.for_each(|finding| finding.severity = Severity::Error);
        }
        _ => {}
    }
    match &object {
        // A Workload is what PodGroups are made from; what devices are given out does not depend on it.
        None | Some(Object::SchedulingWorkload(_))
            if findings.iter().all(|finding| finding.severity != Severity::Error) =>
        {
            findings.push(match object {
                None => unknown_kind::finding(&kind, &api_version, asking.as_deref()),
                Some(_) => unknown_kind::plays_no_part(&kind, &api_version),
            });
        }
        None => {}
        Some(object) => {
            let metadata = object.metadata();
            if metadata.name.is_empty() && metadata.generate_name.is_empty() {
                findings.push(Finding::new(Code::ReadNoName, "metadata.name", "the object has no name"));
            }
        }
    }
    let reference = object.as_ref().map_or(written, Object::reference);
    for finding in &mut findings {
        finding.object = Some(reference.clone());
        if flat {
            finding.path = versions::flat_path(&kind, &finding.path);
        }
    }
    Reading { object, findings }
}

/// Whether a document is a table or a message that was printed for people, not an object.
fn is_no_object(value: &Value) -> bool {
    value.as_object().is_none_or(|map| map.keys().any(|name| name.contains(' ')))
}

/// The finding about a document without `kind` or `apiVersion`, with the way out: another spelling of the field, if
/// there is one.
pub(crate) fn no_kind(value: &Value, missing: &str) -> Finding {
    let finding = Finding::new(Code::ReadNoKind, missing, format!("the document has no `{missing}`"));
    let keys = value.as_object().into_iter().flat_map(|map| map.keys());
    match keys.into_iter().find(|key| *key != missing && key.eq_ignore_ascii_case(missing)) {
        Some(key) => {
            let mut finding =
                finding.with_hint(format!("write `{missing}` instead of `{key}`: upper and lower case matter"));
            finding.path.clone_from(key);
            finding.fix = Some(Fix::Rename(missing.to_owned()));
            finding
        }
        None if is_no_object(value) => {
            finding.with_hint("this is no Kubernetes object: print objects with `kubectl get ... -o yaml`")
        }
        None => finding.with_hint("every Kubernetes object starts with `apiVersion` and `kind`"),
    }
}
