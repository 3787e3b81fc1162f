//! What Pods, claims and templates refer to and is not there, and Pods that the API server would refuse, in the words of `run`. What is missing
//! may still come, so it is a warning here.

use super::Facts;
use crate::allocate::Limits;
use crate::control_plane::Simulation;
use crate::explain::origin::template_of;
use crate::explain::reasons::entries;
use crate::explain::reasons::problems::{class_problems, request_problems};
use crate::finding::{Code, Finding, Severity};

pub(super) fn inspect(facts: &Facts, findings: &mut Vec<Finding>) {
    let mut simulation = Simulation::of(&facts.cluster, Limits::default());
    simulation.copy_templates();
    findings.extend(simulation.findings().into_iter().filter(|finding| finding.code == Code::RunRefused));
    let cluster = simulation.server().cluster();
    let pods = cluster.pods().values();
    let waiting = pods.filter(|pod| pod.spec.node_name.is_empty() && !pod.is_finished() && !pod.metadata.is_deleting());
    let of_pods = waiting.flat_map(|pod| entries(cluster, pod)).filter_map(|entry| entry.problem);
    findings.extend(of_pods.filter(is_lasting).map(warning));
    // Without any class those of the drivers are elsewhere.
    if cluster.classes().is_empty() {
        return;
    }
    let claims = cluster.claims().values().filter(|claim| claim.status.allocation.is_none());
    let claims =
        claims.filter(|claim| template_of(cluster, claim).is_none_or(|template| cluster.metadata(&template).is_none()));
    let of_templates = facts.cluster.templates().values().flat_map(|template| {
        let of = format!("template `{}`", template.metadata.name);
        let object = template.metadata.reference("ResourceClaimTemplate");
        let found = class_problems(cluster, &of, &template.spec.spec.devices.requests);
        found.into_iter().map(move |one| Finding { path: format!("spec.{}", one.path), ..one.about(object.clone()) })
    });
    let found = claims.flat_map(|claim| request_problems(cluster, claim)).chain(of_templates);
    findings.extend(found.filter(is_lasting).map(warning));
}

/// Whether nothing but a change of objects ends a problem, and no other finding names it.
fn is_lasting(problem: &Finding) -> bool {
    !matches!(
        problem.code,
        Code::RunNotGiven | Code::RunClaimNotMade | Code::RunClaimDeleting | Code::RunRefused | Code::RunAdminNamespace
    )
}

fn warning(problem: Finding) -> Finding {
    let hint = problem.hint.clone().unwrap_or_else(|| "correct the object: no controller does".to_owned());
    problem.with_severity(Severity::Warning).with_hint(hint)
}
