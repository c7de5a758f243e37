//! How a request has come, and its span.

use std::time::{Duration, Instant};

use axum::extract::MatchedPath;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use axum::response::{IntoResponse, Response};
use tonic::{Code, Status};

use super::trace::{Span, Traces};

/// When the caller of gRPC no longer waits. An extension of the request.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Instant);

/// A call of gRPC, or a request of HTTP.
#[derive(Debug, Default)]
pub struct Call {
    /// When its caller no longer waits. A request of HTTP has no such time.
    pub deadline: Option<Instant>,
    pub method: Method,
    pub span: Span,
}

/// What is asked, as the metrics have it. Over HTTP it is the same as over gRPC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    #[default]
    ShouldRateLimit,
    CheckRateLimit,
    Report,
    Reserve,
    Commit,
}

impl Method {
    pub const fn name(self) -> &'static str {
        match self {
            Self::ShouldRateLimit => "ShouldRateLimit",
            Self::CheckRateLimit => "CheckRateLimit",
            Self::Report => "Report",
            Self::Reserve => "Reserve",
            Self::Commit => "Commit",
        }
    }
}

impl Call {
    /// A call of gRPC.
    pub fn grpc(
        traces: &Traces,
        headers: &HeaderMap,
        extensions: &Extensions,
        (service, method): (&'static str, Method),
    ) -> Self {
        let deadline = extensions.get().map(|Deadline(at)| *at);
        Self { deadline, method, span: traces.grpc(headers, service, method.name()) }
    }

    /// A request of HTTP.
    pub fn http(traces: &Traces, parts: &Parts) -> Self {
        let route = parts.extensions.get().map_or("", MatchedPath::as_str);
        let span = traces.http(&parts.method, route, &parts.headers);
        Self { span, ..Self::default() }
    }

    /// The reply to a call of gRPC.
    pub fn replied<T>(mut self, result: Result<T, Status>) -> Result<tonic::Response<T>, Status> {
        self.span.set_grpc_status(result.as_ref().map_or_else(Status::code, |_| Code::Ok));
        result.map(tonic::Response::new)
    }

    /// The response to a request of HTTP.
    pub fn responded(mut self, response: impl IntoResponse) -> Response {
        let response = response.into_response();
        self.span.set_http_status(response.status());
        response
    }
}

/// How long the caller of gRPC waits: the header `grpc-timeout`, up to eight digits and a unit.
pub fn grpc_timeout(headers: &HeaderMap) -> Option<Duration> {
    timeout(headers.get("grpc-timeout")?.to_str().ok()?)
}

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
