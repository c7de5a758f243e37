//! Reservations against an oracle that knows every charge by itself, and the properties that hold under any clock.

mod oracle;

use oracle::{Call, Kind, WINDOW, agrees, repeats_change_nothing};
use proptest::prelude::*;

use super::super::in_memory::{InMemory, Limit};
use super::super::reservation::{Ended, MAX_RESERVATIONS, Reservation};
use super::super::rolling_log::Log;
use super::super::*;
use super::{T0, cost, policy};
use crate::reservation::{EARLIEST, EARLIEST_END};

const IDS: u8 = 4;

fn millis(millis: u64) -> Window {
    Window::from_millis(millis).unwrap()
}

fn open(units: u64, charged_at: u64, ends_at: u64, counts_until: u64) -> Reservation {
    Reservation { cost: Some(cost(units)), charged_at, ends_at, counts_until, ttl: millis(ends_at - charged_at) }
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        2 => (0..6_u64).prop_map(|units| Call::Request { units }),
        5 => (0..IDS, 1..3 * WINDOW, 0..8_u64).prop_map(|(id, ttl, units)| Call::Reserve { id, ttl, units }),
        4 => (0..IDS, 0..12_u64).prop_map(|(id, units)| Call::Settle { id, units }),
        1 => Just(Call::Reset),
    ]
}

/// Microseconds between two calls.
fn pause() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0..1_000_u64, 0..300_000_u64, 900_000..1_100_000_u64, 0..4_000_000_u64]
}

fn calls() -> impl Strategy<Value = Vec<(u64, Call)>> {
    prop::collection::vec((pause(), call()), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn each_algorithm_agrees_with_the_oracle(calls in calls(), limit in 1..20_u64) {
        agrees::<FixedWindow>(Kind::Fixed, limit, &calls);
        agrees::<WindowCounter>(Kind::Window, limit, &calls);
        agrees::<SlidingCounter>(Kind::Counter, limit, &calls);
        agrees::<RollingLog>(Kind::Rolling, limit, &calls);
    }

    #[test]
    fn a_call_that_is_sent_again_changes_nothing(
        calls in prop::collection::vec((-3_000_000..4_000_000_i64, prop_oneof![Just(WINDOW), 1..20 * WINDOW], call()), 1..40)
    ) {
        repeats_change_nothing::<FixedWindow>(&calls);
        repeats_change_nothing::<WindowCounter>(&calls);
        repeats_change_nothing::<SlidingCounter>(&calls);
        repeats_change_nothing::<RollingLog>(&calls);
    }

    /// One pass over the entries of a rolling log does what a refund of each reservation does.
    #[test]
    fn a_rolling_log_gives_back_in_one_pass_what_refunds_give_back(
        charges in prop::collection::vec((0..WINDOW, 1..9_u64), 1..30),
        ended in prop::collection::vec((0..WINDOW, 1..12_u64), 0..20),
    ) {
        let log = RollingLog::new(&policy(WINDOW, 1_000)).unwrap();
        let start = T0 / 1_000;
        let now = Micros::from_millis(start + WINDOW - 1);
        let (mut charges, mut ended) = (charges, ended);
        charges.sort_unstable();
        ended.sort_unstable();
        let mut record = Vec::new();
        for (at, units) in charges {
            let at = Micros::from_millis(start + at);
            let before = if record.is_empty() { Log::EMPTY } else { log.read(&record, at).unwrap() };
            let change = log.decide(before, at, cost(units)).unwrap().change;
            let write = log.write(&before, change.state().unwrap(), at);
            write.apply_to(&mut record);
        }
        let mut ended: Vec<Ended> = ended.into_iter().map(|(at, units)| {
            Ended::new(open(units, start + at, start + at + 1, start + at + WINDOW))
        }).collect();
        let at_once = log.give_back(&log.read(&record, now).unwrap(), now, &mut ended);
        let mut one_by_one = record.clone();
        for Ended { was, given_back, .. } in ended {
            let before = if one_by_one.is_empty() { Log::EMPTY } else { log.read(&one_by_one, now).unwrap() };
            let change = log.settling(before, now, &was, Cost::ZERO).unwrap();
            prop_assert_eq!(change != Change::Keep, given_back);
            match change {
                Change::Delete => one_by_one.clear(),
                change => {
                    if let Some(edit) = change.state() {
                        log.write(&before, edit, now).apply_to(&mut one_by_one);
                    }
                }
            }
        }
        let units_at = |record: &[u8], now: Micros| log.read(record, now).map_or(0, |log| log.units());
        let at_once = at_once.unwrap_or(record);
        for later in 0..=WINDOW {
            let now = now.plus(later * 1_000);
            prop_assert_eq!(units_at(&at_once, now), units_at(&one_by_one, now));
        }
    }

    #[test]
    fn a_field_that_is_read_is_written_the_same(text in "([0-9]{0,20}:?){0,6}") {
        if let Some(field) = Reservation::decode(text.as_bytes()) {
            prop_assert_eq!(field.encode().to_vec(), text.into_bytes());
        }
    }
}

#[test]
fn foreign_fields_are_rejected() {
    let short = ["", ":", "1", "1:2:3:4", ":2:3:4", "a"];
    let odd = ["1:2:3:4:5:6", "1:2:3:4:5:", "01:2:3:4:5", "-1:2:3:4:5", "1:2:3:4:0", " 1:2:3:4:5"];
    let large = ["9223372036854775808:2:3:4:5", "1:9223372036854775808:3:4:5", "1:2:3:4:99999999999999999999"];
    for text in short.iter().chain(&odd).chain(&large) {
        assert_eq!(Reservation::decode(text.as_bytes()), None, "{text}");
    }
    assert!(Reservation::decode(b"9223372036854775807:0:0:0:1").is_some());
    assert!(Reservation::decode(b":0:0:0:1").is_some());
}

/// So many reservations of one unit. Reservation `n` ends `n` microseconds after 5 seconds.
fn many(algorithm: &WindowCounter, count: u64) -> Limit<WindowCounter> {
    let mut stored = Limit::<WindowCounter>::default();
    algorithm.request(&mut stored.key, Micros(T0), cost(count)).unwrap();
    let counts_until = stored.key.unwrap().expires_at.unwrap();
    for n in 0..count {
        let field = Reservation::open(Cost::ONE, Micros(T0).plus(n), millis(5_000), counts_until);
        stored.fields.insert(n.to_be_bytes().to_vec(), field.encode().to_vec());
    }
    stored.fields.insert(EARLIEST.to_vec(), EARLIEST_END.to_vec());
    stored.expires_at = Some(counts_until + 5_000);
    stored
}

#[test]
fn a_full_hash_denies_until_one_ends() {
    let algorithm = WindowCounter::with_policy(&policy(3_600_000, MAX_COUNT)).unwrap();
    let mut stored = many(&algorithm, MAX_RESERVATIONS);
    let later = Micros(T0 + 1_000_000);
    let denied = stored.reserve(&algorithm, later, b"one more", millis(5_000), Cost::ONE).unwrap();
    assert_eq!((denied.reply.verdict.allowed, denied.charged, denied.full_for), (false, 0, Some(4_000)));
    let again = stored.reserve(&algorithm, later, &1_u64.to_be_bytes(), millis(1), Cost::ONE).unwrap();
    assert!(again.repeated && again.reply.verdict.allowed, "a repeated call needs no room");
    stored.settle(&algorithm, later, &7_u64.to_be_bytes(), Cost::ZERO).unwrap();
    assert!(stored.reserve(&algorithm, later, b"one more", millis(5_000), Cost::ONE).unwrap().reply.verdict.allowed);
    assert_eq!(algorithm.remaining(&stored.key, later), MAX_COUNT - MAX_RESERVATIONS);
}

/// A call gives back a thousand, the earliest end first, and what its own id holds. The rest counts until a later call.
#[test]
fn a_call_gives_back_a_thousand() {
    let algorithm = WindowCounter::with_policy(&policy(3_600_000, MAX_COUNT)).unwrap();
    let mut stored = many(&algorithm, 2_500);
    let ended = Micros(T0 + 6_000_000);
    let is_mark = |stored: &Limit<_>, n: u64| stored.fields[&n.to_be_bytes()[..]].starts_with(b":");
    assert_eq!(stored.settle(&algorithm, ended, b"unknown", Cost::ONE), Ok(0));
    assert_eq!(algorithm.remaining(&stored.key, ended), MAX_COUNT - 1_500);
    assert_eq!([0, 999, 1_000, 2_499].map(|n| is_mark(&stored, n)), [true, true, false, false]);
    assert_eq!(stored.settle(&algorithm, ended, &2_499_u64.to_be_bytes(), cost(3)), Ok(3));
    assert_eq!(algorithm.remaining(&stored.key, ended), MAX_COUNT - 499 - 3);
    assert_eq!([1_000, 1_999, 2_000].map(|n| is_mark(&stored, n)), [true, true, false]);
    assert_eq!(stored.settle(&algorithm, ended, b"unknown", Cost::ONE), Ok(0));
    assert_eq!(algorithm.remaining(&stored.key, ended), MAX_COUNT - 3);
    assert_eq!(stored.fields.len(), 2_499 + 1, "the marks stay for as long again");
    let gone = Micros(T0 + 11_000_000);
    for left in [1_499, 499, 0] {
        assert_eq!(stored.settle(&algorithm, gone, b"unknown", Cost::ONE), Ok(0));
        assert_eq!(stored.fields.len(), if left == 0 { 0 } else { left + 1 });
    }
}

/// A worker dies while nobody else calls. Its estimate is back at the first call, long after its mark is gone.
#[test]
fn what_a_dead_holder_reserved_is_back_at_the_next_call() {
    let month = Policy { schedule: Schedule::Calendar(period::CalendarUnit::Month, None), ..policy(1, 10) };
    let algorithm = FixedWindow::with_policy(&month).unwrap();
    let (mut stored, now) = (Limit::<FixedWindow>::default(), Micros(T0));
    assert!(stored.reserve(&algorithm, now, b"a", millis(60_000), cost(10)).unwrap().reply.verdict.allowed);
    let later = now.plus(86_400_000_000);
    assert!(stored.reserve(&algorithm, later, b"b", millis(60_000), cost(10)).unwrap().reply.verdict.allowed);
    assert_eq!(stored.settle(&algorithm, later, b"a", cost(9)), Ok(0), "it ended longer ago than its ttl");
}

/// A mark stays for one more ttl, and what was given back otherwise is not charged for it.
#[test]
fn a_mark_lasts_for_its_ttl_and_knows_what_was_given_back() {
    let algorithm = RollingLog::with_policy(&policy(60_000, 10)).unwrap();
    let now = |ms: u64| Micros(T0).plus(ms * 1_000);
    let reserved = |units| {
        let mut stored = Limit::<RollingLog>::default();
        stored.reserve(&algorithm, now(0), b"a", millis(1_000), cost(units)).unwrap();
        stored
    };
    for (late, charged) in [(1_999, 4), (2_000, 0)] {
        assert_eq!(reserved(3).settle(&algorithm, now(late), b"a", cost(4)), Ok(charged), "{late}");
    }
    let mut stored = reserved(3);
    algorithm.request(&mut stored.key, now(20), cost(5)).unwrap();
    algorithm.refund(&mut stored.key, now(20), Some(now(0)), cost(3));
    assert_eq!(stored.settle(&algorithm, now(1_500), b"a", cost(4)), Ok(4));
    assert_eq!(
        algorithm.remaining(&stored.key, now(1_500)),
        5,
        "there was nothing to give back, so nothing is charged"
    );
}

/// What ends first need not have been charged first. The request between the two reservations is what is left.
#[test]
fn what_has_ended_is_given_back_in_the_order_of_the_charges() {
    let algorithm = RollingLog::with_policy(&policy(60_000, 10)).unwrap();
    let now = |ms: u64| Micros(T0).plus(ms * 1_000);
    let mut stored = Limit::<RollingLog>::default();
    stored.reserve(&algorithm, now(0), b"a", millis(2_000), Cost::ONE).unwrap();
    algorithm.request(&mut stored.key, now(1_000), Cost::ONE).unwrap();
    stored.reserve(&algorithm, now(1_500), b"b", millis(100), Cost::ONE).unwrap();
    stored.settle(&algorithm, now(3_000), b"unknown", Cost::ONE).unwrap();
    assert_eq!([60_500, 61_100].map(|ms| algorithm.remaining(&stored.key, now(ms))), [9, 10]);
}

/// It is five seconds later than needed, so that most calls keep it.
#[test]
fn the_expiry_of_the_hash_is_set_only_where_it_must() {
    let algorithm = RollingLog::with_policy(&policy(60_000, 10)).unwrap();
    let mut stored = Limit::<RollingLog>::default();
    let expiries = [(b"a", 0), (b"b", 5_000), (b"c", 5_001)].map(|(id, ms)| {
        stored.reserve(&algorithm, Micros(T0).plus(ms * 1_000), id, millis(1_000), Cost::ONE).unwrap();
        stored.expires_at.unwrap() - T0 / 1_000
    });
    assert_eq!(expiries, [65_000, 65_000, 70_001]);
}
