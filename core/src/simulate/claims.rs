//! Claims of Pods: made from templates where none exists, found by name otherwise.
//!
//! Rules: claims of finished or deleting Pods are not made; an entry that fails does not stop the others.

use std::collections::BTreeMap;

use crate::api::claim::{ResourceClaim, ResourceClaimTemplate};
use crate::api::meta::OwnerReference;
use crate::api::object::Object;
use crate::api::pod::{Pod, PodResourceClaim, PodResourceClaimStatus};
use crate::cluster::{Cluster, Key};
use crate::finding::{Code, Finding, ObjectRef};

use super::problems;
use crate::cluster::entries::{Resolved, group_of, resolve};
use crate::controllers::workloads::{controller, reference, root_of, template_path};
use crate::derive::{self, uid_of};

/// Annotation of a generated claim: the entry of the Pod that it was made for.
const POD_CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";

/// Labels of a namespace that allow admin access; the second is the older spelling.
const ADMIN_LABELS: [&str; 2] = ["resource.kubernetes.io/admin-access", "resource.k8s.io/admin-access"];

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

/// Where a Pod's fields stand in what the user wrote.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The workload, or the Pod itself.
    pub(crate) object: ObjectRef,
    /// Prefix of paths into the Pod.
    pub(crate) prefix: String,
}

impl Origin {
    /// Looks up a Pod's origin.
    pub(crate) fn of(cluster: &Cluster, pod: &Pod) -> Self {
        match root_of(cluster, pod) {
            Some(root) => Self { object: reference(root), prefix: template_path(root, pod) },
            None => Self { object: pod_reference(pod), prefix: String::new() },
        }
    }

    /// A finding about a field of the Pod.
    pub(crate) fn finding(&self, code: Code, path: &str, message: impl Into<String>) -> Finding {
        let path = if path.is_empty() { String::new() } else { format!("{}{path}", self.prefix) };
        Finding::new(code, path, message).about(self.object.clone())
    }
}

/// Kind, namespace and name of a Pod.
pub(crate) fn pod_reference(pod: &Pod) -> ObjectRef {
    let (namespace, name) = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
    ObjectRef { kind: "Pod".to_owned(), namespace, name }
}

/// Whether a Pod has run to its end.
pub(crate) fn is_finished(pod: &Pod) -> bool {
    matches!(pod.status.phase.as_str(), "Succeeded" | "Failed")
}

/// Whether somebody asked for the Pod to be deleted: nothing is made for it any more.
pub(crate) fn is_deleting(pod: &Pod) -> bool {
    !pod.metadata.deletion_timestamp.is_empty()
}

/// Whether the Pod's life was played already, so that what is missing is told and not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Simulated {
    /// No Pod; and what refuses devices is not asked for, because whoever wants that looks at the devices himself.
    Nobody,
    /// Pods of PodGroups only.
    Groups,
    /// All.
    All,
}

impl Simulated {
    /// Whether it was for a Pod.
    pub(crate) fn covers(self, cluster: &Cluster, pod: &Pod) -> bool {
        match self {
            Self::Nobody => false,
            Self::Groups => cluster.profile().features.generic_workload && pod.group_name().is_some(),
            Self::All => true,
        }
    }
}

/// Makes the claims that Pods need and records them in the Pods' status; Pods in the order given. For Pods whose life was
/// played they are only looked up.
pub(crate) fn make_claims(
    cluster: &mut Cluster,
    order: &[Key],
    simulated: Simulated,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Key, Vec<Entry>> {
    let mut generated = generated_claims(cluster);
    let mut unchecked = Vec::new();
    let mut all = BTreeMap::new();
    for key in order {
        let Some(pod) = cluster.pods().get(key).cloned() else { continue };
        if pod.spec.resource_claims.is_empty() {
            continue;
        }
        let mut maker = Maker {
            origin: Origin::of(cluster, &pod),
            may_make: !is_finished(&pod) && !is_deleting(&pod),
            is_played: simulated.covers(cluster, &pod),
            pod,
            cluster,
            generated: &mut generated,
            unchecked: &mut unchecked,
        };
        let entries = maker.entries();
        all.insert(key.clone(), entries);
    }
    unchecked.sort();
    unchecked.dedup();
    for namespace in unchecked {
        let message =
            format!("admin access in namespace `{namespace}` is taken as allowed: the Namespace is not given");
        let hint = format!("the namespace needs the label `{}: \"true\"`", ADMIN_LABELS[0]);
        findings.push(Finding::new(Code::RunAdminUnchecked, "", message).with_hint(hint));
    }
    all
}

/// Names of generated claims by owner and entry.
fn generated_claims(cluster: &Cluster) -> BTreeMap<(String, String), String> {
    let mut generated = BTreeMap::new();
    for ((_, name), claim) in cluster.claims() {
        let entry = claim.metadata.annotations.get(POD_CLAIM_NAME);
        if let (Some(owner), Some(entry)) = (controller(&claim.metadata), entry) {
            generated.entry((owner.uid.clone(), entry.clone())).or_insert_with(|| name.clone());
        }
    }
    generated
}

/// The template that a generated claim was made from.
pub(crate) fn template_of(cluster: &Cluster, claim: &ResourceClaim) -> Option<ObjectRef> {
    let owner = controller(&claim.metadata)?;
    let entry = claim.metadata.annotations.get(POD_CLAIM_NAME)?;
    let namespace = &claim.metadata.namespace;
    let key = (namespace.clone(), owner.name.clone());
    let entries = match owner.kind.as_str() {
        "Pod" => &cluster.pods().get(&key)?.spec.resource_claims,
        "PodGroup" => &cluster.pod_groups().get(&key)?.spec.resource_claims,
        _ => return None,
    };
    let source = entries.iter().find(|source| source.name == *entry)?;
    match (&source.resource_claim_template_name, &source.cluster_resource_claim_template_name) {
        (Some(name), _) => Some(ObjectRef {
            kind: "ResourceClaimTemplate".to_owned(),
            namespace: namespace.clone(),
            name: name.clone(),
        }),
        (None, Some(name)) => {
            let kind = "ClusterResourceClaimTemplate".to_owned();
            Some(ObjectRef { kind, namespace: String::new(), name: name.clone() })
        }
        (None, None) => None,
    }
}

/// The claims of one Pod while they are made.
struct Maker<'m> {
    cluster: &'m mut Cluster,
    generated: &'m mut BTreeMap<(String, String), String>,
    unchecked: &'m mut Vec<String>,
    pod: Pod,
    origin: Origin,
    may_make: bool,
    is_played: bool,
}

impl Maker<'_> {
    fn entries(&mut self) -> Vec<Entry> {
        let sources = self.pod.spec.resource_claims.clone();
        let mut entries = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            let path = format!("spec.resourceClaims[{index}]");
            let (claim, problem) = match self.resolve(source, &path) {
                Ok(claim) => (claim, None),
                Err(problem) => (self.recorded(&source.name).flatten(), Some(problem)),
            };
            entries.push(Entry { name: source.name.clone(), claim, problem });
        }
        self.record(&sources, &entries);
        entries
    }

    /// The name of the claim, `None` where the Pod's status says that none is needed.
    fn resolve(&mut self, source: &PodResourceClaim, path: &str) -> Result<Option<String>, Finding> {
        if self.is_played {
            return self.look_up(source, path);
        }
        if let Some(name) = &source.resource_claim_name {
            let path = format!("{path}.resourceClaimName");
            self.usable(name).map_err(|problem| self.located(problem, &path))?;
            return Ok(Some(name.clone()));
        }
        if source.pod_group_resource_claim.is_some() {
            let path = format!("{path}.podGroupResourceClaim");
            let message = format!("entry `{}` needs a claim of a PodGroup, and the Pod is in none", source.name);
            return Err(self.origin.finding(Code::RunGroupClaim, &path, message));
        }
        let has_template =
            source.resource_claim_template_name.is_some() || source.cluster_resource_claim_template_name.is_some();
        if !has_template {
            return Err(problems::no_source(source, path, &self.origin));
        }
        if let Some(recorded) = self.recorded(&source.name) {
            match recorded {
                None => return Ok(None),
                Some(name) if self.is_own(&name) => {
                    self.usable(&name).map_err(|problem| self.located(problem, path))?;
                    return Ok(Some(name));
                }
                // The claim is gone or belongs to somebody else: a new one is made.
                Some(_) => {}
            }
        }
        let owner = uid_of("Pod", &self.pod.metadata);
        let known = self.generated.get(&(owner.clone(), source.name.clone())).cloned();
        if let Some(name) = known.filter(|name| self.is_own(name)) {
            self.usable(&name).map_err(|problem| self.located(problem, path))?;
            return Ok(Some(name));
        }
        if !self.may_make {
            return Ok(None);
        }
        let template = self.template(source, path)?;
        let name = self.make(&source.name, &owner, &template);
        self.generated.insert((owner, source.name.clone()), name.clone());
        Ok(Some(name))
    }

    /// The same where everything that could be made was made.
    fn look_up(&mut self, source: &PodResourceClaim, path: &str) -> Result<Option<String>, Finding> {
        let group =
            group_of(self.cluster, &self.pod).filter(|_| self.cluster.profile().features.workload_resource_claims);
        let name = match resolve(&self.pod, source, group) {
            Resolved::Claim { name, .. } => name.to_owned(),
            Resolved::NotNeeded => return Ok(None),
            Resolved::NoSource => return Err(problems::no_source(source, path, &self.origin)),
            Resolved::NotCreated if !self.may_make => return Ok(None),
            Resolved::NotCreated => return Err(self.not_made(source, path)),
        };
        self.usable(&name).map_err(|problem| self.located(problem, path))?;
        Ok(Some(name))
    }

    /// Why the claim of an entry was not made.
    fn not_made(&mut self, source: &PodResourceClaim, path: &str) -> Finding {
        let missing = |what: String| format!("entry `{}` needs a claim of its PodGroup: {what}", source.name);
        let group = self.pod.group_name().unwrap_or_default().to_owned();
        let found = self.cluster.pod_groups().get(&(self.pod.metadata.namespace.clone(), group.clone()));
        let mut made_from = source.clone();
        if let Some(wanted) = &source.pod_group_resource_claim {
            let path = format!("{path}.podGroupResourceClaim");
            let finding = |what: String| self.origin.finding(Code::RunGroupClaim, &path, missing(what));
            let Some(found) = found else { return finding(format!("there is no PodGroup `{group}`")) };
            match found.spec.resource_claims.iter().find(|entry| entry.name == *wanted) {
                Some(entry) => made_from = entry.clone(),
                None => return finding(format!("PodGroup `{group}` has no entry `{wanted}`")),
            }
        }
        if let Err(problem) = self.template(&made_from, path) {
            return problem;
        }
        let message = format!("the claim of entry `{}` was not made yet", source.name);
        self.origin.finding(Code::RunClaimNotMade, path, message)
    }

    fn located(&self, problem: Finding, path: &str) -> Finding {
        let path = format!("{}{path}", self.origin.prefix);
        Finding { path, ..problem }.about(self.origin.object.clone())
    }

    /// What the Pod's status says about an entry: nothing, that none is needed, or a name.
    fn recorded(&self, entry: &str) -> Option<Option<String>> {
        let statuses = &self.pod.status.resource_claim_statuses;
        statuses.iter().find(|status| status.name == entry).map(|status| status.resource_claim_name.clone())
    }

    fn claim(&self, name: &str) -> Option<&ResourceClaim> {
        self.cluster.claims().get(&(self.pod.metadata.namespace.clone(), name.to_owned()))
    }

    fn is_own(&self, name: &str) -> bool {
        let owner = uid_of("Pod", &self.pod.metadata);
        self.claim(name).and_then(|claim| controller(&claim.metadata)).is_some_and(|controller| controller.uid == owner)
    }

    /// Checks a claim that is referred to.
    fn usable(&mut self, name: &str) -> Result<(), Finding> {
        let namespace = self.pod.metadata.namespace.clone();
        let Some(claim) = self.claim(name) else {
            return Err(problems::missing_claim(self.cluster, &namespace, name));
        };
        if !claim.metadata.deletion_timestamp.is_empty() {
            let message = format!("claim `{name}` is being deleted");
            return Err(Finding::new(Code::RunClaimDeleting, "", message));
        }
        let allocated = claim.status.allocation.is_some();
        if !allocated && has_admin_access(&claim.spec.devices.requests) {
            self.check_admin(&namespace, &format!("claim `{name}`"))?;
        }
        Ok(())
    }

    fn check_admin(&mut self, namespace: &str, what: &str) -> Result<(), Finding> {
        if !self.cluster.profile().features.admin_access {
            // The API server drops the field, so the claim asks for devices of its own.
            return Ok(());
        }
        match self.cluster.namespaces().get(namespace) {
            None => {
                self.unchecked.push(namespace.to_owned());
                Ok(())
            }
            Some(given) => {
                let labels = &given.metadata.labels;
                let allowed = ADMIN_LABELS.iter().any(|key| labels.get(*key).is_some_and(|value| value == "true"));
                if allowed { Ok(()) } else { Err(problems::admin_namespace(namespace, what, ADMIN_LABELS[0])) }
            }
        }
    }

    /// The template of an entry, checked.
    fn template(&mut self, source: &PodResourceClaim, path: &str) -> Result<ResourceClaimTemplate, Finding> {
        let namespace = self.pod.metadata.namespace.clone();
        let features = self.cluster.profile().features;
        let (field, name, found) = match &source.resource_claim_template_name {
            Some(name) => {
                let found = self.cluster.templates().get(&(namespace.clone(), name.clone())).cloned();
                ("resourceClaimTemplateName", name.clone(), found)
            }
            None => {
                let name = source.cluster_resource_claim_template_name.clone().unwrap_or_default();
                let field = "clusterResourceClaimTemplateName";
                if !features.cluster_resource_claim_templates {
                    let message = format!("`{field}` needs the feature gate `ClusterResourceClaimTemplates`");
                    return Err(self.origin.finding(Code::AllocFeatureOff, &format!("{path}.{field}"), message));
                }
                let found = self.cluster.cluster_templates().get(&name).cloned();
                (field, name, found)
            }
        };
        let path = format!("{path}.{field}");
        let Some(template) = found else {
            let problem = problems::missing_template(self.cluster, &namespace, &name, field);
            return Err(self.located(problem, &path));
        };
        let requests = &template.spec.spec.devices.requests;
        let lists = requests.iter().any(|request| !request.first_available.is_empty());
        if lists && !features.prioritized_list {
            let message =
                format!("template `{name}` has `firstAvailable`, which needs the feature gate `DRAPrioritizedList`");
            return Err(self.origin.finding(Code::AllocFeatureOff, &path, message));
        }
        if has_admin_access(requests) {
            if !features.admin_access {
                let message =
                    format!("template `{name}` has `adminAccess`, which needs the feature gate `DRAAdminAccess`");
                return Err(self.origin.finding(Code::AllocFeatureOff, &path, message));
            }
            self.check_admin(&namespace, &format!("a claim from template `{name}`"))
                .map_err(|problem| self.located(problem, &path))?;
        }
        Ok(template)
    }

    /// Makes the claim of an entry.
    fn make(&mut self, entry: &str, owner: &str, template: &ResourceClaimTemplate) -> String {
        let pod = &self.pod.metadata;
        let prefix = derive::claim_prefix(&pod.name, entry);
        let mut claim = ResourceClaim { spec: template.spec.spec.clone(), ..ResourceClaim::default() };
        let metadata = &mut claim.metadata;
        metadata.namespace = pod.namespace.clone();
        metadata.generate_name = prefix.clone();
        metadata.labels = template.spec.metadata.labels.clone();
        metadata.annotations = template.spec.metadata.annotations.clone();
        metadata.annotations.insert(POD_CLAIM_NAME.to_owned(), entry.to_owned());
        metadata.owner_references.push(OwnerReference {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            name: pod.name.clone(),
            uid: owner.to_owned(),
            controller: Some(true),
            ..OwnerReference::default()
        });
        // A name that is taken is tried again with other letters; with so many of them that ends soon.
        for attempt in 0..u16::MAX {
            let name = derive::generated_name(&prefix, &[owner, entry, &attempt.to_string()]);
            if self.claim(&name).is_none() {
                claim.metadata.name = name;
                break;
            }
        }
        claim.metadata.uid = derive::uid("ResourceClaim", &claim.metadata.namespace, &claim.metadata.name);
        let name = claim.metadata.name.clone();
        self.cluster.apply(Object::ResourceClaim(Box::new(claim)));
        name
    }

    /// Writes the names of the claims made into the Pod's status, and the id that references use.
    fn record(&mut self, sources: &[PodResourceClaim], entries: &[Entry]) {
        let before = self.pod.clone();
        self.pod.metadata.uid = uid_of("Pod", &self.pod.metadata);
        for (source, entry) in sources.iter().zip(entries) {
            if source.resource_claim_name.is_some() || entry.problem.is_some() {
                continue;
            }
            let Some(claim) = entry.claim.clone() else { continue };
            let statuses = &mut self.pod.status.resource_claim_statuses;
            match statuses.iter_mut().find(|status| status.name == entry.name) {
                Some(status) => status.resource_claim_name = Some(claim),
                None => statuses.push(PodResourceClaimStatus {
                    name: entry.name.clone(),
                    resource_claim_name: Some(claim),
                    ..PodResourceClaimStatus::default()
                }),
            }
        }
        if self.pod != before {
            self.cluster.apply(Object::Pod(Box::new(self.pod.clone())));
        }
    }
}

/// Whether some request asks for admin access.
fn has_admin_access(requests: &[crate::api::claim::DeviceRequest]) -> bool {
    requests.iter().filter_map(|request| request.exactly.as_ref()).any(|exact| exact.admin_access == Some(true))
}
