//! Instances of the Rust client that decide with local grants.

use std::time::Duration;

use redis_rl_client::{Limiter, Policy, Source};

use crate::Run;
use crate::call::{Call, Figures, Kind, Limit, Outcome, now_us};

/// What [`Call::path`] is.
pub const PATH: &str = "grants";
pub const LIMIT: Limit = Limit { algorithm: "ROLLING", window_ms: 250, limit: 60 };
/// The instances, and the size of a grant.
pub const INSTANCES: u64 = 3;
pub const UNITS: u64 = 8;

/// Sends requests until it is done. While the server is away or elsewhere, they fail.
pub fn run(run: Run<'_>) -> Vec<Call> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let key = format!("{}:grants", run.prefixes[0]);
    let policy = Policy::rolling(Duration::from_millis(LIMIT.window_ms), LIMIT.limit);
    runtime.block_on(async {
        let mut calls = Vec::new();
        // A failover has another port: a new client.
        while !run.is_done() {
            let at = run.route.address();
            let open = || Limiter::open(&at).and_then(|limiter| limiter.grants(&policy, UNITS));
            let instances: Vec<_> = (0..INSTANCES).map(|_| open().expect("a limiter")).collect();
            while !run.is_done() && run.route.address() == at {
                for (client, instance) in instances.iter().enumerate() {
                    let begun_us = now_us();
                    let result = instance.check(&key).await;
                    let ended_us = now_us();
                    let outcome = match result {
                        Ok(decision) if decision.source == Source::RememberedDenial => continue,
                        Ok(decision) => Outcome::Reply(Figures {
                            allowed: decision.allowed,
                            now_ms: ended_us / 1_000,
                            charged: decision.charged,
                            ..Figures::default()
                        }),
                        Err(_) => Outcome::Unknown,
                    };
                    let call = Call::new(client, PATH, key.clone(), LIMIT, Kind::Granted);
                    calls.push(Call { begun_us, ended_us, outcome, ..call });
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        calls
    })
}
