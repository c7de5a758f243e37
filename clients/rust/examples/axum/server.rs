//! A service with two limits: `cargo run --example axum --features axum`, then
//! `curl -i -H 'x-api-key: me' http://127.0.0.1:3000/`. REDIS_URL and ADDRESS choose the server and the address.

use std::env;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use http::HeaderName;
use redis_rl_client::layer::keys::{KeyedHash, header, peer_address};
use redis_rl_client::layer::{Limit, Parts, RateLimitLayer};
use redis_rl_client::{Error, Fallback, Limiter, Policy};
use tokio::net::TcpListener;

const API: Policy = Policy::token(Duration::from_secs(60), 60).burst(10).name("api");
const LOGIN: Policy = Policy::sliding(Duration::from_secs(300), 5).name("login");

/// Callers reach this service directly. Behind proxies, use `forwarded_address` instead of `peer_address`.
fn limit(hash: &KeyedHash, request: &Parts) -> Result<Limit, Error> {
    let address = hash.address(peer_address(request)?);
    Ok(match (request.uri.path(), header(request, &HeaderName::from_static("x-api-key"))) {
        ("/login", _) => Limit::new(&LOGIN, format!("login:{address}")),
        (_, Some(key)) => Limit::new(&API, format!("key:{}", hash.value(key))),
        (_, None) => Limit::new(&API, format!("address:{address}")),
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt::init(); // prints why there was no decision
    let variable = |name, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
    let builder = Limiter::builder(&variable("REDIS_URL", "redis://127.0.0.1/"))?;
    let limiter = builder.fallback(Fallback::Local { instances: 3 }).build();
    let hash = KeyedHash::new(variable("KEY_SECRET", "the same secret in all instances").as_bytes())?;
    let app = Router::new()
        .route("/", get(|| async { "hello\n" }))
        .route("/login", post(|| async { "welcome\n" }))
        .layer(RateLimitLayer::new(limiter, move |request: &Parts| limit(&hash, request)));
    let listener = TcpListener::bind(variable("ADDRESS", "127.0.0.1:3000")).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
