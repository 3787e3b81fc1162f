//! What users and accidents do to a simulated cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::components::set_gate;
use super::{Build, Component, Simulation};
use crate::api::node::UNSCHEDULABLE;
use crate::api::object::Object;
use crate::api::pod::Pod;
use crate::control_plane::server::Refused;
use crate::decision::Patch;
use crate::finding::ObjectRef;
use crate::validate::{MIRROR, without_effect};

/// One thing that is done from outside.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Command {
    /// An object is created.
    Create(#[cfg_attr(feature = "types", ts(type = "unknown"))] Value),
    /// An object is replaced, apart from its status.
    Update(#[cfg_attr(feature = "types", ts(type = "unknown"))] Value),
    /// An object is created or changed as `kubectl apply` does it: fields that were applied last and are left out now go.
    Apply(#[cfg_attr(feature = "types", ts(type = "unknown"))] Value),
    /// An object's status is replaced.
    UpdateStatus(#[cfg_attr(feature = "types", ts(type = "unknown"))] Value),
    /// Fields are merged into an object: lists are replaced, `null` removes.
    #[serde(rename_all = "camelCase")]
    Patch {
        /// The object.
        object: ObjectRef,
        /// The fields.
        #[cfg_attr(feature = "types", ts(type = "unknown"))]
        fields: Value,
        /// Whether the status subresource is meant.
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
        status: bool,
    },
    /// An object is deleted, with a Node what was on it, with a Namespace what is in it.
    #[serde(rename_all = "camelCase")]
    Delete {
        /// The object.
        object: ObjectRef,
        /// Seconds that a Pod gets to end; its own where they are left out.
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        grace_seconds: Option<i64>,
    },
    /// A Pod that has a node ends by itself.
    Finish {
        /// The Pod.
        pod: ObjectRef,
        /// Whether it succeeds.
        succeeded: bool,
    },
    /// A driver taints a device in its slice.
    Taint {
        /// The device.
        device: DevicePath,
        /// The taint: `key`, `effect`, `value`.
        #[cfg_attr(feature = "types", ts(type = "{ key: string; effect: string; value?: string }"))]
        taint: Map<String, Value>,
    },
    /// A driver takes the taints of a key off a device.
    Untaint {
        /// The device.
        device: DevicePath,
        /// The key.
        key: String,
    },
    /// A node is lost: its object, its slices and the Pods on it are removed.
    RemoveNode(String),
    /// A node takes no new Pods, and those on it are deleted, apart from those of DaemonSets and of its kubelet.
    Drain(String),
    /// Components are started anew with a version and some gates as told, and as they began otherwise.
    #[serde(rename_all = "camelCase")]
    Restart {
        /// The component; all of them where it is left out.
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        component: Option<Component>,
        /// The node, where one kubelet alone is meant.
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        node: Option<String>,
        /// The version; the one that the component began as where it is left out.
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        version: Option<String>,
        /// The gates.
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
        feature_gates: BTreeMap<String, bool>,
    },
    /// Components are started anew with one gate changed from what it is.
    Toggle {
        /// The component; all of them where it is left out.
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        component: Option<Component>,
        /// The gate.
        gate: String,
        /// Whether it is on from now on.
        enabled: bool,
    },
    /// A component does nothing until it is restarted.
    Stop(Component),
    /// The component that writes next loses its write after so many, and what was to follow.
    LoseWriteAfter(u64),
    /// After so many writes somebody else changes the next one's object first.
    DisturbWriteAfter(u64),
    /// The controllers see nothing but their own writes until they catch up.
    Lag(bool),
}

/// Identity of a device.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct DevicePath {
    /// Driver; any where it is empty.
    #[serde(default)]
    #[cfg_attr(feature = "types", ts(optional, as = "Option<_>"))]
    pub driver: String,
    /// Pool of the driver.
    pub pool: String,
    /// Device of the pool.
    pub device: String,
}

impl Simulation {
    /// Does one thing from outside. What it leads to happens when time is let pass.
    ///
    /// # Errors
    ///
    /// [`Refused`] when the API server does not carry it out, or something that is named does not exist.
    pub fn perform(&mut self, command: Command) -> Result<(), Refused> {
        let now = self.now;
        match command {
            Command::Create(object) => self.server.submit(object, now).map(|_| ()),
            Command::Update(object) => self.server.submit_update(object, false, now),
            Command::Apply(object) => self.server.submit_applied(object, now),
            Command::UpdateStatus(object) => self.server.submit_update(object, true, now),
            Command::Patch { object, fields, status } => {
                self.server.submit_fields(&object, &fields, status, now)?;
                self.uncordon(&object)
            }
            Command::Delete { object, grace_seconds } => self.delete_as_user(&object, grace_seconds),
            Command::Finish { pod, succeeded } => {
                let phase = if succeeded { "Succeeded" } else { "Failed" };
                self.merge(pod, json!({ "status": { "phase": phase } }), true)
            }
            Command::Taint { device, taint } => match without_effect(self.server.cluster().profile()) {
                Some(finding) => Err(bad(finding.message)),
                None => self.change_taints(&device, |taints| taints.push(Value::Object(taint))),
            },
            Command::Untaint { device, key } => self.change_taints(&device, |taints| {
                taints.retain(|taint| taint.get("key").and_then(Value::as_str) != Some(key.as_str()));
            }),
            Command::RemoveNode(node) => self.remove_node(&node),
            Command::Drain(node) => self.drain(&node),
            Command::Restart { component, node, version, feature_gates } => {
                let build = Build { version, feature_gates };
                if let Some(node) = node {
                    let first = self.first(Component::Kubelets).unwrap_or(&self.kubelet);
                    let profile = build.profile(first).map_err(bad)?;
                    self.restart_node(&node, profile);
                    return Ok(());
                }
                for component in Component::ALL.into_iter().filter(|own| component.is_none_or(|only| only == *own)) {
                    let first = self.first(component).unwrap_or_else(|| self.profile(component));
                    let profile = build.profile(first).map_err(bad)?;
                    self.restart(component, profile);
                }
                Ok(())
            }
            Command::Toggle { component, gate, enabled } => {
                for component in Component::ALL.into_iter().filter(|own| component.is_none_or(|only| only == *own)) {
                    let mut profile = self.profile(component).clone();
                    set_gate(&mut profile, &gate, enabled).map_err(bad)?;
                    self.restart(component, profile);
                }
                Ok(())
            }
            Command::Stop(component) => {
                self.stop(component);
                Ok(())
            }
            Command::LoseWriteAfter(writes) => {
                self.lose_write_after(writes);
                Ok(())
            }
            Command::DisturbWriteAfter(writes) => {
                self.disturb_write_after(writes);
                Ok(())
            }
            Command::Lag(lags) => {
                if lags {
                    self.lag();
                } else {
                    self.catch_up();
                }
                Ok(())
            }
        }
    }

    fn merge(&mut self, object: ObjectRef, fields: Value, status: bool) -> Result<(), Refused> {
        self.server.patch(&Patch::merge(object, status, fields), self.now)
    }

    fn change_taints(&mut self, device: &DevicePath, change: impl FnOnce(&mut Vec<Value>)) -> Result<(), Refused> {
        let text =
            |value: &Value, path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_it = |slice: &Value| {
            let driver = text(slice, "/spec/driver");
            let devices = slice.pointer("/spec/devices").and_then(Value::as_array);
            (device.driver.is_empty() || device.driver == driver)
                && device.pool == text(slice, "/spec/pool/name")
                && devices.into_iter().flatten().any(|known| text(known, "/name") == device.device)
        };
        let found = self.server.list("ResourceSlice").find(is_it);
        let Some(mut slice) = found else {
            let message = format!("no slice has a device {} in pool {}", device.device, device.pool);
            return Err(Refused { status: 404, reason: "NotFound", message });
        };
        let devices = slice.pointer_mut("/spec/devices").and_then(Value::as_array_mut);
        let it = devices.into_iter().flatten().find(|known| text(known, "/name") == device.device);
        if let Some(fields) = it.and_then(Value::as_object_mut) {
            let taints = fields.entry("taints").or_insert_with(|| json!([]));
            if !taints.is_array() {
                *taints = json!([]);
            }
            if let Some(list) = taints.as_array_mut() {
                change(list);
            }
        }
        self.server.submit_update(slice, false, self.now)
    }

    /// What kube-controller-manager does once a node takes new Pods again: the taint goes.
    fn uncordon(&mut self, object: &ObjectRef) -> Result<(), Refused> {
        let Some(Object::Node(mut node)) = self.server.cluster().get(object) else { return Ok(()) };
        if node.spec.unschedulable || node.spec.taints.iter().all(|taint| taint.key != UNSCHEDULABLE) {
            return Ok(());
        }
        Arc::make_mut(&mut node).spec.uncordon();
        self.server.submit_update(Object::Node(node).write(), false, self.now)
    }

    /// What `kubectl drain --ignore-daemonsets --force` does.
    fn drain(&mut self, node: &str) -> Result<(), Refused> {
        let fields = json!({ "spec": { "unschedulable": true } });
        self.server.submit_fields(&ObjectRef::new("Node", "", node), &fields, false, self.now)?;
        let stays = |pod: &Pod| {
            let is_mirror = pod.metadata.annotations.contains_key(MIRROR);
            is_mirror || pod.metadata.controller().is_some_and(|owner| owner.kind == "DaemonSet")
        };
        let pods = self.server.cluster().pods().values();
        let on_it = pods.filter(|pod| pod.spec.node_name == node && !stays(pod));
        let leaving: Vec<ObjectRef> = on_it.map(|pod| pod.metadata.reference("Pod")).collect();
        for pod in leaving {
            self.server.delete(&pod, "", None, self.now)?;
        }
        Ok(())
    }
}

fn bad(message: String) -> Refused {
    Refused { status: 400, reason: "BadRequest", message }
}
