//! The calls of the limiter, against real servers, over RESP2 and RESP3, with the module and with the Lua library.

#[path = "../../../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use redis_rl_client::{Limiter, Policy};
use support::*;

const API: Policy = Policy::token(Duration::from_secs(60), 5).name("api");

#[tokio::test]
async fn the_sixth_is_denied() {
    for bin in servers() {
        let server = Server::start(bin);
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", server.port())).unwrap();
        let limiter = Limiter::new(client.get_multiplexed_async_connection().await.unwrap());
        for n in (0..5).rev() {
            let decision = limiter.check(&API, "user:42").await.unwrap();
            assert_eq!((decision.allowed, decision.remaining), (true, n));
        }
        assert!(!limiter.check(&API, "user:42").await.unwrap().allowed);
    }
}
