//! The variables of envoyproxy/ratelimit for rules from a control plane.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use envoy_types::pb::envoy::config::core::v3::Node;
use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, Value};
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::env::Env;

/// The largest message that a Go client accepts by default.
const MAX_MESSAGE: usize = 4 << 20;
/// The largest message of gRPC.
const LARGEST: usize = (u32::MAX >> 1) as usize;
/// By default, a server in Go ends connections that send more than a ping in five minutes.
const PING_EVERY: Duration = Duration::from_secs(330);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// The kernel then checks whether the host still replies.
const TCP_KEEPALIVE: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The address of the control plane, and how rlaas connects to it.
#[derive(Clone, Debug)]
pub struct ControlSettings {
    /// A host and a port.
    pub server: String,
    pub node_id: String,
    pub node_metadata: Vec<(String, String)>,
    pub headers: Vec<(AsciiMetadataKey, AsciiMetadataValue)>,
    pub tls: Option<ControlTls>,
    pub max_message: usize,
    /// How long to wait before the next attempt to connect, with a part left to chance.
    pub retry: Duration,
    /// How long to wait if a stream has ended.
    pub backoff: Backoff,
    /// Where the last good set of rules is kept.
    pub cache: Option<PathBuf>,
}

/// The certificates for the control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlTls {
    /// The certificate of rlaas, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The authority that signed the certificate of the server; `None` for the authorities of the system.
    pub ca: Option<PathBuf>,
    /// The name that the certificate of the server must have; `None` for the name of the host.
    pub name: Option<String>,
}

/// A time to wait that grows with each failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    pub initial: Duration,
    pub max: Duration,
    pub factor: f64,
    /// Whether a part of the time is left to chance.
    pub jitter: bool,
}

impl Backoff {
    /// How long to wait after so many failures in a row, where `chance` is from 0 to 1.
    ///
    /// Never less than half of `initial`, nor more than `max`.
    pub fn wait(self, failures: u32, chance: f64) -> Duration {
        let steps = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let grown = self.initial.as_secs_f64() * self.factor.max(1.0).powi(steps);
        let wait = grown.min(self.max.as_secs_f64());
        let wait = if self.jitter { wait * (1.0 + chance.clamp(0.0, 1.0)) / 2.0 } else { wait };
        Duration::try_from_secs_f64(wait).unwrap_or(self.max)
    }
}

impl ControlSettings {
    /// `None` if rules come from files.
    ///
    /// # Errors
    /// A variable is wrong. The text says which, and what it takes.
    pub fn of(env: &Env<'_>, cache: Option<PathBuf>) -> Result<Option<Self>, String> {
        match env.text("CONFIG_TYPE").map(|kind| kind.to_ascii_uppercase()).as_deref() {
            Some("GRPC_XDS_SOTW") => {}
            None | Some("FILE") if cache.is_some() => {
                return Err("--rules-cache: it is for CONFIG_TYPE=GRPC_XDS_SOTW; files need no cache".to_owned());
            }
            None | Some("FILE") => return Ok(None),
            Some(_) => return Err("CONFIG_TYPE: expected FILE or GRPC_XDS_SOTW".to_owned()),
        }
        const SERVER: &str = "CONFIG_GRPC_XDS_SERVER_URL";
        let server = env.text(SERVER).unwrap_or_else(|| "localhost:18000".to_owned());
        // A target of a Go client: the name is looked up in DNS.
        let server = server.strip_prefix("dns:///").unwrap_or(&server).to_owned();
        let port = server.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none()
            || server.contains(['/', '@', ' '])
            || format!("http://{server}").parse::<http::Uri>().is_err()
        {
            return Err(format!("{SERVER}: expected a host and a port, as localhost:18000"));
        }
        let positive = |name: &str, default: u64| match env.duration(name)? {
            Some(Duration::ZERO) => Err(format!("{name}: expected more than 0")),
            given => Ok(given.unwrap_or(Duration::from_secs(default))),
        };
        let backoff = Backoff {
            initial: positive("XDS_CLIENT_BACKOFF_INITIAL_INTERVAL", 10)?,
            max: positive("XDS_CLIENT_BACKOFF_MAX_INTERVAL", 60)?,
            factor: env.number("XDS_CLIENT_BACKOFF_RANDOM_FACTOR", 0.0..=1e6, "a number of 0 or more")?.unwrap_or(2.0),
            jitter: env.value("XDS_CLIENT_BACKOFF_JITTER", crate::go::boolean)?.unwrap_or(true),
        };
        const SIZE: &str = "XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES";
        let max_message = env.number(SIZE, 0..=LARGEST, "an integer from 0 to 2147483647")?;
        let metadata = env.text("CONFIG_GRPC_XDS_NODE_METADATA").unwrap_or_default();
        // As in envoyproxy/ratelimit, what is no pair is left out.
        let pairs = metadata.split(',').filter_map(|pair| pair.split_once('='));
        Ok(Some(Self {
            server,
            node_id: env.text("CONFIG_GRPC_XDS_NODE_ID").unwrap_or_else(|| "default".to_owned()),
            node_metadata: pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            headers: env
                .value("CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS", |text| text.split(',').map(header).collect())?
                .unwrap_or_default(),
            tls: tls(env)?,
            max_message: max_message.filter(|size| *size > 0).unwrap_or(MAX_MESSAGE),
            retry: positive("CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL", 3)?,
            backoff,
            cache,
        }))
    }

    /// The node that rlaas is for the control plane.
    pub fn node(&self) -> Node {
        let text = |text: &str| Value { kind: Some(Kind::StringValue(text.to_owned())) };
        let fields = self.node_metadata.iter().map(|(key, value)| (key.clone(), text(value)));
        Node { id: self.node_id.clone(), metadata: Some(Struct { fields: fields.collect() }), ..Node::default() }
    }

    /// Where to connect to. The certificates are read each time: they may have been renewed.
    ///
    /// # Errors
    /// A file cannot be read, or has no certificate.
    pub fn endpoint(&self) -> Result<Endpoint, String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{}", self.server)).map_err(|error| show(&error))?;
        let endpoint = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_keepalive(Some(TCP_KEEPALIVE))
            .http2_keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_TIMEOUT)
            .keep_alive_while_idle(true);
        let Some(tls) = &self.tls else { return Ok(endpoint) };
        let read = |path: &PathBuf| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let mut config = ClientTlsConfig::new();
        config = match &tls.ca {
            Some(path) => config.ca_certificate(Certificate::from_pem(read(path)?)),
            None => config.with_native_roots(),
        };
        if let Some((cert, key)) = &tls.identity {
            config = config.identity(Identity::from_pem(read(cert)?, read(key)?));
        }
        if let Some(name) = &tls.name {
            config = config.domain_name(name);
        }
        endpoint.tls_config(config).map_err(|error| show(&error))
    }

    /// The files of certificates.
    pub fn certificates(&self) -> impl Iterator<Item = PathBuf> {
        let tls = self.tls.iter();
        tls.flat_map(|tls| tls.ca.iter().chain(tls.identity.as_ref().map(|(cert, _)| cert))).cloned()
    }
}

fn tls(env: &Env<'_>) -> Result<Option<ControlTls>, String> {
    if !env.flag("CONFIG_GRPC_XDS_SERVER_USE_TLS")? {
        return Ok(None);
    }
    let identity = match (env.text("CONFIG_GRPC_XDS_CLIENT_TLS_CERT"), env.text("CONFIG_GRPC_XDS_CLIENT_TLS_KEY")) {
        (Some(cert), Some(key)) => Some((cert.into(), key.into())),
        (None, None) => None,
        _ => return Err("CONFIG_GRPC_XDS_CLIENT_TLS_CERT and CONFIG_GRPC_XDS_CLIENT_TLS_KEY: expected both".to_owned()),
    };
    let ca = env.text("CONFIG_GRPC_XDS_SERVER_TLS_CACERT").map(Into::into);
    Ok(Some(ControlTls { identity, ca, name: env.text("CONFIG_GRPC_XDS_SERVER_TLS_SAN") }))
}

fn header(pair: &str) -> Result<(AsciiMetadataKey, AsciiMetadataValue), String> {
    let (name, value) = pair.split_once(':').unwrap_or((pair, ""));
    let header = name.trim().to_ascii_lowercase().parse().ok().zip(value.trim().parse().ok());
    // What begins with grpc- belongs to gRPC.
    header
        .filter(|_| pair.contains(':') && !name.starts_with("grpc-"))
        .ok_or("expected NAME:VALUE[,NAME:VALUE…]".to_owned())
}

/// An error with what caused it.
pub fn show(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.ends_with(&cause) {
            text += &format!(": {cause}");
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_to_its_maximum() {
        let seconds = Duration::from_secs;
        let backoff = Backoff { initial: seconds(1), max: seconds(60), factor: 2.0, jitter: false };
        for (failures, wait) in [(0, 1), (1, 1), (2, 2), (3, 4), (7, 60), (u32::MAX, 60)] {
            assert_eq!(backoff.wait(failures, 0.5), seconds(wait), "{failures}");
        }
        let backoff = Backoff { jitter: true, ..backoff };
        assert_eq!((backoff.wait(3, 0.0), backoff.wait(3, 1.0)), (seconds(2), seconds(4)));
        // The default of envoyproxy/ratelimit is less than 1. The wait is never shorter than the first one.
        assert_eq!(Backoff { factor: 0.5, jitter: false, ..backoff }.wait(9, 0.0), seconds(1));
    }
}
