//! Instances of the Rust client that send requests, and hold leases and reservations with its guards.

use std::sync::atomic::Ordering;
use std::time::Duration;

use redis_rl_client::{Decision, Leased, Limiter, Policy, Reserved};

use crate::Run;
use crate::call::{Call, Figures, Kind, Limit, Outcome, now_us};
use crate::support::Random;

/// What [`Call::path`] is.
pub const REQUESTS: &str = "requests of the client";
pub const LEASES: &str = "leases of the client";
pub const RESERVATIONS: &str = "reservations of the client";

pub const LEASE: Limit = Limit { algorithm: "LEASE", window_ms: 300, limit: 2 };
/// One more than there are leases.
pub const INSTANCES: usize = 3;
/// The limit that an instance has for itself.
const RESERVED: Limit = Limit::endless("ROLLING");
const UNITS: u64 = 5;
const TTL: Duration = Duration::from_millis(300);

/// Takes leases, and reserves and settles while it holds one, until it is done.
pub fn run(run: Run<'_>, number: usize) -> Vec<Call> {
    let random = run.random(number);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let key = format!("h:own:{number}:guards");
    let mut instance = Instance { number, key, random, calls: Vec::new() };
    // A failover has another port: a new client.
    while !run.is_done() {
        let port = run.port.load(Ordering::Relaxed);
        // Else it would send nothing for most of the time.
        let limiter =
            Limiter::builder(&format!("redis://127.0.0.1:{port}/")).expect("a URL").breaker(Duration::ZERO).build();
        runtime.block_on(async {
            while !run.is_done() && run.port.load(Ordering::Relaxed) == port {
                instance.request(&limiter).await;
                instance.hold(&limiter).await;
                instance.pause(20).await;
            }
        });
    }
    instance.calls
}

struct Instance {
    number: usize,
    /// Of its reservations.
    key: String,
    random: Random,
    calls: Vec<Call>,
}

impl Instance {
    async fn pause(&mut self, millis: u64) {
        tokio::time::sleep(Duration::from_millis(1 + self.random.below(millis))).await;
    }

    /// Holds a lease for a while, and works.
    async fn hold(&mut self, limiter: &Limiter) {
        let policy = Policy::lease(Duration::from_millis(LEASE.window_ms), LEASE.limit);
        let key = "h:guards".to_owned();
        let Ok(Leased::Held(lease)) = limiter.lease(&policy, &key).await else { return };
        let begun_us = now_us();
        // Often for longer than a window.
        let until_us = begun_us + 1_000 * self.random.below(2 * LEASE.window_ms);
        let mut seen_us = begun_us;
        while seen_us < until_us {
            self.reserve(limiter).await;
            self.pause(10).await;
            let at_us = now_us();
            if lease.is_lost() {
                break;
            }
            seen_us = at_us;
        }
        let outcome =
            Outcome::Reply(Figures { allowed: true, now_ms: seen_us / 1_000, charged: 1, ..Figures::default() });
        let held = Call::new(self.number, LEASES, key, LEASE, Kind::Held);
        self.calls.push(Call { begun_us, ended_us: seen_us, outcome, ..held });
        if self.random.below(3) > 0 {
            // If there is no reply, the lease ends by itself.
            let _ = lease.release().await;
        }
    }

    /// A request under a limit of its own: it knows what is counted.
    async fn request(&mut self, limiter: &Limiter) {
        let key = format!("h:own:{}:requests", self.number);
        let policy = Policy::rolling(Duration::from_millis(RESERVED.window_ms), RESERVED.limit);
        let begun_us = now_us();
        let decided = limiter.check_request(&policy.request(&key).cost(UNITS)).await;
        let outcome = decided.map_or(Outcome::Unknown, |decision| of(&decision));
        let call = Call::new(self.number, REQUESTS, key, RESERVED, Kind::Request { cost: UNITS });
        self.calls.push(Call { begun_us, ended_us: now_us(), outcome, ..call });
    }

    async fn reserve(&mut self, limiter: &Limiter) {
        let (key, policy) =
            (self.key.clone(), Policy::rolling(Duration::from_millis(RESERVED.window_ms), RESERVED.limit));
        let begun_us = now_us();
        let reserved = limiter.reserve(&policy.request(&key).cost(UNITS), TTL).await;
        let (id, outcome, guard) = match reserved {
            Ok(Reserved::Held(guard)) => (guard.id().to_owned(), of(guard.decision()), Some(guard)),
            Ok(Reserved::Denied(decision)) => (format!("denied {begun_us}"), of(&decision), None),
            // The client cancels it; nobody learns its id.
            Err(_) => (format!("unknown {begun_us}"), Outcome::Unknown, None),
        };
        let kind = Kind::Reserve { id: id.clone(), units: UNITS, ttl_ms: TTL.as_millis() as u64 };
        self.push(kind, begun_us, outcome);
        let Some(guard) = guard else { return };
        if self.random.below(4) == 0 {
            self.pause(50).await;
        }
        let actual = self.random.below(9);
        let begun_us = now_us();
        let settled = if actual == 0 { guard.cancel().await } else { guard.settle(actual).await };
        let outcome = settled.map_or(Outcome::Unknown, |decision| of(&decision));
        self.push(Kind::Settle { id, actual }, begun_us, outcome);
    }

    fn push(&mut self, kind: Kind, begun_us: u64, outcome: Outcome) {
        let call = Call::new(self.number, RESERVATIONS, self.key.clone(), RESERVED, kind);
        self.calls.push(Call { begun_us, ended_us: now_us(), outcome, ..call });
    }
}

fn of(decision: &Decision) -> Outcome {
    Outcome::Reply(Figures {
        allowed: decision.allowed,
        remaining: decision.remaining,
        now_ms: decision.now_ms,
        charged: decision.charged,
    })
}
