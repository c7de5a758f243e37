//! Connections to the server that a client calls.

use redis::{Connection, RedisResult};

use crate::client::TIMEOUT;

pub fn connect(port: u16) -> RedisResult<Connection> {
    connect_to(&format!("127.0.0.1:{port}"))
}

pub fn connect_to(address: &str) -> RedisResult<Connection> {
    let con = redis::Client::open(format!("redis://{address}"))?.get_connection_with_timeout(TIMEOUT)?;
    con.set_read_timeout(Some(TIMEOUT))?;
    con.set_write_timeout(Some(TIMEOUT))?;
    Ok(con)
}
