//! Policies: what is limited, as values.

mod request;
mod text;

use std::time::Duration;

use redis_rl_algorithm::period::Anchor;
pub use redis_rl_algorithm::period::CalendarUnit as Calendar;
use redis_rl_algorithm::{MAX_COUNT, Micros, Policy as Terms, Schedule, Window as Span};
pub use redis_rl_algorithm::{Name as Algorithm, Traits};
use tinystr::TinyAsciiStr;

pub use request::Request;
#[cfg(feature = "async")]
pub use request::{Join, Owned};

/// The longest name.
const MAX_NAME: usize = 64;

/// How long a policy counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// A length of whole milliseconds.
    Length(Duration),
    /// A period of the calendar.
    Calendar(Calendar),
}

/// What is limited: an algorithm, a window, a limit and options. A plain value, so it can be a constant:
///
/// ```
/// use std::time::Duration;
/// use redis_rl_client::{Calendar, Policy};
///
/// const API: Policy = Policy::token(Duration::from_secs(60), 600).burst(50).name("api");
/// const QUOTA: Policy = Policy::fixed_calendar(Calendar::Month, 1_000_000).name("quota");
/// ```
///
/// These functions panic if a value is invalid; in a constant that is an error of the compiler. Values that are known only at
/// run time are parsed, as the words of the command reference:
///
/// ```
/// # use redis_rl_client::Policy;
/// let api: Policy = "TOKEN 1m 600 BURST 50 AS api".parse()?;
/// assert_eq!(api.to_string(), "TOKEN 60 600 BURST 50 AS api");
/// assert!("COUNTER 1m 600 BURST 50".parse::<Policy>().is_err());
/// # Ok::<(), redis_rl_client::InvalidPolicy>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    algorithm: Algorithm,
    terms: Terms,
    name: Option<Name>,
    shadow: bool,
}

/// The text says which value is wrong, and what is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPolicy(&'static str);

#[track_caller]
const fn valid(policy: Result<Policy, InvalidPolicy>) -> Policy {
    match policy {
        Ok(policy) => policy,
        Err(InvalidPolicy(text)) => panic!("{}", text),
    }
}

macro_rules! of_each_algorithm {
    (() $($(#[$doc:meta])* $snake:ident $name:ident $word:literal $label:literal: $type:ty, in_memory $in_memory:ty { $($column:tt)* })*) => {
        /// A constructor for each algorithm.
        impl Policy {
            $($(#[$doc])*
            #[track_caller]
            pub const fn $snake(window: Duration, limit: u64) -> Self {
                valid(Self::new(Algorithm::$name, Window::Length(window), limit))
            })*
        }

        macro_rules! takes_none {
            ($option:literal, $algorithm:expr) => {
                match $algorithm {
                    $(Algorithm::$name => InvalidPolicy(concat!("invalid ", $option, ": ", $word, " takes none")),)*
                }
            };
        }
    };
}

redis_rl_algorithm::with_algorithms!(of_each_algorithm());

/// The options. Each panics if a value is invalid.
impl Policy {
    /// At most `limit` in each period of the calendar.
    #[track_caller]
    pub const fn fixed_calendar(period: Calendar, limit: u64) -> Self {
        // Special: no other algorithm has windows of the calendar.
        valid(Self::new(Algorithm::Fixed, Window::Calendar(period), limit))
    }

    /// How much may pass at once: 1 or more. Only for TOKEN, LEAKY and GCRA; the limit if not given.
    #[track_caller]
    #[must_use]
    pub const fn burst(self, burst: u64) -> Self {
        valid(self.try_burst(burst))
    }

    /// The length of the first lock; the window if not given. Only for LOCKOUT.
    #[track_caller]
    #[must_use]
    pub const fn block(self, first: Duration) -> Self {
        valid(self.try_block(first))
    }

    /// The length of the longest lock, at least that of the first; a day, or the first lock if that is longer, if not given.
    /// Only for LOCKOUT, after [`block`](Self::block).
    #[track_caller]
    #[must_use]
    pub const fn max(self, longest: Duration) -> Self {
        valid(self.try_max(longest))
    }

    /// A time at which a window starts, in Unix seconds. Only for FIXED.
    #[track_caller]
    #[must_use]
    pub const fn anchor(self, unix_seconds: u64) -> Self {
        valid(self.try_anchor(unix_seconds))
    }

    /// The name in the headers: 1 to 64 characters of `A-Z a-z 0-9 . _ -`; the algorithm in lower case if not given.
    #[track_caller]
    #[must_use]
    pub const fn name(self, name: &str) -> Self {
        valid(self.try_name(name))
    }

    /// Decides and counts as usual, and allows what the limit denies.
    #[must_use]
    pub const fn shadow(self) -> Self {
        Self { shadow: true, ..self }
    }
}

/// The same, for values that are known at run time. The error says which value is wrong.
impl Policy {
    /// A policy without options.
    pub const fn new(algorithm: Algorithm, window: Window, limit: u64) -> Result<Self, InvalidPolicy> {
        let schedule = match window {
            Window::Length(length) => match span(length) {
                Some(span) => Schedule::Aligned(span),
                None => return Err(InvalidPolicy("invalid window: expected whole milliseconds, up to 10^12 seconds")),
            },
            Window::Calendar(period) if algorithm.traits().anchor => Schedule::Calendar(period, None),
            Window::Calendar(_) => {
                return Err(InvalidPolicy("invalid window: only FIXED takes day, week, month and year"));
            }
        };
        if limit > MAX_COUNT {
            return Err(InvalidPolicy("invalid limit: expected an integer from 0 to 9223372036854775807"));
        }
        Ok(Self {
            algorithm,
            terms: Terms { schedule, limit, burst: None, block: None, max: None },
            name: None,
            shadow: false,
        })
    }

    /// [`burst`](Self::burst).
    pub const fn try_burst(self, burst: u64) -> Result<Self, InvalidPolicy> {
        if !self.algorithm.traits().burst {
            return Err(takes_none!("BURST", self.algorithm));
        }
        if burst == 0 || burst > MAX_COUNT {
            return Err(InvalidPolicy("invalid BURST: expected an integer from 1 to 9223372036854775807"));
        }
        Ok(Self { terms: Terms { burst: Some(burst), ..self.terms }, ..self })
    }

    /// [`block`](Self::block).
    pub const fn try_block(self, first: Duration) -> Result<Self, InvalidPolicy> {
        if !self.algorithm.traits().lock {
            return Err(takes_none!("BLOCK", self.algorithm));
        }
        match span(first) {
            Some(block) => Self { terms: Terms { block: Some(block), ..self.terms }, ..self }.in_order(),
            None => Err(InvalidPolicy("invalid BLOCK: expected whole milliseconds, up to 10^12 seconds")),
        }
    }

    /// [`max`](Self::max).
    pub const fn try_max(self, longest: Duration) -> Result<Self, InvalidPolicy> {
        if !self.algorithm.traits().lock {
            return Err(takes_none!("MAX", self.algorithm));
        }
        match span(longest) {
            Some(max) => Self { terms: Terms { max: Some(max), ..self.terms }, ..self }.in_order(),
            None => Err(InvalidPolicy("invalid MAX: expected whole milliseconds, up to 10^12 seconds")),
        }
    }

    const fn in_order(self) -> Result<Self, InvalidPolicy> {
        let first = match self.terms.block {
            Some(block) => block,
            None => self.terms.window(),
        };
        match self.terms.max {
            Some(max) if max.micros() < first.micros() => {
                Err(InvalidPolicy("invalid MAX: expected at least BLOCK, which is the window if not given"))
            }
            _ => Ok(self),
        }
    }

    /// [`anchor`](Self::anchor).
    pub const fn try_anchor(self, unix_seconds: u64) -> Result<Self, InvalidPolicy> {
        if !self.algorithm.traits().anchor {
            return Err(takes_none!("ANCHOR", self.algorithm));
        }
        let Some(anchor) = Anchor::from_seconds(unix_seconds) else {
            return Err(InvalidPolicy("invalid ANCHOR: expected an integer of Unix seconds from 0 to 253402300799"));
        };
        let schedule = match self.terms.schedule {
            Schedule::Aligned(span) | Schedule::Anchored(span, _) => Schedule::Anchored(span, anchor),
            Schedule::Calendar(period, _) => Schedule::Calendar(period, Some(anchor)),
        };
        Ok(Self { terms: Terms { schedule, ..self.terms }, ..self })
    }

    /// The same algorithm and options, with another window and limit.
    pub fn try_terms(self, window: Window, limit: u64) -> Result<Self, InvalidPolicy> {
        let mut new = Self::new(self.algorithm, window, limit)?;
        if let Some(anchor) = self.anchor_seconds() {
            new = new.try_anchor(anchor)?;
        }
        let Terms { schedule, limit, .. } = new.terms;
        Self { terms: Terms { schedule, limit, ..self.terms }, ..self }.in_order()
    }

    /// [`name`](Self::name).
    pub const fn try_name(self, name: &str) -> Result<Self, InvalidPolicy> {
        match valid_name(name) {
            Some(name) => Ok(Self { name: Some(name), ..self }),
            None => Err(InvalidPolicy("invalid AS: expected a name of 1 to 64 characters of A-Z a-z 0-9 . _ -")),
        }
    }
}

impl Policy {
    /// The algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The window.
    pub const fn window(&self) -> Window {
        match self.terms.schedule {
            Schedule::Aligned(span) | Schedule::Anchored(span, _) => Window::Length(length(span)),
            Schedule::Calendar(period, _) => Window::Calendar(period),
        }
    }

    /// How many units are allowed in a window.
    pub const fn limit(&self) -> u64 {
        self.terms.limit
    }

    /// How much may pass at once: the burst, else the limit.
    pub const fn capacity(&self) -> u64 {
        self.terms.capacity()
    }

    /// The name in the headers.
    pub fn label(&self) -> &str {
        self.name.as_ref().map_or(self.algorithm.label(), Name::as_str)
    }

    /// Whether it allows what the limit denies.
    pub const fn is_shadow(&self) -> bool {
        self.shadow
    }

    /// The lengths of the first and the longest lock, if they are given.
    pub(crate) fn locks(&self) -> [Option<Window>; 2] {
        [self.terms.block, self.terms.max].map(|span| span.map(|span| Window::Length(length(span))))
    }

    pub(crate) const fn anchor_seconds(&self) -> Option<u64> {
        match self.terms.schedule {
            Schedule::Anchored(_, anchor) | Schedule::Calendar(_, Some(anchor)) => Some(anchor.seconds()),
            _ => None,
        }
    }

    /// For the functions of the crate redis-rl-algorithm.
    pub const fn terms(&self) -> Terms {
        self.terms
    }

    /// The length of the window; of the longest period of the calendar.
    pub(crate) const fn longest_window(&self) -> Duration {
        length(self.terms.window())
    }

    /// The length of the window that contains `now_ms`, in milliseconds. Only months and years differ in length.
    pub(crate) fn window_millis_at(&self, now_ms: u64) -> u64 {
        match self.terms.schedule {
            schedule @ Schedule::Calendar(Calendar::Month | Calendar::Year, _) => {
                schedule.period_at(Micros(now_ms.saturating_mul(1_000))).seconds().saturating_mul(1_000)
            }
            _ => self.terms.window().millis(),
        }
    }
}

/// `None` for what no window is: a part of a millisecond, 0, and more than the longest.
const fn span(length: Duration) -> Option<Span> {
    let millis = length.as_millis();
    let is_whole = length.subsec_nanos().is_multiple_of(1_000_000) && millis <= u64::MAX as u128;
    if is_whole { Span::from_millis(millis as u64) } else { None }
}

const fn length(span: Span) -> Duration {
    Duration::from_micros(span.micros())
}

/// Held in place, so that a policy stays a plain value.
type Name = TinyAsciiStr<MAX_NAME>;

/// 1 to 64 characters of `A-Z a-z 0-9 . _ -`.
const fn valid_name(name: &str) -> Option<Name> {
    let (text, mut at) = (name.as_bytes(), 0);
    while at < text.len() {
        if !(text[at].is_ascii_alphanumeric() || matches!(text[at], b'.' | b'_' | b'-')) {
            return None;
        }
        at += 1;
    }
    match Name::try_from_utf8(text) {
        Ok(name) if at > 0 => Some(name),
        _ => None,
    }
}
