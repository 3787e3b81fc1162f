//! Where placed Pods are, as far as others ask for it: required affinity and anti-affinity between Pods, and spread over domains of nodes.
//!
//! Counts are kept by question and domain. A Pod that comes or goes changes those that its labels concern, and a Pod that is tried
//! looks at its own: what either costs does not grow with the number of Pods.
//!
//! Source: `pkg/scheduler/framework/plugins/interpodaffinity`, `podtopologyspread`; KEP-895, KEP-3022, KEP-3094, KEP-3243, KEP-3633.

mod asks;
mod leanings;
mod selector;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use asks::{Asks, asks, is_helped};
use asks::{Pull, Term, held_terms, satisfies};
pub(super) use leanings::Leanings;
pub(super) use selector::{ByLabel, Selector};
use selector::{Labels, Namespaces};
use watch::{Domains, Question, Watch};

use super::node_fit::{Refusal, is_inferred};
use super::volumes;
use crate::api::node::Node;
use crate::api::pod::{Namespace, Pod};
use crate::cluster::Key;
use crate::cluster::entries::key_of;
use crate::gather::Gather;

/// Most questions that are kept; the one that was not asked for longest goes first.
const MOST_WATCHES: usize = 512;

/// A Pod that has a place.
#[derive(Clone, Debug)]
struct Placed {
    labels: Labels,
    is_deleting: bool,
    /// Its terms.
    held: Vec<usize>,
    /// Its PersistentVolumeClaims.
    claims: Vec<String>,
}

/// A node, which may not exist, and its Pods.
#[derive(Clone, Debug, Default)]
struct Home {
    node: Option<Arc<Node>>,
    pods: BTreeMap<Key, Placed>,
}

/// A term of a placed Pod, with what it does to Pods that it means.
type HeldTerm = (Term, Pull);

/// Terms of placed Pods, each with how many Pods have it by domain.
#[derive(Clone, Debug, Default)]
struct Held {
    terms: BTreeMap<usize, (Arc<HeldTerm>, Domains, u64)>,
    numbers: BTreeMap<Arc<HeldTerm>, usize>,
    by_label: ByLabel,
    next: usize,
}

/// Where placed Pods are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    namespaces: Namespaces,
    /// Shared by copies that only ask.
    homes: Arc<BTreeMap<String, Home>>,
    held: Held,
    watches: Vec<Watch>,
    by_label: ByLabel,
    /// In how many volumes placed Pods use each PersistentVolumeClaim.
    users: BTreeMap<Key, i64>,
    uses: u64,
}

/// What one Pod asks, with where the answers are. Holds until the next Pod asks.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) asks: Asks,
    /// The answer for all terms of affinity together.
    affinity: usize,
    /// Whether the Pod satisfies its own terms of affinity.
    is_own_friend: bool,
    anti: Vec<usize>,
    /// Terms of placed Pods that keep this one away.
    held: Vec<usize>,
    /// The answer for each constraint, and whether it counts the Pod itself.
    spread: Vec<(usize, bool)>,
}

impl Topology {
    /// Takes the labels of a namespace into account.
    pub(super) fn name_space(&mut self, namespace: &Namespace, exists: bool) {
        let (name, labels) = (&namespace.metadata.name, &namespace.metadata.labels);
        let mut labels = labels.clone();
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.clone());
        let changes = match exists {
            true => self.namespaces.0.insert(name.clone(), labels.clone()) != Some(labels),
            false => self.namespaces.0.remove(name).is_some(),
        };
        if changes {
            self.forget_answers();
        }
    }

    fn forget_answers(&mut self) {
        self.watches.clear();
        self.by_label = ByLabel::default();
    }

    /// Takes a node into account: as it is now, or that it went.
    pub(super) fn settle(&mut self, name: &str, node: Option<Arc<Node>>) {
        let homes = Arc::make_mut(&mut self.homes);
        let home = homes.entry(name.to_owned()).or_default();
        let is_alike = |before: &Node, after: &Node| {
            before.metadata.labels == after.metadata.labels && before.spec.taints == after.spec.taints
        };
        if let (Some(before), Some(after)) = (&home.node, &node)
            && is_alike(before, after)
        {
            home.node = node;
            return;
        }
        let mut home = std::mem::take(home);
        self.count_home(&home, false);
        home.node = node;
        self.count_home(&home, true);
        if home.node.is_some() || !home.pods.is_empty() {
            Arc::make_mut(&mut self.homes).insert(name.to_owned(), home);
        } else {
            Arc::make_mut(&mut self.homes).remove(name);
        }
    }

    /// Counts a node and its Pods, or no longer.
    fn count_home(&mut self, home: &Home, is_more: bool) {
        let Some(node) = &home.node else { return };
        self.watches.iter_mut().for_each(|watch| watch.count_node(node, is_more));
        for ((namespace, _), pod) in &home.pods {
            self.count(node, namespace, pod, is_more);
        }
    }

    /// Counts a Pod on a node, or no longer.
    fn count(&mut self, node: &Node, namespace: &str, pod: &Placed, is_more: bool) {
        for number in self.by_label.candidates(&pod.labels) {
            let Some(watch) = self.watches.get_mut(number) else { continue };
            if counts(watch, &self.namespaces, namespace, pod) && watch.includes(node) {
                watch.count(node, 1, is_more);
            }
        }
        for number in &pod.held {
            let Some((term, domains, _)) = self.held.terms.get_mut(number) else { continue };
            match node.metadata.labels.get(&term.0.key) {
                Some(domain) if is_more => domains.add(domain, 1),
                Some(domain) => domains.take(domain, 1),
                None => {}
            }
        }
    }

    /// Whether a Pod is counted on a node with what matters of it.
    pub(super) fn knows(&self, node: &str, key: &Key, pod: &Pod) -> bool {
        let known = self.homes.get(node).and_then(|home| home.pods.get(key));
        known
            .is_some_and(|known| known.labels == pod.metadata.labels && known.is_deleting == pod.metadata.is_deleting())
    }

    /// The Pods on a node.
    pub(super) fn pods_on(&self, node: &str) -> impl Iterator<Item = &Key> {
        self.homes.get(node).into_iter().flat_map(|home| home.pods.keys())
    }

    /// Counts a Pod on a node; it is counted nowhere before.
    pub(super) fn place(&mut self, node: &str, pod: &Pod) {
        let held = held_terms(pod).into_iter().map(|term| self.held.take_up(term)).collect();
        let claims: Vec<String> = volumes::entries(pod).filter_map(|entry| volumes::claim_name(pod, entry)).collect();
        self.use_claims(&pod.metadata.namespace, &claims, 1);
        let (labels, is_deleting) = (pod.metadata.labels.clone(), pod.metadata.is_deleting());
        let placed = Placed { labels, is_deleting, held, claims };
        if let Some(node) = self.homes.get(node).and_then(|home| home.node.clone()) {
            self.count(&node, &pod.metadata.namespace, &placed, true);
        }
        let home = Arc::make_mut(&mut self.homes).entry(node.to_owned()).or_default();
        home.pods.insert(key_of(&pod.metadata), placed);
    }

    /// Counts a Pod nowhere.
    pub(super) fn forget(&mut self, node: &str, key: &Key) {
        let homes = Arc::make_mut(&mut self.homes);
        let Some(home) = homes.get_mut(node) else { return };
        let Some(placed) = home.pods.remove(key) else { return };
        match home.node.clone() {
            Some(node) => self.count(&node, &key.0, &placed, false),
            None if home.pods.is_empty() => drop(homes.remove(node)),
            None => {}
        }
        placed.held.into_iter().for_each(|number| self.held.let_go(number));
        self.use_claims(&key.0, &placed.claims, -1);
    }

    /// Counts volumes of a placed Pod that use claims of its namespace, or no longer.
    fn use_claims(&mut self, namespace: &str, claims: &[String], more: i64) {
        for claim in claims {
            let key = (namespace.to_owned(), claim.clone());
            let users = self.users.get(&key).copied().unwrap_or_default().saturating_add(more);
            if users > 0 {
                self.users.insert(key, users);
            } else {
                self.users.remove(&key);
            }
        }
    }

    /// The PersistentVolumeClaims of the Pods on a node, with their namespaces.
    pub(super) fn claims_on(&self, node: &str) -> impl Iterator<Item = (&str, &str)> {
        let pods = self.homes.get(node).into_iter().flat_map(|home| &home.pods);
        pods.flat_map(|((namespace, _), pod)| pod.claims.iter().map(|claim| (namespace.as_str(), claim.as_str())))
    }

    /// Whether a placed Pod uses a PersistentVolumeClaim.
    pub(super) fn has_user(&self, claim: &Key) -> bool {
        self.users.contains_key(claim)
    }

    /// What a Pod asks; `None` where it asks nothing and no placed Pod keeps it away from anywhere.
    pub(super) fn wanted(&mut self, (pod, own): (&Pod, &Pod)) -> Option<Wanted> {
        self.uses = self.uses.saturating_add(1);
        let asks = Asks::of(pod, own);
        let subject = (pod.metadata.namespace.as_str(), &pod.metadata.labels);
        let held = self.held.about(&self.namespaces, subject, |pull| pull == Pull::Away);
        if asks.is_nothing() && held.is_empty() {
            return None;
        }
        let question = |terms: &[Term]| Question {
            pods: terms.iter().map(|term| term.pods.clone()).collect(),
            keys: terms.iter().map(|term| term.key.clone()).collect(),
            nodes: None,
        };
        let affinity = if asks.affinity.is_empty() { 0 } else { self.watch(question(&asks.affinity)) };
        let is_own_friend = satisfies(asks.affinity.iter().map(|term| &term.pods), &self.namespaces, subject);
        let anti = asks.anti.iter().map(|term| self.watch(question(std::slice::from_ref(term)))).collect();
        let mut spread = Vec::new();
        for constraint in &asks.spread {
            let counts_self = constraint.pods.labels.matches(&pod.metadata.labels);
            let number = self.watch(Question {
                pods: vec![constraint.pods.clone()],
                keys: vec![constraint.key.clone()],
                nodes: Some(Arc::clone(&constraint.nodes)),
            });
            spread.push((number, counts_self));
        }
        Some(Wanted { asks, affinity, is_own_friend, anti, held, spread })
    }

    /// The number of a question, whose answer is kept from now on.
    fn watch(&mut self, question: Question) -> usize {
        let uses = self.uses;
        let known = self
            .by_label_of(&question)
            .find(|number| self.watches.get(*number).is_some_and(|watch| watch.question == question));
        if let Some(number) = known {
            if let Some(watch) = self.watches.get_mut(number) {
                watch.used = uses;
            }
            return number;
        }
        let mut watch = Watch { used: uses, ..Watch::new(question) };
        for home in self.homes.values() {
            let Some(node) = &home.node else { continue };
            watch.count_node(node, true);
            if watch.includes(node) {
                let is_counted =
                    |((namespace, _), pod): &(&Key, &Placed)| counts(&watch, &self.namespaces, namespace, pod);
                let pods = home.pods.iter().filter(is_counted).count() as u64;
                watch.count(node, pods, true);
            }
        }
        let number = self.free_number();
        if let Some(selector) = watch.question.pods.first() {
            self.by_label.insert(&selector.labels, number);
        }
        match self.watches.get_mut(number) {
            Some(old) => *old = watch,
            None => self.watches.push(watch),
        }
        number
    }

    /// Questions that may be this one.
    fn by_label_of(&self, question: &Question) -> impl Iterator<Item = usize> + '_ {
        let certain = question.pods.first().and_then(|selector| selector.labels.certain());
        let labels: Labels = certain.map(|(key, value)| (key.clone(), value.clone())).into_iter().gather();
        self.by_label.candidates(&labels).collect::<Vec<_>>().into_iter()
    }

    /// Where a new question goes: behind the others, or in the place of the oldest that this Pod does not ask.
    fn free_number(&mut self) -> usize {
        let uses = self.uses;
        let old = self.watches.iter().enumerate().filter(|(_, watch)| watch.used < uses);
        let oldest = old.min_by_key(|(_, watch)| watch.used).map(|(number, _)| number);
        let Some(number) = oldest.filter(|_| self.watches.len() >= MOST_WATCHES) else { return self.watches.len() };
        if let Some(selector) = self.watches.get(number).and_then(|watch| watch.question.pods.first()) {
            self.by_label.remove(&selector.labels, number);
        }
        number
    }

    /// What speaks against a node: the first constraint or term that it breaks, in kube-scheduler's order.
    pub(super) fn refusal(&self, wanted: &Wanted, node: &Node) -> Option<Refusal> {
        self.breaks_spread(wanted, node).or_else(|| self.breaks_affinity(wanted, node))
    }

    fn breaks_spread(&self, wanted: &Wanted, node: &Node) -> Option<Refusal> {
        let labels = &node.metadata.labels;
        for (constraint, (number, counts_self)) in wanted.asks.spread.iter().zip(&wanted.spread) {
            let key = || constraint.key.clone();
            let Some(domain) = labels.get(&constraint.key) else {
                // Of an inferred node only few labels are known.
                if is_inferred(node) {
                    continue;
                }
                return Some(Refusal::NoDomain { key: key() });
            };
            let watch = self.watches.get(*number)?;
            let (pods, nodes) = (watch.pods.first()?, watch.nodes.first()?);
            let is_too_few = i64::try_from(nodes.len()).is_ok_and(|domains| domains < constraint.min_domains);
            let fewest = if is_too_few { 0 } else { pods.fewest_of(nodes.len()) };
            let others = pods.count(domain).saturating_add(u64::from(*counts_self)).saturating_sub(fewest);
            if i64::try_from(others).unwrap_or(i64::MAX) > constraint.max_skew {
                return Some(Refusal::Spread { key: key() });
            }
        }
        None
    }

    fn breaks_affinity(&self, wanted: &Wanted, node: &Node) -> Option<Refusal> {
        let labels = &node.metadata.labels;
        if !self.has_friends(wanted, node) {
            return Some(Refusal::PodAffinity);
        }
        for (term, number) in wanted.asks.anti.iter().zip(&wanted.anti) {
            let pods = self.watches.get(*number).and_then(|watch| watch.pods.first());
            if let (Some(domain), Some(pods)) = (labels.get(&term.key), pods)
                && pods.count(domain) > 0
            {
                return Some(Refusal::PodAntiAffinity { key: term.key.clone() });
            }
        }
        wanted.held.iter().find_map(|number| {
            let (term, domains, _) = self.held.terms.get(number)?;
            let key = &term.0.key;
            (domains.count(labels.get(key)?) > 0).then(|| Refusal::KeptAway { key: key.clone() })
        })
    }

    /// Whether the Pods are in a node's domains that a Pod is to be near; the first of Pods that are to be near each other may be anywhere.
    fn has_friends(&self, wanted: &Wanted, node: &Node) -> bool {
        let terms = &wanted.asks.affinity;
        if terms.is_empty() {
            return true;
        }
        let labels = &node.metadata.labels;
        let is_lenient = is_inferred(node);
        if terms.iter().any(|term| !labels.contains_key(&term.key) && !is_lenient) {
            return false;
        }
        let Some(watch) = self.watches.get(wanted.affinity) else { return false };
        let has =
            |(term, domains): (&Term, &Domains)| labels.get(&term.key).is_none_or(|domain| domains.count(domain) > 0);
        terms.iter().zip(&watch.pods).all(has) || (wanted.is_own_friend && watch.pods.iter().all(Domains::is_empty))
    }
}

/// Whether a question counts a Pod, wherever it is.
fn counts(watch: &Watch, namespaces: &Namespaces, namespace: &str, pod: &Placed) -> bool {
    let question = &watch.question;
    let is_spread = question.nodes.is_some();
    // A constraint whose selector is empty counts nobody.
    let selects_all = || question.pods.iter().any(|selector| selector.labels.is_empty());
    !(is_spread && (pod.is_deleting || selects_all()))
        && satisfies(&question.pods, namespaces, (namespace, &pod.labels))
}

impl Held {
    /// Notes that one more Pod has a term.
    fn take_up(&mut self, term: HeldTerm) -> usize {
        let number = self.numbers.get(&term).copied().unwrap_or_else(|| {
            let (number, term) = (self.next, Arc::new(term));
            self.next = self.next.saturating_add(1);
            self.by_label.insert(&term.0.pods.labels, number);
            self.numbers.insert(Arc::clone(&term), number);
            self.terms.insert(number, (term, Domains::default(), 0));
            number
        });
        if let Some((_, _, pods)) = self.terms.get_mut(&number) {
            *pods = pods.saturating_add(1);
        }
        number
    }

    /// Notes that one Pod less has a term.
    fn let_go(&mut self, number: usize) {
        let Some((term, _, pods)) = self.terms.get_mut(&number) else { return };
        *pods = pods.saturating_sub(1);
        if *pods == 0 {
            let term = Arc::clone(term);
            self.by_label.remove(&term.0.pods.labels, number);
            self.numbers.remove(&term);
            self.terms.remove(&number);
        }
    }

    /// The terms that mean a Pod, of those that do something to it.
    fn about(
        &self,
        namespaces: &Namespaces,
        (namespace, labels): (&str, &Labels),
        is_wanted: fn(Pull) -> bool,
    ) -> Vec<usize> {
        let candidates = self.by_label.candidates(labels);
        let matches = |number: &usize| {
            let term = self.terms.get(number).map(|(term, ..)| &**term);
            term.is_some_and(|(term, pull)| is_wanted(*pull) && term.pods.matches(namespaces, namespace, labels))
        };
        candidates.filter(matches).collect()
    }
}
