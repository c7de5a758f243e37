//! Collects keyspace notifications.

use redis::{Connection, ConnectionLike, FromRedisValue, Value};

use super::{PATIENCE, Server};

const EVENTS: &str = "__keyevent@0__:";

/// Receives every keyspace event of database 0 from its creation on.
pub struct Events {
    ears: Connection,
    mouth: Connection,
    /// What ends the events. A replica gets the messages of its master too, so each server has its own.
    fence: String,
}

impl Events {
    pub fn listen(server: &Server) -> Self {
        let mut mouth = server.con();
        let set = redis::cmd("CONFIG").arg(&["SET", "notify-keyspace-events", "KEA"]).exec(&mut mouth);
        set.expect("notify-keyspace-events");

        let mut ears = server.con();
        ears.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let fence = format!("end-of-events:{}", server.port());
        for (subscribe, to) in [("PSUBSCRIBE", &format!("{EVENTS}*")), ("SUBSCRIBE", &fence)] {
            let subscribed = redis::cmd(subscribe).arg(to).exec(&mut ears);
            subscribed.expect(subscribe);
        }
        Self { ears, mouth, fence }
    }

    /// The events since the last call, in order: `("incrby", b"key:28333333")`. They include those of every
    /// command that has replied before this call, since the message published here comes after them.
    pub fn take(&mut self) -> Vec<(String, Vec<u8>)> {
        let fence = redis::cmd("PUBLISH").arg(&[&self.fence, ""]).exec(&mut self.mouth);
        fence.expect("PUBLISH");

        let mut events = Vec::new();
        loop {
            let message = self.ears.recv_response().expect("a message");
            let parts = match message {
                Value::Array(parts) | Value::Push { data: parts, .. } => parts,
                other => panic!("no message: {other:?}"),
            };
            // message, channel, payload; or pmessage, pattern, channel, payload.
            let [.., channel, payload] = parts.as_slice() else {
                panic!("no message: {parts:?}");
            };
            let channel = String::from_redis_value_ref(channel).expect("a channel");
            match channel.strip_prefix(EVENTS) {
                Some(event) => events.push((event.to_owned(), Vec::from_redis_value_ref(payload).expect("a key"))),
                None => return events,
            }
        }
    }
}
