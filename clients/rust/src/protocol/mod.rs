//! Which command is sent next: the module's, or a Lua script if the server has no module. No input and no output happens
//! here.

mod command;
pub mod reply;
mod scripts;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use redis::{Cmd, RedisError, Value};
use redis_rl_algorithm::Micros;

pub use command::{Call, Verb};

use crate::decision::{millis, wall_ms};
use crate::error::Error;

/// How often a request looks for the module on a server that had none.
const PROBE_EVERY_MS: u64 = 5_000;

/// What is known of the server.
#[derive(Debug)]
pub struct Server {
    began: Instant,
    /// When the module was last missed, in ms since `began`, from 1; 0 if it was not.
    missed_at: AtomicU64,
    /// Without the module there is no decision.
    requires_module: bool,
    /// The server is one of a cluster, as far as known.
    in_cluster: AtomicBool,
    /// How far the server's clock is ahead of that of this machine, in ms, as far as known.
    ahead_ms: AtomicI64,
}

impl Server {
    pub fn new(requires_module: bool, in_cluster: bool) -> Self {
        let (began, in_cluster) = (Instant::now(), AtomicBool::new(in_cluster));
        Self { began, missed_at: AtomicU64::new(0), requires_module, in_cluster, ahead_ms: AtomicI64::new(0) }
    }

    /// The server's clock.
    pub fn clock(&self) -> Micros {
        Micros::from_millis(wall_ms().saturating_add_signed(self.ahead_ms.load(Ordering::Relaxed)))
    }

    /// Takes notice of the server's clock.
    pub fn set_clock(&self, now_ms: u64) {
        self.ahead_ms.store(now_ms.wrapping_sub(wall_ms()).cast_signed(), Ordering::Relaxed);
    }

    fn lacks_module(&self) -> bool {
        self.missed_at.load(Ordering::Relaxed) != 0
    }

    /// Notes that the module is not there.
    fn misses_module(&self) {
        if self.missed_at.swap(self.now(), Ordering::Relaxed) == 0 {
            tracing::warn!(
                "no module: the Lua scripts decide, at a higher cost for the server. What a worker that died has reserved \
                 comes back when its window ends, and a settlement sent twice charges twice: docs/hosted.md"
            );
        }
    }

    /// To be called when a connection failed: behind the next one may be another server, with the module.
    pub fn forget(&self) {
        self.missed_at.store(0, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        millis(self.began.elapsed()).saturating_add(1)
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

/// What a call does next.
pub enum Step {
    /// It sends a command.
    Send(Cmd),
    /// It has its result.
    Done(Result<Value, Error>),
}

/// One call, which takes one command as a rule, and up to three on a server without the module; one more if the server turns
/// out to be one of a cluster.
pub struct Exchange<'a> {
    call: Call<'a>,
    server: &'a Server,
    sent: Sent,
    /// Whether the script has the keys of a cluster.
    in_cluster: bool,
}

impl<'a> Exchange<'a> {
    pub fn new(call: Call<'a>, server: &'a Server) -> Self {
        Self { call, server, sent: Sent::Nothing, in_cluster: false }
    }

    /// The first step, without a reply, or the one after a reply.
    pub fn step(&mut self, reply: Option<Result<Value, Error>>) -> Step {
        match (self.sent, reply) {
            (Sent::Nothing, _) if self.server.tries_module() => {
                self.sent = Sent::Native;
                Step::Send(self.call.native(self.server.in_cluster.load(Ordering::Relaxed)))
            }
            (Sent::Nothing, _) => self.send_script(Sent::Hash),
            (sent, Some(Ok(value))) => {
                if sent == Sent::Native && self.call.shows_module() && self.server.lacks_module() {
                    self.server.forget();
                }
                Step::Done(Ok(value))
            }
            (Sent::Native, Some(Err(Error::Redis(error)))) if is_unknown_command(&error) => {
                self.server.misses_module();
                self.send_script(Sent::Hash)
            }
            (Sent::Hash, Some(Err(Error::Redis(error)))) if error.code() == Some("NOSCRIPT") => {
                self.send_script(Sent::Source)
            }
            // A script that replies so has changed nothing.
            (sent @ (Sent::Hash | Sent::Source), Some(Err(Error::Redis(error))))
                if !self.in_cluster && is_of_cluster(&error) =>
            {
                self.server.in_cluster.store(true, Ordering::Relaxed);
                self.send_script(sent)
            }
            (_, reply) => Step::Done(reply.unwrap_or(Err(Error::UnknownReply))),
        }
    }

    fn send_script(&mut self, sent: Sent) -> Step {
        if self.server.requires_module {
            return Step::Done(Err(Error::NeedsModule));
        }
        let Some(script) = self.call.script() else { return Step::Done(Err(Error::UnknownReply)) };
        self.sent = sent;
        let [name, text] = if sent == Sent::Source { ["EVAL", &script.source] } else { ["EVALSHA", &script.hash] };
        self.in_cluster = self.server.in_cluster.load(Ordering::Relaxed);
        self.call.scripted(name, text, self.in_cluster).map_or_else(|error| Step::Done(Err(error)), Step::Send)
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

/// Whether an error of a script says that the server is one of a cluster: FIXED names another key there.
fn is_of_cluster(error: &RedisError) -> bool {
    error.code() == Some("CROSSSLOT")
        || error.detail().is_some_and(|detail| detail.contains("non local key") || detail.contains("same slot"))
}

#[cfg(test)]
#[path = "tests/vectors.rs"]
mod vectors;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use redis::parse_redis_value;

    use super::vectors::words;
    use super::*;
    use crate::policy::Policy;

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
            match exchange.step(last) {
                Step::Done(result) => return (sent, result),
                Step::Send(command) => sent.push(words(&command).swap_remove(0)),
            }
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
            // The script is asked once more, with other keys.
            (vec![MISSING, NOT_LOADED, "-CROSSSLOT no", ":1"], &["RL.TOKEN", "EVALSHA", "EVAL", "EVAL"], true),
            (vec![MISSING, "-CROSSSLOT no", "-CROSSSLOT no"], &["RL.TOKEN", "EVALSHA", "EVALSHA"], true),
            (vec![MISSING, "-NOPERM no 'evalsha'"], &["RL.TOKEN", "EVALSHA"], true),
            // Another unknown command says nothing about the module, and no other error does.
            native("-ERR unknown command 'SENTINEL', with args beginning with: "),
            native("-ERR the key holds a value that this algorithm did not write"),
            native("-NOPERM no"),
            native(NOT_LOADED),
        ] {
            let server = Server::new(false, false);
            let (sent, result) = exchange(&server, &POLICY, &replies);
            assert!(sent.iter().eq(commands) && server.lacks_module() == lacks_module, "{replies:?}: {sent:?}");
            assert_eq!(result.is_ok(), replies.last() == Some(&":1"), "{replies:?}");
            // From then on it is one command.
            let next = if lacks_module { "EVALSHA" } else { "RL.TOKEN" };
            assert_eq!(exchange(&server, &POLICY, &[":1"]).0, [next], "{replies:?}");
        }
        let server = Server::new(true, false);
        for sent in [vec![MISSING], vec![]] {
            let (commands, result) = exchange(&server, &POLICY, &sent);
            assert_eq!(commands.len(), sent.len());
            assert!(matches!(result, Err(Error::NeedsModule)));
        }
    }

    #[test]
    fn the_module_is_looked_for_again_after_a_while() {
        // Since ten seconds: the time of the last miss can lie before now.
        let server = Server { began: Instant::now() - Duration::from_secs(10), ..Server::new(false, false) };
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
