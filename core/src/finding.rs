//! Problems in the input, as data.

mod fix;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use fix::{Fix, value_at};

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The object or question cannot be used as it is.
    Error,
    /// It can be used, but not as its author is likely to think.
    Warning,
    /// Worth knowing.
    Info,
}

/// Which object a finding is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct ObjectRef {
    /// Kind, for instance `ResourceClaim`; empty when unknown.
    pub kind: String,
    /// Namespace; empty for cluster-scoped kinds.
    #[serde(default)]
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ObjectRef {
    /// The object of that kind, namespace (empty where the kind has none) and name.
    pub fn new(kind: &str, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), namespace: namespace.into(), name: name.into() }
    }

    /// `namespace/name`, or the name alone where the kind has no namespace.
    pub(crate) fn full_name(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("{}/{}", self.namespace, self.name) }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

macro_rules! error_kinds {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// The API server's own class of an error about a field.
        ///
        /// Source: apimachinery `pkg/util/validation/field/errors.go`.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[cfg_attr(feature = "types", derive(ts_rs::TS))]
        #[serde(rename_all = "camelCase")]
        pub enum ErrorKind {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorKind {
            /// The name that the API server puts into the causes of a `Status`.
            pub const fn reference(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

error_kinds! {
    /// `FieldValueRequired`: a value is missing.
    Required = "FieldValueRequired",
    /// `FieldValueInvalid`: the value breaks a rule.
    Invalid = "FieldValueInvalid",
    /// `FieldValueNotSupported`: not one of the values of a closed set.
    NotSupported = "FieldValueNotSupported",
    /// `FieldValueDuplicate`: an earlier entry has the same key.
    Duplicate = "FieldValueDuplicate",
    /// `FieldValueTooMany`: a list or map with too many entries.
    TooMany = "FieldValueTooMany",
    /// `FieldValueTooLong`: a text with too many bytes.
    TooLong = "FieldValueTooLong",
    /// `FieldValueForbidden`: the field may not be set or changed here.
    Forbidden = "FieldValueForbidden",
    /// `FieldValueNotFound`: it names something that is not there.
    NotFound = "FieldValueNotFound",
    /// `FieldValueTypeInvalid`: the JSON does not fit the type of the field, and nothing else was looked at.
    TypeInvalid = "FieldValueTypeInvalid",
    /// `InternalError`: the API server could not decide.
    Internal = "InternalError",
}

/// A problem in the input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[cfg_attr(feature = "types", ts(optional_fields))]
pub struct Finding {
    /// What kind of problem; published, never renamed or reused.
    #[cfg_attr(feature = "types", ts(type = "string"))]
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// The API server's class of the error, where the finding is one that the API server of the stated version gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
    /// The object it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectRef>,
    /// Field path in the API server's notation, for instance `spec.devices.requests[0].exactly.count`; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub path: String,
    /// What is wrong: one line, lower case, no full stop, the user's words in backticks.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The correction, where there is one that is certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding of the code's usual severity, without object and hint.
    pub fn new(code: Code, path: impl fmt::Display, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            kind: None,
            object: None,
            path: path.to_string(),
            message: message.into(),
            hint: None,
            fix: None,
        }
    }

    /// Whether the API server refuses the object because of it: its error, or the request cannot be made at all.
    pub fn refuses(&self) -> bool {
        self.severity == Severity::Error
            && (self.kind.is_some()
                || matches!(
                    self.code,
                    Code::ReadNoKind | Code::ReadBadSettings | Code::ValidateNotServed | Code::ValidateTooLarge
                ))
    }

    /// The same with a way out.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with another severity than is usual.
    #[must_use]
    pub(crate) fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The same about one object.
    #[must_use]
    pub fn about(mut self, object: ObjectRef) -> Self {
        self.object = Some(object);
        self
    }
}

macro_rules! codes {
    ($($variant:ident = $text:literal, $severity:ident, $paragraph:literal;)*) => {
        /// The published code of a finding.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Code {
            $(#[doc = $paragraph] $variant,)*
        }

        impl Code {
            /// All codes, in the order of this table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code as printed, for instance `read/unknown-field`.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The code of a printed text; `None` when no finding has it.
            pub fn of(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }

            /// The severity that a finding of this code has unless the place says otherwise.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// What the code means and what to do, in a paragraph.
            pub const fn paragraph(self) -> &'static str {
                match self { $(Self::$variant => $paragraph,)* }
            }
        }
    };
}

codes! {
    ReadUnknownField = "read/unknown-field", Warning,
        "A field that this kind does not have. The API server drops it (kubectl refuses it), so it has no effect. Often a typo or a wrong indentation.";
    ReadWrongType = "read/wrong-type", Error,
        "A value of a type that the field cannot hold, for instance text where a number is needed. The API server refuses the object.";
    ReadBadQuantity = "read/bad-quantity", Error,
        "A text that is not a Kubernetes quantity such as `40Gi`, `500m` or `1e3`.";
    ReadBadJson = "read/bad-json", Error,
        "The text is not JSON.";
    ReadUnknownKind = "read/unknown-kind", Info,
        "A kind that plays no part in resource allocation, or that is not known here. The object is left aside.";
    ReadUnknownVersion = "read/unknown-version", Warning,
        "An API version of a known kind that no supported Kubernetes serves. The object is read as the nearest known version.";
    ReadNoKind = "read/no-kind", Error,
        "A document without `apiVersion` and `kind` is no Kubernetes object.";
    ReadNoName = "read/no-name", Error,
        "An object needs `metadata.name` (or `metadata.generateName` when it is created).";
    ReadUnknownValue = "read/unknown-value", Warning,
        "A value outside the closed set that the field allows. A newer Kubernetes may know it; this one does not.";
    ReadRepeatedObject = "read/repeated-object", Warning,
        "The input holds an object of this kind, namespace and name twice. As with kubectl, the later one replaces the earlier. Often a file is a variant of another and not meant to be used together with it.";
    ClusterMissingApi = "cluster/missing-api", Warning,
        "The API server does not serve this kind in a supported version. The answer assumes that there are no such objects. The feature that the kind belongs to may be off, or the cluster may be too old or too new.";
    ClusterForbidden = "cluster/forbidden", Warning,
        "You may not list objects of this kind. The answer assumes that there are none, and may be wrong. Ask for the role that `--print-rbac` prints.";
    ConvertWrittenAnew = "convert/written-anew", Info,
        "The object could not be changed in place because of its layout (JSON, flow style, anchors). It was rewritten, and its comments are lost.";
    ReadTooDeep = "read/too-deep", Error,
        "The document nests deeper than the limit and was not read further.";
    ReadBadScript = "read/bad-script", Error,
        "A step of a script cannot be understood. A script is a list; each step says when (`at: 30s`) and does one thing, for instance `delete: pod/x`.";
    ReadBadSettings = "read/bad-settings", Error,
        "A setting (version, feature gate, mode, limit) or a question has an unknown name or a value of the wrong type.";
    BatchTooLong = "batch/too-long", Error,
        "A line of a batch, or a cluster of a folder, has more bytes than `--max-line` allows. It was not read; the other lines are answered. Raise the limit, or give the cluster as `apportion snapshot` writes it.";
    BatchUnreadable = "batch/unreadable", Error,
        "A line of a batch is not text, or a file or folder with a cluster cannot be read. The other lines are answered.";
    RunNodesInferred = "run/nodes-inferred", Info,
        "There is no Node object, so nodes are inferred from slices and Pods. Inferred nodes have no taints, unlimited CPU and memory, and only the labels that slices name.";
    RunUnknownNodes = "run/unknown-nodes", Warning,
        "Slices name nodes that are missing among the Node objects. Devices of these nodes cannot be used.";
    RunLabelsAssumed = "run/labels-assumed", Info,
        "A Pod asks for node labels, but inferred nodes have no known labels. The nodes are assumed to have the labels.";
    RunReplicasCapped = "run/replicas-capped", Info,
        "Not all Pods of a workload are simulated: each workload gets at most 1,000, a Job runs at most `parallelism` Pods at a time, and a StatefulSet makes a Pod once those before it are running and ready.";
    RunSuspended = "run/suspended", Info,
        "A suspended workload makes no Pods until it is resumed. Workloads in a queue of Kueue are shown as if they had been admitted.";
    RunNotModelled = "run/not-modelled", Info,
        "The Pod uses something that kube-scheduler takes into account and this run does not, so the Pod may land elsewhere or stay Pending.";
    RunNotExpanded = "run/not-expanded", Info,
        "A workload of an unknown kind. Pods are made only if its spec has a Pod template and a number of Pods, and none was found here.";
    RunRefused = "run/refused", Error,
        "The API server would not take the object, or what the controller of a workload creates for it. It is left out.";
    RunPreempted = "run/preempted", Warning,
        "kube-scheduler evicts Pods so that a Pod of higher priority that fits nowhere gets their place. A Pod without a controller is lost.";
    RunEvicted = "run/evicted", Warning,
        "A device that the Pod uses has a `NoExecute` taint that is not tolerated, or not any longer. The Pod is deleted; its controller, where it has one, makes another.";
    RunFinished = "run/finished", Info,
        "The Pod has succeeded or failed. It needs no node and no devices any more, and its reservations are gone.";
    RunSchedulingGated = "run/scheduling-gated", Warning,
        "The Pod has `schedulingGates`. The scheduler ignores the Pod until all gates are removed. The controllers that set them remove them.";
    RunMissingTemplate = "run/missing-template", Error,
        "A Pod names a claim template that does not exist. It stays Pending, and the claim is made as soon as there is one.";
    RunMissingClaim = "run/missing-claim", Error,
        "A Pod names a claim that does not exist in its namespace. It stays Pending until somebody makes the claim.";
    RunClaimDeleting = "run/claim-deleting", Error,
        "A claim that the Pod needs is being deleted. Pods that use it may go on, others cannot start.";
    RunNoClaimSource = "run/no-claim-source", Error,
        "An entry of `resourceClaims` must have exactly one source: a claim or a template. The API server refuses the Pod.";
    RunOldClaimSource = "run/old-claim-source", Error,
        "The field `source` of an entry in `resourceClaims` was removed in Kubernetes 1.31; its fields now stand in the entry itself.";
    RunBadRequest = "run/bad-request", Error,
        "A request of the claim has neither a device class nor alternatives, so there is nothing to allocate.";
    RunAdminNamespace = "run/admin-namespace", Error,
        "Admin access is allowed only in namespaces with the label `resource.kubernetes.io/admin-access: \"true\"`. The API server refuses the claim.";
    RunAdminUnchecked = "run/admin-unchecked", Info,
        "Admin access needs a label on the namespace. The Namespace object was not given, so the label is taken to be there.";
    RunGroupClaim = "run/group-claim", Error,
        "A Pod needs a claim of its PodGroup, and there is none: the Pod is in no PodGroup, the PodGroup does not exist, or it has no entry of that name.";
    RunClaimNotMade = "run/claim-not-made", Error,
        "A claim is to be made from a template and was not made yet. The controller that makes claims does not run, waits, or was refused; its Events say why.";
    RunGroupWaits = "run/group-waits", Error,
        "The Pod fits but waits, because its PodGroup does not exist, its gang lacks Pods, or the gang does not fit as a whole. No Pod of a waiting gang is placed.";
    RunWaits = "run/waits", Info,
        "A Pod would find a place now and was not placed yet: the scheduler does not run, or pauses before it tries the Pod again.";
    RunNodeUnsuitable = "run/node-unsuitable", Error,
        "Nodes were refused for ordinary reasons, before devices were looked at: taints, labels, CPU, memory and the like.";
    RunClaimElsewhere = "run/claim-elsewhere", Error,
        "A claim of the Pod is allocated already, and its devices cannot be reached from the node.";
    RunTooFewDevices = "run/too-few-devices", Error,
        "A node has access to fewer devices than a request needs, whatever they look like.";
    RunTooFewMatching = "run/too-few-matching", Error,
        "Too few of a node's devices belong to the class and satisfy the selectors of a request.";
    RunDevicesUnusable = "run/devices-unusable", Error,
        "Devices match a request and cannot serve it, even if they are free: their pool is incomplete, a feature that they need is off, they lack the attribute of a constraint, or they can never grant the capacity asked for.";
    RunDevicesTainted = "run/devices-tainted", Error,
        "Enough devices match a request, but too many of them have taints that it does not tolerate.";
    RunDevicesInUse = "run/devices-in-use", Error,
        "Enough devices match a request, but too many of them are in use or have too little capacity left.";
    RunDevicesTogether = "run/devices-together", Error,
        "Every request finds enough devices on a node, but not all of them together: requests compete, or no choice satisfies the constraints.";
    RunGaveUp = "run/gave-up", Error,
        "The step limit was reached before it was known whether the claims fit.";
    RunReservationsFull = "run/reservations-full", Error,
        "A claim can be reserved for at most 256 consumers.";
    RunNotAllocated = "run/not-allocated", Error,
        "The Pod has a node in `spec.nodeName`, so the scheduler does not allocate its claims. The kubelet refuses to start it.";
    RunNotGiven = "run/not-given", Warning,
        "The input is a dump that lacks a kind which its objects refer to, or has the Pods of one namespace alone. The hint has the command that lists the rest.";
    RunNotStarted = "run/not-started", Error,
        "The Pod has a node, but the kubelet does not start it: the node does not exist, or the Pod may not use one of its claims.";
    RunBindingConditions = "run/binding-conditions", Error,
        "A node and devices are chosen for the Pod. It is bound once the driver reports that the devices are ready. After ten minutes without a report the Pod is scheduled again.";
    RunGroupMissing = "run/group-missing", Error,
        "A Pod says that it is part of a PodGroup that does not exist. The scheduler waits for the PodGroup before it looks at the Pod.";
    RunGroupShort = "run/group-short", Error,
        "A gang has fewer Pods than `minCount`, or fewer of its Pods fit.";
    RunSchedulerMessage = "run/scheduler-message", Info,
        "What kube-scheduler would write into the Pod's condition and events.";
    ExplainCutOff = "explain/cut-off", Info,
        "The search for changes reached its step limit. The listed changes help; others, or smaller ones, may help as well.";
    AllocFeatureOff = "alloc/feature-off", Error,
        "The claim uses a feature that is off in the stated Kubernetes. The scheduler refuses the Pod as long as the feature gate is off.";
    AllocReferenceDiffers = "alloc/reference-differs", Warning,
        "The scheduler of the stated Kubernetes version has a known defect that changes this decision. The answer given is the correct one; mode `reference` gives the version's own.";
    AllocReferenceUnknown = "alloc/reference-unknown", Info,
        "Known defects of the stated version's scheduler may change this answer. The comparison reached its step limit. The answer is correct; the scheduler may give another one.";
    AllocEmptySelector = "alloc/empty-selector", Error,
        "A selector without a CEL expression. It may come from a newer API; the scheduler refuses the Pod rather than ignoring it.";
    AllocNoClassName = "alloc/no-class-name", Error,
        "A request without a device class. Every request, and every subrequest, needs `deviceClassName`.";
    AllocUnknownClass = "alloc/unknown-class", Error,
        "A request names a device class that does not exist. Create the DeviceClass, usually by installing the driver, or correct the name.";
    AllocUnknownMode = "alloc/unknown-mode", Error,
        "An allocation mode other than `ExactCount` and `All`. A newer Kubernetes may know it; this one refuses the Pod.";
    AllocIncompletePool = "alloc/incomplete-pool", Error,
        "A request for all devices cannot be answered while a pool of the node is being updated: not all slices of the newest generation are published yet. Pools of all drivers on the node count. Wait until the update is complete; if it never is, `resourceSliceCount` is wrong.";
    AllocInvalidPool = "alloc/invalid-pool", Error,
        "A pool whose slices contradict each other: a device or counter set is published twice, or a device draws from a counter that does not exist. Its devices are not given out until the driver publishes it again.";
    AllocTooManyDevices = "alloc/too-many-devices", Error,
        "The requests of a claim need more devices than one claim can have (32).";
    AllocEmptyConstraint = "alloc/empty-constraint", Error,
        "A constraint with neither `matchAttribute` nor `distinctAttribute`. It may come from a newer API; the scheduler refuses the Pod rather than ignoring it.";
    AllocAllBreaksConstraint = "alloc/all-breaks-constraint", Error,
        "A request for all devices, of which some are excluded by a constraint of the same claim. No node can satisfy both; narrow the request with selectors or drop the constraint.";
    AllocSelectorCompile = "alloc/selector-compile", Error,
        "A CEL expression of a device class or request that does not compile. It stops the Pod as soon as a device is compared with it.";
    AllocSelectorRuntime = "alloc/selector-runtime", Error,
        "A CEL expression that failed on a device, for instance because it reads an attribute that the device does not have. It stops the Pod, even if other devices would fit. Test for the attribute first (`has(...)`, `.?`, `orValue`).";
    AllocCapacity = "alloc/capacity", Error,
        "The requested capacity cannot be computed: it is negative, or exceeds 64 bits once rounded up to the device's step. From Kubernetes 1.37 on the Pod then stays Pending, even if other devices fit. Earlier versions skip the device.";
    AllocBadNodeSelector = "alloc/bad-node-selector", Error,
        "A slice or device with a node selector that cannot be read. It stops every Pod that asks for devices on a node that the slice may concern.";
    AllocNodeSelectorTerms = "alloc/node-selector-terms", Error,
        "A slice with a node selector of several terms. An allocation can carry only one, so its devices cannot be given out.";
    ValidateRequired = "validate/required", Error,
        "A field that must have a value has none. The API server refuses the object.";
    ValidateInvalid = "validate/invalid", Error,
        "A value that breaks a rule of its field: the format of a name, a range, a combination with other fields. The API server refuses the object.";
    ValidateImmutable = "validate/immutable", Error,
        "A field that cannot be changed once the object exists. Delete the object and create it anew, or give the new one another name.";
    ValidateNotSupported = "validate/not-supported", Error,
        "A value outside the closed set that the field allows. The API server refuses the object.";
    ValidateDuplicate = "validate/duplicate", Error,
        "Two entries of a list that must be unique by their key. The API server refuses the object.";
    ValidateTooMany = "validate/too-many", Error,
        "A list or map with more entries than the API allows. The API server refuses the object.";
    ValidateTooLong = "validate/too-long", Error,
        "A text with more bytes than the API allows. The API server refuses the object.";
    ValidateForbidden = "validate/forbidden", Error,
        "A field that may not be set or changed in this place, by this operation or with these feature gates. The API server refuses the object.";
    ValidateNotFound = "validate/not-found", Error,
        "A field names an entry of the same object that does not exist. The API server refuses the object.";
    ValidateInternal = "validate/internal", Error,
        "The API server could not decide and refuses the object with an internal error.";
    ValidateSelector = "validate/selector", Error,
        "A CEL expression that does not compile, or whose result cannot be a boolean. The API server refuses the object.";
    ValidateSelectorCost = "validate/selector-cost", Error,
        "A CEL expression that may cost more than the limit of 1000000 units, by the API server's worst-case estimate. Loops over attributes and repeated text searches are expensive.";
    ValidateCrash = "validate/crash", Error,
        "The validation code of the stated Kubernetes stops with a crash on this value, so the request fails without a reason.";
    ValidateDroppedField = "validate/dropped-field", Warning,
        "The API server of the stated version with the stated feature gates silently drops the field, so it has no effect. Turn the gate on, or leave the field out.";
    ValidateNotServed = "validate/not-served", Error,
        "The API server of the stated version with the stated feature gates does not serve this kind in this version, so it refuses the object. The other rules are applied all the same.";
    ValidateProposed = "validate/proposed-field", Warning,
        "A field of a proposal (KEP-5729 or KEP-5978) that no released Kubernetes has. It is understood here; an API server drops it or refuses the object.";
    ValidateTooManyFindings = "validate/too-many-findings", Info,
        "The object has more errors than are listed. Correct the listed ones first.";
    ValidateTooLarge = "validate/too-large", Error,
        "The API server refuses requests of more than 3 MiB, whatever is in them. Nothing else is said about the object; split it.";
    ValidateUppercase = "validate/uppercase-driver", Warning,
        "A driver name with upper-case letters. The API server accepts it with a warning; write driver names in lower case, since selectors and class names compare exactly.";
    LintUnguarded = "lint/unguarded-attribute", Info,
        "A selector reads an attribute or capacity without testing whether the device has it. On a device without it the evaluation fails, and then the Pod is not scheduled at all, even if other devices would fit. A test of `device.driver` counts as a guard for the driver's own names.";
    LintUnqualified = "lint/unqualified-name", Warning,
        "A selector looks up a name where the domain of a driver belongs. Attributes and capacities are grouped by domain: `device.attributes[\"gpu.example.com\"].model`. An unknown domain gives an empty map, so that the lookup fails or is false.";
    LintWireMember = "lint/wire-member", Warning,
        "A selector reads `.string`, `.bool`, `.value` and the like, which are members of the API object. In a selector the attribute is the value itself.";
    LintNeverEqual = "lint/never-equal", Warning,
        "A comparison of types that can never be equal: an attribute is an integer, a boolean, a text, a version or a list of these.";
    LintSelectorFails = "lint/selector-fails", Warning,
        "A selector has a part that cannot be evaluated: `quantity(..)` or `semver(..)` of a text that is neither, an operator on a version, a text where a truth value belongs. Where the evaluation comes to it, it ends in an error, and then the Pod is not scheduled at all, even if other devices would fit.";
    LintUnknownAttribute = "lint/unknown-attribute", Warning,
        "A selector reads an attribute or capacity that no device of the slices given has, though they have others of its domain. On every device the evaluation fails or is false.";
    LintTaintsNothing = "lint/taint-rule-without-selector", Warning,
        "A DeviceTaintRule without `deviceSelector` selects no device, so it has no effect. An empty selector (`{}`) selects all of them.";
    LinkUnknownClass = "link/unknown-class", Warning,
        "A request names a device class that is not among the objects given. A Pod that needs it stays Pending until the class exists.";
    LinkUnknownTemplate = "link/unknown-template", Warning,
        "The named claim template is missing in the namespace of the object. The claim is made once the template exists.";
    LinkUnknownClaim = "link/unknown-claim", Warning,
        "A claim that is not among the objects given, in the namespace of the object that names it. The Pod stays Pending until somebody makes it.";
    LinkUnknownRequest = "link/unknown-request", Warning,
        "A container, or the allocation of a claim, names a request that the claim does not have. The container cannot be started.";
    LinkUnknownGroup = "link/unknown-group", Warning,
        "A Pod belongs to a PodGroup that is not among the objects given. The Pod waits for it.";
    LinkUnknownGroupClaim = "link/unknown-group-claim", Warning,
        "A Pod asks for a claim that its PodGroup does not have.";
    LinkUnknownWorkload = "link/unknown-workload", Warning,
        "A PodGroup comes from a Workload that is not among the objects given. The API server refuses such a PodGroup.";
    LinkUnknownGroupTemplate = "link/unknown-group-template", Warning,
        "A PodGroup comes from a template that its Workload does not have. The API server refuses such a PodGroup.";
    LinkNearGroupClaim = "link/near-group-claim", Warning,
        "A claim entry of a Pod almost equals one of its PodGroup. The group's claim is shared only if name and source are equal; otherwise the Pod gets its own.";
    LinkPoolDisagrees = "link/pool-disagrees", Warning,
        "Slices of one pool contradict each other: in their number, or because a device or counter set is published twice. Devices of such a pool are not given out, or requests for all devices are refused.";
    LinkPoolIncomplete = "link/pool-incomplete", Warning,
        "A pool of which not all slices are there.";
    LinkUnknownCounter = "link/unknown-counter", Warning,
        "A device draws from a counter that no slice of its pool has. The API server accepts that; the pool is invalid and none of its devices is given out.";
    LinkClaimSharedByMany = "link/claim-shared-by-many", Warning,
        "More Pods name one claim than can share it (256). The others stay Pending. A PodGroup takes one place whatever the number of its Pods.";
    LinkAdminLabel = "link/admin-label", Warning,
        "Admin access is allowed only in namespaces with the label `resource.kubernetes.io/admin-access: \"true\"`. The API server refuses the claim.";
    LinkNoNamespace = "link/no-namespace", Warning,
        "A ClusterResourceClaimTemplate of `apportion.dev`, or one of its targets, selects no namespace among the objects given, so that no copy is made. A selector skips system namespaces, whose names begin with `kube-`: only their names select them.";
    LinkCopyConflict = "link/copy-conflict", Warning,
        "Two templates in one namespace would have the same name: copies of two sources, or a copy and a user's template. The older source wins. A user's template stays, unless `conflictPolicy` allows its adoption.";
    CheckDeviceHeldTwice = "check/device-held-twice", Error,
        "Two claims have the same device, or the same share of one. Their Pods may disturb each other. Somebody wrote an allocation beside the scheduler, or two schedulers run.";
    CheckDeviceGone = "check/device-gone", Warning,
        "A claim has a device that no slice of the newest generation of its pool offers. The driver is gone, or it has published its pool without the device.";
    CheckCapacityOverdrawn = "check/capacity-overdrawn", Error,
        "The shares of a device take more of a capacity than the device has. The driver may have made the device smaller while it was in use.";
    CheckCounterOverdrawn = "check/counter-overdrawn", Error,
        "The allocated devices of a pool consume more of a counter than it has: they cannot all exist at once. The driver may have made its pool smaller while devices were in use.";
    CheckConsumerGone = "check/consumer-gone", Error,
        "A claim is reserved for a Pod or PodGroup that does not exist. Until the entry goes, the claim keeps its devices.";
    CheckConsumerEnded = "check/consumer-ended", Warning,
        "A claim is reserved for a Pod that has run to its end. The entry goes by itself when the claim controller gets to it.";
    CheckIdleDevices = "check/idle-devices", Warning,
        "A claim holds devices, but no Pod uses it or waits for it. No other claim can use the devices.";
    CheckOwnerGone = "check/owner-gone", Warning,
        "A claim was made for a Pod or PodGroup that does not exist any more. The garbage collector should have deleted it.";
    CheckClaimUnrecorded = "check/claim-unrecorded", Warning,
        "A claim was made for an entry of a Pod, and the Pod's status does not name it. The scheduler and the kubelet look at the status only.";
    CheckDuplicateClaim = "check/duplicate-claim", Error,
        "Two claims were made for one entry of one Pod or PodGroup. Only one of them is used.";
    CheckPodWithoutClaim = "check/pod-without-claim", Error,
        "A Pod has a node and may not use a claim that it needs: the claim is missing, has no devices, or is not reserved for the Pod.";
    CheckPodWithoutNode = "check/pod-without-node", Error,
        "A Pod is on a node that does not exist, so that nothing runs it. The garbage collector of Pods takes it away; until then its claims stay reserved.";
    CheckPodElsewhere = "check/pod-elsewhere", Error,
        "A Pod is on a node that has no access to the devices of its claim, so it cannot use them there.";
    CheckUnprotected = "check/unprotected", Warning,
        "A claim has devices and lacks the finalizer that keeps it from being deleted while they are in use.";
    CheckFinalizerStuck = "check/finalizer-stuck", Error,
        "An object is to be deleted and waits for a finalizer that nobody is going to remove.";
    CheckDevicesLost = "check/devices-lost", Error,
        "A claim lost devices, or a Pod its reservation of them, while that Pod was on its node and had not ended. Another Pod may be given the same devices.";
    CheckTemplateLost = "check/template-lost", Warning,
        "A user's claim template was deleted. It had the name of copies of a cluster-wide template. Users may delete it to make room for the copy; template-sync must not.";
    CheckUnsettled = "check/unsettled", Error,
        "The cluster counts as settled, but a controller that starts now would write something.";
    SecurityAdminNamespace = "security/admin-namespace", Warning,
        "The namespace allows admin access: whoever may create claims or Pods in it can use devices that are allocated to others.";
    SecurityNamespaceLabels = "security/namespace-labels", Warning,
        "A role may change the labels of namespaces. Admin access to devices hangs on such a label, so whoever has the role can grant it.";
    SecurityTaintsEverything = "security/taints-everything", Warning,
        "A DeviceTaintRule with an empty selector taints every device of every driver in the cluster. With effect `NoExecute` all Pods that use devices are evicted.";
    Internal = "internal/bug", Error,
        "Apportion contradicted itself. Please report it with the input.";
    InternalTrap = "internal/trap", Error,
        "The WebAssembly module stopped in the middle of a call. The call has no answer; the host made a new instance and filled it with the objects applied before. Please report it with the input.";
    LimitMemory = "limit/memory", Error,
        "The module needed more memory than the host allows it. Give it fewer or smaller objects, or a higher limit.";
    LimitTime = "limit/time", Error,
        "One call into the module took longer than the host allows it. The host made a new instance; the object that cost the time is left out or tried again later. Give it fewer or smaller objects.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::of(&text).ok_or_else(|| serde::de::Error::custom(format_args!("unknown code `{text}`")))
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

/// Longest list of names in a message.
const NAMES_SHOWN: usize = 6;

/// `1 device`, `3 devices`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Names in backticks, the first few where there are many.
pub(crate) fn list<'n>(mut names: impl Iterator<Item = &'n String>) -> String {
    let shown: Vec<String> = names.by_ref().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.count();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
