//! One replica leads, by a Lease. Nothing is written by one that cannot be sure to lead still when the write arrives.
//!
//! Source: `client-go/tools/leaderelection`; the lease is its, so that a Lease means the same to other tools.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::api::{Api, PostParams};
use kube::core::ObjectMeta;
use kube::{Client, Error};
use tokio::sync::watch;
use tracing::{info, warn};

use super::serve::Health;
#[cfg(test)]
use super::simulation::{Defect, has};
use super::{rights, runtime};

/// How long others wait after a leader was heard of last.
const LEASE: Duration = Duration::from_secs(15);

/// How long after its last renewal a leader starts no write any more. What is left of the lease is longer than a write may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// How often the lease is renewed, and looked at by others.
const PERIOD: Duration = Duration::from_secs(2);

/// A time without interruption in which this replica leads.
#[derive(Clone, Copy, Debug)]
struct Term {
    /// Until when it may start writes: by a clock that may stand still with the machine, and by one that may be set.
    until: (Instant, SystemTime),
    /// How many there were, this one included.
    number: u64,
}

impl Term {
    fn of(number: u64, since: (Instant, SystemTime), lasts: Duration) -> Option<Self> {
        Some(Self { until: (since.0.checked_add(lasts)?, since.1.checked_add(lasts)?), number })
    }

    fn is_over(&self) -> bool {
        #[cfg(test)]
        if has(Defect::OneClock) {
            return runtime::now() >= self.until.0;
        }
        runtime::now() >= self.until.0 || runtime::wall() >= self.until.1
    }
}

/// A look at the term, for whoever writes.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    term: watch::Receiver<Option<Term>>,
    /// Absent where there is one replica only.
    seat: Option<Seat>,
}

/// The Lease, and the name under which this replica has it.
#[derive(Clone, Debug)]
struct Seat {
    api: Api<Lease>,
    name: String,
    identity: String,
}

impl Fence {
    /// Whether a write may be started now.
    pub(super) fn is_open(&self) -> bool {
        self.term.borrow().is_some_and(|term| !term.is_over())
    }

    /// Whether a write that was decided on in a term may be started now.
    pub(super) fn is_open_in(&self, number: u64) -> bool {
        self.is_open() && self.term() == number
    }

    /// The same, with the API server as witness: no clock of this machine has to be right. A replica that begins
    /// to lead after this moment has not listed anything yet.
    ///
    /// # Errors
    ///
    /// When the Lease cannot be read.
    pub(super) async fn is_confirmed_in(&self, number: u64) -> Result<bool, Error> {
        #[cfg(test)]
        if has(Defect::OneClock) {
            return Ok(self.is_open_in(number));
        }
        let Some(Seat { api, name, identity }) = &self.seat else { return Ok(self.is_open_in(number)) };
        let holder = api.get(name).await?.spec.and_then(|spec| spec.holder_identity);
        Ok(holder.as_ref() == Some(identity) && self.is_open_in(number))
    }

    /// The number of the term; 0 while this replica does not lead. What was listed before it may be older than the last write of
    /// whoever led until then.
    pub(super) fn term(&self) -> u64 {
        self.term.borrow().map_or(0, |term| term.number)
    }

    /// Waits until the term changes.
    pub(super) async fn changed(&mut self) {
        if self.term.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// A replica that wants to lead.
pub(super) struct Candidate {
    seat: Seat,
    term: watch::Sender<Option<Term>>,
    /// How often it has led.
    terms: u64,
    /// The version of somebody else's lease, and when it was seen first.
    seen: Option<(String, Instant)>,
}

/// A fence that is always open, where there is one replica only.
pub(super) fn alone() -> Fence {
    let since = (runtime::now(), runtime::wall());
    let (sender, term) = watch::channel(Term::of(1, since, Duration::from_secs(1 << 32)));
    // Whoever waits for a change waits for ever.
    std::mem::forget(sender);
    Fence { term, seat: None }
}

impl Candidate {
    pub(super) fn new(client: Client, namespace: &str, name: &str, identity: &str) -> (Self, Fence) {
        let (term, receiver) = watch::channel(None);
        let seat =
            Seat { api: Api::namespaced(client, namespace), name: name.to_owned(), identity: identity.to_owned() };
        let fence = Fence { term: receiver, seat: Some(seat.clone()) };
        (Self { seat, term, terms: 0, seen: None }, fence)
    }

    /// Looks at the lease until `stop`; then gives it back.
    /// While a part hangs the lease is left to others.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>, health: Arc<Health>) {
        loop {
            tokio::select! {
                biased;
                _ = stop.changed() => break,
                () = runtime::sleep(PERIOD) => {}
            }
            match health.is_at_work() {
                true => self.look().await,
                false => self.follow("a part hangs"),
            }
        }
        if self.term.borrow().is_some() {
            self.follow("shutting down");
            if let Err(error) = self.give_back().await {
                warn!(%error, "the lease cannot be given back");
            }
        }
    }

    /// Takes the lease if it is free, or renews it.
    pub(super) async fn look(&mut self) {
        let asked = (runtime::now(), runtime::wall());
        match runtime::timeout(PERIOD.saturating_mul(2), self.attempt(asked.0)).await {
            Ok(Ok(true)) => self.lead(asked),
            Ok(Ok(false)) => self.follow("another replica has the lease"),
            Ok(Err(error)) if rights::is_news(&error.to_string()) => warn!(%error, "the lease cannot be had"),
            Ok(Err(_)) => {}
            Err(_) => warn!("the API server does not answer about the lease"),
        }
        if self.term.borrow().is_some_and(|term| term.is_over()) {
            self.follow("the lease was not renewed in time");
        }
    }

    fn lead(&mut self, asked: (Instant, SystemTime)) {
        // A term that has ended by a clock is not taken up again: what was to be known within it may have been missed.
        if self.term.borrow().is_none_or(|term| term.is_over()) {
            info!(identity = self.seat.identity, "leading");
            self.terms = self.terms.saturating_add(1);
        }
        let number = self.terms;
        self.term.send_replace(Term::of(number, asked, DEADLINE));
    }

    fn follow(&self, why: &str) {
        if self.term.borrow().is_some() {
            info!(identity = self.seat.identity, why, "not leading");
            self.term.send_replace(None);
        }
    }

    /// Whether the lease is ours now.
    async fn attempt(&mut self, now: Instant) -> Result<bool, Error> {
        let Some(lease) = self.seat.api.get_opt(&self.seat.name).await? else {
            return won(self.seat.api.create(&PostParams::default(), &self.lease(None)).await);
        };
        let spec = lease.spec.clone().unwrap_or_default();
        let holder = spec.holder_identity.unwrap_or_default();
        if holder != self.seat.identity && !holder.is_empty() {
            let version = lease.metadata.resource_version.clone().unwrap_or_default();
            let since = match &self.seen {
                Some((known, since)) if *known == version => *since,
                _ => now,
            };
            self.seen = Some((version, since));
            let patience = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
            if now.duration_since(since) < patience.map_or(LEASE, Duration::from_secs) {
                return Ok(false);
            }
        }
        self.seen = None;
        if holder != self.seat.identity {
            // What is known is of a term that ended without a word.
            self.follow("the lease was not ours any more");
        }
        won(self.seat.api.replace(&self.seat.name, &PostParams::default(), &self.lease(Some(lease))).await)
    }

    /// The lease in our name, with the version that it must still have.
    fn lease(&self, old: Option<Lease>) -> Lease {
        let now = runtime::micro_time();
        let spec = old.as_ref().and_then(|old| old.spec.clone()).unwrap_or_default();
        let is_ours = spec.holder_identity.as_ref() == Some(&self.seat.identity);
        let transitions = spec.lease_transitions.unwrap_or(0).saturating_add(i32::from(!is_ours && old.is_some()));
        let metadata = old
            .map(|old| old.metadata)
            .unwrap_or_else(|| ObjectMeta { name: Some(self.seat.name.clone()), ..ObjectMeta::default() });
        Lease {
            metadata,
            spec: Some(LeaseSpec {
                acquire_time: if is_ours { spec.acquire_time } else { Some(now.clone()) },
                holder_identity: Some(self.seat.identity.clone()),
                lease_duration_seconds: i32::try_from(LEASE.as_secs()).ok(),
                lease_transitions: Some(transitions),
                renew_time: Some(now),
                ..LeaseSpec::default()
            }),
        }
    }

    /// Lets others take over at once.
    async fn give_back(&self) -> Result<(), Error> {
        let Some(mut lease) = self.seat.api.get_opt(&self.seat.name).await? else { return Ok(()) };
        if let Some(spec) = &mut lease.spec
            && spec.holder_identity.as_ref() == Some(&self.seat.identity)
        {
            spec.holder_identity = Some(String::new());
            spec.lease_duration_seconds = Some(1);
            self.seat.api.replace(&self.seat.name, &PostParams::default(), &lease).await?;
        }
        Ok(())
    }
}

/// Somebody who was faster is no failure.
fn won(written: Result<Lease, Error>) -> Result<bool, Error> {
    match written {
        Ok(_) => Ok(true),
        Err(Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::io;

    use hyper::{Request, Response};
    use kube::client::Body;

    use super::*;

    /// A clock that jumps ends a term; one of the same number would trust what was found out before.
    #[test]
    fn a_term_that_is_over_is_followed_by_another_one() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _entered = runtime.enter();
        let deaf = tower::service_fn(|_: Request<Body>| pending::<Result<Response<Body>, io::Error>>());
        let (mut candidate, fence) = Candidate::new(Client::new(deaf, "x"), "x", "x", "me");
        let (now, wall) = (Instant::now(), SystemTime::now());
        let mut lead = |now, wall| {
            candidate.lead((now, wall));
            (fence.term(), fence.is_open())
        };
        assert_eq!([lead(now, wall), lead(now, wall)], [(1, true); 2], "it is renewed");
        assert_eq!(lead(now, wall - DEADLINE), (1, false), "the other clock has jumped");
        assert_eq!(lead(now, wall), (2, true));
    }
}
