//! Opens a connection: the socket, TLS, and the login.

use std::io;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{join_all, select_ok};
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, ProtocolVersion, RedisConnectionInfo,
    RedisResult,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::address::{CONNECT_TIMEOUT, Trust};
use crate::error::is_connection_error;
use crate::gather::Gather;

/// How many commands may wait for the connection to write them. With more, requests wait for room.
const QUEUE: usize = 65_536;

/// A connection that was opened.
#[derive(Clone, Debug)]
pub struct Connection {
    pub multiplexed: MultiplexedConnection,
    /// The task that reads and writes. It ends with the connection.
    pub driver: AbortHandle,
    pub opened: Instant,
}

/// With a time limit.
pub async fn in_time<T>(limit: Duration, opening: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let too_late = || io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
    timeout(limit, opening).await.unwrap_or_else(|_| Err(too_late().into()))
}

/// Connects to one server.
pub async fn connect(info: &ConnectionInfo, trust: &Trust) -> RedisResult<Connection> {
    let connecting = async {
        match info.addr() {
            ConnectionAddr::Tcp(host, port) => set_up(tcp(host, *port).await?, info).await,
            #[cfg(feature = "tls")]
            ConnectionAddr::TcpTls { host, port, insecure: false, .. } => {
                let config = trust.config()?;
                let name = rustls::pki_types::ServerName::try_from(host.clone()).map_err(io::Error::other)?;
                let socket = tcp(host, *port).await?;
                set_up(tokio_rustls::TlsConnector::from(config).connect(name, socket).await?, info).await
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => set_up(tokio::net::UnixStream::connect(path).await?, info).await,
            _ => {
                let _ = trust;
                Err((ErrorKind::InvalidClientConfig, "a connection of this kind is not supported").into())
            }
        }
    };
    in_time(CONNECT_TIMEOUT, connecting).await
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
    if settings.protocol() != ProtocolVersion::RESP2 {
        let mut hello = redis::cmd("HELLO");
        hello.arg(3);
        if let Some(password) = settings.password() {
            hello.arg("AUTH").arg(settings.username().unwrap_or("default")).arg(password);
        }
        commands.push(hello);
    } else if let Some(password) = settings.password() {
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
