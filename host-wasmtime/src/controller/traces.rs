//! Traces for whoever asks for them: decisions, calls of the component and writes, sent by OTLP over HTTP.
//!
//! Without an endpoint nothing of it is there: no thread, no connection, and no span is made.

use std::env;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use apportion_core::finding::ObjectRef;
use async_trait::async_trait;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Uri;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::client::ConfigExt;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::EnvResourceDetector;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing::field::{Empty, display};
use tracing::{Span, Subscriber, info, trace_span, warn};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use super::queue::Due;
use super::runtime;

/// What spans are known by. The log leaves them out: their level is below all of its.
const TARGET: &str = "apportion::traces";

/// How long the collector may take for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the last spans may take when everything ends.
const LAST: Duration = Duration::from_secs(3);

/// Bytes of an answer; more are no answer.
const MOST: usize = 64 * 1024;

/// What is sent, while it is sent.
pub(super) struct Traces(SdkTracerProvider);

impl Traces {
    /// Sends spans from now on, in requests that run in the background.
    pub(super) fn start(endpoint: &Uri, identity: &str, runtime: &Handle) -> Result<Self> {
        // Certificates are looked for only where they are needed: an image may have none.
        let exporter = match endpoint.scheme_str() {
            Some("https") => {
                let connector = Config::new(endpoint.clone()).rustls_https_connector();
                exporter(endpoint, connector.context("there are no certificates to know a collector by")?, runtime)?
            }
            _ => exporter(endpoint, HttpConnector::new(), runtime)?,
        };
        let resource = resource(identity, env::var("OTEL_SERVICE_NAME").ok());
        Ok(Self(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build()))
    }

    /// Takes spans in.
    pub(super) fn layer<S: Subscriber + for<'s> LookupSpan<'s>>(&self) -> impl Layer<S> + use<S> {
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer("apportion"));
        let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false);
        layer.with_filter(filter_fn(|metadata| metadata.target() == TARGET))
    }

    /// Sends what is left, for as long as there is time.
    pub(super) fn end(self, left: Duration) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST.min(left)) {
            warn!(%error, "the last spans are lost");
        }
    }
}

/// Where traces go: what was asked for, else what the variables of OpenTelemetry say.
///
/// # Errors
///
/// When that is no URL.
pub(super) fn endpoint(given: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Uri>> {
    let says = |name: &str| variable(name).filter(|text| !text.is_empty());
    if says("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let below = |base: &str| format!("{}/v1/traces", base.trim_end_matches('/'));
    let found = given
        .map(below)
        .or_else(|| says("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
        .or_else(|| says("OTEL_EXPORTER_OTLP_ENDPOINT").map(|base| below(&base)));
    let Some(text) = found else { return Ok(None) };
    let uri: Uri = text.parse().with_context(|| format!("traces cannot be sent to `{text}`"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
        bail!("traces cannot be sent to `{text}`: it takes a URL with http or https, and a host");
    }
    Ok(Some(uri))
}

fn exporter<C: Connect + Clone + Debug + Send + Sync + 'static>(
    endpoint: &Uri,
    connector: C,
    runtime: &Handle,
) -> Result<SpanExporter> {
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let sender = Sender { client, runtime: runtime.clone(), is_lost: AtomicBool::new(false) };
    let builder = SpanExporter::builder().with_http().with_http_client(sender).with_protocol(Protocol::HttpBinary);
    builder.with_endpoint(endpoint.to_string()).build().context("traces cannot be sent")
}

/// What all spans have in common. The variables of OpenTelemetry come last, and so count.
fn resource(identity: &str, name: Option<String>) -> Resource {
    let ours = [
        KeyValue::new("service.name", "apportion"),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", identity.to_owned()),
    ];
    let builder = Resource::builder_empty().with_attributes(ours).with_detector(Box::new(EnvResourceDetector::new()));
    match name.filter(|name| !name.is_empty()) {
        Some(name) => builder.with_service_name(name).build(),
        None => builder.build(),
    }
}

/// Requests to the collector. They run with all others; the thread that wants them waits.
#[derive(Debug)]
struct Sender<C> {
    client: Client<C, Full<Bytes>>,
    runtime: Handle,
    /// Whether the last spans did not arrive.
    is_lost: AtomicBool,
}

#[async_trait]
impl<C: Connect + Clone + Debug + Send + Sync + 'static> HttpClient for Sender<C> {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let asked = async move {
            let (parts, body) = client.request(request.map(Full::new)).await?.into_parts();
            let body = Limited::new(body, MOST).collect().await?.to_bytes();
            Ok::<_, HttpError>(Response::from_parts(parts, body))
        };
        // The thread that asks has no clock for requests.
        let answer = self.runtime.spawn(async { tokio::time::timeout(PATIENCE, asked).await }).await;
        let answer = answer.map_err(HttpError::from).and_then(|answer| answer?);
        match &answer {
            Ok(answer) if answer.status().is_success() => self.tell(None),
            Ok(answer) => self.tell(Some(&answer.status())),
            Err(error) => self.tell(Some(error)),
        }
        answer
    }
}

impl<C> Sender<C> {
    /// Says when spans begin to get lost, and when they arrive again.
    fn tell(&self, why: Option<&dyn std::fmt::Display>) {
        let was_lost = self.is_lost.swap(why.is_some(), Ordering::Relaxed);
        match why {
            Some(why) if !was_lost => warn!(%why, "traces do not arrive; work goes on"),
            None if was_lost => info!("traces arrive again"),
            _ => {}
        }
    }
}

/// Something is due: from its decision until that was carried out.
pub(super) fn reconcile(part: &'static str, due: &Due) -> Span {
    trace_span!(
        target: TARGET,
        parent: None,
        "reconcile",
        part,
        object = %due.object,
        lane = ?due.lane,
        waited_ms = u64::try_from(runtime::since(due.since).as_millis()).unwrap_or(u64::MAX),
        writes = Empty,
        result = Empty,
        otel.status_code = Empty,
    )
}

/// What became of what was due.
pub(super) fn reconciled(span: &Span, result: &'static str) {
    span.record("result", result);
    if !matches!(result, "done" | "nothing") {
        span.record("otel.status_code", "ERROR");
    }
}

/// The component is asked for a decision.
pub(super) fn decide(reconcile: &Span) -> Span {
    trace_span!(target: TARGET, parent: reconcile, "decide")
}

/// The component is told what became of its decision.
pub(super) fn conclude(reconcile: &Span) -> Span {
    trace_span!(target: TARGET, parent: reconcile, "conclude")
}

/// The component is told of objects.
pub(super) fn hear(part: &'static str, objects: usize) -> Span {
    trace_span!(target: TARGET, parent: None, "hear", part, objects)
}

/// A request that writes, below what is being carried out.
pub(super) fn write(part: &'static str, verb: &'static str, object: impl FnOnce() -> Option<ObjectRef>) -> Span {
    let span = trace_span!(
        target: TARGET,
        "write",
        part,
        verb,
        object = Empty,
        http.response.status_code = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
    );
    if !span.is_disabled()
        && let Some(object) = object()
    {
        span.record("object", display(object));
    }
    span
}

/// What the API server answered; 0 is no answer.
pub(super) fn written(span: &Span, code: u16) {
    span.record("http.response.status_code", code);
    if code != 200 {
        span.record("otel.status_code", "ERROR");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The endpoint that comes of a flag and variables.
    fn found(given: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<String>> {
        let variable =
            |name: &str| variables.iter().find_map(|(known, value)| (*known == name).then(|| (*value).to_owned()));
        Ok(endpoint(given, variable)?.map(|uri| uri.to_string()))
    }

    #[test]
    fn nothing_is_sent_unless_somebody_asks_for_it() {
        assert_eq!(found(None, &[]).unwrap(), None);
        assert_eq!(found(None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]).unwrap(), None);
        let off = ("OTEL_SDK_DISABLED", "TRUE");
        assert_eq!(found(Some("http://a:4318"), &[off]).unwrap(), None);
    }

    #[test]
    fn the_flag_counts_before_the_variables_and_the_narrower_one_before_the_wider() {
        let (wide, narrow) = (
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://wide:4318/"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://narrow/x"),
        );
        assert_eq!(found(None, &[wide]).unwrap().as_deref(), Some("http://wide:4318/v1/traces"));
        assert_eq!(found(None, &[wide, narrow]).unwrap().as_deref(), Some("https://narrow/x"));
        let given = found(Some("http://given:4318"), &[wide, narrow]).unwrap();
        assert_eq!(given.as_deref(), Some("http://given:4318/v1/traces"));
    }

    #[test]
    fn what_is_no_url_is_said() {
        for text in ["collector:4318", "grpc://collector:4317", "http://", "x y"] {
            let error = found(Some(text), &[]).unwrap_err();
            assert!(error.to_string().contains("traces cannot be sent to"), "{text}: {error}");
        }
    }
}
