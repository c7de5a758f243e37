//! The settings of `rlaas serve`: flags, else variables, else those of envoyproxy/ratelimit, else defaults.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::connections::Ages;
use super::tls::TlsFiles;
use super::traces::{Protocol, TraceSettings};
use crate::control::ControlSettings;
use crate::decide::{Bounds, HeaderNames, ReplySettings, ServiceSettings};
use crate::env::Env;
use crate::go;

/// The flags. Each has a variable, which counts if the flag is not given.
#[derive(Clone, Debug, Args)]
pub struct Flags {
    /// Files of rules, and directories of such files [default: ./rules]
    #[arg(long, value_name = "DIR", env = "RLAAS_RULES", value_delimiter = ',')]
    rules: Vec<PathBuf>,
    /// A file with algorithms for rules that name none, as those of a control plane
    #[arg(long, value_name = "FILE", env = "RLAAS_OVERRIDES")]
    overrides: Option<PathBuf>,
    /// Where the last good rules of a control plane are kept, for a start while it is away [default: nowhere]
    #[arg(long, value_name = "FILE", env = "RLAAS_RULES_CACHE")]
    rules_cache: Option<PathBuf>,
    /// Redis or Valkey: redis://, rediss://, unix://, redis-cluster:// or redis-sentinel:// [default: redis://127.0.0.1:6379]
    #[arg(long, value_name = "URL", env = "RLAAS_REDIS", hide_env_values = true)]
    redis: Option<String>,
    /// A file with the password of Redis; RLAAS_REDIS_PASSWORD is the password itself
    #[arg(long, value_name = "FILE", env = "RLAAS_REDIS_PASSWORD_FILE")]
    redis_password_file: Option<PathBuf>,
    /// Where gRPC listens; a path is a Unix socket [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDR", env = "RLAAS_GRPC")]
    grpc: Option<String>,
    /// Where HTTP listens, with /json, /authorize, /healthcheck and /ready [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR", env = "RLAAS_HTTP")]
    http: Option<String>,
    /// The certificates of gRPC, in PEM; without one, it is not encrypted
    #[arg(long, value_name = "FILE", env = "RLAAS_TLS_CERT")]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate
    #[arg(long, value_name = "FILE", env = "RLAAS_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// The authority that must have signed the certificates of clients; without one, they need none
    #[arg(long, value_name = "FILE", env = "RLAAS_TLS_CLIENT_CA")]
    tls_client_ca: Option<PathBuf>,
    /// The name that the certificate of a client must have: of DNS, an address or a URI
    #[arg(long, value_name = "NAME", env = "RLAAS_TLS_CLIENT_NAME")]
    tls_client_name: Option<String>,
    /// Where Prometheus reads the metrics, at /metrics [default: 127.0.0.1:9090]
    #[arg(long, value_name = "ADDR", env = "RLAAS_METRICS")]
    metrics: Option<String>,
    /// Where /rlconfig shows the rules in force [default: nowhere]
    #[arg(long, value_name = "ADDR", env = "RLAAS_DEBUG")]
    debug: Option<String>,
    /// What every key begins with [default: nothing]
    #[arg(long, env = "RLAAS_PREFIX")]
    prefix: Option<String>,
    /// How long Redis may take to decide [default: 15ms]
    #[arg(long, value_name = "DURATION", env = "RLAAS_TIMEOUT", value_parser = go::duration)]
    timeout: Option<Duration>,
    /// The number of keys whose denials are remembered; 0 for none [default: 10000]
    #[arg(long, value_name = "KEYS", env = "RLAAS_DENIALS")]
    denials: Option<usize>,
    /// After how long Redis is asked again about a remembered denial, by one request at a time
    #[arg(long, value_name = "DURATION", env = "RLAAS_RECHECK_DENIALS", default_value = "10s",
          value_parser = go::duration)]
    recheck_denials: Duration,
    /// How many requests may be under way; more get what on_overload of their domain says
    #[arg(long, value_name = "REQUESTS", env = "RLAAS_MAX_REQUESTS", default_value_t = 5_000)]
    max_requests: usize,
    /// How late this program may run; while it runs later, requests get what on_overload says
    #[arg(long, value_name = "DURATION", env = "RLAAS_MAX_LAG", default_value = "10ms", value_parser = go::duration)]
    max_lag: Duration,
    /// The largest part of a limit that one reservation takes; more is cut to it
    #[arg(long, value_name = "FRACTION", env = "RLAAS_MAX_RESERVATION_FRACTION", default_value = "0.5",
          value_parser = millionths)]
    max_reservation_fraction: u32,
    /// How long a reservation lasts that is not committed, at most and where the request does not say
    #[arg(long, value_name = "DURATION", env = "RLAAS_MAX_RESERVATION_TTL", default_value = "60s",
          value_parser = at_least_a_millisecond)]
    max_reservation_ttl: Duration,
    /// How many connections of gRPC and HTTP may be open; one more ends the one that is idle longest
    #[arg(long, value_name = "CONNECTIONS", env = "RLAAS_MAX_CONNECTIONS", default_value_t = 10_000)]
    max_connections: usize,
    /// After SIGTERM: how long requests are still accepted, for balancers to notice
    #[arg(long, value_name = "DURATION", env = "RLAAS_DRAIN_DELAY", default_value = "0s", value_parser = go::duration)]
    drain_delay: Duration,
    /// After that: how long requests under way may take
    #[arg(long, value_name = "DURATION", env = "RLAAS_DRAIN", default_value = "10s", value_parser = go::duration)]
    drain: Duration,
    /// How long a client may take to send a request over HTTP, and how long an idle connection stays
    #[arg(long, value_name = "DURATION", env = "RLAAS_HTTP_TIMEOUT", default_value = "75s",
          value_parser = go::duration)]
    http_timeout: Duration,
    /// How much is logged: error, warn, info or debug [default: info]
    #[arg(long, env = "RLAAS_LOG_LEVEL", value_parser = log_level)]
    log_level: Option<tracing::Level>,
    /// How it is logged: text or json [default: text]
    #[arg(long, env = "RLAAS_LOG_FORMAT", value_parser = ["text", "json"], ignore_case = true)]
    log_format: Option<String>,
}

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Settings {
    pub rules: Vec<PathBuf>,
    pub overrides: Option<PathBuf>,
    /// `None` if rules come from files.
    pub control: Option<ControlSettings>,
    pub merge_domains: bool,
    pub ignore_dot_files: bool,
    pub redis: String,
    pub grpc: Address,
    pub tls: Option<TlsFiles>,
    /// A host, by its address or its name, and a port.
    pub http: String,
    pub metrics: String,
    pub metrics_path: String,
    pub debug: Option<String>,
    pub denials: usize,
    pub max_connections: usize,
    pub recheck_denials: Duration,
    pub service: ServiceSettings,
    pub http_timeout: Duration,
    pub traces: Option<TraceSettings>,
    pub drain_delay: Duration,
    pub drain: Duration,
    pub connections: Ages,
    pub log_level: tracing::Level,
    pub log_json: bool,
    /// Variables of envoyproxy/ratelimit that have no effect here.
    pub without_effect: Vec<String>,
}

/// Where the service listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host, by its address or its name, and a port.
    Tcp(String),
    Unix(PathBuf),
}

/// The variables with the certificates for Redis, and the parameters of the URL for them.
const CERTIFICATES: [(&str, &str); 3] =
    [("REDIS_TLS_CACERT", "ca"), ("REDIS_TLS_CLIENT_CERT", "cert"), ("REDIS_TLS_CLIENT_KEY", "key")];

/// Variables that have no effect if `--redis` is given: its URL says the same.
const OF_REDIS_URL: [&str; 9] = [
    "REDIS_SOCKET_TYPE",
    "REDIS_TYPE",
    "REDIS_URL",
    "REDIS_AUTH",
    "REDIS_SENTINEL_AUTH",
    "REDIS_TLS",
    "REDIS_TLS_CACERT",
    "REDIS_TLS_CLIENT_CERT",
    "REDIS_TLS_CLIENT_KEY",
];

/// The variables of envoyproxy/ratelimit, and what each does here: `docs/variables.md`.
const VARIABLES: &str = include_str!("variables.txt");

/// Those of them that have no effect here.
fn no_effect() -> impl Iterator<Item = &'static str> {
    let rows = VARIABLES.lines().filter_map(|row| row.trim_matches(['|', ' ']).split_once(" | "));
    let rows = rows.filter(|(_, rest)| rest.rsplit("| ").next().is_some_and(|here| here.starts_with("no effect")));
    rows.flat_map(|(names, _)| names.split('`').skip(1).step_by(2))
}

impl Flags {
    /// The settings in force, where `variables` is the environment.
    ///
    /// # Errors
    /// A flag or a variable is wrong: which, and what it takes.
    pub fn settings(self, variables: &BTreeMap<String, String>) -> Result<Settings, String> {
        let env = Env(variables);
        let control = ControlSettings::of(&env, self.rules_cache)?;
        env.must_be("BACKEND_TYPE", "redis", "the state is in Redis or Valkey only")?;
        if env.flag("REDIS_PERSECOND")? {
            return Err("REDIS_PERSECOND: there is one server for all limits".to_owned());
        }
        if env.flag("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION")? {
            return Err("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION: the name is always verified".to_owned());
        }
        let headers = env.flag("LIMIT_RESPONSE_HEADERS_ENABLED")?.then(|| HeaderNames {
            limit: env.text("LIMIT_LIMIT_HEADER").unwrap_or_else(|| "RateLimit-Limit".to_owned()),
            remaining: env.text("LIMIT_REMAINING_HEADER").unwrap_or_else(|| "RateLimit-Remaining".to_owned()),
            reset: env.text("LIMIT_RESET_HEADER").unwrap_or_else(|| "RateLimit-Reset".to_owned()),
        });
        let timeout = self.timeout.or(env.duration("REDIS_TIMEOUT")?).unwrap_or(Duration::from_millis(15));
        if timeout.is_zero() {
            return Err("--timeout or REDIS_TIMEOUT: expected more than 0".to_owned());
        }
        let files = [self.tls_cert, self.tls_key, self.tls_client_ca];
        let tls = env.tls(files, self.tls_client_name)?;
        let grpc = env.grpc(self.grpc)?;
        if let (Address::Unix(_), Some(_)) = (&grpc, &tls) {
            return Err("a certificate is for an address, not for a Unix socket".to_owned());
        }
        let of_url = OF_REDIS_URL.into_iter().filter(|_| self.redis.is_some());
        let of_files = ["RLAAS_RULES"].into_iter().filter(|_| control.is_some());
        let without_effect = no_effect()
            .chain(of_url)
            .chain(of_files)
            .filter(|name| env.text(name).is_some())
            .map(str::to_owned)
            .collect();
        let mut redis = self.redis.map_or_else(|| env.redis(), Ok)?;
        if let Some(password) = env.redis_password(self.redis_password_file)? {
            redis = with_login(&redis, "", &password)?;
        }
        Ok(Settings {
            rules: if self.rules.is_empty() { env.rules() } else { self.rules },
            overrides: self.overrides,
            control,
            merge_domains: env.flag("MERGE_DOMAIN_CONFIG")?,
            ignore_dot_files: env.flag("RUNTIME_IGNOREDOTFILES")?,
            tls,
            grpc,
            http: env.address("--http", self.http, ["HOST", "PORT"], "8080")?,
            metrics: env.metrics(self.metrics)?,
            metrics_path: match env.text("PROMETHEUS_PATH") {
                Some(path) if !path.starts_with('/') || path.contains(['{', '}', '*']) => {
                    return Err("PROMETHEUS_PATH: expected a path, as /metrics".to_owned());
                }
                Some(path) => path,
                None => "/metrics".to_owned(),
            },
            debug: env.debug(self.debug)?,
            denials: match (
                self.denials,
                env.number("LOCAL_CACHE_SIZE_IN_BYTES", 0..=u64::MAX, "an integer of 0 or more")?,
            ) {
                (Some(keys), _) => keys,
                // Without a local cache there, every request is sent.
                (None, Some(0)) => 0,
                (None, _) => 10_000,
            },
            max_connections: self.max_connections,
            recheck_denials: self.recheck_denials,
            service: ServiceSettings {
                prefix: self.prefix.or_else(|| env.text("CACHE_KEY_PREFIX")).unwrap_or_default(),
                timeout,
                reply: ReplySettings {
                    shadow: env.flag("SHADOW_MODE")?,
                    quota: env.flag("QUOTA_MODE")?,
                    headers,
                    dynamic_metadata: env.flag("RESPONSE_DYNAMIC_METADATA")?,
                },
                max_requests: self.max_requests,
                max_lag: self.max_lag,
                // Beyond 1, no hit is near a limit.
                near_limit_ratio: env
                    .number("NEAR_LIMIT_RATIO", 0.0..=f32::MAX, "a number of 0 or more")?
                    .unwrap_or(0.8),
                ready_needs_redis: env.flag("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION")?,
                ready_needs_domain: env.flag("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED")?,
                reservations: Bounds { fraction: self.max_reservation_fraction, ttl: self.max_reservation_ttl },
                cluster: redis.split_once("://").is_some_and(|(scheme, _)| scheme.ends_with("-cluster")),
            },
            redis,
            http_timeout: self.http_timeout,
            traces: env.traces()?,
            drain_delay: self.drain_delay,
            drain: self.drain,
            connections: Ages {
                age: env.age("GRPC_MAX_CONNECTION_AGE", Duration::from_secs(86_400))?,
                grace: env.age("GRPC_MAX_CONNECTION_AGE_GRACE", Duration::from_secs(3_600))?,
            },
            log_level: self.log_level.or(env.value("LOG_LEVEL", log_level)?).unwrap_or(tracing::Level::INFO),
            // Anything but json is text there.
            log_json: self
                .log_format
                .or_else(|| env.text("LOG_FORMAT"))
                .is_some_and(|format| format.eq_ignore_ascii_case("json")),
            without_effect,
        })
    }
}

/// A fraction of 1, in millionths.
fn millionths(text: &str) -> Result<u32, String> {
    let fraction = text.parse().ok().filter(|fraction: &f64| (1e-6..=1.0).contains(fraction));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
    let millionths = |fraction: f64| (fraction * 1e6).round() as u32;
    fraction.map(millionths).ok_or_else(|| "expected a number from 0.000001 to 1".to_owned())
}

/// A whole number of milliseconds, at least one.
fn at_least_a_millisecond(text: &str) -> Result<Duration, String> {
    let duration = go::duration(text)?;
    let is_whole = !duration.is_zero() && duration.subsec_nanos() % 1_000_000 == 0;
    if is_whole { Ok(duration) } else { Err("expected whole milliseconds, at least one".to_owned()) }
}

impl Env<'_> {
    /// A time after which connections end. 0 is never, as in Go.
    fn age(&self, name: &str, default: Duration) -> Result<Option<Duration>, String> {
        Ok(Some(self.duration(name)?.unwrap_or(default)).filter(|age| !age.is_zero()))
    }

    fn rules(&self) -> Vec<PathBuf> {
        let Some(root) = self.text("RUNTIME_ROOT") else { return vec![PathBuf::from("rules")] };
        let mut path = PathBuf::from(root);
        let below =
            [self.text("RUNTIME_SUBDIRECTORY"), self.text("RUNTIME_APPDIRECTORY").or(Some("config".to_owned()))];
        // As in Go, a slash at the beginning does not replace the root.
        path.extend(below.iter().flatten().map(|part| part.trim_start_matches('/')));
        vec![path]
    }

    /// The URL of Redis: that in `REDIS_URL`, or the one of its address, with what the other variables say.
    fn redis(&self) -> Result<String, String> {
        let tls = self.flag("REDIS_TLS")?;
        let mut url = match self.text("REDIS_URL") {
            Some(url) if url.contains("://") => self.checked(url, tls)?,
            address => self.url_of(&address.unwrap_or_else(|| "127.0.0.1:6379".to_owned()))?,
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("", &url));
        let (server, kind) = scheme.split_at(scheme.find('-').unwrap_or(scheme.len()));
        let is_sentinel = kind == "-sentinel";
        let (needs_tls, has_tls) =
            (tls && matches!(server, "redis" | "valkey"), matches!(server, "rediss" | "valkeys"));
        if needs_tls {
            url = format!("{server}s{kind}://{rest}");
        }
        if needs_tls || has_tls {
            for (name, parameter) in CERTIFICATES {
                url = with_parameter(url, name, parameter, self.text(name))?;
            }
        }
        if let Some((user, password)) = self.login("REDIS_SENTINEL_AUTH").filter(|_| is_sentinel) {
            let user = Some(escape(&user)).filter(|user| !user.is_empty());
            url = with_parameter(url, "REDIS_SENTINEL_AUTH", "sentinel_password", Some(escape(&password)))?;
            url = with_parameter(url, "REDIS_SENTINEL_AUTH", "sentinel_username", user)?;
        }
        match self.login("REDIS_AUTH") {
            Some((user, password)) => {
                with_login(&url, &user, &password).map_err(|error| format!("REDIS_AUTH: {error}"))
            }
            None => Ok(url),
        }
    }

    /// The URL of an address as envoyproxy/ratelimit takes it.
    fn url_of(&self, address: &str) -> Result<String, String> {
        let kind = self.text("REDIS_TYPE").unwrap_or_else(|| "single".to_owned()).to_ascii_lowercase();
        Ok(match (kind.as_str(), self.text("REDIS_SOCKET_TYPE").as_deref().unwrap_or("tcp")) {
            ("single", "unix") => format!("unix://{address}"),
            ("single", "tcp") => format!("redis://{address}"),
            ("cluster", _) => format!("redis-cluster://{address}"),
            ("sentinel", _) => {
                let (master, sentinels) =
                    address.split_once(',').ok_or("REDIS_URL: expected master,sentinel[,sentinel…]")?;
                format!("redis-sentinel://{sentinels}/{master}")
            }
            ("single", _) => return Err("REDIS_SOCKET_TYPE: expected tcp or unix".to_owned()),
            _ => return Err("REDIS_TYPE: expected SINGLE, SENTINEL or CLUSTER".to_owned()),
        })
    }

    /// A URL, if no variable contradicts it.
    fn checked(&self, url: String, tls: bool) -> Result<String, String> {
        let scheme = url.split("://").next().unwrap_or_default();
        let kind = scheme.split_once('-').map_or("single", |(_, kind)| kind);
        let is_unix = scheme.ends_with("unix");
        if self.text("REDIS_TYPE").is_some_and(|given| !given.eq_ignore_ascii_case(kind)) {
            return Err(format!("REDIS_TYPE: the URL in REDIS_URL is of the type {}", kind.to_ascii_uppercase()));
        }
        if self.text("REDIS_SOCKET_TYPE").is_some_and(|given| (given == "unix") != is_unix) {
            return Err("REDIS_SOCKET_TYPE: the URL in REDIS_URL is of another type".to_owned());
        }
        if is_unix && tls {
            return Err("REDIS_TLS: the URL in REDIS_URL is that of a Unix socket, which has no TLS".to_owned());
        }
        Ok(url)
    }

    /// `user:password`, or a password alone.
    fn login(&self, name: &str) -> Option<(String, String)> {
        let auth = self.text(name)?;
        let (user, password) = auth.split_once(':').unwrap_or(("", &auth));
        Some((user.to_owned(), password.to_owned()))
    }

    /// The files of TLS: those of the flags, else those of the variables if `GRPC_SERVER_USE_TLS` is true.
    fn tls(&self, files: [Option<PathBuf>; 3], name: Option<String>) -> Result<Option<TlsFiles>, String> {
        let on = self.flag("GRPC_SERVER_USE_TLS")?;
        let variables =
            ["GRPC_SERVER_TLS_CERT", "GRPC_SERVER_TLS_KEY", "GRPC_CLIENT_TLS_CACERT", "GRPC_CLIENT_TLS_SAN"];
        let [cert, key, ca, san] = variables.map(|name| self.text(name).filter(|_| on));
        let [cert, key, client_ca] = {
            let [own_cert, own_key, own_ca] = files;
            [own_cert.or(cert.map(Into::into)), own_key.or(key.map(Into::into)), own_ca.or(ca.map(Into::into))]
        };
        let client_name = name.or(san);
        if client_name.is_some() && client_ca.is_none() {
            return Err("--tls-client-name or GRPC_CLIENT_TLS_SAN: a name needs an authority that says it, \
                        --tls-client-ca or GRPC_CLIENT_TLS_CACERT"
                .to_owned());
        }
        match (cert, key) {
            (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key, client_ca, client_name })),
            (None, None) if !on && client_ca.is_none() => Ok(None),
            _ => Err("TLS needs --tls-cert and --tls-key, or GRPC_SERVER_USE_TLS with GRPC_SERVER_TLS_CERT and \
                      GRPC_SERVER_TLS_KEY"
                .to_owned()),
        }
    }

    /// A password that is not part of the URL.
    fn redis_password(&self, file: Option<PathBuf>) -> Result<Option<String>, String> {
        let Some(path) = file else { return Ok(self.text("RLAAS_REDIS_PASSWORD")) };
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned())),
            Err(error) => Err(format!("--redis-password-file: {}: {error}", path.display())),
        }
    }

    fn grpc(&self, flag: Option<String>) -> Result<Address, String> {
        match (&flag, self.text("GRPC_UDS")) {
            (Some(text), _) if text.contains('/') => return Ok(Address::Unix(text.into())),
            (None, Some(path)) => return Ok(Address::Unix(path.into())),
            _ => {}
        }
        self.address("--grpc", flag, ["GRPC_HOST", "GRPC_PORT"], "8081").map(Address::Tcp)
    }

    /// `None` if neither the flag nor a variable is given.
    fn debug(&self, flag: Option<String>) -> Result<Option<String>, String> {
        let variables = ["DEBUG_HOST", "DEBUG_PORT"];
        let given = flag.is_some() || variables.iter().any(|name| self.text(name).is_some());
        given.then(|| self.address("--debug", flag, variables, "6070")).transpose()
    }

    /// A flag, else a host and a port in variables of their own.
    fn address(&self, name: &str, flag: Option<String>, variables: [&str; 2], port: &str) -> Result<String, String> {
        let (name, text) = match flag {
            Some(text) => (name.to_owned(), text),
            None => {
                let [host, number] = variables.map(|name| self.text(name));
                let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
                let host = if host.contains(':') { format!("[{host}]") } else { host };
                (variables.join(", "), format!("{host}:{}", number.as_deref().unwrap_or(port)))
            }
        };
        host_and_port(&text).ok_or_else(|| format!("{name}: expected a host and a port, as 127.0.0.1:{port}"))
    }

    fn metrics(&self, flag: Option<String>) -> Result<String, String> {
        let (name, text) = match (flag, self.text("PROMETHEUS_ADDR")) {
            (Some(text), _) => ("--metrics", text),
            (None, Some(text)) => ("PROMETHEUS_ADDR", text),
            (None, None) => ("", "127.0.0.1:9090".to_owned()),
        };
        // As in Go, no host means every address.
        let full = if text.starts_with(':') { format!("0.0.0.0{text}") } else { text };
        host_and_port(&full).ok_or_else(|| format!("{name}: expected a host and a port, as 127.0.0.1:9090"))
    }

    /// What is traced; `None` if nothing is.
    fn traces(&self) -> Result<Option<TraceSettings>, String> {
        let settings = TraceSettings {
            protocol: match self.text("TRACING_EXPORTER_PROTOCOL").as_deref() {
                None | Some("http") => Protocol::Http,
                Some("grpc") => Protocol::Grpc,
                Some(_) => return Err("TRACING_EXPORTER_PROTOCOL: expected http or grpc".to_owned()),
            },
            // As for OpenTelemetry, less than 0 is 0 and more than 1 is 1.
            sampling_rate: self
                .number("TRACING_SAMPLING_RATE", f64::MIN..=f64::MAX, "a number")?
                .map_or(1.0, |rate| rate.clamp(0.0, 1.0)),
            service_name: ["TRACING_SERVICE_NAME", "OTEL_SERVICE_NAME"]
                .into_iter()
                .find_map(|name| self.text(name))
                .unwrap_or_else(|| "rlaas".to_owned()),
            service_namespace: self.text("TRACING_SERVICE_NAMESPACE"),
            service_instance_id: self.text("TRACING_SERVICE_INSTANCE_ID"),
        };
        Ok(self.flag("TRACING_ENABLED")?.then_some(settings))
    }
}

fn log_level(text: &str) -> Result<tracing::Level, String> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "panic" | "fatal" | "error" => tracing::Level::ERROR,
        "warn" | "warning" => tracing::Level::WARN,
        "info" => tracing::Level::INFO,
        "debug" | "trace" => tracing::Level::DEBUG,
        _ => return Err("expected error, warn, info or debug".to_owned()),
    })
}

/// A host and a port. A name is looked up when the service begins to listen.
fn host_and_port(text: &str) -> Option<String> {
    let (host, port) = text.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let is_v6 = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .is_some_and(|host| host.parse::<Ipv6Addr>().is_ok());
    let is_name = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || ":/[]".contains(c));
    let host = if host == "localhost" { "127.0.0.1" } else { host };
    (is_v6 || is_name).then(|| format!("{host}:{port}"))
}

/// A URL with this password, of this user if there is one. The URL may have the same ones already.
fn with_login(url: &str, user: &str, password: &str) -> Result<String, String> {
    const TWICE: &str = "the user or the password of Redis is given twice: in the URL, and by itself";
    let (scheme, rest) = url.split_once("://").ok_or("--redis: expected a URL, as redis://127.0.0.1:6379")?;
    let (user, password) = (escape(user), escape(password));
    if scheme.ends_with("unix") {
        let user = Some(user).filter(|user| !user.is_empty());
        let url = with_parameter(url.to_owned(), "", "user", user).map_err(|_| TWICE)?;
        return with_parameter(url, "", "pass", Some(password)).map_err(|_| TWICE.to_owned());
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (known, secret) = login.split_once(':').map_or((login, None), |(known, secret)| (known, Some(secret)));
    let differs = !known.is_empty() && !user.is_empty() && known != user;
    if differs || secret.is_some_and(|secret| secret != password) {
        return Err(TWICE.to_owned());
    }
    let user = if user.is_empty() { known } else { &user };
    Ok(format!("{scheme}://{user}:{password}@{hosts}{path}"))
}

/// A URL with a parameter that the variable `name` gives, in the form that it has in a URL.
fn with_parameter(url: String, name: &str, parameter: &str, value: Option<String>) -> Result<String, String> {
    let Some(value) = value else { return Ok(url) };
    let Some((_, query)) = url.split_once('?') else { return Ok(format!("{url}?{parameter}={value}")) };
    let known = query.split('&').find_map(|pair| pair.strip_prefix(parameter)?.strip_prefix('='));
    match known {
        None => Ok(format!("{url}{}{parameter}={value}", if query.is_empty() { "" } else { "&" })),
        Some(known) if known == value => Ok(url),
        Some(_) => Err(format!("{name}: the URL in REDIS_URL has another {parameter}")),
    }
}

/// A part of a URL.
fn escape(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    fn settings(flags: &[&str], variables: &[&str]) -> Result<Settings, String> {
        let command = Flags::augment_args(Command::new("serve").no_binary_name(true));
        let flags = Flags::from_arg_matches(&command.get_matches_from(flags)).expect("flags");
        let variables = variables.iter().filter_map(|pair| pair.split_once('='));
        flags.settings(&variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Flags or variables, and parts of the settings that they make, as `Debug` shows them; or what the error says.
    const MEANINGS: &str = r#"
-> grpc: Tcp("127.0.0.1:8081") & http: "127.0.0.1:8080" & debug: None & redis: "redis://127.0.0.1:6379" & rules: ["rules"]
-> timeout: 15ms & denials: 10000 & age: Some(86400s), grace: Some(3600s) & headers: None & tls: None & without_effect: []
GRPC_HOST=0.0.0.0 GRPC_PORT=9000 -> grpc: Tcp("0.0.0.0:9000")
GRPC_HOST=::1 -> grpc: Tcp("[::1]:8081")
--grpc=127.0.0.1:2 GRPC_PORT=9 GRPC_UDS=/run/variable -> grpc: Tcp("127.0.0.1:2")
GRPC_UDS=/run/variable -> grpc: Unix("/run/variable")
PORT=8888 -> http: "127.0.0.1:8888"
HOST=rlaas.example -> http: "rlaas.example:8080"
--http=127.0.0.1:1 PORT=9 -> http: "127.0.0.1:1"
DEBUG_PORT=6000 -> debug: Some("127.0.0.1:6000")
--debug=127.0.0.1:4 DEBUG_PORT=9 -> debug: Some("127.0.0.1:4")
PROMETHEUS_ADDR=:9102 -> metrics: "0.0.0.0:9102"
PROMETHEUS_ADDR=localhost:7952 -> metrics: "127.0.0.1:7952"
--metrics=127.0.0.1:3 PROMETHEUS_ADDR=:9 -> metrics: "127.0.0.1:3"
RUNTIME_ROOT=/data RUNTIME_SUBDIRECTORY=ratelimit -> rules: ["/data/ratelimit/config"]
RUNTIME_ROOT=/data RUNTIME_SUBDIRECTORY=/ratelimit RUNTIME_APPDIRECTORY= -> rules: ["/data/ratelimit/config"]
RUNTIME_ROOT=/data RUNTIME_APPDIRECTORY=/limits -> rules: ["/data/limits"]
--rules=flag RUNTIME_ROOT=/variable -> rules: ["flag"]
CACHE_KEY_PREFIX=p: -> prefix: "p:"
--prefix=flag CACHE_KEY_PREFIX=variable -> prefix: "flag"
REDIS_TIMEOUT=+1s -> timeout: 1s
--timeout=1ms REDIS_TIMEOUT=9s -> timeout: 1ms
LOCAL_CACHE_SIZE_IN_BYTES=0 -> denials: 0
--denials=5 --recheck-denials=2s LOCAL_CACHE_SIZE_IN_BYTES=0 -> denials: 5 & recheck_denials: 2s
LOG_LEVEL=WARN -> log_level: Level(Warn)
--log-level=error LOG_LEVEL=debug -> log_level: Level(Error)
LOG_FORMAT=Json -> log_json: true
LOG_FORMAT=TEXT -> log_json: false
LOG_FORMAT=logfmt -> log_json: false
--log-format=text LOG_FORMAT=json -> log_json: false
LIMIT_RESPONSE_HEADERS_ENABLED=T LIMIT_RESET_HEADER=X-Reset -> limit: "RateLimit-Limit" & reset: "X-Reset"
SHADOW_MODE=true -> shadow: true, quota: false
NEAR_LIMIT_RATIO=1.5 -> near_limit_ratio: 1.5
HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED=true -> ready_needs_domain: true & without_effect: []
CONFIG_TYPE=FILE BACKEND_TYPE=redis -> without_effect: []
USE_STATSD=true -> without_effect: ["USE_STATSD"]
--redis=redis://flag REDIS_URL=variable:9 -> redis: "redis://flag" & without_effect: ["REDIS_URL"]
GRPC_MAX_CONNECTION_AGE=0 GRPC_MAX_CONNECTION_AGE_GRACE=90s -> age: None, grace: Some(90s)
TRACING_ENABLED=true TRACING_EXPORTER_PROTOCOL=grpc TRACING_SAMPLING_RATE=0.1 TRACING_SERVICE_NAME=limits \
  -> protocol: Grpc, sampling_rate: 0.1, service_name: "limits", service_namespace: None
TRACING_ENABLED=1 TRACING_SAMPLING_RATE=2 -> sampling_rate: 1.0
TRACING_ENABLED=1 TRACING_SAMPLING_RATE=-1 -> sampling_rate: 0.0
REDIS_URL=valkeys-cluster://a,b -> cluster: true
REDIS_URL=redis://a -> cluster: false
GRPC_SERVER_TLS_CERT=c GRPC_SERVER_TLS_KEY=k GRPC_CLIENT_TLS_CACERT=a -> tls: None
GRPC_SERVER_USE_TLS=1 GRPC_SERVER_TLS_CERT=c GRPC_SERVER_TLS_KEY=k GRPC_CLIENT_TLS_CACERT=a GRPC_CLIENT_TLS_SAN=n \
  -> tls: Some(TlsFiles { cert: "c", key: "k", client_ca: Some("a"), client_name: Some("n") })
GRPC_SERVER_USE_TLS=1 GRPC_SERVER_TLS_CERT=c GRPC_SERVER_TLS_KEY=k GRPC_UDS=/run/s -> error Unix socket
GRPC_SERVER_USE_TLS=1 GRPC_CLIENT_TLS_SAN=n -> error GRPC_CLIENT_TLS_CACERT
GRPC_SERVER_USE_TLS=1 GRPC_SERVER_TLS_CERT=c -> error GRPC_SERVER_TLS_KEY
REDIS_TLS=1 REDIS_URL=a:1 -> redis: "rediss://a:1"
REDIS_TYPE=CLUSTER REDIS_URL=a:1,b:2 REDIS_AUTH=me:p@ss -> redis: "redis-cluster://me:p%40ss@a:1,b:2"
REDIS_TYPE=sentinel REDIS_URL=main,a:1,b:2 REDIS_SENTINEL_AUTH=x -> redis: "redis-sentinel://a:1,b:2/main?sentinel_password=x"
REDIS_SOCKET_TYPE=unix REDIS_URL=/run/redis.sock REDIS_AUTH=x -> redis: "unix:///run/redis.sock?pass=x"
REDIS_TLS=t REDIS_URL=a:1 REDIS_TLS_CACERT=/ca.pem -> redis: "rediss://a:1?ca=/ca.pem"
REDIS_URL=redis://a:1 REDIS_TLS=true -> redis: "rediss://a:1"
REDIS_URL=redis://a:1/2 REDIS_AUTH=me:p@ss -> redis: "redis://me:p%40ss@a:1/2"
REDIS_URL=redis://a:1 REDIS_TLS=true REDIS_AUTH=me:p@ss -> redis: "rediss://me:p%40ss@a:1"
REDIS_URL=rediss://a:1 REDIS_TLS=true -> redis: "rediss://a:1"
REDIS_URL=valkey-cluster://a:1,b:2 REDIS_TLS=true REDIS_TYPE=cluster -> redis: "valkeys-cluster://a:1,b:2"
REDIS_URL=redis://me@a:1 REDIS_AUTH=x -> redis: "redis://me:x@a:1"
REDIS_URL=redis://me:p%40ss@a:1 REDIS_AUTH=me:p@ss -> redis: "redis://me:p%40ss@a:1"
REDIS_URL=unix:///run/s REDIS_AUTH=me:p@ss -> redis: "unix:///run/s?user=me&pass=p%40ss"
REDIS_URL=redis-sentinel://a/main?protocol=3 REDIS_TLS=true REDIS_SENTINEL_AUTH=x REDIS_TLS_CACERT=/ca -> redis: "rediss-sentinel://a/main?protocol=3&ca=/ca&sentinel_password=x"
REDIS_URL=rediss://a:1?ca=/ca REDIS_TLS_CACERT=/ca -> redis: "rediss://a:1?ca=/ca"
REDIS_URL=redis://a:1 REDIS_TLS_CACERT=/ca -> redis: "redis://a:1"
REDIS_URL=redis://me:other@a:1 REDIS_AUTH=me:p@ss -> error REDIS_AUTH
REDIS_URL=redis://you@a:1 REDIS_AUTH=me:p@ss -> error REDIS_AUTH
REDIS_URL=unix:///run/s?pass=other REDIS_AUTH=me:p@ss -> error REDIS_AUTH
REDIS_URL=unix:///run/s REDIS_TLS=true -> error REDIS_TLS
REDIS_URL=rediss://a:1?ca=/other REDIS_TLS_CACERT=/ca -> error REDIS_TLS_CACERT
REDIS_URL=redis://a:1 REDIS_TYPE=CLUSTER -> error REDIS_TYPE
REDIS_URL=redis://a:1 REDIS_SOCKET_TYPE=unix -> error REDIS_SOCKET_TYPE
REDIS_URL=a:1 RLAAS_REDIS_PASSWORD=p@s -> redis: "redis://:p%40s@a:1"
REDIS_URL=redis://me@a:1/2?protocol=3 RLAAS_REDIS_PASSWORD=p@s -> redis: "redis://me:p%40s@a:1/2?protocol=3"
REDIS_URL=redis-sentinel://me@a,b/main RLAAS_REDIS_PASSWORD=p@s -> redis: "redis-sentinel://me:p%40s@a,b/main"
REDIS_URL=unix:///run/s?user=me RLAAS_REDIS_PASSWORD=p@s -> redis: "unix:///run/s?user=me&pass=p%40s"
REDIS_URL=redis://me:p%40s@a:1?protocol=3 RLAAS_REDIS_PASSWORD=p@s -> redis: "redis://me:p%40s@a:1?protocol=3"
REDIS_URL=redis://a:1?protocol=3 RLAAS_REDIS_PASSWORD=p@s -> redis: "redis://:p%40s@a:1?protocol=3"
REDIS_URL=redis://me:x@a:1 RLAAS_REDIS_PASSWORD=p@s -> error twice
REDIS_URL=unix:///run/s?pass=x RLAAS_REDIS_PASSWORD=p@s -> error twice
"#;

    #[test]
    fn flags_and_variables_mean_what_the_page_says() {
        for line in MEANINGS.replace("\\\n", "").trim().lines() {
            let (given, expected) = line.split_once("-> ").expect(line);
            let (flags, variables): (Vec<_>, Vec<_>) =
                given.split_whitespace().partition(|word| word.starts_with("--"));
            match (settings(&flags, &variables), expected.strip_prefix("error ")) {
                (Ok(settings), None) => {
                    let shown = format!("{settings:?}");
                    assert!(expected.split(" & ").all(|part| shown.contains(part)), "{line}: {shown}");
                }
                (Err(error), Some(part)) => assert!(error.contains(part) && !error.contains('@'), "{line}: {error}"),
                (result, _) => panic!("{line}: {result:?}"),
            }
        }
    }

    #[test]
    fn every_flag_has_a_variable() {
        let command = Flags::augment_args(Command::new("serve"));
        for flag in command.get_arguments() {
            let name = flag.get_id().as_str().to_ascii_uppercase();
            assert_eq!(flag.get_env().and_then(|name| name.to_str()), Some(format!("RLAAS_{name}").as_str()));
        }
    }

    #[test]
    fn what_would_mean_no_limits_ends_the_start() {
        let wrong = "CONFIG_TYPE=XDS BACKEND_TYPE=memcache BACKEND_TYPE=redi \
                     REDIS_PERSECOND=true REDIS_TLS=yes REDIS_TLS_SKIP_HOSTNAME_VERIFICATION=true SHADOW_MODE=yes \
                     GRPC_PORT=http LOG_LEVEL=loud REDIS_TIMEOUT=15 REDIS_TIMEOUT=0s NEAR_LIMIT_RATIO=-1 \
                     NEAR_LIMIT_RATIO=much HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED=yes HOST=a/b PORT=65536 \
                     PROMETHEUS_ADDR=metrics PROMETHEUS_PATH=metrics GRPC_SERVER_USE_TLS=true TRACING_ENABLED=on \
                     TRACING_EXPORTER_PROTOCOL=udp TRACING_SAMPLING_RATE=all";
        for pair in wrong.split(' ') {
            let error = settings(&[], &[pair]).expect_err(pair);
            assert!(error.contains(pair.split_once('=').expect(pair).0), "{pair}: {error}");
        }
    }
}
