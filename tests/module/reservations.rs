//! RESERVE and RESERVATION: how many reservations a limit has, what INFO counts of them, and what becomes of them
//! where one of their keys is gone. And how much a call removes. What is charged, corrected and given back is in cases.txt and
//! differential.rs.

use redis::{Connection, Value};

use crate::random::calls::Call;
use crate::support::*;

#[track_caller]
fn full_of_call(con: &mut Connection, call: &str) -> Full {
    full(ok(send(con, &format!("{call} FULL"))))
}

#[test]
fn a_full_limit_denies_until_a_reservation_ends() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        ok(send(&mut con, "CONFIG SET rl.max-reservations 4"));
        let reserve = |id: u64, ttl: &str| format!("RL.WINDOW k 1d 10 RESERVE {id} {ttl}");
        (0..4).for_each(|id| _ = ok(send(&mut con, &reserve(id, "10s"))));
        clock.step(&mut con, 4_000);
        let denied = full_of_call(&mut con, &reserve(4, "10s"));
        assert_eq!((denied.allowed, denied.retry_after_ms, denied.ttl, denied.charged), (0, 6_000, 6, 0));
        assert_eq!(full_of_call(&mut con, &reserve(2, "10s")).charged, 1, "an open id needs no room");
        ok(send(&mut con, "RL.SETTLE WINDOW k 1d 10 RESERVATION 3 ACTUAL 1"));
        assert_eq!(full_of_call(&mut con, &reserve(4, "10s")).charged, 1);
        // All but two end at once, and stay as marks.
        clock.step(&mut con, 6_000);
        let denied = full_of_call(&mut con, &reserve(5, "1s"));
        assert_eq!((denied.allowed, denied.retry_after_ms, denied.remaining), (0, 4_000, 10 - 3));
        assert_eq!(ok(cmd!(con, "HLEN", "k:reserved")), Value::Int(4 + 1), "marks");
        let counted =
            ["made", "repeated", "settled", "ended"].map(|name| info(&mut con, &format!("rl_reservations_{name}")));
        assert_eq!(counted, ["5", "1", "1", "2"]);
        assert_eq!(info(&mut con, "rl_settlements"), "1");
    });
}

/// Fills sets with so many members before a score, and hashes with so many reservations of a unit that have ended, or end
/// later.
const FILL: &str = r"
local kind, name, count, ends = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
for n = 1, count do
  local id, at = string.format('id-%05d', n), string.format('%.0f', ends - count + n)
  if kind == 'set' then
    redis.call('ZADD', name, at, id)
  else
    redis.call('HSET', name .. ':reserved', id, '1:' .. at - 9000 .. ':' .. at .. ':' .. ARGV[5] .. ':9000000')
    redis.call('ZADD', name .. ':reserved:ends', at, id)
  end
end
if kind == 'hash' then
  redis.call('HSET', name .. ':reserved', '', 0)
  redis.call('PEXPIREAT', name .. ':reserved:ends', ARGV[5])
  redis.call('SET', name, count, 'PXAT', ARGV[5])
end
redis.call('PEXPIREAT', kind == 'set' and name or name .. ':reserved', ARGV[5])";

/// Some limits, each with its key first.
fn multi(limits: &str) -> Call {
    let limit = |words: &str| {
        let mut words = words.split(' ').map(|word| word.as_bytes().to_vec());
        (words.next().expect("a key"), words.collect())
    };
    Call { name: "rl_multi", limits: limits.split(" + ").map(limit).collect(), tail: Vec::new() }
}

/// A call removes 4,000 entries and 1,000 reservations over all its limits, and leaves the rest to later calls. What has
/// ended counts in no log and no lease. The scripts do the same.
#[test]
fn a_call_removes_a_bounded_number_of_what_has_ended() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let (now, until) = (clock.now_ms(), clock.now_ms() + 86_400_000);
        for scripts in [false, true] {
            ok(cmd!(con, "FLUSHALL"));
            let mut fill = |kind: &str, name: &str, count: u64, end: i64| {
                ok(cmd!(con, "EVAL", FILL, 0, kind, name, count, end, until));
            };
            ["s1", "s2"].iter().for_each(|name| fill("set", name, 4_800, now - 60_000));
            ["l1", "l2"].iter().for_each(|name| fill("set", name, 4_800, now));
            fill("set", "l3", 8_800, now);
            ok(cmd!(server.con(), "ZADD", "l3", now + 60_000, "live"));
            ["r1", "r2", "r3"].iter().for_each(|name| fill("hash", name, 700, now));
            let call = |words: &str| {
                let call = words.strip_prefix("rl_multi ").map_or_else(|| Call::of(words), multi);
                let command = if scripts { call.script().expect("a script") } else { call.native() };
                ok(command.query(&mut server.con()))
            };
            let mut con = server.con();
            let mut left = |names: &[&str], command: &str| -> Vec<i64> {
                names.iter().map(|name| read(ok(cmd!(con, command, name)))).collect()
            };
            for (n, expected) in [[801, 4_801, 4_801], [2, 1_602, 4_802], [3, 3, 2_403]].into_iter().enumerate() {
                let limits = format!("s1 SLIDING 1m 5 + s2 SLIDING 1m 5 + l1 LEASE 1m 5 ID x{n}");
                let counted = ints(&[1, n as i64, 60]);
                let reply = Value::Array(vec![Value::Int(1), Value::Array(vec![counted; 3])]);
                assert_eq!(call(&format!("rl_multi {limits}")), reply, "{scripts}");
                assert_eq!(left(&["s1", "s2", "l1"], "ZCARD"), expected, "{scripts}");
            }
            assert_eq!(call("rl l2 LEASE 1m 1 ID id-04800"), ints(&[1, 0, 60]), "its own lease, which has ended");
            assert_eq!(call("rl l2 LEASE 1m 1 ID x"), ints(&[0, 1, 60]));
            assert_eq!(call("rl_release l3 id-08800"), Value::Int(0));
            assert_eq!(call("rl_renew l3 1m id-08800"), Value::Int(0));
            assert_eq!(left(&["l2", "l3"], "ZCARD"), [1, 801]);
            if scripts {
                continue;
            }
            for (n, expected) in [[1, 401, 701], [2, 2, 102], [3, 3, 3]].into_iter().enumerate() {
                let limits = ["r1", "r2", "r3"].map(|key| format!("{key} WINDOW 1d 1000 RESERVE x{n} 1h"));
                call(&format!("rl_multi {}", limits.join(" + ")));
                assert_eq!(left(&["r1", "r2", "r3"], "GET"), expected, "{scripts}");
                let marks = left(&["r1:reserved", "r2:reserved", "r3:reserved"], "HLEN");
                assert_eq!(marks, [702 + n as i64; 3], "{scripts}");
            }
        }
    });
}

/// A log may have any number of members ahead of the clock. A denial moves 500 of them to now, and the figures are those of
/// the state as it then is. The scripts do the same.
#[test]
fn a_denial_moves_a_bounded_number_of_members_ahead_of_the_clock() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        for scripts in [false, true] {
            ok(cmd!(con, "FLUSHALL"));
            ok(cmd!(con, "EVAL", FILL, 0, "set", "k", 2_000, clock.now_ms() + 30_000, clock.now_ms() + 900_000));
            for (cost, moved, wait) in [(600, 500, 88_600), (1, 1_000, 60_000), (1, 1_500, 60_000), (1, 2_000, 60_000)]
            {
                let call = Call::of(&format!("rl k SLIDING 1m 2000 COST {cost} LINE"));
                let command = if scripts { call.script().expect("a script") } else { call.native() };
                let line: String = read(ok(command.query(&mut server.con())));
                let figures: Vec<i64> = line.split(' ').map(|figure| figure.parse().expect("a figure")).collect();
                assert_eq!((figures[0], figures[1], figures[5]), (0, 2_000, wait), "{scripts} {moved}");
                let counted: i64 = read(ok(cmd!(con, "ZCOUNT", "k", "-inf", clock.now_ms())));
                assert_eq!(counted, moved, "{scripts}");
            }
        }
    });
}

/// The server has evicted one of the two keys, or a client has changed one. The next call deletes the other: what was
/// charged stays charged, and the ids are unknown.
#[test]
fn reservations_of_which_a_key_is_gone_are_lost() {
    const COUNT: i64 = 20_000;
    for_each_server(|bin| {
        let server = Server::start(bin);
        let replica = Server::options(bin).replica_of(&server).start();
        wait_for_replica(&server, &replica);
        let mut con = server.con();
        let mut lost = 0;
        for (gone, is_counted) in [
            ("UNLINK k:reserved", COUNT),
            ("UNLINK k:reserved:ends", COUNT),
            ("HDEL k:reserved id-00001", COUNT),
            ("ZADD k:reserved:ends 1 nobody", COUNT + 1),
            ("ZADD k:reserved:ends XX 1 id-00001", COUNT),
        ] {
            for call in
                ["RL.WINDOW k 1d 999999 RESERVE new 1h", "RL.SETTLE WINDOW k 1d 999999 RESERVATION id-00002 ACTUAL 0"]
            {
                ok(cmd!(con, "FLUSHALL"));
                let now = now_ms();
                ok(cmd!(con, "EVAL", FILL, 0, "hash", "k", COUNT, now + 60_000, now + 86_400_000));
                ok(send(&mut con, gone));
                let reply = full_of_call(&mut con, call);
                let reserved = i64::from(call.contains("RESERVE"));
                assert_eq!((reply.count, reply.charged), (COUNT, reserved), "{gone}: {call}");
                let left =
                    ["k", "k:reserved", "k:reserved:ends"].map(|name| read::<i64>(ok(cmd!(con, "EXISTS", name))));
                assert_eq!(left, [1, reserved, reserved], "{gone}: {call}");
                lost += is_counted;
                assert_eq!(info(&mut con, "rl_reservations_lost"), lost.to_string(), "{gone}: {call}");
                wait_for_replica(&server, &replica);
                assert_eq!(digest(&mut replica.con()), digest(&mut con), "{gone}: {call}");
            }
        }
        // A hash that the module has not written is nobody's to delete.
        ok(cmd!(con, "FLUSHALL"));
        ok(send(&mut con, "HSET k:reserved a 1:1:1:1:1"));
        let error = err(send(&mut con, "RL.WINDOW k 1d 9 RESERVE a 1h"));
        assert!(error.contains("reservation"), "{error}");
        assert_eq!(ok(cmd!(con, "HLEN", "k:reserved")), Value::Int(1));
    });
}
