//! A connection to one server, which many requests share: a `MultiplexedConnection` of the crate `redis` that opens itself
//! when it is needed, and the breaker of this server.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use redis::{ErrorKind, Pipeline, RedisError, RedisResult, Value};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};

use super::open::{Connection, Place};
use super::silence::{LOOKS_APART, Permit, Silence};
use super::{give_turns, within};
use crate::error::{Error, is_connection_error};
use crate::stats::Counters;

/// The pause after a failed attempt to connect. Requests in that time get the error of the attempt at once.
const ATTEMPTS_APART: Duration = Duration::from_millis(100);
/// A connection that is silent for so long is replaced: the address may belong to another server by now.
const REPLACED_AFTER: Duration = Duration::from_secs(1);
/// How long a late reply is waited for.
const LATE: Duration = Duration::from_secs(1);
/// After so long without a request, the runtime looks whether the server has closed the connection.
const IDLE: Duration = Duration::from_millis(2);

/// The connection. It closes when this is dropped and nobody waits for a reply.
#[derive(Debug)]
pub struct Server {
    place: Place,
    counters: Arc<Counters>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    silence: Silence,
    /// The task that looks at the silence.
    watch: Option<AbortHandle>,
    connection: Option<Connection>,
    opening: Option<Opening>,
    failed: Option<(Instant, RedisError)>,
    used: Instant,
}

impl State {
    /// The connection, unless it is closed or to be replaced.
    fn alive(&mut self) -> Option<Connection> {
        let is_silent = self.silence.lasted() >= REPLACED_AFTER;
        self.connection.take_if(|connection| {
            connection.driver.is_finished() || is_silent && connection.opened.elapsed() >= REPLACED_AFTER
        });
        self.connection.clone()
    }
}

/// An attempt to connect, which all requests share that wait for it. It goes on without them.
type Opening = Shared<BoxFuture<'static, RedisResult<Connection>>>;

/// The reply to each command: an error is one of the server.
pub type Replies = Vec<Result<Value, Error>>;

/// A task that waits for replies that have not come in time, also if this is dropped: a late reply says that the server is not
/// silent. It has no replies if they do not come.
pub type Late = JoinHandle<Replies>;

impl Server {
    /// A connection that is opened by the first request. Its breaker opens after this silence.
    pub fn new(place: Place, silence: Option<Duration>, counters: Arc<Counters>) -> Arc<Self> {
        let now = Instant::now();
        let state = State {
            silence: Silence::new(silence, now),
            watch: None,
            connection: None,
            opening: None,
            failed: None,
            used: now,
        };
        Arc::new(Self { place, counters, state: Mutex::new(state) })
    }

    /// Sends commands with one write, and waits for `limit`. Without replies in time, `late` waits for them. If this future is
    /// dropped before the commands are written, they are not sent. Also returns when the connection was opened.
    ///
    /// # Errors
    /// There is no reply in time, no connection, or the breaker is open.
    pub async fn send(
        self: &Arc<Self>,
        commands: &Arc<Pipeline>,
        limit: Duration,
        late: &mut Option<Late>,
    ) -> Result<(Replies, Instant), Error> {
        let began = Instant::now();
        let waiting = match self.begin(began) {
            Some(waiting) => waiting,
            None => {
                // In a runtime that runs only while a request waits, late replies are read now.
                give_turns().await;
                self.begin(began).ok_or(Error::CircuitOpen)?
            }
        };
        let connection = match self.ready(began) {
            Some(connection) => connection,
            // The futures of most requests stay small.
            None => match within(limit, self.connection().boxed()).await {
                Some(Ok(connection)) => connection,
                Some(Err(error)) => return Err(waiting.ends(error)),
                None => return Err(Error::Timeout(limit)),
            },
        };
        let opened = connection.opened;
        let mut replies = waiting.replies(connection, Arc::clone(commands)).boxed();
        match within(limit.saturating_sub(began.elapsed()), &mut replies).await {
            Some(replies) => Ok((replies?, opened)),
            None => {
                let replies = async { timeout(LATE, replies).await.ok().and_then(Result::ok).unwrap_or_default() };
                *late = Some(tokio::spawn(replies));
                Err(Error::Timeout(limit))
            }
        }
    }

    pub async fn connect(self: &Arc<Self>) -> Result<(), Error> {
        Ok(self.connection().await.map(drop)?)
    }

    /// No request gets the connection that was opened then from now on.
    pub fn retire(&self, opened: Instant) {
        self.state.lock().connection.take_if(|connection| connection.opened == opened);
    }

    /// Begins a request, unless the breaker is open.
    fn begin(self: &Arc<Self>, now: Instant) -> Option<Waiting> {
        let mut state = self.state.lock();
        let permit = state.silence.begin(now)?;
        // It may have ended with its runtime.
        if state.watch.as_ref().is_none_or(AbortHandle::is_finished) {
            state.watch = Some(tokio::spawn(watch(Arc::downgrade(self))).abort_handle());
        }
        Some(Waiting { server: Arc::clone(self), permit: Some(permit) })
    }

    /// Lets the breaker see something.
    fn see(&self, see: impl FnOnce(&mut Silence)) {
        let mut state = self.state.lock();
        let was_open = state.silence.is_open();
        see(&mut state.silence);
        self.counters.note_breaker(was_open, state.silence.is_open());
    }

    /// The connection, if it was used just now.
    fn ready(&self, now: Instant) -> Option<Connection> {
        let mut state = self.state.lock();
        let idle = now.saturating_duration_since(std::mem::replace(&mut state.used, now));
        if idle < IDLE { state.alive() } else { None }
    }

    /// The connection, which is opened if there is none.
    async fn connection(self: &Arc<Self>) -> RedisResult<Connection> {
        give_turns().await;
        let opening = {
            let mut state = self.state.lock();
            if let Some(connection) = state.alive() {
                return Ok(connection);
            }
            if let Some((at, error)) = &state.failed
                && at.elapsed() < ATTEMPTS_APART
            {
                return Err(error.clone());
            }
            // If the runtime has ended, the attempt has ended without a connection.
            state.opening.take_if(|opening| opening.peek().is_some());
            state.opening.get_or_insert_with(|| self.open()).clone()
        };
        opening.await
    }

    /// Opens a connection in a task of its own.
    fn open(self: &Arc<Self>) -> Opening {
        let server = Arc::clone(self);
        let task = tokio::spawn(async move {
            let result = server.place.open().await;
            let now = Instant::now();
            let mut state = server.state.lock();
            state.opening = None;
            state.connection = result.clone().ok();
            state.failed = result.clone().err().map(|error| (now, error));
            drop(state);
            if result.as_ref().is_err_and(is_connection_error) {
                server.see(|silence| silence.connect_failed(now));
            }
            result
        });
        let stopped = || RedisError::from((ErrorKind::Io, "the runtime of the connection ended"));
        task.map(move |result| result.unwrap_or_else(|_| Err(stopped()))).boxed().shared()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.counters.note_breaker(self.state.get_mut().silence.is_open(), false);
    }
}

/// A request that waits for its reply.
struct Waiting {
    server: Arc<Server>,
    permit: Option<Permit>,
}

impl Waiting {
    /// Sends commands, and waits for their replies.
    async fn replies(self, mut connection: Connection, commands: Arc<Pipeline>) -> Result<Replies, Error> {
        let values = match connection.send(&commands).await {
            Ok(values) => values,
            Err(error) => {
                self.server.retire(connection.opened);
                return Err(self.ends(error));
            }
        };
        self.replied();
        Ok(values.into_iter().map(|value| value.extract_error().map_err(Error::Redis)).collect())
    }

    /// Ends the wait with this error, which may be a reply of the server.
    fn ends(self, error: RedisError) -> Error {
        if !is_connection_error(&error) {
            self.replied();
        }
        error.into()
    }

    fn replied(mut self) {
        self.permit = None;
        self.server.see(|silence| silence.replied(Instant::now()));
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(permit) = self.permit {
            self.server.state.lock().silence.left(permit);
        }
    }
}

/// Looks at the silence of a server while requests wait.
async fn watch(server: Weak<Server>) {
    loop {
        sleep(LOOKS_APART).await;
        let Some(server) = server.upgrade() else { return };
        server.see(|silence| silence.look(Instant::now()));
        let mut state = server.state.lock();
        if !state.silence.is_waited_for() {
            // The next request begins another one.
            state.watch = None;
            return;
        }
    }
}
