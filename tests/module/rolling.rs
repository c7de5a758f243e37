//! What is special about RL.ROLLING: how much its record takes, and what a charge replicates.

use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Connection, Value};

const TAG: &[u8] = b"R:";
const ENTRY: usize = 15;

/// Waits for the next millisecond, which is the next moment of a window of at most 4,096 ms.
fn next_ms(con: &mut Connection) {
    let now = server_ms(con);
    assert!(eventually(PATIENCE, || server_ms(con) > now + 1));
}

fn request(con: &mut Connection, key: &str, window: &str, cost: i64) -> [i64; 3] {
    ROLLING.ask_for(con, key, window, 1_000_000, cost)
}

fn value(con: &mut Connection, key: &str) -> Vec<u8> {
    read(ok(cmd!(*con, "GET", key)))
}

/// Times and totals.
fn entries(con: &mut Connection, key: &str) -> Vec<(i64, i64)> {
    let value = value(con, key);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | i64::from(*byte));
    let entries = value.strip_prefix(TAG).expect("the tag").chunks(ENTRY);
    entries.map(|entry| (number(&entry[..7]), number(&entry[7..]))).collect()
}

/// The record of some entries.
fn record(entries: &[(i64, i64)]) -> Vec<u8> {
    let bytes = entries.iter().flat_map(|(time, total)| [&time.to_le_bytes()[..7], &total.to_le_bytes()].concat());
    TAG.iter().copied().chain(bytes).collect()
}

fn names(effects: Vec<Vec<String>>) -> Vec<String> {
    effects.into_iter().map(|effect| effect[0].clone()).collect()
}

fn events(events: &mut Events) -> Vec<String> {
    events.take().into_iter().map(|(event, _)| event).collect()
}

#[test]
fn a_charge_replicates_one_entry_and_fires_the_event_of_the_plain_command() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let (mut effects, mut heard) = (Effects::of(&server), Events::listen(&server));
        let mut expect = |commands: &[&str], fired: &[&str]| {
            assert_eq!(
                (names(effects.take()), events(&mut heard)),
                (
                    commands.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    fired.iter().map(ToString::to_string).collect::<Vec<_>>()
                )
            );
        };
        // Moments of 1 ms, so later requests are of later moments.
        request(&mut con, "k", "4s", 1);
        expect(&["SET"], &["set", "expire"]);
        next_ms(&mut con);
        request(&mut con, "k", "4s", 1);
        expect(&["APPEND"], &["append"]);
        // A moment of 35 minutes.
        request(&mut con, "long", "100d", 5);
        expect(&["SET"], &["set", "expire"]);
        request(&mut con, "long", "100d", 5);
        expect(&["SETRANGE"], &["setrange"]);
        assert_eq!(ROLLING.ask(&mut con, "long", "100d", 10)[0], 0);
        expect(&[], &[]);
        ok(cmd!(con, "RL.REFUND", "ROLLING", "long", "100d", 10, "COST", 3));
        expect(&["SETRANGE"], &["setrange"]);
        ok(cmd!(con, "RL.SETTLE", "ROLLING", "long", "100d", 10, "RESERVED", 1, "ACTUAL", 500));
        expect(&["SETRANGE"], &["setrange"]);
        ok(cmd!(con, "RL.REFUND", "ROLLING", "long", "100d", 10, "COST", 506));
        expect(&["UNLINK"], &["del"]);
        // A window of which half is over, then all: the expiry is set again, and the record is written anew.
        request(&mut con, "short", "1s", 1);
        expect(&["SET"], &["set", "expire"]);
        thread::sleep(Duration::from_millis(600));
        request(&mut con, "short", "1s", 1);
        expect(&["MULTI", "APPEND", "PEXPIREAT", "EXEC"], &["append", "expire"]);
        thread::sleep(Duration::from_millis(600));
        request(&mut con, "short", "1s", 1);
        expect(&["SET"], &["set", "expire"]);
        assert_eq!(entries(&mut con, "short").len(), 2);
        // A denial keeps what counts for as long as it needs it.
        thread::sleep(Duration::from_millis(600));
        assert_eq!(ROLLING.ask(&mut con, "short", "1s", 1)[0], 0);
        expect(&["PEXPIREAT"], &["expire"]);
    });
}

/// The bytes of a charge in the AOF: of a first one, of a later moment, and of the same moment.
#[test]
fn a_charge_adds_no_more_to_the_aof_than_one_of_sliding() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        let mut con = server.con();
        let mut bytes = |algorithm: &Algorithm, key: &str, window: &str| {
            next_ms(&mut con);
            let before = server.aof_size();
            assert_eq!(algorithm.ask(&mut con, key, window, 1_000_000)[0], 1);
            server.aof_size() - before
        };
        // The first writes to the file are preceded by SELECT.
        bytes(&FIXED, "select", "4s");
        for window in ["4s", "100d"] {
            for n in 0..5 {
                let [sliding, rolling] = [&SLIDING, &ROLLING]
                    .map(|algorithm| bytes(algorithm, &format!("{}:{window}", algorithm.name), window));
                assert!(rolling <= sliding, "request {n} of {window}: {rolling}, {sliding}");
            }
        }
    });
}

#[test]
fn a_damaged_record_is_an_error_or_another_record() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        let now = server_ms(&mut con);
        let whole = record(&[(now - 9_000, 3), (now - 4_000, 1 << 62), (now - 5, (1 << 62) + 9)]);
        let cut = (0..whole.len()).map(|len| whole[..len].to_vec());
        let changed = (0..whole.len()).flat_map(|at| {
            let whole = whole.clone();
            [0, 1, 0x7f, 0x80, 0xff].map(move |byte| {
                let mut changed = whole.clone();
                changed[at] ^= byte;
                changed
            })
        });
        for value in cut.chain(changed) {
            let of_entries = value.starts_with(TAG) && value.len() > 2 && (value.len() - 2).is_multiple_of(ENTRY);
            for call in [
                &["RL.ROLLING", "k", "5s", "7"][..],
                &["RL.ROLLING", "k", "1h", "9000000000000000000", "FULL"],
                &["RL.ROLLING", "k", "1ms", "9", "COST", "3", "HEADERS"],
                &["RL.PEEK", "ROLLING", "k", "5s", "7", "FULL"],
                &["RL.REFUND", "ROLLING", "k", "1h", "7", "COST", "4"],
                &["RL.SETTLE", "ROLLING", "k", "1h", "7", "RESERVED", "1", "ACTUAL", "20"],
                &["RL.MULTI", "2", "FIXED", "other", "100d", "7", "ROLLING", "k", "1h", "7"],
                &["RL.RESET", "ROLLING", "k", "5s"],
            ] {
                ok(cmd!(con, "SET", "k", &value, "EX", 1_000));
                let before = digest(&mut con);
                let reply = redis::cmd(call[0]).arg(&call[1..]).query::<Value>(&mut con);
                let what = format!("{call:?} at {}: {reply:?}", value.escape_ascii());
                match reply {
                    Ok(_) => assert!(of_entries, "{what}"),
                    Err(_) => {
                        let text = err(reply);
                        let foreign = text == FOREIGN || text == of_limit(FOREIGN, 2);
                        assert!(foreign || of_entries && text == OVERFLOW, "{what}");
                        assert_eq!(digest(&mut con), before, "{what}");
                    }
                }
            }
        }
        assert!(server.is_running());
    });
}

/// At most 16 bytes for each moment plus 64, and less than the sorted set takes.
#[test]
fn memory_beside_sliding() {
    for_each_server(|bin| {
        // A moment is a millisecond: a busy machine would take longer, and the states would expire.
        let mut clock = FrozenClock::at(1_795_269_620_000_000);
        let server = clock.govern(Server::options(bin)).start();
        let mut con = server.con();
        let memory =
            |con: &mut Connection, key: &str| -> i64 { read(ok(cmd!(*con, "MEMORY", "USAGE", key, "SAMPLES", 0))) };
        for requests in [5, 100, 1_000, 10_000] {
            for _ in 0..requests {
                for algorithm in [&SLIDING, &ROLLING] {
                    assert_eq!(algorithm.ask(&mut con, algorithm.name, "4096ms", 1_000_000)[0], 1);
                }
                clock.set(clock.now() + 1_000);
            }
            let len: i64 = read(ok(cmd!(con, "STRLEN", "rolling")));
            let (entries, counted) = (entries(&mut con, "rolling"), requests.min(2 * 4_097));
            assert!(entries.len() as i64 <= counted && len <= 16 * entries.len() as i64 + 64, "{requests}: {len}");
            let [sliding, rolling] = ["sliding", "rolling"].map(|key| memory(&mut con, key));
            println!("{bin}, {requests} requests: SLIDING {sliding}, ROLLING {rolling} ({} entries)", entries.len());
            assert!(requests < 1_000 || rolling < sliding, "{requests}: {rolling}, {sliding}");
            ok(cmd!(con, "FLUSHALL"));
        }
        for algorithm in [&SLIDING, &ROLLING] {
            assert_eq!(algorithm.ask_for(&mut con, algorithm.name, LONG, 1_000_000, 1_000)[0], 1);
        }
        let [sliding, rolling] = ["sliding", "rolling"].map(|key| memory(&mut con, key));
        println!("{bin}, COST 1000: SLIDING {sliding}, ROLLING {rolling}");
        assert!(rolling < 200 && sliding > 20_000, "{rolling}, {sliding}");
    });
}
