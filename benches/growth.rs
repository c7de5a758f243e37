//! How the cost of a request grows with the requests in the window, with the number of keys, and with the number of
//! expired entries: `make bench-growth`.
//!
//! The figures are processor time of the server per request, pipelined, the median of `ROUNDS=3` rounds. `MOST=1000000`
//! is the largest limit and the largest number of keys.

mod common;
#[path = "../tests/support/mod.rs"]
mod support;

use std::fmt::Write;
use std::time::Instant;

use common::cases::SCRIPTS;
use common::lab::{Lab, Load, PIPELINE, Words, first, key_name};
use common::now_ms;
use common::report::{self, Json, Sample, conditions, setting, table, thousands};
use common::svg::{self, Line};
use support::{Server, servers};

/// A line of the charts: its name, the request, and the command that brings a key to `SIZE` requests in the window. If
/// that is empty, a log, or a set of leases, is written instead.
struct Subject {
    name: &'static str,
    sends: &'static str,
    fills: &'static str,
}

const FIXED: &str = "RL.FIXED KEY 86400 LIMIT COST SIZE";

/// The window is a day, so a bucket refills almost nothing during a measurement.
const SUBJECTS: [Subject; 11] = [
    Subject { name: "fixed script", sends: "EVALSHA FIXED_SCRIPT 1 KEY 86400 LIMIT", fills: FIXED },
    Subject { name: "RL.FIXED", sends: "RL.FIXED KEY 86400 LIMIT", fills: FIXED },
    Subject { name: "sliding script", sends: "EVALSHA SLIDING_SCRIPT 1 KEY NOW 86400 LIMIT", fills: "" },
    Subject { name: "RL.SLIDING", sends: "RL.SLIDING KEY 86400 LIMIT", fills: "" },
    Subject { name: "RL.COUNTER", sends: "RL.COUNTER KEY 86400 LIMIT", fills: "RL.COUNTER KEY 86400 LIMIT COST SIZE" },
    Subject { name: "RL.TOKEN", sends: "RL.TOKEN KEY 86400 LIMIT", fills: "RL.TOKEN KEY 86400 LIMIT COST SIZE" },
    Subject { name: "RL.LEAKY", sends: "RL.LEAKY KEY 86400 LIMIT", fills: "RL.LEAKY KEY 86400 LIMIT COST SIZE" },
    Subject { name: "RL.GCRA", sends: "RL.GCRA KEY 86400 LIMIT", fills: "RL.GCRA KEY 86400 LIMIT COST SIZE" },
    Subject { name: "RL.WINDOW", sends: "RL.WINDOW KEY 86400 LIMIT", fills: "RL.WINDOW KEY 86400 LIMIT COST SIZE" },
    // One entry, whatever the size: growth.md says what more entries cost by instructions.
    Subject { name: "RL.ROLLING", sends: "RL.ROLLING KEY 86400 LIMIT", fills: "RL.ROLLING KEY 86400 LIMIT COST SIZE" },
    // One holder more, who renews.
    Subject { name: "RL.LEASE", sends: "RL.LEASE KEY 86400 LIMIT ID a", fills: "" },
];

/// A limit that no run reaches.
const NO_LIMIT: u64 = 1_000_000_000;
const REQUESTS: u64 = 40_000;

/// A curve: the figures of all rounds for each size.
struct Curve {
    name: String,
    points: Vec<(usize, Sample)>,
    dashed: bool,
}

fn main() {
    let bin = &servers()[0];
    let rounds = setting("ROUNDS", 3.0) as usize;
    let most = setting("MOST", 1e6) as usize;
    let mut lab = Lab::start(Server::options(bin));

    let limits = limits(&mut lab, most, rounds);
    let keys = keys(&mut lab, most, rounds);
    let prune = prune(&mut lab, most, rounds);
    let longest = longest(&mut lab, rounds);

    let conditions = conditions(bin);
    let text = format!(
        "# Growth\n\n{conditions}. Medians of {rounds} rounds.\n\n\
         ## With the requests in the window\n\n\
         Microseconds of the server's processor time per request, in pipelines of {PIPELINE}; each key has had that many\n\
         requests in the window. *Denied*: its limit is the same number. *Allowed*: its limit is far above. Up to 10,000 the\n\
         requests go to several keys (4,000 at 10, 40 at 1,000), since they would make the logs of one key longer. So the\n\
         left end of the curves includes the cost of many keys. The server searches a log of up to 128 entries from end to\n\
         end, so 100 entries cost more than 1,000.\n\n{}\n\
         ![](growth-limits.svg)\n\n\
         ## With the number of keys\n\n\
         The same, with keys chosen at random from that many, which all exist. Sliding logs hold five requests and deny, as do\n\
         sets of five leases.\n\n\
         {}\n![](growth-keys.svg)\n\n\
         ## Removing expired entries\n\n\
         Milliseconds for which one request blocks the server when every member of a sliding log has expired, as the server\n\
         counts them (`INFO commandstats`) and, in brackets, as the client measures them. ZREMRANGEBYSCORE of all members is\n\
         there for comparison.\n\n{}\n\
         ## The longest calls\n\n\
         Milliseconds for which one call with the most that its arguments allow blocks the server, as the server counts them:\n\
         the median and the most of {LONGEST_TIMES} calls a round. Nothing has expired.\n\n{}",
        curves_table(&limits),
        curves_table(&keys),
        prune.table(),
        table(&["call", "median", "most"], &longest)
    );
    println!("{text}");
    report::write(bin, "growth.md", &text);
    let subtitle = "server microseconds per request, pipelined; both axes logarithmic";
    let chart = svg::curves("Cost by requests in the window", subtitle, "requests in the window", &lines(&limits));
    report::write(bin, "growth-limits.svg", &chart);
    let chart = svg::curves("Cost by number of keys", subtitle, "keys in use", &lines(&keys));
    report::write(bin, "growth-keys.svg", &chart);
    let all = Json::map([
        ("conditions", conditions.as_str().into()),
        ("limits", curves_json(&limits)),
        ("keys", curves_json(&keys)),
        ("prune", prune.json()),
    ]);
    report::write(bin, "growth.json", &(all.text() + "\n"));
}

/// 10, 100 … `most`.
fn powers(from: usize, most: usize) -> Vec<usize> {
    std::iter::successors(Some(from), |size| size.checked_mul(10)).take_while(|&size| size <= most).collect()
}

fn limits(lab: &mut Lab, most: usize, rounds: usize) -> Vec<Curve> {
    let mut curves = Vec::new();
    for subject in &SUBJECTS {
        for (path, dashed) in [("denied", true), ("allowed", false)] {
            if path == "denied" && subject.name == "fixed script" {
                continue; // Allowed and denied are the same path.
            }
            let name = format!("{}, {path}", subject.name);
            curves.push(Curve { name, points: Vec::new(), dashed });
        }
    }
    for size in powers(10, most) {
        eprintln!("{size} requests in the window");
        // Enough keys that the measured requests do not make them much larger.
        let keys = (REQUESTS as usize / size).max(1);
        let mut samples = vec![Sample::default(); curves.len()];
        for _ in 0..rounds {
            let mut at = 0;
            for subject in &SUBJECTS {
                for limit in [size as u64, NO_LIMIT] {
                    if limit != NO_LIMIT && subject.name == "fixed script" {
                        continue;
                    }
                    fill(lab, subject, size, limit, keys);
                    samples[at].0.push(cost(lab, subject, limit, keys));
                    at += 1;
                }
            }
        }
        for (curve, sample) in curves.iter_mut().zip(samples) {
            curve.points.push((size, sample));
        }
    }
    curves
}

fn keys(lab: &mut Lab, most: usize, rounds: usize) -> Vec<Curve> {
    let new = |subject: &Subject| Curve { name: subject.name.to_owned(), points: Vec::new(), dashed: false };
    let mut curves: Vec<_> = SUBJECTS.iter().map(new).collect();
    for keys in powers(1, most) {
        eprintln!("{keys} keys");
        for (curve, subject) in curves.iter_mut().zip(&SUBJECTS) {
            let limit = if subject.fills.is_empty() { 5 } else { NO_LIMIT };
            fill(lab, subject, 5, limit, keys);
            let sample = Sample((0..rounds).map(|_| cost(lab, subject, limit, keys)).collect());
            curve.points.push((keys, sample));
        }
    }
    lab.ask("FLUSHALL");
    curves
}

/// Brings every key to `size` requests.
fn fill(lab: &mut Lab, subject: &Subject, size: usize, limit: u64, keys: usize) {
    lab.ask("FLUSHALL");
    if !subject.fills.is_empty() {
        return lab.fill(&subject.fills.replace("SIZE", &size.to_string()), "k", keys, limit, 1);
    }
    // The script gets a time in 2001 from its caller.
    let newest = match subject.name {
        "RL.SLIDING" => now_ms(),
        // When the last of the leases ends.
        "RL.LEASE" => now_ms() + 86_400_000,
        _ => 1_000_000_000_000,
    };
    lab.fill_logs("k", keys, size, newest);
}

/// The cost of a request, in microseconds.
fn cost(lab: &mut Lab, subject: &Subject, limit: u64, keys: usize) -> f64 {
    let load = Load { sends: subject.sends, key: "k", keys, limit, pipeline: PIPELINE, requests: REQUESTS, db: 0 };
    let cost = lab.load(&load).cpu_us;
    let key = key_name("k", keys, 0);
    let words = lab.words(subject.sends, &Words { key, limit, now: "1000000100000".into(), one: String::new() });
    let allowed = i64::from(limit == NO_LIMIT);
    assert_eq!(first(&lab.send(&[words])), Some(allowed), "{}, limit {limit}", subject.name);
    cost
}

fn curves_table(curves: &[Curve]) -> String {
    let sizes = curves[0].points.iter().map(|point| thousands(point.0 as f64));
    let heading: Vec<_> = std::iter::once(String::new()).chain(sizes).collect();
    let heading: Vec<_> = heading.iter().map(String::as_str).collect();
    let row = |curve: &Curve| {
        let costs = curve.points.iter().map(|point| format!("{:.2}", point.1.median()));
        std::iter::once(curve.name.clone()).chain(costs).collect()
    };
    table(&heading, &curves.iter().map(row).collect::<Vec<_>>())
}

fn curves_json(curves: &[Curve]) -> Json {
    let points = curves.iter().flat_map(|curve| {
        curve.points.iter().map(|(size, sample)| {
            Json::map([
                ("name", curve.name.as_str().into()),
                ("size", (*size as f64).into()),
                ("server_us", sample.into()),
            ])
        })
    });
    Json::List(points.collect())
}

/// The lines of the chart. Denials only where they change with the size: the others would overlap.
fn lines(curves: &[Curve]) -> Vec<Line> {
    let drawn = |curve: &&Curve| !curve.dashed || curve.name.to_lowercase().contains("sliding");
    let line = |curve: &Curve| {
        let points = curve.points.iter().map(|(size, sample)| (*size as f64, sample.median().max(0.01)));
        let kind = SUBJECTS.iter().position(|subject| curve.name.starts_with(subject.name)).unwrap_or(0);
        Line { label: curve.name.clone(), points: points.collect(), kind, dashed: curve.dashed }
    };
    curves.iter().filter(drawn).map(line).collect()
}

/// The time to remove expired entries, by their number and by the command, in milliseconds: as the server counts, and
/// as the client measures.
struct Prune(Vec<(usize, [(Sample, Sample); 3])>);

const PRUNERS: [(&str, &str, &str); 3] = [
    ("ZREMRANGEBYSCORE", "zremrangebyscore", "ZREMRANGEBYSCORE k 0 NOW"),
    ("RL.SLIDING", "rl.sliding", "RL.SLIDING k 60 5"),
    ("sliding script", "evalsha", SCRIPTS[2].sends),
];

fn prune(lab: &mut Lab, most: usize, rounds: usize) -> Prune {
    let mut sizes = Vec::new();
    for size in powers(10_000, most) {
        eprintln!("{size} expired entries");
        let mut samples: [(Sample, Sample); 3] = Default::default();
        for _ in 0..rounds {
            for ((_, command, sends), (server, client)) in PRUNERS.iter().zip(&mut samples) {
                lab.ask("FLUSHALL");
                lab.fill_logs("k", 1, size, now_ms() - 7_200_000);
                lab.ask("CONFIG RESETSTAT");
                let now = now_ms().to_string();
                let put = Words { key: "k".into(), limit: 5, now, one: String::new() };
                let words = lab.words(sends, &put);
                let start = Instant::now();
                lab.send(&[words]);
                client.0.push(start.elapsed().as_secs_f64() * 1e3);
                server.0.push(lab.usec(command) / 1e3);
                assert!(lab.ask_integer("ZCARD k") <= 1, "{sends} leaves what has expired");
            }
        }
        sizes.push((size, samples));
    }
    Prune(sizes)
}

impl Prune {
    fn table(&self) -> String {
        let heading: Vec<_> = std::iter::once("expired members").chain(PRUNERS.map(|pruner| pruner.0)).collect();
        let row = |(size, samples): &(usize, [(Sample, Sample); 3])| {
            let times =
                samples.iter().map(|(server, client)| format!("{:.1} ({:.1})", server.median(), client.median()));
            std::iter::once(thousands(*size as f64)).chain(times).collect()
        };
        let mut text = table(&heading, &self.0.iter().map(row).collect::<Vec<_>>());
        if let Some((size, [(plain, _), (ours, _), (script, _)])) = self.0.last() {
            let _ = write!(
                text,
                "\nOf {} members, RL.SLIDING takes {:.2} times what ZREMRANGEBYSCORE takes, the script {:.2} times.\n",
                thousands(*size as f64),
                ours.over(plain).median(),
                script.over(plain).median()
            );
        }
        text
    }

    fn json(&self) -> Json {
        let points = self.0.iter().flat_map(|(size, samples)| {
            PRUNERS.iter().zip(samples).map(|(pruner, (server, client))| {
                Json::map([
                    ("name", pruner.0.into()),
                    ("members", (*size as f64).into()),
                    ("server_ms", server.into()),
                    ("client_ms", client.into()),
                ])
            })
        });
        Json::List(points.collect())
    }
}

/// How often each of the longest calls is made in a round.
const LONGEST_TIMES: usize = 10;

/// The calls that take longest without anything that has expired, each on keys that were prepared for it.
fn longest(lab: &mut Lab, rounds: usize) -> Vec<Vec<String>> {
    let ids = |first: usize| (first..first + 1_000).map(|n| format!("id-{n}")).collect::<Vec<_>>().join(" ");
    let of_64 = |limit: &dyn Fn(usize) -> String| {
        let limits: Vec<_> = (0..64).map(limit).collect();
        format!("RL.MULTI 64 {}", limits.join(" "))
    };
    let shares = |n: usize| if n < 40 { 16 } else { 15 };
    let sliding = of_64(&|n| format!("SLIDING k{n} 3600 100000 COST {}", shares(n)));
    let rolling = of_64(&|n| format!("ROLLING k{n} 3600 1000000000"));
    let fixed = of_64(&|n| format!("FIXED k{n} 3600 1000000000"));
    let leases = "RL.LEASE k 3600 100000 ID id-";
    // A name, the call, its command, and what is sent before each call.
    let calls: [(&str, String, &str, Vec<String>); 10] = [
        (
            "RL.SLIDING of COST 1000, new key",
            "RL.SLIDING k 3600 100000 COST 1000".into(),
            "rl.sliding",
            vec!["DEL k".into()],
        ),
        (
            "RL.SLIDING of COST 1000, 99,000 members",
            "RL.SLIDING k 3600 100000 COST 1000".into(),
            "rl.sliding",
            vec!["99000".into()],
        ),
        ("RL.MULTI of 64 SLIDING, 1,000 members in all", sliding, "rl.multi", vec!["FLUSHALL".into()]),
        (
            "RL.SETTLE of 1,000 members of SLIDING",
            "RL.SETTLE SLIDING k 3600 100000 RESERVED 1000 ACTUAL 0".into(),
            "rl.settle",
            vec!["DEL k".into(), "RL.SLIDING k 3600 100000 COST 1000".into()],
        ),
        ("RL.RENEW of 1,000 ids", format!("RL.RENEW k 7200 {}", ids(0)), "rl.renew", vec![leases.into()]),
        ("RL.RELEASE of 1,000 ids", format!("RL.RELEASE k {}", ids(0)), "rl.release", vec![leases.into()]),
        (
            "RL.ROLLING that prunes 4,096 entries",
            "RL.ROLLING k0 3600 1000000000".into(),
            "rl.rolling",
            vec!["packed 1".into()],
        ),
        ("RL.MULTI of 64 ROLLING that prune 4,096 entries each", rolling, "rl.multi", vec!["packed 64".into()]),
        ("RL.MULTI of 64 FIXED", fixed, "rl.multi", vec!["FLUSHALL".into()]),
        ("RL.TOP of 10,000 keys", "RL.TOP 10000".into(), "rl.top", vec!["top".into()]),
    ];
    let row = |(name, call, command, before): &(&str, String, &str, Vec<String>)| {
        let mut sample = Sample::default();
        for _ in 0..rounds * LONGEST_TIMES {
            before.iter().for_each(|before| prepare(lab, before));
            lab.ask("CONFIG RESETSTAT");
            lab.ask(call);
            sample.0.push(lab.usec(command) / 1e3);
        }
        vec![(*name).to_owned(), format!("{:.2}", sample.median()), format!("{:.2}", sample.max())]
    };
    let rows = calls.iter().map(row).collect();
    lab.ask("FLUSHALL");
    rows
}

/// Sends a command, or what one of the longest calls needs.
fn prepare(lab: &mut Lab, what: &str) {
    match what {
        "99000" => {
            lab.ask("FLUSHALL");
            lab.fill_logs("k", 1, 99_000, now_ms());
        }
        // A thousand leases.
        lease if lease.starts_with("RL.LEASE") => {
            lab.ask("FLUSHALL");
            let requests: Vec<Vec<String>> =
                (0..1_000).map(|n| format!("{lease}{n}").split(' ').map(str::to_owned).collect()).collect();
            lab.send(&requests);
        }
        // Records of which half is dead, so that the next request prunes them.
        packed if packed.starts_with("packed ") => {
            lab.ask("FLUSHALL");
            let keys: usize = packed["packed ".len()..].parse().expect("a number of keys");
            for at in 0..keys {
                lab.fill_packed(&format!("k{at}"), 1, [8_190, 8_190], 2 * 3_600_000, now_ms());
            }
        }
        "top" => {
            if lab.ask_integer("DBSIZE") < 10_000 {
                lab.ask("CONFIG SET rl.top-keys 10000");
                lab.fill("RL.GCRA KEY 3600 1", "denied", 10_000, 1, 2);
            }
        }
        command => {
            lab.ask(command);
        }
    }
}
