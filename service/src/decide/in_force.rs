//! What is in force, as metrics: the build, the rules, and the certificates.

use prometheus::{IntGauge, IntGaugeVec, Opts, Registry};

use super::state::Snapshot;
use crate::VERSION;
use crate::metric::register;

/// The metrics of what is in force.
#[derive(Debug)]
pub struct InForce {
    generation: IntGauge,
    limits: IntGauge,
    info: IntGaugeVec,
    pub wrong: IntGauge,
    /// 1: no request is denied.
    pub shadow: IntGauge,
    /// By `file`: seconds until the first certificate in it ends.
    pub certificates: IntGaugeVec,
}

impl InForce {
    /// # Errors
    /// A metric is registered twice: a fault of this program.
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
            shadow: gauge("rlaas_shadow_mode", "1 with SHADOW_MODE=true: no request is denied.")?,
            certificates: labelled(
                "rlaas_certificate_ends_seconds",
                "Seconds until the first certificate in the file ends.",
                "file",
            )?,
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
