//! The examples of envoyproxy/ratelimit's README, in rules of our own with longer windows: each does what is said there.

use std::fs;

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;

use super::process::{Rlaas, get, hits, request, until};
use super::{block_on, one_server};
use crate::support::Server;
use Code::{Ok as OK, OverLimit as OVER};

const RULES: [&str; 11] = [
    // 1: two values of one key.
    "domain: one
descriptors:
  - {key: store, value: orders, rate_limit: {unit: year, requests_per_unit: 2}}
  - {key: store, value: other, rate_limit: {unit: year, requests_per_unit: 2}}
",
    // 2: a limit of a combination, and one of a part of it.
    "domain: two
descriptors:
  - key: kind
    value: advert
    descriptors: [{key: to, rate_limit: {unit: year, requests_per_unit: 2}}]
  - {key: to, rate_limit: {unit: year, requests_per_unit: 4}}
",
    // 3: the most specific rule.
    "domain: three
descriptors:
  - {key: address, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: address, value: 203.0.113.5, rate_limit: {unit: year, requests_per_unit: 0}}
",
    // 4: a descriptor is as deep as its rule.
    "domain: four
descriptors:
  - {key: top, value: flat, rate_limit: {unit: year, requests_per_unit: 0}}
  - key: top
    value: deep
    descriptors: [{key: sub, rate_limit: {unit: year, requests_per_unit: 0}}]
",
    // 5: no limit.
    "domain: five
descriptors:
  - {key: directory, rate_limit: {unlimited: true}}
  - {key: cloud, rate_limit: {unit: year, requests_per_unit: 5}}
",
    // 6: one of two users in shadow mode.
    "domain: six
descriptors:
  - key: service
    descriptors:
      - {key: user, value: a, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 1}}
      - {key: user, value: b, rate_limit: {unit: year, requests_per_unit: 2}}
",
    // 7: a limit in place of another.
    "domain: seven
descriptors:
  - key: first
    value: x
    descriptors: [{key: user, value: u, rate_limit: {name: narrow, unit: year, requests_per_unit: 1}}]
  - key: second
    value: y
    descriptors:
      - {key: user, value: u, rate_limit: {replaces: [{name: narrow}], unit: year, requests_per_unit: 3}}
",
    // 8: values in the metrics of one rule.
    "domain: eight
descriptors:
  - {key: plan, detailed_metric: true, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: plan, value: paid, rate_limit: {unit: year, requests_per_unit: 2}}
",
    // 9: stars at the end, in the middle, and several.
    "domain: nine
descriptors:
  - {key: name, value: v*, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: path, value: /api/*/run, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: route, value: /api/*/item/*/run, rate_limit: {unit: year, requests_per_unit: 0}}
",
    // 10: values in the metrics of rules on the way.
    "domain: ten
descriptors:
  - key: route
    value_to_metric: true
    descriptors:
      - key: method
        value: re*
        value_to_metric: true
        descriptors: [{key: subject, rate_limit: {unit: year, requests_per_unit: 5}}]
  - key: plain
    descriptors: [{key: subject, rate_limit: {unit: year, requests_per_unit: 5}}]
",
    // 11: one limit for all values that fit, or one for each.
    "domain: eleven
descriptors:
  - {key: files, value: f/*, share_threshold: true, rate_limit: {unit: year, requests_per_unit: 10}}
  - {key: alone, value: f/*, share_threshold: false, rate_limit: {unit: year, requests_per_unit: 10}}
  - key: route
    value: api/*
    share_threshold: true
    value_to_metric: true
    descriptors: [{key: method, rate_limit: {unit: year, requests_per_unit: 5}}]
",
];

/// A service with all of them.
fn serve(server: &Server) -> Rlaas {
    let [first, others @ ..] = RULES;
    let service = Rlaas::start(server, first);
    for (i, text) in others.into_iter().enumerate() {
        fs::write(service.dir.path().join("rules").join(format!("{i}.yaml")), text).expect("a file");
    }
    until("all rules are in force", || {
        let rules = get(&service.debug, "/rlconfig", &[]).body;
        RULES.iter().all(|text| rules.contains(text.lines().next().expect("a line").trim_start_matches("domain: ")))
    });
    service
}

#[test]
fn each_example_does_what_it_says() {
    let server = one_server();
    let service = serve(&server);
    let total = |domain: &str| {
        let name = "ratelimit_service_rate_limit_total_hits";
        let lines = service.metrics(&format!("{name}{{domain=\"{domain}\","));
        lines.iter().map(|line| line.split_once(',').expect("labels").1.to_owned()).collect::<Vec<_>>()
    };
    block_on(async {
        let mut client = service.client().await;
        let mut codes =
            async |domain: &str, descriptors: &[&[(&str, &str)]]| client.codes(request(domain, descriptors)).await;

        for value in ["orders", "other"] {
            for expected in [OK, OK, OVER] {
                assert_eq!(codes("one", &[&[("store", value)]]).await.1, expected, "{value}");
            }
        }
        assert_eq!(codes("one", &[&[("store", "third")]]).await.1, OK);

        // All rules that fit count, and the request is over if one of them is.
        let both = |to| [vec![("kind", "advert"), ("to", to)], vec![("to", to)]];
        for (to, expected) in [("1", [OK, OK]), ("1", [OK, OK]), ("1", [OVER, OK]), ("2", [OK, OK])] {
            let [first, second] = both(to);
            let over = expected.contains(&OVER);
            assert_eq!(codes("two", &[&first, &second]).await, (expected.to_vec(), if over { OVER } else { OK }));
        }
        for expected in [OK, OVER] {
            assert_eq!(codes("two", &[&[("to", "1")]]).await.1, expected);
        }

        for (address, expected) in
            [("203.0.113.5", OVER), ("203.0.113.1", OK), ("203.0.113.2", OK), ("203.0.113.1", OVER)]
        {
            assert_eq!(codes("three", &[&[("address", address)]]).await.1, expected, "{address}");
        }

        assert_eq!(codes("four", &[&[("top", "flat"), ("sub", "x")]]).await.1, OK);
        assert_eq!(codes("four", &[&[("top", "deep"), ("sub", "x")]]).await.1, OVER);
        assert_eq!(codes("four", &[&[("top", "deep")]]).await.1, OK);

        for (user, expected) in [("a", [OK, OK, OK]), ("b", [OK, OK, OVER])] {
            for expected in expected {
                assert_eq!(codes("six", &[&[("service", "s"), ("user", user)]]).await.1, expected, "{user}");
            }
        }
        // There are statistics of what is over.
        let shadow = service.metrics("ratelimit_service_rate_limit_shadow_mode");
        assert_eq!(
            shadow,
            ["ratelimit_service_rate_limit_shadow_mode{domain=\"six\",key1=\"service\",key2=\"user_a\"} 2"]
        );

        let (first, second) = ([("first", "x"), ("user", "u")], [("second", "y"), ("user", "u")]);
        for expected in [OK, OK] {
            assert_eq!(codes("seven", &[&first, &second]).await.1, expected);
        }
        // The limit that was replaced is as it was.
        for expected in [OK, OVER] {
            assert_eq!(codes("seven", &[&first]).await.1, expected);
        }
        for expected in [OK, OVER] {
            assert_eq!(codes("seven", &[&second]).await.1, expected);
        }

        for (plan, expected) in [("x", OK), ("y", OK), ("x", OVER), ("paid", OK), ("paid", OK), ("paid", OVER)] {
            assert_eq!(codes("eight", &[&[("plan", plan)]]).await.1, expected, "{plan}");
        }
        assert_eq!(
            total("eight"),
            [r#"key1="plan_paid",key2=""} 3"#, r#"key1="plan_x",key2=""} 2"#, r#"key1="plan_y",key2=""} 1"#]
        );

        for (key, value, expected) in [
            ("name", "v", OVER),
            ("name", "v1", OVER),
            ("name", "w", OK),
            ("path", "/api/1/run", OVER),
            ("path", "/api/some-id/run", OVER),
            ("path", "/api/1/other", OK),
            ("route", "/api/v1/item/1/run", OVER),
            ("route", "/api/v2/item/2/run", OVER),
            ("route", "/api/v2/run", OK),
        ] {
            assert_eq!(codes("nine", &[&[(key, value)]]).await.1, expected, "{key} {value}");
        }

        for (route, method) in [("api", "read"), ("web", "remove")] {
            codes("ten", &[&[("route", route), ("method", method), ("subject", "1")]]).await;
            codes("ten", &[&[("plain", route), ("subject", "1")]]).await;
        }
        assert_eq!(
            total("ten"),
            [
                r#"key1="plain",key2="subject"} 2"#,
                r#"key1="route_api",key2="method_read"} 1"#,
                r#"key1="route_web",key2="method_remove"} 1"#,
            ]
        );

        for value in ["a", "b"] {
            for _ in 0..5 {
                assert_eq!(codes("eleven", &[&[("files", &format!("f/{value}"))]]).await.1, OK, "{value}");
            }
            for _ in 0..10 {
                assert_eq!(codes("eleven", &[&[("alone", &format!("f/{value}"))]]).await.1, OK, "{value}");
            }
        }
        assert_eq!(codes("eleven", &[&[("files", "f/c")]]).await.1, OVER);
        assert_eq!(codes("eleven", &[&[("alone", "f/b")]]).await.1, OVER);
        assert_eq!(codes("eleven", &[&[("route", "api/v1"), ("method", "GET")]]).await.1, OK);
        // The README has `route_api`; what that service does is the pattern.
        let shared = total("eleven");
        assert!(shared.contains(&r#"key1="route_api/*",key2="method"} 1"#.to_owned()), "{shared:?}");
    });
}

#[test]
fn what_has_no_limit_is_not_sent() {
    let server = one_server();
    let service = serve(&server);
    block_on(async {
        let mut client = service.client().await;
        let many = hits(request("five", &[&[("directory", "x")], &[("directory", "y")]]), 1_000_000);
        let reply = client.ask(many).await;
        let remaining: Vec<_> = reply.statuses.iter().map(|status| (status.code(), status.limit_remaining)).collect();
        assert_eq!(remaining, [(OK, u32::MAX); 2]);
        // It differs from a descriptor that no rule fits.
        assert_eq!(client.ask(request("five", &[&[("unknown", "x")]])).await.statuses[0].limit_remaining, 0);
        let keys = || redis::cmd("DBSIZE").query::<u64>(&mut server.con()).expect("DBSIZE");
        assert_eq!(keys(), 0);
        assert_eq!(client.ask(request("five", &[&[("cloud", "x")]])).await.statuses[0].limit_remaining, 4);
        assert_eq!(keys(), 1);
    });
}
