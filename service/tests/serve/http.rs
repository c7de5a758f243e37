//! The service over HTTP.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::process::{Response, Rlaas, get, http, until};
use super::{block_on, one_server};
use crate::support::*;

const RULES: &str = "domain: d
authorize:
  trusted_proxies: [127.0.0.0/8]
  descriptors:
    - [{key: api_key, header: X-Api-Key}]
    - [{key: path, path: true}, {key: address, client_address: true}]
descriptors:
  - {key: user, rate_limit: {name: mine, unit: year, requests_per_unit: 2}}
  - {key: api_key, rate_limit: {name: the keys, algorithm: token, window: 1000h, limit: 3}}
  - {key: path, value: /login, descriptors: [{key: address, rate_limit: {algorithm: gcra, window: 1000h, limit: 1}}]}
  - {key: free, shadow_mode: true, rate_limit: {unlimited: true}}
";

fn json(service: &Rlaas, body: &str) -> Response {
    http(&service.http, "POST /json", &[], body)
}

fn authorize(service: &Rlaas, headers: &[(&str, &str)]) -> Response {
    get(&service.http, "/authorize/d", headers)
}

#[test]
fn a_caller_sees_what_is_left_of_its_own_limits_where_it_is_told_so() {
    let mut server = one_server();
    let rules = "domain: d
authorize:
  trusted_proxies: [127.0.0.0/8]
  descriptors: [[{key: user, header: X-User}], [{key: address, client_address: true}], [{key: tried, header: X-User}]]
pools: [{name: spare, rate_limit: {unit: year, requests_per_unit: 100}}]
descriptors:
  - {key: user, rate_limit: {name: mine, algorithm: token, window: 1000h, limit: 10, unit_scale: 1000, else: spare}}
  - {key: address, rate_limit: {algorithm: rolling, unit: day, limit: 5}}
  - {key: tried, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 1}}
";
    let limits = |service: &Rlaas, user: &str| get(&service.http, "/limits/d", &[("X-User", user)]);
    assert_eq!(limits(&Rlaas::start(&server, rules), "a").status, 404);
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_LIMITS", "true")]);
    let left = |user: &str| -> serde_json::Value {
        let response = limits(&service, user);
        assert_eq!((response.status, response.header("cache-control")), (200, Some("no-store")));
        serde_json::from_str(&response.body).expect("JSON")
    };
    let figures = |mine: u32, of_address: u32, user: &str| {
        let limits = left(user)["limits"].as_array().expect("limits").clone();
        let [own, address] = &limits[..] else { panic!("{limits:?}") };
        assert_eq!((&own["name"], &own["limit"], &own["remaining"]), (&"mine".into(), &10.into(), &mine.into()));
        assert_eq!((&address["name"], &address["remaining"]), (&"d.address".into(), &of_address.into()), "{address}");
        [own, address].map(|limit| limit["resetSeconds"].as_u64().expect("a time"))
    };
    assert_eq!([figures(10, 5, "a"), figures(10, 5, "a")], [[0; 2]; 2]);
    // 3 of 10 units are 300 hours, and 1 a day.
    assert_eq!(service.post("/json", "user=a +3000 | address=127.0.0.1", "").status, 200);
    let [own, address] = figures(7, 4, "a");
    assert!((1_079_990..=1_080_000).contains(&own) && (86_390..=86_400).contains(&address), "{own} {address}");
    figures(10, 4, "b");
    assert_eq!(get(&service.http, "/limits/other", &[]).status, 404);
    assert_eq!(http(&service.http, "POST /limits/d", &[], "").status, 405);
    server.kill();
    let away = limits(&service, "a");
    assert!(away.status == 503 && !away.body.contains("mine"), "{away:?}");
}

#[test]
fn json_is_a_request_and_a_reply() {
    let server = one_server();
    let service = Rlaas::with_env(&server, RULES, &[("LIMIT_RESPONSE_HEADERS_ENABLED", "true")]);
    let body = r#"{"domain":"d","descriptors":[{"entries":[{"key":"user","value":"a"}]}]}"#;
    for remaining in ["\"limitRemaining\":1,", ""] {
        let response = json(&service, body);
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
        let start = format!(
            r#"{{"overallCode":"OK","statuses":[{{"code":"OK","currentLimit":{{"requestsPerUnit":2,"unit":"YEAR","name":"mine"}},{remaining}"durationUntilReset":""#
        );
        assert!(response.body.starts_with(&start), "{}", response.body);
        assert!(response.body.contains(r#"{"key":"RateLimit-Limit","value":"2"}"#), "{}", response.body);
    }
    let response = json(&service, body);
    assert_eq!(response.status, 429);
    assert!(response.body.starts_with(r#"{"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT""#));
    // Any method.
    assert_eq!(http(&service.http, "GET /json", &[], body).status, 429);
    for (wrong, expected) in [
        ("", "the body is no RateLimitRequest in JSON: EOF"),
        (r#"{"domain":"d"}"#, "the list of descriptors must not be empty"),
    ] {
        let response = json(&service, wrong);
        assert_eq!(response.status, 400, "{wrong}");
        assert!(response.body.starts_with(expected), "{}", response.body);
    }
    assert_eq!(json(&service, &" ".repeat(4 * 1024 * 1024 + 1)).status, 413);
}

#[test]
fn authorize_makes_descriptors_of_headers() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let key = [("X-Api-Key", "a")];
    for remaining in ["2", "1", "0"] {
        let response = authorize(&service, &key);
        assert_eq!((response.status, response.header("x-ratelimit-remaining")), (200, Some(remaining)));
        assert_eq!(response.header("x-ratelimit-limit"), Some("3"));
        assert_eq!(response.header("ratelimit-policy"), Some("\"the_keys\";q=3;w=3600000"));
        assert_eq!(response.header("retry-after"), None);
    }
    let response = authorize(&service, &key);
    assert_eq!(response.status, 429);
    assert_eq!(response.header("content-type"), Some("application/problem+json"));
    assert!(response.header("ratelimit").is_some_and(|value| value.starts_with("\"the_keys\";r=0;t=")), "{response:?}");
    let wait: u64 = response.header("retry-after").expect("a time").parse().expect("seconds");
    // A token comes every 1,000 / 3 hours.
    assert!((1_199_900..=1_200_000).contains(&wait), "{wait}");
    assert_eq!(
        response.body,
        r#"{"status":429,"title":"Quota exceeded","type":"https://iana.org/assignments/http-problem-types#quota-exceeded","violated-policies":["the_keys"]}"#
    );
    // Leaving the header out leaves the other descriptor.
    let login = [("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Uri", "/login?x")];
    assert_eq!(authorize(&service, &login).status, 200);
    assert_eq!(http(&service.http, "POST /authorize/d", &login, "body").status, 429);
    let both = authorize(&service, &[&key[..], &login].concat());
    assert!(both.body.contains(r#""violated-policies":["the_keys","d.path__login.address"]"#), "{both:?}");
    assert_eq!(authorize(&service, &[("X-Forwarded-Uri", "/login"), ("X-Original-Uri", "/")]).status, 400);
    // Leaving all of them out is no way around the limits.
    assert_eq!(authorize(&service, &[]).status, 429);
    assert_eq!(get(&service.http, "/authorize/unknown", &[]).status, 404);
    service.write_rules("domain: d\nauthorize: {deny_status: 403, if_none: allow, descriptors: [[{key: k, header: K}]]}\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 0}}]\n");
    until("the rules are in force", || authorize(&service, &[]).status == 200);
    assert_eq!(authorize(&service, &[("k", "x")]).status, 403);
}

#[test]
fn health_and_the_rules_in_force_are_shown() {
    let server = one_server();
    let options = [("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", "true"), ("RLAAS_TIMEOUT", "1s")];
    let service = Rlaas::with_env(&server, "domain: [", &options);
    let show = |path: &str| get(&service.http, path, &[]);
    assert_eq!((show("/healthcheck").status, show("/healthcheck").body.as_str()), (200, "OK"));
    assert_eq!((show("/ready").status, show("/ready").body.as_str()), (503, "there are no valid rules yet"));
    assert_eq!(get(&service.debug, "/rlconfig", &[]).body, "there are no valid rules yet\n");
    service.write_rules(RULES);
    until("it is ready", || show("/ready").status == 200);
    let rules = get(&service.debug, "/rlconfig", &[]).body;
    // The metrics and the log say the same.
    let [info] = &*service.metrics("rlaas_rules_info") else { panic!("one set of rules") };
    let hash = info.strip_prefix("rlaas_rules_info{hash=\"").and_then(|rest| rest.strip_suffix("\"} 1")).expect(info);
    assert!(service.log().contains(&format!("limits=3 generation=1 hash=\"{hash}\"")), "{hash} {}", service.log());
    let build = format!("rlaas_build_info{{version=\"{}\"}} 1", rlaas::VERSION);
    assert_eq!(service.metrics("rlaas_build_info"), [build]);
    let hash = format!("hash: {hash}");
    let lines: Vec<_> = rules.lines().map(|line| line.split(", at ").next().expect("a part")).collect();
    assert_eq!(
        lines,
        [
            "generation: 1",
            &hash,
            &format!("version: {}", rlaas::VERSION),
            "d.api_key: TOKEN 3600000 3 AS the_keys, charge allowed",
            "d.free: unlimited, shadow_mode",
            "d.path_/login.address: GCRA 3600000 1, charge allowed",
            "d.user: FIXED 31536000 2 AS mine, charge always",
        ]
    );
    let paused = Paused::new(&server);
    assert_eq!((show("/ready").status, show("/ready").body.as_str()), (503, "Redis does not reply"));
    assert_eq!(show("/healthcheck").status, 200);
    drop(paused);
    until("it is ready again", || show("/ready").status == 200);
}

/// What rejects decisions makes it not ready, and nothing else does.
#[test]
fn it_is_ready_if_decisions_work() {
    let server = one_server();
    let mut con = server.con();
    let rules = |all: bool| {
        let limit = |name: &str| format!("{{key: {name}, rate_limit: {{algorithm: {name}, window: 1h, limit: 0}}}}");
        format!("domain: d\nall_or_nothing: {all}\ndescriptors: [{}, {}]\n", limit("gcra"), limit("rolling"))
    };
    for (password, all, acl, replicas, is_ready) in [
        ("right", false, "+rl.gcra +rl.rolling", "0", true),
        ("guess", false, "+rl.gcra +rl.rolling", "0", false),
        ("right", false, "+rl.gcra +rl.rolling", "1", false),
        ("right", false, "+rl.gcra +rl.peek", "0", false),
        ("right", true, "+rl.gcra +rl.rolling", "0", false),
        ("right", true, "+rl.gcra +rl.rolling +rl.multi", "0", true),
    ] {
        ok(send(&mut con, &format!("ACL SETUSER me reset on >right ~rl:* {acl}")));
        ok(send(&mut con, &format!("CONFIG SET min-replicas-to-write {replicas}")));
        let redis = format!("redis://me:{password}@127.0.0.1:{}", server.port());
        let service = Rlaas::at(&redis, &rules(all), &[("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", "true")]);
        let response = http(&service.http, "POST /ready", &[], "");
        let expected = if is_ready { 200 } else { 503 };
        assert_eq!(response.status, expected, "{password} {all} {acl} {replicas}: {response:?}");
        assert!(password == "right" || response.body == "Redis rejects commands", "{response:?}");
        until("the log says why", || is_ready || service.log().contains("not ready: Redis cannot decide"));
        assert!(!service.log().contains("guess"), "{}", service.log());
    }
    assert_eq!(keys(&mut con), [""; 0]);
}

#[test]
fn rules_without_a_limit_replace_none_and_are_not_ready_if_told_so() {
    let server = one_server();
    let variable = [("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", "true")];
    for (env, expected) in [(&[][..], (200, 200)), (&variable[..], (503, 500))] {
        let service = Rlaas::with_env(&server, "", env);
        let status = || (get(&service.http, "/ready", &[]).status, get(&service.http, "/healthcheck", &[]).status);
        let serving = || block_on(service.health("ratelimit")) == 1;
        // There was no limit before, so none is lifted. It is loud.
        assert!(service.log().contains("WARN there is no limit in the rules"), "{}", service.log());
        assert_eq!(service.figures("rlaas_rules_limits"), "0");
        assert_eq!(status(), expected);
        until("the health check says so", || serving() == (expected.0 == 200));
        if env.is_empty() {
            continue;
        }
        service.write_rules(RULES);
        service.until_generation(2);
        assert_eq!(status(), (200, 200));
        until("it is serving", serving);
        // From here on, files without a limit are as wrong as others.
        std::fs::remove_file(service.dir.path().join("rules/rules.yaml")).expect("removed");
        service.until_log("the old ones stay");
        service.write_rules("domain: d\ndescriptors: [{key: user, rate_limit: {unlimited: true}}]\n");
        until("the old rules stay", || service.log().matches("the old ones stay").count() == 2);
        assert_eq!(service.figures("rlaas_rules_"), "2 1 3 1", "generation, info, limits, wrong");
        assert_eq!((status(), serving()), ((200, 200), true));
    }
}

/// The time of a client begins with the connection, with the end of the last reply, and with the header of a request.
#[test]
fn a_client_that_does_not_send_its_request_loses_the_connection() {
    const WHOLE: &str = "GET /healthcheck HTTP/1.1\r\nHost: test\r\n\r\n";
    let server = one_server();
    let times = [("RLAAS_HTTP_TIMEOUT", "700ms"), ("RLAAS_REQUEST_TIMEOUT", "700ms")];
    let service = Rlaas::with_env(&server, RULES, &times);
    let starts = [
        (&service.http, "", ""),
        (&service.http, "GET /healthcheck HTTP/1.1\r\nHost: te", ""),
        (
            &service.http,
            "POST /json HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{",
            "HTTP/1.1 408 Request Timeout",
        ),
        (&service.http, WHOLE, "HTTP/1.1 200 OK"),
        (&service.metrics, "GET /met", ""),
        (&service.debug, WHOLE, "HTTP/1.1 404 Not Found"),
    ];
    let open = |address: &String, sent: &str| {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(sent.as_bytes()).expect("sent");
        stream
    };
    // A connection that is used stays.
    let mut used = open(&service.http, "");
    let silent = starts.map(|(address, sent, expected)| (open(address, sent), sent, expected));
    for _ in 0..5 {
        used.write_all(WHOLE.as_bytes()).expect("sent");
        let mut reply = Vec::new();
        while !reply.ends_with(b"\r\n\r\nOK") {
            let mut byte = [0];
            used.read_exact(&mut byte).expect("a reply");
            reply.extend(byte);
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    for (mut stream, sent, expected) in silent {
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap_or_else(|error| panic!("{sent}: {error}"));
        assert_eq!(reply.lines().next().unwrap_or_default(), expected, "{sent}");
    }
    until("they are counted", || service.figures("rlaas_connections_closed{reason=\"silent\"}") == "5");
}
