//! A question's claims, laid out as the search walks through them.

use std::borrow::Cow;
use std::ops::Range;

use crate::api::claim::{
    AllocationMode, CapacityRequirements, DeviceDerivedAttribute, DeviceRequest, DeviceSelector, DeviceSubRequest,
    DeviceToleration, ExactDeviceRequest, ResourceClaim,
};
use crate::api::class::DeviceClass;
use crate::cluster::Cluster;
use crate::finding::ObjectRef;
use crate::profile::Version;

/// Claims, requests and units, each in one list; the lists are in the order of the search.
pub(super) struct Plan<'q> {
    pub(super) claims: Vec<ClaimPlan<'q>>,
    pub(super) requests: Vec<RequestPlan<'q>>,
    pub(super) units: Vec<Unit<'q>>,
    /// How many different pairs of class and selectors the units have.
    pub(super) selections: usize,
    /// How many different classes they name.
    pub(super) classes: usize,
}

/// One claim.
pub(super) struct ClaimPlan<'q> {
    pub(super) claim: &'q ResourceClaim,
    /// Positions of its requests.
    pub(super) requests: Range<usize>,
}

/// One request: a single unit, or alternatives of which one is chosen.
pub(super) struct RequestPlan<'q> {
    pub(super) request: &'q DeviceRequest,
    /// Positions of its units.
    pub(super) units: Range<usize>,
    pub(super) has_alternatives: bool,
}

/// What devices are picked for: an exact request or one subrequest.
pub(super) struct Unit<'q> {
    /// Its own position.
    pub(super) index: usize,
    /// Position of its claim.
    pub(super) claim: usize,
    /// Position of its request among all requests of the question.
    pub(super) request: usize,
    /// Position of its request in the claim.
    pub(super) request_in_claim: usize,
    /// Position of the subrequest in its request.
    pub(super) sub: Option<usize>,
    /// Bare name of the request or subrequest.
    pub(super) name: &'q str,
    /// `request` or `request/subrequest`.
    pub(super) full_name: Cow<'q, str>,
    pub(super) class_name: &'q str,
    pub(super) class: Option<&'q DeviceClass>,
    /// Which class this is; equal names have equal numbers.
    pub(super) class_number: usize,
    pub(super) selectors: &'q [DeviceSelector],
    /// Which pair of class and selectors this is; equal pairs have equal numbers.
    pub(super) selection: usize,
    pub(super) mode: &'q AllocationMode,
    /// Devices needed in mode `ExactCount`.
    pub(super) count: u64,
    pub(super) admin: Option<bool>,
    pub(super) tolerations: &'q [DeviceToleration],
    pub(super) capacity: Option<&'q CapacityRequirements>,
    /// Attributes computed for constraints; none before 1.37.
    pub(super) derived: &'q [DeviceDerivedAttribute],
}

impl Unit<'_> {
    /// Whether devices in use may be taken.
    pub(super) fn has_admin_access(&self) -> bool {
        self.admin == Some(true)
    }

    /// Whether it is an alternative after the first.
    pub(super) fn is_later(&self) -> bool {
        self.sub.is_some_and(|sub| sub > 0)
    }

    /// Where the unit stands in its claim.
    pub(super) fn path(&self) -> String {
        match self.sub {
            None => format!("spec.devices.requests[{}].exactly", self.request_in_claim),
            Some(sub) => format!("spec.devices.requests[{}].firstAvailable[{sub}]", self.request_in_claim),
        }
    }
}

/// The fields that exact requests and subrequests have in common.
struct Fields<'q> {
    name: &'q str,
    class_name: &'q str,
    selectors: &'q [DeviceSelector],
    mode: &'q AllocationMode,
    count: i64,
    admin: Option<bool>,
    tolerations: &'q [DeviceToleration],
    capacity: Option<&'q CapacityRequirements>,
    derived: &'q [DeviceDerivedAttribute],
}

/// Stands for what a request with neither form asks for: a class without a name.
static NOTHING: std::sync::LazyLock<ExactDeviceRequest> = std::sync::LazyLock::new(ExactDeviceRequest::default);

impl<'q> Fields<'q> {
    fn of_exact(name: &'q str, exact: &'q ExactDeviceRequest) -> Self {
        Self {
            name,
            class_name: &exact.device_class_name,
            selectors: &exact.selectors,
            mode: &exact.allocation_mode,
            count: exact.count,
            admin: exact.admin_access,
            tolerations: &exact.tolerations,
            capacity: exact.capacity.as_ref(),
            derived: &exact.derived_attributes,
        }
    }

    fn of_subrequest(sub: &'q DeviceSubRequest) -> Self {
        Self {
            name: &sub.name,
            class_name: &sub.device_class_name,
            selectors: &sub.selectors,
            mode: &sub.allocation_mode,
            count: sub.count,
            admin: None,
            tolerations: &sub.tolerations,
            capacity: sub.capacity.as_ref(),
            derived: &sub.derived_attributes,
        }
    }
}

impl<'q> Plan<'q> {
    /// Lays out claims; classes are looked up, not checked.
    pub(super) fn new(claims: &[&'q ResourceClaim], cluster: &'q Cluster) -> Self {
        let mut plan = Self { claims: Vec::new(), requests: Vec::new(), units: Vec::new(), selections: 0, classes: 0 };
        for &claim in claims {
            let first = plan.requests.len();
            for (request_in_claim, request) in claim.spec.devices.requests.iter().enumerate() {
                plan.add_request(request_in_claim, request, cluster);
            }
            plan.claims.push(ClaimPlan { claim, requests: first..plan.requests.len() });
        }
        plan
    }

    fn add_request(&mut self, request_in_claim: usize, request: &'q DeviceRequest, cluster: &'q Cluster) {
        let first = self.units.len();
        let has_alternatives = !request.first_available.is_empty();
        if has_alternatives {
            for (sub, subrequest) in request.first_available.iter().enumerate() {
                let full_name = format!("{}/{}", request.name, subrequest.name);
                let fields = Fields::of_subrequest(subrequest);
                self.add_unit(request_in_claim, Some(sub), full_name.into(), &fields, cluster);
            }
        } else {
            let exact = request.exactly.as_ref().unwrap_or_else(|| &*NOTHING);
            let fields = Fields::of_exact(&request.name, exact);
            self.add_unit(request_in_claim, None, request.name.as_str().into(), &fields, cluster);
        }
        self.requests.push(RequestPlan { request, units: first..self.units.len(), has_alternatives });
    }

    fn add_unit(
        &mut self,
        request_in_claim: usize,
        sub: Option<usize>,
        full_name: Cow<'q, str>,
        fields: &Fields<'q>,
        cluster: &'q Cluster,
    ) {
        let is_same = |unit: &&Unit<'_>| unit.class_name == fields.class_name && unit.selectors == fields.selectors;
        let selection = match self.units.iter().find(is_same) {
            Some(unit) => unit.selection,
            None => {
                self.selections += 1;
                self.selections - 1
            }
        };
        let class_number = match self.units.iter().find(|unit| unit.class_name == fields.class_name) {
            Some(unit) => unit.class_number,
            None => {
                self.classes += 1;
                self.classes - 1
            }
        };
        self.units.push(Unit {
            index: self.units.len(),
            claim: self.claims.len(),
            request: self.requests.len(),
            request_in_claim,
            sub,
            name: fields.name,
            full_name,
            class_name: fields.class_name,
            class: cluster.classes().get(fields.class_name),
            class_number,
            selectors: fields.selectors,
            selection,
            mode: fields.mode,
            // The API server sets a missing count to 1.
            count: if fields.count == 0 { 1 } else { u64::try_from(fields.count).unwrap_or(0) },
            admin: fields.admin,
            tolerations: fields.tolerations,
            capacity: fields.capacity,
            derived: if cluster.profile().version >= Version::V1_37 { fields.derived } else { &[] },
        });
    }

    /// The units of a request.
    pub(super) fn units_of(&self, request: &RequestPlan<'q>) -> &[Unit<'q>] {
        self.units.get(request.units.clone()).unwrap_or_default()
    }

    /// The requests of a claim.
    pub(super) fn requests_of(&self, claim: &ClaimPlan<'q>) -> &[RequestPlan<'q>] {
        self.requests.get(claim.requests.clone()).unwrap_or_default()
    }
}

/// A claim as the reference prints it: `namespace/name`, or `name` without a namespace.
pub(super) fn label(claim: &ResourceClaim) -> String {
    let metadata = &claim.metadata;
    if metadata.namespace.is_empty() {
        metadata.name.clone()
    } else {
        format!("{}/{}", metadata.namespace, metadata.name)
    }
}

/// A claim as findings name it.
pub(super) fn reference(claim: &ResourceClaim) -> ObjectRef {
    claim.metadata.reference("ResourceClaim")
}
