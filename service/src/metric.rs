//! The registry of metrics.

use prometheus::Registry;
use prometheus::core::Collector;

/// Adds a metric to those that Prometheus reads.
///
/// # Errors
/// The metric is registered twice: a fault of this program.
pub fn register<M: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<M>,
) -> prometheus::Result<M> {
    let metric = metric?;
    registry.register(Box::new(metric.clone()))?;
    Ok(metric)
}
