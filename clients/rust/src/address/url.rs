//! The parts of a URL.

use redis::{ConnectionInfo, IntoConnectionInfo};
use url::Url;

use super::{Kind, Sentinels, Trust};
use crate::error::Error;

const SCHEMES: &str = "expected redis://, rediss://, unix://, redis-cluster:// or redis-sentinel://";
const PARAMETERS: [&str; 9] =
    ["protocol", "ca", "cert", "key", "sentinel_username", "sentinel_password", "db", "user", "pass"];

/// A URL, of which the crate `redis` knows only those of one server.
struct Parts<'a> {
    tls: bool,
    /// `user:password@`, or nothing.
    user: &'a str,
    hosts: Vec<&'a str>,
    path: &'a str,
    parameters: Vec<(String, String)>,
    trust: Trust,
}

/// What is wrong, without the URL: it may hold a password.
fn invalid(what: impl ToString) -> Error {
    Error::InvalidUrl(what.to_string())
}

pub fn parse(text: &str) -> Result<(Kind, Trust), Error> {
    let (scheme, rest) = text.split_once("://").ok_or_else(|| invalid(SCHEMES))?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let parameters: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    if let Some((name, _)) = parameters.iter().find(|(name, _)| !PARAMETERS.contains(&name.as_str())) {
        let known = PARAMETERS.join(", ");
        // A name of a parameter is no secret, but this one may be a part of a password with a question mark.
        return Err(invalid(format!("a parameter of {} characters is unknown; expected {known}", name.len())));
    }
    if matches!(scheme, "unix" | "redis+unix" | "valkey+unix") {
        return Ok((Kind::Server(Box::new(open(text)?)), Trust::default()));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, hosts) = authority.rsplit_once('@').map_or(("", authority), |(user, hosts)| (user, hosts));
    let hosts: Vec<_> = hosts.split(',').collect();
    let (kind, tls) = match scheme.split_once('-').unwrap_or((scheme, "")) {
        ("redis" | "valkey", kind) => (kind, false),
        ("rediss" | "valkeys", kind) => (kind, true),
        _ => return Err(invalid(SCHEMES)),
    };
    let trust = trust(tls, |name| find(&parameters, name))?;
    let parts = Parts { tls, user, hosts, path, parameters, trust };
    let kind = match (kind, scheme.contains('-')) {
        ("", false) => parts.server(),
        ("cluster", _) => parts.cluster(),
        ("sentinel", _) => parts.sentinel(),
        _ => Err(invalid(SCHEMES)),
    };
    Ok((kind?, parts.trust))
}

fn find<'p>(parameters: &'p [(String, String)], name: &str) -> Option<&'p str> {
    parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn open(url: impl IntoConnectionInfo) -> Result<ConnectionInfo, Error> {
    url.into_connection_info().map_err(invalid)
}

impl Parts<'_> {
    fn server(&self) -> Result<Kind, Error> {
        let [host] = self.hosts.as_slice() else {
            return Err(invalid("several hosts; expected redis-cluster:// or redis-sentinel:// for them"));
        };
        Ok(Kind::Server(Box::new(self.info(host, self.user, self.path)?)))
    }

    fn cluster(&self) -> Result<Kind, Error> {
        if !self.path.trim_matches('/').is_empty() {
            return Err(invalid("a cluster has no databases; expected nothing after the hosts"));
        }
        let nodes = self.hosts.iter().map(|host| self.info(host, self.user, ""));
        Ok(Kind::Cluster(nodes.collect::<Result<_, _>>()?))
    }

    fn sentinel(&self) -> Result<Kind, Error> {
        let (name, db) = self.path.split_once('/').unwrap_or((self.path, ""));
        if name.is_empty() {
            return Err(invalid("expected the name of the master after the hosts: redis-sentinel://host/name"));
        }
        let first = self.hosts.first().copied().unwrap_or_default();
        let master = self.info(first, self.user, db)?;
        let sentinels = self.hosts.iter().map(|host| {
            // The port is 26379 if not given. An IPv6 address has brackets.
            let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'));
            let host = if has_port { (*host).to_owned() } else { format!("{host}:26379") };
            let mut url = self.url(&host, "", "")?;
            let set = |ok: Result<(), ()>| ok.map_err(|()| invalid("a Sentinel cannot have this user"));
            set(url.set_username(self.parameter("sentinel_username").unwrap_or_default()))?;
            set(url.set_password(self.parameter("sentinel_password")))?;
            open(url)
        });
        let sentinels = sentinels.collect::<Result<Vec<_>, Error>>()?;
        Ok(Kind::Sentinel(Box::new(Sentinels { sentinels, name: name.to_owned(), master })))
    }

    /// The settings of one server.
    fn info(&self, host: &str, user: &str, path: &str) -> Result<ConnectionInfo, Error> {
        open(self.url(host, user, path)?)
    }

    fn url(&self, host: &str, user: &str, path: &str) -> Result<Url, Error> {
        let scheme = if self.tls { "rediss" } else { "redis" };
        let at = if user.is_empty() { "" } else { "@" };
        let text = format!("{scheme}://{user}{at}{host}/{path}");
        let mut url = Url::parse(&text).map_err(invalid)?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(invalid("expected a host"));
        }
        if let Some(protocol) = self.parameter("protocol") {
            url.query_pairs_mut().append_pair("protocol", protocol);
        }
        Ok(url)
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        find(&self.parameters, name)
    }
}

#[cfg(not(feature = "tls"))]
fn trust<'p>(tls: bool, _: impl Fn(&str) -> Option<&'p str>) -> Result<Trust, Error> {
    if tls { Err(invalid("TLS needs the feature tls of this crate")) } else { Ok(Trust()) }
}

/// The certificates of the parameters.
#[cfg(feature = "tls")]
fn trust<'p>(tls: bool, parameter: impl Fn(&str) -> Option<&'p str>) -> Result<Trust, Error> {
    let read = |name: &str| match parameter(name) {
        Some(_) if !tls => Err(invalid(format!("{name} is only for rediss://, with TLS"))),
        Some(path) => std::fs::read(path).map(Some).map_err(|error| invalid(format!("the file of {name}: {error}"))),
        None => Ok(None),
    };
    let root_cert = read("ca")?;
    let client_tls = match (read("cert")?, read("key")?) {
        (Some(client_cert), Some(client_key)) => Some(redis::ClientTlsConfig { client_cert, client_key }),
        (None, None) => None,
        _ => return Err(invalid("expected both cert and key, or none of them")),
    };
    let certificates = tls.then_some(redis::TlsCertificates { client_tls, root_cert });
    Ok(Trust { certificates, ..Trust::default() })
}

#[cfg(test)]
mod tests {
    use redis::ConnectionAddr;

    use super::*;

    fn server(url: &str) -> ConnectionInfo {
        match parse(url).expect(url).0 {
            Kind::Server(info) => *info,
            other => panic!("{url}: {other:?}"),
        }
    }

    #[test]
    fn each_form_is_understood() {
        let info = server("redis://user:p%40ss@example.org:7000/3?protocol=resp3");
        assert_eq!(info.addr(), &ConnectionAddr::Tcp("example.org".into(), 7000));
        let settings = info.redis_settings();
        assert_eq!((settings.db(), settings.username(), settings.password()), (3, Some("user"), Some("p@ss")));
        assert_eq!(server("valkey://[::1]").addr(), &ConnectionAddr::Tcp("::1".into(), 6379));
        assert_eq!(server("unix:///run/redis?db=2").addr(), &ConnectionAddr::Unix("/run/redis".into()));

        let url = "redis-sentinel://:secret@a,b:7000,[::1]/main/4?sentinel_username=u&sentinel_password=p";
        let (Kind::Sentinel(sentinels), _) = parse(url).expect(url) else { panic!("{url}") };
        let addresses: Vec<_> = sentinels.sentinels.iter().map(|info| info.addr().to_string()).collect();
        assert_eq!(
            (sentinels.name.as_str(), addresses),
            ("main", vec!["a:26379".into(), "b:7000".into(), "::1:26379".to_owned()])
        );
        let user = sentinels.sentinels[1].redis_settings();
        assert_eq!((user.username(), user.password()), (Some("u"), Some("p")));
        let master = sentinels.master.redis_settings();
        assert_eq!((master.db(), master.password()), (4, Some("secret")));
        assert!(matches!(parse("redis-cluster://a:1,b:2,[::1]:3/?protocol=2"), Ok((Kind::Cluster(_), _))));
    }

    #[test]
    fn an_error_says_what_is_expected_and_shows_no_password() {
        for (url, expected) in [
            ("localhost", SCHEMES),
            ("http://localhost", SCHEMES),
            ("redis://", "host"),
            ("redis://a,b", "redis-cluster://"),
            ("redis://:secret@a/x", "database"),
            ("redis://:secret@a:99999", "port"),
            ("redis://a?timeout=1", "expected protocol, ca"),
            ("redis://a?protocol=4", "protocol"),
            ("redis-sentinel://:secret@a", "name of the master"),
            ("redis-cluster://a/1", "databases"),
            ("redis://a?ca=/nowhere", "TLS"),
            ("rediss://a?ca=/nowhere", "the file of ca"),
            ("rediss://a?cert=/dev/null", "both cert and key"),
        ] {
            let error = parse(url).expect_err(url).to_string();
            assert!(error.starts_with("invalid URL: ") && error.contains(expected), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
