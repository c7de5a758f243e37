//! A cluster, from a URL.

use std::time::Duration;

use redis_rl_client::{Calendar, Limiter, Policy, Source};

use crate::link::Client;
use crate::setup::block_on;
use crate::support::*;

const API: Policy = Policy::token(Duration::from_secs(3600), 3);
const COUNTED: Policy = Policy::fixed(Duration::from_secs(3600), 3);
const DAILY: Policy = Policy::fixed_calendar(Calendar::Day, 3);
const ROLLING: Policy = Policy::rolling(Duration::from_secs(3600), 3);

fn url(cluster: &Cluster) -> String {
    let nodes: Vec<_> = cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    format!("redis-cluster://{}", nodes.join(","))
}

fn command<T: redis::FromRedisValue>(node: &Server, words: &[&str]) -> T {
    let mut command = redis::cmd("CLUSTER");
    command.arg(words).query(&mut node.con()).expect("a reply")
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
                let limiter = Limiter::builder(&url(&cluster)).expect("a URL").denials(0).timeout(PATIENCE).build();
                for n in 0..10 {
                    let key = format!("user:{n}");
                    assert_eq!(limiter.check(&API, &key).await.unwrap().remaining, 2);
                    limiter.settle(&API.request(&key), 2).await.unwrap();
                    assert_eq!(limiter.peek(&API.request(&key).cost(0)).await.unwrap().remaining, 1);
                    limiter.refund(&API.request(&key)).await.unwrap();
                    assert!(limiter.reset(&API, &key).await.unwrap());
                    let (a, b) = (format!("{{{key}}}a"), format!("{{{key}}}b"));
                    assert!(limiter.check_all(&[API.request(&a), COUNTED.request(&b)]).await.unwrap().allowed);
                    for policy in if with_module { &[COUNTED, DAILY, ROLLING][..] } else { &[] } {
                        for key in [format!("reserved:{n}"), b.clone()] {
                            let request = policy.request(&key);
                            let has = async |id: &str| limiter.has_reservation(&request, id).await.unwrap();
                            limiter.check_request(&request.cost(0).reserve("a", PATIENCE)).await.unwrap();
                            assert_eq!([has("a").await, has("b").await], [true, false], "{policy:?} {key}");
                        }
                    }
                }
                let jobs = Policy::lease(Duration::from_secs(30), 1);
                let lease = limiter.lease(&jobs, "jobs").await.unwrap().held().expect("free");
                assert!(lease.release().await.unwrap());
            });
            // No command went to a wrong node first, not even those whose first argument is no key.
            assert_eq!(moved(&cluster), 0);
        }
    });
}

#[test]
fn slots_that_move_are_followed() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 3, |options| options);
        let client = Client::patient(&url(&cluster));
        for n in 0..10 {
            assert_eq!(client.source(&format!("k{n}")), Source::Server);
        }
        // A slot that holds no key moves. Each node gets the new owner.
        let key = "moved";
        let slot = command::<u16>(&cluster.nodes[0], &["KEYSLOT", key]).to_string();
        let old = cluster.owner(key).port();
        let new = cluster.nodes.iter().find(|node| node.port() != old).expect("another node");
        let id: String = command(new, &["MYID"]);
        for node in std::iter::once(new).chain(&cluster.nodes) {
            command::<String>(node, &["SETSLOT", &slot, "NODE", &id]);
        }
        for _ in 0..5 {
            assert_eq!(client.source(key), Source::Server);
        }
        // A slot on its way: a key that is not there yet is asked for elsewhere.
        let key = "asked";
        let slot = command::<u16>(&cluster.nodes[0], &["KEYSLOT", key]).to_string();
        let source = cluster.owner(key);
        let target = cluster.nodes.iter().find(|node| node.port() != source.port()).expect("another node");
        let ids: [String; 2] = [source, target].map(|node| command(node, &["MYID"]));
        command::<String>(target, &["SETSLOT", &slot, "IMPORTING", &ids[0]]);
        command::<String>(source, &["SETSLOT", &slot, "MIGRATING", &ids[1]]);
        for _ in 0..3 {
            assert_eq!(client.source(key), Source::Server);
        }
        assert_eq!(keys(&mut target.con()).iter().filter(|found| *found == key).count(), 1);
    });
}

#[test]
fn a_wrong_password_of_a_cluster_is_an_error_and_no_fallback() {
    let cluster = Cluster::start(&servers()[0], 3, |options| options);
    let nodes = url(&cluster).replace("redis-cluster://", "");
    let right = |user: &str| Client::patient(&format!("redis-cluster://{user}{nodes}"));
    let open = right("");
    open.served("k");
    for node in &cluster.nodes {
        let mut con = node.con();
        // A user who may do nothing but limit.
        let words = ["SETUSER", "small", "on", ">right", "~*", "&*", "+@all", "-ping", "-cluster"];
        redis::cmd("ACL").arg(&words).exec(&mut con).unwrap();
        redis::cmd("CONFIG").arg("SET").arg("requirepass").arg("right").exec(&mut con).unwrap();
    }
    for user in ["", ":wrong@", "small:right@"] {
        let url = format!("redis-cluster://{user}{nodes}");
        let error = Client::patient(&url).check("k").expect_err(&url);
        assert!(!error.is_unavailable(), "{url} {error:?}");
    }
    assert_eq!(right(":right@").source("k"), Source::Server);
}

/// The other nodes name a node that is gone until they agree that it failed. That is no fault of the request.
#[test]
fn without_one_node_the_others_decide() {
    let mut cluster = Cluster::start(&servers()[0], 3, |options| options.set("cluster-node-timeout", "60000"));
    let client = Client::new(&url(&cluster));
    let lost = |key: &str| cluster.owner(key).port() == cluster.nodes[1].port();
    let key = |gone| (0..).map(|n| format!("k{n}")).find(|key| lost(key) == gone).expect("a key");
    let keys = [key(true), key(false)];
    keys.iter().for_each(|key| client.served(key));
    {
        let _paused = Paused::new(&cluster.nodes[1]);
        assert_eq!(client.sources_of_each(&keys), [Source::Fallback, Source::Server]);
        // The breaker opens for the keys of this node alone.
        for _ in 0..4 {
            assert_eq!(keys.clone().map(|key| client.source(&key)), [Source::Fallback, Source::Server]);
        }
    }
    assert_eq!(client.opened(), 1);
    keys.iter().for_each(|key| client.served(key));
    cluster.nodes[1].kill();
    let client = Client::that_never_opens(&url(&cluster), Duration::from_millis(500));
    for _ in 0..3 {
        assert_eq!(keys.clone().map(|key| client.source(&key)), [Source::Fallback, Source::Server]);
    }
}
