//! The settings of `rlaas serve`: flags, else variables, else those of envoyproxy/ratelimit, else defaults.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv6Addr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use super::connections::Ages;
use super::tls::TlsFiles;
use super::traces::{Protocol, TraceSettings};
use crate::go;
use crate::service::{HeaderNames, ReplySettings, ServiceSettings};

/// The flags. Each has a variable, which counts if the flag is not given.
#[derive(Clone, Debug, Args)]
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

/// The variables of envoyproxy/ratelimit, and what each does here: the table of `docs/variables.md`.
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
        env.must_be("CONFIG_TYPE", "FILE", "rules are read from files only")?;
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
        let level = self.log_level.or_else(|| env.text("LOG_LEVEL"));
        let files = [self.tls_cert, self.tls_key, self.tls_client_ca];
        let tls = env.tls(files, self.tls_client_name)?;
        let grpc = env.grpc(self.grpc)?;
        if let (Address::Unix(_), Some(_)) = (&grpc, &tls) {
            return Err("a certificate is for an address, not for a Unix socket".to_owned());
        }
        let of_url = OF_REDIS_URL.into_iter().filter(|_| self.redis.is_some());
        let without_effect =
            no_effect().chain(of_url).filter(|name| env.text(name).is_some()).map(str::to_owned).collect();
        let mut redis = self.redis.map_or_else(|| env.redis(), Ok)?;
        if let Some(password) = env.redis_password(self.redis_password_file)? {
            redis = with_login(&redis, "", &password)?;
        }
        Ok(Settings {
            rules: if self.rules.is_empty() { env.rules() } else { self.rules },
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

    /// A variable in the form that `parse` reads.
    fn value<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
        self.text(name).map(|text| parse(&text)).transpose().map_err(|error| format!("{name}: {error}"))
    }

    /// False if it is not set.
    fn flag(&self, name: &str) -> Result<bool, String> {
        Ok(self.value(name, go::boolean)?.unwrap_or(false))
    }

    fn duration(&self, name: &str) -> Result<Option<Duration>, String> {
        self.value(name, go::duration)
    }

    fn number<T: FromStr + PartialOrd>(
        &self,
        name: &str,
        range: RangeInclusive<T>,
        expected: &str,
    ) -> Result<Option<T>, String> {
        let parse = |text: &str| text.parse().ok().filter(|number| range.contains(number));
        self.value(name, |text| parse(text).ok_or_else(|| format!("expected {expected}")))
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

    fn flags(words: &[&str]) -> Flags {
        let command = Flags::augment_args(Command::new("serve").no_binary_name(true));
        Flags::from_arg_matches(&command.get_matches_from(words)).expect("flags")
    }

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        flags(&[]).settings(&variables)
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
        let flags = flags(&[
            "--http=127.0.0.1:1",
            "--grpc=127.0.0.1:2",
            "--metrics=127.0.0.1:3",
            "--debug=127.0.0.1:4",
            "--redis=redis://flag",
            "--rules=flag",
            "--timeout=1ms",
            "--prefix=flag",
            "--denials=5",
            "--recheck-denials=2s",
            "--log-level=error",
            "--log-format=text",
        ]);
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
        let command = Flags::augment_args(Command::new("serve"));
        for flag in command.get_arguments() {
            let name = flag.get_id().as_str().to_ascii_uppercase();
            assert_eq!(flag.get_env().and_then(|name| name.to_str()), Some(format!("RLAAS_{name}").as_str()));
        }
    }

    /// Variables, and the URL of Redis that they make; or what the error says.
    const URLS: &str = "
REDIS_TLS=1 REDIS_URL=a:1 -> rediss://a:1
REDIS_TYPE=CLUSTER REDIS_URL=a:1,b:2 REDIS_AUTH=me:p@ss -> redis-cluster://me:p%40ss@a:1,b:2
REDIS_TYPE=sentinel REDIS_URL=main,a:1,b:2 REDIS_SENTINEL_AUTH=x -> redis-sentinel://a:1,b:2/main?sentinel_password=x
REDIS_SOCKET_TYPE=unix REDIS_URL=/run/redis.sock REDIS_AUTH=x -> unix:///run/redis.sock?pass=x
REDIS_TLS=t REDIS_URL=a:1 REDIS_TLS_CACERT=/ca.pem -> rediss://a:1?ca=/ca.pem
REDIS_URL=redis://a:1 REDIS_TLS=true -> rediss://a:1
REDIS_URL=redis://a:1/2 REDIS_AUTH=me:p@ss -> redis://me:p%40ss@a:1/2
REDIS_URL=redis://a:1 REDIS_TLS=true REDIS_AUTH=me:p@ss -> rediss://me:p%40ss@a:1
REDIS_URL=rediss://a:1 REDIS_TLS=true -> rediss://a:1
REDIS_URL=valkey-cluster://a:1,b:2 REDIS_TLS=true REDIS_TYPE=cluster -> valkeys-cluster://a:1,b:2
REDIS_URL=redis://me@a:1 REDIS_AUTH=x -> redis://me:x@a:1
REDIS_URL=redis://me:p%40ss@a:1 REDIS_AUTH=me:p@ss -> redis://me:p%40ss@a:1
REDIS_URL=unix:///run/s REDIS_AUTH=me:p@ss -> unix:///run/s?user=me&pass=p%40ss
REDIS_URL=redis-sentinel://a/main?protocol=3 REDIS_TLS=true REDIS_SENTINEL_AUTH=x REDIS_TLS_CACERT=/ca \
  -> rediss-sentinel://a/main?protocol=3&ca=/ca&sentinel_password=x
REDIS_URL=rediss://a:1?ca=/ca REDIS_TLS_CACERT=/ca -> rediss://a:1?ca=/ca
REDIS_URL=redis://a:1 REDIS_TLS_CACERT=/ca -> redis://a:1
REDIS_URL=redis://me:other@a:1 REDIS_AUTH=me:p@ss -> error REDIS_AUTH
REDIS_URL=redis://you@a:1 REDIS_AUTH=me:p@ss -> error REDIS_AUTH
REDIS_URL=unix:///run/s?pass=other REDIS_AUTH=me:p@ss -> error REDIS_AUTH
REDIS_URL=unix:///run/s REDIS_TLS=true -> error REDIS_TLS
REDIS_URL=rediss://a:1?ca=/other REDIS_TLS_CACERT=/ca -> error REDIS_TLS_CACERT
REDIS_URL=redis://a:1 REDIS_TYPE=CLUSTER -> error REDIS_TYPE
REDIS_URL=redis://a:1 REDIS_SOCKET_TYPE=unix -> error REDIS_SOCKET_TYPE
REDIS_URL=a:1 RLAAS_REDIS_PASSWORD=p@s -> redis://:p%40s@a:1
REDIS_URL=redis://me@a:1/2?protocol=3 RLAAS_REDIS_PASSWORD=p@s -> redis://me:p%40s@a:1/2?protocol=3
REDIS_URL=redis-sentinel://me@a,b/main RLAAS_REDIS_PASSWORD=p@s -> redis-sentinel://me:p%40s@a,b/main
REDIS_URL=unix:///run/s?user=me RLAAS_REDIS_PASSWORD=p@s -> unix:///run/s?user=me&pass=p%40s
REDIS_URL=redis://me:p%40s@a:1?protocol=3 RLAAS_REDIS_PASSWORD=p@s -> redis://me:p%40s@a:1?protocol=3
REDIS_URL=redis://a:1?protocol=3 RLAAS_REDIS_PASSWORD=p@s -> redis://:p%40s@a:1?protocol=3
REDIS_URL=redis://me:x@a:1 RLAAS_REDIS_PASSWORD=p@s -> error twice
REDIS_URL=unix:///run/s?pass=x RLAAS_REDIS_PASSWORD=p@s -> error twice
";

    #[test]
    fn a_url_has_what_the_other_variables_say() {
        for line in URLS.trim().lines() {
            let (variables, expected) = line.split_once(" -> ").expect(line);
            let variables: Vec<_> = variables.split(' ').map(|pair| pair.split_once('=').expect(line)).collect();
            match (settings(&variables), expected.strip_prefix("error ")) {
                (Ok(settings), None) => assert_eq!(settings.redis, expected, "{line}"),
                (Err(error), Some(part)) => assert!(error.contains(part) && !error.contains('@'), "{error}"),
                (result, _) => panic!("{line}: {:?}", result.map(|settings| settings.redis)),
            }
        }
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
        let wrong = "CONFIG_TYPE=GRPC_XDS_SOTW CONFIG_TYPE=XDS BACKEND_TYPE=memcache BACKEND_TYPE=redi \
                     REDIS_PERSECOND=true REDIS_TLS=yes REDIS_TLS_SKIP_HOSTNAME_VERIFICATION=true SHADOW_MODE=yes \
                     GRPC_PORT=http LOG_LEVEL=loud REDIS_TIMEOUT=15 REDIS_TIMEOUT=0s NEAR_LIMIT_RATIO=-1 \
                     NEAR_LIMIT_RATIO=much HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED=yes HOST=a/b PORT=65536 \
                     PROMETHEUS_ADDR=metrics PROMETHEUS_PATH=metrics GRPC_SERVER_USE_TLS=true TRACING_ENABLED=on \
                     TRACING_EXPORTER_PROTOCOL=udp TRACING_SAMPLING_RATE=all";
        for (name, value) in wrong.split(' ').filter_map(|pair| pair.split_once('=')) {
            let error = settings(&[(name, value)]).expect_err(name);
            assert!(error.contains(name), "{error}");
        }
    }
}
