//! `apportion controller`: parts of the component at work in a cluster.
//!
//! ```text
//! watch  ->  unit: queue, engine (component in its thread)  ->  writer  ->  API server
//!              ^                                                  |
//!              +------------- what became of it -----------------+        leader: who may write
//! ```

mod ahead;
mod arguments;
mod engine;
mod events;
mod leader;
mod limit;
mod log;
mod metrics;
mod parts;
mod queue;
mod raw;
mod rbac;
mod serve;
mod served;
mod steps;
mod traces;
mod unit;
mod watch;
mod writer;

use std::collections::BTreeMap;
use std::env;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use anyhow::{Context, Result};
use apportion::{HostLimits, Runner};
use apportion_core::allocate::Limits;
use apportion_core::controller::Settings;
use apportion_core::profile::Profile;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, mpsc, watch as channel};
use tracing::info;

use ahead::Ahead;
pub(crate) use arguments::ControllerArguments;
use engine::Engine;
use events::Recorder;
use leader::Candidate;
use limit::Limit;
use metrics::Metrics;
use queue::Queue;
use serve::Health;
use served::Served;
use unit::Unit;
use watch::{News, Watch};
use writer::{TELLERS, Writer};

use crate::api_server::{Connection, Resource, connect_as_pod};

/// News that wait for a part; then the watches wait.
const WAITING: usize = 4096;

/// The kind of templates that the parts need, as a manifest.
const CRD: &str = include_str!("../../../deploy/kustomize/base/crd.yaml");

/// Works until it is told to stop.
pub(crate) fn run(arguments: &ControllerArguments, profile: Profile) -> Result<()> {
    let runtime =
        Builder::new_multi_thread().worker_threads(2).enable_all().build().context("no thread can be started")?;
    let identity = identity();
    let traces = log::start(arguments, &identity, runtime.handle())?;
    let done = runtime.block_on(work(arguments, profile, &identity));
    if let Some(traces) = traces {
        traces.end();
    }
    done
}

/// What is printed instead of working, if that is asked for.
pub(crate) fn printed(arguments: &ControllerArguments) -> Option<String> {
    if arguments.print_crd {
        return Some(CRD.to_owned());
    }
    let manifests = || rbac::manifests(&arguments.parts(), &arguments.namespace());
    arguments.print_rbac.then(|| manifests().iter().map(apportion_yaml::write).collect::<Vec<_>>().join("---\n"))
}

async fn work(arguments: &ControllerArguments, profile: Profile, identity: &str) -> Result<()> {
    let Connection { client, context } = connect_as_pod(arguments.context.as_deref()).await?;
    let (namespace, parts) = (arguments.namespace(), arguments.parts());
    info!(context, namespace, identity, parts = ?parts, "starting");
    let (metrics, health) = (Arc::new(Metrics::new()), Arc::new(Health::new(parts.len())));
    let (stop, stopped) = channel::channel(false);
    let listener = serve::listen(arguments.metrics_address).await?;
    let server = tokio::spawn(serve::serve(listener, Arc::clone(&health), Arc::clone(&metrics), stopped.clone()));

    let (served, limit) = (Arc::new(Served::default()), Arc::new(Limit::new(arguments.qps, arguments.burst)));
    let recorder = Arc::new(Recorder::new(client.clone(), identity));
    // The lease is given back after the last write.
    let (written, all_written) = channel::channel(false);
    let (fence, candidate) = match arguments.leader_elect {
        true => {
            let (mut candidate, fence) = Candidate::new(client.clone(), &namespace, rbac::LEASE, identity);
            // Whoever leads from the start lists everything once.
            candidate.look().await;
            (fence, Some(tokio::spawn(candidate.run(all_written))))
        }
        false => (leader::alone(), None),
    };
    tokio::spawn(show_leader(fence.clone(), Arc::clone(&metrics)));

    let runner = Runner::new()?;
    let mut listeners: BTreeMap<&str, (Resource, Vec<mpsc::Sender<News>>)> = BTreeMap::new();
    let mut units = Vec::new();
    for (index, part) in parts.iter().copied().enumerate() {
        let settings =
            Settings { part: part.part(), home: namespace.clone(), allow_admin_access: arguments.allow_admin_access };
        let controller = runner.controller(&profile, Limits::default(), HostLimits::default(), settings)?;
        let (sender, news) = mpsc::channel(WAITING);
        for resource in part.watches() {
            listeners.entry(resource.plural).or_insert_with(|| (*resource, Vec::new())).1.push(sender.clone());
        }
        metrics.starts(part.text());
        let unit = Unit {
            index,
            part,
            engine: Engine::start(part.text(), controller)?,
            writer: Arc::new(Writer {
                part: part.text(),
                client: client.clone(),
                served: Arc::clone(&served),
                recorder: Arc::clone(&recorder),
                limit: Arc::clone(&limit),
                metrics: Arc::clone(&metrics),
                fence: fence.clone(),
                tellers: Semaphore::new(TELLERS as usize),
                untold: AtomicUsize::new(0),
            }),
            fence: fence.clone(),
            metrics: Arc::clone(&metrics),
            health: Arc::clone(&health),
            queue: Queue::default(),
            listed: part.watches().iter().map(|resource| (resource.plural, None)).collect(),
            ahead: Ahead::default(),
            term: 0,
            is_forgetful: false,
        };
        units.push(tokio::spawn(unit.run(news, stopped.clone())));
    }
    for (resource, listeners) in listeners.into_values() {
        let (client, served, metrics) = (client.clone(), Arc::clone(&served), Arc::clone(&metrics));
        tokio::spawn(Watch { client, resource, served, metrics, listeners, fence: fence.clone() }.run());
    }

    wait_for_signal().await?;
    info!("stopping");
    stop.send_replace(true);
    for unit in units {
        unit.await.context("a part ended unexpectedly")?;
    }
    written.send_replace(true);
    if let Some(candidate) = candidate {
        candidate.await.context("the election ended unexpectedly")?;
    }
    server.await.context("the server of metrics ended unexpectedly")?;
    info!("stopped");
    Ok(())
}

async fn show_leader(mut fence: leader::Fence, metrics: Arc<Metrics>) {
    loop {
        metrics.leads(fence.is_open());
        fence.changed().await;
    }
}

async fn wait_for_signal() -> Result<()> {
    let of = |kind: SignalKind| signal(kind).context("signals cannot be received");
    let (mut terminate, mut interrupt) = (of(SignalKind::terminate())?, of(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// The Pod's name and something that no other start has.
fn identity() -> String {
    let host = env::var("POD_NAME").or_else(|_| env::var("HOSTNAME")).unwrap_or_else(|_| "apportion".to_owned());
    let random = RandomState::new().build_hasher().finish();
    format!("{host}_{random:016x}")
}
