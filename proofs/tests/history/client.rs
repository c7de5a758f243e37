//! A client that sends calls on every path of the protocol and records them.

use std::thread;
use std::time::Duration;

use redis::{Cmd, Connection, RedisError, Value};

use crate::call::{Call, Figures, Kind, Limit, Outcome, now_us};
use crate::route::{Nodes, Route};
use crate::service;
use crate::support::{Random, line};

/// How long a client waits for a reply.
pub const TIMEOUT: Duration = Duration::from_millis(150);

/// Limits of all clients: short windows, so that there are many.
pub const SHARED: [Limit; 5] = [
    Limit { algorithm: "FIXED", window_ms: 500, limit: 40 },
    Limit { algorithm: "SLIDING", window_ms: 400, limit: 30 },
    Limit { algorithm: "ROLLING", window_ms: 300, limit: 30 },
    Limit { algorithm: "TOKEN", window_ms: 500, limit: 50 },
    Limit { algorithm: "GCRA", window_ms: 400, limit: 40 },
];
/// Limits of all clients that last longer than the history: a failover shows in them.
pub const QUOTAS: [Limit; 3] = [
    Limit { algorithm: "WINDOW", window_ms: 86_400_000, limit: 400 },
    Limit { algorithm: "ROLLING", window_ms: 86_400_000, limit: 400 },
    Limit { algorithm: "SLIDING", window_ms: 86_400_000, limit: 400 },
];
/// Counters of one client each: every reply is known in advance.
pub const COUNTERS: [Limit; 3] = [
    Limit { algorithm: "FIXED", window_ms: 86_400_000_000, limit: 1_000_000_000 },
    Limit { algorithm: "WINDOW", window_ms: 86_400_000, limit: 1_000_000_000 },
    Limit { algorithm: "ROLLING", window_ms: 86_400_000, limit: 1_000_000_000 },
];
/// Limits of one client each, to wait for.
pub const WAITS: [Limit; 6] = [
    Limit { algorithm: "SLIDING", window_ms: 200, limit: 4 },
    Limit { algorithm: "ROLLING", window_ms: 200, limit: 4 },
    Limit { algorithm: "COUNTER", window_ms: 200, limit: 4 },
    Limit { algorithm: "TOKEN", window_ms: 200, limit: 4 },
    Limit { algorithm: "GCRA", window_ms: 200, limit: 4 },
    Limit { algorithm: "FIXED", window_ms: 200, limit: 4 },
];
/// Limits of one client each for reservations. No window ends in a history.
pub const RESERVED: [Limit; 4] = [
    Limit { algorithm: "FIXED", window_ms: 86_400_000_000, limit: 1_000_000_000 },
    Limit { algorithm: "WINDOW", window_ms: 86_400_000, limit: 1_000_000_000 },
    Limit { algorithm: "COUNTER", window_ms: 86_400_000_000, limit: 1_000_000_000 },
    Limit { algorithm: "ROLLING", window_ms: 86_400_000, limit: 1_000_000_000 },
];
/// A reservation ends by itself in a history, or does not.
const TTLS_MS: [u64; 2] = [300, 3_600_000];
pub const LEASE: Limit = Limit { algorithm: "LEASE", window_ms: 300, limit: 3 };

pub fn shared_key(prefix: &str, limit: &Limit) -> String {
    format!("{prefix}:all:{}:{}", limit.algorithm, limit.window_ms)
}

/// The limits of all clients that last longer than the history, and their keys.
pub fn quotas(prefix: &str) -> Vec<(String, Limit)> {
    let quotas = QUOTAS.into_iter().map(|limit| (shared_key(prefix, &limit), limit));
    quotas.chain(service::quotas(prefix)).collect()
}

pub struct Client<'a> {
    /// What the names of its keys begin with: one of several.
    prefixes: &'a [&'a str],
    prefix: &'a str,
    number: usize,
    route: Route<'a>,
    nodes: Nodes,
    random: Random,
    con: Option<Connection>,
    calls: Vec<Call>,
    /// The lease that it has or wants, and how many it had.
    lease: Option<String>,
    leases: u64,
    /// Its reservations that may still be settled, how many it made, and the call that it sends until a reply is there.
    reserved: Vec<(String, Limit, String)>,
    reservations: u64,
    unanswered: Option<(String, Limit, Kind)>,
}

impl<'a> Client<'a> {
    pub fn new(prefixes: &'a [&'a str], number: usize, route: Route<'a>, seed: u64) -> Self {
        let random = Random::new(seed.wrapping_mul(1_000).wrapping_add(number as u64 + 1));
        Self {
            prefixes,
            prefix: prefixes[0],
            number,
            route,
            nodes: Nodes::default(),
            random,
            con: None,
            calls: Vec::new(),
            lease: None,
            leases: 0,
            reserved: Vec::new(),
            reservations: 0,
            unanswered: None,
        }
    }

    pub fn into_calls(self) -> Vec<Call> {
        self.calls
    }

    /// Sends a call, or several at once.
    pub fn step(&mut self) {
        if self.prefixes.len() > 1 {
            self.prefix = self.random.pick(self.prefixes);
        }
        if self.con.is_none() {
            self.con = self.route.connect();
        }
        if self.con.is_none() && matches!(self.route, Route::Primary(_)) {
            thread::sleep(Duration::from_millis(5));
            return;
        }
        match self.random.below(13) {
            10.. => self.send_reservation(),
            0..3 => {
                let call = self.request("plain");
                self.send(vec![call]);
            }
            3..6 => {
                let calls = (0..2 + self.random.below(6)).map(|_| self.request("pipeline")).collect();
                self.send(calls);
            }
            6..8 => self.send_multi(),
            _ => self.send_lease(),
        }
        thread::sleep(Duration::from_micros(self.random.below(3_000)));
    }

    fn call(&self, path: &'static str, key: String, limit: Limit, kind: Kind) -> Call {
        Call { client: self.number, path, key, limit, kind, begun_us: 0, ended_us: 0, outcome: Outcome::Unknown }
    }

    /// A request, or now and then a refund of what this client was charged.
    fn request(&mut self, path: &'static str) -> Call {
        let own =
            |limit: &Limit| format!("{}:own:{}:{}:{}", self.prefix, self.number, limit.algorithm, limit.window_ms);
        match self.random.below(4) {
            0 => {
                let limit = self.random.pick(&SHARED);
                self.call(path, shared_key(self.prefix, &limit), limit, Kind::Request { cost: 1 })
            }
            1 => {
                let mut quotas = quotas(self.prefix);
                let (key, limit) = quotas.swap_remove(self.random.below(quotas.len() as u64) as usize);
                self.call(path, key, limit, Kind::Request { cost: 1 })
            }
            2 => {
                let limit = COUNTERS[self.random.below(3) as usize];
                let kind =
                    if self.random.below(8) == 0 { Kind::Refund { units: 1 } } else { Kind::Request { cost: 1 } };
                self.call(path, own(&limit), limit, kind)
            }
            _ => {
                let limit = WAITS[self.random.below(WAITS.len() as u64) as usize];
                self.call(path, own(&limit), limit, Kind::Request { cost: 1 })
            }
        }
    }

    /// Sends calls at once, and reads their replies one after another.
    fn send(&mut self, calls: Vec<Call>) {
        if let Route::Cluster(ports) = self.route {
            for call in calls {
                let begun_us = now_us();
                let reply = self.nodes.query(ports, tag(&call.key), &command(&call), &mut self.random);
                let outcome = reply.map_or_else(|error| of_error(&error), |value| outcome(&call, value));
                self.calls.push(Call { begun_us, ended_us: now_us(), outcome, ..call });
            }
            return;
        }
        let packed: Vec<u8> = calls.iter().flat_map(|call| command(call).get_packed_command()).collect();
        let mut con = self.con.take().filter(|_| !packed.is_empty());
        let begun_us = now_us();
        if con.as_mut().is_some_and(|con| con.send_packed_command(&packed).is_err()) {
            con = None;
        }
        let first = self.calls.len();
        for call in calls {
            let reply = con.as_mut().map(Connection::recv_response);
            if matches!(&reply, Some(Err(error)) if of_error(error) == Outcome::Unknown) {
                con = None;
            }
            let outcome = match reply {
                Some(Ok(value)) => outcome(&call, value),
                Some(Err(error)) => of_error(&error),
                None => Outcome::Unknown,
            };
            self.calls.push(Call { begun_us, ended_us: now_us(), outcome, ..call });
        }
        // After an error other than OOM, the primary may be elsewhere.
        let lost = self.calls[first..].iter().any(|call| {
            !matches!(&call.outcome, Outcome::Reply(_) | Outcome::Released(_))
                && call.outcome != Outcome::Error("OOM".to_owned())
        });
        self.con = con.filter(|_| !lost);
    }

    /// Two limits of all clients at once.
    fn send_multi(&mut self) {
        let first = self.random.below(SHARED.len() as u64) as usize;
        let limits = [SHARED[first], self.random.pick(&QUOTAS)];
        let mut command = redis::cmd("RL.MULTI");
        command.arg(limits.len());
        for limit in &limits {
            command.arg(limit.algorithm).arg(shared_key(self.prefix, limit));
            command.arg(format!("{}ms", limit.window_ms)).arg(limit.limit);
        }
        command.arg("LINE");
        let begun_us = now_us();
        let reply = match self.route {
            Route::Primary(_) => command.query(self.con.as_mut().expect("a connection")),
            Route::Cluster(ports) => self.nodes.query(ports, self.prefix, &command, &mut self.random),
        };
        let reply = reply.and_then(|value| Ok(redis::from_redis_value::<(i64, Vec<Value>)>(value)?));
        let ended_us = now_us();
        for (at, limit) in limits.into_iter().enumerate() {
            let key = shared_key(self.prefix, &limit);
            let call = self.call("RL.MULTI", key, limit, Kind::Request { cost: 1 });
            let outcome = match &reply {
                Ok((allowed, each)) => match outcome(&call, each[at].clone()) {
                    // Nothing is charged if one denies.
                    Outcome::Reply(figures) if *allowed == 0 => Outcome::Reply(Figures { charged: 0, ..figures }),
                    other => other,
                },
                Err(error) => of_error(error),
            };
            self.calls.push(Call { begun_us, ended_us, outcome, ..call });
        }
        if reply.is_err_and(|error| error.code() != Some("OOM")) {
            self.con = None;
        }
    }

    fn send_lease(&mut self) {
        // All leases of a history are under one key.
        self.prefix = self.prefixes[0];
        let key = shared_key(self.prefix, &LEASE);
        let (id, kind) = match self.lease.take() {
            Some(id) if self.random.below(3) == 0 => (None, Kind::Release { id }),
            Some(id) => (Some(id.clone()), Kind::Lease { id }),
            None => {
                self.leases += 1;
                let id = format!("{}-{}", self.number, self.leases);
                (Some(id.clone()), Kind::Lease { id })
            }
        };
        let call = self.call("lease", key, LEASE, kind);
        self.send(vec![call]);
        let allowed = self.calls.last().and_then(Call::reply).is_some_and(|reply| reply.allowed);
        // Now and then a holder dies: nobody releases its lease.
        self.lease = id.filter(|_| allowed && self.random.below(10) > 0);
    }
}

impl Client<'_> {
    /// Reserves, settles or forgets, or sends again what had no reply.
    fn send_reservation(&mut self) {
        let (key, limit, kind) = self.unanswered.take().unwrap_or_else(|| self.reservation());
        let call = self.call("reservation", key.clone(), limit, kind.clone());
        self.send(vec![call]);
        match (&self.calls.last().expect("the call").outcome, kind) {
            (Outcome::Unknown, kind) => self.unanswered = Some((key, limit, kind)),
            (Outcome::Reply(_), Kind::Reserve { id, .. }) => self.reserved.push((key, limit, id)),
            _ => {}
        }
    }

    fn reservation(&mut self) -> (String, Limit, Kind) {
        if self.reserved.len() < 3 {
            let limit = self.random.pick(&RESERVED);
            self.reservations += 1;
            let id = format!("{}-{}", self.number, self.reservations);
            let key = format!("{}:own:{}:reserved:{}", self.prefix, self.number, limit.algorithm);
            return (key, limit, Kind::Reserve { id, units: 5, ttl_ms: self.random.pick(&TTLS_MS) });
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

/// The hash tag of a key, in braces; what it begins with if it has none.
pub fn tag(key: &str) -> &str {
    let tagged = key.find('{').zip(key.find('}')).and_then(|(start, end)| key.get(start..=end));
    tagged.unwrap_or_else(|| key.split(':').next().unwrap_or(key))
}

fn command(call: &Call) -> Cmd {
    let Limit { algorithm, window_ms, limit } = call.limit;
    let (mut cmd, window) = (Cmd::new(), format!("{window_ms}ms"));
    match &call.kind {
        Kind::Request { cost } => {
            cmd.arg(format!("RL.{algorithm}")).arg(&call.key).arg(window).arg(limit).arg("COST").arg(cost)
        }
        Kind::Refund { units } => {
            cmd.arg("RL.REFUND").arg(algorithm).arg(&call.key).arg(window).arg(limit).arg("COST").arg(units)
        }
        Kind::Lease { id } => cmd.arg("RL.LEASE").arg(&call.key).arg(window).arg(limit).arg("ID").arg(id),
        Kind::Release { id } => return cmd.arg("RL.RELEASE").arg(&call.key).arg(id).take(),
        Kind::Reserve { id, units, ttl_ms } => {
            cmd.arg(format!("RL.{algorithm}")).arg(&call.key).arg(window).arg(limit);
            cmd.arg("COST").arg(units).arg("RESERVE").arg(id).arg(format!("{ttl_ms}ms"))
        }
        Kind::Settle { id, actual } => {
            cmd.arg("RL.SETTLE").arg(algorithm).arg(&call.key).arg(window).arg(limit);
            cmd.arg("RESERVATION").arg(id).arg("ACTUAL").arg(actual)
        }
        Kind::Granted => unreachable!("the client sends it"),
    };
    cmd.arg("LINE").take()
}

fn outcome(call: &Call, value: Value) -> Outcome {
    match value {
        Value::ServerError(error) => Outcome::Error(error.code().to_owned()),
        Value::Int(released) => Outcome::Released(released != 0),
        text => {
            let full = line(text);
            let unsigned = |figure: i64| u64::try_from(figure).unwrap_or(0);
            let refund = matches!(call.kind, Kind::Refund { .. });
            Outcome::Reply(Figures {
                allowed: full.allowed > 0,
                count: unsigned(full.count),
                remaining: unsigned(full.remaining),
                retry_after_ms: full.retry_after_ms,
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
