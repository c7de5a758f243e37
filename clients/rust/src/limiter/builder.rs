//! A limiter with other settings than the default.

use std::sync::Arc;
use std::time::Duration;

use super::Limiter;
use super::accounts::Accounts;
use super::core::Core;
use crate::decision::Fallback;
use crate::error::Error;
use crate::link::{self, Link, Target, at_most_a_year};
use crate::protocol::Server;
use crate::stats::{Counters, Log};

/// The settings of a limiter.
#[derive(Clone, Debug)]
pub struct Builder {
    target: Target,
    timeout: Duration,
    fallback: Fallback,
    denials: usize,
    recheck_denials: Duration,
    breaker: Duration,
    requires_module: bool,
}

impl Builder {
    pub(super) fn new(url: &str) -> Result<Self, Error> {
        Ok(Self {
            target: link::parse(url)?,
            timeout: Duration::from_millis(100),
            fallback: Fallback::Error,
            denials: 10_000,
            recheck_denials: Duration::from_secs(10),
            breaker: Duration::from_millis(250),
            requires_module: false,
        })
    }

    /// How long a call may take from its beginning, with everything that it sends; 100 ms if not given. It includes the time
    /// in which this process is too busy to send it, or opens a connection.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = at_most_a_year(timeout);
        self
    }

    /// What a request gets if the server cannot decide; an error if not given.
    #[must_use]
    pub fn fallback(mut self, fallback: Fallback) -> Self {
        self.fallback = fallback;
        self
    }

    /// The limiter remembers the denials of at most so many keys: 10,000 if not given. With 0 it sends every request.
    ///
    /// Until a denied request could be allowed, the limiter denies by itself what costs as much or more, under the same
    /// policy. It never denies what the server would allow if this limiter is the only client of the key. What it gives
    /// back itself counts at once; what others change counts when the denial ends, or after
    /// [`recheck_denials`](Self::recheck_denials). While the server cannot decide, a denial holds until its own end, but for a
    /// minute at most: no [fallback](Self::fallback) allows what the server denied. Leases are not remembered.
    ///
    /// The server does not count requests that are not sent: not in the counter of FIXED, in INFO or in RL.TOP.
    /// [`Limiter::top_denials`](crate::Limiter::top_denials) has the keys.
    #[must_use]
    pub fn denials(mut self, keys: usize) -> Self {
        self.denials = keys;
        self
    }

    /// After how long a remembered denial is rechecked; 10 seconds if not given. With 0, at once; more than a minute is
    /// never, since no denial is remembered for longer. From then on one request at a time of each key is sent, and its
    /// reply takes the place of the denial; without a reply the denial stays until its own end. So RL.RESET, `rl.shadow yes`
    /// and FLUSHALL end a denial within this time in every process.
    #[must_use]
    pub fn recheck_denials(mut self, after: Duration) -> Self {
        self.recheck_denials = after;
        self
    }

    /// After how long a silence of the server the circuit breaker opens: no reply came since then, although a request waits
    /// for one. 250 ms if not given; the [timeout](Self::timeout) if that is longer; with 0 never. It also opens, at once,
    /// when no connection can be opened.
    ///
    /// While it is open, requests fail at once, but for one at a time, which tries: over a new connection from a second of
    /// silence on. Any reply closes it: an error too, and a late one. Each node of a cluster has a breaker of its own.
    #[must_use]
    pub fn breaker(mut self, silence: Duration) -> Self {
        self.breaker = silence;
        self
    }

    /// Whether a server without the module is an error, [`Error::NeedsModule`](crate::Error::NeedsModule); else the Lua
    /// scripts decide there.
    #[must_use]
    pub fn require_module(mut self, required: bool) -> Self {
        self.requires_module = required;
        self
    }

    /// The limiter. Nothing is connected yet, and no server need be there.
    pub fn build(self) -> Limiter {
        let Self { target, timeout, fallback, denials, recheck_denials, breaker, requires_module } = self;
        let counters = Arc::<Counters>::default();
        let silence = (!breaker.is_zero()).then(|| breaker.max(timeout));
        let link = Link::new(target, silence, Arc::clone(&counters));
        let server = Server::new(requires_module, link.is_cluster());
        let accounts = Accounts::new(denials, recheck_denials);
        let core = Core { timeout, counters, log: Log::default(), accounts, server, link };
        Limiter { core: Arc::new(core), fallback, timeout, asks_server: true, granted: None }
    }
}
