//! RL.SETTLE: a request was charged n units and turned out to cost m. What was charged too much is refunded; what was
//! charged too little is charged whatever the limit says, and then counts as long as the algorithm promises.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::super::fixed_window::Counter;
use super::super::sliding_log::LogChange;
use super::super::*;
use super::{SECOND, T0, burst, cost, policy};
use crate::in_memory::{InMemory, Log, StoredRecord};
use crate::record;

const NOW: Micros = Micros(T0);
const MINUTE: u64 = 60_000;

/// RL.SETTLE: `reserved` units were charged, `actual` was the cost.
fn settle<A: InMemory>(algorithm: &A, key: &mut A::Key, now: Micros, at: Option<Micros>, reserved: u64, actual: u64) {
    A::expire(key, now);
    if actual < reserved {
        algorithm.refund(key, now, at, cost(reserved - actual));
    } else {
        algorithm.overcharge(key, now, at, cost(actual - reserved)).unwrap();
    }
}

fn allows<A: InMemory>(algorithm: &A, key: &A::Key, now: Micros, units: u64) -> bool {
    let mut key = key.clone();
    A::expire(&mut key, now);
    algorithm.request(&mut key, now, cost(units)).is_ok_and(|reply| reply.verdict.allowed)
}

fn remaining<A: InMemory>(algorithm: &A, key: &A::Key, now: Micros) -> u64 {
    let mut key = key.clone();
    A::expire(&mut key, now);
    algorithm.remaining(&key, now)
}

fn text(key: &Option<StoredRecord>) -> &str {
    key.as_ref().map_or("", |stored| std::str::from_utf8(&stored.text).unwrap())
}

/// The start of the records of an algorithm.
fn tag<A: RecordAlgorithm>() -> &'static str {
    std::str::from_utf8(<A::Tag as record::Tag>::TEXT).unwrap()
}

/// How many integers a record has.
fn integers(key: &Option<StoredRecord>) -> usize {
    text(key).split(':').filter(|word| word.parse::<u64>().is_ok()).count()
}

fn expires_at(key: &Option<StoredRecord>) -> u64 {
    key.as_ref().unwrap().expires_at.unwrap()
}

// Token bucket and leaky bucket.

/// 663 tokens used, 100 of them reserved, against 100 a minute: 0.6 s a token.
fn tokens_of_a_language_model<A: RecordAlgorithm>() {
    let algorithm = A::with_policy(&policy(MINUTE, 100)).unwrap();
    let mut key = None;
    assert!(algorithm.request(&mut key, NOW, cost(100)).unwrap().verdict.allowed);
    assert_eq!(text(&key), format!("{}100:0:60000:{T0}", tag::<A>()));
    settle(&algorithm, &mut key, NOW, None, 100, 663);
    assert_eq!(text(&key), format!("{}100:0:60000:{T0}:563", tag::<A>()));
    assert_eq!(expires_at(&key), (T0 + 663 * 600_000) / 1_000 + record::SLACK_MS);

    // One unit fits when 564 have drained, and all of them when 663 have.
    let first = Micros(T0 + 564 * 600_000);
    let denied = algorithm.request(&mut key, NOW, Cost::ONE).unwrap();
    assert_eq!(denied.verdict, Verdict { allowed: false, count: 663, ttl: 339 });
    let blocked =
        Figures { limit: 100, remaining: 0, retry_after_ms: 338_400, next_ms: 338_400, reset_ms: 397_800, delay_ms: 0 };
    assert_eq!(denied.figures, blocked);
    assert!(!allows(&algorithm, &key, Micros(first.0 - 1), 1) && allows(&algorithm, &key, first, 1));
    assert!(!allows(&algorithm, &key, first, 2));
    let all = Micros(T0 + 663 * 600_000);
    assert!(!allows(&algorithm, &key, Micros(all.0 - 1), 100) && allows(&algorithm, &key, all, 100));
    // The first request that is allowed writes a record without debt.
    assert!(algorithm.request(&mut key, first, Cost::ONE).unwrap().verdict.allowed);
    assert_eq!(text(&key), format!("{}100:0:60000:{}", tag::<A>(), first.0));
}

#[test]
fn what_was_used_beyond_the_limit_blocks_as_long_as_the_rate_says() {
    tokens_of_a_language_model::<TokenBucket>();
    tokens_of_a_language_model::<LeakyBucket>();
}

#[test]
fn a_leaky_bucket_delays_what_it_allows_by_the_rest_of_the_queue() {
    let leaky = LeakyBucket::with_policy(&policy(MINUTE, 100)).unwrap();
    let mut key = None;
    settle(&leaky, &mut key, NOW, None, 0, 150);
    let denied = leaky.request(&mut key, NOW, Cost::ONE).unwrap();
    assert_eq!((denied.verdict.allowed, denied.figures.delay_ms), (false, 0));
    let later = Micros(T0 + 60 * SECOND);
    assert_eq!(leaky.request(&mut key, later, Cost::ONE).unwrap().figures.delay_ms, 30_000);
}

/// The amount above a capacity that a later call names is forgiven, and debt is not.
#[test]
fn a_smaller_capacity_forgives_what_is_above_it_but_no_debt() {
    let bucket = |capacity| TokenBucket::with_policy(&burst(policy(MINUTE, 60), capacity)).unwrap();
    let (large, small) = (bucket(100), bucket(10));
    let key = |units| {
        let mut key = None;
        settle(&large, &mut key, NOW, None, 0, units);
        key
    };
    let waits = |bucket: &TokenBucket, key: &Option<StoredRecord>| {
        bucket.request(&mut key.clone(), NOW, Cost::ONE).unwrap().figures.retry_after_ms
    };
    // One a second. 100 used count as 10; 100 used and 30 of debt count as 10 and 30.
    assert_eq!((waits(&large, &key(100)), waits(&small, &key(100))), (1_000, 1_000));
    assert_eq!((waits(&large, &key(130)), waits(&small, &key(130))), (31_000, 31_000));
    // A larger capacity gives room for both.
    assert_eq!(remaining(&bucket(150), &key(130), NOW), 20);
    // Under a smaller capacity the excess becomes debt as well.
    let mut key = key(130);
    settle(&small, &mut key, NOW, None, 0, 5);
    assert_eq!(text(&key), format!("T:10:0:60000:{T0}:35"));
    assert_eq!(waits(&large, &key), 0, "10 + 35 of 100");
}

#[test]
fn a_refund_reduces_debt_first() {
    let bucket = TokenBucket::with_policy(&policy(MINUTE, 60)).unwrap();
    let later = Micros(T0 + 20 * SECOND);
    let mut key = None;
    settle(&bucket, &mut key, NOW, None, 0, 100);
    assert_eq!(text(&key), format!("T:60:0:60000:{T0}:40"));
    settle(&bucket, &mut key, later, None, 30, 0);
    assert_eq!(text(&key), format!("T:60:0:60000:{T0}:10"));
    assert_eq!(expires_at(&key), (T0 + 70 * SECOND) / 1_000 + record::SLACK_MS);
    settle(&bucket, &mut key, later, None, 10, 0);
    assert_eq!(text(&key), format!("T:60:0:60000:{T0}"), "no integer for a debt of 0");
    settle(&bucket, &mut key, later, None, 15, 0);
    assert_eq!(text(&key), format!("T:45:0:60000:{T0}"));
    assert_eq!(remaining(&bucket, &key, later), 35, "20 of 45 have drained");
    settle(&bucket, &mut key, later, None, 25, 0);
    assert_eq!(key, None, "20 more than those that have drained");

    settle(&bucket, &mut key, NOW, None, 0, 100);
    settle(&bucket, &mut key, NOW, None, 55, 0);
    assert_eq!(text(&key), format!("T:45:0:60000:{T0}"), "from the debt and from what is used");
}

/// The unit that is started counts as used, so debt is a number of whole units.
#[test]
fn debt_is_whole_units_and_nothing_is_rounded() {
    let bucket = TokenBucket::with_policy(&policy(MINUTE, 60)).unwrap();
    let mut key = None;
    settle(&bucket, &mut key, NOW, None, 0, 60);
    // A quarter of a unit drains.
    let later = Micros(T0 + 250_000);
    settle(&bucket, &mut key, later, None, 0, 40);
    assert_eq!(text(&key), format!("T:59:45000000:60000:{}:40", later.0));
    let last = Micros(T0 + 100 * SECOND);
    assert!(!allows(&bucket, &key, Micros(last.0 - 1), 60) && allows(&bucket, &key, last, 60));
    // Just full is no debt.
    let mut key = None;
    settle(&bucket, &mut key, NOW, None, 10, 70);
    assert_eq!(text(&key), format!("T:60:0:60000:{T0}"));
}

#[test]
fn a_record_with_debt_is_read_as_it_was_written_and_damaged_debt_is_none() {
    for tag in ["T:", "L:"] {
        let decodes = |debt: &str| {
            let record = format!("{tag}100:0:60000:{T0}{debt}");
            let [token, leaky] = [record::decode::<TokenBucket>, record::decode::<LeakyBucket>];
            if tag == "T:" { token(record.as_bytes()) } else { leaky(record.as_bytes()) }.is_some()
        };
        assert!(decodes(""), "a record of an older version");
        assert!(decodes(":1") && decodes(":563") && decodes(":9223372036854775807"));
        for damaged in
            [":0", ":", ":00", ":01", ":-1", ":+1", ": 1", ":1 ", ":1:", ":1:1", ":x", ":9223372036854775808", "1:"]
        {
            assert!(!decodes(damaged), "{tag} {damaged}");
        }
    }
    // The others have no debt.
    assert!(record::decode::<SlidingCounter>(b"C:60000:28333333:20:70").is_some());
    assert!(record::decode::<SlidingCounter>(b"C:60000:28333333:20:70:1").is_none());
    assert!(record::decode::<Gcra>(b"1700000000000000000:1").is_none());
}

/// Nothing drains at a limit of 0, so a charge would never end.
#[test]
fn under_a_limit_of_0_nothing_is_charged_for_ever() {
    let none = TokenBucket::with_policy(&burst(policy(MINUTE, 0), 5)).unwrap();
    let mut key = None;
    settle(&none, &mut key, NOW, None, 0, 9);
    assert_eq!(key, None);
    let some = TokenBucket::with_policy(&policy(MINUTE, 60)).unwrap();
    settle(&some, &mut key, NOW, None, 0, 100);
    let before = key.clone();
    settle(&none, &mut key, NOW, None, 0, 9);
    assert_eq!(key, before);
    settle(&none, &mut key, NOW, None, 9, 0);
    assert_eq!(expires_at(&key), expires_at(&before), "a refund under another policy leaves the expiry for those");
}

// Fixed window.

#[test]
fn the_fixed_window_counts_what_goes_beyond_the_limit_until_the_window_ends() {
    let fixed = FixedWindow::with_policy(&policy(MINUTE, 100)).unwrap();
    let (start, end) = (T0 - T0 % (MINUTE * 1_000), T0 - T0 % (MINUTE * 1_000) + MINUTE * 1_000);
    let at = |micros| Some(Micros(micros));
    let counter = Some(Counter { value: 100, expires_at: Some(T0 / 1_000 + 9) });
    let charged = |at, units| fixed.overcharge(counter, NOW, at, cost(units)).unwrap();
    let of = |value| Change::Charge(Counter { value, expires_at: Some(T0 / 1_000 + 9) });
    assert_eq!(charged(None, 563), of(663));
    // The window of AT is this one, from its first moment on; the future is now.
    assert_eq!(charged(at(start), 5), of(105));
    assert_eq!(charged(at(T0), 5), of(105));
    assert_eq!(charged(at(end), 5), of(105));
    assert_eq!(charged(at(u64::MAX), 5), of(105));
    assert_eq!(charged(at(start - 1), 5), Change::Keep);
    assert_eq!(charged(at(0), 5), Change::Keep);
    let refunded = |at| fixed.refund(counter, NOW, at, cost(5));
    assert_eq!(refunded(at(start)), Change::Refund(Counter { value: 95, expires_at: Some(T0 / 1_000 + 9) }));
    assert_eq!(refunded(at(end)), refunded(at(start)));
    assert_eq!(refunded(at(start - 1)), Change::Keep);

    // The counter is new, is 0, or has no expiry: it gets one, as INCR and EXPIRE of the script would.
    let expires = Some(T0 / 1_000 + MINUTE);
    for before in [None, Some(Counter { value: 0, expires_at: None }), Some(Counter { value: 0, expires_at: Some(1) })]
    {
        let change = fixed.overcharge(before, NOW, None, cost(7));
        assert_eq!(change, Ok(Change::Charge(Counter { value: 7, expires_at: expires })), "{before:?}");
    }
    let without = fixed.overcharge(Some(Counter { value: 3, expires_at: None }), NOW, None, cost(7));
    assert_eq!(without, Ok(Change::Charge(Counter { value: 10, expires_at: expires })));
    let most = Some(Counter { value: i64::MAX - 4, expires_at: expires });
    assert!(fixed.overcharge(most, NOW, None, cost(3)).is_ok());
    assert_eq!(
        fixed.overcharge(most, NOW, None, cost(4)),
        Err(Unrepresentable::Overflow),
        "none is left for a request"
    );
    assert_eq!(fixed.overcharge(most, NOW, None, cost(5)), Err(Unrepresentable::Overflow));
    // Not counted anywhere, so not too much.
    assert_eq!(fixed.overcharge(most, NOW, at(start - 1), cost(5)), Ok(Change::Keep));
}

#[test]
fn windows_of_the_calendar_and_with_an_anchor_have_their_own_start() {
    use period::{Anchor, CalendarUnit};
    // T0 is 2023-11-14 22:13:20 UTC, a Tuesday.
    let anchored = Anchor::from_seconds(30).unwrap();
    for (schedule, start) in [
        (Schedule::Calendar(CalendarUnit::Month, None), 1_698_796_800),
        (Schedule::Calendar(CalendarUnit::Day, None), 1_699_920_000),
        (Schedule::Anchored(Window::from_millis(MINUTE).unwrap(), anchored), 1_699_999_950),
    ] {
        let fixed = FixedWindow::with_policy(&Policy { schedule, limit: 5, burst: None }).unwrap();
        let charge = |at| fixed.overcharge(None, NOW, Some(Micros(at)), Cost::ONE).unwrap();
        assert_eq!(fixed.period_at(NOW).start, Micros(start * SECOND));
        assert!(matches!(charge(start * SECOND), Change::Charge(Counter { value: 1, .. })), "{schedule:?}");
        assert_eq!(charge(start * SECOND - 1_000), Change::Keep, "{schedule:?}");
    }
}

// Sliding window counter.

#[test]
fn the_counter_corrects_the_window_of_the_request() {
    let counter = SlidingCounter::with_policy(&policy(MINUTE, 100)).unwrap();
    let this = T0 - T0 % (MINUTE * 1_000);
    let number = this / (MINUTE * 1_000);
    let before = |current, previous| {
        let record = format!("C:60000:{number}:{current}:{previous}");
        Some(StoredRecord { text: record.into_bytes(), expires_at: None })
    };
    let after = |key: Option<StoredRecord>, at: Option<u64>, reserved, actual| {
        let mut key = key;
        settle(&counter, &mut key, NOW, at.map(Micros), reserved, actual);
        text(&key).strip_prefix(&format!("C:60000:{number}:")).unwrap_or_default().to_owned()
    };
    let previous = this - MINUTE * 1_000;
    for (at, charged, refunded) in [
        (None, "25:40", "15:40"),
        (Some(T0), "25:40", "15:40"),
        (Some(this), "25:40", "15:40"),
        (Some(this + MINUTE * 1_000), "25:40", "15:40"),
        (Some(u64::MAX), "25:40", "15:40"),
        (Some(this - 1), "20:45", "20:35"),
        (Some(previous), "20:45", "20:35"),
        (Some(previous - 1), "20:40", "20:40"),
        (Some(0), "20:40", "20:40"),
    ] {
        assert_eq!(after(before(20, 40), at, 0, 5), charged, "{at:?}");
        assert_eq!(after(before(20, 40), at, 5, 0), refunded, "{at:?}");
    }
    // Without AT the rest comes from the previous window; with AT it does not.
    assert_eq!(after(before(20, 40), None, 30, 0), "0:30");
    assert_eq!(after(before(20, 40), Some(T0), 30, 0), "0:40");
    assert_eq!(after(before(20, 40), Some(previous), 50, 0), "20:0");
    assert_eq!(after(before(20, 0), Some(T0), 30, 0), "", "an empty record is deleted");
    // What is charged to the previous window alone is forgotten when this one ends.
    let mut key = None;
    settle(&counter, &mut key, NOW, Some(Micros(previous)), 0, 9);
    assert_eq!(text(&key), format!("C:60000:{number}:0:9"));
    assert_eq!(expires_at(&key), this / 1_000 + MINUTE + record::SLACK_MS);
}

// Sliding window log.

#[test]
fn the_log_gets_entries_of_the_time_of_the_request() {
    let log = SlidingLog::with_policy(&policy(MINUTE, 3)).unwrap();
    let now = T0 / 1_000;
    let charge = |millis: u64| log.overcharge(NOW, Some(Micros::from_millis(millis)), cost(2));
    let earlier = |millis| Change::Charge(LogChange::AddEarlier { count: 2, millis });
    assert_eq!(log.overcharge(NOW, None, cost(2)), Change::Charge(LogChange::Add(2)));
    assert_eq!(charge(now), Change::Charge(LogChange::Add(2)));
    assert_eq!(charge(now + 1), Change::Charge(LogChange::Add(2)));
    assert_eq!(charge(MAX_COUNT), Change::Charge(LogChange::Add(2)));
    assert_eq!(charge(now - 1), earlier(now - 1));
    assert_eq!(charge(now - MINUTE + 1), earlier(now - MINUTE + 1));
    assert_eq!(charge(now - MINUTE), Change::Keep, "an entry of that time no longer counts");
    assert_eq!(charge(0), Change::Keep);
}

#[test]
fn the_log_gives_back_the_entries_of_that_time_else_the_nearest_older() {
    let log = SlidingLog::with_policy(&policy(MINUTE, 9)).unwrap();
    let now = T0 / 1_000;
    let before = Log { entries: [50, 40, 40, 30, 10].map(|ago| now - ago).into(), expires_at: None };
    let after = |at: u64, units| {
        let mut key = before.clone();
        settle(&log, &mut key, NOW, Some(Micros::from_millis(at)), units, 0);
        key.entries.iter().map(|entry| now - entry).collect::<Vec<_>>()
    };
    assert_eq!(after(now - 40, 1), [50, 40, 30, 10]);
    assert_eq!(after(now - 40, 2), [50, 30, 10]);
    assert_eq!(after(now - 40, 3), [30, 10]);
    assert_eq!(after(now - 40, 9), [30, 10], "no younger ones");
    assert_eq!(after(now - 39, 1), [50, 40, 30, 10], "the nearest older");
    assert_eq!(after(now - 51, 1), [50, 40, 40, 30, 10]);
    assert_eq!(after(0, 1), [50, 40, 40, 30, 10]);
    assert_eq!(after(now + 99, 1), [50, 40, 40, 30], "the future is now");
}

// GCRA.

#[test]
fn gcra_charges_up_to_full_and_forgets_the_rest() {
    let gcra = Gcra::with_policy(&policy(MINUTE, 60)).unwrap();
    let seconds = |n: u64| (T0 + n * SECOND) * 1_000;
    let mut key = None;
    settle(&gcra, &mut key, NOW, None, 0, 40);
    assert_eq!(text(&key), seconds(40).to_string());
    settle(&gcra, &mut key, NOW, None, 0, 1_000);
    assert_eq!(text(&key), seconds(60).to_string());
    assert_eq!(gcra.request(&mut key, NOW, Cost::ONE).unwrap().figures.retry_after_ms, 1_000);
    settle(&gcra, &mut key, NOW, None, 0, MAX_COUNT);
    assert_eq!(text(&key), seconds(60).to_string());
    settle(&gcra, &mut key, NOW, None, 25, 20);
    assert_eq!(text(&key), seconds(55).to_string());
}

// All of them.

/// `state` of any content; the change of a settlement that corrects nothing.
fn corrects_nothing<A: RecordAlgorithm>(policy: &Policy, words: [u64; 5], now: u64, at: Option<u64>) -> TestCaseResult {
    let Ok(algorithm) = A::with_policy(policy) else { return Ok(()) };
    let mut record = A::Words::ZERO;
    record.as_mut().iter_mut().zip(words).for_each(|(to, from)| *to = from);
    for state in [None, A::from_words(&record)] {
        let change = algorithm.overcharge(state, Micros(now), at.map(Micros), Cost::ZERO);
        prop_assert_eq!(change, Ok(Change::Keep));
    }
    Ok(())
}

/// AT means nothing to an algorithm that does not know when a unit was charged.
fn ignores_at<A: RecordAlgorithm>(policy: &Policy, words: [u64; 5], at: u64, units: u64) -> TestCaseResult {
    let Ok(algorithm) = A::with_policy(policy) else { return Ok(()) };
    let mut record = A::Words::ZERO;
    record.as_mut().iter_mut().zip(words).for_each(|(to, from)| *to = from);
    for state in [None, A::from_words(&record)] {
        let changes = [None, Some(Micros(at)), Some(NOW), Some(Micros(0))].map(|at| {
            (algorithm.overcharge(state, NOW, at, cost(units)), algorithm.refund(state, NOW, at, cost(units)))
        });
        prop_assert!(changes.iter().all(|change| *change == changes[0]), "{changes:?}");
        // Whatever was stored, what is written is a record of this algorithm.
        for written in [changes[0].0.unwrap_or(Change::Keep), changes[0].1].iter().filter_map(Change::state) {
            prop_assert_eq!(record::decode::<A>(&record::encode::<A>(written)), Some(*written));
        }
    }
    Ok(())
}

/// A call of a run: how long after the one before it, and what it does.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// Thousandths of a window.
    wait: u64,
    units: u64,
    what: What,
    /// How long ago the settled request was, in thousandths of a window.
    ago: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Request,
    Charge,
    Refund,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let wait = prop_oneof![4 => Just(0), 4 => 0..200u64, 2 => 0..1_500u64];
    let what = prop_oneof![5 => Just(What::Request), 2 => Just(What::Charge), 2 => Just(What::Refund)];
    let ago = proptest::option::of(prop_oneof![4 => 0..1_200u64, 1 => 0..3_000u64]);
    let call = (wait, 0..15u64, what, ago).prop_map(|(wait, units, what, ago)| Call { wait, units, what, ago });
    proptest::collection::vec(call, 1..40)
}

fn policies() -> impl Strategy<Value = Policy> {
    let window = prop_oneof![1..20u64, Just(1_000), Just(1_001), Just(MINUTE)];
    (window, 1..13u64, proptest::option::of(1..16u64))
        .prop_map(|(window, limit, burst)| Policy { burst, ..policy(window, limit) })
}

/// The times of a run: now, and when the settled request was.
fn timed(calls: &[Call], window: u64) -> impl Iterator<Item = (Call, Micros, Option<Micros>)> {
    let mut now = T0 + 7;
    calls.iter().map(move |&call| {
        now += call.wait * window / 1_000;
        (call, Micros(now), call.ago.map(|ago| Micros::from_millis((now - ago * window / 1_000) / 1_000)))
    })
}

/// The tokens left in the bucket, which a settlement may make negative. Compares every reply, the record and the
/// expiry; and over the whole run, what was allowed plus what was settled never exceeds the burst, what the rate gave
/// since, and the overdraft that is still to be paid.
fn a_bucket_that_may_be_overdrawn<A: RecordAlgorithm>(policy: &Policy, run: &[Call]) -> TestCaseResult {
    let [window, limit, capacity] = [policy.window().micros(), policy.limit, policy.capacity()].map(i128::from);
    let algorithm = A::with_policy(policy).unwrap();
    let full = capacity * window;
    let (mut key, mut tokens, mut filled, mut used) = (None, full, T0, 0);
    for (call, now, at) in timed(run, policy.window().micros()) {
        tokens = (tokens + i128::from(now.0 - filled) * limit).min(full);
        filled = now.0;
        A::expire(&mut key, now);
        let units = i128::from(call.units) * window;
        match call.what {
            What::Request => {
                let allowed = tokens >= units.max(window);
                let reply = algorithm.request(&mut key, now, cost(call.units)).unwrap();
                prop_assert_eq!(reply.verdict.allowed, allowed);
                if allowed {
                    tokens -= units;
                    used += units;
                    prop_assert!(used <= full + i128::from(now.0 - T0) * limit, "over the rate");
                }
            }
            What::Charge => {
                settle(&algorithm, &mut key, now, at, 3, 3 + call.units);
                tokens -= units;
                used += units;
                if units > 0 {
                    prop_assert_eq!(integers(&key), if tokens < 0 { 5 } else { 4 }, "{}", text(&key));
                }
            }
            What::Refund => {
                settle(&algorithm, &mut key, now, at, 3 + call.units, 3);
                let after = (tokens + units).min(full);
                used -= after - tokens;
                tokens = after;
            }
        }
        let overdraft = (-tokens).max(0);
        prop_assert!(used <= full + i128::from(now.0 - T0) * limit + overdraft);
        prop_assert_eq!(i128::from(remaining(&algorithm, &key, now)), tokens.max(0) / window);
        if key.is_some() {
            let needed = i128::from(now.0) * limit + full - tokens;
            let needed = u64::try_from((needed + limit * 1_000 - 1) / (limit * 1_000)).unwrap();
            // A division of its own rounds up to a microsecond first.
            let latest = needed + 1 + record::SLACK_MS;
            prop_assert!((needed..=latest).contains(&expires_at(&key)), "{} {needed}", expires_at(&key));
        } else {
            prop_assert_eq!(tokens, full);
        }
    }
    Ok(())
}

/// The units of each aligned window.
fn a_count_for_each_window<A: InMemory>(
    policy: &Policy,
    run: &[Call],
    weighted: bool,
    counts_denials: bool,
) -> TestCaseResult {
    let window = policy.window().micros();
    let algorithm = A::with_policy(policy).unwrap();
    let mut key = A::Key::default();
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for (call, now, at) in timed(run, window) {
        let this = now.0 / window;
        let left = window - now.0 % window;
        // In parts of 1/window.
        let used = |counts: &BTreeMap<u64, u64>| {
            let [current, previous] = [this, this - 1].map(|n| counts.get(&n).copied().unwrap_or(0));
            u128::from(current) * u128::from(window) + if weighted { u128::from(previous * left) } else { 0 }
        };
        let limit = u128::from(policy.limit * window);
        A::expire(&mut key, now);
        let of = at.map(|at| (at.0 / window).min(this));
        let corrects = |n: u64| n == this || (weighted && n + 1 == this);
        match call.what {
            What::Request => {
                let allowed = used(&counts) + u128::from(call.units.max(1) * window) <= limit;
                let counted = allowed || (counts_denials && used(&counts) >= limit);
                let reply = algorithm.request(&mut key, now, cost(call.units)).unwrap();
                prop_assert_eq!(reply.verdict.allowed, allowed);
                *counts.entry(this).or_default() += if counted { call.units } else { 0 };
            }
            What::Charge => {
                settle(&algorithm, &mut key, now, at, 3, 3 + call.units);
                if let Some(n) = Some(of.unwrap_or(this)).filter(|&n| corrects(n)) {
                    *counts.entry(n).or_default() += call.units;
                }
            }
            What::Refund => {
                settle(&algorithm, &mut key, now, at, 3 + call.units, 3);
                let mut rest = call.units;
                let mut take = |n| {
                    let count: &mut u64 = counts.entry(n).or_default();
                    if counts_denials && rest > 0 {
                        *count = (*count).min(policy.limit);
                    }
                    let taken = rest.min(*count);
                    *count -= taken;
                    rest -= taken;
                };
                match of {
                    Some(n) if corrects(n) => take(n),
                    Some(_) => {}
                    None => {
                        take(this);
                        if weighted {
                            take(this - 1);
                        }
                    }
                }
            }
        }
        let free = limit.saturating_sub(used(&counts)) / u128::from(window);
        prop_assert_eq!(u128::from(remaining(&algorithm, &key, now)), free);
    }
    Ok(())
}

/// The millisecond of every unit, the oldest first.
fn a_log_of_every_unit(policy: &Policy, run: &[Call]) -> TestCaseResult {
    let log = SlidingLog::with_policy(policy).unwrap();
    let (mut key, mut entries) = (Log::default(), Vec::<u64>::new());
    for (call, now, at) in timed(run, policy.window().micros()) {
        let millis = now.millis();
        entries.retain(|&entry| entry + policy.window().millis() > millis);
        SlidingLog::expire(&mut key, now);
        match call.what {
            What::Request => {
                let allowed = entries.len() as u64 + call.units.max(1) <= policy.limit;
                prop_assert_eq!(log.request(&mut key, now, cost(call.units)).unwrap().verdict.allowed, allowed);
                entries.extend((0..if allowed { call.units } else { 0 }).map(|_| millis));
            }
            What::Charge => {
                settle(&log, &mut key, now, at, 3, 3 + call.units);
                let of = at.map_or(millis, Micros::millis);
                let counts = of + policy.window().millis() > millis;
                entries.extend((0..if counts { call.units } else { 0 }).map(|_| of));
                entries.sort_unstable();
            }
            What::Refund => {
                settle(&log, &mut key, now, at, 3 + call.units, 3);
                for _ in 0..call.units {
                    if let Some(n) = entries.iter().rposition(|&entry| at.is_none_or(|at| entry <= at.millis())) {
                        entries.remove(n);
                    }
                }
            }
        }
        let counted: Vec<_> = key.entries.iter().filter(|&&e| e + policy.window().millis() > millis).copied().collect();
        prop_assert_eq!(&counted, &entries);
        prop_assert_eq!(remaining(&log, &key, now), policy.limit.saturating_sub(entries.len() as u64));
    }
    Ok(())
}

/// `retry_after_ms` of a denied request is exact after any settlement, also if the policies differ from call to call,
/// and although the key is removed when its expiry is over.
fn figures_come_true<A: InMemory>(policies: &[Policy], run: &[Call]) -> TestCaseResult {
    let mut key = A::Key::default();
    let window = policies[0].window().micros();
    for (n, (call, now, at)) in timed(run, window).enumerate() {
        let algorithm = A::with_policy(&policies[n % policies.len()]).unwrap();
        A::expire(&mut key, now);
        match call.what {
            What::Charge => settle(&algorithm, &mut key, now, at, 3, 3 + call.units),
            What::Refund => settle(&algorithm, &mut key, now, at, 3 + call.units, 3),
            What::Request => {}
        }
        let reply = algorithm.request(&mut key, now, cost(call.units)).unwrap();
        let Ok(wait) = u64::try_from(reply.figures.retry_after_ms) else { continue };
        let then = |millis: u64| allows(&algorithm, &key, now.plus(millis * 1_000), call.units);
        prop_assert!(reply.verdict.allowed || (wait > 0 && then(wait) && !then(wait - 1)), "{reply:?} {key:?}");
    }
    Ok(())
}

fn words() -> impl Strategy<Value = [u64; 5]> {
    let any = || (any::<u64>(), 1..64u32).prop_map(|(n, shift)| n >> shift);
    let near = prop_oneof![2 => (0..MINUTE).prop_map(|n| T0 + n), 1 => any()];
    let window = prop_oneof![Just(MINUTE), any()];
    (any(), any(), window, near, any()).prop_map(|(a, b, c, d, e)| [a, b, c, d, e])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_bucket_may_be_overdrawn(policy in policies(), run in calls()) {
        a_bucket_that_may_be_overdrawn::<TokenBucket>(&policy, &run)?;
        a_bucket_that_may_be_overdrawn::<LeakyBucket>(&policy, &run)?;
    }

    #[test]
    fn a_counter_for_each_window(policy in policies(), run in calls()) {
        a_count_for_each_window::<FixedWindow>(&policy, &run, false, true)?;
        a_count_for_each_window::<SlidingCounter>(&policy, &run, true, false)?;
    }

    #[test]
    fn the_log_holds_every_unit(policy in policies(), run in calls()) {
        a_log_of_every_unit(&policy, &run)?;
    }

    #[test]
    fn settlements_keep_the_figures_exact(policies in proptest::collection::vec(policies(), 1..3), run in calls()) {
        figures_come_true::<FixedWindow>(&policies[..1], &run)?;
        figures_come_true::<WindowCounter>(&policies, &run)?;
        figures_come_true::<SlidingLog>(&policies, &run)?;
        figures_come_true::<RollingLog>(&policies, &run)?;
        figures_come_true::<SlidingCounter>(&policies, &run)?;
        figures_come_true::<TokenBucket>(&policies, &run)?;
        figures_come_true::<LeakyBucket>(&policies, &run)?;
        figures_come_true::<Gcra>(&policies, &run)?;
    }

    #[test]
    fn nothing_to_correct_is_no_change(policy in policies(), words in words(), now: u64, at: Option<u64>) {
        corrects_nothing::<TokenBucket>(&policy, words, now, at)?;
        corrects_nothing::<LeakyBucket>(&policy, words, now, at)?;
        corrects_nothing::<SlidingCounter>(&policy, words, now, at)?;
        corrects_nothing::<Gcra>(&policy, words, now, at)?;
        let at = at.map(Micros);
        let counter = Some(Counter { value: words[0].cast_signed(), expires_at: None });
        prop_assert_eq!(FixedWindow::new(&policy).overcharge(counter, Micros(now), at, Cost::ZERO), Ok(Change::Keep));
        prop_assert_eq!(WindowCounter::new(&policy).overcharge(counter, Micros(now), at, Cost::ZERO), Ok(Change::Keep));
        prop_assert_eq!(SlidingLog::new(&policy).overcharge(Micros(now), at, Cost::ZERO), Change::Keep);
        prop_assert_eq!(SlidingLog::new(&policy).refund(words[0], at, Cost::ZERO), Change::Keep);
    }

    #[test]
    fn buckets_and_gcra_ignore_at(policy in policies(), words in words(), at: u64, units in 0..=MAX_COUNT) {
        ignores_at::<TokenBucket>(&policy, words, at, units)?;
        ignores_at::<LeakyBucket>(&policy, words, at, units)?;
        ignores_at::<Gcra>(&policy, words, at, units)?;
    }

    /// Of any state, also with the smallest capacity.
    #[test]
    fn no_capacity_forgives_debt(words in words(), policy in policies(), capacity in 1..1_000u64) {
        let debt = words[4].min(1_000_000);
        let words = [words[0], words[1], words[2], T0, debt];
        let bucket = TokenBucket::with_policy(&burst(policy, capacity)).unwrap();
        let Some(state) = TokenBucket::from_words(&words) else { return Ok(()) };
        if debt > 0 {
            let denied = bucket.decide(Some(state), NOW, Cost::ONE);
            let drained = (debt * policy.window().micros()).div_ceil(policy.limit);
            let level = capacity.min(words[0]) + debt;
            prop_assert_eq!(denied.verdict.allowed, level < capacity);
            let free = bucket.forecast(Some(state), NOW).fits_at(capacity).unwrap();
            prop_assert!(free >= Micros(T0 + drained), "{free:?}");
        }
    }
}
