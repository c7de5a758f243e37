//! This module beside another version of it: `OTHER_MODULE=path make bench-versions`.
//!
//! Two servers run, one with each module, both with an append only file. In each round every case is measured on both,
//! one after the other, so other programs on the machine slow both. The cases are those whose records live longer than
//! they must: a limit of a thousand a minute on 100,000 keys. Every key gets a request just before a measurement, as in
//! steady traffic; else the first request to each key would find a record that ended while other cases were measured.
//!
//! Environment: `OTHER_MODULE=path` names the `.so` of the other version, which is required; `ROUNDS=9`,
//! `REQUESTS=200000`.

mod common;
#[path = "../tests/support/mod.rs"]
mod support;

use std::path::PathBuf;

use common::cases::USUAL;
use common::lab::{Lab, Load, PIPELINE};
use common::report::{self, Sample, conditions, setting, table, thousands};
use support::{Server, servers};

const KEYS: usize = 100_000;

#[derive(Default)]
struct Row {
    ours: Sample,
    others: Sample,
    our_bytes: Sample,
    other_bytes: Sample,
}

fn main() {
    let bin = &servers()[0];
    let other = PathBuf::from(std::env::var("OTHER_MODULE").expect("OTHER_MODULE names the .so of the other version"));
    let rounds = setting("ROUNDS", 9.0) as usize;
    let requests = setting("REQUESTS", 200_000.0) as u64;
    let busy = report::load_average();
    let durable = || Server::options(bin).set("appendonly", "yes").set("auto-aof-rewrite-percentage", 0);
    let mut labs = [Lab::start(durable()), Lab::start(durable().module_at(&other))];

    let mut rows: Vec<Row> = USUAL.iter().map(|_| Row::default()).collect();
    // The first round creates the keys, and is not counted.
    for round in 0..=rounds {
        for (at, (case, row)) in USUAL.iter().zip(&mut rows).enumerate() {
            let key = at.to_string();
            let [ours, others] = labs.each_mut().map(|lab| {
                let load =
                    Load { sends: case.sends, key: &key, keys: KEYS, limit: 0, pipeline: PIPELINE, requests, db: 0 };
                lab.fill(case.sends, &key, KEYS, 0, 1);
                let before = lab.server.aof_size();
                let cpu_us = lab.load(&load).cpu_us;
                (cpu_us, lab.server.aof_size().saturating_sub(before) as f64 / requests as f64)
            });
            if round > 0 {
                row.ours.0.push(ours.0);
                row.others.0.push(others.0);
                row.our_bytes.0.push(ours.1);
                row.other_bytes.0.push(others.1);
            }
        }
    }

    let heading = ["", "µs before", "µs now", "before ÷ now", "AOF bytes before", "AOF bytes now"];
    let rows: Vec<_> = USUAL
        .iter()
        .zip(&rows)
        .map(|(case, row)| {
            vec![
                case.name.to_owned(),
                format!("{:.2}", row.others.median()),
                format!("{:.2}", row.ours.median()),
                format!("{:.2} ×", row.others.over(&row.ours).median()),
                format!("{:.0}", row.other_bytes.median()),
                format!("{:.0}", row.our_bytes.median()),
            ]
        })
        .collect();
    let text = format!(
        "# Beside an earlier version\n\n{}. Medians of {rounds} rounds of {} requests, pipelined by {PIPELINE}, with {} random\n\
         keys, each of which got a request just before, and an append only file; the load average was {busy} before. Processor time of the server, and bytes of its\n\
         append only file, for a request. *Before* is the module of OTHER_MODULE.\n\n{}",
        conditions(bin),
        thousands(requests as f64),
        thousands(KEYS as f64),
        table(&heading, &rows)
    );
    println!("{text}");
    report::write(bin, "versions.md", &text);
}
