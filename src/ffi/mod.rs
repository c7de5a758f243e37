//! The server's module API, made safe. All `unsafe` code of this crate is here. It has only what the redis-module crate
//! has no safe call for, or none that is cheap enough for a command handler.
//!
//! A handler runs on the main thread of the server. Everything here is borrowed from its call: `'c`.

mod acl;
mod doc;
mod effect;
mod key;
mod load;
mod register;

use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use arrayvec::ArrayVec;
use redis_module::raw;

pub use doc::{Access, Argument, ArgumentKind, CommandDoc, KeySpec};
pub use key::{ClosedKey, Key, Kind};
pub use load::{load_configs, may_unload, missing_commands, missing_features, require_server, set_up, watch_shutdown};
pub use register::{Handler, KeyPositions, register};

/// Calls a function of the module API. As unsafe as that function.
macro_rules! api {
    ($function:ident($($argument:expr),* $(,)?)) => {
        $crate::ffi::required(redis_module::raw::$function)($($argument),*)
    };
}
use api;

/// The load checks that the server has every function that is called this way: see [`require_server`].
#[inline(always)]
fn required<F>(function: Option<F>) -> F {
    match function {
        Some(function) => function,
        None => missing(),
    }
}

#[cold]
#[expect(clippy::panic, reason = "it cannot happen, and the caller of a handler catches it")]
fn missing() -> ! {
    panic!("the server lacks a function of the module API that it had when the module was loaded")
}

/// Panics for a key with a certain name, in the build that tests panics.
#[cfg(feature = "panic-on-purpose")]
#[expect(clippy::panic, reason = "the purpose of this function")]
fn panic_on_purpose(key: &Str<'_>, place: &str) {
    if String::from_utf8_lossy(key.bytes()).contains(place) {
        panic!("on purpose: {place}");
    }
}

/// The call of a command.
#[derive(Clone, Copy)]
pub struct Ctx<'c> {
    raw: *mut raw::RedisModuleCtx,
    call: PhantomData<&'c ()>,
}

impl<'c> Ctx<'c> {
    /// # Safety
    /// `raw` is the context of a call (or of the load) that outlives `'c`.
    unsafe fn new(raw: *mut raw::RedisModuleCtx) -> Self {
        Self { raw, call: PhantomData }
    }

    pub fn of(context: &'c redis_module::Context) -> Self {
        // SAFETY: the crate's context is that of the running call, and is borrowed for as long.
        unsafe { Self::new(context.ctx) }
    }

    /// The crate's form of this context, for its own calls.
    pub fn context(self) -> redis_module::Context {
        redis_module::Context::new(self.raw)
    }

    /// The server's clock, in microseconds since the epoch. On 7.2 and later it is the cached time of this command,
    /// which is the same throughout MULTI and a script; otherwise the clock itself.
    pub fn now_micros(self) -> u64 {
        // SAFETY: no arguments; a probed function.
        let cached = unsafe { { raw::RedisModule_CachedMicroseconds }.map(|cached| cached()) };
        match cached {
            Some(micros) => u64::try_from(micros).unwrap_or(0),
            None => {
                let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
                // SAFETY: a place to write to. (SystemTime costs a command three times as much.)
                unsafe { libc::gettimeofday(&mut now, std::ptr::null_mut()) };
                let [seconds, micros] = [now.tv_sec, now.tv_usec].map(|n| u64::try_from(n).unwrap_or(0));
                seconds.saturating_mul(1_000_000).saturating_add(micros)
            }
        }
    }

    /// Whether the server only wants the positions of the keys. The command must not run then.
    fn wants_key_positions(self) -> bool {
        // SAFETY: a live context.
        unsafe { api!(RedisModule_IsKeysPositionRequest(self.raw)) != 0 }
    }

    /// Reports the position of an argument that is a key, read and written.
    fn report_key_position(self, position: c_int) {
        let flags = raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_ACCESS | raw::REDISMODULE_CMD_KEY_UPDATE;
        // SAFETY: a live context, in a request for positions; an argument has the position.
        unsafe { api!(RedisModule_KeyAtPosWithFlags(self.raw, position, flags as c_int)) };
    }

    /// Whether the server would reject a `deny-oom` command on `key` now.
    pub fn out_of_memory(self, key: Arg<'c>) -> bool {
        // SAFETY: no arguments.
        let over = unsafe { api!(RedisModule_GetUsedMemoryRatio()) > 1.0 };
        over && ClosedKey::new(self, Str::of_argument(key)).refuses_for_memory()
    }

    /// Whether the server runs in cluster mode. That does not change while it runs.
    pub fn is_cluster(self) -> bool {
        static CLUSTER: OnceLock<bool> = OnceLock::new();
        *CLUSTER.get_or_init(|| {
            // SAFETY: a live context.
            let flags = unsafe { api!(RedisModule_GetContextFlags(self.raw)) };
            flags & raw::REDISMODULE_CTX_FLAGS_CLUSTER as c_int != 0
        })
    }

    pub fn reply_array(self, len: usize) {
        // SAFETY: a live context, as for all replies below.
        unsafe { api!(RedisModule_ReplyWithArray(self.raw, len as _)) };
    }

    /// A map of `len` pairs on RESP3, a flat array of twice as many elements on RESP2.
    pub fn reply_map(self, len: usize) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithMap(self.raw, len as _)) };
    }

    pub fn reply_integer(self, n: i64) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithLongLong(self.raw, n)) };
    }

    /// Saturates at the largest integer.
    pub fn reply_unsigned(self, n: u64) {
        self.reply_integer(i64::try_from(n).unwrap_or(i64::MAX));
    }

    pub fn reply_simple(self, text: &CStr) {
        // SAFETY: as above; the server copies the text.
        unsafe { api!(RedisModule_ReplyWithSimpleString(self.raw, text.as_ptr())) };
    }

    pub fn reply_bytes(self, bytes: &[u8]) {
        // SAFETY: as above; the server copies the bytes.
        unsafe { api!(RedisModule_ReplyWithStringBuffer(self.raw, bytes.as_ptr().cast(), bytes.len())) };
    }

    pub fn reply_error(self, text: &CStr) {
        // SAFETY: as above; the server copies the text.
        unsafe { api!(RedisModule_ReplyWithError(self.raw, text.as_ptr())) };
    }

    pub fn log_warning(self, message: &str) {
        self.log(c"warning", message);
    }

    /// Logs that the server rejected a call which it must not reject.
    #[cold]
    pub fn log_rejected(self, command: &str) {
        self.log_warning(&format!("internal error: the server rejected {command}, which the module calls"));
    }

    pub fn log_notice(self, message: &str) {
        self.log(c"notice", message);
    }

    /// (The log of the redis-module crate takes a message for a format: `%s` in it would read another place of the memory.)
    fn log(self, level: &CStr, message: &str) {
        let message = CString::new(message.replace('\0', "?")).unwrap_or_default();
        // SAFETY: a live context; the format takes the one string given.
        unsafe { api!(RedisModule_Log(self.raw, level.as_ptr(), c"%s".as_ptr(), message.as_ptr())) };
    }
}

/// A string of the server: an argument of the call, or a string that the module created and frees.
pub struct Str<'c> {
    raw: *mut raw::RedisModuleString,
    owned: bool,
    call: PhantomData<&'c [u8]>,
}

impl<'c> Str<'c> {
    /// # Safety
    /// `raw` is a string that lives for `'c`.
    unsafe fn borrowed(raw: *mut raw::RedisModuleString) -> Self {
        Self { raw, owned: false, call: PhantomData }
    }

    /// # Safety
    /// `raw` is a string with one reference, which the result owns.
    unsafe fn owned(raw: *mut raw::RedisModuleString) -> Self {
        Self { raw, owned: true, call: PhantomData }
    }

    /// An argument of the call, which lives as long as the call.
    pub fn of_argument(argument: Arg<'c>) -> Self {
        // SAFETY: arguments live as long as the call.
        unsafe { Self::borrowed(argument.0) }
    }

    pub fn new(bytes: &[u8]) -> Self {
        // SAFETY: the server copies the bytes; without a context, only this module frees the string.
        unsafe { Self::owned(api!(RedisModule_CreateString(std::ptr::null_mut(), bytes.as_ptr().cast(), bytes.len()))) }
    }

    /// A new string: the parts, joined.
    pub fn concat<const N: usize>(parts: [&[u8]; N]) -> Self {
        let mut short = ArrayVec::<u8, 256>::new();
        if parts.iter().all(|part| short.try_extend_from_slice(part).is_ok()) {
            Self::new(&short)
        } else {
            Self::new(&parts.concat())
        }
    }

    /// The same string once more, which lives on when this one does not. The bytes are not copied.
    pub fn duplicate(&self) -> Self {
        // SAFETY: a live string; without a context, only this module gives the new reference back.
        unsafe { Self::owned(api!(RedisModule_HoldString(std::ptr::null_mut(), self.raw))) }
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the string lives as long as self, and nothing writes to it.
        unsafe { bytes_of(self.raw) }
    }
}

impl AsRef<[u8]> for Str<'_> {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl Drop for Str<'_> {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: created without a context, owned, and dropped once.
            unsafe { api!(RedisModule_FreeString(std::ptr::null_mut(), self.raw)) };
        }
    }
}

/// A constant string, created once and never freed. To create and free one costs 300 instructions.
pub struct Word {
    bytes: &'static [u8],
    string: AtomicPtr<raw::RedisModuleString>,
}

impl Word {
    pub const fn new(bytes: &'static [u8]) -> Self {
        Self { bytes, string: AtomicPtr::new(std::ptr::null_mut()) }
    }

    pub fn get(&self) -> Str<'static> {
        let mut string = self.string.load(Ordering::Relaxed);
        if string.is_null() {
            let new = std::mem::ManuallyDrop::new(Str::new(self.bytes));
            string = new.raw;
            self.string.store(string, Ordering::Relaxed);
        }
        // SAFETY: it is never freed.
        unsafe { Str::borrowed(string) }
    }
}

/// An argument of the call.
#[derive(Clone, Copy)]
pub struct Arg<'c>(*mut raw::RedisModuleString, PhantomData<&'c [u8]>);

impl<'c> Arg<'c> {
    pub fn bytes(self) -> &'c [u8] {
        // SAFETY: arguments live as long as the call.
        unsafe { bytes_of(self.0) }
    }
}

/// # Safety
/// `string` is live for `'a` and not written to.
unsafe fn bytes_of<'a>(string: *mut raw::RedisModuleString) -> &'a [u8] {
    let mut len = 0;
    // SAFETY: a live string; the result is its buffer (never null) and the length of that.
    unsafe {
        let start = api!(RedisModule_StringPtrLen(string, &mut len));
        std::slice::from_raw_parts(start.cast(), len)
    }
}

/// The arguments of the call, from the first after the name of the command.
#[derive(Clone)]
pub struct Args<'c>(std::slice::Iter<'c, *mut raw::RedisModuleString>);

impl<'c> Args<'c> {
    /// # Safety
    /// `argv` and `argc` are those the server gave to the handler whose call outlives `'c`.
    unsafe fn new(argv: *mut *mut raw::RedisModuleString, argc: c_int) -> Self {
        let count = usize::try_from(argc).unwrap_or(0);
        // SAFETY: argv points to argc live strings.
        let all = unsafe { std::slice::from_raw_parts(argv, count) };
        Self(all.get(1..).unwrap_or_default().iter())
    }
}

impl<'c> Args<'c> {
    pub fn next_word(&mut self) -> Option<&'c [u8]> {
        self.next().map(Arg::bytes)
    }

    /// How many arguments are still to come.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }
}

impl<'c> Iterator for Args<'c> {
    type Item = Arg<'c>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|&raw| Arg(raw, PhantomData))
    }
}
