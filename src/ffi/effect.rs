//! What the rest of the world learns of a change: replication, notification, and the few commands that are called.

use std::ffi::{CStr, c_int, c_longlong};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use redis_module::raw;

use super::{Ctx, Str, api};

impl<'c> Ctx<'c> {
    /// Fires a keyspace event, as the plain command would.
    pub fn notify_generic(self, event: &CStr, key: &Str<'_>) {
        self.notify(raw::REDISMODULE_NOTIFY_GENERIC, event, key);
    }

    pub fn notify_string(self, event: &CStr, key: &Str<'_>) {
        self.notify(raw::REDISMODULE_NOTIFY_STRING, event, key);
    }

    pub fn notify_sorted_set(self, event: &CStr, key: &Str<'_>) {
        self.notify(raw::REDISMODULE_NOTIFY_ZSET, event, key);
    }

    fn notify(self, class: c_int, event: &CStr, key: &Str<'_>) {
        #[cfg(feature = "panic-on-purpose")]
        super::panic_on_purpose(key, "panic-on-writing");
        // SAFETY: a live context and strings.
        unsafe { api!(RedisModule_NotifyKeyspaceEvent(self.raw, class, event.as_ptr(), key.raw)) };
    }

    /// Tells WATCH and client-side caches. (The module has switched off the server's own signal on closing a key,
    /// which fires where nothing has changed as well.)
    pub fn signal_modified(self, key: &Str<'_>) {
        // SAFETY: a live context and string.
        unsafe { api!(RedisModule_SignalModifiedKey(self.raw, key.raw)) };
    }

    /// `<command> key`, to replicas and AOF.
    pub fn replicate(self, command: &CStr, key: &Str<'_>) {
        // SAFETY: the format takes one string; so with the ones below.
        unsafe { api!(RedisModule_Replicate(self.raw, command.as_ptr(), c"s".as_ptr(), key.raw)) };
    }

    // Numbers go as text of our own: what the server makes of a long long costs it three times as much.

    /// `<command> key n`.
    pub fn replicate_integer(self, command: &CStr, key: &Str<'_>, n: i64) {
        let mut text = itoa::Buffer::new();
        let text = text.format(n);
        // SAFETY: a string, and a buffer with its length.
        unsafe {
            api!(RedisModule_Replicate(self.raw, command.as_ptr(), c"sb".as_ptr(), key.raw, text.as_ptr(), text.len()))
        };
    }

    /// `SET key value PXAT millis`.
    pub fn replicate_set(self, key: &Str<'_>, value: &[u8], millis: u64) {
        // Made once: the server would make and free one at each call.
        static PXAT: AtomicPtr<raw::RedisModuleString> = AtomicPtr::new(null_mut());
        let mut pxat = PXAT.load(Ordering::Relaxed);
        if pxat.is_null() {
            pxat = Str::new(b"PXAT").leak();
            PXAT.store(pxat, Ordering::Relaxed);
        }
        let mut text = itoa::Buffer::new();
        let text = text.format(millis);
        // SAFETY: a string, a buffer with its length, a string, a buffer with its length.
        unsafe {
            api!(RedisModule_Replicate(
                self.raw,
                c"SET".as_ptr(),
                c"sbsb".as_ptr(),
                key.raw,
                value.as_ptr(),
                value.len(),
                pxat,
                text.as_ptr(),
                text.len()
            ))
        };
    }

    /// `ZADD key score member`, of one.
    pub fn replicate_add(self, key: &Str<'_>, score: u64, member: &Str<'_>) {
        let mut text = itoa::Buffer::new();
        let text = text.format(score);
        // SAFETY: a string, a buffer with its length, a string.
        unsafe {
            api!(RedisModule_Replicate(
                self.raw,
                c"ZADD".as_ptr(),
                c"sbs".as_ptr(),
                key.raw,
                text.as_ptr(),
                text.len(),
                member.raw
            ))
        };
    }

    /// `ZADD key score member …`, of many with one score.
    pub fn replicate_add_all(self, key: &Str<'_>, score: u64, members: &[Str<'_>]) {
        let score = Str::new(score.to_string().as_bytes());
        let mut arguments: Vec<_> = members.iter().flat_map(|member| [score.raw, member.raw]).collect();
        // SAFETY: a string, then an array of live strings with its length.
        unsafe {
            api!(RedisModule_Replicate(
                self.raw,
                c"ZADD".as_ptr(),
                c"sv".as_ptr(),
                key.raw,
                arguments.as_mut_ptr(),
                arguments.len()
            ))
        };
    }

    /// Runs `<command> key min max` with everything a client's own call brings: events, propagation, the empty key's
    /// end. The integer it answers. No [`super::Key`] may be open on that key.
    pub fn call_range(self, command: &CStr, key: &Str<'_>, min: i64, max: i64) -> Option<u64> {
        // SAFETY: a string and two long longs.
        let reply = Reply(unsafe {
            api!(RedisModule_Call(
                self.raw,
                command.as_ptr(),
                c"!sll".as_ptr(),
                key.raw,
                min as c_longlong,
                max as c_longlong
            ))
        });
        reply.integer()
    }

    /// Whether the server refuses, for memory, a command that is not to run then. It decided that before the module's
    /// command began, after it had evicted what it may: what it uses by now says less, a few bytes of this very call
    /// can take it over the bound. SETRANGE of nothing does nothing, whatever the key holds.
    pub(super) fn refuses_for_memory(self, key: &Str<'_>) -> bool {
        // SAFETY: a string, a long long, a C string.
        let reply = Reply(unsafe {
            api!(RedisModule_Call(
                self.raw,
                c"SETRANGE".as_ptr(),
                c"Mslc".as_ptr(),
                key.raw,
                0 as c_longlong,
                c"".as_ptr()
            ))
        });
        reply.0.is_null()
    }

    /// How many members of a sorted set have a score in `min ..= max`.
    pub fn count_scores(self, key: &Str<'_>, min: u64, max: u64) -> Option<u64> {
        let (min, max) = (c_longlong::try_from(min).ok()?, c_longlong::try_from(max).ok()?);
        // SAFETY: a string and two long longs.
        let reply =
            Reply(unsafe { api!(RedisModule_Call(self.raw, c"ZCOUNT".as_ptr(), c"sll".as_ptr(), key.raw, min, max)) });
        reply.integer()
    }

    /// The score of a sorted set's member at `rank`, lowest first.
    pub fn score_at(self, key: &Str<'_>, rank: u64) -> Option<f64> {
        let rank = c_longlong::try_from(rank).ok()?;
        // SAFETY: a string, two long longs, a C string.
        let reply = Reply(unsafe {
            api!(RedisModule_Call(
                self.raw,
                c"ZRANGE".as_ptr(),
                c"sllc".as_ptr(),
                key.raw,
                rank,
                rank,
                c"WITHSCORES".as_ptr()
            ))
        });
        std::str::from_utf8(reply.element(1)?).ok()?.parse().ok()
    }

    /// A string, read by GET, which leaves its encoding as it is. `None` where there is none.
    pub fn get_string<T>(self, key: &Str<'_>, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        // SAFETY: a string.
        let reply = Reply(unsafe { api!(RedisModule_Call(self.raw, c"GET".as_ptr(), c"s".as_ptr(), key.raw)) });
        reply.bytes().map(read)
    }
}

/// The reply to a command that was called: null where the server refused the call; freed when dropped.
struct Reply(*mut raw::RedisModuleCallReply);

impl Reply {
    fn integer(&self) -> Option<u64> {
        // SAFETY: a live reply whose type was looked at; a null one is of no type.
        unsafe {
            let integer = api!(RedisModule_CallReplyType(self.0)) as isize == raw::REDISMODULE_REPLY_INTEGER;
            integer.then(|| api!(RedisModule_CallReplyInteger(self.0)))
        }
        .and_then(|n| u64::try_from(n).ok())
    }

    fn bytes(&self) -> Option<&[u8]> {
        // SAFETY: a live reply, or null.
        unsafe { bytes_of_reply(self.0) }
    }

    fn element(&self, index: usize) -> Option<&[u8]> {
        // SAFETY: as above; elements live as long as the reply.
        unsafe {
            let array = api!(RedisModule_CallReplyType(self.0)) as isize == raw::REDISMODULE_REPLY_ARRAY;
            array
                .then(|| api!(RedisModule_CallReplyArrayElement(self.0, index)))
                .and_then(|element| bytes_of_reply(element))
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: a live reply, freed once.
            unsafe { api!(RedisModule_FreeCallReply(self.0)) };
        }
    }
}

/// # Safety
/// `reply` is null, or live for `'a`.
unsafe fn bytes_of_reply<'a>(reply: *mut raw::RedisModuleCallReply) -> Option<&'a [u8]> {
    // SAFETY: the type is looked at first (null is of no type); the buffer is the reply's own.
    unsafe {
        if api!(RedisModule_CallReplyType(reply)) as isize != raw::REDISMODULE_REPLY_STRING {
            return None;
        }
        let mut len = 0;
        let start = api!(RedisModule_CallReplyStringPtr(reply, &mut len));
        (!start.is_null()).then(|| std::slice::from_raw_parts(start.cast(), len))
    }
}
