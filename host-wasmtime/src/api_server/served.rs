//! Which version of each kind the API server is asked for.

use std::collections::BTreeMap;
use std::sync::RwLock;

use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject};
use kube::{Client, Error};

use super::Resource;

/// Versions that were found, by the kind as references name it.
#[derive(Debug, Default)]
pub(crate) struct Served(RwLock<BTreeMap<&'static str, ApiResource>>);

impl Served {
    /// The version of a kind that the server has, if it was found.
    pub(crate) fn of_kind(&self, kind: &str) -> Option<ApiResource> {
        self.0.read().ok()?.get(kind).cloned()
    }

    /// Looks for the first version of a kind that the server has; `None` when it has none.
    pub(crate) async fn find(&self, client: &Client, resource: &Resource) -> Result<Option<ApiResource>, Error> {
        if let Some(known) = self.of_kind(resource.reference_kind()) {
            return Ok(Some(known));
        }
        for version in resource.versions {
            let kind = resource.of_version(version);
            let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
            match api.list_metadata(&ListParams::default().limit(1)).await {
                Ok(_) => {
                    if let Ok(mut known) = self.0.write() {
                        known.insert(resource.reference_kind(), kind.clone());
                    }
                    return Ok(Some(kind));
                }
                Err(Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}
