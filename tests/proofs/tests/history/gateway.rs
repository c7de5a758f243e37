//! Gateways that reserve and commit over HTTP: a thousand streams at once over two copies of rlaas, while copies, callers
//! and the server are killed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::call::{Call, Figures, Kind, Limit, Outcome, now_us};
use crate::faults::{self, World};
use crate::service::{Http, Service};
use crate::support::{Done, Random, for_each_server};
use crate::{History, Route, checker, number};

pub const DOMAIN: &str = "gateway";
const STREAMS: usize = 1_000;
const COPIES: usize = 2;
/// Each has a part of the streams, and is killed with all of them.
const CALLERS: usize = 8;

const TTL_US: u64 = 2_000_000;
/// The server's time is cut to milliseconds, and may be ahead by one.
const CUT_US: u64 = 5_000;
/// The tokens of a second, the streams at once, and the tokens of all time.
const TOKENS: Limit = Limit { algorithm: "ROLLING", window_ms: 1_000, limit: 2_000 };
const INSIDE: Limit = Limit { algorithm: "LEASE", window_ms: TTL_US / 1_000, limit: 40 };
const ALL: Limit = Limit { algorithm: "FIXED", window_ms: 1_000_000_000_000, limit: 4_000_000_000 };
/// The key of the last one.
const KEY: &str = "rl:gateway:fixed:1000000000:all=a";

pub fn rules() -> String {
    let [tokens, inside, all] = [TOKENS, INSIDE, ALL].map(|limit| limit.limit);
    format!(
        "domain: {DOMAIN}
descriptors:
  - {{key: tokens, rate_limit: {{algorithm: rolling, window: 1s, limit: {tokens}}}}}
  - {{key: inside, rate_limit: {{algorithm: lease, limit: {inside}}}}}
  - {{key: all, rate_limit: {{algorithm: fixed, window: 1000000000s, limit: {all}}}}}
"
    )
}

#[test]
fn what_gateways_reserve_is_bounded_and_comes_back() {
    for_each_server(|bin| {
        let (mut world, mut history, seed) = (World::pair(bin), History::default(), number("SEED", 1));
        let mut random = Random::new(seed);
        let redis = Route::Primary(&world.port).address();
        let start = || Service::start(&redis, 1_000);
        let mut copies = [(); COPIES].map(|()| start());
        let addresses = copies.each_ref().map(|copy| Mutex::new(copy.http.clone()));
        let (kills, done) = ([const { AtomicU64::new(0) }; CALLERS], AtomicBool::new(false));
        let streams: Vec<Stream<'_>> = thread::scope(|scope| {
            let spawn = |stream: usize| {
                let random = Random::new(seed.wrapping_mul(10_000).wrapping_add(stream as u64));
                let stream = Stream::new(&addresses, &kills[stream % CALLERS], random);
                // The streams are many, and need little.
                let thread = thread::Builder::new().stack_size(256 << 10);
                thread.spawn_scoped(scope, || stream.run(&done)).expect("a thread")
            };
            let streams: Vec<_> = (0..STREAMS).map(spawn).collect();
            let finish = Done(&done);
            let end = now_us() + number("SECONDS", 6) * 1_000_000;
            for fault in 0.. {
                thread::sleep(Duration::from_millis(200 + random.below(500)));
                if now_us() > end {
                    break;
                }
                match fault % 3 {
                    0 => faults::kill(&mut world, &mut random, &mut history),
                    1 => {
                        history.happened("kill -9 of rlaas");
                        let at = random.below(COPIES as u64) as usize;
                        copies[at] = start();
                        addresses[at].lock().expect("no panic").clone_from(&copies[at].http);
                    }
                    _ => {
                        history.happened("kill of a caller");
                        kills[random.below(CALLERS as u64) as usize].fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
            drop(finish);
            streams.into_iter().map(|stream| stream.join().expect("no panic")).collect()
        });
        let sum = |of: fn(&Stream<'_>) -> u64| streams.iter().map(of).sum::<u64>();
        let (denied, settled, unsure) = (sum(|of| of.denied), sum(|of| of.settled), sum(|of| of.unsure));
        let calls: Vec<Call> = streams.iter().flat_map(|stream| stream.calls.iter().cloned()).collect();
        // What nobody has committed comes back with the next call.
        thread::sleep(Duration::from_micros(TTL_US) + Duration::from_secs(1));
        Stream::new(&addresses, &kills[0], random).commit(&json!("none"), 0, 0);
        let counted = faults::peek(&mut world.primaries[0].con(), &[(KEY.to_owned(), ALL)]).expect("a count")[0].units;
        println!(
            "seed {seed}, {} times held, {denied} denied, {settled} tokens settled, {unsure} perhaps, {counted} counted, {:?}",
            calls.len(),
            history.faults
        );
        assert!((settled..=settled + unsure).contains(&counted));
        checker::check(&calls, &[], &[]).unwrap_or_else(|offence| panic!("{offence}"));
        // Else the streams would have held too little.
        for key in ["tokens", "inside"] {
            let of_key = calls.iter().filter(|call| call.key == key).cloned();
            let less = |call: Call| Call { limit: Limit { limit: call.limit.limit / 4, ..call.limit }, ..call };
            checker::check(&of_key.map(less).collect::<Vec<_>>(), &[], &[]).expect_err(key);
        }
        drop(copies);
        world.rests().unwrap_or_else(|offence| panic!("{offence}"));
    });
}

/// A client of a gateway.
struct Stream<'a> {
    addresses: &'a [Mutex<String>],
    /// How often its caller was killed.
    kills: &'a AtomicU64,
    random: Random,
    http: Option<Http<String>>,
    /// What it held for sure.
    calls: Vec<Call>,
    denied: u64,
    /// Tokens that were committed, and those that may have been.
    settled: u64,
    unsure: u64,
}

impl<'a> Stream<'a> {
    const fn new(addresses: &'a [Mutex<String>], kills: &'a AtomicU64, random: Random) -> Self {
        Self { addresses, kills, random, http: None, calls: Vec::new(), denied: 0, settled: 0, unsure: 0 }
    }

    fn run(mut self, done: &AtomicBool) -> Self {
        self.pause(0, 1_000);
        while !done.load(Ordering::Relaxed) {
            self.step();
        }
        self
    }

    /// Reserves, works, and commits, if its caller was not killed meanwhile.
    fn step(&mut self) {
        let (kills, estimate, begun_us) = (self.kills.load(Ordering::Relaxed), 1 + self.random.below(40), now_us());
        let reserved = self.post("/reserve", &[("amount", json!(estimate)), ("ttl", json!("2s"))]);
        let held_us = now_us();
        let Some((200, reserved)) = reserved else {
            self.denied += u64::from(reserved.is_some_and(|(status, _)| status == 429));
            return self.pause(1_000, 2_000);
        };
        self.pause(100, 500);
        let is_killed = self.kills.load(Ordering::Relaxed) != kills;
        let settled_us = if is_killed { u64::MAX } else { now_us() };
        let leaves_us = begun_us + TOKENS.window_ms * 1_000;
        self.held("tokens", TOKENS, estimate, held_us, settled_us.min(leaves_us));
        self.held("inside", INSIDE, 1, held_us, settled_us.min(begun_us + TTL_US));
        if is_killed {
            self.http = None;
            return;
        }
        // More than the estimate counts too; the promise does not bound that.
        let actual = self.random.below(60);
        if self.commit(&reserved["reservationId"], actual, begun_us + 2 * TTL_US) {
            self.settled += actual;
            self.held("tokens", TOKENS, actual.min(estimate), settled_us, leaves_us);
        } else {
            self.unsure += actual;
        }
    }

    /// Sends it until there is a reply. Whether this surely settled the reservation, once.
    fn commit(&mut self, id: &Value, actual: u64, ends_us: u64) -> bool {
        let mut is_first = true;
        loop {
            let reply = self.post("/commit", &[("reservationId", id.clone()), ("actualAmount", json!(actual))]);
            let is_late = now_us() > ends_us;
            if let Some((200, reply)) = reply {
                let is_known = reply["reservationReleased"] == true;
                assert!(is_known || !is_first || is_late, "the reservation {id} is lost");
                return is_known && !is_late;
            }
            if is_late {
                return false;
            }
            is_first = false;
            self.pause(20, 20);
        }
    }

    fn held(&mut self, key: &str, limit: Limit, units: u64, begun_us: u64, until_us: u64) {
        let outcome = Outcome::Reply(Figures { allowed: true, charged: units, ..Figures::default() });
        let call = Call::new(0, DOMAIN, key.to_owned(), limit, Kind::Held);
        self.calls.push(Call { begun_us, ended_us: until_us - CUT_US, outcome, ..call });
    }

    /// The reply of a copy of rlaas.
    fn post(&mut self, path: &str, fields: &[(&str, Value)]) -> Option<(u16, Value)> {
        let http = self.http.take().filter(|_| self.random.below(4) > 0);
        let mut http = http.unwrap_or_else(|| {
            let address = &self.addresses[self.random.below(COPIES as u64) as usize];
            Http::new(address.lock().expect("no panic").clone())
        });
        let descriptor = |key: &str| json!({"entries": [{"key": key, "value": "a"}]});
        let mut inside = descriptor("inside");
        inside["hitsAddend"] = json!(1);
        let mut body = json!({"domain": DOMAIN, "descriptors": [descriptor("tokens"), descriptor("all"), inside]});
        for (name, value) in fields {
            body[name] = value.clone();
        }
        let (status, text) = http.post(path, &body)?;
        assert!([200, 429, 503].contains(&status), "{status}: {text}");
        self.http = Some(http);
        Some((status, serde_json::from_str(&text).unwrap_or_default()))
    }

    fn pause(&mut self, least_ms: u64, more_ms: u64) {
        thread::sleep(Duration::from_millis(least_ms + self.random.below(more_ms)));
    }
}
