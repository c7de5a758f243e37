//! What every algorithm promises. A new algorithm is tested by its row in the table of [`super`].

use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

use super::oracle::Oracle;
use super::*;

/// A request that was decided and committed.
struct Requested<'a, A: TestAlgorithm> {
    policy: Policy,
    algorithm: A,
    now: Micros,
    cost: Cost,
    reply: Reply,
    before: &'a A::Key,
    after: &'a A::Key,
}

/// Plays a trace, with its refunds, on a key that is removed when its expiry is over. Checks each request.
fn play<A: TestAlgorithm>(trace: &Trace, mut check: impl FnMut(Requested<'_, A>) -> TestCaseResult) -> TestCaseResult {
    let mut key = A::Key::default();
    for Call { policy, now, cost, refund } in trace.calls() {
        let Some(algorithm) = A::build(&policy) else { continue };
        A::expire(&mut key, now);
        let before = key.clone();
        if let Some(reply) = algorithm.request_at(&mut key, now, cost) {
            check(Requested { policy, algorithm, now, cost, reply, before: &before, after: &key })?;
        }
        let Some(algorithm) = A::build(&policy) else { continue };
        algorithm.refund(&mut key, now, None, refund);
    }
    Ok(())
}

/// What a call of [`agrees_with_its_oracle`] does. Times are of the charge: so many thousandths of a window ago, or in the
/// future.
#[derive(Clone, Copy, Debug)]
enum Action {
    Request,
    Always,
    Refund(Option<i64>),
    Overcharge(Option<i64>),
}

fn action() -> impl Strategy<Value = Action> {
    let ago = || proptest::option::of(prop_oneof![4 => 0..1_200i64, 1 => -500..3_000i64]);
    prop_oneof![
        6 => Just(Action::Request),
        2 => Just(Action::Always),
        2 => ago().prop_map(Action::Refund),
        2 => ago().prop_map(Action::Overcharge),
    ]
}

/// Every verdict, every count and all that remains are those of a list of all charges, whatever is settled; so PARTIAL
/// takes exactly what is available. One policy; the clock goes forward.
fn agrees_with_its_oracle<A: TestAlgorithm>(trace: &Trace, actions: &[Action], kind: Kind) -> TestCaseResult {
    let policy = Policy { burst: trace.policies[0].burst.filter(|_| A::TRAITS.burst), ..trace.policies[0] };
    let (Some(algorithm), mut key, mut oracle) = (A::build(&policy), A::Key::default(), Oracle::new(kind, policy))
    else {
        return Ok(());
    };
    // Units that a moment of the log has given back can leave it a later time than the rest of them had.
    let corrects = kind != Kind::Log { moments: Some(4_096) } || policy.window().millis() <= 4_096;
    for ((_, now, cost), &action) in trace.requests().zip(actions.iter().cycle()) {
        A::expire(&mut key, now);
        let ago = |ago: Option<i64>| {
            ago.map(|ago| now.0.saturating_add_signed(-ago * policy.window().micros().cast_signed() / 1_000))
                .map(|at| Micros::from_millis(at / 1_000))
        };
        let before = oracle.count(now);
        match action {
            Action::Always if A::TRAITS.always && cost.units() < 1_000 => {
                oracle.overcharge(now, None, cost.units());
                let reply = algorithm.request_charging(&mut key, now, cost, Charging::Always).unwrap();
                prop_assert_eq!(reply.verdict.allowed, policy.limit > 0 && oracle.fits(now, 0));
            }
            Action::Refund(at) if corrects => {
                algorithm.refund(&mut key, now, ago(at), cost);
                oracle.refund(now, ago(at), cost.units());
            }
            Action::Overcharge(at) if A::TRAITS.settle && corrects && cost.units() < 1_000 => {
                algorithm.overcharge(&mut key, now, ago(at), cost).unwrap();
                if kind != Kind::Bucket || policy.limit > 0 {
                    oracle.overcharge(now, ago(at), cost.units());
                }
            }
            _ => {
                let reply = algorithm.request(&mut key, now, cost).unwrap();
                prop_assert_eq!(reply.verdict.allowed, oracle.request(now, cost.units()), "{:?}", oracle);
                let count = if kind == Kind::Fixed { oracle.count(now) } else { before };
                prop_assert_eq!(reply.verdict.count.cast_unsigned(), count);
                prop_assert_eq!(reply.figures.remaining, algorithm.remaining(&key, now));
            }
        }
        prop_assert_eq!(
            algorithm.remaining(&key, now),
            oracle.remaining(now),
            "{:?} of {:?}: {:?}",
            action,
            cost,
            oracle
        );
    }
    Ok(())
}

/// A result of up to 2⁶³ − 1 units is counted exactly; one beyond that is an error and changes nothing.
fn is_counted_or_an_error<A: TestAlgorithm>(policy: &Policy, amounts: &[u64], kind: Kind) -> TestCaseResult {
    // Without debt, what is above full is forgotten. What takes few units a call needs memory for each.
    let counts_all = A::TRAITS.debt && A::TRAITS.most.is_none();
    let Some(algorithm) = A::build(policy).filter(|_| counts_all) else { return Ok(()) };
    // At the largest value, the reply to the next request of FIXED would be an error.
    let largest = if kind == Kind::Fixed { MAX_COUNT - 1 } else { MAX_COUNT };
    let (mut key, mut total, now) = (A::Key::default(), 0u64, Micros(T0));
    for &amount in amounts {
        let before = key.clone();
        let charged = algorithm.overcharge(&mut key, now, None, cost(amount));
        let after = total.checked_add(amount).filter(|&after| after <= largest);
        prop_assert_eq!(charged, after.map(|_| ()).ok_or(Unrepresentable::Overflow));
        if A::TRAITS.always {
            let always = algorithm.request_charging(&mut before.clone(), now, cost(amount), Charging::Always);
            prop_assert_eq!(always.map(|_| ()).err(), charged.err());
        }
        match after {
            // Under a limit of 0 a bucket charges nothing.
            Some(_) if kind == Kind::Bucket && policy.limit == 0 => {}
            Some(after) => total = after,
            None => prop_assert_eq!(format!("{key:?}"), format!("{before:?}")),
        }
        let look = algorithm.request(&mut key.clone(), now, Cost::ZERO).unwrap();
        prop_assert_eq!(look.verdict.count.cast_unsigned(), total);
        if policy.limit > 0 {
            prop_assert_eq!(look.figures.remaining, look.figures.limit.saturating_sub(total));
        }
        // FIXED counts what it denies.
        let Ok(reply) = algorithm.request(&mut key.clone(), now, Cost::ONE) else { continue };
        if let wait @ 1.. = reply.figures.retry_after_ms {
            let at = |ms: i64| now.plus(ms.cast_unsigned().saturating_mul(1_000));
            prop_assert!(!algorithm.allows(&key, at(wait - 1), 1) && algorithm.allows(&key, at(wait), 1));
        }
    }
    Ok(())
}

/// Wherever a request without ALWAYS is allowed, one with ALWAYS is decided and charged in the same way. Elsewhere the
/// cost is charged too. The wait of a denial is exact for the same request.
fn always_charges<A: TestAlgorithm>(trace: &Trace) -> TestCaseResult {
    if !A::TRAITS.always {
        return Ok(());
    }
    let mut key = A::Key::default();
    for Call { policy, now, cost, refund } in trace.calls() {
        let Some(algorithm) = A::build(&policy) else { continue };
        A::expire(&mut key, now);
        let (mut plain, mut charged) = (key.clone(), key.clone());
        let request = algorithm.request_at(&mut plain, now, cost);
        let settled = algorithm.overcharge(&mut charged, now, None, cost);
        let Ok(reply) = algorithm.request_charging(&mut key, now, cost, Charging::Always) else {
            prop_assert!(settled.is_err());
            continue;
        };
        prop_assert!(settled.is_ok());
        if let Some(request) = request.filter(|request| request.verdict.allowed) {
            prop_assert_eq!((reply.verdict, reply.figures), (request.verdict, request.figures));
            prop_assert_eq!(format!("{key:?}"), format!("{plain:?}"));
        } else if cost.units() > 0 {
            prop_assert!(!reply.verdict.allowed);
            prop_assert_eq!(format!("{key:?}"), format!("{charged:?}"));
        }
        prop_assert!(!reply.verdict.allowed || policy.limit > 0);
        prop_assert_eq!(reply.verdict.allowed, reply.figures.retry_after_ms == 0);
        if let wait @ 1.. = reply.figures.retry_after_ms
            && algorithm.settled(&key, now)
        {
            let allowed = |millis: i64| {
                let (mut key, at) = (key.clone(), now.plus(millis.cast_unsigned() * 1_000));
                A::expire(&mut key, at);
                algorithm
                    .request_charging(&mut key, at, cost, Charging::Always)
                    .is_ok_and(|reply| reply.verdict.allowed)
            };
            prop_assert!(allowed(wait) && !allowed(wait - 1), "{} {:?}", wait, key);
        }
        algorithm.refund(&mut key, now, None, refund);
    }
    Ok(())
}

/// A request is allowed exactly if what remains is enough, and then charges its cost; COST 0 needs one unit and charges
/// none. `remaining`, `ttl`, `retry_after_ms`, `next_ms` and `reset_ms` are exact to the millisecond if there is no other
/// request, whatever policies, times and corrections came before, and although the key is removed when its expiry is over.
fn figures_come_true<A: TestAlgorithm>(trace: &Trace, actions: &[Action]) -> TestCaseResult {
    let mut key = A::Key::default();
    for (Call { policy, now, cost, refund }, action) in trace.calls().zip(actions.iter().cycle()) {
        let Some(algorithm) = A::build(&policy) else { continue };
        A::expire(&mut key, now);
        if let Action::Overcharge(_) = action {
            algorithm.overcharge(&mut key, now, None, cost.min(super::cost(500))).ok();
        }
        let before = key.clone();
        let Some(reply) = algorithm.request_at(&mut key, now, cost) else { continue };
        let (Reply { verdict, figures, .. }, remaining) = (reply, algorithm.remaining(&before, now));
        prop_assert_eq!(verdict.allowed, remaining >= cost.needed());
        prop_assert_eq!(figures.remaining, if verdict.allowed { remaining - cost.units() } else { remaining });
        prop_assert_eq!(algorithm.remaining(&key, now), figures.remaining);
        prop_assert!(cost != Cost::ZERO || !algorithm.is_empty(&before, now) || algorithm.is_empty(&key, now));
        figures_hold(&Requested { policy, algorithm, now, cost, reply, before: &before, after: &key })?;
        let Some(algorithm) = A::build(&policy) else { continue };
        algorithm.refund(&mut key, now, None, refund);
    }
    Ok(())
}

fn figures_hold<A: TestAlgorithm>(
    Requested { policy, algorithm, now, cost, reply, after: key, .. }: &Requested<'_, A>,
) -> TestCaseResult {
    let (now, Reply { verdict, figures, .. }) = (*now, reply);
    let later = |ms: i64| now.plus(ms.cast_unsigned() * 1_000);
    let remaining = figures.remaining;

    prop_assert!(remaining <= figures.limit);
    prop_assert!(remaining == 0 || algorithm.allows(key, now, remaining), "what remains is allowed");
    prop_assert!(!algorithm.allows(key, now, remaining + 1), "no more than what remains is allowed");
    prop_assert_eq!(algorithm.allows(key, now, 0), remaining > 0, "COST 0 is allowed while something remains");
    prop_assert!(!verdict.allowed || policy.limit > 0);
    if !A::TRAITS.ttl_of_script {
        let ms = if verdict.allowed { figures.reset_ms } else { figures.retry_after_ms };
        let seconds = if ms == -1 { -1 } else { ms.cast_unsigned().div_ceil(1_000).cast_signed() };
        prop_assert_eq!(verdict.ttl, seconds);
    }

    match figures.retry_after_ms {
        0 => prop_assert!(verdict.allowed),
        -1 => {
            prop_assert!(!verdict.allowed);
            prop_assert!(policy.limit == 0 || cost.units() > figures.limit, "only what never fits is never allowed");
            prop_assert!(!algorithm.allows(key, now.plus(3 * policy.window().micros()), cost.units()));
        }
        ms => prop_assert!(!verdict.allowed && ms > 0),
    }
    if !algorithm.settled(key, now) {
        let may_deny = A::TRAITS.key_per_window || A::TRAITS.lock;
        prop_assert!(verdict.allowed || may_deny, "a denial restates what is ahead of the clock");
        return Ok(());
    }
    match figures.retry_after_ms {
        -1 | 0 => {}
        ms => {
            prop_assert!(algorithm.allows(key, later(ms), cost.units()), "a client that waits is allowed");
            prop_assert!(!algorithm.allows(key, later(ms - 1), cost.units()), "a millisecond earlier it is denied");
        }
    }

    if remaining == figures.limit {
        prop_assert_eq!((figures.next_ms, figures.reset_ms), (0, 0));
    } else if policy.limit == 0 {
        prop_assert_eq!((figures.next_ms, figures.reset_ms), (-1, -1));
    } else {
        let (next, reset) = (figures.next_ms, figures.reset_ms);
        prop_assert!(0 < next && next <= reset);
        prop_assert!(algorithm.remaining_at(key, later(next)) > remaining);
        prop_assert_eq!(algorithm.remaining_at(key, later(next - 1)), remaining);
        prop_assert_eq!(algorithm.remaining_at(key, later(reset)), figures.limit);
        prop_assert!(algorithm.remaining_at(key, later(reset - 1)) < figures.limit);
    }
    Ok(())
}

/// Whatever a key holds: no panic, exact figures, and no more than the capacity is allowed at once.
fn any_content_is_survived<A: TestAlgorithm>(words: [u64; 4], policy: &Policy, trace: &Trace) -> TestCaseResult {
    let (Some(mut key), Some(_)) = (A::found(words), A::build(policy)) else { return Ok(()) };
    let now = trace.start;
    let (mut charged, mut capacity) = (0, 0);
    for step in &trace.steps {
        let Some(algorithm) = A::build(policy) else { continue };
        let cost = step.cost(policy);
        A::expire(&mut key, now);
        let before = key.clone();
        let Some(reply) = algorithm.request_at(&mut key, now, cost) else { continue };
        prop_assert_eq!(reply.verdict.allowed, algorithm.remaining(&before, now) >= cost.needed());
        capacity = reply.figures.limit;
        charged += if reply.verdict.allowed { u128::from(cost.units()) } else { 0 };
        figures_hold(&Requested { policy: *policy, algorithm, now, cost, reply, before: &before, after: &key })?;
    }
    // A counter below 0, which DECR makes, gives room for more.
    prop_assert!(A::TRAITS.key_per_window || charged <= u128::from(capacity));
    let mut key = A::found(words).unwrap_or_default();
    for Call { policy, now, cost, refund } in trace.calls() {
        if let Some(algorithm) = A::build(&policy) {
            algorithm.request_at(&mut key, now, cost);
            algorithm.refund(&mut key, now, None, refund);
        }
    }
    Ok(())
}

/// A denied request is still denied when the clock steps back. A denial never lasts longer than on a key that was
/// filled just now; in a log, if a call can move all of its entries.
fn clock_stepping_back_neither_opens_nor_locks<A: TestAlgorithm>(trace: &Trace, back: u64) -> TestCaseResult {
    play::<A>(trace, |Requested { policy, algorithm, now, cost, reply, after, .. }| {
        if reply.verdict.allowed || policy.limit == 0 || is_moved_in_part::<A>(&reply) {
            return Ok(());
        }
        let filling = algorithm.request_at(&mut A::Key::default(), now, super::cost(reply.figures.limit)).unwrap();
        prop_assert!(filling.verdict.allowed);
        // A lock may be longer than the first.
        prop_assert!(A::TRAITS.lock || reply.figures.reset_ms <= filling.figures.reset_ms);

        let earlier = Micros(now.0 - back);
        if !A::TRAITS.key_per_window {
            prop_assert!(!algorithm.allows(after, earlier, cost.units()));
            prop_assert!(algorithm.remaining_at(after, earlier) <= reply.figures.remaining);
        }
        Ok(())
    })
}

/// Whether the log may have more entries ahead of the clock than a call moves.
fn is_moved_in_part<A: TestAlgorithm>(reply: &Reply) -> bool {
    A::TRAITS.most.is_some() && reply.verdict.count > MAX_MOVED as i64
}

/// A request that charges nothing and restates the state changes no figure: the same request again gets the same reply
/// and has nothing to restate; of a log, if a call can move all of its entries.
fn rebasing_is_done_once<A: TestAlgorithm>(trace: &Trace) -> TestCaseResult {
    play::<A>(trace, |Requested { algorithm, now, cost, reply, after, .. }| {
        if reply.rebased && !is_moved_in_part::<A>(&reply) {
            prop_assert!(!reply.verdict.allowed || cost == Cost::ZERO);
            let again = algorithm.request_at(&mut after.clone(), now, cost).unwrap();
            prop_assert!(!again.rebased);
            prop_assert_eq!((again.verdict, again.figures), (reply.verdict, reply.figures));
        }
        Ok(())
    })
}

/// A refund of an allowed request leaves what remained before it. Any other refund gives back no more than its cost and
/// never more than everything. Where everything is given back, no record is left.
fn refund_undoes<A: TestAlgorithm>(trace: &Trace, back: Cost) -> TestCaseResult {
    let everything = super::cost(MAX_COUNT);
    play::<A>(trace, |Requested { policy, algorithm, now, cost, reply, before, after }| {
        let refund = |cost| {
            let mut key = after.clone();
            algorithm.refund(&mut key, now, None, cost);
            key
        };
        if reply.verdict.allowed {
            prop_assert_eq!(algorithm.remaining(&refund(cost), now), algorithm.remaining(before, now));
        }
        let (remaining, capacity) = (reply.figures.remaining, reply.figures.limit);
        // What ends a lock may end it in a new window.
        let most = if A::TRAITS.lock { capacity } else { remaining.saturating_add(back.units()).min(capacity) };
        prop_assert!((remaining..=most).contains(&algorithm.remaining(&refund(back), now)));
        // A correction of nothing changes no count.
        let look = |key: &A::Key| algorithm.request(&mut key.clone(), now, Cost::ZERO).unwrap().verdict;
        prop_assert_eq!(look(&refund(Cost::ZERO)), look(after));
        let nothing = algorithm.overcharging(algorithm.state(after, now), now, None, Cost::ZERO);
        prop_assert_eq!(nothing, Ok(Change::Keep));

        // Twice: COUNTER can hold the largest count in each of its two windows.
        let mut refunded = refund(everything);
        algorithm.refund(&mut refunded, now, None, everything);
        if policy.limit > 0 {
            prop_assert_eq!(algorithm.remaining(&refunded, now), capacity);
            prop_assert!(A::TRAITS.lock || remaining == capacity || algorithm.is_empty(&refunded, now));
        }
        let mut nothing = A::Key::default();
        algorithm.refund(&mut nothing, now, None, back);
        prop_assert!(algorithm.is_empty(&nothing, now));
        Ok(())
    })
}

/// Under constant arguments the expiry is what the content needs, after a request and after a refund, wherever the
/// clock goes.
fn expiry_is_what_the_content_needs<A: TestAlgorithm>(trace: &Trace, back: Cost) -> TestCaseResult {
    let mut latest = trace.start;
    play::<A>(trace, |Requested { algorithm, now, after, .. }| {
        latest = latest.max(now);
        prop_assert!(algorithm.expiry_is_right(after, now, latest), "{:?}", after);
        let mut refunded = after.clone();
        algorithm.refund(&mut refunded, now, None, back);
        prop_assert!(algorithm.expiry_is_right(&refunded, now, latest), "{:?}", refunded);
        Ok(())
    })
}

/// No record is written in which nothing is charged. (A limit of 0 gives nothing back, so every record is such there.) None
/// expires later than it, or one before it, needs under any of the policies, but for [`record::SLACK_MS`].
fn a_record_holds_something_and_expires_as_soon_as_it_can<A: RecordAlgorithm>(trace: &Trace) -> TestCaseResult {
    let algorithms: Vec<A> = trace.policies.iter().filter_map(A::build).collect();
    let (mut key, mut before, mut needed) = (<A as InMemory>::Key::default(), None, 0);
    for Call { policy, now, cost, refund } in trace.calls() {
        let Some(algorithm) = A::build(&policy) else { continue };
        <A as InMemory>::expire(&mut key, now);
        for action in [Action::Request, Action::Refund(None), Action::Overcharge(None)] {
            match action {
                Action::Refund(_) => algorithm.refund(&mut key, now, None, refund),
                Action::Overcharge(_) => drop(algorithm.overcharge(&mut key, now, None, refund)),
                _ => drop(algorithm.request_at(&mut key, now, cost)),
            }
            let Some(state) = state_of::<A>(&key) else {
                (before, needed) = (None, 0);
                continue;
            };
            if key != before && policy.limit > 0 {
                prop_assert!(A::expires_at(&algorithm, &state) > now, "{:?}", key);
            }
            let under = |algorithm: &A| A::expires_at(algorithm, &state).ceil_millis();
            needed = algorithms.iter().map(under).fold(needed, u64::max);
            let expires_at = key.as_ref().and_then(|stored| stored.expires_at);
            let latest = needed + record::SLACK_MS;
            prop_assert!(expires_at.is_some_and(|at| at <= latest), "{:?}, {} is enough", key, needed);
            before = key.clone();
        }
    }
    Ok(())
}

/// Under constant arguments, while the clock goes forward, a charge sets no expiry where the one that the key has is late
/// enough. So it can be written with `SET … KEEPTTL`.
fn a_charge_sets_an_expiry_only_where_it_must<A: RecordAlgorithm>(trace: &Trace) -> TestCaseResult {
    let mut key = <A as InMemory>::Key::default();
    for Call { policy, now, cost, .. } in trace.calls() {
        let Some(algorithm) = A::build(&policy) else { continue };
        <A as InMemory>::expire(&mut key, now);
        let before = key.clone();
        let allowed = algorithm.request_at(&mut key, now, cost).is_some_and(|reply| reply.verdict.allowed);
        let (Some(before), Some(after), true) = (before, &key, allowed) else { continue };
        let needed = A::expires_at(&algorithm, &state_of::<A>(&key).unwrap()).ceil_millis();
        let set = needed + A::EXPIRY_SLACK_MS;
        let expected = if before.expires_at >= Some(needed) { before.expires_at } else { Some(set) };
        prop_assert_eq!(after.expires_at, expected);
    }
    Ok(())
}

/// A charge never brings the expiry forward while the clock goes forward: a call with other arguments may have set it.
fn a_charge_keeps_a_later_expiry<A: RecordAlgorithm>(trace: &Trace) -> TestCaseResult {
    let mut latest = trace.start;
    play::<A>(trace, |Requested { now, reply, before, after, .. }| {
        let expires_at = |key: &Option<StoredRecord>| key.as_ref().and_then(|stored| stored.expires_at);
        if reply.verdict.allowed && now >= latest && A::EXPIRY_DEPENDS_ON_POLICY {
            prop_assert!(expires_at(after) >= expires_at(before));
        }
        latest = latest.max(now);
        Ok(())
    })
}

/// From `expires_at` on, a state equals no state. Before that it does not.
fn expires_when_nothing_is_left<A: RecordAlgorithm>(trace: &Trace) -> TestCaseResult {
    let mut state = None;
    for (policy, now, cost) in trace.requests() {
        let Ok(algorithm) = A::new(&policy) else { continue };
        let decision = algorithm.decide(state, now, cost).unwrap();
        state = decision.change.apply_to(state);
        if let Change::Charge(charged) = decision.change {
            let at = algorithm.expires_at(&charged);
            let capacity = algorithm.forecast(None, &Change::Keep, at).capacity();
            let remaining = |at| algorithm.forecast(Some(charged), &Change::Keep, at).remaining();
            prop_assert!(at > now);
            prop_assert_eq!(remaining(at), capacity);
            prop_assert_eq!(remaining(at.plus(policy.window().micros())), capacity);
            prop_assert!(A::TRAITS.lock || remaining(Micros(at.0 - 1)) < capacity);
            let fresh = algorithm.decide(None, at, cost).unwrap();
            prop_assert_eq!(algorithm.decide(Some(charged), at, cost).unwrap().verdict, fresh.verdict);
        }
    }
    Ok(())
}

/// A record that another program wrote is read as written, or not at all. Each operation on it works or is an error.
fn any_record_is_survived<A: RecordAlgorithm>(
    words: [u64; 4],
    policy: &Policy,
    now: u64,
    cost: Cost,
) -> TestCaseResult {
    let (Some(key), Ok(algorithm)) = (A::found(words), A::new(policy)) else { return Ok(()) };
    let stored = key.clone().unwrap();
    prop_assert_eq!(record::written_as_read::<A>(&stored.text), Some(stored.text));
    let now = Micros(now);
    let mut refunded = key.clone();
    algorithm.refund(&mut refunded, now, None, cost);
    for mut key in [key, refunded] {
        let verdict = algorithm.request(&mut key, now, cost).unwrap().verdict;
        let at_once = if verdict.allowed { 0 } else { -1 };
        prop_assert!(verdict.count >= 0 && (verdict.ttl > 0 || verdict.ttl == at_once));
    }
    Ok(())
}

fn amounts() -> impl Strategy<Value = Vec<u64>> {
    let near_half = (0..5u64).prop_map(|n| MAX_COUNT / 2 - 2 + n);
    proptest::collection::vec(prop_oneof![4 => magnitude(), 2 => near_half, 2 => 0..5u64], 1..8)
}

/// Words near those of a real record: valid windows, times near the clock, counts of every size.
fn words() -> impl Strategy<Value = [u64; 4]> {
    let word = || {
        prop_oneof![
            magnitude(),
            any::<u64>(),
            (0..20u64).prop_map(|n| n * 1_000),
            (0..4_000_000u64).prop_map(|n| T0 - 2_000_000 + n),
            (0..4_000u64).prop_map(|n| T0 - 2_000_000 + n * 1_000),
            (0..4_000u64).prop_map(|n| T0 * 1_000 - 2_000_000 + n * 1_000),
        ]
    };
    [word(), word(), word(), word()]
}

/// Draws 192 values. The engine is compiled once for each strategy, not for each algorithm too: that took half a minute.
fn holds<S: Strategy>(algorithm: &'static str, values: S, law: fn(S::Value) -> TestCaseResult) {
    let config =
        ProptestConfig { cases: 192, source_file: Some(file!()), test_name: Some(algorithm), ..Default::default() };
    TestRunner::new(config).run(&values, law).unwrap_or_else(|error| panic!("{error}"));
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    proptest::collection::vec(action(), 1..20)
}

fn corrected() -> impl Strategy<Value = (Trace, Vec<Action>)> {
    (steady(), actions())
}

fn policies() -> impl Strategy<Value = Policy> {
    prop_oneof![small_policy(), any_policy()]
}

/// A test of a law: its name, the values that it is tried on, and its arguments.
macro_rules! law {
    ($name:ident: $algorithm:ty; $law:ident, $values:expr, |$value:pat_param| $($argument:expr),+) => {
        #[test]
        fn $law() {
            holds(stringify!($name), $values, |$value| super::$law::<$algorithm>($($argument),+));
        }
    };
}

macro_rules! laws {
    ($($name:ident: $algorithm:ty = $kind:expr;)*) => {
        $(mod $name {
            use super::*;

            law!($name: $algorithm; agrees_with_its_oracle, corrected(), |(trace, actions)| &trace, &actions, $kind);
            law!($name: $algorithm; is_counted_or_an_error, (policies(), amounts()),
                |(policy, amounts)| &policy, &amounts, $kind);
            law!($name: $algorithm; always_charges, changing(), |trace| &trace);
            law!($name: $algorithm; figures_come_true, (prop_oneof![3 => changing(), 1 => constant()], actions()),
                |(trace, actions)| &trace, &actions);
            law!($name: $algorithm; any_content_is_survived, (words(), policies(), changing()),
                |(words, policy, trace)| words, &policy, &trace);
            law!($name: $algorithm; clock_stepping_back_neither_opens_nor_locks, (changing(), 0..100_000_000u64),
                |(trace, back)| &trace, back);
            law!($name: $algorithm; rebasing_is_done_once, changing(), |trace| &trace);
            law!($name: $algorithm; refund_undoes, (changing(), 1..20u64), |(trace, back)| &trace, cost(back));
            law!($name: $algorithm; expiry_is_what_the_content_needs, (constant(), 1..20u64),
                |(trace, back)| &trace, cost(back));
        })*
    };
}

macro_rules! laws_of_records {
    ($($name:ident: $algorithm:ty;)*) => {
        $(mod $name {
            use super::*;

            law!($name: $algorithm; a_record_holds_something_and_expires_as_soon_as_it_can, changing(), |trace| &trace);
            law!($name: $algorithm; a_charge_sets_an_expiry_only_where_it_must, steady(), |trace| &trace);
            law!($name: $algorithm; a_charge_keeps_a_later_expiry, changing(), |trace| &trace);
            law!($name: $algorithm; expires_when_nothing_is_left, changing(), |trace| &trace);
            law!($name: $algorithm; any_record_is_survived,
                (words(), policies(), prop_oneof![any::<u64>(), magnitude(), Just(T0)], magnitude()),
                |(words, policy, now, units)| words, &policy, now, cost(units));
        })*
    };
}

every_algorithm!(laws);
every_record!(laws_of_records);
