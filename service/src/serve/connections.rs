//! Connections of gRPC: how long they live, and how they end. (The server of tonic 0.14 sends no GOAWAY where there is a
//! grace, and has one age for all connections.)

use std::convert::Infallible;
use std::error::Error as _;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use http::{HeaderName, Request, Response};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tracing::debug;

use super::tls::Tls;
use crate::decide::{self, Method};
use crate::net::{
    self, Arrival, Counted, Ending, Failed, Figures, MAX_STREAMS, Open, Peer, Received, Reply, Watched, header,
};

/// How often a connection without requests is asked whether it is still there, and how long it may take to say so: one
/// that waits for its turn is not read.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// What a client of HTTP/2 sends first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How many streams may be cancelled before they were looked at. A connection is looked at after each 8 KiB, so these are
/// more than a client cancels that gave up during a pause of this process.
const CANCELLED: usize = 1_000;
/// How much of a message may be on its way before it is read. A connection has this for each stream: long messages that
/// wait never stop the one that is read.
const STREAM_WINDOW: u32 = 16_384;
/// What a TLS handshake takes.
const HANDSHAKE: usize = 8 * 1024;
/// How long a connection that was asked to end may take to notice.
const NOTICE: Duration = Duration::from_millis(50);
/// How the message of a request is compressed.
const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
/// The paths of requests that are to be decided.
const DECIDED: [&str; 2] =
    ["/envoy.service.ratelimit.v3.RateLimitService/", "/kuadrant.service.ratelimit.v1.RateLimitService/"];

/// When a connection ends. `None` is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ages {
    /// The age at which the client gets GOAWAY. That of a connection is up to a tenth more or less, so that connections
    /// that were opened together do not end together.
    pub age: Option<Duration>,
    /// How long what is under way may take after that. Then the connection is cut.
    pub grace: Option<Duration>,
}

/// What is called over a connection.
#[derive(Clone)]
struct Calls {
    grpc: decide::Grpc,
    others: TowerToHyperService<Routes>,
}

impl Calls {
    #[expect(clippy::manual_async_fn, reason = "it would hold its arguments twice, for each open stream")]
    fn reply(
        self,
        mut request: Request<Received>,
        arrival: Arrival,
        open: Arc<Open>,
    ) -> impl Future<Output = Result<Response<Counted<Either<Reply, Body>>>, Infallible>> {
        async move {
            let response = if open.ends_now() && !request.body_mut().has_come().await {
                open.reset().into_http().map(Either::Right)
            } else {
                match read(&mut request).await {
                    Ok(Some((method, message))) => {
                        let call = (request.headers(), Some(arrival));
                        // In boxes, so that streams whose messages are to come take little.
                        match Box::pin(self.grpc.reply(method, call, message)).await {
                            Ok(message) => net::reply(&message).map(Either::Left),
                            Err(status) => status.into_http().map(Either::Right),
                        }
                    }
                    Ok(None) => {
                        request.extensions_mut().insert(arrival);
                        let Ok(response) = Box::pin(self.others.call(request)).await;
                        response.map(Either::Right)
                    }
                    Err(error) => Status::from_error(error).into_http().map(Either::Right),
                }
            };
            Ok(response.map(|body| Counted::new(body, open)))
        }
    }
}

/// A call of a gateway, if it needs no tonic, which takes 11,000 of the 44,000 instructions of a handler that does nothing.
async fn read(request: &mut Request<Received>) -> Result<Option<(Method, RateLimitRequest)>, Failed> {
    let method = Method::of(request.uri().path());
    let Some(method) = method.filter(|_| header(request.headers(), &ENCODING).is_none()) else { return Ok(None) };
    Ok(request.body_mut().message().await?.map(|message| (method, message)))
}

/// Connections of gRPC.
#[derive(Clone)]
pub struct Grpc {
    http2: http2::Builder<TokioExecutor>,
    grpc: decide::Grpc,
    routes: Routes,
    ages: Ages,
    figures: Figures,
    stops: CancellationToken,
}

impl Grpc {
    pub fn new(grpc: decide::Grpc, routes: Routes, ages: Ages, figures: Figures, stops: CancellationToken) -> Self {
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .auto_date_header(false)
            .timer(TokioTimer::new())
            .keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(STREAM_WINDOW * MAX_STREAMS)
            .max_concurrent_streams(MAX_STREAMS)
            .max_pending_accept_reset_streams(CANCELLED);
        Self { http2, grpc, routes: routes.prepare(), ages, figures, stops }
    }

    /// Serves a connection of TCP until it ends; with certificates, an encrypted one.
    pub async fn serve_tcp(self: Arc<Self>, io: TcpStream, peer: Arc<Peer>, tls: Option<Arc<Tls>>) {
        _ = io.set_nodelay(true);
        match tls {
            None => self.serve(io, peer).await,
            // It takes much more.
            Some(tls) => Box::pin(self.serve_tls(io, peer, tls)).await,
        }
    }

    async fn serve_tls(self: Arc<Self>, io: TcpStream, peer: Arc<Peer>, tls: Arc<Tls>) {
        let from = io.peer_addr().ok();
        let handshake = async {
            io.readable().await?;
            // One that has sent nothing takes little.
            let _holding = peer.holding(HANDSHAKE);
            Box::pin(tls.handshake(io)).await
        };
        let io = tokio::select! {
            io = handshake => io,
            why = peer.closed() => return self.count_closed(why),
            () = self.stops.cancelled() => return,
        };
        match io {
            Ok(io) => self.serve(io, peer).await,
            Err(error) => debug!(?from, %error, "a TLS handshake failed"),
        }
    }

    /// Serves a connection until it ends.
    pub async fn serve<I: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
        self: Arc<Self>,
        mut io: I,
        peer: Arc<Peer>,
    ) {
        let mut preface = [0; PREFACE.len()];
        let begun = async { io.read_exact(&mut preface).await.is_ok() && preface == *PREFACE };
        tokio::select! {
            begun = begun => {
                if !begun {
                    return debug!("a connection of gRPC does not begin as HTTP/2 does");
                }
            }
            why = peer.closed() => return self.count_closed(why),
            () = self.stops.cancelled() => return,
        }
        Box::pin(self.serve_begun(io, peer)).await;
    }

    /// Serves one whose preface was read.
    async fn serve_begun<I: AsyncRead + AsyncWrite + Send + Unpin + 'static>(self: Arc<Self>, io: I, peer: Arc<Peer>) {
        let calls = Calls { grpc: self.grpc.clone(), others: TowerToHyperService::new(self.routes.clone()) };
        let service = service_fn({
            let peer = peer.clone();
            move |request: Request<Incoming>| {
                let open = peer.begin(DECIDED.iter().any(|decided| request.uri().path().starts_with(decided)));
                let arrival = peer.arrival(&open);
                let request = request.map(|body| Received::grpc(body, open.clone()));
                calls.clone().reply(request, arrival, open)
            }
        });
        let watched = Watched::http2(io, peer.clone(), PREFACE);
        let mut connection = pin!(self.http2.serve_connection(TokioIo::new(watched), service));
        let (why, grace) = tokio::select! {
            ended = looked_at(&peer, connection.as_mut()) => return self.ended(ended),
            () = after(self.ages.age.map(about)) => ("age", self.ages.grace),
            () = self.stops.cancelled() => ("drain", None),
            why = peer.closed() => (why.word(), None),
        };
        self.figures.goaways.with_label_values(&[why]).inc();
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            biased;
            why = peer.closed() => {
                self.count_closed(why);
                _ = timeout(NOTICE, looked_at(&peer, connection)).await;
            }
            ended = looked_at(&peer, connection.as_mut()) => self.ended(ended),
            () = after(grace) => debug!("a connection was cut: its requests took longer than the grace"),
        }
    }

    fn count_closed(&self, why: Ending) {
        self.figures.closed.with_label_values(&[why.word()]).inc();
    }

    fn ended(&self, ended: hyper::Result<()>) {
        let Err(error) = ended else { return };
        let cause = error.source().and_then(|cause| cause.downcast_ref::<h2::Error>());
        if let Some(cause) = cause.filter(|cause| cause.is_go_away() && cause.is_library()) {
            self.figures.goaways.with_label_values(&[&reason(cause)]).inc();
        }
        debug!(%error, cause = cause.map(ToString::to_string), "a connection of gRPC failed");
    }
}

/// Why h2 ended a connection, as a label.
fn reason(error: &h2::Error) -> String {
    let text = error.to_string();
    let known = ["too_many_resets", "too_many_internal_resets", "too_many_data_frames", "too_many_continuations"];
    let known = known.into_iter().find(|known| text.contains(known)).map(str::to_owned);
    known.unwrap_or_else(|| error.reason().map_or("other".to_owned(), |reason| format!("{reason:?}").to_lowercase()))
}

/// Each look at a connection reads a part of what has come.
fn looked_at<F: Future>(peer: &Peer, mut connection: Pin<&mut F>) -> impl Future<Output = F::Output> {
    poll_fn(move |cx| {
        peer.look();
        connection.as_mut().poll(cx)
    })
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
