//! The network between replicas and the API server: late, in another order, cut, and answers that do not come.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Bytes;
use hyper::{Request, Response};
use kube::Client;
use kube::client::Body;
use tokio::sync::{oneshot, watch};

use super::api_server::answer::{self, answer};
use super::api_server::{Fault, Store};
use super::processor::{WORLD, below, elapsed, happens, one, spawn_on};
use crate::controller::runtime;

/// How long after it was sent a request may arrive: the API server takes none that is older.
const LONGEST: Duration = Duration::from_secs(50);

/// How long a watch lasts, by the server.
const WATCH: Duration = Duration::from_secs(290);

/// The network, and the API server.
pub(super) struct Network {
    store: Shared,
    changed: watch::Sender<u64>,
    weather: Mutex<Weather>,
}

type Shared = Arc<Mutex<Store>>;

/// What goes wrong.
#[derive(Default)]
pub(super) struct Weather {
    /// Whether requests and events may be late, or lost.
    pub(super) is_bad: bool,
    /// Whether answers may be late, but for those about the Lease.
    pub(super) is_slow: bool,
    /// Machines that reach nobody.
    pub(super) cut: BTreeSet<usize>,
    /// Requests that were answered, but for those about the Lease.
    pub(super) answered: u64,
}

impl Network {
    pub(super) fn new() -> Arc<Self> {
        let (changed, _) = watch::channel(0);
        Arc::new(Self { store: Shared::default(), changed, weather: Mutex::default() })
    }

    /// Looks at what is stored.
    pub(super) fn look<T>(&self, act: impl FnOnce(&Store) -> T) -> T {
        act(&self.store.lock().unwrap())
    }

    /// Changes what is stored as users do.
    pub(super) fn given<T>(&self, act: impl FnOnce(&mut Store) -> T) -> T {
        let done = self.store.lock().unwrap().given(act);
        self.changed.send_modify(|number| *number += 1);
        done
    }

    pub(super) fn weather(&self) -> MutexGuard<'_, Weather> {
        self.weather.lock().unwrap()
    }

    fn is_bad(&self) -> bool {
        self.weather().is_bad
    }

    /// A client on a machine.
    pub(super) fn client(self: &Arc<Self>, machine: usize) -> Client {
        let network = Arc::clone(self);
        let service = tower::service_fn(move |request| Arc::clone(&network).carry(machine, request));
        Client::new(service, "default")
    }

    /// On the way between a machine and the server.
    async fn travel(&self, machine: usize) {
        let millis = match self.is_bad() {
            true if happens(10) => below(40_000),
            true if happens(40) => below(4000),
            true => 1 + below(50),
            false => 1 + below(4),
        };
        runtime::sleep(Duration::from_millis(millis)).await;
        while self.weather().cut.contains(&machine) {
            runtime::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Carries a request to the server, whatever becomes of whoever sent it, and its answer back.
    async fn carry(
        self: Arc<Self>,
        machine: usize,
        request: Request<Body>,
    ) -> Result<Response<UnsyncBoxBody<Bytes, io::Error>>, io::Error> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect_bytes().await.unwrap_or_default();
        let is_watch = parts.uri.query().is_some_and(|query| query.contains("watch="));
        let is_of_lease = parts.uri.path().contains("/leases");
        let request = Request::from_parts(parts, Full::new(bytes));
        let (sender, answered) = oneshot::channel();
        let network = Arc::clone(&self);
        spawn_on(WORLD, async move {
            let sent = elapsed();
            network.travel(machine).await;
            let mut back = None;
            if elapsed() - sent < LONGEST && !(network.is_bad() && happens(20)) {
                back = Some(network.answer(request).await);
                network.weather().answered += u64::from(!is_of_lease);
                network.travel(machine).await;
                let is_slow = network.weather().is_slow && !is_of_lease;
                if (network.is_bad() || is_slow) && happens(100) {
                    runtime::sleep(Duration::from_millis(below(4000))).await;
                }
            }
            match back {
                Some(answer) if !(network.is_bad() && happens(20)) => drop(sender.send(answer)),
                // Nobody says anything for a while, and then that the connection has ended.
                _ if happens(500) => runtime::sleep(Duration::from_secs(30)).await,
                _ => {}
            }
        });
        let answer = answered.await.map_err(|_| io::Error::other("the connection has ended"))?;
        Ok(answer.map(|body| match is_watch {
            true => self.told(machine, body),
            false => body.boxed_unsync(),
        }))
    }

    async fn answer(&self, request: Request<Full<Bytes>>) -> Response<answer::Body> {
        if self.is_bad() && happens(40) {
            let codes: &[u16] =
                if request.method() == "GET" { &[0, 429, 500, 503] } else { &[0, 1, 409, 429, 500, 503] };
            let fault = Fault { fits: |_| true, times: 1, code: one(codes) };
            self.store.lock().unwrap().faults.push(fault);
        }
        let answer = answer(Arc::clone(&self.store), self.changed.clone(), self.changed.subscribe(), request).await;
        self.store.lock().unwrap().faults.clear();
        answer.unwrap_or_else(|never| match never {})
    }

    /// What a watch tells: in its order, but late.
    fn told(self: Arc<Self>, machine: usize, body: answer::Body) -> UnsyncBoxBody<Bytes, io::Error> {
        let end = elapsed() + WATCH;
        let frames = stream::unfold(Some(body), move |body| {
            let network = Arc::clone(&self);
            async move {
                let mut body = body?;
                let frame = tokio::select! {
                    biased;
                    frame = body.frame() => frame?,
                    () = runtime::sleep(end.saturating_sub(elapsed())) => return None,
                };
                network.travel(machine).await;
                match network.is_bad() && happens(10) {
                    true => Some((Err(io::Error::other("the watch has ended")), None)),
                    false => Some((frame, Some(body))),
                }
            }
        });
        StreamBody::new(frames).boxed_unsync()
    }
}
