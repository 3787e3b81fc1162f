//! One replica: the parts at work, and the election of the one that writes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use anyhow::{Context, Result};
use apportion::{HostLimits, Runner};
use apportion_core::allocate::Limits;
use apportion_core::controller::Settings;
use apportion_core::profile::Profile;
use futures::future::try_join_all;
use kube::Client;
use tokio::sync::{Semaphore, mpsc, watch as channel};
use tracing::info;

use super::ahead::{Ahead, Written};
use super::arguments::ControllerArguments;
use super::engine::Engine;
use super::events::Recorder;
use super::leader::{self, Candidate, Fence};
use super::limit::Limit;
use super::metrics::Metrics;
use super::parts::PartName;
use super::queue::Queue;
use super::runtime::{self, Ended};
use super::serve::Health;
use super::unit::Unit;
use super::watch::{News, Watch};
use super::writer::{TELLERS, Writer};
use super::{memory, rbac};
use crate::api_server::{Resource, Served};

/// What a replica is made of.
pub(super) struct Replica<'a> {
    pub(super) client: Client,
    pub(super) runner: &'a Runner,
    pub(super) arguments: &'a ControllerArguments,
    pub(super) profile: &'a Profile,
    pub(super) identity: &'a str,
    pub(super) health: Arc<Health>,
    pub(super) metrics: Arc<Metrics>,
}

/// A replica at work.
pub(super) struct Running {
    units: Vec<Ended<()>>,
    candidate: Option<Ended<()>>,
    /// The lease is given back after the last write.
    end: channel::Sender<bool>,
}

impl Replica<'_> {
    /// Starts everything. It works until `stopped`.
    ///
    /// # Errors
    ///
    /// When the arguments contradict each other, or the component or a thread cannot be started.
    pub(super) async fn start(self, stopped: channel::Receiver<bool>) -> Result<Running> {
        let Self { client, runner, arguments, profile, identity, health, metrics } = self;
        let (namespace, parts) = (arguments.namespace(), arguments.reconcilers()?);
        info!(namespace, identity, parts = ?parts, "starting");
        let (served, limit) = (Arc::new(Served::default()), Arc::new(Limit::new(arguments.qps, arguments.burst)));
        let recorder = Arc::new(Recorder::new(client.clone(), identity));
        let (end, ended) = channel::channel(false);
        let written = Arc::new(Written::default());
        let (fence, candidate) = match arguments.leader_elect {
            true => {
                let (mut candidate, fence) = Candidate::new(client.clone(), &namespace, rbac::LEASE, identity);
                // Whoever leads from the start lists everything once.
                candidate.look().await;
                (fence, Some(runtime::spawn(candidate.run(ended, Arc::clone(&health)))))
            }
            false => (leader::alone(), None),
        };
        runtime::spawn(show_leader(fence.clone(), Arc::clone(&metrics)));

        let mut listeners: BTreeMap<&str, (Resource, Vec<mpsc::UnboundedSender<News>>)> = BTreeMap::new();
        let mut units = Vec::new();
        for (index, part) in parts.iter().copied().enumerate() {
            let settings = Settings {
                part: part.part(),
                home: namespace.clone(),
                allow_admin_access: arguments.allow_admin_access,
                conditions: arguments.parts().contains(&PartName::Conditions),
            };
            let limits = HostLimits { memory: memory::share(parts.len()), ..HostLimits::default() };
            let controller = runner.controller(profile, Limits::default(), limits, settings)?;
            let (sender, news) = mpsc::unbounded_channel();
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
                written: Arc::clone(&written),
                term: 0,
                is_forgetful: false,
            };
            units.push(runtime::spawn(unit.run(news, stopped.clone())));
        }
        for (resource, listeners) in listeners.into_values() {
            let (client, served, metrics) = (client.clone(), Arc::clone(&served), Arc::clone(&metrics));
            let (fence, written) = (fence.clone(), Arc::clone(&written));
            runtime::spawn(Watch { client, resource, served, metrics, listeners, fence, written }.run());
        }
        Ok(Running { units, candidate, end })
    }
}

impl Running {
    /// Waits until everything has ended, once it is told to.
    ///
    /// # Errors
    ///
    /// When something has ended before it was told to.
    pub(super) async fn ended(self) -> Result<()> {
        try_join_all(self.units).await.context("a part ended unexpectedly")?;
        self.end.send_replace(true);
        if let Some(candidate) = self.candidate {
            candidate.await.context("the election ended unexpectedly")?;
        }
        Ok(())
    }
}

async fn show_leader(mut fence: Fence, metrics: Arc<Metrics>) {
    loop {
        metrics.leads(fence.is_open());
        fence.changed().await;
    }
}
