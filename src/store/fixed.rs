//! A fixed window's counter: a STRING that INCR could have written, at `<key>:<bucket>`.

use super::Limiter;
use crate::error::Error;
use crate::ffi::{Argv, Ctx, Key, Kind, Mode, Str};
use crate::integer::{Text, parse_integer, push_integer};
use crate::limit::fixed_window::Counter;
use crate::limit::{Change, Cost, Decision, Figures, FixedWindow, Micros, Quota};

/// See [`Limiter::load`].
pub struct Loaded<'c> {
    name: Str<'c>,
    key: Key<'c>,
    counter: Option<Counter>,
}

impl Limiter for FixedWindow {
    type Loaded<'c> = Loaded<'c>;
    type Change = Counter;

    fn new(quota: &Quota) -> Result<Self, Error> {
        Ok(FixedWindow::new(quota))
    }

    #[inline(always)]
    fn state_key<'c>(&self, ctx: Ctx<'c>, key: Argv<'c>, now: Micros) -> Result<Str<'c>, Error> {
        let key = key.bytes();
        let [open, close] = braces(key, ctx.is_cluster()).ok_or(Error::CLUSTER_KEY)?;
        Ok(Str::concat([open, key, close, b":", itoa::Buffer::new().format(self.bucket(now)).as_bytes()]))
    }

    #[inline(always)]
    fn load<'c>(&self, ctx: Ctx<'c>, name: Str<'c>, _now: Micros, mode: Mode) -> Result<Loaded<'c>, Error> {
        let mut key = Key::open(ctx, &name, mode);
        let value = match (key.kind(), mode) {
            (Kind::Nothing, _) => return Ok(Loaded { name, key, counter: None }),
            (Kind::String, Mode::Write) => parse_integer(key.string()),
            (Kind::String, Mode::Look) => ctx.get_string(&name, parse_integer).flatten(),
            _ => return Err(Error::WRONG_TYPE),
        };
        let counter = Counter { value: value.ok_or(Error::NOT_A_COUNTER)?, expires_at: key.expires_at() };
        Ok(Loaded { name, key, counter: Some(counter) })
    }

    fn decide(&self, loaded: &mut Loaded<'_>, now: Micros, cost: Cost) -> Result<Decision<Counter>, Error> {
        Ok(FixedWindow::decide(self, loaded.counter, now, cost)?)
    }

    fn figures(&self, _loaded: &Loaded<'_>, decision: &Decision<Counter>, now: Micros, cost: Cost) -> Figures {
        Figures::new(&self.outlook(decision.verdict.count, now), decision, now, cost)
    }

    fn grows(loaded: &Loaded<'_>, decision: &Decision<Counter>) -> bool {
        loaded.counter.is_none() && matches!(decision.change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, ctx: Ctx<'_>, loaded: Loaded<'_>, decision: Decision<Counter>, _now: Micros) {
        if let Some(counter) = decision.change.into_state() {
            write(ctx, loaded, counter);
        }
    }

    fn refund(&self, ctx: Ctx<'_>, loaded: Loaded<'_>, _now: Micros, cost: Cost) {
        if let Some(counter) = FixedWindow::refund(self, loaded.counter, cost) {
            write(ctx, loaded, counter);
        }
    }

    fn reset(&self, ctx: Ctx<'_>, Loaded { name, key, counter }: Loaded<'_>) -> bool {
        if counter.is_some() {
            super::unlink(ctx, &name, key);
        }
        counter.is_some()
    }
}

/// Brings the counter to what it is to be, by the fewest effects that say so.
#[inline(always)]
fn write(ctx: Ctx<'_>, Loaded { name, mut key, counter: before }: Loaded<'_>, after: Counter) {
    let delta = after.value.wrapping_sub(before.map_or(0, |counter| counter.value));
    let new_expiry = after.expires_at.filter(|_| after.expires_at != before.and_then(|counter| counter.expires_at));
    let mut digits = Text::new();
    if delta != 0 {
        push_integer(&mut digits, after.value);
        key.set_string(&digits);
        ctx.notify_string(c"incrby", &name);
    }
    if let Some(millis) = new_expiry {
        key.set_expires_at(millis);
        ctx.notify_generic(c"expire", &name);
    }
    ctx.signal_modified(&name);
    match (delta, new_expiry) {
        (0, None) => {}
        (0, Some(millis)) => ctx.replicate_integer(c"PEXPIREAT", &name, millis.try_into().unwrap_or(i64::MAX)),
        (_, Some(millis)) => ctx.replicate_set(&name, &digits, millis),
        (1, None) => ctx.replicate(c"INCR", &name),
        (_, None) => ctx.replicate_integer(c"INCRBY", &name, delta),
    }
}

/// What stands around the key in the counter's name, `<key>:<bucket>`: nothing, except in cluster mode for a key
/// without a hash tag. With every bucket the plain form would lie in another slot, so the key becomes the hash tag:
/// `{<key>}:<bucket>`. `None` for a key that cannot be one.
fn braces(key: &[u8], cluster: bool) -> Option<[&'static [u8]; 2]> {
    if !cluster || hash_tag(key).is_some() {
        Some([b"", b""])
    } else if key.is_empty() || key.contains(&b'}') {
        None
    } else {
        Some([b"{", b"}"])
    }
}

/// What the cluster hashes instead of the whole key: what stands between the first `{` and the first `}` after it,
/// unless that is nothing (Redis cluster specification, "hash tags").
fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|&byte| byte == b'{')?;
    let rest = key.get(open.checked_add(1)?..)?;
    let close = rest.iter().position(|&byte| byte == b'}')?;
    rest.get(..close).filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(key: &'static str, cluster: bool) -> Option<String> {
        let [open, close] = braces(key.as_bytes(), cluster)?;
        let name = [open, key.as_bytes(), close, b":7"].concat();
        if cluster {
            let slot_of = |key| hash_tag(key).unwrap_or(key).to_vec();
            assert_eq!(slot_of(name.as_slice()), slot_of(key.as_bytes()), "the counter leaves the slot");
        }
        Some(String::from_utf8(name).unwrap())
    }

    #[test]
    fn the_plain_form_outside_cluster_mode() {
        for key in ["a", "", "a}", "{", "{a}b", "{}"] {
            assert_eq!(name(key, false), Some(format!("{key}:7")));
        }
    }

    #[test]
    fn in_cluster_mode_the_key_becomes_the_hash_tag() {
        assert_eq!(name("a:b", true).as_deref(), Some("{a:b}:7"));
        assert_eq!(name("{a", true).as_deref(), Some("{{a}:7"), "the tag is what follows the first brace: {{a");
    }

    #[test]
    fn in_cluster_mode_a_hash_tag_stays() {
        assert_eq!(name("{a}b", true).as_deref(), Some("{a}b:7"));
        assert_eq!(name("x{a}{b}", true).as_deref(), Some("x{a}{b}:7"));
    }

    #[test]
    fn in_cluster_mode_a_key_that_cannot_stay_in_its_slot_is_refused() {
        for key in ["", "a}b", "}", "{}", "{}a"] {
            assert_eq!(name(key, true), None, "{key}");
        }
    }
}
