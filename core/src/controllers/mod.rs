//! The controllers: one module each, a pure function of facts and a time that gives a [`Decision`](crate::decision::Decision).

pub mod claims;
pub mod jobs;
pub mod kubelet;
pub mod podgroup_protection;
pub mod pool_status;
pub mod taint_eviction;
pub mod template_sync;
pub(crate) mod workloads;
