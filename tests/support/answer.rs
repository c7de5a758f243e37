//! Reads the forms of a reply.

use redis::{Connection, FromRedisValue, Value};

use super::{bytes, ok};

/// Makes `Full` and `FIGURES` from one list of names.
macro_rules! figures {
    ($($name:ident),*) => {
        /// The figures of a FULL reply. A reply must have all of them, in this order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Full { $(pub $name: i64),* }

        /// The names in a FULL reply, in order.
        pub const FIGURES: [&str; 12] = [$(stringify!($name)),*];

        impl Full {
            fn of([$($name),*]: [i64; 12]) -> Self {
                Self { $($name),* }
            }
        }
    };
}

figures!(allowed, count, ttl, limit, remaining, retry_after_ms, next_ms, reset_ms, delay_ms, now_ms, shadow, charged);

impl Full {
    /// The reply to the same request without FULL.
    pub fn triple(&self) -> [i64; 3] {
        [self.allowed, self.count, self.ttl]
    }
}

/// Reads a FULL reply: a map on RESP3, a flat array on RESP2 and from a script.
#[track_caller]
pub fn full(reply: Value) -> Full {
    let flat: Vec<Value> = match reply {
        Value::Array(flat) => flat,
        Value::Map(pairs) => pairs.into_iter().flat_map(|(name, figure)| [name, figure]).collect(),
        other => panic!("neither array nor map: {other:?}"),
    };
    let names: Vec<&Value> = flat.iter().step_by(2).collect();
    assert_eq!(names, FIGURES.map(bytes).iter().collect::<Vec<_>>());
    let figures: Vec<i64> = flat.into_iter().skip(1).step_by(2).map(read).collect();
    Full::of(figures.try_into().expect("as many as names"))
}

/// Reads a LINE reply: the figures of FULL without their names, with a blank between them.
#[track_caller]
pub fn line(reply: Value) -> Full {
    let Value::BulkString(text) = reply else { panic!("no string: {reply:?}") };
    let text = String::from_utf8(text).expect("text");
    let figures: Vec<Value> = text.split(' ').map(|figure| Value::Int(figure.parse().expect(&text))).collect();
    assert_eq!(figures.len(), FIGURES.len(), "{text}");
    let named = FIGURES.iter().zip(figures).flat_map(|(name, figure)| [bytes(name), figure]);
    full(Value::Array(named.collect()))
}

/// Reads a HEADERS reply: the three integers, and the headers as names and values.
#[track_caller]
pub fn with_headers(reply: Value) -> ([i64; 3], Vec<(String, String)>) {
    let Value::Array(parts) = reply else { panic!("no array: {reply:?}") };
    let [allowed, count, ttl, headers] = parts.as_slice() else { panic!("not four: {parts:?}") };
    ([allowed, count, ttl].map(|figure| read(figure.clone())), header_pairs(headers.clone()))
}

#[track_caller]
pub fn header_pairs(flat: Value) -> Vec<(String, String)> {
    let flat: Vec<String> = read(flat);
    assert!(flat.len().is_multiple_of(2), "{flat:?}");
    flat.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// Converts a reply to the type that it must have.
#[track_caller]
pub fn read<T: FromRedisValue>(value: Value) -> T {
    let shown = format!("{value:?}");
    redis::from_redis_value(value).unwrap_or_else(|error| panic!("{error}: {shown}"))
}

/// The server's clock, in ms.
#[track_caller]
pub fn server_ms(con: &mut Connection) -> i64 {
    let (seconds, micros): (i64, i64) = redis::cmd("TIME").query(con).expect("TIME");
    seconds * 1_000 + micros / 1_000
}
