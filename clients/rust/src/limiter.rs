//! The limiter of async programs.

use std::sync::Arc;
use std::time::Duration;

use redis::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::batch::Batch;
use crate::bounded::Bounded;
use crate::breaker::Breaker;
use crate::builder::Builder;
use crate::command::Call;
use crate::connection::Connection;
use crate::core::{Core, at_most_a_year};
use crate::decision::{Decision, Decisions};
use crate::denials::{Recalled, Sent, TopDenial};
use crate::error::Error;
use crate::fallback::Fallback;
use crate::link::Link;
use crate::policy::Policy;
use crate::protocol::Step;
use crate::reply;
use crate::request::Request;
use crate::stats::{Stats, Unended};

/// Sends requests to a server with the module, or to one without it through the Lua library.
///
/// Clones are cheap; they share the connection, the remembered denials, the circuit breaker and the counters.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
/// use std::time::Duration;
/// use redis_rl_client::{Fallback, Limiter, Policy, RetryAfter};
///
/// const LOGIN: Policy = Policy::sliding(Duration::from_secs(300), 2).name("login");
///
/// # with_client(async |client| {
/// let connection = client.get_connection_manager().await?;
/// let limiter = Limiter::builder(connection).timeout(Duration::from_secs(1)).fallback(Fallback::Deny).build();
/// assert!(limiter.check(&LOGIN, "login:alice").await?.allowed);
/// assert!(limiter.check(&LOGIN, "login:alice").await?.allowed);
/// let denied = limiter.check(&LOGIN, "login:alice").await?;
/// assert!(!denied.allowed && denied.retry_after != RetryAfter::Never);
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Limiter<C = Link> {
    pub(crate) connection: C,
    pub(crate) core: Arc<Core>,
    pub(crate) fallback: Fallback,
    pub(crate) timeout: Duration,
}

impl<C: Connection> Builder<C> {
    /// The limiter.
    pub fn build(self) -> Limiter<C> {
        let (connection, settings) = self.into_parts();
        let gauge = match connection.link() {
            Some(link) => {
                link.set_silence(Breaker::limit(settings.breaker, settings.timeout));
                link.gauge()
            }
            None => Arc::default(),
        };
        Limiter {
            connection,
            core: Arc::new(Core::new(&settings, gauge)),
            fallback: settings.fallback,
            timeout: settings.timeout,
        }
    }
}

impl Limiter {
    /// A limiter for the server of this URL, with the default settings: see [`Address`](crate::Address) for the URLs. It
    /// starts at once: the connection is opened by the first request or [`connect`](Self::connect), and opened again when it
    /// is lost. For other settings,
    /// use `Limiter::builder(Link::open(url)?)`.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`].
    pub fn open(url: &str) -> Result<Self, Error> {
        Link::open(url).map(Self::new)
    }

    /// Opens the connection, so that the first request does not wait for it: that takes longer than a request, and the
    /// timeout may be shorter. Takes up to 5 seconds. If this future is dropped, the attempt goes on.
    ///
    /// # Errors
    /// There is no connection. The next request tries again.
    pub async fn connect(&self) -> Result<(), Error> {
        Ok(self.connection.connect().await?)
    }
}

impl<C: Connection> Limiter<C> {
    /// A limiter with the default settings.
    pub fn new(connection: C) -> Self {
        Self::builder(connection).build()
    }

    /// A limiter with other settings.
    pub fn builder(connection: C) -> Builder<C> {
        Builder::new(connection)
    }

    /// The same limiter with another fallback, for example one that denies logins.
    #[must_use]
    pub fn with_fallback(&self, fallback: Fallback) -> Self {
        Self { fallback, ..self.clone() }
    }

    /// The same limiter with another timeout, for example what is left of a caller's deadline. With 0 it sends nothing.
    ///
    /// It says nothing about the server: the circuit breaker has the timeout of the [builder](crate::Builder::timeout).
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout: at_most_a_year(timeout), ..self.clone() }
    }

    /// Checks a request of cost 1 and charges it if it is allowed.
    ///
    /// # Errors
    /// See [`Error`]. With a [`Fallback`] other than [`Fallback::Error`], a server that cannot decide is no error.
    pub async fn check(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<Decision, Error> {
        self.check_request(&Request::new(policy, key.as_ref())).await
    }

    /// Checks a request with options.
    ///
    /// ```
    /// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
    /// # use redis_rl_client::{Limiter, Policy};
    /// # with_client(async |client| {
    /// # let limiter = Limiter::new(client.get_connection_manager().await?);
    /// let tokens: Policy = "COUNTER 1m 3000 AS tokens".parse()?;
    /// let decision = limiter.check_request(&tokens.request("org:7").cost(3500).partial()).await?;
    /// assert_eq!((decision.allowed, decision.charged), (true, 3000));
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub async fn check_request(&self, request: &Request<'_>) -> Result<Decision, Error> {
        self.check_on_server(request).await.or_else(|error| self.fall_back(request, error))
    }

    /// Checks a request under several limits: if every limit allows it, every one is charged, else none is. In a cluster
    /// all keys must be in one slot.
    ///
    /// ```
    /// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
    /// # use redis_rl_client::{Limiter, Policy};
    /// # with_client(async |client| {
    /// # let limiter = Limiter::new(client.get_connection_manager().await?);
    /// let (calls, tokens): (Policy, Policy) = ("TOKEN 1m 60 AS calls".parse()?, "COUNTER 1m 3000 AS tokens".parse()?);
    /// let requests = [calls.request("{org:7}:calls"), tokens.request("{org:7}:tokens").cost(3500)];
    /// let decisions = limiter.check_all(&requests).await?;
    /// assert!(!decisions.allowed);
    /// let names: Vec<_> = decisions.denied().map(|decision| decision.policy().label()).collect();
    /// assert_eq!(names, ["tokens"]);
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub async fn check_all(&self, requests: &[Request<'_>]) -> Result<Decisions, Error> {
        self.check_all_on_server(requests).await.or_else(|error| self.fall_back_all(requests, error))
    }

    /// Checks requests that do not depend on each other, in one round trip: each has a decision of its own, in the order
    /// of the requests. In a cluster, the keys may be in any slots. If one of its nodes does not reply, the decisions of
    /// the others still count.
    ///
    /// ```
    /// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_client;
    /// # use redis_rl_client::{Limiter, Policy};
    /// # with_client(async |client| {
    /// # let limiter = Limiter::new(client.get_connection_manager().await?);
    /// let mails: Policy = "TOKEN 1d 2 AS mails".parse()?;
    /// let requests = [mails.request("to:alice"), mails.request("to:bob").cost(3)];
    /// let mut allowed = Vec::new();
    /// for decision in limiter.check_each(&requests).await {
    ///     allowed.push(decision?.allowed);
    /// }
    /// assert_eq!(allowed, [true, false]);
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// Each as [`check`](Self::check).
    pub async fn check_each(&self, requests: &[Request<'_>]) -> Vec<Result<Decision, Error>> {
        let (core, link) = (&self.core, self.connection.link());
        let part = |key: &[u8]| link.is_none().then(|| self.connection.part(key));
        let keys: Vec<_> = requests.iter().filter(|_| link.is_none()).map(Request::bounded_key).collect();
        if link.is_none() {
            self.watch(keys.iter().map(|key| &**key)).await;
        }
        let mut batch = Batch::new(core, requests, self.timeout, part);
        keys.iter().for_each(|key| self.run_timer(self.connection.part(key), key));
        let unended = Unended::new(&core.counters.cancelled);
        let deadline = Instant::now() + self.timeout;
        let mut round = batch.next(Vec::new());
        while !round.is_empty() {
            match link {
                Some(link) => link.send_within(&mut round).await,
                None => {
                    let mut connection = self.connection.clone();
                    // Commands without a reply by then stay without one.
                    let _ = timeout_at(deadline, connection.send_each(&mut round)).await;
                }
            }
            round = batch.next(round);
        }
        unended.ended();
        batch.end(self.fallback)
    }

    /// Decides on requests that do not depend on each other, as [`check_each`](Self::check_each) does while the server
    /// cannot decide: remembered denials deny, and the rest gets `fallback`. Nothing is sent and nothing is waited for. For
    /// a service that is overloaded itself: with [`Fallback::Local`] it still limits, by the same counts as in an outage.
    /// [`Stats`] has these decisions apart.
    ///
    /// # Errors
    /// Each [`Error::Overloaded`], with [`Fallback::Error`] or LEASE.
    pub fn decide_without_server(&self, requests: &[Request<'_>], fallback: Fallback) -> Vec<Result<Decision, Error>> {
        self.core.without_server(requests, fallback)
    }

    /// [`decide_without_server`](Self::decide_without_server), all or nothing as [`check_all`](Self::check_all): if one limit
    /// denies, none is charged.
    ///
    /// # Errors
    /// [`Error::Overloaded`], with [`Fallback::Error`] or LEASE.
    pub fn decide_all_without_server(&self, requests: &[Request<'_>], fallback: Fallback) -> Result<Decisions, Error> {
        self.core.fall_back_all(requests, fallback, Error::Overloaded)
    }

    /// What the reply to a request would be. Changes nothing. With a cost of 0, it shows what is left.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn peek(&self, request: &Request<'_>) -> Result<Decision, Error> {
        self.call(Call::Peek(request)).await.and_then(|value| reply::decision(value, request))
    }

    /// Gives the cost of a request back, never beyond full. The decision is that of [`peek`](Self::peek) afterwards.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn refund(&self, request: &Request<'_>) -> Result<Decision, Error> {
        let _forgets = self.core.forgets(request.policy, request.bounded_key());
        self.call(Call::Refund(request)).await.and_then(|value| reply::decision(value, request))
    }

    /// Corrects a request that was charged its [cost](Request::cost) and turned out to cost `actual`: gives the
    /// difference back, or charges it whatever the limit says. The decision is that of [`peek`](Self::peek) afterwards,
    /// for a request of cost 1.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn settle(&self, request: &Request<'_>, actual: u64) -> Result<Decision, Error> {
        let next = Request::new(request.policy, request.key);
        let _forgets = self.core.forgets(request.policy, request.bounded_key());
        self.call(Call::Settle { request, actual }).await.and_then(|value| reply::decision(value, &next))
    }

    /// Corrects what was reserved under an id to `actual`, once: an id that is not known changes nothing, so the call may
    /// be sent again. [`Decision::charged`] is `actual`, or 0 for such an id. [`Reservation`](crate::Reservation) does this
    /// by itself.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn settle_reservation(
        &self,
        policy: &Policy,
        key: impl AsRef<[u8]>,
        id: impl AsRef<[u8]>,
        actual: u64,
    ) -> Result<Decision, Error> {
        let (key, id) = (key.as_ref(), id.as_ref());
        let call = Call::SettleReservation { policy, key, id, actual };
        let _forgets = self.core.forgets(policy, Bounded::new(key));
        self.call(call).await.and_then(|value| reply::decision(value, &Request::new(policy, key)))
    }

    /// Deletes the state of a key; whether there was one.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn reset(&self, policy: &Policy, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        let key = key.as_ref();
        let _forgets = self.core.forgets(policy, Bounded::new(key));
        self.call(Call::Reset { policy, key }).await.and_then(reply::integer).map(|deleted| deleted != 0)
    }

    /// Sends a request, waits until it is allowed, and waits for its [delay](Decision::delay); at most for `patience`.
    /// With LEAKY the delay alone makes requests of all processes first come, first served. The others wait for
    /// [`retry_after`](Decision::retry_after) and send the request again.
    ///
    /// If it cannot be allowed in time, returns the denial at once. A LEAKY request whose delay is too long is given
    /// back first.
    ///
    /// # Errors
    /// As [`check`](Self::check).
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
                return Ok(decision.denied_for(decision.delay));
            }
            match decision.retry_after.duration() {
                Some(wait) if wait <= rest => sleep(wait).await,
                _ => return Ok(decision),
            }
        }
    }

    /// The keys whose [remembered denials](crate::Builder::denials) denied the most requests, the first the most; at most
    /// `most`. Looks at all that are remembered: a few milliseconds for 10,000.
    pub fn top_denials(&self, most: usize) -> Vec<TopDenial> {
        self.core.top_denials(most)
    }

    /// What this limiter and its clones did.
    pub fn stats(&self) -> Stats {
        self.core.stats()
    }

    /// Whether the server has no module, as far as known: the Lua library decides then. The module is looked for again
    /// after a connection failed, and every five seconds. A server that was restarted without the module is noticed at the
    /// first request.
    pub fn lacks_module(&self) -> bool {
        self.core.lacks_module()
    }

    /// Checks a request, without a fallback.
    pub(crate) async fn check_on_server(&self, request: &Request<'_>) -> Result<Decision, Error> {
        let key = request.bounded_key();
        let request = &request.with_bounded(&key);
        match self.core.recall(request) {
            Recalled::Denied(denied) => Ok(self.core.remembered(denied)),
            Recalled::Unknown(sent) => self.send(request, sent).await,
        }
    }

    /// Sends a request that no remembered denial denies.
    pub(crate) async fn send(&self, request: &Request<'_>, sent: Option<Sent>) -> Result<Decision, Error> {
        let result = self.call(Call::Check(request)).await.and_then(|value| reply::decision(value, request));
        self.core.learned(request, sent, result)
    }

    /// Checks a request under several limits, without a fallback.
    pub(crate) async fn check_all_on_server(&self, requests: &[Request<'_>]) -> Result<Decisions, Error> {
        let sent = match self.core.recall_all(requests) {
            Ok(sent) => sent,
            Err(denied) => return Ok(denied),
        };
        let result = self.call(Call::CheckAll(requests)).await.and_then(|value| reply::decisions(value, requests));
        self.core.learned_all(requests, sent, result)
    }

    /// Decides on a request under several limits without the server, if it cannot decide.
    pub(crate) fn fall_back_all(&self, requests: &[Request<'_>], error: Error) -> Result<Decisions, Error> {
        self.core.fall_back_all(requests, self.fallback, error)
    }

    /// Decides on a request without the server, if it cannot decide.
    pub(crate) fn fall_back(&self, request: &Request<'_>, error: Error) -> Result<Decision, Error> {
        self.core.fall_back(request, self.fallback, error)
    }

    /// Sends a call within the timeout.
    pub(crate) async fn call(&self, call: Call<'_>) -> Result<Value, Error> {
        let result = match self.connection.link() {
            Some(link) => self.call_over_link(link, call).await,
            None => self.call_over_own(call).await,
        };
        result.map_err(|error| self.core.failed(error))
    }

    async fn call_over_link(&self, link: &Link, call: Call<'_>) -> Result<Value, Error> {
        let (mut exchange, _) = self.core.begin(None, call, self.timeout)?;
        let unended = Unended::new(&self.core.counters.cancelled);
        let key = call.key();
        let (mut limit, mut reply) = (self.timeout, None);
        let result = loop {
            match exchange.step(reply) {
                Step::Send(command) => match link.request(command, &key, limit).await {
                    Ok(replied) => {
                        limit = limit.saturating_sub(replied.took);
                        reply = Some(replied.value);
                    }
                    Err(error) => break Err(error),
                },
                Step::Done(result) => break result,
            }
        };
        unended.ended();
        self.core.ended(None, result)
    }
}
