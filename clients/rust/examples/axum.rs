//! A service with two limits: `cargo run --example axum --features tower`, then
//! `curl -i -H 'x-api-key: me' http://127.0.0.1:3000/`. REDIS_URL and ADDRESS choose the server and the address.

use std::env;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::{get, post};
use redis_rl_client::layer::{Limit, Parts, RateLimitLayer};
use redis_rl_client::{Fallback, Limiter, Policy};
use tokio::net::TcpListener;

const API: Policy = Policy::token(Duration::from_secs(60), 60).burst(10).name("api");
const LOGIN: Policy = Policy::sliding(Duration::from_secs(300), 5).name("login");

fn limit(request: &Parts) -> Option<Limit> {
    let ConnectInfo(address) = request.extensions.get::<ConnectInfo<SocketAddr>>()?;
    Some(match (request.uri.path(), request.headers.get("x-api-key")) {
        ("/login", _) => Limit::new(&LOGIN, format!("login:{}", address.ip())),
        (_, Some(key)) => Limit::new(&API, [b"key:", key.as_bytes()].concat()),
        (_, None) => Limit::new(&API, format!("address:{}", address.ip())),
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let variable = |name, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
    let client = redis::Client::open(variable("REDIS_URL", "redis://127.0.0.1/"))?;
    let limiter =
        Limiter::builder(client.get_connection_manager().await?).fallback(Fallback::Local { instances: 3 }).build();
    let app = Router::new()
        .route("/", get(|| async { "hello\n" }))
        .route("/login", post(|| async { "welcome\n" }))
        .layer(RateLimitLayer::new(limiter, limit));
    let listener = TcpListener::bind(variable("ADDRESS", "127.0.0.1:3000")).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
