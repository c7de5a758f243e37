//! Units that the server grants in advance, for keys with many requests.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::watch;

use super::Limiter;
use super::account::{Ahead, Form};
use crate::decision::Decision;
use crate::error::Error;
use crate::policy::{Policy, Request};

/// How many keys are given back at once when this ends.
const CLOSED_AT_ONCE: usize = 100;

/// Decides in this process, with units that the server granted in advance.
///
/// The first request of a key charges a whole grant of `units` in one call, or what is left of it (`COST n PARTIAL`). The
/// next requests take from the grant. When a quarter is left, a task fetches the rest. Requests that find nothing left wait
/// for one fetch together. What is not used is given back if nothing is fetched for a [second](Grants::hold), and when the
/// last clone of this value is dropped.
///
/// # The bound
///
/// Each unit is charged before it is used, and an instance holds at most `units` of a key. So in any time span, N
/// instances allow together at most what the policy allows in that time, plus N × `units`. With FIXED, a grant ends with its
/// window, so a window never has more than the limit. A request may be denied while other instances hold units. A process that
/// dies keeps what it holds. A hundredth of the limit, divided by the number of instances, is a good start.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/client/doc.rs")); } use doc::with_server;
/// # use std::time::Duration;
/// # use redis_rl_client::{Fallback, Limiter, Policy, Source};
/// const API: Policy = Policy::counter(Duration::from_secs(60), 600_000).name("api");
///
/// # with_server(async |url| {
/// # let limiter = Limiter::open(url)?;
/// let api = limiter.grants(&API, 100)?;
/// assert_eq!(api.check("tenant:7").await?.source, Source::Server);
/// assert_eq!(api.check("tenant:7").await?.source, Source::Grant);
/// let soon = api.with_settings_of(&limiter.with_timeout(Duration::from_millis(10)).with_fallback(Fallback::Allow));
/// assert!(soon.check("tenant:8").await?.allowed);
/// api.shutdown().await;
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Grants {
    /// With the timeout and the fallback of the requests.
    limiter: Limiter,
    form: Form,
    /// What is left is given back when the last of these is dropped.
    _alive: Arc<watch::Sender<()>>,
}

impl Limiter {
    /// Decides in this process, with grants of `units` that the server makes: see [`Grants`].
    ///
    /// # Errors
    /// [`Error::Unsupported`]: LEASE, LOCKOUT and LEAKY have no grants; `units` is 1 up to what the policy allows at once.
    pub fn grants(&self, policy: &Policy, units: u64) -> Result<Grants, Error> {
        let traits = policy.algorithm().traits();
        if !traits.partial || traits.delays {
            return Err(Error::Unsupported("the algorithm cannot be granted in advance; send each request"));
        }
        if units == 0 || units > policy.capacity() {
            return Err(Error::Unsupported("a grant has 1 unit or more, up to the burst or the limit of the policy"));
        }
        let ahead = Ahead { units, hold: policy.longest_window().min(Duration::from_secs(1)) };
        let alive = Arc::new(watch::Sender::new(()));
        let limiter = Self { granted: Some(alive.subscribe()), ..self.clone() };
        Ok(Grants { limiter, form: Form::granted(policy, ahead), _alive: alive })
    }
}

impl Grants {
    /// How long units are held without another fetch before they are given back; a second if not given, or the window if
    /// that is shorter.
    #[must_use]
    pub fn hold(self, hold: Duration) -> Self {
        let hold = hold.clamp(Duration::from_millis(1), self.form.policy.longest_window());
        let ahead = self.form.ahead.map(|ahead| Ahead { hold, ..ahead });
        Self { form: Form { ahead, ..self.form }, ..self }
    }

    /// The same grants with the timeout and the fallback of a clone of their limiter, and without the server if it is. With a
    /// timeout of 0 a request waits for no units and fetches none.
    #[must_use]
    pub fn with_settings_of(&self, limiter: &Limiter) -> Self {
        Self { limiter: Limiter { granted: self.limiter.granted.clone(), ..limiter.clone() }, ..self.clone() }
    }

    /// Checks a request of cost 1.
    pub async fn check(&self, key: impl AsRef<[u8]>) -> Result<Decision, Error> {
        self.check_request(&Request::new(&self.form.policy, key.as_ref())).await
    }

    /// Checks a request. One of another policy, with options or with a cost above the size of a grant is sent as it is.
    pub async fn check_request(&self, request: &Request<'_>) -> Result<Decision, Error> {
        let has_options = request.partial || request.always || request.id.is_some() || request.reserve.is_some();
        let units = self.form.ahead.map_or(0, |ahead| ahead.units);
        let is_granted = !has_options && (1..=units).contains(&request.cost) && *request.policy == self.form.policy;
        let decision = self.limiter.ask(request, is_granted.then_some(&self.form)).await;
        decision.or_else(|error| self.limiter.core.fall_back(request, self.limiter.fallback, error))
    }

    /// Gives back what is not used, and waits for that. What other clones use later is granted anew.
    pub async fn shutdown(self) {
        let Self { limiter, form, .. } = &self;
        for some in limiter.core.accounts.keys(&form.policy).chunks(CLOSED_AT_ONCE) {
            join_all(some.iter().map(|state| limiter.give_up(state, form))).await;
        }
    }
}
