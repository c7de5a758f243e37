//! The commands that are written and have no reply yet.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use redis::{RedisError, Value};

use super::outbox::Unsent;
use super::{Reply, Via};
use crate::error::Error;

#[derive(Debug)]
struct Flight {
    sent: Unsent,
    written: Instant,
    /// The replies that have come.
    values: Vec<Result<Value, Error>>,
}

impl Flight {
    /// Ends a request that took so long. The commands without a reply get this error.
    fn end(&mut self, error: &Error, took: Duration) {
        let Self { sent: Unsent { commands, caller, .. }, values, .. } = self;
        let Some(caller) = caller.take() else { return };
        // Before its caller decides by itself.
        commands.orphan();
        if values.is_empty() {
            let _ = caller.send(Err(error.clone()));
            return;
        }
        // It still counts the replies that come.
        let mut values = values.clone();
        values.resize(commands.len(), Err(error.clone()));
        let reply = Reply { values, took, commands: commands.clone(), via: Via::default() };
        if caller.send(Ok(reply)).is_ok() {
            commands.accept();
        }
    }
}

/// What a reply is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// The last reply to a request.
    Request,
    /// Others of it are still to come.
    Part,
    Probe,
    /// Nothing was asked.
    Unknown,
}

/// In the order in which they were written, which is that of the replies.
#[derive(Debug, Default)]
pub struct Flights(VecDeque<Flight>);

impl Flights {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A command was written; when it ends without a reply.
    pub fn begin(&mut self, mut sent: Unsent, written: Instant) -> Option<Instant> {
        let deadline = sent.deadline.or_else(|| written.checked_add(sent.limit)).filter(|_| sent.caller.is_some());
        sent.deadline = deadline;
        self.0.push_back(Flight { sent, written, values: Vec::new() });
        deadline
    }

    /// Whether the next reply is for a request.
    pub fn next_is_request(&self) -> bool {
        self.0.front().is_some_and(|flight| !flight.sent.is_probe)
    }

    /// A reply has come.
    pub fn land(&mut self, value: Value, now: Instant, via: Via) -> Landed {
        let Some(Flight { sent, values, .. }) = self.0.front_mut() else { return Landed::Unknown };
        values.reserve_exact(sent.commands.len() - values.len());
        let value = value.extract_error().map_err(Error::Redis);
        sent.commands.answered(values.len(), &value, now);
        values.push(value);
        if values.len() < sent.commands.len() {
            return Landed::Part;
        }
        let Some(Flight { sent, written, values }) = self.0.pop_front() else { return Landed::Unknown };
        if let Some(caller) = sent.caller {
            let took = now.saturating_duration_since(written);
            let _ = caller.send(Ok(Reply { values, took, commands: sent.commands, via }));
        }
        if sent.is_probe { Landed::Probe } else { Landed::Request }
    }

    /// When the first of them ends without a reply.
    pub fn first_deadline(&self) -> Option<Instant> {
        let waiting = self.0.iter().filter(|flight| flight.sent.caller.is_some());
        waiting.filter_map(|flight| flight.sent.deadline).min()
    }

    /// Ends those whose time is over.
    pub fn end_late(&mut self, now: Instant) {
        for flight in &mut self.0 {
            if flight.sent.deadline.is_some_and(|deadline| deadline <= now) {
                flight.end(&Error::Timeout(flight.sent.limit), flight.sent.limit);
            }
        }
    }

    /// The connection is gone, and no reply comes any more.
    pub fn lost(&mut self, error: &RedisError, now: Instant) {
        for mut flight in self.0.drain(..) {
            flight.sent.commands.lost(now);
            flight.end(&Error::Redis(error.clone()), Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use redis::cmd;

    use super::*;

    /// guarantee: failures
    #[test]
    fn the_replies_that_came_count_though_others_are_late() {
        let (mut flights, now, limit) = (Flights::default(), Instant::now(), Duration::from_millis(5));
        let (caller, mut reply) = tokio::sync::oneshot::channel();
        let commands = crate::protocol::Commands::from(&cmd("B")).after(&cmd("A"));
        flights.begin(Unsent { commands, limit, caller: Some(caller), is_probe: false, deadline: None }, now);
        assert_eq!(flights.land(Value::Int(1), now, Via::default()), Landed::Part);
        flights.end_late(now + limit);
        let values = reply.try_recv().expect("a reply").expect("one of two").values;
        assert!(matches!(values.as_slice(), [Ok(Value::Int(1)), Err(Error::Timeout(_))]), "{values:?}");
        // The late one is read all the same, and is for nobody else.
        assert_eq!(flights.land(Value::Int(2), now + limit, Via::default()), Landed::Request);
        assert!(flights.is_empty());
    }
}
