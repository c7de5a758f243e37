//! The reservations of a limit: a HASH at `<key>:reserved`, of FIXED at `<key>:<window>:reserved`, and their order: a ZSET
//! at `<HASH>:ends` with each id, scored with the millisecond in which it ends. Both have the same expiry. See
//! [`redis_rl_algorithm::reservation`] for what is in them.

use arrayvec::ArrayString;

use super::braces::braces;
use super::{Budget, Decide, StoredAlgorithm, extend, internal_error, sorted_set};
use crate::error::Error;
use crate::ffi::{Access, Arg, ClosedKey, Ctx, Key, Kind, Str, Word};
use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::reservation::{Book, EARLIEST, Ended, Reservation, Stored, UNORDERED};
use redis_rl_algorithm::{Change, Cost, Micros};

static EARLIEST_NAME: Word = Word::new(EARLIEST);

/// What the name of a HASH has between the key and `:reserved`: empty, or `:` and a window.
pub type Infix = ArrayString<48>;

/// How an algorithm decides on reservations and corrects them: [`StoredAlgorithm::RESERVATIONS`].
#[expect(clippy::type_complexity, reason = "the arguments are those of the algorithm")]
pub struct Reservations<A: StoredAlgorithm> {
    /// See [`Infix`].
    pub infix: fn(&A) -> Infix,
    /// FIXED counts no denial.
    pub decide: Decide<A>,
    /// The millisecond in which a charge of now leaves its window, from the state and the change that charges.
    pub counts_until: fn(&A, &A::Loaded<'_>, &Change<A::Change>, Micros) -> u64,
    /// Corrects a charge.
    pub settle: fn(&A, &A::Loaded<'_>, Micros, &Reservation, Cost) -> Result<Change<A::Change>, Error>,
    /// Gives back what has ended, in what is loaded only: [`Reservations::commit`] writes it.
    pub give_back: fn(&A, &mut A::Loaded<'_>, Micros, &mut [Ended]),
    /// Writes what [`Reservations::give_back`] has left of the state, and a change of it, as
    /// [`StoredAlgorithm::commit`] does.
    pub commit: fn(&A, A::Loaded<'_>, Change<A::Change>, Micros),
}

/// The name of the HASH of the limit on `key`.
///
/// # Errors
/// There is no such key in the slot of `key` (cluster mode).
fn name<'c, A: StoredAlgorithm>(
    algorithm: &A,
    reservations: &Reservations<A>,
    ctx: Ctx<'c>,
    key: Arg<'c>,
) -> Result<Str<'c>, Error> {
    let key = key.bytes();
    let [open, close] = braces(key, ctx.is_cluster()).ok_or(Error::CLUSTER_RESERVE)?;
    Ok(Str::concat([open, key, close, (reservations.infix)(algorithm).as_bytes(), b":reserved"]))
}

/// The key of the HASH, for a call that reserves or settles.
///
/// # Errors
/// There is no such key in the slot of `key` (cluster mode).
pub fn hash_key<'c, A: StoredAlgorithm>(
    algorithm: &A,
    reservations: &Reservations<A>,
    ctx: Ctx<'c>,
    key: Arg<'c>,
) -> Result<ClosedKey<'c>, Error> {
    Ok(ClosedKey::new(ctx, name(algorithm, reservations, ctx, key)?))
}

/// The key of the order.
fn ends_of<'c>(hash: &ClosedKey<'c>) -> ClosedKey<'c> {
    ClosedKey::new(hash.ctx(), Str::concat([hash.name().bytes(), b":ends"]))
}

/// The HASH of the limit on `key` if there is one, for RL.RESET. Another value at that name is none.
///
/// # Errors
/// There is one, and the user has no permission for it.
pub fn existing<'c, A: StoredAlgorithm>(
    algorithm: &A,
    ctx: Ctx<'c>,
    key: Arg<'c>,
) -> Result<Option<ClosedKey<'c>>, Error> {
    let Some(name) = A::RESERVATIONS.and_then(|reservations| name(algorithm, reservations, ctx, key).ok()) else {
        return Ok(None);
    };
    let hash = ClosedKey::new(ctx, name).open(Access::Read);
    let ours = hash.kind() == Kind::Hash && {
        hash.field(&EARLIEST_NAME.get()).is_some_and(|earliest| parse_unsigned(earliest.bytes()).is_some())
    };
    let hash = hash.close();
    match ours {
        false => Ok(None),
        true if may_write(&hash, &ends_of(&hash), key) => Ok(Some(hash)),
        true => Err(Error::NO_PERMISSION),
    }
}

/// Whether the user may write the HASH and the order, in place of the key that the call names.
fn may_write(hash: &ClosedKey<'_>, ends: &ClosedKey<'_>, key: Arg<'_>) -> bool {
    hash.ctx().may_access(&[hash.name(), ends.name()], key, Access::ReadWrite)
}

/// Deletes a HASH with all reservations in it, and the order.
pub fn delete(hash: ClosedKey<'_>) {
    let ends = ends_of(&hash);
    delete_existing(hash);
    delete_existing(ends);
}

fn delete_existing(key: ClosedKey<'_>) {
    let key = key.open(Access::ReadWrite);
    if key.kind() != Kind::Nothing {
        super::delete(key);
    }
}

/// The HASH of a limit and the order, and what a call does to them.
pub struct Loaded<'c> {
    key: ClosedKey<'c>,
    ends: ClosedKey<'c>,
    /// The id that the call names.
    id: Str<'c>,
    pub book: Book<'c, Str<'c>>,
}

/// Reads what a call on `named` with this id needs: of what has ended, as much as the budget allows. Looks at other
/// fields only if the order does not have each: at all if the budget allows, else at some, and the order gets those.
///
/// # Errors
/// The user has no permission for the keys, or one holds another type, or a value that is no reservation.
pub fn load<'c>(
    key: ClosedKey<'c>,
    named: Arg<'c>,
    id: &'c [u8],
    now: Micros,
    budget: &Budget,
) -> Result<Loaded<'c>, Error> {
    let ends = ends_of(&key);
    if !may_write(&key, &ends, named) {
        return Err(Error::NO_PERMISSION);
    }
    let own = Str::new(id);
    let mut ends = ends.open(Access::ReadWrite);
    let key = key.open(Access::ReadWrite);
    let mut stored = match key.kind() {
        Kind::Nothing => Stored::default(),
        Kind::Hash => stored(&key, &own)?,
        _ => return Err(Error::WRONG_TYPE),
    };
    if !matches!(ends.kind(), Kind::SortedSet | Kind::Nothing) {
        return Err(Error::WRONG_TYPE);
    }
    stored.order_len = ends.len();
    let step = Some(&ends).filter(|_| stored.earliest == Some(UNORDERED)).and_then(step_of);
    stored.has_step = step.is_some();
    stored.any_ended = stored.order_len > 0 && ends.any_score_in(f64::NEG_INFINITY, now.millis());
    let mut book = Book::new(id, stored, now);
    let is_complete =
        book.is_ordered() && (!book.needs_review() || review(&mut book, stored.own, &key, &mut ends, budget)?);
    let may_look_at = if is_complete { 0 } else { budget.look_at(key.len()) };
    if !is_complete && may_look_at < key.len() {
        let (fields, next) = match may_look_at {
            0 => (Vec::new(), None),
            most => key
                .closed()
                .some_fields(step.unwrap_or(0), most)
                .map(|(fields, next)| (fields, Some(next)))
                .ok_or_else(|| internal_error(key.closed().ctx(), "HSCAN"))?,
        };
        let fields = fields.into_iter().filter(|[id, _]| id.bytes() != EARLIEST);
        let fields = fields.map(|[id, value]| Ok((id, decode(value)?))).collect::<Result<Vec<_>, Error>>()?;
        book.add_to_order(fields, next, Str::new(id));
    } else if !is_complete {
        let mut fields = Vec::with_capacity(usize::try_from(key.len()).unwrap_or(0));
        let mut foreign = false;
        key.for_each_field(|id, value| match Reservation::decode(value.bytes()) {
            Some(field) if id.bytes() != EARLIEST => fields.push((id.duplicate(), field)),
            None if id.bytes() == EARLIEST => {}
            _ => foreign = true,
        });
        if foreign {
            return Err(Error::FOREIGN_RESERVATION);
        }
        budget.spend_ended(book.review_all(fields, budget.ended.get()));
    }
    Ok(Loaded { key: key.close(), ends: ends.close(), id: own, book })
}

/// Where the next step goes on that gives the order its members: the score of the member with the empty name, which is
/// below those of all others.
fn step_of(ends: &Key<'_>) -> Option<u64> {
    let score = Some(ends).filter(|ends| ends.kind() == Kind::SortedSet)?.score_of(&EARLIEST_NAME.get())?;
    Some((-1.0 - score) as u64)
}

/// Reads what has ended. Whether each of these is in the HASH as the order says.
#[cold]
fn review<'c>(
    book: &mut Book<'c, Str<'c>>,
    own: Option<Reservation>,
    key: &Key<'c>,
    ends: &mut Key<'c>,
    budget: &Budget,
) -> Result<bool, Error> {
    let (members, next_end) = ends.lowest_members(book.now().millis(), budget.ended.get());
    let mut fields = Vec::with_capacity(members.len().saturating_add(1));
    for (id, end) in members {
        let Some(field) = key.field(&id).map(decode).transpose()?.filter(|field| field.ends_at == end) else {
            return Ok(false);
        };
        fields.push((id, field));
    }
    if let Some(own) = own.filter(|own| book.has_ended(own.ends_at))
        && fields.iter().all(|(id, _)| id.bytes() != book.id())
    {
        fields.push((Str::new(book.id()), own));
    }
    budget.spend_ended(book.review(fields, next_end));
    Ok(true)
}

fn decode(text: Str<'_>) -> Result<Reservation, Error> {
    Reservation::decode(text.bytes()).ok_or(Error::FOREIGN_RESERVATION)
}

fn stored(key: &Key<'_>, id: &Str<'_>) -> Result<Stored, Error> {
    let [own, earliest] = key.two_fields(id, &EARLIEST_NAME.get());
    let parse = |text: Str<'_>| parse_unsigned(text.bytes()).ok_or(Error::FOREIGN_RESERVATION);
    Ok(Stored {
        own: own.map(decode).transpose()?,
        len: key.len().saturating_sub(u64::from(earliest.is_some())),
        earliest: earliest.map(parse).transpose()?,
        expires_at: key.expires_at(),
        ..Stored::default()
    })
}

/// Adds an id to the order; cheaper than a call of ZADD. A client may have added it before.
fn add<'c>(ends: ClosedKey<'c>, end: u64, id: &Str<'_>) -> ClosedKey<'c> {
    let mut key = ends.open(Access::ReadWrite);
    let added = key.add_member(end, id);
    let ends = key.close_changed();
    if added {
        ends.notify_sorted_set(c"zadd");
        ends.replicate_add(end, id);
    } else {
        sorted_set::rescore(&ends, end, std::slice::from_ref(id));
    }
    ends
}

impl Loaded<'_> {
    /// See [`Book::full_for`].
    pub fn full_for(&self, most: u64) -> Option<u64> {
        let first_end = || self.ends.duplicate().open(Access::Read).lowest_score().map(|score| score as u64);
        self.book.full_for(most, first_end)
    }

    /// Writes what the call has changed, replicates it and fires the events.
    pub fn commit(self) {
        let Self { key, mut ends, id: own, book } = self;
        let changes = book.changes();
        if changes.delete {
            return delete(key);
        }
        let number = |n: u64| Str::new(itoa::Buffer::new().format(n).as_bytes());
        let own_value = changes.own.flatten().map(|field| Str::new(&field.encode()));
        let values: Vec<_> =
            changes.marks.iter().map(|(_, mark)| [Str::new(&mark.encode()), number(mark.ends_at)]).collect();
        let earliest = changes.earliest.map(|at| [EARLIEST_NAME.get(), number(at)]);
        let marks = || changes.marks.iter().zip(&values);
        let fields = marks()
            .map(|((id, _), [value, _])| [*id, value])
            .chain(own_value.iter().map(|value| [&own, value]))
            .chain(earliest.iter().map(|[name, value]| [name, value]));
        if key.set_fields(fields).is_none() {
            internal_error(key.ctx(), "HSET");
        }
        let removed = || {
            let own = changes.own.iter().filter(|own| own.is_none()).map(|_| &own);
            changes.removed.iter().copied().chain(own)
        };
        if key.remove_fields(removed()).is_none() {
            internal_error(key.ctx(), "HDEL");
        }
        if changes.anew {
            delete_existing(ends.duplicate());
        }
        let order: Vec<_> = changes.order.iter().map(|(id, end)| (id, number(*end))).collect();
        let no_id = EARLIEST_NAME.get();
        let next_step = changes.next_step.map(|next| Str::new(format!("-{}", next.saturating_add(1)).as_bytes()));
        let (next_step, is_over) = (next_step.filter(|_| changes.next_step != Some(0)), changes.next_step == Some(0));
        let new_end = changes.own_end.filter(|_| changes.is_new);
        let own_end = changes.own_end.filter(|_| new_end.is_none()).map(number);
        let members = order
            .iter()
            .map(|(id, end)| [end, *id])
            .chain(marks().map(|((id, _), [_, end])| [end, *id]))
            .chain(own_end.iter().map(|end| [end, &own]))
            .chain(next_step.iter().map(|score| [score, &no_id]));
        if ends.set_scores(members).is_none() {
            internal_error(key.ctx(), "ZADD");
        }
        if let Some(end) = new_end {
            ends = add(ends, end, &own);
        }
        if ends.remove_members(removed().chain(is_over.then_some(&no_id))).is_none() {
            internal_error(key.ctx(), "ZREM");
        }
        let expires_at = changes.expires_at;
        if let Some(millis) = expires_at {
            extend(key.open(Access::ReadWrite), millis);
        }
        if let Some(millis) = expires_at.or(book.held_expiry().filter(|_| changes.anew))
            && let ends = ends.open(Access::ReadWrite)
            && ends.kind() != Kind::Nothing
        {
            extend(ends, millis);
        }
    }
}
