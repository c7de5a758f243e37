//! What the figures promise, kept exactly, and what the records say, byte by byte.
//!
//! On servers that tell modules their cached time (7.2 and later) the clock stands still inside a script: there the
//! past is moved instead, and every promise is held to the millisecond. Redis 7.0 reads the clock for each command: what
//! passes too late is seen there as well, what passes too early only if it is by more than a script takes.

use std::thread;
use std::time::Duration;

use crate::support::*;
use redis::{Connection, Value};

/// Whether a state can be moved to any earlier time: not where windows are aligned.
fn has_no_windows(algorithm: &Algorithm) -> bool {
    ![FIXED.command, COUNTER.command].contains(&algorithm.command)
}

/// Charges, then compares what the figures promise with what becomes of it. Answers how much was compared, and what
/// was not as promised.
const KEEP: &str = r#"
local key, word, command, window, limit, burst = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
-- How much earlier is too early, in ms.
local early = tonumber(ARGV[7])
local capacity = tonumber(burst ~= '' and burst or limit)
local function ask(...)
    local request = { ... }
    if burst ~= '' then
        table.insert(request, 'BURST')
        table.insert(request, burst)
    end
    table.insert(request, 'FULL')
    local flat = redis.call(unpack(request))
    local figures = {}
    for n = 1, #flat, 2 do
        figures[flat[n]] = flat[n + 1]
    end
    return figures
end
local function look(cost)
    return ask('RL.PEEK', word, key, window, limit, 'COST', string.format('%.0f', cost))
end
-- The state as it were that many milliseconds earlier: the same as waiting for so long.
local function wait(ms)
    if redis.call('TYPE', key).ok == 'zset' then
        local all = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
        for n = 1, #all, 2 do
            redis.call('ZADD', key, string.format('%.0f', all[n + 1] - ms), all[n])
        end
    elseif word == 'WINDOW' then
        -- The end of the window is the expiry of the key.
        redis.call('PEXPIREAT', key, string.format('%.0f', redis.call('PEXPIRETIME', key) - ms))
    elseif redis.call('EXISTS', key) == 1 then
        local text = redis.call('GET', key)
        local head, at = string.match(text, '^(%a:.*:)(%d+)$')
        if string.sub(text, 1, 2) == 'R:' then
            local entries = { 'R:' }
            for first = 3, #text, 15 do
                local time, bytes = 0, {}
                for n = 6, 0, -1 do
                    time = time * 256 + string.byte(text, first + n)
                end
                time = time - ms
                for n = 1, 7 do
                    bytes[n], time = string.char(time % 256), math.floor(time / 256)
                end
                table.insert(entries, table.concat(bytes) .. string.sub(text, first + 7, first + 14))
            end
            text = table.concat(entries)
        elseif head then
            text = head .. string.format('%.0f', at - ms * 1000)
        else
            -- Nanoseconds are too many for a float.
            local seconds, ns = tonumber(string.sub(text, 1, -10)), tonumber(string.sub(text, -9))
            seconds, ns = seconds - math.floor(ms / 1000), ns - ms % 1000 * 1000000
            if ns < 0 then
                seconds, ns = seconds - 1, ns + 1000000000
            end
            text = string.format('%.0f%09.0f', seconds, ns)
        end
        redis.call('SET', key, text)
    end
end
local compared, broken = 0, {}
local function compare(what, found, expected)
    if found == nil then
        return
    end
    compared = compared + 1
    if found ~= expected then
        table.insert(broken, what .. ': ' .. tostring(found) .. ', not ' .. tostring(expected))
    end
end
local function after(ms, work)
    local before = redis.call('EXISTS', key) == 1 and redis.call('DUMP', key)
    local expiry = string.format('%.0f', math.max(redis.call('PEXPIRETIME', key), 0))
    if ms < 0 then
        return nil
    end
    wait(ms)
    local result = work()
    if before then
        redis.call('RESTORE', key, expiry, before, 'REPLACE', 'ABSTTL')
    end
    return result
end

for n = 8, #ARGV, 2 do
    local promised = look(ARGV[n])
    local made = ask(command, key, window, limit, 'COST', ARGV[n])
    for _, name in ipairs({ 'allowed', 'count', 'ttl', 'remaining', 'retry_after_ms', 'next_ms', 'reset_ms' }) do
        compare('look of ' .. name, promised[name], made[name])
    end
    if ARGV[6] == 'moves' then
        wait(tonumber(ARGV[n + 1]))
    end
end

-- Never fits, so these are the figures of the state as it is.
local now = look(capacity + 1)
compare('never', now.retry_after_ms, -1)
if now.remaining > 0 then
    compare('what remains', look(now.remaining).allowed, 1)
end
if now.remaining < capacity then
    compare('one more', look(now.remaining + 1).allowed, 0)
end
if ARGV[6] == 'moves' then
    for cost = now.remaining + 1, capacity do
        local retry = look(cost).retry_after_ms
        compare(cost .. ' after ' .. retry, after(retry, function() return look(cost).allowed end), 1)
        compare(cost .. ' before ' .. retry, after(retry - early, function() return look(cost).allowed end), 0)
    end
    local function remaining() return look(capacity + 1).remaining end
    compare('full', now.remaining == capacity, now.next_ms == 0 and now.reset_ms == 0)
    if now.remaining < capacity then
        compare('more after next', after(now.next_ms, remaining) > now.remaining, true)
        compare('more before next', after(now.next_ms - early, remaining), now.remaining)
        compare('all after reset', after(now.reset_ms, remaining), capacity)
        compare('all before reset', (after(now.reset_ms - early, remaining) or 0) < capacity, true)
    end
end
return { compared, broken }
"#;

#[test]
fn what_the_figures_promise_is_kept_to_the_millisecond() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for mut random in randoms() {
            for algorithm in ALGORITHMS {
                let mut total = 0;
                for _ in 0..20 {
                    let moves = has_no_windows(algorithm);
                    // One that ends meanwhile would take FIXED's state with it.
                    let window = match moves {
                        false => "100d",
                        true if bin.caches_time() => random.pick(&["7ms", "333ms", "1s", "10s", "7m", "1d"]),
                        true => random.pick(&["100s", "7m", "1d"]),
                    };
                    let limit = 1 + random.below(12);
                    let burst = if algorithm.takes_burst && random.below(2) == 0 {
                        (1 + random.below(12)).to_string()
                    } else {
                        String::new()
                    };
                    let most = burst.parse().unwrap_or(limit);
                    let mut arguments = vec![window.to_owned(), limit.to_string(), burst];
                    arguments.push(if moves { "moves" } else { "stays" }.into());
                    arguments.push(if bin.caches_time() { "1" } else { "30" }.into());
                    for _ in 0..random.below(8) {
                        arguments.push(random.below(most + 1).to_string());
                        arguments.push(random.below(400).to_string());
                    }
                    // Once where the clock stands still.
                    let mut attempts = if bin.caches_time() { 1 } else { 20 };
                    loop {
                        ok(cmd!(con, "FLUSHALL"));
                        let mut script = redis::cmd("EVAL");
                        script.arg(KEEP).arg(1).arg("k").arg(algorithm.word()).arg(algorithm.command).arg(&arguments);
                        let (compared, broken): (u64, Vec<String>) = read(ok(script.query(&mut con)));
                        attempts -= 1;
                        if broken.is_empty() {
                            total += compared;
                            break;
                        }
                        assert!(attempts > 0, "{algorithm:?} {arguments:?}: {broken:?}");
                    }
                }
                assert!(total > 20 * 7, "{algorithm:?}: {total}");
            }
        }
    });
}

/// The counts, the time in the window's µs and the cost that a request comes with: when it passes, by trying.
fn counter_oracle(window: i64, elapsed: i64, [current, previous]: [i64; 2], limit: i64, cost: i64) -> i64 {
    let fits = |later: i64| {
        let at = elapsed + later;
        let [current, previous, at] = match at / window {
            0 => [current, previous, at],
            1 => [0, current, at - window],
            _ => [0, 0, 0],
        }
        .map(i128::from);
        let window = i128::from(window);
        (current + i128::from(cost.max(1))) * window + previous * (window - at) <= i128::from(limit) * window
    };
    if cost.max(1) > limit {
        return -1;
    }
    let (mut denied, mut passes) = (-1, 2 * window);
    while passes - denied > 1 {
        let middle = denied + (passes - denied) / 2;
        if fits(middle) { passes = middle } else { denied = middle }
    }
    (passes + 999) / 1_000
}

/// The clock does not move for the windows: so the counts are made up, and when they let a cost pass is tried out.
#[test]
fn the_counter_promises_what_its_two_windows_say() {
    // The clock in µs is what a record made now says.
    const SCRIPT: &str = r#"
        redis.call('DEL', 'clock')
        redis.call('RL.TOKEN', 'clock', '1h', 1)
        local now = tonumber(string.match(redis.call('GET', 'clock'), '(%d+)$'))
        local window = tonumber(ARGV[1])
        local start = now - now % (window * 1000)
        local record = string.format('C:%.0f:%.0f:%s:%s', window, start / (window * 1000), ARGV[3], ARGV[4])
        redis.call('SET', KEYS[1], record)
        local look = redis.call('RL.PEEK', 'COUNTER', KEYS[1], ARGV[1] .. 'ms', ARGV[2], 'COST', ARGV[5], 'FULL')
        redis.call('RL.TOKEN', 'clock', '1h', 2)
        local later = tonumber(string.match(redis.call('GET', 'clock'), '(%d+)$'))
        return { now - start, later - now, look }
    "#;
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        let (mut compared, mut all) = (0, 0);
        for mut random in randoms() {
            for _ in 0..150 {
                all += 1;
                let window = 1 + random.below(100_000_000) as i64;
                let limit = random.below(50) as i64;
                let counts = [0; 2].map(|_| random.below(limit as u64 + 2) as i64);
                let cost = random.below(limit as u64 + 3) as i64;
                let mut script = redis::cmd("EVAL");
                script.arg(SCRIPT).arg(1).arg("k").arg(&[window, limit, counts[0], counts[1], cost]);
                let (elapsed, passed, look): (i64, i64, Value) = read(ok(script.query(&mut con)));
                if bin.caches_time() {
                    assert_eq!(passed, 0, "the clock went on");
                } else if elapsed / (window * 1_000) != (elapsed + passed) / (window * 1_000) {
                    continue;
                }
                let found = full(look);
                let at = |elapsed| counter_oracle(window * 1_000, elapsed, counts, limit, cost);
                let (latest, earliest) = (at(elapsed), at(elapsed + passed));
                let what = format!("{window} ms, {elapsed} µs over, {counts:?} of {limit}, COST {cost}: {found:?}");
                assert!((earliest..=latest).contains(&found.retry_after_ms), "{what}, not {latest}");
                assert_eq!(found.allowed == 1, found.retry_after_ms == 0, "{what}");
                let left = window * 1_000 - elapsed;
                let weighted =
                    counts[0] + (i128::from(counts[1]) * i128::from(left) / (i128::from(window) * 1_000)) as i64;
                if passed == 0 {
                    // Allowed: until nothing counts. Denied: until the same cost is allowed.
                    let until = match found.allowed {
                        0 => latest * 1_000,
                        _ if counts[0] + cost > 0 => left + window * 1_000,
                        _ if counts[1] > 0 => left,
                        _ => 0,
                    };
                    let ttl = if until < 0 { -1 } else { (until + 999_999) / 1_000_000 };
                    assert_eq!((found.count, found.ttl), (weighted, ttl), "{what}");
                }
                COUNTER.assert_ttl_agrees(&found);
                compared += 1;
            }
        }
        assert!(compared * 4 > all * 3, "{compared} of {all}");
    });
}

/// 70 in the previous minute, 20 in this one, 30 % of it over: 69.
#[test]
fn the_counter_has_the_textbooks_figure() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            // A window that began as long ago as it takes for 30 % of it to be over, in a few seconds.
            let window = server_ms(&mut con) * 10 / 13 + 10_000;
            let record = format!("C:{window}:1:20:70");
            let window = format!("{window}ms");
            ok(cmd!(con, "SET", "k", &record));
            for (limit, allowed) in [(69, 0), (70, 0), (71, 1)] {
                let reply: [i64; 3] = read(ok(cmd!(con, "RL.PEEK", "COUNTER", "k", &window, limit)));
                assert_eq!(reply[..2], [allowed, 69], "{limit}");
            }
            assert_eq!(COUNTER.ask(&mut con, "k", &window, 71)[..2], [1, 69]);
            assert_eq!(ok(cmd!(con, "GET", "k")), bytes(record.replace(":20:", ":21:")));
            assert_eq!(COUNTER.ask(&mut con, "k", &window, 71)[..2], [0, 70]);
        }
    });
}

/// At ten a second, five at once wait 0, 100, 200, 300 and 400 ms.
#[test]
fn the_queue_spreads_out_what_comes_at_once() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        for mut con in [server.con(), server.con3()] {
            let mut attempts = if bin.caches_time() { 1 } else { 20 };
            loop {
                ok(cmd!(con, "FLUSHALL"));
                let mut five = redis::pipe();
                five.atomic();
                (0..5).for_each(|_| _ = five.cmd("RL.LEAKY").arg(&["k", "1s", "10", "FULL"]));
                let Value::Array(replies) = ok(five.query(&mut con)) else { panic!("no array") };
                let replies: Vec<Full> = replies.into_iter().map(full).collect();
                let delays: Vec<i64> = replies.iter().map(|reply| reply.delay_ms).collect();
                assert!(replies.iter().all(|reply| reply.allowed == 1), "{replies:?}");
                attempts -= 1;
                if delays == [0, 100, 200, 300, 400] {
                    let counts: Vec<i64> = replies.iter().map(|reply| reply.count).collect();
                    assert_eq!(counts, [0, 1, 2, 3, 4]);
                    break;
                }
                assert!(attempts > 0, "{delays:?}");
            }
        }
    });
}

/// The integers of a record behind its tag.
#[track_caller]
fn record(con: &mut Connection, tag: &str) -> Vec<i64> {
    let text: String = read(ok(cmd!(*con, "GET", "k")));
    let integers = text.strip_prefix(tag).unwrap_or_else(|| panic!("{text} has no {tag}"));
    integers.split(':').map(|integer| integer.parse().unwrap_or_else(|_| panic!("{text}"))).collect()
}

#[test]
fn the_records_are_as_documented() {
    const MINUTE: i64 = 60_000_000;
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        // Three a minute: what was taken, in whole units and in parts of 1/window, and when.
        for (algorithm, tag) in [(TOKEN, "T:"), (LEAKY, "L:")] {
            ok(cmd!(con, "FLUSHALL"));
            let first = full(ok(cmd!(con, algorithm.command, "k", "1m", 3, "FULL")));
            let words = record(&mut con, tag);
            assert_eq!(words[..3], [1, 0, MINUTE / 1_000], "{algorithm:?}");
            let at = words[3];
            assert_eq!((at / 1_000, words.len()), (first.now_ms, 4), "{algorithm:?}");
            algorithm.assert_expires(&mut con, "k", (at + MINUTE / 3 + 999) / 1_000);
            thread::sleep(Duration::from_millis(5));
            assert_eq!(algorithm.ask(&mut con, "k", "1m", 3)[0], 1);
            let words = record(&mut con, tag);
            let left = MINUTE - (words[3] - at) * 3;
            assert_eq!(words[..3], [1, left, MINUTE / 1_000], "{algorithm:?}");
            let parts = MINUTE + left;
            algorithm.assert_expires(&mut con, "k", (words[3] + (parts + 2) / 3 + 999) / 1_000);
        }
        ok(cmd!(con, "FLUSHALL"));
        let at = full(ok(cmd!(con, "RL.COUNTER", "k", "100d", 3, "COST", 2, "FULL"))).now_ms;
        let window = 8_640_000_000;
        let start = at - at % window;
        assert_eq!(record(&mut con, "C:"), [window, start / window, 2, 0]);
        COUNTER.assert_expires(&mut con, "k", start + 2 * window);
        // A window later it is the previous one's; two later, nobody's.
        for (ago, expected) in [(1, [1, 2]), (2, [1, 0])] {
            ok(cmd!(con, "SET", "k", format!("C:{window}:{}:2:9", start / window - ago)));
            assert_eq!(COUNTER.ask(&mut con, "k", "100d", 9)[0], 1);
            assert_eq!(record(&mut con, "C:"), [window, start / window, expected[0], expected[1]]);
        }
        ok(cmd!(con, "FLUSHALL"));
        let at = full(ok(cmd!(con, "RL.GCRA", "k", "1m", 3, "FULL"))).now_ms;
        let arrival = record(&mut con, "")[0];
        assert_eq!(arrival / 1_000_000, at + 20_000);
        assert_eq!(arrival % 1_000, 0, "the clock's are µs");
        GCRA.assert_expires(&mut con, "k", (arrival + 999_999) / 1_000_000);
        assert_eq!(GCRA.ask(&mut con, "k", "1m", 3)[0], 1);
        assert_eq!(record(&mut con, ""), [arrival + 20_000_000_000]);
    });
}

/// A record by hand is as good as one of the module's.
#[test]
fn a_record_by_hand_is_understood() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for (algorithm, record) in records() {
            for taken in 0..=5 {
                let record = record(taken, 5, LONG * 1_000_000, server_ms(&mut con) * 1_000);
                ok(cmd!(con, "SET", "k", &record));
                let reply = full_of(&mut con, "RL.PEEK", &[algorithm.word(), "k", &LONG.to_string(), "5", "FULL"]);
                let found = (reply.allowed, reply.count, reply.remaining);
                assert_eq!(found, (i64::from(taken < 5), taken, (4 - taken).max(0)), "{algorithm:?}: {record}");
            }
        }
    });
}

/// Every way to damage a record that leaves no record: cut fields, other bytes, leading zeros, blanks.
fn damages(record: &str) -> Vec<Vec<u8>> {
    let bytes = record.as_bytes();
    let mut all = vec![Vec::new(), [bytes, bytes].concat(), [bytes, &b"9".repeat(30)].concat()];
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        for byte in b"x: -+.\0\n\xff" {
            all.push([head, &[*byte], tail].concat());
            if let Some((_, tail)) = tail.split_first() {
                all.push([head, &[*byte], tail].concat());
            }
        }
        if head.last().is_none_or(|last| *last == b':') && tail.first().is_none_or(u8::is_ascii_digit) {
            // In front of a number, or where one is missing.
            all.push([head, b"0", tail].concat());
            all.push([head, &b"1".repeat(25), tail].concat());
            all.push(head.to_vec());
        }
    }
    all.retain(|damaged| damaged != bytes);
    all
}

/// A record of TOKEN or LEAKY with debt has a fifth integer, so a damage can make one.
fn is_record_with_debt(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let Some(numbers) = text.strip_prefix("T:").or(text.strip_prefix("L:")) else { return false };
    let integer = |number: &str| number.parse::<u64>().is_ok_and(|n| n.to_string() == number);
    numbers.split(':').count() == 5 && numbers.split(':').all(integer) && !numbers.ends_with(":0")
}

#[test]
fn damaged_records_and_those_of_others_are_errors_and_stay() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        let at = server_ms(&mut con) * 1_000;
        for (algorithm, record) in records() {
            let mut values: Vec<Vec<u8>> = damages(&record(2, 5, LONG * 1_000_000, at));
            for (_, record) in records().filter(|(other, _)| other.command != algorithm.command) {
                values.push(record(2, 5, LONG * 1_000_000, at).into_bytes());
            }
            values.retain(|value| !is_record_with_debt(value));
            for value in values {
                ok(cmd!(con, "SET", "k", &value, "EX", 1_000));
                let before = digest(&mut con);
                let word = algorithm.word();
                let in_multi = cmd!(con, "RL.MULTI", 2, "TOKEN", "other", LONG, 5, word, "k", LONG, 5);
                assert_eq!(err(in_multi), of_limit(FOREIGN, 2), "{algorithm:?} at {}", value.escape_ascii());
                for reply in [
                    cmd!(con, algorithm.command, "k", LONG, 5),
                    cmd!(con, algorithm.command, "k", LONG, 5, "FULL"),
                    cmd!(con, "RL.PEEK", word, "k", LONG, 5),
                    cmd!(con, "RL.REFUND", word, "k", LONG, 5),
                    cmd!(con, "RL.RESET", word, "k", LONG),
                ] {
                    let what = format!("{algorithm:?} at {}: {reply:?}", value.escape_ascii());
                    assert!(reply.is_err(), "{what}");
                    assert_eq!(err(reply), FOREIGN, "{what}");
                }
                assert_eq!(digest(&mut con), before, "{algorithm:?} at {}", value.escape_ascii());
            }
        }
        assert!(server.is_running());
    });
}

/// Of a window of another length, what was taken still counts.
#[test]
fn a_changed_window_keeps_what_was_taken() {
    for_each_server(|bin| {
        let server = Server::start(bin);
        let mut con = server.con();
        for algorithm in ALGORITHMS.iter().filter(|algorithm| !algorithm.key_per_window) {
            ok(cmd!(con, "FLUSHALL"));
            for _ in 0..4 {
                assert_eq!(algorithm.ask(&mut con, "k", "100d", 4)[0], 1);
            }
            // Longer and shorter: GCRA rescales to what the time left is worth, and the others count the same.
            for window in ["200d", "90d", "100d"] {
                let arguments = [algorithm.word(), "k", window, "4", "FULL"];
                let reply = full_of(&mut con, "RL.PEEK", &arguments);
                let expected = match window {
                    "200d" if algorithm.rescales => (1, 2),
                    _ => (0, 4),
                };
                assert_eq!((reply.allowed, reply.count), expected, "{algorithm:?} {window}");
            }
        }
    });
}
