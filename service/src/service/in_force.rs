//! What is in force, as metrics: the build, and the rules.

use prometheus::{IntGauge, IntGaugeVec, Opts, Registry};

use super::state::Snapshot;
use crate::VERSION;

/// The metrics of the rules in force.
#[derive(Debug)]
pub struct InForce {
    generation: IntGauge,
    limits: IntGauge,
    info: IntGaugeVec,
}

impl InForce {
    /// # Errors
    /// A metric is there twice, which is a fault of this program.
    pub fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let gauge = |name: &str, help: &str| {
            let gauge = IntGauge::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            Ok::<_, prometheus::Error>(gauge)
        };
        let labelled = |name: &str, help: &str, label: &str| {
            let gauge = IntGaugeVec::new(Opts::new(name, help), &[label])?;
            registry.register(Box::new(gauge.clone()))?;
            Ok::<_, prometheus::Error>(gauge)
        };
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
        })
    }

    pub fn set<C>(&self, snapshot: &Snapshot<C>) {
        let small = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        self.generation.set(small(snapshot.generation));
        self.limits.set(snapshot.rules.limits().try_into().unwrap_or(i64::MAX));
        self.info.reset();
        self.info.with_label_values(&[&snapshot.hash]).set(1);
    }
}
