//! Results: medians, tables, and the conditions of the measurement. They go to `benches/results/<server>/`.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::today;
use crate::support::ServerBin;

/// Writes a file of results for a server. It contains no path of this machine.
pub fn write(bin: &ServerBin, name: &str, text: &str) {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/results").join(server(bin));
    fs::create_dir_all(&dir).expect("a directory for the results");
    fs::write(dir.join(name), text).expect("results are written");
    println!("benches/results/{}/{name}", server(bin));
}

/// The name of a server's directory: `redis-7.0.15`. A build between releases has the version 255.
pub fn server(bin: &ServerBin) -> String {
    if bin.version.0 == 255 { format!("{}-unstable", bin.family) } else { bin.to_string() }
}

/// The conditions that figures depend on, in one line.
pub fn conditions(bin: &ServerBin) -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let system =
        release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or("Linux").trim_matches('"');
    let load =
        Command::new("redis-benchmark").arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let load = String::from_utf8_lossy(&load);
    // redis-benchmark 7.0.15 (git:…)
    let load: Vec<_> = load.split_whitespace().take(2).collect();
    format!("{}, {model} ({cores} cores), {system}, {}, {}", server(bin), load.join(" "), today())
}

/// The load average before the measurement. Figures of a busy machine are wrong.
pub fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// The figures of several rounds.
#[derive(Clone, Debug, Default)]
pub struct Sample(pub Vec<f64>);

impl Sample {
    /// 0 if there are none.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        match sorted.len() {
            0 => 0.0,
            n if n % 2 == 1 => sorted[half],
            _ => (sorted[half - 1] + sorted[half]) / 2.0,
        }
    }

    pub fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn max(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// The ratio of this to that, round by round: if something slows the machine in a round, it slows both.
    pub fn over(&self, that: &Self) -> Self {
        Self(self.0.iter().zip(&that.0).map(|(this, that)| this / that).collect())
    }
}

/// A number from an environment variable, such as `ROUNDS=5`.
pub fn setting(name: &str, default: f64) -> f64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// Formats `1234567.8` as `1,234,568`.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A Markdown table. The first column is text, the others are numbers.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!("| {} |\n|---|", heading.join(" | "));
    text.push_str(&"--:|".repeat(heading.len() - 1));
    text.push('\n');
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}
