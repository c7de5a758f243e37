//! What is known of a key, beside a server that the tests own: the algorithms of the module in memory, or one number.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use redis_rl_algorithm::in_memory::InMemory;
use redis_rl_algorithm::{Cost, Micros, Policy as Terms, for_in_memory};

use super::*;
use crate::decision::RetryAfter;
use crate::policy::{Algorithm, Window};

const HOUR: Duration = Duration::from_secs(3_600);
const NOW: u64 = 1_700_000_000_000_000;

fn algorithms() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.into_iter().filter(|algorithm| algorithm.traits().cost)
}

fn limit(policy: &Policy) -> Limit {
    Limit { algorithm: policy.algorithm(), schedule: policy.terms().schedule, skew: 0 }
}

fn asked(policy: &Policy, cost: u64, instances: u32) -> Asked {
    Asked { terms: policy.terms(), cost, partial: false, always: false, sent: false, instances }
}

/// What this process decides alone.
fn decide(known: &mut Known, policy: &Policy, cost: u64, instances: u32, at: u64) -> Admission {
    known.decide(&limit(policy), &asked(policy, cost, instances), at)
}

/// A key of the module.
trait Server {
    fn charge(&mut self, at: u64, cost: u64) -> bool;
    fn figures(&mut self, at: u64) -> Figures;
}

struct Key<A: InMemory>(A, A::Key);

impl<A: InMemory> Server for Key<A> {
    fn charge(&mut self, at: u64, cost: u64) -> bool {
        A::expire(&mut self.1, Micros(at));
        self.0.request(&mut self.1, Micros(at), Cost::new(cost).unwrap()).unwrap().verdict.allowed
    }

    fn figures(&mut self, at: u64) -> Figures {
        A::expire(&mut self.1, Micros(at));
        let decision = self.0.decide(self.0.state(&self.1, Micros(at)), Micros(at), Cost::ZERO).unwrap();
        let figures = self.0.figures(&self.1, &decision, Micros(at));
        let reset = u64::try_from(figures.reset_ms).unwrap() * 1_000;
        let (limit, remaining) = (figures.limit, figures.remaining);
        Figures { allowed: remaining > 0, limit, remaining, reset, shadow: false }
    }
}

fn server(algorithm: Algorithm, terms: &Terms) -> Box<dyn Server> {
    fn key<A: InMemory + 'static>(terms: &Terms) -> Box<dyn Server> {
        Box::new(Key(A::with_policy(terms).unwrap(), A::Key::default()))
    }
    for_in_memory!(algorithm, A => key::<A>(terms))
}

#[test]
fn each_instance_allows_its_part() {
    for algorithm in algorithms() {
        let policy = Policy::new(algorithm, Window::Length(HOUR), 30).unwrap();
        let none = Policy::new(algorithm, Window::Length(HOUR), 0).unwrap();
        let allowed = |policy: &Policy, instances| {
            let mut known = Known::default();
            (0..40).filter(|_| decide(&mut known, policy, 1, instances, NOW).allowed).count()
        };
        assert_eq!([1, 3, 100].map(|instances| allowed(&policy, instances)), [30, 10, 1], "{policy}");
        assert_eq!(allowed(&none, 1), 0, "{policy}");
        // Of what the server said is left.
        let mut known = Known::default();
        let figures = Figures { limit: 30, remaining: 15, reset: 60_000_000, allowed: true, ..Figures::default() };
        known.answered(&limit(&policy), 0, &figures, NOW);
        assert_eq!((0..40).filter(|_| decide(&mut known, &policy, 1, 3, NOW).allowed).count(), 5, "{policy}");
    }
    let (policy, mut known) = (Policy::token(HOUR, 30).burst(10), Known::default());
    assert_eq!((0..40).filter(|_| decide(&mut known, &policy, 1, 2, NOW).allowed).count(), 5);
}

#[test]
fn windows_of_the_calendar_and_anchors_are_those_of_the_module() {
    for (text, seconds) in [("FIXED day 10 ANCHOR 7", 6_407), ("FIXED 10 10 ANCHOR 3", 3), ("FIXED week 10", 438_400)] {
        let (mut known, policy) = (Known::default(), text.parse::<Policy>().expect(text));
        assert!(decide(&mut known, &policy, 10, 1, NOW).allowed, "{text}");
        let wait = decide(&mut known, &policy, 1, 1, NOW).retry_after;
        assert_eq!(wait, RetryAfter::After(Duration::from_secs(seconds)), "{text}");
        assert!(decide(&mut known, &policy, 10, 1, NOW + seconds * 1_000_000).allowed, "{text}");
    }
}

#[test]
fn options_mean_here_what_they_mean_to_the_server() {
    for algorithm in algorithms() {
        let policy = Policy::new(algorithm, Window::Length(HOUR), 10).unwrap();
        let (mut known, limit) = (Known::default(), limit(&policy));
        let mut charge = |cost, partial, always| {
            let asked = Asked { partial, always, ..asked(&policy, cost, 1) };
            let admission = known.decide(&limit, &asked, NOW);
            (admission.allowed, admission.charged, admission.retry_after == RetryAfter::Never)
        };
        assert_eq!(charge(11, false, false), (false, 0, true), "{policy}");
        assert_eq!(charge(8, true, false), (true, 8, false), "{policy}");
        assert_eq!(charge(8, true, false), (true, 2, false), "{policy}");
        assert_eq!(charge(8, true, false), (false, 0, false), "{policy}");
        assert_eq!(charge(0, false, false), (false, 0, false), "{policy}");
        assert_eq!(charge(10, false, false), (false, 0, false), "{policy}");
        // A look: no more than the limit is counted.
        assert_eq!(charge(0, false, true), (true, 0, false), "{policy}");
        assert_eq!(charge(1, false, true), (false, 1, false), "{policy}");
        assert_eq!(charge(0, false, true), (false, 0, false), "{policy}");
    }
}

#[test]
fn a_denial_with_units_left_is_none_of_a_look() {
    let policy = Policy::counter(HOUR, 30);
    let look = Asked { always: true, ..asked(&policy, 0, 1) };
    let allowed = [3, 0].map(|remaining| {
        let (mut known, limit) = (Known::default(), limit(&policy));
        known.answered(&limit, 0, &Figures { limit: 30, remaining, reset: 60_000_000, ..Figures::default() }, NOW);
        known.decide(&limit, &look, NOW).allowed
    });
    assert_eq!(allowed, [true, false]);
}

#[test]
fn units_of_counter_come_back_gradually() {
    let (mut known, limit) = (Known::default(), limit(&Policy::counter(HOUR, 30)));
    known.answered(&limit, 0, &Figures { limit: 30, remaining: 10, reset: 7_200_000_000, ..Figures::default() }, NOW);
    assert_eq!([0, 60, 90, 120].map(|minutes| known.used_at(NOW + minutes * 60_000_000)), [20, 20, 10, 0]);
}

#[test]
fn no_more_keys_are_kept_than_the_bound() {
    let (counts, policy, now) = (Counts::default(), Policy::fixed(HOUR, 5), Instant::now());
    let (keys, mut forgotten) = (MAX_KEYS + 5_000, 0);
    for n in 0..keys {
        let key = n.to_string();
        let count = counts.of(&policy.request(&key), || forgotten += 1);
        assert!(count.decide(&asked(&policy, 1, 1), now).allowed);
    }
    assert!(counts.keys.len() <= MAX_KEYS && forgotten == keys - counts.keys.len(), "{forgotten}");
    // They are sent all the same.
    assert_eq!(counts.unsent(usize::MAX).len(), keys);
}

/// A charge and the pause before it.
fn charges() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..30_000_000_u64, 1..6_u64), 1..60)
}

fn policies() -> impl Strategy<Value = Policy> {
    let algorithms: Vec<_> = algorithms().collect();
    (
        prop::sample::select(algorithms),
        1..40_u64,
        prop::sample::select(vec![7_u64, 60, 61]),
        prop::option::of(1..20_u64),
    )
        .prop_map(|(algorithm, limit, seconds, burst)| {
            let policy = Policy::new(algorithm, Window::Length(Duration::from_secs(seconds)), limit).unwrap();
            burst.and_then(|burst| policy.try_burst(burst).ok()).unwrap_or(policy)
        })
}

proptest! {
    /// What the server's reply leaves comes back here no sooner than there, and by the end of its figures.
    #[test]
    fn units_of_a_reply_come_back_late_and_never_early(policy in policies(), charges in charges(), later in 0..200_000_000_u64) {
        let (mut server, mut known) = (server(policy.algorithm(), &policy.terms()), Known::default());
        let mut at = NOW;
        for (pause, cost) in charges {
            at += pause;
            server.charge(at, cost);
        }
        let figures = server.figures(at);
        known.answered(&limit(&policy), 0, &figures, at);
        prop_assert_eq!(policy.capacity() - known.used_at(at), figures.remaining);
        let there = server.figures(at + later).remaining;
        prop_assert!(policy.capacity().saturating_sub(known.used_at(at + later)) <= there, "{policy}");
        prop_assert_eq!(known.used_at(at + figures.reset), 0);
    }

    /// What is allowed without a server, the server would have allowed.
    #[test]
    fn alone_it_allows_no_more_than_the_server(policy in policies(), charges in charges()) {
        // The locks of LOCKOUT grow on the server alone.
        prop_assume!(!policy.algorithm().traits().outlasts);
        // A window of COUNTER and of the others has no more than the limit, here exactly.
        let exact = if policy.algorithm() == Algorithm::Counter { Algorithm::Rolling } else { policy.algorithm() };
        let (mut server, mut known, mut at) = (server(exact, &policy.terms()), Known::default(), NOW);
        let mut allowed = 0;
        for (pause, cost) in charges {
            at += pause;
            if decide(&mut known, &policy, cost, 1, at).allowed {
                allowed += 1;
                prop_assert!(server.charge(at, cost), "{policy} at {at}");
            }
        }
        prop_assert!(allowed > 0 || policy.capacity() < 5);
    }
}
