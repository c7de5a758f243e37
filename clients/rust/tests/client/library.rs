//! Servers without the module, and servers that get or lose it.

use std::time::Duration;

use redis_rl_client::Policy;

use crate::setup::{block_on, limiter, manager};
use crate::support::*;

const API: Policy = Policy::token(Duration::from_secs(3600), 5);

#[test]
fn the_library_is_loaded_once_and_survives_a_flush() {
    for_each_server(|bin| {
        let server = Server::options(bin).without_module().start();
        block_on(async {
            let limiter = limiter(&server).await;
            assert!(!limiter.lacks_module());
            assert!(limiter.check(&API, "k").await.unwrap().allowed);
            assert!(limiter.lacks_module());
            let calls = |command: &str| {
                let stats: String = redis::cmd("INFO").arg("commandstats").query(&mut server.con()).unwrap();
                let line = stats.lines().find(|line| line.starts_with(&format!("cmdstat_{command}:calls=")));
                line.map_or(0, |line| line.split(['=', ',']).nth(1).unwrap().parse::<u64>().unwrap())
            };
            assert_eq!((calls("evalsha"), calls("eval")), (1, 1));
            assert!(limiter.check(&API, "k").await.unwrap().allowed);
            assert_eq!((calls("evalsha"), calls("eval")), (2, 1));
            redis::cmd("SCRIPT").arg("FLUSH").exec(&mut server.con()).unwrap();
            assert_eq!(limiter.check(&API, "k").await.unwrap().remaining, 2);
            assert_eq!(calls("eval"), 2);
        });
    });
}

#[test]
fn a_server_that_lost_the_module_is_noticed_at_once() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        block_on(async {
            let limiter = redis_rl_client::Limiter::builder(manager(&server, "resp3").await).timeout(PATIENCE).build();
            assert!(limiter.check(&API, "k").await.unwrap().allowed);
            assert!(!limiter.lacks_module());
            server.kill();
            server.start_again_with(Options::without_module);
            // The connection of before is broken, so some requests fail until the manager has a new one.
            let deadline = std::time::Instant::now() + PATIENCE;
            while limiter.check(&API, "k").await.is_err() {
                assert!(std::time::Instant::now() < deadline, "the manager does not connect again");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            assert!(limiter.lacks_module());
        });
    });
}
