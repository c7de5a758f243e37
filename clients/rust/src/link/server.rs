//! A connection to one server, which many requests share: a `MultiplexedConnection` of the crate `redis` that opens itself
//! when it is needed, and the breaker of this server.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use redis::{ConnectionInfo, ErrorKind, Pipeline, RedisError, RedisResult, Value};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use super::open::{Connection, connect, in_time};
use super::sentinel;
use super::{give_turns, within};
use crate::address::{OPEN_TIMEOUT, Sentinels, Trust};
use crate::error::{Error, is_connection_error};
use crate::silence::{LOOKS_APART, Permit, Silence};
use crate::stats::Gauge;

/// The pause after a failed attempt to connect. Requests in that time get the error of the attempt at once.
const ATTEMPTS_APART: Duration = Duration::from_millis(100);
/// A connection that is silent for so long is replaced: the address may belong to another server by now.
const REPLACED_AFTER: Duration = Duration::from_secs(1);
/// How long a late reply is waited for.
const LATE: Duration = Duration::from_secs(1);
/// After so long without a request, the runtime looks whether the server has closed the connection.
const IDLE: Duration = Duration::from_millis(2);

/// Where a connection leads to.
#[derive(Clone, Debug)]
pub enum Place {
    Server(Box<ConnectionInfo>, Trust),
    /// The master that Sentinels name.
    Sentinel(Box<Sentinels>, Trust),
}

impl Place {
    /// Opens a connection. The server has replied to PING then, if only with an error.
    async fn open(&self) -> RedisResult<Connection> {
        let opening = async {
            match self {
                Self::Server(info, trust) => connect(info, trust).await,
                Self::Sentinel(sentinels, trust) => sentinel::master(sentinels, trust).await,
            }
        };
        in_time(OPEN_TIMEOUT, opening).await
    }
}

/// The connection. It closes when this is dropped and nobody waits for a reply.
#[derive(Debug)]
pub struct Server(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    place: Place,
    gauge: Arc<Gauge>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    silence: Silence,
    /// Whether a task looks at the silence.
    is_watched: bool,
    connection: Option<Connection>,
    opening: Option<Opening>,
    /// The attempt to connect that failed last.
    failed: Option<(Instant, RedisError)>,
    /// When the last request began.
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

/// Commands that are sent with one write.
#[derive(Debug)]
pub struct Commands {
    all: Pipeline,
    /// How many of the first have a reply that is for nobody.
    ahead: usize,
}

impl From<Pipeline> for Commands {
    fn from(all: Pipeline) -> Self {
        Self { all, ahead: 0 }
    }
}

impl Commands {
    /// The same commands after ASKING, for a slot that is on its way to the node.
    pub fn asking(&self) -> Self {
        let mut all = redis::pipe();
        all.cmd("ASKING");
        self.all.cmd_iter().for_each(|command| _ = all.add_command(command.clone()));
        Self { all, ahead: 1 }
    }

    /// Some of them, to be sent again.
    pub fn only(&self, chooses: impl Fn(usize) -> bool) -> Self {
        let chosen = self.all.cmd_iter().enumerate().filter(|(at, _)| chooses(*at));
        let mut some = redis::pipe();
        chosen.for_each(|(_, command)| _ = some.add_command(command.clone()));
        Self::from(some)
    }

    /// Sends them. The replies may be errors of the server.
    async fn send(&self, connection: &mut MultiplexedConnection) -> RedisResult<Vec<Value>> {
        let mut commands = self.all.cmd_iter();
        match (commands.next(), commands.next()) {
            (Some(command), None) => Ok(vec![connection.send_packed_command(command).await?]),
            _ => connection.send_packed_commands(&self.all, self.ahead, self.all.len() - self.ahead).await,
        }
    }
}

/// The reply to each command: an error is one of the server.
pub type Replies = Vec<Result<Value, Error>>;

/// Waits for replies that have not come in time, also if it is dropped: a late reply says that the server is not silent.
pub struct Late(Option<BoxFuture<'static, Result<Replies, Error>>>);

impl Late {
    /// The late replies; none if they do not come.
    pub async fn replies(mut self) -> Replies {
        let Some(replies) = self.0.take() else { return Vec::new() };
        timeout(LATE, replies).await.ok().and_then(Result::ok).unwrap_or_default()
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        if let (Some(replies), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            drop(runtime.spawn(timeout(LATE, replies)));
        }
    }
}

impl Server {
    /// A connection that is opened by the first request. Its breaker opens after this silence.
    pub fn new(place: Place, silence: Option<Duration>, gauge: Arc<Gauge>) -> Self {
        let now = Instant::now();
        let state = State {
            silence: Silence::new(silence, now),
            is_watched: false,
            connection: None,
            opening: None,
            failed: None,
            used: now,
        };
        Self(Arc::new(Inner { place, gauge, state: Mutex::new(state) }))
    }

    pub fn set_silence(&self, silence: Option<Duration>) {
        self.0.state.lock().silence.set_limit(silence);
    }

    /// Sends commands with one write, and waits for `limit`. Without replies in time, `late` waits for them. If this future is
    /// dropped before the commands are written, they are not sent. Also returns when the connection was opened.
    ///
    /// # Errors
    /// There is no reply in time, no connection, or the breaker is open.
    pub async fn send(
        &self,
        commands: &Arc<Commands>,
        limit: Duration,
        late: &mut Option<Late>,
    ) -> Result<(Replies, Instant), Error> {
        let began = Instant::now();
        let waiting = match self.0.begin(began) {
            Some(waiting) => waiting,
            None => {
                // In a runtime that runs only while a request waits, late replies are read now.
                give_turns().await;
                self.0.begin(began).ok_or(Error::CircuitOpen)?
            }
        };
        let connection = match self.0.ready(began) {
            Some(connection) => connection,
            // The futures of most requests stay small.
            None => match within(limit, self.0.connection().boxed()).await {
                Some(Ok(connection)) => connection,
                Some(Err(error)) => return Err(waiting.ends(&error).into()),
                None => return Err(Error::Timeout(limit)),
            },
        };
        let opened = connection.opened;
        let mut replies = waiting.replies(connection, Arc::clone(commands)).boxed();
        match within(limit.saturating_sub(began.elapsed()), &mut replies).await {
            Some(replies) => Ok((replies?, opened)),
            None => {
                *late = Some(Late(Some(replies)));
                Err(Error::Timeout(limit))
            }
        }
    }

    /// Opens the connection, if there is none.
    pub async fn connect(&self) -> Result<(), Error> {
        Ok(self.0.connection().await.map(drop)?)
    }

    /// The requests that follow get another connection than the one that was opened then.
    pub fn retire(&self, opened: Instant) {
        self.0.retire(opened);
    }
}

impl Inner {
    /// Begins a request, unless the breaker is open.
    fn begin(self: &Arc<Self>, now: Instant) -> Option<Waiting> {
        let (permit, is_watched) = {
            let mut state = self.state.lock();
            (state.silence.begin(now)?, std::mem::replace(&mut state.is_watched, true))
        };
        // A runtime that ends drops the task at once, which takes the lock.
        if !is_watched {
            tokio::spawn(watch(Watch(Arc::downgrade(self))));
        }
        Some(Waiting { server: Arc::clone(self), permit: Some(permit) })
    }

    fn retire(&self, opened: Instant) {
        self.state.lock().connection.take_if(|connection| connection.opened == opened);
    }

    /// Lets the breaker see something.
    fn see(&self, see: impl FnOnce(&mut Silence)) {
        let mut state = self.state.lock();
        let was_open = state.silence.is_open();
        see(&mut state.silence);
        self.gauge.note(was_open, state.silence.is_open());
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

impl Drop for Inner {
    fn drop(&mut self) {
        self.gauge.note(self.state.get_mut().silence.is_open(), false);
    }
}

/// A request that waits for its reply.
struct Waiting {
    server: Arc<Inner>,
    permit: Option<Permit>,
}

impl Waiting {
    /// Sends commands, and waits for their replies.
    async fn replies(self, mut connection: Connection, commands: Arc<Commands>) -> Result<Replies, Error> {
        let values = match commands.send(&mut connection.multiplexed).await {
            Ok(values) => values,
            Err(error) => {
                self.server.retire(connection.opened);
                return Err(self.ends(&error).into());
            }
        };
        self.replied();
        Ok(values.into_iter().map(|value| value.extract_error().map_err(Error::Redis)).collect())
    }

    /// Ends the wait with this error, which may be a reply of the server.
    fn ends(self, error: &RedisError) -> RedisError {
        if !is_connection_error(error) {
            self.replied();
        }
        error.clone()
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
async fn watch(mut watch: Watch) {
    loop {
        sleep(LOOKS_APART).await;
        let Some(server) = watch.0.upgrade() else { return };
        server.see(|silence| silence.look(Instant::now()));
        let mut state = server.state.lock();
        if !state.silence.is_waited_for() {
            // The next request begins another one.
            state.is_watched = false;
            watch.0 = Weak::new();
            return;
        }
    }
}

/// The server that a task watches.
struct Watch(Weak<Inner>);

impl Drop for Watch {
    /// The runtime ends.
    fn drop(&mut self) {
        if let Some(server) = self.0.upgrade() {
            server.state.lock().is_watched = false;
        }
    }
}
