//! `/reserve` and `/commit`: the calls of Kuadrant's gateways as JSON, for callers without gRPC.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;

use super::{Rejected, json};
use crate::decide::{Call, Service};

/// Charges an estimate. A `reservation_id` repeats a reservation, or renews it.
pub async fn reserve(State(service): State<Arc<Service>>, mut call: Call, body: Bytes) -> Response {
    let response = reserved(&service, &mut call, &body).await;
    call.responded(response)
}

async fn reserved(service: &Service, call: &mut Call, body: &[u8]) -> Result<Response, Rejected> {
    let wanted = json::read_as(body, "rlaas.v1.ReserveRequest")?;
    let reply = service.reserve(wanted, call).await?;
    let status = if reply.code() == Code::OverLimit { StatusCode::TOO_MANY_REQUESTS } else { StatusCode::OK };
    Ok(json::written(status, &reply, "kuadrant.service.ratelimit.v1.ReserveResponse"))
}

/// Corrects a reservation to what was used.
pub async fn commit(State(service): State<Arc<Service>>, mut call: Call, body: Bytes) -> Response {
    let response = committed(&service, &mut call, &body).await;
    call.responded(response)
}

async fn committed(service: &Service, call: &mut Call, body: &[u8]) -> Result<Response, Rejected> {
    let used = json::read_as(body, "kuadrant.service.ratelimit.v1.CommitRequest")?;
    let reply = service.commit(used, call).await?;
    Ok(json::written(StatusCode::OK, &reply, "kuadrant.service.ratelimit.v1.CommitResponse"))
}
