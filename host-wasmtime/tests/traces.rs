//! Traces of the controller, as a collector gets them, and what becomes of the controller where there is none.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::api_server::ApiServer;
use crate::running::{HOME, Running};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message;
use serde_json::json;
use tokio::runtime::Runtime;

/// A request that a collector got.
struct Export {
    path: String,
    key: String,
    body: ExportTraceServiceRequest,
}

/// A collector; it ends with this value.
struct Collector {
    address: SocketAddr,
    exports: Arc<Mutex<Vec<Export>>>,
    _runtime: Runtime,
}

impl Collector {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let exports: Arc<Mutex<Vec<Export>>> = Arc::default();
        let kept = Arc::clone(&exports);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                let service = service_fn(move |request| keep(request, Arc::clone(&kept)));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, exports, _runtime: runtime }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn spans(&self) -> Vec<Span> {
        let exports = self.exports.lock().unwrap();
        let scopes = exports.iter().flat_map(|export| &export.body.resource_spans).flat_map(|one| &one.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }
}

async fn keep(request: Request<Incoming>, kept: Arc<Mutex<Vec<Export>>>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let key = request.headers().get("x-key").map(|key| key.to_str().unwrap().to_owned()).unwrap_or_default();
    let bytes = request.into_body().collect().await.unwrap().to_bytes();
    kept.lock().unwrap().push(Export { path, key, body: ExportTraceServiceRequest::decode(bytes).unwrap() });
    Ok(Response::new(Full::default()))
}

/// Attributes, as texts.
fn attributes(given: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |pair: &KeyValue| match pair.value.clone().unwrap().value.unwrap() {
        Any::StringValue(text) => text,
        Any::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    given.iter().map(|pair| (pair.key.clone(), text(pair))).collect()
}

/// A server with namespaces that want a copy each.
fn work(name: &str) -> ApiServer {
    let server = ApiServer::start(name);
    let space = |name: &str| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": { "team": "ml" } } });
    server.apply(&[space("ml-0"), space("ml-1")]);
    server.apply(&[json!({
        "apiVersion": "apportion.dev/v1alpha1", "kind": "ClusterResourceClaimTemplate", "metadata": { "name": "gpu" },
        "spec": {
            "targets": [{ "namespaceSelector": { "matchLabels": { "team": "ml" } } }],
            "template": { "spec": { "devices": { "requests": [{ "name": "gpu", "exactly": { "deviceClassName": "h100" } }] } } },
        },
    })]);
    server
}

fn until_done(server: &ApiServer) {
    server.until("the status", 30, |server| {
        let source = server.get("clusterresourceclaimtemplates", "", "gpu")?;
        (source["status"]["current"] == 2).then_some(())
    });
}

const SYNC: [&str; 2] = ["--controllers", "template-sync"];

/// A time that no test lasts: spans come because everything ends.
const NEVER: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "3600000");

/// Does all the work, ends, and gives what was sent.
fn traced(name: &str, arguments: &[&str], variables: &[(&str, &str)]) {
    let server = work(name);
    let running = Running::with(&server, &[&SYNC, arguments].concat(), &[variables, &[NEVER]].concat());
    until_done(&server);
    let output = running.stop();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn decisions_calls_and_writes_reach_the_collector() {
    let collector = Collector::start();
    traced("traced", &["--otlp-endpoint", &collector.url()], &[]);
    let spans = collector.spans();
    let named = |name: &str| -> Vec<&Span> { spans.iter().filter(|span| span.name == name).collect() };
    for name in ["hear", "reconcile", "decide", "conclude", "write"] {
        assert!(!named(name).is_empty(), "{name} is among them");
    }
    let create = named("write")
        .into_iter()
        .find(|span| attributes(&span.attributes)["object"] == "ResourceClaimTemplate ml-1/gpu");
    let create = create.unwrap();
    let says = attributes(&create.attributes);
    assert_eq!((says["verb"].as_str(), says["part"].as_str()), ("create", "template-sync"));
    assert_eq!(says["http.response.status_code"], "200");
    assert_eq!(create.kind, SpanKind::Client as i32);
    // It belongs to the decision that it carries out.
    let parent = named("reconcile").into_iter().find(|span| span.span_id == create.parent_span_id).unwrap();
    assert_eq!(parent.trace_id, create.trace_id);
    assert!(parent.parent_span_id.is_empty());
    let says = attributes(&parent.attributes);
    assert!(says["object"].starts_with("ResourceClaimTemplate ml-1/"), "{says:?}");
    assert_eq!((says["writes"].as_str(), says["result"].as_str()), ("1", "done"));
    assert!(parent.start_time_unix_nano <= create.start_time_unix_nano);
    assert!(create.end_time_unix_nano <= parent.end_time_unix_nano);
    let decide = named("decide").into_iter().find(|span| span.parent_span_id == parent.span_id).unwrap();
    assert!(decide.end_time_unix_nano <= create.start_time_unix_nano, "first decided, then written");
    let exports = collector.exports.lock().unwrap();
    assert!(exports.iter().all(|export| export.path == "/v1/traces"));
    let resource = attributes(&exports[0].body.resource_spans[0].resource.clone().unwrap().attributes);
    assert_eq!(resource["service.name"], "apportion");
}

#[test]
fn the_variables_of_opentelemetry_are_understood() {
    let collector = Collector::start();
    let url = collector.url();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret"),
        ("OTEL_SERVICE_NAME", "devices"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,k8s.cluster.name=east"),
    ];
    traced("variables", &[], &variables);
    let exports = collector.exports.lock().unwrap();
    assert!(!exports.is_empty());
    assert!(exports.iter().all(|export| export.path == "/v1/traces" && export.key == "secret"));
    let resource = attributes(&exports[0].body.resource_spans[0].resource.clone().unwrap().attributes);
    assert_eq!((resource["service.name"].as_str(), resource["k8s.cluster.name"].as_str()), ("devices", "east"));
}

#[test]
fn what_fails_is_marked() {
    let collector = Collector::start();
    let server = work("marked");
    server.store().admit = Some(|object| {
        let is_refused = object["kind"] == "ResourceClaimTemplate" && object["metadata"]["namespace"] == "ml-0";
        is_refused.then(|| (403, "exceeded quota: templates".to_owned()))
    });
    let url = collector.url();
    let running = Running::with(&server, &[&SYNC[..], &["--otlp-endpoint", &url]].concat(), &[NEVER]);
    server.until("the refusal in the status", 30, |server| {
        let source = server.get("clusterresourceclaimtemplates", "", "gpu")?;
        (source["status"]["refused"] == 1).then_some(())
    });
    running.stop();
    let spans = collector.spans();
    let failed = |span: &&Span| span.status.as_ref().is_some_and(|status| status.code == StatusCode::Error as i32);
    let refused: Vec<_> = spans.iter().filter(|span| span.name == "write").filter(failed).collect();
    assert!(!refused.is_empty());
    for span in refused {
        let says = attributes(&span.attributes);
        assert_eq!(says["object"], "ResourceClaimTemplate ml-0/gpu");
        assert_eq!(says["http.response.status_code"], "403");
    }
}

/// Whether the program has the thread that sends spans.
fn has_sender(running: &Running) -> bool {
    let tasks = fs::read_dir(format!("/proc/{}/task", running.child.as_ref().unwrap().id())).unwrap();
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    tasks.flatten().map(name).any(|name| name.starts_with("OpenTelemetry"))
}

#[test]
fn nothing_of_it_is_there_unless_somebody_asks() {
    let collector = Collector::start();
    let url = collector.url();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str());
    for (variables, is_asked) in
        [([].as_slice(), false), (&[endpoint, ("OTEL_SDK_DISABLED", "true")], false), (&[endpoint], true)]
    {
        let server = work("unasked");
        let running = Running::with(&server, &SYNC, variables);
        until_done(&server);
        assert_eq!(has_sender(&running), is_asked, "{variables:?}");
        running.stop();
        assert_eq!(collector.exports.lock().unwrap().is_empty(), !is_asked, "{variables:?}");
    }
}

/// Nobody listens, or nobody answers: the same work is done, and the end comes in time.
#[test]
fn a_collector_that_is_not_there_does_no_harm() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for address in [silent.local_addr().unwrap(), gone] {
        let server = work("lost");
        let url = format!("http://{address}");
        let arguments = [&SYNC[..], &["--otlp-endpoint", &url]].concat();
        let running = Running::with(&server, &arguments, &[("OTEL_BSP_SCHEDULE_DELAY", "100")]);
        until_done(&server);
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(running.get("/livez").unwrap().0, 200);
        let asked = Instant::now();
        let output = running.stop();
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(asked.elapsed() < Duration::from_secs(6), "{:?}", asked.elapsed());
        assert_eq!(output.status.code(), Some(0), "{log}");
        assert!(!log.contains("panicked"), "{log}");
        let said = if address == gone { "traces do not arrive" } else { "the last spans are lost" };
        assert_eq!(log.matches(said).count(), 1, "{log}");
        let lease = server.get("leases", HOME, "apportion-controller").unwrap();
        assert_eq!(lease["spec"]["holderIdentity"], "", "the lease is given back");
    }
}

#[test]
fn what_is_no_url_is_a_wrong_use() {
    let server = ApiServer::start("no-url");
    let running = Running::start(&server, &["--otlp-endpoint", "collector:4317"]);
    let output = running.ended();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("traces cannot be sent to"));
}
