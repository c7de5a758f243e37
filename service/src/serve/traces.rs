//! Sends spans to a collector of OpenTelemetry. The standard variables, as `OTEL_EXPORTER_OTLP_ENDPOINT`, say where it is.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper_rustls::HttpsConnectorBuilder;
use opentelemetry::KeyValue;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tokio::runtime::Handle;
use tokio_rustls::rustls::crypto::ring;
use tracing::warn;

use crate::VERSION;

/// How long the collector may take to accept spans.
const EXPORT: Duration = Duration::from_secs(10);
/// How long the last spans may take when the service ends.
const END: Duration = Duration::from_secs(3);

/// What is traced, and how it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSettings {
    pub protocol: Protocol,
    /// Which part of the requests is traced, if the caller does not say whether it traces its own.
    pub sampling_rate: f64,
    pub service_name: String,
    pub service_namespace: Option<String>,
    pub service_instance_id: Option<String>,
}

/// How OTLP is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http,
    Grpc,
}

/// Sends spans in the background. Must be called in a runtime of tokio.
///
/// # Errors
/// A variable is wrong: which, and why.
pub fn provider(settings: &TraceSettings) -> Result<SdkTracerProvider, String> {
    let exporter = match settings.protocol {
        Protocol::Grpc => SpanExporter::builder().with_tonic().build(),
        Protocol::Http => SpanExporter::builder().with_http().with_http_client(Client::new()).build(),
    };
    let exporter = exporter.map_err(|error| format!("traces: {error}"))?;
    let more = [
        ("service.namespace", settings.service_namespace.clone()),
        ("service.instance.id", settings.service_instance_id.clone()),
        ("service.version", Some(VERSION.to_owned())),
    ];
    let more = more.into_iter().filter_map(|(name, value)| Some(KeyValue::new(name, value?)));
    let resource = Resource::builder().with_service_name(settings.service_name.clone()).with_attributes(more).build();
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.sampling_rate))))
        .with_resource(resource)
        .build())
}

/// Sends the last spans.
pub async fn end(provider: SdkTracerProvider) {
    // It blocks its thread.
    let ended = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(END)).await;
    if let Ok(Err(error)) = ended {
        warn!(%error, "the last spans were not sent");
    }
}

/// A client of HTTP, and of the time that a reply may take.
fn web_client(timeout: Duration) -> Arc<dyn HttpClient> {
    let tls = HttpsConnectorBuilder::new().with_provider_and_native_roots(ring::default_provider());
    match tls {
        Ok(builder) => Arc::new(HyperClient::new(builder.https_or_http().enable_http1().build(), timeout, None)),
        // An image without certificates: then without TLS.
        Err(_) => Arc::new(HyperClient::with_default_connector(timeout, None)),
    }
}

/// A client of HTTP that works outside of the runtime: spans are sent by a thread of their own.
#[derive(Clone)]
struct Client {
    runtime: Handle,
    client: Arc<dyn HttpClient>,
}

impl Client {
    fn new() -> Self {
        Self { runtime: Handle::current(), client: web_client(EXPORT) }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

#[tonic::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(async move { client.send_bytes(request).await }).await?
    }
}
