//! How a request has come, and its span.

use std::time::{Duration, Instant};

use axum::extract::MatchedPath;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use tonic::{Code, Status};

use super::trace::{Span, Traces};
use crate::net::{Arrival, header};

/// How long the caller waits.
const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// A call of gRPC, or a request of HTTP.
#[derive(Debug, Default)]
pub struct Call {
    pub arrival: Option<Arrival>,
    /// When its caller no longer waits. HTTP does not say it.
    pub deadline: Option<Instant>,
    pub span: Span,
}

impl Call {
    /// A call of gRPC. The deadline counts from when the request was read.
    pub fn grpc(
        traces: &Traces,
        headers: &HeaderMap,
        arrival: Option<Arrival>,
        (service, method): (&'static str, &'static str),
    ) -> Self {
        let rest = header(headers, &TIMEOUT).and_then(|value| timeout(value.to_str().ok()?));
        let rest = rest.map(|rest| rest.saturating_sub(arrival.as_ref().map_or(Duration::ZERO, Arrival::ago)));
        let deadline = rest.and_then(|rest| Instant::now().checked_add(rest));
        Self { arrival, deadline, span: traces.grpc(headers, service, method) }
    }

    /// A request of HTTP.
    pub fn http(traces: &Traces, parts: &Parts) -> Self {
        let route = parts.extensions.get().map_or("", MatchedPath::as_str);
        let span = traces.http(&parts.method, route, &parts.headers);
        Self { arrival: parts.extensions.get().cloned(), deadline: None, span }
    }

    /// The reply to a call of gRPC.
    pub fn replied<T>(mut self, result: Result<T, Status>) -> Result<T, Status> {
        self.span.set_grpc_status(result.as_ref().map_or_else(Status::code, |_| Code::Ok));
        result
    }

    /// The response to a request of HTTP.
    pub fn responded(mut self, response: impl IntoResponse) -> Response {
        let response = response.into_response();
        self.span.set_http_status(response.status());
        response
    }
}

/// The time in the header `grpc-timeout`: up to eight digits and a unit.
fn timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let n: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(n * 3_600),
        "M" => Duration::from_secs(n * 60),
        "S" => Duration::from_secs(n),
        "m" => Duration::from_millis(n),
        "u" => Duration::from_micros(n),
        "n" => Duration::from_nanos(n),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_of_a_call_is_read() {
        assert_eq!(timeout("20m"), Some(Duration::from_millis(20)));
        assert_eq!(timeout("99999999H"), Some(Duration::from_secs(99_999_999 * 3_600)));
        assert_eq!(timeout("1500u"), Some(Duration::from_micros(1500)));
        for wrong in ["", "m", "20", "-1m", "123456789m", "1x", "1é"] {
            assert_eq!(timeout(wrong), None, "{wrong}");
        }
    }
}
