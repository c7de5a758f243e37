//! The variables of envoyproxy/ratelimit for what a flag does not say.

use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::time::Duration;

use super::settings::Address;
use super::tls::TlsFiles;
use super::traces::{Protocol, TraceSettings};
use crate::env::Env;

/// `docs/service.md`. Its last table has the variables of envoyproxy/ratelimit, and what each does here.
const PAGE: &str = include_str!("variables.txt");

/// Those of them that have no effect here.
pub fn no_effect() -> impl Iterator<Item = &'static str> {
    let table = PAGE.lines().skip_while(|line| !line.starts_with("| variable |"));
    let rows = table.filter_map(|row| row.trim_matches(['|', ' ']).split_once(" | "));
    let rows = rows.filter(|(_, rest)| rest.rsplit("| ").next().is_some_and(|here| here.starts_with("no effect")));
    rows.flat_map(|(names, _)| names.split('`').skip(1).step_by(2))
}

impl Env<'_> {
    /// A time after which connections end. 0 is never, as in Go.
    pub fn age(&self, name: &str, default: Duration) -> Result<Option<Duration>, String> {
        Ok(Some(self.duration(name)?.unwrap_or(default)).filter(|age| !age.is_zero()))
    }

    pub fn rules(&self) -> Vec<PathBuf> {
        let Some(root) = self.text("RUNTIME_ROOT") else { return vec![PathBuf::from("rules")] };
        let mut path = PathBuf::from(root);
        let below =
            [self.text("RUNTIME_SUBDIRECTORY"), self.text("RUNTIME_APPDIRECTORY").or(Some("config".to_owned()))];
        // As in Go, a slash at the beginning does not replace the root.
        path.extend(below.iter().flatten().map(|part| part.trim_start_matches('/')));
        vec![path]
    }

    /// The files of TLS: those of the flags, else those of the variables if `GRPC_SERVER_USE_TLS` is true.
    pub fn tls(&self, files: [Option<PathBuf>; 3], name: Option<String>) -> Result<Option<TlsFiles>, String> {
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

    pub fn grpc(&self, flag: Option<String>) -> Result<Address, String> {
        match (&flag, self.text("GRPC_UDS")) {
            (Some(text), _) if text.contains('/') => return Ok(Address::Unix(text.into())),
            (None, Some(path)) => return Ok(Address::Unix(path.into())),
            _ => {}
        }
        self.address("--grpc", flag, ["GRPC_HOST", "GRPC_PORT"], "8081").map(Address::Tcp)
    }

    /// `None` if neither the flag nor a variable is given.
    pub fn debug(&self, flag: Option<String>) -> Result<Option<String>, String> {
        let variables = ["DEBUG_HOST", "DEBUG_PORT"];
        let given = flag.is_some() || variables.iter().any(|name| self.text(name).is_some());
        given.then(|| self.address("--debug", flag, variables, "6070")).transpose()
    }

    /// A flag, else a host and a port in variables of their own.
    pub fn address(
        &self,
        name: &str,
        flag: Option<String>,
        variables: [&str; 2],
        port: &str,
    ) -> Result<String, String> {
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

    pub fn metrics(&self, flag: Option<String>) -> Result<String, String> {
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
    pub fn traces(&self) -> Result<Option<TraceSettings>, String> {
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
