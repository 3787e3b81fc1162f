//! Refusals with a text of their own: our words, and the reference's for comparison.

use super::Failure;
use super::plan::{Unit, label, reference};
use crate::api::claim::ResourceClaim;
use crate::cluster::node_selector::BadNodeSelector;
use crate::cluster::selectors::SelectorProblem;
use crate::finding::{Code, Finding, ObjectRef};

/// A failure on its way up. Boxed, because it is large and rare.
pub(super) type Fatal = Box<Failure>;

/// The most devices that one claim can get.
pub(super) const MOST_DEVICES: u64 = 32;

fn fatal(finding: Finding, reference: String) -> Fatal {
    Box::new(Failure { finding, reference })
}

fn of_claim(claim: &ResourceClaim, code: Code, path: impl std::fmt::Display, message: String) -> Finding {
    Finding::new(code, path, message).about(reference(claim))
}

/// A failure of one unit: our text, and the reference's behind `claim C, request R: `.
fn of_unit(claim: &ResourceClaim, unit: &Unit<'_>, code: Code, field: &str, ours: String, theirs: &str) -> Fatal {
    let path = format!("{}{field}", unit.path());
    fatal(of_claim(claim, code, path, ours), format!("claim {}, request {}: {theirs}", label(claim), unit.name))
}

pub(super) fn alternatives_disabled(claim: &ResourceClaim, position: usize, request: &str) -> Fatal {
    let path = format!("spec.devices.requests[{position}].firstAvailable");
    let message = format!("request `{request}` has alternatives, but the feature is off");
    let finding = of_claim(claim, Code::AllocFeatureOff, path, message)
        .with_hint("turn the feature gate `DRAPrioritizedList` on, or use `exactly`");
    let theirs = "has subrequests, but the DRAPrioritizedList feature is disabled";
    fatal(finding, format!("claim {}, request {request}: {theirs}", label(claim)))
}

pub(super) fn capacity_disabled(claim: &ResourceClaim, unit: &Unit<'_>) -> Fatal {
    let word = if unit.sub.is_some() { "subrequest" } else { "request" };
    let message = format!("{word} `{}` asks for capacity, but the feature is off", unit.full_name);
    let finding = of_claim(claim, Code::AllocFeatureOff, format!("{}.capacity", unit.path()), message)
        .with_hint("turn the feature gate `DRAConsumableCapacity` on");
    let theirs = "has capacity requests, but the DRAConsumableCapacity feature is disabled";
    fatal(finding, format!("claim {}, {word} {}: {theirs}", label(claim), unit.name))
}

pub(super) fn admin_disabled(claim: &ResourceClaim, unit: &Unit<'_>) -> Fatal {
    let message = format!("request `{}` sets `adminAccess`, but the feature is off", unit.full_name);
    let mut failure = of_unit(
        claim,
        unit,
        Code::AllocFeatureOff,
        ".adminAccess",
        message,
        "admin access is requested, but the feature is disabled",
    );
    failure.finding.hint = Some("turn the feature gate `DRAAdminAccess` on".to_owned());
    failure
}

pub(super) fn empty_selector(claim: &ResourceClaim, unit: &Unit<'_>, index: usize) -> Fatal {
    let message = format!("selector {index} of request `{}` has no CEL expression", unit.full_name);
    let finding = of_claim(claim, Code::AllocEmptySelector, format!("{}.selectors[{index}]", unit.path()), message);
    let theirs = "CEL expression empty (unsupported selector type?)";
    fatal(finding, format!("claim {}, request {}, selector #{index}: {theirs}", label(claim), unit.name))
}

pub(super) fn no_class_name(claim: &ResourceClaim, unit: &Unit<'_>) -> Fatal {
    let message = format!("request `{}` names no device class", unit.full_name);
    let theirs = "missing device class name (unsupported request type?)";
    of_unit(claim, unit, Code::AllocNoClassName, ".deviceClassName", message, theirs)
}

pub(super) fn unknown_class(claim: &ResourceClaim, unit: &Unit<'_>) -> Fatal {
    let message =
        format!("request `{}` names device class `{}`, which does not exist", unit.full_name, unit.class_name);
    let theirs =
        format!("could not retrieve device class {0}: deviceclass.resource.k8s.io \"{0}\" not found", unit.class_name);
    of_unit(claim, unit, Code::AllocUnknownClass, ".deviceClassName", message, &theirs)
}

pub(super) fn unknown_mode(claim: &ResourceClaim, unit: &Unit<'_>) -> Fatal {
    let mode = unit.mode.text();
    let message = format!("request `{}` has the unknown allocation mode `{mode}`", unit.full_name);
    let theirs = format!("unsupported count mode {mode}");
    let mut failure = of_unit(claim, unit, Code::AllocUnknownMode, ".allocationMode", message, &theirs);
    failure.finding.hint = Some("one of ExactCount, All".to_owned());
    failure
}

pub(super) fn no_count(claim: &ResourceClaim, unit: &Unit<'_>) -> Fatal {
    let message = format!("request `{}` asks for fewer than one device", unit.full_name);
    of_unit(claim, unit, Code::ValidateInvalid, ".count", message, "count must be greater than zero")
}

pub(super) fn all_of_incomplete_pool(claim: &ResourceClaim, unit: &Unit<'_>, driver: &str, pool: &str) -> Fatal {
    let message =
        format!("request `{}` asks for all devices, but pool `{pool}` of `{driver}` is being updated", unit.full_name);
    let theirs = format!("asks for all devices, but resource pool {driver}/{pool} is currently being updated");
    of_unit(claim, unit, Code::AllocIncompletePool, ".allocationMode", message, &theirs)
}

pub(super) fn all_of_invalid_pool(
    claim: &ResourceClaim,
    unit: &Unit<'_>,
    driver: &str,
    pool: &str,
    reason: &str,
) -> Fatal {
    let message = format!(
        "request `{}` asks for all devices, but pool `{pool}` of `{driver}` is invalid: {reason}",
        unit.full_name
    );
    let theirs = format!("asks for all devices, but resource pool {driver}/{pool} is currently invalid");
    of_unit(claim, unit, Code::AllocInvalidPool, ".allocationMode", message, &theirs)
}

pub(super) fn too_many_devices(claim: &ResourceClaim, needed: u128) -> Fatal {
    let message = format!("the requests need {needed} devices, a claim can have {MOST_DEVICES}");
    let finding = of_claim(claim, Code::AllocTooManyDevices, "spec.devices.requests", message)
        .with_hint("split the claim into several");
    let theirs = format!("number of requested devices {needed} exceeds the claim limit of {MOST_DEVICES}");
    fatal(finding, format!("claim {}: {theirs}", label(claim)))
}

/// The same as the reference notices it in newer patches: at the request that exceeds the limit.
pub(super) fn too_many_devices_from(
    claim: &ResourceClaim,
    position: usize,
    request: &str,
    adds: u64,
    has: u128,
) -> Fatal {
    let before = if has == 0 { String::new() } else { format!(", the requests before it for {has}") };
    let message =
        format!("request `{request}` asks for {adds} devices{before}; a claim can have at most {MOST_DEVICES}");
    let path = format!("spec.devices.requests[{position}]");
    let finding = of_claim(claim, Code::AllocTooManyDevices, path, message).with_hint("split the claim into several");
    let theirs =
        format!("adding {adds} devices exceeds the claim limit of {MOST_DEVICES}, with {has} already accounted for");
    fatal(finding, format!("claim {}, request {request}: {theirs}", label(claim)))
}

pub(super) fn empty_constraint(claim: &ResourceClaim, index: usize) -> Fatal {
    let message = format!("constraint {index} has neither `matchAttribute` nor `distinctAttribute`");
    let finding = of_claim(claim, Code::AllocEmptyConstraint, format!("spec.devices.constraints[{index}]"), message);
    let theirs = "empty constraint (unsupported constraint type?)";
    fatal(finding, format!("claim {}, constraint #{index}: {theirs}", label(claim)))
}

pub(super) fn all_breaks_constraint(claim: &ResourceClaim, unit: &Unit<'_>, device: &str) -> Fatal {
    let message =
        format!("request `{}` asks for all devices, but a constraint of the claim excludes `{device}`", unit.full_name);
    let theirs = format!("cannot add device {device} because a claim constraint would not be satisfied");
    of_unit(claim, unit, Code::AllocAllBreaksConstraint, ".allocationMode", message, &theirs)
}

/// What a request asks of a device's capacities cannot be computed (from 1.37 on).
pub(super) fn capacity(claim: &ResourceClaim, unit: &Unit<'_>, device: &str, why: &str) -> Fatal {
    let message =
        format!("what `{}` asks of the capacities of device `{device}` cannot be computed: {why}", unit.full_name);
    let theirs = format!("checking capacity for device {device}: {why}");
    of_unit(claim, unit, Code::AllocCapacity, ".capacity", message, &theirs)
}

/// An attribute that a request computes of devices could not be computed.
pub(super) fn derived_attribute(
    claim: &ResourceClaim,
    unit: &Unit<'_>,
    device: &str,
    attribute: &str,
    problem: &SelectorProblem,
) -> Fatal {
    let index = unit.derived.iter().position(|derived| derived.name == attribute).unwrap_or_default();
    let path = format!("{}.derivedAttributes[{index}].expression", unit.path());
    let (code, message, theirs) = match problem {
        SelectorProblem::Compile(text) => (
            Code::AllocSelectorCompile,
            format!("the expression of derived attribute `{attribute}` does not compile: {text}"),
            format!("compile derived attribute {attribute} failed: {text}"),
        ),
        SelectorProblem::Runtime(text) => (
            Code::AllocSelectorRuntime,
            format!("the expression of derived attribute `{attribute}` fails on device `{device}`: {text}"),
            format!("evaluate derived attribute {attribute} on device {device} failed: {text}"),
        ),
    };
    fatal(of_claim(claim, code, path, message), theirs)
}

pub(super) fn derived_disabled(claim: &ResourceClaim, unit: &Unit<'_>) -> Fatal {
    let message = format!("request `{}` computes attributes, but the feature is off", unit.full_name);
    let theirs = "cannot handle request with derived attributes, the feature is disabled";
    let mut failure = of_unit(claim, unit, Code::AllocFeatureOff, ".derivedAttributes", message, theirs);
    failure.finding.hint = Some("turn the feature gate `DRADerivedAttributes` on".to_owned());
    failure
}

/// A node selector of a slice, or of a device in it, that cannot be read.
pub(super) fn bad_node_selector(slice: &str, device: Option<&str>, error: &BadNodeSelector) -> Fatal {
    let of_device = device.map(|device| format!(" of device `{device}`")).unwrap_or_default();
    let message = format!("the node selector{of_device} is malformed: {error}");
    let finding = Finding::new(Code::AllocBadNodeSelector, "spec", message).about(slice_reference(slice));
    let theirs = match device {
        None => format!(
            "gather pool information: failed to perform node selection for slice {slice}: failed to parse node selector"
        ),
        Some(_) => "gather pool information: failed to perform node selection for device".to_owned(),
    };
    fatal(finding, theirs)
}

/// The same, noticed while a device was tried.
pub(super) fn bad_device_selector(slice: &str, device: &str, error: &str) -> Fatal {
    let message = format!("the node selector of device `{device}` is malformed: {error}");
    let finding = Finding::new(Code::AllocBadNodeSelector, "spec.devices", message).about(slice_reference(slice));
    fatal(finding, "failed to parse node selector".to_owned())
}

pub(super) fn node_selector_terms(claim: &ResourceClaim, slice: &str, terms: usize) -> Fatal {
    let message = format!("the node selector has {terms} terms, an allocation can carry one");
    let finding =
        Finding::new(Code::AllocNodeSelectorTerms, "spec.nodeSelector", message).about(slice_reference(slice));
    let theirs = format!("unsupported ResourceSlice.NodeSelector with {terms} terms");
    fatal(finding, format!("create NodeSelector for claim {}: {theirs}", claim.metadata.name))
}

fn slice_reference(slice: &str) -> ObjectRef {
    ObjectRef { kind: "ResourceSlice".to_owned(), namespace: String::new(), name: slice.to_owned() }
}

/// The claims do not fit, and some pool of the node cannot be used because its driver published it wrongly.
pub(super) fn invalid_pools(pools: &[String]) -> Failure {
    let finding = Finding::new(
        Code::AllocInvalidPool,
        "",
        format!("no fit, and the node has invalid pools: {}", pools.join("; ")),
    )
    .with_hint("the driver has to publish the pool again without the contradiction");
    Failure { finding, reference: "invalid resource pools were encountered".to_owned() }
}
