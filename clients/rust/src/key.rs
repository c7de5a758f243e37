//! Keys: of a bounded length, so that what a caller chooses decides no size beyond it (`vectors/keys.json` has examples for
//! all clients); and what else says which state a request is about.

use std::borrow::Cow;

use redis_rl_algorithm::Schedule;
use sha2::{Digest, Sha256};

use crate::policy::{Algorithm, Policy, Request};

/// The longest value that stays as it is.
const LONGEST: usize = 256;
/// How much of a longer one is kept in front of its digest.
const KEPT: usize = 32;
/// The digest in hexadecimal, and the character in front of it.
const DIGEST: usize = 64;
/// The names of reservations end so.
const RESERVED: [&[u8]; 2] = [b":reserved", b":reserved:ends"];

/// A value of a bounded length: one of more than 256 bytes is its first 32 bytes, `~`, and its SHA-256 in hexadecimal; so
/// is one that already ends so, however long it is, and two values never become one. Up to three of the 32 bytes are left out
/// that would cut a character. Any other value is returned as it is.
///
/// The limiters do the same with each part of a key: what is before, in and after its hash tag. A service that makes keys of
/// several values bounds each of them itself, so that its own words stay:
///
/// ```
/// use redis_rl_client::bounded;
///
/// assert_eq!(bounded("alice"), "alice");
/// let long = bounded(&"a".repeat(300)).into_owned();
/// assert!(long.len() == 97 && long.starts_with(&"a".repeat(32)), "{long}");
/// assert_ne!(bounded(&long), long);
/// ```
pub fn bounded(value: &str) -> Cow<'_, str> {
    match bounded_bytes(value.as_bytes()) {
        Cow::Borrowed(_) => Cow::Borrowed(value),
        // It cuts no character, so nothing is replaced.
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// A key of a prefix and a value: the prefix stays, and the value is [`bounded`]. It takes that form too where the key
/// would be the name of a reservation.
pub fn bounded_after(prefix: &str, value: &str) -> String {
    let key = format!("{prefix}{}", bounded(value));
    if !RESERVED.into_iter().any(|end| key.as_bytes().ends_with(end)) {
        return key;
    }
    format!("{prefix}{}", String::from_utf8_lossy(&digested(value.as_bytes())))
}

fn bounded_bytes(value: &[u8]) -> Cow<'_, [u8]> {
    if value.len() > LONGEST || has_bounded_form(value) { Cow::Owned(digested(value)) } else { Cow::Borrowed(value) }
}

/// A key of a bounded length, of one that a caller handed in. Allocates only for a key that changes.
pub fn bounded_key(key: &[u8]) -> Cow<'_, [u8]> {
    let is_reserved = RESERVED.into_iter().any(|end| key.ends_with(end));
    if key.len() < DIGEST && !is_reserved {
        return Cow::Borrowed(key);
    }
    let end = |part| if is_reserved { Cow::Owned(digested(part)) } else { bounded_bytes(part) };
    let Some((before, tag, after)) = around_tag(key) else { return end(key) };
    let parts = [bounded_bytes(before), bounded_bytes(tag), end(after)];
    if parts.iter().all(|part| matches!(part, Cow::Borrowed(_))) {
        return Cow::Borrowed(key);
    }
    let [before, tag, after] = parts;
    Cow::Owned([&*before, b"{", &*tag, b"}", &*after].concat())
}

/// What is before, in and after the hash tag, which decides the slot of a cluster; `None` without one.
pub fn around_tag(key: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let position = |of: &[u8], brace| of.iter().position(|byte| *byte == brace);
    let (before, rest) = key.split_at_checked(position(key, b'{')?)?;
    let rest = rest.get(1..)?;
    let (tag, after) = rest.split_at_checked(position(rest, b'}')?)?;
    (!tag.is_empty()).then_some((before, tag, after.get(1..)?))
}

/// Whether a value ends as all that [`digested`] returns: what it returns is never a value that stays as it is.
fn has_bounded_form(value: &[u8]) -> bool {
    let Some([b'~', digest @ ..]) = value.len().checked_sub(DIGEST + 1).and_then(|at| value.get(at..)) else {
        return false;
    };
    digest.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The beginning of a value, `~`, and its digest.
fn digested(value: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    // A byte 0b10…… goes on with the character before it.
    let cuts = |at: &usize| value.get(*at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    let kept = (KEPT - 3..=KEPT).rev().find(|at| !cuts(at)).unwrap_or(KEPT - 3);
    let mut digested = Vec::with_capacity(KEPT + 1 + DIGEST);
    digested.extend(value.iter().take(kept));
    digested.push(b'~');
    for byte in Sha256::digest(value) {
        digested.extend([byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]));
    }
    digested
}

/// Which state of the server a request is about: what two requests must share to count together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<'a> {
    algorithm: Algorithm,
    schedule: Schedule,
    key: Cow<'a, [u8]>,
}

impl<'a> State<'a> {
    pub fn of(request: &Request<'a>) -> Self {
        let policy = request.policy;
        Self { algorithm: policy.algorithm(), schedule: policy.terms().schedule, key: request.bounded_key() }
    }

    /// The same, to be kept.
    pub fn kept(self) -> State<'static> {
        State { key: Cow::Owned(self.key.into_owned()), ..self }
    }

    pub fn key(&self) -> &[u8] {
        &self.key
    }

    pub fn is_of(&self, policy: &Policy) -> bool {
        (self.algorithm, self.schedule) == (policy.algorithm(), policy.terms().schedule)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample;

    use super::*;

    const LONG: &str = match std::str::from_utf8(&[b'a'; 250]) {
        Ok(text) => text,
        Err(_) => "",
    };

    /// The pairs of a list of `vectors/keys.json`: what is handed in, and what it becomes.
    fn vectors(list: &str) -> Vec<(String, String)> {
        let text = include_str!("../../../vectors/keys.json");
        let mut vectors: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let pairs: Vec<(String, String)> = serde_json::from_value(vectors[list].take()).expect("pairs");
        assert!(pairs.len() > 10, "{list}");
        pairs
    }

    #[test]
    fn values_and_keys_are_those_of_the_vectors() {
        for (value, expected) in vectors("values") {
            assert_eq!(bounded(&value), expected);
        }
        assert_eq!(bounded_after("users:", "alice"), "users:alice");
        assert!(bounded_after("users:", "alice:reserved").starts_with("users:alice:reserved~"));
        for (key, expected) in vectors("keys") {
            let bounded = bounded_key(key.as_bytes());
            assert_eq!(String::from_utf8_lossy(&bounded), expected);
            // What stays as it is costs no memory.
            assert_eq!(matches!(bounded, Cow::Borrowed(_)), key == expected, "{key}");
        }
    }

    proptest! {
        /// Also not if one of them is what the other becomes.
        #[test]
        fn two_different_keys_never_become_one(
            keys in vec(vec(sample::select(vec!["", "a", "é", "{", "}", "~", "0", ":reserved", ":reserved:ends", LONG]), 0..6), 1..4),
        ) {
            let mut keys: Vec<_> = keys.into_iter().map(|parts| parts.concat().into_bytes()).collect();
            for _ in 0..3 {
                let what_they_become: Vec<_> = keys.iter().map(|key| bounded_key(key).to_vec()).collect();
                keys.extend(what_they_become.iter().map(|key| [b"a", &**key].concat()));
                keys.extend(what_they_become);
            }
            let mut from = HashMap::new();
            for key in &keys {
                let other = from.insert(bounded_key(key).to_vec(), key);
                prop_assert!(other.is_none_or(|other| other == key), "{key:?} and {other:?}");
            }
        }
    }
}
