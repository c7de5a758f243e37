//! Which command is sent next: the module's, or that of the Lua library if the server has no module. No input and no
//! output happens here, so the limiters with and without an async runtime share it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::{Cmd, RedisError, RedisResult, Script as RedisScript, Value};

use crate::command::{Call, Script};
use crate::error::Error;

/// The library. A copy of `lua/rl.lua`; `tests/client/package.rs` compares the two.
const SOURCE: &str = include_str!("rl.lua");

/// How often a request looks for the module on a server that had none.
const PROBE_EVERY: Duration = Duration::from_secs(60);

fn hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| RedisScript::new(SOURCE).get_hash().to_owned())
}

/// What is known of the server.
#[derive(Debug)]
pub struct Server {
    began: Instant,
    /// When the module was last missed, in ms since `began`, from 1; 0 if it was not.
    missed_at: AtomicU64,
}

impl Server {
    pub fn new() -> Self {
        Self { began: Instant::now(), missed_at: AtomicU64::new(0) }
    }

    /// Whether the module is not there, as far as known.
    pub fn lacks_module(&self) -> bool {
        self.missed_at.load(Ordering::Relaxed) != 0
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Whether the next request is for the module: one each minute is if the server had none.
    fn tries_module(&self) -> bool {
        let (missed_at, now) = (self.missed_at.load(Ordering::Relaxed), self.now());
        let probe_ms = u64::try_from(PROBE_EVERY.as_millis()).unwrap_or(u64::MAX);
        missed_at == 0
            || (now.saturating_sub(missed_at) >= probe_ms
                && self.missed_at.compare_exchange(missed_at, now, Ordering::Relaxed, Ordering::Relaxed).is_ok())
    }
}

/// What a limiter does next.
pub enum Step {
    /// Send this command and hand over its reply.
    Send(Cmd),
    /// The call has ended.
    Done(Result<Value, Error>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    Nothing,
    Native,
    Hash,
    Source,
}

/// One call, which takes one command as a rule, and up to three on a server without the module.
pub struct Exchange<'a> {
    call: Call<'a>,
    server: &'a Server,
    sent: Sent,
}

impl<'a> Exchange<'a> {
    pub fn new(call: Call<'a>, server: &'a Server) -> Self {
        Self { call, server, sent: Sent::Nothing }
    }

    /// The first step, without a reply, or the one after a reply.
    pub fn step(&mut self, reply: Option<RedisResult<Value>>) -> Step {
        let error = match reply {
            Some(Ok(value)) => {
                if self.sent == Sent::Native {
                    self.server.missed_at.store(0, Ordering::Relaxed);
                }
                return Step::Done(Ok(value));
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        match (self.sent, error) {
            (Sent::Nothing, _) if self.server.tries_module() => {
                self.sent = Sent::Native;
                Step::Send(self.call.native())
            }
            (Sent::Nothing, _) => self.send_hash(),
            (Sent::Native, Some(error)) if is_unknown_command(&error) => {
                self.server.missed_at.store(self.server.now(), Ordering::Relaxed);
                self.send_hash()
            }
            (Sent::Hash, Some(error)) if error.code() == Some("NOSCRIPT") => {
                self.sent = Sent::Source;
                Step::Send(self.call.script(Script::Source(SOURCE)))
            }
            (_, Some(error)) => Step::Done(Err(error.into())),
            (_, None) => Step::Done(Err(Error::UnknownReply)),
        }
    }

    fn send_hash(&mut self) -> Step {
        if let Some(algorithm) = self.call.needs_module() {
            return Step::Done(Err(Error::NeedsModule(algorithm)));
        }
        self.sent = Sent::Hash;
        Step::Send(self.call.script(Script::Hash(hash())))
    }
}

/// `ERR unknown command 'RL.TOKEN', …`
fn is_unknown_command(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.to_ascii_lowercase().starts_with("unknown command"))
}
