//! Accepts connections. A client that is slow to send a request does not hold its connection for ever.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};
use tracing::debug;

/// Serves until `stop` is ready, and then what is under way. The header of a request may take `limit`, and so may the
/// rest of it with its reply. A connection that is idle for so long is closed.
pub async fn serve(listener: TcpListener, app: Router, limit: Duration, stop: impl Future<Output = ()>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limit);
    let app = TowerToHyperService::new(app);
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            // Too many open files, for example: this ends when others are closed.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        _ = stream.set_nodelay(true);
        let app = app.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = app.call(request);
            async move {
                let late = || (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")]).into_response();
                Ok::<Response<_>, Infallible>(match timeout(limit, response).await {
                    Ok(Ok(response)) => response,
                    Err(_) => late(),
                })
            }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                debug!(%peer, %error, "a connection of HTTP failed");
            }
        });
    }
    drop(listener);
    graceful.shutdown().await;
}
