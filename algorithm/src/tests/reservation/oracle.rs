//! Reservations against an oracle that knows every charge by itself.

use super::{EARLIEST, EARLIEST_END, InMemory, Limit, Micros, Reservation, T0, cost, millis, policy};

/// A window of as many milliseconds. ROLLING is exact to the millisecond in it.
pub const WINDOW: u64 = 1_000;

#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// A request without RESERVE.
    Request {
        units: u64,
    },
    Reserve {
        id: u8,
        ttl: u64,
        units: u64,
    },
    Settle {
        id: u8,
        units: u64,
    },
    Reset,
}

/// One charge, as the oracle remembers it.
#[derive(Clone, Debug)]
struct Charge {
    id: Option<u8>,
    at: Micros,
    units: u64,
    ends_at: u64,
    ttl: u64,
    /// What the id stands for: open, ended, or nothing any more.
    open: bool,
    known: bool,
    /// WINDOW: the end of the window that it counts in, and of that in which it was charged.
    window_end: u64,
    charged_until: u64,
}

/// Every charge, and how the algorithm counts them.
struct Oracle {
    charges: Vec<Charge>,
    kind: Kind,
    limit: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Fixed,
    Window,
    Counter,
    Rolling,
}

impl Oracle {
    fn number(at: Micros) -> u64 {
        at.millis() / WINDOW
    }

    /// Whether a charge still has an effect.
    fn counts(&self, charge: &Charge, now: Micros) -> bool {
        match self.kind {
            Kind::Fixed => Self::number(charge.at) == Self::number(now),
            Kind::Window => charge.window_end > now.millis(),
            Kind::Counter => Self::number(charge.at) + 1 >= Self::number(now),
            Kind::Rolling => charge.at.millis() + WINDOW > now.millis(),
        }
    }

    /// Whether a correction of a charge has an effect.
    fn may_correct(&self, charge: &Charge, now: Micros) -> bool {
        if self.kind == Kind::Window { charge.charged_until > now.millis() } else { self.counts(charge, now) }
    }

    fn end_of_running(&self, now: Micros) -> Option<u64> {
        self.charges
            .iter()
            .find(|charge| charge.units > 0 && charge.window_end > now.millis())
            .map(|one| one.window_end)
    }

    /// What is counted, in parts of 1/`WINDOW` of a millionth: only COUNTER has parts.
    fn counted(&self, now: Micros) -> u128 {
        let left = WINDOW * 1_000 - (now.0 % (WINDOW * 1_000));
        let counted = self.charges.iter().filter(|charge| self.counts(charge, now));
        let weight = |charge: &Charge| {
            let previous = self.kind == Kind::Counter && Self::number(charge.at) < Self::number(now);
            u128::from(charge.units) * u128::from(if previous { left } else { WINDOW * 1_000 })
        };
        counted.map(weight).sum()
    }

    fn fits(&self, now: Micros, units: u64) -> bool {
        self.counted(now) + u128::from(units.max(1) * WINDOW * 1_000) <= u128::from(self.limit * WINDOW * 1_000)
    }

    fn give_back(&mut self, now: Micros) {
        for index in 0..self.charges.len() {
            let charge = &self.charges[index];
            if charge.open && charge.ends_at <= now.millis() {
                let units = if self.may_correct(charge, now) { 0 } else { charge.units };
                let charge = &mut self.charges[index];
                charge.units = units;
                charge.open = false;
            }
        }
        for charge in &mut self.charges {
            charge.known &= charge.open || now.millis() < charge.ends_at + charge.ttl;
        }
    }

    fn charge(&mut self, now: Micros, id: Option<u8>, ttl: u64, units: u64) {
        let window_end = self.end_of_running(now).unwrap_or(now.millis() + WINDOW);
        let (ends_at, known) = (now.millis() + ttl, id.is_some());
        let charged_until = window_end;
        self.charges.push(Charge { id, at: now, units, ends_at, ttl, open: known, known, window_end, charged_until });
    }

    fn of(&mut self, id: u8) -> Option<&mut Charge> {
        self.charges.iter_mut().find(|charge| charge.id == Some(id) && charge.known)
    }

    /// Whether the request is allowed, and how much is reserved.
    fn reserve(&mut self, now: Micros, id: u8, ttl: u64, units: u64) -> (bool, u64) {
        self.give_back(now);
        if let Some(charge) = self.of(id).filter(|charge| charge.open) {
            if now.millis() + ttl > charge.ends_at {
                (charge.ends_at, charge.ttl) = (now.millis() + ttl, ttl);
            }
            return (true, charge.units);
        }
        if !self.fits(now, units) {
            return (false, 0);
        }
        if let Some(mark) = self.of(id) {
            mark.known = false;
        }
        self.charge(now, Some(id), ttl, units);
        (true, units)
    }

    fn settle(&mut self, now: Micros, id: u8, actual: u64) -> u64 {
        self.give_back(now);
        let running = self.end_of_running(now);
        let Some(index) = self.charges.iter().position(|charge| charge.id == Some(id) && charge.known) else {
            return 0;
        };
        if self.may_correct(&self.charges[index], now) {
            let charge = &mut self.charges[index];
            if actual > charge.units {
                charge.window_end = running.unwrap_or(charge.charged_until);
            }
            charge.units = actual;
        }
        (self.charges[index].known, self.charges[index].open) = (false, false);
        actual
    }
}

/// Runs the calls, and compares every reply and everything counted.
pub fn agrees<A: InMemory>(kind: Kind, limit: u64, calls: &[(u64, Call)]) {
    let algorithm = A::with_policy(&policy(WINDOW, limit)).unwrap();
    let mut oracle = Oracle { charges: Vec::new(), kind, limit };
    let (mut stored, mut now) = (Limit::<A>::default(), Micros(T0));
    for &(pause, call) in calls {
        now = now.plus(pause);
        A::expire(&mut stored.key, now);
        match call {
            Call::Request { units } => {
                let allowed = oracle.fits(now, units);
                // FIXED counts a denial if the window is full.
                let is_counted = allowed || kind == Kind::Fixed && !oracle.fits(now, 0);
                let reply = algorithm.request(&mut stored.key, now, cost(units)).unwrap();
                assert_eq!(reply.verdict.allowed, allowed);
                if is_counted {
                    oracle.charge(now, None, 0, units);
                }
            }
            Call::Reserve { id, ttl, units } => {
                let expected = oracle.reserve(now, id, ttl, units);
                let reply = stored.reserve(&algorithm, now, &[id], millis(ttl), cost(units)).unwrap();
                assert_eq!((reply.reply.verdict.allowed, reply.charged), expected, "{:?} at {:?}", call, now);
            }
            Call::Settle { id, units } => {
                let expected = oracle.settle(now, id, units);
                assert_eq!(stored.settle(&algorithm, now, &[id], cost(units)), Ok(expected));
            }
            Call::Reset => {
                (stored, oracle.charges) = (Limit::default(), Vec::new());
            }
        }
        let counted = oracle.counted(now).div_ceil(u128::from(WINDOW * 1_000));
        let remaining = limit.saturating_sub(counted.try_into().unwrap());
        assert_eq!(algorithm.remaining(&stored.key, now), remaining, "after {:?} at {:?}", call, now);
        check_hash(&stored);
    }
}

/// What the hash promises: it holds what was written, and it lives for long enough.
fn check_hash<A: InMemory>(stored: &Limit<A>) {
    let Some(earliest) = stored.fields.get(EARLIEST) else {
        assert!(stored.fields.is_empty() && stored.expires_at.is_none());
        return;
    };
    assert!(earliest == EARLIEST_END && stored.fields.len() > 1, "an empty hash");
    let expires_at = stored.expires_at.unwrap();
    for (_, text) in stored.fields.iter().filter(|(id, _)| *id != EARLIEST) {
        let field = Reservation::decode(text).unwrap();
        let needed = field.cost.map_or(field.ends_at, |_| field.counts_until.max(field.ends_at + field.ttl.millis()));
        assert!(needed <= expires_at);
    }
}

/// Calls under changing windows and a clock that steps: nothing is charged or corrected twice.
pub fn repeats_change_nothing<A: InMemory>(calls: &[(i64, u64, Call)]) {
    let (mut stored, mut now) = (Limit::<A>::default(), Micros(T0));
    for &(step, window, call) in calls {
        now = Micros(now.0.saturating_add_signed(step));
        let algorithm = A::with_policy(&policy(window, 10)).unwrap();
        let state = |stored: &Limit<A>| (algorithm.remaining(&stored.key, now), stored.fields.clone());
        match call {
            Call::Reserve { id, ttl, units } => {
                let first = stored.reserve(&algorithm, now, &[id], millis(ttl), cost(units)).unwrap();
                let after = state(&stored);
                if first.reply.verdict.allowed {
                    let again = stored.reserve(&algorithm, now, &[id], millis(ttl), cost(units)).unwrap();
                    assert!(again.repeated && again.reply.verdict.allowed);
                    assert_eq!(again.charged, first.charged);
                    assert_eq!(state(&stored), after);
                }
            }
            Call::Settle { id, units } => {
                stored.settle(&algorithm, now, &[id], cost(units)).unwrap();
                let after = state(&stored);
                assert_eq!(stored.settle(&algorithm, now, &[id], cost(units)), Ok(0));
                assert_eq!(state(&stored), after);
            }
            Call::Request { units } => {
                A::expire(&mut stored.key, now);
                algorithm.request(&mut stored.key, now, cost(units)).unwrap();
            }
            Call::Reset => stored = Limit::default(),
        }
        check_hash(&stored);
    }
}
