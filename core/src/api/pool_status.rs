//! ResourcePoolStatusRequests: a question about pools, answered once in its status (KEP-5677).

use serde_json::Value;

use super::meta::ObjectMeta;
use super::read::api_struct;

/// API version of [`ResourcePoolStatusRequest`].
pub const POOL_STATUS_API_VERSION: &str = "resource.k8s.io/v1alpha3";

api_struct! {
    /// `resource.k8s.io/v1alpha3` ResourcePoolStatusRequest.
    closed ResourcePoolStatusRequest {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// Which pools.
        "spec" spec: ResourcePoolStatusRequestSpec,
        /// The answer, once there is one.
        "status" status: Value,
    }

    /// `ResourcePoolStatusRequestSpec`.
    closed ResourcePoolStatusRequestSpec {
        /// Driver of the pools.
        "driver" driver: String,
        /// One pool of it; all where left out.
        "poolName" pool_name: Option<String>,
        /// Most pools to be listed.
        "limit" limit: Option<i64>,
        /// Attribute that groups partitions where no slice of the pool names one; since 1.37.
        "defaultPartitionTypeAttribute" default_partition_type_attribute: Option<String>,
    }
}
