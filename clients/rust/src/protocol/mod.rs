//! Which command is sent next: the module's, or a Lua script if the server has no module. No input and no output happens
//! here.

mod command;
mod commands;
pub mod reply;
mod scripts;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use redis::{RedisError, Value};
use redis_rl_algorithm::Micros;

pub use command::{Call, Verb};
pub use commands::Commands;
#[cfg(test)]
pub use commands::words;

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

/// The clock of this machine, in ms since the epoch.
fn wall_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    Nothing,
    Native,
    Hash,
    Source,
}

/// One call, which takes one command as a rule, and up to three on a server without the module; one more if the server turns
/// out to be one of a cluster.
pub struct Exchange<'a> {
    call: Call<'a>,
    server: &'a Server,
    sent: Sent,
    /// The script was called with other keys before.
    corrected: bool,
}

impl<'a> Exchange<'a> {
    pub fn new(call: Call<'a>, server: &'a Server) -> Self {
        Self { call, server, sent: Sent::Nothing, corrected: false }
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
            (Sent::Nothing, _) => self.send_script(Sent::Hash, commands),
            (sent, Some(Ok(value))) => {
                if sent == Sent::Native && self.server.lacks_module() {
                    self.server.forget();
                }
                Some(Ok(value))
            }
            (Sent::Native, Some(Err(Error::Redis(error)))) if is_unknown_command(&error) => {
                self.server.missed_at.store(self.server.now(), Ordering::Relaxed);
                self.send_script(Sent::Hash, commands)
            }
            (Sent::Hash, Some(Err(Error::Redis(error)))) if error.code() == Some("NOSCRIPT") => {
                self.send_script(Sent::Source, commands)
            }
            // A script that replies so has changed nothing.
            (sent @ (Sent::Hash | Sent::Source), Some(Err(Error::Redis(error))))
                if !self.corrected && self.learn(&error) =>
            {
                self.corrected = true;
                self.send_script(sent, commands)
            }
            (_, reply) => Some(reply.unwrap_or(Err(Error::UnknownReply))),
        }
    }

    /// Whether an error of a script says that the server is one of a cluster, and that was not known: FIXED then names
    /// another key.
    fn learn(&self, error: &RedisError) -> bool {
        let of_cluster = error.code() == Some("CROSSSLOT")
            || error.detail().is_some_and(|detail| detail.contains("non local key") || detail.contains("same slot"));
        of_cluster && !self.server.in_cluster.swap(true, Ordering::Relaxed)
    }

    fn send_script(&mut self, sent: Sent, commands: &mut Commands) -> Option<Result<Value, Error>> {
        if self.server.requires_module {
            return Some(Err(Error::NeedsModule));
        }
        let Some(script) = self.call.script() else { return Some(Err(Error::UnknownReply)) };
        self.sent = sent;
        let [name, text] = if sent == Sent::Source { ["EVAL", script.source()] } else { ["EVALSHA", script.hash()] };
        let in_cluster = self.server.in_cluster.load(Ordering::Relaxed);
        self.call.scripted(name, text, in_cluster, commands).err().map(Err)
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
            let mut commands = Commands::default();
            if let Some(result) = exchange.step(last, &mut commands) {
                return (sent, result);
            }
            sent.push(words(&commands.bytes()).expect("a command").swap_remove(0));
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
            assert_eq!((sent.as_slice(), server.lacks_module()), (&*own(commands), lacks_module), "{replies:?}");
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

    /// Each call of vectors/scripts.json has the script, KEYS and ARGV.
    #[test]
    fn calls_of_scripts_are_those_of_the_vectors() {
        use serde_json::Value as Json;
        let vectors: Json = serde_json::from_str(include_str!("../../../../vectors/scripts.json")).expect("vectors");
        let words = |list: &Json| -> Vec<String> {
            list.as_array().expect("words").iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
        };
        let file = |name: &str| std::fs::read_to_string(format!("src/protocol/scripts/{name}.lua")).expect("a file");
        let mut seen = 0;
        for vector in vectors["calls"].as_array().expect("calls") {
            let command = words(&vector["command"]);
            let Some((verb, requests)) = parsed(&command) else { continue };
            let requests: Vec<_> = requests.iter().map(Owned::request).collect();
            let call = match verb {
                Verb::CheckAll => Call::all(&requests),
                Verb::Share => Call::share(&requests),
                verb => Call::of(verb, &requests[0]),
            };
            let (in_cluster, mut commands) = (vector["cluster"].as_bool().unwrap_or(false), Commands::default());
            let result = call.scripted("EVALSHA", "SHA", in_cluster, &mut commands);
            seen += 1;
            if let Some(error) = vector["error"].as_str() {
                let found = result.expect_err(error).to_string();
                assert!(found.ends_with(error.trim_start_matches("ERR ")), "{found}");
                continue;
            }
            let sent = super::words(&commands.bytes()).expect("a command");
            let keys = words(&vector["keys"]);
            let expected = ["EVALSHA".to_owned(), "SHA".to_owned(), keys.len().to_string()].into_iter().chain(keys);
            let expected: Vec<_> = expected.chain(words(&vector["argv"])).collect();
            // This client writes a length in seconds.
            let seconds = |words: Vec<String>| words.join(" ").replace("1m", "60").replace("1d", "86400");
            assert_eq!(seconds(sent), seconds(expected), "{vector}");
            let source = match &vector["script"] {
                Json::String(word) => {
                    let name = redis_rl_algorithm::Name::from_word(word.as_bytes()).expect("an algorithm");
                    let name = if name.label() == "leaky" || name.label() == "token" { "bucket" } else { name.label() };
                    [file("head"), file(name), format!("return run('{word}')\n")].concat()
                }
                files => {
                    let files = words(files).into_iter().map(|name| file(&name));
                    [file("head")].into_iter().chain(files).chain([file("several")]).collect()
                }
            };
            assert_eq!(call.script().expect("a script").source(), source, "{vector}");
        }
        assert!(seen > 50, "{seen}");
    }

    /// Without the module a reservation is a charge, settled by its amount and time; by its id alone it cannot be.
    #[test]
    fn a_reservation_is_a_charge_that_a_script_settles() {
        let policy = Policy::rolling(Duration::from_secs(60), 5);
        let request = policy.request("k").cost(3);
        let sent = |call: Call<'_>| {
            let mut commands = Commands::default();
            call.scripted("EVALSHA", "SHA", false, &mut commands)
                .map(|()| String::from_utf8_lossy(&commands.bytes()).into_owned())
        };
        let reserving = request.reserve("id", Duration::from_secs(9));
        assert!(matches!(sent(Call::of(Verb::Check, &reserving)), Err(Error::NeedsModule)));
        let charged = sent(Call::of(Verb::Check, &reserving.at(0))).expect("a charge");
        assert!(charged.contains("COST") && !charged.contains("RESERVE"), "{charged}");
        let verb = Verb::SettleReservation { id: b"id", actual: 2 };
        assert!(matches!(sent(Call::of(verb, &request)), Err(Error::NeedsModule)));
        let settled = sent(Call::of(verb, &request.at(7))).expect("a settlement");
        for words in ["SETTLE", "RESERVED\r\n$1\r\n3", "ACTUAL\r\n$1\r\n2", "AT\r\n$1\r\n7"] {
            assert!(settled.contains(words), "{words}: {settled}");
        }
    }

    /// A request that owns what it is made of.
    struct Owned {
        policy: Policy,
        key: String,
        words: Vec<String>,
    }

    impl Owned {
        /// `key window limit [options]` of an algorithm.
        fn of(word: &str, words: &[String]) -> Option<Self> {
            let mut text = format!("{word} {} {}", words[1], words.get(2).map_or("1", String::as_str));
            for option in ["BURST", "ANCHOR", "BLOCK", "MAX"] {
                let value = words.iter().position(|word| word == option).map(|at| &words[at + 1]);
                text += &value.map_or(String::new(), |value| format!(" {option} {value}"));
            }
            Some(Self { policy: text.parse().ok()?, key: words[0].clone(), words: words.to_vec() })
        }

        fn request(&self) -> crate::policy::Request<'_> {
            let value = |option: &str| self.words.iter().position(|word| word == option).map(|at| &self.words[at + 1]);
            let mut request = self.policy.request(&self.key);
            request = value("COST").map_or(request, |cost| request.cost(cost.parse().expect("a cost")));
            request = value("RESERVED").map_or(request, |cost| request.cost(cost.parse().expect("a cost")));
            request = value("ID").map_or(request, |id| request.id(id));
            value("RESERVE").map_or(request, |id| request.reserve(id, Duration::from_secs(10)))
        }
    }

    /// A command of the vectors as this client calls it; `None` for what it never sends.
    fn parsed(command: &[String]) -> Option<(Verb<'_>, Vec<Owned>)> {
        let (name, rest) = (command[0].strip_prefix("RL.")?, &command[1..]);
        let after = |option: &str| command.iter().position(|word| word == option).map(|at| &command[at + 1]);
        let actual = || after("ACTUAL")?.parse().ok();
        let verb = match name {
            "PEEK" => Verb::Peek,
            "REFUND" => Verb::Refund,
            "SETTLE" => match after("RESERVATION") {
                Some(id) => Verb::SettleReservation { id: id.as_bytes(), actual: actual()? },
                None => Verb::Settle(actual()?),
            },
            "RESET" => Verb::Reset,
            "RENEW" => return Some((Verb::Renew(rest[2].as_bytes()), vec![Owned::of("LEASE", &rest[..2])?])),
            "RELEASE" => {
                let key = [rest[0].clone(), "60".to_owned()];
                return Some((Verb::Release(rest[1].as_bytes()), vec![Owned::of("LEASE", &key)?]));
            }
            "MULTI" | "SHARE" => {
                let begins = |at: &usize| redis_rl_algorithm::Name::ALL.iter().any(|name| name.word() == rest[*at]);
                let begins: Vec<_> = (1..rest.len()).filter(begins).collect();
                let ends = begins.iter().skip(1).copied().chain([rest.len()]);
                let limits = begins.iter().zip(ends).map(|(&at, end)| Owned::of(&rest[at], &rest[at + 1..end]));
                let verb = if name == "SHARE" { Verb::Share } else { Verb::CheckAll };
                return Some((verb, limits.collect::<Option<_>>()?));
            }
            word => return Some((Verb::Check, vec![Owned::of(word, rest)?])),
        };
        Some((verb, vec![Owned::of(&rest[0], &rest[1..])?]))
    }

    fn own(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
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
