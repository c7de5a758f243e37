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
use crate::cli::go_bool;
use crate::service::{HeaderNames, ReplySettings, ServiceSettings};

/// The flags. Each has a variable, which counts if the flag is not given.
#[derive(Clone, Debug, Default, Args)]
pub struct Flags {
    /// Files of rules, and directories of such files [default: ./rules]
    #[arg(long, value_name = "DIR", env = "RLAAS_RULES", value_delimiter = ',')]
    rules: Vec<PathBuf>,
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
    #[arg(long, value_name = "DURATION", env = "RLAAS_TIMEOUT")]
    timeout: Option<String>,
    /// Of how many keys denials are remembered; 0 for none [default: 10000]
    #[arg(long, value_name = "KEYS", env = "RLAAS_DENIALS")]
    denials: Option<usize>,
    /// After how long Redis is asked again about a remembered denial, by one request at a time [default: 10s]
    #[arg(long, value_name = "DURATION", env = "RLAAS_RECHECK_DENIALS")]
    recheck_denials: Option<String>,
    /// How many requests may be under way; more get what on_overload of their domain says [default: 5000]
    #[arg(long, value_name = "REQUESTS", env = "RLAAS_MAX_REQUESTS")]
    max_requests: Option<usize>,
    /// How late this program may run; while it runs later, requests get what on_overload says [default: 10ms]
    #[arg(long, value_name = "DURATION", env = "RLAAS_MAX_LAG")]
    max_lag: Option<String>,
    /// How many connections of gRPC and HTTP may be open; one more ends the one that is idle longest [default: 10000]
    #[arg(long, value_name = "CONNECTIONS", env = "RLAAS_MAX_CONNECTIONS")]
    max_connections: Option<usize>,
    /// After SIGTERM: how long requests are still accepted, for balancers to notice [default: 0s]
    #[arg(long, value_name = "DURATION", env = "RLAAS_DRAIN_DELAY")]
    drain_delay: Option<String>,
    /// After that: how long requests under way may take [default: 10s]
    #[arg(long, value_name = "DURATION", env = "RLAAS_DRAIN")]
    drain: Option<String>,
    /// How long a client may take to send a request over HTTP, and how long an idle connection stays [default: 75s]
    #[arg(long, value_name = "DURATION", env = "RLAAS_HTTP_TIMEOUT")]
    http_timeout: Option<String>,
    /// How much is logged: error, warn, info or debug [default: info]
    #[arg(long, env = "RLAAS_LOG_LEVEL")]
    log_level: Option<String>,
    /// How it is logged: text or json [default: text]
    #[arg(long, env = "RLAAS_LOG_FORMAT")]
    log_format: Option<String>,
}

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Settings {
    pub rules: Vec<PathBuf>,
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

/// Variables of envoyproxy/ratelimit that have no effect here. `docs/service.md` says why.
const WITHOUT_EFFECT: [&str; 59] = [
    "FORCE_START_WITHOUT_INITIAL_CONFIG",
    "RUNTIME_WATCH_ROOT",
    "CONFIG_GRPC_XDS_NODE_ID",
    "CONFIG_GRPC_XDS_NODE_METADATA",
    "CONFIG_GRPC_XDS_SERVER_URL",
    "CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL",
    "CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS",
    "CONFIG_GRPC_XDS_SERVER_USE_TLS",
    "CONFIG_GRPC_XDS_CLIENT_TLS_CERT",
    "CONFIG_GRPC_XDS_CLIENT_TLS_KEY",
    "CONFIG_GRPC_XDS_SERVER_TLS_CACERT",
    "CONFIG_GRPC_XDS_SERVER_TLS_SAN",
    "XDS_CLIENT_BACKOFF_INITIAL_INTERVAL",
    "XDS_CLIENT_BACKOFF_MAX_INTERVAL",
    "XDS_CLIENT_BACKOFF_RANDOM_FACTOR",
    "XDS_CLIENT_BACKOFF_JITTER",
    "XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES",
    "USE_DOG_STATSD",
    "USE_DOG_STATSD_MOGRIFIERS",
    "USE_STATSD",
    "STATSD_HOST",
    "STATSD_PORT",
    "EXTRA_TAGS",
    "STATS_FLUSH_INTERVAL",
    "DISABLE_STATS",
    "USE_PROMETHEUS",
    "PROMETHEUS_MAPPER_YAML",
    "PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS",
    "EXPIRATION_JITTER_MAX_SECONDS",
    "STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT",
    "REDIS_POOL_SIZE",
    "REDIS_POOL_ON_EMPTY_BEHAVIOR",
    "REDIS_PIPELINE_WINDOW",
    "REDIS_PIPELINE_LIMIT",
    "REDIS_CLUSTER_PIPELINE_PARALLELISM",
    "REDIS_STARTUP_INITIAL_INTERVAL",
    "REDIS_STARTUP_MAX_INTERVAL",
    "REDIS_STARTUP_MAX_ELAPSED_TIME",
    "REDIS_PERSECOND_SOCKET_TYPE",
    "REDIS_PERSECOND_TYPE",
    "REDIS_PERSECOND_URL",
    "REDIS_PERSECOND_POOL_SIZE",
    "REDIS_PERSECOND_AUTH",
    "REDIS_PERSECOND_TLS",
    "REDIS_PERSECOND_SENTINEL_AUTH",
    "REDIS_PERSECOND_PIPELINE_WINDOW",
    "REDIS_PERSECOND_PIPELINE_LIMIT",
    "REDIS_PERSECOND_CLUSTER_PIPELINE_PARALLELISM",
    "REDIS_PERSECOND_TIMEOUT",
    "REDIS_PERSECOND_POOL_ON_EMPTY_BEHAVIOR",
    "MEMCACHE_HOST_PORT",
    "MEMCACHE_MAX_IDLE_CONNS",
    "MEMCACHE_SRV",
    "MEMCACHE_SRV_REFRESH",
    "MEMCACHE_TLS",
    "MEMCACHE_TLS_CLIENT_CERT",
    "MEMCACHE_TLS_CLIENT_KEY",
    "MEMCACHE_TLS_CACERT",
    "MEMCACHE_TLS_SKIP_HOSTNAME_VERIFICATION",
];

impl Flags {
    /// The settings in force, where `variables` is the environment.
    ///
    /// # Errors
    /// A flag or a variable is wrong: which, and what it takes.
    pub fn settings(self, variables: &BTreeMap<String, String>) -> Result<Settings, String> {
        let env = Env(variables);
        env.must_be("CONFIG_TYPE", "FILE", "rules are read from files only")?;
        env.must_be("BACKEND_TYPE", "redis", "the state is in Redis or Valkey only")?;
        if env.flag("REDIS_PERSECOND")? == Some(true) {
            return Err("REDIS_PERSECOND: there is one server for all limits".to_owned());
        }
        if env.flag("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION")? == Some(true) {
            return Err("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION: the name is always verified".to_owned());
        }
        let headers = env.flag("LIMIT_RESPONSE_HEADERS_ENABLED")?.unwrap_or(false).then(|| HeaderNames {
            limit: env.text("LIMIT_LIMIT_HEADER").unwrap_or_else(|| "RateLimit-Limit".to_owned()),
            remaining: env.text("LIMIT_REMAINING_HEADER").unwrap_or_else(|| "RateLimit-Remaining".to_owned()),
            reset: env.text("LIMIT_RESET_HEADER").unwrap_or_else(|| "RateLimit-Reset".to_owned()),
        });
        let duration = |flag: Option<String>, name: &str, default: Duration| match flag {
            Some(text) => go_duration(&text).ok_or_else(|| format!("--{name}: expected a duration, as 15ms or 1m30s")),
            None => Ok(default),
        };
        let timeout = env.duration("REDIS_TIMEOUT")?.unwrap_or(Duration::from_millis(15));
        let timeout = duration(self.timeout, "timeout", timeout)?;
        if timeout.is_zero() {
            return Err("--timeout or REDIS_TIMEOUT: without time, Redis decides nothing".to_owned());
        }
        let level = self.log_level.or_else(|| env.text("LOG_LEVEL"));
        let files = [self.tls_cert, self.tls_key, self.tls_client_ca];
        let tls = env.tls(files, self.tls_client_name)?;
        let grpc = env.grpc(self.grpc)?;
        if let (Address::Unix(_), Some(_)) = (&grpc, &tls) {
            return Err("a certificate is for an address, not for a Unix socket".to_owned());
        }
        let mut without_effect = env.without_effect(&WITHOUT_EFFECT);
        if self.redis.is_some() {
            without_effect.extend(env.without_effect(&OF_REDIS_URL));
        }
        let redis = match (self.redis, env.redis_password(self.redis_password_file)?) {
            (Some(url), None) => url,
            (Some(url), Some(password)) => with_login(&url, "", &password)?,
            (None, None) => env.redis()?,
            (None, Some(password)) => with_login(&env.redis()?, "", &password)?,
        };
        Ok(Settings {
            rules: if self.rules.is_empty() { env.rules() } else { self.rules },
            merge_domains: env.flag("MERGE_DOMAIN_CONFIG")?.unwrap_or(false),
            ignore_dot_files: env.flag("RUNTIME_IGNOREDOTFILES")?.unwrap_or(false),
            tls,
            grpc,
            http: env.http(self.http)?,
            metrics: env.metrics(self.metrics)?,
            metrics_path: match env.text("PROMETHEUS_PATH") {
                Some(path) if !path.starts_with('/') || path.contains(['{', '}', '*']) => {
                    return Err("PROMETHEUS_PATH: expected a path, as /metrics".to_owned());
                }
                Some(path) => path,
                None => "/metrics".to_owned(),
            },
            debug: env.debug(self.debug)?,
            denials: match (self.denials, env.number("LOCAL_CACHE_SIZE_IN_BYTES")?) {
                (Some(keys), _) => keys,
                // Without a local cache there, every request is sent.
                (None, Some(0)) => 0,
                (None, _) => 10_000,
            },
            max_connections: self.max_connections.unwrap_or(10_000),
            recheck_denials: duration(self.recheck_denials, "recheck-denials", Duration::from_secs(10))?,
            service: ServiceSettings {
                prefix: self.prefix.or_else(|| env.text("CACHE_KEY_PREFIX")).unwrap_or_default(),
                timeout,
                reply: ReplySettings {
                    shadow: env.flag("SHADOW_MODE")?.unwrap_or(false),
                    quota: env.flag("QUOTA_MODE")?.unwrap_or(false),
                    headers,
                    dynamic_metadata: env.flag("RESPONSE_DYNAMIC_METADATA")?.unwrap_or(false),
                },
                max_requests: self.max_requests.unwrap_or(5_000),
                max_lag: duration(self.max_lag, "max-lag", Duration::from_millis(10))?,
                near_limit_ratio: env.near_limit_ratio()?,
                ready_needs_redis: env.flag("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION")?.unwrap_or(false),
                ready_needs_domain: env.flag("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED")?.unwrap_or(false),
                cluster: redis.split_once("://").is_some_and(|(scheme, _)| scheme.ends_with("-cluster")),
            },
            redis,
            // A little more than the minute for which nginx keeps an idle connection, so that nginx is the one to close it.
            http_timeout: duration(self.http_timeout, "http-timeout", Duration::from_secs(75))?,
            traces: env.traces()?,
            drain_delay: duration(self.drain_delay, "drain-delay", Duration::ZERO)?,
            drain: duration(self.drain, "drain", Duration::from_secs(10))?,
            connections: Ages {
                age: env.age("GRPC_MAX_CONNECTION_AGE", Duration::from_secs(86_400))?,
                grace: env.age("GRPC_MAX_CONNECTION_AGE_GRACE", Duration::from_secs(3_600))?,
            },
            log_level: log_level(level.as_deref())?,
            log_json: match self.log_format.map(|format| format.to_ascii_lowercase()).as_deref() {
                // Anything but json is text there.
                None => env.text("LOG_FORMAT").is_some_and(|format| format.eq_ignore_ascii_case("json")),
                Some("text") => false,
                Some("json") => true,
                Some(_) => return Err("--log-format: expected text or json".to_owned()),
            },
            without_effect,
        })
    }
}

/// The variables of envoyproxy/ratelimit.
struct Env<'e>(&'e BTreeMap<String, String>);

impl Env<'_> {
    /// A variable that is set and not empty.
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        self.text(name).map(|value| go_bool(&value)).transpose().map_err(|error| format!("{name}: {error}"))
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let parse = |value: String| value.parse().map_err(|_| format!("{name}: expected an integer of 0 or more"));
        self.text(name).map(parse).transpose()
    }

    fn duration(&self, name: &str) -> Result<Option<Duration>, String> {
        let parse =
            |value: String| go_duration(&value).ok_or_else(|| format!("{name}: expected a duration, as 15ms or 1m30s"));
        self.text(name).map(parse).transpose()
    }

    /// A time after which connections end. 0 is never, as in Go.
    fn age(&self, name: &str, default: Duration) -> Result<Option<Duration>, String> {
        Ok(Some(self.duration(name)?.unwrap_or(default)).filter(|age| !age.is_zero()))
    }

    fn must_be(&self, name: &str, only: &str, why: &str) -> Result<(), String> {
        match self.text(name) {
            Some(value) if !value.eq_ignore_ascii_case(only) => Err(format!("{name}: expected {only}: {why}")),
            _ => Ok(()),
        }
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

    fn redis(&self) -> Result<String, String> {
        let tls = self.flag("REDIS_TLS")?.unwrap_or(false);
        let scheme = if tls { "rediss" } else { "redis" };
        let Some(address) = self.text("REDIS_URL") else { return Ok(format!("{scheme}://127.0.0.1:6379")) };
        if address.contains("://") {
            return self.redis_of_url(&address, tls);
        }
        let auth = self.text("REDIS_AUTH").map(|auth| user_and_password(&auth));
        let login = match &auth {
            Some((user, password)) => format!("{}:{}@", escape(user), escape(password)),
            None => String::new(),
        };
        let mut parameters = Vec::new();
        for (name, parameter) in CERTIFICATES {
            if let Some(path) = self.text(name).filter(|_| tls) {
                parameters.push(format!("{parameter}={path}"));
            }
        }
        let kind = self.text("REDIS_TYPE").unwrap_or_else(|| "single".to_owned()).to_ascii_lowercase();
        let url = match (kind.as_str(), self.text("REDIS_SOCKET_TYPE").as_deref().unwrap_or("tcp")) {
            ("single", "unix") => {
                if let Some((user, password)) = auth {
                    parameters.push(format!("pass={}", escape(&password)));
                    if !user.is_empty() {
                        parameters.push(format!("user={}", escape(&user)));
                    }
                }
                format!("unix://{address}")
            }
            ("single", "tcp") => format!("{scheme}://{login}{address}"),
            ("cluster", _) => format!("{scheme}-cluster://{login}{address}"),
            ("sentinel", _) => {
                let (master, sentinels) =
                    address.split_once(',').ok_or("REDIS_URL: expected master,sentinel[,sentinel…]")?;
                if let Some((user, password)) = self.text("REDIS_SENTINEL_AUTH").map(|auth| user_and_password(&auth)) {
                    parameters.push(format!("sentinel_password={}", escape(&password)));
                    if !user.is_empty() {
                        parameters.push(format!("sentinel_username={}", escape(&user)));
                    }
                }
                format!("{scheme}-sentinel://{login}{sentinels}/{master}")
            }
            ("single", _) => return Err("REDIS_SOCKET_TYPE: expected tcp or unix".to_owned()),
            _ => return Err("REDIS_TYPE: expected SINGLE, SENTINEL or CLUSTER".to_owned()),
        };
        Ok(if parameters.is_empty() { url } else { format!("{url}?{}", parameters.join("&")) })
    }

    /// The URL in `REDIS_URL`, with what the other variables say. What contradicts them is an error.
    fn redis_of_url(&self, url: &str, tls: bool) -> Result<String, String> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let is_unix = scheme.ends_with("unix");
        let (server, kind) = scheme.split_once('-').map_or((scheme, "single"), |(server, kind)| (server, kind));
        if self.text("REDIS_TYPE").is_some_and(|given| !given.eq_ignore_ascii_case(kind)) {
            return Err(format!("REDIS_TYPE: the URL in REDIS_URL is of the type {}", kind.to_ascii_uppercase()));
        }
        if self.text("REDIS_SOCKET_TYPE").is_some_and(|given| (given == "unix") != is_unix) {
            return Err("REDIS_SOCKET_TYPE: the URL in REDIS_URL is of another type".to_owned());
        }
        if is_unix && tls {
            return Err("REDIS_TLS: the URL in REDIS_URL is that of a Unix socket, which has no TLS".to_owned());
        }
        let needs_tls = tls && matches!(server, "redis" | "valkey");
        let mut url = if needs_tls { format!("{server}s{}://{rest}", &scheme[server.len()..]) } else { url.to_owned() };
        if needs_tls || matches!(server, "rediss" | "valkeys") {
            for (name, parameter) in CERTIFICATES {
                url = with_parameter(url, name, parameter, self.text(name))?;
            }
        }
        if kind == "sentinel"
            && let Some((user, password)) = self.text("REDIS_SENTINEL_AUTH").map(|auth| user_and_password(&auth))
        {
            let user = Some(escape(&user)).filter(|user| !user.is_empty());
            url = with_parameter(url, "REDIS_SENTINEL_AUTH", "sentinel_password", Some(escape(&password)))?;
            url = with_parameter(url, "REDIS_SENTINEL_AUTH", "sentinel_username", user)?;
        }
        match self.text("REDIS_AUTH").map(|auth| user_and_password(&auth)) {
            Some((user, password)) => {
                with_login(&url, &user, &password).map_err(|error| format!("REDIS_AUTH: {error}"))
            }
            None => Ok(url),
        }
    }

    /// The files of TLS: those of the flags, else those of the variables if `GRPC_SERVER_USE_TLS` is true.
    fn tls(&self, files: [Option<PathBuf>; 3], name: Option<String>) -> Result<Option<TlsFiles>, String> {
        let on = self.flag("GRPC_SERVER_USE_TLS")?.unwrap_or(false);
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

    fn http(&self, flag: Option<String>) -> Result<String, String> {
        self.address("--http", flag, ["HOST", "PORT"], "8080")
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

    /// Beyond 1, no hit is near a limit.
    fn near_limit_ratio(&self) -> Result<f32, String> {
        let Some(text) = self.text("NEAR_LIMIT_RATIO") else { return Ok(0.8) };
        let ratio = text.parse().ok().filter(|ratio: &f32| ratio.is_finite() && *ratio >= 0.0);
        ratio.ok_or_else(|| "NEAR_LIMIT_RATIO: expected a number of 0 or more".to_owned())
    }

    /// As for OpenTelemetry, less than 0 is 0 and more than 1 is 1.
    fn sampling_rate(&self) -> Result<f64, String> {
        let Some(text) = self.text("TRACING_SAMPLING_RATE") else { return Ok(1.0) };
        let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite());
        rate.map(|rate| rate.clamp(0.0, 1.0)).ok_or_else(|| "TRACING_SAMPLING_RATE: expected a number".to_owned())
    }

    /// What is traced; `None` if nothing is.
    fn traces(&self) -> Result<Option<TraceSettings>, String> {
        let settings = TraceSettings {
            protocol: match self.text("TRACING_EXPORTER_PROTOCOL").as_deref() {
                None | Some("http") => Protocol::Http,
                Some("grpc") => Protocol::Grpc,
                Some(_) => return Err("TRACING_EXPORTER_PROTOCOL: expected http or grpc".to_owned()),
            },
            sampling_rate: self.sampling_rate()?,
            service_name: ["TRACING_SERVICE_NAME", "OTEL_SERVICE_NAME"]
                .into_iter()
                .find_map(|name| self.text(name))
                .unwrap_or_else(|| "rlaas".to_owned()),
            service_namespace: self.text("TRACING_SERVICE_NAMESPACE"),
            service_instance_id: self.text("TRACING_SERVICE_INSTANCE_ID"),
        };
        Ok(self.flag("TRACING_ENABLED")?.unwrap_or(false).then_some(settings))
    }

    fn without_effect(&self, names: &[&str]) -> Vec<String> {
        names.iter().filter(|name| self.text(name).is_some()).map(|name| (*name).to_owned()).collect()
    }
}

fn log_level(text: Option<&str>) -> Result<tracing::Level, String> {
    Ok(match text.map(str::to_ascii_lowercase).as_deref() {
        None | Some("info") => tracing::Level::INFO,
        Some("panic" | "fatal" | "error") => tracing::Level::ERROR,
        Some("warn" | "warning") => tracing::Level::WARN,
        Some("debug" | "trace") => tracing::Level::DEBUG,
        Some(_) => return Err("--log-level or LOG_LEVEL: expected error, warn, info or debug".to_owned()),
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

/// `user:password`, or a password alone.
fn user_and_password(auth: &str) -> (String, String) {
    let (user, password) = auth.split_once(':').unwrap_or(("", auth));
    (user.to_owned(), password.to_owned())
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

/// A duration as Go's time.ParseDuration reads it: `15ms`, `1m30s`, `1.5h`; `0` has no unit.
fn go_duration(text: &str) -> Option<Duration> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut total) = (text, Duration::ZERO);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(end)?;
        // The sign for micro and the Greek letter are two characters.
        let micro = [("us", 1e-6), ("\u{b5}s", 1e-6), ("\u{3bc}s", 1e-6)];
        let units = [("ns", 1e-9), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3_600.0)];
        let (unit, seconds) = micro.into_iter().chain(units).find(|(unit, _)| {
            after.strip_prefix(unit).is_some_and(|next| !next.starts_with(|c: char| c.is_alphabetic()))
        })?;
        rest = after.strip_prefix(unit)?;
        let number: f64 = number.parse().ok()?;
        total = total.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Flags::default().settings(&variables)
    }

    #[test]
    fn durations_are_those_of_go() {
        for (text, expected) in [
            ("15ms", Some(Duration::from_millis(15))),
            ("1m30s", Some(Duration::from_secs(90))),
            ("1.5h", Some(Duration::from_secs(5_400))),
            ("10us", Some(Duration::from_micros(10))),
            ("10\u{b5}s", Some(Duration::from_micros(10))),
            ("10\u{3bc}s", Some(Duration::from_micros(10))),
            ("+1s", Some(Duration::from_secs(1))),
            ("+-1s", None),
            ("+", None),
            ("0", Some(Duration::ZERO)),
            ("", None),
            ("15", None),
            ("-1s", None),
            ("1x", None),
            ("1.2.3s", None),
        ] {
            assert_eq!(go_duration(text), expected, "{text}");
        }
    }

    #[test]
    fn without_a_setting_it_listens_on_this_machine_only() {
        let settings = settings(&[]).expect("the defaults");
        assert_eq!(settings.grpc, Address::Tcp("127.0.0.1:8081".to_owned()));
        assert_eq!((settings.redis.as_str(), settings.rules), ("redis://127.0.0.1:6379", vec![PathBuf::from("rules")]));
        assert_eq!((settings.http.as_str(), settings.debug), ("127.0.0.1:8080", None));
        assert_eq!((settings.service.timeout, settings.denials), (Duration::from_millis(15), 10_000));
        let (age, grace) = (Some(Duration::from_secs(86_400)), Some(Duration::from_secs(3_600)));
        assert_eq!(settings.connections, Ages { age, grace });
        assert!(settings.without_effect.is_empty() && settings.service.reply.headers.is_none());
    }

    #[test]
    fn the_variables_of_envoyproxy_ratelimit_mean_the_same() {
        let settings = settings(&[
            ("GRPC_HOST", "0.0.0.0"),
            ("GRPC_PORT", "9000"),
            ("PORT", "8888"),
            ("DEBUG_PORT", "6000"),
            ("PROMETHEUS_ADDR", ":9102"),
            ("RUNTIME_ROOT", "/data"),
            ("RUNTIME_SUBDIRECTORY", "ratelimit"),
            ("REDIS_SOCKET_TYPE", "tcp"),
            ("REDIS_URL", "redis:6379"),
            ("REDIS_AUTH", "secret"),
            ("CACHE_KEY_PREFIX", "p:"),
            ("LOG_LEVEL", "WARN"),
            ("LIMIT_RESPONSE_HEADERS_ENABLED", "T"),
            ("LIMIT_RESET_HEADER", "X-Reset"),
            ("SHADOW_MODE", "true"),
            ("USE_STATSD", "true"),
            ("LOCAL_CACHE_SIZE_IN_BYTES", "0"),
            ("GRPC_MAX_CONNECTION_AGE", "0"),
            ("GRPC_MAX_CONNECTION_AGE_GRACE", "90s"),
            ("TRACING_ENABLED", "true"),
            ("TRACING_EXPORTER_PROTOCOL", "grpc"),
            ("TRACING_SAMPLING_RATE", "0.1"),
            ("TRACING_SERVICE_NAME", "limits"),
        ])
        .expect("valid");
        assert_eq!(settings.grpc, Address::Tcp("0.0.0.0:9000".to_owned()));
        assert_eq!(settings.http, "127.0.0.1:8888");
        assert_eq!(settings.debug.as_deref(), Some("127.0.0.1:6000"));
        assert_eq!(settings.metrics, "0.0.0.0:9102");
        assert_eq!(settings.rules, [PathBuf::from("/data/ratelimit/config")]);
        assert_eq!((settings.redis.as_str(), settings.service.prefix.as_str()), ("redis://:secret@redis:6379", "p:"));
        let headers = settings.service.reply.headers.expect("enabled");
        assert_eq!((headers.limit.as_str(), headers.reset.as_str()), ("RateLimit-Limit", "X-Reset"));
        assert!(settings.service.reply.shadow && !settings.service.reply.quota);
        let traces = settings.traces.expect("enabled");
        assert_eq!((traces.protocol, traces.sampling_rate), (Protocol::Grpc, 0.1));
        assert_eq!((traces.service_name.as_str(), traces.service_namespace), ("limits", None));
        assert_eq!((settings.without_effect, settings.denials), (vec!["USE_STATSD".to_owned()], 0));
        assert_eq!(settings.connections, Ages { age: None, grace: Some(Duration::from_secs(90)) });
    }

    #[test]
    fn what_is_accepted_there_is_accepted_here() {
        let with = |name: &str, value: &str| settings(&[(name, value)]).unwrap_or_else(|error| panic!("{error}"));
        let rules = |sub: &str, app: &str| {
            let variables = [("RUNTIME_ROOT", "/data"), ("RUNTIME_SUBDIRECTORY", sub), ("RUNTIME_APPDIRECTORY", app)];
            settings(&variables).expect("valid").rules
        };
        assert_eq!(rules("/ratelimit", ""), [PathBuf::from("/data/ratelimit/config")]);
        assert_eq!(rules("", "/limits"), [PathBuf::from("/data/limits")]);
        for (format, json) in [("JSON", true), ("Json", true), ("text", false), ("TEXT", false), ("logfmt", false)] {
            assert_eq!(with("LOG_FORMAT", format).log_json, json, "{format}");
        }
        assert_eq!(with("PROMETHEUS_ADDR", "localhost:7952").metrics, "127.0.0.1:7952");
        assert_eq!(with("HOST", "rlaas.example").http, "rlaas.example:8080");
        assert_eq!(with("GRPC_HOST", "::1").grpc, Address::Tcp("[::1]:8081".to_owned()));
        assert_eq!(with("NEAR_LIMIT_RATIO", "1.5").service.near_limit_ratio, 1.5);
        assert_eq!(with("REDIS_TIMEOUT", "+1s").service.timeout, Duration::from_secs(1));
        for (rate, expected) in [("2", 1.0), ("-1", 0.0), ("0.5", 0.5)] {
            let settings = settings(&[("TRACING_ENABLED", "1"), ("TRACING_SAMPLING_RATE", rate)]).expect("valid");
            assert_eq!(settings.traces.expect("enabled").sampling_rate, expected);
        }
        assert!(with("CONFIG_TYPE", "FILE").without_effect.is_empty());
        assert!(with("BACKEND_TYPE", "redis").without_effect.is_empty());
        let settings = with("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", "true");
        assert!(settings.service.ready_needs_domain && settings.without_effect.is_empty());
        let cluster = |url| with("REDIS_URL", url).service.cluster;
        assert!(cluster("valkeys-cluster://a,b") && cluster("redis-cluster://a") && !cluster("redis://a"));
    }

    #[test]
    fn a_flag_wins_over_a_variable() {
        let flags = Flags {
            http: Some("127.0.0.1:1".to_owned()),
            grpc: Some("127.0.0.1:2".to_owned()),
            metrics: Some("127.0.0.1:3".to_owned()),
            debug: Some("127.0.0.1:4".to_owned()),
            redis: Some("redis://flag".to_owned()),
            rules: vec!["flag".into()],
            timeout: Some("1ms".to_owned()),
            prefix: Some("flag".to_owned()),
            denials: Some(5),
            recheck_denials: Some("2s".to_owned()),
            log_level: Some("error".to_owned()),
            log_format: Some("text".to_owned()),
            ..Flags::default()
        };
        let variables = [
            ("PORT", "9"),
            ("GRPC_PORT", "9"),
            ("GRPC_UDS", "/run/variable"),
            ("PROMETHEUS_ADDR", ":9"),
            ("DEBUG_PORT", "9"),
            ("REDIS_URL", "variable:9"),
            ("RUNTIME_ROOT", "/variable"),
            ("REDIS_TIMEOUT", "9s"),
            ("CACHE_KEY_PREFIX", "variable"),
            ("LOCAL_CACHE_SIZE_IN_BYTES", "0"),
            ("LOG_LEVEL", "debug"),
            ("LOG_FORMAT", "json"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = flags.settings(&variables.into()).expect("valid");
        let address = |port: u16| format!("127.0.0.1:{port}");
        assert_eq!((settings.http, settings.metrics, settings.debug), (address(1), address(3), Some(address(4))));
        assert_eq!((settings.grpc, settings.redis.as_str()), (Address::Tcp(address(2)), "redis://flag"));
        assert_eq!(settings.rules, [PathBuf::from("flag")]);
        assert_eq!((settings.service.timeout, settings.service.prefix.as_str()), (Duration::from_millis(1), "flag"));
        assert_eq!(settings.recheck_denials, Duration::from_secs(2));
        assert_eq!((settings.denials, settings.log_level, settings.log_json), (5, tracing::Level::ERROR, false));
        assert_eq!(settings.without_effect, ["REDIS_URL"]);
    }

    #[test]
    fn every_flag_has_a_variable() {
        let command = Flags::augment_args(clap::Command::new("serve"));
        for flag in command.get_arguments() {
            let name = flag.get_id().as_str().to_ascii_uppercase();
            assert_eq!(flag.get_env().and_then(|name| name.to_str()), Some(format!("RLAAS_{name}").as_str()));
        }
    }

    #[test]
    fn every_type_of_redis_has_its_url() {
        let url = |variables: &[(&str, &str)]| settings(variables).map(|settings| settings.redis).expect("valid");
        assert_eq!(url(&[("REDIS_TLS", "1"), ("REDIS_URL", "a:1")]), "rediss://a:1");
        assert_eq!(
            url(&[("REDIS_TYPE", "CLUSTER"), ("REDIS_URL", "a:1,b:2"), ("REDIS_AUTH", "me:p@ss")]),
            "redis-cluster://me:p%40ss@a:1,b:2"
        );
        assert_eq!(
            url(&[("REDIS_TYPE", "sentinel"), ("REDIS_URL", "main,a:1,b:2"), ("REDIS_SENTINEL_AUTH", "x")]),
            "redis-sentinel://a:1,b:2/main?sentinel_password=x"
        );
        let unix = [("REDIS_SOCKET_TYPE", "unix"), ("REDIS_URL", "/run/redis.sock"), ("REDIS_AUTH", "x")];
        assert_eq!(url(&unix), "unix:///run/redis.sock?pass=x");
        let certificates = [("REDIS_TLS", "t"), ("REDIS_URL", "a:1"), ("REDIS_TLS_CACERT", "/ca.pem")];
        assert_eq!(url(&certificates), "rediss://a:1?ca=/ca.pem");
    }

    #[test]
    fn a_url_has_what_the_other_variables_say() {
        let tls = ("REDIS_TLS", "true");
        let auth = ("REDIS_AUTH", "me:p@ss");
        for (url, more, expected) in [
            ("redis://a:1", &[tls][..], Ok("rediss://a:1")),
            ("redis://a:1/2", &[auth], Ok("redis://me:p%40ss@a:1/2")),
            ("redis://a:1", &[tls, auth], Ok("rediss://me:p%40ss@a:1")),
            ("rediss://a:1", &[tls], Ok("rediss://a:1")),
            ("valkey-cluster://a:1,b:2", &[tls, ("REDIS_TYPE", "cluster")], Ok("valkeys-cluster://a:1,b:2")),
            ("redis://me@a:1", &[("REDIS_AUTH", "x")], Ok("redis://me:x@a:1")),
            ("redis://me:p%40ss@a:1", &[auth], Ok("redis://me:p%40ss@a:1")),
            ("unix:///run/s", &[auth], Ok("unix:///run/s?user=me&pass=p%40ss")),
            (
                "redis-sentinel://a/main?protocol=3",
                &[tls, ("REDIS_SENTINEL_AUTH", "x"), ("REDIS_TLS_CACERT", "/ca")],
                Ok("rediss-sentinel://a/main?protocol=3&ca=/ca&sentinel_password=x"),
            ),
            ("rediss://a:1?ca=/ca", &[("REDIS_TLS_CACERT", "/ca")], Ok("rediss://a:1?ca=/ca")),
            ("redis://a:1", &[("REDIS_TLS_CACERT", "/ca")], Ok("redis://a:1")),
            ("redis://me:other@a:1", &[auth], Err("REDIS_AUTH")),
            ("redis://you@a:1", &[auth], Err("REDIS_AUTH")),
            ("unix:///run/s?pass=other", &[auth], Err("REDIS_AUTH")),
            ("unix:///run/s", &[tls], Err("REDIS_TLS")),
            ("rediss://a:1?ca=/other", &[("REDIS_TLS_CACERT", "/ca")], Err("REDIS_TLS_CACERT")),
            ("redis://a:1", &[("REDIS_TYPE", "CLUSTER")], Err("REDIS_TYPE")),
            ("redis://a:1", &[("REDIS_SOCKET_TYPE", "unix")], Err("REDIS_SOCKET_TYPE")),
        ] {
            match (settings(&[&[("REDIS_URL", url)], more].concat()), expected) {
                (Ok(settings), expected) => assert_eq!(Ok(settings.redis.as_str()), expected),
                (Err(error), Err(name)) => assert!(error.contains(name) && !error.contains("p@ss"), "{error}"),
                (Err(error), Ok(_)) => panic!("{url}: {error}"),
            }
        }
    }

    #[test]
    fn a_password_by_itself_becomes_part_of_the_url() {
        for (url, expected) in [
            ("redis://a:1", Ok("redis://:p%40s@a:1")),
            ("redis://me@a:1/2?protocol=3", Ok("redis://me:p%40s@a:1/2?protocol=3")),
            ("redis-sentinel://me@a,b/main", Ok("redis-sentinel://me:p%40s@a,b/main")),
            ("unix:///run/redis.sock", Ok("unix:///run/redis.sock?pass=p%40s")),
            ("unix:///run/redis.sock?user=me", Ok("unix:///run/redis.sock?user=me&pass=p%40s")),
            ("redis://me:p%40s@a:1?protocol=3", Ok("redis://me:p%40s@a:1?protocol=3")),
            ("redis://a:1?protocol=3", Ok("redis://:p%40s@a:1?protocol=3")),
            ("redis://me:x@a:1", Err("twice")),
            ("unix:///run/redis.sock?pass=x", Err("twice")),
        ] {
            match (with_login(url, "", "p@s"), expected) {
                (Ok(url), expected) => assert_eq!(Ok(url.as_str()), expected),
                (Err(error), Err(part)) => assert!(error.contains(part) && !error.contains('@'), "{error}"),
                (Err(error), Ok(_)) => panic!("{url}: {error}"),
            }
        }
        let variables = [("REDIS_URL", "a:1"), ("RLAAS_REDIS_PASSWORD", "x")];
        assert_eq!(settings(&variables).expect("valid").redis, "redis://:x@a:1");
    }

    #[test]
    fn tls_needs_a_certificate_and_a_name_needs_an_authority() {
        let files = [("GRPC_SERVER_TLS_CERT", "c"), ("GRPC_SERVER_TLS_KEY", "k"), ("GRPC_CLIENT_TLS_CACERT", "a")];
        assert_eq!(settings(&files).expect("valid").tls, None);
        let with = |more: &[(&'static str, &'static str)]| settings(&[&files[..], more].concat());
        let [cert, key, client_ca] = ["c", "k", "a"].map(PathBuf::from);
        let all = TlsFiles { cert, key, client_ca: Some(client_ca), client_name: Some("n".to_owned()) };
        let on = [("GRPC_SERVER_USE_TLS", "1"), ("GRPC_CLIENT_TLS_SAN", "n")];
        assert_eq!(with(&on).expect("valid").tls, Some(all));
        assert!(with(&[on[0], ("GRPC_UDS", "/run/s")]).is_err());
        assert!(settings(&on).is_err());
        assert!(settings(&[on[0], files[0]]).is_err());
    }

    #[test]
    fn what_would_mean_no_limits_ends_the_start() {
        for (name, value) in [
            ("CONFIG_TYPE", "GRPC_XDS_SOTW"),
            ("CONFIG_TYPE", "XDS"),
            ("BACKEND_TYPE", "memcache"),
            ("BACKEND_TYPE", "redi"),
            ("REDIS_PERSECOND", "true"),
            ("REDIS_TLS", "yes"),
            ("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION", "true"),
            ("SHADOW_MODE", "yes"),
            ("GRPC_PORT", "http"),
            ("LOG_LEVEL", "loud"),
            ("REDIS_TIMEOUT", "15"),
            ("REDIS_TIMEOUT", "0s"),
            ("NEAR_LIMIT_RATIO", "-1"),
            ("NEAR_LIMIT_RATIO", "much"),
            ("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", "yes"),
            ("HOST", "a b"),
            ("PORT", "65536"),
            ("PROMETHEUS_ADDR", "metrics"),
            ("PROMETHEUS_PATH", "metrics"),
            ("GRPC_SERVER_USE_TLS", "true"),
            ("TRACING_ENABLED", "on"),
            ("TRACING_EXPORTER_PROTOCOL", "udp"),
            ("TRACING_SAMPLING_RATE", "all"),
        ] {
            let error = settings(&[(name, value)]).expect_err(name);
            assert!(error.contains(name), "{error}");
        }
    }
}
