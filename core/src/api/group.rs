//! PodGroups: Pods that are scheduled together and may share claims (KEP-5832, KEP-5729).

use serde_json::Value;

use super::meta::ObjectMeta;
use super::pod::{PodResourceClaim, PodResourceClaimStatus};
use super::read::api_struct;

api_struct! {
    /// `scheduling.k8s.io` PodGroup. The versions spell a few fields differently; the accessors know all spellings.
    open PodGroup {
        /// API version as in the manifest: owner references repeat it.
        "apiVersion" api_version: String,
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// Desired state.
        "spec" spec: PodGroupSpec,
        /// Observed state.
        "status" status: PodGroupStatus,
    }

    /// `scheduling.k8s.io` Workload: what a workload controller wants to be scheduled together.
    open SchedulingWorkload {
        /// API version as in the manifest: owner references repeat it.
        "apiVersion" api_version: String,
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// Desired state, as the version spells it.
        "spec" spec: Value,
    }

    /// `PodGroupSpec`.
    open PodGroupSpec {
        /// How the Pods of the group are scheduled.
        "schedulingPolicy" scheduling_policy: Option<SchedulingPolicy>,
        /// The same in `v1alpha1`.
        "policy" policy: Option<SchedulingPolicy>,
        /// Claims that the Pods of the group may share.
        "resourceClaims" resource_claims: Vec<PodResourceClaim>,
    }

    /// `PodGroupSchedulingPolicy`: exactly one member is set in a valid policy.
    open SchedulingPolicy {
        /// Pods are scheduled one by one.
        "basic" basic: Option<Value>,
        /// All or nothing.
        "gang" gang: Option<GangPolicy>,
    }

    /// `GangSchedulingPolicy`.
    open GangPolicy {
        /// How many Pods must find a place together.
        "minCount" min_count: i64,
    }

    /// `PodGroupStatus`.
    open PodGroupStatus {
        /// Conditions, written by the scheduler.
        "conditions" conditions: Vec<Value>,
        /// Names of the claims made for the group.
        "resourceClaimStatuses" resource_claim_statuses: Vec<PodResourceClaimStatus>,
    }
}

impl PodGroup {
    /// How many Pods must find a place together; `None` for a group whose Pods are scheduled one by one.
    pub fn min_count(&self) -> Option<i64> {
        let policy = self.spec.scheduling_policy.as_ref().or(self.spec.policy.as_ref())?;
        policy.gang.as_ref().map(|gang| gang.min_count)
    }
}
