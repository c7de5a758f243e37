//! Every error text that a client can see. The texts never repeat what the client sent: their parts are static.
//!
//! (A text made from the bytes of a client could contain a NUL, and the reply calls of the server take C strings.)

use std::borrow::Cow;
use std::ffi::{CStr, CString};

use redis_rl_algorithm::{Name, Traits, Unrepresentable};

/// An error reply: its code, a blank, and the message.
#[derive(Clone, Copy, Debug)]
pub struct Error {
    message: Message,
    /// The limit of RL.MULTI or RL.SHARE that the error is about, from 1; 0 for none.
    limit: u8,
}

/// A text, or what it is made from.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    Text(&'static CStr),
    /// Too few words for this command, or too many.
    Arity(&'static str),
    /// A STRING that this other algorithm wrote.
    HeldBy(&'static str),
    /// An option that only these commands take.
    OnlyFor {
        option: &'static str,
        takers: &'static [&'static str],
    },
    /// An option that this algorithm does not take.
    NotTakenBy {
        algorithm: &'static str,
        option: &'static str,
    },
    /// A window of the calendar, which this algorithm does not take.
    NoCalendar(&'static str),
    /// A correction that this algorithm does not take, and what there is instead.
    NoCorrection {
        algorithm: &'static str,
        instead: &'static str,
    },
    /// A limit of RL.SHARE whose algorithm does not take ALWAYS.
    NotShared,
    /// A rule about these words, which the text joins by "and" or "or".
    OfWords {
        words: &'static [&'static str],
        joined_by: &'static str,
        rule: &'static str,
    },
    /// A word after this argument that is none of these options.
    Usage {
        after: &'static str,
        options: &'static [&'static str],
    },
}

impl Error {
    pub const fn new(message: Message) -> Self {
        Self { message, limit: 0 }
    }

    /// The same error of a command, which a wrong number of arguments names. `example` begins with the name.
    pub fn of_command(self, example: &'static str) -> Self {
        match self.message {
            Message::Arity(_) => {
                let command = example.split(' ').next().unwrap_or_default();
                Self { message: Message::Arity(command), ..self }
            }
            _ => self,
        }
    }

    /// The error for a correction of an algorithm that takes none.
    pub const fn no_correction(algorithm: Name) -> Self {
        let instead = match algorithm.traits() {
            Traits { refund: true, .. } => "RL.REFUND gives back what it charged",
            Traits { id: true, .. } => "RL.RELEASE ends a lease",
            _ => "RL.RESET forgets what it charged",
        };
        Self::new(Message::NoCorrection { algorithm: algorithm.word(), instead })
    }

    /// The same error, with the number of the limit that it is about.
    pub const fn of_limit(self, number: u8) -> Self {
        Self { limit: number, ..self }
    }

    /// The text of the reply.
    pub fn text(self) -> Cow<'static, CStr> {
        let text = match self.message {
            Message::Text(text) if self.limit == 0 => return Cow::Borrowed(text),
            Message::Text(text) => text.to_string_lossy().into_owned(),
            Message::Arity(command) => {
                let word = command.strip_prefix("RL.").unwrap_or(command);
                format!("ERR wrong number of arguments for '{command}' command: RL.HELP {word} lists its arguments")
            }
            Message::HeldBy(word) => format!("ERR the key holds a state of {word}: use another key for each algorithm"),
            Message::OnlyFor { option, takers } => {
                let verb = if takers.len() == 1 { "takes" } else { "take" };
                format!("ERR invalid {option}: only {} {verb} it", in_words(takers, "and"))
            }
            Message::NotTakenBy { algorithm, option } => format!("ERR invalid {option}: {algorithm} takes none"),
            Message::NoCalendar(word) => format!("ERR invalid window: {word} takes no windows of the calendar"),
            Message::NoCorrection { algorithm, instead } => {
                format!("ERR invalid algorithm: this command does not take {algorithm}; {instead}")
            }
            Message::NotShared => {
                let shared: Vec<_> =
                    Name::ALL.iter().filter(|name| name.traits().always).map(|name| name.word()).collect();
                format!("ERR invalid algorithm: RL.SHARE takes those that take ALWAYS: {}", shared.join(", "))
            }
            Message::OfWords { words, joined_by, rule } => {
                format!("ERR syntax error: {} {rule}", in_words(words, joined_by))
            }
            Message::Usage { after, options: [option] } => {
                format!("ERR syntax error: after {after} comes {option} or nothing")
            }
            Message::Usage { after, options } => {
                format!("ERR syntax error: after {after} come {}, each at most once", in_words(options, "or"))
            }
        };
        let text = match text.split_once(' ') {
            Some((code, message)) if self.limit > 0 => format!("{code} limit {}: {message}", self.limit),
            _ => text,
        };
        Cow::Owned(CString::new(text).unwrap_or_default())
    }
}

/// `a, b and c`.
fn in_words(words: &[&str], and: &str) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} {and} {last}", first.join(", ")),
        words => words.concat(),
    }
}

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl Error {
            /// [`Error::of_command`] names the command.
            pub const ARITY: Self = Self::new(Message::Arity("RL.HELP"));
            $($(#[$doc])* pub const $name: Self = Self::new(Message::Text($text));)*
        }
    };
}

errors! {
    WRONG_TYPE = c"WRONGTYPE Operation against a key holding the wrong kind of value";
    OUT_OF_MEMORY = c"OOM command not allowed when used memory > 'maxmemory'.";
    NO_PERMISSION = c"NOPERM No permissions to access a key";
    /// A hash that holds what is no reservation.
    FOREIGN_RESERVATION = c"ERR the hash of the reservations holds a value that the module did not write";
    /// A STRING that the algorithm has not written.
    FOREIGN_VALUE = c"ERR the key holds a value that this algorithm did not write";
    NOT_A_COUNTER = c"ERR value is not an integer or out of range";
    OVERFLOW = c"ERR increment or decrement would overflow";
    WINDOW = c"ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds";
    /// The same, of FIXED.
    CALENDAR_WINDOW = c"ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds; or day, week, month or year";
    LIMIT = c"ERR invalid limit: expected an integer from 0 to 9223372036854775807";
    /// A window where the limit is expected.
    WINDOW_FIRST = c"ERR invalid limit: expected an integer from 0 to 9223372036854775807; the window comes first, then the limit";
    ID = c"ERR invalid id: expected 1 to 512 bytes";
    TOO_MANY_IDS = c"ERR invalid id: expected at most 1000 ids a call";
    ID_MISSING = c"ERR syntax error: LEASE needs ID id, the holder of the lease";
    HELP = c"ERR invalid command: RL.HELP lists the commands";
    /// MAX, or the default of it, is below BLOCK, or the window.
    MAX = c"ERR invalid MAX: expected at least BLOCK, which is the window if not given";
    SETTLEMENT = c"ERR syntax error: RL.SETTLE needs ACTUAL m, and RESERVED n or RESERVATION id";
    TOP_COUNT = c"ERR invalid count: expected an integer of 0 or more, or RESET";
    TOP_OFF = c"ERR RL.TOP is off: set rl.top-keys above 0";
    NUM_LIMITS = c"ERR invalid numlimits: expected an integer from 1 to 64";
    SHARED_LIMITS = c"ERR invalid numlimits: expected an integer from 2 to 8";
    SHADOW_NOT_LAST = c"ERR invalid SHADOW: in RL.SHARE only the last limit takes it";
    FEWER_LIMITS = c"ERR invalid numlimits: fewer limits follow than numlimits says";
    MORE_LIMITS = c"ERR invalid numlimits: more limits follow than numlimits says";
    LIMIT_ARITY = c"ERR syntax error: expected the word of an algorithm, a key, a window and a limit";
    SAME_KEY = c"ERR invalid key: two limits would keep their state in one key; give each its own key";
    RESERVED_KEY = c"ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of reservations";
    MAX_BURST = c"ERR invalid max_burst: expected an integer from 0 to 9223372036854775807";
    COUNT = c"ERR invalid count: expected an integer from 1 to 9223372036854775807";
    PERIOD = c"ERR invalid period: expected an integer of seconds from 1 to 9223372036854775807";
    QUANTITY = c"ERR invalid quantity: expected an integer from 0 to 9223372036854775807";
    SPAN = c"ERR invalid window, limit or BURST: together they describe a rate that cannot be represented";
    LOG_COST = c"ERR invalid COST: RL.SLIDING takes at most 1000 units a call, over all its limits; use ROLLING, COUNTER, TOKEN, LEAKY or GCRA for more";
    LOG_DIFFERENCE = c"ERR invalid ACTUAL: RL.SLIDING is corrected by at most 1000 units a call; use ROLLING, COUNTER, TOKEN, LEAKY or GCRA for more";
    /// Cluster mode: the counter of the window would be in another slot than the key.
    CLUSTER_KEY = c"ERR invalid key: in a cluster FIXED needs a key that is not empty and has no brace outside a hash tag";
    /// The same for the hash of the reservations.
    CLUSTER_RESERVE = c"ERR invalid key: in a cluster RESERVE needs a key that is not empty and has no brace outside a hash tag";
    /// A bug: a panic that was caught, or a call that the server must not reject. The log has a line about it.
    INTERNAL = c"ERR internal error of the module rl, see the server's log";
}

impl From<Unrepresentable> for Error {
    fn from(what: Unrepresentable) -> Self {
        match what {
            Unrepresentable::Span => Self::SPAN,
            Unrepresentable::Overflow => Self::OVERFLOW,
            Unrepresentable::Order => Self::MAX,
        }
    }
}
