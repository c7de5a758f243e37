//! The counter of a window that starts with its first request: a STRING that INCR could have written, at the key itself,
//! which expires at the end of the window.

use redis_rl_algorithm::fixed_window::Counter;
use redis_rl_algorithm::reservation::{Ended, give_back};
use redis_rl_algorithm::{Algorithm, Change, Cost, Micros, Policy, WindowCounter};

use super::counter::{self, Loaded};
use super::{Purpose, Storage, WholeState};
use crate::error::Error;
use crate::ffi::ClosedKey;

impl Storage for WindowCounter {
    type Loaded<'c> = Loaded<'c>;
    type Change = Counter;

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

    fn needs_memory(loaded: &Loaded<'_>, change: &Change<Counter>) -> bool {
        loaded.counter.is_none() && matches!(change, Change::Charge(_))
    }

    #[inline(always)]
    fn commit(&self, loaded: Loaded<'_>, change: Change<Counter>, _now: Micros) {
        counter::commit(loaded, change, c"set");
    }

    fn give_back(&self, loaded: &mut Loaded<'_>, now: Micros, ended: &mut [Ended]) {
        let settle = |counter, charge: &_| self.settling(counter, now, charge, Cost::ZERO);
        give_back(&mut loaded.counter, now, ended, settle);
    }

    fn commit_given_back(&self, loaded: Loaded<'_>, change: Change<Counter>, _now: Micros) {
        counter::commit_given_back(loaded, change, c"set");
    }
}

impl WholeState for WindowCounter {
    type Of = Self;

    fn algorithm(&self) -> &Self {
        self
    }

    fn state(loaded: &Loaded<'_>) -> Option<Counter> {
        loaded.counter
    }
}
