//! What a limiter counts and logs, and how it decides without the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;
use scopeguard::ScopeGuard;

use super::account::Form;
use super::accounts::Accounts;
use crate::decision::{Decision, Decisions, Fallback, RetryAfter, Shared, Source};
use crate::error::{Error, is_connection_error};
use crate::link::Link;
use crate::policy::Request;
use crate::protocol::Server;
use crate::stats::{Counters, Kind, Log};

/// `retry_after` of a request that [`Fallback::Deny`] denies.
const RETRY: RetryAfter = RetryAfter::After(Duration::from_secs(1));

#[derive(Debug)]
pub struct Core {
    pub timeout: Duration,
    pub counters: Arc<Counters>,
    pub log: Log,
    pub accounts: Accounts,
    pub server: Server,
    pub link: Link,
}

impl Core {
    /// Notes how a call ended that was sent.
    pub fn ended(&self, result: Result<Value, Error>) -> Result<Value, Error> {
        if let Err(Error::Redis(error)) = &result
            && is_connection_error(error)
        {
            self.server.forget();
        }
        result
    }

    /// Counts how a call failed, also a call that was not sent. A timeout has the time limit of the call, not what was left of
    /// it.
    pub fn failed(&self, error: Error, limit: Duration) -> Error {
        let error = match error {
            Error::Timeout(_) => Error::Timeout(limit),
            // A timeout of the connection itself.
            Error::Redis(error) if error.is_timeout() => Error::Timeout(limit),
            other => other,
        };
        let counter = match &error {
            Error::Timeout(_) => &self.counters.timeouts,
            Error::CircuitOpen => &self.counters.circuit_open,
            // The fallback counts it.
            Error::Overloaded => return error,
            _ => &self.counters.errors,
        };
        counter.increment();
        error
    }

    /// Counts these calls as cancelled, if the guard is dropped: their caller has stopped waiting.
    pub fn unended(&self, calls: usize) -> ScopeGuard<usize, impl FnOnce(usize)> {
        scopeguard::guard(calls, |calls| (0..calls).for_each(|_| self.counters.cancelled.increment()))
    }

    pub fn decided(&self, allowed: bool) {
        self.counters.decided.increment();
        if allowed { self.counters.allowed.increment() } else { self.counters.denied.increment() }
    }

    pub fn rejected(&self, error: &Error) {
        self.counters.rejected.increment();
        self.log.rejected(error);
    }

    /// Notes that a cost is not settled. The caller may be gone, so the log has the error.
    pub fn unsettled(&self, error: &Error) {
        self.counters.unsettled.increment();
        self.log.warn(Kind::Unsettled, format_args!("what a request has cost is not settled: {error}"));
    }

    pub fn lease_lost(&self) {
        self.counters.leases_lost.increment();
        self.log.warn(Kind::LeaseLost, format_args!("a lease ended while it was held: another holder may be allowed"));
    }

    /// The decision on a request that this process knows: from kept units, or from a remembered denial.
    pub fn known(&self, request: &Request<'_>, form: Option<&Form>) -> Option<Decision> {
        let now = Instant::now();
        let decision = self.accounts.of(request, now, |entry| {
            let taken = form.and_then(|form| entry.account.take(form, request.cost, now));
            taken.map(|(decision, _)| decision).or_else(|| entry.account.held(request, now))
        });
        decision.inspect(|decision| self.count_known(decision))
    }

    pub fn count_known(&self, decision: &Decision) {
        let is_granted = decision.source == Source::Grant;
        if is_granted { self.counters.granted.increment() } else { self.counters.remembered.increment() }
    }

    /// The denial of requests that are decided together, of which remembered denials deny some.
    pub fn remembered_all(&self, requests: &[Request<'_>], known: Vec<Option<Decision>>) -> Decisions {
        self.counters.remembered.increment();
        let decide = |(request, known): (&Request<'_>, Option<Decision>)| {
            known.unwrap_or_else(|| Decision::unchecked(request.policy))
        };
        Decisions { allowed: false, limits: requests.iter().zip(known).map(decide).collect() }
    }

    /// Decides on a request that the server cannot decide: by a remembered denial, else by the fallback.
    pub fn fall_back(&self, request: &Request<'_>, fallback: Fallback, error: Error) -> Result<Decision, Error> {
        let decisions = self.fall_back_all(std::slice::from_ref(request), fallback, error)?;
        decisions.limits.into_iter().next().ok_or(Error::UnknownReply)
    }

    fn by_fallback(&self, request: &Request<'_>, fallback: Fallback, error: Error) -> Result<Decision, Error> {
        let (policy, counters) = (request.policy, &self.counters);
        let traits = policy.algorithm().traits();
        let fallback = match fallback {
            // Only the server keeps leases and locks.
            Fallback::Local { .. } if traits.id || traits.lock => Fallback::Deny,
            // A lease is more than a permission, and only the server can hold one.
            _ if traits.id => Fallback::Error,
            // A limit in shadow mode denies no request.
            fallback if policy.is_shadow() && fallback != Fallback::Error => Fallback::Allow,
            fallback => fallback,
        };
        self.log.fell_back(fallback, &error);
        let is_overload = matches!(error, Error::Overloaded);
        let decision = match fallback {
            Fallback::Error => Err(error),
            Fallback::Allow => {
                let charged = if policy.is_shadow() { 0 } else { request.cost };
                Ok(Decision::of_fallback(policy, true, charged, RetryAfter::Now))
            }
            Fallback::Deny => Ok(Decision::of_fallback(policy, false, 0, RETRY)),
            Fallback::Local { instances } => Ok(self.decide_locally(request, instances)),
        };
        let allowed = decision.as_ref().map(|decision| decision.allowed);
        let counter = match (fallback, allowed) {
            (_, Err(_)) if is_overload => &counters.overload_errors,
            (_, Ok(true)) if is_overload => &counters.overload_allowed,
            (_, Ok(false)) if is_overload => &counters.overload_denied,
            (Fallback::Local { .. }, Ok(true)) => &counters.local_allowed,
            (Fallback::Local { .. }, Ok(false)) => &counters.local_denied,
            (_, Err(_)) => &counters.fallback_errors,
            (_, Ok(true)) => &counters.fallback_allowed,
            (_, Ok(false)) => &counters.fallback_denied,
        };
        counter.increment();
        decision
    }

    /// Decides by the limit of this process alone. If the table is full, a new key is denied.
    fn decide_locally(&self, request: &Request<'_>, instances: u32) -> Decision {
        self.accounts.decide_locally(request, instances, Instant::now(), self.server.clock()).unwrap_or_else(|| {
            self.counters.local_full.increment();
            let text = "no room to count another key in this process: the request is denied";
            self.log.warn(Kind::LocalFull, format_args!("{text}"));
            Decision::of_fallback(request.policy, false, 0, RETRY)
        })
    }

    /// The error, if a fallback applies to it.
    fn unavailable(&self, error: Error) -> Result<Error, Error> {
        if error.is_unavailable() {
            return Ok(error);
        }
        self.rejected(&error);
        Err(error)
    }

    /// [`Core::fall_back`] of several limits, all or nothing.
    pub fn fall_back_all(
        &self,
        requests: &[Request<'_>],
        fallback: Fallback,
        error: Error,
    ) -> Result<Decisions, Error> {
        let (error, now) = (self.unavailable(error)?, Instant::now());
        let held = |request: &Request<'_>| self.accounts.of(request, now, |entry| entry.account.held(request, now));
        let held: Vec<_> = requests.iter().map(held).collect();
        if held.iter().any(Option::is_some) {
            return Ok(self.remembered_all(requests, held));
        }
        let is_lease = |request: &&Request<'_>| request.policy.algorithm().traits().id;
        let is_local = matches!(fallback, Fallback::Local { .. });
        if let Some(lease) = requests.iter().find(is_lease).filter(|_| !is_local) {
            // An error: only the server can hold a lease.
            return self.by_fallback(lease, fallback, error).map(Decisions::from);
        }
        let (mut allowed, mut limits) = (true, Vec::with_capacity(requests.len()));
        for request in requests {
            let decide = || self.by_fallback(request, fallback, error.clone());
            limits.push(if allowed { decide()? } else { Decision::unchecked(request.policy) });
            allowed = limits.last().is_some_and(|last| allowed && last.allowed);
        }
        // If one limit denies, nothing is charged but the requests with ALWAYS.
        for (request, decision) in requests.iter().zip(&mut limits).filter(|(request, _)| !allowed && !request.always) {
            let charged = std::mem::take(&mut decision.charged);
            if let (1.., Fallback::Local { instances }) = (charged, fallback) {
                self.accounts.give_back_locally(request, instances, charged, self.server.clock());
            }
        }
        Ok(Decisions { allowed, limits })
    }

    /// [`Core::fall_back`] of limits that share: the first that allows pays, and each limit after it is charged too.
    pub fn fall_back_shared(
        &self,
        requests: &[Request<'_>],
        fallback: Fallback,
        error: Error,
    ) -> Result<Shared, Error> {
        let error = self.unavailable(error)?;
        let mut shared = Shared { paid: None, limits: Vec::with_capacity(requests.len()) };
        for (at, request) in requests.iter().enumerate() {
            let request = if shared.paid.is_some() { &request.always() } else { request };
            let decision = self.by_fallback(request, fallback, error.clone())?;
            shared.paid = shared.paid.or(decision.allowed.then_some(at));
            shared.limits.push(decision);
        }
        Ok(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::super::accounts::tests::deny;
    use super::*;
    use crate::policy::Policy;
    use crate::protocol::{Call, Exchange, Step, Verb};
    use crate::stats::Stats;

    const POLICY: Policy = Policy::counter(Duration::from_secs(86_400), 10);

    fn core() -> Core {
        Arc::into_inner(crate::Limiter::open("redis://localhost").unwrap().core).unwrap()
    }

    #[test]
    fn what_was_charged_locally_is_given_back_if_a_later_limit_denies() {
        // Each of two instances has 5 of the 10 units.
        let (core, fallback) = (core(), Fallback::Local { instances: 2 });
        let all = [POLICY.request("a").cost(2), POLICY.request("b").cost(3), POLICY.request("c").cost(6)];
        let decisions = core.fall_back_all(&all, fallback, Error::CircuitOpen).unwrap();
        assert!(!decisions.allowed && decisions.limits.iter().all(|limit| limit.charged == 0), "{decisions:?}");
        for key in ["a", "b", "c"] {
            let whole = core.fall_back(&POLICY.request(key).cost(5), fallback, Error::CircuitOpen).unwrap();
            assert!(whole.allowed, "{key}");
            let more = core.fall_back(&POLICY.request(key), fallback, Error::Overloaded).unwrap();
            assert!(!more.allowed, "an overload and an outage share a limit: {key}");
        }
    }

    #[test]
    fn what_is_idle_of_the_whole_is_lent_locally() {
        let (core, fallback) = (core(), Fallback::Local { instances: 2 });
        const TEAM: Policy = Policy::counter(Duration::from_secs(86_400), 4);
        let share = |key: &str| {
            let requests = [TEAM.request(key), POLICY.request("whole")];
            core.fall_back_shared(&requests, fallback, Error::CircuitOpen).map(|shared| shared.paid)
        };
        let paid = ["a", "a", "a", "a", "a", "a", "b", "b", "b"].map(|key| share(key).unwrap());
        // 2 of its own, and the 3 that are idle of the 5; then the other's own.
        let [own, lent] = [Some(0), Some(1)];
        assert_eq!(paid, [own, own, lent, lent, lent, None, own, own, None]);
        let wrong = redis::RedisError::from((redis::ErrorKind::Client, "a fault of the configuration"));
        let requests = [TEAM.request("a"), POLICY.request("whole")];
        assert!(core.fall_back_shared(&requests, Fallback::Allow, wrong.into()).is_err());
    }

    #[test]
    fn every_fallback_is_counted_and_logged_and_those_of_an_overload_apart() {
        const LEASE: Policy = Policy::lease(Duration::from_secs(60), 1);
        let (core, shadow) = (core(), POLICY.shadow());
        deny(&core.accounts, &POLICY.request("known"), Instant::now());
        let before = core.counters.snapshot();
        let text = logged(|| {
            let outage = |policy: &Policy, fallback| {
                let decision = core.fall_back(&policy.request("k"), fallback, Error::CircuitOpen);
                decision.ok().map(|decision| (decision.allowed, decision.charged))
            };
            assert_eq!(outage(&POLICY, Fallback::Deny), Some((false, 0)));
            assert_eq!(outage(&LEASE, Fallback::Allow), None);
            assert_eq!(outage(&shadow, Fallback::Deny), Some((true, 0)));
            let all = [POLICY.request("a"), LEASE.request("b").id("x")];
            assert!(core.fall_back_all(&all, Fallback::Allow, Error::CircuitOpen).is_err());
            for (fallback, outcome) in
                [(Fallback::Allow, Some(true)), (Fallback::Deny, Some(false)), (Fallback::Error, None)]
            {
                let requests = [POLICY.request("known"), POLICY.request("k"), LEASE.request("k").id("x")];
                let decisions = requests.map(|request| core.fall_back(&request, fallback, Error::Overloaded));
                let [Ok(known), k, Err(Error::Overloaded)] = decisions.as_slice() else { panic!("{decisions:?}") };
                assert!(!known.allowed && known.source == Source::RememberedDenial, "{known:?}");
                assert_eq!(k.as_ref().ok().map(|k| k.allowed), outcome, "{k:?}");
            }
        });
        // One kind does not keep another from being logged.
        let kinds = ["overloaded: ", "failing closed: ", "no decision: ", "failing open: "];
        assert_eq!(kinds.map(|kind| text.matches(kind).count()), [1, 1, 1, 2], "{text}");
        let now = core.counters.snapshot();
        let changed = Stats {
            remembered: before.remembered + 3,
            fallback_denied: 1,
            fallback_errors: 2,
            fallback_allowed: 1,
            overload_allowed: 1,
            overload_denied: 1,
            overload_errors: 4,
            ..before
        };
        assert_eq!(now, changed);
        let all = [POLICY.request("k"), POLICY.request("known")];
        assert!(!core.fall_back_all(&all, Fallback::Allow, Error::CircuitOpen).unwrap().allowed);
        let wrong = redis::RedisError::from((redis::ErrorKind::Client, "a fault of the configuration"));
        assert!(core.fall_back_all(&all, Fallback::Allow, wrong.into()).is_err());
        assert_eq!(core.counters.snapshot().rejected, 1);
    }

    #[test]
    fn each_timeout_counts_as_one() {
        let core = core();
        let silent = redis::RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut));
        assert!(matches!(core.failed(silent.into(), core.timeout), Error::Timeout(_)));
        assert_eq!((core.counters.snapshot().timeouts, core.counters.snapshot().errors), (1, 0));
    }

    /// What is logged meanwhile.
    fn logged(work: impl FnOnce()) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        let writer = Arc::new(file.reopen().unwrap());
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(writer).finish();
        tracing::subscriber::with_default(subscriber, work);
        std::fs::read_to_string(file.path()).unwrap()
    }

    #[test]
    fn what_only_the_log_says_is_logged() {
        let core = core();
        let error =
            || redis::parse_redis_value(b"-ERR unknown command 'RL.COUNTER'\r\n").and_then(Value::extract_error);
        let request = POLICY.request("k");
        let check = || {
            let mut exchange = Exchange::new(Call::of(Verb::Check, &request), &core.server);
            assert!(matches!(exchange.step(None), Step::Send(_)));
            // Once the module is missing, this is the reply of a script.
            let _ = exchange.step(Some(error().map_err(Error::from)));
        };
        let text = logged(|| {
            check();
            check();
            core.unsettled(&Error::CircuitOpen);
            core.lease_lost();
            core.rejected(&Error::UnknownReply);
        });
        let kinds = ["the Lua scripts decide", "is not settled: ", "a lease ended", "a fault of the configuration, "];
        assert_eq!(kinds.map(|kind| text.matches(kind).count()), [1; 4], "{text}");
        assert_eq!(["WARN", "ERROR"].map(|level| text.matches(level).count()), [3, 1], "{text}");
        // Behind the next connection may be a server with the module.
        let lost = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        _ = core.ended(Err(redis::RedisError::from(lost).into()));
        assert!(logged(check).contains(kinds[0]), "the next time is not logged");
    }
}
