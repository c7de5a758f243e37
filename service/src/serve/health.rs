//! The health check of gRPC.

use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

/// The services of the health check: the server as a whole, and the name that probes of envoyproxy/ratelimit use.
const SERVICES: [&str; 2] = ["", "ratelimit"];

/// Sets the status of the health check.
#[derive(Clone)]
pub struct Health(pub HealthReporter);

impl Health {
    pub async fn set(&self, is_serving: bool) {
        let status = if is_serving { ServingStatus::Serving } else { ServingStatus::NotServing };
        for name in SERVICES {
            self.0.set_service_status(name, status).await;
        }
    }
}
