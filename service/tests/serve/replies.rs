//! What a request gets: the features of the protocol and of the rules.

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::RateLimitOverride;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::{Code, RateLimit};
use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, UInt64Value};
use redis::Connection;

use super::process::{Rlaas, back, hits, request, until};
use super::{block_on, for_each_server, one_server};
use crate::support::*;
use Code::{Ok as OK, OverLimit as OVER};

fn get(con: &mut Connection, key: &str) -> Option<i64> {
    // The counter of a fixed window is at `key:<bucket>`.
    let keys: Vec<String> = redis::cmd("KEYS").arg(format!("{key}*")).query(con).expect("KEYS");
    let key = keys.first()?;
    redis::cmd("GET").arg(key).query(con).expect("a counter")
}

#[test]
fn the_fourth_of_three_is_over_the_limit() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let rules = "domain: d
descriptors:
  - {key: user, rate_limit: {name: mine, unit: year, requests_per_unit: 3}}
  - {key: bucket, rate_limit: {algorithm: token, window: 100s, limit: 10, burst: 2}}
  - {key: rolling, rate_limit: {algorithm: rolling, unit: hour, requests_per_unit: 1}}
  - {key: free, rate_limit: {unlimited: true}}
";
        let service = Rlaas::start(&server, rules);
        block_on(async {
            let mut client = service.client().await;
            for remaining in [2, 1, 0] {
                let reply = client.ask(request("d", &[&[("user", "a")]])).await;
                let status = &reply.statuses[0];
                assert_eq!((reply.overall_code(), status.code(), status.limit_remaining), (OK, OK, remaining));
                let limit = RateLimit { name: "mine".to_owned(), requests_per_unit: 3, unit: 6 };
                assert_eq!(status.current_limit, Some(limit));
                let reset = status.duration_until_reset.expect("a time").seconds;
                assert!((1..=31_536_000).contains(&reset), "{reset}");
            }
            let reply = client.ask(request("d", &[&[("user", "a")]])).await;
            assert_eq!((reply.overall_code(), reply.statuses[0].code()), (OVER, OVER));
            assert_eq!(reply.statuses[0].limit_remaining, 0);
            assert_eq!(client.code(request("d", &[&[("user", "b")]])).await, OK);
            let bucket = request("d", &[&[("bucket", "x")]]);
            assert_eq!(client.code(bucket.clone()).await, OK);
            assert_eq!(client.code(bucket.clone()).await, OK);
            let status = &client.ask(bucket).await.statuses[0];
            assert_eq!(status.code(), OVER);
            // The time to retry after, rounded up: a token comes every 10 seconds.
            assert!((9..=10).contains(&status.duration_until_reset.expect("a time").seconds), "{status:?}");
            assert_eq!(status.current_limit.as_ref().expect("a limit").unit, 0);
            assert_eq!(client.code(request("d", &[&[("rolling", "x")]])).await, OK);
            assert_eq!(client.code(request("d", &[&[("rolling", "x")]])).await, OVER);
            let reply = client.ask(request("d", &[&[("free", "x")], &[("none", "x")]])).await;
            assert_eq!((reply.statuses[0].code(), reply.statuses[0].limit_remaining), (OK, u32::MAX));
            assert_eq!((reply.statuses[1].code(), reply.statuses[1].limit_remaining), (OK, 0));
            assert!(reply.statuses[0].current_limit.is_none() && reply.statuses[1].current_limit.is_none());
            assert_eq!(client.codes(request("elsewhere", &[&[("user", "a")]])).await, (vec![OK], OK));
        });
    });
}

#[test]
fn a_limit_always_charges_or_only_what_it_allows() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: always, rate_limit: {unit: year, requests_per_unit: 5}}
  - {key: allowed, rate_limit: {algorithm: counter, unit: year, requests_per_unit: 5}}
";
    let service = Rlaas::start(&server, rules);
    block_on(async {
        let mut client = service.client().await;
        let always = |n| hits(request("d", &[&[("always", "x")]]), n);
        assert_eq!(client.code(always(4)).await, OK);
        assert_eq!(client.code(always(4)).await, OVER);
        assert_eq!(get(&mut server.con(), "rl:d:fixed:"), Some(8));
        // The denial is remembered for as many hits, so they are not sent; fewer are.
        assert_eq!(client.code(always(4)).await, OVER);
        assert_eq!(get(&mut server.con(), "rl:d:fixed:"), Some(8));
        assert_eq!(client.code(always(1)).await, OVER);
        assert_eq!(get(&mut server.con(), "rl:d:fixed:"), Some(9));
        let allowed = |n| hits(request("d", &[&[("allowed", "x")]]), n);
        assert_eq!(client.code(allowed(4)).await, OK);
        assert_eq!(client.code(allowed(4)).await, OVER);
        assert_eq!(client.code(allowed(1)).await, OK);
        // The hits of the request count for descriptors without their own; 0 means 1.
        let mut both = request("d", &[&[("always", "y")], &[("always", "z")]]);
        both.hits_addend = 5;
        assert_eq!(client.codes(hits(both.clone(), 6)).await, (vec![OVER, OK], OVER));
        // No number of hits is too large for the counters of the server.
        let most = hits(request("d", &[&[("always", "w")], &[("always", "w")]]), i64::MAX.unsigned_abs());
        for _ in 0..2 {
            assert_eq!(client.codes(most.clone()).await, (vec![OVER, OVER], OVER));
        }
    });
}

#[test]
fn a_look_is_over_only_beyond_the_limit() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: fixed, rate_limit: {unit: year, requests_per_unit: 5}}
  - {key: gcra, rate_limit: {algorithm: gcra, unit: year, requests_per_unit: 5}}
";
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_DENIALS", "0")]);
    block_on(async {
        let mut client = service.client().await;
        for (key, at_the_limit) in [("fixed", OK), ("gcra", OVER)] {
            let with = |n| hits(request("d", &[&[(key, "x")]]), n);
            assert_eq!(client.code(with(0)).await, OK);
            assert_eq!(client.code(with(5)).await, OK);
            assert_eq!(client.code(with(0)).await, at_the_limit, "{key}");
            assert_eq!(client.code(with(1)).await, OVER);
            assert_eq!(client.code(with(0)).await, OVER);
            // Two units are given back, so one is free.
            assert_eq!(client.code(back(with(if key == "fixed" { 2 } else { 1 }))).await, OK);
            assert_eq!(client.code(with(0)).await, OK);
        }
    });
}

#[test]
fn a_remembered_denial_never_answers_a_look() {
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 5}}]\n";
    let service = Rlaas::start(&server, rules);
    block_on(async {
        let mut client = service.client().await;
        let with = |n| hits(request("d", &[&[("k", "x")]]), n);
        assert_eq!(client.code(with(6)).await, OVER);
        // Somebody else gives units back: the next look says so at once.
        redis::cmd("FLUSHALL").exec(&mut server.con()).expect("FLUSHALL");
        assert_eq!(client.code(with(0)).await, OK);
    });
}

#[test]
fn a_limit_replaces_another_by_its_name() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: all, rate_limit: {name: general, unit: year, requests_per_unit: 0}}
  - {key: one, rate_limit: {unit: year, requests_per_unit: 5, replaces: [{name: general}]}}
  - {key: free, rate_limit: {unlimited: true, replaces: [{name: general}]}}
";
    let service = Rlaas::start(&server, rules);
    block_on(async {
        let mut client = service.client().await;
        assert_eq!(client.codes(request("d", &[&[("all", "")]])).await, (vec![OVER], OVER));
        assert_eq!(client.codes(request("d", &[&[("all", "")], &[("one", "")]])).await, (vec![OK, OK], OK));
        assert_eq!(client.codes(request("d", &[&[("free", "")], &[("all", "")]])).await, (vec![OK, OK], OK));
    });
}

#[test]
fn shadow_mode_counts_and_allows() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: shadow, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: real, rate_limit: {unit: year, requests_per_unit: 1}}
";
    let service = Rlaas::start(&server, rules);
    block_on(async {
        let mut client = service.client().await;
        let both = request("d", &[&[("shadow", "")], &[("real", "")]]);
        assert_eq!(client.codes(both.clone()).await, (vec![OK, OK], OK));
        let reply = client.ask(both).await;
        assert_eq!((reply.statuses[0].code(), reply.statuses[0].limit_remaining), (OK, 0));
        assert_eq!((reply.statuses[1].code(), reply.overall_code()), (OVER, OVER));
        assert_eq!(get(&mut server.con(), "rl:d:fixed:31536000:shadow"), Some(2));
    });
    let service = Rlaas::with_env(&server, rules, &[("SHADOW_MODE", "true")]);
    block_on(async {
        let mut client = service.client().await;
        assert_eq!(client.codes(request("d", &[&[("real", "")]])).await, (vec![OVER], OK));
    });
}

#[test]
fn quotas_deny_only_if_all_of_them_are_over() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: one, quota_mode: true, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: two, quota_mode: true, rate_limit: {unit: year, requests_per_unit: 2}}
  - {key: hard, rate_limit: {unit: year, requests_per_unit: 0}}
";
    let service = Rlaas::start(&server, rules);
    block_on(async {
        let mut client = service.client().await;
        let both = request("d", &[&[("one", "")], &[("two", "")]]);
        assert_eq!(client.codes(both.clone()).await, (vec![OK, OK], OK));
        assert_eq!(client.codes(both.clone()).await, (vec![OVER, OK], OK));
        assert_eq!(client.codes(both).await, (vec![OVER, OVER], OVER));
        assert_eq!(client.codes(request("d", &[&[("two", "new")], &[("hard", "")]])).await, (vec![OK, OVER], OVER));
    });
}

#[test]
fn all_or_nothing_charges_none_if_one_denies() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let rules = "domain: d
all_or_nothing: true
descriptors:
  - {key: wide, rate_limit: {unit: year, requests_per_unit: 10}}
  - {key: narrow, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: try, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 0}}
";
        let service = Rlaas::with_env(&server, rules, &[("RLAAS_DENIALS", "0")]);
        block_on(async {
            let mut client = service.client().await;
            let both = request("d", &[&[("wide", "")], &[("narrow", "")]]);
            assert_eq!(client.codes(both.clone()).await, (vec![OK, OK], OK));
            for _ in 0..3 {
                assert_eq!(client.codes(both.clone()).await, (vec![OK, OVER], OVER));
            }
            assert_eq!(get(&mut server.con(), "rl:d:fixed:31536000:wide"), Some(1));
            assert_eq!(get(&mut server.con(), "rl:d:fixed:31536000:narrow"), Some(1));
            // One key is charged once, with the sum.
            let twice = hits(request("d", &[&[("wide", "2")], &[("wide", "2")]]), 4);
            assert_eq!(client.codes(twice.clone()).await, (vec![OK, OK], OK));
            assert_eq!(get(&mut server.con(), "rl:d:fixed:31536000:wide=2"), Some(5));
            assert_eq!(client.codes(hits(twice, 9)).await, (vec![OVER, OVER], OVER));
            // A limit in shadow mode stops nothing.
            assert_eq!(client.codes(request("d", &[&[("wide", "3")], &[("try", "")]])).await, (vec![OK, OK], OK));
            assert_eq!(get(&mut server.con(), "rl:d:fixed:31536000:wide=3"), Some(1));
            // A look that denies stops the charge.
            let look = hits(request("d", &[&[("narrow", "4")], &[("wide", "4")]]), 2);
            assert_eq!(client.code(look.clone()).await, OVER);
            assert_eq!(get(&mut server.con(), "rl:d:fixed:31536000:wide=4"), None);
            assert_eq!(client.code(hits(look, 0)).await, OK);
            assert_eq!(get(&mut server.con(), "rl:d:fixed:31536000:wide=4"), Some(1));
        });
    });
}

#[test]
fn a_limit_that_a_remembered_denial_leaves_unchecked_has_no_figures() {
    let server = one_server();
    let rules = "domain: d
all_or_nothing: true
descriptors:
  - {key: a, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: b, rate_limit: {unit: year, requests_per_unit: 10}}
";
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_LOG_LEVEL", "debug")]);
    block_on(async {
        let mut client = service.client().await;
        let both = request("d", &[&[("a", "")], &[("b", "")]]);
        assert_eq!(client.codes(both.clone()).await, (vec![OK, OK], OK));
        let status = client.ask(both.clone()).await.statuses[1].clone();
        assert_eq!((status.code(), status.limit_remaining, status.current_limit.is_some()), (OK, 8, true));
        assert!(!service.log().contains("not checked"));
        let reply = client.ask(both.clone()).await;
        let status = &reply.statuses[1];
        assert_eq!((reply.overall_code(), status.code(), status.current_limit.as_ref()), (OVER, OK, None));
        // The sum of the hits of one key is at most what the server takes.
        let most = i64::MAX.unsigned_abs();
        let mut twice = request("d", &[&[("b", "x")], &[("b", "x")]]);
        for descriptor in &mut twice.descriptors {
            descriptor.hits_addend = Some(UInt64Value { value: most });
        }
        assert_eq!(client.codes(twice).await, (vec![OVER, OVER], OVER));
    });
    until("the log says so", || service.log().contains("decision=\"not checked\""));
    let hits = service.metrics("ratelimit_service_rate_limit_within_limit{domain=\"d\",key1=\"b\"");
    assert_eq!(hits, ["ratelimit_service_rate_limit_within_limit{domain=\"d\",key1=\"b\",key2=\"\"} 2"]);
}

#[test]
fn what_is_given_back_is_left() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let algorithms = ["fixed", "window", "rolling", "counter", "token", "gcra"];
        let rule =
            |name: &str| format!("{{key: {name}, rate_limit: {{algorithm: {name}, window: 1000h, limit: 100}}}}");
        let rules = format!("domain: d\ndescriptors: [{}]\n", algorithms.map(rule).join(", "));
        let service = Rlaas::with_env(&server, &rules, &[("LIMIT_RESPONSE_HEADERS_ENABLED", "true")]);
        block_on(async {
            let mut client = service.client().await;
            for key in algorithms {
                let with = |n| hits(request("d", &[&[(key, "x")]]), n);
                assert_eq!(client.code(with(100)).await, OK, "{key}");
                for (given_back, left) in [(30, 30), (50, 80), (200, 100)] {
                    let reply = client.ask(back(with(given_back))).await;
                    assert_eq!((reply.overall_code(), reply.statuses[0].limit_remaining), (OK, left), "{key}");
                    let header =
                        reply.response_headers_to_add.iter().find(|header| header.key == "RateLimit-Remaining");
                    assert_eq!(header.map(|header| header.value.clone()), Some(left.to_string()), "{key}");
                    assert_eq!(client.ask(with(0)).await.statuses[0].limit_remaining, left, "{key}");
                }
            }
        });
    });
}

#[test]
fn a_descriptor_brings_its_own_limit() {
    let server = one_server();
    let rules =
        "domain: d\ndescriptors: [{key: k, shadow_mode: true, rate_limit: {unit: day, requests_per_unit: 100}}]\n";
    let service = Rlaas::start(&server, rules);
    block_on(async {
        let mut client = service.client().await;
        let own = |domain: &str, unit| {
            let mut request = request(domain, &[&[("k", "x")]]);
            request.descriptors[0].limit = Some(RateLimitOverride { requests_per_unit: 1, unit });
            request
        };
        let reply = client.ask(own("d", 6)).await;
        assert_eq!(
            reply.statuses[0].current_limit.as_ref().map(|limit| (limit.requests_per_unit, limit.unit)),
            Some((1, 6))
        );
        assert_eq!(client.code(own("d", 6)).await, OVER);
        assert_eq!(client.code(own("elsewhere", 6)).await, OK);
        assert_eq!(client.try_ask(own("d", 0)).await.expect_err("no unit").code(), tonic::Code::InvalidArgument);
    });
}

#[test]
fn grants_decide_without_the_server() {
    let server = one_server();
    let rules = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 1000, grants: 100}}]\n";
    let mut service = Rlaas::start(&server, rules);
    block_on(async {
        let mut client = service.client().await;
        for _ in 0..150 {
            assert_eq!(client.code(request("d", &[&[("k", "x")]])).await, OK);
        }
    });
    let stats: String = redis::cmd("INFO").arg("commandstats").query(&mut server.con()).expect("INFO");
    let stats = stats.to_ascii_lowercase();
    let calls = stats.lines().find(|line| line.contains("rl.fixed:")).expect("RL.FIXED was called");
    let calls: u64 =
        calls.split("calls=").nth(1).and_then(|rest| rest.split(',').next()).expect("calls").parse().expect("a number");
    assert!(calls <= 6, "{calls}");
    // What was not used is given back at the end.
    service.signal("-TERM");
    assert_eq!(service.wait(), 0);
    assert_eq!(get(&mut server.con(), "rl:d:fixed:"), Some(150));
}

#[test]
fn limits_with_one_path_have_grants_of_their_own() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: a.b, rate_limit: {unit: year, requests_per_unit: 1000, grants: 2}}
  - {key: a, descriptors: [{key: b, rate_limit: {unit: year, requests_per_unit: 1000, grants: 500}}]}
";
    let service = Rlaas::start(&server, rules);
    let (few, many) = (request("d", &[&[("a.b", "x")]]), request("d", &[&[("a", "x"), ("b", "x")]]));
    let ask = || {
        block_on(async {
            let mut client = service.client().await;
            assert_eq!(client.code(few.clone()).await, OK);
            assert_eq!(client.code(many.clone()).await, OK);
        });
    };
    let counted = |key: &str| get(&mut server.con(), &format!("rl:d:fixed:31536000:{key}")).expect("a counter");
    ask();
    // What is fetched ahead may be a batch more.
    let (small, large) = (counted("a.b=x"), counted("a=x"));
    assert!(small <= 4 && large >= 500, "{small} {large}");
    // A reload takes both over.
    service.write_rules(&format!("{rules}  - {{key: c}}\n"));
    until("the new rules are in force", || service.log().contains("generation=2"));
    ask();
    assert!(counted("a.b=x") <= 6 && counted("a=x") == large, "{} {}", counted("a.b=x"), counted("a=x"));
}

#[test]
fn headers_and_metadata_are_there_if_enabled() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - key: one
    rate_limit: {unit: year, requests_per_unit: 5}
    metadata: {team: a, deep: {x: 1}}
  - key: two
    rate_limit: {unit: year, requests_per_unit: 3}
    metadata: {team: b, deep: {x: 2, y: [true, null]}}
  - {key: quota, quota_mode: true, rate_limit: {unit: year, requests_per_unit: 0}}
";
    let enabled = [
        ("LIMIT_RESPONSE_HEADERS_ENABLED", "true"),
        ("RESPONSE_DYNAMIC_METADATA", "1"),
        ("LIMIT_LIMIT_HEADER", "X-Limit"),
    ];
    let service = Rlaas::with_env(&server, rules, &enabled);
    block_on(async {
        let mut client = service.client().await;
        let headers = |reply: &envoy_types::pb::envoy::service::ratelimit::v3::RateLimitResponse| {
            reply
                .response_headers_to_add
                .iter()
                .map(|header| (header.key.clone(), header.value.clone()))
                .collect::<Vec<_>>()
        };
        let both = request("d", &[&[("one", "")], &[("two", "")]]);
        let reply = client.ask(both.clone()).await;
        // The one with the least remaining.
        let shown = headers(&reply);
        assert_eq!(shown[0], ("X-Limit".to_owned(), "3".to_owned()));
        assert_eq!(shown[1], ("RateLimit-Remaining".to_owned(), "2".to_owned()));
        assert_eq!(shown[2].0, "RateLimit-Reset");
        let metadata = reply.dynamic_metadata.expect("enabled");
        assert_eq!(
            show(&metadata),
            "{descriptors: [{entries: [one=]}, {entries: [two=]}], domain: d, metadata: {deep: {x: 1, y: [true, null]}, team: a}}"
        );
        // The last that denies, quotas aside.
        let reply = client.ask(hits(request("d", &[&[("one", "")], &[("quota", "")]]), 9)).await;
        assert_eq!((reply.overall_code(), &headers(&reply)[0].1[..]), (OVER, "5"));
        assert_eq!(
            show(&reply.dynamic_metadata.expect("enabled")),
            "{descriptors: [{entries: [one=], hitsAddend: 9}, {entries: [quota=]}], domain: d}"
        );
    });
    let service = Rlaas::start(&server, rules);
    block_on(async {
        let reply = service.client().await.ask(request("d", &[&[("one", "")]])).await;
        assert!(reply.response_headers_to_add.is_empty() && reply.dynamic_metadata.is_none());
    });
}

fn show(fields: &Struct) -> String {
    let mut fields: Vec<_> = fields.fields.iter().collect();
    fields.sort_by(|a, b| a.0.cmp(b.0));
    let shown = fields.iter().map(|(name, value)| format!("{name}: {}", show_value(value.kind.as_ref())));
    format!("{{{}}}", shown.collect::<Vec<_>>().join(", "))
}

fn show_value(kind: Option<&Kind>) -> String {
    match kind {
        None | Some(Kind::NullValue(_)) => "null".to_owned(),
        Some(Kind::BoolValue(value)) => value.to_string(),
        Some(Kind::NumberValue(value)) => value.to_string(),
        Some(Kind::StringValue(value)) => value.clone(),
        Some(Kind::StructValue(fields)) => show(fields),
        Some(Kind::ListValue(list)) => {
            let shown: Vec<_> = list.values.iter().map(|value| show_value(value.kind.as_ref())).collect();
            format!("[{}]", shown.join(", "))
        }
    }
}

#[test]
fn wrong_requests_are_invalid_arguments() {
    let server = one_server();
    let service = Rlaas::start(
        &server,
        "domain: d\nall_or_nothing: true\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 5}}]\n",
    );
    block_on(async {
        let mut client = service.client().await;
        let many = |n: usize| {
            let mut request = request("d", &[]);
            request.descriptors = (0..n).map(|i| super::process::descriptor(&[("k", &i.to_string())])).collect();
            request
        };
        for (wrong, text) in [
            (request("", &[&[("k", "x")]]), "the domain"),
            (request("d", &[]), "the list of descriptors"),
            (many(1_001), "1000 descriptors"),
            (many(65), "64 limits"),
            (hits(request("d", &[&[("k", "x")]]), u64::MAX), "hits_addend"),
        ] {
            let status = client.try_ask(wrong).await.expect_err(text);
            assert_eq!(status.code(), tonic::Code::InvalidArgument);
            assert!(status.message().contains(text), "{status}");
        }
        assert_eq!(client.code(many(64)).await, OK);
    });
}

#[test]
fn a_key_of_another_type_is_internal_and_never_open() {
    let server = one_server();
    let rules = "domain: d\non_unavailable: allow\ndescriptors: [{key: k, rate_limit: {algorithm: token, unit: year, requests_per_unit: 5}}]\n";
    let service = Rlaas::start(&server, rules);
    redis::cmd("LPUSH").arg("rl:d:token:31536000:k=x").arg("x").exec(&mut server.con()).expect("LPUSH");
    block_on(async {
        let status = service.client().await.try_ask(request("d", &[&[("k", "x")]])).await.expect_err("a list");
        assert_eq!(status.code(), tonic::Code::Internal);
    });
    until("the error is logged", || service.log().contains("WRONGTYPE"));
}

#[test]
fn the_scripts_keys_are_shared() {
    let server = one_server();
    let rules = "rate-limiter: {use-algo: sliding-window-algo, window-size: 60, max-requests: 2}\n";
    let service = Rlaas::start(&server, rules);
    block_on(async {
        let mut client = service.client().await;
        let ask = || request("rlaas", &[&[("userId", "42")]]);
        assert_eq!(client.code(ask()).await, OK);
        // The other service, on the same key.
        redis::cmd("RL.SLIDING").arg(&["rlaas:rate_limit:42", "60", "2"]).exec(&mut server.con()).expect("allowed");
        assert_eq!(client.code(ask()).await, OVER);
        // A limit that a descriptor brings along has a key of its own.
        let own = |entries: &[&[(&str, &str)]]| {
            let mut request = request("rlaas", entries);
            request.descriptors[0].limit = Some(RateLimitOverride { requests_per_unit: 1, unit: 6 });
            request
        };
        for entries in [&[("userId", "42")][..], &[("foo", "42")], &[("userId", "42"), ("x", "y")], &[]] {
            assert_eq!(client.code(own(&[entries])).await, OK, "{entries:?}");
        }
    });
    let mut keys: Vec<String> = redis::cmd("KEYS").arg("rl*").query(&mut server.con()).expect("KEYS");
    for key in &mut keys {
        // The number of the window of a year.
        key.truncate(key.rfind(':').filter(|_| key.starts_with("rl:")).unwrap_or(key.len()));
    }
    keys.sort();
    let own = ["", "foo=42", "userId=42", "userId=42,x=y"].map(|entries| format!("rl:rlaas:fixed:31536000:{entries}"));
    assert_eq!(keys, [&own[..], &["rlaas:rate_limit:42".to_owned()]].concat());
}

#[test]
fn a_window_starts_with_the_first_request() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let rules = "domain: d
descriptors:
  - {key: allowed, rate_limit: {algorithm: window, window: 1000h, limit: 3}}
  - {key: always, rate_limit: {algorithm: window, window: 1000h, limit: 3, charge: always}}
";
        let service = Rlaas::with_env(&server, rules, &[("RLAAS_DENIALS", "0")]);
        block_on(async {
            let mut client = service.client().await;
            for (key, counted) in [("allowed", 3), ("always", 6)] {
                let with = |n| hits(request("d", &[&[(key, "x")]]), n);
                let reply = client.ask(with(2)).await;
                let status = &reply.statuses[0];
                assert_eq!((status.code(), status.limit_remaining), (OK, 1), "{key}");
                // The whole window is left, so it starts now.
                let reset = status.duration_until_reset.expect("a time").seconds;
                assert!((3_599_990..=3_600_000).contains(&reset), "{reset}");
                assert_eq!(client.code(with(1)).await, OK);
                assert_eq!(client.code(with(0)).await, OK);
                assert_eq!(client.code(with(3)).await, OVER);
                let value: i64 = redis::cmd("GET")
                    .arg(format!("rl:d:window:3600000:{key}=x"))
                    .query(&mut server.con())
                    .expect("a counter");
                assert_eq!(value, counted, "{key}");
            }
        });
    });
}

#[test]
fn all_limits_of_a_request_take_one_round_trip() {
    let server = one_server();
    let rule =
        |name: &str| format!("{{key: {name}, rate_limit: {{algorithm: {name}, unit: year, requests_per_unit: 9}}}}");
    let rules = ["fixed", "window", "rolling", "counter", "token", "gcra"].map(rule).join(", ");
    let service = Rlaas::start(&server, &format!("domain: d\ndescriptors: [{rules}]\n"));
    let mut con = server.con();
    // How often the server has read from a connection. Reading this is once.
    let mut reads = || info(&mut con, "total_reads_processed").parse::<u64>().expect("a number");
    block_on(async {
        let mut client = service.client().await;
        let all = [&[("fixed", "x")], &[("window", "x")], &[("rolling", "x")], &[("token", "x")], &[("gcra", "x")]];
        let all = all.map(|entries| &entries[..]);
        assert_eq!(client.code(request("d", &all)).await, OK);
        let before = reads();
        let twice: Vec<_> = all.iter().chain(&all).copied().collect();
        assert_eq!(client.code(request("d", &twice)).await, OK);
        let more = reads() - before - 1;
        // TCP may cut it in two.
        assert!((1..=2).contains(&more), "{more} reads for ten limits");
    });
}
