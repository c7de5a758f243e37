//! Reservations while servers are killed, with an append-only file, and while a replica takes over. Clients send what had
//! no reply again. Then everything is charged once and corrected once, and what was given up has come back.
//!
//! `KILLS` is how often each server is killed, and how often it is replaced: 2 where it is not set.

use std::thread;
use std::time::Duration;

use redis::{Connection, RedisResult, Value};

use crate::support::{Options, PATIENCE, Random, Server, eventually, for_each_server, info, ok, wait_for_replica};
use crate::{LONG, assert_sound, cmd, report};

const CLIENTS: u64 = 4;
/// An abandoned reservation ends after it. No other ends while the test runs.
const SHORT_TTL: Duration = Duration::from_millis(100);

/// The limits of a call: RL.<ALGO> of one, RL.MULTI of several.
const SUBJECTS: [&[&str]; 5] = [
    &["FIXED one:fixed LONG"],
    &["WINDOW one:window LONG"],
    &["COUNTER one:counter LONG"],
    &["ROLLING one:rolling LONG"],
    &[
        "FIXED all month",
        "FIXED all year",
        "WINDOW all:window LONG",
        "COUNTER all:counter LONG",
        "ROLLING all:rolling LONG",
    ],
];

/// Units, by subject and limit.
type Units = [[u64; 5]; SUBJECTS.len()];

#[derive(Clone, Debug)]
enum Call {
    Reserve { subject: usize, id: String, cost: u64, abandoned: bool },
    Settle { subject: usize, limit: usize, id: String, reserved: u64, actual: u64 },
}

/// A client, and what it knows to be charged.
struct Client {
    name: u64,
    calls: u64,
    random: Random,
    /// A call that had no reply.
    unanswered: Option<Call>,
    to_settle: Vec<Call>,
    charged: Units,
    /// The limit that requests name, by subject. It is a little more than what is charged, so that some are denied.
    limit: [u64; SUBJECTS.len()],
    denied: u64,
}

fn words(subject: usize, limit: usize) -> String {
    SUBJECTS[subject][limit].replace("LONG", &LONG.to_string())
}

/// `charged`, the last figure, of a reply with LINE.
fn charged(line: &Value) -> u64 {
    let line = redis::from_redis_value_ref::<String>(line).expect("a line");
    line.split(' ').nth(11).and_then(|figure| figure.parse().ok()).expect("twelve figures")
}

fn send(con: &mut Connection, call: &str) -> RedisResult<Value> {
    let mut words = call.split(' ');
    redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).query(con)
}

impl Client {
    fn new(name: u64) -> Self {
        Self {
            name,
            calls: 0,
            random: Random::new(name),
            unanswered: None,
            to_settle: Vec::new(),
            charged: Units::default(),
            limit: [0; SUBJECTS.len()],
            denied: 0,
        }
    }

    /// The units charged of each limit; 0 each if the call is denied.
    fn reserve(&self, con: &mut Connection, call: &Call) -> RedisResult<Vec<u64>> {
        let Call::Reserve { subject, id, cost, abandoned } = call else { panic!("{call:?}") };
        let ttl = if *abandoned { SHORT_TTL } else { Duration::from_secs(86_400) }.as_millis();
        let limits: Vec<_> = (0..SUBJECTS[*subject].len())
            .map(|limit| {
                format!("{} {} COST {cost} RESERVE {id} {ttl}ms", words(*subject, limit), self.limit[*subject])
            })
            .collect();
        if let [one] = &limits[..] {
            return Ok(vec![charged(&send(con, &format!("RL.{one} LINE"))?)]);
        }
        let reply = send(con, &format!("RL.MULTI {} {} LINE", limits.len(), limits.join(" ")))?;
        let (_, lines): (u64, Vec<Value>) = redis::from_redis_value(reply).expect("a reply of RL.MULTI");
        Ok(lines.iter().map(charged).collect())
    }

    fn settle(con: &mut Connection, call: &Call) -> RedisResult<u64> {
        let Call::Settle { subject, limit, id, actual, .. } = call else { panic!("{call:?}") };
        let words = words(*subject, *limit);
        send(con, &format!("RL.SETTLE {words} 1 RESERVATION {id} ACTUAL {actual} LINE")).map(|line| charged(&line))
    }

    /// Sends a call, and notes what it has done. `again` says that it may have been received before.
    fn perform(&mut self, con: &mut Connection, call: &Call, again: bool, waits: bool) -> RedisResult<()> {
        // A reply counts once the replica has the change too. A denial has none.
        let replicated = |con: &mut Connection| -> RedisResult<()> {
            if waits && redis::cmd("WAIT").arg(1).arg(1_000).query::<u64>(con)? == 0 {
                return Err(std::io::Error::other("not replicated").into());
            }
            Ok(())
        };
        match *call {
            Call::Reserve { subject, ref id, cost, abandoned } => {
                let units = self.reserve(con, call)?;
                replicated(con)?;
                let allowed = units[0] > 0;
                assert!(units.iter().all(|&units| units == if allowed { cost } else { 0 }), "{call:?}: {units:?}");
                self.denied += u64::from(!allowed);
                if allowed && !abandoned {
                    for (limit, reserved) in units.into_iter().enumerate() {
                        self.charged[subject][limit] += reserved;
                        let actual = self.random.below(12);
                        self.to_settle.push(Call::Settle { subject, limit, id: id.clone(), reserved, actual });
                    }
                }
            }
            Call::Settle { subject, limit, reserved, actual, .. } => {
                let units = Self::settle(con, call)?;
                replicated(con)?;
                // A second settlement changes nothing.
                assert!(units == actual || again && units == 0, "{call:?}: {units} are charged");
                let charged = &mut self.charged[subject][limit];
                *charged = *charged - reserved + actual;
            }
        }
        Ok(())
    }

    /// Sends calls until the server is gone.
    fn work(&mut self, mut con: Connection, waits: bool) {
        loop {
            let open = self.to_settle.len();
            let call = if open > 0 && (open > 8 || self.random.below(2) == 0) {
                self.to_settle.swap_remove(self.random.below(open as u64) as usize)
            } else {
                self.calls += 1;
                let subject = self.random.below(SUBJECTS.len() as u64) as usize;
                let (cost, abandoned) = (1 + self.random.below(8), self.random.below(4) == 0);
                Call::Reserve { subject, id: format!("{}:{}", self.name, self.calls), cost, abandoned }
            };
            let result = self.perform(&mut con, &call, false, waits);
            if result.is_err() {
                self.unanswered = Some(call);
                return;
            }
            // A call that is sent again after its reply.
            match &call {
                Call::Settle { .. } if self.random.below(4) == 0 => match Self::settle(&mut con, &call) {
                    Ok(units) => assert_eq!(units, 0, "{call:?} again"),
                    Err(_) => return,
                },
                _ => {}
            }
        }
    }
}

/// What is counted of a limit.
fn counted(con: &mut Connection, subject: usize, limit: usize) -> u64 {
    let all = 1_000_000_000;
    let line = ok(send(con, &format!("RL.PEEK {} {all} COST 0 LINE", words(subject, limit))));
    let line = redis::from_redis_value_ref::<String>(&line).expect("a line");
    all - line.split(' ').nth(4).and_then(|figure| figure.parse::<u64>().ok()).expect("what remains")
}

/// Lets clients work on a server until `fault` has ended it and named the server to go on with.
fn rounds(mut server: Server, waits: bool, mut fault: impl FnMut(Server) -> Server) {
    let rounds = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(2);
    let mut clients: Vec<_> = (0..CLIENTS).map(Client::new).collect();
    let mut random = Random::new(25);
    let mut resent = 0;
    for round in 0..rounds {
        let total = |clients: &[Client], subject: usize, limit: usize| -> u64 {
            clients.iter().map(|client| client.charged[subject][limit]).sum()
        };
        for (subject, limits) in SUBJECTS.iter().enumerate() {
            let most = (0..limits.len()).map(|limit| total(&clients, subject, limit)).max();
            let limit = most.unwrap_or(0) + 100;
            clients.iter_mut().for_each(|client| client.limit[subject] = limit);
        }
        server = thread::scope(|scope| {
            let working: Vec<_> = clients
                .iter_mut()
                .map(|client| {
                    let con = server.con();
                    scope.spawn(move || client.work(con, waits))
                })
                .collect();
            let mut con = server.con();
            let served = |con: &mut Connection| info(con, "total_commands_processed").parse::<u64>().expect("a count");
            let some = served(&mut con) + 100 + random.below(400);
            assert!(eventually(PATIENCE, || served(&mut con) > some), "no load");
            let next = fault(server);
            working.into_iter().for_each(|client| client.join().expect("a client"));
            next
        });
        let mut con = server.con();
        for client in &mut clients {
            if let Some(call) = client.unanswered.take() {
                client.perform(&mut con, &call, true, false).expect("a reply");
                resent += 1;
            }
        }
        // What was abandoned is there at the first call after its end.
        thread::sleep(SHORT_TTL * 2);
        for (subject, limits) in SUBJECTS.iter().enumerate() {
            for (limit, name) in limits.iter().enumerate() {
                let call = format!("RL.{} 1000000000 COST 0 RESERVE probe 1ms LINE", words(subject, limit));
                ok(send(&mut con, &call));
                let (counted, expected) = (counted(&mut con, subject, limit), total(&clients, subject, limit));
                assert_eq!(counted, expected, "round {round}: {name}");
            }
        }
    }
    let [calls, denied] = [|client: &Client| client.calls, |client: &Client| client.denied]
        .map(|of: fn(&Client) -> u64| clients.iter().map(of).sum::<u64>());
    report(&format!("{rounds} times, {calls} reservations of which {denied} denied, {resent} calls sent again"));
    assert_sound(&mut server);
}

#[test]
fn reservations_are_charged_and_corrected_once_when_a_server_is_killed() {
    for_each_server(|bin| {
        let server = Server::options(bin).durable().start();
        rounds(server, false, |mut server| {
            server.kill();
            server.start_again();
            server
        });
    });
}

#[test]
fn reservations_are_charged_and_corrected_once_when_a_replica_takes_over() {
    for_each_server(|bin| {
        let server = Server::options(bin).start();
        let replica_of = |server: &Server| {
            let replica = Options::new(bin).replica_of(server).start();
            wait_for_replica(server, &replica);
            replica
        };
        let mut replica = Some(replica_of(&server));
        rounds(server, true, |mut server| {
            server.kill();
            let promoted = replica.take().expect("a replica");
            ok(cmd!(promoted.con(), "REPLICAOF", "NO", "ONE"));
            replica = Some(replica_of(&promoted));
            promoted
        });
    });
}
