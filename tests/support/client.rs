//! Sends commands and checks replies.

use std::time::Duration;

use redis::{Cmd, Connection, ConnectionAddr, ErrorKind, IntoConnectionInfo, ProtocolVersion};
use redis::{RedisConnectionInfo, RedisResult, Value};

pub type Reply = RedisResult<Value>;

/// Sends one command: `cmd!(con, "RL.FIXED", key, 60, 5)`. An argument has any type that the redis crate
/// takes as one; bytes are `b"…"` or `&[u8]`.
#[allow(unused_macros)] // The pages have commands of their own.
macro_rules! cmd {
    ($con:expr, $name:expr $(, $arg:expr)* $(,)?) => {
        redis::cmd($name)$(.arg($arg))*.query::<redis::Value>(&mut $con)
    };
}
pub(crate) use cmd;

/// A command from its words, which are separated by blanks.
pub fn call(words: &str) -> Cmd {
    let mut words = words.split(' ');
    redis::cmd(words.next().expect("a name")).arg(words.collect::<Vec<_>>()).to_owned()
}

/// Sends a command, given by its words.
pub fn send(con: &mut Connection, words: &str) -> Reply {
    call(words).query(con)
}

/// The replies of a transaction.
#[track_caller]
pub fn exec(con: &mut Connection, commands: &[Cmd]) -> Vec<Value> {
    let mut transaction = redis::pipe();
    transaction.atomic();
    commands.iter().for_each(|command| _ = transaction.add_command(command.clone()));
    match ok(transaction.query(con)) {
        Value::Array(replies) => replies,
        other => panic!("no array: {other:?}"),
    }
}

/// The value of a reply. Panics if it is an error.
#[track_caller]
pub fn ok(reply: Reply) -> Value {
    match reply {
        Ok(value) => value,
        Err(error) => panic!("an error instead of a value: {}", text(&error)),
    }
}

/// The text of an error reply, as the server sent it after the `-`. Panics if it is a value.
#[track_caller]
pub fn err(reply: Reply) -> String {
    match reply {
        Ok(value) => panic!("a value instead of an error: {value:?}"),
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension), "no reply at all: {error}");
            text(&error)
        }
    }
}

/// The whole text of an error. The redis crate separates its first word.
fn text(error: &redis::RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (Some(code), None) => code.to_owned(),
        _ => error.to_string(),
    }
}

/// An error text as RL.MULTI replies it for one of its limits: with the number of the limit after the code.
pub fn of_limit(error: &str, number: usize) -> String {
    let (code, message) = error.split_once(' ').expect("a code and a message");
    format!("{code} limit {number}: {message}")
}

/// An array of integers, to compare a reply with.
pub fn ints(numbers: &[i64]) -> Value {
    Value::Array(numbers.iter().copied().map(Value::Int).collect())
}

/// A bulk string, to compare a reply with.
pub fn bytes(text: impl AsRef<[u8]>) -> Value {
    Value::BulkString(text.as_ref().to_vec())
}

/// One field of INFO. Panics if it does not exist.
#[track_caller]
pub fn info(con: &mut Connection, field: &str) -> String {
    field_of(&redis::cmd("INFO").arg("everything").query::<String>(con).expect("INFO"), field)
        .unwrap_or_else(|| panic!("INFO has no {field}"))
}

/// One field of INFO, over a connection of its own; nothing if the server closes it, as a failover makes it do, or does
/// not reply within a second.
pub fn try_info(port: u16, field: &str) -> Option<String> {
    let second = Duration::from_secs(1);
    let mut con = redis::Client::open(("127.0.0.1", port)).ok()?.get_connection_with_timeout(second).ok()?;
    con.set_read_timeout(Some(second)).ok()?;
    field_of(&redis::cmd("INFO").arg("everything").query::<String>(&mut con).ok()?, field)
}

fn field_of(info: &str, field: &str) -> Option<String> {
    info.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).map(str::to_owned)
}

/// DEBUG DIGEST. It is equal for two servers if and only if they hold the same keys and values, and the same keys have
/// an expiry. The time of the expiry is not part of it.
#[track_caller]
pub fn digest(con: &mut Connection) -> String {
    let digest = redis::cmd("DEBUG").arg("DIGEST").query(con);
    digest.expect("DEBUG DIGEST")
}

/// A connection to a port of this machine.
pub fn connect(port: u16, protocol: ProtocolVersion) -> redis::RedisResult<Connection> {
    let settings = RedisConnectionInfo::default()
        .set_protocol(protocol)
        // Redis 7.0 has no CLIENT SETINFO, and it would be one command more in every count.
        .set_skip_set_lib_name();
    let info = ConnectionAddr::Tcp("127.0.0.1".into(), port).into_connection_info()?.set_redis_settings(settings);
    redis::Client::open(info)?.get_connection()
}
