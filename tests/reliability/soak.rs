//! Any number of requests later, nothing is left but what still counts: memory is flat, keys are gone with their
//! windows, and what was admitted is what clients were told.

use std::time::Instant;

use redis::Connection;

use crate::resp::{Call, Client, Reply};
use crate::support::{PATIENCE, Random, Server, eventually, for_each_server, info, ok};
use crate::{ALGORITHMS, LONG, assert_sound, cmd, each, remaining, report};

const LIMIT: u64 = 2_000;

/// What the clients know of a key whose window does not end.
#[derive(Clone, Copy, Default)]
struct Known {
    taken: u64,
    denied: u64,
}

/// What a request was for, to make something of its reply.
#[derive(Clone, Copy)]
enum Asked {
    /// So much of a long window.
    Long(usize, u64),
    /// So much back.
    Refund(usize, u64),
    Short,
}

struct Traffic {
    random: Random,
    known: [Known; ALGORITHMS.len()],
    calls: u64,
}

impl Traffic {
    fn next(&mut self) -> (String, Asked) {
        let at = self.random.below(ALGORITHMS.len() as u64) as usize;
        let algorithm = ALGORITHMS[at];
        let cost = 1 + self.random.below(3);
        let window = self.random.pick(&["100ms", "300ms", "1"]);
        // One algorithm each, or they would be of the wrong type.
        let key = format!("short:{algorithm}:{}", self.random.below(3_000));
        let call = match self.random.below(20) {
            0..=4 => {
                return (format!("RL.{algorithm} long:{algorithm} {LONG} {LIMIT} COST {cost}"), Asked::Long(at, cost));
            }
            5 => {
                return (
                    format!("RL.REFUND {algorithm} long:{algorithm} {LONG} {LIMIT} COST {cost}"),
                    Asked::Refund(at, cost),
                );
            }
            6 => format!("RL.PEEK {algorithm} {key} {window} 5 HEADERS"),
            7 => format!("RL.RESET {algorithm} {key} {window}"),
            8 => format!("RL.REFUND {algorithm} {key} {window} 5 COST {cost}"),
            9 => format!("RL.THROTTLE short:throttle:{} 5 30 1", self.random.below(3_000)),
            10 | 11 => {
                let limits: Vec<String> = ALGORITHMS
                    .iter()
                    .map(|algorithm| {
                        let (key, cost) = (self.random.below(3_000), self.random.below(4));
                        format!("{algorithm} short:{algorithm}:{key} {window} 5 COST {cost}")
                    })
                    .collect();
                format!("RL.MULTI {} {} FULL", limits.len(), limits.join(" "))
            }
            12 => format!("RL.{algorithm} {key} {window} 5 COST {cost} FULL"),
            13 => format!("RL.{algorithm} {key} {window} 5 COST 0"),
            _ => format!("RL.{algorithm} {key} {window} 5 COST {cost}"),
        };
        (call, Asked::Short)
    }

    /// Sends some hundred requests, and books what was answered.
    fn send(&mut self, client: &mut Client) {
        let (texts, asked): (Vec<String>, Vec<Asked>) = (0..500).map(|_| self.next()).unzip();
        let calls: Vec<Call> = texts.iter().map(|text| text.split(' ').map(Into::into).collect()).collect();
        for (reply, asked) in client.pipeline(&calls).iter().zip(asked) {
            self.calls += 1;
            let known = &mut self.known;
            match (asked, reply) {
                (Asked::Long(at, cost), Reply::Array(parts)) => match parts[0] {
                    Reply::Integer(1) => known[at].taken += cost,
                    _ => known[at].denied += 1,
                },
                (Asked::Refund(at, cost), Reply::Array(_)) => known[at].taken = known[at].taken.saturating_sub(cost),
                (Asked::Short, Reply::Array(_) | Reply::Integer(_)) => {}
                (_, odd) => panic!("{odd:?}"),
            }
        }
    }
}

fn number(con: &mut Connection, field: &str) -> u64 {
    info(con, field).parse().expect("a number")
}

/// Bytes used and resident, when nothing but the long windows is left.
fn at_rest(con: &mut Connection) -> [u64; 2] {
    let over = eventually(PATIENCE, || {
        let size: usize = redis::cmd("DBSIZE").query(con).expect("DBSIZE");
        size == ALGORITHMS.len()
    });
    let keys: Vec<String> = redis::cmd("KEYS").arg("short:*").query(con).expect("KEYS");
    assert!(over, "keys that outlive their windows: {:?}", &keys[..keys.len().min(20)]);
    ok(cmd!(*con, "MEMORY", "PURGE"));
    [number(con, "used_memory"), number(con, "used_memory_rss")]
}

#[test]
fn nothing_piles_up_and_nothing_is_miscounted() {
    for_each_server(|bin| {
        let mut server = Server::start(bin);
        let mut con = server.con();
        let mut client = Client::connect(&server, false);
        let mut traffic = Traffic { random: Random::new(9), known: Default::default(), calls: 0 };
        // Until what fills is full and what is allocated once is allocated.
        let begin = Instant::now();
        while begin.elapsed() < each() / 4 || traffic.known.iter().any(|known| known.denied == 0) {
            traffic.send(&mut client);
        }
        let [used_before, resident_before] = at_rest(&mut con);
        let begin = Instant::now();
        while begin.elapsed() < each() {
            traffic.send(&mut client);
        }
        let [used, resident] = at_rest(&mut con);
        assert!(used < used_before + 500_000, "{used_before} bytes have come to be {used}");
        assert!(resident < resident_before + 8_000_000, "{resident_before} resident bytes have come to be {resident}");
        for (algorithm, known) in ALGORITHMS.iter().zip(traffic.known) {
            let left = remaining(&mut con, algorithm, &format!("long:{algorithm}"), LONG, LIMIT);
            assert_eq!(LIMIT - left, known.taken, "{algorithm}");
        }
        assert_sound(&mut server);
        report(&format!("{} calls; {used_before} bytes before, {used} after", traffic.calls));
    });
}
