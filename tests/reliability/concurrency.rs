//! Fifty clients at once get no more than the limit, and no less, with a replica following and the AOF written.

use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

use redis::{Connection, Value};

use crate::support::{Random, Server, digest, for_each_server, wait_for_replica};
use crate::{ALGORITHMS, LONG, assert_sound, each, remaining, report};

const CLIENTS: u64 = 50;

/// Runs `client`, with a number and a connection of its own each, all at the same time.
fn at_once<T: Send>(server: &Server, client: impl Fn(u64, Connection) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let client = &client;
        let start = |n| {
            let con = server.con();
            scope.spawn(move || client(n, con))
        };
        let running: Vec<_> = (0..CLIENTS).map(start).collect();
        running.into_iter().map(|client| client.join().expect("a client")).collect()
    })
}

/// A window that does not end while the test runs: of every key exactly the limit is admitted, if so many ask.
#[test]
fn of_a_window_exactly_the_limit_is_admitted() {
    const HOT: u64 = 3_000;
    const COLD: u64 = 3;
    for_each_server(|bin| {
        let mut master = Server::options(bin).set("appendonly", "yes").start();
        let replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let end = Instant::now() + each();
        let tallies = at_once(&master, |n, mut con| {
            let mut random = Random::new(n);
            // Asked and admitted, of each key.
            let mut tally: BTreeMap<(&str, String, u64), [u64; 2]> = BTreeMap::new();
            while Instant::now() < end {
                let algorithm = random.pick(&ALGORITHMS);
                let (key, limit) = if random.below(2) == 0 {
                    ("hot".to_owned(), HOT)
                } else {
                    (format!("cold:{}", random.below(300)), COLD)
                };
                let key = format!("{algorithm}:{key}");
                let cost = 1 + random.below(2);
                let reply: [u64; 3] = redis::cmd(&format!("RL.{algorithm}"))
                    .arg(&key)
                    .arg(LONG)
                    .arg(limit)
                    .arg("COST")
                    .arg(cost)
                    .query(&mut con)
                    .expect("a reply");
                let [asked, admitted] = tally.entry((algorithm, key, limit)).or_default();
                // Where one of 2 is denied, one of 1 may still fit.
                *asked += u64::from(cost == 1);
                *admitted += cost * reply[0];
            }
            tally
        });
        let mut all: BTreeMap<_, [u64; 2]> = BTreeMap::new();
        for (key, [asked, admitted]) in tallies.into_iter().flatten() {
            let sum = all.entry(key).or_default();
            *sum = [sum[0] + asked, sum[1] + admitted];
        }
        let mut filled = 0;
        for ((algorithm, key, limit), [asked, admitted]) in &all {
            assert!(admitted <= limit, "{key}: {admitted} admitted of {limit}");
            assert!(*admitted >= (*limit).min(*asked), "{key}: {admitted} admitted of {limit}, {asked} asked");
            assert_eq!(remaining(&mut master.con(), algorithm, key, LONG, *limit), limit - admitted, "{key}");
            filled += usize::from(admitted == limit);
        }
        assert!(filled > all.len() / 2, "{filled} of {} keys were asked for all they hold", all.len());
        let total: u64 = all.values().map(|[_, admitted]| admitted).sum();

        // The replica and the disk know the same.
        wait_for_replica(&master, &replica);
        assert_eq!(digest(&mut replica.con()), digest(&mut master.con()));
        assert_sound(&mut master);
        master.shutdown("NOSAVE");
        master.start_again();
        for ((algorithm, key, limit), [_, admitted]) in &all {
            assert_eq!(remaining(&mut master.con(), algorithm, key, LONG, *limit), limit - admitted, "{key}");
        }
        report(&format!("{total} admitted of {} keys, {filled} of them to the limit", all.len()));
    });
}

const WINDOW_MS: u64 = 500;
const LIMIT: u64 = 100;

/// An admission: when, and how long it was told to wait.
#[derive(Clone, Copy)]
struct Admission {
    now: u64,
    delay: u64,
}

/// Windows that end all the time: what was admitted is held against what each algorithm promises of any span.
#[test]
fn in_no_span_of_time_more_is_admitted_than_the_algorithm_allows() {
    for_each_server(|bin| {
        let mut master = Server::options(bin).set("appendonly", "yes").start();
        let replica = Server::options(bin).replica_of(&master).start();
        wait_for_replica(&master, &replica);
        let end = Instant::now() + each();
        let admissions = at_once(&master, |n, mut con| {
            let mut random = Random::new(n);
            let mut admissions: BTreeMap<&str, Vec<Admission>> = BTreeMap::new();
            while Instant::now() < end {
                let algorithm = random.pick(&ALGORITHMS);
                let mut request = redis::cmd(&format!("RL.{algorithm}"));
                request.arg(format!("{algorithm}:hot")).arg(format!("{WINDOW_MS}ms")).arg(LIMIT).arg("FULL");
                let figures: Vec<Value> = request.query(&mut con).expect("a reply");
                let figure = |at: usize| redis::from_redis_value_ref::<u64>(&figures[2 * at + 1]).expect("a figure");
                if figure(0) == 1 {
                    admissions.entry(algorithm).or_default().push(Admission { now: figure(9), delay: figure(8) });
                }
            }
            admissions
        });
        let mut all: BTreeMap<&str, Vec<Admission>> = BTreeMap::new();
        for (algorithm, admissions) in admissions.into_iter().flatten() {
            all.entry(algorithm).or_default().extend(admissions);
        }
        for (algorithm, mut admissions) in all {
            admissions.sort_by_key(|admission| admission.now);
            if let Err(why) = keeps(algorithm, &admissions) {
                panic!("{algorithm}: {why}");
            }
            report(&format!("{algorithm}: {} admitted in {:?}", admissions.len(), each()));
        }
        assert_sound(&mut master);
    });
}

/// Holds the admissions, in order of time, against what the algorithm promises.
fn keeps(algorithm: &str, admissions: &[Admission]) -> Result<(), String> {
    let times: Vec<u64> = admissions.iter().map(|admission| admission.now).collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Err("nothing was admitted".into()) };
    // A limiter that is asked all the time admits the limit a window; half of it on a machine that is busy elsewhere.
    let windows = (last - first) / WINDOW_MS;
    if (times.len() as u64) < windows * LIMIT / 2 {
        return Err(format!("{} admissions in {windows} windows", times.len()));
    }
    let in_window = |number: u64| times.iter().filter(|&&time| time / WINDOW_MS == number).count() as u64;
    match algorithm {
        "FIXED" => {
            let over = (first / WINDOW_MS..=last / WINDOW_MS).find(|&number| in_window(number) > LIMIT);
            over.map_or(Ok(()), |number| Err(format!("{} in window {number}", in_window(number))))
        }
        "COUNTER" => {
            for number in first / WINDOW_MS..=last / WINDOW_MS {
                let previous = in_window(number - 1);
                for (before, time) in times.iter().filter(|&&time| time / WINDOW_MS == number).enumerate() {
                    // The server computes in microseconds, and shows milliseconds: up to one less of the previous
                    // window is left.
                    let left = WINDOW_MS - time % WINDOW_MS - 1;
                    if (before as u64 + 1) * WINDOW_MS + previous * left > LIMIT * WINDOW_MS {
                        return Err(format!("{before} and {previous} before that at {time}"));
                    }
                }
            }
            Ok(())
        }
        "WINDOW" => {
            // A window starts with the first admission that is not in the one before.
            let mut rest = times.as_slice();
            while let Some(start) = rest.first() {
                let within = rest.partition_point(|time| *time < start + WINDOW_MS);
                if within as u64 > LIMIT {
                    return Err(format!("{within} in the window that starts at {start}"));
                }
                rest = &rest[within..];
            }
            Ok(())
        }
        "SLIDING" => {
            let over = times.windows(LIMIT as usize + 1).find(|span| span[span.len() - 1] - span[0] < WINDOW_MS);
            over.map_or(Ok(()), |span| Err(format!("{} from {} to {}", span.len(), span[0], span[span.len() - 1])))
        }
        _ => {
            // From any admission to any later one: the burst, and what has come back since. Of the earlier ones, the
            // one counts that leaves the least room.
            let mut least = i64::MAX;
            for (nth, time) in times.iter().enumerate() {
                // In parts of a unit, WINDOW_MS to one.
                let back = ((time - first) * LIMIT) as i64;
                let taken = (nth as u64 * WINDOW_MS) as i64;
                least = least.min(taken - back);
                if taken + WINDOW_MS as i64 - least > back + ((WINDOW_MS + 1) * LIMIT) as i64 {
                    return Err(format!("more than the burst and what came back, at {time}"));
                }
            }
            if algorithm != "LEAKY" {
                return Ok(());
            }
            let mut leaving: Vec<u64> = admissions.iter().map(|admission| admission.now + admission.delay).collect();
            leaving.sort_unstable();
            let apart = WINDOW_MS / LIMIT;
            let close = leaving.windows(2).find(|pair| pair[1] - pair[0] + 2 < apart);
            close.map_or(Ok(()), |pair| Err(format!("two leave the queue at {} and {}", pair[0], pair[1])))
        }
    }
}
