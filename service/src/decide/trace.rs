//! Spans of OpenTelemetry: one a request, in the trace that its headers name.

use axum::http::{HeaderMap, Method, StatusCode};
use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use opentelemetry::KeyValue;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, SpanKind, Status as SpanStatus, Tracer as _, TracerProvider as _};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use redis_rl_client::bounded;
use tonic::{Code, Status};

use super::outcomes::{Outcomes, decisions};

/// Makes the spans, if traces are on.
#[derive(Debug, Default)]
pub struct Traces(Option<(SdkTracer, TraceContextPropagator)>);

/// The span of a request, which ends when it is dropped. Nothing if traces are off: then it takes no memory.
#[derive(Debug, Default)]
pub struct Span(Option<Box<opentelemetry_sdk::trace::Span>>);

impl Traces {
    /// Spans of this provider; `None` for no spans.
    pub fn new(provider: Option<&SdkTracerProvider>) -> Self {
        Self(provider.map(|provider| (provider.tracer("rlaas"), TraceContextPropagator::new())))
    }

    /// A call of gRPC begins.
    pub fn grpc(&self, headers: &HeaderMap, service: &'static str, method: &'static str) -> Span {
        self.start(headers, || {
            let attributes = vec![
                KeyValue::new("rpc.system", "grpc"),
                KeyValue::new("rpc.service", service),
                KeyValue::new("rpc.method", method),
            ];
            (format!("{service}/{method}"), attributes)
        })
    }

    /// A request of HTTP begins.
    pub fn http(&self, method: &Method, route: &str, headers: &HeaderMap) -> Span {
        self.start(headers, || {
            let attributes = vec![
                KeyValue::new("http.request.method", method.to_string()),
                KeyValue::new("http.route", route.to_owned()),
                KeyValue::new("url.scheme", "http"),
            ];
            (format!("{method} {route}"), attributes)
        })
    }

    fn start(&self, headers: &HeaderMap, describe: impl FnOnce() -> (String, Vec<KeyValue>)) -> Span {
        Span(self.0.as_ref().map(|(tracer, propagator)| {
            let parent = propagator.extract(&HeaderExtractor(headers));
            let (name, attributes) = describe();
            let builder = tracer.span_builder(name).with_kind(SpanKind::Server).with_attributes(attributes);
            Box::new(tracer.build_with_context(builder, &parent))
        }))
    }
}

impl Span {
    /// Adds what was asked, and what was decided.
    pub fn set_decision(
        &mut self,
        request: &RateLimitRequest,
        result: Result<&(RateLimitResponse, Outcomes), &Status>,
    ) {
        let Some(span) = &mut self.0 else { return };
        span.set_attribute(KeyValue::new("rlaas.domain", bounded(&request.domain).into_owned()));
        let descriptors = i64::try_from(request.descriptors.len()).unwrap_or(i64::MAX);
        span.set_attribute(KeyValue::new("rlaas.descriptors", descriptors));
        match result {
            Ok((reply, outcomes)) => {
                span.set_attribute(KeyValue::new("rlaas.code", reply.overall_code().as_str_name()));
                let denied: Vec<_> = decisions(outcomes)
                    .filter(|decision| !decision.allowed)
                    .map(|decision| decision.policy().label())
                    .collect();
                if !denied.is_empty() {
                    span.set_attribute(KeyValue::new("rlaas.denied_by", denied.join(",")));
                }
            }
            Err(error) => self.set_error(error),
        }
    }

    /// Adds an error, if it is not a mistake of the client.
    pub fn set_error(&mut self, error: &Status) {
        if let Some(span) = &mut self.0
            && matches!(error.code(), Code::Unavailable | Code::Internal)
        {
            span.set_status(SpanStatus::error(error.message().to_owned()));
        }
    }

    /// Adds the status of gRPC.
    pub fn set_grpc_status(&mut self, code: Code) {
        if let Some(span) = &mut self.0 {
            span.set_attribute(KeyValue::new("rpc.grpc.status_code", i64::from(code as i32)));
        }
    }

    /// Adds the status of HTTP.
    pub fn set_http_status(&mut self, status: StatusCode) {
        if let Some(span) = &mut self.0 {
            span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
        }
    }
}
