//! Spans, as a collector of OpenTelemetry gets them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use super::process::{Rlaas, get, http};
use super::{block_on, one_server};
use crate::support::{ok, send};

const RULES: &str = "domain: d
authorize: {descriptors: [[{key: k, header: K}]]}
descriptors: [{key: k, rate_limit: {algorithm: token, unit: year, requests_per_unit: 1}}]
";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// What was received.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().expect("a list").push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

async fn receive(State(collector): State<Collector>, body: Bytes) -> Vec<u8> {
    let request = ExportTraceServiceRequest::decode(body).expect("a request of OTLP");
    collector.0.lock().expect("a list").push(request);
    ExportTraceServiceResponse::default().encode_to_vec()
}

impl Collector {
    /// Listens, for gRPC and for HTTP.
    async fn listen(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let address = listener.local_addr().expect("an address");
        let http = Router::new().route("/v1/traces", post(receive)).with_state(self.clone());
        let routes = Routes::from(http).add_service(TraceServiceServer::new(self.clone()));
        let server = tonic::transport::Server::builder().accept_http1(true).add_routes(routes);
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        address
    }

    /// The attributes of the service, and its spans in the order in which they began.
    fn spans(&self) -> (BTreeMap<String, String>, Vec<Span>) {
        let received = self.0.lock().expect("a list").clone();
        let all: Vec<_> = received.into_iter().flat_map(|request| request.resource_spans).collect();
        let resource = all.first().and_then(|spans| spans.resource.as_ref()).expect("a resource");
        let resource = attributes(&resource.attributes);
        let spans = all.into_iter().flat_map(|spans| spans.scope_spans).flat_map(|spans| spans.spans);
        let mut spans: Vec<_> = spans.collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        (resource, spans)
    }
}

fn attributes(list: &[KeyValue]) -> BTreeMap<String, String> {
    let show = |value: &Option<AnyValue>| match value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(n)) => n.to_string(),
        other => format!("{other:?}"),
    };
    list.iter().map(|attribute| (attribute.key.clone(), show(&attribute.value))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn each_request_is_a_span_of_the_callers_trace() {
    let server = one_server();
    for protocol in ["http", "grpc"] {
        ok(send(&mut server.con(), "FLUSHALL"));
        let collector = Collector::default();
        block_on(async {
            let endpoint = format!("http://{}", collector.listen().await);
            let env = [
                ("TRACING_ENABLED", "true"),
                ("TRACING_EXPORTER_PROTOCOL", protocol),
                ("TRACING_SERVICE_NAMESPACE", "edge"),
                ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ];
            let mut service = Rlaas::with_env(&server, RULES, &env);
            let mut client = service.client().await;
            let parent = format!("00-{TRACE}-{PARENT}-01");
            client.try_ask_with(("traceparent", &parent), "k=x").await.expect("a reply");
            assert_eq!(client.code("k=x").await, Code::OverLimit);
            client.try_ask("d: ").await.expect_err("no descriptors");
            let headers = [("K", "y"), ("Traceparent", parent.as_str())];
            assert_eq!(get(&service.http, "/authorize/d", &headers).status, 200);
            assert_eq!(http(&service.http, "POST /json", &[], "{").status, 400);
            // The caller says that this trace is not kept.
            let unsampled = format!("00-{TRACE}-{PARENT}-00");
            client.try_ask_with(("traceparent", &unsampled), "k=x").await.expect("a reply");
            drop(client);
            // The last spans are sent before it ends.
            service.signal("-TERM");
            assert_eq!(service.wait(), 0);
        });
        let (resource, spans) = collector.spans();
        assert_eq!((resource["service.name"].as_str(), resource["service.namespace"].as_str()), ("rlaas", "edge"));
        let shown: Vec<_> = spans
            .iter()
            .map(|span| {
                assert_eq!(span.kind(), SpanKind::Server);
                assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
                let attributes = attributes(&span.attributes);
                let of = |name: &str| attributes.get(name).cloned().unwrap_or_default();
                let status = of("rpc.grpc.status_code") + &of("http.response.status_code");
                let known = hex(&span.trace_id) == TRACE && hex(&span.parent_span_id) == PARENT;
                let decided = of("rlaas.code") + &of("rlaas.denied_by");
                format!("{} {} {decided} {status} {known}", span.name, of("rlaas.domain"))
            })
            .collect();
        let rpc = "envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
        let expected = [
            format!("{rpc} d OK 0 true"),
            format!("{rpc} d OVER_LIMITd.k 0 false"),
            format!("{rpc} d  3 false"),
            "GET /authorize/{domain} d OK 200 true".to_owned(),
            "POST /json   400 false".to_owned(),
        ];
        assert_eq!(shown, expected, "{protocol}");
    }
}
