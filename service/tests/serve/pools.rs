//! A quota of its own, else a pool: only the limit that allows is charged. A part of a pool: what is idle is lent.

use std::thread;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use serde_json::{Value, json};

use super::process::{Response, Rlaas, http, until, url};
use super::regions::Link;
use super::steps::{check, json as body};
use super::{alone, block_on, one_server};
use crate::support::*;

const RULES: &str = "domain: d
pools:
  - {name: spare, rate_limit: {unit: year, requests_per_unit: 3, else: last}}
  - {name: last, rate_limit: {algorithm: counter, window: 1000h, limit: 1}}
descriptors:
  - {key: tenant, rate_limit: {unit: year, requests_per_unit: 2, else: spare}}
  - {key: user, rate_limit: {algorithm: rolling, unit: year, requests_per_unit: 2, else: last}}
  - {key: try, shadow_mode: true, rate_limit: {unit: year, requests_per_unit: 0, else: spare}}
  - {key: one, quota_mode: true, rate_limit: {unit: year, requests_per_unit: 1, else: spare}}
  - {key: two, quota_mode: true, rate_limit: {unit: year, requests_per_unit: 9}}
  - {key: plain, rate_limit: {unit: year, requests_per_unit: 1}}
  - {key: granted, rate_limit: {unit: year, requests_per_unit: 2, grants: 2, else: spare}}
";
const SPARE: &str = "GET rl:d:fixed:31536000:spare";

/// What is asked, and what each descriptor and the request get. Of limits that end together, the first denies.
const STEPS: &[(&str, &str)] = &[
    ("tenant=a", "ok 1: ok"),
    ("tenant=a", "ok 0: ok"),
    ("tenant=a", "ok 2: ok"),
    ("tenant=b", "ok 1: ok"),
    // More than the quota has is not split.
    ("tenant=b +2", "ok 0: ok"),
    (SPARE, "3"),
    ("tenant=a", "ok 0: ok"),
    ("tenant=a", "over 0: over"),
    ("tenant=b", "ok 0: ok"),
    ("tenant=b", "over 0: over"),
    // What was denied is counted nowhere.
    (SPARE, "3"),
    ("GET rl:d:fixed:31536000:tenant=a", "2"),
    ("GET rl:d:fixed:31536000:tenant=b", "2"),
    ("METRIC ratelimit_service_rate_limit_total_hits{domain=\"d\",key1=\"pools\",key2=\"spare\"", "3"),
    ("METRIC ratelimit_service_rate_limit_over_limit{domain=\"d\",key1=\"tenant\"", "2"),
    ("FLUSHALL", ""),
    // Shadow mode denies nobody.
    ("try=x", "ok 0: ok"),
    (SPARE, ""),
    // A look, and what is given back: that is the limit's own.
    ("tenant=c ?", "ok 2: ok"),
    ("tenant=c +2", "ok 0: ok"),
    ("tenant=c -2", "ok 2: ok"),
    // Two descriptors with one pool.
    ("tenant=d +2 | user=d +2", "ok 0 | ok 0: ok"),
    ("tenant=d | user=d", "ok 2 | ok 0: ok"),
    ("tenant=d | user=d", "ok 1 | over 0: over"),
    (SPARE, "2"),
    // quota_mode is that of the rule, whichever limit decides.
    ("one=x | two=x", "ok 0 | ok 8: ok"),
    ("one=x | two=x", "ok 0 | ok 7: ok"),
    ("one=x | two=x", "over 0 | ok 6: ok"),
    ("FLUSHALL", ""),
    ("granted=x", "ok 1: ok"),
    ("granted=x", "ok 0: ok"),
    ("granted=x", "ok 2: ok"),
    (SPARE, "1"),
    // The limit of a request is that of the rule alone.
    ("tenant=e limit 1 YEAR", "ok 0: ok"),
    ("tenant=e limit 1 YEAR", "ok 1: ok"),
    (SPARE, "2"),
];

#[test]
fn the_first_limit_that_allows_is_charged_and_no_other() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        check(&server, &Rlaas::with_env(&server, RULES, &[("RLAAS_DENIALS", "0")]), STEPS);
    });
}

/// The naive model: a list of what is left for each descriptor, the first of which that has enough is charged.
#[test]
fn as_a_naive_model_says() {
    const LIMITS: [(&str, &[usize]); 3] = [("a", &[0, 3, 4]), ("b", &[1, 4]), ("c", &[2, 3, 4])];
    let rules = |whole: bool| {
        format!(
            "domain: d
all_or_nothing: {whole}
pools:
  - {{name: q, rate_limit: {{algorithm: window, unit: year, limit: 9}}}}
  - {{name: p, rate_limit: {{unit: year, limit: 7, else: q}}}}
descriptors:
  - {{key: a, rate_limit: {{unit: year, limit: 5, else: p}}}}
  - {{key: b, rate_limit: {{algorithm: rolling, unit: year, limit: 6, else: q}}}}
  - {{key: c, rate_limit: {{algorithm: counter, unit: year, limit: 4, else: p}}}}
"
        )
    };
    for (whole, denials) in [(false, "0"), (false, "100"), (true, "0"), (true, "100")] {
        let server = one_server();
        let service = Rlaas::with_env(&server, &rules(whole), &[("RLAAS_DENIALS", denials)]);
        let mut random = fastrand::Rng::with_seed(53);
        for round in 0..15 {
            ok(send(&mut server.con(), "FLUSHALL"));
            let (mut left, value) = ([5_u64, 6, 4, 7, 9], round);
            // The pools are shared: a remembered denial of theirs would outlive FLUSHALL.
            let steps = if denials == "0" || round == 0 { 12 } else { 0 };
            for _ in 0..steps {
                let asked: Vec<_> =
                    LIMITS.iter().filter_map(|of| Some((of, random.u64(0..4))).filter(|(_, hits)| *hits > 0)).collect();
                if asked.is_empty() {
                    continue;
                }
                let (expected, after) = if whole { together(left, &asked) } else { each(left, &asked) };
                left = after;
                let text: Vec<_> = asked.iter().map(|((key, _), hits)| format!("{key}={value} +{hits}")).collect();
                let allowed = service.code(&text.join(" | ")) == Code::Ok;
                assert_eq!(allowed, expected, "{whole} {denials} {round}: {text:?}, then {left:?}");
            }
        }
    }
}

type Asked<'a> = (&'a (&'static str, &'static [usize]), u64);

/// First the own limits of all descriptors, then the first pool of those that deny, and so on.
fn each(mut left: [u64; 5], asked: &[Asked<'_>]) -> (bool, [u64; 5]) {
    let mut open: Vec<_> = asked.iter().map(|((_, limits), hits)| (*limits, *hits)).collect();
    let mut allowed = true;
    while !open.is_empty() {
        open.retain_mut(|(limits, hits)| {
            let [limit, rest @ ..] = *limits else { unreachable!() };
            let fits = left[*limit] >= *hits;
            left[*limit] -= if fits { *hits } else { 0 };
            allowed &= fits || !rest.is_empty();
            *limits = rest;
            !fits && !rest.is_empty()
        });
    }
    (allowed, left)
}

/// All that deny move on, until none denies or one has no further pool.
fn together(left: [u64; 5], asked: &[Asked<'_>]) -> (bool, [u64; 5]) {
    let mut now: Vec<_> = asked.iter().map(|((_, limits), hits)| (*limits, *hits)).collect();
    loop {
        let mut cost = [0; 5];
        now.iter().for_each(|(limits, hits)| cost[limits[0]] += hits);
        let denies = |limits: &&[usize]| cost[limits[0]] > left[limits[0]];
        let denying = now.iter().filter(|(limits, _)| denies(limits)).count();
        if denying == 0 {
            return (true, std::array::from_fn(|limit| left[limit] - cost[limit]));
        }
        for (limits, _) in now.iter_mut().filter(|(limits, _)| denies(limits)) {
            *limits = &limits[1..];
        }
        if now.iter().any(|(limits, _)| limits.is_empty()) {
            return (false, left);
        }
    }
}

#[test]
fn the_reply_names_the_limit_that_was_charged() {
    let server = one_server();
    let rules = "domain: d
authorize: {descriptors: [[{key: tenant, header: X-Tenant}]]}
pools: [{name: spare, rate_limit: {algorithm: token, window: 1000h, limit: 500, burst: 1}}]
descriptors:
  - {key: tenant, metadata: {team: a}, rate_limit: {algorithm: window, window: 9000h, limit: 1, else: spare}}
";
    let env = [
        ("LIMIT_RESPONSE_HEADERS_ENABLED", "true"),
        ("RESPONSE_DYNAMIC_METADATA", "true"),
        ("RLAAS_LOG_LEVEL", "debug"),
    ];
    let service = Rlaas::with_env(&server, rules, &env);
    let ask = |of: &str| -> Value { serde_json::from_str(&service.post("/json", of, "").body).expect("JSON") };
    let named = |reply: &Value| {
        let headers = reply["responseHeadersToAdd"].as_array().expect("headers");
        let header = headers.iter().find(|header| header["key"] == "RateLimit").expect("a header");
        let metadata = &reply["dynamicMetadata"];
        let name = header["value"].as_str().and_then(|value| value.split('"').nth(1)).expect("a name").to_owned();
        (name, metadata["chargedPools"].clone(), metadata["deniedBy"].clone(), metadata["metadata"]["team"].clone())
    };
    assert_eq!(named(&ask("tenant=a")), ("d.tenant".to_owned(), Value::Null, Value::Null, json!("a")));
    let of_pool = ask("tenant=a");
    assert_eq!(named(&of_pool), ("spare".to_owned(), json!(["spare"]), Value::Null, json!("a")));
    assert_eq!(of_pool["statuses"][0]["currentLimit"]["name"], "spare");
    // The pool allows it sooner, after two hours.
    let denied = ask("tenant=a");
    assert_eq!(named(&denied), ("spare".to_owned(), Value::Null, json!(["spare"]), Value::Null));
    assert_eq!(denied["statuses"][0]["durationUntilReset"], "7200s");
    let denied = http(&service.http, "GET /authorize/d", &[("X-Tenant", "a")], "");
    assert_eq!((denied.status, denied.header("retry-after")), (429, Some("7200")));
    assert!(denied.body.contains(r#""violated-policies":["spare"]"#), "{denied:?}");
    service.until_log("rule=\"d.pools.spare\"");

    let why = http(&service.debug, "POST /why", &[], &body("tenant=a", "")).body;
    let parts: Vec<_> = why.lines().map(|line| line.split(" at ").next().unwrap_or_default().trim_end()).collect();
    let expected = [
        "  used     1 of 1",
        "  else     d.pools.spare",
        "  key      rl:d:token:3600000:spare",
        "  name     spare",
        "  used     1 of 1",
    ];
    let found: Vec<_> = parts.iter().filter(|line| expected.contains(line)).copied().collect();
    assert_eq!(found, expected, "{why}");

    // Charged together, a pool that allows is not charged if another one denies.
    service.write_rules(
        "domain: d
all_or_nothing: true
pools: [{name: more, rate_limit: {unit: year, limit: 3}}, {name: none, rate_limit: {unit: year, limit: 0}}]
descriptors:
  - {key: one, rate_limit: {unit: year, limit: 0, else: more}}
  - {key: two, rate_limit: {unit: year, limit: 0, else: none}}
",
    );
    service.until_generation(2);
    let reply = ask("one= | two=");
    let shown = (&reply["overallCode"], &reply["statuses"][0]["code"], reply["dynamicMetadata"].get("chargedPools"));
    assert_eq!(shown, (&json!("OVER_LIMIT"), &json!("OK"), None));
}

#[test]
fn a_remembered_denial_of_the_own_limit_costs_no_round_trip_and_a_pool_that_is_away_is_an_outage() {
    for (says, outcome) in [("deny", "over 0: over"), ("allow", "ok 0: ok"), ("error", "Unavailable")] {
        let mut server = one_server();
        let rules = format!(
            "domain: d
on_unavailable: {says}
pools: [{{name: spare, rate_limit: {{algorithm: rolling, unit: year, limit: 99}}}}]
descriptors: [{{key: tenant, rate_limit: {{algorithm: counter, unit: year, limit: 1, else: spare}}}}]
"
        );
        let service = Rlaas::with_env(&server, &rules, &[("RLAAS_TIMEOUT", "1s")]);
        let calls = || {
            let stats: String = redis::cmd("INFO").arg("commandstats").query(&mut server.con()).expect("INFO");
            let line = stats.lines().find(|line| line.to_ascii_lowercase().starts_with("cmdstat_rl.counter:"));
            line.and_then(|line| line.split(',').next()).map(str::to_owned)
        };
        check(&server, &service, &[("tenant=a", "ok 0: ok"), ("tenant=a", "ok 98: ok")]);
        let before = calls();
        check(&server, &service, &[("tenant=a", "ok 97: ok"), ("tenant=a", "ok 96: ok")]);
        assert_eq!(calls(), before);
        server.kill();
        check(&server, &service, &[("tenant=a", outcome)]);
    }
}

#[test]
fn the_own_limit_and_its_pool_have_one_time() {
    let server = one_server();
    let link = Link::new(server.port(), Duration::from_millis(75));
    let rules = "domain: d
pools: [{name: spare, rate_limit: {algorithm: rolling, unit: year, limit: 99}}]
descriptors:
  - {key: tenant, rate_limit: {algorithm: counter, unit: year, limit: 0, else: spare}}
  - {key: plain, rate_limit: {algorithm: counter, unit: year, limit: 99}}
";
    for (timeout, expected) in [("240ms", None), ("10s", Some(Code::Ok))] {
        let env = [("RLAAS_TIMEOUT", timeout), ("RLAAS_DENIALS", "0")];
        let service = Rlaas::at(&url(link.port), rules, &env);
        let code = |ask: &str| service.try_ask(ask).ok().map(|reply| reply.overall_code());
        until("one round trip is in time", || code("plain=x") == Some(Code::Ok));
        assert_eq!(code("tenant=a"), expected, "{timeout}");
    }
}

#[test]
fn a_reservation_moves_on_and_its_commit_finds_it() {
    let server = one_server();
    let rules = "domain: d
pools: [{name: spare, rate_limit: {unit: year, requests_per_unit: 100}}]
descriptors:
  - {key: tenant, rate_limit: {unit: year, requests_per_unit: 100, else: spare}}
  - {key: user, rate_limit: {algorithm: rolling, unit: year, requests_per_unit: 100, else: spare}}
  - {key: all, rate_limit: {algorithm: counter, unit: year, requests_per_unit: 1000}}
";
    let service = Rlaas::start(&server, rules);
    let post = |path: &str, more: &str| service.post(path, "tenant=x | user=x | all=x", more);
    let json = |response: Response| -> Value { serde_json::from_str(&response.body).expect("JSON") };
    let reserve = |amount: u32| json(post("/reserve", &format!(",\"amount\": {amount}")));
    // What the own limit of the tenant counts, and the pool.
    let counted = || {
        let why = http(&service.debug, "POST /why", &[], &body("tenant=x", "")).body;
        let used = |line: &str| line.strip_prefix("  used     ")?.split(' ').next()?.parse().ok();
        why.lines().filter_map(used).collect::<Vec<u32>>()
    };
    let commit = |id: &Value, actual: u32| {
        let settled = post("/commit", &format!(",\"reservationId\": {id}, \"actualAmount\": {actual}"));
        settled.body.contains("true")
    };
    // The largest part of a limit is a half.
    let [first, second] = [reserve(40), reserve(50)];
    let third = json(service.post("/reserve", "tenant=x +20 | user=x | all=x", ",\"amount\": 30"));
    assert_eq!(counted(), [90, 30], "the larger estimate, and not both, though two descriptors have moved on");
    assert!(commit(&third["reservationId"], 7) && !commit(&third["reservationId"], 9));
    assert_eq!(counted(), [90, 7]);
    assert!(commit(&first["reservationId"], 10) && commit(&second["reservationId"], 10));
    assert_eq!(counted(), [20, 7]);
    // All alternatives are full: nothing is reserved.
    let ids = [reserve(50), reserve(30), reserve(50), reserve(43)].map(|reply| reply["reservationId"].clone());
    assert!(ids.iter().all(Value::is_string), "{ids:?}");
    let denied = reserve(1);
    assert_eq!((&denied["code"], counted()), (&json!("OVER_LIMIT"), vec![100, 100]));
    let own = post("/reserve", ",\"amount\": 1, \"reservationId\": \"mine\"");
    assert!(own.status == 400 && own.body.contains("reservation_id"), "{own:?}");
    // Without an id, the own limit is charged, whatever it says.
    assert_eq!(post("/commit", ",\"actualAmount\": 5").status, 200);
    assert_eq!(counted(), [100, 100]);
}

#[test]
fn the_first_limit_that_allows_is_charged_and_each_one_after_it() {
    const SHARES: &str = "domain: d
hash_tag: model
pools:
  - {name: model, rate_limit: {unit: year, limit: 6, share: all}}
  - {name: all, rate_limit: {algorithm: window, unit: year, limit: 7}}
descriptors:
  - {key: team, rate_limit: {unit: year, limit: 2, share: model}}
  - {key: try, shadow_mode: true, rate_limit: {unit: year, limit: 0, share: all}}
  - {key: model, descriptors: [{key: team, rate_limit: {unit: year, limit: 1, share: all}}]}
";
    const MODEL: &str = "GET rl:d:fixed:31536000:model";
    const ALL: &str = "GET rl:d:window:31536000:all";
    let server = one_server();
    let service = Rlaas::with_env(&server, SHARES, &[("RESPONSE_DYNAMIC_METADATA", "true")]);
    let steps = [
        ("team=a +2", "ok 0: ok"),
        (MODEL, "2"),
        (ALL, "2"),
        // What the others leave: of the model, then of all.
        ("team=a +3", "ok 1: ok"),
        ("team=a", "ok 0: ok"),
        (MODEL, "6"),
        ("team=a", "ok 0: ok"),
        ("GET rl:d:fixed:31536000:team=a", "2"),
        (MODEL, "6"),
        (ALL, "7"),
        // A part of one's own is never denied because others borrow.
        ("team=b", "ok 1: ok"),
        (MODEL, "7"),
        (ALL, "8"),
        // A denial charges nothing, a look neither.
        ("team=a", "over 0: over"),
        ("team=b ?", "ok 1: ok"),
        (ALL, "8"),
        // What is given back is the limit's own.
        ("team=b -1", "ok 2: ok"),
        (ALL, "8"),
        // The widest limit denies, and shadow mode allows it.
        ("try=x", "ok 0: ok"),
        (ALL, "8"),
        ("METRIC ratelimit_service_rate_limit_shadow_mode{domain=\"d\",key1=\"pools\",key2=\"all\"", "1"),
        // With a hash tag there is a pool for each of its values.
        ("model=m,team=a", "ok 0: ok"),
        ("model=m,team=a", "ok 5: ok"),
        ("GET rl:d:window:31536000:all:{m}", "2"),
    ];
    check(&server, &service, &steps);
    let charged = || {
        let reply: Value = serde_json::from_str(&service.post("/json", "team=c", "").body).expect("JSON");
        reply["dynamicMetadata"]["chargedPools"].clone()
    };
    ok(send(&mut server.con(), "FLUSHALL"));
    assert_eq!([charged(), charged(), charged()], [Value::Null, Value::Null, json!(["model"])]);
    let why = http(&service.debug, "POST /why", &[], &body("team=c", "")).body;
    assert_eq!(why.lines().filter(|line| line.starts_with("  share ")).count(), 2, "{why}");
    // What a dead worker reserved could not come back.
    let reserved = service.post("/reserve", "team=c", ",\"amount\": 1");
    assert!(reserved.status == 400 && reserved.body.contains("a limit with share has no reservations"), "{reserved:?}");
}

/// One team asks for a little less than its part while another takes all it can.
#[test]
fn a_team_within_its_part_is_never_denied_and_the_pool_is_never_exceeded() {
    let (_alone, server) = (alone(), one_server());
    let rules = "domain: d
pools: [{name: model, rate_limit: {algorithm: token, window: 1s, limit: 200, burst: 20}}]
descriptors: [{key: team, rate_limit: {algorithm: token, window: 1s, limit: 100, burst: 10, share: model}}]
";
    let service = Rlaas::with_env(&server, rules, &[("RLAAS_TIMEOUT", "5s")]);
    let (began, length) = (Instant::now(), Duration::from_secs(2));
    let take = |team: &str, pause: Duration| {
        block_on(async {
            let (mut client, mut allowed, mut denied) = (service.client().await, 0_u32, 0_u32);
            while began.elapsed() < length {
                let code = client.code(team).await;
                *(if code == Code::Ok { &mut allowed } else { &mut denied }) += 1;
                thread::sleep(pause);
            }
            (allowed, denied, began.elapsed())
        })
    };
    let ((modest, denied, _), (greedy, _, took)) = thread::scope(|scope| {
        let modest = scope.spawn(|| take("team=a", Duration::from_millis(11)));
        let greedy = take("team=b", Duration::ZERO);
        (modest.join().expect("team a"), greedy)
    });
    assert_eq!(denied, 0, "of {modest}");
    // The bursts of the whole and of the two parts, and what the last replies took.
    let most = (200.0 * took.as_secs_f64()) as u32 + 20 + 10 + 10;
    assert!(modest + greedy <= most, "{modest} + {greedy}, at most {most}");
    // What the other leaves idle is lent: more than a part of 100 a second.
    assert!(greedy >= 205, "{greedy}");
}
