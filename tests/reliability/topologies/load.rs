//! Clients that send requests at a known rate, and what became of each request.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, RedisError, RedisResult, Value};

use super::network::Network;
use crate::{ALGORITHMS, LONG, remaining};

/// Requests a second of one client, when all is well.
pub const RATE: f64 = 100.0;
/// No request of a test is denied.
const LIMIT: u64 = 1_000_000;
/// How long a client waits for a reply.
const TIMEOUT: Duration = Duration::from_millis(250);

/// Where a client sends its requests.
pub enum Route<'a> {
    /// One server, always. The client connects anew after every error.
    Server(String),
    /// One address behind which the primary is. The client keeps its connection until it breaks.
    StableAddress(&'a (dyn Fn() -> String + Sync)),
    /// The primary that these Sentinels name. The client asks after every error.
    Sentinels(Vec<String>),
    /// Where the nodes of a cluster say that the key is.
    Cluster(Vec<String>),
}

/// What one client saw.
#[derive(Default)]
pub struct Seen {
    /// When which server allowed a request.
    pub allowed: Vec<(Instant, String)>,
    /// Allowed requests of each algorithm.
    by_algorithm: [u64; ALGORITHMS.len()],
    /// Requests that no reply came for.
    pub unanswered: u64,
    /// Error replies, by first word.
    pub errors: BTreeMap<String, u64>,
    keys: String,
    began: Option<Instant>,
    ended: Option<Instant>,
}

pub fn connect(address: &str) -> RedisResult<Connection> {
    let con = redis::Client::open(format!("redis://{address}"))?.get_connection_with_timeout(TIMEOUT)?;
    con.set_read_timeout(Some(TIMEOUT))?;
    con.set_write_timeout(Some(TIMEOUT))?;
    Ok(con)
}

/// The primary that one of the Sentinels names.
fn named_by(sentinels: &[String]) -> Option<String> {
    sentinels.iter().find_map(|sentinel| {
        let mut con = connect(sentinel).ok()?;
        let address: [String; 2] =
            redis::cmd("SENTINEL").arg("GET-MASTER-ADDR-BY-NAME").arg("limits").query(&mut con).ok()?;
        Some(address.join(":"))
    })
}

/// Sends requests from a machine until it is done. Its keys begin with `keys`.
pub fn send(network: &Network, machine: usize, route: &Route, keys: &str, done: &AtomicBool) -> Seen {
    network.enter(machine);
    let mut seen = Seen { keys: keys.to_owned(), began: Some(Instant::now()), ..Seen::default() };
    let mut connection: Option<(Connection, String)> = None;
    let mut moved_to: Option<String> = None;
    let mut tries = 0;
    let mut next = 0;
    let mut due = Instant::now();
    while !done.load(Ordering::Relaxed) {
        // At the rate, whatever a request takes. After an outage nothing is made up for.
        let now = Instant::now();
        due = (due + Duration::from_secs_f64(1.0 / RATE)).max(now);
        thread::sleep(due - now);
        if connection.is_none() {
            let address = match route {
                Route::Server(address) => Some(address.clone()),
                Route::StableAddress(address) => Some(address()),
                Route::Sentinels(sentinels) => named_by(sentinels),
                Route::Cluster(nodes) => {
                    tries += 1;
                    moved_to.take().or_else(|| Some(nodes[tries % nodes.len()].clone()))
                }
            };
            connection = address.and_then(|address| Some((connect(&address).ok()?, address)));
        }
        let Some((con, address)) = &mut connection else { continue };
        let at = next % ALGORITHMS.len();
        next += 1;
        let mut request = redis::cmd(&format!("RL.{}", ALGORITHMS[at]));
        match request.arg(seen.key(at)).arg(LONG).arg(LIMIT).query::<[Value; 3]>(con) {
            Ok(_) => {
                seen.by_algorithm[at] += 1;
                seen.allowed.push((Instant::now(), address.clone()));
            }
            Err(error) => {
                seen.count(&error);
                if error.code() == Some("MOVED") {
                    moved_to = error.redirect_node().map(|(address, _)| address.to_owned());
                }
                if !matches!(route, Route::StableAddress(_)) || error.code().is_none() {
                    connection = None;
                }
            }
        }
    }
    seen.ended = Some(Instant::now());
    seen
}

impl Seen {
    fn key(&self, algorithm: usize) -> String {
        format!("{}:{}", self.keys, ALGORITHMS[algorithm])
    }

    fn count(&mut self, error: &RedisError) {
        match error.code() {
            Some(code) => *self.errors.entry(code.to_owned()).or_default() += 1,
            None => self.unanswered += 1,
        }
    }

    pub fn total(&self) -> u64 {
        self.by_algorithm.iter().sum()
    }

    pub fn allowed_before(&self, time: Instant) -> u64 {
        self.allowed.iter().filter(|(at, _)| *at < time).count() as u64
    }

    /// The longest time without an allowed request.
    pub fn failing(&self) -> Duration {
        let all = self.began.into_iter().chain(self.allowed.iter().map(|(at, _)| *at)).chain(self.ended);
        let all: Vec<Instant> = all.collect();
        all.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }

    fn times_of<'a>(&'a self, server: &'a str) -> impl DoubleEndedIterator<Item = Instant> + 'a {
        self.allowed.iter().filter(move |(_, address)| address == server).map(|(at, _)| *at)
    }

    pub fn first_of(&self, server: &str) -> Option<Instant> {
        self.times_of(server).next()
    }

    pub fn last_of(&self, server: &str) -> Option<Instant> {
        self.times_of(server).next_back()
    }

    /// The units that were allowed and are not counted on this server.
    pub fn lost(&self, con: &mut Connection) -> u64 {
        let lost = |(at, algorithm): (usize, &&str)| {
            let counted = LIMIT - remaining(con, algorithm, &self.key(at), LONG, LIMIT);
            let allowed = self.by_algorithm[at];
            assert!(counted <= allowed + self.unanswered, "{algorithm}: {counted} counted of {allowed}");
            allowed.saturating_sub(counted)
        };
        ALGORITHMS.iter().enumerate().map(lost).sum()
    }
}
