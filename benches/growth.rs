//! How the cost of a request grows with what is remembered, with the number of keys, and with a backlog to prune:
//! `make bench-growth`.
//!
//! Figures are processor time of the server per request, pipelined, the median of `ROUNDS=3`. `MOST=1000000` is the
//! largest limit and number of keys.

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

/// What each line of the charts is: name, request, and what brings a key to `SIZE` requests in the window (nothing: a
/// log is written).
struct Subject {
    name: &'static str,
    sends: &'static str,
    fills: &'static str,
}

const FIXED: &str = "RL.FIXED KEY 86400 LIMIT COST SIZE";

/// The window is a day: what a bucket refills meanwhile is next to nothing.
const SUBJECTS: [Subject; 8] = [
    Subject { name: "fixed script", sends: "EVALSHA FIXED_SCRIPT 1 KEY 86400 LIMIT", fills: FIXED },
    Subject { name: "RL.FIXED", sends: "RL.FIXED KEY 86400 LIMIT", fills: FIXED },
    Subject { name: "sliding script", sends: "EVALSHA SLIDING_SCRIPT 1 KEY NOW 86400 LIMIT", fills: "" },
    Subject { name: "RL.SLIDING", sends: "RL.SLIDING KEY 86400 LIMIT", fills: "" },
    Subject { name: "RL.COUNTER", sends: "RL.COUNTER KEY 86400 LIMIT", fills: "RL.COUNTER KEY 86400 LIMIT COST SIZE" },
    Subject { name: "RL.TOKEN", sends: "RL.TOKEN KEY 86400 LIMIT", fills: "RL.TOKEN KEY 86400 LIMIT COST SIZE" },
    Subject { name: "RL.LEAKY", sends: "RL.LEAKY KEY 86400 LIMIT", fills: "RL.LEAKY KEY 86400 LIMIT COST SIZE" },
    Subject { name: "RL.GCRA", sends: "RL.GCRA KEY 86400 LIMIT", fills: "RL.GCRA KEY 86400 LIMIT COST SIZE" },
];

/// Beyond what any run counts up to.
const NO_LIMIT: u64 = 1_000_000_000;
const REQUESTS: u64 = 40_000;

/// A curve: for each size, what the rounds measured.
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

    let conditions = conditions(bin);
    let text = format!(
        "# Growth\n\n{conditions}. Medians of {rounds} rounds.\n\n\
         ## With the requests in the window\n\n\
         Microseconds of the server's processor time per request, in pipelines of {PIPELINE}; a key has had so many requests\n\
         in the window. *Denied*: that is its limit as well. *Allowed*: the limit is far away. Up to 10,000 the requests are\n\
         spread over several keys (4,000 at 10, 40 at 1,000), or they would themselves make the logs longer: the left end\n\
         of the curves pays for finding those keys. A log of up to 128 entries is one block that the server searches from\n\
         end to end, which is why 100 costs more than 1,000.\n\n{}\n\
         ![](growth-limits.svg)\n\n\
         ## With the number of keys\n\n\
         The same, keys chosen at random out of so many, all of them in use. Sliding logs hold five requests and deny.\n\n\
         {}\n![](growth-keys.svg)\n\n\
         ## Pruning a backlog\n\n\
         Milliseconds that one request blocks the server when every member of a sliding log has expired: by the server's own\n\
         count (`INFO commandstats`) and in brackets as the client sees it. ZREMRANGEBYSCORE of all members is the measure.\n\n{}",
        curves_table(&limits),
        curves_table(&keys),
        prune.table()
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
                continue; // It does the same either way.
            }
            let name = format!("{}, {path}", subject.name);
            curves.push(Curve { name, points: Vec::new(), dashed });
        }
    }
    for size in powers(10, most) {
        eprintln!("{size} requests in the window");
        // So many keys that the requests measured do not make them much larger.
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
    // The script is told a time of 2001.
    let newest = if subject.name == "RL.SLIDING" { now_ms() } else { 1_000_000_000_000 };
    lab.fill_logs("k", keys, size, newest);
}

/// Of a request, in microseconds.
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

/// Denials only of what changes with the size: the others would lie on each other.
fn lines(curves: &[Curve]) -> Vec<Line> {
    let drawn = |curve: &&Curve| !curve.dashed || curve.name.to_lowercase().contains("sliding");
    let line = |curve: &Curve| {
        let points = curve.points.iter().map(|(size, sample)| (*size as f64, sample.median().max(0.01)));
        let kind = SUBJECTS.iter().position(|subject| curve.name.starts_with(subject.name)).unwrap_or(0);
        Line { label: curve.name.clone(), points: points.collect(), kind, dashed: curve.dashed }
    };
    curves.iter().filter(drawn).map(line).collect()
}

/// Time to remove a backlog, by size and by who does it: server's and client's milliseconds.
struct Prune(Vec<(usize, [(Sample, Sample); 3])>);

const PRUNERS: [(&str, &str, &str); 3] = [
    ("ZREMRANGEBYSCORE", "zremrangebyscore", "ZREMRANGEBYSCORE k 0 NOW"),
    ("RL.SLIDING", "rl.sliding", "RL.SLIDING k 60 5"),
    ("sliding script", "evalsha", SCRIPTS[2].sends),
];

fn prune(lab: &mut Lab, most: usize, rounds: usize) -> Prune {
    let mut sizes = Vec::new();
    for size in powers(10_000, most) {
        eprintln!("a backlog of {size}");
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
