//! What Linux says of this process, by the names that the clients of Prometheus have for it.

use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

/// When this process began, in seconds since 1970.
static BEGAN: LazyLock<f64> =
    LazyLock::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()));

/// To be called when the process begins.
pub fn began() {
    LazyLock::force(&BEGAN);
}

/// The text that Prometheus reads. What is not known is left out, as outside of Linux.
pub fn text() -> String {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name of the program, which may have spaces: the third is the first of them.
    let fields: Vec<f64> = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.split_whitespace().map(|field| field.parse().unwrap_or_default()).collect())
        .unwrap_or_default();
    let field = |number: usize| fields.get(number - 3).copied();
    let cpu = field(14).zip(field(15)).map(|(user, system)| (user + system) / clock_ticks_per_second() as f64);
    let open = fs::read_dir("/proc/self/fd").ok().map(|all| all.count() as f64);
    let mut text = String::new();
    for (name, kind, help, value) in [
        ("cpu_seconds_total", "counter", "Processor time.", cpu),
        ("open_fds", "gauge", "Open descriptors.", open),
        ("max_fds", "gauge", "How many may be open.", getrlimit(Resource::Nofile).current.map(|limit| limit as f64)),
        ("virtual_memory_bytes", "gauge", "Virtual memory.", field(23)),
        ("resident_memory_bytes", "gauge", "Resident memory.", field(24).map(|pages| pages * page_size() as f64)),
        ("start_time_seconds", "gauge", "When the process began, in seconds since 1970.", Some(*BEGAN)),
        ("threads", "gauge", "Threads.", field(20)),
    ] {
        if let Some(value) = value {
            _ = writeln!(text, "# HELP process_{name} {help}\n# TYPE process_{name} {kind}\nprocess_{name} {value}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_this_process_are_likely() {
        began();
        let text = text();
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("process_{name} ")));
            line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name}: {text}"))
        };
        assert!(value("resident_memory_bytes") > 500_000.0 && value("resident_memory_bytes") < 1e10);
        assert!(value("virtual_memory_bytes") >= value("resident_memory_bytes"));
        assert!((1.0..1e5).contains(&value("threads")) && value("open_fds") >= 3.0);
        assert!(value("max_fds") >= value("open_fds") && value("start_time_seconds") > 1.6e9);
        assert!((0.0..1e5).contains(&value("cpu_seconds_total")));
    }
}
