//! Opens a connection: the master that Sentinels name, the socket, TLS, and the login.

use std::io;
use std::time::{Duration, Instant};

use futures_util::future::{join_all, select_ok};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, Pipeline, RedisConnectionInfo, RedisError,
    RedisResult, Value,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::gather::Gather;
use crate::error::is_connection_error;

/// How long one connection may take to open. The requests that wait for it have a timeout of their own.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long it may take until a connection is open, with Sentinels, a login and the nodes of a cluster.
pub const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// How many commands may wait for the connection to write them. With more, requests wait for room.
const QUEUE: usize = 65_536;

/// The certificates that connections trust, and those that they show; `None` without TLS.
#[cfg(feature = "tls")]
pub type Tls = Option<std::sync::Arc<rustls::ClientConfig>>;
/// No connection has TLS.
#[cfg(not(feature = "tls"))]
#[derive(Clone, Debug, Default)]
pub struct Tls;

/// Where a connection leads to.
#[derive(Clone, Debug)]
pub struct Place {
    /// The server; with Sentinels the settings of the master, whose address they name.
    pub info: ConnectionInfo,
    pub sentinels: Option<Sentinels>,
    pub tls: Tls,
}

/// The Sentinels, and the name by which they know the master.
#[derive(Clone, Debug)]
pub struct Sentinels {
    pub all: Vec<ConnectionInfo>,
    pub name: String,
}

#[derive(Clone, Debug)]
pub struct Connection {
    pub multiplexed: MultiplexedConnection,
    /// The task that reads and writes. It ends with the connection.
    pub driver: AbortHandle,
    pub opened: Instant,
}

/// How far the question to a Sentinel led. The largest counts: what a Sentinel replies says more than that another one is
/// away, and a Sentinel that names a master knows more than one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Away,
    Rejected,
    Named,
}

impl Place {
    /// The same settings for another server.
    pub fn at(&self, host: String, port: u16) -> Self {
        let info = self.info.clone().set_addr(ConnectionAddr::Tcp(host, port));
        Self { info, sentinels: None, tls: self.tls.clone() }
    }

    /// Opens a connection. The server has replied to PING then, if only with an error.
    pub async fn open(&self) -> RedisResult<Connection> {
        in_time(OPEN_TIMEOUT, async {
            match &self.sentinels {
                None => self.connect(&self.info).await,
                Some(sentinels) => self.connect_master(sentinels).await,
            }
        })
        .await
    }

    /// Asks all Sentinels at the same time. The first master that one of them names and that says so itself counts. The crate
    /// `redis` asks them one after the other, so one that hangs would hide the others.
    async fn connect_master(&self, sentinels: &Sentinels) -> RedisResult<Connection> {
        let mut asked: FuturesUnordered<_> =
            sentinels.all.iter().map(|sentinel| self.ask(sentinel, &sentinels.name)).collect();
        let text = "no Sentinel names a master of that name in time";
        let no_reply = (ErrorKind::MasterNameNotFoundBySentinel, text, sentinels.name.clone());
        let mut failure = (Stage::Away, RedisError::from(no_reply));
        while let Some(result) = asked.next().await {
            match result {
                Ok(master) => return Ok(master),
                Err(later) if later.0 >= failure.0 => failure = later,
                Err(_) => {}
            }
        }
        Err(failure.1)
    }

    async fn ask(&self, sentinel: &ConnectionInfo, name: &str) -> Result<Connection, (Stage, RedisError)> {
        let named = async {
            let mut sentinel = self.connect(sentinel).await?;
            let mut question = redis::cmd("SENTINEL");
            let reply = sentinel.query(question.arg("GET-MASTER-ADDR-BY-NAME").arg(name)).await?;
            // A fault of the configuration: a Sentinel names a master that is away too.
            let text = "the Sentinels know no master of that name";
            let unknown = || RedisError::from((ErrorKind::InvalidClientConfig, text, name.to_owned()));
            redis::from_redis_value::<Option<(String, u16)>>(reply)?.ok_or_else(unknown)
        };
        let stage = |error: &RedisError| if is_connection_error(error) { Stage::Away } else { Stage::Rejected };
        let (host, port) = named.await.map_err(|error| (stage(&error), error))?;
        let master = async {
            let mut master = self.connect(&self.at(host, port).info).await?;
            let role = master.query(&redis::cmd("ROLE")).await?;
            let is_master = matches!(role.as_sequence().and_then(<[Value]>::first),
                Some(Value::BulkString(word)) if word == b"master");
            // A Sentinel may name one that is none any more.
            let text = "the server that the Sentinels name is not a master";
            if is_master { Ok(master) } else { Err((ErrorKind::MasterNameNotFoundBySentinel, text).into()) }
        };
        master.await.map_err(|error| (Stage::Named, error))
    }

    async fn connect(&self, info: &ConnectionInfo) -> RedisResult<Connection> {
        in_time(CONNECT_TIMEOUT, async {
            match info.addr() {
                ConnectionAddr::Tcp(host, port) => {
                    let socket = tcp(host, *port).await?;
                    #[cfg(feature = "tls")]
                    if let Some(config) = &self.tls {
                        let name = rustls::pki_types::ServerName::try_from(host.clone()).map_err(io::Error::other)?;
                        let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::clone(config));
                        return set_up(connector.connect(name, socket).await?, info).await;
                    }
                    set_up(socket, info).await
                }
                #[cfg(unix)]
                ConnectionAddr::Unix(path) => set_up(tokio::net::UnixStream::connect(path).await?, info).await,
                _ => Err((ErrorKind::InvalidClientConfig, "a connection of this kind is not supported").into()),
            }
        })
        .await
    }
}

impl Connection {
    /// Sends commands with one write. The replies may be errors of the server.
    pub async fn send(&mut self, commands: &Pipeline) -> RedisResult<Vec<Value>> {
        let mut all = commands.cmd_iter();
        match (all.next(), all.next()) {
            (Some(command), None) => Ok(vec![self.multiplexed.send_packed_command(command).await?]),
            _ => self.multiplexed.send_packed_commands(commands, 0, commands.len()).await,
        }
    }

    async fn query(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.multiplexed.send_packed_command(command).await?.extract_error()
    }
}

async fn in_time<T>(limit: Duration, opening: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let too_late = || io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
    timeout(limit, opening).await.unwrap_or_else(|_| Err(too_late().into()))
}

/// Connects to all addresses of a host at once: one that drops packets does not hide the others.
async fn tcp(host: &str, port: u16) -> RedisResult<TcpStream> {
    let addresses: Vec<_> = lookup_host((host, port)).await?.collect();
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name of the host has no address").into());
    }
    let (stream, _) = select_ok(addresses.into_iter().map(|address| TcpStream::connect(address).boxed())).await?;
    // A command must not wait for the acknowledgement of another.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Logs in and chooses the database. The crate `redis` would hide what the server replies to the password.
async fn set_up<S>(stream: S, info: &ConnectionInfo) -> RedisResult<Connection>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    // The time limits are those of the callers.
    let config = AsyncConnectionConfig::new().set_response_timeout(None).set_pipeline_buffer_size(QUEUE);
    let says_nothing = RedisConnectionInfo::default().set_skip_set_lib_name();
    let (multiplexed, driver) =
        MultiplexedConnection::new_with_config(&says_nothing, Gather::new(stream), config).await?;
    let driver = tokio::spawn(driver).abort_handle();
    let commands = login(info.redis_settings());
    let sent = commands.iter().map(|command| {
        let mut multiplexed = multiplexed.clone();
        async move { multiplexed.send_packed_command(command).await }
    });
    let replies: Vec<_> = join_all(sent).await.into_iter().map(|reply| reply?.extract_error()).collect();
    if let Some(Err(lost)) = replies.iter().find(|reply| reply.as_ref().is_err_and(is_connection_error)) {
        // A server that has too many clients says so, and ends the connection.
        let said = replies.iter().find_map(|reply| reply.as_ref().err().filter(|error| !is_connection_error(error)));
        return Err(said.unwrap_or(lost).clone());
    }
    replies.into_iter().take(commands.len() - 1).try_for_each(|reply| reply.map(drop))?;
    Ok(Connection { multiplexed, driver, opened: Instant::now() })
}

/// The commands with which a connection begins. All must succeed but the last, PING.
fn login(settings: &RedisConnectionInfo) -> Vec<Cmd> {
    let mut commands = Vec::new();
    if let Some(password) = settings.password() {
        let mut auth = redis::cmd("AUTH");
        auth.arg(settings.username()).arg(password);
        commands.push(auth);
    }
    if settings.db() != 0 {
        let mut select = redis::cmd("SELECT");
        select.arg(settings.db());
        commands.push(select);
    }
    commands.push(redis::cmd("PING"));
    commands
}
