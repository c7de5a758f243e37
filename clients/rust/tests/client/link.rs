//! Limiters that are made from a URL: they start without a server, and find the one that decides.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use redis_rl_client::{Builder, Decision, Error, Fallback, Limiter, Policy, Source};

use crate::proxy::Proxy;
use crate::setup::{at_port, block_on, url};
use crate::support::*;

const API: Policy = Policy::token(Duration::from_secs(3600), 1_000_000);
const TIMEOUT: Duration = Duration::from_millis(500);
/// What a machine may add to a timeout.
const SLACK: Duration = Duration::from_millis(500);

/// A limiter from a URL, and the runtime that it is called in.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    limiter: Limiter,
    timeout: Duration,
}

impl Client {
    pub fn new(url: &str) -> Self {
        Self::with(url, TIMEOUT, |builder| builder)
    }

    pub fn patient(url: &str) -> Self {
        Self::with(url, PATIENCE, |builder| builder)
    }

    /// Its breaker never opens.
    pub fn that_never_opens(url: &str, timeout: Duration) -> Self {
        Self::with(url, timeout, |builder| builder.breaker(Duration::ZERO))
    }

    fn with(url: &str, timeout: Duration, set: impl FnOnce(Builder) -> Builder) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let builder = Limiter::builder(url).expect(url);
        let limiter = set(builder.timeout(timeout).fallback(Fallback::Deny).denials(0)).build();
        Self { runtime, limiter, timeout }
    }

    /// A request, which takes no longer than the timeout.
    pub fn check(&self, key: &str) -> Result<Decision, Error> {
        let began = Instant::now();
        let decision = self.runtime.block_on(self.limiter.check(&API, key));
        assert!(began.elapsed() <= self.timeout + SLACK, "{:?}", began.elapsed());
        decision
    }

    pub fn source(&self, key: &str) -> Source {
        self.check(key).expect("a decision").source
    }

    /// The same for requests that are decided together.
    pub fn sources_of_each(&self, keys: &[String]) -> Vec<Source> {
        let requests: Vec<_> = keys.iter().map(|key| API.request(key)).collect();
        let decisions = self.runtime.block_on(self.limiter.check_each(&requests));
        decisions.into_iter().map(|decision| decision.expect("a decision").source).collect()
    }

    /// How often the circuit breaker opened.
    pub fn opened(&self) -> u64 {
        self.limiter.stats().circuit_opened
    }

    /// Waits until the server decides.
    pub fn served(&self, key: &str) {
        let is_served = || self.check(key).is_ok_and(|decision| decision.source == Source::Server);
        assert!(eventually(PATIENCE, is_served), "the server decides nothing");
    }

    /// The server decides on every request, although it closed all connections before each.
    pub fn served_after_closing(&self, key: &str, server: &Server) {
        self.served(key);
        for round in 0..3 {
            redis::cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").exec(&mut server.con()).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            if round == 1 {
                assert_eq!(self.sources_of_each(&[key.into(), key.into()]), [Source::Server; 2]);
            } else {
                assert_eq!(self.source(key), Source::Server, "round {round}");
            }
        }
    }
}

#[test]
fn a_connection_that_the_server_closed_is_opened_before_the_next_request() {
    let server = Server::options(&servers()[0]).set("unixsocket", "socket").start();
    for url in [url(server.port()), format!("unix://{}/socket", server.dir().display())] {
        Client::patient(&url).served_after_closing("k", &server);
    }
    // The same after a restart, and soon after the connection was closed.
    let mut server = one_server();
    let client = Client::patient(&url(server.port()));
    client.served("k");
    server.kill();
    server.start_again();
    let check = || client.runtime.block_on(client.limiter.check(&API, "k")).unwrap().source;
    assert_eq!(check(), Source::Server);
    redis::cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").exec(&mut server.con()).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(check(), Source::Server);
    // Nothing else runs in between: a program that was stopped for a while, for example.
    let limiter = at_port(server.port()).timeout(PATIENCE).build();
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        for _ in 0..5 {
            limiter.check(&API, "k").await.unwrap();
            redis::cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").exec(&mut server.con()).unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn a_limiter_that_is_connected_decides_within_a_short_timeout() {
    let server = one_server();
    // To connect takes several replies, a request one.
    let proxy = Proxy::start(server.port(), Duration::from_millis(200));
    let limiter = || at_port(proxy.port).timeout(Duration::from_millis(750)).breaker(Duration::ZERO).build();
    block_on(async {
        assert!(limiter().check(&API, "k").await.is_err(), "nothing to test");
        let connected = limiter();
        connected.connect().await.unwrap();
        connected.check(&API, "k").await.unwrap();
        // The attempt goes on without the caller.
        let dropped = limiter();
        assert!(tokio::time::timeout(Duration::from_millis(10), dropped.connect()).await.is_err());
        tokio::time::sleep(Duration::from_millis(600)).await;
        dropped.check(&API, "k").await.unwrap();
        let nobody = Limiter::open(&url(free_port())).unwrap();
        assert!(nobody.connect().await.is_err_and(|error| error.is_unavailable()));
    });
}

#[test]
fn a_server_that_hangs_is_left_when_its_address_has_moved() {
    let (old, new) = (one_server(), one_server());
    let proxy = Proxy::start(old.port(), Duration::ZERO);
    let client = Client::that_never_opens(&url(proxy.port), Duration::from_millis(200));
    client.served("k");
    // What asks for several at once only, over a connection of its own.
    let several = at_port(proxy.port).breaker(Duration::ZERO).denials(0).build();
    let is_served = || {
        let decisions = client.runtime.block_on(several.check_each(&[API.request("a"), API.request("b")]));
        decisions.into_iter().all(|decision| decision.is_ok())
    };
    assert!(eventually(PATIENCE, is_served));
    let _paused = Paused::new(&old);
    assert_eq!(client.source("k"), Source::Fallback);
    assert!(!is_served());
    proxy.redirect(new.port());
    let began = Instant::now();
    client.served("k");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(eventually(PATIENCE, is_served));
}

/// A server that does not reply: every fallback does what it says, the breaker opens, and the server decides again.
#[test]
fn a_server_that_is_gone_gets_the_fallback_until_it_is_back() {
    for (fallback, allowed) in [
        (Fallback::Error, None),
        (Fallback::Allow, Some(true)),
        (Fallback::Deny, Some(false)),
        (Fallback::Local { instances: 1 }, Some(true)),
    ] {
        for gone_at_start in [false, true] {
            let mut server = one_server();
            let client = Client::with(&url(server.port()), TIMEOUT, |builder| builder.fallback(fallback));
            if !gone_at_start {
                client.served("k");
            }
            server.kill();
            for _ in 0..10 {
                match client.check("k") {
                    Ok(decision) => assert_eq!((decision.source, Some(decision.allowed)), (Source::Fallback, allowed)),
                    Err(error) => assert!(error.is_unavailable() && allowed.is_none(), "{fallback:?}: {error}"),
                }
            }
            let stats = client.limiter.stats();
            assert!(stats.circuit_opened >= 1 && stats.circuit_open >= 4, "{stats:?}");
            server.start_again();
            client.served("k");
        }
    }
}

#[test]
fn failover() {
    let (old, new) = (one_server(), one_server());
    let proxy = Proxy::start(old.port(), Duration::ZERO);
    let client = Client::new(&url(proxy.port));
    client.served("k");
    std::thread::sleep(Duration::from_millis(300));
    proxy.redirect(new.port());
    redis::cmd("REPLICAOF").arg("127.0.0.1").arg(new.port()).exec(&mut old.con()).unwrap();
    for _ in 0..5 {
        assert_eq!(client.source("k"), Source::Server);
    }
    assert_eq!(client.opened(), 0);
}

#[test]
fn a_server_that_replies_that_it_cannot_decide_gets_the_fallback() {
    let server = one_server();
    let mut con = server.con();
    redis::cmd("CONFIG").arg("SET").arg("maxclients").arg("1").exec(&mut con).unwrap();
    let client = Client::new(&url(server.port()));
    assert_eq!(client.source("k"), Source::Fallback);
    let (port, _) = stub(|_| Some("-LOADING the dataset"));
    let client = Client::new(&url(port));
    assert_eq!(client.source("k"), Source::Fallback);
    // It is not silent.
    assert_eq!(client.opened(), 0);
}

#[test]
fn a_wrong_password_is_an_error_and_no_fallback() {
    let server = Server::options(&servers()[0]).start();
    redis::cmd("CONFIG").arg("SET").arg("requirepass").arg("right").exec(&mut server.con()).unwrap();
    for user in ["", ":wrong@"] {
        let client = Client::new(&format!("redis://{user}127.0.0.1:{}", server.port()));
        let error = client.check("k").expect_err("an error");
        assert!(!error.is_unavailable(), "{error:?}");
    }
    let client = Client::new(&format!("redis://:right@127.0.0.1:{}/3", server.port()));
    assert_eq!(client.source("k"), Source::Server);
}

/// A server that replies this to requests, and closes the connection if it is nothing. The keys of the requests that it got.
fn stub(reply: impl Fn(&str) -> Option<&'static str> + Copy + Send + 'static) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, requests) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<String>>>::default());
    let noted = Arc::clone(&requests);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let noted = Arc::clone(&noted);
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while let Some(words) = read_command(&mut lines) {
                    let text = match words.as_slice() {
                        [name, key, ..] if name == "RL.TOKEN" => {
                            noted.lock().unwrap().push(key.clone());
                            reply(key)
                        }
                        _ => Some("+OK"),
                    };
                    let Some(text) = text else { return };
                    let _ = stream.write_all(format!("{text}\r\n").as_bytes());
                }
            });
        }
    });
    (port, requests)
}

/// The words of a command, none of which has a line break in it.
fn read_command(lines: &mut std::io::Lines<BufReader<TcpStream>>) -> Option<Vec<String>> {
    let mut line = || lines.next()?.ok();
    let words: usize = line()?.strip_prefix('*')?.parse().ok()?;
    // Before each word comes its length.
    (0..words).map(|_| line().and_then(|_| line())).collect()
}

#[test]
fn what_may_have_been_executed_is_not_sent_again() {
    let (port, requests) = stub(|_| None);
    let client = Client::that_never_opens(&url(port), TIMEOUT);
    for n in 1..=5 {
        assert_eq!(client.source("k"), Source::Fallback);
        assert_eq!(requests.lock().unwrap().len(), n);
    }
    assert_eq!(client.sources_of_each(&["a".into(), "b".into()]), [Source::Fallback; 2]);
    assert_eq!(requests.lock().unwrap()[5..], ["a"]);
}

/// READONLY says that it was not executed. Another error does not say whether it was: a proxy replies some.
#[test]
fn of_several_requests_those_that_were_not_executed_are_sent_again() {
    let (port, requests) =
        stub(|key| Some(if key == "a" { "-READONLY of a replica" } else { "-ERR upstream failure" }));
    let client = Client::that_never_opens(&url(port), PATIENCE);
    let pair = [API.request("a"), API.request("b")];
    // A connection that is young is not given up for READONLY.
    assert!(client.check("opens the connection").is_err());
    std::thread::sleep(Duration::from_millis(300));
    let decisions = client.runtime.block_on(client.limiter.check_each(&pair));
    let sent = requests.lock().unwrap();
    let of = |key: &str| sent.iter().filter(|sent| *sent == key).count();
    assert!(of("a") >= 2 && of("b") == 1, "{sent:?}");
    assert!(decisions[0].as_ref().is_ok_and(|decision| decision.source == Source::Fallback), "{decisions:?}");
    assert!(decisions[1].as_ref().is_err_and(|error| error.to_string().contains("upstream")), "{decisions:?}");
}
