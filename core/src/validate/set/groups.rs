//! PodGroups: the Workload they come from, the templates of their claims.

use super::index::{Index, Key};
use super::json::{Json, field, inner, kind, list, namespace, text};
use super::missing;
use crate::finding::{Code, Finding};

/// References of a PodGroup or Workload.
pub(super) fn check(object: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    match kind(object) {
        "PodGroup" => {
            origin(object, index, found);
            claims(object, "spec.resourceClaims", list(inner(object, "spec.resourceClaims")), index, found);
        }
        "Workload" => {
            for (number, template) in list(inner(object, "spec.podGroupTemplates")).iter().enumerate() {
                let at = format!("spec.podGroupTemplates[{number}].resourceClaims");
                claims(object, &at, list(field(template, "resourceClaims")), index, found);
            }
        }
        _ => {}
    }
}

/// The Workload and the template that a group names, in any spelling.
fn origin(object: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    let spellings = [
        ("spec.podGroupTemplateRef.workload", "workloadName", "podGroupTemplateName"),
        ("spec.podGroupTemplateRef", "workloadName", "podGroupTemplateName"),
        ("spec.workloadRef", "workloadName", "templateName"),
        ("spec.workloadRef", "name", ""),
    ];
    for (at, workload_field, template_field) in spellings {
        let Some(reference) = inner(object, at) else { continue };
        let name = text(reference, workload_field);
        if name.is_empty() {
            continue;
        }
        let space = namespace(object);
        let Some(workload) = index.workloads.get(&Key(space, name)) else {
            let message =
                format!("there is no Workload `{name}` in namespace `{space}`: the API server refuses the PodGroup");
            found.push(missing(
                Code::LinkUnknownWorkload,
                format!("{at}.{workload_field}"),
                message,
                index.workloads.keys(),
            ));
            return;
        };
        let template = match template_field {
            "" => {
                inner(object, "spec.podGroupTemplateRef").map(|reference| text(reference, "name")).unwrap_or_default()
            }
            field => text(reference, field),
        };
        let templates = ["spec.podGroupTemplates", "spec.podGroups"].map(|path| list(inner(workload, path)));
        let names: std::collections::BTreeSet<&str> =
            templates.into_iter().flatten().map(|template| text(template, "name")).collect();
        if !template.is_empty() && !names.contains(template) {
            let message = format!("Workload `{name}` has no template `{template}`");
            let at = format!("{at}.{template_field}");
            found.push(missing(Code::LinkUnknownGroupTemplate, at.trim_end_matches('.').to_owned(), message, &names));
        }
        return;
    }
}

fn claims(object: &Json<'_>, at: &str, claims: &[Json<'_>], index: &Index<'_>, found: &mut Vec<Finding>) {
    let space = namespace(object);
    for (number, claim) in claims.iter().enumerate() {
        let at = format!("{at}[{number}]");
        let (name, template, cluster) = (
            text(claim, "resourceClaimName"),
            text(claim, "resourceClaimTemplateName"),
            text(claim, "clusterResourceClaimTemplateName"),
        );
        if !name.is_empty() && !index.claims.contains_key(&Key(space, name)) {
            let message = format!("there is no ResourceClaim `{name}` in namespace `{space}`");
            found.push(missing(
                Code::LinkUnknownClaim,
                format!("{at}.resourceClaimName"),
                message,
                index.claims.keys(),
            ));
        }
        if !template.is_empty() && !index.templates.contains_key(&Key(space, template)) {
            let message = format!("there is no ResourceClaimTemplate `{template}` in namespace `{space}`");
            let at = format!("{at}.resourceClaimTemplateName");
            found.push(missing(Code::LinkUnknownTemplate, at, message, index.templates.keys()));
        }
        if !cluster.is_empty() && !index.cluster_templates.contains_key(cluster) {
            let message = format!("there is no ClusterResourceClaimTemplate `{cluster}`");
            let at = format!("{at}.clusterResourceClaimTemplateName");
            found.push(missing(Code::LinkUnknownTemplate, at, message, index.cluster_templates.keys()));
        }
    }
}
