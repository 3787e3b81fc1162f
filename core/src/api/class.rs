//! DeviceClasses and DeviceTaintRules.

use serde_json::Value;

use super::claim::{DeviceClaimConfiguration, DeviceSelector};
use super::meta::ObjectMeta;
use super::read::api_struct;
use super::slice::DeviceTaint;

api_struct! {
    /// `resource.k8s.io/v1` DeviceClass.
    closed DeviceClass {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// Which devices belong, and their configuration.
        "spec" spec: DeviceClassSpec,
    }

    /// `DeviceClassSpec`.
    closed DeviceClassSpec {
        /// CEL expressions that a device must satisfy.
        "selectors" selectors: Vec<DeviceSelector>,
        /// Configuration for every device allocated through the class; `requests` is not used here.
        "config" config: Vec<DeviceClaimConfiguration>,
        /// Extended resource that the class serves (KEP-5004).
        "extendedResourceName" extended_resource_name: Option<String>,
    }

    /// DeviceTaintRule (KEP-5055).
    closed DeviceTaintRule {
        /// Metadata.
        "metadata" metadata: ObjectMeta,
        /// Which devices get which taint.
        "spec" spec: DeviceTaintRuleSpec,
        /// What the eviction controller reports.
        "status" status: Value,
    }

    /// `DeviceTaintRuleSpec`.
    closed DeviceTaintRuleSpec {
        /// Which devices; without a selector the rule taints nothing.
        "deviceSelector" device_selector: Option<DeviceTaintSelector>,
        /// The taint.
        "taint" taint: DeviceTaint,
    }

    /// `DeviceTaintSelector`: every field that is set must be equal.
    closed DeviceTaintSelector {
        /// Driver.
        "driver" driver: Option<String>,
        /// Pool, of any driver unless that is set.
        "pool" pool: Option<String>,
        /// Device, of any pool unless that is set.
        "device" device: Option<String>,
        /// Class whose selectors must match; in proposals and alpha versions only.
        "deviceClassName" device_class_name: Option<String>,
        /// CEL expressions; in proposals and alpha versions only.
        "selectors" selectors: Vec<DeviceSelector>,
    }
}
