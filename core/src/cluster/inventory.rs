//! Slices by pool and by node, and what is taken of their devices.
//!
//! A device is known by driver, pool and name: as long as a slice publishes it or a claim holds it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::node_selector::{labels, labels_for};
use super::shared_map::SharedMap;
use super::slots::{DeviceIdx, PoolIdx, SliceIdx, Slots};
use super::usage::Usage;
use crate::api::claim::{DeviceRequestAllocationResult, GrantedDevice, ResourceClaim};
use crate::api::node::Node;
use crate::api::slice::ResourceSlice;
use crate::arrange::Arrange;
use crate::cel::are_usable;

/// The indexes over slices and devices in use. A changed slice costs what that slice costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inventory {
    slices: Slots<SliceIdx, SliceEntry>,
    pools: Slots<PoolIdx, PoolEntry>,
    devices: Slots<DeviceIdx, DeviceEntry>,
    names: Names,
    /// How many slices with that node name have a device that is not taken as a whole. Never zero.
    open_by_node: SharedMap<String, u32>,
    /// Number of changes so far: no two changes have the same.
    clock: u64,
    /// The latest changes that may help claims which did not fit.
    reliefs: SharedMap<u64, Relief>,
    /// How many of them there were so far.
    relieved: u64,
}

/// A change that may help a claim which did not fit. Taking devices never does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Relief {
    /// Devices of a pool were given back, or one of its slices came: for nodes that its slices are for.
    Pool(PoolIdx),
    /// What the slices of a node offer changed.
    Node(String),
    /// What devices offer to all nodes changed.
    Everywhere,
    /// What counts as fitting changed: classes, taint rules, the Kubernetes.
    Rules,
}

/// Most reliefs that are kept for those who listen.
const MOST_RELIEFS: u64 = 4096;

/// Slices and pools by what they are called.
#[derive(Clone, Debug, Default)]
struct Names {
    slices_by_name: SharedMap<String, SliceIdx>,
    pools_by_driver: SharedMap<String, SharedMap<String, PoolIdx>>,
    /// Slices with a node name, by that and their own name.
    slices_by_node: ByKey,
    /// Slices without a node name.
    slices_without_node: SharedMap<String, SliceIdx>,
    /// Those of them that may be for any node.
    slices_for_any: SharedMap<String, SliceIdx>,
    /// The others, by each label of which a node must have one.
    slices_by_label: ByKey,
    /// Slices with counter sets, with or without a node name.
    slices_with_counters: SharedMap<String, SliceIdx>,
}

/// Where the device of one result is.
#[derive(Debug)]
pub(crate) struct Latest {
    granted: Arc<GrantedDevice>,
    place: (PoolIdx, DeviceIdx),
}

/// A published slice.
#[derive(Clone, Debug)]
pub(crate) struct SliceEntry {
    /// Its own position.
    pub(crate) index: SliceIdx,
    /// The object.
    pub(crate) slice: Arc<ResourceSlice>,
    /// Its pool.
    pub(crate) pool: PoolIdx,
    /// Its devices, in its order.
    pub(crate) devices: Arc<[DeviceIdx]>,
    /// Positions of devices with an attribute that selectors cannot use; mostly none.
    pub(crate) unusable: Vec<usize>,
    /// How many of them are not taken as a whole.
    free: usize,
}

/// A pool: driver and name.
#[derive(Clone, Debug)]
pub(crate) struct PoolEntry {
    /// Driver.
    pub(crate) driver: Arc<str>,
    /// Name, unique for the driver.
    pub(crate) name: Arc<str>,
    /// Slices of all generations and nodes, by name.
    pub(crate) slices: SharedMap<String, SliceIdx>,
    devices_by_name: SharedMap<String, DeviceIdx>,
    /// The latest change of its slices.
    pub(crate) published: u64,
    /// The latest change of what is taken of its devices.
    pub(crate) taken: u64,
}

#[derive(Clone, Debug)]
struct DeviceEntry {
    usage: Usage,
    /// The slices that publish it; several while a pool is updated or where a driver errs.
    slices: SmallVec<[SliceIdx; 2]>,
}

impl Inventory {
    /// Slices with this node name, by their own name.
    pub(crate) fn slices_of_node(&self, node: &str) -> impl Iterator<Item = &SliceEntry> {
        self.names.slices_by_node.get(node).into_iter().flat_map(|slices| self.entries(slices))
    }

    /// All published slices, by name.
    pub(crate) fn all_slices(&self) -> impl Iterator<Item = &SliceEntry> {
        self.names.slices_by_name.values().filter_map(|index| self.slices.get(*index))
    }

    /// Slices without a node name, by their own name.
    pub(crate) fn slices_without_node(&self) -> impl Iterator<Item = &SliceEntry> {
        self.entries(&self.names.slices_without_node)
    }

    /// Those of them that may be for a node: others ask for labels that it does not have.
    pub(crate) fn slices_without_node_for(&self, node: &Node) -> Vec<&SliceEntry> {
        let mut all: Vec<&SliceEntry> = self.entries(&self.names.slices_for_any).collect();
        let of_any = all.len();
        let by_label = labels(node).filter_map(|label| self.names.slices_by_label.get(&label));
        all.extend(by_label.flat_map(|slices| self.entries(slices)));
        if all.len() > of_any {
            all.arrange_by(|a, b| a.slice.metadata.name.cmp(&b.slice.metadata.name));
            all.dedup_by_key(|entry| entry.index);
        }
        all
    }

    /// Slices with counter sets, by name.
    pub(crate) fn slices_with_counters(&self) -> impl Iterator<Item = &SliceEntry> {
        self.entries(&self.names.slices_with_counters)
    }

    /// Where the slice of a name is.
    pub(super) fn slice_index(&self, name: &str) -> Option<SliceIdx> {
        self.names.slices_by_name.get(name).copied()
    }

    /// A published slice.
    pub(crate) fn slice(&self, index: SliceIdx) -> Option<&SliceEntry> {
        self.slices.get(index)
    }

    /// A pool.
    pub(crate) fn pool(&self, index: PoolIdx) -> Option<&PoolEntry> {
        self.pools.get(index)
    }

    /// The pool of a name.
    pub(crate) fn pool_index(&self, driver: &str, name: &str) -> Option<PoolIdx> {
        self.names.pools_by_driver.get(driver)?.get(name).copied()
    }

    /// Slices of all generations and nodes that a pool has, by name.
    pub(crate) fn slices_of_pool(&self, pool: PoolIdx) -> impl Iterator<Item = &SliceEntry> {
        self.pools.get(pool).into_iter().flat_map(|pool| self.entries(&pool.slices))
    }

    fn entries<'s>(&'s self, slices: &'s SharedMap<String, SliceIdx>) -> impl Iterator<Item = &'s SliceEntry> {
        slices.values().filter_map(|index| self.slices.get(*index))
    }

    /// Names of all nodes that slices name.
    pub(crate) fn node_names(&self) -> impl Iterator<Item = &String> {
        self.names.slices_by_node.keys()
    }

    /// Names of nodes with a device of their own that is not taken as a whole.
    pub(crate) fn open_nodes(&self) -> &SharedMap<String, u32> {
        &self.open_by_node
    }

    /// What is taken of a device.
    pub(crate) fn usage(&self, device: DeviceIdx) -> Option<&Usage> {
        self.devices.get(device).map(|entry| &entry.usage).filter(|usage| !usage.is_empty())
    }

    /// The device of a name, if a slice publishes it or a claim holds it.
    pub(crate) fn device(&self, driver: &str, pool: &str, device: &str) -> Option<DeviceIdx> {
        self.pools.get(self.pool_index(driver, pool)?)?.devices_by_name.get(device).copied()
    }

    /// How many changes there were that may help claims which did not fit.
    pub(crate) fn reliefs(&self) -> u64 {
        self.relieved
    }

    /// Those after the first so many; `None` where some of them are not known any more.
    pub(crate) fn reliefs_after(&self, heard: u64) -> Option<impl Iterator<Item = &Relief>> {
        let forgotten = self.relieved.saturating_sub(self.reliefs.len() as u64);
        (forgotten..=self.relieved).contains(&heard).then(|| self.reliefs.range_from(&heard).map(|(_, relief)| relief))
    }

    /// Notes a change that may help claims which did not fit.
    pub(crate) fn relieve(&mut self, relief: Relief) {
        if let Some(oldest) = self.relieved.checked_sub(MOST_RELIEFS) {
            self.reliefs.remove(&oldest);
        }
        self.reliefs.insert(self.relieved, relief);
        self.relieved = self.relieved.saturating_add(1);
    }

    /// Notes that a slice comes or goes. Counter sets can matter to nodes that see nothing else of their pool.
    fn relieve_by_slice(&mut self, slice: &ResourceSlice, pool: PoolIdx) {
        match node_of(slice).filter(|_| slice.spec.shared_counters.is_empty()) {
            Some(node) => {
                self.relieve(Relief::Node(node.to_owned()));
                self.relieve(Relief::Pool(pool));
            }
            None => self.relieve(Relief::Everywhere),
        }
    }

    /// Adds a slice, or replaces the one of the same name. `has_lists` says whether selectors can use lists.
    pub(crate) fn add_slice(&mut self, slice: Arc<ResourceSlice>, has_lists: bool) {
        self.remove_slice(&slice.metadata.name);
        let name = slice.metadata.name.clone();
        let spec = &slice.spec;
        let pool = self.intern_pool(&spec.driver, &spec.pool.name);
        let devices: Arc<[DeviceIdx]> =
            spec.devices.iter().map(|device| self.intern_device(pool, &device.name)).collect();
        let free = devices.iter().filter(|device| !self.is_taken(**device)).count();
        let node = node_of(&slice).map(str::to_owned);
        let has_counters = !spec.shared_counters.is_empty();
        let is_unusable = |position: &usize| {
            spec.devices.get(*position).is_some_and(|device| !are_usable(&device.attributes, has_lists))
        };
        let unusable = (0..spec.devices.len()).filter(is_unusable).collect();
        let entry = |index| SliceEntry {
            index,
            slice: Arc::clone(&slice),
            pool,
            devices: Arc::clone(&devices),
            unusable,
            free,
        };
        let index = self.slices.insert_with(entry);
        for device in devices.iter() {
            if let Some(entry) = self.devices.get_mut(*device) {
                entry.slices.push(index);
            }
        }
        if let Some(entry) = self.pools.get_mut(pool) {
            entry.slices.insert(name.clone(), index);
        }
        self.note_published(pool);
        self.relieve_by_slice(&slice, pool);
        if free > 0 {
            self.count_open(node.as_deref(), true);
        }
        let names = &mut self.names;
        if let Some(node) = &node {
            add(&mut names.slices_by_node, node, &name, index);
        } else {
            names.slices_without_node.insert(name.clone(), index);
            match labels_for(&slice) {
                Some(labels) => {
                    labels.iter().for_each(|label| add(&mut names.slices_by_label, label, &name, index));
                }
                None => drop(names.slices_for_any.insert(name.clone(), index)),
            }
        }
        if has_counters {
            names.slices_with_counters.insert(name.clone(), index);
        }
        names.slices_by_name.insert(name, index);
    }

    /// Takes a slice out, if there is one of that name.
    pub(crate) fn remove_slice(&mut self, name: &str) {
        let Some(index) = self.slice_index(name) else {
            return;
        };
        let Some(entry) = self.slices.remove(index) else {
            return;
        };
        if entry.free > 0 {
            self.count_open(node_of(&entry.slice), false);
        }
        let names = &mut self.names;
        names.slices_by_name.remove(name);
        names.slices_with_counters.remove(name);
        if let Some(node) = node_of(&entry.slice) {
            take(&mut names.slices_by_node, node, name);
        } else {
            names.slices_without_node.remove(name);
            names.slices_for_any.remove(name);
            let labels = labels_for(&entry.slice).into_iter().flatten();
            labels.for_each(|label| take(&mut names.slices_by_label, &label, name));
        }
        if let Some(pool) = self.pools.get_mut(entry.pool) {
            pool.slices.remove(name);
        }
        self.note_published(entry.pool);
        self.relieve_by_slice(&entry.slice, entry.pool);
        for (device, device_index) in entry.slice.spec.devices.iter().zip(entry.devices.iter()) {
            if let Some(known) = self.devices.get_mut(*device_index) {
                known.slices.retain(|slice| *slice != index);
            }
            self.forget_device(entry.pool, &device.name, *device_index);
        }
        self.forget_pool(entry.pool);
    }

    /// Takes a claim's devices, or gives back those of an equal claim.
    pub(crate) fn count_claim(&mut self, claim: &ResourceClaim, has_shares: bool, is_added: bool) {
        if is_added {
            return self.take_claim(claim, has_shares, &mut None);
        }
        for result in claim.held() {
            let (pool, device) = self.place_of(result);
            self.change_usage(pool, device, |usage| usage.release(result, has_shares));
            self.relieve(Relief::Pool(pool));
            self.forget_device(pool, &result.device, device);
            self.forget_pool(pool);
        }
    }

    /// Takes a claim's devices. `latest` is where the latest result was, for results that share with it what they were granted;
    /// nothing may be given back in between.
    pub(crate) fn take_claim(&mut self, claim: &ResourceClaim, has_shares: bool, latest: &mut Option<Latest>) {
        for result in claim.held() {
            let known = latest.as_ref().filter(|latest| Arc::ptr_eq(&latest.granted, &result.granted));
            let (pool, device) = match known {
                Some(latest) => latest.place,
                None => {
                    let place = self.place_of(result);
                    *latest = Some(Latest { granted: Arc::clone(&result.granted), place });
                    place
                }
            };
            self.change_usage(pool, device, |usage| usage.take(result, has_shares));
        }
    }

    fn place_of(&mut self, result: &DeviceRequestAllocationResult) -> (PoolIdx, DeviceIdx) {
        let pool = self.intern_pool(&result.driver, &result.pool);
        (pool, self.intern_device(pool, &result.device))
    }

    fn change_usage(&mut self, pool: PoolIdx, device: DeviceIdx, change: impl FnOnce(&mut Usage)) {
        if let Some(DeviceEntry { usage, slices }) = self.devices.get_mut(device) {
            let was_taken = usage.is_taken();
            change(usage);
            if was_taken != usage.is_taken() {
                let slices = slices.clone();
                self.count_free(slices, was_taken);
            }
        }
        self.clock = self.clock.saturating_add(1);
        if let Some(entry) = self.pools.get_mut(pool) {
            entry.taken = self.clock;
        }
    }

    fn intern_pool(&mut self, driver: &str, name: &str) -> PoolIdx {
        if let Some(index) = self.names.pools_by_driver.get(driver).and_then(|pools| pools.get(name)) {
            return *index;
        }
        // A position is used again: a new pool must not look like the one that was there before.
        self.clock = self.clock.saturating_add(1);
        let index = self.pools.insert(PoolEntry {
            driver: driver.into(),
            name: name.into(),
            slices: SharedMap::default(),
            devices_by_name: SharedMap::default(),
            published: self.clock,
            taken: self.clock,
        });
        if let Some(pools) = self.names.pools_by_driver.get_or_default(&driver.to_owned()) {
            pools.insert(name.to_owned(), index);
        }
        index
    }

    fn intern_device(&mut self, pool: PoolIdx, name: &str) -> DeviceIdx {
        let known = self.pools.get(pool).and_then(|pool| pool.devices_by_name.get(name));
        if let Some(index) = known {
            return *index;
        }
        let index = self.devices.insert(DeviceEntry { usage: Usage::default(), slices: SmallVec::new() });
        if let Some(pool) = self.pools.get_mut(pool) {
            pool.devices_by_name.insert(name.to_owned(), index);
        }
        index
    }

    fn note_published(&mut self, pool: PoolIdx) {
        self.clock = self.clock.saturating_add(1);
        if let Some(entry) = self.pools.get_mut(pool) {
            entry.published = self.clock;
        }
    }

    fn is_taken(&self, device: DeviceIdx) -> bool {
        self.devices.get(device).is_some_and(|entry| entry.usage.is_taken())
    }

    /// Tells the slices of a device that it became free or taken.
    fn count_free(&mut self, slices: impl IntoIterator<Item = SliceIdx>, is_free: bool) {
        for index in slices {
            let Some(entry) = self.slices.get_mut(index) else {
                continue;
            };
            let was_open = entry.free > 0;
            entry.free = if is_free { entry.free + 1 } else { entry.free.saturating_sub(1) };
            if was_open != (entry.free > 0) {
                let slice = Arc::clone(&entry.slice);
                self.count_open(node_of(&slice), !was_open);
            }
        }
    }

    /// Counts a slice that became open or ceased to be.
    fn count_open(&mut self, node: Option<&str>, is_open: bool) {
        let Some(node) = node else {
            return;
        };
        if is_open {
            if let Some(count) = self.open_by_node.get_or_default(&node.to_owned()) {
                *count = count.saturating_add(1);
            }
        } else if let Some(count) = self.open_by_node.get_mut(node) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.open_by_node.remove(node);
            }
        }
    }

    /// Drops a device that nobody speaks of any more.
    fn forget_device(&mut self, pool: PoolIdx, name: &str, index: DeviceIdx) {
        let is_gone = self.devices.get(index).is_some_and(|entry| entry.slices.is_empty() && entry.usage.is_empty());
        if is_gone {
            self.devices.remove(index);
            if let Some(pool) = self.pools.get_mut(pool) {
                pool.devices_by_name.remove(name);
            }
        }
    }

    fn forget_pool(&mut self, index: PoolIdx) {
        let is_gone =
            self.pools.get(index).is_some_and(|pool| pool.slices.is_empty() && pool.devices_by_name.is_empty());
        if is_gone && let Some(pool) = self.pools.remove(index) {
            let names = &mut self.names;
            if let Some(pools) = names.pools_by_driver.get_mut(&*pool.driver) {
                pools.remove(&*pool.name);
                if pools.is_empty() {
                    names.pools_by_driver.remove(&*pool.driver);
                }
            }
        }
    }
}

type ByKey = SharedMap<String, SharedMap<String, SliceIdx>>;

fn add(map: &mut ByKey, key: &String, name: &str, index: SliceIdx) {
    if let Some(slices) = map.get_or_default(key) {
        slices.insert(name.to_owned(), index);
    }
}

fn take(map: &mut ByKey, key: &str, name: &str) {
    if let Some(slices) = map.get_mut(key) {
        slices.remove(name);
        if slices.is_empty() {
            map.remove(key);
        }
    }
}

/// The node that a slice names.
pub(crate) fn node_of(slice: &ResourceSlice) -> Option<&str> {
    slice.spec.node_name.as_deref().filter(|node| !node.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::object::{Object, read_object};

    fn slice(name: &str, node: Option<&str>, devices: &[&str]) -> Arc<ResourceSlice> {
        let devices: Vec<Value> = devices.iter().map(|name| json!({ "name": name })).collect();
        slice_for(name, &json!({ "nodeName": node, "devices": devices }))
    }

    /// A slice for the nodes that these fields of its spec say.
    fn slice_for(name: &str, fields: &Value) -> Arc<ResourceSlice> {
        let mut value = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": name },
            "spec": { "driver": "d", "pool": { "name": "p", "generation": 1, "resourceSliceCount": 1 } } });
        let spec = value["spec"].as_object_mut().unwrap();
        spec.extend(fields.as_object().unwrap().clone());
        match read_object(value).object {
            Some(Object::ResourceSlice(slice)) => slice,
            other => panic!("{other:?}"),
        }
    }

    fn claim(devices: &[&str]) -> ResourceClaim {
        let results: Vec<Value> =
            devices.iter().map(|name| json!({ "driver": "d", "pool": "p", "device": name })).collect();
        let value = json!({ "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c" },
            "status": { "allocation": { "devices": { "results": results } } } });
        match read_object(value).object {
            Some(Object::ResourceClaim(claim)) => ResourceClaim::clone(&claim),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_node_is_open_while_one_of_its_devices_is_free() {
        let mut inventory = Inventory::default();
        inventory.count_claim(&claim(&["a"]), true, true);
        inventory.add_slice(slice("s", Some("n"), &["a", "b"]), true);
        assert!(inventory.open_nodes().contains_key("n"));
        inventory.count_claim(&claim(&["b"]), true, true);
        assert!(inventory.open_nodes().is_empty());
        inventory.count_claim(&claim(&["a"]), true, false);
        assert!(inventory.open_nodes().contains_key("n"));
        inventory.add_slice(slice("s", None, &["a"]), true);
        assert!(inventory.open_nodes().is_empty());
        inventory.add_slice(slice("s", Some("m"), &["a"]), true);
        inventory.remove_slice("s");
        assert!(inventory.open_nodes().is_empty());
    }

    #[test]
    fn nothing_is_kept_of_what_is_gone() {
        let mut inventory = Inventory::default();
        inventory.add_slice(slice("s", Some("n"), &["a", "b"]), true);
        inventory.count_claim(&claim(&["b", "c"]), true, true);
        inventory.remove_slice("s");
        assert!(inventory.device("d", "p", "a").is_none() && inventory.device("d", "p", "c").is_some());
        inventory.count_claim(&claim(&["b", "c"]), true, false);
        assert!(inventory.device("d", "p", "b").is_none() && inventory.names.pools_by_driver.is_empty());
    }

    #[test]
    fn slices_that_ask_for_labels_are_looked_at_for_nodes_that_have_one() {
        let is_in = |list: &str, key: &str, values: &[&str]| json!({ list: [{ "key": key, "operator": "In", "values": values }] });
        let selector = |terms: &[Value]| json!({ "nodeSelector": { "nodeSelectorTerms": terms } });
        let rack = |values: &[&str]| is_in("matchExpressions", "rack", values);
        let own = |name: &str| json!({ "name": name, "nodeName": name });
        let of_devices = |devices: &[Value]| json!({ "perDeviceNodeSelection": true, "devices": devices });
        let by_selector = json!({ "name": "x", "nodeSelector": { "nodeSelectorTerms": [rack(&["c"])] } });
        let not_in = json!({ "matchExpressions": [{ "key": "rack", "operator": "NotIn", "values": ["a"] }] });
        let all = [
            ("all", json!({ "allNodes": true }), "n m l"),
            ("bad", selector(&[rack(&["a"]), rack(&[])]), "n m l"),
            ("by-name", selector(&[is_in("matchFields", "metadata.name", &["n"])]), "n"),
            ("devices", of_devices(&[own("m"), by_selector]), "m l"),
            ("every-device", of_devices(&[own("m"), json!({ "name": "x", "allNodes": true })]), "n m l"),
            ("no-term", selector(&[]), ""),
            ("not-in", selector(&[not_in]), "n m l"),
            ("racks", selector(&[rack(&["a", "b"]), rack(&["b"])]), "n m"),
        ];
        let node = |name: &str, rack: &str| -> Node {
            let value =
                json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": { "rack": rack } } });
            match read_object(value).object {
                Some(Object::Node(node)) => Node::clone(&node),
                other => panic!("{other:?}"),
            }
        };
        let mut inventory = Inventory::default();
        for (name, fields, _) in &all {
            inventory.add_slice(slice_for(name, fields), true);
        }
        for node in [node("n", "a"), node("m", "b"), node("l", "c")] {
            let found = inventory.slices_without_node_for(&node);
            let found: Vec<&str> = found.iter().map(|entry| entry.slice.metadata.name.as_str()).collect();
            let is_for = |nodes: &str| nodes.split(' ').any(|name| name == node.metadata.name);
            let expected: Vec<&str> = all.iter().filter(|(.., nodes)| is_for(nodes)).map(|(name, ..)| *name).collect();
            assert_eq!(found, expected, "{}", node.metadata.name);
        }
        all.iter().for_each(|(name, ..)| inventory.remove_slice(name));
        assert!(inventory.names.slices_by_label.is_empty() && inventory.names.slices_for_any.is_empty());
    }
}
