//! RL.WINDOW: a counter at the key itself, whose window starts with the first request. The clock of most servers here
//! stands still, so every figure is exact. (What every algorithm promises is tested over the table.)

use crate::support::*;
use redis::{Connection, Value};

const MINUTE: i64 = 60_000;

/// A server whose clock stands still, and what it replicates and fires.
struct Stage<'s> {
    clock: FrozenClock,
    con: Connection,
    events: Events,
    effects: Effects<'s>,
}

impl<'s> Stage<'s> {
    fn new(clock: FrozenClock, server: &'s Server) -> Self {
        Self { clock, con: server.con(), events: Events::listen(server), effects: Effects::of(server) }
    }

    /// Sends a command, its words separated by blanks.
    fn send(&mut self, call: &str) -> Reply {
        let mut words = call.split(' ');
        redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).query(&mut self.con)
    }

    #[track_caller]
    fn triple(&mut self, call: &str) -> [i64; 3] {
        read(ok(self.send(call)))
    }

    #[track_caller]
    fn full(&mut self, call: &str) -> Full {
        full(ok(self.send(&format!("{call} FULL"))))
    }

    /// The value of the key, and how many milliseconds of it are left: −1 without an expiry, −2 without a key.
    #[track_caller]
    fn state(&mut self) -> (Option<i64>, i64) {
        let value = read(ok(self.send("GET k")));
        match expires_at(&mut self.con, "k") {
            at @ (-2 | -1) => (value, at),
            at => (value, at - self.clock.now_ms()),
        }
    }

    /// Makes the key anew: a value, and the milliseconds until it expires.
    #[track_caller]
    fn given(&mut self, value: i64, left: Option<i64>) {
        ok(self.send(&format!("SET k {value}")));
        if let Some(left) = left {
            let at = self.clock.now_ms() + left;
            ok(self.send(&format!("PEXPIREAT k {at}")));
        }
        self.changes();
    }

    fn step(&mut self, millis: i64) {
        self.clock.step(&mut self.con, millis);
    }

    /// What was replicated, and which events were fired, since the last call. Times are relative to the clock.
    fn changes(&mut self) -> (Vec<String>, Vec<String>) {
        let effects = self.effects.take();
        let now = self.clock.now_ms();
        let relative = |word: String| match word.parse::<i64>() {
            Ok(at) if at.abs_diff(now) < 1_000_000_000 => format!("now{:+}", at - now),
            _ => word,
        };
        let effects = effects.into_iter().map(|effect| effect.into_iter().map(relative).collect::<Vec<_>>().join(" "));
        let events = self.events.take();
        assert!(events.iter().all(|(_, key)| key == b"k"), "{events:?}");
        (effects.collect(), events.into_iter().map(|(event, _)| event).collect())
    }

    #[track_caller]
    fn assert_changed(&mut self, effects: &[&str], events: &[&str], what: &str) {
        let (sent, heard) = self.changes();
        assert_eq!(sent, effects, "{what}");
        assert_eq!(heard, events, "{what}");
    }

    #[track_caller]
    fn assert_unchanged(&mut self, what: &str) {
        self.assert_changed(&[], &[], what);
    }
}

/// `limit` units in a window that starts with the first request that finds no key.
#[test]
fn a_window_starts_with_its_first_request_and_ends_with_its_key() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut on = Stage::new(clock, &server);
        // The window of a FIXED would end in the middle of this one.
        on.step(MINUTE - on.clock.now_ms() % MINUTE - 20_000);
        for round in 0..2 {
            assert_eq!(on.triple("RL.WINDOW k 60 4"), [1, 0, 60], "{round}");
            on.assert_changed(&["SET k 1 PXAT now+60000"], &["set", "expire"], "the first");
            assert_eq!(on.state(), (Some(1), MINUTE));
            on.step(25_000);
            let second = on.full("RL.WINDOW k 60 4");
            assert_eq!((second.triple(), second.limit, second.remaining), ([1, 1, 35], 4, 2));
            assert_eq!(
                [second.retry_after_ms, second.next_ms, second.reset_ms, second.charged],
                [0, 35_000, 35_000, 1]
            );
            on.assert_changed(&["INCR k"], &["incrby"], "a later one");
            // What does not fit counts nothing, and what fits still does.
            assert_eq!(on.triple("RL.WINDOW k 60 4 COST 3"), [0, 2, 35]);
            assert_eq!(on.triple("RL.WINDOW k 60 4 COST 5"), [0, 2, -1], "never");
            on.assert_unchanged("a denial");
            assert_eq!(on.triple("RL.WINDOW k 60 4 COST 2"), [1, 2, 35]);
            on.assert_changed(&["INCRBY k 2"], &["incrby"], "a cost of 2");
            on.step(34_999);
            let denied = on.full("RL.WINDOW k 60 4");
            assert_eq!((denied.triple(), denied.remaining, denied.charged), ([0, 4, 1], 0, 0));
            assert_eq!([denied.retry_after_ms, denied.next_ms, denied.reset_ms], [1, 1, 1]);
            assert_eq!(on.state(), (Some(4), 1));
            on.assert_unchanged("a denial of one that is full");
            // In this millisecond the key expires, and Redis still has it.
            on.step(1);
            assert_eq!(on.triple("RL.PEEK WINDOW k 60 4 COST 4"), [1, 0, 60]);
            on.assert_unchanged("a look");
        }
        assert_eq!(on.triple("RL.WINDOW k 60 4 COST 3"), [1, 0, 60]);
        assert_eq!(on.state(), (Some(3), MINUTE));
        on.assert_changed(&["SET k 3 PXAT now+60000"], &["set", "expire"], "the first of a window");
    });
}

#[test]
fn plain_commands_work_on_it() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut on = Stage::new(clock, &server);
        on.triple("RL.WINDOW k 60 9 COST 2");
        on.step(10_000);
        ok(on.send("INCRBY k 5"));
        assert_eq!(on.triple("RL.WINDOW k 60 9"), [1, 7, 50]);
        ok(on.send("DECRBY k 8"));
        assert_eq!(ok(on.send("GET k")), bytes("0"));
        assert_eq!(on.full("RL.PEEK WINDOW k 60 9 COST 0").remaining, 9);
        // A counter of 0 is in a window, which goes on.
        assert_eq!(on.triple("RL.WINDOW k 60 9"), [1, 0, 50]);
        assert_eq!(on.state(), (Some(1), 50_000));
        // A counter and an expiry that a client wrote.
        on.given(3, Some(7_000));
        assert_eq!(on.triple("RL.WINDOW k 60 4"), [1, 3, 7]);
        assert_eq!(on.triple("RL.WINDOW k 60 4"), [0, 4, 7]);
        on.assert_changed(&["INCR k"], &["incrby"], "by hand");
        // Any counter is a number of units.
        on.given(i64::MAX, Some(7_000));
        assert_eq!(on.triple(&format!("RL.WINDOW k 60 {}", i64::MAX)), [0, i64::MAX, 7]);
        // GCRA's state is an integer too.
        ok(on.send("DEL k"));
        ok(on.send("RL.GCRA k 60 5"));
        assert_eq!(on.triple("RL.WINDOW k 60 5")[0], 0);
        on.given(1, Some(7_000));
        assert_eq!(on.triple("RL.GCRA k 60 5")[0], 1);
    });
}

/// The calls that charge, deny and look, and what becomes of an expiry that is missing, or too late, or right.
#[test]
fn an_expiry_that_is_missing_or_too_late_becomes_a_window_from_now() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut on = Stage::new(clock, &server);
        for left in [None, Some(MINUTE + 1), Some(3_600_000)] {
            let what = format!("{left:?}");
            let kept = left.unwrap_or(-1);
            // Charged, denied, a cost of 0, and a correction of nothing.
            for (call, value, effect, events) in [
                ("RL.WINDOW k 60 4", 4, "SET k 4 PXAT now+60000", &["set", "expire"][..]),
                ("RL.WINDOW k 60 3", 3, "PEXPIREAT k now+60000", &["expire"]),
                ("RL.WINDOW k 60 9 COST 0", 3, "PEXPIREAT k now+60000", &["expire"]),
                ("RL.WINDOW k 60 3 COST 2 PARTIAL", 3, "PEXPIREAT k now+60000", &["expire"]),
                ("RL.MULTI 1 WINDOW k 60 4", 4, "SET k 4 PXAT now+60000", &["set", "expire"]),
                ("RL.MULTI 1 WINDOW k 60 2", 3, "PEXPIREAT k now+60000", &["expire"]),
                ("RL.REFUND WINDOW k 60 4", 2, "SET k 2 PXAT now+60000", &["set", "expire"]),
                ("RL.SETTLE WINDOW k 60 4 RESERVED 0 ACTUAL 4", 7, "SET k 7 PXAT now+60000", &["set", "expire"]),
            ] {
                on.given(3, left);
                ok(on.send(call));
                assert_eq!(on.state(), (Some(value), MINUTE), "{call}, {what}");
                on.assert_changed(&[effect], events, &format!("{call}, {what}"));
            }
            // A look replies as if the expiry were right, and changes nothing.
            on.given(3, left);
            for call in ["RL.PEEK WINDOW k 60 4", "RL.PEEK WINDOW k 60 3"] {
                assert_eq!(on.full(call).reset_ms, MINUTE, "{call}, {what}");
                assert_eq!(on.state(), (Some(3), kept), "{call}, {what}");
            }
            on.assert_unchanged(&what);
            // Shadow mode counts, and never changes the expiry.
            for (setting, option) in [("no", " SHADOW"), ("yes", "")] {
                ok(on.send(&format!("CONFIG SET rl.shadow {setting}")));
                for (limit, value, effects, events) in
                    [(3, 3, &[][..], &[][..]), (9, 4, &["INCR k"][..], &["incrby"][..])]
                {
                    on.given(3, left);
                    assert_eq!(on.triple(&format!("RL.WINDOW k 60 {limit}{option}"))[..2], [1, 3], "{what}");
                    assert_eq!(on.state(), (Some(value), kept), "{setting}, {limit}, {what}");
                    on.assert_changed(effects, events, &what);
                }
                ok(on.send("CONFIG SET rl.shadow no"));
            }
        }
        // A window that runs, and one that a longer window names, keep their expiry.
        for call in ["RL.WINDOW k 60 9", "RL.WINDOW k 60 3", "RL.WINDOW k 1h 3", "RL.WINDOW k 1h 9"] {
            for left in [1, 30_000, MINUTE] {
                on.given(3, Some(left));
                ok(on.send(call));
                assert_eq!(on.state().1, left, "{call}");
            }
        }
        // A first request under shadow mode starts a window.
        ok(on.send("DEL k"));
        on.changes();
        assert_eq!(on.triple("RL.WINDOW k 60 9 SHADOW"), [1, 0, 60]);
        on.assert_changed(&["SET k 1 PXAT now+60000"], &["set", "expire"], "a new key");
        // A clock that steps back by an hour.
        on.step(-3_600_000);
        on.changes();
        assert_eq!(on.triple("RL.WINDOW k 60 1"), [0, 1, 60]);
        assert_eq!(on.state(), (Some(1), MINUTE));
        on.assert_changed(&["PEXPIREAT k now+60000"], &["expire"], "the clock stepped back");
        on.step(MINUTE);
        assert_eq!(on.triple("RL.WINDOW k 60 1")[0], 1, "blocked for a window at most");
    });
}

#[test]
fn a_negative_counter_counts_as_0_and_the_next_charge_overwrites_it() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut on = Stage::new(clock, &server);
        for left in [None, Some(7_000), Some(3_600_000)] {
            for (call, value) in [
                ("RL.WINDOW k 60 4 COST 2", 2),
                ("RL.MULTI 1 WINDOW k 60 4 COST 2", 2),
                ("RL.SETTLE WINDOW k 60 4 RESERVED 0 ACTUAL 5", 5),
            ] {
                on.given(-3, left);
                assert_eq!(on.full("RL.PEEK WINDOW k 60 4 COST 4").triple()[..2], [1, 0]);
                assert_eq!(on.full("RL.PEEK WINDOW k 60 4 COST 5").remaining, 4);
                on.assert_unchanged("a look");
                ok(on.send(call));
                assert_eq!(on.state(), (Some(value), MINUTE), "{call}, {left:?}");
                on.assert_changed(&[&format!("SET k {value} PXAT now+60000")], &["set", "expire"], call);
            }
            // A denial and a refund leave the value.
            for call in ["RL.WINDOW k 60 0", "RL.WINDOW k 60 4 COST 5", "RL.REFUND WINDOW k 60 4 COST 2"] {
                on.given(-3, left);
                ok(on.send(call));
                assert_eq!(on.state().0, Some(-3), "{call}, {left:?}");
            }
        }
        on.given(i64::MIN, Some(7_000));
        assert_eq!(on.triple("RL.WINDOW k 60 4"), [1, 0, 60]);
        assert_eq!(on.state(), (Some(1), MINUTE));
    });
}

/// Refunds and corrections change the counter itself, and leave the end of the window.
#[test]
fn refunds_and_corrections() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut on = Stage::new(clock, &server);
        for (value, call, after, effect) in [
            (3, "RL.REFUND WINDOW k 60 5", 2, "INCRBY k -1"),
            (9, "RL.REFUND WINDOW k 60 5 COST 2", 7, "INCRBY k -2"),
            (9, "RL.SETTLE WINDOW k 60 5 RESERVED 3 ACTUAL 1", 7, "INCRBY k -2"),
            (3, "RL.SETTLE WINDOW k 60 5 RESERVED 1 ACTUAL 9", 11, "INCRBY k 8"),
            (3, "RL.SETTLE WINDOW k 60 5 RESERVED 1 ACTUAL 2", 4, "INCR k"),
        ] {
            on.given(value, Some(7_000));
            let reply = on.full(call);
            assert_eq!(
                (on.state(), reply.remaining),
                ((Some(after), 7_000), (5 - after - i64::from(after < 5)).max(0)),
                "{call}"
            );
            on.assert_changed(&[effect], &["incrby"], call);
        }
        // What leaves nothing deletes the key.
        for call in [
            "RL.REFUND WINDOW k 60 5 COST 3",
            "RL.REFUND WINDOW k 60 5 COST 9223372036854775807",
            "RL.REFUND WINDOW k 60 0 COST 4",
            "RL.SETTLE WINDOW k 60 5 RESERVED 3 ACTUAL 0",
            "RL.RESET WINDOW k 60",
        ] {
            for left in [None, Some(7_000), Some(3_600_000)] {
                on.given(3, left);
                ok(on.send(call));
                assert_eq!(on.state(), (None, -2), "{call}");
                on.assert_changed(&["UNLINK k"], &["del"], call);
                ok(on.send(call));
                on.assert_unchanged(call);
            }
        }
        // A sum beyond the largest integer is an error.
        on.given(3, Some(7_000));
        let text = err(on.send(&format!("RL.SETTLE WINDOW k 60 5 RESERVED 0 ACTUAL {}", i64::MAX - 2)));
        assert_eq!(text, OVERFLOW);
        on.assert_unchanged("an error");
        ok(on.send(&format!("RL.SETTLE WINDOW k 60 5 RESERVED 0 ACTUAL {}", i64::MAX - 3)));
        assert_eq!(on.state(), (Some(i64::MAX), 7_000));
    });
}

/// AT is the time of the charge: `ago` milliseconds before now. 20 seconds of the running window have passed.
#[test]
fn a_correction_with_the_time_of_the_charge() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut on = Stage::new(clock, &server);
        let at = |on: &Stage, ago: i64| on.clock.now_ms() - ago;
        // How long ago, and what is left of 5 units after 2 are given back, and after 3 more are charged.
        for (ago, refunded, charged) in [
            (0, 3, 8),
            (20_000, 3, 8),
            (20_001, 5, 8),
            (MINUTE - 1, 5, 8),
            (MINUTE, 5, 5),
            (1_000_000, 5, 5),
            (-1_000, 3, 8),
        ] {
            for (call, value) in [
                ("RL.REFUND WINDOW k 60 9 COST 2", refunded),
                ("RL.SETTLE WINDOW k 60 9 RESERVED 4 ACTUAL 2", refunded),
                ("RL.SETTLE WINDOW k 60 9 RESERVED 1 ACTUAL 4", charged),
            ] {
                on.given(5, Some(40_000));
                let at = at(&on, ago);
                ok(on.send(&format!("{call} AT {at}")));
                assert_eq!(on.state(), (Some(value), 40_000), "{call}, {ago} ms ago");
            }
        }
        // No window runs: the charge starts one, unless its own would be over.
        for (ago, expected) in [(0, (Some(3), MINUTE)), (MINUTE - 1, (Some(3), MINUTE)), (MINUTE, (None, -2))] {
            ok(on.send("DEL k"));
            let at = at(&on, ago);
            ok(on.send(&format!("RL.SETTLE WINDOW k 60 9 RESERVED 1 ACTUAL 4 AT {at}")));
            assert_eq!(on.state(), expected, "{ago} ms ago");
            ok(on.send("DEL k"));
            ok(on.send(&format!("RL.REFUND WINDOW k 60 9 COST 2 AT {at}")));
            assert_eq!(on.state(), (None, -2));
        }
    });
}

#[test]
fn several_limits_are_charged_together_or_not_at_all() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut on = Stage::new(clock, &server);
        on.given(2, Some(7_000));
        let both = "RL.MULTI 2 WINDOW k 60 4 COST 2 WINDOW other 10 1";
        let (allowed, replies): (i64, [[i64; 3]; 2]) = read(ok(on.send(both)));
        assert_eq!((allowed, replies), (1, [[1, 2, 7], [1, 0, 10]]));
        assert_eq!(on.state(), (Some(4), 7_000));
        assert_eq!(ok(on.send("GET other")), bytes("1"));
        let before = digest(&mut on.con);
        let (allowed, replies): (i64, [[i64; 3]; 2]) =
            read(ok(on.send("RL.MULTI 2 WINDOW k 60 9 COST 2 WINDOW other 10 1")));
        assert_eq!((allowed, replies), (0, [[1, 4, 7], [0, 1, 10]]));
        assert_eq!((digest(&mut on.con), on.state()), (before, (Some(4), 7_000)));
        // Both would change one key.
        assert!(err(on.send("RL.MULTI 2 WINDOW k 60 9 GCRA k 60 9")).starts_with("ERR limit 2: invalid key: "));
    });
}

/// Only what creates a key needs memory.
#[test]
fn at_maxmemory_a_window_that_runs_goes_on() {
    for_each_server(|bin| {
        let (clock, server) = FrozenClock::server(bin);
        let mut on = Stage::new(clock, &server);
        for (on_oom, new) in [("allow", Ok(1)), ("deny", Ok(0)), ("error", Err(()))] {
            ok(on.send("CONFIG SET maxmemory 0"));
            ok(on.send(&format!("CONFIG SET rl.on-oom {on_oom}")));
            on.given(-3, None);
            ok(on.send("CONFIG SET maxmemory 1"));
            assert_eq!(on.triple("RL.WINDOW k 60 4"), [1, 0, 60], "{on_oom}");
            assert_eq!(on.triple("RL.WINDOW k 60 4"), [1, 1, 60], "{on_oom}");
            ok(on.send("RL.SETTLE WINDOW k 60 4 RESERVED 1 ACTUAL 9"));
            ok(on.send("PERSIST k"));
            assert_eq!(on.triple("RL.WINDOW k 60 4"), [0, 10, 60], "{on_oom}");
            assert_eq!(on.state(), (Some(10), MINUTE), "{on_oom}");
            let reply = on.send("RL.WINDOW new 60 4").map(|reply| read::<[i64; 3]>(reply)[0]);
            assert_eq!(reply.map_err(|_| ()), new, "{on_oom}");
            assert_eq!(ok(on.send("EXISTS new")), Value::Int(0), "{on_oom}");
        }
    });
}

/// Requests, corrections, resets and plain commands at random.
fn mixed(con: &mut Connection, random: &mut Random, calls: u64) {
    for _ in 0..calls {
        let key = format!("k:{}", random.below(6));
        let window = random.pick(&["1h", "100d"]);
        let limit = random.pick(&["3", "20"]);
        let cost = random.below(5).to_string();
        let at = (server_ms(con) - random.below(200) as i64).to_string();
        let limited = [&key, window, limit];
        match random.below(12) {
            0 => ok(cmd!(*con, "RL.REFUND", "WINDOW", &limited, "COST", &cost)),
            1 => ok(cmd!(*con, "RL.REFUND", "WINDOW", &limited, "COST", &cost, "AT", at)),
            2 => ok(cmd!(*con, "RL.SETTLE", "WINDOW", &limited, "RESERVED", 2, "ACTUAL", &cost, "AT", at)),
            3 => ok(cmd!(*con, "RL.WINDOW", &limited, "COST", &cost, "ALWAYS")),
            4 => ok(cmd!(*con, "RL.WINDOW", &limited, "COST", &cost, "SHADOW")),
            5 => ok(cmd!(*con, "RL.MULTI", 1, "WINDOW", &limited, "COST", &cost)),
            6 => ok(cmd!(*con, random.pick(&["INCRBY", "DECRBY"]), &key, &cost)),
            7 if random.below(2) == 0 => ok(cmd!(*con, "PERSIST", &key)),
            7 => ok(cmd!(*con, "PEXPIRE", &key, 90_000_000)),
            8 if random.below(3) == 0 => ok(cmd!(*con, "RL.RESET", "WINDOW", &key, window)),
            _ => ok(cmd!(*con, "RL.WINDOW", &limited, "COST", &cost)),
        };
    }
}

#[test]
fn replicas_and_a_restart_have_what_the_master_has() {
    let contents = |con: &mut Connection| -> Vec<(String, String, i64)> {
        let all = keys(con).into_iter();
        all.map(|key| {
            let (value, expires_at) = (read(ok(cmd!(*con, "GET", &key))), expires_at(con, &key));
            (key, value, expires_at)
        })
        .collect()
    };
    for_each_server(|bin| {
        let mut master = Server::options(bin).durable().start();
        let replicas = start_replicas(bin, &master);
        for seed in [1, 2, 3] {
            let mut con = master.con();
            let mut effects = Effects::of(&master);
            mixed(&mut con, &mut Random::new(seed), 400);
            let sent: Vec<Vec<String>> = effects.take();
            let ours = sent.iter().filter(|effect| !["PERSIST", "DECRBY", "PEXPIRE"].contains(&effect[0].as_str()));
            assert_plain(&ours.cloned().collect::<Vec<_>>());
            let held = contents(&mut con);
            assert!(held.len() > 2, "seed {seed}: {held:?}");
            for replica in &replicas {
                wait_for_replica(&master, replica);
                assert_eq!(contents(&mut replica.con()), held, "seed {seed}");
            }
        }
        let held = contents(&mut master.con());
        master.kill();
        master.start_again();
        assert_eq!(contents(&mut master.con()), held, "after a restart");
    });
}
