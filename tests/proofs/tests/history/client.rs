//! A client that sends calls on every path of the protocol and records them.

use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use redis::{Cmd, Connection, RedisError, Value};

use crate::Run;
use crate::call::{Call, Figures, Kind, Limit, Outcome, now_us};
use crate::route::connect;
use crate::support::{Random, line};

/// How long a client waits for a reply.
pub const TIMEOUT: Duration = Duration::from_millis(150);

/// Limits of all clients that last longer than the history: a failover shows in them.
pub const QUOTAS: [Limit; 3] = [
    Limit { algorithm: "WINDOW", window_ms: 86_400_000, limit: 100 },
    Limit { algorithm: "ROLLING", window_ms: 86_400_000, limit: 100 },
    Limit { algorithm: "SLIDING", window_ms: 86_400_000, limit: 100 },
];
/// Counters of one client each: every reply is known in advance.
pub const COUNTERS: [Limit; 8] = [
    Limit::endless("FIXED"),
    Limit::endless("WINDOW"),
    Limit::endless("SLIDING"),
    Limit::endless("ROLLING"),
    Limit::endless("COUNTER"),
    Limit::endless("TOKEN"),
    Limit::endless("LEAKY"),
    Limit::endless("GCRA"),
];
/// Limits of one client each for reservations.
pub const RESERVED: [Limit; 4] =
    [Limit::endless("FIXED"), Limit::endless("WINDOW"), Limit::endless("COUNTER"), Limit::endless("ROLLING")];
/// [`Call::path`] of two reservations and a lease in RL.MULTI.
pub const WITH_OTHERS: &str = "RL.MULTI with RESERVE and LEASE";
/// [`Call::path`] of all counters of a client in RL.MULTI. It charges these keys in no other way.
pub const TOGETHER: &str = "RL.MULTI of one client";
/// A reservation ends by itself in a history, or does not.
const TTLS_MS: [u64; 2] = [300, 3_600_000];
pub const LEASE: Limit = Limit { algorithm: "LEASE", window_ms: 300, limit: 3 };

fn shared_key(limit: &Limit) -> String {
    format!("h:all:{}:{}", limit.algorithm, limit.window_ms)
}

fn own_key(client: usize, limit: &Limit) -> String {
    format!("h:own:{client}:{}:{}", limit.algorithm, limit.window_ms)
}

fn reserved_key(client: usize, limit: &Limit) -> String {
    format!("h:own:{client}:reserved:{}", limit.algorithm)
}

fn together_key(client: usize, limit: &Limit) -> String {
    format!("h:own:{client}:together:{}", limit.algorithm)
}

/// The limits that a failover shows in, and their keys: those that last longer than the history.
pub fn long() -> Vec<(String, Limit)> {
    let mut all = quotas();
    for client in 0..crate::CLIENTS {
        all.extend(COUNTERS.map(|limit| (own_key(client, &limit), limit)));
        all.extend(COUNTERS.map(|limit| (together_key(client, &limit), limit)));
        all.extend(RESERVED.map(|limit| (reserved_key(client, &limit), limit)));
    }
    all
}

/// The limits of all clients that last longer than the history, and their keys.
fn quotas() -> Vec<(String, Limit)> {
    QUOTAS.into_iter().map(|limit| (shared_key(&limit), limit)).collect()
}

/// Sends calls until it is done.
pub fn run(run: Run<'_>, number: usize) -> Vec<Call> {
    let port = run.port;
    let mut client = Client {
        number,
        port,
        random: run.random(number),
        con: None,
        calls: Vec::new(),
        lease: None,
        leases: 0,
        former: None,
        reserved: Vec::new(),
        reservations: 0,
        unanswered: Vec::new(),
    };
    while !run.is_done() {
        client.step();
    }
    client.calls
}

struct Client<'a> {
    number: usize,
    port: &'a AtomicU16,
    random: Random,
    con: Option<Connection>,
    calls: Vec<Call>,
    /// The lease that it has or wants, how many it had, and the last of those that it has no more.
    lease: Option<String>,
    leases: u64,
    former: Option<String>,
    /// Its reservations that may still be settled, how many it made, and the calls that it sends until there are replies.
    reserved: Vec<(String, Limit, String)>,
    reservations: u64,
    unanswered: Vec<(String, Limit, Kind)>,
}

impl Client<'_> {
    /// Sends a call, or several at once.
    fn step(&mut self) {
        if self.con.is_none() {
            self.con = connect(self.port.load(Ordering::Relaxed)).ok();
        }
        if self.con.is_none() {
            thread::sleep(Duration::from_millis(5));
            return;
        }
        match self.random.below(12) {
            0..2 => {
                let calls = (0..2 + self.random.below(6)).map(|_| self.request("pipeline")).collect();
                self.send(calls);
            }
            2..4 => self.send_multi(),
            4..6 => self.send_lease(),
            6..9 => self.send_reservation(),
            _ => {
                let call = self.request("plain");
                self.send(vec![call]);
            }
        }
        thread::sleep(Duration::from_micros(self.random.below(3_000)));
    }

    fn call(&self, path: &'static str, key: String, limit: Limit, kind: Kind) -> Call {
        Call::new(self.number, path, key, limit, kind)
    }

    /// A request, or now and then a refund of what this client was charged.
    fn request(&mut self, path: &'static str) -> Call {
        if self.random.below(3) == 0 {
            let limit = self.random.pick(&QUOTAS);
            return self.call(path, shared_key(&limit), limit, Kind::Request { cost: 1 });
        }
        let kind = match self.random.below(8) {
            0 => Kind::Refund { units: 1 },
            _ => Kind::Request { cost: 1 + self.random.below(3) },
        };
        let limit = self.random.pick(&COUNTERS);
        self.call(path, own_key(self.number, &limit), limit, kind)
    }

    /// Sends calls at once, and reads their replies one after another.
    fn send(&mut self, calls: Vec<Call>) {
        let con = self.con.take();
        let (con, error) = self.exchange(con, calls);
        // After an error other than OOM, the primary may be elsewhere.
        self.con = con.filter(|_| error.is_none_or(|error| error.code() == Some("OOM")));
    }

    /// Sends calls at once over a connection, if it is there. Returns it if it is still good, and the last error.
    fn exchange(&mut self, mut con: Option<Connection>, calls: Vec<Call>) -> (Option<Connection>, Option<RedisError>) {
        let packed: Vec<u8> = calls.iter().flat_map(|call| command(call).get_packed_command()).collect();
        let mut last = None;
        let begun_us = now_us();
        if con.as_mut().is_some_and(|con| con.send_packed_command(&packed).is_err()) {
            con = None;
        }
        for call in calls {
            let outcome = match con.as_mut().map(|con| con.recv_response().and_then(Value::extract_error)) {
                Some(Ok(value)) => outcome(&call, value),
                Some(Err(error)) => {
                    let outcome = of_error(&error);
                    con = con.filter(|_| outcome != Outcome::Unknown);
                    last = Some(error);
                    outcome
                }
                None => Outcome::Unknown,
            };
            self.calls.push(Call { begun_us, ended_us: now_us(), outcome, ..call });
        }
        (con, last)
    }

    /// Several limits at once: one of this client and one of all; one, two reservations and a lease; or all counters of this
    /// client.
    fn send_multi(&mut self) {
        let request = |client: &Self, path, key, limit, cost| client.call(path, key, limit, Kind::Request { cost });
        let (counter, quota) = (self.random.pick(&COUNTERS), self.random.pick(&QUOTAS));
        let own = |client: &Self| request(client, "RL.MULTI", own_key(client.number, &counter), counter, 1);
        let with_others = self.unanswered.is_empty();
        let calls = match self.random.below(4) {
            0..2 if with_others => {
                let at = self.random.below(RESERVED.len() as u64) as usize;
                let reserve = |client: &mut Self, at: usize| {
                    let (key, limit, kind) = client.new_reservation(RESERVED[at % RESERVED.len()]);
                    client.call(WITH_OTHERS, key, limit, kind)
                };
                let reservations = [reserve(self, at), reserve(self, at + 1)];
                let lease = Kind::Lease { id: self.lease.take().unwrap_or_else(|| self.new_lease()) };
                let lease = self.call(WITH_OTHERS, shared_key(&LEASE), LEASE, lease);
                [own(self)].into_iter().chain(reservations).chain([lease]).collect()
            }
            2 => {
                let cost = 1 + self.random.below(3);
                let key = |limit| together_key(self.number, limit);
                COUNTERS.iter().map(|limit| request(self, TOGETHER, key(limit), *limit, cost)).collect()
            }
            _ => vec![own(self), request(self, "RL.MULTI", shared_key(&quota), quota, 1)],
        };
        let mut command = redis::cmd("RL.MULTI");
        command.arg(calls.len());
        for call in &calls {
            add_arguments(command.arg(call.limit.algorithm), call);
        }
        command.arg("LINE");
        let begun_us = now_us();
        let reply = command.query(self.con.as_mut().expect("a connection"));
        let reply = reply.and_then(|value: Value| Ok(redis::from_redis_value::<(i64, Vec<Value>)>(value)?));
        let ended_us = now_us();
        for (at, call) in calls.into_iter().enumerate() {
            let outcome = match &reply {
                Ok((allowed, each)) => match outcome(&call, each[at].clone()) {
                    // Nothing is charged if one denies.
                    Outcome::Reply(figures) if *allowed == 0 && figures.allowed => Outcome::Error("DENIED".to_owned()),
                    other => other,
                },
                Err(error) => of_error(error),
            };
            self.calls.push(Call { begun_us, ended_us, outcome, ..call.clone() });
            match call.kind {
                Kind::Reserve { .. } => self.reserved(call.key, call.limit, call.kind),
                Kind::Lease { id } => self.took(id),
                _ => {}
            }
        }
        if reply.is_err_and(|error| error.code() != Some("OOM")) {
            self.con = None;
        }
    }

    fn new_lease(&mut self) -> String {
        self.leases += 1;
        format!("{}-{}", self.number, self.leases)
    }

    fn send_lease(&mut self) {
        let key = shared_key(&LEASE);
        let former = self.former.take_if(|_| self.random.below(3) == 0);
        let (path, kind) = match (former, self.lease.take()) {
            // It has ended or ends soon. Who is late renews it all the same.
            (Some(id), current) => {
                self.lease = current;
                let call = self.call("renewal", key, LEASE, Kind::Renew { id });
                return self.send(vec![call]);
            }
            (None, Some(id)) => match self.random.below(3) {
                0 => ("lease", Kind::Release { id }),
                1 => ("lease", Kind::Lease { id }),
                _ => ("renewal", Kind::Renew { id }),
            },
            (None, None) => ("lease", Kind::Lease { id: self.new_lease() }),
        };
        let call = self.call(path, key, LEASE, kind.clone());
        self.send(vec![call]);
        match kind {
            Kind::Lease { id } | Kind::Renew { id } => self.took(id),
            Kind::Release { id } => self.former = Some(id),
            _ => {}
        }
    }

    /// What is known of a lease after the last call, which took or renewed it.
    fn took(&mut self, id: String) {
        let held = match &self.calls.last().expect("the call").outcome {
            Outcome::Reply(figures) => figures.allowed,
            Outcome::Found(held) => *held,
            _ => false,
        };
        // Now and then a holder dies: nobody releases its lease.
        if held && self.random.below(10) > 0 {
            self.lease = Some(id);
        } else {
            self.former = Some(id);
        }
    }

    /// Reserves, settles or forgets, or sends again what had no reply.
    fn send_reservation(&mut self) {
        let (key, limit, kind) = self.unanswered.pop().unwrap_or_else(|| self.reservation());
        let call = self.call("reservation", key.clone(), limit, kind.clone());
        self.send(vec![call]);
        self.reserved(key, limit, kind);
    }

    /// What is known of a reservation after the last call.
    fn reserved(&mut self, key: String, limit: Limit, kind: Kind) {
        match (&self.calls.last().expect("the call").outcome, kind) {
            // Also what RL.MULTI sent is sent again alone.
            (Outcome::Unknown, kind) => self.unanswered.push((key, limit, kind)),
            (Outcome::Reply(_), Kind::Reserve { id, .. }) => self.reserved.push((key, limit, id)),
            _ => {}
        }
    }

    fn new_reservation(&mut self, limit: Limit) -> (String, Limit, Kind) {
        self.reservations += 1;
        let id = format!("{}-{}", self.number, self.reservations);
        let key = reserved_key(self.number, &limit);
        (key, limit, Kind::Reserve { id, units: 5, ttl_ms: self.random.pick(&TTLS_MS) })
    }

    fn reservation(&mut self) -> (String, Limit, Kind) {
        if self.reserved.len() < 3 {
            let limit = self.random.pick(&RESERVED);
            return self.new_reservation(limit);
        }
        let at = self.random.below(self.reserved.len() as u64) as usize;
        let (key, limit, id) = self.reserved.swap_remove(at);
        if self.random.below(4) == 0 {
            // Nobody settles it.
            return self.reservation();
        }
        (key, limit, Kind::Settle { id, actual: self.random.below(9) })
    }
}

fn command(call: &Call) -> Cmd {
    let algorithm = call.limit.algorithm;
    let (mut cmd, window) = (Cmd::new(), format!("{}ms", call.limit.window_ms));
    match &call.kind {
        Kind::Renew { id } => return cmd.arg("RL.RENEW").arg(&call.key).arg(window).arg(id).take(),
        Kind::Release { id } => return cmd.arg("RL.RELEASE").arg(&call.key).arg(id).take(),
        Kind::Refund { .. } => cmd.arg("RL.REFUND").arg(algorithm),
        Kind::Settle { .. } => cmd.arg("RL.SETTLE").arg(algorithm),
        _ => cmd.arg(format!("RL.{algorithm}")),
    };
    add_arguments(&mut cmd, call);
    cmd.arg("LINE").take()
}

/// What follows the algorithm.
fn add_arguments(cmd: &mut Cmd, call: &Call) {
    cmd.arg(&call.key).arg(format!("{}ms", call.limit.window_ms)).arg(call.limit.limit);
    match &call.kind {
        Kind::Request { cost } | Kind::Refund { units: cost } => cmd.arg("COST").arg(cost),
        Kind::Lease { id } => cmd.arg("ID").arg(id),
        Kind::Reserve { id, units, ttl_ms } => {
            cmd.arg("COST").arg(units).arg("RESERVE").arg(id).arg(format!("{ttl_ms}ms"))
        }
        Kind::Settle { id, actual } => cmd.arg("RESERVATION").arg(id).arg("ACTUAL").arg(actual),
        Kind::Renew { .. } | Kind::Release { .. } => unreachable!("they have no limit"),
        Kind::Held => unreachable!("the Rust client sends them"),
    };
}

fn outcome(call: &Call, value: Value) -> Outcome {
    match value {
        Value::ServerError(error) => Outcome::Error(error.code().to_owned()),
        Value::Int(held) => Outcome::Found(held != 0),
        text => {
            let full = line(text);
            let unsigned = |figure: i64| u64::try_from(figure).unwrap_or(0);
            let refund = matches!(call.kind, Kind::Refund { .. });
            Outcome::Reply(Figures {
                allowed: full.allowed > 0,
                remaining: unsigned(full.remaining),
                now_ms: unsigned(full.now_ms),
                charged: if refund { 0 } else { unsigned(full.charged) },
            })
        }
    }
}

/// An error reply says that the server did nothing.
fn of_error(error: &RedisError) -> Outcome {
    match error.code() {
        Some(code) if !error.is_io_error() => Outcome::Error(code.to_owned()),
        _ => Outcome::Unknown,
    }
}
