//! Whether Redis can be used, and why not: in words that say what to change.

use std::collections::BTreeSet;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use redis::Value;
use redis_rl_client::{Algorithm, Error, Limiter};
use rlaas_rules::{Domain, Rules};
use tokio::time::timeout;

/// How long an attempt may take.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Why the server cannot be used, if it cannot.
#[derive(Debug, Default)]
pub struct Known(ArcSwapOption<String>);

/// What an attempt to use the server has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The name and the version of the server, and that of the module if it has one.
    Usable { server: String, module: Option<String> },
    /// Why it cannot be used.
    Unusable(String),
}

impl Known {
    pub fn set(&self, finding: &Finding) {
        self.0.store(match finding {
            Finding::Usable { .. } => None,
            Finding::Unusable(why) => Some(why.clone().into()),
        });
    }

    /// An error in words. That a reply did not come has a cause, if the last attempt has shown one.
    pub fn explain(&self, error: &Error) -> String {
        match (error, &*self.0.load()) {
            (Error::Timeout(_) | Error::CircuitOpen, Some(why)) => format!("{error}: {why}"),
            _ => explain(error),
        }
    }
}

/// The algorithms of the rules, without RL.SLIDING, which only the keys of the scripts use.
pub fn words(rules: &Rules) -> Vec<&'static str> {
    let domains = rules.domains.values().filter(|domain| !domain.script_keys);
    let rates = domains.flat_map(Domain::limits).filter_map(|limit| limit.rate);
    // RL.LEASE takes no COST, so nothing looks at a lease without taking one.
    let algorithms = rates.map(|rate| rate.policy.algorithm()).filter(|algorithm| algorithm.traits().cost);
    let words: BTreeSet<_> = algorithms.map(Algorithm::word).collect();
    words.into_iter().collect()
}

/// Connects anew, and sends commands that charge nothing: for each of these words of algorithms.
pub async fn attempt(url: &str, key: &str, words: &[&str]) -> Finding {
    match timeout(ATTEMPT, connect_and_look(url, key, words)).await {
        Ok(Ok(finding)) => finding,
        Ok(Err(error)) => Finding::Unusable(explain(&error)),
        Err(_) => Finding::Unusable(format!("no reply within {ATTEMPT:?}")),
    }
}

async fn connect_and_look(url: &str, key: &str, words: &[&str]) -> Result<Finding, Error> {
    let limiter = match connect(url).await {
        Ok(limiter) => limiter,
        Err(error) if is_login(&error) => {
            let needs_none = hello(&bare(url), key).await.is_ok();
            let rejects = "the server has no password, and rejects the one that is given";
            return Ok(Finding::Unusable(if needs_none { rejects.to_owned() } else { explain(&error) }));
        }
        Err(error) => {
            // A server without TLS waits for the end of a line that does not come.
            let is_plain = match without_tls(url) {
                Some(url) => {
                    !matches!(hello(&bare(&url), key).await, Err(Error::Redis(error)) if error.code().is_none())
                }
                None => false,
            };
            let plain = "the port has no TLS, so it takes redis:// and not rediss://";
            return if is_plain { Ok(Finding::Unusable(plain.to_owned())) } else { Err(error) };
        }
    };
    // Every user may send it.
    let hello = limiter.send(redis::cmd("HELLO"), key.as_bytes()).await?;
    let (server, module) = versions(&hello);
    if module.is_some() {
        for word in words {
            let mut command = redis::cmd(&format!("RL.{word}"));
            command.arg(key).arg(1).arg(1).arg("COST").arg(0);
            limiter.send(command, key.as_bytes()).await?;
        }
    }
    Ok(Finding::Usable { server, module })
}

async fn connect(url: &str) -> Result<Limiter, Error> {
    let limiter = Limiter::open(url)?;
    limiter.connect().await?;
    Ok(limiter)
}

async fn hello(url: &str, key: &str) -> Result<Value, Error> {
    Limiter::open(url)?.send(redis::cmd("HELLO"), key.as_bytes()).await
}

/// The name and the version of the server, and that of the module, in the reply to HELLO.
fn versions(hello: &Value) -> (String, Option<String>) {
    let text = |value: Option<&Value>| value.and_then(text).unwrap_or("?").to_owned();
    let server = format!("{} {}", text(field(hello, "server")), text(field(hello, "version")));
    let modules = field(hello, "modules").and_then(Value::as_sequence).unwrap_or_default();
    let module = modules.iter().find(|module| field(module, "name").and_then(self::text) == Some("rl"));
    // 10203 is 1.2.3.
    let version = module.and_then(|module| match field(module, "ver") {
        Some(Value::Int(n)) => Some(format!("{}.{}.{}", n / 10_000, n / 100 % 100, n % 100)),
        _ => None,
    });
    (server, version)
}

/// A field of a map, which RESP2 has as a list.
fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Map(pairs) => pairs.iter().find(|(key, _)| text(key) == Some(name)).map(|(_, value)| value),
        Value::Array(items) => items.chunks_exact(2).find_map(|pair| match pair {
            [key, value] if text(key) == Some(name) => Some(value),
            _ => None,
        }),
        _ => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

fn is_login(error: &Error) -> bool {
    const TEXTS: [&str; 3] = ["Password authentication failed", "WRONGPASS", "without any password configured"];
    matches!(error, Error::Redis(error) if TEXTS.iter().any(|text| error.to_string().contains(text)))
}

/// The URL without a user, a password and parameters: what may be a secret.
pub fn bare(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("redis", ""));
    let (before, hosts) = rest.rsplit_once('@').unwrap_or(("", rest));
    // An @ may be part of a password among the parameters.
    let hosts = if before.contains('?') { "…" } else { hosts.split('?').next().unwrap_or_default() };
    format!("{scheme}://{hosts}")
}

/// The same URL without TLS; `None` if it has none.
fn without_tls(url: &str) -> Option<String> {
    let plain = |tls: &str, plain: &str| url.strip_prefix(tls).map(|rest| format!("{plain}{rest}"));
    plain("rediss", "redis").or_else(|| plain("valkeys", "valkey"))
}

/// An error in words: what it means for the operator, then its text.
fn explain(error: &Error) -> String {
    let Error::Redis(error) = error else { return error.to_string() };
    let text = format!("{} {error}", error.code().unwrap_or_default());
    match CAUSES.into_iter().find(|(parts, ..)| parts.iter().any(|part| text.contains(part))) {
        Some((_, cause, false)) => cause.to_owned(),
        Some((_, cause, true)) => format!("{cause} ({})", error.detail().unwrap_or(&error.to_string())),
        None => error.to_string(),
    }
}

/// What a text of the operating system, of TLS or of the server means, and whether it is shown too.
const CAUSES: [(&[&str], &str, bool); 11] = [
    (&["onnection refused"], "connection refused: no server listens there", false),
    (&["failed to lookup address", "No address found"], "no such host", true),
    (&["Password authentication failed", "WRONGPASS"], "the user or the password is wrong", false),
    (&["NOAUTH"], "the server needs a password, and none is given", false),
    (&["NOPERM"], "the user lacks a permission: docs/service.md has the line of ACL SETUSER", true),
    (&["invalid peer certificate"], "the certificate of the server is not accepted", true),
    (
        &["unexpected end of file", "onnection reset", "roken pipe", "onnection dropped", "closed the connection"],
        "the server closes the connection; a port with TLS takes rediss:// and not redis://",
        true,
    ),
    (&["Parse error"], "what listens there is no Redis; a port with TLS takes rediss:// and not redis://", false),
    (&["READONLY"], "the server is a replica, which takes no writes", false),
    (&["LOADING"], "the server loads its data", false),
    (&["no connection in time", "timed out"], "no reply while connecting", false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_shown_without_secrets() {
        for (url, expected) in [
            ("redis://a:1/2", "redis://a:1/2"),
            ("rediss://me:p%40ss@a:1?ca=/x", "rediss://a:1"),
            ("redis-sentinel://me:p@s@a,b/main?sentinel_password=x", "redis-sentinel://a,b/main"),
            ("unix:///run/s?user=me&pass=x", "unix:///run/s"),
            ("unix:///run/s?pass=p@ss", "unix://…"),
            ("redis://:p?w@a:1", "redis://…"),
            ("redis://:p/w@a:1", "redis://a:1"),
        ] {
            assert_eq!(bare(url), expected, "{url}");
        }
    }
}
