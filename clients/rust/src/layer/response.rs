//! The responses that the layer makes, and the headers that it adds.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::decision::{Decision, Decisions, unique_names};
use crate::error::Error;
use crate::limiter::Lease;

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Why a request does not reach the service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Rejection {
    /// A limit denies it: status 429.
    Denied(Decisions),
    /// The server cannot decide, and the fallback is [`Error`](crate::Fallback::Error): status 503.
    Unavailable(Arc<Error>),
    /// The server rejects the request, or the layer has no key for it. This is a fault of the configuration: status 500.
    Misconfigured(Arc<Error>),
}

impl Rejection {
    pub(super) fn of(error: Error) -> Self {
        if error.is_unavailable() { Self::Unavailable(Arc::new(error)) } else { Self::Misconfigured(Arc::new(error)) }
    }

    /// The response that the layer sends if nothing replaces it.
    pub(super) fn response(&self) -> Response<Bytes> {
        match self {
            Self::Denied(decisions) => denied(decisions),
            Self::Unavailable(error) => {
                let mut response = failed(StatusCode::SERVICE_UNAVAILABLE, error);
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
                response
            }
            Self::Misconfigured(error) => failed(StatusCode::INTERNAL_SERVER_ERROR, error),
        }
    }
}

fn failed(status: StatusCode, error: &Arc<Error>) -> Response<Bytes> {
    let title = status.canonical_reason().unwrap_or_default();
    let body = format!(r#"{{"type":"about:blank","title":"{title}","status":{}}}"#, status.as_u16());
    let mut response = problem(status, body);
    response.extensions_mut().insert(Arc::clone(error));
    response
}

/// 429 with the problem type `quota-exceeded`.
fn denied(decisions: &Decisions) -> Response<Bytes> {
    let names = unique_names(&decisions.limits);
    let denies = |(decision, name): (&Decision, String)| (!decision.allowed).then(|| format!("\"{name}\""));
    // The characters of a name need no escapes.
    let violated: Vec<String> = decisions.limits.iter().zip(names).filter_map(denies).collect();
    let body = format!(
        r#"{{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,"violated-policies":[{}]}}"#,
        violated.join(",")
    );
    let mut response = problem(StatusCode::TOO_MANY_REQUESTS, body);
    set_headers(response.headers_mut(), decisions);
    response
}

fn problem(status: StatusCode, body: String) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM);
    response
}

/// Sets the headers of the decisions.
pub fn set_headers(headers: &mut HeaderMap, decisions: &Decisions) {
    for (name, value) in decisions.headers() {
        // Both are ASCII, so neither conversion fails.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
}

pin_project! {
    /// The body of a response: that of the service, or the text of a problem.
    #[derive(Debug)]
    pub struct ResponseBody<B> {
        // `None` if the request did not reach the service.
        #[pin]
        service: Option<B>,
        // `None` once it is read, or if there is none.
        text: Option<Bytes>,
        // Released when the body ends, or is dropped.
        leases: Vec<Lease>,
    }
}

impl<B> ResponseBody<B> {
    pub(super) fn of_service(body: B, leases: Vec<Lease>) -> Self {
        Self { service: Some(body), text: None, leases }
    }

    pub(super) fn of_text(text: Bytes) -> Self {
        Self { service: None, text: Some(text).filter(|text| !text.is_empty()), leases: Vec::new() }
    }
}

impl<B: Body<Data = Bytes>> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let body = self.project();
        match body.service.as_pin_mut() {
            Some(service) => service.poll_frame(context),
            None => Poll::Ready(body.text.take().map(|text| Ok(Frame::data(text)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.service.as_ref().map_or(self.text.is_none(), Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let text = || SizeHint::with_exact(self.text.as_ref().map_or(0, |text| text.len() as u64));
        self.service.as_ref().map_or_else(text, Body::size_hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_decided_now_says_when_to_come_again() {
        let shown = [Error::CircuitOpen, Error::EmptySecret].map(|error| {
            let response = Rejection::of(error).response();
            (response.status().as_u16(), response.headers().contains_key(RETRY_AFTER))
        });
        assert_eq!(shown, [(503, true), (500, false)]);
    }
}
