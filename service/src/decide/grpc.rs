//! `envoy.service.ratelimit.v3.RateLimitService`, and that of Kuadrant.

use std::sync::Arc;

use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use http::HeaderMap;
use tonic::{Request, Response, Status};

use super::call::Call;
use super::proto::envoy::rate_limit_service_server::RateLimitService;
use super::proto::rate_limit_service_server as kuadrant;
use super::proto::{self, CommitRequest, CommitResponse, ReserveResponse};
use super::service::Service;
use crate::net::Arrival;

const ENVOY: &str = "envoy.service.ratelimit.v3.RateLimitService";
const KUADRANT: &str = "kuadrant.service.ratelimit.v1.RateLimitService";

/// The service as tonic takes it.
#[derive(Clone, Debug)]
pub struct Grpc(pub Arc<Service>);

/// What gateways call for each of their requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    ShouldRateLimit,
    CheckRateLimit,
    Report,
}

impl Method {
    /// The method that has this path.
    pub fn of(path: &str) -> Option<Self> {
        let (service, name) = path.strip_prefix('/')?.split_once('/')?;
        [Self::ShouldRateLimit, Self::CheckRateLimit, Self::Report]
            .into_iter()
            .find(|method| method.names() == (service, name))
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::ShouldRateLimit => (ENVOY, "ShouldRateLimit"),
            Self::CheckRateLimit => (KUADRANT, "CheckRateLimit"),
            Self::Report => (KUADRANT, "Report"),
        }
    }
}

type Replied<T> = Result<Response<T>, Status>;

impl Grpc {
    /// Replies to a call of one of the methods.
    ///
    /// # Errors
    /// The request is not valid, or it cannot be decided.
    pub async fn reply(
        &self,
        method: Method,
        (headers, arrival): (&HeaderMap, Option<Arrival>),
        request: RateLimitRequest,
    ) -> Result<RateLimitResponse, Status> {
        let mut call = Call::grpc(&self.0.traces, headers, arrival, method.names());
        let result = match method {
            Method::ShouldRateLimit => self.0.decide(&request, &mut call).await,
            Method::CheckRateLimit => self.0.check(&request, &mut call).await,
            Method::Report => self.0.report(&request, &mut call).await,
        };
        call.replied(result)
    }

    async fn reply_by_tonic(&self, method: Method, request: Request<RateLimitRequest>) -> Replied<RateLimitResponse> {
        let (metadata, mut extensions, message) = request.into_parts();
        let call = (metadata.as_ref(), extensions.remove());
        self.reply(method, call, message).await.map(Response::new)
    }
}

/// The call of another method, and its message.
fn called<T>(service: &Service, request: Request<T>, name: &'static str) -> (Call, T) {
    let (metadata, mut extensions, message) = request.into_parts();
    (Call::grpc(&service.traces, metadata.as_ref(), extensions.remove(), (KUADRANT, name)), message)
}

#[tonic::async_trait]
impl RateLimitService for Grpc {
    async fn should_rate_limit(&self, request: Request<RateLimitRequest>) -> Replied<RateLimitResponse> {
        self.reply_by_tonic(Method::ShouldRateLimit, request).await
    }
}

/// The calls of Kuadrant's gateways.
#[tonic::async_trait]
impl kuadrant::RateLimitService for Grpc {
    async fn check_rate_limit(&self, request: Request<RateLimitRequest>) -> Replied<RateLimitResponse> {
        self.reply_by_tonic(Method::CheckRateLimit, request).await
    }

    async fn report(&self, request: Request<RateLimitRequest>) -> Replied<RateLimitResponse> {
        self.reply_by_tonic(Method::Report, request).await
    }

    async fn reserve(&self, request: Request<proto::ReserveRequest>) -> Replied<ReserveResponse> {
        let (mut call, request) = called(&self.0, request, "Reserve");
        let proto::ReserveRequest { domain, descriptors, amount, ttl } = request;
        let wanted = proto::http::ReserveRequest { domain, descriptors, amount, ttl, reservation_id: String::new() };
        let result = self.0.reserve(wanted, &mut call).await;
        call.replied(result).map(Response::new)
    }

    async fn commit(&self, request: Request<CommitRequest>) -> Replied<CommitResponse> {
        let (mut call, request) = called(&self.0, request, "Commit");
        let result = self.0.commit(request, &mut call).await;
        call.replied(result).map(Response::new)
    }
}
