//! The server equals the limits in memory. Random calls of every command, algorithm, option and form of the reply, at random
//! times, go to five parties:
//!
//! - a server with the module;
//! - the same limits in memory ([`Model`]), whose algorithms the properties in `algorithm/` check;
//! - a replica of the server;
//! - the server itself after it has loaded its files;
//! - a server with the Lua scripts, on the same server program or on Redis 6.2.
//!
//! Replies, values and expiries are equal. In every other case words are wrong and keys hold what nobody should have
//! written; then the limits in memory take no part. In every fourth case the server is at `maxmemory` now and then, and in
//! shadow mode, and in a third of the others calls have what only the module has; then the scripts take no part.
//!
//! `SECONDS_EACH=10` is how long it runs. The cases are the same each time; `SEED=random` runs others. A failure prints a
//! seed, and `SEED=n` runs that case first.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redis::{Cmd, Connection, Value};
use redis_rl_algorithm::Micros;

use crate::random::calls::{Answer, Call, answer, has_large_integer, shown, text};
use crate::random::dump::*;
use crate::random::model::Model;
use crate::random::random_calls::*;
use crate::support::*;

/// A server with the module, its replica, a server with the scripts, and their clock.
struct Lab {
    clock: FrozenClock,
    native: Connection,
    replica: Connection,
    scripts: Connection,
    // The last field: the connections end first.
    _servers: [Server; 3],
}

impl Lab {
    fn start(with_module: &ServerBin, with_scripts: &ServerBin) -> Self {
        let mut clock = FrozenClock::at(1_700_000_000_000_000);
        // The times of the cases are decades apart, which ends no connection.
        let options = |bin: &ServerBin| clock.govern(Server::options(bin)).set("repl-timeout", i32::MAX);
        let native = options(with_module).set("appendonly", "yes").set("appendfsync", "no").start();
        let replica = options(with_module).replica_of(&native).start();
        let scripts = options(with_scripts).without_module().start();
        let [mut native_con, mut replica_con, mut scripts_con] = [&native, &replica, &scripts].map(Server::con);
        for con in [&mut native_con, &mut replica_con, &mut scripts_con] {
            clock.assert_governs(con);
            ok(cmd!(*con, "DEBUG", "SET-ACTIVE-EXPIRE", 0));
        }
        let mut is_up = |clock: &mut FrozenClock| {
            clock.set(clock.now());
            info(&mut replica_con, "master_link_status") == "up"
        };
        assert!(eventually(PATIENCE, || is_up(&mut clock)), "the replica does not connect");
        let _servers = [native, replica, scripts];
        Self { clock, native: native_con, replica: replica_con, scripts: scripts_con, _servers }
    }

    /// What the replica holds, once it has all that the server has sent.
    fn replicated(&mut self, look: &Cmd) -> Keys {
        let (_, sent, _): (String, u64, Value) = redis::cmd("ROLE").query(&mut self.native).expect("ROLE");
        let arrived = eventually(PATIENCE, || {
            let role: Vec<Value> = redis::cmd("ROLE").query(&mut self.replica).expect("ROLE");
            let arrived = role.last() == Some(&Value::Int(sent as i64));
            if !arrived {
                self.clock.set(self.clock.now());
            }
            arrived
        });
        assert!(arrived, "the replica does not follow");
        keys_of(answer(look.query(&mut self.replica)))
    }

    /// Sends commands to the server with the module, and others to that with the scripts; returns the replies of both.
    fn both(&mut self, native: &[&Cmd], scripts: &[&Cmd]) -> [Vec<Answer>; 2] {
        let mut sides = [(&mut self.native, native), (&mut self.scripts, scripts)];
        for (con, commands) in sides.iter_mut().filter(|(_, commands)| !commands.is_empty()) {
            let packed: Vec<u8> = commands.iter().flat_map(|command| command.get_packed_command()).collect();
            con.send_packed_command(&packed).expect("a connection");
        }
        sides.map(|(con, commands)| commands.iter().map(|_| answer(con.recv_response())).collect())
    }
}

/// How often something happened.
type Seen = BTreeMap<String, u64>;

/// A case while it runs.
struct Run<'l> {
    lab: &'l mut Lab,
    case: Case,
    /// What was done, for the message of a failure.
    story: String,
    /// Names of keys that were there.
    known: BTreeSet<Vec<u8>>,
    before: Keys,
    /// The limits in memory; `None` where words may be wrong.
    model: Option<Model>,
    /// No call has what only the module has.
    with_scripts: bool,
}

/// Runs one case; returns how many calls it compared.
fn run_case(lab: &mut Lab, seed: u64, seen: &mut Seen) -> u64 {
    let (hostile, with_settings) = (seed.is_multiple_of(2), seed % 4 == 3);
    let mut case = if hostile { Case::new(seed) } else { Case::valid(seed) };
    case.for_scripts = !with_settings && !seed.is_multiple_of(3);
    let algorithms = words(|traits| !with_settings || traits.cost);
    let (mut own, other) = (case.random.pick(&algorithms), case.random.pick(&algorithms));
    if with_settings && case.chance(2) {
        own = case.random.pick(&words(|traits| traits.reserve));
    }
    let names = [format!("{own}-a"), format!("{own}-b"), format!("{other}-c{{x}}")];
    let keys: Vec<&str> = names.iter().map(String::as_str).collect();
    ok(cmd!(lab.native, "CONFIG", "SET", "maxmemory", 0, "rl.shadow", "no"));
    for con in [&mut lab.native, &mut lab.scripts] {
        ok(cmd!(*con, "FLUSHALL"));
    }
    lab.clock.set(case.now);
    let calls = 1 + case.random.below(if hostile { 20 } else { 40 });
    let reloads_at = Some(case.random.below(8 * calls)).filter(|_| !hostile);
    let (story, known, before) = (format!("SEED={seed}\n"), BTreeSet::new(), Keys::new());
    let model = (!hostile).then(Model::default);
    let with_scripts = case.for_scripts;
    let mut run = Run { lab, case, story, known, before, model, with_scripts };
    for n in 0..calls {
        if hostile && ((n == 0 && run.case.chance(2)) || run.case.chance(12)) {
            run.plant(&keys);
        }
        if with_settings && run.case.chance(4) {
            run.set();
        }
        let call = run.case.call(&keys);
        if !run.compare(&call, seen) {
            return n + 1;
        }
        if reloads_at == Some(n) {
            run.reload();
        }
        let next = run.case.next_time();
        run.lab.clock.set(next);
    }
    run.compare_replica();
    calls
}

impl Run<'_> {
    /// Writes what nobody should have written.
    fn plant(&mut self, keys: &[&str]) {
        for command in self.case.plant(keys) {
            self.tell(&shown(&command));
            let of_scripts: Vec<_> = self.with_scripts.then_some(&command).into_iter().collect();
            let [native, scripts] = self.lab.both(&[&command], &of_scripts);
            assert!(scripts.is_empty() || native == scripts, "{}", self.story);
        }
        let look = dump(&self.known);
        let [planted, _] = self.lab.both(&[&look], &[&look]);
        self.before = planted.into_iter().map(keys_of).next().expect("one reply");
        self.known.extend(self.before.keys().cloned());
    }

    /// Changes the settings of the server: there is no more memory, or there is, and shadow mode.
    fn set(&mut self) {
        let model = self.model.as_mut().expect("no words are wrong");
        model.on_oom = self.case.random.pick(&[None, Some("error"), Some("allow"), Some("deny")]);
        model.shadow = self.case.chance(3);
        let mut set = redis::cmd("CONFIG");
        set.arg(&["SET", "rl.on-oom", model.on_oom.unwrap_or("error"), "maxmemory"]);
        set.arg(i32::from(model.on_oom.is_some())).arg("rl.shadow").arg(if model.shadow { "yes" } else { "no" });
        ok(set.query(&mut self.lab.native));
        self.tell(&shown(&set));
    }

    /// Sends a call to all parties. Whether the case goes on: not after a number that a double does not hold.
    fn compare(&mut self, call: &Call, seen: &mut Seen) -> bool {
        self.tell(&shown(&call.native()));
        let look = dump(&self.known);
        let script = call.script().filter(|_| self.with_scripts);
        let mut of_scripts: Vec<_> = script.iter().collect();
        // To look is to delete what has expired, also where there is no script for the call.
        of_scripts.extend(self.with_scripts.then_some(&look));
        let [native, scripts] = self.lab.both(&[&call.native(), &look], &of_scripts).map(|replies| {
            let [reply, keys] = <[Answer; 2]>::try_from(replies).ok()?;
            Some((reply, keys_of(keys)))
        });
        let (native, mut native_keys) = native.expect("replies");
        self.known.extend(native_keys.keys().cloned());
        let algorithm = if call.takes_algorithm() { text(&call.limits[0].1[0]).to_uppercase() } else { String::new() };
        let mut saw = |what: &str| *seen.entry(format!("{} {algorithm} {what}", call.name)).or_default() += 1;
        if let Some((script, mut script_keys)) = scripts {
            self.known.extend(script_keys.keys().cloned());
            if script.needs_module() {
                saw("only the module");
                return false;
            }
            self.forget_what_ends(&mut script_keys);
            self.forget_what_ends(&mut native_keys);
            let same = script.is_that_of(&native) && comparable(&script_keys) == comparable(&native_keys);
            if !same {
                let keys = [&self.before, &native_keys].map(shown_keys).concat();
                let all = format!("{} {native:?} {keys}", shown(&call.native()));
                let is_large =
                    has_large_integer(&all) || all.contains(FAR_AWAY) || native_keys.values().any(has_large_total);
                let is_rounded = rounds(call, &self.before) && is_near(&native, &script);
                assert!(
                    is_large || is_rounded,
                    "{}",
                    self.difference((&native, &native_keys), (&script, &script_keys))
                );
                saw("inexact");
                return false;
            }
        }
        self.forget_what_ends(&mut native_keys);
        saw(native.outcome());
        let now = Micros(self.case.now.unsigned_abs());
        let expected = self.model.as_mut().map(|model| {
            let reply = match &native {
                Answer::Value(_) => model.reply(call, now).map_or(Answer::Error("an error".to_owned()), Answer::Value),
                Answer::Error(error) if error.starts_with("OOM ") && model.on_oom == Some("error") => {
                    model.reject(call, now);
                    native.clone()
                }
                error => error.clone(),
            };
            (reply, model.dump(now))
        });
        if let Some((reply, keys)) = expected {
            // An error that comes after a state was loaded may leave less that counts no more.
            if native == Answer::Error(OVERFLOW.to_owned()) {
                return false;
            }
            let same = reply == without_headers(call, &native) && keys == without_names_of_units(&native_keys);
            assert!(same, "in memory\n{}", self.difference((&native, &native_keys), (&reply, &keys)));
        }
        self.before = native_keys;
        true
    }

    /// A record that expires now is deleted by the SET of some servers; that of the module stays for this ms.
    fn forget_what_ends(&mut self, keys: &mut Keys) {
        let now_ms = (self.case.now / 1_000).to_string();
        let ends_now = |key: &Key| key.2 == now_ms;
        for (name, _) in keys.iter().filter(|(_, key)| ends_now(key)) {
            let delete = redis::cmd("DEL").arg(name).to_owned();
            self.lab.both(&[&delete], &[&delete]);
        }
        keys.retain(|_, key| !ends_now(key));
    }

    /// The server reads its files again.
    fn reload(&mut self) {
        let words = self.case.random.pick(&[["DEBUG", "RELOAD"], ["DEBUG", "LOADAOF"]]);
        self.tell(&words.join(" "));
        ok(redis::cmd(words[0]).arg(words[1]).query(&mut self.lab.native));
        let reloaded = keys_of(answer(dump(&self.known).query(&mut self.lab.native)));
        assert_eq!(shown_keys(&in_order(&reloaded)), shown_keys(&in_order(&self.before)), "{}", self.story);
    }

    /// The replica holds what the server holds.
    fn compare_replica(&mut self) {
        let look = dump(&self.known);
        let held = keys_of(answer(look.query(&mut self.lab.native)));
        let replicated = self.lab.replicated(&look);
        let [replicated, held] = [replicated, held].map(|keys| shown_keys(&in_order(&keys)));
        assert_eq!(replicated, held, "the replica\n{}", self.story);
    }

    fn tell(&mut self, what: &str) {
        writeln!(self.story, "  at {}: {what}", self.case.now).expect("a string");
    }

    /// The message of a failure.
    fn difference(&self, (native, native_keys): (&Answer, &Keys), (other, other_keys): (&Answer, &Keys)) -> String {
        let [held, native_keys, other_keys] = [&self.before, native_keys, other_keys].map(shown_keys);
        let Self { story, .. } = self;
        format!(
            "{story}keys before:\n{held}of the module: {native:?}\n{native_keys}of the other: {other:?}\n{other_keys}"
        )
    }
}

/// Whether a key holds a record of ROLLING with a total that a double does not hold.
fn has_large_total((_, value, _): &Key) -> bool {
    let total = |record: &Vec<u8>| {
        record.starts_with(b"R:")
            && record.last_chunk().is_some_and(|last| u64::from_le_bytes(*last) >= 9_000_000_000_000_000)
    };
    value.iter().any(total)
}

/// Whether a script multiplies a time and an amount whose product a double does not hold.
pub fn rounds(call: &Call, before: &Keys) -> bool {
    let (mut window, mut amount) = (1, 1);
    for (_, words) in &call.limits {
        let words: Vec<String> = words.iter().map(|word| text(word)).collect();
        let digits = |word: &String| word.trim_end_matches(|letter: char| letter.is_ascii_lowercase()).parse().ok();
        let unit = |word: &str| match word.trim_start_matches(|digit: char| digit.is_ascii_digit()) {
            "ms" => 1,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => 1_000,
        };
        let [algorithm, length, rest @ ..] = &words[..] else { continue };
        // GCRA counts nanoseconds.
        let scale = if algorithm.eq_ignore_ascii_case("GCRA") { 1_000 } else { 1 };
        window = window.max(digits(length).unwrap_or(1_u128) * unit(length) * scale);
        amount = rest.iter().filter_map(digits).fold(amount, u128::max);
    }
    for (_, value, _) in before.values() {
        let record = value.first().map(|value| text(value)).unwrap_or_default();
        let fields: Vec<u128> = record.split(':').skip(1).filter_map(|field| field.parse().ok()).collect();
        match (record.get(..2), &fields[..]) {
            (Some("T:" | "L:"), [units, _, length, _, debt @ ..]) => {
                (window, amount) = (window.max(*length), amount.max(*units).max(debt.iter().sum()));
            }
            (Some("C:"), [length, _, current, previous]) => {
                (window, amount) = (window.max(*length), amount.max(*current).max(*previous));
            }
            _ => {}
        }
    }
    window * 1_000 * amount >= 1 << 53
}

/// Whether every figure of two replies is the same, but for one and a billionth.
pub fn is_near(native: &Answer, script: &Answer) -> bool {
    fn figures(reply: &Value) -> Vec<f64> {
        match reply {
            Value::Array(parts) => parts.iter().flat_map(figures).collect(),
            Value::BulkString(line) => text(line).split(' ').filter_map(|figure| figure.parse().ok()).collect(),
            Value::Int(n) => vec![*n as f64],
            _ => Vec::new(),
        }
    }
    match (native, script) {
        (Answer::Value(native), Answer::Value(script)) => {
            let [native, script] = [native, script].map(figures);
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1.0 + a.abs() * 1e-9;
            native.len() == script.len() && native.iter().zip(&script).all(near)
        }
        _ => false,
    }
}

/// The reply to a call without the headers.
fn without_headers(call: &Call, reply: &Answer) -> Answer {
    let has_headers = call.tail.iter().any(|word| word.eq_ignore_ascii_case(b"HEADERS"));
    match reply {
        Answer::Value(Value::Array(parts)) if has_headers => {
            Answer::Value(Value::Array(parts[..parts.len() - 1].to_vec()))
        }
        _ => reply.clone(),
    }
}

/// The least number of cases on all servers together, however slow the machine is. Everything that must happen does so
/// in fewer.
const LEAST_CASES: u64 = 1_500;

/// How long the comparison runs.
fn duration() -> Duration {
    let seconds = std::env::var("SECONDS_EACH").map_or(10, |text| text.parse().expect("SECONDS_EACH is a number"));
    Duration::from_secs(seconds)
}

/// The seed of the first case, of the server of this number: always the same, so that a change fails only by what it
/// changed; `SEED=random` takes a new one, and `SEED=n` that of one case.
fn first_seed(number: u64) -> u64 {
    let apart = 100_000_000 * number;
    match std::env::var("SEED").as_deref() {
        Err(_) => 1 + apart,
        Ok("random") => {
            let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("later than 1970");
            since_1970.as_micros() as u64 * 1_000 + apart
        }
        Ok(seed) => seed.parse().expect("SEED is a number, or random"),
    }
}

/// Each server program by itself. Redis 6.2 has the scripts, beside the module on Redis 7.0.
#[test]
fn all_parties_reply_and_store_the_same() {
    let with_module = servers();
    let mut pairs: Vec<(ServerBin, ServerBin)> = with_module.iter().map(|bin| (bin.clone(), bin.clone())).collect();
    pairs.extend(unsupported_servers().into_iter().map(|old| (with_module[0].clone(), old)));
    let seen = Mutex::new((Seen::new(), 0));
    let least = LEAST_CASES / pairs.len() as u64;
    thread::scope(|scope| {
        let seen = &seen;
        for (number, (with_module, with_scripts)) in pairs.iter().enumerate() {
            let thread = thread::Builder::new().name(with_scripts.to_string());
            let compare = move || {
                let mut lab = Lab::start(with_module, with_scripts);
                let (begun, mut seed) = (Instant::now(), first_seed(number as u64));
                let (mut here, mut calls, mut cases) = (Seen::new(), 0, 0);
                while begun.elapsed() < duration() || cases < least {
                    calls += run_case(&mut lab, seed, &mut here);
                    cases += 1;
                    seed += 1;
                }
                println!("{with_scripts}: {calls} calls in {cases} cases, {} s", begun.elapsed().as_secs());
                let mut seen = seen.lock().expect("no other thread has failed");
                here.into_iter().for_each(|(what, count)| *seen.0.entry(what).or_default() += count);
                seen.1 += calls;
            };
            thread.spawn_scoped(scope, compare).expect("a thread starts");
        }
    });
    let (seen, calls) = seen.into_inner().expect("no thread has failed");
    assert_all_happened(&seen, calls);
}

/// A new algorithm takes part here, or this says what is missing.
#[test]
fn every_algorithm_takes_part() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        assert_eq!(algorithms(&mut con), words(|_| true));
        assert_eq!(algorithm_words().collect::<Vec<_>>(), words(|_| true));
        let grammar = Grammar::of(&mut con);
        for word in words(|_| true) {
            for (option, is_taken) in options(traits(word)) {
                let keyword = option.split(' ').next().expect("a word");
                assert_eq!(grammar.takes("RL.<ALGO>", word, keyword), is_taken, "{word} {keyword}");
            }
        }
    });
}

/// What the comparison is there for must have happened.
fn assert_all_happened(seen: &Seen, calls: u64) {
    let count = |start: &str, end: &str| -> u64 {
        let found = seen.iter().filter(|(what, _)| what.starts_with(start) && what.ends_with(end));
        found.map(|(_, count)| count).sum()
    };
    for name in ["rl", "rl_multi", "rl_share", "rl_peek", "rl_refund", "rl_settle"] {
        for algorithm in words(|_| true) {
            let (can, is) = (traits(algorithm), |other: &str| name == other);
            if is("rl_share") && !can.always || is("rl_refund") && !can.refund || is("rl_settle") && !can.settle {
                continue;
            }
            for outcome in ["allowed", "denied"] {
                assert!(
                    count(&format!("{name} {algorithm}"), outcome) > 0,
                    "{name} {algorithm} {outcome}: never; {seen:?}"
                );
            }
        }
        assert!(count(name, "errors") > 0, "{name}: no error; {seen:?}");
    }
    for name in ["rl_reset", "rl_release", "rl_renew"] {
        assert!(count(name, "integers") > 0, "{name}: never; {seen:?}");
    }
    let inexact = count("rl", "inexact");
    assert!(inexact * 10 < calls, "{inexact} of {calls} calls were not compared");
}
