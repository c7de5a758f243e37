//! The commands that are not written yet.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::AsyncWrite;

use super::Caller;
use super::socket::Stream;
use crate::counts::Count;
use crate::error::Error;
use crate::protocol::Commands;

/// So much is written at once.
const BATCH: usize = 64 * 1024;

/// The numbers of the requests that others may join, over all connections.
static NUMBER: AtomicU64 = AtomicU64::new(1);

/// Commands of one caller that are to be written together.
#[derive(Debug)]
pub struct Member {
    pub commands: Commands,
    /// How long the server may take.
    pub limit: Duration,
    /// Who gets the reply. `None` for a probe, and once there is an error: the reply is still to come if some bytes are
    /// written.
    pub caller: Option<Caller>,
    /// Until when it waits to be written, and has its reply: its time limit began when there was no connection, or when it
    /// waited for the reply to others of its key.
    pub deadline: Option<Instant>,
}

impl Member {
    /// Ends the wait of its caller. What is not written counts no more before that.
    pub fn end(&mut self, error: Error) {
        self.commands.unsent();
        if let Some(caller) = self.caller.take() {
            let _ = caller.send(Err(error));
        }
    }

    pub fn is_left(&self) -> bool {
        self.caller.as_ref().is_none_or(Caller::is_closed)
    }
}

/// What is to be written: the commands of one caller, or one command that many share.
#[derive(Debug)]
pub struct Unsent {
    pub first: Member,
    /// Those that share its command, in the order in which they came.
    pub others: Vec<Member>,
    pub is_probe: bool,
    /// By which others find it; 0 if none may join.
    number: u64,
}

impl Unsent {
    pub const fn new(first: Member, is_probe: bool) -> Self {
        Self { first, others: Vec::new(), is_probe, number: 0 }
    }

    /// All who share it.
    pub fn all(&self) -> impl Iterator<Item = &Member> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// No other joins it any more.
    fn close(&self) {
        if let Some((count, ..)) = self.first.commands.joins()
            && count.leader() == self.number
        {
            count.set_leader(0);
        }
    }

    fn is_waited_for(&self) -> bool {
        self.all().any(|member| member.caller.is_some())
    }

    /// Takes another one in, if it may share the command.
    fn join(&mut self, member: Member, most: usize) -> Result<(), Member> {
        let joins = self.others.len() + 1 < most && self.first.commands.bytes() == member.commands.bytes();
        if !joins {
            return Err(member);
        }
        self.others.push(member);
        Ok(())
    }

    /// Leaves out those that nobody waits for any more.
    fn leave(&mut self) {
        self.others.retain(|member| !member.is_left());
        if self.first.is_left() && !self.others.is_empty() {
            self.first = self.others.remove(0);
        }
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        match self.first.commands.joins() {
            Some((_, join, _)) if !self.others.is_empty() => {
                self.first.commands.write_joined(self.others.len() + 1, join, bytes);
            }
            _ => bytes.extend_from_slice(self.first.commands.bytes()),
        }
    }

    fn end(&mut self, error: &Error) {
        self.all_mut().for_each(|member| member.end(error.clone()));
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
    /// What waits for the replies to others of its key, by the address of its count.
    parked: HashMap<usize, (Arc<Count>, VecDeque<Unsent>)>,
}

impl Outbox {
    /// Adds commands. Returns when they end, if their time has begun.
    pub fn push(&mut self, mut member: Member, now: impl FnOnce() -> Instant) -> Option<Instant> {
        let Some((count, most)) = member.commands.joins().map(|(count, _, most)| (Arc::clone(count), most)) else {
            self.waiting.push_back(Unsent::new(member, false));
            return None;
        };
        // Nobody passes those who wait already.
        let waits = !self.parked.is_empty() && self.parked.contains_key(&Arc::as_ptr(&count).addr());
        if waits || count.is_busy() {
            let ends = now().checked_add(member.limit);
            member.deadline = member.deadline.or(ends);
            let (_, parked) = self.parked.entry(Arc::as_ptr(&count).addr()).or_insert_with(|| (count, VecDeque::new()));
            let alone = match parked.back_mut() {
                Some(last) => last.join(member, most).err(),
                None => Some(member),
            };
            parked.extend(alone.map(|member| Unsent::new(member, false)));
            return ends;
        }
        let leader = count.leader();
        let alone = match self.find(leader) {
            Some(leader) => leader.join(member, most).err(),
            None => Some(member),
        };
        if let Some(member) = alone {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            count.set_leader(number);
            self.waiting.push_back(Unsent { number, ..Unsent::new(member, false) });
        }
        None
    }

    /// What waits to be written under this number, and is not encoded.
    fn find(&mut self, number: u64) -> Option<&mut Unsent> {
        if number == 0 {
            return None;
        }
        self.waiting.iter_mut().skip(self.ends.len()).rev().find(|unsent| unsent.number == number)
    }

    /// Lets those wait for a write that have waited for replies: of each key one command, unless it is busy.
    fn release(&mut self) {
        let waiting = &mut self.waiting;
        self.parked.retain(|_, (count, parked)| {
            while !count.is_busy()
                && !waiting.iter().any(|unsent| unsent.number != 0 && unsent.number == count.leader())
            {
                let Some(mut next) = parked.pop_front() else { break };
                next.leave();
                if next.first.is_left() {
                    continue;
                }
                next.number = NUMBER.fetch_add(1, Ordering::Relaxed);
                count.set_leader(next.number);
                waiting.push_back(next);
            }
            !parked.is_empty()
        });
    }

    /// Sends PING before all that wait.
    pub fn push_probe(&mut self) {
        let commands = Commands::from(&redis::cmd("PING"));
        let begun = self.ends.len().min(self.waiting.len());
        let probe = Member { commands, limit: Duration::ZERO, caller: None, deadline: None };
        self.waiting.insert(begun, Unsent::new(probe, true));
    }

    /// Whether nothing is to be written now.
    pub fn is_empty(&mut self) -> bool {
        if !self.parked.is_empty() {
            self.release();
        }
        self.waiting.is_empty()
    }

    /// Encodes commands if nothing is left of those before. `chooses` says of each whether it is sent, and whether more
    /// may follow.
    pub fn fill(&mut self, mut chooses: impl FnMut(&Unsent) -> Choice) {
        if !self.bytes.is_empty() || self.is_empty() {
            return;
        }
        while let Some(unsent) = self.waiting.get_mut(self.ends.len()) {
            if !unsent.others.is_empty() {
                unsent.leave();
            }
            let choice = chooses(unsent);
            if choice == Choice::Reject {
                if let Some(mut unsent) = self.waiting.remove(self.ends.len()) {
                    unsent.end(&Error::CircuitOpen);
                }
                continue;
            }
            unsent.encode(&mut self.bytes);
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

    /// What is encoded, and the first command of it as if it was written.
    #[cfg(test)]
    pub fn encoded(&self) -> &[u8] {
        &self.bytes
    }

    #[cfg(test)]
    pub fn take_encoded(&mut self) -> Option<Unsent> {
        self.written = self.bytes.len();
        self.pop_written()
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
            let written = self.waiting.pop_front();
            return written.inspect(Unsent::close);
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
        let begun = self.begun();
        let parked =
            self.parked.values_mut().flat_map(|(_, parked)| parked.iter_mut()).map(|unsent| (usize::MAX, unsent));
        for (at, unsent) in self.waiting.iter_mut().enumerate().chain(parked) {
            for member in unsent.all_mut().filter(|member| member.deadline.is_some_and(|end| end <= now)) {
                if at < begun {
                    member.commands.orphan();
                }
                member.end(Error::Timeout(member.limit));
            }
        }
        self.keep(|unsent| unsent.is_probe || unsent.is_waited_for());
    }

    /// When the first of them ends.
    pub fn first_deadline(&self) -> Option<Instant> {
        let parked = self.parked.values().flat_map(|(_, parked)| parked);
        let callers = self.waiting.iter().chain(parked).flat_map(Unsent::all).filter(|member| member.caller.is_some());
        callers.filter_map(|member| member.deadline).min()
    }

    /// There is no connection: the time of those that wait begins now, unless it has begun. When the first of these ends.
    pub fn begin_limits(&mut self, now: Instant) -> Option<Instant> {
        // The later ones are at the end, but for those that have waited for a reply.
        let new =
            self.waiting.iter_mut().rev().take_while(|unsent| unsent.first.deadline.is_none() || unsent.number != 0);
        let new = new.flat_map(Unsent::all_mut).filter(|member| member.deadline.is_none());
        let deadlines = new.map(|member| {
            member.deadline = now.checked_add(member.limit);
            member.deadline
        });
        deadlines.flatten().min()
    }

    /// Ends all that wait, with this error. Probes stay.
    pub fn end_all(&mut self, error: &Error) {
        let begun = self.begun();
        for (at, unsent) in self.waiting.iter_mut().enumerate() {
            for member in unsent.all_mut() {
                // Some bytes of it are written, and the others may follow: the server may charge it.
                let error = if at < begun { Error::Timeout(member.limit) } else { error.clone() };
                if at < begun {
                    member.commands.orphan();
                }
                member.end(error);
            }
        }
        let parked = mem::take(&mut self.parked).into_values().flat_map(|(_, parked)| parked);
        parked.for_each(|mut unsent| unsent.end(error));
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
            unsent.all_mut().for_each(|member| member.commands.lost(now));
            unsent.end(error);
        }
        self.waiting.retain(Unsent::is_waited_for);
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
