//! Rate limiting algorithms as pure functions.
//!
//! A limiter in memory, from the first request to the refund:
//!
//! ```
//! use redis_rl_algorithm::in_memory::InMemory;
//! use redis_rl_algorithm::{Cost, Micros, Policy, TokenBucket, Window};
//!
//! // 5 requests a minute, all of them at once if nothing came before.
//! let policy = Policy::new(Window::from_millis(60_000).unwrap(), 5);
//! let bucket = TokenBucket::with_policy(&policy).unwrap();
//!
//! // What is known of one client. A service has one for each, in a map.
//! let mut client = Default::default();
//! let now = Micros::from_millis(1_700_000_000_000);
//! for remaining in [4, 3, 2, 1, 0] {
//!     let reply = bucket.request(&mut client, now, Cost::ONE).unwrap();
//!     assert!(reply.verdict.allowed);
//!     assert_eq!(reply.figures.remaining, remaining);
//! }
//! let denied = bucket.request(&mut client, now, Cost::ONE).unwrap();
//! assert!(!denied.verdict.allowed);
//! assert_eq!(denied.figures.retry_after_ms, 12_000);
//!
//! // A client that waits exactly that long is allowed. A millisecond earlier it is denied.
//! let later = now.plus(12_000_000);
//! assert!(!bucket.request(&mut client, Micros(later.0 - 1_000), Cost::ONE).unwrap().verdict.allowed);
//! assert!(bucket.request(&mut client, later, Cost::ONE).unwrap().verdict.allowed);
//!
//! // What turned out not to be needed is given back.
//! bucket.refund(&mut client, later, None, Cost::ONE);
//! assert!(bucket.request(&mut client, later, Cost::ONE).unwrap().verdict.allowed);
//! ```
//!
//! Nothing here reads a clock, does I/O or knows Redis. The module redis-rl stores the same states in Redis, and its
//! commands are these functions.
//!
//! # Choosing an algorithm
//!
//! | algorithm | it promises | units come back | its state |
//! |---|---|---|---|
//! | [`FixedWindow`] | at most `limit` in each window, calendar day, month … | all together, when the window ends | a counter for each window |
//! | [`WindowCounter`] | at most `limit` in each window, which starts with the first request | all together, when the window ends | one counter |
//! | [`SlidingLog`] | at most `limit` in *any* window | each one a window after it was charged | an entry for each unit |
//! | [`RollingLog`] | the same; a unit may count for 1/4096 of the window longer | each one a window after it was charged | 15 bytes for each moment |
//! | [`SlidingCounter`] | the same, estimated from two counters | gradually | a record |
//! | [`TokenBucket`] | the rate in the long run, `burst` at once | one by one, at the rate | a record |
//! | [`LeakyBucket`] | an even flow: it says how long to hold each request | one by one, at the rate | a record |
//! | [`Gcra`] | as the token bucket | one by one, at the rate | one time |
//! | [`Lease`] | at most `limit` holders at once | when a holder releases its lease, or a window after its last renewal | an entry for each holder |
//! | [`Lockout`] | `limit` attempts, then a lock that grows | all together, when the lock or the window ends | a record |
//!
//! - [`SlidingCounter`] for quotas, [`FixedWindow`] for quotas of a calendar period.
//! - [`TokenBucket`] or [`Gcra`] for rates with bursts, [`LeakyBucket`] where the service behind must see no burst.
//! - [`RollingLog`] where the limit must be exact.
//! - [`Lease`] for requests in flight, jobs and connections.
//! - [`Lockout`] for logins and one-time codes.
//!
//! # What all of them promise
//!
//! - Arithmetic is exact: integers, with `u128` where a product can exceed 64 bits. A division with a remainder rounds
//!   against the caller, so rounding never allows too much.
//! - `remaining`, `retry_after_ms`, `next_ms` and `reset_ms` of [`Figures`] are exact to the millisecond, also if the
//!   policy changes from call to call.
//! - A [`Cost`] above the capacity is denied for ever, and is no error. A cost of 0 charges nothing and is allowed while a
//!   unit is left.
//! - A clock that steps back allows no additional request. A state ahead of the clock is read as if it began now, and the
//!   next denial writes it so ([`Change::Rebase`]). Two exceptions: [`FixedWindow`] has a counter for each window, so after
//!   a step back into a window whose counter has expired, that window is empty; leases of a [`Lease`] last longer by the
//!   step.
//! - No argument and no stored state panics.
//!
//! # Storing a state
//!
//! A decision is pure: it gets a state, the time and the cost, and returns a [`Decision`] with a [`Change`]. The caller
//! writes the change, or drops it to look only. So several limits can be decided before any of them is charged:
//!
//! ```
//! use redis_rl_algorithm::{Algorithm, Change, Cost, Gcra, Micros, Policy, TokenBucket, Window, record};
//!
//! let now = Micros::from_millis(1_700_000_000_000);
//! let minute = Window::from_millis(60_000).unwrap();
//! let (token, gcra) = (TokenBucket::new(&Policy::new(minute, 5)).unwrap(), Gcra::new(&Policy::new(minute, 1)).unwrap());
//! let (one, other) = (token.decide(None, now, Cost::ONE).unwrap(), gcra.decide(None, now, Cost::ONE).unwrap());
//! assert!(one.verdict.allowed && other.verdict.allowed);
//!
//! // A state of a few integers is stored as text, and expires when it equals no state.
//! let Change::Charge(state) = one.change else { panic!("it is allowed") };
//! let text = record::encode::<TokenBucket>(&state);
//! assert_eq!(&*text, b"T:1:0:60000:1700000000000000");
//! assert_eq!(record::decode::<TokenBucket>(&text), Some(state));
//! let expires_at = record::new_expiry(&token, None, &one.change, || None);
//! assert_eq!(expires_at, Some(1_700_000_012_000 + record::SLACK_MS));
//! ```
//!
//! - [`Algorithm`]: what every algorithm but [`Lease`] decides.
//! - [`RecordAlgorithm`]: the algorithms with a record, and [`record`]: its text and its expiry.
//! - [`FixedWindow`] and [`WindowCounter`] have a [`Counter`](fixed_window::Counter), [`RollingLog`] a record of bytes,
//!   [`SlidingLog`] and [`Lease`] a sorted set: their functions say what to write.
//! - [`reservation`]: an estimate that is charged once, corrected once, and given back if no call settles it.
//! - [`in_memory`]: all of them with their state in memory, as the tests use it.
//! - [`Name`] and [`Traits`]: what each of them can do. [`with_algorithms!`] does something for each.
//!
//! # Units
//!
//! A time is [`Micros`] since the Unix epoch, a span is whole microseconds, a [`Window`] is whole milliseconds, a count is
//! 0 to [`MAX_COUNT`]. Only [`period`] uses a crate beside `std`, for dates.

#![forbid(unsafe_code)]
#![warn(missing_docs)]
// Nothing that a caller passes or a record holds may panic.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

#[macro_use]
mod table;
mod always;
pub mod bucket;
pub mod fixed_window;
mod forecast;
pub mod gcra;
pub mod hash_tag;
pub mod in_memory;
pub mod integer;
pub mod lease;
pub mod lockout;
pub mod period;
pub mod record;
pub mod reservation;
pub mod rolling_log;
pub mod sliding_counter;
pub mod sliding_log;
pub mod window_counter;

#[cfg(test)]
mod tests;

pub use bucket::{LeakyBucket, TokenBucket};
pub use fixed_window::FixedWindow;
pub use forecast::{Figures, Forecast};
pub use gcra::Gcra;
pub use lease::Lease;
pub use lockout::Lockout;
pub use period::Schedule;
pub use rolling_log::RollingLog;
pub use sliding_counter::SlidingCounter;
pub use sliding_log::SlidingLog;
pub use table::{Name, Traits};
pub use window_counter::WindowCounter;

use reservation::{Correction, Reservation};

/// A point in time, in microseconds since the Unix epoch.
///
/// ```
/// use redis_rl_algorithm::Micros;
///
/// let at = Micros::from_millis(1_500);
/// assert_eq!(at.plus(250), Micros(1_500_250));
/// assert_eq!(at.plus(250).since(at), 250);
/// assert_eq!(at.since(at.plus(250)), 0, "a clock that stepped back");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub u64);

impl Micros {
    /// The millisecond of this point. The members of a sliding window log have such scores.
    pub const fn millis(self) -> u64 {
        self.0 / 1_000
    }

    /// The first point of a millisecond.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// The first millisecond that is not before this point: an expiry at that moment is not too early.
    pub const fn ceil_millis(self) -> u64 {
        self.0.div_ceil(1_000)
    }

    /// The point `micros` microseconds later. Saturates at the largest value.
    pub const fn plus(self, micros: u64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// Microseconds since `earlier`; 0 if `earlier` is later than this point, as after a clock stepped back.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The longest span of any computation, in microseconds: 10¹⁸, about 31,700 years.
///
/// With it, `now + 2 × window` fits 63 bits of microseconds, and the sum of two products `limit × window` fits `u128`.
pub const MAX_SPAN: u64 = 1_000_000_000_000_000_000;

/// The largest limit, burst and cost: the largest Redis integer, 2⁶³ − 1.
pub const MAX_COUNT: u64 = i64::MAX as u64;

/// How many entries of logs, and leases, that no longer count one call removes. Later calls remove the rest.
pub const MAX_EXPIRED: usize = 4_000;

/// How many entries ahead of the clock one call moves to now, in its first log. Later calls move the rest.
pub const MAX_MOVED: u64 = 500;

/// The span that a limit applies to: whole milliseconds, from 1 ms to [`MAX_SPAN`].
///
/// ```
/// use redis_rl_algorithm::Window;
///
/// assert_eq!(Window::from_millis(1_500).map(Window::micros), Some(1_500_000));
/// assert_eq!(Window::from_millis(0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window(u64);

impl Window {
    /// [`MAX_SPAN`].
    pub const LONGEST: Self = Self(MAX_SPAN);

    /// `None` for 0 and for more than [`MAX_SPAN`].
    pub const fn from_millis(millis: u64) -> Option<Self> {
        match millis.checked_mul(1_000) {
            Some(micros @ 1..=MAX_SPAN) => Some(Self(micros)),
            _ => None,
        }
    }

    /// The window of a text: a positive integer of seconds, or one with a unit, `500ms`, `10s`, `5m`, `1h` or `1d`.
    ///
    /// ```
    /// use redis_rl_algorithm::Window;
    ///
    /// let millis = |text: &str| Window::from_text(text.as_bytes()).map(Window::millis);
    /// assert_eq!(["60", "500ms", "5m", "1w"].map(millis), [Some(60_000), Some(500), Some(300_000), None]);
    /// ```
    #[inline]
    pub fn from_text(text: &[u8]) -> Option<Self> {
        let (digits, unit_millis) = match text {
            [digits @ .., b'm', b's'] => (digits, 1),
            [digits @ .., b's'] => (digits, 1_000),
            [digits @ .., b'm'] => (digits, 60_000),
            [digits @ .., b'h'] => (digits, 3_600_000),
            [digits @ .., b'd'] => (digits, 86_400_000),
            digits => (digits, 1_000),
        };
        Self::from_millis(integer::parse_unsigned(digits)?.checked_mul(unit_millis)?)
    }

    /// The length in microseconds.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// The length in milliseconds.
    pub const fn millis(self) -> u64 {
        self.0 / 1_000
    }

    /// The length in seconds, rounded up.
    pub const fn seconds(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }
}

/// The cost of a request: 0 to [`MAX_COUNT`] units.
///
/// A cost of 0 charges nothing and is allowed while at least one unit is available.
///
/// ```
/// use redis_rl_algorithm::{Cost, MAX_COUNT};
///
/// assert_eq!(Cost::new(3).map(Cost::units), Some(3));
/// assert_eq!((Cost::ZERO.units(), Cost::ZERO.needed()), (0, 1));
/// assert_eq!(Cost::new(MAX_COUNT + 1), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u64);

impl Cost {
    /// Charges nothing.
    pub const ZERO: Self = Self(0);
    /// The cost of a request that names none.
    pub const ONE: Self = Self(1);

    /// `None` for more than [`MAX_COUNT`].
    pub const fn new(units: u64) -> Option<Self> {
        if units <= MAX_COUNT { Some(Self(units)) } else { None }
    }

    /// The units that an allowed request charges.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// The units that must be available for the request to be allowed: at least 1.
    pub const fn needed(self) -> u64 {
        if self.0 == 0 { 1 } else { self.0 }
    }
}

/// The limit that the arguments of a call describe: `limit` units in each window, `burst` of them at once.
///
/// ```
/// use redis_rl_algorithm::{Policy, Window};
///
/// let policy = Policy::new(Window::from_millis(1_000).unwrap(), 10);
/// assert_eq!(policy.capacity(), 10);
/// assert_eq!(Policy { burst: Some(50), ..policy }.capacity(), 50);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// The length of the windows and, for the fixed window counter, when they start.
    pub schedule: Schedule,
    /// 0 to [`MAX_COUNT`]; 0 denies everything.
    pub limit: u64,
    /// 1 to [`MAX_COUNT`]. Algorithms that take no BURST ignore it.
    pub burst: Option<u64>,
    /// The length of the first lock; the window if not given. Only [`Lockout`] has locks.
    pub block: Option<Window>,
    /// The length of the longest lock; a day, or the first lock if that is longer, if not given.
    pub max: Option<Window>,
}

impl Policy {
    /// `limit` units in each `window`, without BURST.
    pub const fn new(window: Window, limit: u64) -> Self {
        Self { schedule: Schedule::Aligned(window), limit, burst: None, block: None, max: None }
    }

    /// The span that the limit applies to. For a calendar period, the longest that it can be.
    pub const fn window(&self) -> Window {
        match self.schedule {
            Schedule::Aligned(window) | Schedule::Anchored(window, _) => window,
            Schedule::Calendar(unit, _) => unit.longest(),
        }
    }

    /// How many units may pass at once: BURST if given, else the limit.
    pub const fn capacity(&self) -> u64 {
        match self.burst {
            Some(burst) => burst,
            None => self.limit,
        }
    }
}

/// The arguments are valid one by one, but what they describe together cannot be represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrepresentable {
    /// At this rate, the whole capacity takes longer to come back than the algorithm's state can represent.
    Span,
    /// More than [`MAX_COUNT`] units would be counted.
    Overflow,
    /// The longest lock would be shorter than the first.
    Order,
}

/// The three integers of every reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// Units counted. Each algorithm documents which.
    pub count: i64,
    /// Seconds. Each algorithm documents until when.
    pub ttl: i64,
}

/// What a decision, a refund or a reset does to the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<S> {
    /// Nothing.
    Keep,
    /// Counts the request. This is the new state.
    Charge(S),
    /// Writes the state again, counted from now. The request charges nothing. The stored state is ahead of the clock,
    /// counts windows of another length, or has an expiry that is missing or too late. Otherwise the key would be denied
    /// for longer than the figures say: until the clock has caught up, for example.
    Rebase(S),
    /// Gives units back. This is the new state.
    Refund(S),
    /// Removes the state: nothing is counted.
    Delete,
}

impl<S> Change<S> {
    /// The state to write, if any.
    pub const fn state(&self) -> Option<&S> {
        match self {
            Self::Keep | Self::Delete => None,
            Self::Charge(state) | Self::Rebase(state) | Self::Refund(state) => Some(state),
        }
    }

    /// The state that a key holds afterwards.
    pub fn apply_to(self, before: Option<S>) -> Option<S> {
        match self {
            Self::Keep => before,
            Self::Charge(state) | Self::Rebase(state) | Self::Refund(state) => Some(state),
            Self::Delete => None,
        }
    }
}

/// A verdict, and the change that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<S> {
    /// The reply.
    pub verdict: Verdict,
    /// How long to hold the request before it goes on, in microseconds. 0 for every algorithm but the leaky bucket.
    pub delay: u64,
    /// What to write.
    pub change: Change<S>,
    /// How many units must be available for the same request to be allowed: its cost; for a cost of 0 it is 1, or 0 with
    /// ALWAYS.
    pub needed: u64,
}

/// An algorithm of the table.
pub trait Named {
    /// Its name.
    const NAME: Name;
    /// Its row.
    const TRAITS: &'static Traits = Self::NAME.traits();
}

/// An algorithm: what it decides on a request, and how it corrects a charge. All of it is pure: the caller writes the
/// change. [`Lease`] has no costs, and functions of its own.
///
/// ```
/// use redis_rl_algorithm::{Algorithm, Cost, Micros, Policy, RecordAlgorithm, TokenBucket, Window};
///
/// fn allows_twice<A: RecordAlgorithm>(policy: &Policy, now: Micros) -> bool {
///     let algorithm = A::new(policy).unwrap();
///     let first = algorithm.decide(None, now, Cost::ONE).unwrap();
///     let state = first.change.apply_to(None);
///     first.verdict.allowed && algorithm.decide(state, now, Cost::ONE).unwrap().verdict.allowed
/// }
/// let now = Micros(1_700_000_000_000_000);
/// let policy = |limit| Policy::new(Window::from_millis(60_000).unwrap(), limit);
/// assert!(allows_twice::<TokenBucket>(&policy(2), now));
/// assert!(!allows_twice::<TokenBucket>(&policy(1), now));
/// ```
pub trait Algorithm: Named + Sized {
    /// What is known of a key: most often `None` if it does not exist.
    type State<'s>: Copy;
    /// What a change writes.
    type Change: Copy + PartialEq + std::fmt::Debug;

    /// The algorithm under a policy.
    ///
    /// # Errors
    /// [`Unrepresentable::Span`] if the policy needs times that the state cannot represent.
    fn new(policy: &Policy) -> Result<Self, Unrepresentable>;

    /// Decides on a request. `count` is the number of units that were counted before it.
    ///
    /// `ttl` of an allowed request is the number of seconds until the whole limit is available. `ttl` of a denied one is
    /// the number of seconds until the same request is allowed, at least 1; −1 means never. A cost of 0 charges nothing
    /// and creates no state.
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`] if more than [`MAX_COUNT`] units would be counted: only [`FixedWindow`] counts a
    /// request that it denies.
    fn decide(&self, state: Self::State<'_>, now: Micros, cost: Cost) -> Decided<Self::Change>;

    /// Decides on a request that is charged whatever the limit says: `charged` units of its cost. It is allowed if no more
    /// than the limit is counted then. With ALWAYS, a gateway charges in this way what a response has already used.
    ///
    /// A cost of 0 charges nothing, and is denied only if more than the limit is counted. Under a limit of 0 everything
    /// is denied.
    ///
    /// # Errors
    /// As [`Algorithm::overcharging`].
    fn decide_always(&self, state: Self::State<'_>, now: Micros, cost: Cost, charged: Cost) -> Decided<Self::Change> {
        always::decide(self, state, now, cost, charged)
    }

    /// How many units of a cost a limit of RL.SHARE is charged when a narrower one has paid: all, but for a token bucket. It
    /// lends no more than its limit beyond its capacity, so after a load no request waits for longer than a window.
    fn lent(&self, _state: Self::State<'_>, _now: Micros, cost: Cost) -> Cost {
        cost
    }

    /// Decides on a request with RESERVE. Every algorithm but [`FixedWindow`] decides as on any other request.
    ///
    /// # Errors
    /// As [`Algorithm::decide`].
    fn decide_reserving(&self, state: Self::State<'_>, now: Micros, cost: Cost) -> Decided<Self::Change> {
        self.decide(state, now, cost)
    }

    /// Decides on a request, which `charging` says how to charge.
    ///
    /// # Errors
    /// As [`Algorithm::decide`] and [`Algorithm::overcharging`].
    #[inline(always)]
    fn decide_charging(
        &self,
        state: Self::State<'_>,
        now: Micros,
        cost: Cost,
        charging: Charging,
    ) -> Decided<Self::Change> {
        match charging {
            Charging::IfAllowed => self.decide(state, now, cost),
            Charging::Always => self.decide_always(state, now, cost, cost),
            Charging::Lending => self.decide_always(state, now, cost, self.lent(state, now, cost)),
            Charging::Reserving => self.decide_reserving(state, now, cost),
        }
    }

    /// What gives `cost` units back, never beyond full. Units that the state counts beyond the limit go first. `at` is
    /// when they were charged, if that is known: see [`Traits::at`].
    fn refunding(&self, state: Self::State<'_>, now: Micros, at: Option<Micros>, cost: Cost) -> Change<Self::Change>;

    /// What charges `cost` units whatever the limit says: a request turned out to cost more than it was charged. `at` is
    /// when it was charged, if that is known: see [`Traits::at`]. A cost of 0 returns [`Change::Keep`].
    ///
    /// # Errors
    /// [`Unrepresentable::Overflow`] if more than [`MAX_COUNT`] units would be counted.
    fn overcharging(
        &self,
        state: Self::State<'_>,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Changed<Self::Change>;

    /// What corrects the charge of a reservation to `actual`, as of the time of the charge.
    ///
    /// # Errors
    /// As [`Algorithm::overcharging`].
    fn settling(
        &self,
        state: Self::State<'_>,
        now: Micros,
        charge: &Reservation,
        actual: Cost,
    ) -> Changed<Self::Change> {
        if !charge.counts(now) {
            return Ok(Change::Keep);
        }
        match Correction::new(charge, actual) {
            Correction::Refund(cost) => Ok(self.refunding(state, now, Some(charge.at()), cost)),
            Correction::Charge(cost) => self.overcharging(state, now, Some(charge.at()), cost),
        }
    }

    /// The millisecond in which a charge of `now` leaves its window, after the change that charges it: [`reservation`]
    /// needs it. An algorithm without reservations has none.
    fn counts_until(&self, _state: Self::State<'_>, _change: &Change<Self::Change>, now: Micros) -> u64 {
        now.millis()
    }

    /// The change that a request in shadow mode commits. The policy that is tried may name other times than the one in force,
    /// so an algorithm whose window starts with a request leaves the times of its state as they are.
    fn in_shadow(&self, _state: Self::State<'_>, _now: Micros, change: Change<Self::Change>) -> Change<Self::Change> {
        change
    }

    /// What the state allows after a change, now and later.
    fn forecast(&self, state: Self::State<'_>, change: &Change<Self::Change>, now: Micros) -> impl Forecast;
}

/// How a request is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charging {
    /// If the limit allows it.
    IfAllowed,
    /// Whatever the limit says: the option ALWAYS.
    Always,
    /// As RL.SHARE charges a limit when a narrower one has paid.
    Lending,
    /// As a reservation: the option RESERVE. FIXED counts no denial then.
    Reserving,
}

/// What an algorithm decides, or the error that the result cannot be represented.
pub type Decided<C> = Result<Decision<C>, Unrepresentable>;
/// What an algorithm changes, or the same error.
pub type Changed<C> = Result<Change<C>, Unrepresentable>;

/// An algorithm whose whole state is a short record of integers. Every such record is stored in the same way, so a new
/// algorithm of this kind implements this trait and [`Algorithm`], and nothing else.
pub trait RecordAlgorithm:
    for<'s> Algorithm<State<'s> = Option<<Self as RecordAlgorithm>::Record>, Change = <Self as RecordAlgorithm>::Record>
{
    /// What is known of a key.
    type Record: Copy + PartialEq + std::fmt::Debug;
    /// The integers of the record: `[u64; N]`.
    type Words: RecordWords;
    /// How many of the last integers are left out of the record while they are 0.
    const OPTIONAL_WORDS: usize = 0;
    /// The start of the stored record: [`Letter<'T'>`](record::Letter) is `T:` in `T:3:0:60000:1700000000000000`. The
    /// integers follow, with `:` between them. No two algorithms have the same, so none reads the record of another: the
    /// compiler rejects a letter that has an algorithm already.
    type Tag: record::Tag<Algorithm = Self>;
    /// Whether the time that a state stays relevant depends on arguments that the state does not hold. The expiry of
    /// the key then also serves earlier calls with other arguments.
    const EXPIRY_DEPENDS_ON_POLICY: bool;
    /// How much later than needed the expiry may be, in milliseconds.
    const EXPIRY_SLACK_MS: u64 = record::SLACK_MS;

    /// The time from which this state equals no state under this policy; the key may expire then.
    fn expires_at(&self, state: &Self::Record) -> Micros;

    /// The record of a state.
    fn to_words(state: &Self::Record) -> Self::Words;

    /// The state of a record. `None` if these integers are no state. A record in which nothing is charged is one, though
    /// no decision writes it.
    fn from_words(words: &Self::Words) -> Option<Self::Record>;
}

/// An array of integers: the words of a record.
pub trait RecordWords: AsRef<[u64]> + AsMut<[u64]> {
    /// How many integers.
    const COUNT: usize;
    /// All of them 0.
    const ZERO: Self;
}

impl<const N: usize> RecordWords for [u64; N] {
    const COUNT: usize = N;
    const ZERO: Self = [0; N];
}
