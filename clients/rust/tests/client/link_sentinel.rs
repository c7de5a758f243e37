//! The master that Sentinels name.

use std::time::Duration;

use redis_rl_client::{Limiter, Policy, Source};

use crate::link::Clients;
use crate::setup::{block_on, free_port};
use crate::support::*;

#[test]
fn a_failover_ends_with_the_new_master_and_is_never_an_error() {
    for_each_server(|bin| {
        let master = Server::start(bin);
        let replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let sentinel = Sentinel::start(bin, master.port());
        // The first of the Sentinels is gone.
        let url = format!("redis-sentinel://127.0.0.1:{},127.0.0.1:{}/main", free_port(), sentinel.port());
        let clients = Clients::new(&url);
        clients.served("k");
        assert!(eventually(PATIENCE, || sentinel.ask::<String>("FAILOVER").is_ok()), "no failover");
        let decided = |server: &Server| try_info(server.port(), "rl_token_allowed")?.parse::<u64>().ok();
        let mut before = None;
        assert!(eventually(PATIENCE, || {
            before = decided(&replica);
            before.is_some()
        }));
        // Every request gets a decision; `sources` fails on an error.
        assert!(eventually(PATIENCE, || { clients.sources("k") == [Source::Server; 2] && decided(&replica) > before }));
    });
}

#[test]
fn a_connection_that_the_master_closed_is_opened_before_the_next_request() {
    let master = Server::start(&servers()[0]);
    let sentinel = Sentinel::start(&servers()[0], master.port());
    let url = format!("redis-sentinel://127.0.0.1:{}/main", sentinel.port());
    Clients::with_settings(&url, PATIENCE, Default::default()).served_after_closing("k", [&master]);
}

#[test]
fn a_name_that_no_sentinel_knows_is_no_decision() {
    let master = Server::start(&servers()[0]);
    let sentinel = Sentinel::start(&servers()[0], master.port());
    block_on(async {
        let url = format!("redis-sentinel://127.0.0.1:{}/other", sentinel.port());
        let limiter = Limiter::builder(redis_rl_client::Link::open(&url).unwrap()).timeout(PATIENCE).build();
        let error = limiter.check(&Policy::token(Duration::from_secs(60), 5), "k").await.unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains("other"), "{error}");
    });
}
