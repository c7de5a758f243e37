//! The connection of a limiter that is made from a URL: it opens itself when it is needed, and again when it is broken or
//! has lost its master.
//!
//! `ConnectionManager` of the crate `redis` keeps a connection that replies READONLY, waits for the server at its start,
//! and knows no Sentinels.

#[cfg(feature = "cluster")]
use std::sync::atomic::AtomicI32;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, ErrorKind, RedisError, RedisResult, Value};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::address::{Address, CONNECT_TIMEOUT, Failure, Kind, Sentinels, is_read_only, require_master};
use crate::batch::Outgoing;
use crate::connection::Connection;
#[cfg(feature = "cluster")]
use crate::connection::send_at_once;
#[cfg(feature = "cluster")]
use crate::core::{PARTS, of_part};
use crate::error::{Error, is_connection_error};

/// How long it may take until a connection is open, with Sentinels, a login and the nodes of a cluster.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long no other attempt is made after one that failed. The requests in that time get its error at once.
const ATTEMPTS_APART: Duration = Duration::from_millis(100);
/// A connection that is younger is not given up for READONLY: another one would reply the same.
const REOPEN_APART: Duration = Duration::from_millis(200);
/// A connection on which requests had no reply for so long is given up. The address may belong to another server by now.
const SILENCE: Duration = Duration::from_secs(1);
/// A request that was given up after less than that counts only if it was the timeout that gave it up.
const SHORT_MS: u64 = 50;
/// A connection without a reply for so long is tested before a request is sent: the server may have closed it.
const IDLE_MS: u64 = 2;
/// So many of these in a row count: the server may only be slower than their timeout.
const SHORT_REQUESTS: u32 = 5;
/// The same of a cluster's connections: after so many requests without a reply, and no sooner than that. Those for slots
/// that had a reply since do not count.
#[cfg(feature = "cluster")]
const SILENT_REQUESTS: i32 = 20;
/// The same as [`IDLE_MS`] of a part of a cluster. There the test is a round trip.
#[cfg(feature = "cluster")]
const CLUSTER_IDLE_MS: u64 = 500;
#[cfg(feature = "cluster")]
const CLUSTER_REOPEN_APART: Duration = Duration::from_secs(5);

/// A connection that is opened when it is needed. Clones share it.
///
/// It is opened again, through the name of the address, if it breaks, if the server has closed it since the last request,
/// if the server replies READONLY (it is not the master any more), and if the server does not reply for a second; Sentinels
/// are asked each time. A command that was sent is sent again only if the reply says that it was not executed: READONLY, and in a cluster MOVED, ASK and TRYAGAIN.
#[derive(Clone, Debug)]
pub struct Link(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    address: Address,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Closed,
    /// The attempt that failed last.
    Failed {
        at: Instant,
        error: RedisError,
    },
    Opening(watch::Receiver<Option<RedisResult<Open>>>),
    Open(Open),
}

/// An open connection.
#[derive(Clone, Debug)]
struct Open {
    pipe: Pipe,
    since: Instant,
    silence: Arc<Silence>,
}

#[derive(Clone)]
enum Pipe {
    Server(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(redis::cluster_async::ClusterConnection),
}

impl std::fmt::Debug for Pipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipe").finish_non_exhaustive()
    }
}

/// What is known of requests without a reply.
#[derive(Debug, Default)]
struct Silence {
    /// When the first of them was sent since the last reply, in ms since the connection is open, from 1; else 0.
    since_ms: AtomicU64,
    /// Those with a short timeout since the last reply.
    short: AtomicU32,
    /// When the last reply came, in ms since the connection is open.
    replied_ms: AtomicU64,
    #[cfg(feature = "cluster")]
    of_parts: OfParts,
}

/// The requests without a reply since the last reply of the same part of a cluster.
#[cfg(feature = "cluster")]
#[derive(Debug)]
struct OfParts {
    parts: [AtomicI32; PARTS],
    /// Of all parts. While another thread counts, it may be less.
    all: AtomicI32,
    /// When the last reply came, in ms since the connection is open.
    replied_ms: [AtomicU64; PARTS],
}

#[cfg(feature = "cluster")]
impl Default for OfParts {
    fn default() -> Self {
        Self {
            parts: std::array::from_fn(|_| AtomicI32::new(0)),
            all: AtomicI32::new(0),
            replied_ms: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

#[cfg(feature = "cluster")]
impl OfParts {
    fn unanswered(&self, part: u64) {
        of_part(&self.parts, part).fetch_add(1, Ordering::Relaxed);
        self.all.fetch_add(1, Ordering::Relaxed);
    }

    fn replied(&self, part: u64, now_ms: u64) {
        of_part(&self.replied_ms, part).store(now_ms, Ordering::Relaxed);
        let part = of_part(&self.parts, part);
        if part.load(Ordering::Relaxed) != 0 {
            self.all.fetch_sub(part.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    fn are_silent(&self) -> bool {
        self.all.load(Ordering::Relaxed) >= SILENT_REQUESTS
    }
}

impl Link {
    /// A connection to this address. Nothing is sent yet, so there is nothing to wait for, and no server need be there.
    pub fn new(address: impl Into<Address>) -> Self {
        Self(Arc::new(Shared { address: address.into(), state: Mutex::new(State::Closed) }))
    }

    /// A connection to the address of this URL.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`].
    pub fn open(url: &str) -> Result<Self, Error> {
        url.parse::<Address>().map(Self::new)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, which is opened first if there is none. All requests wait for the same attempt.
    async fn get(&self) -> RedisResult<Open> {
        let open = match &*self.state() {
            State::Open(open) if !open.is_silent() => Some(open.clone()),
            _ => None,
        };
        if let Some(open) = open {
            if !open.is_idle() {
                return Ok(open);
            }
            // If nothing ran since the server closed it: first the runtime learns of that, then the connection's task.
            for _ in 0..2 {
                tokio::task::yield_now().await;
            }
            if !open.has_ended() {
                return Ok(open);
            }
            self.close(&open);
        }
        let mut attempt = {
            let mut state = self.state();
            match &*state {
                State::Open(open) if !open.is_silent() => return Ok(open.clone()),
                State::Failed { at, error } if at.elapsed() < ATTEMPTS_APART => return Err(error.clone()),
                // The runtime of an attempt may have ended before it did.
                State::Opening(attempt) if attempt.has_changed().is_ok() => attempt.clone(),
                _ => {
                    let (sender, attempt) = watch::channel(None);
                    *state = State::Opening(attempt.clone());
                    let link = self.clone();
                    tokio::spawn(async move {
                        let opened = link.attempt().await;
                        *link.state() = match &opened {
                            Ok(open) => State::Open(open.clone()),
                            Err(error) => State::Failed { at: Instant::now(), error: error.clone() },
                        };
                        sender.send_replace(Some(opened));
                    });
                    attempt
                }
            }
        };
        let opened = attempt.wait_for(Option::is_some).await.ok().and_then(|opened| opened.clone());
        opened.unwrap_or_else(|| Err((ErrorKind::Io, "the runtime ended while the connection was opened").into()))
    }

    /// Opens the connection if there is none.
    pub(crate) async fn connect(&self) -> RedisResult<()> {
        self.get().await.map(drop)
    }

    async fn attempt(&self) -> RedisResult<Open> {
        let late = || Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "no connection in time").into());
        let pipe = timeout(OPEN_TIMEOUT, open(&self.0.address)).await.unwrap_or_else(|_| late())?;
        Ok(Open { pipe, since: Instant::now(), silence: Arc::default() })
    }

    /// Looks at the result of a command. Whether it is to be sent again, over another connection.
    fn gives_up(&self, open: &Open, error: &RedisError) -> bool {
        if !matches!(open.pipe, Pipe::Server(_)) {
            // The connections of a cluster are replaced one by one.
            return false;
        }
        let read_only = is_read_only(error);
        let broken = is_connection_error(error) || error.is_unrecoverable_error();
        let other_may_do_better = read_only && open.since.elapsed() >= REOPEN_APART;
        if !broken && !other_may_do_better {
            return false;
        }
        self.close(open);
        read_only
    }

    /// Notes that this connection is not used any more.
    fn close(&self, open: &Open) {
        let mut state = self.state();
        if matches!(&*state, State::Open(current) if Arc::ptr_eq(&current.silence, &open.silence)) {
            *state = State::Closed;
        }
    }
}

impl Open {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    fn is_silent(&self) -> bool {
        match self.pipe {
            Pipe::Server(_) => {
                let since = self.silence.since_ms.load(Ordering::Relaxed);
                since != 0 && self.now_ms().saturating_sub(since) >= SILENCE.as_millis() as u64
            }
            #[cfg(feature = "cluster")]
            Pipe::Cluster(_) => self.silence.of_parts.are_silent() && self.since.elapsed() >= CLUSTER_REOPEN_APART,
        }
    }

    /// Whether there was no reply for so long that the server may have closed the connection.
    fn is_idle(&self) -> bool {
        self.now_ms().saturating_sub(self.silence.replied_ms.load(Ordering::Relaxed)) >= IDLE_MS
    }

    /// Whether the server closed the connection, so that nothing can be sent over it. Sends nothing.
    fn has_ended(&self) -> bool {
        match &self.pipe {
            Pipe::Server(connection) => {
                // The task of the connection takes no command after its end. Before, it discards what nobody waits for,
                // unless it takes it in this very moment. Hence a command that does nothing.
                let mut connection = connection.clone();
                connection.send_packed_command(&redis::cmd("PING")).now_or_never().is_some_and(|reply| reply.is_err())
            }
            #[cfg(feature = "cluster")]
            Pipe::Cluster(_) => false,
        }
    }

    /// Notes requests of a part that had no reply within so long a timeout, unless [`Waiting`] has noted them.
    fn timed_out(&self, part: u64, waited: Duration) {
        let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        // Else it waited for the connection.
        let Some(sent_ms) = self.now_ms().checked_sub(waited_ms).filter(|_| waited_ms < SHORT_MS) else { return };
        let short = self.silence.short.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        // In a cluster, other nodes reply meanwhile.
        if short >= SHORT_REQUESTS || !matches!(self.pipe, Pipe::Server(_)) {
            self.unanswered(part, sent_ms);
        }
    }

    #[cfg_attr(not(feature = "cluster"), expect(unused_variables, reason = "a single server has one part"))]
    fn unanswered(&self, part: u64, sent_ms: u64) {
        let _ = self.silence.since_ms.compare_exchange(0, sent_ms.max(1), Ordering::Relaxed, Ordering::Relaxed);
        #[cfg(feature = "cluster")]
        self.silence.of_parts.unanswered(part);
    }

    /// Notes that requests of a part wait for a reply, until [`Waiting::replied`].
    fn waiting(&self, part: u64) -> Waiting<'_> {
        Waiting { open: self, part, sent_ms: self.now_ms(), replied: false }
    }
}

struct Waiting<'a> {
    open: &'a Open,
    part: u64,
    sent_ms: u64,
    replied: bool,
}

impl Waiting<'_> {
    /// Whether there was no reply of this part of a cluster for so long that its node may have closed the connection.
    #[cfg(feature = "cluster")]
    fn is_idle(&self) -> bool {
        let replied_ms = of_part(&self.open.silence.of_parts.replied_ms, self.part).load(Ordering::Relaxed);
        self.sent_ms.saturating_sub(replied_ms) >= CLUSTER_IDLE_MS
    }

    fn replied(mut self) {
        self.replied = true;
        self.open.silence.since_ms.store(0, Ordering::Relaxed);
        self.open.silence.short.store(0, Ordering::Relaxed);
        let now_ms = self.open.now_ms();
        self.open.silence.replied_ms.store(now_ms, Ordering::Relaxed);
        #[cfg(feature = "cluster")]
        self.open.silence.of_parts.replied(self.part, now_ms);
    }
}

impl Drop for Waiting<'_> {
    /// The request is given up: by the timeout, unless its caller is gone.
    fn drop(&mut self) {
        if !self.replied && self.open.now_ms().saturating_sub(self.sent_ms) >= SHORT_MS {
            self.open.unanswered(self.part, self.sent_ms);
        }
    }
}

impl Connection for Link {
    async fn send(&mut self, cmd: Cmd, key: &[u8]) -> RedisResult<Value> {
        loop {
            let mut open = self.get().await?;
            let waiting = open.clone();
            let waiting = waiting.waiting(self.part(key));
            let result = match &mut open.pipe {
                Pipe::Server(connection) => cmd.query_async(connection).await,
                #[cfg(feature = "cluster")]
                Pipe::Cluster(connection) => {
                    if waiting.is_idle() {
                        crate::routing::test(connection, key).await;
                    }
                    crate::routing::send(connection, &cmd, key).await
                }
            };
            waiting.replied();
            match result {
                Err(error) if self.gives_up(&open, &error) => {}
                result => return result,
            }
        }
    }

    fn part(&self, key: &[u8]) -> u64 {
        self.0.address.part(key)
    }

    fn timed_out(&self, part: u64, waited: Duration) {
        if let State::Open(open) = &*self.state() {
            open.timed_out(part, waited);
        }
    }

    async fn send_each(&mut self, all: &mut [Outgoing<'_>]) {
        let mut open = match self.get().await {
            Ok(open) => open,
            Err(error) => return all.iter_mut().for_each(|outgoing| outgoing.set_reply(Err(error.clone()))),
        };
        let waiting = open.clone();
        match &mut open.pipe {
            Pipe::Server(connection) => {
                let waiting = waiting.waiting(0);
                let replies = connection.send_packed_commands(&Outgoing::pipeline(all), 0, all.len()).await;
                waiting.replied();
                Outgoing::set_replies(all, replies);
            }
            // Each notes by itself that it waits.
            #[cfg(feature = "cluster")]
            Pipe::Cluster(_) => return send_at_once(self, all).await,
        }
        let again = all.iter().any(|outgoing| outgoing.error().is_some_and(|error| self.gives_up(&open, error)));
        if again {
            // Those that this reply was not for were executed.
            let read_only: Vec<_> =
                all.iter_mut().filter(|outgoing| outgoing.error().is_some_and(is_read_only)).collect();
            let sends = read_only.into_iter().map(|outgoing| {
                let (mut link, command) = (self.clone(), outgoing.command().clone());
                async move { outgoing.set_reply(link.send(command, outgoing.key()).await) }
            });
            futures_util::future::join_all(sends).await;
        }
    }
}

async fn open(address: &Address) -> RedisResult<Pipe> {
    match &address.0 {
        Kind::Server(client) => connect(client).await.map(Pipe::Server),
        #[cfg(feature = "cluster")]
        Kind::Cluster(cluster) => cluster.client.get_async_connection().await.map(Pipe::Cluster),
        Kind::Sentinel(sentinels) => master(sentinels).await.map(Pipe::Server),
    }
}

async fn connect(client: &Client) -> RedisResult<MultiplexedConnection> {
    // The limiter has a timeout of its own for each call.
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(CONNECT_TIMEOUT)).set_response_timeout(None);
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// Asks all Sentinels at the same time. The first master that one of them names and that says so itself counts.
async fn master(sentinels: &Sentinels) -> RedisResult<MultiplexedConnection> {
    let question = sentinels.question();
    let mut masters: FuturesUnordered<_> = sentinels
        .sentinels
        .iter()
        .map(|sentinel| async {
            let mut connection = connect(sentinel).await.map_err(Failure::of_sentinel)?;
            let client = sentinels.client(question.query_async(&mut connection).await)?;
            let master = async {
                let mut master = connect(&client).await?;
                require_master(&redis::cmd("ROLE").query_async(&mut master).await?)?;
                Ok(master)
            };
            master.await.map_err(Failure::of_master)
        })
        .collect();
    let mut failure = sentinels.no_reply();
    while let Some(result) = masters.next().await {
        match result {
            Ok(master) => return Ok(master),
            Err(later) => failure = failure.or(later),
        }
    }
    Err(failure.error)
}

#[cfg(all(test, feature = "cluster"))]
mod tests {
    use super::*;

    #[test]
    fn requests_count_until_their_part_replies() {
        let of_parts = OfParts::default();
        // Replies that were late now and then.
        for round in 0..1_000 {
            of_parts.unanswered(round % 5);
            of_parts.replied(round % 5, round);
            assert!(!of_parts.are_silent());
        }
        // A node is away. The others reply.
        for round in 0..u64::from(SILENT_REQUESTS.unsigned_abs()) {
            assert!(!of_parts.are_silent());
            of_parts.unanswered(round % 3);
            of_parts.replied(3, round);
        }
        assert!(of_parts.are_silent());
        (0..3).for_each(|part| of_parts.replied(part, 0));
        assert!(!of_parts.are_silent());
    }
}
