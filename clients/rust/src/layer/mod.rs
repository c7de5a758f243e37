//! A tower layer that limits any `http` service.
//!
//! ```no_run
//! use std::time::Duration;
//! use redis_rl_client::layer::{Limit, Parts, RateLimitLayer};
//! use redis_rl_client::{Limiter, Policy};
//!
//! const API: Policy = Policy::token(Duration::from_secs(60), 600).burst(50).name("api");
//! const LOGIN: Policy = Policy::sliding(Duration::from_secs(300), 5).name("login");
//!
//! # fn example(limiter: Limiter<redis::aio::ConnectionManager>) -> RateLimitLayer<redis::aio::ConnectionManager> {
//! let layer = RateLimitLayer::new(limiter, |request: &Parts| {
//!     let caller = request.headers.get("x-api-key")?.to_str().ok()?;
//!     Some(match request.uri.path() {
//!         "/login" => Limit::new(&LOGIN, format!("login:{caller}")),
//!         _ => Limit::new(&API, format!("api:{caller}")),
//!     })
//! });
//! # layer
//! # }
//! ```
//!
//! A request that is denied gets status 429, the headers of [`Decisions::headers`], and a body of the type
//! `application/problem+json`: the problem `quota-exceeded` of draft-ietf-httpapi-ratelimit-headers. A request that is
//! allowed finds the [`Decisions`] in its extensions, and its response has the headers. With LEAKY it is held for its
//! delay first.
//!
//! If there is no decision ([`Fallback::Error`](crate::Fallback::Error), or an error of the server), the response has
//! status 503 and an `Arc<`[`Error`]`>` in its extensions.

mod body;
mod limit;
mod response;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use tokio::time::{Instant, sleep};
use tower_layer::Layer;
use tower_service::Service;

pub use body::ResponseBody;
pub use http::request::Parts;
pub use limit::{ActualCost, Limit, Limits};

use crate::connection::Connection;
use crate::decision::Decisions;
use crate::error::Error;
use crate::limiter::Limiter;

type LimitsOf = dyn Fn(&Parts) -> Limits + Send + Sync;
type ActualOf = dyn Fn(&http::response::Parts) -> Option<u64> + Send + Sync;

/// The layer.
pub struct RateLimitLayer<C> {
    shared: Arc<Shared<C>>,
}

struct Shared<C> {
    limiter: Limiter<C>,
    limits: Box<LimitsOf>,
    actual: Box<ActualOf>,
}

impl<C: Connection> RateLimitLayer<C> {
    /// `limits` says which limits apply to a request, and to which keys: from its path, its headers, or an extension
    /// such as axum's `ConnectInfo`. Several limits are checked together: see
    /// [`Limiter::check_all`]. A request without limits is not checked.
    pub fn new<L: Into<Limits>>(limiter: Limiter<C>, limits: impl Fn(&Parts) -> L + Send + Sync + 'static) -> Self {
        let limits = Box::new(move |request: &Parts| limits(request).into());
        let actual =
            Box::new(|response: &http::response::Parts| response.extensions.get().map(|&ActualCost(cost)| cost));
        Self { shared: Arc::new(Shared { limiter, limits, actual }) }
    }

    /// What a request turned out to cost, for limits that are [settled](Limit::settled). `None` leaves the cost as it was
    /// charged. If not given, the [`ActualCost`] in the extensions of the response.
    #[must_use]
    pub fn actual_cost(self, actual: impl Fn(&http::response::Parts) -> Option<u64> + Send + Sync + 'static) -> Self {
        // The layer is shared once it has made a service, and then keeps what it had.
        let shared = Arc::try_unwrap(self.shared).map(|shared| Shared { actual: Box::new(actual), ..shared });
        Self { shared: shared.map_or_else(|shared| shared, Arc::new) }
    }
}

impl<C> Clone for RateLimitLayer<C> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<C> fmt::Debug for RateLimitLayer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayer").finish_non_exhaustive()
    }
}

impl<S, C> Layer<S> for RateLimitLayer<C> {
    type Service = RateLimit<S, C>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimit { inner, shared: Arc::clone(&self.shared) }
    }
}

/// A service that is limited.
pub struct RateLimit<S, C> {
    inner: S,
    shared: Arc<Shared<C>>,
}

impl<S: Clone, C> Clone for RateLimit<S, C> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<S, C> fmt::Debug for RateLimit<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit").finish_non_exhaustive()
    }
}

impl<S, C, A, B> Service<Request<A>> for RateLimit<S, C>
where
    S: Service<Request<A>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    C: Connection,
    A: Send + 'static,
{
    type Response = Response<ResponseBody<B>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        // The service that was polled is ready; its clone is not.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let limits = (shared.limits)(&parts);
            if limits.is_empty() {
                return Ok(inner
                    .call(Request::from_parts(parts, body))
                    .await?
                    .map(|body| ResponseBody::of_service(body, Vec::new())));
            }
            let sent = Instant::now();
            let decisions = match shared.check(&limits).await {
                Ok(decisions) if decisions.allowed => decisions,
                Ok(decisions) => return Ok(response::denied(&decisions)),
                Err(error) => return Ok(response::unavailable(error)),
            };
            let leases = limits.iter().filter_map(|limit| limit.lease(&shared.limiter, sent)).collect();
            // A sleep of no time still ends with the timer's next tick, after up to a millisecond.
            if !decisions.delay().is_zero() {
                sleep(decisions.delay()).await;
            }
            parts.extensions.insert(decisions.clone());
            let response = match inner.call(Request::from_parts(parts, body)).await {
                Ok(response) => response,
                Err(error) => {
                    shared.settle(&limits, &decisions, 0);
                    return Err(error);
                }
            };
            let (mut parts, body) = response.into_parts();
            if let Some(actual) = (shared.actual)(&parts) {
                shared.settle(&limits, &decisions, actual);
            }
            response::set_headers(&mut parts.headers, &decisions);
            Ok(Response::from_parts(parts, ResponseBody::of_service(body, leases)))
        })
    }
}

impl<C: Connection> Shared<C> {
    async fn check(&self, limits: &Limits) -> Result<Decisions, Error> {
        match limits.requests().as_slice() {
            [request] => self.limiter.check_request(request).await.map(Decisions::from),
            requests => self.limiter.check_all(requests).await,
        }
    }

    /// Settles in the background, so that the response does not wait.
    fn settle(&self, limits: &Limits, decisions: &Decisions, actual: u64) {
        for (limit, decision) in limits.iter().zip(&decisions.limits) {
            if !limit.is_settled() || decision.source != crate::Source::Server {
                continue;
            }
            let (limiter, limit, at) = (self.limiter.clone(), limit.clone(), decision.now_ms);
            tokio::spawn(async move {
                let _ = limiter.settle(&limit.request().at(at), actual).await;
            });
        }
    }
}
