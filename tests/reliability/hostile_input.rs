//! Nothing that a client sends, and nothing that a key holds, ends the server, damages what is not ours, is repeated in an
//! error or piles up. The calls are those of the differential test, with bytes that no parser of the tests would produce.

use std::fs;
use std::time::{Duration, Instant};

use redis::{Arg, Cmd, Connection, Value};
use tempfile::TempDir;

use crate::random::calls::shown;
use crate::random::random_calls::Case;
use crate::support::{
    PATIENCE, Random, Server, algorithm_words, call, cmd, counting_words, eventually, for_each_server, info, ok,
    randoms, servers,
};
use crate::{assert_sound, each, report};

#[test]
fn nothing_a_client_sends_ends_the_server() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        // Until what is allocated once is allocated.
        let mut calls: u64 = randoms().map(|random| pound(&server, each() / 6, random.seed())).sum();
        let before = at_rest(&server);
        calls += pound(&server, each() / 2, 8);
        let after = at_rest(&server);
        assert!(after < before + 500_000, "{before} bytes have come to be {after}");
        assert_sound(&mut server);
        report(&format!("{calls} hostile calls, {before} bytes before and {after} after"));
    });
}

/// The bytes that the server uses without keys, and without what its own thread has still to free.
fn at_rest(server: &Server) -> u64 {
    let mut con = server.con();
    ok(cmd!(con, "FLUSHALL", "SYNC"));
    ok(cmd!(con, "SCRIPT", "FLUSH", "SYNC"));
    assert!(eventually(PATIENCE, || info(&mut con, "lazyfree_pending_objects") == "0"), "it does not free");
    info(&mut con, "used_memory").parse().expect("bytes")
}

/// The same under valgrind's memcheck: nothing is read or written that is not the module's to read or write, nothing is
/// left over. `make memcheck` runs it.
#[test]
#[ignore = "some ten times slower, and wants valgrind"]
fn memcheck_finds_no_error_and_no_leak() {
    // Valgrind takes the place of an allocator that is a library; the wheels' servers have theirs built in.
    let bin = servers().iter().find(|bin| !bin.is_valkey()).expect("a Redis, whose allocator valgrind can replace");
    let findings = TempDir::new().expect("a temporary directory");
    let findings = findings.path().join("findings.xml");
    let output = format!("--xml-file={}", findings.display());
    let mut server = Server::options(bin)
        .under(&[
            "valgrind",
            "--soname-synonyms=somalloc=*jemalloc*",
            "--leak-check=full",
            "--show-leak-kinds=definite",
            "--error-limit=no",
            "--num-callers=40",
            "--xml=yes",
            &output,
        ])
        .start();
    let calls = pound(&server, each(), 7);
    assert_sound(&mut server);
    server.shutdown("NOSAVE");
    let all = fs::read_to_string(&findings).expect("what valgrind found");
    assert!(all.contains("</valgrindoutput>"), "valgrind did not come to its end");
    let errors = || all.split("<error>").skip(1);
    let ours: Vec<&str> = errors().filter(|error| error.contains("libredis_rl")).collect();
    assert!(ours.is_empty(), "{} of the module's:\n{}", ours.len(), ours.join("\n"));
    println!("{bin}: {calls} hostile calls under valgrind, {} errors of the server's own", errors().count());
}

/// A word in all that is garbage. No error may repeat it.
const SENT: &[u8] = b"zqx7";

/// Where a word is wanted.
const GARBAGE: &[&[u8]] = &[
    b"",
    b"-1",
    b"9223372036854775808",
    b"18446744073709551616",
    b"340282366920938463463374607431768211456",
    b"1000000000001",
    b"106751991168d",
    b"18446744073709551615d",
    b"1\0",
    b"\0\xff\xfe",
    b"\xef\xbc\x91",
    b"%s%n%d",
    b"253402300800",
];

/// Values that no algorithm may take for its own.
const FOREIGN: [&str; 5] = ["RPUSH", "SADD", "PFADD", "SET", "APPEND"];

/// Sends hostile calls for so long, and looks at every reply; how many there were.
fn pound(server: &Server, time: Duration, seed: u64) -> u64 {
    let (mut random, mut cons) = (Random::new(seed), [server.con(), server.con3()]);
    let foreign: Vec<_> =
        counting_words().into_iter().flat_map(|word| FOREIGN.map(|make| (make, format!("{word}:{make}")))).collect();
    for (make, key) in &foreign {
        ok(cmd!(cons[0], make, key, "text"));
    }
    let dump = |con: &mut Connection| -> Vec<Value> {
        foreign.iter().map(|(_, key)| ok(redis::cmd("DUMP").arg(key).query(con))).collect()
    };
    let before = dump(&mut cons[0]);
    let own: Vec<_> = algorithm_words().map(|word| format!("{word}:k")).collect();
    // As many of the one as of the other.
    let often = own.iter().cycle().take(foreign.len());
    let keys: Vec<&str> = often.chain(foreign.iter().map(|(_, key)| key)).map(String::as_str).collect();
    let (end, mut counts, mut round) = (Instant::now() + time, [0, 0], 0);
    while Instant::now() < end || round < 2 {
        let (mut case, mut batch) = (Case::new(random.below(1 << 40)), redis::pipe());
        for _ in 0..100 {
            if case.chance(8) {
                // What a key of our own holds, which no algorithm may have written.
                case.plant(&keys[..own.len()]).into_iter().for_each(|command| _ = batch.add_command(command));
            }
            batch.add_command(hostile(&mut case, &keys));
        }
        let replies: Vec<Value> = batch.ignore_errors().query(&mut cons[round % 2]).expect("replies");
        for (reply, command) in replies.iter().zip(batch.cmd_iter()) {
            counts[usize::from(matches!(reply, Value::ServerError(_)))] += 1;
            if let Value::ServerError(error) = reply {
                let text = format!("{} {}", error.code(), error.details().unwrap_or_default());
                let sent = text.as_bytes().windows(SENT.len()).any(|part| part == SENT);
                assert!(!sent && !text.contains("internal error"), "{text} to {:.2000}", shown(command));
            }
        }
        round += 1;
    }
    assert!(before == dump(&mut cons[0]), "a foreign key is not what it was");
    let [answered, refused] = counts;
    assert!(answered > refused / 10 && refused > answered / 10, "{answered} answered and {refused} refused");
    ok(call("FLUSHALL").query(&mut cons[0]));
    answered + refused
}

/// A call, one in three with words that are none.
fn hostile(case: &mut Case, keys: &[&str]) -> Cmd {
    let call = case.call(keys).native();
    let words =
        call.args_iter().filter_map(|word| if let Arg::Simple(word) = word { Some(word.to_vec()) } else { None });
    let mut words: Vec<Vec<u8>> = words.collect();
    for _ in 0..if case.chance(3) { 1 + case.random.below(3) } else { 0 } {
        // The command's name stays.
        let at = 1 + case.random.below(words.len() as u64 - 1) as usize;
        let bad = garbage(case);
        match case.random.below(8) {
            0 if words.len() > 2 => _ = words.remove(at),
            1 => words.insert(at, bad),
            2 if at > 1 => words.truncate(at),
            3 => words.insert(at, words[at].clone()),
            4 => words.swap(1, at),
            5 if case.chance(50) => words.extend(vec![bad; 5_000]),
            _ => words[at] = bad,
        }
    }
    let mut command = Cmd::new();
    match case.random.below(40) {
        0 => _ = command.arg("EVAL").arg("return redis.pcall(unpack(ARGV))").arg(0),
        1 => _ = command.arg("COMMAND").arg("GETKEYS"),
        _ => {}
    }
    command.arg(words).take()
}

fn garbage(case: &mut Case) -> Vec<u8> {
    match case.random.below(6) {
        0 => {
            let bytes = (0..case.random.below(40)).map(|_| case.random.below(256) as u8);
            SENT.iter().copied().chain(bytes).collect()
        }
        1 if case.chance(30) => SENT.repeat(50_000),
        2 => [SENT, case.random.pick(GARBAGE)].concat(),
        _ => case.random.pick(GARBAGE).to_vec(),
    }
}
