//! A running rlaas.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use opentelemetry_sdk::trace::SdkTracerProvider;
use redis_rl_client::Limiter;
use rlaas_rules::{self as rules, Overrides};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tracing::{info, warn};

use super::certificates::{self, Certificates};
use super::connections::{self, SILENCE};
use super::health::Health;
use super::listener::Listener;
use super::reload::{Origin, Reload, look, take};
use super::settings::{Address, Settings};
use super::tls::{Tls, served};
use super::watch::{LOOK_EVERY, Watch};
use super::{redis, traces};
use crate::control::Control;
use crate::decide::proto::rate_limit_service_server::RateLimitServiceServer as KuadrantServer;
use crate::decide::{DESCRIPTORS, Grpc, Metrics, Service, Traces};
use crate::http::{self, HttpLimits, Messages};

/// The most connections to the metrics, and to the debug address.
const OPERATORS: usize = 32;
/// Descriptors that are not for connections of callers: for those, Redis, the log, files of rules, and the listeners.
const KEPT_BACK: usize = 64 + 2 * OPERATORS;

/// A running rlaas: it is built, gets rules, listens, and ends.
pub struct Server {
    settings: Settings,
    service: Arc<Service>,
    routes: Routes,
    health: Health,
    messages: Messages,
    tls: Option<Arc<Tls>>,
    /// Cancelled when nothing more is accepted.
    drains: CancellationToken,
    tracer: Option<SdkTracerProvider>,
    control: Option<JoinHandle<()>>,
    reload: Option<JoinHandle<()>>,
    listeners: Vec<JoinHandle<()>>,
}

impl Server {
    /// What decides on requests. It has no rules, and nothing listens.
    pub async fn build(settings: Settings) -> io::Result<Self> {
        let tracer = settings.traces.as_ref().map(traces::provider).transpose().map_err(io::Error::other)?;
        let traces = Traces::new(tracer.as_ref());
        let metrics = Metrics::new(settings.service.near_limit_ratio).map_err(io::Error::other)?;
        let service = Service::new(limiter(&settings)?, settings.service.clone(), metrics, traces);
        let service = Arc::new(service);
        tokio::spawn(service.load.clone().measure());
        let tls = settings.tls.clone().map(Tls::new).transpose().map_err(io::Error::other)?.map(Arc::new);
        let (health, routes) = routes(&service)?;
        health.set(false).await;
        Ok(Self {
            settings,
            service,
            routes,
            health,
            messages: Messages::default(),
            tls,
            drains: CancellationToken::new(),
            tracer,
            control: None,
            reload: None,
            listeners: Vec::new(),
        })
    }

    /// Puts the rules in force, and looks at what changes from then on.
    pub async fn load(&mut self, hangup: Signal) -> io::Result<()> {
        let Settings { overrides, ignore_dot_files, control, .. } = &self.settings;
        let mut rules = rules::Settings {
            merge_domains: self.settings.merge_domains,
            cluster: self.settings.service.cluster,
            overrides: Arc::default(),
        };
        let paths = if control.is_some() { Vec::new() } else { self.settings.rules.clone() };
        let mut files = Watch::new(paths, *ignore_dot_files, overrides.clone(), rules.clone());
        let overrides = match control {
            Some(_) => files.read_overrides_now(),
            // The certificates are read again with the rules.
            None => overrides.as_deref().map_or_else(|| Ok(Overrides::default()), Overrides::read),
        };
        // A wrong file ends the start.
        rules.overrides = overrides.map_err(io::Error::other)?.into();
        let mut certificates = self.certificates();
        certificates.look(Instant::now(), &served(self.tls.as_ref()));
        let control = self.ask_control_plane(rules);
        if control.is_none() && !look(&self.service, &mut files) {
            // A file was written just now. It is complete if it stays the same.
            sleep(LOOK_EVERY).await;
            look(&self.service, &mut files);
        }
        tokio::spawn(redis::watch(self.service.clone(), self.settings.redis.clone()));
        let reload = Reload { service: self.service.clone(), files, control, certificates, tls: self.tls.clone() };
        self.reload = Some(tokio::spawn(reload.run(self.health.clone(), hangup, self.drains.clone())));
        Ok(())
    }

    /// The files with certificates, without those of gRPC, of which the served ones count.
    fn certificates(&self) -> Certificates {
        let Settings { control, redis, .. } = &self.settings;
        let of_control = control.iter().flat_map(|control| control.certificates());
        let files = certificates::of_url(redis).chain(of_control).collect();
        Certificates::new(files, self.service.metrics.in_force.certificates.clone())
    }

    /// Begins with the rules of the cache, and takes those that the control plane sends, if there is one.
    fn ask_control_plane(&mut self, rules: rules::Settings) -> Option<Arc<Control>> {
        let settings = self.settings.control.clone()?;
        let (service, figures) = (self.service.clone(), self.service.metrics.control.clone());
        let publish = Arc::new(move |outcome| take(&service, outcome, Origin::ControlPlane));
        let client = Arc::new(Control::new(settings, rules, self.settings.overrides.is_some(), figures, publish));
        client.start();
        self.control = Some(tokio::spawn(client.clone().run()));
        Some(client)
    }

    /// Accepts connections from now on.
    pub async fn listen(&mut self) -> io::Result<()> {
        let (settings, service) = (&self.settings, &self.service);
        let callers = callers(settings.max_connections);
        let metrics = http::metrics(service.clone(), &settings.metrics_path);
        let mut listeners = vec![
            self.listen_grpc(callers).await?,
            self.listen_http("HTTP", &settings.http, http::api(service.clone(), settings.limits), callers).await?,
            self.listen_http("metrics", &settings.metrics, metrics, OPERATORS).await?,
        ];
        if let Some(address) = &settings.debug {
            listeners.push(self.listen_http("debug", address, http::debug(service.clone()), OPERATORS).await?);
        }
        self.listeners = listeners;
        Ok(())
    }

    async fn listen_grpc(&self, most: usize) -> io::Result<JoinHandle<()>> {
        let (bounds, messages) = (self.settings.bounds, self.messages.clone());
        let (routes, service, stops) = (self.routes.clone(), self.service.clone(), self.drains.clone());
        let grpc = Arc::new(connections::Grpc::new(routes, bounds, messages, service, stops));
        let listener = self.listener("grpc", most);
        Ok(match &self.settings.grpc {
            Address::Tcp(address) => {
                let (incoming, tls) = (bind("gRPC", address).await?, self.tls.clone());
                tokio::spawn(listener.accept(incoming, move |io| grpc.clone().serve_tcp(io, tls.clone())))
            }
            Address::Unix(path) => {
                let incoming = bind_unix(path)?;
                tokio::spawn(listener.accept(incoming, move |io| grpc.clone().serve(io)))
            }
        })
    }

    async fn listen_http(
        &self,
        what: &'static str,
        address: &str,
        app: Router,
        most: usize,
    ) -> io::Result<JoinHandle<()>> {
        let Settings { http_timeout: header, bounds, .. } = self.settings;
        let limits = HttpLimits { silence: SILENCE.min(header), header, request: bounds.request };
        let (service, messages, stops) = (self.service.clone(), self.messages.clone(), self.drains.clone());
        let http = http::Http::new(app, limits, messages, service, stops);
        let (incoming, listener) = (bind(what, address).await?, self.listener(what, most));
        Ok(tokio::spawn(listener.accept(incoming, move |io| http.clone().serve(io))))
    }

    fn listener(&self, name: &'static str, most: usize) -> Listener {
        Listener { name, most, service: self.service.clone(), stops: self.drains.clone() }
    }

    /// Serves until SIGTERM or SIGINT.
    pub async fn serve(&self) -> io::Result<()> {
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }

    /// Ends what is under way, and gives back what is held.
    pub async fn end(mut self) -> io::Result<()> {
        info!("draining");
        self.service.drain();
        self.health.set(false).await;
        sleep(self.settings.drain_delay).await;
        self.drains.cancel();
        let ended = async {
            for listener in self.listeners {
                listener.await.map_err(io::Error::other)?;
            }
            Ok::<_, io::Error>(())
        };
        match timeout(self.settings.drain, ended).await {
            Ok(ended) => ended?,
            Err(_) => warn!("some connections did not end in time"),
        }
        if let Some(reload) = self.reload.take() {
            _ = reload.await;
        }
        if let Some(control) = self.control.take() {
            control.abort();
        }
        if timeout(self.settings.drain, give_back(self.service)).await.is_err() {
            warn!("some grants were not given back in time: their units stay charged");
        }
        if let Some(tracer) = self.tracer {
            traces::end(tracer).await;
        }
        info!("rlaas ends");
        Ok(())
    }
}

/// How many connections of gRPC may be open, and of HTTP: no more than the limit of descriptors leaves. Raises that limit as
/// far as this process may.
fn callers(max: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some() && current != maximum {
        _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    let Some(descriptors) = getrlimit(Resource::Nofile).current else { return max };
    let left = usize::try_from(descriptors).unwrap_or(usize::MAX).saturating_sub(KEPT_BACK) / 2;
    if left < max {
        info!(connections = left, descriptors, "the limit of descriptors leaves fewer than --max-connections");
    }
    max.min(left.max(1))
}

/// What gRPC is asked beside Envoy's limits: those of Kuadrant, health, and what there is to ask.
fn routes(service: &Arc<Service>) -> io::Result<(Health, Routes)> {
    let (health, health_server) = tonic_health::server::health_reporter();
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let mut routes = Routes::builder();
    routes
        .add_service(health_server)
        .add_service(reflection().build_v1().map_err(io::Error::other)?)
        // What older clients ask.
        .add_service(reflection().build_v1alpha().map_err(io::Error::other)?)
        .add_service(KuadrantServer::new(Grpc(service.clone())));
    Ok((Health(health), routes.routes()))
}

async fn bind(what: &str, address: &str) -> io::Result<TcpListenerStream> {
    let listener = TcpListener::bind(address).await.map_err(|error| named(what, address, &error))?;
    info!(address = %listener.local_addr()?, "{what} listens");
    Ok(TcpListenerStream::new(listener))
}

fn bind_unix(path: &Path) -> io::Result<UnixListenerStream> {
    // A socket that an earlier process left would be in the way.
    if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
        _ = fs::remove_file(path);
    }
    let name = path.display().to_string();
    let listener = UnixListener::bind(path).map_err(|error| named("gRPC", &name, &error))?;
    info!(address = name, "gRPC listens");
    Ok(UnixListenerStream::new(listener))
}

/// A limiter that needs no server to start.
fn limiter(settings: &Settings) -> io::Result<Limiter> {
    // The error does not repeat the URL, which may have a password.
    let builder = Limiter::builder(&settings.redis).map_err(|error| io::Error::other(format!("--redis: {error}")))?;
    let limiter = builder
        .denials(settings.denials)
        .recheck_denials(settings.recheck_denials)
        .timeout(settings.service.timeout)
        .build();
    // The timeout of a request may be shorter than it takes to connect.
    tokio::spawn({
        let limiter = limiter.clone();
        async move { limiter.connect().await }
    });
    Ok(limiter)
}

fn named(what: &str, address: &str, error: &io::Error) -> io::Error {
    let flag = what.to_ascii_lowercase();
    io::Error::new(error.kind(), format!("{what} cannot listen on {address}: {error}; --{flag} takes another address"))
}

/// Gives the units back that were granted and not used.
async fn give_back(service: Arc<Service>) {
    let Some(snapshot) = service.snapshot.swap(None) else { return };
    for granted in snapshot.grants.values() {
        granted.grants.clone().shutdown().await;
    }
}
