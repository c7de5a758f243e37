//! When a limiter stops sending requests to a server that is silent, and when it begins again: `vectors/breaker.json` has
//! the rule as a table. One breaker for each node. No input, no output and no clock: time is an argument.
//!
//! It measures how long the server was silent. It does not count requests: a server that needs 20 ms for a moment
//! leaves a thousand requests without a reply in time, and is healthy.

use std::time::{Duration, Instant};

/// When the circuit breaker opens.
///
/// While it is open, no request is sent. PING goes to the server at once, again after 100, 200, 400 and 800 ms, and then
/// each second; its reply closes the breaker, and so does a late reply to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    /// How long the server must have been silent: no byte came since then, although a command has no reply. 250 ms if not
    /// given. If the timeout of the limiter is longer, it is that long. 0 is a breaker that never opens.
    ///
    /// It also opens, at once, when no connection can be opened.
    pub silence: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { silence: Duration::from_millis(250) }
    }
}

/// When probes are sent after it opened, beside the one at once. After the last, each [`PROBES_APART`].
const PROBES_AFTER: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(200), Duration::from_millis(400), Duration::from_millis(800)];
const PROBES_APART: Duration = Duration::from_secs(1);
/// From so long a silence on, probes go over a new connection: the address may belong to another server by now.
const NEW_CONNECTION_AFTER: Duration = Duration::from_secs(1);
/// How long the one request may try that is sent while the server replies to PING only.
const TRIAL: Duration = Duration::from_secs(1);

/// What is to be sent to see whether the server is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// PING, over the connection that the commands use.
    Ping,
    /// A new connection, and PING over it.
    Connect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    /// Since then; when the next probe is due.
    Open {
        since: Instant,
        probe: Instant,
    },
    /// PING has a reply, but commands have none: one request at a time is sent.
    Trying,
}

#[derive(Debug)]
pub struct Breaker {
    /// After so long a silence it opens; `None`: never.
    limit: Option<Duration>,
    state: State,
    /// How many commands wait for a reply.
    waiting: usize,
    /// Since when the server is silent: no byte was read since then, and the oldest command without a reply was written
    /// before. `None` if it owes nothing.
    silent_since: Option<Instant>,
    /// Whether a PONG closed it, and no command had a reply since.
    is_doubted: bool,
    /// When the request was sent that tries.
    trial: Option<Instant>,
}

impl Breaker {
    pub const fn new(limit: Option<Duration>) -> Self {
        Self { limit, state: State::Closed, waiting: 0, silent_since: None, is_doubted: false, trial: None }
    }

    /// After how long a silence it opens, with this timeout of the limiter.
    pub fn limit(settings: BreakerSettings, timeout: Duration) -> Option<Duration> {
        (!settings.silence.is_zero()).then(|| settings.silence.max(timeout))
    }

    /// Whether a command may be sent now. If so, it is [`written`](Self::written) next.
    pub fn permits(&self, now: Instant) -> bool {
        match self.state {
            State::Closed => true,
            State::Open { .. } => false,
            State::Trying => !self.is_tried(now),
        }
    }

    fn is_tried(&self, now: Instant) -> bool {
        self.trial.is_some_and(|since| now.saturating_duration_since(since) < TRIAL)
    }

    pub const fn is_open(&self) -> bool {
        !matches!(self.state, State::Closed)
    }

    /// A command was sent.
    pub fn written(&mut self, now: Instant) {
        self.waiting += 1;
        self.silent_since.get_or_insert(now);
        if self.state == State::Trying {
            self.trial = Some(now);
        }
    }

    /// Bytes of a reply to a command came, of an error too.
    pub fn bytes(&mut self, now: Instant) {
        self.state = State::Closed;
        self.is_doubted = false;
        self.trial = None;
        if self.silent_since.is_some() {
            self.silent_since = Some(now);
        }
    }

    /// A command has its reply.
    pub fn replied(&mut self, now: Instant) {
        self.waiting = self.waiting.saturating_sub(1);
        self.bytes(now);
        if self.waiting == 0 {
            self.silent_since = None;
        }
    }

    /// A probe has its reply.
    pub fn ponged(&mut self, now: Instant) {
        if self.silent_since.is_some() {
            self.silent_since = Some(now);
        }
        if matches!(self.state, State::Open { .. }) {
            self.state = if self.is_doubted { State::Trying } else { State::Closed };
            self.is_doubted = true;
        }
    }

    /// The connection is gone, with the replies that were to come over it.
    pub const fn lost(&mut self) {
        self.waiting = 0;
        self.silent_since = None;
    }

    /// There is no connection, and none can be opened.
    pub fn connect_failed(&mut self, now: Instant) {
        self.lost();
        if self.limit.is_some() && !matches!(self.state, State::Open { .. }) {
            self.open(now);
        }
    }

    fn open(&mut self, now: Instant) {
        self.state = State::Open { since: now, probe: now };
    }

    /// Time passed. The probe that is to be sent now.
    pub fn tick(&mut self, now: Instant) -> Option<Probe> {
        if self.silence_ends().is_some_and(|ends| now >= ends) {
            self.open(now);
        }
        let State::Open { since, probe } = &mut self.state else { return None };
        if now < *probe {
            return None;
        }
        *probe = next_probe(*since, now);
        match self.silent_since {
            Some(silent) if now.saturating_duration_since(silent) < NEW_CONNECTION_AFTER => Some(Probe::Ping),
            _ => Some(Probe::Connect),
        }
    }

    /// When it opens, if no byte comes before.
    fn silence_ends(&self) -> Option<Instant> {
        if matches!(self.state, State::Open { .. }) {
            return None;
        }
        self.silent_since?.checked_add(self.limit?)
    }

    pub const fn set_limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
    }

    /// Whether one request at a time is sent.
    pub const fn is_trying(&self) -> bool {
        matches!(self.state, State::Trying)
    }

    /// The server owes something else: a connection, or room for what is to be written.
    pub fn owes(&mut self, now: Instant) {
        self.silent_since.get_or_insert(now);
    }

    /// When [`tick`](Self::tick) has something to do.
    pub fn next_tick(&self) -> Option<Instant> {
        match self.state {
            State::Open { probe, .. } => Some(probe),
            _ => self.silence_ends(),
        }
    }

    /// When a connection is to be replaced because the server is silent, if this never opens: else a probe does it.
    pub fn next_replacement(&self) -> Option<Instant> {
        self.limit.is_none().then_some(self.silent_since?.checked_add(NEW_CONNECTION_AFTER)?)
    }
}

/// When the first probe is due after now, of a breaker that opened then.
fn next_probe(opened: Instant, now: Instant) -> Instant {
    if let Some(next) = PROBES_AFTER.into_iter().map(|after| opened + after).find(|at| *at > now) {
        return next;
    }
    let mut next = opened + PROBES_AFTER[PROBES_AFTER.len() - 1];
    while next <= now {
        next += PROBES_APART;
    }
    next
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// A step of the table: what is sent.
    fn step(breaker: &mut Breaker, event: &str, now: Instant) -> Vec<&'static str> {
        let probe = |probe| match probe {
            Some(Probe::Ping) => vec!["ping"],
            Some(Probe::Connect) => vec!["connect"],
            None => vec![],
        };
        match event {
            "request" if breaker.permits(now) => {
                breaker.written(now);
                vec!["command"]
            }
            "request" | "leave" => vec![],
            "reply" => {
                breaker.replied(now);
                vec![]
            }
            "pong" => {
                breaker.ponged(now);
                vec![]
            }
            "connect_failed" => {
                breaker.connect_failed(now);
                probe(breaker.tick(now))
            }
            "time" => probe(breaker.tick(now)),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn it_does_what_the_table_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/breaker.json");
        let table: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let cases = table["cases"].as_array().unwrap();
        assert!(cases.len() > 10);
        for case in cases {
            let settings = case.get("settings").unwrap_or(&table["settings"]);
            let millis = |name: &str| Duration::from_millis(settings[name].as_u64().unwrap());
            let limit = Breaker::limit(BreakerSettings { silence: millis("silence") }, millis("timeout"));
            if case.get("timer").is_some_and(|timer| timer == false) {
                continue;
            }
            let (mut breaker, began) = (Breaker::new(limit), Instant::now());
            for row in case["steps"].as_array().unwrap() {
                let at = began + Duration::from_millis(row[0].as_u64().unwrap());
                let sent = step(&mut breaker, row[1].as_str().unwrap(), at);
                let state = match breaker.state {
                    State::Closed => "closed",
                    State::Open { .. } => "open",
                    State::Trying => "trying",
                };
                let expected: Vec<_> = row[3].as_array().unwrap().iter().map(|sent| sent.as_str().unwrap()).collect();
                assert_eq!((state, sent), (row[2].as_str().unwrap(), expected), "{}: {row}", case["name"]);
                // A timer that waits for this time misses nothing.
                assert!(breaker.next_tick().is_none_or(|next| next > at));
            }
        }
    }

    #[test]
    fn a_server_that_owes_a_connection_is_silent() {
        let (mut breaker, now) = (Breaker::new(Some(TRIAL)), Instant::now());
        breaker.owes(now);
        breaker.owes(now + TRIAL / 2);
        assert_eq!([TRIAL / 2, TRIAL].map(|after| breaker.tick(now + after)), [None, Some(Probe::Connect)]);
        assert!(breaker.is_open());
    }
}
