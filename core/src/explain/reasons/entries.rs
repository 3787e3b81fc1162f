//! The claims of a Pod's entries, and why there is none.

use std::sync::Arc;

use super::problems;
use crate::api::claim::{ResourceClaim, ResourceClaimTemplate, asks_for_admin_access};
use crate::api::pod::{Pod, PodResourceClaim};
use crate::cluster::Cluster;
use crate::cluster::entries::{Resolved, group_of, resolve};
use crate::explain::group;
use crate::explain::origin::Origin;
use crate::finding::{Code, Finding, list};
use crate::validate::{allows_admin_access, no_admin_access};

/// One entry of a Pod's `resourceClaims`, resolved.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    /// Name of the entry.
    pub(crate) name: String,
    /// Name of the claim; absent where there is none and where none is needed.
    pub(crate) claim: Option<String>,
    /// Why the Pod cannot use it.
    pub(crate) problem: Option<Finding>,
}

/// The entries of a Pod in their order.
pub(crate) fn entries(cluster: &Cluster, pod: &Pod) -> Vec<Entry> {
    let look = Look { cluster, pod, origin: Origin::of(cluster, pod) };
    let resolved = pod.spec.resource_claims.iter().enumerate().map(|(index, source)| {
        let path = format!("spec.resourceClaims[{index}]");
        let name = source.name.clone();
        match look.resolve(source, &path) {
            Ok(claim) => Entry { name, claim, problem: None },
            Err(problem) => Entry { claim: look.known(source), name, problem: Some(problem) },
        }
    });
    resolved.collect()
}

struct Look<'c> {
    cluster: &'c Cluster,
    pod: &'c Pod,
    origin: Origin,
}

impl Look<'_> {
    /// The name of the claim, `None` where the Pod's status says that none is needed.
    fn resolve(&self, source: &PodResourceClaim, path: &str) -> Result<Option<String>, Finding> {
        let knows_groups = self.cluster.profile().features.workload_resource_claims;
        let group = group_of(self.cluster, self.pod).filter(|_| knows_groups);
        match resolve(self.pod, source, group) {
            Resolved::Claim { name, .. } => {
                let field = if source.resource_claim_name.is_some() { ".resourceClaimName" } else { "" };
                let located = |problem| self.origin.locate(problem, &format!("{path}{field}"));
                self.usable(name).map_err(located)?;
                Ok(Some(name.to_owned()))
            }
            Resolved::NotNeeded => Ok(None),
            Resolved::NoSource => Err(problems::no_source(source, path, &self.origin)),
            Resolved::NotCreated if self.pod.is_finished() || self.pod.metadata.is_deleting() => Ok(None),
            Resolved::NotCreated => Err(self.not_made(source, path)),
        }
    }

    /// Why the claim of an entry was not made.
    fn not_made(&self, source: &PodResourceClaim, path: &str) -> Finding {
        let mut made_from = source;
        let found = group_of(self.cluster, self.pod);
        if let Some(wanted) = &source.pod_group_resource_claim {
            let path = format!("{path}.podGroupResourceClaim");
            let finding = |what: String| {
                let message = format!("entry `{}` needs a claim of its PodGroup: {what}", source.name);
                self.origin.finding(Code::RunGroupClaim, &path, message)
            };
            let Some(group) = self.pod.group_name() else { return finding("the Pod is in none".to_owned()) };
            let Some(found) = found else {
                if self.cluster.is_not_given("PodGroup") {
                    return self.origin.locate(problems::not_given("PodGroup", "PodGroup", group), &path);
                }
                return finding(format!("PodGroup `{group}` does not exist"));
            };
            match found.spec.resource_claims.iter().find(|entry| entry.name == *wanted) {
                Some(entry) => made_from = entry,
                None => {
                    let known = list(found.spec.resource_claims.iter().map(|entry| &entry.name));
                    let problem = finding(format!("PodGroup `{group}` has no entry `{wanted}`"));
                    return problem.with_hint(format!("its entries are {known}"));
                }
            }
        }
        if let Err(problem) = self.template(made_from, path) {
            return problem;
        }
        if let Some(hold) = group::holds(self.cluster, self.pod).filter(|_| found.is_none()) {
            return hold;
        }
        let message = format!("the claim of entry `{}` was not made yet", source.name);
        self.origin.finding(Code::RunClaimNotMade, path, message)
    }

    /// What the Pod's status records for an entry, or the claim that it names, if there is such a claim.
    fn known(&self, source: &PodResourceClaim) -> Option<String> {
        let key = |name: &String| (self.pod.metadata.namespace.clone(), name.clone());
        let named = source.resource_claim_name.clone().filter(|name| self.cluster.claims().contains_key(&key(name)));
        let statuses = &self.pod.status.resource_claim_statuses;
        let recorded = || statuses.iter().find(|status| status.name == source.name)?.resource_claim_name.clone();
        named.or_else(recorded)
    }

    /// Checks a claim that is referred to.
    fn usable(&self, name: &str) -> Result<(), Finding> {
        let namespace = &self.pod.metadata.namespace;
        let Some(claim) = self.cluster.claims().get(&(namespace.clone(), name.to_owned())) else {
            return Err(problems::missing_claim(self.cluster, namespace, name));
        };
        if claim.metadata.is_deleting() {
            return Err(problems::deleted_claim(name, &claim.metadata.finalizers));
        }
        Ok(())
    }

    /// The template of an entry, checked.
    fn template(&self, source: &PodResourceClaim, path: &str) -> Result<(), Finding> {
        let namespace = &self.pod.metadata.namespace;
        let features = self.cluster.profile().features;
        let (field, kind, name, found) = match &source.resource_claim_template_name {
            Some(name) => {
                let found = self.cluster.templates().get(&(namespace.clone(), name.clone()));
                ("resourceClaimTemplateName", "ResourceClaimTemplate", name, found)
            }
            None => {
                let Some(name) = &source.cluster_resource_claim_template_name else { return Ok(()) };
                let field = "clusterResourceClaimTemplateName";
                if !features.cluster_resource_claim_templates {
                    let message = format!("`{field}` needs the feature gate `ClusterResourceClaimTemplates`");
                    return Err(self.origin.finding(Code::AllocFeatureOff, &format!("{path}.{field}"), message));
                }
                (field, "ClusterResourceClaimTemplate", name, self.cluster.cluster_templates().get(name))
            }
        };
        let path = format!("{path}.{field}");
        let Some(template) = found else {
            let problem = problems::missing_template(self.cluster, namespace, name, kind);
            return Err(self.origin.locate(problem, &path));
        };
        self.admitted(template, name).map_err(|problem| self.origin.locate(problem, &path))
    }

    /// Why the API server refuses a claim made from a template.
    fn admitted(&self, template: &ResourceClaimTemplate, name: &str) -> Result<(), Finding> {
        let requests = &template.spec.spec.devices.requests;
        let features = self.cluster.profile().features;
        let lists = requests.iter().any(|request| !request.first_available.is_empty());
        if lists && !features.prioritized_list {
            let message =
                format!("template `{name}` has `firstAvailable`, which needs the feature gate `DRAPrioritizedList`");
            return Err(Finding::new(Code::AllocFeatureOff, "", message));
        }
        let namespace = &self.pod.metadata.namespace;
        let is_allowed =
            self.cluster.namespaces().get(namespace).is_none_or(|given| allows_admin_access(&given.metadata.labels));
        if features.admin_access && asks_for_admin_access(requests) && !is_allowed {
            return Err(no_admin_access(&format!("a claim from template `{name}`"), namespace));
        }
        Ok(())
    }
}

/// The claims that a Pod's entries name, each once, in their order.
pub(crate) fn claims_of<'c>(cluster: &'c Cluster, namespace: &str, entries: &[Entry]) -> Vec<&'c ResourceClaim> {
    let mut claims: Vec<&ResourceClaim> = Vec::new();
    for name in entries.iter().filter_map(|entry| entry.claim.as_ref()) {
        let claim = cluster.claims().get(&(namespace.to_owned(), name.clone())).map(Arc::as_ref);
        claims.extend(claim.filter(|claim| claims.iter().all(|known| known.metadata.name != claim.metadata.name)));
    }
    claims
}
