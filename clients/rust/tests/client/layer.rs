//! The tower layer in front of an axum service.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::response::Response;
use axum::routing::get;
use http::{Request, StatusCode};
use redis_rl_client::layer::keys::peer_address;
use redis_rl_client::layer::{Limit, Limits, Parts, RateLimitLayer, Rejection};
use redis_rl_client::{Decisions, Error, Fallback, Limiter, Policy};
use tower::ServiceExt;

use crate::setup::{block_on, connected, eventually_is, limiter, on_one_server};
use crate::support::*;

const HOUR: Duration = Duration::from_secs(3600);
const API: Policy = Policy::token(HOUR, 2).name("api");
const TOKENS: Policy = Policy::counter(HOUR, 1_000).name("tokens");
const RUNNING: Policy = Policy::lease(HOUR, 1).name("running");

fn limits(request: &Parts) -> Limits {
    let Some(user) = request.headers.get("x-user").and_then(|user| user.to_str().ok()) else {
        return Vec::new().into();
    };
    match request.uri.path() {
        "/tokens" => Limits::from(vec![
            Limit::new(&API, format!("{{{user}}}:api")),
            Limit::new(&TOKENS, format!("{{{user}}}:tokens")).cost(600),
        ]),
        "/running" => Limit::new(&RUNNING, format!("running:{user}")).into(),
        _ => Limit::new(&API, format!("api:{user}")).into(),
    }
}

fn app(limiter: Limiter) -> Router {
    Router::new()
        .route(
            "/",
            get(|decisions: Option<axum::Extension<Decisions>>| async move {
                decisions
                    .map_or("none".to_owned(), |axum::Extension(decisions)| decisions.limits[0].remaining.to_string())
            }),
        )
        .route("/tokens", get(|| async { "text" }))
        .route("/running", get(|| async { "running" }))
        .layer(RateLimitLayer::new(limiter, limits))
}

async fn ask(app: &Router, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

async fn text(response: Response) -> String {
    String::from_utf8(to_bytes(response.into_body(), 10_000).await.unwrap().to_vec()).unwrap()
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|value| value.to_str().unwrap())
}

#[test]
fn the_third_request_gets_429_with_headers_and_a_problem() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        block_on(async {
            let app = app(limiter(&server).await);
            for left in ["1", "0"] {
                let response = ask(&app, "/", &[("x-user", "a")]).await;
                assert_eq!(response.status(), StatusCode::OK);
                assert_eq!(header(&response, "x-ratelimit-remaining"), Some(left));
                assert_eq!(header(&response, "ratelimit-policy"), Some("\"api\";q=2;w=3600"));
                assert_eq!(header(&response, "retry-after"), None);
                // The handler sees the decision.
                assert_eq!(text(response).await, left);
            }
            let response = ask(&app, "/", &[("x-user", "a")]).await;
            assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
            assert_eq!(header(&response, "content-type"), Some("application/problem+json"));
            assert_eq!(header(&response, "x-ratelimit-limit"), Some("2"));
            assert_eq!(header(&response, "x-ratelimit-remaining"), Some("0"));
            let wait: u64 = header(&response, "retry-after").unwrap().parse().unwrap();
            assert!((1_790..=1_800).contains(&wait), "{wait}");
            assert_eq!(header(&response, "ratelimit"), Some(format!("\"api\";r=0;t={wait}").as_str()));
            assert_eq!(
                text(response).await,
                r#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota exceeded","status":429,"violated-policies":["api"]}"#
            );
            // Another user has another key, and without a user there is no limit.
            assert_eq!(ask(&app, "/", &[("x-user", "b")]).await.status(), StatusCode::OK);
            let response = ask(&app, "/", &[]).await;
            assert_eq!(header(&response, "ratelimit-policy"), None);
            assert_eq!(text(response).await, "none");
        });
    });
}

#[test]
fn all_limits_are_charged_their_costs_or_none() {
    on_one_server(async |limiter, _| {
        let app = app(limiter.clone());
        let response = ask(&app, "/tokens", &[("x-user", "a")]).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, "ratelimit-policy"), Some("\"api\";q=2;w=3600, \"tokens\";q=1000;w=3600"));
        let response = ask(&app, "/tokens", &[("x-user", "a")]).await;
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert!(text(response).await.ends_with(r#""violated-policies":["tokens"]}"#));
        assert_eq!(limiter.peek(&API.request("{a}:api").cost(0)).await.unwrap().remaining, 1);
    });
}

#[test]
fn a_lease_is_held_until_the_body_ends() {
    block_on(async {
        let server = one_server();
        let app = app(limiter(&server).await);
        let first = ask(&app, "/running", &[("x-user", "a")]).await;
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(header(&first, "ratelimit-policy"), Some("\"running\";q=1;w=3600;qu=\"concurrent-requests\""));
        // The body of the first response is not read yet.
        assert_eq!(ask(&app, "/running", &[("x-user", "a")]).await.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(text(first).await, "running");
        let status = async || ask(&app, "/running", &[("x-user", "a")]).await.status();
        assert!(eventually_is(StatusCode::OK, status).await, "the lease is not released");
    });
}

/// An app with one route, which does this, and one set of limits.
fn app_of<H, T>(limiter: &Limiter, limits: impl Fn(&Parts) -> Limits + Send + Sync + 'static, handler: H) -> Router
where
    H: axum::handler::Handler<T, ()>,
    T: 'static,
{
    Router::new().route("/", get(handler)).layer(RateLimitLayer::new(limiter.clone(), limits))
}

#[test]
fn a_fault_of_the_configuration_is_500_whatever_the_fallback_is() {
    block_on(async {
        let server = one_server();
        let limiter = limiter(&server).await.with_fallback(Fallback::Allow);
        redis::cmd("RPUSH").arg("list").arg("x").exec(&mut server.con()).unwrap();
        let app = app_of(&limiter, |_| Limit::new(&API, "list").into(), || async { "reached" });
        let response = ask(&app, "/", &[]).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let error = response.extensions().get::<Arc<Error>>().expect("an error");
        assert!(error.to_string().contains("WRONGTYPE"), "{error}");
        assert!(text(response).await.starts_with(r#"{"type":"about:blank","#));
        // No address: the service was not made with the information.
        let limits =
            |request: &Parts| peer_address(request).map(|address| Limit::new(&API, address.to_string())).into();
        let response = ask(&app_of(&limiter, limits, || async { "reached" }), "/", &[]).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(matches!(**response.extensions().get::<Arc<Error>>().unwrap(), Error::MissingKey(_)));
    });
}

#[test]
fn statuses_and_bodies_can_be_replaced() {
    block_on(async {
        let mut server = one_server();
        let limiter = connected(&server, |builder| builder.timeout(Duration::from_secs(1))).await;
        let limits = |request: &Parts| Limit::new(&API, request.uri.path());
        let layer = RateLimitLayer::new(limiter, limits).on_rejection(|rejection, mut response| {
            match rejection {
                Rejection::Denied(decisions) => *response.body_mut() = format!("{}", decisions.limits.len()).into(),
                _ => *response.status_mut() = StatusCode::BAD_GATEWAY,
            }
            response
        });
        let app = Router::new().fallback(get(|| async { "reached" })).layer(layer);
        for _ in 0..2 {
            assert_eq!(text(ask(&app, "/", &[]).await).await, "reached");
        }
        let denied = ask(&app, "/", &[]).await;
        assert!(denied.status() == StatusCode::TOO_MANY_REQUESTS && header(&denied, "retry-after").is_some());
        assert_eq!(text(denied).await, "1");
        server.kill();
        // Another key: the denial of that one is remembered.
        assert_eq!(ask(&app, "/other", &[]).await.status(), StatusCode::BAD_GATEWAY);
    });
}
