//! Every error a client can see, in one place: static text, never what the client sent.
//!
//! It stands above `store` and `command` because both answer from it. (Static also because the server's own reply
//! calls take C strings: a text made from a client's bytes could hold a NUL.)

use std::ffi::CStr;

use crate::limit::Unrepresentable;

/// An error reply: its code, a blank, and what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub &'static CStr);

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl Error { $($(#[$doc])* pub const $name: Self = Self($text);)* }
    };
}

errors! {
    WRONG_TYPE = c"WRONGTYPE Operation against a key holding the wrong kind of value";
    OUT_OF_MEMORY = c"OOM command not allowed when used memory > 'maxmemory'.";
    ARITY = c"ERR wrong number of arguments";
    /// A STRING that the algorithm has not written.
    FOREIGN_VALUE = c"ERR the key holds a value that is no state of this algorithm";
    NOT_A_COUNTER = c"ERR value is not an integer or out of range";
    OVERFLOW = c"ERR increment or decrement would overflow";
    WINDOW = c"ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds";
    LIMIT = c"ERR invalid limit: expected an integer from 0 to 9223372036854775807";
    COST = c"ERR invalid COST: expected an integer from 1 to 9223372036854775807";
    BURST = c"ERR invalid BURST: expected an integer from 1 to 9223372036854775807";
    BURST_NOT_TAKEN = c"ERR invalid BURST: only TOKEN, LEAKY and GCRA take one";
    OPTION = c"ERR syntax error: after limit come COST n, BURST n, FULL or HEADERS, each once";
    FULL_AND_HEADERS = c"ERR syntax error: FULL and HEADERS exclude each other";
    ALGORITHM = c"ERR invalid algorithm: expected FIXED, SLIDING, COUNTER, TOKEN, LEAKY or GCRA";
    REFUND_OPTION = c"ERR syntax error: RL.REFUND takes COST n and BURST n, but neither FULL nor HEADERS";
    NUM_LIMITS = c"ERR invalid numlimits: expected an integer from 1 to 64, and as many limits";
    MULTI_BURST = c"ERR invalid BURST: RL.MULTI takes none";
    SAME_KEY = c"ERR invalid key: two limits would keep their state in one key";
    MAX_BURST = c"ERR invalid max_burst: expected an integer from 0 to 9223372036854775807";
    COUNT = c"ERR invalid count: expected an integer from 1 to 9223372036854775807";
    PERIOD = c"ERR invalid period: expected a number of seconds from 1 to 9223372036854775807";
    QUANTITY = c"ERR invalid quantity: expected an integer from 0 to 9223372036854775807";
    SPAN = c"ERR invalid window, limit or BURST: what they ask for together cannot be represented";
    LOG_COST = c"ERR invalid COST: RL.SLIDING remembers at most 1000000 requests a call";
    /// Cluster mode: the counter of the window would lie in another slot than the key.
    CLUSTER_KEY = c"ERR invalid key: in a cluster FIXED needs a key that is not empty and has no brace outside a hash tag";
    /// A bug: a panic that was caught, or the server refusing what it has to do.
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
