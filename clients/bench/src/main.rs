//! Decisions a second of one process: `make bench-client`.
//!
//! `redis-rl-client-bench <URL of a server with the module>` measures the crate `redis-rl-client`, the crate
//! `tower-redis-cell` and a client that sends EVALSHA, in rounds, one after the other. Other programs on the machine
//! slow all of a round in much the same way, so ratios are computed round by round.
//!
//! Environment: `ROUNDS=9`, `SECONDS=0.5` for each figure of a round; `ONLY=flood` measures those whose name contains
//! that, and plain, and writes nothing.
//!
//! `redis-rl-client-bench <URL> <client> <tasks> <requests>` only sends so many requests by one client, for callgrind.

mod client;
mod report;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use hdrhistogram::Histogram;
use redis::aio::ConnectionManager;
use redis_rl_client::Limiter;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use client::{CLOSED, Client, OPEN, key};

pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Every one of so many requests is timed. It has no common divisor with the period of a flood.
const TIMED: u64 = 17;
/// Local decisions in a row, for one figure.
const LOCAL: u64 = 200_000;

/// The figures of a client at a concurrency, one for each round.
struct Measured {
    client: Client,
    tasks: usize,
    per_second: Vec<f64>,
    /// Processor time of this process for a decision.
    cpu_us: Vec<f64>,
    nanos: Histogram<u64>,
    denied: u64,
    all: u64,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Error> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let url = match &arguments[..] {
        [url] => url,
        [url, name, tasks, requests] => return send(url, name, tasks.parse()?, requests.parse()?).await,
        _ => return Err("usage: redis-rl-client-bench <URL of a server> [<client> <tasks> <requests>]".into()),
    };
    let busy = report::load_average();
    let rounds = setting("ROUNDS", 9.0) as usize;
    let time = Duration::from_secs_f64(setting("SECONDS", 0.5));
    let only = std::env::var("ONLY").unwrap_or_default();

    let mut control = redis::Client::open(url.as_str())?.get_connection_manager().await?;
    let tcp = redis::Client::open(format!("redis://127.0.0.1:{}/", listen(&mut control).await?))?;
    let server = report::server(&mut control).await?;

    let mut all = Vec::new();
    for tasks in [1, 64] {
        for client in Client::all(&tcp).await? {
            if client.name() == client::PLAIN || client.name().contains(&only) {
                let nanos = Histogram::new(3)?;
                all.push(Measured {
                    client,
                    tasks,
                    per_second: Vec::new(),
                    cpu_us: Vec::new(),
                    nanos,
                    denied: 0,
                    all: 0,
                });
            }
        }
    }
    let mut local = [("a remembered denial", Vec::new()), ("a unit of a grant", Vec::new())];
    let limiter = client::limiter(&tcp, true).await?;
    // The first round warms up, and is not counted.
    for round in 0..=rounds {
        eprintln!("round {round} of {rounds}");
        for measured in &mut all {
            let figures = run(&measured.client, measured.tasks, time).await?;
            if round > 0 {
                measured.add(&figures);
            }
        }
        let nanos = [local_denials(limiter.clone()).await?, local_grants(limiter.clone()).await?];
        if round > 0 {
            local.iter_mut().zip(nanos).for_each(|((_, sample), nanos)| sample.push(nanos));
        }
    }

    let text = report::markdown(&server, &all, &local, rounds, time, &busy);
    println!("{text}");
    if only.is_empty() {
        report::write(&server, "client.md", &text)?;
        report::write(&server, "client.json", &report::json(&all, &local))?;
    }
    Ok(())
}

/// Sends so many requests by the client of that name, and nothing else that depends on their number.
async fn send(url: &str, name: &str, tasks: u64, requests: u64) -> Result<(), Error> {
    let clients = Client::all(&redis::Client::open(url)?).await?;
    let client = clients.into_iter().find(|client| client.name() == name).ok_or("no such client")?;
    let mut set = JoinSet::new();
    for _ in 0..tasks {
        let mut client = client.clone();
        set.spawn(async move {
            for number in 0..requests / tasks {
                client.check(number).await?;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(result) = set.join_next().await {
        result??;
    }
    Ok(())
}

/// Makes the server listen on a free port of this machine. Clients use TCP where it matters how fast they are.
async fn listen(control: &mut ConnectionManager) -> Result<u16, Error> {
    for _ in 0..10 {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        // Somebody else may have taken it since.
        if redis::cmd("CONFIG").arg("SET").arg("port").arg(port).exec_async(control).await.is_ok() {
            return Ok(port);
        }
    }
    Err("the server found no port to listen on".into())
}

/// What one run of a client did.
struct Figures {
    per_second: f64,
    cpu_us: f64,
    nanos: Histogram<u64>,
    denied: u64,
    all: u64,
}

/// Each of the tasks sends a request when it has the decision on the last one.
async fn run(client: &Client, tasks: usize, time: Duration) -> Result<Figures, Error> {
    let ready = Arc::new(Barrier::new(tasks + 1));
    let mut set = JoinSet::new();
    for task in 0..tasks {
        let (mut client, ready) = (client.clone(), Arc::clone(&ready));
        set.spawn(async move {
            let mut nanos = Histogram::<u64>::new(3)?;
            let (mut denied, mut all) = (0u64, 0u64);
            ready.wait().await;
            let start = Instant::now();
            loop {
                let before = all.is_multiple_of(TIMED).then(Instant::now);
                // Each task begins elsewhere in the flood.
                denied += u64::from(!client.check(all + task as u64 * 7).await?);
                all += 1;
                if let Some(before) = before {
                    nanos.record(u64::try_from(before.elapsed().as_nanos())?)?;
                    if start.elapsed() >= time {
                        return Ok::<_, Error>((nanos, denied, all));
                    }
                }
            }
        });
    }
    ready.wait().await;
    let (start, cpu) = (Instant::now(), ProcessTime::now());
    let mut figures = Figures { per_second: 0.0, cpu_us: 0.0, nanos: Histogram::new(3)?, denied: 0, all: 0 };
    while let Some(result) = set.join_next().await {
        let (nanos, denied, all) = result??;
        figures.nanos.add(nanos)?;
        figures.denied += denied;
        figures.all += all;
    }
    figures.per_second = figures.all as f64 / start.elapsed().as_secs_f64();
    figures.cpu_us = cpu.elapsed().as_secs_f64() * 1e6 / figures.all as f64;
    Ok(figures)
}

impl Measured {
    fn add(&mut self, figures: &Figures) {
        self.per_second.push(figures.per_second);
        self.cpu_us.push(figures.cpu_us);
        // Both have the same range.
        let _ = self.nanos.add(&figures.nanos);
        self.denied += figures.denied;
        self.all += figures.all;
    }
}

/// Nanoseconds of a remembered denial.
async fn local_denials(limiter: Limiter<ConnectionManager>) -> Result<f64, Error> {
    tokio::spawn(async move {
        let key = key("closed", 0);
        while limiter.check(&CLOSED, &key).await?.allowed {}
        let start = Instant::now();
        for _ in 0..LOCAL {
            std::hint::black_box(limiter.check(&CLOSED, &key).await?);
        }
        Ok(start.elapsed().as_nanos() as f64 / LOCAL as f64)
    })
    .await?
}

/// Nanoseconds of a unit of a grant that is never fetched again.
async fn local_grants(limiter: Limiter<ConnectionManager>) -> Result<f64, Error> {
    tokio::spawn(async move {
        let (key, grants) = (key("granted", 0), limiter.grants(&OPEN, LOCAL * 2)?);
        grants.check(&key).await?;
        let start = Instant::now();
        for _ in 0..LOCAL {
            std::hint::black_box(grants.check(&key).await?);
        }
        let nanos = start.elapsed().as_nanos() as f64 / LOCAL as f64;
        grants.shutdown().await;
        Ok(nanos)
    })
    .await?
}

/// A number from an environment variable, such as `ROUNDS=5`.
fn setting(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
