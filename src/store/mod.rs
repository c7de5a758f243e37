//! From a key to the state an algorithm decides on, and from a decision back to the key: written, given its absolute
//! expiry, replicated and notified, each kind of state in one place.

mod fixed;
mod log;
pub mod record;

use crate::error::Error;
use crate::ffi::{Argv, Ctx, Key, Mode, Str};
use crate::limit::{Cost, Decision, Figures, Micros, Quota};

/// What the grammar knows of an algorithm.
pub trait Named {
    /// Its word.
    const NAME: &'static str;
    /// Whether `BURST` means anything to it.
    const TAKES_BURST: bool;
}

/// An algorithm and where its state is kept.
///
/// The steps are apart so that several limits can be decided before any is committed, and one be looked at only.
pub trait Limiter: Named + Sized {
    /// An open key and what it says.
    type Loaded<'c>;
    type Change;

    /// # Errors
    /// The quota asks for what cannot be represented.
    fn new(quota: &Quota) -> Result<Self, Error>;

    /// The key that holds the state of the limit on `key`.
    ///
    /// # Errors
    /// No such key can be had in the slot of `key` (cluster mode).
    fn state_key<'c>(&self, ctx: Ctx<'c>, key: Argv<'c>, now: Micros) -> Result<Str<'c>, Error>;

    /// Reads the state. [`Mode::Write`] also forgets what no longer counts.
    ///
    /// # Errors
    /// The key holds another type, or a value that is no such state. It is left as it is.
    fn load<'c>(&self, ctx: Ctx<'c>, name: Str<'c>, now: Micros, mode: Mode) -> Result<Self::Loaded<'c>, Error>;

    /// # Errors
    /// What the request would count cannot be represented.
    fn decide(&self, loaded: &mut Self::Loaded<'_>, now: Micros, cost: Cost) -> Result<Decision<Self::Change>, Error>;

    /// The figures after the decision; it need not be committed.
    fn figures(&self, loaded: &Self::Loaded<'_>, decision: &Decision<Self::Change>, now: Micros, cost: Cost)
    -> Figures;

    /// Whether the decision makes a key, or makes one larger.
    fn grows(loaded: &Self::Loaded<'_>, decision: &Decision<Self::Change>) -> bool;

    /// Writes what was decided, and tells the world.
    fn commit(&self, ctx: Ctx<'_>, loaded: Self::Loaded<'_>, decision: Decision<Self::Change>, now: Micros);

    /// Whether so much can be asked for, and given back, at once.
    ///
    /// # Errors
    /// It cannot, whatever was counted.
    fn check(&self, _cost: Cost) -> Result<(), Error> {
        Ok(())
    }

    /// Gives back, never beyond full, and tells the world.
    fn refund(&self, ctx: Ctx<'_>, loaded: Self::Loaded<'_>, now: Micros, cost: Cost);

    /// Forgets what was counted; whether there was anything.
    fn reset(&self, ctx: Ctx<'_>, loaded: Self::Loaded<'_>) -> bool;
}

/// Deletes a key and tells the world.
fn unlink(ctx: Ctx<'_>, name: &Str<'_>, mut key: Key<'_>) {
    key.unlink();
    ctx.notify_generic(c"del", name);
    ctx.signal_modified(name);
    ctx.replicate(c"UNLINK", name);
}
