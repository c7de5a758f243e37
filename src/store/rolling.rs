//! The record of a rolling log: a STRING that most requests change in one entry, with APPEND or SETRANGE.

use super::{Purpose, Storage, WholeState, foreign_value, read_string};
use crate::error::Error;
use crate::ffi::{ClosedKey, Key, Kind};
use redis_rl_algorithm::reservation::Ended;
use redis_rl_algorithm::rolling_log::{Edit, Live, Log, TAG, Write};
use redis_rl_algorithm::{Algorithm, Change, Micros, Policy, RollingLog};

/// See [`Storage::Loaded`].
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

impl Storage for RollingLog {
    type Loaded<'c> = Loaded<'c>;
    type Change = Edit;

    fn new(policy: &Policy) -> Result<Self, Error> {
        Ok(<Self as Algorithm>::new(policy)?)
    }

    #[inline(always)]
    fn load<'c>(
        &self,
        key: ClosedKey<'c>,
        _id: Option<&'c [u8]>,
        now: Micros,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<'c>, Error> {
        let key = key.open(purpose.access());
        let foreign = || foreign_value(&key, purpose, &TAG, Error::FOREIGN_VALUE);
        if purpose != Purpose::Read {
            let live = match key.kind() {
                Kind::Nothing => None,
                Kind::String => Some(self.read(key.string(), now).ok_or_else(foreign)?.live()),
                _ => return Err(Error::WRONG_TYPE),
            };
            return Ok(Loaded { key, copy: None, live });
        }
        let copy = read_string(&key, purpose, <[u8]>::to_vec)?;
        let live = match &copy {
            None => None,
            Some(record) => Some(self.read(record, now).ok_or_else(foreign)?.live()),
        };
        Ok(Loaded { key, copy, live })
    }

    fn exists(loaded: &Loaded<'_>) -> bool {
        loaded.live.is_some()
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

    fn give_back(&self, loaded: &mut Loaded<'_>, now: Micros, ended: &mut [Ended]) {
        if let Some(record) = RollingLog::give_back(self, &loaded.log(), now, ended) {
            loaded.live = self.read(&record, now).map(|log| log.live());
            loaded.copy = Some(record);
        }
    }

    fn commit_given_back(&self, mut loaded: Loaded<'_>, change: Change<Edit>, now: Micros) {
        let write = change.state().map(|edit| self.write(&loaded.log(), edit, now));
        let Loaded { key, copy: Some(record), live } = &mut loaded else { return self.commit(loaded, change, now) };
        if matches!(change, Change::Delete) {
            record.clear();
        }
        if let Some(write) = write {
            write.apply_to(record);
        }
        // A record of which nothing was left begins anew.
        let held = live.and_then(|_| key.expires_at());
        let expires_at = self.new_expiry(held, now).or(held).unwrap_or(u64::MAX);
        if record.is_empty() {
            super::delete(loaded.key)
        } else {
            super::set(loaded.key, &loaded.copy.unwrap_or_default(), expires_at)
        }
    }
}

impl WholeState for RollingLog {
    type Of = Self;

    fn algorithm(&self) -> &Self {
        self
    }

    fn state<'l>(loaded: &'l Loaded<'_>) -> Log<'l> {
        loaded.log()
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
    let key = key.close_changed();
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
