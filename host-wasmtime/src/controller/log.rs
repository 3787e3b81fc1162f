//! Where log lines and spans go.

use std::env;

use anyhow::Result;
use tokio::runtime::Handle;
use tracing::info;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use super::arguments::{ControllerArguments, LogFormat};
use super::traces::{self, Traces};

/// Logs from now on, and sends traces where that is asked for.
pub(super) fn start(arguments: &ControllerArguments, identity: &str, runtime: &Handle) -> Result<Option<Traces>> {
    let level = match arguments.verbose {
        true => LevelFilter::DEBUG,
        false => LevelFilter::INFO,
    };
    let lines = tracing_subscriber::fmt::layer::<Registry>().with_writer(std::io::stderr).with_ansi(false);
    let lines = match arguments.log_format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let log = tracing_subscriber::registry().with(lines.with_filter(level));
    let endpoint = traces::endpoint(arguments.otlp_endpoint.as_deref(), |name| env::var(name).ok())?;
    let Some(endpoint) = endpoint else {
        log.init();
        return Ok(None);
    };
    let traces = Traces::start(&endpoint, identity, runtime)?;
    log.with(traces.layer()).init();
    info!(%endpoint, "traces are sent");
    Ok(Some(traces))
}
