//! The calls of a limiter.

use std::time::Duration;

use futures_util::future::{join, join_all};
use redis::{Cmd, Value};
use scopeguard::ScopeGuard;
use tokio::time::{Instant, sleep};

use super::Limiter;
use super::account::Form;
use super::accounts::TopDenial;
use super::builder::Builder;
use super::shared::{Asking, land_later};
use crate::decision::{Decision, Decisions, Fallback, RetryAfter, Shared};
use crate::error::Error;
use crate::link::{Late, at_most_a_year, value};
use crate::policy::{Policy, Request};
use crate::protocol::{Call, Exchange, Step, Verb, reply};
use crate::stats::Stats;

impl Limiter {
    /// A limiter with the default settings: see [`builder`](Self::builder) for the URLs.
    pub fn open(url: &str) -> Result<Self, Error> {
        Builder::new(url).map(Builder::build)
    }

    /// A limiter for the server of a URL, with other settings. With TLS, the files of the URL are read now.
    ///
    /// | URL | |
    /// |---|---|
    /// | `redis://[user:password@]host[:6379][/db]` | a server |
    /// | `rediss://…` | the same with TLS; the feature `tls` |
    /// | `unix:///path?db=0&user=…&pass=…` | a server on this machine |
    /// | `redis-cluster://[user:password@]host[:6379],host[:6379]…` | a cluster, by some of its nodes |
    /// | `redis-sentinel://[user:password@]host[:26379],host[:26379]…/name[/db]` | the master of that name; the user is that of the master |
    ///
    /// `rediss-cluster` and `rediss-sentinel` are the same with TLS. Parameters follow `?` and have `&` between them:
    ///
    /// - `ca=/path`, `cert=/path`, `key=/path`, with TLS: files with the PEM of the certificates that are trusted (else those
    ///   of the system), and of the certificate and the key of this client.
    /// - `sentinel_username`, `sentinel_password`: the user of the Sentinels, if they have one.
    ///
    /// The connection is opened when it is needed, and again, through the name of the URL, if it breaks, if the server has
    /// closed it since the last request, if the server replies READONLY (it is not the master any more), and if the server
    /// is silent for a second; Sentinels are asked each time. A command that was sent is sent again only if the reply says
    /// that it was not executed: READONLY, and in a cluster MOVED, ASK and TRYAGAIN. After a timeout the server may have
    /// charged it.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`].
    pub fn builder(url: &str) -> Result<Builder, Error> {
        Builder::new(url)
    }

    /// Sends a command, and waits for its reply, without a time limit. `key` is the key whose slot decides which node of a
    /// cluster gets it.
    pub async fn send(&self, command: Cmd, key: &[u8]) -> Result<Value, Error> {
        let mut commands = redis::pipe();
        commands.add_command(command);
        value(self.core.link.request(commands, key, at_most_a_year(Duration::MAX), &mut None).await?)
    }

    /// Opens the connection, so that the first request does not wait for it: the timeout may be shorter than that takes.
    /// Takes up to 5 seconds. If this future is dropped, the attempt goes on.
    ///
    /// # Errors
    /// There is no connection. The next request tries again.
    pub async fn connect(&self) -> Result<(), Error> {
        self.core.link.connect().await
    }

    /// The same limiter with another timeout, for example what is left of a caller's deadline. With 0 it sends nothing. The
    /// circuit breaker has the timeout of the [builder](crate::Builder::timeout).
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout: at_most_a_year(timeout), ..self.clone() }
    }

    /// The same limiter with another fallback, for example one that denies logins.
    #[must_use]
    pub fn with_fallback(&self, fallback: Fallback) -> Self {
        Self { fallback, ..self.clone() }
    }

    /// The same limiter, which checks requests without the server, as while that cannot decide: remembered denials deny,
    /// grants have what they hold, and the rest gets the fallback; without one [`Error::Overloaded`]. Nothing is waited for.
    /// For a service that is overloaded itself: with [`Fallback::Local`] it still limits, by the same counts as in an
    /// outage. [`Stats`] has these decisions apart. Peeks, refunds, settlements and resets are sent as usual.
    #[must_use]
    pub fn without_server(&self) -> Self {
        Self { asks_server: false, ..self.clone() }
    }

    /// The `most` keys whose [remembered denials](crate::Builder::denials) denied the most requests. Looks at all that are
    /// remembered: a few milliseconds for 10,000.
    pub fn top_denials(&self, most: usize) -> Vec<TopDenial> {
        self.core.accounts.top(most, std::time::Instant::now())
    }

    /// What this limiter and its clones did.
    pub fn stats(&self) -> Stats {
        self.core.counters.snapshot()
    }
}

impl Limiter {
    /// Checks a request of cost 1 and charges it if it is allowed.
    ///
    /// # Errors
    /// With a [`Fallback`] other than [`Fallback::Error`], a server that cannot decide is no error. So it is with all calls
    /// that check; peeks, refunds, settlements and resets have no fallback.
    pub async fn check(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Decision, Error> {
        self.check_request(&Request::new(policy, key.as_ref())).await
    }

    /// Checks a request with options.
    pub async fn check_request(&self, request: &Request<'_>) -> Result<Decision, Error> {
        self.ask(request, None).await.or_else(|error| self.core.fall_back(request, self.fallback, error))
    }

    /// Checks a request under several limits: if every limit allows it, every one is charged, else none is. In a cluster
    /// all keys must be in one slot.
    pub async fn check_all(&self, requests: &[Request<'_>]) -> Result<Decisions, Error> {
        let decisions = self.check_all_on_server(requests).await;
        decisions.or_else(|error| self.core.fall_back_all(requests, self.fallback, error))
    }

    /// Checks a request under a part of its own and what others leave of the whole: the first limit that allows it is charged,
    /// and each one after it too, whatever it says. 2 to 8 limits, the narrowest first, of FIXED, WINDOW, COUNTER, ROLLING or
    /// TOKEN. In a cluster all keys must be in one slot.
    pub async fn share(&self, requests: &[Request<'_>]) -> Result<Shared, Error> {
        let reply = match self.unsent() {
            Some(error) => Err(self.core.failed(error, self.timeout)),
            None => self.call(Call { verb: Verb::Share, requests }).await,
        };
        let shared = reply.and_then(|reply| reply::shared(reply, requests));
        if let Ok(shared) = &shared {
            // No denial is remembered: what one limit denies, another may allow.
            self.core.decided(shared.allowed());
            shared.limits.iter().take(1).for_each(|limit| self.core.server.set_clock(limit.now_ms));
        }
        shared.or_else(|error| self.core.fall_back_shared(requests, self.fallback, error))
    }

    /// [`check_request`](Self::check_request), but a denial counts nothing, also under FIXED: there a request of cost 1 is
    /// sent with PARTIAL, and any other as RL.MULTI of one limit.
    pub async fn try_request(&self, request: &Request<'_>) -> Result<Decision, Error> {
        if !request.policy.algorithm().traits().counts_denials || request.always || request.partial {
            return self.check_request(request).await;
        }
        if request.cost == 1 {
            return self.check_request(&request.partial()).await;
        }
        let decisions = self.check_all(std::slice::from_ref(request)).await?;
        decisions.limits.into_iter().next().ok_or(Error::UnknownReply)
    }

    /// Checks requests that do not depend on each other, in one round trip, each with a decision of its own. In a cluster, the
    /// keys may be in any slots; if one of its nodes does not reply, the decisions of the others still count.
    pub async fn check_each(&self, requests: &[Request<'_>]) -> Vec<Result<Decision, Error>> {
        match requests {
            [request] => vec![self.check_request(request).await],
            // The nodes reply at the same time. Without time, nothing is sent.
            _ if self.core.link.is_cluster() || self.unsent().is_some() => {
                join_all(requests.iter().map(|request| self.check_request(request))).await
            }
            _ => self.decide_together(requests).await,
        }
    }

    /// What the reply to a request would be. Changes nothing. With a cost of 0, it shows what is left.
    pub async fn peek(&self, request: &Request<'_>) -> Result<Decision, Error> {
        self.call(Call::of(Verb::Peek, request)).await.and_then(|value| reply::decision(&value, request))
    }

    /// Gives the cost of a request back, never beyond full. The decision is that of [`peek`](Self::peek) afterwards.
    pub async fn refund(&self, request: &Request<'_>) -> Result<Decision, Error> {
        self.correct(Verb::Refund, request).await.and_then(|value| reply::decision(&value, request))
    }

    /// Corrects a request that was charged its [cost](Request::cost) and turned out to cost `actual`: gives the difference
    /// back, or charges it whatever the limit says. The decision is that of a [`peek`](Self::peek) of cost 1 afterwards.
    pub async fn settle(&self, request: &Request<'_>, actual: u64) -> Result<Decision, Error> {
        let next = Request::new(request.policy, request.key);
        self.correct(Verb::Settle(actual), request).await.and_then(|value| reply::decision(&value, &next))
    }

    /// Corrects what was [reserved](Request::reserve) under an id to `actual`, once: an id that is not known changes
    /// nothing, so the call may be sent again. [`Decision::charged`] is `actual`, or 0 for such an id.
    pub async fn settle_request(
        &self,
        request: &Request<'_>,
        id: impl AsRef<[u8]>,
        actual: u64,
    ) -> Result<Decision, Error> {
        let verb = Verb::SettleReservation { id: id.as_ref(), actual };
        self.correct(verb, request).await.and_then(|value| reply::decision(&value, request))
    }

    /// Whether the server knows a reservation: it is open, or it has ended less than its time ago, and was not settled. The
    /// user of the server needs `HEXISTS`.
    pub async fn has_reservation(&self, request: &Request<'_>, id: impl AsRef<[u8]>) -> Result<bool, Error> {
        self.call(Call::of(Verb::HasReservation(id.as_ref()), request)).await.and_then(reply::flag)
    }

    /// Deletes the state of a key; whether there was one.
    pub async fn reset(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        self.reset_request(&Request::new(policy, key.as_ref())).await
    }

    /// As [`reset`](Self::reset), for the policy and the key of a request.
    pub async fn reset_request(&self, request: &Request<'_>) -> Result<bool, Error> {
        self.correct(Verb::Reset, request).await.and_then(reply::flag)
    }

    /// Waits until a request is allowed, and for its [delay](Decision::delay), at most for `patience`. With LEAKY the delay
    /// alone makes requests of all processes first come, first served. Other requests are sent again after
    /// [`retry_after`](Decision::retry_after). If it cannot be allowed in time, returns the denial at once. A LEAKY request
    /// whose delay is too long is given back first.
    pub async fn wait(&self, request: &Request<'_>, patience: Duration) -> Result<Decision, Error> {
        // `None` if it is later than any time that can be represented.
        let deadline = Instant::now().checked_add(patience);
        loop {
            let decision = self.check_request(request).await?;
            let rest = deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
            if decision.allowed {
                if decision.delay <= rest {
                    // A sleep of no time still ends with the timer's next tick, after up to a millisecond.
                    if !decision.delay.is_zero() {
                        sleep(decision.delay).await;
                    }
                    return Ok(decision);
                }
                if decision.charged > 0 {
                    self.refund(&request.cost(decision.charged).at(decision.now_ms)).await?;
                }
                let (retry_after, delay) = (RetryAfter::After(decision.delay), Duration::ZERO);
                return Ok(Decision { allowed: false, charged: 0, delay, retry_after, ..decision });
            }
            match decision.retry_after.duration() {
                Some(wait) if wait <= rest => sleep(wait).await,
                _ => return Ok(decision),
            }
        }
    }

    /// Why no request is sent, if none is.
    pub(super) const fn unsent(&self) -> Option<Error> {
        match (self.asks_server, self.timeout) {
            (false, _) => Some(Error::Overloaded),
            (true, timeout @ Duration::ZERO) => Some(Error::Timeout(timeout)),
            (true, _) => None,
        }
    }

    /// Decides on requests that do not depend on each other. Their commands are sent together.
    async fn decide_together(&self, requests: &[Request<'_>]) -> Vec<Result<Decision, Error>> {
        let core = &self.core;
        // Requests of one key are decided in their order, so they share no command.
        let mut keys: Vec<_> = requests.iter().map(Request::key).collect();
        keys.sort_unstable();
        let is_twice = |key: &[u8]| keys.get(keys.partition_point(|other| *other < key) + 1) == Some(&key);
        let begin =
            |request| self.begin(request, if is_twice(request.key) { None } else { Form::of(request) }.as_ref());
        let begun: Vec<_> = requests.iter().map(begin).collect();
        let mut decisions = vec![Err(Error::UnknownReply); requests.len()];
        let (mut alone, mut waiting) = (Vec::new(), Vec::new());
        for ((request, begun), decision) in requests.iter().zip(begun).zip(&mut decisions) {
            match begun {
                Asking::Known(known) => *decision = Ok(known),
                Asking::Waits(waits) => waiting.push(async { *decision = self.wait_for(request, waits).await }),
                Asking::Alone(begun) => alone.push((begun, Call::of(Verb::Check, request), decision)),
            }
        }
        let calls: Vec<_> = alone.iter().map(|(_, call, _)| *call).collect();
        let (mut late, mut overdue) = (None, Vec::new());
        let (replies, _) = join(Box::pin(self.converse_counted(&calls, &mut late)), join_all(waiting)).await;
        for ((begun, _, decision), reply) in alone.into_iter().zip(replies) {
            *decision = begun.decide(reply, &mut overdue);
        }
        land_later(overdue, late);
        let each = requests.iter().zip(decisions);
        each.map(|(request, decision)| decision.or_else(|error| core.fall_back(request, self.fallback, error)))
            .collect()
    }

    /// Sends a call that may give units back, and forgets the remembered denial of the key, also if this future is dropped
    /// before the reply.
    async fn correct(&self, verb: Verb<'_>, request: &Request<'_>) -> Result<Value, Error> {
        let forget = |()| self.core.accounts.of(request, std::time::Instant::now(), |entry| entry.account.forget());
        let _forgets = scopeguard::guard((), forget);
        self.call(Call::of(verb, request)).await
    }

    /// Sends a call within the timeout.
    pub(crate) async fn call(&self, call: Call<'_>) -> Result<Value, Error> {
        self.converse_counted(&[call], &mut None).await.pop().unwrap_or(Err(Error::UnknownReply))
    }

    /// Sends calls within the timeout, and counts how they end.
    pub(super) async fn converse_counted(
        &self,
        calls: &[Call<'_>],
        late: &mut Option<Late>,
    ) -> Vec<Result<Value, Error>> {
        if self.timeout.is_zero() {
            return calls.iter().map(|_| Err(self.core.failed(Error::Timeout(self.timeout), self.timeout))).collect();
        }
        let unended = self.core.unended(calls.len());
        let replies = self.converse(calls, self.timeout, late).await;
        ScopeGuard::into_inner(unended);
        replies.into_iter().map(|reply| reply.map_err(|error| self.core.failed(error, self.timeout))).collect()
    }

    /// Sends calls that do not depend on each other with one write, and waits for `limit`. In a cluster, their keys have one
    /// slot. Without replies in time, `late` waits for them.
    pub(super) async fn converse(
        &self,
        calls: &[Call<'_>],
        limit: Duration,
        late: &mut Option<Late>,
    ) -> Vec<Result<Value, Error>> {
        let Some(key) = calls.first().map(Call::key) else { return Vec::new() };
        let (began, mut results) = (Instant::now(), vec![Err(Error::UnknownReply); calls.len()]);
        let mut open: Vec<_> = calls
            .iter()
            .zip(&mut results)
            .map(|(call, result)| (Exchange::new(*call, &self.core.server), None, result))
            .collect();
        loop {
            let mut commands = redis::pipe();
            open.retain_mut(|(exchange, reply, result)| match exchange.step(reply.take()) {
                Step::Send(command) => {
                    commands.add_command(command);
                    true
                }
                Step::Done(done) => {
                    **result = self.core.ended(done);
                    false
                }
            });
            if open.is_empty() {
                return results;
            }
            let rest = limit.saturating_sub(began.elapsed());
            match self.core.link.request(commands, &key, rest, late).await {
                Ok(replied) => {
                    open.iter_mut().zip(replied).for_each(|((_, reply, _), value)| *reply = Some(value));
                }
                Err(error) => open.drain(..).for_each(|(_, _, result)| *result = self.core.ended(Err(error.clone()))),
            }
        }
    }
}
