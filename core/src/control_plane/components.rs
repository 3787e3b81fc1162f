//! Programs of a control plane that can be restarted on their own.

use serde::{Deserialize, Serialize};

/// A program of the control plane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub enum Component {
    /// kube-apiserver.
    #[serde(rename = "kube-apiserver")]
    Server,
    /// kube-controller-manager: claims, PodGroup protection, device taint eviction, pool status, Jobs, garbage collection.
    #[serde(rename = "kube-controller-manager")]
    Controllers,
    /// kube-scheduler.
    #[serde(rename = "kube-scheduler")]
    Scheduler,
}

impl Component {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Server, Self::Controllers, Self::Scheduler];

    /// The component of a program's name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "kube-apiserver" => Some(Self::Server),
            "kube-controller-manager" => Some(Self::Controllers),
            "kube-scheduler" => Some(Self::Scheduler),
            _ => None,
        }
    }
}
