//! The service over HTTP: for callers without gRPC, and for proxies that ask another server before each request.

mod authorize;
pub mod json;
mod listen;
mod message;
mod reserve;
mod why;

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use redis_rl_client::TopDenial;
use rlaas_rules::Printable;
use tonic::{Code, Status};

pub use listen::{Http, HttpLimits};
pub use message::{Held, Message, Messages};

use crate::VERSION;
use crate::decide::{Call, SHADOW_MODE, Service, Snapshot};

/// The number of keys that `/denials` tells of.
const SHOWN_DENIALS: usize = 100;

/// `/json`, `/reserve`, `/commit`, `/authorize/<domain>`, `/healthcheck` and `/ready`; if it is wanted, `/limits/<domain>`.
pub fn api(service: Arc<Service>, limits: bool) -> Router {
    let router = Router::new();
    let router = if limits { router.route("/limits/{domain}", get(authorize::limits)) } else { router };
    router
        .route("/json", any(json::json))
        .route("/reserve", post(reserve::reserve))
        .route("/commit", post(reserve::commit))
        .route("/authorize/{domain}", any(authorize::authorize))
        .route("/healthcheck", any(healthcheck))
        .route("/ready", any(ready))
        .layer(DefaultBodyLimit::max(message::LONGEST))
        .with_state(service)
}

/// The metrics, for Prometheus.
pub fn metrics(service: Arc<Service>, path: &str) -> Router {
    Router::new().route(path, get(metrics_text)).with_state(service)
}

/// `/rlconfig`: the rules in force. `/denials`: the keys that remembered denials deny most. `/why`: what the limits of a
/// request hold. `/reset`: deletes that.
pub fn debug(service: Arc<Service>) -> Router {
    let router = Router::new().route("/rlconfig", get(rlconfig)).route("/denials", get(denials));
    let router = router
        .route("/why", post(why::why))
        .route("/reset", post(why::reset))
        .layer(DefaultBodyLimit::max(message::LONGEST));
    router.with_state(service)
}

async fn healthcheck(State(service): State<Arc<Service>>) -> impl IntoResponse {
    match service.not_healthy() {
        None => (StatusCode::OK, "OK"),
        Some(why) => (StatusCode::INTERNAL_SERVER_ERROR, why),
    }
}

async fn ready(State(service): State<Arc<Service>>) -> impl IntoResponse {
    match service.not_ready().await {
        None => (StatusCode::OK, "OK"),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}

async fn metrics_text(State(service): State<Arc<Service>>) -> impl IntoResponse {
    match service.metrics.text(&service.limiter.stats(), &service.load) {
        Ok(text) => Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)),
        Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
    }
}

/// The line that says that no request is denied, if that is so.
fn shadow(service: &Service) -> String {
    if service.settings.reply.shadow { format!("{SHADOW_MODE}\n") } else { String::new() }
}

async fn rlconfig(State(service): State<Arc<Service>>) -> String {
    match service.snapshot.load_full() {
        Some(snapshot) => {
            let Snapshot { generation, hash, rules, .. } = &*snapshot;
            let shadow = shadow(&service);
            format!("{shadow}generation: {generation}\nhash: {hash}\nversion: {VERSION}\n{rules}")
        }
        None => "there are no valid rules yet\n".to_owned(),
    }
}

/// One a line: how many requests were denied without Redis, for how many seconds more, the policy, and the key.
async fn denials(State(service): State<Arc<Service>>) -> String {
    let line = |TopDenial { key, policy, count, ends_in, .. }: TopDenial| {
        let key = String::from_utf8_lossy(&key).into_owned();
        format!("{count} {} {policy} {}\n", ends_in.as_secs(), Printable(&key))
    };
    service.limiter.top_denials(SHOWN_DENIALS).into_iter().map(line).collect()
}

impl FromRequestParts<Arc<Service>> for Call {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, service: &Arc<Service>) -> Result<Self, Infallible> {
        Ok(Self::http(&service.traces, parts))
    }
}

/// The response to a request without a decision.
#[derive(Debug)]
pub struct Rejected(Response);

impl IntoResponse for Rejected {
    fn into_response(self) -> Response {
        self.0
    }
}

/// What is wrong with the request.
impl From<String> for Rejected {
    fn from(text: String) -> Self {
        Self((StatusCode::BAD_REQUEST, text + "\n").into_response())
    }
}

/// An error of gRPC.
impl From<Status> for Rejected {
    fn from(error: Status) -> Self {
        let status = match error.code() {
            Code::InvalidArgument | Code::FailedPrecondition => StatusCode::BAD_REQUEST,
            Code::PermissionDenied => StatusCode::FORBIDDEN,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self((status, format!("{}\n", error.message())).into_response())
    }
}
