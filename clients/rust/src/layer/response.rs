//! The responses that the layer makes, and the headers that it adds.

use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use super::ResponseBody;
use crate::decision::{Decision, Decisions};
use crate::error::Error;
use crate::headers::unique_names;

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// 429 with the problem type `quota-exceeded`.
pub fn denied<B>(decisions: &Decisions) -> Response<ResponseBody<B>> {
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

/// 503, with the error in the extensions.
pub fn unavailable<B>(error: Error) -> Response<ResponseBody<B>> {
    let body = r#"{"type":"about:blank","title":"Service Unavailable","status":503}"#;
    let mut response = problem(StatusCode::SERVICE_UNAVAILABLE, body.to_owned());
    response.extensions_mut().insert(Arc::new(error));
    response
}

fn problem<B>(status: StatusCode, body: String) -> Response<ResponseBody<B>> {
    let mut response = Response::new(ResponseBody::of_text(body));
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
