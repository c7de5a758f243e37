//! Connections of gRPC: how long they live, and how they end. (The server of tonic 0.14 sends no GOAWAY where there is a
//! grace, and has one age for all connections.)

use std::convert::Infallible;
use std::error::Error as _;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::Either;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use redis_rl_client::Gather;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, join, split};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tracing::debug;

use super::streams::{Announce, TAKEN};
use super::tls::Tls;
use crate::decide::proto::envoy::rate_limit_service_server::{RateLimitServiceServer, SERVICE_NAME};
use crate::decide::{self, Deadline, Service, grpc_timeout};
use crate::http::{Held, Message, Messages};

/// How long a client may send nothing at first. If it sends nothing for this time later, it gets a ping.
pub const SILENCE: Duration = Duration::from_secs(10);
/// How long a client may take to reply to a ping. A pause of this process is shorter.
const STILL_THERE: Duration = Duration::from_secs(20);
/// The label of a connection that was closed because its client sent nothing.
const SILENT: &str = "silent";
/// What a client of HTTP/2 sends first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long the header of a request may be.
const MAX_HEADER: u32 = 16 * 1024;
/// How many requests of a connection may be cancelled before rlaas has seen them. Envoy gives up after 20 ms, so a pause of
/// this process cancels as many as there are streams 50 times a second.
const CANCELLED: usize = 1_000;
/// How much of a message may be on its way before it is read. A connection has this for each stream: a message that waits
/// never stops the one that is read.
const STREAM_WINDOW: u32 = 16 * 1024;

/// The bounds of connections of gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many streams a connection may have, as the settings that a client gets say; `None` for any number.
    pub streams: Option<u32>,
    /// How long a request may take from its header, unless its deadline is shorter.
    pub request: Duration,
    /// The age at which the client gets GOAWAY; `None` for any age. That of a connection is up to a tenth more or less, so
    /// that connections that were opened together do not end together.
    pub age: Option<Duration>,
    /// How long what is under way may take after that; `None` for any time. Then the connection is cut.
    pub grace: Option<Duration>,
}

/// Connections of gRPC.
#[derive(Clone)]
pub struct Grpc {
    http2: http2::Builder<TokioExecutor>,
    /// The service that all proxies ask. Nothing chooses among routes for it: 5 % of what a request takes.
    limits: TowerToHyperService<RateLimitServiceServer<decide::Grpc>>,
    routes: TowerToHyperService<Routes>,
    bounds: Bounds,
    messages: Messages,
    service: Arc<Service>,
    stops: CancellationToken,
}

impl Grpc {
    pub fn new(
        routes: Routes,
        bounds: Bounds,
        messages: Messages,
        service: Arc<Service>,
        stops: CancellationToken,
    ) -> Self {
        let streams = bounds.streams.map(|streams| streams.max(TAKEN));
        let most = i32::MAX.unsigned_abs();
        let window = streams.map_or(most, |streams| streams.saturating_mul(STREAM_WINDOW).min(most));
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .auto_date_header(false)
            .timer(TokioTimer::new())
            .keep_alive_interval(SILENCE)
            .keep_alive_timeout(STILL_THERE)
            .max_header_list_size(MAX_HEADER)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(window)
            .max_concurrent_streams(streams)
            .max_pending_accept_reset_streams(CANCELLED);
        let routes = TowerToHyperService::new(routes.prepare());
        let limits = TowerToHyperService::new(RateLimitServiceServer::new(decide::Grpc(service.clone())));
        Self { http2, limits, routes, bounds, messages, service, stops }
    }

    /// Serves a connection of TCP until it ends; with certificates, an encrypted one.
    pub async fn serve_tcp(self: Arc<Self>, io: TcpStream, tls: Option<Arc<Tls>>) {
        _ = io.set_nodelay(true);
        match tls {
            None => self.serve(io).await,
            // The future of TLS takes much more memory.
            Some(tls) => Box::pin(self.serve_tls(io, tls)).await,
        }
    }

    async fn serve_tls(self: Arc<Self>, io: TcpStream, tls: Arc<Tls>) {
        let from = io.peer_addr().ok();
        let handshake = tokio::select! {
            handshake = timeout(SILENCE, tls.handshake(io)) => handshake,
            () = self.stops.cancelled() => return,
        };
        match handshake {
            Ok(Ok(io)) => self.serve(io).await,
            Ok(Err(error)) => debug!(?from, %error, "a TLS handshake failed"),
            Err(_) => self.service.metrics.count_closed(SILENT),
        }
    }

    /// Serves a connection until it ends.
    pub async fn serve<I: AsyncRead + AsyncWrite + Send + Unpin + 'static>(self: Arc<Self>, mut io: I) {
        let mut preface = [0; PREFACE.len()];
        tokio::select! {
            begun = timeout(SILENCE, io.read_exact(&mut preface)) => match begun {
                Ok(Ok(_)) if preface == *PREFACE => {}
                Ok(_) => return debug!("a connection of gRPC does not begin as HTTP/2 does"),
                Err(_) => return self.service.metrics.count_closed(SILENT),
            },
            () = self.stops.cancelled() => return,
        }
        // One that has sent nothing takes little.
        Box::pin(self.serve_begun(io)).await
    }

    /// Serves one whose preface was read.
    async fn serve_begun<I: AsyncRead + AsyncWrite + Send + Unpin + 'static>(self: Arc<Self>, io: I) {
        let (read, write) = split(io);
        let service = service_fn(|request| self.reply(request));
        let io = TokioIo::new(join(PREFACE.chain(read), Announce::new(Gather::new(write), self.bounds.streams)));
        let mut connection = pin!(self.http2.serve_connection(io, service));
        let (why, grace) = tokio::select! {
            ended = connection.as_mut() => return self.ended(ended),
            () = after(self.bounds.age.map(about)) => ("age", self.bounds.grace),
            () = self.stops.cancelled() => ("drain", None),
        };
        self.service.metrics.goaways.with_label_values(&[why]).inc();
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            ended = connection => self.ended(ended),
            () = after(grace) => debug!("a connection was cut: its requests took longer than the grace"),
        }
    }

    /// Without `async`, which would hold each part twice, for each open stream.
    fn reply(
        &self,
        mut request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Body>, Infallible>> + use<> {
        let held = Held::new(self.service.load.begin());
        let mut limit = self.bounds.request;
        if let Some(rest) = grpc_timeout(request.headers()) {
            limit = limit.min(rest);
            if let Some(at) = Instant::now().checked_add(rest) {
                request.extensions_mut().insert(Deadline(at));
            }
        }
        let request = request.map(|body| Message::grpc(body, held.clone(), &self.messages));
        let late = || Ok(Status::deadline_exceeded("the request was not decided in time").into_http());
        let replies = match request.uri().path().strip_prefix('/').and_then(|path| path.split_once('/')) {
            Some((SERVICE_NAME, _)) => Either::Left(self.limits.call(request)),
            _ => Either::Right(self.routes.call(request)),
        };
        timeout(limit, replies).map(move |replied| {
            drop(held);
            replied.unwrap_or_else(|_| late())
        })
    }

    fn ended(&self, ended: hyper::Result<()>) {
        let Err(error) = ended else { return };
        let cause = error.source().and_then(|cause| cause.downcast_ref::<h2::Error>());
        if let Some(cause) = cause.filter(|cause| cause.is_go_away() && cause.is_library()) {
            self.service.metrics.goaways.with_label_values(&[&reason(cause)]).inc();
        }
        debug!(%error, cause = cause.map(ToString::to_string), "a connection of gRPC failed");
        if error.is_timeout() {
            self.service.metrics.count_closed(SILENT);
        }
    }
}

/// Why h2 ended a connection, as a label.
fn reason(error: &h2::Error) -> String {
    let text = error.to_string();
    let known = ["too_many_resets", "too_many_internal_resets", "too_many_data_frames", "too_many_continuations"];
    let known = known.into_iter().find(|known| text.contains(known)).map(str::to_owned);
    known.unwrap_or_else(|| error.reason().map_or("other".to_owned(), |reason| format!("{reason:?}").to_lowercase()))
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
    use redis_rl_client::Limiter;
    use tokio::io::{AsyncWriteExt as _, duplex};

    use super::*;
    use crate::decide::{Metrics, Traces};
    use crate::serve::flags::tests::settings;

    /// The clock of the test goes to the next timer when no task can run.
    #[tokio::test(start_paused = true)]
    async fn a_connection_that_says_nothing_is_closed() {
        let settings = settings(&[], &[]).expect("settings");
        let limiter = Limiter::open(&settings.redis).expect("a URL");
        let metrics = Metrics::new(0.8).expect("metrics");
        let service = Arc::new(Service::new(limiter, settings.service, metrics, Traces::new(None)));
        let (routes, stops) = (Routes::default(), CancellationToken::new());
        let grpc = Arc::new(Grpc::new(routes, settings.bounds, Messages::default(), service, stops));
        let empty_settings = b"\0\0\0\x04\0\0\0\0\0";
        // What replies to no ping: after the settings, and in the middle of a header.
        let begun = [&PREFACE[..], empty_settings].concat();
        let half = [&begun[..], b"\0\0\x10\x01\x04\0\0\0\x01\x83"].concat();
        for (sent, seconds) in [(&b""[..], 10), (&PREFACE[..16], 10), (&begun, 30), (&half, 30)] {
            let (mut client, server) = duplex(1 << 16);
            tokio::spawn(grpc.clone().serve(server));
            client.write_all(sent).await.expect("sent");
            let opened = tokio::time::Instant::now();
            client.read_to_end(&mut Vec::new()).await.expect("the end");
            assert_eq!(opened.elapsed().as_secs(), seconds, "{sent:?}");
        }
        let Service { metrics, limiter, load, .. } = &*grpc.service;
        let closed = metrics.text(&limiter.stats(), load).expect("a text");
        assert!(closed.contains("rlaas_connections_closed{reason=\"silent\"} 4"), "{closed}");
    }

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
