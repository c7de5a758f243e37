//! The URL of Redis: of variables, and with a password that is elsewhere.

use std::fs;
use std::path::PathBuf;

use crate::env::Env;

/// The variables with the certificates for Redis, and the parameters of the URL for them.
const CERTIFICATES: [(&str, &str); 3] =
    [("REDIS_TLS_CACERT", "ca"), ("REDIS_TLS_CLIENT_CERT", "cert"), ("REDIS_TLS_CLIENT_KEY", "key")];

/// Variables that have no effect if `--redis` is given: its URL says the same.
pub const OF_REDIS_URL: [&str; 9] = [
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

impl Env<'_> {
    /// The URL of Redis: that in `REDIS_URL`, or the one of its address, with what the other variables say.
    pub fn redis(&self) -> Result<String, String> {
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

    /// A password that is not part of the URL.
    pub fn redis_password(&self, file: Option<PathBuf>) -> Result<Option<String>, String> {
        let Some(path) = file else { return Ok(self.text("RLAAS_REDIS_PASSWORD")) };
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned())),
            Err(error) => Err(format!("--redis-password-file: {}: {error}", path.display())),
        }
    }
}

/// A URL with this password, of this user if there is one. The URL may have the same ones already.
pub fn with_login(url: &str, user: &str, password: &str) -> Result<String, String> {
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
