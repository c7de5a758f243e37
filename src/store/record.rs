//! The state of the algorithms that need a few integers: a STRING `<tag><integer>:<integer>:…` in decimal.
//!
//! The tag names the algorithm; the record of redis-cell, a bare number, has none. A record is replicated as one
//! command, `SET key record PXAT millis`, or `SET key record KEEPTTL` if the expiry of the key is late enough. Its key
//! expires when the record equals none at all, or a few seconds later.

use super::reserved::{Infix, Reservations};
use super::{Budget, Corrections, Decide, Purpose, StoredAlgorithm, foreign_value, read_string};
use crate::error::Error;
use crate::ffi::{ClosedKey, Key};
use redis_rl_algorithm::record::{Tag, decode, encode, new_expiry};
use redis_rl_algorithm::{Change, Cost, Decision, Figures, Forecast, Micros, Name, Named, Policy, RecordAlgorithm};

/// See [`StoredAlgorithm::Loaded`].
pub struct Loaded<'c, A: RecordAlgorithm> {
    key: Key<'c>,
    state: Option<A::Record>,
}

impl<A: RecordAlgorithm> Loaded<'_, A> {
    /// The state; `None` if the key does not exist.
    pub fn state(&self) -> Option<A::Record> {
        self.state
    }
}

/// An algorithm whose state is a record of a few integers.
pub struct Record<A>(pub A);

impl<A: Named> Named for Record<A> {
    const NAME: Name = A::NAME;
}

impl<A: RecordAlgorithm + 'static> StoredAlgorithm for Record<A> {
    type Loaded<'c> = Loaded<'c, A>;
    type Change = A::Record;
    const CORRECTIONS: Result<Corrections<Self>, Error> = Ok(Corrections {
        refund: |this, loaded, now, at, cost| this.0.refunding(loaded.state, now, at, cost),
        overcharge: |this, loaded, now, at, cost| Ok(this.0.overcharging(loaded.state, now, at, cost)?),
    });
    const ALWAYS: Option<Decide<Self>> = if A::TRAITS.always {
        Some(|this, loaded, now, cost| Ok(this.0.decide_always(loaded.state, now, cost)?))
    } else {
        None
    };
    const RESERVATIONS: Option<&'static Reservations<Self>> = if A::TRAITS.reserve {
        Some(&Reservations {
            infix: |_| Infix::new(),
            decide: |this, loaded, now, cost| Ok(this.0.decide_reserving(loaded.state, now, cost)?),
            counts_until: |this, loaded, change, now| this.0.counts_until(loaded.state, change, now),
            settle: |this, loaded, now, charge, actual| Ok(this.0.settling(loaded.state, now, charge, actual)?),
            give_back: |this, loaded, now, ended| {
                for one in ended.iter_mut().filter(|one| one.holds_units(now)) {
                    let change = this.0.settling(loaded.state, now, &one.was, Cost::ZERO);
                    let change = change.unwrap_or(Change::Keep);
                    one.given_back = change != Change::Keep;
                    loaded.state = change.apply_to(loaded.state);
                }
            },
            commit: |this, loaded, change, now| {
                let change = match (change.apply_to(loaded.state), change) {
                    (Some(state), Change::Charge(_)) => Change::Charge(state),
                    (Some(state), _) => Change::Refund(state),
                    (None, _) => Change::Delete,
                };
                // The type and the record have been checked.
                if let Ok(stored) = this.load(loaded.key.close(), None, now, Purpose::Write(&Budget::of_call()))
                    && (stored.state.is_some() || change.state().is_some())
                {
                    this.commit(stored, change, now);
                }
            },
        })
    } else {
        None
    };

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

    #[inline(always)]
    fn decide_on(&self, loaded: &mut Loaded<'_, A>, now: Micros, cost: Cost) -> Result<Decision<A::Record>, Error> {
        Ok(self.0.decide(loaded.state, now, cost)?)
    }

    fn decide_lending(
        &self,
        loaded: &mut Loaded<'_, A>,
        now: Micros,
        cost: Cost,
    ) -> Result<(Decision<A::Record>, Cost), Error> {
        Ok((self.0.decide_lending(loaded.state, now, cost)?, self.0.lent(loaded.state, now, cost)))
    }

    fn remaining(&self, loaded: &Loaded<'_, A>, now: Micros) -> u64 {
        self.0.forecast(loaded.state, &Change::Keep, now).remaining()
    }

    fn figures(&self, loaded: &Loaded<'_, A>, decision: &Decision<A::Record>, now: Micros) -> Figures {
        Figures::new(&self.0.forecast(loaded.state, &decision.change, now), decision, now)
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
}
