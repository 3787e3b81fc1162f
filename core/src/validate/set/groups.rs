//! PodGroups: the Workload they come from, the templates of their claims.

use super::index::{Index, Key};
use super::json::{Json, field, inner, kind, list, namespace, text};
use super::{missing, pods};
use crate::finding::{Code, Finding};
use crate::gather::Gather;

/// References of a PodGroup or Workload.
pub(super) fn check(object: &Json<'_>, index: &Index<'_>, found: &mut Vec<Finding>) {
    match kind(object) {
        "PodGroup" => {
            origin(object, index, found);
            claims(object, "spec.resourceClaims", inner(object, "spec.resourceClaims"), index, found);
        }
        "Workload" => {
            for (number, template) in list(inner(object, "spec.podGroupTemplates")).iter().enumerate() {
                let at = format!("spec.podGroupTemplates[{number}].resourceClaims");
                claims(object, &at, field(template, "resourceClaims"), index, found);
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
            let at = format!("{at}.{workload_field}");
            return found.push(missing(
                Code::LinkUnknownWorkload,
                at,
                message,
                Key(space, name),
                index.workloads.keys().copied(),
            ));
        };
        let template = match template_field {
            "" => {
                inner(object, "spec.podGroupTemplateRef").map(|reference| text(reference, "name")).unwrap_or_default()
            }
            field => text(reference, field),
        };
        let templates = ["spec.podGroupTemplates", "spec.podGroups"].map(|path| list(inner(workload, path)));
        let names: std::collections::BTreeSet<&str> =
            templates.into_iter().flatten().map(|template| text(template, "name")).gather();
        if !template.is_empty() && !names.contains(template) {
            let message = format!("Workload `{name}` has no template `{template}`");
            let at = format!("{at}.{template_field}");
            found.push(missing(
                Code::LinkUnknownGroupTemplate,
                at.trim_end_matches('.').to_owned(),
                message,
                Key("", template),
                names.iter().map(|name| Key("", name)),
            ));
        }
        return;
    }
}

fn claims(object: &Json<'_>, at: &str, claims: Option<&Json<'_>>, index: &Index<'_>, found: &mut Vec<Finding>) {
    for (number, claim) in list(claims).iter().enumerate() {
        pods::sources(object, &format!("{at}[{number}]"), claim, index, found);
    }
}
