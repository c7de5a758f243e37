//! Which command is sent next: the module's, or that of the Lua library if the server has no module. No input and no
//! output happens here.

mod command;
mod commands;
pub mod joined;
pub mod reply;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use redis::{RedisError, Script, Value};

pub use command::{Call, Verb};
#[cfg(test)]
pub use commands::parse;
pub use commands::{Commands, Parts};

use crate::error::Error;

/// The library. In the repository it is a link to `lua/rl.lua`; cargo packs the file itself.
const SOURCE: &str = include_str!("rl.lua");

/// How often a request looks for the module on a server that had none.
const PROBE_EVERY_MS: u64 = 5_000;

static HASH: LazyLock<String> = LazyLock::new(|| Script::new(SOURCE).get_hash().to_owned());

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

    /// To be called when a connection failed: behind the next one may be another server, with the module.
    pub fn forget(&self) {
        self.missed_at.store(0, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Whether a call is sent to the module: one every few seconds is if the server had none.
    fn tries_module(&self) -> bool {
        let missed_at = self.missed_at.load(Ordering::Relaxed);
        if missed_at == 0 {
            return true;
        }
        let now = self.now();
        now.saturating_sub(missed_at) >= PROBE_EVERY_MS
            && self.missed_at.compare_exchange(missed_at, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
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

    /// The first step, without a reply, or the one after a reply. `None` if it has added a command, which is to be sent;
    /// else the result of the call.
    pub fn step(
        &mut self,
        reply: Option<Result<Value, Error>>,
        commands: &mut Commands,
    ) -> Option<Result<Value, Error>> {
        match (self.sent, reply) {
            (Sent::Nothing, _) if self.server.tries_module() => {
                self.sent = Sent::Native;
                self.call.native(commands);
                None
            }
            (Sent::Nothing, _) => self.send_hash(commands),
            (sent, Some(Ok(value))) => {
                if sent == Sent::Native && self.server.lacks_module() {
                    self.server.forget();
                }
                Some(Ok(value))
            }
            (Sent::Native, Some(Err(Error::Redis(error)))) if is_unknown_command(&error) => {
                self.server.missed_at.store(self.server.now(), Ordering::Relaxed);
                self.send_hash(commands)
            }
            (Sent::Hash, Some(Err(Error::Redis(error)))) if error.code() == Some("NOSCRIPT") => {
                self.sent = Sent::Source;
                self.call.script("EVAL", SOURCE, commands);
                None
            }
            (_, reply) => Some(reply.unwrap_or(Err(Error::UnknownReply))),
        }
    }

    /// Adds the command of a call that nobody waits for. `false` if the server cannot execute it.
    pub fn settle(&mut self, commands: &mut Commands) -> bool {
        if self.server.lacks_module() {
            return self.send_hash(commands).is_none();
        }
        self.call.native(commands);
        true
    }

    fn send_hash(&mut self, commands: &mut Commands) -> Option<Result<Value, Error>> {
        if let Some(algorithm) = self.call.needs_module() {
            return Some(Err(Error::NeedsModule(algorithm)));
        }
        self.sent = Sent::Hash;
        self.call.script("EVALSHA", &HASH, commands);
        None
    }
}

/// `ERR unknown command 'RL.TOKEN', …`. Another name is that of a command that opens the connection, such as SENTINEL.
fn is_unknown_command(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| {
        let detail = detail.to_ascii_lowercase();
        // Between ' or, of older servers, `.
        let name = detail.strip_prefix("unknown command").map(|rest| rest.trim_start_matches([' ', '\'', '`']));
        name.is_some_and(|name| name.is_empty() || name.starts_with("rl."))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use redis::parse_redis_value;

    use super::*;
    use crate::policy::{Algorithm, Policy};

    const POLICY: Policy = Policy::token(Duration::from_secs(60), 5);

    fn reply(text: &str) -> Result<Value, Error> {
        Ok(parse_redis_value(format!("{text}\r\n").as_bytes()).and_then(Value::extract_error)?)
    }

    /// The names of the commands that a call sends if these are the replies, and how it ends.
    fn exchange(server: &Server, policy: &Policy, replies: &[&str]) -> (Vec<String>, Result<Value, Error>) {
        let request = policy.request("k");
        let mut exchange = Exchange::new(Call::of(Verb::Check, &request), server);
        let (mut sent, mut replies) = (Vec::new(), replies.iter());
        let mut last = None;
        loop {
            let mut commands = Commands::default();
            if let Some(result) = exchange.step(last, &mut commands) {
                return (sent, result);
            }
            let command = parse(commands.bytes()).expect("a command");
            let name = command.args_iter().next();
            let Some(redis::Arg::Simple(name)) = name else { panic!("a command without a name") };
            sent.push(String::from_utf8_lossy(name).into_owned());
            last = Some(reply(replies.next().expect("no more commands")));
        }
    }

    const MISSING: &str = "-ERR unknown command 'RL.TOKEN', with args beginning with: 'k'";
    const NOT_LOADED: &str = "-NOSCRIPT No matching script. Please use EVAL.";

    #[test]
    fn the_library_is_used_if_the_module_is_missing_and_loaded_if_it_is_too() {
        let native = |error| (vec![error], &["RL.TOKEN"][..], false);
        let library = |error| (vec![error, ":1"], &["RL.TOKEN", "EVALSHA"][..], true);
        for (replies, commands, lacks_module) in [
            (vec![":1"], &["RL.TOKEN"][..], false),
            (vec![MISSING, NOT_LOADED, ":1"], &["RL.TOKEN", "EVALSHA", "EVAL"], true),
            library("-ERR unknown command `rl.token`, with args beginning with: `k`"),
            library("-ERR unknown command"),
            // Another unknown command says nothing about the module, and no other error does.
            native("-ERR unknown command 'SENTINEL', with args beginning with: "),
            native("-ERR the key holds a value that this algorithm did not write"),
            native("-NOPERM no"),
            native(NOT_LOADED),
        ] {
            let server = Server::new();
            let (sent, result) = exchange(&server, &POLICY, &replies);
            assert_eq!((sent.as_slice(), server.lacks_module()), (&*own(commands), lacks_module), "{replies:?}");
            assert_eq!(result.is_ok(), replies.last() == Some(&":1"), "{replies:?}");
            // From then on it is one command.
            let next = if lacks_module { "EVALSHA" } else { "RL.TOKEN" };
            assert_eq!(exchange(&server, &POLICY, &[":1"]).0, [next], "{replies:?}");
        }
        let (server, log) = (Server::new(), Policy::rolling(Duration::from_secs(60), 5));
        for sent in [vec![MISSING], vec![]] {
            let (commands, result) = exchange(&server, &log, &sent);
            assert_eq!(commands.len(), sent.len());
            assert!(matches!(result, Err(Error::NeedsModule(Algorithm::Rolling))));
        }
    }

    fn own(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn the_module_is_looked_for_again_after_a_while() {
        // Since ten seconds: the time of the last miss can lie before now.
        let server = Server { began: Instant::now() - Duration::from_secs(10), ..Server::new() };
        let pass = |millis| server.missed_at.fetch_sub(millis, Ordering::Relaxed);
        exchange(&server, &POLICY, &[MISSING, ":1"]).1.unwrap();
        pass(PROBE_EVERY_MS);
        // One request looks; it is not there.
        assert_eq!(exchange(&server, &POLICY, &[MISSING, ":1"]).0, ["RL.TOKEN", "EVALSHA"]);
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["EVALSHA"]);
        pass(PROBE_EVERY_MS);
        // Now it is.
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["RL.TOKEN"]);
        assert!(!server.lacks_module());
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["RL.TOKEN"]);
    }
}
