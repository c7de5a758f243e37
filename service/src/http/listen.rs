//! Connections of HTTP. A client that is slow to send a request does not hold its connection for ever.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::net::{Counted, Ending, Figures, Peer, Received, Watched};

/// How long the header of a request may be.
const MAX_HEADER: usize = 16 * 1024;

/// Connections of HTTP. A request may take `limit` after its header, with its reply. A connection that is idle for so long
/// is closed.
#[derive(Clone)]
pub struct Http {
    http1: http1::Builder,
    app: Router,
    limit: Duration,
    figures: Figures,
    stops: CancellationToken,
}

impl Http {
    pub fn new(app: Router, limit: Duration, figures: Figures, stops: CancellationToken) -> Self {
        let mut http1 = http1::Builder::new();
        http1.timer(TokioTimer::new()).header_read_timeout(limit).max_buf_size(MAX_HEADER);
        Self { http1, app, limit, figures, stops }
    }

    /// Serves a connection until it ends. One that has sent nothing takes little.
    pub async fn serve(self, io: TcpStream, peer: Arc<Peer>) {
        tokio::select! {
            begun = io.readable() => if begun.is_err() {
                return;
            },
            why = peer.closed() => return self.count_closed(why),
            () = self.stops.cancelled() => return,
        }
        Box::pin(self.serve_begun(io, peer)).await;
    }

    fn count_closed(&self, why: Ending) {
        self.figures.closed.with_label_values(&[why.word()]).inc();
    }

    async fn serve_begun(self, io: TcpStream, peer: Arc<Peer>) {
        let from = io.peer_addr().ok();
        _ = io.set_nodelay(true);
        let (app, limit) = (TowerToHyperService::new(self.app.clone()), self.limit);
        let service = service_fn({
            let peer = peer.clone();
            move |request: Request<Incoming>| {
                let path = request.uri().path();
                let open =
                    peer.begin(matches!(path, "/json" | "/reserve" | "/commit") || path.starts_with("/authorize/"));
                let arrival = peer.arrival(&open);
                let mut request = request.map(|body| Received::http(body, open.clone()));
                request.extensions_mut().insert(arrival);
                if let Some(from) = from {
                    request.extensions_mut().insert(ConnectInfo(from));
                }
                let response = app.call(request);
                async move {
                    let late = || (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")]).into_response();
                    let response = match timeout(limit, response).await {
                        Ok(Ok(response)) => response,
                        Err(_) => late(),
                    };
                    Ok::<Response<_>, Infallible>(response.map(|body| Counted::new(body, open)))
                }
            }
        });
        let watched = Watched::http1(io, peer.clone());
        let mut connection = pin!(self.http1.serve_connection(TokioIo::new(watched), service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            why = peer.closed() => return self.count_closed(why),
            () = self.stops.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            debug!(?from, %error, "a connection of HTTP failed");
        }
    }
}
