//! RESERVE and RESERVATION: how many reservations a limit has, and what INFO counts of them. What is charged, corrected and
//! given back is in cases.txt and differential.rs.
//! guarantee: reservations

use redis::{Connection, Value};
use redis_rl_algorithm::reservation::MAX_RESERVATIONS;

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
        let reserve = |id: u64| format!("RL.WINDOW k 1d 1000000 RESERVE {id} 10s");
        let mut pipe = redis::pipe();
        (0..MAX_RESERVATIONS).for_each(|id| _ = pipe.add_command(call(&reserve(id))).ignore());
        pipe.exec(&mut con).expect("reservations");
        clock.step(&mut con, 4_000);
        let denied = full_of_call(&mut con, &reserve(MAX_RESERVATIONS));
        assert_eq!((denied.allowed, denied.retry_after_ms, denied.ttl, denied.charged), (0, 6_000, 6, 0));
        assert_eq!(full_of_call(&mut con, &reserve(7)).charged, 1, "an open id needs no room");
        ok(send(&mut con, "RL.SETTLE WINDOW k 1d 1000000 RESERVATION 8 ACTUAL 1"));
        assert_eq!(full_of_call(&mut con, &reserve(MAX_RESERVATIONS)).charged, 1);
        // All but two end at once.
        clock.step(&mut con, 6_000);
        let reply = full_of_call(&mut con, "RL.SETTLE WINDOW k 1d 1000000 RESERVATION unknown ACTUAL 1");
        assert_eq!(reply.remaining, 1_000_000 - 3 - 1);
        assert_eq!(ok(cmd!(con, "HLEN", "k:reserved")), Value::Int(MAX_RESERVATIONS.cast_signed() + 1), "marks");
        let counted =
            ["made", "repeated", "settled", "ended"].map(|name| info(&mut con, &format!("rl_reservations_{name}")));
        let [made, ended] = [MAX_RESERVATIONS + 1, MAX_RESERVATIONS - 2].map(|count| count.to_string());
        assert_eq!(counted, [made, "1".into(), "1".into(), ended]);
        assert_eq!(info(&mut con, "rl_settlements"), "2");
    });
}
