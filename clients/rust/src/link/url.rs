//! Reads a URL, of which the crate `redis` knows only those of one server.

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo};
use url::Url;

use super::cluster::Node;
use super::open::{Place, Sentinels, Tls};
use crate::error::Error;

const SCHEMES: &str = "expected redis://, rediss://, unix://, redis-cluster:// or redis-sentinel://";
const PARAMETERS: [&str; 8] = ["ca", "cert", "key", "sentinel_username", "sentinel_password", "db", "user", "pass"];

#[derive(Clone, Debug)]
pub struct Target {
    pub place: Place,
    /// Of a cluster, some of its nodes.
    pub nodes: Option<Vec<Node>>,
}

/// What is wrong, without the URL: it may hold a password.
fn invalid(what: impl ToString) -> Error {
    Error::InvalidUrl(what.to_string())
}

pub fn parse(text: &str) -> Result<Target, Error> {
    let (scheme, rest) = text.split_once("://").ok_or_else(|| invalid(SCHEMES))?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let parameters: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    if let Some((name, _)) = parameters.iter().find(|(name, _)| !PARAMETERS.contains(&name.as_str())) {
        let known = PARAMETERS.join(", ");
        // A name of a parameter is no secret, but this one may be a part of a password with a question mark.
        return Err(invalid(format!("a parameter of {} characters is unknown; expected {known}", name.len())));
    }
    if matches!(scheme, "unix" | "redis+unix" | "valkey+unix") {
        let place = Place { info: open(text)?, sentinels: None, tls: Default::default() };
        return Ok(Target { place, nodes: None });
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, hosts) = authority.rsplit_once('@').map_or(("", authority), |(user, hosts)| (user, hosts));
    let hosts: Vec<_> = hosts.split(',').collect();
    let (server, kind) = scheme.split_once('-').map_or((scheme, None), |(server, kind)| (server, Some(kind)));
    let has_tls = match server {
        "redis" | "valkey" => false,
        "rediss" | "valkeys" => true,
        _ => return Err(invalid(SCHEMES)),
    };
    let tls = tls(has_tls, |name| find(&parameters, name))?;
    let info = |host: &str, path: &str| open(of_server(user, host, path)?);
    match (kind, hosts.as_slice()) {
        (None, [host]) => Ok(Target { place: Place { info: info(host, path)?, sentinels: None, tls }, nodes: None }),
        (None, _) => Err(invalid("several hosts; expected redis-cluster:// or redis-sentinel:// for them")),
        (Some("cluster"), _) if !path.trim_matches('/').is_empty() => {
            Err(invalid("a cluster has no databases; expected nothing after the hosts"))
        }
        (Some("cluster"), [first, ..]) => {
            let node = |host: &&str| match info(host, "")?.addr() {
                ConnectionAddr::Tcp(host, port) => Ok((host.clone(), *port)),
                _ => Err(invalid("expected a host")),
            };
            let nodes = Some(hosts.iter().map(node).collect::<Result<_, _>>()?);
            Ok(Target { place: Place { info: info(first, "")?, sentinels: None, tls }, nodes })
        }
        (Some("sentinel"), [first, ..]) => {
            let (name, db) = path.split_once('/').unwrap_or((path, ""));
            if name.is_empty() {
                return Err(invalid("expected the name of the master after the hosts: redis-sentinel://host/name"));
            }
            let info = info(first, db)?;
            let all = hosts.iter().map(|host| sentinel(host, &parameters)).collect::<Result<_, _>>()?;
            let sentinels = Some(Sentinels { all, name: name.to_owned() });
            Ok(Target { place: Place { info, sentinels, tls }, nodes: None })
        }
        _ => Err(invalid(SCHEMES)),
    }
}

fn find<'p>(parameters: &'p [(String, String)], name: &str) -> Option<&'p str> {
    parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn open(url: impl IntoConnectionInfo) -> Result<ConnectionInfo, Error> {
    url.into_connection_info().map_err(invalid)
}

fn sentinel(host: &str, parameters: &[(String, String)]) -> Result<ConnectionInfo, Error> {
    // The port is 26379 if not given. An IPv6 address has brackets.
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'));
    let mut url = of_server("", &if has_port { host.to_owned() } else { format!("{host}:26379") }, "")?;
    let set = |ok: Result<(), ()>| ok.map_err(|()| invalid("a Sentinel cannot have this user"));
    set(url.set_username(find(parameters, "sentinel_username").unwrap_or_default()))?;
    set(url.set_password(find(parameters, "sentinel_password")))?;
    open(url)
}

/// The URL of one server, with `user:password` or nothing. Without TLS, which is not that of the crate `redis`.
fn of_server(user: &str, host: &str, path: &str) -> Result<Url, Error> {
    let at = if user.is_empty() { "" } else { "@" };
    let url = Url::parse(&format!("redis://{user}{at}{host}/{path}")).map_err(invalid)?;
    if url.host_str().is_none_or(str::is_empty) { Err(invalid("expected a host")) } else { Ok(url) }
}

#[cfg(not(feature = "tls"))]
fn tls<'p>(has_tls: bool, _: impl Fn(&str) -> Option<&'p str>) -> Result<Tls, Error> {
    if has_tls { Err(invalid("TLS needs the feature tls of this crate")) } else { Ok(Tls) }
}

/// The settings of TLS, with the certificates of the parameters, or those that the system trusts.
#[cfg(feature = "tls")]
fn tls<'p>(has_tls: bool, parameter: impl Fn(&str) -> Option<&'p str>) -> Result<Tls, Error> {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};

    fn wrong(what: &str, error: impl std::fmt::Display) -> Error {
        invalid(format!("{what}: {error}"))
    }
    let read = |name: &str| match parameter(name) {
        Some(_) if !has_tls => Err(invalid(format!("{name} is only for rediss://, with TLS"))),
        Some(path) => std::fs::read(path).map(Some).map_err(|error| wrong(&format!("the file of {name}"), error)),
        None => Ok(None),
    };
    let ca = read("ca")?;
    let client = match (read("cert")?, read("key")?) {
        (Some(certificates), Some(key)) => {
            let chain = CertificateDer::pem_slice_iter(&certificates).collect::<Result<_, _>>();
            let chain = chain.map_err(|error| wrong("cert", error))?;
            Some((chain, PrivateKeyDer::from_pem_slice(&key).map_err(|error| wrong("key", error))?))
        }
        (None, None) => None,
        _ => return Err(invalid("expected both cert and key, or none of them")),
    };
    if !has_tls {
        return Ok(None);
    }
    let mut roots = rustls::RootCertStore::empty();
    match ca {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate = certificate.map_err(|error| wrong("ca", error))?;
                roots.add(certificate).map_err(|error| wrong("ca", error))?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            if let Some(error) = found.errors.first() {
                return Err(wrong("the certificates of the system", error));
            }
            roots.add_parsable_certificates(found.certs);
        }
    }
    // A program may have several implementations of cryptography, and have chosen none.
    let provider = rustls::crypto::CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| std::sync::Arc::new(rustls::crypto::ring::default_provider()));
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| wrong("TLS", error))?.with_root_certificates(roots);
    let config = match client {
        Some((chain, key)) => config.with_client_auth_cert(chain, key).map_err(|error| wrong("cert", error))?,
        None => config.with_no_client_auth(),
    };
    Ok(Some(std::sync::Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_one(url: &str) -> ConnectionInfo {
        let Target { place: Place { info, sentinels: None, .. }, nodes: None } = parse(url).expect(url) else {
            panic!("{url}")
        };
        info
    }

    #[test]
    fn each_form_is_understood() {
        let info = of_one("redis://user:p%40ss@example.org:7000/3");
        assert_eq!(info.addr(), &ConnectionAddr::Tcp("example.org".into(), 7000));
        let settings = info.redis_settings();
        assert_eq!((settings.db(), settings.username(), settings.password()), (3, Some("user"), Some("p@ss")));
        assert_eq!(of_one("valkey://[::1]").addr(), &ConnectionAddr::Tcp("::1".into(), 6379));
        assert_eq!(of_one("unix:///run/redis?db=2").addr(), &ConnectionAddr::Unix("/run/redis".into()));

        let url = "redis-sentinel://:secret@a,b:7000,[::1]/main/4?sentinel_username=u&sentinel_password=p";
        let place = parse(url).expect(url).place;
        let sentinels = place.sentinels.expect(url);
        let addresses: Vec<_> = sentinels.all.iter().map(|info| info.addr().to_string()).collect();
        assert_eq!((sentinels.name.as_str(), addresses.join(" ")), ("main", "a:26379 b:7000 ::1:26379".to_owned()));
        let user = sentinels.all[1].redis_settings();
        assert_eq!((user.username(), user.password()), (Some("u"), Some("p")));
        let master = place.info.redis_settings();
        assert_eq!((master.db(), master.password()), (4, Some("secret")));
        let nodes = [("a", 1), ("b", 2), ("::1", 3)].map(|(host, port)| (host.to_owned(), port));
        assert_eq!(parse("redis-cluster://a:1,b:2,[::1]:3/").expect("a cluster").nodes, Some(nodes.into()));
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
            ("redis://a?timeout=1", "expected ca, cert"),
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
