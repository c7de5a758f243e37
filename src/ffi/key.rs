//! An open key.

use std::ffi::c_int;
use std::marker::PhantomData;

use redis_module::raw;

use super::{Ctx, Str, api};

/// What to do with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Look only; leaves its encoding, idle time and everything else as it is.
    Look,
    Write,
}

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nothing,
    String,
    SortedSet,
    Other,
}

/// A key held open; closed when dropped.
///
/// The server must not delete it by another way meanwhile: whoever calls a command on the same key drops this first.
pub struct Key<'c> {
    /// Null for a key that is missing and only looked at.
    raw: *mut raw::RedisModuleKey,
    call: PhantomData<Ctx<'c>>,
}

impl<'c> Key<'c> {
    pub fn open(ctx: Ctx<'c>, name: &Str<'c>, mode: Mode) -> Self {
        #[cfg(feature = "panic-on-purpose")]
        super::panic_on_purpose(name, "panic-on-opening");
        let mode = match mode {
            Mode::Look => raw::REDISMODULE_READ as c_int | raw::REDISMODULE_OPEN_KEY_NOTOUCH as c_int,
            Mode::Write => (raw::REDISMODULE_READ | raw::REDISMODULE_WRITE) as c_int,
        };
        // SAFETY: a live context and string; the key holds its own reference to the name.
        Self { raw: unsafe { api!(RedisModule_OpenKey(ctx.raw, name.raw, mode)) }, call: PhantomData }
    }

    pub fn kind(&self) -> Kind {
        // SAFETY: an open key, or null, which counts as empty.
        match unsafe { api!(RedisModule_KeyType(self.raw)) } as isize {
            raw::REDISMODULE_KEYTYPE_EMPTY => Kind::Nothing,
            raw::REDISMODULE_KEYTYPE_STRING => Kind::String,
            raw::REDISMODULE_KEYTYPE_ZSET => Kind::SortedSet,
            _ => Kind::Other,
        }
    }

    /// The string, in place. The server turns its encoding into plain bytes for that, which is why a mere look reads
    /// by [`Ctx::get_string`].
    pub fn string(&mut self) -> &[u8] {
        let mut len = 0;
        // SAFETY: an open key of type STRING or none (a static buffer of length 0 comes back); the buffer stays as it
        // is while the key is borrowed.
        unsafe {
            let start = api!(RedisModule_StringDMA(self.raw, &mut len, raw::REDISMODULE_READ as c_int));
            if start.is_null() { &[] } else { std::slice::from_raw_parts(start.cast(), len) }
        }
    }

    /// Writes the string in place, or makes the key. An expiry stays. Nothing is propagated or notified.
    pub fn set_string(&mut self, bytes: &[u8]) {
        let mut len = 0;
        // SAFETY: a key open for writing, of type STRING or none; the buffer is written only where it is as long as
        // what goes into it.
        unsafe {
            let mut start = api!(RedisModule_StringDMA(self.raw, &mut len, raw::REDISMODULE_WRITE as c_int));
            if len != bytes.len() {
                api!(RedisModule_StringTruncate(self.raw, bytes.len()));
                start = api!(RedisModule_StringDMA(self.raw, &mut len, raw::REDISMODULE_WRITE as c_int));
            }
            if !start.is_null() && len == bytes.len() {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast(), len);
            }
        }
    }

    /// Milliseconds since the epoch.
    pub fn expires_at(&self) -> Option<u64> {
        if self.raw.is_null() {
            return None;
        }
        // SAFETY: an open key.
        u64::try_from(unsafe { api!(RedisModule_GetAbsExpire(self.raw)) }).ok()
    }

    /// Milliseconds since the epoch.
    pub fn set_expires_at(&mut self, millis: u64) {
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        // SAFETY: a key open for writing.
        unsafe { api!(RedisModule_SetAbsExpire(self.raw, millis)) };
    }

    /// Members of a sorted set; 0 where there is none.
    pub fn len(&self) -> u64 {
        // SAFETY: an open key, or null, which is of length 0.
        unsafe { api!(RedisModule_ValueLength(self.raw)) as u64 }
    }

    /// Whether a sorted set has a member with a score in `min ..= max`.
    pub fn any_score_in(&mut self, min: u64, max: u64) -> bool {
        // SAFETY: an open key; an error (no sorted set) leaves the range at its end.
        unsafe {
            api!(RedisModule_ZsetFirstInScoreRange(self.raw, min as f64, max as f64, 0, 0))
                == raw::REDISMODULE_OK as c_int
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

    /// The members with a score above `min`.
    pub fn members_above(&mut self, min: u64) -> Vec<Str<'c>> {
        let mut members = Vec::new();
        // SAFETY: as above; each member comes as a new string that is ours.
        unsafe {
            if api!(RedisModule_ZsetFirstInScoreRange(self.raw, min as f64, f64::INFINITY, 1, 0))
                != raw::REDISMODULE_OK as c_int
            {
                return members;
            }
            while api!(RedisModule_ZsetRangeEndReached(self.raw)) == 0 {
                let mut score = 0.0;
                let member = api!(RedisModule_ZsetRangeCurrentElement(self.raw, &mut score));
                if !member.is_null() {
                    members.push(Str::owned(member));
                }
                api!(RedisModule_ZsetRangeNext(self.raw));
            }
        }
        members
    }

    /// Adds a member, or makes the key; `false` where the member is there already.
    pub fn add_member(&mut self, score: u64, member: &Str<'_>) -> bool {
        self.zset_add(score, member, raw::REDISMODULE_ZADD_NX) & raw::REDISMODULE_ZADD_ADDED as c_int != 0
    }

    /// Gives a member that is there another score.
    pub fn rescore_member(&mut self, score: u64, member: &Str<'_>) {
        self.zset_add(score, member, raw::REDISMODULE_ZADD_XX);
    }

    fn zset_add(&mut self, score: u64, member: &Str<'_>, flags: u32) -> c_int {
        let mut flags = flags as c_int;
        // SAFETY: a key open for writing, of type ZSET or none, with no range left open on what changes.
        unsafe {
            api!(RedisModule_ZsetRangeStop(self.raw));
            api!(RedisModule_ZsetAdd(self.raw, score as f64, member.raw, &mut flags));
        }
        flags
    }

    /// Deletes the key; a large value is freed in the background. Nothing is propagated or notified.
    pub fn unlink(&mut self) {
        // SAFETY: a key open for writing.
        unsafe { api!(RedisModule_UnlinkKey(self.raw)) };
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once; null is ignored.
        unsafe { api!(RedisModule_CloseKey(self.raw)) };
    }
}
