//! `/reserve` and `/commit`: the calls of Kuadrant's gateways as JSON, for callers without gRPC.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use prost::Message;

use super::{failed, json};
use crate::net::Arrival;
use crate::service::Service;

type Caller = (State<Arc<Service>>, HeaderMap, Option<Extension<Arrival>>);

/// Charges an estimate. A `reservation_id` repeats a reservation, or renews it.
pub async fn reserve((State(service), headers, arrival): Caller, body: Request) -> Response {
    let arrival = arrival.as_deref();
    let wanted = match read(arrival, body, "rlaas.v1.ReserveRequest").await {
        Ok(wanted) => wanted,
        Err(rejected) => return rejected,
    };
    let mut span = service.traces.http(&Method::POST, "/reserve", &headers);
    let response = match service.reserve(wanted, (arrival, None), &mut span).await {
        Ok(reply) => {
            let status = if reply.code() == Code::OverLimit { StatusCode::TOO_MANY_REQUESTS } else { StatusCode::OK };
            json::written(status, &reply, "kuadrant.service.ratelimit.v1.ReserveResponse")
        }
        Err(error) => failed(&error),
    };
    span.set_http_status(response.status());
    response
}

/// Corrects a reservation to what was used.
pub async fn commit((State(service), headers, arrival): Caller, body: Request) -> Response {
    let arrival = arrival.as_deref();
    let used = match read(arrival, body, "kuadrant.service.ratelimit.v1.CommitRequest").await {
        Ok(used) => used,
        Err(rejected) => return rejected,
    };
    let mut span = service.traces.http(&Method::POST, "/commit", &headers);
    let response = match service.commit(used, (arrival, None), &mut span).await {
        Ok(reply) => json::written(StatusCode::OK, &reply, "kuadrant.service.ratelimit.v1.CommitResponse"),
        Err(error) => failed(&error),
    };
    span.set_http_status(response.status());
    response
}

async fn read<M: Message + Default>(arrival: Option<&Arrival>, body: Request, name: &str) -> Result<M, Response> {
    let body = json::bytes(arrival, body).await?;
    json::read_as(&body, name).map_err(|text| (StatusCode::BAD_REQUEST, format!("{text}\n")).into_response())
}
