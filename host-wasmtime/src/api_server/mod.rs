//! An API server, as the command line reads it and the controller watches and writes it.

mod busy;
mod follow;
mod list;
mod raw;
mod rbac;
mod resources;
mod served;

use anyhow::{Context, Result};
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tower::util::AndThenLayer;

pub(crate) use follow::{Followed, follow};
pub(crate) use list::list;
pub(crate) use raw::{Raw, unread};
pub(crate) use rbac::{reader_role, rules};
pub(crate) use resources::{
    CLAIMS, CLASSES, NAMESPACES, NODES, PLANNED, POD_GROUPS, PODS, READ, Resource, SLICES, TAINT_RULES,
    TEMPLATE_SOURCES, TEMPLATES, VOLUME_CLAIMS, VOLUMES, WATCHED,
};
pub(crate) use served::Served;

/// An API server that can be asked.
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// The context of the kubeconfig.
    pub(crate) context: String,
}

/// Connects through the kubeconfig, as kubectl finds it: `$KUBECONFIG`, else the file in the user's folder.
pub(crate) async fn connect(context: Option<&str>) -> Result<Connection> {
    let kubeconfig = Kubeconfig::read().context("the kubeconfig cannot be read")?;
    let context = context.map(str::to_owned).or_else(|| kubeconfig.current_context.clone());
    let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.context("the kubeconfig cannot be used")?;
    connection(config, context.unwrap_or_default())
}

/// Connects as a Pod of the cluster does, where there is no kubeconfig and none is asked for. A request that fails is not
/// repeated behind the caller's back.
pub(crate) async fn connect_as_pod(context: Option<&str>) -> Result<Connection> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let (mut config, name) = match (Config::from_kubeconfig(&options).await, context) {
        (Ok(config), _) => (config, context.unwrap_or("current")),
        (Err(error), Some(_)) => return Err(error).context("the kubeconfig cannot be used"),
        (Err(_), None) => {
            (Config::incluster().context("there is neither a kubeconfig nor a cluster around")?, "cluster")
        }
    };
    config.default_retry = false;
    connection(config, name.to_owned())
}

fn connection(config: Config, context: String) -> Result<Connection> {
    let builder = ClientBuilder::try_from(config).context("the API server cannot be connected to")?;
    let client = builder.with_layer(&AndThenLayer::new(busy::in_form)).build();
    Ok(Connection { client, context })
}
