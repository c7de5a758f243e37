//! A rate limit service that decides nothing, on tonic alone: `empty <address>`. `benches/service.py` measures what rlaas
//! takes beside it.

use std::error::Error;

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_service_server::{
    RateLimitService, RateLimitServiceServer,
};
use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse, rate_limit_response::Code};
use tonic::transport::Server;
use tonic::{Request, Response, Status};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Empty;

#[tonic::async_trait]
impl RateLimitService for Empty {
    async fn should_rate_limit(&self, _: Request<RateLimitRequest>) -> Result<Response<RateLimitResponse>, Status> {
        Ok(Response::new(RateLimitResponse { overall_code: Code::Ok.into(), ..Default::default() }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("empty <address>")?.parse()?;
    Ok(Server::builder().add_service(RateLimitServiceServer::new(Empty)).serve(address).await?)
}
