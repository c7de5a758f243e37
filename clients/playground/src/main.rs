//! Serves the playground: `redis-rl-playground <URL of the server> <address to listen on>`.
//!
//! The page sends requests to `/api/check`. Each is checked with the crate `redis-rl-client`, and gets the status and
//! the headers that a service with this limit would reply.

mod check;
mod origin;

use std::time::Duration;

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::middleware;
use axum::routing::{get, post};
use redis_rl_client::{Limiter, Link};
use tokio::net::TcpListener;

/// The page loads nothing from elsewhere, and no script can be put into it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, address] = arguments.as_slice() else {
        return Err("usage: redis-rl-playground <URL of the server> <address to listen on>".into());
    };
    // A laptop under load may need more than the default of 100 ms.
    let limiter = Limiter::builder(Link::open(url)?).timeout(Duration::from_secs(2)).build();
    limiter.connect().await?;
    let listener = TcpListener::bind(address).await.map_err(|error| format!("cannot listen on {address}: {error}"))?;
    println!("The playground is at http://{}/ (Ctrl-C ends it)", listener.local_addr()?);
    let name = address.rsplit_once(':').map_or(address.as_str(), |(name, _)| name);
    axum::serve(listener, app(limiter, name.to_owned())).await?;
    Ok(())
}

fn app(limiter: Limiter, name: String) -> Router {
    Router::new()
        .route("/", get(|| async { file("text/html; charset=utf-8", include_str!("../page/index.html")) }))
        .route("/style.css", get(|| async { file("text/css; charset=utf-8", include_str!("../page/style.css")) }))
        .route("/page.js", get(|| async { file("text/javascript; charset=utf-8", include_str!("../page/page.js")) }))
        .route("/api/check", post(check::check))
        .with_state(limiter)
        .layer(middleware::from_fn_with_state(name, origin::check))
}

fn file(content_type: &'static str, text: &'static str) -> impl axum::response::IntoResponse {
    ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-cache"), (CONTENT_SECURITY_POLICY, POLICY)], text)
}
