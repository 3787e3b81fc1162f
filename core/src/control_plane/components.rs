//! Programs of a cluster that can be restarted on their own, each with its own version and gates.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::near::nearest;
use crate::profile::{Features, Profile, Release};

/// A program of the cluster.
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
    /// The kubelets of all nodes.
    #[serde(rename = "kubelet")]
    Kubelets,
}

impl Component {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Server, Self::Controllers, Self::Scheduler, Self::Kubelets];

    /// The program's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "kube-apiserver",
            Self::Controllers => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kubelets => "kubelet",
        }
    }

    /// The component of a program's name.
    ///
    /// # Errors
    ///
    /// A sentence with the name that was probably meant, or all names.
    pub fn parse(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|component| component.name() == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            let way_out = match nearest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of {}", names.join(", ")),
            };
            format!("there is no component `{name}`: {way_out}")
        })
    }
}

/// What a component is to be: a version, and gates that differ from its defaults.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Build {
    /// `1.34` to `1.37`, also with a patch, `1.38`, which is a preview, or `all`; as the component began where it is left out.
    pub version: Option<String>,
    /// Gates by name.
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub feature_gates: BTreeMap<String, bool>,
}

impl Build {
    /// The profile of the component that began as `first`.
    ///
    /// # Errors
    ///
    /// A sentence about a version or gate that does not exist, or a gate that is locked.
    pub fn profile(&self, first: &Profile) -> Result<Profile, String> {
        let mut profile = first.clone();
        if let Some(text) = &self.version {
            let release = Release::parse(text)
                .ok_or_else(|| format!("there is no version `{text}`: one of {}", Release::KNOWN.join(", ")))?;
            let Profile { mode, placement, .. } = *first;
            profile = Profile { mode, placement, ..Profile::of(release) };
        }
        for (gate, enabled) in &self.feature_gates {
            set_gate(&mut profile, gate, *enabled)?;
        }
        Ok(profile)
    }
}

/// Switches one gate.
///
/// # Errors
///
/// A sentence with the gate that was probably meant, or that it is locked.
pub(super) fn set_gate(profile: &mut Profile, gate: &str, enabled: bool) -> Result<(), String> {
    if let Some(locked) = Features::locked(profile.version, gate, enabled) {
        return Err(locked);
    }
    if profile.features.set(gate, enabled) {
        return Ok(());
    }
    Err(match nearest(gate, Features::gates()) {
        Some(near) => format!("there is no feature gate `{gate}`: did you mean `{near}`?"),
        None => format!("there is no feature gate `{gate}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_do_not_exist_are_refused_with_the_one_that_was_meant() {
        assert_eq!(Component::parse("kubelet"), Ok(Component::Kubelets));
        assert!(Component::parse("kube-schedular").unwrap_err().ends_with("did you mean `kube-scheduler`?"));
        let gates = BTreeMap::from([("GenericWorkloads".to_owned(), false)]);
        let build = Build { version: Some("1.36".to_owned()), feature_gates: gates };
        let error = build.profile(&Profile::default()).unwrap_err();
        assert_eq!(error, "there is no feature gate `GenericWorkloads`: did you mean `GenericWorkload`?");
        let build = Build { version: Some("1.20".to_owned()), ..Build::default() };
        assert!(build.profile(&Profile::default()).unwrap_err().starts_with("there is no version `1.20`"));
        let feature_gates = BTreeMap::from([("DRAPartitionableDevices".to_owned(), false)]);
        let build = Build { version: Some("1.38".to_owned()), feature_gates };
        let locked =
            "cannot set feature gate `DRAPartitionableDevices` to false: it is locked to true in Kubernetes 1.38";
        assert_eq!(build.profile(&Profile::default()).unwrap_err(), locked);
    }
}
