//! Events: the request that crosses a percentage of its limit.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::process::{Rlaas, http, until};
use super::reserve::Gateway;
use super::steps::check;
use super::{block_on, one_server};

const RULES: &str = "domain: d
pools:
  - {name: spare, rate_limit: {unit: year, requests_per_unit: 4, notify: [75]}}
descriptors:
  - {key: fixed, rate_limit: {unit: year, requests_per_unit: 10, notify: [50, 100]}}
  - {key: window, rate_limit: {algorithm: window, window: 365d, limit: 10, notify: [50, 100]}}
  - {key: rolling, rate_limit: {algorithm: rolling, window: 365d, limit: 10, notify: [50, 100]}}
  - {key: counter, rate_limit: {algorithm: counter, window: 365d, limit: 10, notify: [50, 100]}}
  - {key: short, rate_limit: {algorithm: rolling, window: 100ms, limit: 2, notify: [100]}}
  - {key: tenant, rate_limit: {unit: year, requests_per_unit: 1, else: spare}}
  - {key: granted, rate_limit: {algorithm: window, window: 365d, limit: 100, grants: 20, notify: [10, 50]}}
  - {key: part, rate_limit: {unit: year, requests_per_unit: 10, notify: [55]}}
  - {key: each, rate_limit: {unit: year, requests_per_unit: 1, notify: [100]}}
";

fn events(services: &[Rlaas], rule: &str, percent: u8) -> u64 {
    let line = format!("rlaas_notify_events{{domain=\"d\",percent=\"{percent}\",rule=\"d.{rule}\"}} ");
    let lines = services.iter().flat_map(|service| service.metrics(&line));
    lines.map(|found| found[line.len()..].parse::<u64>().expect("a count")).sum()
}

/// Ten copies and one key: their requests are joined, some are denied, and each percentage is crossed once.
#[test]
fn each_crossing_is_one_event_over_all_copies() {
    let server = one_server();
    let copies: Vec<_> = (0..10).map(|_| Rlaas::start(&server, RULES)).collect();
    for rule in ["fixed", "window", "rolling", "counter"] {
        for key in 0..3 {
            let text = format!("{rule}={key}");
            thread::scope(|scope| {
                for copy in &copies {
                    scope.spawn(|| {
                        block_on(async {
                            let client = copy.client().await;
                            join_all((0..5).map(async |_| client.clone().ask(&*text).await)).await
                        })
                    });
                }
            });
            let found = [50, 100].map(|percent| events(&copies, rule, percent));
            assert_eq!(found, [key + 1; 2], "{text}");
        }
    }
}

#[test]
fn what_crosses_is_what_was_charged() {
    let server = one_server();
    let service = Rlaas::with_env(&server, RULES, &[("RLAAS_DENIALS", "0")]);
    let of = |rule: &str| [50, 100].map(|percent| events(std::slice::from_ref(&service), rule, percent));
    for (rule, expected) in [("fixed", [1, 1]), ("window", [1, 0]), ("rolling", [1, 0]), ("counter", [1, 0])] {
        let step = |hits: &str| drop(service.try_ask(&*format!("{rule}=a {hits}")).expect("a reply"));
        step("+4");
        assert_eq!(of(rule), [0, 0], "{rule}");
        step("?");
        step("+1");
        assert_eq!(of(rule), [1, 0], "{rule}");
        // `fixed` charges what it denies.
        step("+9");
        assert_eq!(of(rule), expected, "{rule}");
        // Given back and charged again, it is no event of this copy in this window.
        step("-3");
        step("+3");
        assert_eq!(of(rule), expected, "{rule}");
    }
    let spare = "METRIC rlaas_notify_events{domain=\"d\",percent=\"75\",rule=\"d.pools.spare\"";
    check(
        &server,
        &service,
        &[
            ("tenant=a", "ok 0: ok"),
            ("tenant=a +2", "ok 2: ok"),
            (spare, ""),
            ("tenant=a", "ok 1: ok"),
            (spare, "1"),
            // A grant is charged as a lot, before it is used.
            ("granted=a", "ok 99: ok"),
            ("METRIC rlaas_notify_events{domain=\"d\",percent=\"10\",rule=\"d.granted\"", "1"),
            ("granted=b +60", "ok 40: ok"),
            ("METRIC rlaas_notify_events{domain=\"d\",percent=\"50\",rule=\"d.granted\"", "1"),
            // 5.5 units are 6.
            ("part=a +5", "ok 5: ok"),
            ("METRIC rlaas_notify_events{domain=\"d\",percent=\"55\",rule=\"d.part\"", ""),
            ("part=a", "ok 4: ok"),
            ("METRIC rlaas_notify_events{domain=\"d\",percent=\"55\",rule=\"d.part\"", "1"),
        ],
    );
    // The second and the third lot are charged in the background.
    let mut asked = 0;
    until("the event of a lot that nobody waited for", || {
        drop(service.try_ask("granted=c").expect("a reply"));
        asked += 1;
        asked == 50 || events(std::slice::from_ref(&service), "granted", 50) == 2
    });
    assert!((21..50).contains(&asked), "{asked}");
    // The window of a log slides: what is crossed anew in a later one is an event.
    let mut crossed = 0;
    until("a second event", || {
        drop(service.try_ask("short=a").expect("a reply"));
        thread::sleep(Duration::from_millis(30));
        crossed = events(std::slice::from_ref(&service), "short", 100);
        crossed == 2
    });
}

#[test]
fn descriptors_with_one_key_are_one_request_if_all_or_nothing() {
    let server = one_server();
    let lines = RULES.lines().filter(|line| !line.contains("grants"));
    let rules = lines.collect::<Vec<_>>().join("\n").replace("domain: d", "domain: d\nall_or_nothing: true");
    let service = Rlaas::start(&server, &rules);
    let metric = "METRIC rlaas_notify_events{domain=\"d\",percent=\"50\",rule=\"d.rolling\"";
    check(
        &server,
        &service,
        &[
            ("rolling=a +3 | rolling=a +3 | fixed=a +11", "ok 4 | ok 4 | over 10: over"),
            (metric, ""),
            ("rolling=a +3 | rolling=a +3 | fixed=a", "ok 4 | ok 4 | ok 9: ok"),
            (metric, "1"),
        ],
    );
}

#[test]
fn what_redis_does_not_decide_is_no_event_and_has_no_figures() {
    let server = one_server();
    let service = Rlaas::start(&server, &RULES.replace("domain: d", "domain: d\non_unavailable: allow"));
    drop(server);
    let body = r#"{"domain": "d", "descriptors": [{"entries": [{"key": "each", "value": "a"}]}]}"#;
    let reply: Value = serde_json::from_str(&http(&service.http, "POST /json", &[], body).body).expect("JSON");
    assert_eq!((&reply["overallCode"], reply["statuses"][0].get("currentLimit")), (&json!("OK"), None));
    assert_eq!(events(&[service], "each", 100), 0);
}

#[test]
fn a_reservation_and_its_settlement_cross() {
    let server = one_server();
    let services = [Rlaas::start(&server, RULES)];
    let gateway = Gateway(&services[0]);
    for rule in ["fixed", "window", "rolling", "counter"] {
        let of = &format!("{rule}=a");
        let crossed = || [50, 100].map(|percent| events(&services, rule, percent));
        let first = gateway.reserve(of, 4, 0);
        assert_eq!(crossed(), [0, 0], "{rule}");
        assert!(gateway.commit(of, &first, 6));
        assert_eq!(crossed(), [1, 0], "{rule}");
        let second = gateway.reserve(of, 3, 0);
        assert!(gateway.commit(of, &second, 1));
        assert!(!gateway.commit(of, &second, 90));
        assert_eq!(crossed(), [1, 0], "{rule}");
        gateway.reserve(of, 3, 0);
        assert_eq!(crossed(), [1, 1], "{rule}");
    }
}

/// The bodies of the requests that it gets, each with an empty reply of this status.
fn receiver(status: &'static str) -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/events", listener.local_addr().expect("an address"));
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let received = bodies.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut text) = (stream.expect("a connection"), Vec::new());
            // The body is one object and ends with its brace.
            while !text.ends_with(b"}") {
                let mut part = [0; 4_096];
                let read = stream.read(&mut part).expect("a request");
                text.extend_from_slice(&part[..read]);
            }
            let text = String::from_utf8(text).expect("UTF-8");
            let (head, body) = text.split_once("\r\n\r\n").expect("a body");
            assert!(head.starts_with("POST /events ") && head.contains("content-type: application/json"), "{head}");
            received.lock().unwrap().push(serde_json::from_str(body).expect("JSON"));
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").expect("a reply");
        }
    });
    (url, bodies)
}

#[test]
fn events_are_logged_and_posted_and_have_values_only_if_asked() {
    let server = one_server();
    let posts = |outcome: &str, count| (format!("METRIC rlaas_notify_posts{{outcome=\"{outcome}\""), count);
    for (status, outcome, values) in [("200 OK", "sent", "false"), ("500 No", "failed", "true")] {
        redis::cmd("FLUSHALL").exec(&mut server.con()).expect("FLUSHALL");
        let (url, bodies) = receiver(status);
        let env = [("RLAAS_NOTIFY_URL", &*url), ("RLAAS_NOTIFY_VALUES", values), ("RLAAS_LOG_FORMAT", "json")];
        // An event has units of the rule.
        let rules = RULES.replace("window: 365d, limit: 10,", "window: 365d, limit: 10, unit_scale: 10,");
        let service = Rlaas::with_env(&server, &rules, &env);
        drop(service.try_ask("window=alice +50").expect("a reply"));
        until("an event", || bodies.lock().unwrap().len() == 1);
        let mut body = bodies.lock().unwrap()[0].clone();
        let ends = body["windowEnds"].take();
        let in_a_year = jiff::Timestamp::now() + Duration::from_secs(365 * 86_400);
        let ends: jiff::Timestamp = ends.as_str().expect("a text").parse().expect("a time");
        assert!(in_a_year.duration_since(ends).abs() < jiff::SignedDuration::from_secs(60), "{ends}");
        let mut expected = json!({
            "domain": "d", "rule": "d.window", "percent": 50, "limit": 10, "remaining": 5, "windowEnds": null,
        });
        if values == "true" {
            expected["descriptor"] = "window=alice".into();
        }
        assert_eq!(body, expected);
        let (metric, count) = posts(outcome, "1");
        until(outcome, || service.metrics(&metric["METRIC ".len()..]).len() == 1);
        check(&server, &service, &[(&metric, count)]);
        let log = service.log();
        let line =
            log.lines().find(|line| line.contains("a request has crossed a percentage of notify")).expect("an event");
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!([&line["rule"], &line["descriptor"]], [&expected["rule"], &expected["descriptor"]]);
        assert_eq!(log.contains("alice"), values == "true", "{log}");
    }
    // A receiver that is silent: events wait in a bounded queue, and no request waits.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", silent.local_addr().expect("an address"));
    let service = Rlaas::with_env(&server, RULES, &[("RLAAS_NOTIFY_URL", &url)]);
    block_on(async {
        let client = service.client().await;
        for hundred in 0..12 {
            let asks = (0..100).map(|n| format!("each={}", hundred * 100 + n));
            join_all(asks.map(async |ask: String| client.clone().ask(&*ask).await)).await;
        }
    });
    let dropped = &service.metrics("rlaas_notify_posts{outcome=\"dropped\"")[0];
    let dropped: u64 = dropped.rsplit(' ').next().expect("a count").parse().expect("a count");
    assert_eq!(events(std::slice::from_ref(&service), "each", 100), 1_200);
    assert!((150..200).contains(&dropped), "{dropped}");
}
