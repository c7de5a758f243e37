//! A key on a server: an algorithm of the module with its state in memory, and replies as the client reads them.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use redis_rl_algorithm::in_memory::{InMemory, Reply};
use redis_rl_algorithm::{Cost, Micros, Window};
use redis_rl_client::{Decision, Request, state_machines};

/// The server's time when a model begins, in milliseconds: a window of any small length begins then.
const EPOCH_MS: u64 = 720_720_000;
/// The clients' time at that moment.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The clients' time after so many microseconds. It never steps.
pub fn instant(micros: u64) -> Instant {
    *BEGIN + Duration::from_micros(micros)
}

/// The server's time after so many microseconds.
pub fn server_time(micros: u64) -> Micros {
    Micros::from_millis(EPOCH_MS).plus(micros)
}

/// The limit of a model.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its window in milliseconds.
    pub window_ms: u64,
    /// How many units it allows in a window.
    pub units: u64,
}

impl Limit {
    /// The same limit, as the algorithms have it.
    pub fn policy(&self) -> redis_rl_algorithm::Policy {
        let window = Window::from_millis(self.window_ms).expect("a window");
        redis_rl_algorithm::Policy::new(window, self.units)
    }

    /// The same limit, as the client has it.
    pub fn client_policy(&self, algorithm: redis_rl_client::Algorithm) -> redis_rl_client::Policy {
        let window = redis_rl_client::Window::Length(Duration::from_millis(self.window_ms));
        redis_rl_client::Policy::new(algorithm, window, self.units).expect("a policy")
    }

    /// Whether what was charged `at` a moment is in the window at another: in one that ends there or, if it is `aligned`,
    /// in the one of the clock. Both are in milliseconds.
    pub const fn is_in_window(&self, at: u64, now: u64, aligned: bool) -> bool {
        if aligned { at / self.window_ms == now / self.window_ms } else { at + self.window_ms > now }
    }

    /// The algorithm under this limit.
    pub fn of<A: InMemory>(&self) -> A {
        A::with_policy(&self.policy()).expect("a policy")
    }
}

/// How a command is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charging {
    /// All of the cost, if it fits.
    Whole,
    /// As much of it as fits: the option PARTIAL.
    Partial,
    /// Whatever the limit says: the option ALWAYS.
    Always,
}

/// Decides on a request as the module does, and returns what the client reads.
pub fn decide<A: InMemory>(
    algorithm: &A,
    key: &mut A::Key,
    now: Micros,
    request: &Request<'_>,
    cost: u64,
    charging: Charging,
) -> Decision {
    A::expire(key, now);
    let cost = if charging == Charging::Partial { algorithm.remaining(key, now).min(cost) } else { cost };
    let units = Cost::new(cost).expect("a cost");
    let reply = match charging {
        Charging::Always => algorithm.request_charging(key, now, units, redis_rl_algorithm::Charging::Always),
        _ => algorithm.request(key, now, units),
    };
    let reply = reply.expect("small numbers");
    let charged = if reply.verdict.allowed || charging == Charging::Always { cost } else { 0 };
    state_machines::decision(&line(&reply, now, charged), request).expect("a line")
}

/// Gives units back as the module does.
pub fn refund<A: InMemory>(algorithm: &A, key: &mut A::Key, now: Micros, at: Option<u64>, units: u64) {
    A::expire(key, now);
    algorithm.refund(key, now, at.map(Micros::from_millis), Cost::new(units).expect("a cost"));
}

/// The reply in the form LINE.
fn line(reply: &Reply, now: Micros, charged: u64) -> String {
    let (verdict, figures) = (&reply.verdict, &reply.figures);
    format!(
        "{} {} {} {} {} {} {} {} {} {} 0 {charged}",
        u8::from(verdict.allowed),
        verdict.count,
        verdict.ttl,
        figures.limit,
        figures.remaining,
        figures.retry_after_ms,
        figures.next_ms,
        figures.reset_ms,
        figures.delay_ms,
        now.millis(),
    )
}
