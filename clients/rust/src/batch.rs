//! Requests that do not depend on each other, on their way together. No input and no output happens here.

use std::time::Duration;

use redis::{Cmd, RedisError, RedisResult, Value};

use crate::command::Call;
use crate::core::Core;
use crate::decision::Decision;
use crate::denials::Sent;
use crate::error::Error;
#[cfg(feature = "sync")]
use crate::error::ends_connection;
use crate::fallback::Fallback;
use crate::protocol::{Exchange, Step};
use crate::reply;
use crate::request::Request;

/// A command that is to be sent with others, and a place for its reply.
#[derive(Debug)]
pub struct Outgoing<'a> {
    command: Cmd,
    key: &'a [u8],
    reply: Option<RedisResult<Value>>,
    /// Which request of the batch it is for.
    index: usize,
}

impl<'a> Outgoing<'a> {
    /// The command.
    pub const fn command(&self) -> &Cmd {
        &self.command
    }

    /// The key whose slot decides which node of a cluster gets the command.
    pub const fn key(&self) -> &'a [u8] {
        self.key
    }

    /// Sets the reply. A command without one had none in time.
    pub fn set_reply(&mut self, reply: RedisResult<Value>) {
        self.reply = Some(reply.and_then(Value::extract_error));
    }

    /// Whether it had one.
    #[cfg(feature = "async")]
    pub(crate) const fn has_reply(&self) -> bool {
        self.reply.is_some()
    }

    /// The error that it got.
    pub(crate) fn error(&self) -> Option<&RedisError> {
        self.reply.as_ref()?.as_ref().err()
    }

    /// Whether the connection that it was sent over can be used again: there is a reply, if only an error of the server.
    #[cfg(feature = "sync")]
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
    part: u64,
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
    /// Requests that may wait for `timeout`. `part` says which part of the server decides on a key.
    pub fn new(core: &'a Core, requests: &'a [Request<'a>], timeout: Duration, part: impl Fn(&[u8]) -> u64) -> Self {
        let entries = requests.iter().map(|request| {
            let part = part(request.key);
            let state = match core.recall(request) {
                Some(decision) => State::Known(decision),
                None => {
                    let begun = core.begin(part, Call::Check(request), timeout);
                    begun.map_or_else(|error| State::Replied(Err(error)), State::Waits)
                }
            };
            Entry { request, part, sent: core.sent(request), state }
        });
        Self { core, timeout, entries: entries.collect() }
    }

    /// What is sent first, without replies, or after these replies. Nothing if all have ended.
    pub fn next(&mut self, replies: Vec<Outgoing<'a>>) -> Vec<Outgoing<'a>> {
        let mut replied: Vec<Option<RedisResult<Value>>> = self.entries.iter().map(|_| None).collect();
        let first = replies.is_empty();
        for outgoing in replies {
            replied[outgoing.index] = outgoing.reply;
        }
        let mut next = Vec::new();
        for ((index, entry), reply) in self.entries.iter_mut().enumerate().zip(replied) {
            let State::Waits(exchange) = &mut entry.state else { continue };
            // Without a reply in an earlier round, it stays without one.
            if !first && reply.is_none() {
                continue;
            }
            match exchange.step(reply) {
                Step::Send(command) => next.push(Outgoing { command, key: entry.request.key, reply: None, index }),
                Step::Done(result) => entry.state = State::Replied(self.core.ended(entry.part, result)),
            }
        }
        next
    }

    /// The decisions, in the order of the requests. A request that has no reply had none in time.
    pub fn end(self, fallback: Fallback) -> Vec<Result<Decision, Error>> {
        let Self { core, timeout, entries } = self;
        let decide = |Entry { request, part, sent, state }: Entry<'a>| {
            let result = match state {
                State::Known(decision) => return Ok(decision),
                State::Replied(result) => result,
                State::Waits(_) => core.ended(part, Err(Error::Timeout(timeout))),
            };
            let decision = result.and_then(|value| reply::decision(value, request));
            core.learned(request, sent, decision).or_else(|error| core.fall_back(request, fallback, error))
        };
        entries.into_iter().map(decide).collect()
    }
}
