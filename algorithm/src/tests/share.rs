//! RL.SHARE: the first limit that allows pays, and each one after it is charged even if it denies. Compared with the
//! oracle of the algorithms; and the guarantees for limits that are all token buckets.

use proptest::prelude::*;

use super::super::*;
use super::{Kind, Oracle, SECOND, T0, burst, cost, policy};
use crate::in_memory::{Charging, InMemory};

/// A limit of any algorithm, with its key.
trait Limit {
    fn remaining(&mut self, now: Micros) -> u64;
    /// Whether it allows the request. Charges it if so.
    fn pays(&mut self, now: Micros, units: u64) -> bool;
    fn lends(&mut self, now: Micros, units: u64);
}

struct Kept<A: InMemory>(A, A::Key);

impl<A: InMemory> Limit for Kept<A> {
    fn remaining(&mut self, now: Micros) -> u64 {
        A::expire(&mut self.1, now);
        self.0.remaining(&self.1, now)
    }

    fn pays(&mut self, now: Micros, units: u64) -> bool {
        A::expire(&mut self.1, now);
        let before = self.1.clone();
        let allowed = self.0.request(&mut self.1, now, cost(units)).unwrap().verdict.allowed;
        if !allowed {
            // Not even FIXED counts it.
            self.1 = before;
        }
        allowed
    }

    fn lends(&mut self, now: Micros, units: u64) {
        A::expire(&mut self.1, now);
        self.0.request_charging(&mut self.1, now, cost(units), Charging::Lending).unwrap();
    }
}

fn limit(kind: Kind, policy: &Policy) -> Box<dyn Limit> {
    fn kept<A: InMemory + 'static>(policy: &Policy) -> Box<dyn Limit> {
        Box::new(Kept(A::with_policy(policy).unwrap(), A::Key::default()))
    }
    match kind {
        Kind::Fixed => kept::<FixedWindow>(policy),
        Kind::Window => kept::<WindowCounter>(policy),
        Kind::Counter => kept::<SlidingCounter>(policy),
        Kind::Bucket => kept::<TokenBucket>(policy),
        _ => kept::<RollingLog>(policy),
    }
}

/// RL.SHARE of the limits at these places. The place of the limit that paid.
fn share(limits: &mut [Box<dyn Limit>], places: &[usize], now: Micros, units: u64) -> Option<usize> {
    let paid = places.iter().position(|&at| limits[at].pays(now, units))?;
    places[paid + 1..].iter().for_each(|&at| limits[at].lends(now, units));
    Some(paid)
}

/// The same with everything that was charged. Of a token bucket, the debt is at most the limit.
fn share_by_oracle(limits: &mut [Oracle], now: Micros, units: u64) -> Option<usize> {
    let paid = limits.iter().position(|limit| limit.fits(now, units.max(1)))?;
    limits[paid].overcharge(now, None, units);
    for limit in &mut limits[paid + 1..] {
        let most = limit.policy.capacity() + limit.policy.limit;
        let lent = if limit.kind == Kind::Bucket { units.min(most.saturating_sub(limit.count(now))) } else { units };
        limit.overcharge(now, None, lent);
    }
    Some(paid)
}

const KINDS: [Kind; 5] = [Kind::Fixed, Kind::Window, Kind::Counter, Kind::Bucket, Kind::Log { moments: Some(4_096) }];

/// Microseconds between two requests.
fn pause() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(0), 4 => 0..1_000_u64, 4 => 0..300_000_u64, 1 => 900_000..4_000_000_u64]
}

/// Two teams with buckets of their own below a common one: the limit and the burst of each, and of all. The parts together
/// are at most the whole.
fn teams() -> impl Strategy<Value = [(u64, u64); 3]> {
    ((1..20_u64, 1..8_u64), (1..20_u64, 1..8_u64), 0..10_u64, 1..20_u64)
        .prop_map(|(a, b, idle, capacity)| [a, b, (a.0 + b.0 + idle, capacity)])
        .prop_filter("the bursts of the parts", |[a, b, all]| a.1 + b.1 <= all.0)
}

proptest! {
    /// 256 cases of 80 requests.
    #[test]
    fn each_request_is_paid_as_the_oracle_says(
        limits in prop::collection::vec((0..KINDS.len(), 0..12_u64, 500..3_000_u64), 2..=4),
        requests in prop::collection::vec((pause(), 0..16_u64), 80),
    ) {
        let policies = limits.iter().map(|&(kind, units, window)| (KINDS[kind], policy(window, units)));
        let mut oracles: Vec<_> = policies.clone().map(|(kind, policy)| Oracle::new(kind, policy)).collect();
        let mut limits: Vec<_> = policies.map(|(kind, policy)| limit(kind, &policy)).collect();
        let places: Vec<_> = (0..limits.len()).collect();
        let mut now = Micros(T0);
        for (pause, units) in requests {
            now = now.plus(pause);
            let paid = share_by_oracle(&mut oracles, now, units);
            prop_assert_eq!(share(&mut limits, &places, now, units), paid, "{} at {:?}", units, now);
            let remaining: Vec<_> = limits.iter_mut().map(|limit| limit.remaining(now)).collect();
            prop_assert_eq!(remaining, oracles.iter().map(|limit| limit.remaining(now)).collect::<Vec<_>>());
        }
    }

    /// A request that a team's own bucket allows is allowed, whatever the other team requests. Over any span the common
    /// bucket is charged at most its rate, its burst, and the bursts of the parts. A window after the last request, it
    /// lends again.
    #[test]
    fn a_part_is_never_denied_and_the_whole_is_bounded(
        teams in teams(), units in 1..4_u64, requests in prop::collection::vec((pause(), 0..2_usize), 1..80),
    ) {
        const WINDOW: u64 = 1_000;
        let policies = teams.map(|(rate, capacity)| burst(policy(WINDOW, rate), capacity));
        let mut limits = policies.map(|policy| limit(Kind::Bucket, &policy));
        let mut alone = policies.map(|policy| limit(Kind::Bucket, &policy));
        let (mut now, mut allowed) = (Micros(T0), Vec::new());
        for (pause, team) in requests {
            now = now.plus(pause);
            let paid = share(&mut limits, &[team, 2], now, units);
            prop_assert_eq!(alone[team].pays(now, units), paid == Some(0));
            allowed.extend(paid.map(|_| now));
        }
        let [(_, a), (_, b), (rate, capacity)] = teams;
        for (first, &begin) in allowed.iter().enumerate() {
            for (last, end) in allowed.iter().enumerate().skip(first) {
                let charged = (last - first + 1) as u64 * units;
                let most = (capacity + a + b) * WINDOW * 1_000 + end.since(begin) * rate;
                prop_assert!(charged * WINDOW * 1_000 <= most, "{charged} units in {} us", end.since(begin));
            }
        }
        let later = now.plus(WINDOW * 1_000 + WINDOW * 1_000 / rate + 1);
        prop_assert!(limits[2].remaining(later) > 0);
    }

    /// The same wherever a load has left the common bucket, also if the parts together are more than it.
    #[test]
    fn lending_resumes_within_a_window(charges in prop::collection::vec((pause(), 0..200_u64), 1..40), rate in 1..20_u64) {
        let mut all = limit(Kind::Bucket, &policy(1_000, rate));
        let mut now = Micros(T0);
        for (pause, units) in charges {
            now = now.plus(pause);
            all.lends(now, units);
        }
        prop_assert!(all.remaining(now.plus(SECOND + SECOND / rate + 1)) > 0);
    }
}

/// The example of docs/algorithms.md: how many units each team gets in the first minute and in the second one, alone and
/// beside the other. `cargo test -p redis-rl-algorithm two_teams -- --nocapture` prints its rows.
#[test]
fn two_teams_share_what_is_idle() {
    let of = |rate, capacity| limit(Kind::Bucket, &burst(policy(60_000, rate), capacity));
    let asks = |teams: &[usize], from_second: u64| {
        let mut limits = [of(500, 50), of(500, 50), of(1_000, 100)];
        let mut got = [[0_u64; 2]; 2];
        for ms in (0..120_000_u64).step_by(10) {
            for &team in teams.iter().filter(|&&team| team == 0 || ms >= from_second * 1_000) {
                let now = Micros(T0 + ms * 1_000);
                got[team][(ms / 60_000) as usize] += u64::from(share(&mut limits, &[team, 2], now, 1).is_some());
            }
        }
        got
    };
    let [alone, together, back] = [asks(&[0], 0), asks(&[0, 1], 0), asks(&[0, 1], 60)];
    let row = |what: &str, got: [[u64; 2]; 2]| {
        format!("| {what} | {} | {} | {} | {} |", got[0][0], got[0][1], got[1][0], got[1][1])
    };
    let rows = [row("`a` alone", alone), row("both", together), row("`a`, and from the second minute on `b`", back)];
    println!("{}", rows.join("\n"));
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/algorithms.md")).unwrap();
    assert!(rows.iter().all(|row| page.contains(row)), "docs/algorithms.md has other figures");
}
