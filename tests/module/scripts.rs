//! RL.FIXED and RL.SLIDING are the two scripts, natively; and the files in `lua/drop-in/` are either. The same random requests bring
//! the same replies, keys and values. Each of them takes its turns on every key.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use redis::{Cmd, Connection, Value};

use crate::random::calls::{Answer, answer};
use crate::random::dump::{Keys, comparable, dump, keys_of, shown_keys};
use crate::random::random_calls::Case;
use crate::support::*;

/// Who answers a request: the script, the file without the module, the command, and the file that calls it.
const WAYS: [&str; 4] = ["tests/scripts", "lua/drop-in/pure", "", "lua/drop-in/module"];
/// The words of the commands, and the files.
const PAIRS: [(&str, &str); 2] = [("FIXED", "fixed_window.lua"), ("SLIDING", "sliding_window.lua")];

fn lua(way: &str, file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(way).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The digests of the scripts that a server has.
type Digests = BTreeMap<(&'static str, &'static str), String>;

fn load(con: &mut Connection) -> Digests {
    let files = WAYS[..].iter().filter(|way| !way.is_empty()).flat_map(|way| PAIRS.map(|(_, file)| (*way, file)));
    files.map(|(way, file)| ((way, file), read(ok(cmd!(*con, "SCRIPT", "LOAD", lua(way, file)))))).collect()
}

/// A request. `now_ms` is what the script of SLIDING takes for the time.
fn request(digests: &Digests, way: &str, (word, file): (&str, &str), key: &str, now_ms: i64, words: &[Vec<u8>]) -> Cmd {
    let mut request = redis::cmd("EVALSHA");
    if way.is_empty() {
        request = redis::cmd(&format!("RL.{word}"));
        request.arg(key);
    } else {
        request.arg(&digests[&(way, file)]).arg(1).arg(key);
        if word == "SLIDING" {
            request.arg(now_ms);
        }
    }
    request.arg(words).to_owned()
}

/// The figures of a reply. Lua has doubles, and the server makes integers of them: the largest are not compared.
fn figures(reply: Answer) -> Result<Vec<f64>, String> {
    const LARGEST: f64 = 9_223_372_036_854_774_784.0;
    let figure = |part| Some(read::<i64>(part) as f64).filter(|figure| figure.abs() < LARGEST).unwrap_or(LARGEST);
    match reply {
        Answer::Value(Value::Array(parts)) => Ok(parts.into_iter().map(figure).collect()),
        Answer::Value(other) => panic!("no array: {other:?}"),
        Answer::Error(text) => Err(text),
    }
}

/// The keys of each way, without the names of ways: `FIXED-0:28333333` becomes `:28333333`.
fn of_ways(con: &mut Connection, names: &[String]) -> Vec<Keys> {
    let all = keys_of(answer(dump(&BTreeSet::new()).query(con)));
    let of = |name: &String| {
        let keys =
            all.iter().filter_map(|(key, held)| Some((key.strip_prefix(name.as_bytes())?.to_vec(), held.clone())));
        comparable(&keys.collect())
    };
    names.iter().map(of).collect()
}

/// Copies what is under the first name to the others.
const COPY: &str = "
for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
  for n = 2, #ARGV do
    redis.call('COPY', key, ARGV[n] .. key:sub(#ARGV[1] + 1), 'REPLACE')
  end
end";

/// What a case has seen: the algorithm, the outcome, and whether it was hostile.
type Seen = BTreeSet<(&'static str, &'static str, bool)>;

/// Runs a case. In every other one words are wrong and keys hold what nobody should have written; then only the module takes
/// part: the script fails halfway or misbehaves there, and the file without the module takes no other windows than it.
fn run_case(con: &mut Connection, digests: &Digests, clock: &mut FrozenClock, seed: u64, seen: &mut Seen) {
    let hostile = seed.is_multiple_of(2);
    let mut case = if hostile { Case::new(seed) } else { Case::valid(seed) };
    let pair = case.random.pick(&PAIRS);
    let ways = &WAYS[if hostile { 2 } else { 0 }..];
    let names: Vec<String> = (0..ways.len()).map(|n| format!("{}-{n}", pair.0)).collect();
    // The script takes seconds.
    let seconds = case.random.pick(&[1, 60]);
    let mut story = format!("SEED={seed}\n");
    ok(cmd!(*con, "FLUSHALL"));
    for step in 0..20 {
        // The members of the script may collide in a millisecond.
        case.now = if hostile { case.next_time() } else { case.now + 1_000 * (1 + case.random.below(3_000) as i64) };
        clock.set(case.now);
        clock.assert_governs(con);
        if hostile && (step == 0 || case.chance(8)) {
            case.plant(&[&names[0]]).iter().for_each(|command| _ = ok(command.query(con)));
            ok(redis::cmd("EVAL").arg(COPY).arg(0).arg(&names).query(con));
        }
        let window = if hostile { case.window().0 } else { seconds.to_string() };
        let mut words = [window.into_bytes(), case.limit().to_string().into_bytes()];
        if hostile && case.chance(6) {
            let (at, wrong) = (case.random.below(2) as usize, case.random.pick(&BAD_WORDS));
            words[at] = case.random.pick(wrong).to_vec();
        }
        // Each goes on with what another one has left.
        let turn = case.random.below(ways.len() as u64) as usize;
        let replies = names.iter().enumerate().map(|(n, name)| {
            let command = request(digests, ways[(n + turn) % ways.len()], pair, name, case.now / 1_000, &words);
            figures(answer(command.query(con)))
        });
        let replies: Vec<_> = replies.collect();
        let mut held = of_ways(con, &names);
        let shown = words.each_ref().map(|word| word.escape_ascii().to_string()).join(" ");
        story +=
            &format!("  at {}: {} {shown} {:?}, turn {turn}\n{}", case.now, pair.0, replies[0], shown_keys(&held[0]));
        if !hostile && pair.0 == "SLIDING" {
            for (_, _, expiry) in held.iter_mut().flat_map(BTreeMap::values_mut) {
                let left = expiry.parse::<i64>().expect("an expiry") - case.now / 1_000;
                assert!((1_500 * seconds..=2_000 * seconds).contains(&left), "{story}");
                expiry.clear();
            }
        }
        for (n, (reply, keys)) in replies.iter().zip(&held).enumerate() {
            assert_eq!((reply, keys), (&replies[0], &held[0]), "{}: {story}", ways[(n + turn) % ways.len()]);
        }
        let outcome = replies[0].as_ref().map_or("error", |reply| if reply[0] > 0.0 { "allowed" } else { "denied" });
        seen.insert((pair.0, outcome, hostile));
    }
}

#[test]
fn script_command_and_files_reply_and_store_the_same() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let (mut con, mut seen) = (server.con(), Seen::new());
        let digests = load(&mut con);
        (0..400).for_each(|seed| run_case(&mut con, &digests, &mut clock, seed, &mut seen));
        // An error of a valid call is none.
        assert_eq!(seen.len(), 2 * (2 + 3), "{seen:?}");
    });
}

/// The files for servers without the module call no command of it; the others hand over what follows the arguments of the
/// script. The words are counted.
#[test]
fn the_files_take_what_the_commands_take() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 1, |options| options);
        let mut con = cluster.nodes[0].con();
        let digests = load(&mut con);
        let [_, pure, native, module] = WAYS;
        for pair in PAIRS {
            assert!(!lua(pure, pair.1).contains("call('RL."), "{pair:?}");
            for key in ["{t}d", "x{t}{u}", "a", "{e", "", "a}b", "{}", "k:reserved", "k:reserved:ends", "k:reserved:1"]
            {
                let mut ask = |way, words: &[&[u8]]| {
                    let words: Vec<Vec<u8>> = words.iter().map(|word| word.to_vec()).collect();
                    answer(request(&digests, way, pair, key, 1, &words).query(&mut con))
                };
                let mut counted = 0.0;
                let first = figures(ask(native, &[b"1000000000", b"9"]));
                // Without the module a client names a key whose counters a cluster keeps in one slot.
                let takes_part = key.contains("{t}");
                for way in [pure, module].into_iter().filter(|way| takes_part || *way == module) {
                    counted += 1.0;
                    let reply = figures(ask(way, &[b"1000000000", b"9"]));
                    let later = first.clone().map(|reply| [reply[0], reply[1] + counted, reply[2]].to_vec());
                    assert_eq!(reply, later, "{pair:?} {way} {key}");
                    for words in [&[][..], &[&b"60"[..]], &[b"60", b"5", b"5", b"5"], &[b"0", b"5"], &[b"60", b"-1"]] {
                        assert!(matches!(ask(way, words), Answer::Error(_)), "{pair:?} {way} {words:?}");
                    }
                }
                if first.is_ok() {
                    let reply = figures(ask(module, &[b"1000000000", b"9", b"COST", b"9"]));
                    assert_eq!(reply.map(|reply| reply[0]), Ok(0.0), "{pair:?} {key}");
                }
            }
        }
    });
}

/// Units of one millisecond are charged later, while others come in between: each of them is a member.
#[test]
fn no_unit_is_lost_where_many_of_one_millisecond_are_corrected() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let at = clock.now_ms() - 1_000;
        for n in 1..=200 {
            for (key, at) in [("k", at), ("other", at - n % 7 - 1)] {
                ok(send(&mut con, &format!("RL.SETTLE SLIDING {key} 100d 5 RESERVED 1 ACTUAL 2 AT {at}")));
            }
            if n % 3 == 0 {
                clock.step(&mut con, 1);
                ok(send(&mut con, "RL.SLIDING another 100d 1000"));
            }
            assert_eq!(ok(cmd!(con, "ZCOUNT", "k", at, at)), Value::Int(n));
        }
    });
}
