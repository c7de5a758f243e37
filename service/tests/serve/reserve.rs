//! The calls of Kuadrant's gateways. The messages are written here by hand, from limitador's public definition: so a wrong
//! number or type of a field shows.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use envoy_types::pb::google::protobuf::{Duration as ProtoDuration, UInt64Value};
use prost::Message;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code as Status, Request};

use super::process::{Options, Paused, Rlaas, back, hits, http, request, until};
use super::{block_on, one_server};
use crate::support::{module_path, servers};

#[derive(Clone, Message)]
struct ReserveRequest {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(message, repeated, tag = "2")]
    descriptors: Vec<RateLimitDescriptor>,
    #[prost(uint64, tag = "3")]
    amount: u64,
    #[prost(message, optional, tag = "4")]
    ttl: Option<ProtoDuration>,
}

#[derive(Clone, Message)]
struct ReserveResponse {
    #[prost(enumeration = "Code", tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    reservation_id: String,
}

#[derive(Clone, Message)]
struct CommitRequest {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(message, repeated, tag = "2")]
    descriptors: Vec<RateLimitDescriptor>,
    #[prost(string, tag = "3")]
    reservation_id: String,
    #[prost(uint64, tag = "4")]
    actual_amount: u64,
}

#[derive(Clone, Copy, Message)]
struct CommitResponse {
    #[prost(bool, tag = "1")]
    reservation_released: bool,
}

struct Gateway(tonic::client::Grpc<Channel>);

/// The code and the message of an error.
type Failed = (Status, String);

impl Gateway {
    async fn of(service: &Rlaas) -> Self {
        Self(tonic::client::Grpc::new(service.channel().await))
    }

    async fn call<A, B>(&mut self, method: &str, request: A) -> Result<B, Failed>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Default + Send + Sync + 'static,
    {
        self.0.ready().await.expect("a connection");
        let path = format!("/kuadrant.service.ratelimit.v1.RateLimitService/{method}");
        let path = PathAndQuery::try_from(path).expect("a path");
        let codec = tonic_prost::ProstCodec::<A, B>::default();
        let reply = self.0.unary(Request::new(request), path, codec).await;
        reply.map(tonic::Response::into_inner).map_err(|error| (error.code(), error.message().to_owned()))
    }

    async fn try_reserve(&mut self, of: &RateLimitRequest, amount: u64, ttl: i64) -> Result<ReserveResponse, Failed> {
        let ttl = (ttl != 0).then_some(ProtoDuration { seconds: ttl, nanos: 0 });
        let (domain, descriptors) = (of.domain.clone(), of.descriptors.clone());
        self.call("Reserve", ReserveRequest { domain, descriptors, amount, ttl }).await
    }

    /// The id of a reservation.
    async fn reserve(&mut self, of: &RateLimitRequest, amount: u64, ttl: i64) -> String {
        let reply = self.try_reserve(of, amount, ttl).await.expect("a reply");
        assert_eq!(reply.code(), Code::Ok);
        assert!(reply.reservation_id.len() == 32 && reply.reservation_id.bytes().all(|c| c.is_ascii_hexdigit()));
        reply.reservation_id
    }

    async fn denied(&mut self, of: &RateLimitRequest, amount: u64) -> bool {
        let reply = self.try_reserve(of, amount, 0).await.expect("a reply");
        assert_eq!(reply.reservation_id, "", "nothing is reserved");
        reply.code() == Code::OverLimit
    }

    async fn try_commit(&mut self, of: &RateLimitRequest, id: &str, actual: u64) -> Result<bool, Failed> {
        let (domain, descriptors) = (of.domain.clone(), of.descriptors.clone());
        let used = CommitRequest { domain, descriptors, reservation_id: id.to_owned(), actual_amount: actual };
        self.call("Commit", used).await.map(|reply: CommitResponse| reply.reservation_released)
    }

    async fn commit(&mut self, of: &RateLimitRequest, id: &str, actual: u64) -> bool {
        self.try_commit(of, id, actual).await.expect("a reply")
    }

    async fn code(&mut self, method: &str, of: &RateLimitRequest) -> Code {
        let reply: RateLimitResponse = self.call(method, of.clone()).await.expect("a reply");
        reply.overall_code()
    }
}

/// How much is counted for a descriptor under a limit of 100 a year.
async fn used(service: &Rlaas, of: &RateLimitRequest) -> u32 {
    let reply = service.client().await.ask(hits(of.clone(), 0)).await;
    100 - reply.statuses[0].limit_remaining
}

const RULES: &str = "domain: d
descriptors:
  - {key: fixed, rate_limit: {unit: year, requests_per_unit: 100}}
  - {key: window, rate_limit: {algorithm: window, window: 1000h, limit: 100}}
  - {key: counter, rate_limit: {algorithm: counter, window: 1000h, limit: 100}}
  - {key: rolling, rate_limit: {algorithm: rolling, window: 1000h, limit: 100}}
  - {key: small, rate_limit: {name: small, unit: year, requests_per_unit: 1}}
  - {key: none, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: token, rate_limit: {name: by-token, algorithm: token, window: 1000h, limit: 100}}
  - {key: gcra, rate_limit: {name: by-gcra, algorithm: gcra, window: 1000h, limit: 100}}
  - {key: shadow, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: lease, rate_limit: {name: inside, algorithm: lease, limit: 3}}
  - {key: quota, quota_mode: true, rate_limit: {name: by-quota, unit: year, requests_per_unit: 1}}
";
const RESERVED: [&str; 4] = ["fixed", "window", "counter", "rolling"];

fn one(key: &str, value: &str) -> RateLimitRequest {
    request("d", &[&[(key, value)]])
}

/// guarantee: rlaas-reserve
#[test]
fn an_estimate_is_charged_and_settled_once() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    block_on(async {
        let mut gateway = Gateway::of(&service).await;
        for key in RESERVED {
            let of = one(key, "a");
            // 70 is cut to half of the limit.
            let first = gateway.reserve(&of, 70, 0).await;
            assert_eq!(used(&service, &of).await, 50, "{key}");
            let second = gateway.reserve(&of, 50, 30).await;
            assert_ne!(first, second);
            assert!(gateway.denied(&of, 1).await, "{key} is full");
            // Committed twice is committed once; more than the estimate counts.
            for expected in [true, false] {
                assert_eq!(gateway.commit(&of, &first, 60).await, expected, "{key}");
            }
            assert!(!gateway.commit(&of, "unknown", 7).await);
            assert!(gateway.commit(&of, &second, 10).await);
            assert_eq!(used(&service, &of).await, 70, "{key}");
            // What is cancelled is known once too.
            let third = gateway.reserve(&of, 5, 0).await;
            for expected in [true, false] {
                assert_eq!(gateway.commit(&of, &third, 0).await, expected, "{key}");
            }
            // Without a reservation, it is charged.
            assert!(!gateway.commit(&of, "", 0).await);
            assert_eq!(used(&service, &of).await, 70, "{key}");
            assert!(!gateway.commit(&of, "", 35).await);
            assert_eq!(gateway.code("CheckRateLimit", &of).await, Code::OverLimit, "{key}");
            assert_eq!(gateway.code("Report", &of).await, Code::Ok, "{key}");
            assert_eq!(used(&service, &of).await, 100, "{key}");
        }
        // At least one unit is left of every fraction.
        let small = one("small", "a");
        assert_eq!(gateway.code("CheckRateLimit", &small).await, Code::Ok);
        assert_eq!(gateway.code("CheckRateLimit", &small).await, Code::Ok, "it charges nothing");
        gateway.reserve(&small, 5_000, 0).await;
        assert_eq!(gateway.code("CheckRateLimit", &small).await, Code::OverLimit);
        assert!(gateway.denied(&one("none", "a"), 1).await);
        // Nothing is reserved where there is no rule, and of what only shadow mode allows.
        assert!(!gateway.denied(&one("other", "a"), 1).await);
        gateway.reserve(&one("shadow", "a"), 1, 0).await;
        assert!(!gateway.denied(&one("shadow", "a"), 1).await);
    });
    for (outcome, count) in [("settled", 12), ("unknown", 12), ("charged", 8)] {
        let line = format!("rlaas_commits{{outcome=\"{outcome}\"}} {count}");
        assert_eq!(service.metrics(&format!("rlaas_commits{{outcome=\"{outcome}\"")), [line]);
    }
}

/// guarantee: rlaas-reserve
#[test]
fn all_limits_are_reserved_or_none() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    block_on(async {
        let mut gateway = Gateway::of(&service).await;
        let both = request("d", &[&[("fixed", "a")], &[("small", "a")], &[("rolling", "a")], &[("fixed", "a")]]);
        let id = gateway.reserve(&both, 10, 0).await;
        let (fixed, rolling) = (one("fixed", "a"), one("rolling", "a"));
        assert_eq!(used(&service, &fixed).await, 10, "a key that occurs twice is charged once");
        assert!(gateway.denied(&both, 10).await, "small is full");
        assert_eq!((used(&service, &fixed).await, used(&service, &rolling).await), (10, 10));
        assert!(gateway.commit(&both, &id, 3).await);
        assert_eq!((used(&service, &fixed).await, used(&service, &rolling).await), (3, 3));
        // Hits of a descriptor win: so a Reserve charges tokens and requests.
        let mixed = hits(request("d", &[&[("window", "a")], &[("rolling", "a")]]), 1);
        let id = gateway.reserve(&mixed, 40, 0).await;
        let window = one("window", "a");
        assert_eq!((used(&service, &window).await, used(&service, &rolling).await), (1, 43));
        assert!(gateway.commit(&mixed, &id, 20).await);
        assert_eq!((used(&service, &window).await, used(&service, &rolling).await), (1, 23));
    });
}

/// guarantee: rlaas-reserve
#[test]
fn a_caller_that_dies_gives_its_estimate_back() {
    let server = one_server();
    let env = [("RLAAS_MAX_RESERVATION_TTL", "1500ms"), ("RLAAS_MAX_RESERVATION_FRACTION", "0.9")];
    let service = Rlaas::with_env(&server, RULES, &env);
    block_on(async {
        let mut gateway = Gateway::of(&service).await;
        for key in RESERVED {
            // The first is cut to the most, as one without a time; the second is shorter.
            for ttl in [3_600, 1, 0] {
                let of = one(key, &format!("{ttl}"));
                let id = gateway.reserve(&of, 95, ttl).await;
                assert_eq!(used(&service, &of).await, 90);
                assert!(gateway.denied(&of, 20).await);
                tokio::time::sleep(Duration::from_millis(1_600)).await;
                let next = gateway.reserve(&of, 20, 0).await;
                assert_eq!(used(&service, &of).await, 20, "{key} {ttl}");
                // It was used after all: what came back is charged.
                assert!(gateway.commit(&of, &id, 30).await);
                assert!(gateway.commit(&of, &next, 20).await);
                assert_eq!(used(&service, &of).await, 50, "{key} {ttl}");
            }
        }
    });
}

#[test]
fn what_cannot_be_reserved_is_an_error() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    block_on(async {
        let mut gateway = Gateway::of(&service).await;
        let fixed = one("fixed", "a");
        for (of, name) in [("token", "by-token: "), ("gcra", "by-gcra: "), ("quota", "by-quota: ")] {
            let of = request("d", &[&[("fixed", "a")], &[(of, "a")]]);
            let (code, text) = gateway.try_reserve(&of, 1, 0).await.expect_err(name);
            assert!(code == Status::FailedPrecondition && text.starts_with(name), "{text}");
        }
        let token = request("d", &[&[("fixed", "a")], &[("token", "a")]]);
        for (of, amount, ttl, expected) in [
            (&hits(fixed.clone(), 0), 1, 0, "hits_addend of at least 1"),
            (&back(hits(fixed.clone(), 1)), 1, 0, "is_negative_hits"),
            (&fixed, 1, -1, "ttl must be more than 0"),
            (&fixed, u64::MAX, 0, "must be at most 9223372036854775807"),
            (&request("d", &[]), 1, 0, "descriptors must not be empty"),
            (&request("", &[&[("fixed", "a")]]), 1, 0, "domain must not be empty"),
        ] {
            let (code, text) = gateway.try_reserve(of, amount, ttl).await.expect_err(expected);
            assert!(code == Status::InvalidArgument && text.contains(expected), "{text}");
        }
        for (of, id, code, expected) in [
            (&fixed, "x".repeat(129), Status::InvalidArgument, "at most 128 bytes"),
            (&token, "x".to_owned(), Status::FailedPrecondition, "by-token: "),
            (&one("gcra", "a"), String::new(), Status::FailedPrecondition, "by-gcra: "),
            (&back(hits(fixed.clone(), 1)), "x".to_owned(), Status::InvalidArgument, "is_negative_hits"),
        ] {
            let (found, text) = gateway.try_commit(of, &id, 1).await.expect_err(expected);
            assert!(found == code && text.contains(expected), "{text}");
        }
        assert_eq!(used(&service, &fixed).await, 0, "nothing was charged");
    });
    let tagged = format!("{RULES}---\n").replace("domain: d", "domain: d\nhash_tag: fixed");
    for (rules, code, expected) in [
        (RULES, Status::FailedPrecondition, "d.fixed: a reservation in a cluster needs a hash_tag"),
        (&tagged, Status::InvalidArgument, "must have one value of 'fixed'"),
    ] {
        let cluster = Rlaas::with(&Options { redis: "redis-cluster://127.0.0.1:1".to_owned(), rules, env: &[] });
        block_on(async {
            let of = request("d", &[&[("fixed", "a")], &[("fixed", "b")]]);
            let failed = Gateway::of(&cluster).await.try_reserve(&of, 1, 0).await.expect_err(expected);
            assert!(failed.0 == code && failed.1.contains(expected), "{}", failed.1);
        });
    }
    for (name, wrong) in [
        ("FRACTION", "0"),
        ("FRACTION", "1.5"),
        ("FRACTION", "NaN"),
        ("FRACTION", "half"),
        ("TTL", "0s"),
        ("TTL", "1us"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rlaas"));
        let ended = command.arg("serve").env(format!("RLAAS_MAX_RESERVATION_{name}"), wrong).output().expect("it runs");
        let text = String::from_utf8_lossy(&ended.stderr).into_owned();
        let flag = format!("--max-reservation-{}", name.to_lowercase());
        assert!(!ended.status.success() && text.contains(&flag) && text.contains("expected "), "{wrong}: {text}");
    }
}

#[test]
fn while_redis_is_away_nothing_is_reserved() {
    let server = one_server();
    let rules = ["allow", "deny", "error"].map(|word| {
        let limits = "descriptors:
  - {key: k, rate_limit: {unit: year, requests_per_unit: 100}}
  - {key: lease, rate_limit: {algorithm: lease, limit: 1}}
";
        (word, format!("on_unavailable: {word}\n{limits}"))
    });
    let service = Rlaas::with_env(&server, "domain: d\n", &[("RLAAS_TIMEOUT", "1s")]);
    service.add_rules(&rules.each_ref().map(|(name, rules)| (*name, rules.as_str())));
    block_on(async {
        let mut gateway = Gateway::of(&service).await;
        let [allow, deny, error] = ["allow", "deny", "error"].map(|domain| request(domain, &[&[("k", "a")]]));
        let id = gateway.reserve(&allow, 30, 0).await;
        let paused = Paused::new(&server);
        assert!(!gateway.denied(&allow, 1).await);
        assert!(gateway.denied(&deny, 1).await);
        // Only the server can hold a lease.
        for of in [error, request("allow", &[&[("lease", "a")]])] {
            assert_eq!(gateway.try_reserve(&of, 1, 0).await.expect_err("an error").0, Status::Unavailable);
        }
        // A commit that was not executed can be sent again.
        for id in [id.as_str(), ""] {
            assert_eq!(gateway.try_commit(&allow, id, 10).await.expect_err("an error").0, Status::Unavailable, "{id}");
        }
        drop(paused);
        until("Redis decides", || service.metrics("rlaas_breakers_open") == ["rlaas_breakers_open 0"]);
        // It may have been executed late, once.
        _ = gateway.commit(&allow, &id, 10).await;
        let counted = used(&service, &allow).await;
        assert!([10, 20, 11, 21].contains(&counted), "{counted}");
    });
}

#[test]
fn reservations_over_http_can_be_repeated() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let post = |path: &str, fields: &str| {
        let body = format!(r#"{{"domain":"d","descriptors":[{{"entries":[{{"key":"fixed","value":"a"}}]}}]{fields}}}"#);
        let response = http(&service.http, &format!("POST {path}"), &[], &body);
        (response.status, response.body)
    };
    let reply = r#"{"code":"OK","reservationId":"mine"}"#.to_owned();
    for _ in 0..3 {
        let fields = r#","amount":"40","ttl":"1.5s","reservation_id":"mine""#;
        assert_eq!(post("/reserve", fields), (200, reply.clone()));
    }
    let (status, body) = post("/reserve", r#","amount":50"#);
    assert!(status == 200 && body.starts_with(r#"{"code":"OK","reservationId":""#), "{body}");
    assert_eq!(post("/reserve", r#","amount":50"#), (429, r#"{"code":"OVER_LIMIT"}"#.to_owned()));
    let commit = r#","reservationId":"mine","actualAmount":"12""#;
    assert_eq!(post("/commit", commit), (200, r#"{"reservationReleased":true}"#.to_owned()));
    assert_eq!(post("/commit", commit), (200, "{}".to_owned()));
    block_on(async { assert_eq!(used(&service, &one("fixed", "a")).await, 62) });
    for (path, wrong, expected) in [
        ("/reserve", r#","amounts":1"#, "the body is no ReserveRequest in JSON: unrecognized field name 'amounts'"),
        ("/reserve", r#","amount":-1"#, "the body is no ReserveRequest in JSON: "),
        ("/reserve", r#","ttl":"0s""#, "ttl must be more than 0"),
        ("/commit", r#","actual_amount":1,"actualAmount":2"#, "the body is no CommitRequest in JSON: "),
    ] {
        let (status, body) = post(path, wrong);
        assert!(status == 400 && body.starts_with(expected), "{status} {body}");
    }
    let long = format!(r#","reservation_id":"{}""#, "x".repeat(129));
    assert_eq!(post("/reserve", &long), (400, "reservation_id must have at most 128 bytes\n".to_owned()));
    assert_eq!(http(&service.http, "GET /reserve", &[], "").status, 405);
}

/// The request, where the second descriptor takes one unit.
fn with_lease(value: &str) -> RateLimitRequest {
    let mut both = request("d", &[&[("rolling", value)], &[("lease", value)]]);
    both.descriptors[1].hits_addend = Some(UInt64Value { value: 1 });
    both
}

#[test]
fn a_lease_counts_who_is_inside() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    block_on(async {
        let mut gateway = Gateway::of(&service).await;
        // Rate and concurrency in one call, all or none.
        let (both, rolling) = (with_lease("a"), one("rolling", "a"));
        let first = gateway.reserve(&both, 20, 0).await;
        let others = [gateway.reserve(&both, 20, 0).await, gateway.reserve(&both, 20, 0).await];
        assert!(gateway.denied(&both, 20).await, "three are inside");
        assert_eq!(used(&service, &rolling).await, 60);
        for expected in [true, false] {
            assert_eq!(gateway.commit(&both, &first, 5).await, expected);
        }
        assert_eq!(used(&service, &rolling).await, 45);
        gateway.reserve(&both, 20, 0).await;
        assert!(gateway.denied(&both, 20).await);
        // Without an id, nobody leaves.
        assert!(!gateway.commit(&both, "", 1).await);
        assert!(gateway.denied(&both, 20).await);
        let lease = one("lease", "a");
        assert!(gateway.commit(&lease, &others[0], 0).await);
        // One who dies loses its place.
        gateway.reserve(&lease, 1, 1).await;
        assert!(gateway.denied(&lease, 1).await);
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        gateway.reserve(&lease, 0, 0).await;
        let (code, text) = gateway.try_reserve(&lease, 2, 0).await.expect_err("an amount");
        assert_eq!((code, &*text), (Status::InvalidArgument, "inside: a lease takes an amount of 1"));
        // Nothing else takes a lease.
        for method in ["CheckRateLimit", "Report"] {
            let failed = gateway.call::<_, RateLimitResponse>(method, lease.clone()).await.expect_err(method);
            assert_eq!(failed, (Status::FailedPrecondition, NOT_HERE.to_owned()));
        }
        let failed = service.client().await.try_ask(lease).await.expect_err("an error");
        assert_eq!((failed.code(), failed.message()), (Status::FailedPrecondition, NOT_HERE));
    });
    // Who has the id of a reservation stays inside.
    let post = || {
        let descriptors = r#"[{"entries":[{"key":"lease","value":"h"}]}]"#;
        let body = format!(r#"{{"domain":"d","descriptors":{descriptors},"ttl":"1s","reservationId":"mine"}}"#);
        http(&service.http, "POST /reserve", &[], &body).body
    };
    block_on(async {
        let (mut gateway, lease) = (Gateway::of(&service).await, one("lease", "h"));
        for _ in 0..2 {
            gateway.reserve(&lease, 1, 0).await;
        }
        for _ in 0..4 {
            assert_eq!(post(), r#"{"code":"OK","reservationId":"mine"}"#);
            assert!(gateway.denied(&lease, 1).await);
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
        assert!(gateway.commit(&lease, "mine", 1).await);
        gateway.reserve(&lease, 1, 0).await;
    });
    let keys: Vec<String> = redis::cmd("KEYS").arg("*lease*").query(&mut server.con()).expect("KEYS");
    assert!(keys.contains(&"rl:d:lease:lease=a".to_owned()), "{keys:?}");
}

/// Money: the limit is 20, and what is charged is in millionths.
#[test]
fn a_unit_can_be_a_part_of_the_limits_unit() {
    let server = one_server();
    let rule = |scale| {
        format!(
            "domain: d\ndescriptors: [{{key: k, rate_limit: {{name: usd, unit: year, requests_per_unit: 20{scale}}}}}]"
        )
    };
    let service = Rlaas::start(&server, &rule(", unit_scale: 1000000"));
    block_on(async {
        let (mut gateway, of) = (Gateway::of(&service).await, one("k", "a"));
        let id = gateway.reserve(&of, 5_000_001, 0).await;
        let look = hits(of.clone(), 0);
        let status = service.client().await.ask(look.clone()).await.statuses.remove(0);
        let limit = status.current_limit.as_ref().expect("a limit");
        assert_eq!((limit.requests_per_unit, status.limit_remaining), (20, 14));
        assert!(gateway.commit(&of, &id, 20_000_000).await);
        assert!(gateway.denied(&of, 1).await);
        service.write_rules(&rule(", unit_scale: 1000"));
        // What was counted was in another unit.
        until("the rules are in force", || service.log().contains("generation=2"));
        gateway.reserve(&of, 1, 0).await;
    });
}

const NOT_HERE: &str = "inside: algorithm lease is for Reserve and Commit alone";

/// What its first line says is too much, since the tokens of a stream are charged after it.
#[test]
fn the_example_shows_what_reservations_are_for() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/llm-gateway/gateway.py");
    let variables = [("SERVER", &servers()[0].path), ("RL_MODULE", &module_path())];
    let output =
        Command::new("python3").arg(example).envs(variables).env("RLAAS", env!("CARGO_BIN_EXE_rlaas")).output();
    let text = String::from_utf8(output.expect("python3 runs").stdout).expect("text");
    let passed = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name} {text}"));
        line.split_whitespace().next().and_then(|tokens| tokens.replace(',', "").parse().ok()).unwrap_or(0)
    };
    assert!(passed("check, then charge:") > 10_000, "{text}");
    assert!((5_000..=10_000).contains(&passed("Reserve and Commit:")), "{text}");
}
