//! The commands that are written and have no reply yet.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use redis::{RedisError, Value};

use super::outbox::{To, Unsent};
use super::{Caller, Reply, Via};
use crate::error::Error;
use crate::protocol::Commands;

#[derive(Debug)]
struct Flight {
    written: Instant,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Request {
        commands: Commands,
        /// The replies that have come.
        values: Vec<Result<Value, Error>>,
        limit: Duration,
        deadline: Option<Instant>,
        /// `None` once its time is over. Its replies are still read.
        caller: Option<Caller>,
    },
    /// ASKING goes before a command, and its reply says nothing.
    Asking,
    Probe,
}

impl Kind {
    /// Ends a request that took so long. The commands without a reply get this error.
    fn end(&mut self, error: &Error, took: Duration) {
        let Self::Request { commands, values, caller, .. } = self else { return };
        let Some(caller) = caller.take() else { return };
        if values.is_empty() {
            let _ = caller.send(Err(error.clone()));
            return;
        }
        // It still counts the replies that come.
        let mut values = values.clone();
        values.resize(commands.len(), Err(error.clone()));
        let _ = caller.send(Ok(Reply { values, took, commands: commands.clone(), via: Via::default() }));
    }
}

/// What a reply is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// The last reply to a request.
    Request,
    /// Others of it are still to come.
    Part,
    Asking,
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
    pub fn begin(&mut self, unsent: Unsent, written: Instant) -> Option<Instant> {
        let Unsent { request, to, deadline } = unsent;
        if request.asking {
            self.0.push_back(Flight { written, kind: Kind::Asking });
        }
        let caller = match to {
            To::Probe => {
                self.0.push_back(Flight { written, kind: Kind::Probe });
                return None;
            }
            To::Caller(caller) => Some(caller),
            To::Nobody => None,
        };
        let deadline = deadline.or_else(|| written.checked_add(request.limit)).filter(|_| caller.is_some());
        let (commands, values) = (request.commands, Vec::new());
        let kind = Kind::Request { commands, values, limit: request.limit, deadline, caller };
        self.0.push_back(Flight { written, kind });
        deadline
    }

    /// Whether the next reply is for a request.
    pub fn next_is_request(&self) -> bool {
        self.0.front().is_some_and(|flight| matches!(flight.kind, Kind::Request { .. }))
    }

    /// A reply has come.
    pub fn land(&mut self, value: Value, now: Instant, via: Via) -> Landed {
        if let Some(Flight { kind: Kind::Request { commands, values, .. }, .. }) = self.0.front_mut() {
            values.reserve_exact(commands.len() - values.len());
            values.push(value.extract_error().map_err(Error::Redis));
            if values.len() < commands.len() {
                return Landed::Part;
            }
        }
        let Some(Flight { written, kind }) = self.0.pop_front() else { return Landed::Unknown };
        match kind {
            Kind::Request { commands, values, caller, .. } => {
                if let Some(caller) = caller {
                    let took = now.saturating_duration_since(written);
                    let _ = caller.send(Ok(Reply { values, took, commands, via }));
                }
                Landed::Request
            }
            Kind::Asking => Landed::Asking,
            Kind::Probe => Landed::Probe,
        }
    }

    /// When the first of them ends without a reply.
    pub fn first_deadline(&self) -> Option<Instant> {
        let deadline = |flight: &Flight| match &flight.kind {
            Kind::Request { deadline, caller: Some(_), .. } => *deadline,
            _ => None,
        };
        self.0.iter().filter_map(deadline).min()
    }

    /// Ends those whose time is over.
    pub fn end_late(&mut self, now: Instant) {
        for flight in &mut self.0 {
            if let Kind::Request { limit, deadline: Some(deadline), .. } = flight.kind
                && deadline <= now
            {
                flight.kind.end(&Error::Timeout(limit), limit);
            }
        }
    }

    /// The connection is gone, and no reply comes any more.
    pub fn lost(&mut self, error: &RedisError) {
        for mut flight in self.0.drain(..) {
            flight.kind.end(&Error::Redis(error.clone()), Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use redis::cmd;

    use super::*;
    use crate::link::pipe::Request;

    /// guarantee: failures
    #[test]
    fn the_replies_that_came_count_though_others_are_late() {
        let (mut flights, now, limit) = (Flights::default(), Instant::now(), Duration::from_millis(5));
        let (caller, mut reply) = tokio::sync::oneshot::channel();
        let both: Vec<_> = [cmd("A"), cmd("B")].iter().map(redis::Cmd::get_packed_command).collect();
        let request = Request { commands: both.iter().map(Vec::as_slice).collect(), asking: false, limit };
        flights.begin(Unsent { request, to: To::Caller(caller), deadline: None }, now);
        assert_eq!(flights.land(Value::Int(1), now, Via::default()), Landed::Part);
        flights.end_late(now + limit);
        let values = reply.try_recv().expect("a reply").expect("one of two").values;
        assert!(matches!(values.as_slice(), [Ok(Value::Int(1)), Err(Error::Timeout(_))]), "{values:?}");
        // The late one is read all the same, and is for nobody else.
        assert_eq!(flights.land(Value::Int(2), now + limit, Via::default()), Landed::Request);
        assert!(flights.is_empty());
    }
}
