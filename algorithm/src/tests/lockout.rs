//! What a lock promises beside the laws: how long it is, what ends it, and how many guesses it leaves.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::*;

const MINUTE: u64 = 60_000;
const DAY: u64 = 1_440 * MINUTE;

fn lockout(window: u64, limit: u64, block: u64, max: u64) -> Lockout {
    let [block, max] = [block, max].map(Window::from_millis);
    Lockout::new(&Policy { block, max, ..policy(window, limit) }).unwrap()
}

/// 5 attempts a day, then a minute.
fn login() -> Lockout {
    lockout(DAY, 5, MINUTE, DAY)
}

struct Login(Lockout, Option<StoredRecord>, u64);

impl Login {
    fn new(lockout: Lockout) -> Self {
        Self(lockout, None, 0)
    }

    fn now(&self) -> Micros {
        Micros(T0 + self.2 * 1_000)
    }

    fn attempt(&mut self, units: u64) -> Reply {
        let now = self.now();
        Lockout::expire(&mut self.1, now);
        self.0.request(&mut self.1, now, cost(units)).unwrap()
    }

    /// Attempts until one is denied, and how long it is denied for.
    fn exhaust(&mut self) -> (u64, i64) {
        let mut allowed = 0;
        loop {
            match self.attempt(1) {
                reply if reply.verdict.allowed => allowed += 1,
                reply => return (allowed, reply.figures.retry_after_ms),
            }
        }
    }
}

#[test]
fn each_lock_lasts_twice_as_long_up_to_a_day() {
    let mut login = Login::new(login());
    for minutes in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440, 1_440] {
        let wait = minutes * MINUTE;
        assert_eq!(login.exhaust(), (5, wait.cast_signed()));
        // Denials prolong nothing.
        login.2 += wait - 1;
        assert_eq!(login.exhaust(), (0, 1));
        login.2 += 1;
    }
    // Two quiet days: from 11 to 9. The lock itself was not quiet.
    login.2 += 2 * DAY;
    assert_eq!(login.exhaust(), (5, 512 * 60_000));
    // After them all, the record is gone.
    login.2 += 512 * MINUTE + 10 * DAY + 1;
    assert_eq!(
        (login.exhaust(), login.1.as_ref().and_then(|record| record.expires_at)),
        ((5, 60_000), login_end(&login))
    );
}

/// A lock of a minute, then a day of quiet. The window ends before.
fn login_end(login: &Login) -> Option<u64> {
    Some(login.now().millis() + MINUTE + DAY)
}

#[test]
fn what_is_given_back_ends_the_lock_with_the_level_before_it() {
    let mut login = Login::new(login());
    assert_eq!(login.exhaust(), (5, 60_000));
    login.2 += 30_000;
    let refund = |login: &mut Login, ago: Option<u64>, units| {
        let now = login.now();
        let at = ago.map(|ago| Micros(now.0 - ago * 1_000));
        login.0.refund(&mut login.1, now, at, cost(units));
    };
    refund(&mut login, Some(30_001), 1);
    refund(&mut login, None, 0);
    assert_eq!(login.exhaust(), (0, 30_000), "before the window, and nothing");
    refund(&mut login, Some(30_000), 2);
    assert_eq!(login.exhaust(), (2, 60_000), "the next lock is the first again");
    login.2 += 60_000;
    let before = login.1.clone();
    refund(&mut login, None, 5);
    assert_eq!(login.1, before, "a lock that is over");
    assert_eq!(login.exhaust(), (5, 120_000));
    refund(&mut login, None, 5);
    assert!(login.1.is_some(), "the level of the lock before stays");
    login.2 += DAY;
    let later = login.now().plus(1_000);
    Lockout::expire(&mut login.1, later);
    assert!(login.1.is_none());
}

#[test]
fn a_lowered_limit_locks_nothing_and_a_clock_that_steps_back_prolongs_nothing() {
    let mut login = Login::new(login());
    (0..4).for_each(|_| assert!(login.attempt(1).verdict.allowed));
    login.0 = lockout(DAY, 2, MINUTE, DAY);
    assert_eq!(login.exhaust(), (0, DAY.cast_signed()), "until the window ends");
    login.0 = self::login();
    assert_eq!(login.attempt(2).figures.retry_after_ms, DAY.cast_signed(), "a cost above what remains locks nothing");
    assert_eq!(login.attempt(6).figures.retry_after_ms, -1);
    login.2 += 1_000;
    assert_eq!(login.exhaust(), (1, 60_000));
    // An hour back, from one second after the first attempt.
    let state = state_of::<Lockout>(&login.1);
    let earlier = Micros(T0 - 3_600_000_000);
    let decision = login.0.decide(state, earlier, Cost::ONE).unwrap();
    let restated = Lockout::to_words(decision.change.state().unwrap());
    assert_eq!(restated, [5, earlier.millis(), earlier.millis(), 60_000, 0]);
    assert_eq!(decision.verdict.ttl, 60);
}

#[test]
fn a_longest_lock_shorter_than_the_first_is_an_error() {
    let new = |block: Option<u64>, max: Option<u64>| {
        let [block, max] = [block, max].map(|length| length.and_then(Window::from_millis));
        Lockout::new(&Policy { block, max, ..policy(2 * DAY, 5) }).map(|lockout| Login::new(lockout).exhaust().1)
    };
    assert_eq!(new(Some(2), Some(1)).unwrap_err(), Unrepresentable::Order);
    assert_eq!(new(None, Some(DAY)).unwrap_err(), Unrepresentable::Order, "the first lock is a window");
    assert_eq!(new(None, None), Ok(2 * DAY.cast_signed()), "so the longest is that too");
    assert_eq!(new(Some(3), Some(3)), Ok(3));
}

/// BLOCK × 2^n is never MAX: the longest lock counts as a level all the same, and quiet time takes it back.
#[test]
fn the_longest_lock_need_not_be_a_doubling_of_the_first() {
    let mut login = Login::new(lockout(60_000, 1, 200, 500));
    for lock in [200, 400, 500, 500] {
        assert_eq!(login.exhaust(), (1, lock));
        login.2 += lock.cast_unsigned();
    }
    login.2 += 500;
    assert_eq!(login.exhaust(), (1, 400), "one level lower after a whole MAX of quiet");
}

/// The most attempts before `span`, of all sequences of the moves that are worth it: to use all attempts and be locked; to
/// use all but one, and wait for the next window; to wait until the level falls.
fn most([window, limit, block, max]: [u64; 4], span: u64) -> u64 {
    // By the time: the level and the quiet time so far, and the most attempts that lead there.
    let mut reached = BTreeMap::from([(0, HashMap::from([((0, 0), 0)]))]);
    let mut most = 0;
    while let Some((at, ways)) = reached.pop_first() {
        for ((level, quiet), attempts) in ways {
            let mut reach = |after: u64, level: u64, quiet: u64, attempts: u64| {
                let way = reached.entry(at + after).or_default().entry((level, quiet)).or_insert(attempts);
                *way = attempts.max(*way);
            };
            most = most.max(attempts);
            if at >= span {
                continue;
            }
            let lock = (block << level).min(max);
            let after = if lock < max { level + 1 } else { level };
            reach(lock, after, 0, attempts + limit);
            if limit > 1 {
                reach(window, level.saturating_sub(window / max), window % max, attempts + limit - 1);
            }
            if level > 0 {
                reach(max - quiet, level - 1, 0, attempts);
            }
        }
    }
    most
}

/// docs/algorithms.md states these.
#[test]
fn the_most_guesses_are_those_that_the_page_states() {
    // In minutes.
    let found = [1_440, 365 * 1_440].map(|span| most([1_440, 5, 1, 1_440], span));
    let page = include_str!("../../../docs/algorithms.md");
    let stated = format!("{} guesses on the first day and {} in a year", found[0], found[1]);
    assert!(page.contains(&stated), "{stated}");
}

proptest! {
    /// n guesses at once are n, however they are bundled.
    #[test]
    fn guesses_at_once_are_counted_one_by_one(limit in 1..20u64, units in proptest::collection::vec(1..5u64, 1..30)) {
        let mut login = Login::new(lockout(DAY, limit, MINUTE, DAY));
        let allowed: u64 = units.iter().filter(|&&units| login.attempt(units).verdict.allowed).sum();
        prop_assert!(allowed <= limit);
        prop_assert!(login.attempt(1).verdict.allowed == (allowed < limit));
    }
}
