//! The state of the algorithms that need a few integers: a STRING `<tag><integer>:<integer>:…` in decimal.
//!
//! The tag names the algorithm; the record of redis-cell, a bare number, has none. A record is replicated as one
//! command, `SET key record PXAT millis`, or `SET key record KEEPTTL` if the expiry of the key is late enough. Its key
//! expires when the record equals none at all, or a few seconds later.

use super::{Budget, Purpose, Storage, WholeState, foreign_value, read_string};
use crate::error::Error;
use crate::ffi::{ClosedKey, Key};
use redis_rl_algorithm::record::{Tag, decode, encode, new_expiry};
use redis_rl_algorithm::reservation::{Ended, give_back};
use redis_rl_algorithm::{Change, Cost, Micros, Name, Named, Policy, RecordAlgorithm};

/// See [`Storage::Loaded`].
pub struct Loaded<'c, A: RecordAlgorithm> {
    key: Key<'c>,
    /// `None` if the key does not exist.
    pub state: Option<A::Record>,
}

/// An algorithm whose state is a record of a few integers.
pub struct Record<A>(pub A);

impl<A: Named> Named for Record<A> {
    const NAME: Name = A::NAME;
}

impl<A: RecordAlgorithm + 'static> Storage for Record<A> {
    type Loaded<'c> = Loaded<'c, A>;
    type Change = A::Record;

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(Self(A::new(policy)?))
    }

    #[inline(always)]
    fn load<'c>(
        &self,
        key: ClosedKey<'c>,
        _id: Option<&'c [u8]>,
        _now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<'c, A>, Error> {
        let key = key.open(purpose.access());
        let state = match read_string(&key, purpose, decode::<A>)? {
            None => None,
            Some(Some(state)) => Some(state),
            Some(None) => return Err(foreign_value(&key, purpose, A::Tag::TEXT, Error::FOREIGN_VALUE)),
        };
        Ok(Loaded { key, state })
    }

    fn exists(loaded: &Loaded<'_, A>) -> bool {
        loaded.state.is_some()
    }

    fn needs_memory(loaded: &Loaded<'_, A>, change: &Change<A::Record>) -> bool {
        loaded.state.is_none() && matches!(change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, loaded: Loaded<'_, A>, change: Change<A::Record>, _now: Micros) {
        let Loaded { key, state: before } = loaded;
        if matches!(change, Change::Delete) {
            return super::delete(key);
        }
        let expires_at = new_expiry(&self.0, before.as_ref(), &change, || key.expires_at());
        match (change.state(), expires_at) {
            (Some(state), Some(millis)) => super::set(key, &encode::<A>(state), millis),
            (Some(state), None) => super::set_keeping_ttl(key, &encode::<A>(state)),
            (None, Some(millis)) => super::extend(key, millis),
            (None, None) => {}
        }
    }

    fn give_back(&self, loaded: &mut Loaded<'_, A>, now: Micros, ended: &mut [Ended]) {
        let settle = |state, charge: &_| self.0.settling(state, now, charge, Cost::ZERO);
        give_back(&mut loaded.state, now, ended, settle);
    }

    fn commit_given_back(&self, loaded: Loaded<'_, A>, change: Change<A::Record>, now: Micros) {
        let change = match (change.apply_to(loaded.state), change) {
            (Some(state), Change::Charge(_)) => Change::Charge(state),
            (Some(state), _) => Change::Refund(state),
            (None, _) => Change::Delete,
        };
        // The type and the record have been checked.
        if let Ok(stored) = self.load(loaded.key.close(), None, now, Purpose::Write(&Budget::of_call()))
            && (stored.state.is_some() || change.state().is_some())
        {
            self.commit(stored, change, now);
        }
    }
}

impl<A: RecordAlgorithm + 'static> WholeState for Record<A> {
    type Of = A;

    fn algorithm(&self) -> &A {
        &self.0
    }

    fn state(loaded: &Loaded<'_, A>) -> Option<A::Record> {
        loaded.state
    }
}
