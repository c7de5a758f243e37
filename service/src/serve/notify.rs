//! Posts events to `--notify-url`.

use std::time::Duration;

use opentelemetry_http::{Bytes, Request};
use prometheus::IntCounterVec;
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::timeout;
use tracing::warn;

use super::traces::web_client;

/// How many events may wait. One more is dropped.
const QUEUE: usize = 1_000;
/// How long the receiver may take for one.
const POST: Duration = Duration::from_secs(5);

/// Posts what comes, one event after the other, each at most once. Must be called in a runtime of tokio.
pub fn start(url: String, posts: IntCounterVec) -> Sender<String> {
    let (sender, mut events) = channel(QUEUE);
    let client = web_client(POST);
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            let request = Request::post(&url).header("content-type", "application/json").body(Bytes::from(event));
            let Ok(request) = request else { return warn!("--notify-url is no URL") };
            let is_sent = timeout(POST, client.send_bytes(request)).await.is_ok_and(|reply| match reply {
                Ok(reply) => reply.status().is_success(),
                Err(_) => false,
            });
            posts.with_label_values(&[if is_sent { "sent" } else { "failed" }]).inc();
        }
    });
    sender
}

/// A URL of HTTP.
pub fn url(text: &str) -> Result<String, String> {
    let is_http = |url: &http::Uri| matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some();
    match text.parse().is_ok_and(|url| is_http(&url)) {
        true => Ok(text.to_owned()),
        false => Err("expected a URL, as https://hooks.example/limits".to_owned()),
    }
}
