//! `envoy.service.ratelimit.v3.RateLimitService`, and that of Kuadrant.

use std::sync::Arc;

use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use tonic::{Request, Response, Status};

use super::call::{Call, Method};
use super::proto::envoy::rate_limit_service_server::RateLimitService;
use super::proto::rate_limit_service_server as kuadrant;
use super::proto::{self, CommitRequest, CommitResponse, ReserveRequest, ReserveResponse};
use super::service::Service;

const ENVOY: &str = "envoy.service.ratelimit.v3.RateLimitService";
const KUADRANT: &str = "kuadrant.service.ratelimit.v1.RateLimitService";

/// The service as tonic takes it.
#[derive(Clone, Debug)]
pub struct Grpc(pub Arc<Service>);

type Replied<T> = Result<Response<T>, Status>;

impl Grpc {
    /// The call of a method, and its message.
    fn called<T>(&self, request: Request<T>, method: (&'static str, Method)) -> (Call, T) {
        let (metadata, extensions, message) = request.into_parts();
        (Call::grpc(&self.0.traces, metadata.as_ref(), &extensions, method), message)
    }
}

#[tonic::async_trait]
impl RateLimitService for Grpc {
    async fn should_rate_limit(&self, request: Request<RateLimitRequest>) -> Replied<RateLimitResponse> {
        let (mut call, request) = self.called(request, (ENVOY, Method::ShouldRateLimit));
        let result = self.0.decide(&request, &mut call).await;
        call.replied(result)
    }
}

/// The calls of Kuadrant's gateways.
#[tonic::async_trait]
impl kuadrant::RateLimitService for Grpc {
    async fn check_rate_limit(&self, request: Request<RateLimitRequest>) -> Replied<RateLimitResponse> {
        let (mut call, request) = self.called(request, (KUADRANT, Method::CheckRateLimit));
        let result = self.0.check(&request, &mut call).await;
        call.replied(result)
    }

    async fn report(&self, request: Request<RateLimitRequest>) -> Replied<RateLimitResponse> {
        let (mut call, request) = self.called(request, (KUADRANT, Method::Report));
        let result = self.0.report(&request, &mut call).await;
        call.replied(result)
    }

    async fn reserve(&self, request: Request<ReserveRequest>) -> Replied<ReserveResponse> {
        let (mut call, request) = self.called(request, (KUADRANT, Method::Reserve));
        let ReserveRequest { domain, descriptors, amount, ttl } = request;
        let wanted = proto::http::ReserveRequest { domain, descriptors, amount, ttl, reservation_id: String::new() };
        let result = self.0.reserve(wanted, &mut call).await;
        call.replied(result)
    }

    async fn commit(&self, request: Request<CommitRequest>) -> Replied<CommitResponse> {
        let (mut call, request) = self.called(request, (KUADRANT, Method::Commit));
        let result = self.0.commit(request, &mut call).await;
        call.replied(result)
    }
}
