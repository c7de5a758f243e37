//! When a limiter stops sending requests to a server that is silent, and when it begins again. One breaker for each node.
//! No input, no output and no clock: time is an argument.
//!
//! It measures how long callers have waited while no reply came. It does not count requests: a server that needs 20 ms for
//! a moment leaves a thousand requests without a reply in time, and is healthy.

use std::time::{Duration, Instant};

/// How often [`Silence::look`] is to be called while requests wait.
pub const LOOKS_APART: Duration = Duration::from_millis(25);
/// The most silence that one look counts. If more time has passed, this process was stopped or did not run in time, and may
/// not have read the replies that came meanwhile.
const LOOK: Duration = Duration::from_millis(50);
/// How long after the breaker opened, or after the last trial, the next request tries.
const TRIALS_APART: Duration = Duration::from_millis(100);

/// How long the server is silent, and what follows from it.
#[derive(Debug)]
pub struct Silence {
    /// After so long a silence it opens; `None` for never.
    limit: Option<Duration>,
    waiting: usize,
    /// How long requests have waited since the last reply, up to `looked`.
    silent: Duration,
    looked: Instant,
    /// While it is open: when the next request may try, and whether one does.
    open: Option<(Instant, bool)>,
}

/// A request that may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit {
    tries: bool,
}

impl Silence {
    pub const fn new(limit: Option<Duration>, now: Instant) -> Self {
        Self { limit, waiting: 0, silent: Duration::ZERO, looked: now, open: None }
    }

    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// How long requests have waited since the last reply, as far as was looked at.
    pub const fn lasted(&self) -> Duration {
        self.silent
    }

    pub const fn is_waited_for(&self) -> bool {
        self.waiting > 0
    }

    /// A request is to be sent. `None` if it may not.
    pub fn begin(&mut self, now: Instant) -> Option<Permit> {
        let tries = match &mut self.open {
            None => false,
            Some((next, tries)) if !*tries && now >= *next => {
                (*next, *tries) = (now + TRIALS_APART, true);
                true
            }
            Some(_) => return None,
        };
        if self.waiting == 0 {
            self.looked = now;
        }
        self.waiting += 1;
        Some(Permit { tries })
    }

    /// A request has a reply, of whatever kind.
    pub fn replied(&mut self, now: Instant) {
        self.waiting = self.waiting.saturating_sub(1);
        (self.silent, self.looked, self.open) = (Duration::ZERO, now, None);
    }

    /// A request waits for no reply any more: its caller has left, the reply took too long, or the connection is lost.
    pub const fn left(&mut self, permit: Permit) {
        self.waiting = self.waiting.saturating_sub(1);
        if let (true, Some((_, tries))) = (permit.tries, &mut self.open) {
            *tries = false;
        }
    }

    pub fn connect_failed(&mut self, now: Instant) {
        if self.limit.is_some() && self.open.is_none() {
            self.open(now);
        }
    }

    pub fn look(&mut self, now: Instant) {
        if self.waiting > 0 {
            self.silent += now.saturating_duration_since(self.looked).min(LOOK);
            self.looked = now;
        }
        if self.open.is_none() && self.limit.is_some_and(|limit| self.silent >= limit) {
            self.open(now);
        }
    }

    fn open(&mut self, now: Instant) {
        self.open = Some((now + TRIALS_APART, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(250);

    fn silence() -> (Silence, Instant) {
        let now = Instant::now();
        (Silence::new(Some(LIMIT), now), now)
    }

    /// Looks as often as it is to be, from a millisecond until another.
    fn look(silence: &mut Silence, began: Instant, millis: std::ops::RangeInclusive<u64>) {
        millis.step_by(25).for_each(|at| silence.look(began + Duration::from_millis(at)));
    }

    /// Each row: at this millisecond, this happens; and the breaker is open then, if the step ends with `!`.
    #[test]
    fn it_opens_by_silence_and_closes_by_a_reply() {
        for (name, steps) in [
            ("replies keep it closed", "0 request, 1 reply, 60000 look"),
            ("it runs from the oldest request without a reply", "5000 request, 5200 request, 5249 look, 5250 look!"),
            ("it runs from the last reply", "0 request, 10 request, 200 reply, 449 look, 450 look!"),
            ("callers that hang up", "0 request, 15 leave, 60000 look"),
            ("no connection", "0 request, 1 lost!, 60 rejected!, 101 request!"),
            (
                "one at a time tries",
                "0 request, 250 look!, 349 rejected!, 350 request!, 900 rejected!, 901 trial leaves!",
            ),
            (
                "the next one tries, and has a reply",
                "0 request, 250 look!, 350 request!, 351 rejected!, 352 reply, 353 request",
            ),
            (
                "a trial that has left",
                "0 request, 250 look!, 350 request!, 351 trial leaves!, 450 request!, 451 rejected!",
            ),
            ("a late reply closes it", "0 request, 250 look!, 260 reply"),
        ] {
            let (mut silence, began) = silence();
            let mut looked = 0;
            for step in steps.split(", ") {
                let (at, event) = step.trim_end_matches('!').split_once(' ').expect(step);
                let at = at.parse().expect(step);
                let now = began + Duration::from_millis(at);
                look(&mut silence, began, looked..=at);
                looked = at;
                match event {
                    "request" => assert!(silence.begin(now).is_some(), "{name}: {step}"),
                    "rejected" => assert_eq!(silence.begin(now), None, "{name}: {step}"),
                    "reply" => silence.replied(now),
                    "leave" => silence.left(Permit { tries: false }),
                    "trial leaves" => silence.left(Permit { tries: true }),
                    "lost" => {
                        silence.left(Permit { tries: false });
                        silence.connect_failed(now);
                    }
                    _ => silence.look(now),
                }
                assert_eq!(silence.is_open(), step.ends_with('!'), "{name}: {step}");
            }
        }
    }

    #[test]
    fn a_pause_of_this_process_does_not_open_it() {
        let (mut silence, began) = silence();
        silence.begin(began);
        silence.look(began + 20 * LIMIT);
        assert!(!silence.is_open() && silence.lasted() == LOOK);
        // The replies are read then.
        silence.replied(began + 20 * LIMIT);
        assert_eq!(silence.lasted(), Duration::ZERO);
    }

    #[test]
    fn without_a_limit_it_never_opens() {
        let mut silence = Silence::new(None, Instant::now());
        let now = Instant::now();
        silence.begin(now);
        look(&mut silence, now, 0..=60_000);
        silence.connect_failed(now);
        assert!(!silence.is_open() && silence.lasted() > Duration::from_secs(59));
    }
}
