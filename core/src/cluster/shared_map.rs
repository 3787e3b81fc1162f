//! Ordered maps whose copies share what none of them changed.
//!
//! A copy costs one count; the first change after it copies the nodes on the way to its key, a few dozen entries each. So a cluster of any
//! size is forked in no time, and a fork costs what it changes.
//!
//! Kept libraries do not fit: `imbl` is under the MPL, whose conditions every package with the module would pass on; `rpds` has a node per
//! entry and walks five times slower; `immutable-chunkmap` inserts and removes two to four times slower.

use std::borrow::Borrow;
use std::fmt;
use std::mem;
use std::slice;
use std::sync::Arc;

use smallvec::SmallVec;

/// Entries of a leaf and children of a branch, at most.
const MOST: usize = 32;

/// Entries of a leaf and children of a branch below which it is joined with the one before it, if there is room.
const FEW: usize = 8;

/// Branches on the way to a leaf, mostly at most; a walk has room for them without an allocation.
const DEEP: usize = 3;

/// A map in the order of its keys. [`Clone`] takes the same time for any length.
pub struct SharedMap<K, V> {
    root: Option<Arc<Node<K, V>>>,
    len: usize,
}

/// INVARIANT: leaves are equally deep, and a branch has a bound between each two children: the lowest key that may be in the latter.
#[derive(Clone)]
enum Node<K, V> {
    Leaf(Vec<(K, V)>),
    /// Copies share the bounds, too: most changes are to what is below.
    Branch {
        bounds: Arc<Vec<K>>,
        children: Vec<Arc<Node<K, V>>>,
    },
}

/// What comes to stand behind a node that became too long, with the lowest key of it.
type Split<K, V> = Option<(K, Arc<Node<K, V>>)>;

impl<K, V> SharedMap<K, V> {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The entries, by key.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let mut entries = Iter { above: SmallVec::new(), leaf: [].iter() };
        if let Some(root) = &self.root {
            entries.descend(root);
        }
        entries
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// The values, by key.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> SharedMap<K, V> {
    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// The entry of a key.
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let mut node = self.root.as_ref()?;
        loop {
            match &**node {
                Node::Leaf(entries) => {
                    let at = position(entries, key).ok()?;
                    return entries.get(at).map(|(key, value)| (key, value));
                }
                Node::Branch { bounds, children } => node = children.get(child(bounds, key))?,
            }
        }
    }

    /// Whether a key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).is_some()
    }

    /// The entries from a key on, that of the key included.
    pub fn range_from<Q: Ord + ?Sized>(&self, key: &Q) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let mut entries = Iter { above: SmallVec::new(), leaf: [].iter() };
        let mut next = self.root.as_ref();
        while let Some(node) = next {
            match &**node {
                Node::Leaf(leaf) => {
                    let at = position(leaf, key).unwrap_or_else(|at| at);
                    entries.leaf = leaf.get(at..).unwrap_or_default().iter();
                    break;
                }
                Node::Branch { bounds, children } => {
                    let mut rest = children.get(child(bounds, key)..).unwrap_or_default().iter();
                    next = rest.next();
                    entries.above.push(rest);
                }
            }
        }
        entries
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let mut node = own(self.root.as_mut()?);
        loop {
            match node {
                Node::Leaf(entries) => {
                    let at = position(entries, key).ok()?;
                    return entries.get_mut(at).map(|(_, value)| value);
                }
                Node::Branch { bounds, children } => node = own(children.get_mut(child(bounds, key))?),
            }
        }
    }

    /// Gives a key a value; the one that it had comes back.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let Some(root) = &mut self.root else {
            self.root = Some(Arc::new(Node::Leaf(vec![(key, value)])));
            self.len = 1;
            return None;
        };
        let (before, split) = own(root).insert(key, value);
        if let Some((bound, right)) = split {
            let children = vec![Arc::clone(root), right];
            *root = Arc::new(Node::Branch { bounds: Arc::new(vec![bound]), children });
        }
        self.len = self.len.saturating_add(usize::from(before.is_none()));
        before
    }

    /// The value of a key, to be changed; the default where it has none.
    pub fn get_or_default(&mut self, key: &K) -> Option<&mut V>
    where
        V: Default,
    {
        if !self.contains_key(key) {
            self.insert(key.clone(), V::default());
        }
        self.get_mut(key)
    }

    /// Takes a key out; its value comes back.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        // Nothing is copied for a key that is not there.
        if !self.contains_key(key) {
            return None;
        }
        let root = self.root.as_mut()?;
        let removed = own(root).remove(key);
        self.len = self.len.saturating_sub(usize::from(removed.is_some()));
        if let Node::Branch { children, .. } = &**root
            && let [only] = children.as_slice()
        {
            *root = Arc::clone(only);
        }
        if self.len == 0 {
            self.root = None;
        }
        removed
    }

    /// The entries from a key on, that of the key included, to be changed. What is passed over is copied, too, where another copy shares it.
    pub fn range_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> IterMut<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let mut entries = IterMut { above: SmallVec::new(), leaf: [].iter_mut() };
        let mut next = self.root.as_mut();
        while let Some(node) = next {
            match own(node) {
                Node::Leaf(leaf) => {
                    let at = position(leaf, key).unwrap_or_else(|at| at);
                    entries.leaf = leaf.get_mut(at..).unwrap_or_default().iter_mut();
                    break;
                }
                Node::Branch { bounds, children } => {
                    let mut rest = children.get_mut(child(bounds, key)..).unwrap_or_default().iter_mut();
                    next = rest.next();
                    entries.above.push(rest);
                }
            }
        }
        entries
    }
}

/// What no other copy shares. In one place for each type: copying a node is much code.
#[inline(never)]
fn own<T: Clone>(shared: &mut Arc<T>) -> &mut T {
    Arc::make_mut(shared)
}

/// Where a key is among entries, or where it belongs.
fn position<K: Borrow<Q>, V, Q: Ord + ?Sized>(entries: &[(K, V)], key: &Q) -> Result<usize, usize> {
    entries.binary_search_by(|(known, _)| known.borrow().cmp(key))
}

/// The child in which a key is or belongs.
fn child<K: Borrow<Q>, Q: Ord + ?Sized>(bounds: &[K], key: &Q) -> usize {
    bounds.partition_point(|bound| bound.borrow() <= key)
}

/// Where a full list is split for something at a position. Keys that come in order leave full nodes behind.
fn middle(len: usize, at: usize) -> usize {
    if at == len { len } else { len / 2 }
}

impl<K: Ord + Clone, V: Clone> Node<K, V> {
    fn insert(&mut self, key: K, value: V) -> (Option<V>, Split<K, V>) {
        match self {
            Self::Leaf(entries) => match position(entries, &key) {
                Ok(at) => (entries.get_mut(at).map(|(_, known)| mem::replace(known, value)), None),
                Err(at) if entries.len() < MOST => {
                    entries.insert(at, (key, value));
                    (None, None)
                }
                // Split first: no list grows beyond its room.
                Err(at) => {
                    let middle = middle(entries.len(), at);
                    let mut right = entries.split_off(middle);
                    match at.checked_sub(middle) {
                        Some(at) => right.insert(at, (key, value)),
                        None => entries.insert(at, (key, value)),
                    }
                    let bound = right.first().map(|(key, _)| key.clone());
                    (None, bound.map(|bound| (bound, Arc::new(Self::Leaf(right)))))
                }
            },
            Self::Branch { bounds, children } => {
                let at = child(bounds, &key);
                let Some(child) = children.get_mut(at) else {
                    return (None, None);
                };
                let (before, split) = own(child).insert(key, value);
                let Some((bound, right)) = split else {
                    return (before, None);
                };
                let bounds = own(bounds);
                bounds.insert(at, bound);
                children.insert(at.saturating_add(1), right);
                (before, Self::split_branch(bounds, children, at.saturating_add(1)))
            }
        }
    }

    fn split_branch(bounds: &mut Vec<K>, children: &mut Vec<Arc<Self>>, at: usize) -> Split<K, V> {
        let before = children.len().saturating_sub(1);
        if before < MOST {
            return None;
        }
        let middle = middle(before, at);
        let right = Self::Branch { bounds: Arc::new(bounds.split_off(middle)), children: children.split_off(middle) };
        Some((bounds.pop()?, Arc::new(right)))
    }

    fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::Leaf(entries) => Some(entries.remove(position(entries, key).ok()?).1),
            Self::Branch { bounds, children } => {
                let at = child(bounds, key);
                let node = children.get_mut(at)?;
                let removed = own(node).remove(key);
                let len = node.len();
                if len == 0 {
                    children.remove(at);
                    if !bounds.is_empty() {
                        own(bounds).remove(at.saturating_sub(1));
                    }
                } else if len < FEW {
                    Self::join(bounds, children, at);
                }
                removed
            }
        }
    }

    /// Joins a child with the one before it, if they have room together.
    #[inline(never)]
    fn join(bounds: &mut Arc<Vec<K>>, children: &mut Vec<Arc<Self>>, at: usize) {
        let Some(before) = at.checked_sub(1) else {
            return;
        };
        let len = |at: usize| children.get(at).map_or(0, |child| child.len());
        if len(before).saturating_add(len(at)) > MOST / 2 {
            return;
        }
        let right = Arc::unwrap_or_clone(children.remove(at));
        let bound = own(bounds).remove(before);
        let Some(left) = children.get_mut(before) else {
            return;
        };
        match (own(left), right) {
            (Self::Leaf(left), Self::Leaf(right)) => left.extend(right),
            (Self::Branch { bounds, children }, Self::Branch { bounds: more, children: others }) => {
                let bounds = own(bounds);
                bounds.push(bound);
                bounds.extend_from_slice(&more);
                children.extend(others);
            }
            // Leaves are equally deep.
            (Self::Leaf(_), Self::Branch { .. }) | (Self::Branch { .. }, Self::Leaf(_)) => {}
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Leaf(entries) => entries.len(),
            Self::Branch { children, .. } => children.len(),
        }
    }
}

/// What is still to be walked over on the way down from the root.
type Above<I> = SmallVec<[I; DEEP]>;

type Children<'m, K, V> = slice::Iter<'m, Arc<Node<K, V>>>;
type ChildrenMut<'m, K, V> = slice::IterMut<'m, Arc<Node<K, V>>>;

/// Entries by key.
pub struct Iter<'m, K, V> {
    above: Above<Children<'m, K, V>>,
    leaf: slice::Iter<'m, (K, V)>,
}

impl<'m, K, V> Iter<'m, K, V> {
    fn descend(&mut self, mut node: &'m Arc<Node<K, V>>) {
        loop {
            match &**node {
                Node::Leaf(entries) => {
                    self.leaf = entries.iter();
                    return;
                }
                Node::Branch { children, .. } => {
                    let mut rest = children.iter();
                    let Some(first) = rest.next() else {
                        return;
                    };
                    self.above.push(rest);
                    node = first;
                }
            }
        }
    }
}

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.leaf.next() {
                return Some((key, value));
            }
            match self.above.last_mut()?.next() {
                Some(node) => self.descend(node),
                None => drop(self.above.pop()),
            }
        }
    }
}

/// Entries by key, with values to be changed.
pub struct IterMut<'m, K, V> {
    above: Above<ChildrenMut<'m, K, V>>,
    leaf: slice::IterMut<'m, (K, V)>,
}

impl<'m, K: Clone, V: Clone> Iterator for IterMut<'m, K, V> {
    type Item = (&'m K, &'m mut V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.leaf.next() {
                return Some((key, value));
            }
            let Some(node) = self.above.last_mut()?.next() else {
                self.above.pop();
                continue;
            };
            match own(node) {
                Node::Leaf(entries) => self.leaf = entries.iter_mut(),
                Node::Branch { children, .. } => self.above.push(children.iter_mut()),
            }
        }
    }
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), len: self.len }
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self { root: None, len: 0 }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SharedMap<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other)
    }
}

impl<'m, K, V> IntoIterator for &'m SharedMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Iter<'m, K, V> {
        self.iter()
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        let mut map = Self::default();
        entries.into_iter().for_each(|(key, value)| drop(map.insert(key, value)));
        map
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u16, u8),
        Remove(u16),
        Change(u16),
        ChangeFrom(u16),
        Fork,
        Drop(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let key = || 0..400u16;
        prop_oneof![
            6 => (key(), any::<u8>()).prop_map(|(key, value)| Step::Insert(key, value)),
            4 => key().prop_map(Step::Remove),
            2 => key().prop_map(Step::Change),
            1 => key().prop_map(Step::ChangeFrom),
            1 => Just(Step::Fork),
            1 => (0..4usize).prop_map(Step::Drop),
        ]
    }

    fn is_like(map: &SharedMap<u16, u8>, model: &BTreeMap<u16, u8>) -> bool {
        map.len() == model.len() && map.iter().eq(model)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn copies_change_as_maps_of_their_own(filled in 0..400u16, steps in prop::collection::vec(step(), 0..600)) {
            let mut map: SharedMap<u16, u8> = (0..filled).map(|key| (key, 0)).collect();
            let mut model: BTreeMap<u16, u8> = (0..filled).map(|key| (key, 0)).collect();
            let mut others = Vec::new();
            for step in steps {
                match step {
                    Step::Insert(key, value) => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
                    Step::Remove(key) => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                    Step::Change(key) => {
                        let (found, expected) = (map.get_mut(&key), model.get_mut(&key));
                        prop_assert_eq!(&found, &expected);
                        found.into_iter().chain(expected).for_each(|value| *value = value.wrapping_add(1));
                    }
                    Step::ChangeFrom(key) => {
                        map.range_mut(&key).take(70).for_each(|(_, value)| *value = 7);
                        model.range_mut(key..).take(70).for_each(|(_, value)| *value = 7);
                    }
                    Step::Fork => others.push((map.clone(), model.clone())),
                    Step::Drop(at) if at < others.len() => {
                        // What goes may be any of them, the one that was changed last included.
                        let (old_map, old_model) = others.swap_remove(at);
                        prop_assert!(is_like(&old_map, &old_model));
                        if at % 2 == 0 {
                            (map, model) = (old_map, old_model);
                        }
                    }
                    Step::Drop(_) => {}
                }
            }
            for (map, model) in others.into_iter().chain([(map, model)]) {
                prop_assert!(is_like(&map, &model));
                for key in [0, 1, 63, 200, 399] {
                    prop_assert_eq!(map.get(&key), model.get(&key));
                    prop_assert!(map.range_from(&key).eq(model.range(key..)));
                }
            }
        }
    }

    #[test]
    fn keys_in_order_fill_their_nodes() {
        fn leaves(node: &Node<u32, ()>) -> usize {
            match node {
                Node::Leaf(_) => 1,
                Node::Branch { children, .. } => children.iter().map(|child| leaves(child)).sum(),
            }
        }
        let map: SharedMap<u32, ()> = (0..3200).map(|key| (key, ())).collect();
        assert_eq!(leaves(map.root.as_ref().unwrap()), 100);
    }
}
