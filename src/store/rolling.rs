//! The record of a rolling log: a STRING that most requests change in one entry, with APPEND or SETRANGE.

use super::{Purpose, StoredAlgorithm};
use crate::algorithm::rolling_log::{Edit, Live, Log, Write};
use crate::algorithm::{Change, Cost, Decision, Figures, Forecast, Micros, Policy, RollingLog};
use crate::error::Error;
use crate::ffi::{ClosedKey, Key, Kind};

/// See [`StoredAlgorithm::Loaded`].
pub struct Loaded<'c> {
    key: Key<'c>,
    /// The record of a key that is read only. A key open for writing is read in place.
    copy: Option<Vec<u8>>,
    /// `None` if the key does not exist.
    live: Option<Live>,
}

impl Loaded<'_> {
    fn log(&self) -> Log<'_> {
        let record = || self.copy.as_deref().unwrap_or_else(|| self.key.string());
        self.live.map_or(Log::EMPTY, |live| Log::again(record(), live))
    }
}

impl StoredAlgorithm for RollingLog {
    type Loaded<'c> = Loaded<'c>;
    type Change = Edit;

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(RollingLog::new(policy))
    }

    #[inline(always)]
    fn load<'c>(&self, key: ClosedKey<'c>, now: Micros, purpose: Purpose) -> Result<Loaded<'c>, Error> {
        let key = key.open(purpose.mode());
        let copy = match (key.kind(), purpose) {
            (Kind::Nothing, _) => return Ok(Loaded { key, copy: None, live: None }),
            (Kind::String, Purpose::Read) => key.closed().get_string(<[u8]>::to_vec),
            (Kind::String, _) => None,
            _ => return Err(Error::WRONG_TYPE),
        };
        let record = copy.as_deref().unwrap_or_else(|| key.string());
        let live = self.read(record, now).ok_or(Error::FOREIGN_VALUE)?.live();
        Ok(Loaded { key, copy, live: Some(live) })
    }

    fn exists(loaded: &Loaded<'_>) -> bool {
        loaded.live.is_some()
    }

    #[inline(always)]
    fn decide_on(&self, loaded: &mut Loaded<'_>, now: Micros, cost: Cost) -> Result<Decision<Edit>, Error> {
        Ok(self.decide(&loaded.log(), now, cost))
    }

    fn refund_on(&self, loaded: &Loaded<'_>, _now: Micros, at: Option<Micros>, cost: Cost) -> Change<Edit> {
        self.refund(&loaded.log(), at, cost)
    }

    fn overcharge_on(
        &self,
        loaded: &Loaded<'_>,
        now: Micros,
        at: Option<Micros>,
        cost: Cost,
    ) -> Result<Change<Edit>, Error> {
        Ok(self.overcharge(&loaded.log(), now, at, cost)?)
    }

    fn remaining(&self, loaded: &Loaded<'_>, now: Micros) -> u64 {
        self.forecast(&loaded.log(), &Change::Keep, now).remaining()
    }

    fn figures(&self, loaded: &Loaded<'_>, decision: &Decision<Edit>, now: Micros, cost: Cost) -> Figures {
        Figures::new(&self.forecast(&loaded.log(), &decision.change, now), decision, now, cost)
    }

    fn needs_memory(_loaded: &Loaded<'_>, change: &Change<Edit>) -> bool {
        matches!(change, Change::Charge(edit) if edit.grows())
    }

    #[inline(always)]
    fn commit(&self, loaded: Loaded<'_>, change: Change<Edit>, now: Micros) {
        if matches!(change, Change::Delete) {
            return super::delete(loaded.key);
        }
        let held = loaded.live.and_then(|_| loaded.key.expires_at());
        let new_expiry = self.new_expiry(held, now);
        let Some(edit) = change.state() else {
            if let Some(millis) = new_expiry.filter(|_| loaded.log().units() > 0) {
                super::extend(loaded.key, millis);
            }
            return;
        };
        match self.write(&loaded.log(), edit, now) {
            Write::Append(bytes) => write_part(loaded.key, None, &bytes, new_expiry),
            Write::Last { offset, bytes } => write_part(loaded.key, Some(offset), &bytes, new_expiry),
            Write::Tail { offset, bytes } => write_part(loaded.key, Some(offset), &bytes, new_expiry),
            Write::Whole(record) => super::set(loaded.key, &record, new_expiry.or(held).unwrap_or(u64::MAX)),
        }
    }
}

/// Writes a part of the record (from its end on if `offset` is `None`) with a new expiry, if any, replicates both and
/// fires the events.
#[inline(always)]
fn write_part(mut key: Key<'_>, offset: Option<usize>, bytes: &[u8], new_expiry: Option<u64>) {
    key.write_part_of_string(offset, bytes);
    if let Some(millis) = new_expiry {
        key.set_expires_at(millis);
    }
    let key = key.close();
    match offset {
        None => {
            key.notify_string(c"append");
            key.replicate_append(bytes);
        }
        Some(offset) => {
            key.notify_string(c"setrange");
            key.replicate_range(offset, bytes);
        }
    }
    super::announce(&key, new_expiry);
}
