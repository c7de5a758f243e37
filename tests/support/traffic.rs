//! What a server holds and replicates.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use redis::{Connection, Value};

use super::{Server, cmd, ok, read};

/// A window in seconds that does not end while a test runs: the bucket of the fixed window ends in 2033, and the
/// nanoseconds of a record fit 64 bits.
pub const LONG: i64 = 1_000_000_000;

/// Every key, in order.
pub fn keys(con: &mut Connection) -> Vec<String> {
    let mut keys: Vec<String> = redis::cmd("KEYS").arg("*").query(con).expect("KEYS");
    keys.sort();
    keys
}

/// The key that holds the state, where there is one key only.
#[track_caller]
pub fn only_key(con: &mut Connection) -> String {
    let keys = keys(con);
    assert_eq!(keys.len(), 1, "{keys:?}");
    keys[0].clone()
}

/// Every key with its value, and its expiry in milliseconds since the epoch, -1 for none.
pub fn everything(con: &mut Connection) -> Vec<(String, Value, i64)> {
    let all = keys(con).into_iter().map(|key| {
        let (value, expiry) = (ok(cmd!(*con, "DUMP", &key)), read(ok(cmd!(*con, "PEXPIRETIME", &key))));
        (key, value, expiry)
    });
    all.collect()
}

pub fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("later than 1970");
    now.as_millis() as i64
}

/// What the module replicates: plain commands, and the two that enclose several of them.
const PLAIN: &str = "APPEND DEL EXEC HDEL HSET INCR INCRBY MULTI PEXPIREAT SET SETRANGE UNLINK ZADD ZREM ZREMRANGEBYRANK \
                     ZREMRANGEBYSCORE";

/// Panics unless every effect is a plain command, and every SET sets an absolute expiry or keeps the one there is.
#[track_caller]
pub fn assert_plain(effects: &[Vec<String>]) {
    for effect in effects {
        assert!(PLAIN.split(' ').any(|plain| plain == effect[0]), "{effect:?}");
        let options = effect.get(3..).unwrap_or_default();
        let expires = matches!(options, [option, _] if option == "PXAT");
        let keeps = matches!(options, [option] if option == "KEEPTTL");
        assert!(effect[0] != "SET" || expires || keeps, "{effect:?}");
    }
}

/// What a server with [`super::Options::durable`] propagates, read from its AOF (which is fed as replicas are).
pub struct Effects<'s> {
    server: &'s Server,
    seen: usize,
}

impl<'s> Effects<'s> {
    /// From now on.
    pub fn of(server: &'s Server) -> Self {
        let mut effects = Self { server, seen: 0 };
        effects.take();
        effects
    }

    /// The commands propagated since the last call by what was answered before this one; without SELECT.
    pub fn take(&mut self) -> Vec<Vec<String>> {
        let files = fs::read_dir(self.server.dir().join("appendonlydir")).expect("an append only file");
        let mut files = files.map(|file| file.expect("a file").path());
        let file = files.find(|file| file.to_string_lossy().ends_with(".incr.aof")).expect("an append only file");
        let all = fs::read(file).expect("an append only file");
        let mut rest = &all[self.seen..];
        self.seen = all.len();
        let mut commands = Vec::new();
        while !rest.is_empty() {
            let count = length(&mut rest, b'*');
            let argument = |_| {
                let (argument, after) = {
                    let len = length(&mut rest, b'$');
                    rest.split_at(len)
                };
                rest = after.strip_prefix(b"\r\n").expect("the end of an argument");
                String::from_utf8_lossy(argument).into_owned()
            };
            commands.push((0..count).map(argument).collect::<Vec<_>>());
        }
        commands.retain(|command| !command[0].eq_ignore_ascii_case("SELECT"));
        commands
    }
}

/// Takes `<mark><digits>\r\n` off the front.
fn length(rest: &mut &[u8], mark: u8) -> usize {
    let end = rest.iter().position(|&byte| byte == b'\n').expect("a whole line");
    let (line, after) = rest.split_at(end + 1);
    *rest = after;
    let text = line.strip_prefix(&[mark]).unwrap_or_else(|| panic!("no {} in front of {line:?}", char::from(mark)));
    String::from_utf8_lossy(text).trim().parse().expect("a length")
}
