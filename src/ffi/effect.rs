//! Replication, keyspace events, and the few commands that the module calls.

use std::ffi::{CStr, c_int, c_longlong};

use redis_module::raw;

use super::{ClosedKey, Str, Word, api};

/// Replicates a command whose first argument is the key: the key, the command, the format of all arguments, and the other
/// arguments. As unsafe as a format that differs from them.
macro_rules! replicate {
    ($key:expr, $command:expr, $format:expr $(, $argument:expr)*) => {
        api!(RedisModule_Replicate(
            $key.ctx.raw, $command.as_ptr(), $format.as_ptr(), $key.name.raw $(, $argument)*
        ))
    };
}

/// Calls such a command, and has its [`Reply`].
macro_rules! call {
    ($key:expr, $command:expr, $format:expr $(, $argument:expr)*) => {
        Reply(api!(RedisModule_Call($key.ctx.raw, $command.as_ptr(), $format.as_ptr(), $key.name.raw $(, $argument)*)))
    };
}

/// Calls such a command, and has the integer of its reply.
macro_rules! integer {
    ($key:expr, $command:expr $(, $rest:expr)*) => { $key.integer_of($command, &call!($key, $command $(, $rest)*)) };
}

impl ClosedKey<'_> {
    /// Fires a keyspace event, as the plain command would.
    pub fn notify_generic(&self, event: &CStr) {
        self.notify(raw::REDISMODULE_NOTIFY_GENERIC, event);
    }

    pub fn notify_string(&self, event: &CStr) {
        self.notify(raw::REDISMODULE_NOTIFY_STRING, event);
    }

    pub fn notify_sorted_set(&self, event: &CStr) {
        self.notify(raw::REDISMODULE_NOTIFY_ZSET, event);
    }

    fn notify(&self, class: c_int, event: &CStr) {
        #[cfg(feature = "panic-on-purpose")]
        super::panic_on_purpose(&self.name, "panic-on-writing");
        // SAFETY: a live context and strings.
        unsafe { api!(RedisModule_NotifyKeyspaceEvent(self.ctx.raw, class, event.as_ptr(), self.name.raw)) };
    }

    /// Replicates `<command> key`.
    pub fn replicate(&self, command: &CStr) {
        // SAFETY: the format takes one string.
        unsafe { replicate!(self, command, c"s") };
    }

    // Numbers are sent as text: the server needs three times as many instructions for a long long.

    /// Replicates `<command> key n`.
    pub fn replicate_integer(&self, command: &CStr, n: i64) {
        let mut text = itoa::Buffer::new();
        let text = text.format(n);
        // SAFETY: a string, and a buffer with its length.
        unsafe { replicate!(self, command, c"sb", text.as_ptr(), text.len()) };
    }

    /// Replicates `SET key value PXAT millis`.
    pub fn replicate_set(&self, value: &[u8], millis: u64) {
        static PXAT: Word = Word::new(b"PXAT");
        let mut text = itoa::Buffer::new();
        let text = text.format(millis);
        // SAFETY: a string, a buffer with its length, a string, a buffer with its length.
        unsafe {
            replicate!(self, c"SET", c"sbsb", value.as_ptr(), value.len(), PXAT.get().raw, text.as_ptr(), text.len())
        };
    }

    /// Replicates `SET key value KEEPTTL`.
    pub fn replicate_set_keeping_ttl(&self, value: &[u8]) {
        static KEEPTTL: Word = Word::new(b"KEEPTTL");
        // SAFETY: a string, a buffer with its length, a string.
        unsafe { replicate!(self, c"SET", c"sbs", value.as_ptr(), value.len(), KEEPTTL.get().raw) };
    }

    /// Replicates `APPEND key bytes`.
    pub fn replicate_append(&self, bytes: &[u8]) {
        // SAFETY: a string, and a buffer with its length.
        unsafe { replicate!(self, c"APPEND", c"sb", bytes.as_ptr(), bytes.len()) };
    }

    /// Replicates `SETRANGE key offset bytes`.
    pub fn replicate_range(&self, offset: usize, bytes: &[u8]) {
        let mut text = itoa::Buffer::new();
        let text = text.format(offset);
        // SAFETY: a string, and two buffers with their lengths.
        unsafe { replicate!(self, c"SETRANGE", c"sbb", text.as_ptr(), text.len(), bytes.as_ptr(), bytes.len()) };
    }

    /// Replicates `ZADD key score member`.
    pub fn replicate_add(&self, score: &str, member: &Str<'_>) {
        // SAFETY: a string, a buffer with its length, a string.
        unsafe { replicate!(self, c"ZADD", c"sbs", score.as_ptr(), score.len(), member.raw) };
    }

    /// Replicates `ZADD key score member …` of members with one score; nothing if there is none.
    pub fn replicate_add_all(&self, score: u64, members: &[Str<'_>]) {
        if members.is_empty() {
            return;
        }
        let score = Str::new(score.to_string().as_bytes());
        let mut arguments: Vec<_> = members.iter().flat_map(|member| [score.raw, member.raw]).collect();
        // SAFETY: a string, then an array of live strings with its length.
        unsafe { replicate!(self, c"ZADD", c"sv", arguments.as_mut_ptr(), arguments.len()) };
    }

    // The called commands below that write do all that they do for a client: they fire their events, are replicated, and
    // delete a key that becomes empty. Each returns the integer of the reply; `None` if the server rejects the command, which
    // is a bug: the log names the command.

    fn integer_of(&self, command: &CStr, reply: &Reply) -> Option<u64> {
        let integer = reply.integer();
        if integer.is_none() {
            self.ctx.log_rejected(&command.to_string_lossy());
        }
        integer
    }

    /// Removes the members of a sorted set with a score in `min ..= max`: ZREMRANGEBYSCORE.
    pub fn remove_scores(&self, min: &CStr, max: u64) -> Option<u64> {
        let mut text = itoa::Buffer::new();
        let text = text.format(max);
        // SAFETY: a string, a C string, a buffer with its length.
        unsafe { integer!(self, c"ZREMRANGEBYSCORE", c"!scb", min.as_ptr(), text.as_ptr(), text.len()) }
    }

    /// Removes the members of a sorted set from one rank to another, lowest score first; negative ranks count from the
    /// end: ZREMRANGEBYRANK.
    pub fn remove_ranks(&self, first: i64, last: i64) -> Option<u64> {
        // SAFETY: a string and two long longs.
        unsafe { integer!(self, c"ZREMRANGEBYRANK", c"!sll", first as c_longlong, last as c_longlong) }
    }

    /// Removes members of a sorted set: ZREM.
    pub fn remove_members<'s>(&self, members: impl IntoIterator<Item = &'s Str<'s>>) -> Option<u64> {
        self.call_with(c"ZREM", members)
    }

    /// Gives members of a sorted set their scores, or creates it: ZADD. Each has a score and a name. Does nothing if there
    /// are none.
    pub fn set_scores<'s>(&self, members: impl IntoIterator<Item = [&'s Str<'s>; 2]>) -> Option<u64> {
        self.call_with(c"ZADD", members.into_iter().flatten())
    }

    /// Writes fields of a hash, or creates it: HSET. Each has a name and a value. Does nothing if there are none.
    pub fn set_fields<'s>(&self, fields: impl IntoIterator<Item = [&'s Str<'s>; 2]>) -> Option<u64> {
        self.call_with(c"HSET", fields.into_iter().flatten())
    }

    /// Removes fields of a hash: HDEL. Does nothing if there are none.
    pub fn remove_fields<'s>(&self, names: impl IntoIterator<Item = &'s Str<'s>>) -> Option<u64> {
        self.call_with(c"HDEL", names)
    }

    fn call_with<'s>(&self, command: &CStr, arguments: impl IntoIterator<Item = &'s Str<'s>>) -> Option<u64> {
        let mut arguments: Vec<_> = arguments.into_iter().map(|argument| argument.raw).collect();
        if arguments.is_empty() {
            return Some(0);
        }
        // SAFETY: a string, then an array of live strings with its length.
        unsafe { integer!(self, command, c"!sv", arguments.as_mut_ptr(), arguments.len()) }
    }

    /// Gives members that exist another score, with one ZADD XX.
    ///
    /// RM_ZsetAdd cannot do this: with XX it breaks the key-size histogram of Redis 8.8, and an assertion there ends the
    /// server.
    pub fn rescore_members(&self, score: u64, members: &[Str<'_>]) -> Option<u64> {
        let (xx, score) = (Str::new(b"XX"), Str::new(score.to_string().as_bytes()));
        let pairs = members.iter().flat_map(|member| [&score, member]);
        self.call_with(c"ZADD", std::iter::once(&xx).chain(pairs))
    }

    /// Whether the server would reject a `deny-oom` command now. The server decides that before the command of the
    /// module begins, after eviction. The memory in use is not the same: this call itself can exceed the limit by a few
    /// bytes. The SETRANGE of an empty value changes nothing, whatever the key holds.
    pub(super) fn refuses_for_memory(&self) -> bool {
        // SAFETY: a string, a long long, a C string.
        let reply = unsafe { call!(self, c"SETRANGE", c"Mslc", 0 as c_longlong, c"".as_ptr()) };
        reply.0.is_null()
    }

    /// The number of members of a sorted set with a score in `min ..= max`, as ZCOUNT takes them.
    pub fn count_scores(&self, min: &CStr, max: &CStr) -> Option<u64> {
        // SAFETY: a string and two C strings.
        unsafe { integer!(self, c"ZCOUNT", c"scc", min.as_ptr(), max.as_ptr()) }
    }

    /// The score of the member of a sorted set at `rank`, lowest first, from 0.
    pub fn score_at(&self, rank: u64) -> Option<f64> {
        let rank = c_longlong::try_from(rank).ok()?;
        // SAFETY: a string, two long longs, a C string.
        let reply = unsafe { call!(self, c"ZRANGE", c"sllc", rank, rank, c"WITHSCORES".as_ptr()) };
        std::str::from_utf8(reply.element(1)?).ok()?.parse().ok()
    }

    /// The string of the key, read with GET, which leaves its encoding unchanged. `None` if there is none.
    pub fn get_string<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        // SAFETY: a string.
        let reply = unsafe { call!(self, c"GET", c"s") };
        reply.bytes().map(read)
    }
}

/// The reply to a called command: null if the server rejected the call; freed when dropped.
struct Reply(*mut raw::RedisModuleCallReply);

impl Reply {
    fn integer(&self) -> Option<u64> {
        // SAFETY: a live reply whose type is checked first; null has no type.
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
    // SAFETY: the type is checked first (null has no type); the buffer belongs to the reply.
    unsafe {
        if api!(RedisModule_CallReplyType(reply)) as isize != raw::REDISMODULE_REPLY_STRING {
            return None;
        }
        let mut len = 0;
        let start = api!(RedisModule_CallReplyStringPtr(reply, &mut len));
        (!start.is_null()).then(|| std::slice::from_raw_parts(start.cast(), len))
    }
}
