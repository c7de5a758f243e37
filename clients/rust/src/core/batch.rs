//! Requests that do not depend on each other, on their way together. No input and no output happens here.

use std::time::Duration;

use redis::{Cmd, RedisError, RedisResult, Value};

use super::{Core, Recalled, Sent};
use crate::breaker::Begun;
use crate::decision::Decision;
use crate::error::{Error, Fallback, ends_connection};
use crate::key::Bounded;
use crate::policy::Request;
use crate::protocol::{Call, Exchange, Step, reply};

/// A command that is to be sent with others, and a place for its reply.
#[derive(Debug)]
pub struct Outgoing<'a> {
    command: Cmd,
    key: Bounded<'a>,
    reply: Option<RedisResult<Value>>,
    /// Why there is no reply, if the connection itself says so.
    failure: Option<Error>,
    /// How long the server may take.
    limit: Duration,
    /// Which request of the batch it is for.
    index: usize,
}

impl<'a> Outgoing<'a> {
    /// The command.
    pub const fn command(&self) -> &Cmd {
        &self.command
    }

    /// The key whose slot decides which node of a cluster gets the command.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Sets the reply. A command without one had none in time.
    pub fn set_reply(&mut self, reply: RedisResult<Value>) {
        self.reply = Some(reply.and_then(Value::extract_error));
    }

    /// How long the server may take.
    #[cfg(feature = "async")]
    pub(crate) const fn limit(&self) -> Duration {
        self.limit
    }

    /// Sets the reply of a connection of this crate, which took the server so long; or why there is none.
    #[cfg(feature = "async")]
    pub(crate) fn set(&mut self, reply: Result<(RedisResult<Value>, Duration), Error>) {
        match reply {
            Ok((value, took)) => {
                self.limit = self.limit.saturating_sub(took);
                self.reply = Some(value);
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// The error that it got.
    pub(crate) fn error(&self) -> Option<&RedisError> {
        self.reply.as_ref()?.as_ref().err()
    }

    /// Whether the connection that it was sent over can be used again: there is a reply, if only an error of the server.
    pub(crate) fn is_intact(&self) -> bool {
        self.reply.as_ref().is_some_and(|reply| reply.as_ref().err().is_none_or(|error| !ends_connection(error)))
    }

    /// Sets the replies to a pipeline of these commands.
    pub fn set_replies(all: &mut [Self], replies: RedisResult<Vec<Value>>) {
        match replies {
            Ok(values) if values.len() == all.len() => {
                all.iter_mut().zip(values).for_each(|(outgoing, value)| outgoing.set_reply(Ok(value)));
            }
            Ok(_) => {
                let error = RedisError::from((redis::ErrorKind::Parse, "another number of replies than of commands"));
                all.iter_mut().for_each(|outgoing| outgoing.set_reply(Err(error.clone())));
            }
            Err(error) => all.iter_mut().for_each(|outgoing| outgoing.set_reply(Err(error.clone()))),
        }
    }

    /// The pipeline of these commands.
    pub fn pipeline(all: &[Self]) -> redis::Pipeline {
        let mut pipeline = redis::Pipeline::with_capacity(all.len());
        for outgoing in all {
            pipeline.add_command(outgoing.command.clone());
        }
        pipeline
    }
}

/// The requests of a call, each with what is known of it.
pub struct Batch<'a> {
    core: &'a Core,
    timeout: Duration,
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    request: &'a Request<'a>,
    key: Bounded<'a>,
    begun: Option<Begun<'a>>,
    /// How long the server may take, with what is still to be sent.
    limit: Duration,
    sent: Option<Sent>,
    state: State<'a>,
}

enum State<'a> {
    /// A decision without the server.
    Known(Decision),
    Waits(Exchange<'a>),
    Replied(Result<Value, Error>),
}

impl<'a> Batch<'a> {
    /// Requests that may wait for `timeout`. `part` says which part of the server decides on a key, unless the connection
    /// has circuit breakers of its own.
    pub fn new(
        core: &'a Core,
        requests: &'a [Request<'a>],
        timeout: Duration,
        part: impl Fn(&[u8]) -> Option<u64>,
    ) -> Self {
        let entries = requests.iter().map(|request| {
            let key = request.bounded_key();
            let mut begun = None;
            let (sent, state) = match core.recall(request) {
                Recalled::Denied(denied) => (None, State::Known(core.remembered(denied))),
                Recalled::Unknown(sent) => match core.begin(part(&key), Call::Check(request), timeout) {
                    Ok((exchange, begins)) => {
                        begun = begins;
                        (sent, State::Waits(exchange))
                    }
                    Err(error) => (sent, State::Replied(Err(error))),
                },
            };
            Entry { request, key, begun, limit: timeout, sent, state }
        });
        Self { core, timeout, entries: entries.collect() }
    }

    /// What is sent first, without replies, or after these replies. Nothing if all have ended.
    pub fn next(&mut self, replies: Vec<Outgoing<'a>>) -> Vec<Outgoing<'a>> {
        let mut replied: Vec<Option<RedisResult<Value>>> = self.entries.iter().map(|_| None).collect();
        let first = replies.is_empty();
        for outgoing in replies {
            let entry = &mut self.entries[outgoing.index];
            entry.limit = outgoing.limit;
            match outgoing.failure {
                Some(error) => entry.state = State::Replied(self.core.ended(entry.begun.take(), Err(error))),
                None => replied[outgoing.index] = outgoing.reply,
            }
        }
        let mut next = Vec::new();
        for ((index, entry), reply) in self.entries.iter_mut().enumerate().zip(replied) {
            let State::Waits(exchange) = &mut entry.state else { continue };
            // Without a reply in an earlier round, it stays without one.
            if !first && reply.is_none() {
                continue;
            }
            match exchange.step(reply) {
                Step::Send(command) => {
                    let (key, limit) = (entry.key.clone(), entry.limit);
                    next.push(Outgoing { command, key, reply: None, failure: None, limit, index });
                }
                Step::Done(result) => entry.state = State::Replied(self.core.ended(entry.begun.take(), result)),
            }
        }
        next
    }

    /// The decisions, in the order of the requests. A request that has no reply had none in time.
    pub fn end(self, fallback: Fallback) -> Vec<Result<Decision, Error>> {
        let Self { core, timeout, entries } = self;
        let decide = |Entry { request, begun, sent, state, .. }: Entry<'a>| {
            let result = match state {
                State::Known(decision) => return Ok(decision),
                State::Replied(result) => result,
                State::Waits(_) => core.ended(begun, Err(Error::Timeout(timeout))),
            };
            let result = result.map_err(|error| core.failed(error));
            let decision = result.and_then(|value| reply::decision(value, request));
            core.learned(request, sent, decision).or_else(|error| core.fall_back(request, fallback, error))
        };
        entries.into_iter().map(decide).collect()
    }
}
