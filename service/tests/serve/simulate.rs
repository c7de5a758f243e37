//! `rlaas simulate` decides as the service does.

use std::fmt::Write as _;
use std::fs;

use rlaas::simulate::logs::{Logs, Options};
use rlaas::simulate::{Replay, Settings};
use rlaas_rules::{self as rules, Source};

use super::block_on;
use super::process::{Rlaas, get, hits, request};
use crate::support::*;

const DOMAINS: [&str; 2] = ["each", "whole"];

/// Rules of every kind. What is charged as a whole has no `charge: always` and no `quota_mode`.
fn rules_of(domain: &str, whole: bool) -> String {
    let (each, charge) = if whole { (false, "allowed") } else { (true, "always") };
    format!(
        "domain: {domain}
all_or_nothing: {whole}
authorize:
  trusted_proxies: [127.0.0.0/8]
  descriptors:
    - [{{key: user, header: X-User}}]
    - [{{key: path, path: true}}]
    - [{{key: path, path: true}}, {{key: address, client_address: true}}]
    - [{{key: address, client_address: true}}]
pools:
  - {{name: spare, rate_limit: {{algorithm: rolling, window: 8s, limit: 4, else: last}}}}
  - {{name: last, rate_limit: {{window: 6s, limit: 2}}}}
descriptors:
  - key: user
    rate_limit: {{name: user, unit: minute, requests_per_unit: 6, else: last}}
  - key: user
    value: h1
    rate_limit: {{algorithm: counter, window: 10s, limit: 3, charge: {charge}}}
  - key: user
    value: h2
    quota_mode: {each}
    rate_limit: {{algorithm: window, window: 7s, limit: 2, else: spare}}
  - key: user
    value: h3
    rate_limit: {{unlimited: true}}
  - key: path
    value: /tried
    shadow_mode: true
    rate_limit: {{algorithm: token, window: 10s, limit: 4, burst: 2, charge: {charge}}}
  - key: path
    value: /a*
    share_threshold: true
    rate_limit: {{algorithm: rolling, window: 9s, limit: 4, charge: {charge}}}
    descriptors:
      - {{key: address, rate_limit: {{algorithm: gcra, window: 20s, limit: 5, burst: 2, replaces: [{{name: user}}]}}}}
  - key: address
    quota_mode: {each}
    rate_limit: {{window: 5s, limit: 3, algorithm: token, else: spare}}
"
    )
}

#[test]
fn a_replay_decides_as_the_service() {
    let texts = [rules_of("each", false), rules_of("whole", true)];
    let (mut clock, server) = FrozenClock::server(&servers()[0]);
    let service = Rlaas::with_env(&server, "", &[("RLAAS_DENIALS", "0")]);
    service.add_rules(&[("each", body(&texts[0])), ("whole", body(&texts[1]))]);
    let mut con = server.con();
    let mut random = fastrand::Rng::with_seed(38);
    let dir = tempfile::tempdir().expect("a directory");
    for (domain, text) in DOMAINS.iter().zip(&texts) {
        for costs in [false, true] {
            let (mut log, mut decided) = (String::new(), Vec::new());
            for _ in 0..400 {
                clock.set(clock.now() + random.i64(0..1_200_000) * i64::from(random.u8(0..3)));
                clock.assert_governs(&mut con);
                let user = format!("{}{}", if costs { "h" } else { "u" }, random.u8(0..5));
                let user = if random.u8(0..4) == 0 { format!("h{}", random.u8(1..4)) } else { user };
                let path = ["/", "/tried", "/a1", "/a2", "/tried"][random.usize(0..5)];
                // Of IPv6, a network is a caller.
                let address = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"][random.usize(0..4)];
                let cost = [0, 1, 1, 2, 3][random.usize(0..5)];
                let (seconds, micros) = (clock.now() / 1_000_000, clock.now() % 1_000_000);
                _ = writeln!(
                    log,
                    r#"{{"time":{seconds}.{micros:06},"x-user":"{user}","path":"{path}?q","address":"{address}","cost":{cost}}}"#
                );
                decided.push(if costs {
                    let (user, path, address) = (("user", &*user), ("path", path), ("address", address));
                    let mut asked = request(domain, &[&[user], &[path], &[path, address], &[address]]);
                    for _ in 0..4 {
                        asked = hits(asked, cost);
                        asked.descriptors.rotate_left(1);
                    }
                    block_on(async { service.client().await.code(asked).await }).as_str_name() == "OK"
                } else {
                    let uri = format!("{path}?q");
                    let headers = [("X-User", &*user), ("X-Original-URI", &uri), ("X-Forwarded-For", address)];
                    get(&service.http, &format!("/authorize/{domain}"), &headers).status == 200
                });
            }
            let path = dir.path().join("log.jsonl");
            fs::write(&path, log).expect("a file");
            let entries = ["user={x-user}", "path={path}", "path={path},address={address}", "address={address}"];
            let settings = Settings {
                domain: Some((*domain).to_owned()),
                descriptors: if costs { entries.map(str::to_owned).to_vec() } else { Vec::new() },
                hits: costs.then(|| "cost".to_owned()),
                retry: false,
                suggest: None,
                max_keys: 1_000,
            };
            let simulated = replayed(text, &path, &settings);
            assert!(decided.contains(&false) && decided.contains(&true), "{decided:?}");
            let differ = simulated.iter().zip(&decided).position(|(simulated, decided)| simulated != decided);
            assert_eq!((simulated.len(), differ), (decided.len(), None), "{domain} {costs}");
            // What is counted goes on: the next log begins anew.
            clock.set(clock.now() + 3_600_000_000);
            clock.assert_governs(&mut con);
        }
    }
}

fn body(text: &str) -> &str {
    text.split_once('\n').expect("lines").1
}

fn replayed(text: &str, log: &std::path::Path, settings: &Settings) -> Vec<bool> {
    let source = Source { name: "rules".to_owned(), text: text.to_owned() };
    let (rules, findings) = rules::load(&[source], &rules::Settings::default());
    let rules = rules.unwrap_or_else(|| panic!("{:?}", findings.errors));
    let mut logs = Logs::open(&[log.to_owned()], &Options::default()).expect("a log");
    let mut replay = Replay::new(rules, settings, &mut logs).expect("descriptors");
    logs.map(|request| replay.request(&request.expect("a line")).expect("a decision")).collect()
}
