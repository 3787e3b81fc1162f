//! What goes with an object that is deleted from outside.

use std::collections::BTreeSet;

use super::Simulation;
use crate::cluster::Key;
use crate::cluster::entries::key_of;
use crate::control_plane::server::Refused;
use crate::finding::ObjectRef;
use crate::gather::Gather;
use crate::profile::Mode;

impl Simulation {
    /// Deletes an object, with what other controllers than the garbage collector take away then. Not in `reference` mode: there, what
    /// happens at once is compared, and they wait.
    pub(super) fn delete_as_user(&mut self, object: &ObjectRef, grace_seconds: Option<i64>) -> Result<(), Refused> {
        let follows = self.controllers.profile.mode == Mode::Sound;
        match object.kind.as_str() {
            "Node" if follows => self.remove_node(&object.name),
            "Namespace" if follows => self.remove_namespace(object),
            _ => self.server.delete(object, "", grace_seconds, self.now),
        }
    }

    /// Deletes objects that there are, and lets everything that goes with them go before anything else happens. Pods end at once.
    pub(crate) fn delete_at_once(&mut self, objects: Vec<ObjectRef>) {
        let pods = self.server.cluster().pods().iter().filter(|(_, pod)| pod.metadata.is_deleting());
        let mut ended: BTreeSet<Key> = pods.map(|(key, _)| key.clone()).gather();
        for object in objects {
            // One that is not there any more went with another one.
            drop(self.delete_as_user(&object, Some(0)));
        }
        loop {
            while self.server.collect_garbage(self.now) {}
            let pods = self.server.cluster().pods().values().filter(|pod| pod.metadata.is_deleting());
            let going: Vec<Key> =
                pods.map(|pod| key_of(&pod.metadata)).filter(|key| ended.insert(key.clone())).collect();
            for (namespace, name) in &going {
                drop(self.server.delete(&ObjectRef::new("Pod", &**namespace, &**name), "", Some(0), self.now));
            }
            if going.is_empty() {
                return;
            }
        }
    }

    /// What the garbage collectors of owners and of Pods do when a Node is gone, without the time that they wait.
    pub(super) fn remove_node(&mut self, node: &str) -> Result<(), Refused> {
        let now = self.now;
        self.server.delete(&ObjectRef::new("Node", "", node), "", None, now)?;
        let cluster = self.server.cluster();
        let slices = cluster.slices().iter().filter(|(_, slice)| slice.spec.node_name.as_deref() == Some(node));
        let slices = slices.map(|(name, _)| ObjectRef::new("ResourceSlice", "", name));
        let pods = cluster.pods().iter().filter(|(_, pod)| pod.spec.node_name == node);
        let pods = pods.map(|((namespace, name), _)| ObjectRef::new("Pod", namespace, name));
        let lost: Vec<ObjectRef> = slices.chain(pods).collect();
        for object in lost {
            self.server.delete(&object, "", Some(0), now)?;
        }
        Ok(())
    }

    /// What the namespace controller does. The Namespace does not wait for what is in it.
    fn remove_namespace(&mut self, namespace: &ObjectRef) -> Result<(), Refused> {
        self.server.delete(namespace, "", None, self.now)?;
        for object in self.server.keys_in(&namespace.name) {
            self.server.delete(&object, "", None, self.now)?;
        }
        Ok(())
    }
}
