//! The calls of Kuadrant's gateways.

use std::thread::{self, sleep};
use std::time::Duration;

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use envoy_types::pb::envoy::service::ratelimit::v3::{RateLimitRequest, RateLimitResponse};
use envoy_types::pb::google::protobuf::Duration as ProtoDuration;
use prost::Message;
use rlaas::decide::proto::{CommitRequest, CommitResponse, ReserveRequest, ReserveResponse};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code as Status, Request};

use super::process::{Rlaas, http, run, until};
use super::{block_on, one_server, steps};
use crate::support::{Paused, Server, keys, servers};

/// The gateway of a service.
pub struct Gateway<'s>(pub &'s Rlaas);

/// The code and the message of an error.
type Failed = (Status, String);

impl Gateway<'_> {
    fn call<A, B>(&self, method: &str, request: A) -> Result<B, Failed>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Default + Send + Sync + 'static,
    {
        let path = format!("/kuadrant.service.ratelimit.v1.RateLimitService/{method}");
        let path = PathAndQuery::try_from(path).expect("a path");
        let codec = tonic_prost::ProstCodec::<A, B>::default();
        let reply = block_on(async {
            let mut client = tonic::client::Grpc::new(self.0.channel().await);
            client.ready().await.expect("a connection");
            client.unary(Request::new(request), path, codec).await
        });
        reply.map(tonic::Response::into_inner).map_err(|error| (error.code(), error.message().to_owned()))
    }

    fn try_reserve(&self, of: &str, amount: u64, ttl: i64) -> Result<ReserveResponse, Failed> {
        let ttl = (ttl != 0).then_some(ProtoDuration { seconds: ttl, nanos: 0 });
        let RateLimitRequest { domain, descriptors, .. } = steps::request(of);
        self.call("Reserve", ReserveRequest { domain, descriptors, amount, ttl })
    }

    /// The id of a reservation.
    pub fn reserve(&self, of: &str, amount: u64, ttl: i64) -> String {
        let reply = self.try_reserve(of, amount, ttl).expect("a reply");
        assert_eq!(reply.code(), Code::Ok);
        assert!(reply.reservation_id.len() == 32 && reply.reservation_id.bytes().all(|c| c.is_ascii_hexdigit()));
        reply.reservation_id
    }

    fn denied(&self, of: &str, amount: u64) -> bool {
        let reply = self.try_reserve(of, amount, 0).expect("a reply");
        assert_eq!(reply.reservation_id, "", "nothing is reserved");
        reply.code() == Code::OverLimit
    }

    fn try_commit(&self, of: &str, id: &str, actual_amount: u64) -> Result<bool, Failed> {
        let RateLimitRequest { domain, descriptors, .. } = steps::request(of);
        let used = CommitRequest { domain, descriptors, reservation_id: id.to_owned(), actual_amount };
        self.call("Commit", used).map(|reply: CommitResponse| reply.reservation_released)
    }

    pub fn commit(&self, of: &str, id: &str, actual: u64) -> bool {
        self.try_commit(of, id, actual).expect("a reply")
    }

    fn code(&self, method: &str, of: &str) -> Code {
        let reply: RateLimitResponse = self.call(method, steps::request(of)).expect("a reply");
        reply.overall_code()
    }

    /// How much is counted for a descriptor under a limit of 100 a year.
    fn used(&self, of: &str) -> u32 {
        100 - self.0.try_ask(&format!("{of} ?")).expect("a reply").statuses[0].limit_remaining
    }
}

const RULES: &str = "domain: d
descriptors:
  - {key: fixed, rate_limit: {unit: year, requests_per_unit: 100}}
  - {key: window, rate_limit: {algorithm: window, window: 1000h, limit: 100}}
  - {key: counter, rate_limit: {algorithm: counter, window: 1000h, limit: 100}}
  - {key: rolling, rate_limit: {algorithm: rolling, window: 1000h, limit: 100}}
  - {key: usd, rate_limit: {unit: year, requests_per_unit: 20, unit_scale: 1000000}}
  - {key: small, rate_limit: {name: small, unit: year, requests_per_unit: 1}}
  - {key: none, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: token, rate_limit: {name: by-token, algorithm: token, window: 1000h, limit: 100}}
  - {key: gcra, rate_limit: {name: by-gcra, algorithm: gcra, window: 1000h, limit: 100}}
  - {key: shadow, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: lease, rate_limit: {name: inside, algorithm: lease, limit: 3}}
  - {key: quota, quota_mode: true, rate_limit: {name: by-quota, unit: year, requests_per_unit: 1}}
";

/// The numbers and types of the fields, from limitador's public definition.
#[test]
fn the_messages_are_those_of_limitador() {
    let (domain, descriptors) = ("d".to_owned(), vec![RateLimitDescriptor::default()]);
    let ttl = Some(ProtoDuration { seconds: 6, nanos: 0 });
    let reserve = ReserveRequest { domain: domain.clone(), descriptors: descriptors.clone(), amount: 5, ttl };
    assert_eq!(reserve.encode_to_vec(), b"\x0a\x01d\x12\0\x18\x05\x22\x02\x08\x06");
    let reserved = ReserveResponse { code: Code::OverLimit.into(), reservation_id: "i".to_owned() };
    assert_eq!(reserved.encode_to_vec(), b"\x08\x02\x12\x01i");
    let commit = CommitRequest { domain, descriptors, reservation_id: "i".to_owned(), actual_amount: 7 };
    assert_eq!(commit.encode_to_vec(), b"\x0a\x01d\x12\0\x1a\x01i\x20\x07");
    assert_eq!(CommitResponse { reservation_released: true }.encode_to_vec(), b"\x08\x01");
}

#[test]
fn an_estimate_is_charged_and_settled_once() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let gateway = Gateway(&service);
    for of in ["fixed=a", "window=a", "counter=a", "rolling=a"] {
        // 70 is cut to half of the limit.
        let first = gateway.reserve(of, 70, 0);
        assert_eq!(gateway.used(of), 50, "{of}");
        let second = gateway.reserve(of, 50, 30);
        assert_ne!(first, second);
        assert!(gateway.denied(of, 1), "{of} is full");
        // Committed twice is committed once; more than the estimate counts.
        assert_eq!([(); 2].map(|()| gateway.commit(of, &first, 60)), [true, false], "{of}");
        assert!(!gateway.commit(of, "unknown", 7));
        assert!(gateway.commit(of, &second, 10));
        assert_eq!(gateway.used(of), 70, "{of}");
        // What is cancelled is known once too.
        let third = gateway.reserve(of, 5, 0);
        assert_eq!([(); 2].map(|()| gateway.commit(of, &third, 0)), [true, false], "{of}");
        // Without a reservation, it is charged.
        assert!(!gateway.commit(of, "", 0));
        assert_eq!(gateway.used(of), 70, "{of}");
        assert!(!gateway.commit(of, "", 35));
        assert_eq!(gateway.code("CheckRateLimit", of), Code::OverLimit, "{of}");
        assert_eq!(gateway.code("Report", of), Code::Ok, "{of}");
        assert_eq!(gateway.used(of), 100, "{of}");
    }
    // At least one unit is left of every fraction.
    assert_eq!([(); 2].map(|()| gateway.code("CheckRateLimit", "small=a")), [Code::Ok; 2], "it charges nothing");
    gateway.reserve("small=a", 5_000, 0);
    assert_eq!(gateway.code("CheckRateLimit", "small=a"), Code::OverLimit);
    assert!(gateway.denied("none=a", 1));
    // Nothing is reserved where there is no rule, and of what only shadow mode allows.
    assert!(!gateway.denied("other=a", 1));
    gateway.reserve("shadow=a", 1, 0);
    assert_eq!(gateway.try_reserve("shadow=a", 1, 0).expect("a reply").reservation_id, "");
    // Money: the limit is 20, and what is charged is in millionths.
    let id = gateway.reserve("usd=a", 5_000_001, 0);
    let status = service.try_ask("usd=a ?").expect("a reply").statuses.remove(0);
    let limit = status.current_limit.as_ref().expect("a limit");
    assert_eq!((limit.requests_per_unit, status.limit_remaining), (20, 14));
    assert!(gateway.commit("usd=a", &id, 20_000_000));
    assert!(gateway.denied("usd=a", 1));
    assert_eq!(service.figures("rlaas_commits"), "8 13 12", "charged, settled, unknown");
    // Each method has figures of its own.
    for name in ["total_requests", "response_time_seconds_count"] {
        let figures = service.figures(&format!("ratelimit_service_{name}"));
        assert_eq!(figures, "7 33 4 23 17", "CheckRateLimit, Commit, Report, Reserve, ShouldRateLimit");
    }
}

#[test]
fn all_limits_are_reserved_or_none() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let gateway = Gateway(&service);
    let both = "fixed=a | small=a | rolling=a | fixed=a";
    let used = |keys: [&str; 2]| keys.map(|key| gateway.used(&format!("{key}=a")));
    let id = gateway.reserve(both, 10, 0);
    assert_eq!(used(["fixed", "rolling"]), [10, 10], "a key that occurs twice is charged once");
    assert!(gateway.denied(both, 10), "small is full");
    assert_eq!(used(["fixed", "rolling"]), [10, 10]);
    assert!(gateway.commit(both, &id, 3));
    assert_eq!(used(["fixed", "rolling"]), [3, 3]);
    // Hits of a descriptor win: so a Reserve charges tokens and requests.
    let mixed = "window=a +1 | rolling=a";
    let id = gateway.reserve(mixed, 40, 0);
    assert_eq!(used(["window", "rolling"]), [1, 43]);
    assert!(gateway.commit(mixed, &id, 20));
    assert_eq!(used(["window", "rolling"]), [1, 23]);
    // Of two that have one key, the larger hits count, whichever comes first.
    for (of, charged) in [("window=b +2 | window=b +7", 7), ("window=b +9 | window=b +1", 16)] {
        gateway.reserve(of, 40, 0);
        assert_eq!(gateway.used("window=b"), charged, "{of}");
    }
}

#[test]
fn a_caller_that_dies_gives_its_estimate_back() {
    let server = one_server();
    let env = [("RLAAS_MAX_RESERVATION_TTL", "2500ms"), ("RLAAS_MAX_RESERVATION_FRACTION", "0.9")];
    let service = Rlaas::with_env(&server, RULES, &env);
    let gateway = Gateway(&service);
    // At the same time, since a reservation is known for twice its time and a busy machine needs a part of that.
    let dies = &|key: &str| {
        // The first is cut to the most, as one without a time; the second is shorter.
        let reserved = [3_600, 2, 0].map(|ttl| {
            let of = format!("{key}={ttl}");
            let id = gateway.reserve(&of, 95, ttl);
            assert_eq!(gateway.used(&of), 90);
            assert!(gateway.denied(&of, 20));
            let unused = gateway.reserve(&format!("{of}-unused"), 95, ttl);
            (of, id, unused)
        });
        sleep(Duration::from_millis(2_600));
        for (of, id, unused) in reserved {
            let next = gateway.reserve(&of, 20, 0);
            assert_eq!(gateway.used(&of), 20, "{of}");
            // It was used after all: what came back is charged.
            assert!(gateway.commit(&of, &id, 30), "{of}");
            assert!(gateway.commit(&of, &next, 20), "{of}");
            assert_eq!(gateway.used(&of), 50, "{of}");
            // What was not used is known as long.
            let of = format!("{of}-unused");
            assert_eq!([0, 0].map(|actual| gateway.commit(&of, &unused, actual)), [true, false], "{of}");
            assert_eq!(gateway.used(&of), 0, "{of}");
        }
    };
    thread::scope(|scope| {
        for key in ["fixed", "window", "counter", "rolling"] {
            scope.spawn(move || dies(key));
        }
    });
}

#[test]
fn what_cannot_be_reserved_is_an_error() {
    use Status::{FailedPrecondition, InvalidArgument};
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let gateway = Gateway(&service);
    let is = |(found, text): Failed, code, expected| assert!(found == code && text.contains(expected), "{text}");
    for (of, amount, ttl, code, expected) in [
        ("fixed=a | token=a", 1, 0, FailedPrecondition, "by-token: "),
        ("fixed=a | gcra=a", 1, 0, FailedPrecondition, "by-gcra: "),
        ("fixed=a | quota=a", 1, 0, FailedPrecondition, "by-quota: "),
        ("fixed=a ?", 1, 0, InvalidArgument, "hits_addend of at least 1"),
        ("fixed=a -1", 1, 0, InvalidArgument, "is_negative_hits"),
        ("fixed=a", 1, -1, InvalidArgument, "ttl must be more than 0"),
        ("fixed=a", u64::MAX, 0, InvalidArgument, "must be at most 9223372036854775807"),
        ("d: ", 1, 0, InvalidArgument, "descriptors must not be empty"),
        (": fixed=a", 1, 0, InvalidArgument, "domain must not be empty"),
    ] {
        is(gateway.try_reserve(of, amount, ttl).expect_err(expected), code, expected);
    }
    for (of, id, code, expected) in [
        ("fixed=a", "x".repeat(129), InvalidArgument, "at most 128 bytes"),
        ("fixed=a | token=a", "x".to_owned(), FailedPrecondition, "by-token: "),
        ("gcra=a", String::new(), FailedPrecondition, "by-gcra: "),
        ("fixed=a -1", "x".to_owned(), InvalidArgument, "is_negative_hits"),
    ] {
        is(gateway.try_commit(of, &id, 1).expect_err(expected), code, expected);
    }
    assert_eq!(gateway.used("fixed=a"), 0, "nothing was charged");
    // Without a domain, as limitador. In envoyproxy/ratelimit, ShouldRateLimit is an error.
    for method in ["CheckRateLimit", "Report"] {
        let reply: RateLimitResponse = gateway.call(method, steps::request(": fixed=a")).expect("a reply");
        assert_eq!(reply, RateLimitResponse::default(), "{method}");
    }
    assert_eq!(service.try_ask(": fixed=a").expect_err("no domain").code(), InvalidArgument);
    let without_module = Server::options(&servers()[0]).without_module().start();
    let service = Rlaas::start(&without_module, RULES);
    let gateway = Gateway(&service);
    let no_module = gateway.try_reserve("fixed=a", 1, 0).expect_err("no module");
    is(no_module.clone(), FailedPrecondition, "needs the module");
    is(no_module, FailedPrecondition, "settled twice");
    assert_eq!(gateway.used("fixed=a"), 0, "nothing was charged");
    let tagged = format!("{RULES}---\n").replace("domain: d", "domain: d\nhash_tag: fixed");
    for (rules, code, expected) in [
        (RULES, FailedPrecondition, "d.fixed: a reservation in a cluster needs a hash_tag"),
        (&tagged, InvalidArgument, "must have one value of 'fixed'"),
    ] {
        let cluster = Rlaas::at("redis-cluster://127.0.0.1:1", rules, &[]);
        is(Gateway(&cluster).try_reserve("fixed=a | fixed=b", 1, 0).expect_err(expected), code, expected);
    }
    for wrong in ["fraction=0", "fraction=1.5", "fraction=NaN", "fraction=half", "ttl=0s", "ttl=1us"] {
        let flag = format!("--max-reservation-{wrong}");
        let (starts, text) = run(&["serve", &flag]);
        let name = flag.split('=').next().expect("a name");
        assert!(!starts && text.contains(name) && text.contains("expected "), "{wrong}: {text}");
    }
}

#[test]
fn while_redis_is_away_nothing_is_reserved() {
    let server = one_server();
    let rules = ["allow", "deny", "error", "local"].map(|word| {
        let limits = "descriptors:
  - {key: k, rate_limit: {unit: year, requests_per_unit: 100}}
  - {key: lease, rate_limit: {algorithm: lease, limit: 1}}
";
        (word, format!("on_unavailable: {word}\n{limits}"))
    });
    let service = Rlaas::with_env(&server, "domain: d\n", &[("RLAAS_TIMEOUT", "300ms")]);
    service.add_rules(&rules);
    let gateway = Gateway(&service);
    let id = gateway.reserve("allow: k=a", 30, 0);
    let paused = Paused::new(&server);
    for limits in ["k=a", "lease=a", "k=a | lease=a +1"] {
        let [allow, deny, error] = ["allow", "deny", "error"].map(|domain| format!("{domain}: {limits}"));
        assert!(!gateway.denied(&allow, 1), "{limits}");
        assert!(gateway.denied(&deny, 1), "{limits}");
        assert_eq!(gateway.try_reserve(&error, 1, 0).expect_err("an error").0, Status::Unavailable);
    }
    assert_eq!([(); 2].map(|()| gateway.denied("local: lease=a", 1)), [false, true]);
    // A commit that was not executed can be sent again.
    for id in [&*id, ""] {
        assert_eq!(gateway.try_commit("allow: k=a", id, 10).expect_err("an error").0, Status::Unavailable, "{id}");
    }
    drop(paused);
    until("Redis decides", || {
        // The breaker closes with the reply to a request.
        _ = service.try_ask("allow: k=other");
        service.figures("rlaas_breakers_open") == "0"
    });
    // Each commit, and each of the two estimates of 1, may have been executed late, once.
    _ = gateway.commit("allow: k=a", &id, 10);
    let counted = gateway.used("allow: k=a");
    assert!(matches!(counted, 10..=12 | 20..=22), "{counted}");
}

#[test]
fn reservations_over_http_can_be_repeated() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let post = |path: &str, fields: &str| {
        let response = service.post(path, "fixed=a", fields);
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
    assert_eq!(Gateway(&service).used("fixed=a"), 62);
    let long = format!(r#","reservation_id":"{}""#, "x".repeat(129));
    for (path, wrong, expected) in [
        ("/reserve", r#","amounts":1"#, "the body is no ReserveRequest in JSON: unrecognized field name 'amounts'"),
        ("/reserve", r#","amount":-1"#, "the body is no ReserveRequest in JSON: "),
        ("/reserve", r#","ttl":"0s""#, "ttl must be more than 0"),
        ("/reserve", &long, "reservation_id must have at most 128 bytes\n"),
        ("/commit", r#","actual_amount":1,"actualAmount":2"#, "the body is no CommitRequest in JSON: "),
    ] {
        let (status, body) = post(path, wrong);
        assert!(status == 400 && body.starts_with(expected), "{status} {body}");
    }
    assert_eq!(http(&service.http, "GET /reserve", &[], "").status, 405);
}

#[test]
fn a_lease_counts_who_is_inside() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let gateway = Gateway(&service);
    // Rate and concurrency in one call, all or none: the second descriptor takes one unit.
    let both = "rolling=a | lease=a +1";
    let first = gateway.reserve(both, 20, 0);
    let others = [gateway.reserve(both, 20, 0), gateway.reserve(both, 20, 0)];
    assert!(gateway.denied(both, 20), "three are inside");
    assert_eq!(gateway.used("rolling=a"), 60);
    assert_eq!([(); 2].map(|()| gateway.commit(both, &first, 5)), [true, false]);
    assert_eq!(gateway.used("rolling=a"), 45);
    gateway.reserve(both, 20, 0);
    assert!(gateway.denied(both, 20));
    // Without an id, nobody leaves.
    assert!(!gateway.commit(both, "", 1));
    assert!(gateway.denied(both, 20));
    assert!(gateway.commit("lease=a", &others[0], 0));
    // One who dies loses its place.
    gateway.reserve("lease=a", 1, 1);
    assert!(gateway.denied("lease=a", 1));
    sleep(Duration::from_millis(1_100));
    gateway.reserve("lease=a", 0, 0);
    let (code, text) = gateway.try_reserve("lease=a", 2, 0).expect_err("an amount");
    assert_eq!((code, &*text), (Status::InvalidArgument, "inside: a lease takes an amount of 1"));
    // Nothing else takes a lease.
    let not_here = (Status::FailedPrecondition, "inside: algorithm lease is for Reserve and Commit alone".to_owned());
    for method in ["CheckRateLimit", "Report"] {
        let failed = gateway.call::<_, RateLimitResponse>(method, steps::request("lease=a")).expect_err(method);
        assert_eq!(failed, not_here);
    }
    let failed = service.try_ask("lease=a").expect_err("an error");
    assert_eq!((failed.code(), failed.message().to_owned()), not_here);
    // Who has the id of a reservation stays inside.
    let post = || service.post("/reserve", "lease=h", r#","ttl":"1s","reservationId":"mine""#).body;
    for _ in 0..2 {
        gateway.reserve("lease=h", 1, 0);
    }
    for _ in 0..4 {
        assert_eq!(post(), r#"{"code":"OK","reservationId":"mine"}"#);
        assert!(gateway.denied("lease=h", 1));
        sleep(Duration::from_millis(400));
    }
    assert!(gateway.commit("lease=h", "mine", 1));
    gateway.reserve("lease=h", 1, 0);
    let keys = keys(&mut server.con());
    assert!(keys.contains(&"rl:d:lease:lease=a".to_owned()), "{keys:?}");
}
