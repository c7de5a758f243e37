//! Connections of gRPC: how long they live, and how they end. (The server of tonic 0.14 sends no GOAWAY where there is a
//! grace, and has one age for all connections.)

use std::future::pending;
use std::io;
use std::pin::pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::task::TaskTracker;
use tonic::service::Routes;
use tracing::debug;

/// How often a connection without requests is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// When a connection ends. `None` is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ages {
    /// The age at which the client gets GOAWAY. That of a connection is up to a tenth more or less, so that connections
    /// that were opened together do not end together.
    pub age: Option<Duration>,
    /// How long what is under way may take after that. Then the connection is cut.
    pub grace: Option<Duration>,
}

/// Serves until `stops` says so, and then what is under way.
pub async fn serve<I>(
    incoming: impl Stream<Item = io::Result<I>>,
    routes: Routes,
    ages: Ages,
    mut stops: watch::Receiver<bool>,
) where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut http2 = http2::Builder::new(TokioExecutor::new());
    // How many requests are under way is bounded for all connections together.
    http2.timer(TokioTimer::new()).keep_alive_interval(KEEPALIVE).max_concurrent_streams(None);
    let service = TowerToHyperService::new(routes.prepare());
    let connections = TaskTracker::new();
    let drains = stops.clone();
    let mut stopped = pin!(stops.wait_for(|stop| *stop));
    let mut incoming = Box::pin(incoming);
    loop {
        let accepted = tokio::select! {
            _ = &mut stopped => break,
            accepted = incoming.next() => accepted,
        };
        match accepted {
            None => break,
            // Too many open files, for example: this ends when others are closed.
            Some(Err(_)) => sleep(Duration::from_millis(50)).await,
            Some(Ok(stream)) => {
                let connection = http2.serve_connection(TokioIo::new(stream), service.clone());
                let mut drains = drains.clone();
                connections.spawn(async move {
                    let mut connection = pin!(connection);
                    let grace = tokio::select! {
                        ended = connection.as_mut() => return log(ended),
                        () = after(ages.age.map(about)) => ages.grace,
                        _ = drains.wait_for(|stop| *stop) => None,
                    };
                    connection.as_mut().graceful_shutdown();
                    tokio::select! {
                        ended = connection => log(ended),
                        () = after(grace) => debug!("a connection was cut: its requests took longer than the grace"),
                    }
                });
            }
        }
    }
    // Nothing is accepted while the last connections end.
    drop(incoming);
    connections.close();
    connections.wait().await;
}

async fn after(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => pending().await,
    }
}

/// An age of its own for each connection.
fn about(age: Duration) -> Duration {
    let spread = u64::try_from((age / 5).as_nanos()).unwrap_or(u64::MAX);
    (age - age / 10).saturating_add(Duration::from_nanos(fastrand::u64(..=spread)))
}

fn log(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        debug!(%error, "a connection of gRPC failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ages_of_connections_differ_by_a_tenth() {
        for millis in [0, 1, 7, 300, 86_400_000, 9_000_000_000_000] {
            let age = Duration::from_millis(millis);
            let mut ages: Vec<_> = (0..100).map(|_| about(age)).collect();
            ages.sort_unstable();
            assert!(ages[0] >= age - age / 10 && ages[99] <= age.saturating_add(age / 10), "{age:?}");
            assert!(millis == 0 || ages[99] - ages[0] > age / 20, "{age:?} is the same for all");
        }
    }
}
