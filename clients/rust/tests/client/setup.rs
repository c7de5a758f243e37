//! Limiters for the tests.

use std::time::{Duration, Instant};

use redis_rl_client::{Algorithm, Builder, Limiter, Policy, Traits, Window};
use tokio::runtime;

use crate::support::*;

/// Runs a test in a runtime of its own.
pub fn block_on<T>(test: impl Future<Output = T>) -> T {
    runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime").block_on(test)
}

/// A way to reach the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Module,
    Library,
}

/// A limiter without remembered denials, with and without the module, on each server.
pub fn for_each_way(test: impl AsyncFn(Limiter, &Server, Way) + Sync) {
    for_each_server(|bin| {
        for way in [Way::Module, Way::Library] {
            let options = Server::options(bin);
            let server = if way == Way::Module { options } else { options.without_module() }.start();
            block_on(async {
                test(at_port(server.port()).denials(0).timeout(PATIENCE).build(), &server, way).await;
            });
        }
    });
}

pub fn url(port: u16) -> String {
    format!("redis://127.0.0.1:{port}")
}

/// The settings of a limiter of what listens at this port.
pub fn at_port(port: u16) -> Builder {
    Limiter::builder(&url(port)).expect("a URL")
}

/// A policy of each algorithm that `rlaas` takes.
pub fn policies(window: Duration, limit: u64) -> impl Iterator<Item = Policy> {
    let is_taken = |algorithm: &Algorithm| {
        let Traits { settle, delays, most, .. } = *algorithm.traits();
        settle && !delays && most.is_none()
    };
    let policy = move |algorithm| Policy::new(algorithm, Window::Length(window), limit).expect("a policy");
    Algorithm::ALL.into_iter().filter(is_taken).map(policy)
}

/// A limiter with other settings than the default, which is connected.
pub async fn connected(server: &Server, set: impl FnOnce(Builder) -> Builder) -> Limiter {
    let limiter = set(at_port(server.port())).build();
    limiter.connect().await.expect("a connection");
    limiter
}

/// A limiter with the default settings but a patient timeout.
pub async fn limiter(server: &Server) -> Limiter {
    connected(server, |builder| builder.timeout(PATIENCE)).await
}

/// Waits until this is the value.
pub async fn eventually_is<T: PartialEq>(expected: T, value: impl AsyncFn() -> T) -> bool {
    let began = Instant::now();
    while value().await != expected {
        if began.elapsed() > PATIENCE {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    true
}

/// The millisecond in which a lease ends.
pub fn end_of(con: &mut redis::Connection, key: &str, id: &str) -> u64 {
    redis::cmd("ZSCORE").arg(key).arg(id).query(con).expect("a lease")
}

/// A limiter of the first server under test.
pub fn on_one_server(test: impl AsyncFnOnce(Limiter, &Server)) {
    let server = one_server();
    block_on(async { test(limiter(&server).await, &server).await });
}
