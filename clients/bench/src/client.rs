//! The clients that are measured.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client as Redis, Script};
use redis_rl_client::layer::{Limit, Parts, RateLimit, RateLimitLayer, ResponseBody};
use redis_rl_client::{Grants, Limiter, Policy};
use tower::util::ServiceFn;
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_redis_cell::redis_cell;
use tower_redis_cell::{ProvideRule, ProvideRuleResult, RateLimitConfig, Rule};

use crate::Error;

/// Nothing that is measured reaches it: a billion in an hour. A whole number of units is charged in each millisecond.
pub const OPEN: Policy = Policy::gcra(HOUR, 1_000_000_000);
/// Denies all but the first request of a key.
pub const CLOSED: Policy = Policy::gcra(HOUR, 1);
/// The machine may be busy, and a request that is given up is no figure.
const PATIENCE: Duration = Duration::from_secs(10);
const HOUR: Duration = Duration::from_secs(3600);
/// Callers.
const KEYS: u64 = 100;
/// One of so many requests of a flood is allowed: 95 %, and 99 %, are denied.
const FLOODS: [u64; 2] = [20, 100];
/// How many units the server grants at once.
const GRANT: u64 = 100;

/// What the others are compared with.
pub const PLAIN: &str = "plain";
pub const PEER: &str = "tower-redis-cell";

#[derive(Clone)]
pub struct Client {
    name: String,
    way: Way,
}

#[derive(Clone)]
enum Way {
    Check(Limiter<ConnectionManager>),
    /// One of so many requests is allowed.
    Flood(Limiter<ConnectionManager>, u64),
    /// Of so many keys.
    Grants(Grants<ConnectionManager>, u64),
    Layer(RateLimit<Hello, ConnectionManager>),
    Peer(Peer),
    Script(Box<(Script, ConnectionManager)>),
}

type Peer = tower_redis_cell::RateLimit<Hello, ByHeader, Request<()>, Response<()>, Response<()>, ConnectionManager>;
/// The service behind both layers.
type Hello = ServiceFn<fn(Request<()>) -> Ready<Result<Response<()>, Infallible>>>;

/// The script that RL.FIXED replaces.
const SCRIPT: &str = include_str!("../../../tests/scripts/fixed_window.lua");

impl Client {
    /// Each has a connection of its own, so that none waits for replies to another.
    pub async fn all(server: &Redis) -> Result<Vec<Self>, Error> {
        let mut all = Vec::new();
        let mut add = |name: &str, way| all.push(Self { name: name.to_owned(), way });
        add(PLAIN, Way::Check(limiter(server, true).await?));
        add("plain, as a tower layer", Way::Layer(layer(limiter(server, true).await?)));
        add(PEER, Way::Peer(peer(connect(server).await?)));
        add("EVALSHA", Way::Script(Box::new((Script::new(SCRIPT), connect(server).await?))));
        for period in FLOODS {
            let denied = 100 - 100 / period;
            let name = format!("flood, {denied} % denied, each request sent");
            add(&name, Way::Flood(limiter(server, false).await?, period));
            add(
                &format!("flood, {denied} % denied, denials remembered"),
                Way::Flood(limiter(server, true).await?, period),
            );
        }
        for keys in [1, KEYS] {
            let grants = limiter(server, true).await?.grants(&OPEN, GRANT)?;
            add(&format!("grants of {GRANT}, keys: {keys}"), Way::Grants(grants, keys));
        }
        Ok(all)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks the request of that number. Whether it is allowed.
    pub async fn check(&mut self, number: u64) -> Result<bool, Error> {
        match &mut self.way {
            Way::Check(limiter) => Ok(limiter.check(&OPEN, &key("open", number)).await?.allowed),
            Way::Flood(limiter, period) => {
                let (policy, name) = if number.is_multiple_of(*period) { (&OPEN, "open") } else { (&CLOSED, "closed") };
                Ok(limiter.check(policy, &key(name, number)).await?.allowed)
            }
            Way::Grants(grants, keys) => Ok(grants.check(&key("granted", number % *keys)).await?.allowed),
            Way::Layer(service) => {
                let response: Response<ResponseBody<()>> = service.ready().await?.call(request(number)?).await?;
                allowed(response.status())
            }
            Way::Peer(service) => allowed(service.ready().await?.call(request(number)?).await?.status()),
            Way::Script(both) => {
                let (script, connection) = &mut **both;
                let mut call = script.key(key("script", number));
                let (allowed, _, _): (u64, u64, i64) =
                    call.arg(HOUR.as_secs()).arg(OPEN.limit()).invoke_async(connection).await?;
                Ok(allowed == 1)
            }
        }
    }
}

/// The key of a caller.
pub fn key(name: &str, number: u64) -> String {
    format!("{name}:{:04}", number % KEYS)
}

pub async fn limiter(server: &Redis, denials: bool) -> Result<Limiter<ConnectionManager>, Error> {
    let builder = Limiter::builder(connect(server).await?).timeout(PATIENCE);
    Ok(if denials { builder.build() } else { builder.denials(0).build() })
}

async fn connect(server: &Redis) -> Result<ConnectionManager, Error> {
    let config = ConnectionManagerConfig::new().set_response_timeout(Some(PATIENCE));
    Ok(server.get_connection_manager_with_config(config).await?)
}

fn hello() -> Hello {
    service_fn(|_| ready(Ok(Response::new(()))))
}

fn request(number: u64) -> Result<Request<()>, Error> {
    Ok(Request::builder().header("x-api-key", key("open", number)).body(())?)
}

fn allowed(status: StatusCode) -> Result<bool, Error> {
    match status {
        StatusCode::OK => Ok(true),
        StatusCode::TOO_MANY_REQUESTS => Ok(false),
        other => Err(format!("the layer replied {other}").into()),
    }
}

fn layer(limiter: Limiter<ConnectionManager>) -> RateLimit<Hello, ConnectionManager> {
    RateLimitLayer::new(limiter, |request: &Parts| {
        let caller = request.headers.get("x-api-key")?;
        Some(Limit::new(&OPEN, caller.as_bytes()))
    })
    .layer(hello())
}

/// The key is the same, and so are limit and window.
#[derive(Clone)]
struct ByHeader;

impl ProvideRule<Request<()>> for ByHeader {
    fn provide<'a>(&self, request: &'a Request<()>) -> ProvideRuleResult<'a> {
        let caller = request.headers().get("x-api-key").and_then(|value| value.to_str().ok());
        let limit = OPEN.limit() as usize;
        let policy = redis_cell::Policy::from_tokens_per_period(limit, HOUR).max_burst(limit);
        Ok(Some(Rule::new(caller.ok_or("x-api-key is missing")?, policy)))
    }
}

fn peer(connection: ConnectionManager) -> Peer {
    let config = RateLimitConfig::new(ByHeader, |error, _: &Request<()>| {
        let mut response = Response::new(());
        *response.status_mut() = match error {
            tower_redis_cell::Error::RateLimit(_) => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        response
    });
    tower_redis_cell::RateLimit::new(hello(), config, connection)
}
