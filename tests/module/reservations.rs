//! RESERVE and RESERVATION: how many reservations a limit has, what INFO counts of them, and the order that is kept of them
//! also beside an earlier version. And how much a call removes. What is charged, corrected and given back is in cases.txt and
//! differential.rs.

use std::collections::BTreeMap;

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
/// later, as an earlier version wrote them.
const FILL: &str = r"
local kind, name, count, ends = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
for n = 1, count do
  local id, at = string.format('id-%05d', n), string.format('%.0f', ends - count + n)
  if kind == 'set' then
    redis.call('ZADD', name, at, id)
  else
    redis.call('HSET', name .. ':reserved', id, '1:' .. at - 9000 .. ':' .. at .. ':' .. ARGV[5] .. ':9000000')
  end
end
if kind == 'hash' then
  redis.call('HSET', name .. ':reserved', '', string.format('%.0f', ends - count + 1))
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
            ["o1", "o2"].iter().for_each(|name| fill("hash", name, 1_500, now + 60_000));
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
            for (n, expected) in [[1, 701, 701], [2, 2, 702], [3, 3, 3]].into_iter().enumerate() {
                let limits = ["r1", "r2", "r3"].map(|key| format!("{key} WINDOW 1d 1000 RESERVE x{n} 1h"));
                call(&format!("rl_multi {}", limits.join(" + ")));
                assert_eq!(left(&["r1", "r2", "r3"], "GET"), expected, "{scripts}");
                let marks = left(&["r1:reserved", "r2:reserved", "r3:reserved"], "HLEN");
                assert_eq!(marks, [702 + n as i64; 3], "{scripts}");
            }
            // There is no order of these: a call looks at 1,000 of them.
            for most in [500, 1_000, 1_500, 1_500] {
                call("rl_multi o1 WINDOW 1d 99999 RESERVE y 1h + o2 WINDOW 1d 99999 RESERVE y 1h");
                let found = left(&["o1:reserved:ends", "o2:reserved:ends"], "ZCARD");
                let expected = most..=most + 200;
                assert!(found.iter().all(|found| expected.contains(found)), "{scripts}: {found:?}");
            }
            assert_eq!(left(&["o1:reserved:ends", "o2:reserved:ends"], "ZCARD"), [1_501, 1_501], "{scripts}");
        }
    });
}

/// The order is evicted and the hash is not. The calls after that give the hash a new order, each 500 fields,
/// so no other client waits for long; and decide and settle as before.
#[test]
fn an_order_that_is_lost_is_written_anew_in_steps() {
    const COUNT: i64 = 20_000;
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let (now, until) = (clock.now_ms(), clock.now_ms() + 86_400_000);
        // Some have ended.
        ok(cmd!(con, "EVAL", FILL, 0, "hash", "k", COUNT, now + COUNT - 100, until));
        ok(cmd!(con, "HSET", "k:reserved", "", 0));
        ok(cmd!(con, "CONFIG", "SET", "slowlog-log-slower-than", 50_000));
        ok(cmd!(con, "SLOWLOG", "RESET"));
        let call = |words: &str| ok(Call::of(words).native().query(&mut server.con()));
        let (mut members, mut calls) = (0, 0);
        while ok(cmd!(con, "HGET", "k:reserved", "")) != bytes("0") || calls == 0 {
            let counted = ints(&[1, COUNT + calls, 86_400]);
            assert_eq!(call(&format!("rl k WINDOW 1d 999999 RESERVE new-{calls:06} 1h")), counted);
            let found: i64 = read(ok(cmd!(con, "ZCARD", "k:reserved:ends")));
            assert!((0..=700).contains(&(found - members)), "{members} and then {found}");
            (members, calls) = (found, calls + 1);
            if calls == 9 {
                // Of the call itself the charge is known, also where it has ended.
                let settled = call("rl_settle k WINDOW 1d 999999 RESERVATION id-18000 ACTUAL 3 LINE");
                assert_eq!(read::<String>(settled).split(' ').next_back(), Some("3"));
                let settled = call("rl_settle k WINDOW 1d 999999 RESERVATION id-00001 ACTUAL 0 LINE");
                assert_eq!(read::<String>(settled).split(' ').next_back(), Some("0"));
                ok(cmd!(con, "INCRBY", "k", -1));
                members = read(ok(cmd!(con, "ZCARD", "k:reserved:ends")));
            }
            assert!(calls < COUNT / 400, "{found} in {calls} calls");
        }
        assert_eq!(ok(cmd!(con, "SLOWLOG", "LEN")), Value::Int(0));
        let [fields, order] = orders(&mut con);
        assert!(fields == order && fields.len() as i64 == COUNT + calls - 2, "{}", fields.len());
        // What has ended comes back then.
        let counted = read::<[i64; 3]>(call("rl k WINDOW 1d 999999 RESERVE last 1h"))[1];
        assert_eq!(counted, COUNT + calls - 99);
        clock.step(&mut con, 1);
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

/// The ids with their ends: as the hash has them, and as the order has them. Both expire together.
fn orders(con: &mut Connection) -> [BTreeMap<String, u64>; 2] {
    let expires_at = ["k:reserved", "k:reserved:ends"].map(|name| ok(cmd!(*con, "PEXPIRETIME", name)));
    assert_eq!(expires_at[0], expires_at[1]);
    let fields: BTreeMap<String, String> = read(ok(cmd!(*con, "HGETALL", "k:reserved")));
    let ends = fields.into_iter().filter(|(id, _)| !id.is_empty()).map(|(id, field)| {
        let ends_at = field.split(':').nth(2).expect("a field").parse().expect("milliseconds");
        (id, ends_at)
    });
    [ends.collect(), read(ok(cmd!(*con, "ZRANGE", "k:reserved:ends", 0, -1, "WITHSCORES")))]
}

/// What an earlier version writes, which knows no order, is seen by the next call. So is a key that was evicted.
#[test]
fn an_earlier_version_may_write_to_the_same_reservations() {
    for_each_server(|bin| {
        let (mut clock, server) = FrozenClock::server(bin);
        let mut con = server.con();
        let (now, until) = (clock.now_ms(), clock.now_ms() + 86_400_000);
        let field = |ttl: i64| format!("1:{now}:{}:{until}:{ttl}", now + ttl);
        ok(send(&mut con, "RL.WINDOW k 1d 9 COST 3 RESERVE a 20s"));
        let of_earlier: [&[&str]; 7] = [
            &["HSET k:reserved b FIELD  END"],
            // As many fields as before.
            &["HSET k:reserved c FIELD  END", "HDEL k:reserved b"],
            &["HSET k:reserved b FIELD  END", "UNLINK k:reserved:ends"],
            &["UNLINK k:reserved"],
            &["UNLINK k:reserved", "HSET k:reserved d FIELD  END", "PEXPIREAT k:reserved UNTIL"],
            &["ZADD k:reserved:ends 1 nobody", "ZREM k:reserved:ends d"],
            &["ZADD k:reserved:ends XX 1 d"],
        ];
        for written in of_earlier {
            for command in written {
                let words = command.replace("FIELD", &field(10_000)).replace("END", &(now + 10_000).to_string());
                let words = words.replace("UNTIL", &(until + 5_000).to_string());
                ok(send(&mut con, &words));
            }
            ok(send(&mut con, "RL.WINDOW k 1d 9 RESERVE new 30s"));
            let [fields, order] = orders(&mut con);
            assert_eq!(fields, order, "{written:?}");
            assert_eq!(ok(cmd!(con, "HGET", "k:reserved", "")), bytes("0"), "an earlier version looks at all of them");
            ok(send(&mut con, "RL.SETTLE WINDOW k 1d 9 RESERVATION new ACTUAL 0"));
        }
        assert_eq!(ok(cmd!(con, "HGET", "k:reserved", "d")), bytes(field(10_000)), "nothing came back early");
        // What the earlier version reserved comes back at its end.
        clock.step(&mut con, 10_000);
        ok(send(&mut con, "INCRBY k 1"));
        ok(send(&mut con, "RL.WINDOW k 1d 9 RESERVE new 30s"));
        let [fields, order] = orders(&mut con);
        assert_eq!((&fields, fields["d"]), (&order, (now + 20_000).cast_unsigned()), "a mark");
    });
}
