//! Connections of HTTP. A client that is slow to send a request does not hold its connection for ever.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::message::{Held, Message, Messages};
use crate::decide::Service;

/// The label of a connection that was closed since its client sent nothing, or half a header.
const SILENT: &str = "silent";
/// How long the header of a request may be.
const MAX_HEADER: usize = 16 * 1024;

/// Connections of HTTP.
#[derive(Clone)]
pub struct Http {
    http1: http1::Builder,
    app: TowerToHyperService<Router>,
    limits: HttpLimits,
    messages: Messages,
    service: Arc<Service>,
    stops: CancellationToken,
}

/// How long a client may take.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// To the first byte.
    pub silence: Duration,
    /// For the header of a request, with the pause before it.
    pub header: Duration,
    /// From the header to the reply.
    pub request: Duration,
}

impl Http {
    pub fn new(
        app: Router,
        limits: HttpLimits,
        messages: Messages,
        service: Arc<Service>,
        stops: CancellationToken,
    ) -> Self {
        let mut http1 = http1::Builder::new();
        http1.timer(TokioTimer::new()).header_read_timeout(limits.header).max_buf_size(MAX_HEADER);
        Self { http1, app: TowerToHyperService::new(app), limits, messages, service, stops }
    }

    /// Serves a connection until it ends.
    pub async fn serve(self, io: TcpStream) {
        tokio::select! {
            begun = timeout(self.limits.silence, io.readable()) => match begun {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) => return self.service.metrics.count_closed(SILENT),
            },
            () = self.stops.cancelled() => return,
        }
        // One that has sent nothing takes little.
        Box::pin(self.serve_begun(io)).await;
    }

    async fn serve_begun(self, io: TcpStream) {
        let from = io.peer_addr().ok();
        _ = io.set_nodelay(true);
        let service = service_fn(|mut request: Request<Incoming>| {
            if let Some(from) = from {
                request.extensions_mut().insert(ConnectInfo(from));
            }
            self.clone().reply(request)
        });
        let mut connection = pin!(self.http1.serve_connection(TokioIo::new(io), service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stops.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        let Err(error) = ended else { return };
        debug!(?from, %error, "a connection of HTTP failed");
        if error.is_timeout() {
            self.service.metrics.count_closed(SILENT);
        }
    }

    async fn reply(self, request: Request<Incoming>) -> Result<Response, Infallible> {
        let held = Held::new(self.service.load.begin());
        let request = request.map(|body| Message::http(body, held.clone(), &self.messages));
        let late = || (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")]).into_response();
        let response = timeout(self.limits.request, self.app.call(request)).await;
        drop(held);
        response.unwrap_or_else(|_| Ok(late()))
    }
}
