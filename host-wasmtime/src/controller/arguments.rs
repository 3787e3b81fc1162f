//! The arguments of `apportion controller`.

use std::env;
use std::net::SocketAddr;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use super::parts::PartName;
use crate::cli::arguments::{KubernetesArguments, parse_count};

/// Parts that run where nobody says which: nobody else does what they do.
const USUAL: [PartName; 2] = [PartName::TemplateSync, PartName::Explainer];

#[derive(Args, Debug)]
pub(crate) struct ControllerArguments {
    /// Parts that run; without any, template-sync and explainer
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1..)]
    pub(crate) controllers: Vec<PartName>,
    /// The controller's namespace, where its Lease is and master templates are; that of its Pod where left out
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// Let cluster-wide templates ask for admin access, in namespaces that allow it
    #[arg(long)]
    pub(crate) allow_admin_access: bool,
    /// Whether several replicas agree on one that works
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    pub(crate) leader_elect: bool,
    #[command(flatten)]
    pub(crate) kubernetes: KubernetesArguments,
    /// The context of the kubeconfig; outside of a cluster the current one where left out
    #[arg(long, value_name = "NAME", help_heading = "API server")]
    pub(crate) context: Option<String>,
    /// Writes per second
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = parse_count::<u32>, help_heading = "API server")]
    pub(crate) qps: u32,
    /// Writes at once after a quiet time
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_count::<u32>, help_heading = "API server")]
    pub(crate) burst: u32,
    /// Where /metrics, /livez and /readyz are
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", help_heading = "Output")]
    pub(crate) metrics_address: SocketAddr,
    /// How the log is written
    #[arg(long, value_enum, default_value_t = LogFormat::Text, help_heading = "Output")]
    pub(crate) log_format: LogFormat,
    /// Send traces to the OTLP collector at this base URL, over HTTP. `OTEL_EXPORTER_OTLP_ENDPOINT` says the same
    #[arg(long, value_name = "URL", help_heading = "Output")]
    pub(crate) otlp_endpoint: Option<String>,
    /// Log every decision
    #[arg(long, short = 'v', help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Print the roles that the parts need, and do nothing else
    #[arg(long, help_heading = "Output")]
    pub(crate) print_rbac: bool,
    /// Print the CustomResourceDefinition of cluster-wide templates, and do nothing else
    #[arg(long, conflicts_with = "print_rbac", help_heading = "Output")]
    pub(crate) print_crd: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object for each line
    Json,
}

impl ControllerArguments {
    /// The parts, each once, in a fixed order.
    pub(crate) fn parts(&self) -> Vec<PartName> {
        let mut parts = match self.controllers.as_slice() {
            [] => USUAL.to_vec(),
            given => given.to_vec(),
        };
        parts.sort();
        parts.dedup();
        parts
    }

    /// The parts that work: `conditions` only says what the explainer may write.
    ///
    /// # Errors
    ///
    /// When there is no explainer that could write conditions.
    pub(crate) fn reconcilers(&self) -> Result<Vec<PartName>> {
        let mut parts = self.parts();
        if parts.contains(&PartName::Conditions) && !parts.contains(&PartName::Explainer) {
            bail!("the part `conditions` writes what `explainer` finds: add `explainer` to `--controllers`");
        }
        parts.retain(|part| *part != PartName::Conditions);
        Ok(parts)
    }

    /// The controller's namespace.
    pub(crate) fn namespace(&self) -> String {
        let given = self.namespace.clone().or_else(|| env::var("POD_NAMESPACE").ok());
        given.unwrap_or_else(|| "apportion-system".to_owned())
    }
}
