//! `rlaas serve`

mod certificates;
mod connections;
mod redis;
mod settings;
mod tls;
mod traces;
mod watch;

use std::fs;
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::FileTypeExt as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_service_server::RateLimitServiceServer;
use redis_rl_client::{Limiter, Link};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tracing::{Level, error, info, warn};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

pub use settings::{Address, Flags, Settings};
pub use tls::TlsFiles;
pub use traces::{Protocol, TraceSettings};

use crate::VERSION;
use crate::control::Control;
use crate::decide::proto::rate_limit_service_server::RateLimitServiceServer as KuadrantServer;
use crate::decide::{DESCRIPTORS, Grpc, SHADOW_MODE, Service, Snapshot, Traces};
use crate::http;
use crate::net::{Pool, Pools};
use certificates::Certificates;
use rlaas_rules::{self as rules, Outcome, Overrides};
use tls::Tls;
use watch::{LOOK_EVERY, Watch};

/// The services of the health check: the server as a whole, and this one by the name that probes in use have.
const HEALTH_SERVICES: [&str; 2] = ["", "ratelimit"];

/// Runs until a signal ends it.
pub fn run(flags: Flags) -> ExitCode {
    let settings = match flags.settings(&std::env::vars().collect()) {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("rlaas: {error}");
            return ExitCode::FAILURE;
        }
    };
    log_to_stderr(&settings);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(settings))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!(%error, "rlaas ends");
            ExitCode::FAILURE
        }
    }
}

fn log_to_stderr(settings: &Settings) {
    // The libraries of gRPC would log each frame.
    let others = settings.log_level.min(Level::INFO);
    let ours = ["rlaas", "redis_rl_client"].map(|name| (name, settings.log_level));
    let filter = Targets::new().with_default(others).with_targets(ours);
    let layer = fmt::layer().with_writer(io::stderr).with_target(false).with_ansi(io::stderr().is_terminal());
    let registry = tracing_subscriber::registry();
    if settings.log_json {
        registry.with(layer.json().flatten_event(true).with_filter(filter)).init();
    } else {
        registry.with(layer.with_filter(filter)).init();
    }
}

async fn serve(settings: Settings) -> io::Result<()> {
    // Before all else: without it, the signal would end the process.
    let mut hangup = signal(SignalKind::hangup())?;
    for name in &settings.without_effect {
        warn!("{name} has no effect here");
    }
    if settings.service.reply.shadow {
        warn!("{SHADOW_MODE}");
    }
    let provider = settings.traces.as_ref().map(traces::provider).transpose().map_err(io::Error::other)?;
    let traces = Traces::new(provider.as_ref());
    let service = Service::new(limiter(&settings)?, settings.service.clone(), traces).map_err(io::Error::other)?;
    let service = Arc::new(service);
    service.load.measure();
    let pools = Pools::new(&service.load, settings.max_connections);
    for pool in [&pools.callers, &pools.operators] {
        tokio::spawn(pool.clone().look_after());
    }
    let tls = settings.tls.clone().map(Tls::new).transpose().map_err(io::Error::other)?.map(Arc::new);
    let files = settings.tls.iter().flat_map(|tls| [Some(&tls.cert), tls.client_ca.as_ref()]).flatten().cloned();
    let of_control = settings.control.iter().flat_map(|control| control.certificates());
    let files = files.chain(certificates::of_url(&settings.redis)).chain(of_control).collect();
    let mut certificates = Certificates::new(files, service.metrics.in_force.certificates.clone());
    certificates.look(Instant::now());
    let (health, health_server) = tonic_health::server::health_reporter();
    set_health(&health, ServingStatus::NotServing).await;
    let rule_settings = rules::Settings {
        merge_domains: settings.merge_domains,
        cluster: settings.service.cluster,
        overrides: overrides(&settings)?,
    };
    let mut watch = None;
    let mut control = None;
    if let Some(settings) = settings.control.clone() {
        let (service, figures) = (service.clone(), service.metrics.control.clone());
        let publish = Arc::new(move |outcome| take(&service, outcome, Origin::ControlPlane));
        let client = Control { settings, rules: rule_settings, figures, publish };
        client.start();
        control = Some(tokio::spawn(client.run()));
    } else {
        let files = watch.insert(Watch::new(settings.rules.clone(), settings.ignore_dot_files, rule_settings));
        if !look(&service, files) {
            // A file was written just now. It is complete if it stays the same.
            sleep(LOOK_EVERY).await;
            look(&service, files);
        }
    }
    tokio::spawn(redis::watch(service.clone(), settings.redis.clone()));
    let drains = CancellationToken::new();
    let reloads = tokio::spawn({
        let (service, health, drains, tls) = (service.clone(), health.clone(), drains.clone(), tls.clone());
        async move {
            let mut ready = false;
            while !drains.is_cancelled() {
                let is_ready = !service.is_draining() && service.lacks_rules().is_none();
                if ready != is_ready {
                    ready = is_ready;
                    let status = if ready { ServingStatus::Serving } else { ServingStatus::NotServing };
                    set_health(&health, status).await;
                }
                let hung_up = tokio::select! {
                    () = drains.cancelled() => false,
                    _ = hangup.recv() => true,
                    () = sleep(LOOK_EVERY) => false,
                };
                let (service, tls, mut moved) = (service.clone(), tls.clone(), (watch, certificates));
                // Reading and parsing many rules takes a while: not on a thread that serves.
                let Ok(moved) = tokio::task::spawn_blocking(move || {
                    if hung_up {
                        info!("SIGHUP: all files are read again");
                    }
                    match &mut moved.0 {
                        Some(watch) if hung_up => _ = take(&service, watch.read_now(), Origin::Files),
                        Some(watch) => _ = look(&service, watch),
                        None => {}
                    }
                    moved.1.look(Instant::now());
                    if let Some(tls) = tls {
                        tls.reload(hung_up);
                    }
                    moved
                })
                .await
                else {
                    return;
                };
                (watch, certificates) = moved;
            }
        }
    });
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
        .add_service(RateLimitServiceServer::new(Grpc(service.clone())))
        .add_service(KuadrantServer::new(Grpc(service.clone())));
    let figures = &service.load.figures;
    let grpc = connections::Grpc::new(routes.routes(), settings.connections, figures.clone(), drains.clone());
    let (callers, stops) = (pools.callers.clone(), drains.clone());
    let serving = match &settings.grpc {
        Address::Tcp(address) => {
            let incoming = bind("gRPC", address).await?;
            let serve = move |io, peer| grpc.clone().serve_tcp(io, peer, tls.clone());
            tokio::spawn(callers.accept("grpc", incoming, stops, serve))
        }
        Address::Unix(path) => {
            // A socket that an earlier process left would be in the way.
            if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
                _ = fs::remove_file(path);
            }
            let name = path.display().to_string();
            let listener = UnixListener::bind(path).map_err(|error| named("gRPC", &name, &error))?;
            info!(address = name, "gRPC listens");
            let incoming = UnixListenerStream::new(listener);
            tokio::spawn(callers.accept("grpc", incoming, stops, move |io, peer| grpc.clone().serve(io, peer)))
        }
    };
    let listens = async |what, address, app, pool: &Arc<Pool>| {
        let http = http::Http::new(app, settings.http_timeout, figures.clone(), drains.clone());
        let serve = move |io, peer| http.clone().serve(io, peer);
        let (incoming, pool) = (bind(what, address).await?, pool.clone());
        Ok::<_, io::Error>(tokio::spawn(pool.accept(what, incoming, drains.clone(), serve)))
    };
    let metrics = http::metrics(service.clone(), &settings.metrics_path);
    let mut http = vec![
        listens("HTTP", &settings.http, http::api(service.clone()), &pools.callers).await?,
        listens("metrics", &settings.metrics, metrics, &pools.operators).await?,
    ];
    if let Some(address) = &settings.debug {
        http.push(listens("debug", address, http::debug(service.clone()), &pools.operators).await?);
    }
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    info!("draining");
    service.drain();
    set_health(&health, ServingStatus::NotServing).await;
    sleep(settings.drain_delay).await;
    drains.cancel();
    let ended = async {
        for task in http {
            _ = task.await;
        }
        serving.await
    };
    match timeout(settings.drain, ended).await {
        Ok(served) => served.map_err(io::Error::other)?,
        Err(_) => warn!("some connections did not end in time"),
    }
    _ = reloads.await;
    if let Some(control) = control {
        control.abort();
    }
    if timeout(settings.drain, give_back(service)).await.is_err() {
        warn!("some grants were not given back in time: their units stay charged");
    }
    if let Some(provider) = provider {
        traces::end(provider).await;
    }
    info!("rlaas ends");
    Ok(())
}

async fn set_health(health: &HealthReporter, status: ServingStatus) {
    for name in HEALTH_SERVICES {
        health.set_service_status(name, status).await;
    }
}

async fn bind(what: &str, address: &str) -> io::Result<TcpListenerStream> {
    let listener = TcpListener::bind(address).await.map_err(|error| named(what, address, &error))?;
    info!(address = %listener.local_addr()?, "{what} listens");
    Ok(TcpListenerStream::new(listener))
}

/// Reads the rules if the files have changed. Whether they are in force, or wrong.
fn look(service: &Service, watch: &mut Watch) -> bool {
    let outcome = watch.look(Instant::now(), SystemTime::now());
    outcome.map(|outcome| take(service, outcome, Origin::Files)).is_some() || service.snapshot.load().is_some()
}

/// Where rules come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Files,
    /// It says on purpose that there is no limit.
    ControlPlane,
}

/// Puts rules in force. Wrong ones change nothing.
fn take(service: &Service, outcome: Outcome, from: Origin) -> Result<(), Vec<String>> {
    let before = service.snapshot.load();
    let taken = outcome.and_then(|(rules, warnings)| {
        if from == Origin::Files
            && rules.limits() == 0
            && before.as_ref().is_some_and(|before| before.rules.limits() > 0)
        {
            return Err(vec!["the files have no limit, and there were some".to_owned()]);
        }
        let snapshot = Snapshot::new(rules, before.as_deref(), &service.limiter).map_err(|problem| vec![problem])?;
        Ok((snapshot, warnings))
    });
    match taken {
        Err(problems) => {
            for problem in &problems {
                error!("{problem}");
            }
            service.metrics.config_load_error.inc();
            service.metrics.in_force.wrong.set(1);
            let kept = before.is_some();
            error!("the rules are wrong: {}", if kept { "the old ones stay" } else { "not ready" });
            Err(problems)
        }
        Ok((snapshot, warnings)) => {
            for warning in warnings {
                warn!("{warning}");
            }
            let (domains, limits) = (snapshot.rules.domains.len(), snapshot.rules.limits());
            let (generation, hash) = (snapshot.generation, snapshot.hash.clone());
            service.metrics.in_force.set(&snapshot);
            service.snapshot.store(Some(Arc::new(snapshot)));
            service.metrics.config_load_success.inc();
            service.metrics.in_force.wrong.set(0);
            if limits == 0 {
                warn!("there is no limit in the rules: every request is allowed");
            }
            info!(domains, limits, generation, hash, version = VERSION, "the rules are in force");
            Ok(())
        }
    }
}

/// The overrides of the rules. A wrong file ends the start.
fn overrides(settings: &Settings) -> io::Result<Arc<Overrides>> {
    let Some(path) = &settings.overrides else { return Ok(Arc::default()) };
    Overrides::read(path).map(Arc::new).map_err(io::Error::other)
}

/// Gives the units back that were granted and not used.
async fn give_back(service: Arc<Service>) {
    let Some(snapshot) = service.snapshot.swap(None) else { return };
    for granted in snapshot.grants.values() {
        granted.grants.clone().shutdown().await;
    }
}

/// A limiter that needs no server to start.
fn limiter(settings: &Settings) -> io::Result<Limiter> {
    // The error does not repeat the URL, which may have a password.
    let link = Link::open(&settings.redis).map_err(|error| io::Error::other(format!("--redis: {error}")))?;
    let limiter = Limiter::builder(link)
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
