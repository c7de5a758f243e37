//! The master that Sentinels name.

use redis_rl_client::Source;

use crate::link::Client;
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
        let client = Client::new(&url);
        client.served("k");
        assert!(eventually(PATIENCE, || sentinel.ask::<String>("FAILOVER").is_ok()), "no failover");
        let decided = |server: &Server| try_info(server.port(), "rl_token_allowed")?.parse::<u64>().ok();
        let mut before = None;
        assert!(eventually(PATIENCE, || {
            before = decided(&replica);
            before.is_some()
        }));
        // Every request gets a decision; `source` fails on an error.
        assert!(eventually(PATIENCE, || client.source("k") == Source::Server && decided(&replica) > before));
    });
}

/// A name that the Sentinels do not know, and a server that is no Sentinel.
#[test]
fn a_wrong_configuration_of_sentinels_is_an_error_and_no_fallback() {
    let master = one_server();
    let sentinel = Sentinel::start(&servers()[0], master.port());
    let (away, known) = (free_port(), sentinel.port());
    for (url, text) in [
        (format!("redis-sentinel://127.0.0.1:{known},127.0.0.1:{away}/other"), "other"),
        (format!("redis-sentinel://127.0.0.1:{away},127.0.0.1:{known}/other"), "other"),
        (format!("redis-sentinel://127.0.0.1:{}/main", master.port()), "SENTINEL"),
    ] {
        let client = Client::patient(&url);
        let error = client.check("k").expect_err("an error");
        assert!(!error.is_unavailable() && error.to_string().contains(text), "{error}");
    }
    // No Sentinel, or a name that is known and a master that is away, is an outage.
    assert_eq!(Client::new(&format!("redis-sentinel://127.0.0.1:{away}/main")).source("k"), Source::Fallback);
    drop(master);
    assert_eq!(Client::new(&format!("redis-sentinel://127.0.0.1:{known}/main")).source("k"), Source::Fallback);
}
