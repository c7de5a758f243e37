//! A key: closed, or open for reading or writing.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

use redis_module::raw;

use super::{Access, Ctx, Str, api, load};

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nothing,
    String,
    SortedSet,
    Hash,
    Other,
}

/// A key that is not open. Only in this state does the module call commands on it and announce its changes: a command may
/// delete the key, and so may another module when it gets an event. That must not happen while the key is open.
pub struct ClosedKey<'c> {
    pub ctx: Ctx<'c>,
    pub name: Str<'c>,
}

impl<'c> ClosedKey<'c> {
    pub fn new(ctx: Ctx<'c>, name: Str<'c>) -> Self {
        Self { ctx, name }
    }

    /// The same key again.
    pub fn duplicate(&self) -> Self {
        Self::new(self.ctx, self.name.duplicate())
    }

    /// Opens the key. Reading leaves the encoding of the value, its idle time and everything else as it is.
    pub fn open(self, access: Access) -> Key<'c> {
        #[cfg(feature = "panic-on-purpose")]
        super::panic_on_purpose(&self.name, "panic-on-opening");
        let mode = match access {
            Access::Read => raw::REDISMODULE_READ as c_int | raw::REDISMODULE_OPEN_KEY_NOTOUCH as c_int,
            Access::ReadWrite => (raw::REDISMODULE_READ | raw::REDISMODULE_WRITE) as c_int,
        };
        // SAFETY: a live context and string; the server takes its own reference to the name.
        let raw = unsafe { api!(RedisModule_OpenKey(self.ctx.raw, self.name.raw, mode)) };
        Key { raw, handle: Handle { raw, call: PhantomData }, closed: self }
    }
}

/// An open key; closed when dropped.
pub struct Key<'c> {
    /// Null for a key that does not exist and is read only.
    raw: *mut raw::RedisModuleKey,
    handle: Handle<'c>,
    closed: ClosedKey<'c>,
}

/// Closes the key when dropped.
struct Handle<'c> {
    raw: *mut raw::RedisModuleKey,
    call: PhantomData<Ctx<'c>>,
}

impl<'c> Key<'c> {
    /// Closes a key that has not changed.
    pub fn close(self) -> ClosedKey<'c> {
        drop(self.handle);
        self.closed
    }

    /// Closes a changed key, which signals the change to WATCH and client-side caching. (Redis 8.6 and
    /// later look the key up again for RM_SignalModifiedKey, in 410 instructions.)
    pub fn close_changed(self) -> ClosedKey<'c> {
        load::set_signal_at_closing(self.closed.ctx, true);
        drop(self.handle);
        load::set_signal_at_closing(self.closed.ctx, false);
        self.closed
    }

    /// The name, and the commands that read the key while it is open.
    pub fn closed(&self) -> &ClosedKey<'c> {
        &self.closed
    }

    pub fn kind(&self) -> Kind {
        // SAFETY: an open key, or null, which counts as empty.
        match unsafe { api!(RedisModule_KeyType(self.raw)) } as isize {
            raw::REDISMODULE_KEYTYPE_EMPTY => Kind::Nothing,
            raw::REDISMODULE_KEYTYPE_STRING => Kind::String,
            raw::REDISMODULE_KEYTYPE_ZSET => Kind::SortedSet,
            raw::REDISMODULE_KEYTYPE_HASH => Kind::Hash,
            _ => Kind::Other,
        }
    }

    /// The string, in place. The server changes its encoding to plain bytes for that, so a key that is read only is read
    /// with [`ClosedKey::get_string`].
    pub fn string(&self) -> &[u8] {
        let mut len = 0;
        // SAFETY: an open key of type STRING or none (then the server returns a static buffer of length 0); the
        // buffer does not change while the key is borrowed.
        unsafe {
            let start = api!(RedisModule_StringDMA(self.raw, &mut len, raw::REDISMODULE_READ as c_int));
            if start.is_null() { &[] } else { std::slice::from_raw_parts(start.cast(), len) }
        }
    }

    /// Writes the string in place, or creates the key. The expiry stays. Nothing is replicated, and no event is fired.
    pub fn set_string(&mut self, bytes: &[u8]) {
        let mut len = 0;
        // SAFETY: a key open for writing, of type STRING or none; the buffer is written only if it is as long as the
        // bytes.
        unsafe {
            let mut start = api!(RedisModule_StringDMA(self.raw, &mut len, raw::REDISMODULE_WRITE as c_int));
            if len != bytes.len() {
                if 0 < len && len < bytes.len() {
                    // The server doubles a string that grows, and frees what it does not need when one shrinks.
                    api!(RedisModule_StringTruncate(self.raw, bytes.len().saturating_add(1)));
                }
                api!(RedisModule_StringTruncate(self.raw, bytes.len()));
                start = api!(RedisModule_StringDMA(self.raw, &mut len, raw::REDISMODULE_WRITE as c_int));
            }
            if !start.is_null() && len == bytes.len() {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast(), len);
            }
        }
    }

    /// Writes bytes into the string from `offset` on; from its end on if `offset` is `None`. The string gets longer if
    /// they end after it. The expiry stays. Nothing is replicated, and no event is fired.
    pub fn write_part_of_string(&mut self, offset: Option<usize>, bytes: &[u8]) {
        let mut len = 0;
        // SAFETY: a key open for writing, of type STRING or none; the buffer is written only if it has all of the range.
        unsafe {
            let mut start = api!(RedisModule_StringDMA(self.raw, &mut len, raw::REDISMODULE_WRITE as c_int));
            let offset = offset.unwrap_or(len);
            let end = offset.saturating_add(bytes.len());
            if len < end {
                // The server doubles the allocation of a string that grows, so most calls allocate nothing.
                api!(RedisModule_StringTruncate(self.raw, end));
                start = api!(RedisModule_StringDMA(self.raw, &mut len, raw::REDISMODULE_WRITE as c_int));
            }
            if !start.is_null() && end <= len {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast::<u8>().add(offset), bytes.len());
            }
        }
    }

    /// The expiry in milliseconds since the epoch; `None` if the key has none.
    pub fn expires_at(&self) -> Option<u64> {
        // Redis 8.8 dereferences a null pointer for a key that does not exist.
        if self.kind() == Kind::Nothing {
            return None;
        }
        // SAFETY: an open key with a value.
        u64::try_from(unsafe { api!(RedisModule_GetAbsExpire(self.raw)) }).ok()
    }

    /// Sets the expiry, in milliseconds since the epoch.
    pub fn set_expires_at(&mut self, millis: u64) {
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        // SAFETY: a key open for writing.
        unsafe { api!(RedisModule_SetAbsExpire(self.raw, millis)) };
    }

    /// The number of members of a sorted set or of fields of a hash; 0 if there is none.
    pub fn len(&self) -> u64 {
        // SAFETY: an open key, or null, which is of length 0.
        unsafe { api!(RedisModule_ValueLength(self.raw)) as u64 }
    }

    /// Whether a sorted set has a member with a score in `min ..= max`.
    pub fn any_score_in(&mut self, min: f64, max: u64) -> bool {
        // SAFETY: an open key; an error (no sorted set) leaves no range.
        unsafe {
            api!(RedisModule_ZsetFirstInScoreRange(self.raw, min, max as f64, 0, 0)) == raw::REDISMODULE_OK as c_int
                && api!(RedisModule_ZsetRangeEndReached(self.raw)) == 0
        }
    }

    /// Whether a sorted set has a member with a score above `min`.
    pub fn any_score_above(&mut self, min: u64) -> bool {
        // SAFETY: as above.
        unsafe {
            api!(RedisModule_ZsetLastInScoreRange(self.raw, min as f64, f64::INFINITY, 1, 0))
                == raw::REDISMODULE_OK as c_int
                && api!(RedisModule_ZsetRangeEndReached(self.raw)) == 0
        }
    }

    /// The lowest score in a sorted set; `None` if it has no members.
    pub fn lowest_score(&self) -> Option<f64> {
        // SAFETY: an open key; an error (no sorted set) leaves no range.
        unsafe {
            let range = api!(RedisModule_ZsetFirstInScoreRange(self.raw, f64::NEG_INFINITY, f64::INFINITY, 0, 0));
            self.score_of_range(range)
        }
    }

    /// The members of a sorted set with a score in `min ..= max`, or above `min` if that is `excluded`: lowest first, at most
    /// `most`, with their scores. And the score of the next member, whatever it is.
    pub fn members(
        &mut self,
        (min, excluded): (f64, bool),
        max: u64,
        most: usize,
    ) -> (Vec<(Str<'c>, u64)>, Option<u64>) {
        let (mut members, mut next) = (Vec::new(), None);
        // SAFETY: an open key; an error (no sorted set) leaves no range. Each member is a new string that this module owns.
        unsafe {
            let excluded = c_int::from(excluded);
            let range = api!(RedisModule_ZsetFirstInScoreRange(self.raw, min, f64::INFINITY, excluded, 0));
            if range != raw::REDISMODULE_OK as c_int {
                return (members, next);
            }
            while api!(RedisModule_ZsetRangeEndReached(self.raw)) == 0 {
                let mut score = 0.0;
                let member = api!(RedisModule_ZsetRangeCurrentElement(self.raw, &mut score));
                if member.is_null() {
                    break;
                }
                let (member, score) = (Str::owned(member), score as u64);
                if max < score || members.len() == most {
                    next = Some(score);
                    break;
                }
                members.push((member, score));
                api!(RedisModule_ZsetRangeNext(self.raw));
            }
            api!(RedisModule_ZsetRangeStop(self.raw));
        }
        (members, next)
    }

    /// The highest score in a sorted set; `None` if it has no members.
    pub fn highest_score(&self) -> Option<f64> {
        // SAFETY: as above.
        unsafe {
            let range = api!(RedisModule_ZsetLastInScoreRange(self.raw, f64::NEG_INFINITY, f64::INFINITY, 0, 0));
            self.score_of_range(range)
        }
    }

    /// The score of the member at which a range starts. Ends the range.
    ///
    /// # Safety
    /// `status` is that of the call that began the range.
    unsafe fn score_of_range(&self, status: c_int) -> Option<f64> {
        if status != raw::REDISMODULE_OK as c_int {
            return None;
        }
        let mut score = 0.0;
        // SAFETY: an open key with a range; the member is a new string that this module owns.
        unsafe {
            let member = api!(RedisModule_ZsetRangeCurrentElement(self.raw, &mut score));
            api!(RedisModule_ZsetRangeStop(self.raw));
            (!member.is_null()).then(|| {
                drop(Str::owned(member));
                score
            })
        }
    }

    /// The score of a member of a sorted set; `None` if there is no such member.
    pub fn score_of(&self, member: &Str<'_>) -> Option<f64> {
        let mut score = 0.0;
        // SAFETY: an open key that holds a sorted set, and a live string.
        let status = unsafe { api!(RedisModule_ZsetScore(self.raw, member.raw, &mut score)) };
        (status == raw::REDISMODULE_OK as c_int).then_some(score)
    }

    /// Adds a member, or creates the key; `false` if the member exists already.
    pub fn add_member(&mut self, score: u64, member: &Str<'_>) -> bool {
        let mut flags = raw::REDISMODULE_ZADD_NX as c_int;
        // SAFETY: a key open for writing, of type ZSET or none. A range that is still open is not looked at any more.
        unsafe { api!(RedisModule_ZsetAdd(self.raw, score as f64, member.raw, &mut flags)) };
        flags & raw::REDISMODULE_ZADD_ADDED as c_int != 0
    }

    /// The value of a field of a hash; `None` if it does not exist.
    pub fn field(&self, name: &Str<'_>) -> Option<Str<'c>> {
        let [value, _] = self.two_fields(name, name);
        value
    }

    /// The values of two fields of a hash; `None` for a field that does not exist.
    pub fn two_fields(&self, first: &Str<'_>, second: &Str<'_>) -> [Option<Str<'c>>; 2] {
        let mut values = [null_mut::<raw::RedisModuleString>(); 2];
        let [one, two] = &mut values;
        // SAFETY: an open key that holds a hash; pairs of a live string and a place for a new string that this module
        // owns, ended by null. A value that is not written stays null.
        unsafe {
            api!(RedisModule_HashGet(
                self.raw,
                raw::REDISMODULE_HASH_NONE as c_int,
                first.raw,
                &raw mut *one,
                second.raw,
                &raw mut *two,
                null_mut::<c_void>()
            ));
            values.map(|value| (!value.is_null()).then(|| Str::owned(value)))
        }
    }

    /// Deletes the key; the server frees a large value in the background. Nothing is replicated, and no event is fired.
    pub fn unlink(&mut self) {
        // SAFETY: a key open for writing.
        unsafe { api!(RedisModule_UnlinkKey(self.raw)) };
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once; the server ignores null.
        unsafe { api!(RedisModule_CloseKey(self.raw)) };
    }
}
