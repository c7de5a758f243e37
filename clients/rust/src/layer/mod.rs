//! A tower layer that limits any `http` service.
//!
//! ```no_run
//! use std::time::Duration;
//! use redis_rl_client::layer::keys::{KeyedHash, forwarded_address};
//! use redis_rl_client::layer::{Limit, Parts, RateLimitLayer};
//! use redis_rl_client::{Error, Limiter, Policy};
//!
//! const API: Policy = Policy::token(Duration::from_secs(60), 600).burst(50).name("api");
//! const LOGIN: Policy = Policy::sliding(Duration::from_secs(300), 5).name("login");
//!
//! # fn example(limiter: Limiter) -> Result<RateLimitLayer, Error> {
//! let hash = KeyedHash::new(b"a secret that only the instances of this service know")?;
//! let layer = RateLimitLayer::new(limiter, move |request: &Parts| {
//!     // One proxy of our own is in front of the service.
//!     let caller = hash.address(forwarded_address(request, 1)?);
//!     Ok(match request.uri.path() {
//!         "/login" => Limit::new(&LOGIN, format!("login:{caller}")),
//!         _ => Limit::new(&API, format!("api:{caller}")),
//!     })
//! });
//! # Ok(layer)
//! # }
//! ```
//!
//! A request that is allowed has the [`Decisions`] in its extensions, and its response has their headers. With LEAKY it is
//! held for its delay first. Other requests do not reach the service:
//!
//! | what happened | status | |
//! |---|---|---|
//! | a limit denies | 429 | the headers, and the problem `quota-exceeded` of draft-ietf-httpapi-ratelimit-headers |
//! | the server cannot decide, and the fallback is [`Error`](crate::Fallback::Error), the default | 503 | `Retry-After: 1` |
//! | the server rejects the request (a key of another type, a command that is not permitted …), or there is no key | 500 | a fault of the configuration, which is logged |
//!
//! Their bodies are of the type `application/problem+json`; 503 and 500 have an `Arc<`[`Error`]`>` in their extensions.
//! [`RateLimitLayer::on_rejection`] replaces statuses and bodies. What says who the caller is: [`keys`].

pub mod keys;
mod response;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use tokio::time::sleep;
use tower_layer::Layer;
use tower_service::Service;

pub use http::request::Parts;
pub use response::{Rejection, ResponseBody};

use crate::decision::Decisions;
use crate::error::Error;
use crate::limiter::{Lease, Limiter, new_id};
use crate::policy::{Owned, Policy};

/// A policy, the key that it counts, and what the request takes.
#[derive(Clone, Debug)]
pub struct Limit(Owned);

impl Limit {
    /// A limit that the request takes 1 of. With LEASE, the request holds a lease until the body of its response ends.
    pub fn new(policy: &Policy, key: impl AsRef<[u8]>) -> Self {
        let (request, id) = (crate::Request::new(policy, key.as_ref()), new_id());
        Self(Owned::of(&if policy.algorithm().traits().id { request.id(&id) } else { request }))
    }

    /// How many units the request takes.
    #[must_use]
    pub fn cost(mut self, cost: u64) -> Self {
        self.0.cost = cost;
        self
    }
}

/// The limits of a request: one, or several that are checked together; with none it is not checked. An error is a fault of
/// the configuration: the request gets status 500.
#[derive(Clone, Debug)]
pub struct Limits(Result<Vec<Limit>, Error>);

impl From<Limit> for Limits {
    fn from(limit: Limit) -> Self {
        Self(Ok(vec![limit]))
    }
}

impl From<Vec<Limit>> for Limits {
    fn from(limits: Vec<Limit>) -> Self {
        Self(Ok(limits))
    }
}

impl<L: Into<Self>> From<Result<L, Error>> for Limits {
    fn from(limits: Result<L, Error>) -> Self {
        limits.map_or_else(|error| Self(Err(error)), Into::into)
    }
}

type LimitsOf = dyn Fn(&Parts) -> Limits + Send + Sync;
type ResponseTo = dyn Fn(&Rejection, Response<Bytes>) -> Response<Bytes> + Send + Sync;

/// The layer.
#[derive(Clone)]
pub struct RateLimitLayer {
    limiter: Limiter,
    limits: Arc<LimitsOf>,
    on_rejection: Option<Arc<ResponseTo>>,
}

impl RateLimitLayer {
    /// `limits` says which limits apply to a request, and to which keys: from its path, its headers, or an extension
    /// such as axum's `ConnectInfo`; see [`keys`]. Several limits are checked together: see [`Limiter::check_all`].
    pub fn new<L: Into<Limits>>(limiter: Limiter, limits: impl Fn(&Parts) -> L + Send + Sync + 'static) -> Self {
        let limits = Arc::new(move |request: &Parts| limits(request).into());
        Self { limiter, limits, on_rejection: None }
    }

    /// Changes or replaces the response to a request that does not reach the service.
    #[must_use]
    pub fn on_rejection(
        mut self,
        respond: impl Fn(&Rejection, Response<Bytes>) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        self.on_rejection = Some(Arc::new(respond));
        self
    }
}

impl<S> Layer<S> for RateLimitLayer {
    type Service = RateLimit<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimit { inner, settings: Arc::new(self.clone()) }
    }
}

/// A service that is limited.
#[derive(Clone)]
pub struct RateLimit<S> {
    inner: S,
    settings: Arc<RateLimitLayer>,
}

impl<S, A, B> Service<Request<A>> for RateLimit<S>
where
    S: Service<Request<A>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
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
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let limits = match (settings.limits)(&parts).0 {
                Ok(limits) => limits,
                Err(error) => {
                    settings.limiter.core.rejected(&error);
                    return Ok(settings.reject(Rejection::of(error)));
                }
            };
            if limits.is_empty() {
                return Ok(inner
                    .call(Request::from_parts(parts, body))
                    .await?
                    .map(|body| ResponseBody::of_service(body, Vec::new())));
            }
            let (decisions, leases) = match settings.check(limits).await {
                Ok((decisions, leases)) if decisions.allowed => (decisions, leases),
                Ok((decisions, _)) => return Ok(settings.reject(Rejection::Denied(decisions))),
                Err(error) => return Ok(settings.reject(Rejection::of(error))),
            };
            // A sleep of no time still ends with the timer's next tick, after up to a millisecond.
            if !decisions.delay().is_zero() {
                sleep(decisions.delay()).await;
            }
            parts.extensions.insert(decisions.clone());
            let (mut parts, body) = inner.call(Request::from_parts(parts, body)).await?.into_parts();
            response::set_headers(&mut parts.headers, &decisions);
            Ok(Response::from_parts(parts, ResponseBody::of_service(body, leases)))
        })
    }
}

impl RateLimitLayer {
    fn reject<B>(&self, rejection: Rejection) -> Response<ResponseBody<B>> {
        let response = rejection.response();
        let response = match &self.on_rejection {
            Some(respond) => respond(&rejection, response),
            None => response,
        };
        response.map(ResponseBody::of_text)
    }

    /// Checks the limits, and takes their leases.
    async fn check(&self, limits: Vec<Limit>) -> Result<(Decisions, Vec<Lease>), Error> {
        let limits: Vec<_> = limits.into_iter().map(|Limit(request)| request).collect();
        if limits.iter().any(|request| request.id.is_some()) {
            return self.limiter.take_leases(limits).await;
        }
        let requests: Vec<_> = limits.iter().map(Owned::request).collect();
        let decisions = self.limiter.check_together(&requests).await;
        let fallback = |error| self.limiter.core.fall_back_all(&requests, self.limiter.fallback, error);
        Ok((decisions.or_else(fallback)?, Vec::new()))
    }
}
