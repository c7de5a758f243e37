//! Keys of a bounded length: what a caller chooses decides no size, and breaks nobody's reservations.

use std::time::Duration;

use redis_rl_client::{Fallback, Policy};

use crate::setup::for_each_way;
use crate::support::*;

const HOUR: Duration = Duration::from_secs(3600);
const POLICY: Policy = Policy::counter(HOUR, 100);
const LEASE: Policy = Policy::lease(HOUR, 2);

/// A key with a hash tag, of 1,000 bytes and more.
fn long_key(name: &str) -> String {
    format!("{name}:{{{}}}:{}", "t".repeat(400), "x".repeat(600))
}

/// The keys of the server. None is longer than a hash tag and what is around it.
fn keys(server: &Server) -> Vec<String> {
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut server.con()).unwrap();
    assert!(keys.iter().all(|key| key.len() <= 320), "{keys:?}");
    keys
}

#[test]
fn every_call_of_a_long_key_is_about_one_short_key() {
    for_each_way(async |limiter, server, _| {
        let (key, other) = (long_key("a"), long_key("b"));
        let request = POLICY.request(&key).cost(10);
        let remaining = async || limiter.peek(&POLICY.request(&key).cost(0)).await.unwrap().remaining;
        assert!(limiter.check_request(&request).await.unwrap().allowed);
        assert!(limiter.check_all(&[request, POLICY.request(&other)]).await.unwrap().allowed);
        assert!(limiter.check_each(&[request]).await.into_iter().all(|decision| decision.unwrap().allowed));
        assert_eq!(remaining().await, 70);
        limiter.refund(&request).await.unwrap();
        limiter.settle(&request, 5).await.unwrap();
        assert_eq!(remaining().await, 85);
        let held = keys(server);
        assert!(held.len() == 2 && held.iter().all(|key| key.contains(&format!(":{{{}~", "t".repeat(32)))), "{held:?}");
        assert!(limiter.reset(&POLICY, &key).await.unwrap() && limiter.reset(&POLICY, &other).await.unwrap());
        assert_eq!(keys(server), [""; 0]);

        let request = LEASE.request(&key).id("x");
        assert!(limiter.check_request(&request).await.unwrap().allowed);
        assert!(limiter.renew(&LEASE, &key, "x").await.unwrap() && limiter.release(&LEASE, &key, "x").await.unwrap());
        let reserved = limiter.check_request(&POLICY.request(&key).cost(10).reserve("id", HOUR)).await.unwrap();
        assert!(reserved.allowed);
        limiter.settle_reservation(&POLICY, &key, "id", 3).await.unwrap();
        assert_eq!(remaining().await, 97);
        assert!(limiter.reset(&POLICY, &key).await.unwrap());

        let grants = limiter.grants(&POLICY, 10).unwrap();
        assert!(grants.check(&key).await.unwrap().allowed);
        let held = grants.decide_without_server(&key, 9, Fallback::Error);
        assert!(held.unwrap().allowed);
        assert_eq!(remaining().await, 90);
        grants.shutdown().await;
    });
}
