//! Every error text that a client can see. The texts are static and never repeat what the client sent.
//!
//! (A text made from the bytes of a client could contain a NUL, and the reply calls of the server take C strings.)

use std::borrow::Cow;
use std::ffi::{CStr, CString};

use crate::algorithm::Unrepresentable;

/// An error reply: its code, a blank, and the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    text: &'static CStr,
    /// The limit of RL.MULTI that the error is about, from 1; 0 for none.
    limit: u8,
}

impl Error {
    /// An error with this text, which begins with its code.
    pub const fn new(text: &'static CStr) -> Self {
        Self { text, limit: 0 }
    }

    /// The same error, with the number of the limit that it is about.
    pub const fn of_limit(self, number: u8) -> Self {
        Self { limit: number, ..self }
    }

    /// The text of the reply.
    pub fn text(self) -> Cow<'static, CStr> {
        let number = self.limit;
        match self.text.to_str().unwrap_or_default().split_once(' ') {
            Some((code, message)) if number > 0 => {
                Cow::Owned(CString::new(format!("{code} limit {number}: {message}")).unwrap_or_default())
            }
            _ => Cow::Borrowed(self.text),
        }
    }
}

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl Error { $($(#[$doc])* pub const $name: Self = Self::new($text);)* }
    };
}

errors! {
    WRONG_TYPE = c"WRONGTYPE Operation against a key holding the wrong kind of value";
    OUT_OF_MEMORY = c"OOM command not allowed when used memory > 'maxmemory'.";
    NO_PERMISSION = c"NOPERM No permissions to access a key";
    ARITY = c"ERR wrong number of arguments";
    /// A STRING that the algorithm has not written.
    FOREIGN_VALUE = c"ERR the key holds a value that this algorithm did not write";
    NOT_A_COUNTER = c"ERR value is not an integer or out of range";
    OVERFLOW = c"ERR increment or decrement would overflow";
    WINDOW = c"ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds; FIXED also takes day, week, month and year";
    LIMIT = c"ERR invalid limit: expected an integer from 0 to 9223372036854775807";
    COST = c"ERR invalid COST: expected an integer from 0 to 9223372036854775807";
    BURST = c"ERR invalid BURST: expected an integer from 1 to 9223372036854775807";
    ANCHOR = c"ERR invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799";
    NAME = c"ERR invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -";
    ID = c"ERR invalid ID: expected 1 to 512 bytes";
    ID_MISSING = c"ERR syntax error: LEASE needs ID id, the holder of the lease";
    LEASE_CORRECTION = c"ERR invalid algorithm: a lease has no cost to correct; RL.RELEASE ends it";
    OPTION = c"ERR syntax error: after limit come COST n, BURST n, ANCHOR t, ID id, AS name, PARTIAL, FULL or HEADERS, each at most once";
    REFUND_OPTION = c"ERR syntax error: after limit come COST n, AT ms, BURST n, ANCHOR t, FULL or HEADERS, each at most once";
    SETTLE_OPTION = c"ERR syntax error: after limit come RESERVED n, ACTUAL m, AT ms, BURST n, ANCHOR t, FULL or HEADERS, each at most once";
    // An option that comes twice.
    COST_TWICE = c"ERR syntax error: after limit comes COST n at most once";
    BURST_TWICE = c"ERR syntax error: after limit comes BURST n at most once";
    ANCHOR_TWICE = c"ERR syntax error: ANCHOR t comes at most once";
    ID_TWICE = c"ERR syntax error: after limit comes ID id at most once";
    NAME_TWICE = c"ERR syntax error: after limit comes AS name at most once";
    PARTIAL_TWICE = c"ERR syntax error: after limit comes PARTIAL at most once";
    AT_TWICE = c"ERR syntax error: after limit comes AT ms at most once";
    RESERVED_TWICE = c"ERR syntax error: after limit comes RESERVED n at most once";
    ACTUAL_TWICE = c"ERR syntax error: after limit comes ACTUAL n at most once";
    FORM_TWICE = c"ERR syntax error: after limit comes FULL or HEADERS at most once";
    RESET_OPTION = c"ERR syntax error: after window comes ANCHOR t or nothing";
    AT = c"ERR invalid AT: expected an integer of Unix milliseconds from 0 to 9223372036854775807";
    RESERVED = c"ERR invalid RESERVED: expected an integer from 0 to 9223372036854775807";
    ACTUAL = c"ERR invalid ACTUAL: expected an integer from 0 to 9223372036854775807";
    SETTLEMENT = c"ERR syntax error: RL.SETTLE needs RESERVED n and ACTUAL m";
    COST_NOT_TAKEN = c"ERR invalid COST: this command takes none";
    PARTIAL_NOT_TAKEN = c"ERR invalid PARTIAL: this command takes none";
    ID_NOT_TAKEN = c"ERR invalid ID: this command takes none";
    NAME_NOT_TAKEN = c"ERR invalid AS: this command takes none";
    AT_NOT_TAKEN = c"ERR invalid AT: only RL.REFUND and RL.SETTLE take it";
    RESERVED_NOT_TAKEN = c"ERR invalid RESERVED: only RL.SETTLE takes it";
    ACTUAL_NOT_TAKEN = c"ERR invalid ACTUAL: only RL.SETTLE takes it";
    FULL_AND_HEADERS = c"ERR syntax error: FULL and HEADERS exclude each other";
    AFTER_FORM = c"ERR syntax error: FULL or HEADERS comes last";
    NUM_LIMITS = c"ERR invalid numlimits: expected an integer from 1 to 64, and as many limits";
    SAME_KEY = c"ERR invalid key: two limits would keep their state in one key";
    MAX_BURST = c"ERR invalid max_burst: expected an integer from 0 to 9223372036854775807";
    COUNT = c"ERR invalid count: expected an integer from 1 to 9223372036854775807";
    PERIOD = c"ERR invalid period: expected an integer of seconds from 1 to 9223372036854775807";
    QUANTITY = c"ERR invalid quantity: expected an integer from 0 to 9223372036854775807";
    SPAN = c"ERR invalid window, limit or BURST: together they describe a rate that cannot be represented";
    LOG_COST = c"ERR invalid COST: RL.SLIDING takes at most 10000 units a call, over all its limits; use ROLLING, COUNTER, TOKEN, LEAKY or GCRA for more";
    LOG_DIFFERENCE = c"ERR invalid ACTUAL: RL.SLIDING is corrected by at most 10000 units a call; use ROLLING, COUNTER, TOKEN, LEAKY or GCRA for more";
    /// Cluster mode: the counter of the window would be in another slot than the key.
    CLUSTER_KEY = c"ERR invalid key: in a cluster FIXED needs a key that is not empty and has no brace outside a hash tag";
    /// A bug: a panic that was caught, or a call that the server must not reject. The log has a line about it.
    INTERNAL = c"ERR internal error of the module rl, see the server's log";
}

impl From<Unrepresentable> for Error {
    fn from(what: Unrepresentable) -> Self {
        match what {
            Unrepresentable::Span => Self::SPAN,
            Unrepresentable::Overflow => Self::OVERFLOW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_limit_follows_the_code() {
        assert_eq!(Error::ARITY.text(), Cow::Borrowed(c"ERR wrong number of arguments"));
        assert_eq!(Error::ARITY.of_limit(2).text().as_ref(), c"ERR limit 2: wrong number of arguments");
    }
}
