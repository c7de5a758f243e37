//! The commands that are not written yet.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;

use super::Caller;
use super::socket::Stream;
use crate::error::Error;
use crate::protocol::Commands;

/// So much is written at once.
const BATCH: usize = 64 * 1024;

/// Commands that are to be written together.
#[derive(Debug)]
pub struct Unsent {
    pub commands: Commands,
    /// How long the server may take.
    pub limit: Duration,
    /// Who gets the reply. `None` for a probe, and once there is an error: the reply is still to come if some bytes are
    /// written.
    pub caller: Option<Caller>,
    pub is_probe: bool,
    /// Until when it waits to be written, and has its reply: its time limit began when there was no connection.
    pub deadline: Option<Instant>,
}

impl Unsent {
    fn end(&mut self, error: Error) {
        if let Some(caller) = self.caller.take() {
            let _ = caller.send(Err(error));
        }
    }
}

#[derive(Debug, Default)]
pub struct Outbox {
    waiting: VecDeque<Unsent>,
    /// The bytes of the first of them.
    bytes: Vec<u8>,
    /// Where each of these ends.
    ends: VecDeque<usize>,
    /// Where the first of them begins, and how many bytes are written.
    begin: usize,
    written: usize,
    is_unflushed: bool,
}

impl Outbox {
    pub fn push(&mut self, unsent: Unsent) {
        self.waiting.push_back(unsent);
    }

    /// Sends PING before all that wait.
    pub fn push_probe(&mut self) {
        let commands = Commands::from(&redis::cmd("PING"));
        let begun = self.ends.len().min(self.waiting.len());
        let probe = Unsent { commands, limit: Duration::ZERO, caller: None, is_probe: true, deadline: None };
        self.waiting.insert(begun, probe);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Encodes commands if nothing is left of those before. `chooses` says of each whether it is sent, and whether more
    /// may follow.
    pub fn fill(&mut self, mut chooses: impl FnMut(&Unsent) -> Choice) {
        if !self.bytes.is_empty() {
            return;
        }
        while let Some(unsent) = self.waiting.get(self.ends.len()) {
            let choice = chooses(unsent);
            if choice == Choice::Reject {
                if let Some(mut unsent) = self.waiting.remove(self.ends.len()) {
                    unsent.end(Error::CircuitOpen);
                }
                continue;
            }
            self.bytes.extend_from_slice(unsent.commands.bytes());
            self.ends.push_back(self.bytes.len());
            if choice == Choice::SendAlone || self.bytes.len() >= BATCH {
                return;
            }
        }
    }

    /// Whether there are bytes to write.
    pub fn is_filled(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Writes once.
    pub fn poll_write(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Poll::Ready(length) = Pin::new(stream).poll_write(cx, &self.bytes[self.written..]) else {
            self.keep_what_is_begun();
            return Poll::Pending;
        };
        match length? {
            0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            length => self.written += length,
        }
        self.is_unflushed = true;
        Poll::Ready(Ok(()))
    }

    /// The next command of which all is written.
    pub fn pop_written(&mut self) -> Option<Unsent> {
        if let Some(end) = self.ends.front().copied().filter(|end| *end <= self.written) {
            self.begin = end;
            self.ends.pop_front();
            return self.waiting.pop_front();
        }
        if self.written == self.bytes.len() {
            self.forget_bytes();
        }
        None
    }

    /// TLS may still hold what was written.
    pub fn poll_flush(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_unflushed {
            ready!(Pin::new(stream).poll_flush(cx))?;
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// The socket takes no more. Of a command that is half written the rest must follow. The others wait without being
    /// encoded, so that they can still be left out.
    fn keep_what_is_begun(&mut self) {
        match self.ends.front() {
            Some(end) if self.begun() > 0 => {
                self.bytes.truncate(*end);
                self.ends.truncate(1);
            }
            _ => self.forget_bytes(),
        }
    }

    fn forget_bytes(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        (self.begin, self.written) = (0, 0);
    }

    /// How many commands are half written: one, or none.
    fn begun(&self) -> usize {
        usize::from(self.written > self.begin)
    }

    /// Ends those whose time is over.
    pub fn end_late(&mut self, now: Instant) {
        for unsent in self.waiting.iter_mut().filter(|unsent| unsent.deadline.is_some_and(|end| end <= now)) {
            unsent.end(Error::Timeout(unsent.limit));
        }
        self.keep(|unsent| unsent.is_probe || unsent.caller.is_some());
    }

    /// When the first of them ends.
    pub fn first_deadline(&self) -> Option<Instant> {
        let callers = self.waiting.iter().filter(|unsent| unsent.caller.is_some());
        callers.filter_map(|unsent| unsent.deadline).min()
    }

    /// There is no connection: the time of those that wait begins now, unless it has begun. When the first of these ends.
    pub fn begin_limits(&mut self, now: Instant) -> Option<Instant> {
        // The later ones are at the end.
        let new = self.waiting.iter_mut().rev().take_while(|unsent| unsent.deadline.is_none());
        let deadlines = new.map(|unsent| {
            unsent.deadline = now.checked_add(unsent.limit);
            unsent.deadline
        });
        deadlines.flatten().min()
    }

    /// Ends all that wait, with this error. Probes stay.
    pub fn end_all(&mut self, error: &Error) {
        let begun = self.begun();
        for (at, unsent) in self.waiting.iter_mut().enumerate() {
            // Some bytes of it are written, and the others may follow: the server may charge it.
            let error = if at < begun { Error::Timeout(unsent.limit) } else { error.clone() };
            if at < begun {
                unsent.commands.orphan();
            }
            unsent.end(error);
        }
        self.keep(|unsent| unsent.is_probe);
    }

    /// Keeps these, and what is half written.
    fn keep(&mut self, is_kept: impl Fn(&Unsent) -> bool) {
        let (begun, mut at) = (self.begun(), 0);
        self.waiting.retain(|unsent| {
            at += 1;
            at <= begun || is_kept(unsent)
        });
    }

    /// The connection is gone. What was half written ends with this error, and probes are of no use any more.
    pub fn lost(&mut self, error: &Error, now: Instant) {
        if self.begun() > 0
            && let Some(mut unsent) = self.waiting.pop_front()
        {
            unsent.commands.lost(now);
            unsent.end(error.clone());
        }
        self.waiting.retain(|unsent| unsent.caller.is_some());
        self.forget_bytes();
        self.is_unflushed = false;
    }
}

/// What becomes of a command that could be written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Send,
    /// No other goes with it.
    SendAlone,
    /// The breaker does not permit it, or its caller is gone.
    Reject,
}
