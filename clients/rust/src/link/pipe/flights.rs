//! The commands that are written and have no reply yet.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use redis::{Cmd, RedisError, Value};

use super::outbox::{To, Unsent};
use super::{Caller, Reply, Via};
use crate::error::Error;

#[derive(Debug)]
struct Flight {
    written: Instant,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Command {
        command: Cmd,
        limit: Duration,
        deadline: Option<Instant>,
        /// `None` once its time is over. Its reply is still read.
        caller: Option<Caller>,
    },
    /// ASKING goes before a command, and its reply says nothing.
    Asking,
    Probe,
}

/// What a reply is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    Command,
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
        let kind = Kind::Command { command: request.command, limit: request.limit, deadline, caller };
        self.0.push_back(Flight { written, kind });
        deadline
    }

    /// Whether the next reply is for a command.
    pub fn next_is_command(&self) -> bool {
        self.0.front().is_some_and(|flight| matches!(flight.kind, Kind::Command { .. }))
    }

    /// A reply has come.
    pub fn land(&mut self, value: Value, now: Instant, via: Via) -> Landed {
        let Some(Flight { written, kind }) = self.0.pop_front() else { return Landed::Unknown };
        match kind {
            Kind::Command { command, caller, .. } => {
                if let Some(caller) = caller {
                    let took = now.saturating_duration_since(written);
                    let _ = caller.send(Ok(Reply { value: value.extract_error(), took, command, via }));
                }
                Landed::Command
            }
            Kind::Asking => Landed::Asking,
            Kind::Probe => Landed::Probe,
        }
    }

    /// When the first of them ends without a reply.
    pub fn first_deadline(&self) -> Option<Instant> {
        let deadline = |flight: &Flight| match &flight.kind {
            Kind::Command { deadline, caller: Some(_), .. } => *deadline,
            _ => None,
        };
        self.0.iter().filter_map(deadline).min()
    }

    /// Ends those whose time is over.
    pub fn end_late(&mut self, now: Instant) {
        for flight in &mut self.0 {
            if let Kind::Command { limit, deadline: Some(deadline), caller, .. } = &mut flight.kind
                && *deadline <= now
                && let Some(caller) = caller.take()
            {
                let _ = caller.send(Err(Error::Timeout(*limit)));
            }
        }
    }

    /// The connection is gone, and no reply comes any more.
    pub fn lost(&mut self, error: &RedisError) {
        for flight in self.0.drain(..) {
            if let Kind::Command { caller: Some(caller), .. } = flight.kind {
                let _ = caller.send(Err(Error::Redis(error.clone())));
            }
        }
    }
}
