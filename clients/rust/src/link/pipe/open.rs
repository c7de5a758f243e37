//! Opens a connection: the socket, TLS, and what the settings ask for.

use std::future::poll_fn;
use std::io;

use futures_util::future::select_ok;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use redis::{Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, ProtocolVersion, RedisError, RedisResult, Value};
use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_util::either::Either;

use super::incoming::Incoming;
use super::socket::{Socket, Stream};
use crate::address::{CONNECT_TIMEOUT, Failure, OPEN_TIMEOUT, Sentinels, Trust, require_master};

/// Where a connection leads to.
#[derive(Clone, Debug)]
pub enum Place {
    Server(Box<ConnectionInfo>, Trust),
    /// The master that Sentinels name.
    Sentinel(Box<Sentinels>, Trust),
}

/// A connection over which commands may be sent.
#[derive(Debug)]
pub struct Opened {
    pub stream: Stream,
    pub incoming: Incoming,
}

impl Place {
    /// Opens a connection. The server has replied to PING then, if only with an error.
    pub async fn open(&self) -> RedisResult<Opened> {
        let opening = async {
            match self {
                Self::Server(info, trust) => connect(info, trust).await,
                Self::Sentinel(sentinels, trust) => master(sentinels, trust).await,
            }
        };
        timeout(OPEN_TIMEOUT, opening).await.unwrap_or_else(|_| Err(too_late()))
    }
}

fn too_late() -> RedisError {
    io::Error::new(io::ErrorKind::TimedOut, "no connection in time").into()
}

async fn connect(info: &ConnectionInfo, trust: &Trust) -> RedisResult<Opened> {
    let connecting = async {
        let stream = dial(info, trust).await?;
        let mut opened = Opened { stream, incoming: Incoming::default() };
        set_up(&mut opened, info).await?;
        Ok(opened)
    };
    timeout(CONNECT_TIMEOUT, connecting).await.unwrap_or_else(|_| Err(too_late()))
}

async fn dial(info: &ConnectionInfo, trust: &Trust) -> RedisResult<Stream> {
    match info.addr() {
        ConnectionAddr::Tcp(host, port) => Ok(Either::Left(Socket::new(Either::Left(tcp(host, *port, info).await?)))),
        #[cfg(feature = "tls")]
        ConnectionAddr::TcpTls { host, port, insecure: false, tls_params } => {
            let config = trust.config(tls_params.is_some())?;
            let name = rustls::pki_types::ServerName::try_from(host.clone()).map_err(io::Error::other)?;
            let socket = Socket::new(Either::Left(tcp(host, *port, info).await?));
            let stream = tokio_rustls::TlsConnector::from(config).connect(name, socket).await?;
            Ok(Either::Right(Box::new(stream)))
        }
        #[cfg(unix)]
        ConnectionAddr::Unix(path) => {
            Ok(Either::Left(Socket::new(Either::Right(tokio::net::UnixStream::connect(path).await?))))
        }
        _ => {
            let _ = trust;
            Err((ErrorKind::InvalidClientConfig, "a connection of this kind is not supported").into())
        }
    }
}

/// Connects to all addresses of a host at once: one that drops packets does not hide the others.
async fn tcp(host: &str, port: u16, info: &ConnectionInfo) -> RedisResult<TcpStream> {
    let addresses: Vec<_> = lookup_host((host, port)).await?.collect();
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name of the host has no address").into());
    }
    let (stream, _) = select_ok(addresses.into_iter().map(|address| TcpStream::connect(address).boxed())).await?;
    // A command must not wait for the acknowledgement of another.
    stream.set_nodelay(true)?;
    if let Some(keepalive) = info.tcp_settings().keepalive() {
        SockRef::from(&stream).set_tcp_keepalive(keepalive)?;
    }
    Ok(stream)
}

/// Logs in and chooses the database.
async fn set_up(opened: &mut Opened, info: &ConnectionInfo) -> RedisResult<()> {
    let settings = info.redis_settings();
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
    let required = commands.len();
    // Only if the address says a name: a user of the ACL may lack the permission, and servers before 7.2 the command.
    for (what, value) in [("LIB-NAME", settings.lib_name()), ("LIB-VER", settings.lib_ver())] {
        if let Some(value) = value.filter(|_| !settings.skip_set_lib_name()) {
            let mut command = redis::cmd("CLIENT");
            command.arg("SETINFO").arg(what).arg(value);
            commands.push(command);
        }
    }
    commands.push(redis::cmd("PING"));
    let replies = exchange(opened, &commands).await?;
    replies.into_iter().take(required).try_for_each(|reply| reply.extract_error().map(drop))
}

/// Sends commands and returns their replies, which may be errors of the server.
async fn exchange(opened: &mut Opened, commands: &[Cmd]) -> RedisResult<Vec<Value>> {
    let Opened { stream, incoming } = opened;
    let mut bytes = Vec::new();
    commands.iter().for_each(|command| command.write_packed_command(&mut bytes));
    stream.write_all(&bytes).await?;
    stream.flush().await?;
    let mut replies = Vec::with_capacity(commands.len());
    while replies.len() < commands.len() {
        match incoming.next()? {
            Some(reply) => replies.push(reply),
            None if poll_fn(|cx| incoming.poll_read(stream, cx)).await? == 0 => {
                // A server that has too many clients says so, and ends the connection.
                let said = replies.into_iter().find_map(|reply| reply.extract_error().err());
                return Err(said.unwrap_or_else(closed));
            }
            None => {}
        }
    }
    Ok(replies)
}

/// The server closed the connection.
pub fn closed() -> RedisError {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection").into()
}

/// Asks all Sentinels at the same time. The first master that one of them names and that says so itself counts.
async fn master(sentinels: &Sentinels, trust: &Trust) -> RedisResult<Opened> {
    let mut masters: FuturesUnordered<_> =
        sentinels.sentinels.iter().map(|sentinel| ask(sentinels, sentinel, trust)).collect();
    let mut failure = sentinels.no_reply();
    while let Some(result) = masters.next().await {
        match result {
            Ok(master) => return Ok(master),
            Err(later) => failure = failure.or(later),
        }
    }
    Err(failure.error)
}

async fn ask(sentinels: &Sentinels, sentinel: &Client, trust: &Trust) -> Result<Opened, Failure> {
    let query = async |opened: &mut Opened, command: Cmd| {
        let reply = exchange(opened, &[command]).await?.pop().unwrap_or(Value::Nil);
        reply.extract_error()
    };
    let mut opened = connect(sentinel.get_connection_info(), trust).await.map_err(Failure::of_sentinel)?;
    let reply = query(&mut opened, sentinels.question()).await;
    let named = reply.and_then(|reply| Ok(redis::from_redis_value(reply)?));
    let client = sentinels.client(named)?;
    let master = async {
        let mut master = connect(client.get_connection_info(), trust).await?;
        require_master(&query(&mut master, redis::cmd("ROLE")).await?)?;
        Ok(master)
    };
    master.await.map_err(Failure::of_master)
}
