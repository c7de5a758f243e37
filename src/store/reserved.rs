//! The reservations of a limit: a HASH at `<key>:reserved`, of FIXED at `<key>:<window>:reserved`. See
//! [`redis_rl_algorithm::reservation`] for what is in it.

use arrayvec::ArrayString;

use super::counter::braces;
use super::{Decide, Purpose, StoredAlgorithm, extend, internal_error};
use crate::error::Error;
use crate::ffi::{Access, Arg, ClosedKey, Ctx, Key, Kind, Str};
use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::reservation::{Book, EARLIEST, Ended, Reservation, Stored};
use redis_rl_algorithm::{Change, Cost, Micros};

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
/// There is no such key in the slot of `key` (cluster mode), or the user has no permission for it.
pub fn hash_key<'c, A: StoredAlgorithm>(
    algorithm: &A,
    reservations: &Reservations<A>,
    ctx: Ctx<'c>,
    key: Arg<'c>,
) -> Result<ClosedKey<'c>, Error> {
    let name = name(algorithm, reservations, ctx, key)?;
    if ctx.may_access(&name, key, Access::ReadWrite) {
        Ok(ClosedKey::new(ctx, name))
    } else {
        Err(Error::NO_PERMISSION)
    }
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
        let field = Str::new(EARLIEST);
        let [earliest, _] = hash.two_fields(&field, &field);
        earliest.is_some_and(|earliest| parse_unsigned(earliest.bytes()).is_some())
    };
    let hash = hash.close();
    match ours {
        false => Ok(None),
        true if ctx.may_access(hash.name(), key, Access::ReadWrite) => Ok(Some(hash)),
        true => Err(Error::NO_PERMISSION),
    }
}

/// Deletes a HASH with all reservations in it.
pub fn delete(hash: ClosedKey<'_>) {
    super::delete(hash.open(Purpose::Delete.access()));
}

/// The HASH of a limit, and what a call does to it.
pub struct Loaded<'c> {
    key: ClosedKey<'c>,
    pub book: Book<'c, Str<'c>>,
}

/// Reads what a call with this id needs. Looks at every field only if one may have ended.
///
/// # Errors
/// The key holds another type, or a value that is no reservation.
pub fn load<'c>(key: ClosedKey<'c>, id: &'c [u8], now: Micros) -> Result<Loaded<'c>, Error> {
    let key = key.open(Purpose::Write.access());
    let stored = match key.kind() {
        Kind::Nothing => Stored::default(),
        Kind::Hash => stored(&key, id)?,
        _ => return Err(Error::WRONG_TYPE),
    };
    let mut book = Book::new(id, stored, now);
    if book.needs_review() {
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
        book.review(fields);
    }
    Ok(Loaded { key: key.close(), book })
}

fn stored(key: &Key<'_>, id: &[u8]) -> Result<Stored, Error> {
    let [own, earliest] = key.two_fields(&Str::new(id), &Str::new(EARLIEST));
    let parse = |text: Str<'_>| parse_unsigned(text.bytes()).ok_or(Error::FOREIGN_RESERVATION);
    let decode = |text: Str<'_>| Reservation::decode(text.bytes()).ok_or(Error::FOREIGN_RESERVATION);
    Ok(Stored {
        own: own.map(decode).transpose()?,
        len: key.len().saturating_sub(u64::from(earliest.is_some())),
        earliest: earliest.map(parse).transpose()?,
        expires_at: key.expires_at(),
    })
}

impl Loaded<'_> {
    /// Writes what the call has changed, replicates it and fires the events.
    pub fn commit(self) {
        let Self { key, book } = self;
        let changes = book.changes();
        if changes.delete {
            return delete(key);
        }
        let text = |field: &Reservation| Str::new(&field.encode());
        let own = changes.own.map(|_| Str::new(book.id()));
        let values: Vec<_> = changes.marks.iter().map(|(_, mark)| text(mark)).collect();
        let own_value = changes.own.flatten().map(|field| text(&field));
        let earliest =
            changes.earliest.map(|at| [Str::new(EARLIEST), Str::new(itoa::Buffer::new().format(at).as_bytes())]);
        let marks = changes.marks.iter().zip(&values).map(|((id, _), value)| [*id, value]);
        let pairs = marks
            .chain(own.iter().zip(&own_value).map(|(id, value)| [id, value]))
            .chain(earliest.iter().map(|[name, value]| [name, value]));
        if key.set_fields(pairs).is_none() {
            internal_error(key.ctx(), "HSET");
        }
        let removed = changes.removed.iter().copied().chain(own.iter().filter(|_| own_value.is_none()));
        if key.remove_fields(removed).is_none() {
            internal_error(key.ctx(), "HDEL");
        }
        if let Some(millis) = changes.expires_at {
            extend(key.open(Purpose::Write.access()), millis);
        }
    }
}
