//! What the service promises whatever happens to Redis, and whatever is sent to it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::{Entry, RateLimitOverride};
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use envoy_types::pb::google::protobuf::UInt64Value;
use futures_util::future::join_all;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis_rl_algorithm::{Name, Traits};
use tonic::Code as Status;

use super::flood::{calls, connect, read_frame};
use super::operation::rules;
use super::process::{Rlaas, get};
use super::{block_on, one_server};
use crate::support::*;
use Code::Ok as OK;

#[test]
fn ten_instances_allow_exactly_the_limit() {
    const LIMIT: u32 = 137;
    let server = one_server();
    let services: Vec<_> = thread::scope(|scope| {
        let started = [(); 10].map(|()| scope.spawn(|| Rlaas::start(&server, &rules(LIMIT))));
        started.into_iter().map(|service| service.join().expect("a service")).collect()
    });
    let allowed = AtomicU32::new(0);
    block_on(async {
        let mut clients = join_all(services.iter().map(Rlaas::client)).await;
        let ask_all = clients.iter_mut().map(async |client| {
            for _ in 0..30 {
                if client.code("k=x").await == OK {
                    allowed.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        join_all(ask_all).await;
    });
    assert_eq!(allowed.into_inner(), LIMIT);
}

/// HTTP/1 says so of a header: 431.
#[test]
fn a_header_has_at_most_16_kib_and_a_message_4_mib() {
    let server = one_server();
    let service = Rlaas::start(&server, &rules(5));
    block_on(async {
        let mut client = service.client().await;
        for (length, is_decided) in [(15_000, true), (17_000, false)] {
            let header = "x".repeat(length);
            let reply = client.try_ask_with(("x-long", &header), "k=header").await;
            assert_eq!(reply.is_ok(), is_decided, "{length}: {reply:?}");
            let status = get(&service.http, "/healthcheck", &[("X-Long", &header)]).status;
            assert_eq!(status, if is_decided { 200 } else { 431 });
        }
        let long = |bytes: usize| format!("k={}", "x".repeat(bytes));
        assert_eq!(client.code(&long(4 * 1024 * 1024 - 100)).await, OK);
        let status = client.try_ask(&long(4 * 1024 * 1024)).await.expect_err("too long");
        assert_eq!(status.code(), Status::OutOfRange, "{status}");
        assert_eq!(client.code("k=x").await, OK);
    });
}

/// A frame of HTTP/2.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

#[test]
fn floods_of_http2_end_their_connections_and_nothing_else() {
    let server = one_server();
    let service = Rlaas::start(&server, &rules(5));
    let [data, headers, reset, settings, ping] = [0, 1, 3, 4, 6];
    // POST http / of host "x", by the indexes of HPACK's static table.
    let call = |stream| frame(headers, 4, stream, &[0x83, 0x86, 0x84, 0x01, 1, b'x']);
    let streams = || (0..20_000_u32).map(|n| 2 * n + 1);
    let floods: [Vec<u8>; 5] = [
        // Calls that are cancelled at once: CVE-2023-44487.
        streams().flat_map(|stream| [call(stream), frame(reset, 0, stream, &[0, 0, 0, 8])].concat()).collect(),
        // Headers without an end: CVE-2024-27316.
        [frame(headers, 0, 1, &[0x83]), (0..20_000).flat_map(|_| frame(9, 0, 1, &[0x84])).collect()].concat(),
        (0..20_000).flat_map(|_| frame(ping, 0, 0, &[0; 8])).collect(),
        (0..20_000).flat_map(|_| frame(settings, 0, 0, &[])).collect(),
        (0..20_000).flat_map(|_| frame(data, 0, 1, &[])).collect(),
    ];
    for flood in floods {
        let mut stream = connect(&service);
        stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout");
        // The service may close the connection in the middle, or stop reading it.
        _ = stream.write_all(&flood);
        assert_eq!(service.code("k=other,k=y"), OK);
    }
    // A connection that says something else.
    let mut wrong = TcpStream::connect(&service.address).expect("a connection");
    wrong.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    wrong.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    _ = wrong.read(&mut [0; 64]);
    assert_eq!(service.code("k=x"), OK);
}

#[test]
fn a_connection_gets_goaway_at_its_age_and_is_cut_after_the_grace() {
    let server = one_server();
    let ages = [("GRPC_MAX_CONNECTION_AGE", "300ms"), ("GRPC_MAX_CONNECTION_AGE_GRACE", "400ms")];
    let service = Rlaas::with_env(&server, &rules(5), &ages);
    // The reply to this request takes longer.
    let _paused = Paused::new(&server);
    let (opened, goaway) = (Instant::now(), 7);
    let mut stream = connect(&service);
    stream.write_all(&calls(1, Some("x"))).expect("sent");
    let mut asked_to_end = None;
    let ended = loop {
        match read_frame(&mut stream) {
            Ok((kind, ..)) if kind == goaway => _ = asked_to_end.get_or_insert_with(|| opened.elapsed()),
            Ok(_) => {}
            Err(error) => break error.kind(),
        }
    };
    let cut = opened.elapsed();
    assert!(ended != ErrorKind::WouldBlock, "not cut within {PATIENCE:?}");
    let asked_to_end = asked_to_end.expect("GOAWAY");
    assert!(asked_to_end >= Duration::from_millis(269), "{asked_to_end:?}");
    assert!(cut - asked_to_end >= Duration::from_millis(399), "{cut:?}, {asked_to_end:?}");
}

/// A descriptor; about half of them fit a rule.
fn some_descriptor() -> impl Strategy<Value = RateLimitDescriptor> {
    let text = "k|a|b|\\PC{0,8}|[ -~]{0,12}";
    let fits = prop::sample::select(algorithms()).prop_map(|name| ("a".to_owned(), name.to_owned()));
    let entry = prop_oneof![fits, (text, text)].prop_map(|(key, value)| Entry { key, value });
    let limit =
        (any::<u32>(), -1..10_i32).prop_map(|(requests_per_unit, unit)| RateLimitOverride { requests_per_unit, unit });
    let hits = prop_oneof![0..5_u64, any::<u64>()].prop_map(|value| UInt64Value { value });
    let entries = prop_oneof![prop::collection::vec(entry.clone(), 1), prop::collection::vec(entry, 0..4)];
    (entries, prop::option::of(limit), prop::option::of(hits), any::<bool>()).prop_map(
        |(entries, limit, hits_addend, is_negative_hits)| RateLimitDescriptor {
            entries,
            limit,
            hits_addend,
            is_negative_hits,
        },
    )
}

/// Whether rules may name it for every call.
pub fn is_for_rules(name: &Name) -> bool {
    let Traits { cost, delays, most, .. } = *name.traits();
    cost && !delays && most.is_none()
}

fn algorithms() -> Vec<&'static str> {
    Name::ALL.into_iter().filter(is_for_rules).map(Name::label).collect()
}

#[test]
fn what_charge_allowed_denies_is_not_charged() {
    // Keys of this many hits, of which so many requests fit.
    const KEYS: [(&str, u32, u32); 2] = [("one", 1, 10), ("many", 500, 2)];
    let all = || algorithms().into_iter().flat_map(|name| KEYS.map(|key| (name, key)));
    let rules = |times: u32| {
        let rule = |(name, (key, hits, fit)): (&str, (&str, u32, u32))| {
            let limit = hits * fit * times;
            format!(
                "  - {{key: {key}, value: {name}, rate_limit: {{algorithm: {name}, unit: year, limit: {limit}, charge: allowed}}}}\n"
            )
        };
        all().map(rule).fold("domain: d\ndescriptors:\n".to_owned(), |text, rule| text + &rule)
    };
    for server in [one_server(), Server::options(&servers()[0]).without_module().start()] {
        // Each request after a denial asks again.
        let env = [("RLAAS_RECHECK_DENIALS", "1ms")];
        let copies = [(); 3].map(|()| Rlaas::with_env(&server, &rules(1), &env));
        let allowed = |name: &str, key: &str, hits: u32| {
            let ask = |copy: &Rlaas| copy.code(&format!("{key}={name} +{hits}"));
            copies.iter().cycle().take(15).filter(|copy| ask(copy) == OK).count()
        };
        for (name, (key, hits, fit)) in all() {
            assert_eq!(allowed(name, key, hits), fit as usize, "{name} +{hits}");
        }
        for copy in &copies {
            copy.write_rules(&rules(2));
        }
        copies.iter().for_each(|copy| copy.until_generation(2));
        // A bucket that is larger is not fuller, and a lock stays.
        let grows =
            |name: &str| Name::ALL.into_iter().any(|n| n.label() == name && !n.traits().burst && !n.traits().lock);
        for (name, (key, hits, fit)) in all().filter(|(name, _)| grows(name)) {
            assert_eq!(allowed(name, key, hits), fit as usize, "{name} +{hits}, of a limit twice as large");
        }
    }
}

/// A request of more than the limit is never allowed, so its denial has no time to wait for; but what `charge: always`
/// counted ends. Without a time, Envoy says 0, and the client asks again at once.
#[test]
fn a_denial_that_was_charged_says_when_that_ends() {
    let server = one_server();
    let names = || Name::ALL.into_iter().filter(|name| name.traits().always && is_for_rules(name));
    let rule = |name: Name, charge| {
        let name = name.label();
        let limit = format!("{{algorithm: {name}, unit: hour, limit: 5, charge: {charge}}}");
        format!("  - {{key: {charge}, value: {name}, rate_limit: {limit}}}\n")
    };
    let rules = names().flat_map(|name| ["always", "allowed"].map(|charge| rule(name, charge)));
    let service = Rlaas::start(&server, &format!("domain: d\ndescriptors:\n{}", rules.collect::<String>()));
    for (name, charge) in names().flat_map(|name| ["always", "allowed"].map(|charge| (name.label(), charge))) {
        // The second is a remembered denial.
        for _ in 0..2 {
            let reply = service.try_ask(&format!("{charge}={name} +9")).expect("a reply");
            let status = &reply.statuses[0];
            assert_eq!(status.code(), Code::OverLimit, "{name}");
            let ends = status.duration_until_reset.is_some_and(|time| time.seconds > 0);
            assert_eq!(ends, charge == "always", "{name}, {charge}: {status:?}");
        }
    }
}

#[test]
fn no_request_ends_it() {
    let server = one_server();
    let rules = algorithms().into_iter().map(|name| {
        format!(
            "  - {{key: a, value: '{name}*', rate_limit: {{algorithm: {name}, unit: hour, requests_per_unit: 3}}}}\n"
        )
    });
    let rules = format!("descriptors:\n  - {{key: k}}\n{}", rules.collect::<String>());
    let service = Rlaas::start(&server, "");
    service.add_rules(&[("d", &rules), ("e", &format!("all_or_nothing: true\n{rules}"))]);
    let some = ("d|e|\\PC{0,3}", prop::collection::vec(some_descriptor(), 0..70), any::<u32>());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut client = runtime.block_on(service.client());
    let result = TestRunner::new(Config::with_cases(200)).run(&some, |(domain, descriptors, hits_addend)| {
        let count = descriptors.len();
        match runtime.block_on(client.clone().0.should_rate_limit(RateLimitRequest {
            domain,
            descriptors,
            hits_addend,
        })) {
            Ok(reply) => prop_assert_eq!(reply.get_ref().statuses.len(), count),
            // INTERNAL: Redis rejects a number that is too large, for example.
            Err(status) => prop_assert!(
                matches!(status.code(), Status::InvalidArgument | Status::Internal)
                    && !status.message().contains("panic"),
                "{}",
                status
            ),
        }
        Ok(())
    });
    result.expect("every request gets a reply");
    assert!(!service.log().contains("panicked"));
    assert_eq!(runtime.block_on(client.code("k=x")), OK);
}
