//! A proxy between the controller and the API server that loses, delays and refuses requests, by chance.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Handle;

use crate::world::Dice;

type Answer = Response<StreamBody<BoxStream<'static, Result<Frame<Bytes>, kube::Error>>>>;

/// What is done to a request.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Nothing.
    None,
    /// It does not arrive, and the connection ends.
    Lost,
    /// It arrives; its answer does not.
    Unanswered,
    /// It arrives when nobody waits for it any more.
    Late,
    /// It takes longer.
    Slow,
    /// It does not arrive, and is answered with a status.
    Refused(u16),
    /// A watch that ends after a while.
    Cut,
    /// A watch that is told that its version is too old.
    Gone,
}

/// What all connections know.
struct Shared {
    client: Client,
    dice: Mutex<Dice>,
    /// Out of a hundred requests.
    share: usize,
    is_on: AtomicBool,
    faults: AtomicU64,
    requests: AtomicU64,
}

/// A proxy on loopback.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Starts one that does something to so many out of a hundred requests.
    pub(crate) fn start(runtime: &Handle, client: Client, share: usize, seed: u64) -> Self {
        let shared = Arc::new(Shared {
            client,
            dice: Mutex::new(Dice::new(seed)),
            share,
            is_on: AtomicBool::new(true),
            faults: AtomicU64::new(0),
            requests: AtomicU64::new(0),
        });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let all = Arc::clone(&shared);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&all);
                let service = service_fn(move |request| answer(Arc::clone(&shared), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, shared }
    }

    /// From now on everything passes.
    pub(crate) fn calm(&self) {
        self.shared.is_on.store(false, Ordering::Relaxed);
    }

    /// Requests, and those to which something was done.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.shared.requests.load(Ordering::Relaxed), self.shared.faults.load(Ordering::Relaxed))
    }
}

impl Shared {
    fn fault(&self, is_watch: bool, is_write: bool) -> Fault {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut dice = self.dice.lock().unwrap();
        if !self.is_on.load(Ordering::Relaxed) || !dice.chance(self.share) {
            return Fault::None;
        }
        self.faults.fetch_add(1, Ordering::Relaxed);
        match (is_watch, is_write) {
            (true, _) => [Fault::Lost, Fault::Cut, Fault::Cut, Fault::Gone, Fault::Refused(500)][dice.below(5)],
            (false, true) => [
                Fault::Lost,
                Fault::Unanswered,
                Fault::Late,
                Fault::Slow,
                Fault::Refused(409),
                Fault::Refused(429),
                Fault::Refused(500),
                Fault::Refused(503),
            ][dice.below(8)],
            (false, false) => [Fault::Lost, Fault::Slow, Fault::Refused(429), Fault::Refused(500)][dice.below(4)],
        }
    }
}

/// An answer of our own.
fn status(code: u16) -> Answer {
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "by chance",
        "reason": "", "code": code,
    });
    if code == 429 {
        status["details"] = json!({ "retryAfterSeconds": 1 });
    }
    let mut answer = whole(Bytes::from(status.to_string()));
    *answer.status_mut() = StatusCode::from_u16(code).unwrap();
    answer.headers_mut().insert("content-type", "application/json".parse().unwrap());
    if code == 429 {
        answer.headers_mut().insert("retry-after", "1".parse().unwrap());
    }
    answer
}

fn whole(bytes: Bytes) -> Answer {
    let body = BodyStream::new(Full::new(bytes)).map(|frame| frame.map_err(|never: Infallible| match never {}));
    Response::new(StreamBody::new(StreamExt::boxed(body)))
}

/// A watch that says only that its version is too old.
fn gone() -> Answer {
    let error = json!({
        "type": "ERROR",
        "object": {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "too old resource version", "reason": "Expired", "code": 410,
        },
    });
    let mut answer = whole(Bytes::from(format!("{error}\n")));
    answer.headers_mut().insert("content-type", "application/json".parse().unwrap());
    answer
}

fn lost() -> std::io::Error {
    std::io::Error::other("by chance")
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Answer, std::io::Error> {
    let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    let is_write = request.method() != "GET";
    let fault = shared.fault(is_watch, is_write);
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| lost())?.to_bytes();
    let mut forwarded = Request::builder().method(parts.method).uri(parts.uri.path_and_query().unwrap().as_str());
    for (name, value) in &parts.headers {
        if ["accept", "content-type", "user-agent"].contains(&name.as_str()) {
            forwarded = forwarded.header(name, value);
        }
    }
    let forwarded = forwarded.body(Body::from(body.to_vec())).unwrap();
    match fault {
        Fault::Lost => return Err(lost()),
        Fault::Refused(code) => return Ok(status(code)),
        Fault::Gone => return Ok(gone()),
        Fault::Late => {
            // Whoever asked gave up seconds ago.
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(6500)).await;
                drop(shared.client.send(forwarded).await);
            });
            std::future::pending::<()>().await;
            return Err(lost());
        }
        Fault::Slow => tokio::time::sleep(Duration::from_millis(700)).await,
        Fault::None | Fault::Unanswered | Fault::Cut => {}
    }
    let answered = shared.client.send(forwarded).await.map_err(|_| lost())?;
    if matches!(fault, Fault::Unanswered) {
        return Err(lost());
    }
    let (mut parts, body) = answered.into_parts();
    for name in ["content-length", "transfer-encoding", "connection"] {
        parts.headers.remove(name);
    }
    let frames = BodyStream::new(body);
    let frames = match fault {
        Fault::Cut => frames.take_until(Box::pin(tokio::time::sleep(Duration::from_millis(1500)))).boxed(),
        _ => StreamExt::boxed(frames),
    };
    Ok(Response::from_parts(parts, StreamBody::new(frames)))
}
