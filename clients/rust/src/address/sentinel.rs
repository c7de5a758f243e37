//! The master that Sentinels name. The crate `redis` asks them one after the other, without a common time limit, so one
//! that hangs would hide the others.

use redis::{Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult, Value};

/// The Sentinels, and how to connect to the master.
#[derive(Clone, Debug)]
pub struct Sentinels {
    pub sentinels: Vec<Client>,
    pub name: String,
    /// The settings of the master, with another address.
    pub master: ConnectionInfo,
}

impl Sentinels {
    /// The command that asks a Sentinel for the address.
    pub fn question(&self) -> Cmd {
        let mut command = redis::cmd("SENTINEL");
        command.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.name);
        command
    }

    /// The client of the master that a Sentinel has named.
    pub fn client(&self, reply: Option<(String, u16)>) -> RedisResult<Client> {
        let (host, port) = reply.ok_or_else(|| self.not_found())?;
        let address = match self.master.addr() {
            ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
                ConnectionAddr::TcpTls { host, port, insecure: *insecure, tls_params: tls_params.clone() }
            }
            _ => ConnectionAddr::Tcp(host, port),
        };
        Client::open(self.master.clone().set_addr(address))
    }

    pub fn not_found(&self) -> RedisError {
        (ErrorKind::MasterNameNotFoundBySentinel, "no Sentinel names a master of that name", self.name.clone()).into()
    }
}

/// Whether a server says that it is a master. A Sentinel may name one that is none any more.
pub fn require_master(role: &Value) -> RedisResult<()> {
    let is_master = matches!(role, Value::Array(parts) if matches!(parts.first(),
        Some(Value::BulkString(word)) if word == b"master"));
    let error =
        || (ErrorKind::MasterNameNotFoundBySentinel, "the server that the Sentinels name is not a master").into();
    if is_master { Ok(()) } else { Err(error()) }
}
