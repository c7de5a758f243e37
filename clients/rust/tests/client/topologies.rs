//! Clusters, with and without a runtime, with and without the module.

use std::time::Duration;

use redis::cluster::ClusterClient;
use redis_rl_client::{Limiter, Policy, sync};

use crate::setup::block_on;
use crate::support::*;

const API: Policy = Policy::token(Duration::from_secs(3600), 3);
const COUNTED: Policy = Policy::fixed(Duration::from_secs(3600), 3);

/// A client that waits for a busy machine.
fn client(cluster: &Cluster) -> ClusterClient {
    let urls = cluster.nodes.iter().map(|node| format!("redis://127.0.0.1:{}", node.port()));
    let builder = ClusterClient::builder(urls.collect::<Vec<_>>());
    builder.response_timeout(PATIENCE).connection_timeout(PATIENCE).build().expect("a client")
}

/// The cluster's own count of redirections.
fn moved(cluster: &Cluster) -> u64 {
    let count = |node: &Server| {
        let stats: String = redis::cmd("INFO").arg("errorstats").query(&mut node.con()).unwrap();
        let line = stats.lines().find_map(|line| line.strip_prefix("errorstat_MOVED:count="));
        line.map_or(0, |count| count.trim().parse::<u64>().unwrap())
    };
    cluster.nodes.iter().map(count).sum()
}

#[test]
fn every_call_reaches_the_node_of_its_key() {
    for_each_server(|bin| {
        for with_module in [true, false] {
            let options = |options: Options| if with_module { options } else { options.without_module() };
            let cluster = Cluster::start(bin, 3, options);
            block_on(async {
                let connection = client(&cluster).get_async_connection().await.expect("a connection");
                let limiter = Limiter::builder(connection).denials(0).timeout(PATIENCE).build();
                for n in 0..10 {
                    let key = format!("user:{n}");
                    assert_eq!(limiter.check(&API, &key).await.unwrap().remaining, 2);
                    limiter.settle(&API.request(&key), 2).await.unwrap();
                    assert_eq!(limiter.peek(&API.request(&key).cost(0)).await.unwrap().remaining, 1);
                    limiter.refund(&API.request(&key)).await.unwrap();
                    assert!(limiter.reset(&API, &key).await.unwrap());
                    let (a, b) = (format!("{{{key}}}a"), format!("{{{key}}}b"));
                    assert!(limiter.check_all(&[API.request(&a), COUNTED.request(&b)]).await.unwrap().allowed);
                }
                let jobs = Policy::lease(Duration::from_secs(30), 1);
                let lease = limiter.lease(&jobs, "jobs").await.unwrap().held().expect("free");
                assert!(lease.release().await.unwrap());
                assert_eq!(limiter.lacks_module(), !with_module);
            });
            let limiter = sync::Limiter::builder(client(&cluster)).timeout(PATIENCE).build_sync();
            for n in 0..10 {
                let key = format!("sync:{n}");
                assert!(limiter.check(&API, &key).unwrap().allowed);
                assert!(limiter.peek(&API.request(&key)).unwrap().allowed);
                let (a, b) = (format!("{{{key}}}a"), format!("{{{key}}}b"));
                assert!(limiter.check_all(&[API.request(&a), COUNTED.request(&b)]).unwrap().allowed);
            }
            // No command went to a wrong node first, not even those whose first argument is no key.
            assert_eq!(moved(&cluster), 0);
        }
    });
}
