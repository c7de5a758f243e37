//! The settings of `rlaas serve`.

use std::path::PathBuf;
use std::time::Duration;

use super::connections::Bounds;
use super::tls::TlsFiles;
use super::traces::TraceSettings;
use crate::control::ControlSettings;
use crate::decide::ServiceSettings;

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
    /// Whether HTTP tells a caller what is left of its limits.
    pub limits: bool,
    pub denials: usize,
    pub max_connections: usize,
    pub recheck_denials: Duration,
    pub service: ServiceSettings,
    pub http_timeout: Duration,
    pub traces: Option<TraceSettings>,
    pub drain_delay: Duration,
    pub drain: Duration,
    /// Of gRPC. The time of a request is that of HTTP too.
    pub bounds: Bounds,
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
