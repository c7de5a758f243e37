//! A connection to one server, which many requests share.
//!
//! The connections of the crate `redis` do not say when a command was written and when bytes came. This one does, so that
//! a time limit begins when the command is written, and the circuit breaker measures the server and nothing else.
//!
//! One task owns the connection: it opens it, writes what the callers have queued, reads the replies, ends what the server
//! took too long for, and runs the breaker. What is queued while replies are on their way goes out with one write.

mod driver;
mod flights;
mod frame;
mod incoming;
mod open;
mod outbox;
mod socket;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::time::Duration;

use parking_lot::Mutex;
use redis::{ErrorKind, RedisError, RedisResult, Value};
use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::driver::Driver;
pub use self::open::Place;
use self::outbox::Member;
use crate::error::Error;
use crate::protocol::Commands;
use crate::stats::Gauge;

/// How long a request of another runtime waits beyond its time limit: the runtime of the connection may have stopped.
const OTHER_RUNTIME: Duration = Duration::from_secs(1);

/// What the server replied.
#[derive(Debug)]
pub struct Reply {
    /// To each command. An error is one of the server, or says why there is no reply to this command.
    pub values: Vec<Result<Value, Error>>,
    /// How long that took since the commands were written.
    pub took: Duration,
    /// The commands, to be sent again if the reply says that they were not executed.
    pub commands: Commands,
    /// The connection that it came over.
    pub via: Via,
}

/// A connection that was opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Via {
    number: u64,
    /// How old it was when the reply came.
    pub age: Duration,
}

/// Who gets the reply.
type Caller = oneshot::Sender<Result<Reply, Error>>;

/// The connection. It closes when this is dropped.
#[derive(Debug)]
pub struct Pipe(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    place: Place,
    gauge: Arc<Gauge>,
    /// Whether the breaker is open, so that nothing need be queued.
    is_open: AtomicBool,
    queue: Mutex<Queue>,
}

/// What the callers hand to the task.
#[derive(Debug, Default)]
struct Queue {
    requests: Vec<Member>,
    /// Who waits for a connection.
    connects: Vec<oneshot::Sender<RedisResult<()>>>,
    /// The connection that is to be replaced.
    retired: Option<u64>,
    /// After how long a silence the breaker opens.
    silence: Option<Duration>,
    is_dropped: bool,
    /// The runtime of the task, while it runs.
    runs_in: Option<Id>,
    waker: Option<Waker>,
}

impl Pipe {
    /// A connection that is opened by the first request. Its breaker opens after this silence.
    pub fn new(place: Place, silence: Option<Duration>, gauge: Arc<Gauge>) -> Self {
        let queue = Mutex::new(Queue { silence, ..Queue::default() });
        Self(Arc::new(Shared { place, gauge, is_open: AtomicBool::new(false), queue }))
    }

    pub fn set_silence(&self, silence: Option<Duration>) {
        self.0.queue.lock().silence = silence;
    }

    /// Sends commands together, and waits for the replies: so long from when they are written. If this is dropped, they are
    /// not sent, unless they were already.
    ///
    /// # Errors
    /// None of them has a reply in time, or the breaker opened before they were written.
    pub async fn send(&self, mut commands: Commands, limit: Duration) -> Result<Reply, Error> {
        if self.is_open() {
            // In a runtime that runs only while a request waits, this is the turn of the connection's task.
            tokio::task::yield_now().await;
            if self.is_open() {
                return Err(Error::CircuitOpen);
            }
        }
        commands.open();
        let (caller, reply) = oneshot::channel();
        let is_here = self.0.change(|queue| {
            queue.requests.push(Member { commands, limit, caller: Some(caller), deadline: None });
            queue.runs_in.is_none_or(|id| id == Handle::current().id())
        });
        let reply = async { reply.await.unwrap_or_else(|_| Err(stopped().into())) };
        let reply = if is_here {
            reply.await
        } else {
            timeout(limit.saturating_add(OTHER_RUNTIME), reply).await.unwrap_or(Err(Error::Timeout(limit)))
        };
        reply.map(Reply::without_ahead)
    }

    /// Opens the connection, if there is none.
    pub async fn connect(&self) -> Result<(), Error> {
        let (caller, opened) = oneshot::channel();
        self.0.change(|queue| queue.connects.push(caller));
        Ok(opened.await.unwrap_or_else(|_| Err(stopped()))?)
    }

    /// The requests that follow get another connection than this one.
    pub fn retire(&self, via: Via) {
        self.0.change(|queue| queue.retired = Some(via.number));
    }

    /// Whether the breaker is open.
    pub fn is_open(&self) -> bool {
        self.0.is_open.load(Ordering::Relaxed)
    }
}

impl Reply {
    /// The replies to the commands that somebody waits for.
    fn without_ahead(mut self) -> Self {
        let ahead = self.commands.forget_ahead();
        self.values.drain(..ahead.min(self.values.len()));
        self
    }

    /// The reply to one command.
    pub fn value(mut self) -> Result<Value, Error> {
        self.values.pop().unwrap_or(Err(Error::UnknownReply))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.is_dropped = true;
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
    }
}

fn stopped() -> RedisError {
    (ErrorKind::Io, "the runtime of the connection ended").into()
}

impl Shared {
    /// Changes the queue, and lets the task see it, which is started if none runs.
    fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut Queue) -> T) -> T {
        let mut queue = self.queue.lock();
        let changed = change(&mut queue);
        if queue.runs_in.is_none() {
            queue.runs_in = Some(Handle::current().id());
            let silence = queue.silence;
            drop(queue);
            tokio::spawn(Driver::new(Arc::clone(self), silence));
        } else if let Some(waker) = queue.waker.take() {
            drop(queue);
            waker.wake();
        }
        changed
    }
}
