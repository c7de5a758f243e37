//! Leases that renew themselves.

use std::time::Duration;

use redis_rl_client::{Lease, Leased, Limiter, Policy};
use tokio::time::timeout;

use crate::setup::{block_on, end_of, for_each_way, limiter};
use crate::support::*;

const WINDOW: Duration = Duration::from_secs(3);
const JOBS: Policy = Policy::lease(WINDOW, 2);

async fn held(limiter: &Limiter) -> Option<Lease> {
    limiter.lease(&JOBS, "jobs").await.unwrap().held()
}

#[test]
fn a_lease_is_held_until_the_guard_is_dropped() {
    for_each_way(async |limiter, server, _| {
        let (first, second) = (held(&limiter).await.expect("free"), held(&limiter).await.expect("free"));
        assert_ne!(first.id(), second.id());
        let Leased::Denied(denied) = limiter.lease(&JOBS, "jobs").await.unwrap() else { panic!("a third lease") };
        assert_eq!(denied.count, 2);
        let mut con = server.con();
        for lease in [&first, &second] {
            let end = end_of(&mut con, "jobs", lease.id());
            assert!(eventually(PATIENCE, || end_of(&mut con, "jobs", lease.id()) > end), "it is not renewed");
        }
        assert!(!first.is_lost() && !second.is_lost());
        assert!(held(&limiter).await.is_none());
        // Dropped: the release is sent in the background.
        drop(first);
        let holders = |con: &mut redis::Connection| redis::cmd("ZCARD").arg("jobs").query::<i64>(con).unwrap();
        assert!(eventually(PATIENCE, || holders(&mut con) == 1));
        assert!(held(&limiter).await.is_some());
        assert!(second.release().await.unwrap());
    });
}

#[test]
fn the_holder_is_told_that_its_lease_is_lost() {
    for_each_way(async |limiter, _, _| {
        let mut lease = held(&limiter).await.expect("free");
        limiter.reset(&JOBS, "jobs").await.unwrap();
        timeout(PATIENCE, lease.lost()).await.expect("told");
        assert!(lease.is_lost());
        assert!(!lease.release().await.unwrap());
        assert_eq!(limiter.stats().leases_lost, 1);
    });
}

/// What shadow mode allows above the limit holds no lease, so a renewal would say that it is lost.
#[test]
fn a_lease_that_the_server_did_not_take_is_never_lost() {
    const ONE: Policy = Policy::lease(WINDOW, 1);
    let server = one_server();
    let mut con = server.con();
    block_on(async {
        let limiter = limiter(&server).await;
        let lease =
            async |policy: &Policy, key: &str| limiter.lease(policy, key).await.unwrap().held().expect("allowed");
        let first = lease(&ONE, "k").await;
        let mut above = vec![lease(&ONE.shadow(), "k").await];
        redis::cmd("CONFIG").arg("SET").arg("rl.shadow").arg("yes").exec(&mut con).unwrap();
        above.push(lease(&ONE, "k").await);
        redis::cmd("CONFIG").arg("SET").arg("rl.shadow").arg("no").exec(&mut con).unwrap();
        // At maxmemory, the server counts nothing.
        redis::cmd("CONFIG").arg("SET").arg("rl.on-oom").arg("allow").exec(&mut con).unwrap();
        redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1").exec(&mut con).unwrap();
        above.push(lease(&ONE, "other").await);
        redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("0").exec(&mut con).unwrap();
        let lost = futures_util::future::select_all(above.iter_mut().map(|lease| Box::pin(lease.lost())));
        assert!(timeout(WINDOW / 3 + Duration::from_millis(200), lost).await.is_err(), "lost");
        assert!(above.iter().all(|lease| !lease.is_lost()));
        assert_eq!(limiter.stats().leases_lost, 0);
        assert!(!above.remove(0).release().await.unwrap());
        assert!(first.release().await.unwrap(), "the lease within the limit is kept");
    });
}
