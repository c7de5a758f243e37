//! The state of the algorithms that need but a few integers: a STRING, `<tag><integer>:<integer>:…` in decimal.
//!
//! The tag says whose record it is; redis-cell's, a bare number, has none. Every change is one effect,
//! `SET key record PXAT millis`, and the record is gone when it says no more than none at all.

use super::{Limiter, Named};
use crate::error::Error;
use crate::ffi::{Argv, Ctx, Key, Kind, Mode, Str};
use crate::integer::{Text, push, push_integer, take_unsigned};
use crate::limit::{Change, Cost, Decision, Figures, Micros, Quota, RecordAlgorithm};

/// See [`Limiter::load`].
pub struct Loaded<'c, A: RecordAlgorithm> {
    name: Str<'c>,
    key: Key<'c>,
    state: Option<A::State>,
}

impl<A: RecordAlgorithm + Named> Limiter for A {
    type Loaded<'c> = Loaded<'c, A>;
    type Change = A::State;

    fn new(quota: &Quota) -> Result<Self, Error> {
        Ok(RecordAlgorithm::new(quota)?)
    }

    #[inline(always)]
    fn state_key<'c>(&self, _ctx: Ctx<'c>, key: Argv<'c>, _now: Micros) -> Result<Str<'c>, Error> {
        Ok(Str::of_argument(key))
    }

    #[inline(always)]
    fn load<'c>(&self, ctx: Ctx<'c>, name: Str<'c>, _now: Micros, mode: Mode) -> Result<Loaded<'c, A>, Error> {
        load(ctx, name, mode)
    }

    #[inline(always)]
    fn decide(&self, loaded: &mut Loaded<'_, A>, now: Micros, cost: Cost) -> Result<Decision<A::State>, Error> {
        Ok(RecordAlgorithm::decide(self, loaded.state, now, cost))
    }

    fn figures(&self, loaded: &Loaded<'_, A>, decision: &Decision<A::State>, now: Micros, cost: Cost) -> Figures {
        let after = decision.change.state().copied().or(loaded.state);
        Figures::new(&self.outlook(after, now), decision, now, cost)
    }

    fn grows(loaded: &Loaded<'_, A>, decision: &Decision<A::State>) -> bool {
        makes_a_key(loaded, &decision.change)
    }

    #[inline(always)]
    fn commit(&self, ctx: Ctx<'_>, loaded: Loaded<'_, A>, decision: Decision<A::State>, _now: Micros) {
        if let Some(state) = decision.change.into_state() {
            write(self, ctx, loaded, &state);
        }
    }

    fn refund(&self, ctx: Ctx<'_>, loaded: Loaded<'_, A>, now: Micros, cost: Cost) {
        match RecordAlgorithm::refund(self, loaded.state, now, cost) {
            None => {}
            Some(state) if self.forgotten_at(&state) <= now => {
                self.reset(ctx, loaded);
            }
            Some(state) => write(self, ctx, loaded, &state),
        }
    }

    fn reset(&self, ctx: Ctx<'_>, Loaded { name, key, state }: Loaded<'_, A>) -> bool {
        if state.is_some() {
            super::unlink(ctx, &name, key);
        }
        state.is_some()
    }
}

/// Reads a record.
///
/// # Errors
/// The key holds another type, or what no decision of this algorithm can have left.
#[inline(always)]
pub fn load<'c, A: RecordAlgorithm>(ctx: Ctx<'c>, name: Str<'c>, mode: Mode) -> Result<Loaded<'c, A>, Error> {
    let mut key = Key::open(ctx, &name, mode);
    let state = match (key.kind(), mode) {
        (Kind::Nothing, _) => return Ok(Loaded { name, key, state: None }),
        (Kind::String, Mode::Write) => decode::<A>(key.string()),
        (Kind::String, Mode::Look) => ctx.get_string(&name, decode::<A>).flatten(),
        _ => return Err(Error::WRONG_TYPE),
    };
    Ok(Loaded { name, key, state: Some(state.ok_or(Error::FOREIGN_VALUE)?) })
}

impl<A: RecordAlgorithm> Loaded<'_, A> {
    pub fn state(&self) -> Option<A::State> {
        self.state
    }
}

pub fn makes_a_key<A: RecordAlgorithm>(loaded: &Loaded<'_, A>, change: &Change<A::State>) -> bool {
    loaded.state.is_none() && matches!(change, Change::Charge(_))
}

/// Writes a record and all that goes with it.
#[inline(always)]
pub fn write<A: RecordAlgorithm>(algorithm: &A, ctx: Ctx<'_>, loaded: Loaded<'_, A>, state: &A::State) {
    let Loaded { name, mut key, .. } = loaded;
    let record = encode::<A>(state);
    let expires_at = algorithm.forgotten_at(state).0.div_ceil(1_000);
    key.set_string(&record);
    ctx.notify_string(c"set", &name);
    key.set_expires_at(expires_at);
    ctx.notify_generic(c"expire", &name);
    ctx.signal_modified(&name);
    ctx.replicate_set(&name, &record, expires_at);
}

fn encode<A: RecordAlgorithm>(state: &A::State) -> Text {
    let mut text = Text::new();
    push(&mut text, A::TAG.as_bytes());
    for (index, &word) in A::to_words(state).as_ref().iter().enumerate() {
        if index > 0 {
            push(&mut text, b":");
        }
        push_integer(&mut text, word);
    }
    text
}

fn decode<A: RecordAlgorithm>(text: &[u8]) -> Option<A::State> {
    let mut words = A::Words::default();
    let mut rest = text.strip_prefix(A::TAG.as_bytes())?;
    for (index, word) in words.as_mut().iter_mut().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b":")?;
        }
        (*word, rest) = take_unsigned(rest)?;
    }
    if rest.is_empty() { A::from_words(&words) } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limit::{Gcra, LeakyBucket, SlidingCounter, TokenBucket};

    fn text_of<A: RecordAlgorithm>(text: &str) -> Option<String> {
        let state = decode::<A>(text.as_bytes())?;
        Some(String::from_utf8(encode::<A>(&state).to_vec()).unwrap())
    }

    /// What a reader of GET sees; a change here makes records of an older version unreadable.
    #[test]
    fn the_records_are_as_documented() {
        let token = "T:3:500:60000:1700000000000000";
        let leaky = "L:3:500:60000:1700000000000000";
        let counter = "C:60000:28333333:20:70";
        let gcra = "1700000000000000000";
        assert_eq!(text_of::<TokenBucket>(token).as_deref(), Some(token));
        assert_eq!(text_of::<LeakyBucket>(leaky).as_deref(), Some(leaky));
        assert_eq!(text_of::<SlidingCounter>(counter).as_deref(), Some(counter));
        assert_eq!(text_of::<Gcra>(gcra).as_deref(), Some(gcra));
    }

    #[test]
    fn foreign_and_damaged_records_are_refused() {
        for text in [
            "",
            "T:",
            "T",
            "3",
            "T:3:500:60000",
            "T:3:500:60000:1700000000000000:",
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
        fn what_is_read_is_what_is_written(text in "[TLC]?:?([0-9]{1,20}:){0,4}[0-9]{0,20}") {
            for read in [text_of::<TokenBucket>, text_of::<LeakyBucket>, text_of::<SlidingCounter>, text_of::<Gcra>] {
                if let Some(written) = read(&text) {
                    prop_assert_eq!(&written, &text);
                }
            }
        }
    }
}
