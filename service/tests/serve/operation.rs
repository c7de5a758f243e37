//! What an operator relies on: reload, drain, and what happens while Redis is away.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;

use super::process::{Rlaas, get, run, until, url};
use super::steps::json;
use super::{block_on, one_server};
use crate::support::*;
use Code::{Ok as OK, OverLimit as OVER};

/// A token bucket, so that what is counted is in one key for the whole test.
pub fn rules(limit: u32) -> String {
    format!(
        "domain: d\ndescriptors: [{{key: k, rate_limit: {{algorithm: token, unit: year, requests_per_unit: {limit}}}}}]\n"
    )
}

#[test]
fn rules_are_reloaded_and_wrong_ones_change_nothing() {
    let server = one_server();
    let service = Rlaas::start(&server, &rules(0));
    assert_eq!(service.code("k=x"), OVER);
    std::fs::write(service.dir.path().join("rules/limits.conf"), rules(7)).expect("a file");
    service.until_log("limits.conf: left out, since it does not end in .yaml or .yml");
    // The denial is remembered, for a minute, and forgotten with its rule.
    service.write_rules(&rules(5));
    service.until_generation(2);
    assert_eq!(service.code("k=x"), OK);
    service.write_rules("domain: [");
    service.until_log("the old ones stay");
    assert_eq!(service.code("k=x"), OK);
    let names = ["ratelimit_service_config_load_", "rlaas_rules_generation", "rlaas_rules_wrong"];
    let figures = || names.map(|name| service.figures(name));
    assert_eq!(figures(), ["1 2", "2", "1"], "errors and loads, generation, wrong");
    service.write_rules(&rules(6));
    service.until_generation(3);
    assert_eq!(figures(), ["1 3", "3", "0"]);
    assert_eq!(service.log().matches("left out, since").count(), 1);
}

#[test]
fn the_metrics_count_hits_by_rule() {
    let server = one_server();
    let text = "domain: d
descriptors:
  - {key: k, rate_limit: {unit: year, requests_per_unit: 10}}
  - {key: s, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: v, value_to_metric: true, rate_limit: {algorithm: token, unit: year, requests_per_unit: 10}}
  - key: deep
    value: '1'
    descriptors: [{key: user, rate_limit: {algorithm: counter, unit: year, requests_per_unit: 1}}]
";
    let service = Rlaas::start(&server, text);
    // 7 within; then 6: 3 fit, of which 2 are near, and 3 are over; then 6 that are remembered.
    let asked = ["k=x +7", "k=x +6", "k=x +6", "s=x | v=a:b | deep=1,user=u"];
    assert_eq!(asked.map(|ask| service.code(ask)), [OK, OVER, OVER, OK]);
    service.try_ask(": ").expect_err("no domain");
    let lines = service.metrics("ratelimit_service_rate_limit_");
    let expected = [
        "near_limit{domain=\"d\",key1=\"deep_1\",key2=\"user\"} 1",
        "near_limit{domain=\"d\",key1=\"k\",key2=\"\"} 2",
        "over_limit{domain=\"d\",key1=\"k\",key2=\"\"} 9",
        "over_limit{domain=\"d\",key1=\"s\",key2=\"\"} 1",
        "over_limit_with_local_cache{domain=\"d\",key1=\"k\",key2=\"\"} 6",
        "shadow_mode{domain=\"d\",key1=\"s\",key2=\"\"} 1",
        "total_hits{domain=\"d\",key1=\"deep_1\",key2=\"user\"} 1",
        "total_hits{domain=\"d\",key1=\"k\",key2=\"\"} 19",
        "total_hits{domain=\"d\",key1=\"s\",key2=\"\"} 1",
        "total_hits{domain=\"d\",key1=\"v_a_b\",key2=\"\"} 1",
        "within_limit{domain=\"d\",key1=\"deep_1\",key2=\"user\"} 1",
        "within_limit{domain=\"d\",key1=\"k\",key2=\"\"} 7",
        "within_limit{domain=\"d\",key1=\"v_a_b\",key2=\"\"} 1",
    ];
    assert_eq!(lines, expected.map(|line| format!("ratelimit_service_rate_limit_{line}")));
    assert_eq!(service.figures("ratelimit_service_total_requests{grpc_method=\"ShouldRateLimit\"}"), "5");
    assert_eq!(service.figures("ratelimit_service_should_rate_limit_error{err_type=\"service_error\"}"), "1");
    assert_eq!(service.figures("rlaas_remembered_denials "), "1");
}

#[test]
fn the_metrics_have_how_far_the_clocks_differ() {
    let clock = SteppedClock::new();
    let server = clock.govern(Server::options(&servers()[0])).start();
    let service = Rlaas::start(&server, &rules(5));
    for seconds in [0, 3_600, -3_600] {
        clock.step(&mut server.con(), seconds);
        assert_eq!(service.code("k=x +0"), OK);
        let ahead = service.figure("rlaas_redis_clock_ahead_seconds");
        assert!((ahead - seconds as f64).abs() < 60.0, "{seconds}: {ahead}");
    }
}

#[test]
fn what_no_rule_limits_is_counted_and_logged() {
    let server = one_server();
    let rules = rules(5).replace("descriptors: [", "descriptors: [{key: k, value: free}, ");
    let service = Rlaas::start(&server, &rules);
    let long = "x".repeat(300);
    // A rule without a limit is no typo.
    let known = "k=x | k=free";
    let typos = format!("q\n=1 | k=x,more={long}");
    assert_eq!(service.code(known), OK);
    assert!(service.metrics("rlaas_descriptors_without_rule").is_empty());
    for _ in 0..2 {
        assert_eq!(service.code(&typos), OK);
    }
    for n in 0..103 {
        assert_eq!(service.code(&format!("{n}{long}: {known}")), OK);
    }
    assert_eq!(service.figures("rlaas_descriptors_without_rule{domain=\"d\"}"), "4");
    let domains = service.metrics("rlaas_requests_of_unknown_domains");
    assert_eq!(domains.len(), 101, "{domains:?}");
    assert!(domains.contains(&"rlaas_requests_of_unknown_domains{domain=\"other\"} 3".to_owned()), "{domains:?}");
    assert!(domains.iter().all(|line| line.len() < 150), "{domains:?}");
    // Envoy lets these pass.
    for _ in 0..2 {
        service.try_ask("d: ").expect_err("no descriptors");
    }
    assert_eq!(service.log().matches("WARN a request without descriptors is rejected").count(), 1);
    // Once a minute, with the first one.
    let log = service.log();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("WARN no rule")).collect();
    let [descriptor, domain] = lines[..] else { panic!("{log}") };
    assert!(
        descriptor.ends_with(r"no rule fits this descriptor: it is allowed domain=d descriptor=q\n=1 left_out=0"),
        "{descriptor}"
    );
    assert!(domain.contains("no rules have this domain: its requests are allowed domain=0xxx"), "{domain}");
    assert!(domain.len() < 250, "{domain}");
}

#[test]
fn a_request_whose_caller_is_gone_is_counted() {
    let server = one_server();
    let rules = rules(5).replacen("\n", "\nauthorize: {descriptors: [[{key: k, header: K}]]}\n", 1);
    let service = Rlaas::start(&server, &rules);
    block_on(async {
        let mut client = service.client().await;
        assert_eq!(client.code("k=x").await, OK);
        let _paused = Paused::new(&server);
        let gone = tokio::time::timeout(Duration::from_millis(100), client.try_ask("k=x")).await;
        assert!(gone.is_err(), "{gone:?}");
        let json = json("k=x", "");
        let json = format!("POST /json HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{json}", json.len());
        for sent in [json.as_str(), "GET /authorize/d HTTP/1.1\r\nhost: x\r\nk: x\r\n\r\n"] {
            let mut con = TcpStream::connect(&service.http).expect("a connection");
            con.write_all(sent.as_bytes()).expect("a request");
            con.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
            assert!(con.read(&mut [0]).is_err(), "it does not wait for Redis: {sent}");
        }
        let cancelled = "ratelimit_service_should_rate_limit_error{err_type=\"cancelled\"}";
        until("they are counted", || service.figures(cancelled) == "3");
    });
    assert_eq!(service.figures("ratelimit_service_total_requests{grpc_method=\"ShouldRateLimit\"}"), "4");
}

#[test]
fn no_request_fails_over_a_reload() {
    let server = one_server();
    // In one generation both limits deny, in the other none does.
    let both = |limit: u32| {
        format!(
            "domain: d\ndescriptors:\n  - {{key: a, rate_limit: {{algorithm: gcra, unit: year, requests_per_unit: {limit}}}}}\n  \
             - {{key: b, rate_limit: {{algorithm: gcra, unit: year, requests_per_unit: {limit}}}}}\n"
        )
    };
    let service = Rlaas::start(&server, &both(0));
    block_on(async {
        let mut client = service.client().await;
        let ends = Instant::now() + Duration::from_millis(2_500);
        let (mut generation, mut seen) = (0, [0, 0]);
        let mut written = Instant::now();
        while Instant::now() < ends {
            if written.elapsed() > Duration::from_millis(600) {
                generation += 1;
                service.write_rules(&both(if generation % 2 == 1 { 4_000_000_000 } else { 0 }));
                written = Instant::now();
            }
            let statuses = client.try_ask("a=x | b=x").await.expect("a reply").statuses;
            let codes = [0, 1].map(|descriptor| statuses[descriptor].code());
            assert_eq!(codes[0], codes[1], "half of one set of rules, half of another");
            seen[usize::from(codes[0] == OK)] += 1;
        }
        assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    });
}

#[test]
fn sigterm_and_sigint_drain_and_exit_0() {
    let server = one_server();
    // A collector of traces that is away delays nothing.
    let collector = [("TRACING_ENABLED", "1"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")];
    let env = [&collector[..], &[("RLAAS_DRAIN_DELAY", "1500ms")]].concat();
    for signal in ["-TERM", "-INT"] {
        let mut service = Rlaas::with_env(&server, &rules(5), &env);
        block_on(async {
            let mut client = service.client().await;
            assert_eq!(client.code("k=x").await, OK);
            service.signal(signal);
            service.until_log("draining");
            // Balancers see it, and requests are still decided until they have.
            assert_eq!(service.health("").await, 2);
            assert_eq!(["/healthcheck", "/ready"].map(|path| get(&service.http, path, &[]).status), [500, 503]);
            assert_eq!(client.code("k=x").await, OK);
        });
        assert_eq!(service.wait(), 0);
        assert!(service.log().contains("rlaas ends"));
    }
}

/// It is asked again, by one request at a time. While Redis is silent that request is denied too, and later others ask.
#[test]
fn an_operator_ends_a_denial_within_the_time_that_is_set() {
    let server = one_server();
    let env = [("RLAAS_RECHECK_DENIALS", "300ms"), ("RLAAS_TIMEOUT", "1s")];
    let service = Rlaas::with_env(&server, &format!("on_unavailable: allow\n{}", rules(1)), &env);
    assert_eq!([service.code("k=x"), service.code("k=x")], [OK, OVER]);
    let timeouts = || service.figures("rlaas_redis_timeouts") != "0";
    let paused = Paused::new(&server);
    until("a request has asked in vain", || {
        assert_eq!(service.code("k=x"), OVER);
        timeouts()
    });
    drop(paused);
    ok(send(&mut server.con(), "DEL rl:d:token:31536000:k=x"));
    let began = Instant::now();
    until("the denial ends", || service.code("k=x") == OK);
    // The default is ten seconds.
    assert!(began.elapsed() < Duration::from_secs(5), "{}", service.metrics("rlaas_").join("\n"));
}

#[test]
fn without_redis_a_request_gets_what_the_domain_says() {
    let rule = "descriptors:
  - {key: k, rate_limit: {algorithm: token, unit: hour, requests_per_unit: 10}}
  - {key: granted, rate_limit: {algorithm: token, unit: hour, requests_per_unit: 10, grants: 5}}
";
    // It starts and listens without Redis.
    let service = Rlaas::at(&url(free_port()), "domain: d\n", &[("RLAAS_TIMEOUT", "15ms")]);
    let says = [("allow", "allow"), ("deny", "deny"), ("error", "error"), ("local", "local\ninstances: 2")];
    let rules = says.map(|(domain, says)| (domain, format!("on_unavailable: {says}\n{rule}")));
    service.add_rules(&rules);
    // Half of ten, since two instances share them.
    let local = [Ok(OK), Ok(OK), Ok(OK), Ok(OK), Ok(OK), Ok(OVER)];
    let unavailable = [Err(tonic::Code::Unavailable); 6];
    for (domain, expected) in
        [("allow", [Ok(OK); 6]), ("deny", [Ok(OVER); 6]), ("error", unavailable), ("local", local)]
    {
        for key in ["k", "granted"] {
            let ask = || service.try_ask(&format!("{domain}: {key}=x"));
            let found = [(); 6].map(|()| ask().map(|reply| reply.overall_code()).map_err(|status| status.code()));
            assert_eq!(found, expected, "{domain} {key}");
        }
    }
}

#[test]
fn it_listens_on_a_unix_socket_and_takes_no_file_away_for_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let serve = |path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rlaas"));
        command.args(["serve", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--redis", "redis://127.0.0.1:1"]);
        command.env("GRPC_UDS", path).current_dir(&dir);
        command
    };
    let path = dir.path().join("rlaas.sock");
    // The second one takes the place of the socket that the first one leaves.
    for _ in 0..2 {
        let mut child = serve(&path).stderr(Stdio::null()).spawn().expect("rlaas runs");
        until("the socket accepts", || UnixStream::connect(&path).is_ok());
        child.kill().expect("killed");
        child.wait().expect("ended");
    }
    let file = dir.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let output = serve(&file).output().expect("rlaas runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("gRPC cannot listen on"));
    assert!(file.is_file());
}

#[test]
fn series_that_come_from_requests_are_bounded() {
    let server = one_server();
    let rules = "domain: d
descriptors: [{key: v, value_to_metric: true, rate_limit: {algorithm: token, unit: year, requests_per_unit: 10}}]
";
    let service = Rlaas::start(&server, rules);
    for part in 0..11 {
        let descriptors: Vec<_> = (0..1_000).map(|n| format!("v={part}-{n}")).collect();
        assert_eq!(service.code(&descriptors.join(" | ")), OK);
    }
    let lines = service.metrics("ratelimit_service_rate_limit_total_hits{");
    assert_eq!(lines.len(), 10_001);
    let others = "ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"other\",key2=\"\"} 1000";
    assert!(lines.iter().any(|line| line == others));
    service.until_log("10000 series have names from requests");
}

#[test]
fn a_request_that_hangs_does_not_stop_the_end() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: k, rate_limit: {algorithm: token, unit: year, requests_per_unit: 5}}
  - {key: granted, rate_limit: {algorithm: token, unit: year, requests_per_unit: 5, grants: 5}}
";
    // The service itself would wait for ten seconds.
    let mut service = Rlaas::with_env(&server, rules, &[("RLAAS_DRAIN", "200ms")]);
    block_on(async {
        let mut client = service.client().await;
        // Four of the units that it holds now are to be given back.
        assert_eq!(client.code("k=x | granted=x").await, OK);
        let _paused = Paused::new(&server);
        let hangs = tokio::spawn(async move { client.try_ask("k=y").await });
        tokio::time::sleep(Duration::from_millis(100)).await;
        let began = Instant::now();
        service.signal("-TERM");
        assert_eq!(service.wait(), 0);
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        assert!(service.log().contains("some connections did not end in time"), "{}", service.log());
        assert!(service.log().contains("some grants were not given back in time"), "{}", service.log());
        hangs.await.expect("a result").expect_err("no reply");
    });
}

#[test]
fn each_decision_is_in_the_log() {
    let server = one_server();
    let rules = "domain: d
descriptors:
  - {key: k, rate_limit: {name: mine, algorithm: token, unit: year, requests_per_unit: 1}}
  - {key: try, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: free, rate_limit: {unlimited: true, replaces: [{name: old}]}}
  - {key: old, rate_limit: {name: old, unit: year, requests_per_unit: 0}}
  - {key: granted, rate_limit: {unit: year, requests_per_unit: 9, grants: 3}}
  - {key: list, rate_limit: {algorithm: token, unit: year, requests_per_unit: 1}}
";
    ok(send(&mut server.con(), "LPUSH rl:d:token:31536000:list=x x"));
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_LOG_LEVEL", "debug"), ("RLAAS_LOG_FORMAT", "json")]);
    assert_eq!(service.code("k=a\\,b\nc | try=x | free=x | old=x | new=x,a\\=b=c"), OK);
    assert_eq!([(); 2].map(|()| service.code("k=a\\,b\nc +2")), [OVER; 2]);
    assert_eq!([service.code("granted=x"), service.code("k=z -1")], [OK, OK]);
    service.try_ask("list=x").expect_err("a list");
    let events = || -> Vec<serde_json::Value> {
        let log = service.log();
        let events = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect(line));
        events.filter(|event| event["level"] == "DEBUG").collect()
    };
    until("all decisions are logged", || events().len() == 10);
    let show = |event: &serde_json::Value| {
        assert_eq!((&event["message"], &event["domain"]), (&"decided".into(), &"d".into()), "{event}");
        assert!(event["took_us"].as_u64().is_some_and(|took| took < 60_000_000), "{event}");
        let fields =
            ["descriptor", "rule", "key", "command", "decision", "by", "remaining"].map(|name| match &event[name] {
                serde_json::Value::Null => "-".to_owned(),
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            });
        fields.join(" | ")
    };
    let key = "rl:d:token:31536000:k=a%2Cb%0Ac";
    let expected = [
        format!("k=a\\,b\nc | d.k | {key} | RL.TOKEN {key} 31536000 1 | allowed | server | 0"),
        "try=x | d.try | rl:d:fixed:31536000:try=x | RL.FIXED rl:d:fixed:31536000:try=x 31536000 0 ALWAYS SHADOW | allowed by shadow_mode | server | 0".to_owned(),
        "free=x | d.free | - | - | unlimited | - | -".to_owned(),
        "old=x | d.old | - | - | replaced | - | -".to_owned(),
        "new=x,a\\=b=c | - | - | - | no limit | - | -".to_owned(),
        format!("k=a\\,b\nc | d.k | {key} | RL.TOKEN {key} 31536000 1 COST 2 | denied | server | 0"),
        format!("k=a\\,b\nc | d.k | {key} | RL.TOKEN {key} 31536000 1 COST 2 | denied | remembered denial | 0"),
        "granted=x | d.granted | rl:d:fixed:31536000:granted=x | RL.FIXED rl:d:fixed:31536000:granted=x 31536000 9 COST 3 PARTIAL | allowed | server | 8".to_owned(),
        "k=z | d.k | rl:d:token:31536000:k=z | RL.REFUND TOKEN rl:d:token:31536000:k=z 31536000 1 | allowed | server | 1".to_owned(),
        "list=x | d.list | rl:d:token:31536000:list=x | RL.TOKEN rl:d:token:31536000:list=x 31536000 1 | error | - | -".to_owned(),
    ];
    let found: Vec<_> = events().iter().map(show).collect();
    assert_eq!(found, expected);
    let places: Vec<_> = events().iter().filter_map(|event| event["at"].as_str().map(str::to_owned)).collect();
    assert!(places[0].ends_with("rules.yaml:3:5"), "{places:?}");
    assert_eq!(events()[5]["retry_after_ms"], -1);
    assert!(events()[9]["error"].as_str().is_some_and(|error| error.contains("WRONGTYPE")));
}

#[test]
fn an_address_in_use_names_the_flag() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("an address");
    let taken = taken.local_addr().expect("an address").to_string();
    for flag in ["--grpc", "--http", "--metrics", "--debug"] {
        let mut arguments = vec!["serve", "--redis", "redis://127.0.0.1:1"];
        for other in ["--grpc", "--http", "--metrics", "--debug"] {
            arguments.extend([other, if other == flag { &taken } else { "127.0.0.1:0" }]);
        }
        let (ok, log) = run(&arguments);
        let last = log.lines().last().expect("a line");
        assert!(!ok, "{log}");
        let expected = [&taken, "Address already in use", &format!("; {flag} takes another address")];
        assert!(expected.iter().all(|part| last.contains(*part)), "{log}");
    }
}
