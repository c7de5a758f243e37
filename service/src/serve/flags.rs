//! The flags of `rlaas serve`. A flag wins over its own variable, that over the one of envoyproxy/ratelimit, that over the
//! default.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::connections;
use super::settings::{Address, Settings};
use super::url::{OF_REDIS_URL, with_login};
use super::variables::no_effect;
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
    /// Whether `/limits/<domain>` of that address tells a caller what is left of its limits
    #[arg(long, env = "RLAAS_LIMITS", value_parser = go::boolean, default_value = "false", num_args = 0..=1,
          default_missing_value = "true", require_equals = true)]
    limits: bool,
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
    /// Where rlaas why asks, and /rlconfig shows the rules in force [default: nowhere]
    #[arg(long, value_name = "ADDR", env = "RLAAS_DEBUG")]
    debug: Option<String>,
    /// Whether `rlaas reset` may delete, through that address, what limits hold
    #[arg(long, env = "RLAAS_ALLOW_RESET", value_parser = go::boolean, default_value = "false", num_args = 0..=1,
          default_missing_value = "true", require_equals = true)]
    allow_reset: bool,
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
    /// How many requests may be under way; more get what on_overload of their domain says; 0 for any number [default: 5000]
    #[arg(long, value_name = "REQUESTS", env = "RLAAS_MAX_REQUESTS")]
    max_requests: Option<usize>,
    /// How late this program may run; while it runs later with more than 100 requests, they get what on_overload says
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
    /// How many connections of gRPC may be open, and of HTTP; one more is closed at once
    #[arg(long, value_name = "CONNECTIONS", env = "RLAAS_MAX_CONNECTIONS", default_value_t = 10_000)]
    max_connections: usize,
    /// How many requests a connection of gRPC may have at once; 0 for any number [default: 100]
    #[arg(long, value_name = "STREAMS", env = "RLAAS_MAX_STREAMS")]
    max_streams: Option<u32>,
    /// How long a request may take from its header to its reply; 0 for any time [default: 10s]
    #[arg(long, value_name = "DURATION", env = "RLAAS_REQUEST_TIMEOUT", value_parser = go::duration)]
    request_timeout: Option<Duration>,
    /// After SIGTERM: how long requests are still accepted, for balancers to notice
    #[arg(long, value_name = "DURATION", env = "RLAAS_DRAIN_DELAY", default_value = "0s", value_parser = go::duration)]
    drain_delay: Duration,
    /// After that: how long requests under way may take
    #[arg(long, value_name = "DURATION", env = "RLAAS_DRAIN", default_value = "10s", value_parser = go::duration)]
    drain: Duration,
    /// How long a client of HTTP may take for the header of a request, and how long an idle connection stays
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

impl Flags {
    /// The settings in force, where `variables` is the environment.
    ///
    /// # Errors
    /// A flag or a variable is wrong. The text says which, and what it takes.
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
        let integer = "an integer of 0 or more";
        let max_streams = self.max_streams.or(env.number("GRPC_MAX_CONCURRENT_STREAMS", 0..=u32::MAX - 1, integer)?);
        let max_streams = max_streams.unwrap_or(100);
        let max_requests = self.max_requests.or(env.number("MAX_CONCURRENT_REQUESTS", 0..=usize::MAX, integer)?);
        let max_requests = max_requests.unwrap_or(5_000);
        let request_timeout = self.request_timeout.or(env.duration("REQUEST_TIMEOUT")?);
        let request_timeout = request_timeout.unwrap_or(Duration::from_secs(10));
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
            limits: self.limits,
            denials: match (self.denials, env.number("LOCAL_CACHE_SIZE_IN_BYTES", 0..=u64::MAX, integer)?) {
                (Some(keys), _) => keys,
                // In envoyproxy/ratelimit 0 means no local cache: every request is sent.
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
                max_requests: if max_requests == 0 { usize::MAX } else { max_requests },
                max_lag: self.max_lag,
                // Beyond 1, no hit is near a limit.
                near_limit_ratio: env
                    .number("NEAR_LIMIT_RATIO", 0.0..=f32::MAX, "a number of 0 or more")?
                    .unwrap_or(0.8),
                ready_needs_redis: env.flag("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION")?,
                ready_needs_domain: env.flag("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED")?,
                allow_reset: self.allow_reset,
                reservations: Bounds { fraction: self.max_reservation_fraction, ttl: self.max_reservation_ttl },
                cluster: redis.split_once("://").is_some_and(|(scheme, _)| scheme.ends_with("-cluster")),
            },
            redis,
            http_timeout: self.http_timeout,
            traces: env.traces()?,
            drain_delay: self.drain_delay,
            drain: self.drain,
            bounds: connections::Bounds {
                streams: Some(max_streams).filter(|streams| *streams > 0),
                request: if request_timeout.is_zero() { Duration::MAX } else { request_timeout },
                age: env.age("GRPC_MAX_CONNECTION_AGE", Duration::from_secs(86_400))?,
                grace: env.age("GRPC_MAX_CONNECTION_AGE_GRACE", Duration::from_secs(3_600))?,
            },
            log_level: self.log_level.or(env.value("LOG_LEVEL", log_level)?).unwrap_or(tracing::Level::INFO),
            // In envoyproxy/ratelimit every word but json means text.
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

fn log_level(text: &str) -> Result<tracing::Level, String> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "panic" | "fatal" | "error" => tracing::Level::ERROR,
        "warn" | "warning" => tracing::Level::WARN,
        "info" => tracing::Level::INFO,
        "debug" | "trace" => tracing::Level::DEBUG,
        _ => return Err("expected error, warn, info or debug".to_owned()),
    })
}

#[cfg(test)]
pub mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    pub fn settings(flags: &[&str], variables: &[&str]) -> Result<Settings, String> {
        let command = Flags::augment_args(Command::new("serve").no_binary_name(true));
        let flags = Flags::from_arg_matches(&command.get_matches_from(flags)).expect("flags");
        let variables = variables.iter().filter_map(|pair| pair.split_once('='));
        flags.settings(&variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Flags or variables, and parts of the settings that they make, as `Debug` shows them; or what the error says.
    const MEANINGS: &str = r#"
-> grpc: Tcp("127.0.0.1:8081") & http: "127.0.0.1:8080" & debug: None & redis: "redis://127.0.0.1:6379" & rules: ["rules"]
-> timeout: 15ms & denials: 10000 & age: Some(86400s), grace: Some(3600s) & headers: None & tls: None & without_effect: []
GRPC_HOST=0.0.0.0 GRPC_PORT=9000 PORT=8888 DEBUG_PORT=6000 PROMETHEUS_ADDR=:9102 \
  -> grpc: Tcp("0.0.0.0:9000") & http: "127.0.0.1:8888" & debug: Some("127.0.0.1:6000") & metrics: "0.0.0.0:9102"
--grpc=127.0.0.1:2 --http=127.0.0.1:1 --debug=127.0.0.1:4 --metrics=127.0.0.1:3 \
  GRPC_PORT=9 GRPC_UDS=/run/variable PORT=9 DEBUG_PORT=9 PROMETHEUS_ADDR=:9 \
  -> grpc: Tcp("127.0.0.1:2") & http: "127.0.0.1:1" & debug: Some("127.0.0.1:4") & metrics: "127.0.0.1:3"
CACHE_KEY_PREFIX=p: REDIS_TIMEOUT=+1s LOCAL_CACHE_SIZE_IN_BYTES=0 LOG_LEVEL=WARN LOG_FORMAT=Json \
  -> prefix: "p:" & timeout: 1s & denials: 0 & log_level: Level(Warn) & log_json: true
--rules=flag --prefix=flag --timeout=1ms --denials=5 --recheck-denials=2s --log-level=error --log-format=text \
  RUNTIME_ROOT=/variable CACHE_KEY_PREFIX=variable REDIS_TIMEOUT=9s LOCAL_CACHE_SIZE_IN_BYTES=0 LOG_LEVEL=debug LOG_FORMAT=json \
  -> rules: ["flag"] & prefix: "flag" & timeout: 1ms & denials: 5 & recheck_denials: 2s & log_level: Level(Error) & log_json: false
GRPC_HOST=::1 -> grpc: Tcp("[::1]:8081")
GRPC_UDS=/run/variable -> grpc: Unix("/run/variable")
HOST=rlaas.example -> http: "rlaas.example:8080"
PROMETHEUS_ADDR=localhost:7952 -> metrics: "127.0.0.1:7952"
RUNTIME_ROOT=/data RUNTIME_SUBDIRECTORY=ratelimit -> rules: ["/data/ratelimit/config"]
RUNTIME_ROOT=/data RUNTIME_SUBDIRECTORY=/ratelimit RUNTIME_APPDIRECTORY= -> rules: ["/data/ratelimit/config"]
RUNTIME_ROOT=/data RUNTIME_APPDIRECTORY=/limits -> rules: ["/data/limits"]
LOG_FORMAT=TEXT -> log_json: false
LOG_FORMAT=logfmt -> log_json: false
LIMIT_RESPONSE_HEADERS_ENABLED=T LIMIT_RESET_HEADER=X-Reset -> limit: "RateLimit-Limit" & reset: "X-Reset"
SHADOW_MODE=true -> shadow: true, quota: false
NEAR_LIMIT_RATIO=1.5 -> near_limit_ratio: 1.5
HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED=true -> ready_needs_domain: true & without_effect: []
CONFIG_TYPE=FILE BACKEND_TYPE=redis -> control: None & without_effect: []
CONFIG_TYPE=GRPC_XDS_SOTW \
  -> server: "localhost:18000", node_id: "default", node_metadata: [], headers: [], tls: None, max_message: 4194304, retry: 3s
CONFIG_TYPE=GRPC_XDS_SOTW CONFIG_GRPC_XDS_SERVER_URL=dns:///gateway:18001 CONFIG_GRPC_XDS_NODE_ID=me \
  CONFIG_GRPC_XDS_NODE_METADATA=a=1,b=x=y,none CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS=X-A:1,x-b:u:v \
  -> server: "gateway:18001", node_id: "me", node_metadata: [("a", "1"), ("b", "x=y")] & headers: [("x-a", "1"), ("x-b", "u:v")]
CONFIG_TYPE=GRPC_XDS_SOTW CONFIG_GRPC_XDS_SERVER_USE_TLS=true CONFIG_GRPC_XDS_SERVER_TLS_SAN=n XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES=10 \
  -> tls: Some(ControlTls { identity: None, ca: None, name: Some("n") }), max_message: 10
CONFIG_TYPE=GRPC_XDS_SOTW CONFIG_GRPC_XDS_SERVER_USE_TLS=1 CONFIG_GRPC_XDS_CLIENT_TLS_CERT=c -> error CONFIG_GRPC_XDS_CLIENT_TLS_KEY
--rules-cache=cache -> error --rules-cache
USE_STATSD=true -> without_effect: ["USE_STATSD"]
--redis=redis://flag REDIS_URL=variable:9 -> redis: "redis://flag" & without_effect: ["REDIS_URL"]
MAX_CONCURRENT_REQUESTS=7 GRPC_MAX_CONCURRENT_STREAMS=5 REQUEST_TIMEOUT=250ms -> max_requests: 7 & streams: Some(5), request: 250ms
MAX_CONCURRENT_REQUESTS=0 GRPC_MAX_CONCURRENT_STREAMS=0 -> max_requests: 18446744073709551615 & streams: None
--max-requests=8 MAX_CONCURRENT_REQUESTS=7 REQUEST_TIMEOUT=0 -> max_requests: 8 & streams: Some(100), request: 18446744073709551615.999999999s
MAX_CONCURRENT_REQUESTS=-1 -> error MAX_CONCURRENT_REQUESTS
GRPC_MAX_CONCURRENT_STREAMS=4294967295 -> error GRPC_MAX_CONCURRENT_STREAMS
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
REDIS_URL=redis-sentinel://a/main?db=2 REDIS_TLS=true REDIS_SENTINEL_AUTH=x REDIS_TLS_CACERT=/ca -> redis: "rediss-sentinel://a/main?db=2&ca=/ca&sentinel_password=x"
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
REDIS_URL=redis://me@a:1/2?db=2 RLAAS_REDIS_PASSWORD=p@s -> redis: "redis://me:p%40s@a:1/2?db=2"
REDIS_URL=redis-sentinel://me@a,b/main RLAAS_REDIS_PASSWORD=p@s -> redis: "redis-sentinel://me:p%40s@a,b/main"
REDIS_URL=unix:///run/s?user=me RLAAS_REDIS_PASSWORD=p@s -> redis: "unix:///run/s?user=me&pass=p%40s"
REDIS_URL=redis://me:p%40s@a:1?db=2 RLAAS_REDIS_PASSWORD=p@s -> redis: "redis://me:p%40s@a:1?db=2"
REDIS_URL=redis://a:1?db=2 RLAAS_REDIS_PASSWORD=p@s -> redis: "redis://:p%40s@a:1?db=2"
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
                     TRACING_EXPORTER_PROTOCOL=udp TRACING_SAMPLING_RATE=all CONFIG_GRPC_XDS_SERVER_URL=gateway \
                     CONFIG_GRPC_XDS_SERVER_URL=http://gateway:1 CONFIG_GRPC_XDS_SERVER_URL=unix:/run/s \
                     CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS=name CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS=grpc-timeout:1 \
                     XDS_CLIENT_BACKOFF_MAX_INTERVAL=0s XDS_CLIENT_BACKOFF_INITIAL_INTERVAL=10 \
                     XDS_CLIENT_BACKOFF_RANDOM_FACTOR=-1 XDS_CLIENT_BACKOFF_JITTER=some \
                     XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES=4294967296 CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL=0";
        for pair in wrong.split(' ') {
            let error = settings(&[], &["CONFIG_TYPE=GRPC_XDS_SOTW", pair]).expect_err(pair);
            assert!(error.contains(pair.split_once('=').expect(pair).0), "{pair}: {error}");
        }
    }
}
