//! Accepts connections, as many as there may be.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;
use tokio_stream::{Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{error, warn};

use crate::decide::Service;
use crate::throttle::Throttle;

/// How often there is a line of the log about connections that are not accepted.
const LINES_APART: Duration = Duration::from_secs(1);

/// A listener.
pub struct Listener {
    pub name: &'static str,
    /// How many connections may be open.
    pub most: usize,
    pub service: Arc<Service>,
    /// Cancelled when nothing more is accepted.
    pub stops: CancellationToken,
}

impl Listener {
    /// Accepts connections until it is stopped, and waits for their ends: `serve` must end soon after that. One more than
    /// there may be is closed at once. Among those that wait to be accepted it would look open to its client.
    pub async fn accept<I, F: Future<Output = ()> + Send + 'static>(
        self,
        mut incoming: impl Stream<Item = io::Result<I>> + Unpin,
        serve: impl Fn(I) -> F,
    ) {
        let Self { name: listener, most, service, stops } = self;
        let open = service.metrics.connections.with_label_values(&[listener]);
        let (connections, errors, refusals) =
            (TaskTracker::new(), Throttle::new(LINES_APART), Throttle::new(LINES_APART));
        loop {
            let accepted = tokio::select! {
                () = stops.cancelled() => break,
                accepted = incoming.next() => accepted,
            };
            let io = match accepted {
                // A listener does not end.
                None => break,
                Some(Ok(io)) => io,
                Some(Err(error)) => {
                    service.metrics.accept_errors.inc();
                    if let Some(left_out) = errors.next(Instant::now()) {
                        error!(listener, %error, left_out, "a connection could not be accepted");
                    }
                    // Too many open files, for example.
                    sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            if connections.len() >= most {
                service.metrics.count_closed("full");
                if let Some(left_out) = refusals.next(Instant::now()) {
                    warn!(listener, left_out, "a connection was closed: --max-connections are open");
                }
                continue;
            }
            let (served, open) = (serve(io), open.clone());
            connections.spawn(async move {
                open.inc();
                served.await;
                open.dec();
            });
        }
        // Nothing is accepted while the last connections end.
        drop(incoming);
        connections.close();
        connections.wait().await;
    }
}
