//! The state of the algorithms that need a few integers: a STRING `<tag><integer>:<integer>:…` in decimal.
//!
//! The tag names the algorithm; the record of redis-cell, a bare number, has none. A record is replicated as one
//! command, `SET key record PXAT millis`. Its key expires when the record equals none at all.

use super::text::{CAPACITY, LONGEST_INTEGER, Text, push, push_integer};
use super::{AlgorithmInfo, Purpose, StoredAlgorithm};
use crate::algorithm::{Change, Cost, Decision, Figures, Forecast, Micros, Policy, RecordAlgorithm, RecordWords};
use crate::error::Error;
use crate::ffi::{ClosedKey, Key, Kind};
use crate::integer::take_unsigned;

/// See [`StoredAlgorithm::Loaded`].
pub struct Loaded<'c, A: RecordAlgorithm> {
    key: Key<'c>,
    state: Option<A::State>,
}

impl<A: RecordAlgorithm> Loaded<'_, A> {
    /// The state; `None` if the key does not exist.
    pub fn state(&self) -> Option<A::State> {
        self.state
    }
}

impl<A: RecordAlgorithm + AlgorithmInfo + 'static> StoredAlgorithm for A {
    type Loaded<'c> = Loaded<'c, A>;
    type Change = A::State;

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(RecordAlgorithm::new(policy)?)
    }

    #[inline(always)]
    fn load<'c>(&self, key: ClosedKey<'c>, _now: Micros, purpose: Purpose) -> Result<Loaded<'c, A>, Error> {
        let key = key.open(purpose.mode());
        let state = match (key.kind(), purpose) {
            (Kind::Nothing, _) => return Ok(Loaded { key, state: None }),
            (Kind::String, Purpose::Read) => key.closed().get_string(decode::<A>).flatten(),
            (Kind::String, _) => decode::<A>(key.string()),
            _ => return Err(Error::WRONG_TYPE),
        };
        Ok(Loaded { key, state: Some(state.ok_or(Error::FOREIGN_VALUE)?) })
    }

    fn exists(loaded: &Loaded<'_, A>) -> bool {
        loaded.state.is_some()
    }

    #[inline(always)]
    fn decide_on(&self, loaded: &mut Loaded<'_, A>, now: Micros, cost: Cost) -> Result<Decision<A::State>, Error> {
        Ok(self.decide(loaded.state, now, cost))
    }

    fn refund_on(&self, loaded: &Loaded<'_, A>, now: Micros, at: Option<Micros>, cost: Cost) -> Change<A::State> {
        self.refund(loaded.state, now, at, cost)
    }

    fn overcharge_on(
        &self,
        loaded: &Loaded<'_, A>,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<Change<A::State>, Error> {
        Ok(self.overcharge(loaded.state, now, at, cost))
    }

    fn remaining(&self, loaded: &Loaded<'_, A>, now: Micros) -> u64 {
        self.forecast(loaded.state, now).remaining()
    }

    fn figures(&self, loaded: &Loaded<'_, A>, decision: &Decision<A::State>, now: Micros, cost: Cost) -> Figures {
        let after = decision.change.apply_to(loaded.state);
        Figures::new(&self.forecast(after, now), decision, now, cost)
    }

    fn needs_memory(loaded: &Loaded<'_, A>, change: &Change<A::State>) -> bool {
        loaded.state.is_none() && matches!(change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, loaded: Loaded<'_, A>, change: Change<A::State>, _now: Micros) {
        let Loaded { key, state: before } = loaded;
        if matches!(change, Change::Delete) {
            return super::delete(key);
        }
        let expires_at = new_expiry(self, before.as_ref(), &change, || key.expires_at());
        match (change.state(), expires_at) {
            (Some(state), Some(millis)) => super::set(key, &encode::<A>(state), millis),
            (None, Some(millis)) => super::extend(key, millis),
            (_, None) => {}
        }
    }
}

/// The expiry to set with a change, in milliseconds since the epoch. `None` leaves the expiry as it is. `held` reads
/// the expiry that the key has.
///
/// A state lives as long as the arguments of any call since it was written require. How long that is can depend on
/// arguments that are not stored. Then a denied call extends the expiry if it needs the state for longer, and a write
/// keeps a later expiry if it is for a call with other arguments: if it is later than the arguments of this call needed
/// before the write. If it is not, less is needed now, after a refund or after the clock stepped back.
#[inline(always)]
pub fn new_expiry<A: RecordAlgorithm>(
    algorithm: &A,
    before: Option<&A::State>,
    change: &Change<A::State>,
    held: impl FnOnce() -> Option<u64>,
) -> Option<u64> {
    let needed_for = |state| algorithm.expires_at(state).ceil_millis();
    match (change, before) {
        (Change::Delete, _) | (Change::Keep, None) => None,
        (Change::Keep, Some(before)) => {
            let needed = if A::EXPIRY_DEPENDS_ON_POLICY { needed_for(before) } else { return None };
            held().filter(|&held| held < needed).map(|_| needed)
        }
        (Change::Charge(after) | Change::Rebase(after) | Change::Refund(after), before) => {
            let needed = needed_for(after);
            let Some(before) = before.filter(|_| A::EXPIRY_DEPENDS_ON_POLICY) else { return Some(needed) };
            let held = held().unwrap_or(0);
            let needed_before = needed_for(before);
            if matches!(change, Change::Rebase(_)) {
                // Every expiry moves back with the state, also one that other arguments need.
                return Some(held.saturating_sub(needed_before.saturating_sub(needed)).max(needed));
            }
            Some(if held > needed && held > needed_before { held } else { needed })
        }
    }
}

/// The text of a record.
pub fn encode<A: RecordAlgorithm>(state: &A::State) -> Text {
    const {
        // Each integer has a separator before it, but the first.
        let longest = A::TAG.len() + A::Words::COUNT * (LONGEST_INTEGER + 1);
        assert!(longest <= CAPACITY, "the longest record of the algorithm does not fit its buffer");
    }
    let mut text = Text::new();
    push(&mut text, A::TAG.as_bytes());
    let words = A::to_words(state);
    let (required, optional) = words.as_ref().split_at(required_words::<A>());
    for (index, &word) in required.iter().enumerate() {
        if index > 0 {
            push(&mut text, b":");
        }
        push_integer(&mut text, word);
    }
    if A::OPTIONAL_WORDS > 0 {
        for &word in optional.iter().take_while(|&&word| word != 0) {
            push(&mut text, b":");
            push_integer(&mut text, word);
        }
    }
    text
}

/// How many integers every record of the algorithm has.
const fn required_words<A: RecordAlgorithm>() -> usize {
    A::Words::COUNT.saturating_sub(A::OPTIONAL_WORDS)
}

/// The state of a record. `None` if this algorithm does not write such a text.
pub fn decode<A: RecordAlgorithm>(text: &[u8]) -> Option<A::State> {
    let mut words = A::Words::ZERO;
    let mut rest = text.strip_prefix(A::TAG.as_bytes())?;
    let (required, optional) = words.as_mut().split_at_mut(required_words::<A>());
    for (index, word) in required.iter_mut().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b":")?;
        }
        (*word, rest) = take_unsigned(rest)?;
    }
    if !rest.is_empty() {
        decode_optional(rest, optional)?;
    }
    A::from_words(&words)
}

/// The integers that a record has only while they are not 0.
#[cold]
fn decode_optional(mut rest: &[u8], words: &mut [u64]) -> Option<()> {
    for word in words {
        (*word, rest) = take_unsigned(rest.strip_prefix(b":")?)?;
        if *word == 0 {
            return None;
        }
        if rest.is_empty() {
            return Some(());
        }
    }
    None
}

/// The text that would be written for the record `text`. `None` if it is no record.
#[cfg(any(test, fuzzing))]
pub fn written_as_read<A: RecordAlgorithm>(text: &[u8]) -> Option<Vec<u8>> {
    Some(encode::<A>(&decode::<A>(text)?).to_vec())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::algorithm::{Gcra, LeakyBucket, SlidingCounter, TokenBucket};

    fn text_of<A: RecordAlgorithm>(text: &str) -> Option<String> {
        Some(String::from_utf8(written_as_read::<A>(text.as_bytes())?).unwrap())
    }

    /// What a reader of GET sees; a change here makes records of an older version unreadable.
    #[test]
    fn the_records_are_as_documented() {
        let token = "T:3:500:60000:1700000000000000";
        let in_debt = "T:3:500:60000:1700000000000000:7";
        let leaky = "L:3:500:60000:1700000000000000";
        let counter = "C:60000:28333333:20:70";
        let gcra = "1700000000000000000";
        assert_eq!(text_of::<TokenBucket>(token).as_deref(), Some(token));
        assert_eq!(text_of::<TokenBucket>(in_debt).as_deref(), Some(in_debt));
        assert_eq!(text_of::<LeakyBucket>(leaky).as_deref(), Some(leaky));
        assert_eq!(text_of::<SlidingCounter>(counter).as_deref(), Some(counter));
        assert_eq!(text_of::<Gcra>(gcra).as_deref(), Some(gcra));
    }

    #[test]
    fn foreign_and_damaged_records_are_errors() {
        for text in [
            "",
            "T:",
            "T",
            "3",
            "T:3:500:60000",
            "T:3:500:60000:1700000000000000:",
            "T:3:500:60000:1700000000000000:0",
            "T:3:500:60000:1700000000000000:9223372036854775808",
            "T:3:500:60000:1700000000000000:1:1",
            "T:3:500:60000:17000 ",
            "T:03:500:60000:1700000000000000",
            "T:-3:500:60000:1700000000000000",
            "T:3:60000000:60000:17",
            "t:3:500:60000:1700000000000000",
            "L:3:500:60000:1700000000000000",
            "T:3:500:0:1700000000000000",
            "T:3:500:60000:99999999999999999999",
            "T:3:500:60000:1700000000000000\0",
        ] {
            assert_eq!(text_of::<TokenBucket>(text), None, "{text}");
        }
        for text in ["", "-1", "1.5", "01", "T:1", "18446744073709551616", "abc"] {
            assert_eq!(text_of::<Gcra>(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_is_written(text in "[TLC]?:?([0-9]{1,20}:){0,5}[0-9]{0,20}") {
            for read in [text_of::<TokenBucket>, text_of::<LeakyBucket>, text_of::<SlidingCounter>, text_of::<Gcra>] {
                if let Some(written) = read(&text) {
                    prop_assert_eq!(&written, &text);
                }
            }
        }
    }
}
