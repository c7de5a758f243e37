//! A cluster behind the service: slots that move, a master that hands over to its replica, a shard that is away.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;

use super::block_on;
use super::process::{Client, Options, Rlaas, request};
use crate::support::{
    Cluster, Options as ServerOptions, PATIENCE, Random, Server, eventually, servers, wait_for_replica,
};
use Code::{Ok as OK, OverLimit as OVER};

const LIMIT: u32 = 150;
/// What is counted is in one key for the whole test. A counter of `fixed` begins anew where its slot goes.
const ALGORITHMS: [&str; 5] = ["token", "rolling", "counter", "gcra", "window"];
/// Of each algorithm.
const KEYS: u64 = 4;
const CLIENTS: u64 = 3;

/// Limits of one descriptor, and in another domain two of one tenant, of which a request is charged both or none.
fn rules() -> String {
    let rate = |name: &str| format!("rate_limit: {{algorithm: {name}, unit: year, requests_per_unit: {LIMIT}}}");
    let each = ALGORITHMS.map(|name| format!("  - {{key: {name}, {}}}\n", rate(name))).concat();
    format!("domain: each\ndescriptors:\n{each}")
}

fn together() -> String {
    format!(
        "domain: together
all_or_nothing: true
hash_tag: tenant
descriptors:
  - key: tenant
    rate_limit: {{algorithm: token, unit: year, requests_per_unit: {LIMIT}}}
    descriptors: [{{key: user, rate_limit: {{algorithm: rolling, unit: year, requests_per_unit: {LIMIT}}}}}]
"
    )
}

fn serve(cluster: &Cluster) -> Rlaas {
    let hosts: Vec<_> = cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let redis = format!("redis-cluster://{}", hosts.join(","));
    // Denials are not remembered, so that every request is sent.
    let service = Rlaas::with(&Options { redis, rules: &rules(), env: &[("RLAAS_DENIALS", "0")] });
    std::fs::write(service.dir.path().join("rules/together.yaml"), together()).expect("a file");
    super::process::until("the rules are in force", || service.log().contains("generation=2"));
    service
}

/// How often each descriptor was allowed, and how many requests of each domain could not be decided.
#[derive(Debug, Default)]
struct Tally {
    allowed: BTreeMap<String, u32>,
    undecided: BTreeMap<&'static str, u32>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        for (name, n) in other.allowed {
            *self.allowed.entry(name).or_default() += n;
        }
        for (domain, n) in other.undecided {
            *self.undecided.entry(domain).or_default() += n;
        }
    }

    /// Sends a request for some of the keys.
    async fn ask(&mut self, client: &mut Client, random: &mut Random) {
        let (domain, names, request) = if random.below(4) == 0 {
            let [tenant, user] = [random.below(KEYS), 0].map(|n| n.to_string());
            let descriptors = [&[("tenant", tenant.as_str())][..], &[("tenant", &tenant), ("user", &user)]];
            ("together", vec![format!("tenant {tenant}"), format!("user {tenant}")], request("together", &descriptors))
        } else {
            let some: Vec<_> = (0..3).map(|_| (random.pick(&ALGORITHMS), random.below(KEYS).to_string())).collect();
            let entries: Vec<_> = some.iter().map(|(name, n)| [(*name, n.as_str())]).collect();
            let descriptors: Vec<_> = entries.iter().map(|entries| &entries[..]).collect();
            ("each", some.iter().map(|(name, n)| format!("{name} {n}")).collect(), request("each", &descriptors))
        };
        match client.try_ask(request).await {
            Ok(reply) => {
                for (name, status) in names.into_iter().zip(&reply.statuses) {
                    assert!(matches!(status.code(), OK | OVER), "{name}: {status:?}");
                    // Of the limits of a request that is denied as a whole, none is charged.
                    let charged = if domain == "together" { reply.overall_code() } else { status.code() } == OK;
                    *self.allowed.entry(name).or_default() += u32::from(charged);
                }
            }
            Err(status) => {
                assert_eq!(status.code(), tonic::Code::Unavailable, "{status}");
                *self.undecided.entry(domain).or_default() += 1;
            }
        }
    }
}

/// Runs `change` while clients send requests, until every key has reached its limit.
fn under_load(service: &Rlaas, change: impl FnOnce(&dyn Fn() -> u32) + Send) -> Tally {
    let (done, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    block_on(async {
        let mut clients = Vec::new();
        for seed in 0..CLIENTS {
            let (done, sent, mut client) = (done.clone(), sent.clone(), service.client().await);
            clients.push(tokio::spawn(async move {
                let (mut tally, mut random) = (Tally::default(), Random::new(seed));
                while !done.load(Ordering::Relaxed) {
                    tally.ask(&mut client, &mut random).await;
                    sent.fetch_add(1, Ordering::Relaxed);
                }
                tally
            }));
        }
        tokio::task::block_in_place(|| {
            change(&|| sent.load(Ordering::Relaxed));
            // Enough for each of the keys, which are chosen at random.
            let all = (ALGORITHMS.len() as u32 + 2) * KEYS as u32 * LIMIT * 2 / 3;
            assert!(eventually(4 * PATIENCE, || sent.load(Ordering::Relaxed) > all), "too slow");
        });
        done.store(true, Ordering::Relaxed);
        let mut all = Tally::default();
        for client in clients {
            all.add(client.await.expect("every request gets a reply that is documented"));
        }
        // What is left, one key after the other.
        let mut client = service.client().await;
        for n in 0..KEYS {
            let n = n.to_string();
            for name in ALGORITHMS {
                while client.code(request("each", &[&[(name, &n)]])).await == OK {
                    *all.allowed.entry(format!("{name} {n}")).or_default() += 1;
                }
            }
            let both = [&[("tenant", n.as_str())][..], &[("tenant", &n), ("user", "0")]];
            while client.code(request("together", &both)).await == OK {
                for name in ["tenant", "user"] {
                    *all.allowed.entry(format!("{name} {n}")).or_default() += 1;
                }
            }
        }
        all
    })
}

fn id(node: &Server) -> String {
    redis::cmd("CLUSTER").arg("MYID").query(&mut node.con()).expect("CLUSTER MYID")
}

/// The slots that have keys.
fn used_slots(node: &Server) -> Vec<u16> {
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut node.con()).expect("KEYS");
    let slot = |key: &String| redis::cmd("CLUSTER").arg("KEYSLOT").arg(key).query(&mut node.con()).expect("KEYSLOT");
    let slots: std::collections::BTreeSet<u16> = keys.iter().map(slot).collect();
    slots.into_iter().collect()
}

/// Moves a slot with its keys, as redis-cli does: meanwhile there are MOVED, ASK and TRYAGAIN.
fn migrate(slot: u16, from: &Server, to: &Server, others: &[&Server]) {
    let set = |node: &Server, words: &[&str]| {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SETSLOT").arg(slot).arg(words);
        command.exec(&mut node.con()).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    };
    set(to, &["IMPORTING", &id(from)]);
    set(from, &["MIGRATING", &id(to)]);
    loop {
        // One at a time, so that clients meet a slot that is half here and half there.
        let next: Vec<String> =
            redis::cmd("CLUSTER").arg("GETKEYSINSLOT").arg(slot).arg(1).query(&mut from.con()).expect("GETKEYSINSLOT");
        let Some(key) = next.first() else { break };
        let mut migrate = redis::cmd("MIGRATE");
        migrate.arg("127.0.0.1").arg(to.port()).arg(key).arg(0).arg(10_000).arg("REPLACE");
        migrate.exec(&mut from.con()).expect("MIGRATE");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Until a client has asked here for what is there.
    let before = errors(from, "ASK");
    assert!(eventually(PATIENCE, || errors(from, "ASK") > before), "no ASK");
    for node in [&[to, from], others].concat() {
        set(node, &["NODE", &id(to)]);
    }
}

/// How often a node replied with this error.
fn errors(node: &Server, name: &str) -> u64 {
    let stats: String = redis::cmd("INFO").arg("errorstats").query(&mut node.con()).expect("INFO");
    let count = stats.lines().find_map(|line| line.strip_prefix(&format!("errorstat_{name}:count=")));
    count.map_or(0, |count| count.trim().parse().expect("a number"))
}

fn is_exact(tally: &Tally) {
    for (name, allowed) in &tally.allowed {
        // A request that could not be decided may be charged.
        let least = LIMIT.saturating_sub(3 * tally.undecided.values().sum::<u32>());
        assert!((least..=LIMIT).contains(allowed), "{name}: {allowed} of {LIMIT}, undecided: {:?}", tally.undecided);
    }
    assert_eq!(tally.allowed.len() as u64, (ALGORITHMS.len() as u64 + 2) * KEYS);
}

#[test]
fn slots_that_move_let_nothing_through() {
    let cluster = Cluster::start(&servers()[0], 3, |options| options);
    let service = serve(&cluster);
    let tally = under_load(&service, |sent| {
        let [first, second, third] = cluster.nodes.as_slice() else { panic!("three nodes") };
        assert!(eventually(PATIENCE, || used_slots(first).len() >= 4), "no traffic");
        let slots = used_slots(first);
        for (from, to) in [(first, second), (second, first)] {
            for slot in &slots {
                let before = sent();
                migrate(*slot, from, to, &[third]);
                assert!(eventually(PATIENCE, || sent() > before), "no traffic");
            }
        }
    });
    is_exact(&tally);
    // Two keys of which one has moved get TRYAGAIN, for longer than a request waits if the machine is busy.
    assert_eq!(tally.undecided.get("each"), None, "every redirection is followed");
    assert!(cluster.nodes.iter().any(|node| errors(node, "MOVED") > 0), "no MOVED");
}

#[test]
fn a_master_that_hands_over_lets_nothing_through() {
    let bin = &servers()[0];
    let cluster = Cluster::start(bin, 3, |options| options);
    let replica = ServerOptions::new(bin).cluster().start();
    let first = &cluster.nodes[0];
    let meet = |words: &[&str]| {
        let mut command = redis::cmd("CLUSTER");
        command.arg(words).exec(&mut replica.con())
    };
    meet(&["MEET", "127.0.0.1", &first.port().to_string(), &first.bus_port().to_string()]).expect("CLUSTER MEET");
    assert!(eventually(PATIENCE, || meet(&["REPLICATE", &id(first)]).is_ok()), "the replica meets nobody");
    wait_for_replica(first, &replica);
    for node in cluster.nodes.iter().chain([&replica]) {
        let knows = || {
            let all: String = redis::cmd("CLUSTER").arg("NODES").query(&mut node.con()).expect("CLUSTER NODES");
            all.contains("slave") && all.lines().count() == 4 && !all.contains("handshake")
        };
        assert!(eventually(PATIENCE, knows), "the nodes do not come to know each other");
    }
    let service = serve(&cluster);
    let role = || -> String {
        let role: Vec<redis::Value> = redis::cmd("ROLE").query(&mut replica.con()).expect("ROLE");
        redis::from_redis_value_ref(&role[0]).expect("text")
    };
    let tally = under_load(&service, |sent| {
        assert!(eventually(PATIENCE, || sent() > 100), "no traffic");
        // The master waits until the replica has everything. On a busy machine that may take too long, and is given up.
        let takes_over = || meet(&["FAILOVER"]).is_ok() && eventually(Duration::from_secs(6), || role() == "master");
        assert!(eventually(PATIENCE, takes_over), "the replica never takes over:\n{}", replica.log());
        let before = sent();
        assert!(eventually(PATIENCE, || sent() > before + 100), "no traffic");
    });
    is_exact(&tally);
}

#[test]
fn the_limits_of_other_shards_count_while_one_is_away() {
    let mut cluster = Cluster::start(&servers()[0], 3, |options| options.set("cluster-require-full-coverage", "no"));
    let rules = "on_unavailable: allow\ndomain: d\ndescriptors: [{key: k, rate_limit: {algorithm: token, unit: year, requests_per_unit: 1}}]\n";
    let hosts: Vec<_> = cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let redis = format!("redis-cluster://{}", hosts.join(","));
    let env = [("RLAAS_DENIALS", "0"), ("RLAAS_TIMEOUT", "1s")];
    let service = Rlaas::with(&Options { redis, rules, env: &env });
    // One key of each node.
    let of_node = |at: usize| {
        let key = |n: &u32| format!("rl:d:token:31536000:k={n}");
        (0..).find(|n| cluster.owner(key(n)).port() == cluster.nodes[at].port()).expect("a key").to_string()
    };
    let [away, here] = [of_node(0), of_node(1)];
    block_on(async {
        let mut client = service.client().await;
        let both = || request("d", &[&[("k", &away)], &[("k", &here)]]);
        let ends = Instant::now() + PATIENCE;
        while client.codes(both()).await.0 != [OVER, OVER] {
            assert!(Instant::now() < ends, "never decided");
        }
        cluster.nodes[0].kill();
        // The breaker opens for the slots of this node alone.
        for _ in 0..10 {
            assert_eq!(client.code(request("d", &[&[("k", &away)]])).await, OK);
        }
        for _ in 0..5 {
            // One limit is decided by on_unavailable, the other by its server.
            assert_eq!(client.codes(both()).await, (vec![OK, OVER], OVER));
        }
        cluster.nodes[0].start_again();
        let ends = Instant::now() + PATIENCE;
        while client.codes(both()).await.0[1] != OVER || client.try_ask(both()).await.is_err() {
            assert!(Instant::now() < ends, "it does not recover");
        }
    });
}
