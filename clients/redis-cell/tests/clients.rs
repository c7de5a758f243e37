//! The clients of redis-cell run unchanged against this module. RL_PORT is the port of a server that has it.
//! The tests share that server, so each has its own keys.

use std::env;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::get;
use redis::Client;
use redis_cell_rs::{Cmd, Key, Policy, Verdict};
use tower::ServiceExt;
use tower_redis_cell::{Error, ProvideRule, ProvideRuleResult, RateLimitConfig, RateLimitLayer, Rule};

const FIVE_AN_HOUR: Policy = Policy::from_tokens_per_hour(5).name("five an hour");

fn client() -> Client {
    let port = env::var("RL_PORT").expect("RL_PORT is set: run the script named test");
    Client::open(format!("redis://127.0.0.1:{port}")).expect("an address")
}

/// Five an hour for each `x-api-key`.
#[derive(Clone)]
struct Rules;

impl ProvideRule<Request<Body>> for Rules {
    fn provide<'a>(&self, request: &'a Request<Body>) -> ProvideRuleResult<'a> {
        let key = request.headers().get("x-api-key").and_then(|key| key.to_str().ok()).ok_or("no x-api-key")?;
        Ok(Some(Rule::new(Key::pair(key, request.uri().path()), FIVE_AN_HOUR)))
    }
}

fn on_error(error: Error, _request: &Request<Body>) -> Response {
    match error {
        Error::RateLimit(denied) => {
            let retry_after = AppendHeaders([(header::RETRY_AFTER, denied.details.retry_after)]);
            (StatusCode::TOO_MANY_REQUESTS, retry_after).into_response()
        }
        Error::ProvideRule(_) => StatusCode::UNAUTHORIZED.into_response(),
        error => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn application() -> Router {
    let connection = client().get_multiplexed_async_connection().await.expect("a connection");
    let config = RateLimitConfig::new(Rules, on_error).on_success(|allowed, response: &mut Response| {
        response.headers_mut().insert("x-ratelimit-remaining", allowed.details.remaining.into());
    });
    Router::new().route("/", get(|| async { "hello" })).layer(RateLimitLayer::new(config, connection))
}

/// The status of the response, and Retry-After.
async fn request(application: &Router, key: Option<&str>) -> (u16, Option<u64>) {
    let mut request = Request::get("/");
    if let Some(key) = key {
        request = request.header("x-api-key", key);
    }
    let request = request.body(Body::empty()).expect("a request");
    let Ok(response) = application.clone().oneshot(request).await;
    let status = response.status().as_u16();
    assert_eq!(response.headers().contains_key("x-ratelimit-remaining"), status == 200);
    let retry_after = response.headers().get(header::RETRY_AFTER);
    (status, retry_after.map(|value| value.to_str().expect("ASCII").parse().expect("seconds")))
}

#[tokio::test]
async fn an_application() {
    let application = application().await;
    assert_eq!(request(&application, Some("anna")).await, (200, None));
    // 3600 s / 5
    assert_eq!(request(&application, Some("anna")).await, (429, Some(720)));
    assert_eq!(request(&application, Some("boris")).await, (200, None));
    assert_eq!(request(&application, None).await, (401, None));
}

#[test]
fn the_figures_of_the_client_are_those_of_the_module() {
    let mut connection = client().get_connection().expect("a connection");
    let mut throttle = |policy: &Policy| -> Verdict {
        let key = Key::from("figures");
        redis::Cmd::from(Cmd::new(&key, policy)).query(&mut connection).expect("a reply")
    };
    // A burst of 4 is a capacity of 5.
    let policy = FIVE_AN_HOUR.max_burst(4);
    for remaining in (0..5).rev() {
        let Verdict::Allowed(details) = throttle(&policy) else { panic!("denied with {remaining} left") };
        assert_eq!((details.total, details.remaining), (5, remaining));
        assert_eq!(details.reset_after, 720 * (5 - remaining as u64));
    }
    let Verdict::Blocked(details) = throttle(&policy) else { panic!("allowed a sixth") };
    assert_eq!((details.total, details.remaining), (5, 0));
    assert_eq!((details.retry_after, details.reset_after), (720, 3600));
    // Three at once, when none is left.
    let Verdict::Blocked(details) = throttle(&policy.apply_tokens(3)) else { panic!("allowed three") };
    assert_eq!(details.retry_after, 3 * 720);
}

#[test]
fn a_cost_that_never_fits_is_denied_as_by_redis_cell() {
    let mut connection = client().get_connection().expect("a connection");
    let key = Key::from("never");
    let command = || redis::Cmd::from(Cmd::new(&key, &FIVE_AN_HOUR.apply_tokens(2)));
    let reply: [i64; 5] = command().query(&mut connection).expect("five integers");
    assert_eq!(reply, [1, 1, 1, -1, 0]);
    assert!(command().query::<Verdict>(&mut connection).is_err(), "redis-cell-rs reads −1 now: change README.md");
}
