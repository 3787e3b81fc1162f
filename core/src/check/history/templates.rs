//! Claim templates that go although template-sync did not make them.

use std::collections::BTreeSet;

use crate::api::claim::ResourceClaimTemplate;
use crate::api::object::Object;
use crate::api::source::{TEMPLATE_NAME, is_annotated};
use crate::check::finding;
use crate::cluster::Cluster;
use crate::controllers::template_sync::is_copy;
use crate::finding::{Code, Finding};

/// What sources of copies are about.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates {
    /// Names of copies that some source made or makes.
    targets: BTreeSet<String>,
    /// Names of templates that copies are made of.
    masters: BTreeSet<String>,
}

impl Templates {
    /// Remembers what a source wants.
    pub(super) fn hear(&mut self, object: Option<&Object>) {
        let template = match object {
            Some(Object::TemplateSource(source)) => {
                self.targets.insert(source.target().to_owned());
                self.masters.extend(source.spec.source.iter().map(|master| master.name.clone()));
                return;
            }
            Some(Object::ClusterResourceClaimTemplate(template) | Object::ResourceClaimTemplate(template)) => template,
            _ => return,
        };
        let metadata = &template.metadata;
        if is_annotated(&metadata.annotations) && !is_copy(template) {
            self.targets.insert(metadata.annotations.get(TEMPLATE_NAME).unwrap_or(&metadata.name).clone());
        }
    }

    /// Whether somebody's template went whose name is that of copies: nobody but template-sync has a reason to delete it.
    pub(super) fn lost(&self, cluster: &Cluster, template: &ResourceClaimTemplate) -> Option<Finding> {
        let metadata = &template.metadata;
        let is_source = is_annotated(&metadata.annotations) || self.masters.contains(&metadata.name);
        let goes_with_namespace = match cluster.namespaces().get(&metadata.namespace) {
            Some(namespace) => namespace.metadata.is_deleting(),
            None => !cluster.namespaces().is_empty(),
        };
        if is_copy(template) || is_source || goes_with_namespace || !self.targets.contains(&metadata.name) {
            return None;
        }
        let message = "the template was deleted; it is no copy, and has the name of copies".to_owned();
        let hint = "the audit log says who deleted it; template-sync must not";
        let object = metadata.reference("ResourceClaimTemplate");
        Some(finding(Code::CheckTemplateLost, object, "", message, hint))
    }
}
