//! Calls over a connection that is none of this crate: of the crate `redis`, or an application's own. The timers of its
//! circuit breakers run as tasks.

use std::sync::{Arc, Weak};
use std::time::Duration;

use redis::{Cmd, RedisResult, Value};
use tokio::task::yield_now;
use tokio::time::{sleep_until, timeout};

use crate::command::Call;
use crate::connection::Connection;
use crate::core::Core;
use crate::error::{Error, is_connection_error};
use crate::limiter::Limiter;
use crate::protocol::Step;
use crate::stats::Unended;

/// How long the reply to a probe counts, and how long a request may try.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often other tasks get their turn before a timer acts: those that read replies which have come.
const TURNS: u32 = 3;

impl<C: Connection> Limiter<C> {
    pub(crate) async fn call_over_own(&self, call: Call<'_>) -> Result<Value, Error> {
        let key = call.key();
        let (core, part) = (&self.core, self.connection.part(&key));
        self.watch([&*key]).await;
        let (_, tries) = core.breakers.is_open(part);
        let (mut exchange, begun) = core.begin(Some(part), call, self.timeout)?;
        self.run_timer(part, &key);
        let unended = Unended::new(&core.counters.cancelled);
        let conversation = async {
            let mut connection = self.connection.clone();
            let mut reply = None;
            loop {
                match exchange.step(reply) {
                    Step::Send(command) if tries => reply = Some(self.try_out(command, &key, part).await),
                    Step::Send(command) => reply = Some(connection.send(command, &key).await),
                    Step::Done(result) => return result,
                }
            }
        };
        let result = timeout(self.timeout, conversation).await.unwrap_or(Err(Error::Timeout(self.timeout)));
        unended.ended();
        core.ended(begun, result)
    }

    /// Sends the one command that tries whether the server decides. Its reply is awaited even if the caller leaves.
    async fn try_out(&self, command: Cmd, key: &[u8], part: u64) -> RedisResult<Value> {
        let (mut connection, core, key) = (self.connection.clone(), Arc::clone(&self.core), key.to_vec());
        let trial = tokio::spawn(async move {
            let reply = timeout(PATIENCE, connection.send(command, &key)).await;
            let late = || Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "no reply").into());
            let reply = reply.unwrap_or_else(|_| late());
            if !reply.as_ref().is_err_and(is_connection_error) {
                core.breakers.ended(part, &Ok(Value::Nil));
            }
            reply
        });
        trial.await.unwrap_or_else(|_| Err((redis::ErrorKind::Io, "the runtime ended").into()))
    }

    /// To be called before requests of these keys are sent: in a runtime that runs only while a request waits, this is the
    /// turn of the timers.
    pub(crate) async fn watch(&self, keys: impl IntoIterator<Item = &[u8]>) {
        let is_open = |key| self.core.breakers.is_open(self.connection.part(key)).0;
        if keys.into_iter().any(is_open) {
            yield_now().await;
        }
    }

    /// Runs the timer of a part, unless a task does.
    pub(crate) fn run_timer(&self, part: u64, key: &[u8]) {
        if self.core.breakers.begins_watch(part) {
            let watch = Watch { core: Arc::downgrade(&self.core), part };
            tokio::spawn(watch.run(self.connection.clone(), key.to_vec()));
        }
    }
}

/// The timer of the breaker of a part, while it has something to do.
struct Watch {
    core: Weak<Core>,
    part: u64,
}

impl Watch {
    async fn run(mut self, connection: impl Connection, key: Vec<u8>) {
        loop {
            let Some(due) = self.core.upgrade().and_then(|core| core.breakers.next_tick(self.part)) else {
                // The next request begins another one.
                self.core = Weak::new();
                return;
            };
            sleep_until(due.into()).await;
            for _ in 0..TURNS {
                yield_now().await;
            }
            let Some(core) = self.core.upgrade() else { return };
            if core.breakers.probe(self.part).is_some() {
                // The connection itself decides where PING goes.
                let (mut connection, key, part) = (connection.clone(), key.clone(), self.part);
                tokio::spawn(async move {
                    let reply = timeout(PATIENCE, connection.send(redis::cmd("PING"), &key)).await;
                    if reply.is_ok_and(|reply| !reply.is_err_and(|error| is_connection_error(&error))) {
                        core.breakers.ponged(part);
                    }
                });
            }
        }
    }
}

impl Drop for Watch {
    /// The runtime ended.
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.breakers.ends_watch(self.part);
        }
    }
}
