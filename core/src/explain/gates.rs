//! Feature gates that are off and stand in the way: which ones to turn on.
//!
//! A gate is worth trying when what stands in the way names it. The cluster as it was given is then played again with the gate
//! on, as another Kubernetes would, and the subject is explained anew: that may name the next gate.

use std::collections::{BTreeMap, BTreeSet};

use super::carried_out::Trials;
use super::change::Change;
use super::relax::{Suggestion, fewest, ranked};
use super::settled::{Settled, settle};
use super::{Explanation, Known, State, explain_one};
use crate::allocate::Limits;
use crate::cluster::Cluster;
use crate::control_plane::admission::admit_value;
use crate::profile::Features;

type Gates = BTreeSet<&'static str>;

/// The cluster under other gates, played once for each set of them.
pub(crate) struct OtherGates<'l> {
    given: &'l Cluster,
    trials: &'l Trials<'l>,
    limits: &'l Limits,
    settled: BTreeMap<Gates, (Cluster, Settled)>,
}

impl<'l> OtherGates<'l> {
    /// Other gates for a cluster as it was given, whose trials say what helps.
    pub(crate) fn of(given: &'l Cluster, trials: &'l Trials<'l>, limits: &'l Limits) -> Self {
        Self { given, trials, limits, settled: BTreeMap::new() }
    }

    /// Adds the gates that help to the suggestions of an explanation: one alone where that is enough, else the smallest set found.
    pub(crate) fn suggest(&mut self, explanation: &mut Explanation, nodes: &[String]) {
        if !matches!(explanation.state, State::Blocked | State::NoDevices) {
            return;
        }
        let named = self.named(explanation);
        let mut found: Vec<(Gates, Option<String>)> = Vec::new();
        for gate in &named {
            let alone = Gates::from([*gate]);
            if let Ok(node) = self.fits(explanation, nodes, &alone) {
                found.push((alone, node));
            }
        }
        if found.is_empty() {
            found.extend(self.together(explanation, nodes, named));
        }
        for (gates, node) in found {
            let changes: Vec<Change> =
                gates.iter().map(|gate| Change::EnableGate { gate: (*gate).to_owned() }).collect();
            let text = gates.iter().map(|gate| format!("turn the feature gate `{gate}` on")).collect::<Vec<_>>();
            let text = format!("{}, for the whole cluster", text.join(", and "));
            let (manifests, deletes, steps) = (Vec::new(), Vec::new(), Vec::new());
            let mut suggestion = Suggestion { text, changes, node, manifests, deletes, steps };
            if let Some((cluster, settled)) = self.settled.get(&gates) {
                self.trials.leaving(&explanation.subject, &suggestion, cluster, settled).tell(&mut suggestion);
            }
            explanation.suggestions.push(suggestion);
        }
        ranked(&mut explanation.suggestions);
    }

    /// Several gates that help only together: all that are named on the way, less those that are not needed.
    fn together(
        &mut self,
        explanation: &Explanation,
        nodes: &[String],
        named: Gates,
    ) -> Option<(Gates, Option<String>)> {
        let mut gates = named;
        if gates.is_empty() {
            return None;
        }
        let node = loop {
            match self.fits(explanation, nodes, &gates) {
                Ok(node) => break node,
                Err(more) if more.is_subset(&gates) => return None,
                Err(more) => gates.extend(more),
            }
        };
        let (gates, node) = fewest(gates.into_iter().collect(), node, |fewer| {
            let fewer: Gates = fewer.iter().copied().collect();
            (!fewer.is_empty()).then(|| self.fits(explanation, nodes, &fewer).ok()).flatten()
        });
        Some((gates.into_iter().collect(), node))
    }

    /// The node of the subject with some gates on, where it has one.
    ///
    /// # Errors
    ///
    /// The gates that stand in the way then.
    fn fits(&mut self, explanation: &Explanation, nodes: &[String], gates: &Gates) -> Result<Option<String>, Gates> {
        let (given, limits) = (self.given, self.limits);
        let (cluster, settled) = self.settled.entry(gates.clone()).or_insert_with(|| {
            let mut cluster = given.clone();
            let mut profile = cluster.profile().clone();
            for gate in gates {
                profile.features.set(gate, true);
            }
            cluster.set_profile(profile.clone());
            // What is dropped or refused now may not be then.
            for written in given.dropped().map(|(written, _)| written).chain(given.all_refused()) {
                match admit_value(written, &profile) {
                    (Some(object), _) => cluster.apply(object),
                    (None, findings) => {
                        if let Some(object) = findings.first().and_then(|finding| finding.object.as_ref()) {
                            cluster.delete(object);
                        }
                        cluster.note_refused(written.clone(), &findings);
                    }
                }
            }
            let settled = settle(&mut cluster, limits);
            (cluster, settled)
        });
        let Some(other) = explain_one(cluster, settled, &explanation.subject, nodes, limits, &mut Known::default())
        else {
            return Err(Gates::new());
        };
        let fits = matches!(other.state, State::Placed | State::Fits);
        let is_pod = explanation.subject.kind == "Pod";
        match fits && (!is_pod || self.trials.are_fewer_pending(&explanation.subject, cluster, settled)) {
            true => Ok(other.node),
            false => Err(self.named(&other)),
        }
    }

    /// Gates that are off and that an explanation speaks of.
    fn named(&self, explanation: &Explanation) -> Gates {
        let features = &self.given.profile().features;
        let stage = explanation.stage.iter().flat_map(|finding| [Some(&finding.message), finding.hint.as_ref()]);
        let reasons = explanation.requests.iter().flat_map(|request| &request.reasons).map(|reason| &reason.text);
        let dropped = self.given.dropped().flat_map(|(_, messages)| messages);
        let texts: Vec<&String> = stage.flatten().chain(reasons).chain(dropped).collect();
        let is_named = |gate: &&str| texts.iter().any(|text| text.contains(&format!("`{gate}`")));
        Features::gates().filter(|gate| features.get(gate) == Some(false)).filter(is_named).collect()
    }
}
