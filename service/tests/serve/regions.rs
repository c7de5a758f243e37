//! A copy of the service far from its server: the link takes time, and may be cut.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use futures_util::future::{join, join_all};
use tokio::time::sleep_until;

use super::process::{Rlaas, url};
use super::{alone, block_on, one_server};

/// How long one direction takes.
const DELAY: Duration = Duration::from_millis(40);
/// The time between two requests to a copy.
const EVERY: Duration = Duration::from_millis(10);
/// The units of a grant: of a limit that has room, and of one that is used up.
const ROOM: usize = 100;
const TIGHT: usize = 20;

/// A way to the server that takes a while in each direction.
pub struct Link {
    pub port: u16,
    cut: Arc<AtomicBool>,
}

impl Link {
    pub fn new(server: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let cut = Arc::new(AtomicBool::new(false));
        let way = cut.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { break };
                let both = client.try_clone().ok().zip(server.try_clone().ok());
                let (to_client, to_server) = both.expect("two of each");
                pass(client, to_server, delay, way.clone());
                pass(server, to_client, delay, way.clone());
            }
        });
        Self { port, cut }
    }

    /// While it is cut, what was sent waits.
    pub fn cut(&self, is_cut: bool) {
        self.cut.store(is_cut, Ordering::Relaxed);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration, cut: Arc<AtomicBool>) {
    let (sender, sent) = channel();
    thread::spawn(move || {
        let mut bytes = [0; 65_536];
        while let Ok(len @ 1..) = from.read(&mut bytes) {
            if sender.send((Instant::now() + delay, bytes[..len].to_vec())).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in sent {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            while cut.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        _ = to.shutdown(Shutdown::Both);
    });
}

/// What one request got, and how long it took.
type Answer = (Code, Duration);

/// What a copy answers to so many requests of a limit, one each [`EVERY`].
async fn ask(service: &Rlaas, limit: &'static str, requests: u32) -> Vec<Answer> {
    let client = service.client().await;
    let began = tokio::time::Instant::now();
    let mut tasks = Vec::new();
    for n in 0..requests {
        sleep_until(began + n * EVERY).await;
        let mut client = client.clone();
        tasks.push(tokio::spawn(async move {
            let sent = Instant::now();
            let code = client.try_ask(limit).await.map_or(Code::Unknown, |reply| reply.overall_code());
            (code, sent.elapsed())
        }));
    }
    join_all(tasks).await.into_iter().map(|answer| answer.expect("an answer")).collect()
}

fn allowed(answers: &[Answer]) -> usize {
    answers.iter().filter(|(code, _)| *code == Code::Ok).count()
}

/// Two copies, each 80 ms from the server and with 100 requests a second: with room, with the link of one of them cut, and
/// beyond the limit.
#[test]
fn a_caller_in_another_region_waits_for_the_first_lot_only() {
    let requests = 100;
    let (both, limit) = (2 * requests, requests as usize);
    let (_alone, server) = (alone(), one_server());
    let links = [(); 2].map(|()| Link::new(server.port(), DELAY));
    let rules = format!(
        "domain: d
on_unavailable: deny
descriptors:
  - {{key: room, rate_limit: {{algorithm: rolling, unit: day, limit: {}, grants: {ROOM}}}}}
  - {{key: tight, rate_limit: {{algorithm: rolling, unit: day, limit: {limit}, grants: {TIGHT}}}}}
",
        2 * both
    );
    let env = [("RLAAS_TIMEOUT", "2s")];
    let copies = links.each_ref().map(|link| Rlaas::at(&url(link.port), &rules, &env));
    let [near, far] = &copies;
    block_on(async {
        let (one, other) = join(ask(near, "room=a", requests), ask(far, "room=a", requests)).await;
        for answers in [&one, &other] {
            assert_eq!(allowed(answers), answers.len());
            // Requests of the first round trip wait for the first lot. Later requests do not wait.
            let (first, rest) = answers.split_at(20);
            assert!(first[0].1 >= 2 * DELAY, "{first:?}");
            let mut times: Vec<_> = rest.iter().map(|(_, took)| *took).collect();
            times.sort_unstable();
            let half = times[times.len() / 2];
            // Who waits for the server takes at least this time. On a busy machine others may take it too, but not most.
            assert!(half < 2 * DELAY, "{half:?}");
        }
        links[1].cut(true);
        let (one, other) = join(ask(near, "room=a", requests), ask(far, "room=a", requests)).await;
        links[1].cut(false);
        assert_eq!(allowed(&one), one.len());
        // What it held; the rest is up to on_unavailable.
        assert!((1..=ROOM).contains(&allowed(&other)), "{}", allowed(&other));
        // Both take from one limit at the same time.
        let (one, other) = join(ask(near, "tight=a", requests), ask(far, "tight=a", requests)).await;
        let used = allowed(&one) + allowed(&other);
        assert!((limit - 2 * TIGHT..=limit + 2 * TIGHT).contains(&used), "{used}");
    });
}
