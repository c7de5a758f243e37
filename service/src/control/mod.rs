//! Rules from a control plane: a client of xDS, state of the world, over one stream at a time.
//!
//! Each response has all rules. They take effect as a whole, or not at all; the control plane gets ACK or NACK. Versions
//! are opaque: they are sent back and never compared.

pub mod cache;
mod resources;
mod settings;

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use envoy_types::pb::envoy::service::discovery::v3::aggregated_discovery_service_client::AggregatedDiscoveryServiceClient;
use envoy_types::pb::envoy::service::discovery::v3::{DiscoveryRequest, DiscoveryResponse};
use envoy_types::pb::google::rpc::Status as Detail;
use envoy_types::pb::ratelimit::config::ratelimit::v3::RateLimitConfig;
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};
use prost::{Message as _, Name as _};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Request;
use tonic::transport::Channel;
use tracing::{debug, error, info, warn};

pub use resources::load_resources;
pub use settings::{Backoff, ControlSettings, ControlTls};

use crate::metric::register;
use rlaas_rules::{self as rules, Outcome, Overrides, Printable};
use settings::show;

/// How long connecting may take. After so long without a response on a stream, the log says so: a control plane may have
/// no rules for this node.
const SLOW: Duration = Duration::from_secs(15);
/// The first pause after two wrong sets in a row.
const NACK_PAUSE: Duration = Duration::from_secs(1);
/// How many problems the control plane and the log get, and how much of each.
const MAX_PROBLEMS: usize = 10;
const MAX_PROBLEM_CHARS: usize = 500;
/// The code INVALID_ARGUMENT of gRPC.
const INVALID_ARGUMENT: i32 = 3;

/// What an operator sees of the control plane.
#[derive(Clone, Debug)]
pub struct Figures {
    connected: IntGaugeVec,
    responses: IntCounterVec,
    failures: IntCounterVec,
}

impl Figures {
    /// # Errors
    /// A metric is registered twice: a fault of this program.
    pub fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counter = |name: &str, help: &str, label: &str| {
            register(registry, IntCounterVec::new(Opts::new(name, help), &[label]))
        };
        let connected =
            Opts::new("rlaas_control_plane_connected", "1 while there is a stream from the control plane with rules.");
        Ok(Self {
            connected: register(registry, IntGaugeVec::new(connected, &["server"]))?,
            responses: counter(
                "rlaas_control_plane_responses",
                "Sets of rules: accepted, empty (accepted too), rejected, or ignored.",
                "result",
            )?,
            failures: counter(
                "rlaas_control_plane_failures",
                "Streams that ended, and attempts to connect that failed.",
                "server",
            )?,
        })
    }

    fn count(&self, result: &str) {
        self.responses.with_label_values(&[result]).inc();
    }
}

/// The resources of a response.
///
/// # Errors
/// One of them is no set of rules. The text says which, and why.
pub fn resources(response: &DiscoveryResponse) -> Result<Vec<RateLimitConfig>, Vec<String>> {
    let expected = RateLimitConfig::type_url();
    let mut resources = Vec::with_capacity(response.resources.len());
    let mut problems = Vec::new();
    for (i, any) in response.resources.iter().enumerate() {
        match RateLimitConfig::decode(any.value.as_slice()) {
            Ok(resource) if any.type_url == expected => resources.push(resource),
            Ok(_) => {
                problems.push(format!("resource number {}: it is a '{}', expected {expected}", i + 1, any.type_url))
            }
            Err(error) => problems.push(format!("resource number {}: {error}", i + 1)),
        }
    }
    if problems.is_empty() { Ok(resources) } else { Err(problems) }
}

/// All rules of a response, or its fault in one line, for the log and for the control plane.
fn rules_of(response: &DiscoveryResponse, settings: &rules::Settings) -> Outcome {
    let outcome = resources(response).and_then(|resources| {
        let (rules, findings) = load_resources(&resources, settings);
        findings.outcome(rules)
    });
    outcome.map_err(|problems| vec![summary(&problems)])
}

/// Puts rules in force, or says what is wrong with them.
pub type Publish = dyn Fn(Outcome) -> Result<(), Vec<String>> + Send + Sync;

/// The client of a control plane.
pub struct Control {
    settings: ControlSettings,
    current: Mutex<Current>,
    keeps_last: bool,
    figures: Figures,
    publish: Arc<Publish>,
}

/// The response that the rules in force were made of.
struct Current {
    rules: rules::Settings,
    /// Kept only if there are overrides, which may change.
    last: Option<DiscoveryResponse>,
}

/// Why a stream has ended.
enum End {
    /// The control plane cannot be reached.
    Unreachable(String),
    /// There was a stream.
    Ended(String),
}

impl Control {
    pub fn new(
        settings: ControlSettings,
        rules: rules::Settings,
        has_overrides: bool,
        figures: Figures,
        publish: Arc<Publish>,
    ) -> Self {
        let current = Mutex::new(Current { rules, last: None });
        Self { settings, current, keeps_last: has_overrides, figures, publish }
    }

    fn publish(&self, response: &DiscoveryResponse) -> Result<(), Vec<String>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        (self.publish)(rules_of(response, &current.rules))?;
        current.last = self.keeps_last.then(|| response.clone());
        Ok(())
    }

    /// Puts the last rules in force with other overrides. Wrong ones change nothing.
    pub fn set_overrides(&self, overrides: Result<Overrides, String>) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = match overrides {
            Err(text) => (self.publish)(Err(vec![text])).map(|()| Arc::default()),
            Ok(overrides) => {
                let overrides = Arc::new(overrides);
                let rules = rules::Settings { overrides: overrides.clone(), ..current.rules.clone() };
                let outcome = current.last.as_ref().map(|response| rules_of(response, &rules));
                outcome.map_or(Ok(()), |outcome| (self.publish)(outcome)).map(|()| overrides)
            }
        };
        // The log says which override is wrong.
        if let Ok(overrides) = taken {
            current.rules.overrides = overrides;
        }
    }

    /// Puts the rules of the cache in force, if there are any.
    pub fn start(&self) {
        let Some(path) = &self.settings.cache else { return };
        match cache::read(path) {
            Ok(None) => info!("{}: there are no rules in the cache yet", path.display()),
            Ok(Some(response)) => {
                if self.publish(&response).is_ok() {
                    warn!("the rules are those of the cache {} until the control plane replies", path.display());
                }
            }
            Err(text) => error!("{text}: it is not used"),
        }
    }

    /// Asks the control plane, and asks again when a stream ends.
    pub async fn run(self: Arc<Self>) {
        let (control, settings) = (&self, &self.settings);
        let server = [settings.server.as_str()];
        let connected = control.figures.connected.with_label_values(&server);
        let mut failures = 0_u32;
        loop {
            let end = match control.stream(&mut failures).await {
                Ok(never) => match never {},
                Err(end) => end,
            };
            connected.set(0);
            control.figures.failures.with_label_values(&server).inc();
            failures = failures.saturating_add(1);
            let (wait, text) = match end {
                End::Unreachable(text) => (settings.retry.mul_f64(0.5 + fastrand::f64()), text),
                End::Ended(text) => (settings.backoff.wait(failures, fastrand::f64()), text),
            };
            let (server, text) = (&settings.server, Printable(&text).to_string());
            if failures == 1 {
                warn!(server, ?wait, "the control plane is away, the rules stay: {text}");
            } else {
                debug!(server, ?wait, failures, "the control plane is away: {text}");
            }
            sleep(wait).await;
        }
    }

    /// One stream, from its beginning to its end. Good rules on it mean that there is no failure.
    async fn stream(self: &Arc<Self>, failures: &mut u32) -> Result<Infallible, End> {
        let endpoint = self.settings.endpoint().map_err(End::Unreachable)?;
        let channel: Channel = match timeout(SLOW, endpoint.connect()).await {
            Ok(connected) => connected.map_err(|error| End::Unreachable(show(&error)))?,
            // A peer may accept the connection and then send nothing, as in the handshake of TLS.
            Err(_) => return Err(End::Unreachable("it does not reply".to_owned())),
        };
        let mut client =
            AggregatedDiscoveryServiceClient::new(channel).max_decoding_message_size(self.settings.max_message);
        let (requests, sent) = mpsc::channel(1);
        let mut request = Request::new(ReceiverStream::new(sent));
        for (name, value) in &self.settings.headers {
            request.metadata_mut().insert(name.clone(), value.clone());
        }
        let ended = |error: tonic::Status| End::Ended(format!("{}: {}", error.code(), error.message()));
        let gone = |_| End::Ended("the stream has ended".to_owned());
        // Without a version in the request, the control plane sends its rules in any case.
        let first = DiscoveryRequest {
            node: Some(self.settings.node()),
            type_url: RateLimitConfig::type_url(),
            ..DiscoveryRequest::default()
        };
        requests.send(first).await.map_err(gone)?;
        let begin = async {
            let mut stream = client.stream_aggregated_resources(request).await.map_err(ended)?.into_inner();
            let first = stream.message().await.map_err(ended)?;
            Ok((stream, first))
        };
        tokio::pin!(begin);
        let (mut stream, mut next) = match timeout(SLOW, &mut begin).await {
            Ok(begun) => begun?,
            Err(_) => {
                warn!(server = self.settings.server, node = self.settings.node_id, "the control plane sends no rules");
                begin.await?
            }
        };
        let mut accepted = String::new();
        let mut rejected = 0;
        while let Some(response) = next {
            if response.type_url != RateLimitConfig::type_url() {
                // A reply would subscribe to this type.
                self.figures.count("ignored");
                warn!("the control plane sent a '{}', which is ignored", Printable(&response.type_url));
                rejected += 1;
            } else {
                let nonce = response.nonce.clone();
                let version = response.version_info.clone();
                let error_detail = match self.take(response).await {
                    Ok(()) => {
                        self.figures.connected.with_label_values(&[&self.settings.server]).set(1);
                        (*failures, rejected, accepted) = (0, 0, version);
                        None
                    }
                    Err(message) => {
                        rejected += 1;
                        Some(Detail { code: INVALID_ARGUMENT, message, ..Detail::default() })
                    }
                };
                let reply = DiscoveryRequest {
                    version_info: accepted.clone(),
                    type_url: RateLimitConfig::type_url(),
                    response_nonce: nonce,
                    error_detail,
                    ..DiscoveryRequest::default()
                };
                requests.send(reply).await.map_err(gone)?;
            }
            if rejected > 1 {
                // A control plane that repeats a wrong set is not read faster than this.
                let pause = Backoff { initial: NACK_PAUSE, factor: 2.0, jitter: true, max: self.settings.backoff.max };
                sleep(pause.wait(rejected - 1, fastrand::f64())).await;
            }
            next = stream.message().await.map_err(ended)?;
        }
        Err(End::Ended("the control plane has ended the stream".to_owned()))
    }

    /// Puts a set in force and keeps it, or says what is wrong with it. A set may be large, so no thread that serves reads
    /// it.
    async fn take(self: &Arc<Self>, response: DiscoveryResponse) -> Result<(), String> {
        let control = self.clone();
        let taken = tokio::task::spawn_blocking(move || {
            control.publish(&response)?;
            control.figures.count(if response.resources.is_empty() { "empty" } else { "accepted" });
            if let Some(path) = &control.settings.cache
                && let Err(error) = cache::write(path, &response)
            {
                error!("--rules-cache: {}: {error}", path.display());
            }
            Ok(())
        });
        let taken = taken.await.unwrap_or_else(|error| Err(vec![error.to_string()]));
        taken.map_err(|problems| {
            self.figures.count("rejected");
            problems.join("; ")
        })
    }
}

/// The first of the problems in one line, and how many more there are.
fn summary(problems: &[String]) -> String {
    let cut = |text: &String| Printable(text).to_string().chars().take(MAX_PROBLEM_CHARS).collect::<String>();
    let mut all: Vec<_> = problems.iter().take(MAX_PROBLEMS).map(cut).collect();
    match problems.len().saturating_sub(MAX_PROBLEMS) {
        0 => {}
        more => all.push(format!("and {more} more")),
    }
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::future::pending;

    use futures_util::future::join;
    use tokio::net::TcpListener;
    use tokio::runtime::Handle;

    use super::*;
    use crate::env::Env;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Peer {
        Gone,
        HangsUp,
        Silent,
    }

    /// With a clock that goes to the next timer when nothing else is to do. A silent connection is given up 350 seconds
    /// after it began, and each wait is between the bounds that the settings have without variables.
    #[tokio::test(start_paused = true)]
    async fn an_hour_without_a_control_plane_takes_few_attempts() {
        for (peer, least, most) in [(Peer::Gone, 800, 2_400), (Peer::HangsUp, 60, 125), (Peer::Silent, 8, 9)] {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let server = listener.local_addr().expect("an address").to_string();
            let pairs = [("CONFIG_TYPE", "GRPC_XDS_SOTW"), ("CONFIG_GRPC_XDS_SERVER_URL", &server)];
            let variables: BTreeMap<_, _> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            let settings = ControlSettings::of(&Env(&variables), None).expect("valid").expect("a control plane");
            let figures = Figures::new(&Registry::new()).expect("metrics");
            let publish = Arc::new(|_| panic!("there are no rules"));
            let control = Arc::new(Control::new(settings, rules::Settings::default(), false, figures, publish));
            let failures = control.figures.failures.with_label_values(&[server.as_str()]);
            let accepts = async move {
                if peer == Peer::Gone {
                    drop(listener);
                    return pending::<()>().await;
                }
                let mut open = Vec::new();
                loop {
                    let (connection, _) = listener.accept().await.expect("a connection");
                    open.extend((peer == Peer::Silent).then_some(connection));
                }
            };
            _ = timeout(HOUR, join(accepts, control.run())).await;
            assert!((least..=most).contains(&failures.get()), "{peer:?}: {}", failures.get());
            let tasks = Handle::current().metrics().num_alive_tasks();
            assert!(tasks < 8, "{peer:?}: {tasks} tasks are left");
        }
    }
}
