//! The table, the JSON, and the conditions of the measurement.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

use redis::aio::ConnectionManager;

use crate::{Error, Measured, client};

/// The name of the server's directory, such as `redis-7.0.15`.
pub async fn server(connection: &mut ConnectionManager) -> Result<String, Error> {
    let info: String = redis::cmd("INFO").arg("server").query_async(connection).await?;
    let line = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let valkey = line("valkey_version:").map(|version| format!("valkey-{version}"));
    let redis = || line("redis_version:").map(|version| format!("redis-{version}"));
    valkey.or_else(redis).ok_or_else(|| "the server does not say its version".into())
}

/// The load average before the measurement. Figures of a busy machine are wrong.
pub fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// Writes a file of results for a server.
pub fn write(server: &str, name: &str, text: &str) -> io::Result<()> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/results").join(server);
    fs::create_dir_all(&dir)?;
    fs::write(dir.join(name), text)?;
    println!("benches/results/{server}/{name}");
    Ok(())
}

pub fn markdown(
    server: &str,
    all: &[Measured],
    local: &[(&str, Vec<f64>)],
    rounds: usize,
    time: Duration,
    busy: &str,
) -> String {
    let mut text = format!(
        "# The Rust client\n\n{}.\nMedians of {rounds} rounds of {time:?} a figure. Server and client share the machine, \
         whose load average was {busy} before.\n\n",
        conditions(server)
    );
    text.push_str(
        "One process with two threads decides on requests of 100 callers. `× plain` and `× peer` are how many times as many\n\
         decisions a second as the rows `plain` and `tower-redis-cell` have: the median of the ratios of single rounds, in\n\
         which all rows are measured one after the other. They depend less on other programs on the machine than the\n\
         decisions a second do. Percentiles are those of all rounds together, of every 17th request.\n\
         `CPU µs` is processor time of the client's process for a decision, which other programs disturb less still.\n\
         A local decision is the mean of 200,000 in a row, on one thread.\n",
    );
    for tasks in [1, 64] {
        let rows: Vec<_> = all.iter().filter(|measured| measured.tasks == tasks).collect();
        let find = |name| rows.iter().find(|measured| measured.client.name() == name).map(|found| &found.per_second);
        let (plain, peer) = (find(client::PLAIN), find(client::PEER));
        let title = if tasks == 1 { "One request at a time".to_owned() } else { format!("{tasks} requests at a time") };
        let _ = writeln!(text, "\n## {title}\n");
        text.push_str("| | decisions/s | least – most | CPU µs | p50 µs | p99 µs | denied | × plain | × peer |\n");
        text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
        for row in rows {
            let ratio = |to: Option<&Vec<f64>>| to.map_or(String::new(), |to| over(&row.per_second, to));
            let _ = writeln!(
                text,
                "| {} | {} | {} – {} | {:.2} | {} | {} | {:.1} % | {} | {} |",
                row.client.name(),
                thousands(median(&row.per_second)),
                thousands(row.per_second.iter().copied().fold(f64::INFINITY, f64::min)),
                thousands(row.per_second.iter().copied().fold(0.0, f64::max)),
                median(&row.cpu_us),
                micros(row.nanos.value_at_quantile(0.5)),
                micros(row.nanos.value_at_quantile(0.99)),
                100.0 * row.denied as f64 / row.all as f64,
                ratio(plain),
                ratio(peer),
            );
        }
    }
    text.push_str(&goals(all, local));
    text
}

/// What was to be reached, and what was.
fn goals(all: &[Measured], local: &[(&str, Vec<f64>)]) -> String {
    let mut text =
        "\n## Goals\n\n| | goal | one at a time | 64 at a time | 64, by CPU time |\n|---|--:|--:|--:|--:|\n".to_owned();
    let find = |name: &str, tasks| all.iter().find(|row| row.tasks == tasks && row.client.name() == name);
    let ratio = |this: &str, that: &str, tasks| {
        let of = |name| find(name, tasks).map(|row| row.per_second.as_slice()).unwrap_or_default();
        over(of(this), of(that))
    };
    let cpu = |this: &str, that: &str| {
        let of = |name| find(name, 64).map(|row| row.cpu_us.as_slice()).unwrap_or_default();
        over(of(that), of(this))
    };
    for (what, goal, this, that) in [
        ("a tower layer, to tower-redis-cell", 1, "plain, as a tower layer", client::PEER),
        ("a check, to tower-redis-cell", 1, client::PLAIN, client::PEER),
        ("a flood, 95 % denied, to plain", 20, "flood, 95 % denied, denials remembered", client::PLAIN),
        ("grants of 100 for one key, to plain", 30, "grants of 100, keys: 1", client::PLAIN),
        ("grants of 100 for 100 keys, to plain", 30, "grants of 100, keys: 100", client::PLAIN),
    ] {
        // ONLY= leaves some out.
        if find(this, 1).is_none() || find(that, 1).is_none() {
            continue;
        }
        let [one, many] = [1, 64].map(|tasks| ratio(this, that, tasks));
        let _ = writeln!(text, "| {what} | {goal} × | {one} × | {many} × | {} × |", cpu(this, that));
    }
    for (name, nanos) in local {
        let _ = writeln!(text, "| {name} | 500 ns | {:.0} ns | | |", median(nanos));
    }
    text.push_str("\nWhy goals were missed: see [the summary](../README.md#the-rust-client).\n");
    text
}

/// A line for each row, with all figures.
pub fn json(all: &[Measured], local: &[(&str, Vec<f64>)]) -> String {
    let list = |sample: &[f64]| sample.iter().map(|number| format!("{number:.3}")).collect::<Vec<_>>().join(", ");
    let rows = all.iter().map(|row| {
        format!(
            r#"{{"client": "{}", "at_a_time": {}, "per_second": [{}], "cpu_us": [{}], "p50_ns": {}, "p99_ns": {}, "denied": {}, "all": {}}}"#,
            row.client.name(),
            row.tasks,
            list(&row.per_second),
            list(&row.cpu_us),
            row.nanos.value_at_quantile(0.5),
            row.nanos.value_at_quantile(0.99),
            row.denied,
            row.all
        )
    });
    let local = local.iter().map(|(name, nanos)| format!(r#"{{"local": "{name}", "ns": [{}]}}"#, list(nanos)));
    format!("[\n  {}\n]\n", rows.chain(local).collect::<Vec<_>>().join(",\n  "))
}

/// The conditions that figures depend on, in one line.
fn conditions(server: &str) -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let system = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or("Linux");
    let date = Command::new("date").args(["-u", "+%F"]).output().map(|output| output.stdout).unwrap_or_default();
    let (system, date) = (system.trim_matches('"'), String::from_utf8_lossy(&date));
    format!("{server}, {model} ({cores} cores), {system}, {}", date.trim())
}

fn median(sample: &[f64]) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[half],
        _ => (sorted[half - 1] + sorted[half]) / 2.0,
    }
}

/// The ratio of this to that, round by round.
fn over(this: &[f64], that: &[f64]) -> String {
    let ratios: Vec<_> = this.iter().zip(that).map(|(this, that)| this / that).collect();
    format!("{:.2}", median(&ratios))
}

fn micros(nanos: u64) -> String {
    if nanos < 10_000 { format!("{:.2}", nanos as f64 / 1e3) } else { format!("{:.0}", nanos as f64 / 1e3) }
}

/// Formats `1234567.8` as `1,234,568`.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let grouped = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    grouped.collect::<Vec<_>>().join(",")
}
