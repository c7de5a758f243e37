//! The rules in force, and the files that are read again while rlaas runs: rules, overrides and certificates.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use rlaas_rules::Outcome;
use tokio::signal::unix::Signal;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::certificates::Certificates;
use super::health::Health;
use super::tls::{Tls, served};
use super::watch::{LOOK_EVERY, Watch};
use crate::VERSION;
use crate::control::Control;
use crate::decide::{Service, Snapshot};

/// The files that are checked for changes.
pub struct Reload {
    pub service: Arc<Service>,
    pub files: Watch,
    /// `None` if the rules come from files.
    pub control: Option<Arc<Control>>,
    pub certificates: Certificates,
    pub tls: Option<Arc<Tls>>,
}

impl Reload {
    /// Looks at the files until the service drains, and at once after SIGHUP. Says whether the service is ready.
    pub async fn run(mut self, health: Health, mut hangup: Signal, drains: CancellationToken) {
        let mut ready = false;
        while !drains.is_cancelled() {
            let is_ready = !self.service.is_draining() && self.service.lacks_rules().is_none();
            if ready != is_ready {
                ready = is_ready;
                health.set(ready).await;
            }
            let hung_up = tokio::select! {
                () = drains.cancelled() => false,
                _ = hangup.recv() => true,
                () = sleep(LOOK_EVERY) => false,
            };
            // Reading and parsing many rules takes a while: not on a thread that serves.
            let Ok(looked) = tokio::task::spawn_blocking(move || self.look(hung_up)).await else { return };
            self = looked;
        }
    }

    fn look(mut self, hung_up: bool) -> Self {
        if hung_up {
            info!("SIGHUP: all files are read again");
        }
        let files = &mut self.files;
        match &self.control {
            None if hung_up => _ = take(&self.service, files.read_now(), Origin::Files),
            None => _ = look(&self.service, files),
            Some(control) if hung_up => control.set_overrides(files.read_overrides_now()),
            Some(control) => {
                let overrides = files.look_at_overrides(Instant::now(), SystemTime::now());
                overrides.into_iter().for_each(|overrides| control.set_overrides(overrides));
            }
        }
        if let Some(tls) = &self.tls {
            tls.reload(hung_up);
        }
        self.certificates.look(Instant::now(), &served(self.tls.as_ref()));
        self
    }
}

/// Reads the rules if the files have changed. Whether they are in force, or wrong.
pub fn look(service: &Service, watch: &mut Watch) -> bool {
    let outcome = watch.look(Instant::now(), SystemTime::now());
    outcome.map(|outcome| take(service, outcome, Origin::Files)).is_some() || service.snapshot.load().is_some()
}

/// Where rules come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Files,
    /// A control plane may send no limit on purpose.
    ControlPlane,
}

/// Puts rules in force. Wrong ones change nothing.
pub fn take(service: &Service, outcome: Outcome, from: Origin) -> Result<(), Vec<String>> {
    let before = service.snapshot.load();
    let taken = outcome.and_then(|(rules, warnings)| {
        if from == Origin::Files
            && rules.limits() == 0
            && before.as_ref().is_some_and(|before| before.rules.limits() > 0)
        {
            return Err(vec!["the files have no limit, and there were some".to_owned()]);
        }
        let snapshot = Snapshot::new(rules, before.as_deref(), &service.limiter).map_err(|problem| vec![problem])?;
        Ok((snapshot, warnings))
    });
    match taken {
        Err(problems) => {
            for problem in &problems {
                error!("{problem}");
            }
            service.metrics.config_load_error.inc();
            service.metrics.in_force.wrong.set(1);
            let kept = before.is_some();
            error!("the rules are wrong: {}", if kept { "the old ones stay" } else { "not ready" });
            Err(problems)
        }
        Ok((snapshot, warnings)) => {
            for warning in warnings {
                warn!("{warning}");
            }
            let (domains, limits) = (snapshot.rules.domains.len(), snapshot.rules.limits());
            let (generation, hash) = (snapshot.generation, snapshot.hash.clone());
            service.metrics.in_force.set(&snapshot);
            service.snapshot.store(Some(Arc::new(snapshot)));
            service.metrics.config_load_success.inc();
            service.metrics.in_force.wrong.set(0);
            if limits == 0 {
                warn!("there is no limit in the rules: every request is allowed");
            }
            info!(domains, limits, generation, hash, version = VERSION, "the rules are in force");
            Ok(())
        }
    }
}
