//! Limits inside this process, for [`Fallback::Local`](crate::Fallback): the algorithms of the module, with their keys in
//! memory.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use quick_cache::sync::{Cache, GuardResult};
use quick_cache::{DefaultHashBuilder, Lifecycle, OptionsBuilder, UnitWeighter};
use redis_rl_algorithm::in_memory::InMemory;
use redis_rl_algorithm::{Cost, MAX_COUNT, Micros, Policy as Terms, for_in_memory};

use crate::decision::{Decision, RetryAfter};
use crate::key::State;
use crate::policy::{Algorithm, Policy, Request};

/// The most keys. Beyond that, a key makes place for another one.
const MAX_KEYS: u64 = 100_000;
/// How often the keys are looked for that count nothing any more.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

type Counts = Arc<Mutex<dyn Key>>;

#[derive(Debug)]
pub struct Local {
    keys: Cache<State<'static>, Counts, UnitWeighter, DefaultHashBuilder, Evicted>,
    began: Instant,
    /// The time at `began`, in microseconds since 1970. From then on this machine's clock is not looked at, so it may step.
    epoch_micros: u64,
    /// When the keys are looked through next, in ms since `began`; 0 if there are none.
    sweep_at: AtomicU64,
}

/// Hands over the counts of the keys that made place for another one.
#[derive(Clone, Debug)]
struct Evicted;

impl Lifecycle<State<'static>, Counts> for Evicted {
    type RequestState = Vec<Counts>;

    fn on_evict(&self, evicted: &mut Vec<Counts>, _: State<'static>, counts: Counts) {
        evicted.push(counts);
    }
}

impl Default for Local {
    fn default() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let options = OptionsBuilder::new().estimated_items_capacity(1_000).weight_capacity(MAX_KEYS).build();
        let options = options.expect("both capacities are given");
        Self {
            keys: Cache::with_options(options, UnitWeighter, DefaultHashBuilder::default(), Evicted),
            began: Instant::now(),
            epoch_micros: u64::try_from(since_1970.as_micros()).unwrap_or(u64::MAX),
            sweep_at: AtomicU64::new(0),
        }
    }
}

impl Local {
    /// Decides on a request with the part of the limit that one of `instances` has. Calls `forgotten` if another key that
    /// still counted makes place for it.
    pub fn decide(&self, request: &Request<'_>, instances: u32, forgotten: impl FnOnce()) -> Decision {
        self.decide_at(request, instances, self.now(), forgotten)
    }

    /// Gives back what [`Local::decide`] charged.
    pub fn refund(&self, request: &Request<'_>, charged: u64, instances: u32) {
        let counts = self.keys.get(&State::new(request.policy, &request.bounded_key()).kept());
        if let (Some(counts), Some(cost)) = (counts, Cost::new(charged)) {
            counts.lock().refund(&terms(request.policy, instances), self.now(), cost);
        }
    }

    /// Forgets keys that count nothing any more, if it is time. Costs nothing if there are none.
    pub fn tidy(&self) {
        let at = self.sweep_at.load(Ordering::Relaxed);
        if at == 0 || self.elapsed_ms() < at {
            return;
        }
        if self.sweep_at.compare_exchange(at, self.next_sweep(), Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let now = self.now();
        self.keys.retain(|_, counts| !counts.lock().has_ended(now));
        if self.keys.is_empty() {
            // A request that adds a key at this moment sets it again with the next.
            self.sweep_at.store(0, Ordering::Relaxed);
        }
    }

    pub(super) fn decide_at(
        &self,
        request: &Request<'_>,
        instances: u32,
        now: Micros,
        forgotten: impl FnOnce(),
    ) -> Decision {
        let policy = request.policy;
        self.tidy();
        _ = self.sweep_at.compare_exchange(0, self.next_sweep(), Ordering::Relaxed, Ordering::Relaxed);
        let counts = self.counts(request, |evicted| {
            if !evicted.lock().has_ended(now) {
                forgotten();
            }
        });
        let decision = counts.lock().request(&terms(policy, instances), now, request);
        decision.unwrap_or_else(|| Decision::of_fallback(policy, false, 0, RetryAfter::Never))
    }

    fn counts(&self, request: &Request<'_>, evict: impl FnOnce(Counts)) -> Counts {
        match self.keys.get_value_or_guard(&State::new(request.policy, &request.bounded_key()).kept(), None) {
            GuardResult::Value(counts) => counts,
            GuardResult::Guard(place) => {
                let (counts, mut evicted) = (new_key(request.policy.algorithm()), Vec::new());
                _ = place.insert_with_lifecycle(Arc::clone(&counts), &mut evicted);
                evicted.pop().map(evict);
                counts
            }
            // There is no time limit.
            GuardResult::Timeout => new_key(request.policy.algorithm()),
        }
    }

    fn next_sweep(&self) -> u64 {
        self.elapsed_ms().saturating_add(SWEEP_EVERY.as_millis() as u64)
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn now(&self) -> Micros {
        Micros(self.epoch_micros).plus(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX))
    }
}

/// What is counted of a key, whatever the algorithm is.
trait Key: Debug + Send {
    /// `None` if the policy or the cost cannot be represented.
    fn request(&mut self, terms: &Terms, now: Micros, request: &Request<'_>) -> Option<Decision>;

    fn refund(&mut self, terms: &Terms, now: Micros, cost: Cost);

    /// Whether it counts nothing any more.
    fn has_ended(&mut self, now: Micros) -> bool;
}

#[derive(Debug)]
struct Counted<A: InMemory>(A::Key);

impl<A: InMemory + Debug> Key for Counted<A>
where
    A::Key: PartialEq + Send,
{
    fn request(&mut self, terms: &Terms, now: Micros, request: &Request<'_>) -> Option<Decision> {
        let (algorithm, key) = (A::with_policy(terms).ok()?, &mut self.0);
        A::expire(key, now);
        // With PARTIAL as much as fits; if nothing does, 1, for the time to wait.
        let is_partial = request.partial && request.cost > 0;
        let cost = if is_partial { algorithm.remaining(key, now).clamp(1, request.cost) } else { request.cost };
        let units = Cost::new(cost)?;
        let reply =
            if request.always { algorithm.request_always(key, now, units) } else { algorithm.request(key, now, units) };
        let reply = reply.ok()?;
        let allowed = reply.verdict.allowed;
        let charged = if allowed || request.always { cost } else { 0 };
        let figures = reply.figures;
        let retry_after = RetryAfter::from_millis(figures.retry_after_ms);
        let decision = Decision::of_fallback(request.policy, allowed, charged, retry_after);
        Some(Decision { delay: Duration::from_millis(u64::try_from(figures.delay_ms).unwrap_or(0)), ..decision })
    }

    fn refund(&mut self, terms: &Terms, now: Micros, cost: Cost) {
        if let Ok(algorithm) = A::with_policy(terms) {
            algorithm.refund(&mut self.0, now, None, cost);
        }
    }

    fn has_ended(&mut self, now: Micros) -> bool {
        A::expire(&mut self.0, now);
        self.0 == A::Key::default()
    }
}

fn new_key(algorithm: Algorithm) -> Counts {
    fn new<A: InMemory + Debug + 'static>() -> Counts
    where
        A::Key: PartialEq + Send,
    {
        Arc::new(Mutex::new(Counted::<A>(A::Key::default())))
    }
    for_in_memory!(algorithm, A => new::<A>())
}

/// The part of a policy that one of the instances has.
fn terms(policy: &Policy, instances: u32) -> Terms {
    let part = |whole: u64| (whole / u64::from(instances.max(1))).max(whole.min(1)).min(MAX_COUNT);
    let terms = policy.terms();
    Terms { limit: part(terms.limit), burst: terms.burst.map(part), ..terms }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Window;

    const NOW: Micros = Micros(1_700_000_000_000_000);

    #[test]
    fn each_instance_allows_its_part() {
        for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| algorithm.traits().cost) {
            let local = Local::default();
            let policy = Policy::new(algorithm, Window::Length(Duration::from_secs(3600)), 30).expect("a policy");
            let allowed = |instances, key: &str| {
                (0..40).filter(|_| local.decide_at(&policy.request(key), instances, NOW, || {}).allowed).count()
            };
            assert_eq!(
                [allowed(1, "a"), allowed(3, "b"), allowed(100, "c"), allowed(3, "d")],
                [30, 10, 1, 10],
                "{policy}"
            );
            let none = Policy::new(algorithm, Window::Length(Duration::from_secs(3600)), 0).expect("a policy");
            assert!(!local.decide_at(&none.request("e"), 1, NOW, || {}).allowed, "{policy}");
        }
        let policy = Policy::token(Duration::from_secs(3600), 30).burst(10);
        let local = Local::default();
        assert_eq!((0..40).filter(|_| local.decide_at(&policy.request("k"), 2, NOW, || {}).allowed).count(), 5);
    }

    #[test]
    fn windows_of_the_calendar_and_anchors_are_those_of_the_module() {
        for (text, seconds) in
            [("FIXED day 10 ANCHOR 7", 6_407), ("FIXED 10 10 ANCHOR 3", 3), ("FIXED week 10", 438_400)]
        {
            let (local, policy) = (Local::default(), text.parse::<Policy>().expect(text));
            let decide = |cost, at| local.decide_at(&policy.request("k").cost(cost), 1, at, || {});
            assert!(decide(10, NOW).allowed, "{text}");
            assert_eq!(decide(1, NOW).retry_after, RetryAfter::After(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn no_more_keys_are_kept_than_the_bound() {
        let (local, long) = (Local::default(), Policy::counter(Duration::from_secs(86_400), 5));
        let (keys, mut forgotten) = (MAX_KEYS as usize + 20_000, 0);
        for n in 0..keys {
            assert!(local.decide_at(&long.request(&n.to_string()), 1, NOW, || forgotten += 1).allowed);
        }
        assert!(local.keys.len() <= MAX_KEYS as usize && forgotten == keys - local.keys.len(), "{forgotten}");
        // Those that had ended by then are not counted.
        let (later, before) = (NOW.plus(10 * 86_400_000_000), forgotten);
        for n in 0..1_000 {
            local.decide_at(&long.request(&format!("later:{n}")), 1, later, || forgotten += 1);
        }
        assert_eq!(forgotten, before);
    }

    #[test]
    fn keys_that_count_nothing_go() {
        let local = Local::default();
        // Its window was over long ago.
        assert!(local.decide_at(&Policy::token(Duration::from_secs(1), 1).request("k"), 1, NOW, || {}).allowed);
        local.tidy();
        assert_eq!(local.keys.len(), 1);
        local.sweep_at.store(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(2));
        local.tidy();
        assert_eq!((local.keys.len(), local.sweep_at.load(Ordering::Relaxed)), (0, 0));
    }
}
