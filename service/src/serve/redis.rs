//! Says at the start whether Redis can be used, and later when that changes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis_rl_client::Stats;
use rlaas_rules::Printable;
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::decide::Service;
use crate::decide::redis::{Finding, attempt, bare, words};

/// How often the counters of failed calls are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long no other attempt is made after one.
const ATTEMPTS_APART: Duration = Duration::from_secs(5);
/// How often the log repeats that Redis cannot be used.
const SAID_EVERY: Duration = Duration::from_secs(60);

/// Makes one attempt, and others while calls fail, once more when they no longer do, and while the server has no module.
/// The task ends with the runtime.
pub async fn watch(service: Arc<Service>, url: String) {
    let shown = bare(&url);
    // Whether calls have failed since it was last said that Redis decides, and none in the last second.
    let (mut failing, mut quiet) = (false, true);
    let key = format!("{}rl:ready", service.settings.prefix);
    let failures = |stats: Stats| stats.timeouts.saturating_add(stats.errors);
    let mut last: Option<(Finding, Instant)> = None;
    loop {
        let failed = failures(service.limiter.stats());
        let words = service.snapshot.load().as_ref().map(|snapshot| words(&snapshot.rules)).unwrap_or_default();
        let finding = attempt(&url, &key, &words).await;
        service.known.set(&finding);
        let lacks_module = matches!(finding, Finding::Usable { module: None, .. });
        let decides_again = failing && quiet && !is_unusable(&finding);
        let is_new = match &last {
            Some((known, said)) => *known != finding || is_unusable(known) && said.elapsed() >= SAID_EVERY,
            None => true,
        };
        if is_new || decides_again {
            say(&shown, if decides_again { "decides again" } else { "reachable" }, &finding);
            failing = is_unusable(&finding) || failing && !decides_again;
            last = Some((finding, Instant::now()));
        }
        let made = Instant::now();
        let mut before = failed;
        loop {
            sleep(LOOK_EVERY).await;
            let now = failures(service.limiter.stats());
            (quiet, before, failing) = (now == before, now, failing || now > failed);
            if made.elapsed() >= ATTEMPTS_APART && (failing || lacks_module) {
                break;
            }
        }
    }
}

const fn is_unusable(finding: &Finding) -> bool {
    matches!(finding, Finding::Unusable(_))
}

fn say(shown: &str, what: &str, finding: &Finding) {
    match finding {
        Finding::Unusable(why) => error!("--redis {shown}: {}", Printable(why)),
        Finding::Usable { server, module: Some(version) } => {
            info!("--redis {shown}: {what}, {server} with the module redis-rl {version}");
        }
        Finding::Usable { server, module: None } => {
            warn!("--redis {shown}: {what}, {server} without the module redis-rl: the Lua scripts decide");
        }
    }
}
