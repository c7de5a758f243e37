//! The reservations of a limit: a HASH at `<key>:reserved`, of FIXED at `<key>:<window>:reserved`, and their order: a ZSET
//! at `<HASH>:ends` with each id, scored with the millisecond in which it ends. Both have the same expiry. See
//! [`redis_rl_algorithm::reservation`] for what is in them.
//!
//! The server may evict one of the two, and a client may change them. Where they disagree, the reservations are lost: the
//! call that sees it deletes both, and what was charged stays charged.

use arrayvec::ArrayString;

use super::{Budget, Storage, extend};
use crate::error::Error;
use crate::ffi::{Access, Arg, ClosedKey, Ctx, Key, Kind, Str, Word};
use crate::stats::STATS;
use redis_rl_algorithm::Micros;
use redis_rl_algorithm::hash_tag::braces;
use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::reservation::{Book, EARLIEST, EARLIEST_END, Reservation, Stored};

static EARLIEST_NAME: Word = Word::new(EARLIEST);

/// What the name of a HASH has between the key and `:reserved`: empty, or `:` and a window.
pub type Infix = ArrayString<48>;

/// The name of the HASH of the limit on `key`.
pub fn hash_key<'c>(algorithm: &impl Storage, ctx: Ctx<'c>, key: Arg<'c>) -> Result<ClosedKey<'c>, Error> {
    let bytes = key.bytes();
    let [open, close] = braces(bytes, ctx.is_cluster()).ok_or(Error::CLUSTER_RESERVE)?;
    let name = Str::concat([open, bytes, close, algorithm.infix().as_bytes(), b":reserved"]);
    Ok(ClosedKey::new(ctx, name))
}

/// The key of the order.
fn ends_of<'c>(hash: &ClosedKey<'c>) -> ClosedKey<'c> {
    ClosedKey::new(hash.ctx, Str::concat([hash.name.bytes(), b":ends"]))
}

/// The HASH of the limit on `key` if there is one, for RL.RESET. Another value at that name is none.
///
/// # Errors
/// There is one, and the user has no permission for it.
pub fn existing<'c, A: Storage>(algorithm: &A, ctx: Ctx<'c>, key: Arg<'c>) -> Result<Option<ClosedKey<'c>>, Error> {
    let hash = if A::TRAITS.reserve { hash_key(algorithm, ctx, key).ok() } else { None };
    let Some(hash) = hash.map(|hash| hash.open(Access::Read)) else { return Ok(None) };
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
    hash.ctx.may_access(&[&hash.name, &ends.name], key, Access::ReadWrite)
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
    /// How many reservations are lost: the call deletes both keys first. `None` if they agree.
    lost: Option<u64>,
}

/// Reads what a call on `named` with this id needs: of what has ended, as much as the budget allows.
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
    let order_len = ends.len();
    stored.any_ended = order_len > 0 && ends.any_score_in(f64::NEG_INFINITY, now.millis());
    let mut book = Book::new(id, stored, now);
    let agrees =
        stored.len == order_len && (!book.needs_review() || review(&mut book, stored.own, &key, &mut ends, budget)?);
    if !agrees && stored.len > 0 && !stored.has_earliest {
        return Err(Error::FOREIGN_RESERVATION);
    }
    let lost = (!agrees).then_some(stored.len.max(order_len));
    if lost.is_some() {
        book = Book::new(id, Stored::default(), now);
    }
    Ok(Loaded { key: key.close(), ends: ends.close(), id: own, book, lost })
}

/// Reads the reservations that have ended. Returns whether each is in the HASH with the end that the order has.
#[cold]
fn review<'c>(
    book: &mut Book<'c, Str<'c>>,
    own: Option<Reservation>,
    key: &Key<'c>,
    ends: &mut Key<'c>,
    budget: &Budget,
) -> Result<bool, Error> {
    let (members, next_end) = ends.members((f64::NEG_INFINITY, false), book.now().millis(), budget.ended.get());
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
    let has_earliest = earliest.map(parse).transpose()?.is_some();
    Ok(Stored {
        own: own.map(decode).transpose()?,
        has_earliest,
        len: key.len().saturating_sub(u64::from(has_earliest)),
        any_ended: false,
        expires_at: key.expires_at(),
    })
}

/// Adds an id to the order; cheaper than a call of ZADD. A client may have added it before.
fn add<'c>(ends: ClosedKey<'c>, end: u64, id: &Str<'_>) -> ClosedKey<'c> {
    let mut key = ends.open(Access::ReadWrite);
    let added = key.add_member(end, id);
    let ends = key.close_changed();
    if added {
        ends.notify_sorted_set(c"zadd");
        ends.replicate_add(itoa::Buffer::new().format(end), id);
    } else {
        ends.rescore_members(end, std::slice::from_ref(id));
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
        let Self { key, mut ends, id: own, book, lost } = self;
        if let Some(lost) = lost {
            STATS.reservations_lost.add(lost);
            delete(key.duplicate());
        }
        let changes = book.changes();
        if changes.delete {
            return delete(key);
        }
        let number = |n: u64| Str::new(itoa::Buffer::new().format(n).as_bytes());
        let own_value = changes.own.flatten().map(|field| Str::new(&field.encode()));
        let values: Vec<_> =
            changes.marks.iter().map(|(_, mark)| [Str::new(&mark.encode()), number(mark.ends_at)]).collect();
        let earliest = changes.earliest.then(|| [EARLIEST_NAME.get(), Str::new(EARLIEST_END)]);
        let marks = || changes.marks.iter().zip(&values);
        let fields = marks()
            .map(|((id, _), [value, _])| [*id, value])
            .chain(own_value.iter().map(|value| [&own, value]))
            .chain(earliest.iter().map(|[name, value]| [name, value]));
        key.set_fields(fields);
        let removed = || {
            let own = changes.own.iter().filter(|own| own.is_none()).map(|_| &own);
            changes.removed.iter().copied().chain(own)
        };
        key.remove_fields(removed());
        let new_end = changes.own_end.filter(|_| changes.is_new);
        let own_end = changes.own_end.filter(|_| new_end.is_none()).map(number);
        let members = marks().map(|((id, _), [_, end])| [end, *id]).chain(own_end.iter().map(|end| [end, &own]));
        ends.set_scores(members);
        if let Some(end) = new_end {
            ends = add(ends, end, &own);
        }
        ends.remove_members(removed());
        if let Some(millis) = changes.expires_at {
            extend(key.open(Access::ReadWrite), millis);
            let ends = ends.open(Access::ReadWrite);
            if ends.kind() != Kind::Nothing {
                extend(ends, millis);
            }
        }
    }
}
