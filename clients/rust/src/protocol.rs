//! Which command is sent next: the module's, or that of the Lua library if the server has no module. No input and no
//! output happens here, so the limiters with and without an async runtime share it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::{Cmd, RedisError, RedisResult, Script as RedisScript, Value};

use crate::command::{Call, FULL, LINE, Script};
use crate::error::{Error, is_connection_error};
use crate::policy::Algorithm;

/// The library. In the repository it is a link to `lua/rl.lua`; cargo packs the file itself.
const SOURCE: &str = include_str!("rl.lua");

/// How often a request looks for the module on a server that had none.
const PROBE_EVERY: Duration = Duration::from_secs(5);

fn hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| RedisScript::new(SOURCE).get_hash().to_owned())
}

/// What is known of the server.
#[derive(Debug)]
pub struct Server {
    began: Instant,
    probe_every: Duration,
    /// When the module was last missed, in ms since `began`, from 1; 0 if it was not.
    missed_at: AtomicU64,
    /// Whether the module is so old that it does not know LINE.
    knows_no_line: AtomicBool,
    /// When WINDOW was last missed in a module that is there, as `missed_at`. The library decides on such requests then.
    window_missed_at: AtomicU64,
}

impl Server {
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
            probe_every: PROBE_EVERY,
            missed_at: AtomicU64::new(0),
            knows_no_line: AtomicBool::new(false),
            window_missed_at: AtomicU64::new(0),
        }
    }

    /// Whether the module is not there, as far as known.
    pub fn lacks_module(&self) -> bool {
        self.missed_at.load(Ordering::Relaxed) != 0
    }

    /// To be called when a connection failed: behind the next one may be another server, with the module.
    pub fn forget(&self) {
        self.missed_at.store(0, Ordering::Relaxed);
        self.knows_no_line.store(false, Ordering::Relaxed);
        self.window_missed_at.store(0, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Whether a call is sent to the module: one every few seconds is if the server had none, or none with WINDOW.
    fn tries_module(&self, call: &Call<'_>) -> bool {
        // Without the library, only the module can say what is wrong.
        let needs_window = call.uses(Algorithm::Window) && call.needs_module().is_none();
        self.tries(&self.missed_at) && (!needs_window || self.tries(&self.window_missed_at))
    }

    fn tries(&self, missed: &AtomicU64) -> bool {
        let (missed_at, now) = (missed.load(Ordering::Relaxed), self.now());
        let probe_ms = u64::try_from(self.probe_every.as_millis()).unwrap_or(u64::MAX);
        missed_at == 0
            || (now.saturating_sub(missed_at) >= probe_ms
                && missed.compare_exchange(missed_at, now, Ordering::Relaxed, Ordering::Relaxed).is_ok())
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
    Line,
    Full,
    /// RL.PEEK, which every module has, after RL.WINDOW was unknown.
    Peek,
    Hash,
    Source,
}

/// One call, which takes one command as a rule, and up to four on a server without the module or with an older one.
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
            // The module is there, whatever it replies.
            Some(Ok(_)) if self.sent == Sent::Peek => return self.send_without_window(),
            Some(Ok(value)) => {
                if matches!(self.sent, Sent::Line | Sent::Full) && self.call.uses(Algorithm::Window) {
                    self.server.window_missed_at.store(0, Ordering::Relaxed);
                }
                if matches!(self.sent, Sent::Line | Sent::Full) && self.server.lacks_module() {
                    self.server.missed_at.store(0, Ordering::Relaxed);
                }
                // It is the form that was wrong, not the request.
                if self.sent == Sent::Full && self.call.has_form() {
                    self.server.knows_no_line.store(true, Ordering::Relaxed);
                }
                return Step::Done(Ok(value));
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        match (self.sent, error) {
            (Sent::Nothing, _) if self.server.tries_module(&self.call) => {
                if self.server.knows_no_line.load(Ordering::Relaxed) { self.send_full() } else { self.send_line() }
            }
            (Sent::Nothing, _) => self.send_hash(),
            // An error in the arguments comes before anything is executed.
            (Sent::Line, Some(error)) if is_syntax_error(&error) && self.call.has_form() => self.send_full(),
            (Sent::Line | Sent::Full | Sent::Peek, Some(error)) if is_unknown_command(&error) => {
                // An older module has the other commands.
                if let (Call::Check(request), false) = (self.call, self.sent == Sent::Peek)
                    && request.policy.algorithm() == Algorithm::Window
                {
                    self.sent = Sent::Peek;
                    return Step::Send(Call::Peek(request).native(LINE));
                }
                self.server.missed_at.store(self.server.now(), Ordering::Relaxed);
                self.send_hash()
            }
            (Sent::Peek, Some(error)) if !is_connection_error(&error) => self.send_without_window(),
            (Sent::Line | Sent::Full, Some(error))
                if is_unknown_window(&error)
                    && self.call.uses(Algorithm::Window)
                    && self.call.needs_module().is_none() =>
            {
                self.send_without_window()
            }
            (Sent::Hash, Some(error)) if error.code() == Some("NOSCRIPT") => {
                self.sent = Sent::Source;
                Step::Send(self.call.script(Script::Source(SOURCE)))
            }
            (_, Some(error)) => Step::Done(Err(error.into())),
            (_, None) => Step::Done(Err(Error::UnknownReply)),
        }
    }

    fn send_line(&mut self) -> Step {
        self.sent = Sent::Line;
        Step::Send(self.call.native(LINE))
    }

    fn send_full(&mut self) -> Step {
        self.sent = Sent::Full;
        Step::Send(self.call.native(FULL))
    }

    /// The library shares its keys with an older module.
    fn send_without_window(&mut self) -> Step {
        self.server.window_missed_at.store(self.server.now(), Ordering::Relaxed);
        self.send_hash()
    }

    fn send_hash(&mut self) -> Step {
        if let Some(algorithm) = self.call.needs_module() {
            return Step::Done(Err(Error::NeedsModule(algorithm)));
        }
        self.sent = Sent::Hash;
        Step::Send(self.call.script(Script::Hash(hash())))
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

/// `ERR invalid algorithm: expected one of FIXED, SLIDING, …`, of a module that does not name WINDOW. RL.MULTI names the
/// limit before.
fn is_unknown_window(error: &RedisError) -> bool {
    error.code() == Some("ERR")
        && error.detail().is_some_and(|detail| {
            detail.contains("invalid algorithm: expected one of") && !detail.contains(Algorithm::Window.word())
        })
}

/// `ERR syntax error: after limit come COST n, …`, of a module that does not name LINE.
fn is_syntax_error(error: &RedisError) -> bool {
    error.code() == Some("ERR")
        && error.detail().is_some_and(|detail| detail.starts_with("syntax error") && !detail.contains(LINE))
}

#[cfg(test)]
mod tests {
    use redis::parse_redis_value;

    use super::*;
    use crate::policy::Policy;

    const POLICY: Policy = Policy::token(Duration::from_secs(60), 5);

    fn reply(text: &str) -> Option<RedisResult<Value>> {
        Some(parse_redis_value(format!("{text}\r\n").as_bytes()).and_then(Value::extract_error))
    }

    /// The names of the commands that a call sends if these are the replies, and how it ends.
    fn exchange(server: &Server, policy: &Policy, replies: &[&str]) -> (Vec<String>, Result<Value, Error>) {
        let request = policy.request("k");
        let mut exchange = Exchange::new(Call::Check(&request), server);
        let (mut sent, mut replies) = (Vec::new(), replies.iter());
        let mut last = None;
        loop {
            match exchange.step(last) {
                Step::Done(result) => return (sent, result),
                Step::Send(command) => {
                    let name = command.args_iter().next();
                    let Some(redis::Arg::Simple(name)) = name else { panic!("a command without a name") };
                    sent.push(String::from_utf8_lossy(name).into_owned());
                    last = reply(replies.next().expect("no more commands"));
                }
            }
        }
    }

    #[test]
    fn an_older_module_is_asked_for_the_full_form() {
        const OLD: &str = "-ERR syntax error: after limit come COST n, FULL or HEADERS, each at most once";
        let form = |server: &Server| {
            let request = POLICY.request("k");
            let Step::Send(command) = Exchange::new(Call::Check(&request), server).step(None) else {
                panic!("nothing is sent")
            };
            let Some(redis::Arg::Simple(form)) = command.args_iter().last() else { panic!("no form") };
            String::from_utf8_lossy(form).into_owned()
        };
        let server = Server::new();
        assert_eq!(form(&server), LINE);
        let (sent, result) = exchange(&server, &POLICY, &[OLD, ":1"]);
        assert!(sent.len() == 2 && result.is_ok());
        assert_eq!((form(&server), exchange(&server, &POLICY, &[":1"]).0.len()), (FULL.to_owned(), 1));
        // Behind another connection may be another module.
        server.forget();
        assert_eq!(form(&server), LINE);
        // An error about the request says nothing about the form.
        let (sent, result) = exchange(&server, &POLICY, &[OLD, OLD]);
        assert!(sent.len() == 2 && result.is_err() && form(&server) == LINE);
        let (sent, _) = exchange(&server, &POLICY, &["-ERR syntax error: FULL, LINE or HEADERS comes last"]);
        assert_eq!(sent.len(), 1);
    }

    const MISSING: &str = "-ERR unknown command 'RL.TOKEN', with args beginning with: 'k'";
    const NOT_LOADED: &str = "-NOSCRIPT No matching script. Please use EVAL.";

    #[test]
    fn the_library_is_used_if_the_module_is_missing_and_loaded_if_it_is_too() {
        let server = Server::new();
        let (sent, result) = exchange(&server, &POLICY, &[MISSING, NOT_LOADED, ":1"]);
        assert_eq!(sent, ["RL.TOKEN", "EVALSHA", "EVAL"]);
        assert!(matches!(result, Ok(Value::Int(1))) && server.lacks_module());
        // From then on it is one command.
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["EVALSHA"]);
    }

    #[test]
    fn another_unknown_command_says_nothing_about_the_module() {
        let server = Server::new();
        let (sent, result) =
            exchange(&server, &POLICY, &["-ERR unknown command 'SENTINEL', with args beginning with: "]);
        assert!(sent == ["RL.TOKEN"] && result.is_err() && !server.lacks_module());
        for missing in ["-ERR unknown command `rl.token`, with args beginning with: `k`", "-ERR unknown command"] {
            let server = Server::new();
            assert_eq!(exchange(&server, &POLICY, &[missing, ":1"]).0, ["RL.TOKEN", "EVALSHA"], "{missing}");
        }
    }

    #[test]
    fn an_older_module_is_not_a_missing_one() {
        const WINDOW: Policy = Policy::window_counter(Duration::from_secs(60), 5);
        const UNKNOWN: &str = "-ERR unknown command 'RL.WINDOW', with args beginning with: 'k'";
        const NO_SUCH: &str = "-ERR invalid algorithm: expected one of FIXED, SLIDING, COUNTER, TOKEN";
        let server = Server { probe_every: Duration::from_millis(300), ..Server::new() };
        let (sent, result) = exchange(&server, &WINDOW, &[UNKNOWN, NO_SUCH, ":1"]);
        assert_eq!(sent, ["RL.WINDOW", "RL.PEEK", "EVALSHA"]);
        assert!(result.is_ok() && !server.lacks_module());
        // The library decides on WINDOW from then on, and the module on all others.
        assert_eq!(exchange(&server, &WINDOW, &[":1"]).0, ["EVALSHA"]);
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["RL.TOKEN"]);
        std::thread::sleep(Duration::from_millis(301));
        assert_eq!(exchange(&server, &WINDOW, &[":1"]).0, ["RL.WINDOW"]);
        assert_eq!(exchange(&server, &WINDOW, &[":1"]).0, ["RL.WINDOW"]);
        // A server without the module knows RL.PEEK neither.
        let (sent, _) = exchange(&server, &WINDOW, &[UNKNOWN, "-ERR unknown command 'RL.PEEK'", ":1"]);
        assert_eq!(sent, ["RL.WINDOW", "RL.PEEK", "EVALSHA"]);
        assert!(server.lacks_module());
    }

    #[test]
    fn several_limits_with_window_are_for_the_library_of_an_older_module() {
        const NO_SUCH: &str = "-ERR limit 2: invalid algorithm: expected one of FIXED, SLIDING, COUNTER, TOKEN";
        let (window, log) =
            (Policy::window_counter(Duration::from_secs(60), 5), Policy::rolling(Duration::from_secs(60), 5));
        let server = Server::new();
        let both = [POLICY.request("{k}1"), window.request("{k}2")];
        let mut exchange = Exchange::new(Call::CheckAll(&both), &server);
        assert!(matches!(exchange.step(None), Step::Send(_)));
        let Step::Send(command) = exchange.step(reply(NO_SUCH)) else { panic!("nothing is sent") };
        assert_eq!(command.args_iter().next(), Some(redis::Arg::Simple(b"EVALSHA".as_slice())));
        // With ROLLING there is only the module, and its error.
        let both = [log.request("{k}1"), window.request("{k}2")];
        let mut exchange = Exchange::new(Call::CheckAll(&both), &server);
        assert!(matches!(exchange.step(None), Step::Send(_)));
        assert!(matches!(exchange.step(reply(NO_SUCH)), Step::Done(Err(Error::Redis(_)))));
        assert!(!server.lacks_module());
    }

    #[test]
    fn the_module_is_looked_for_again_after_a_while() {
        let server = Server { probe_every: Duration::from_millis(300), ..Server::new() };
        exchange(&server, &POLICY, &[MISSING, ":1"]).1.unwrap();
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["EVALSHA"]);
        std::thread::sleep(Duration::from_millis(301));
        // One request looks; it is not there.
        assert_eq!(exchange(&server, &POLICY, &[MISSING, ":1"]).0, ["RL.TOKEN", "EVALSHA"]);
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["EVALSHA"]);
        std::thread::sleep(Duration::from_millis(301));
        // Now it is.
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["RL.TOKEN"]);
        assert!(!server.lacks_module());
        assert_eq!(exchange(&server, &POLICY, &[":1"]).0, ["RL.TOKEN"]);
    }

    #[test]
    fn other_errors_are_not_a_missing_module() {
        let server = Server::new();
        for error in ["-ERR the key holds a value that this algorithm did not write", "-NOPERM no", NOT_LOADED] {
            let (sent, result) = exchange(&server, &POLICY, &[error]);
            assert_eq!(sent, ["RL.TOKEN"]);
            assert!(matches!(result, Err(Error::Redis(_))) && !server.lacks_module());
        }
        let log = Policy::rolling(Duration::from_secs(60), 5);
        let (sent, result) = exchange(&server, &log, &[MISSING]);
        assert_eq!(sent, ["RL.ROLLING"]);
        assert!(matches!(result, Err(Error::NeedsModule(Algorithm::Rolling))));
        assert!(exchange(&server, &log, &[]).0.is_empty());
    }
}
