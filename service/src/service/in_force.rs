//! What is in force, as metrics: the build, the rules, and the certificates.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use prometheus::{IntGauge, IntGaugeVec, Opts, Registry};

use super::state::Snapshot;
use crate::VERSION;
use crate::net::register;

/// The metrics of what is in force.
#[derive(Debug)]
pub struct InForce {
    generation: IntGauge,
    limits: IntGauge,
    info: IntGaugeVec,
    pub wrong: IntGauge,
    pub certificates: Arc<CertificateEnds>,
}

/// When the certificates end, in seconds since 1970, with the files that they are in.
#[derive(Debug, Default)]
pub struct CertificateEnds(ArcSwap<Vec<(String, i64)>>);

impl CertificateEnds {
    pub fn set(&self, ends: Vec<(String, i64)>) {
        self.0.store(ends.into());
    }

    /// The text that Prometheus reads.
    pub fn text(&self, now: SystemTime) -> String {
        let ends = self.0.load();
        let mut text = String::new();
        if !ends.is_empty() {
            let name = "rlaas_certificate_ends_seconds";
            text =
                format!("# HELP {name} Seconds until the first certificate in the file ends.\n# TYPE {name} gauge\n");
            let now = now.duration_since(UNIX_EPOCH).map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
            for (file, end) in ends.iter() {
                let file = file.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                _ = writeln!(text, "{name}{{file=\"{file}\"}} {}", end.saturating_sub(now));
            }
        }
        text
    }
}

impl InForce {
    /// # Errors
    /// A metric is there twice, which is a fault of this program.
    pub fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let gauge = |name: &str, help: &str| register(registry, IntGauge::new(name, help));
        let labelled =
            |name: &str, help: &str, label: &str| register(registry, IntGaugeVec::new(Opts::new(name, help), &[label]));
        let build = labelled("rlaas_build_info", "1; the version of rlaas.", "version")?;
        build.with_label_values(&[VERSION]).set(1);
        Ok(Self {
            generation: gauge("rlaas_rules_generation", "Counts the sets of rules; 0 before the first.")?,
            limits: gauge("rlaas_rules_limits", "Limits in the rules; 0 before the first set of rules.")?,
            info: labelled(
                "rlaas_rules_info",
                "1; the hash of the rules. Copies with the same rules have the same.",
                "hash",
            )?,
            wrong: gauge("rlaas_rules_wrong", "1 while the files are wrong and the old rules are in force.")?,
            certificates: Arc::default(),
        })
    }

    pub fn set(&self, snapshot: &Snapshot) {
        let small = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        self.generation.set(small(snapshot.generation));
        self.limits.set(snapshot.rules.limits().try_into().unwrap_or(i64::MAX));
        self.info.reset();
        self.info.with_label_values(&[&snapshot.hash]).set(1);
    }
}
