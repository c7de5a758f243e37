//! Reservations: a caller charges an estimate under an id, and later settles it, once, with what the request cost. An
//! estimate that is not settled in time is given back.
//!
//! This file decides what the reservations of a limit mean, and what a call does to them. Each algorithm that takes
//! reservations corrects its own state: [`FixedWindow`](crate::FixedWindow), [`WindowCounter`](crate::WindowCounter),
//! [`SlidingCounter`](crate::SlidingCounter) and [`RollingLog`](crate::RollingLog).
//!
//! The reservations of a limit are fields of a hash, by their ids. Beside it is their order: the ids, by the time at which
//! each ends. A reservation is open until it ends. Then its units are given back, and a mark stays for one more `ttl`, so
//! that a caller that settles late is still charged. One call gives back at most [`MAX_ENDED`] reservations, the earliest
//! end first. The others count until a later call.
//!
//! ```
//! use redis_rl_algorithm::in_memory::{InMemory, Limit};
//! use redis_rl_algorithm::{Cost, Micros, Policy, RollingLog, Window};
//!
//! let millis = |millis| Window::from_millis(millis).unwrap();
//! let tokens = RollingLog::with_policy(&Policy::new(millis(60_000), 1_000)).unwrap();
//! let mut limit = Limit::<RollingLog>::default();
//! let now = Micros::from_millis(1_700_000_000_000);
//!
//! // An estimate of 800. The same call again charges nothing more.
//! let estimate = Cost::new(800).unwrap();
//! assert_eq!(limit.reserve(&tokens, now, b"request-1", millis(10_000), estimate).unwrap().charged, 800);
//! assert_eq!(limit.reserve(&tokens, now, b"request-1", millis(10_000), estimate).unwrap().charged, 800);
//! assert_eq!(tokens.remaining(&limit.key, now), 200);
//!
//! // It was 150. The same settlement again changes nothing.
//! let actual = Cost::new(150).unwrap();
//! assert_eq!(limit.settle(&tokens, now, b"request-1", actual), Ok(150));
//! assert_eq!(limit.settle(&tokens, now, b"request-1", actual), Ok(0));
//! assert_eq!(tokens.remaining(&limit.key, now), 850);
//! ```

use crate::integer::{Text, take_unsigned};
use crate::record::SLACK_MS;
use crate::{Change, Changed, Cost, MAX_COUNT, Micros, Window};

/// The most reservations and marks of a limit, if the server sets no other number.
pub const MAX_RESERVATIONS: u64 = 100_000;

/// How many ended reservations and marks one call cleans up, besides its own.
pub const MAX_ENDED: usize = 1_000;

/// The name of a field that every hash of reservations has. Its value is [`EARLIEST_END`].
pub const EARLIEST: &[u8] = b"";

/// A time in milliseconds that is no later than the end of any field. The order has the ends.
pub const EARLIEST_END: &[u8] = b"0";

/// A field: an open reservation, or the mark of one that has ended. Times are in milliseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The units charged; `None` for a mark.
    pub cost: Option<Cost>,
    /// When they were charged.
    pub charged_at: u64,
    /// When the reservation ends; when a mark is removed.
    pub ends_at: u64,
    /// When the charge leaves its window. A correction changes nothing from then on. 0 for a mark whose units could not
    /// be given back.
    pub counts_until: u64,
    /// How long the reservation was open, and how long its mark stays.
    pub ttl: Window,
}

impl Reservation {
    /// An open reservation of units that are charged now.
    pub const fn open(cost: Cost, now: Micros, ttl: Window, counts_until: u64) -> Self {
        let charged_at = now.millis();
        let ends_at = charged_at.saturating_add(ttl.millis());
        Self { cost: Some(cost), charged_at, ends_at, counts_until, ttl }
    }

    /// `<cost>:<charged at>:<ends at>:<counts until>:<ttl>`
    ///
    /// ```
    /// use redis_rl_algorithm::reservation::Reservation;
    /// use redis_rl_algorithm::{Cost, Micros, Window};
    ///
    /// let minute = Window::from_millis(60_000).unwrap();
    /// let open = Reservation::open(Cost::new(800).unwrap(), Micros::from_millis(1_000), minute, 3_600_000);
    /// assert_eq!(&*open.encode(), b"800:1000:61000:3600000:60000");
    /// assert_eq!(Reservation::decode(b"800:1000:61000:3600000:60000"), Some(open));
    /// let mark = Reservation { cost: None, ..open };
    /// assert_eq!(&*mark.encode(), b":1000:61000:3600000:60000");
    /// ```
    pub fn encode(&self) -> Text {
        let mut text = Text::new();
        if let Some(cost) = self.cost {
            text.push_unsigned(cost.units());
        }
        for number in [self.charged_at, self.ends_at, self.counts_until, self.ttl.millis()] {
            text.push(b":");
            text.push_unsigned(number);
        }
        text
    }

    /// The reservation of a field. `None` for a text that [`Reservation::encode`] does not write.
    pub fn decode(text: &[u8]) -> Option<Self> {
        let (cost, mut rest) = match text {
            [b':', ..] => (None, text),
            _ => {
                let (units, rest) = take_unsigned(text)?;
                (Some(Cost::new(units)?), rest)
            }
        };
        let mut numbers = [0; 4];
        for number in &mut numbers {
            (*number, rest) = take_unsigned(rest.strip_prefix(b":")?)?;
        }
        let [charged_at, ends_at, counts_until, ttl] = numbers;
        let valid = rest.is_empty() && numbers.iter().all(|&number| number <= MAX_COUNT);
        let ttl = Window::from_millis(ttl).filter(|_| valid)?;
        Some(Self { cost, charged_at, ends_at, counts_until, ttl })
    }

    /// The units that are charged: 0 for a mark.
    pub fn units(&self) -> u64 {
        self.cost.map_or(0, Cost::units)
    }

    /// The time of the charge, for a correction.
    pub const fn at(&self) -> Micros {
        Micros::from_millis(self.charged_at)
    }

    /// Whether the charge counts at `now`, so that a correction has an effect.
    pub const fn counts(&self, now: Micros) -> bool {
        now.millis() < self.counts_until
    }

    /// The time from which the field has no effect: the mark is removed, and nothing can be given back.
    fn matters_until(&self) -> u64 {
        match self.cost {
            Some(_) => self.ends_at.saturating_add(self.ttl.millis()).max(self.counts_until),
            None => self.ends_at,
        }
    }
}

/// A correction: the units to give back, or to charge beside those that are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Gives these back.
    Refund(Cost),
    /// Charges these whatever the limit says.
    Charge(Cost),
}

impl Correction {
    /// What makes `actual` of the units that a reservation has charged.
    pub fn new(charge: &Reservation, actual: Cost) -> Self {
        let (reserved, actual) = (charge.units(), actual.units());
        let difference = Cost::new(reserved.abs_diff(actual)).unwrap_or(Cost::ZERO);
        if actual < reserved { Self::Refund(difference) } else { Self::Charge(difference) }
    }
}

/// A reservation that has ended and was never settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// As it was while it was open.
    pub was: Reservation,
    /// Whether its units have been given back. Its algorithm sets this.
    pub given_back: bool,
    /// Which of the ids of a [`Review`] it has.
    id: usize,
    /// Whether it has the id of the call.
    own: bool,
}

impl Ended {
    /// One whose units have not been given back yet.
    pub const fn new(was: Reservation) -> Self {
        Self { was, given_back: false, id: 0, own: false }
    }

    /// Whether there is something to give back.
    pub fn holds_units(&self, now: Micros) -> bool {
        self.was.units() > 0 && self.was.counts(now)
    }

    /// The mark that stays; `None` if its time is over too.
    fn mark(&self, now: u64) -> Option<Reservation> {
        let ends_at = self.was.ends_at.saturating_add(self.was.ttl.millis());
        // What stays charged must not be charged again.
        let counts_until = if self.given_back || self.was.units() == 0 { self.was.counts_until } else { 0 };
        (now < ends_at).then_some(Reservation { cost: None, ends_at, counts_until, ..self.was })
    }
}

/// Gives back what has ended in a state that is known as a whole. `settle` corrects the state.
pub fn give_back<S: Copy + PartialEq>(
    state: &mut Option<S>,
    now: Micros,
    ended: &mut [Ended],
    settle: impl Fn(Option<S>, &Reservation) -> Changed<S>,
) {
    for one in ended.iter_mut().filter(|one| one.holds_units(now)) {
        let change = settle(*state, &one.was).unwrap_or(Change::Keep);
        one.given_back = change != Change::Keep;
        *state = change.apply_to(*state);
    }
}

/// What a call finds in the hash of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The field of the id that the call names.
    pub own: Option<Reservation>,
    /// Whether there is the field [`EARLIEST`].
    pub has_earliest: bool,
    /// How many fields there are beside [`EARLIEST`].
    pub len: u64,
    /// Whether a reservation in the order has ended.
    pub any_ended: bool,
    /// The expiry of the hash in milliseconds since the epoch.
    pub expires_at: Option<u64>,
}

/// What an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing: it was never reserved, or is settled, or ended longer ago than its ttl.
    Unknown,
    /// An open reservation.
    Open(Reservation),
    /// A reservation that has ended. Its units have been given back.
    Mark(Reservation),
}

/// What a call writes to the hash of a limit. An `I` is an id as [`Book::review`] got it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes<'b, I> {
    /// Deletes the hash and the order: nothing is left in them. The other fields are empty then.
    pub delete: bool,
    /// The marks of what has ended, but for the id of the call. The order gets their ends.
    pub marks: Vec<(&'b I, Reservation)>,
    /// Fields to remove, but for that of the call's id.
    pub removed: Vec<&'b I>,
    /// What becomes of the field of the call's id: it is written, it is removed (`Some(None)`), or it stays (`None`).
    pub own: Option<Option<Reservation>>,
    /// The end of the call's id, if the order gets it.
    pub own_end: Option<u64>,
    /// The call's id is not in the order yet.
    pub is_new: bool,
    /// The hash gets the field [`EARLIEST`].
    pub earliest: bool,
    /// The new expiry of the hash and of the order.
    pub expires_at: Option<u64>,
}

impl<I> Default for Changes<'_, I> {
    fn default() -> Self {
        let (marks, removed, own, own_end, expires_at) = (Vec::new(), Vec::new(), None, None, None);
        Self { delete: false, marks, removed, own, own_end, is_new: false, earliest: false, expires_at }
    }
}

/// The reservations of a limit as one call sees them. It names one id.
#[derive(Clone, Debug)]
pub struct Book<'i, I = Vec<u8>> {
    id: &'i [u8],
    now: Micros,
    stored: Stored,
    /// The field of the id, once [`Book::open`], [`Book::prolong`] or [`Book::close`] has changed it.
    own: Option<Option<Reservation>>,
    /// Few calls have one.
    review: Option<Box<Review<I>>>,
}

/// What has ended, and what is known of the other fields.
#[derive(Clone, Debug)]
struct Review<I> {
    ended: Vec<Ended>,
    /// The ids of what has ended.
    ids: Vec<I>,
    /// Marks whose time is over, but for that of the call's id.
    gone: Vec<I>,
    /// The earliest end of the fields that stay as they are.
    next_end: Option<u64>,
    /// Every field but that of the call's id has ended.
    is_all: bool,
}

impl<'i, I: AsRef<[u8]>> Book<'i, I> {
    /// The reservations that a call finds.
    pub const fn new(id: &'i [u8], stored: Stored, now: Micros) -> Self {
        Self { id, now, stored, own: None, review: None }
    }

    /// The id that the call names.
    pub const fn id(&self) -> &'i [u8] {
        self.id
    }

    /// The time of the call.
    pub const fn now(&self) -> Micros {
        self.now
    }

    /// Whether a reservation has ended. Then [`Book::review`] comes first.
    pub fn needs_review(&self) -> bool {
        self.stored.any_ended || self.stored.own.is_some_and(|own| self.has_ended(own.ends_at))
    }

    /// Whether what ends then has ended.
    pub const fn has_ended(&self, end: u64) -> bool {
        end <= self.now.millis()
    }

    /// Takes the fields that have ended: of the first ids in the order, at most [`MAX_ENDED`], and of the id of the call.
    /// `next_end` is the end of the next id in the order. Returns how many fields there are.
    pub fn review(&mut self, fields: impl IntoIterator<Item = (I, Reservation)>, next_end: Option<u64>) -> usize {
        let (mut ended, mut ids, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for (id, field) in fields {
            let own = id.as_ref() == self.id;
            if field.cost.is_some() {
                ended.push(Ended { id: ids.len(), own, ..Ended::new(field) });
                ids.push(id);
            } else if !own {
                gone.push(id);
            }
        }
        ended.sort_by_key(|one: &Ended| one.was.charged_at);
        let own = u64::from(self.stored.own.is_some());
        let noticed = ids.len().saturating_add(gone.len());
        let others_ended = ended.iter().filter(|ended| !ended.own).count().saturating_add(gone.len());
        let is_all = self.stored.len.saturating_sub(own) == u64::try_from(others_ended).unwrap_or(u64::MAX);
        self.review = Some(Box::new(Review { ended, ids, gone, next_end, is_all }));
        noticed
    }

    /// The reservations that have ended, those that were charged first first. Their units are to be given back.
    pub fn ended_mut(&mut self) -> &mut [Ended] {
        self.review.as_mut().map_or(&mut [], |review| &mut review.ended)
    }

    /// How many reservations have ended.
    pub fn ended(&self) -> u64 {
        self.review.as_ref().map_or(0, |review| u64::try_from(review.ended.len()).unwrap_or(u64::MAX))
    }

    /// Whether units of any of them have been given back.
    pub fn gave_back(&self) -> bool {
        self.review.as_ref().is_some_and(|review| review.ended.iter().any(|ended| ended.given_back))
    }

    /// What the id stands for, after what has ended is given back.
    pub fn standing(&self) -> Standing {
        match self.own_field() {
            None => Standing::Unknown,
            Some(open @ Reservation { cost: Some(_), .. }) => Standing::Open(open),
            Some(mark) => Standing::Mark(mark),
        }
    }

    fn own_field(&self) -> Option<Reservation> {
        if let Some(own) = self.own {
            return own;
        }
        let now = self.now.millis();
        match (&self.review, self.stored.own) {
            (Some(review), Some(own)) if own.ends_at <= now => review.ended.iter().find(|ended| ended.own)?.mark(now),
            (_, own) => own,
        }
    }

    /// The number of fields that the call leaves, beside that of its id.
    fn others(&self) -> u64 {
        let now = self.now.millis();
        let removed = self.review.as_ref().map_or(0, |review| {
            let unmarked = review.ended.iter().filter(|ended| !ended.own && ended.mark(now).is_none()).count();
            unmarked.saturating_add(review.gone.len())
        });
        let others = self.stored.len.saturating_sub(u64::from(self.stored.own.is_some()));
        others.saturating_sub(u64::try_from(removed).unwrap_or(u64::MAX))
    }

    /// The time until a reservation or a mark ends, in milliseconds, if `most` leave no room for another one; else `None`.
    /// `first_end` is the earliest end in the order.
    pub fn full_for(&self, most: u64, first_end: impl FnOnce() -> Option<u64>) -> Option<u64> {
        if self.own_field().is_some() || self.others() < most {
            return None;
        }
        let now = self.now.millis();
        let earliest = match &self.review {
            None => first_end(),
            Some(review) => {
                let marks = review.ended.iter().filter(|ended| !ended.own);
                marks.filter_map(|ended| Some(ended.mark(now)?.ends_at)).chain(review.next_end).min()
            }
        };
        Some(earliest.unwrap_or(0).saturating_sub(now).max(1))
    }

    /// Reserves units that the call charges.
    pub fn open(&mut self, cost: Cost, ttl: Window, counts_until: u64) {
        self.own = Some(Some(Reservation::open(cost, self.now, ttl, counts_until.min(MAX_COUNT))));
    }

    /// Lets an open reservation end `ttl` from now, if that is later.
    pub fn prolong(&mut self, open: Reservation, ttl: Window) {
        let ends_at = self.now.millis().saturating_add(ttl.millis());
        if open.ends_at < ends_at {
            self.own = Some(Some(Reservation { ends_at, ttl, ..open }));
        }
    }

    /// Removes the reservation or the mark: it is settled.
    pub fn close(&mut self) {
        self.own = Some(None);
    }

    /// What to write.
    pub fn changes(&self) -> Changes<'_, I> {
        let (now, own) = (self.now.millis(), self.own_field());
        let Stored { len, has_earliest, .. } = self.stored;
        if self.others() == 0 && own.is_none() {
            return Changes { delete: len > 0 || has_earliest, ..Changes::default() };
        }
        let mut changes = Changes::default();
        let mut needed = own.map_or(0, |own| own.matters_until());
        if let Some(review) = &self.review {
            changes.marks.reserve_exact(review.ended.len());
            changes.removed.extend(&review.gone);
            for ended in review.ended.iter().filter(|ended| !ended.own) {
                let Some(id) = review.ids.get(ended.id) else { continue };
                if let Some(mark) = ended.mark(now) {
                    needed = needed.max(mark.matters_until());
                    changes.marks.push((id, mark));
                } else {
                    changes.removed.push(id);
                }
            }
        }
        changes.own = match own {
            Some(_) if self.stored.own != own => Some(own),
            None if self.stored.own.is_some() => Some(None),
            _ => None,
        };
        let has_moved = self.stored.own.map(|own| own.ends_at) != own.map(|own| own.ends_at);
        changes.own_end = own.map(|own| own.ends_at).filter(|_| has_moved);
        changes.is_new = self.stored.own.is_none();
        changes.earliest = !has_earliest;
        changes.expires_at = self.new_expiry(needed);
        changes
    }

    /// The expiry to set if what the call knows of matters until `needed`.
    fn new_expiry(&self, needed: u64) -> Option<u64> {
        let latest = needed.saturating_add(SLACK_MS).min(MAX_COUNT);
        let all_known = self.review.as_ref().is_some_and(|review| review.is_all);
        match self.stored.expires_at {
            Some(held) => Some(latest).filter(|_| held < needed || all_known && held > latest),
            // A client has removed the expiry. What the other fields need is not known before all are looked at.
            None if self.stored.len > 0 && !all_known => None,
            None => Some(latest),
        }
    }
}
