//! Programs of a control plane that can be restarted on their own.

/// A program of the control plane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Component {
    /// kube-apiserver.
    Server,
    /// kube-controller-manager: claims, PodGroup protection, device taint eviction, garbage collection.
    Controllers,
    /// kube-scheduler.
    Scheduler,
}

impl Component {
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
