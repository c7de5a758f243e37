//! Which server a client calls.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, Ordering};

use redis::{Cmd, Connection, ConnectionLike, ErrorKind, RedisError, RedisResult, ServerErrorKind, Value};

use crate::client::TIMEOUT;
use crate::support::Random;

/// Where the servers are.
#[derive(Clone, Copy)]
pub enum Route<'a> {
    /// The primary, wherever it is now.
    Primary(&'a AtomicU16),
    /// The nodes of a cluster.
    Cluster(&'a [u16]),
}

pub fn connect(port: u16) -> RedisResult<Connection> {
    connect_to(&format!("127.0.0.1:{port}"))
}

pub fn connect_to(address: &str) -> RedisResult<Connection> {
    let con = redis::Client::open(format!("redis://{address}"))?.get_connection_with_timeout(TIMEOUT)?;
    con.set_read_timeout(Some(TIMEOUT))?;
    con.set_write_timeout(Some(TIMEOUT))?;
    Ok(con)
}

impl Route<'_> {
    pub fn connect(self) -> Option<Connection> {
        match self {
            Self::Primary(port) => connect(port.load(Ordering::Relaxed)).ok(),
            Self::Cluster(_) => None,
        }
    }

    /// Where a client that finds its way by itself begins, as an address of the Rust client.
    pub fn address(self) -> String {
        match self {
            Self::Primary(port) => format!("redis://127.0.0.1:{}/", port.load(Ordering::Relaxed)),
            Self::Cluster(ports) => {
                let nodes: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
                format!("redis-cluster://{}", nodes.join(","))
            }
        }
    }
}

/// The port that MOVED or ASK names.
fn named(error: &RedisError) -> Option<u16> {
    error.redirect_node().and_then(|(address, _)| address.rsplit_once(':')?.1.parse().ok())
}

/// The connections of a client to the nodes of a cluster.
#[derive(Default)]
pub struct Nodes {
    cons: BTreeMap<u16, Connection>,
    /// The node of each hash tag, as far as it is known.
    owners: BTreeMap<String, u16>,
}

impl Nodes {
    /// Sends a command to the node of its hash tag, and to the one that MOVED or ASK names: the server that says so has
    /// done nothing.
    pub fn query(&mut self, ports: &[u16], tag: &str, command: &Cmd, random: &mut Random) -> RedisResult<Value> {
        let mut port = self.owners.get(tag).copied().unwrap_or_else(|| random.pick(ports));
        let mut asking = false;
        for redirections in 0.. {
            let result = self.send(port, asking, command);
            let Err(error) = &result else { return result };
            asking = error.kind() == ErrorKind::Server(ServerErrorKind::Ask);
            match named(error) {
                Some(next) if redirections < 5 => {
                    port = next;
                    if !asking {
                        self.owners.insert(tag.to_owned(), next);
                    }
                }
                _ => {
                    self.owners.remove(tag);
                    return result;
                }
            }
        }
        unreachable!("there are at most five redirections")
    }

    /// The node of a hash tag, or any, and a connection to it.
    pub fn take(&mut self, ports: &[u16], tag: &str, random: &mut Random) -> (u16, Option<Connection>) {
        let port = self.owners.get(tag).copied().unwrap_or_else(|| random.pick(ports));
        (port, self.cons.remove(&port).or_else(|| connect(port).ok()))
    }

    /// Keeps a connection that is still good, and learns from an error where the hash tag is.
    pub fn put(&mut self, (port, con): (u16, Option<Connection>), tag: &str, error: Option<&RedisError>) {
        let con = con.map(|con| self.cons.insert(port, con));
        if con.is_none() || error.is_some_and(|error| error.code() != Some("OOM")) {
            self.owners.remove(tag);
        }
        if let Some(next) =
            error.filter(|error| error.kind() == ErrorKind::Server(ServerErrorKind::Moved)).and_then(named)
        {
            self.owners.insert(tag.to_owned(), next);
        }
    }

    fn send(&mut self, port: u16, asking: bool, command: &Cmd) -> RedisResult<Value> {
        let mut con = match self.cons.remove(&port) {
            Some(con) => con,
            None => connect(port)?,
        };
        if asking {
            con.req_command(&redis::cmd("ASKING"))?.extract_error()?;
        }
        let result = con.req_command(command).and_then(redis::Value::extract_error);
        // What arrives after a timeout is the reply to an earlier call.
        if result.as_ref().err().is_none_or(|error| !error.is_io_error()) {
            self.cons.insert(port, con);
        }
        result
    }
}
