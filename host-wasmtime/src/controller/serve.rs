//! `/metrics`, `/livez` and `/readyz`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tracing::debug;

use super::metrics::Metrics;
use super::runtime;

/// How long a part may be without a sign of life.
const PATIENCE: Duration = Duration::from_secs(180);

/// How long a part may be without a sign of life while this replica leads.
const HANG: Duration = Duration::from_secs(60);

/// How long a client may take to say what it wants.
const HEADER_PATIENCE: Duration = Duration::from_secs(5);

/// How the parts are.
#[derive(Debug)]
pub(super) struct Health {
    started: Instant,
    /// Of each part, seconds from the start to its latest sign of life.
    beats: Vec<AtomicU64>,
    /// Parts that do not know everything yet.
    unready: AtomicUsize,
}

impl Health {
    pub(super) fn new(parts: usize) -> Self {
        let beats = (0..parts).map(|_| AtomicU64::new(0)).collect();
        Self { started: runtime::now(), beats, unready: AtomicUsize::new(parts) }
    }

    /// A part lives.
    pub(super) fn beat(&self, part: usize) {
        if let Some(beat) = self.beats.get(part) {
            beat.store(runtime::since(self.started).as_secs(), Ordering::Relaxed);
        }
    }

    /// A part knows everything, and from then on does.
    pub(super) fn ready(&self) {
        // Never below nothing: each part says it once.
        self.unready.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_ready(&self) -> bool {
        self.unready.load(Ordering::Relaxed) == 0
    }

    fn is_alive(&self) -> bool {
        self.has_beaten_within(PATIENCE)
    }

    /// Whether no part hangs: one that does may not keep others from leading.
    pub(super) fn is_at_work(&self) -> bool {
        self.has_beaten_within(HANG)
    }

    fn has_beaten_within(&self, patience: Duration) -> bool {
        let now = runtime::since(self.started).as_secs();
        self.beats.iter().all(|beat| now.saturating_sub(beat.load(Ordering::Relaxed)) < patience.as_secs())
    }
}

/// Takes the address. Whoever calls may then be sure that it is theirs.
pub(super) async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("`{address}` cannot be listened on"))
}

/// Answers until `stop`.
pub(super) async fn serve(
    listener: TcpListener,
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    debug!(%error, "a connection was not taken");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            _ = stop.changed() => return,
        };
        let (health, metrics) = (Arc::clone(&health), Arc::clone(&metrics));
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let answer = answer(&request, &health, &metrics);
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEADER_PATIENCE);
            if let Err(error) = server.serve_connection(TokioIo::new(stream), service).await {
                debug!(%error, "a connection ended early");
            }
        });
    }
}

fn answer<B>(request: &Request<B>, health: &Health, metrics: &Metrics) -> Response<Full<Bytes>> {
    let (code, text) = match request.uri().path() {
        "/metrics" => (StatusCode::OK, metrics.text()),
        "/livez" if health.is_alive() => (StatusCode::OK, "ok".to_owned()),
        "/livez" => (StatusCode::INTERNAL_SERVER_ERROR, "a part gives no sign of life".to_owned()),
        "/readyz" if health.is_ready() => (StatusCode::OK, "ok".to_owned()),
        "/readyz" => (StatusCode::SERVICE_UNAVAILABLE, "not everything is listed".to_owned()),
        _ => (StatusCode::NOT_FOUND, "there are /metrics, /livez and /readyz".to_owned()),
    };
    let kind = match request.uri().path() {
        "/metrics" => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = code;
    if let Ok(kind) = kind.parse() {
        response.headers_mut().insert("content-type", kind);
    }
    response
}
