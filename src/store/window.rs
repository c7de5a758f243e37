//! The counter of a window that starts with its first request: a STRING that INCR could have written, at the key itself,
//! which expires at the end of the window.

use redis_rl_algorithm::fixed_window::Counter;
use redis_rl_algorithm::{Algorithm, Change, Cost, Decision, Figures, Forecast, Micros, Policy, WindowCounter};

use super::counter::{self, Loaded};
use super::reserved::{Infix, Reservations};
use super::{Corrections, Decide, Purpose, StoredAlgorithm};
use crate::error::Error;
use crate::ffi::ClosedKey;

impl StoredAlgorithm for WindowCounter {
    type Loaded<'c> = Loaded<'c>;
    type Change = Counter;
    const ALWAYS: Option<Decide<Self>> =
        Some(|this, loaded, now, cost| Ok(this.decide_always(loaded.counter, now, cost)?));
    const CORRECTIONS: Result<Corrections<Self>, Error> = Ok(Corrections {
        refund: |this, loaded, now, at, cost| this.refunding(loaded.counter, now, at, cost),
        overcharge: |this, loaded, now, at, cost| Ok(this.overcharging(loaded.counter, now, at, cost)?),
    });
    const RESERVATIONS: Option<&'static Reservations<Self>> = Some(&Reservations {
        infix: |_| Infix::new(),
        decide: |this, loaded, now, cost| Ok(this.decide_reserving(loaded.counter, now, cost)?),
        counts_until: |this, loaded, change, now| this.counts_until(loaded.counter, change, now),
        settle: |this, loaded, now, charge, actual| Ok(this.settling(loaded.counter, now, charge, actual)?),
        give_back: |this, loaded, now, ended| {
            let settle = |counter, charge: &_| this.settling(counter, now, charge, Cost::ZERO);
            counter::give_back(loaded, now, ended, settle);
        },
        commit: |_, loaded, change, _| counter::commit_given_back(loaded, change, c"set"),
    });

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(<Self as Algorithm>::new(policy)?)
    }

    #[inline(always)]
    fn load<'c>(
        &self,
        key: ClosedKey<'c>,
        _id: Option<&'c [u8]>,
        _now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<'c>, Error> {
        counter::load(key, purpose)
    }

    fn exists(loaded: &Loaded<'_>) -> bool {
        loaded.counter.is_some()
    }

    #[inline(always)]
    fn decide_on(&self, loaded: &mut Loaded<'_>, now: Micros, cost: Cost) -> Result<Decision<Counter>, Error> {
        Ok(self.decide(loaded.counter, now, cost)?)
    }

    fn in_shadow(&self, loaded: &Loaded<'_>, now: Micros, change: Change<Counter>) -> Change<Counter> {
        WindowCounter::in_shadow(self, loaded.counter, now, change)
    }

    fn remaining(&self, loaded: &Loaded<'_>, now: Micros) -> u64 {
        self.forecast(loaded.counter, &Change::Keep, now).remaining()
    }

    fn figures(&self, loaded: &Loaded<'_>, decision: &Decision<Counter>, now: Micros) -> Figures {
        Figures::new(&self.forecast(loaded.counter, &decision.change, now), decision, now)
    }

    fn needs_memory(loaded: &Loaded<'_>, change: &Change<Counter>) -> bool {
        loaded.counter.is_none() && matches!(change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, loaded: Loaded<'_>, change: Change<Counter>, _now: Micros) {
        match change {
            Change::Keep => {}
            Change::Delete => super::delete(loaded.key),
            Change::Charge(counter) | Change::Rebase(counter) | Change::Refund(counter) => {
                counter::write(loaded, counter, c"set");
            }
        }
    }
}
