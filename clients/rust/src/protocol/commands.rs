//! Commands in the form in which they are sent.

use std::sync::Arc;
use std::time::Instant;

use redis::{Cmd, Value};

use super::reply;
use crate::counts::{Count, Part};
use crate::error::Error;
use crate::policy::Join;

/// What one command takes as a rule.
const BYTES: usize = 160;
/// The end of a command whose reply is a LINE.
const LINE: &[u8] = b"$4\r\nLINE\r\n";

/// Commands, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    bytes: Vec<u8>,
    ends: Vec<End>,
    /// How many words the next one has by now.
    words: usize,
    /// How many of the first are sent before the others, and their replies are for nobody.
    ahead: usize,
}

/// Where a command ends, and what it charges.
#[derive(Clone, Debug)]
struct End {
    at: usize,
    parts: Parts,
}

/// What a command charges, as far as that is counted here.
#[derive(Clone, Debug)]
pub enum Parts {
    Nothing,
    One(Part),
    /// Of each limit of RL.MULTI.
    All(Vec<Option<Part>>),
}

impl Parts {
    fn each(&mut self, change: impl FnMut(&mut Part)) {
        match self {
            Self::Nothing => {}
            Self::One(part) => std::iter::once(part).for_each(change),
            Self::All(parts) => parts.iter_mut().flatten().for_each(change),
        }
    }

    /// The reply to the command has come.
    fn answered(&mut self, reply: &Result<Value, Error>, now: Instant) {
        let answer = |part: &mut Part, line: &Value| match reply::kept(line) {
            Some((figures, now_ms)) => part.answered(&figures, now_ms, now),
            None => part.rejected(false),
        };
        match (self, reply) {
            (Self::One(part), Ok(line)) => answer(part, line),
            (Self::All(parts), Ok(Value::Array(reply))) => {
                let lines = reply.last().and_then(Value::as_sequence).unwrap_or_default();
                let parts = parts.iter_mut().zip(lines).filter_map(|(part, line)| Some((part.as_mut()?, line)));
                parts.for_each(|(part, line)| answer(part, line));
            }
            (parts, reply) => {
                let sent_again = reply.as_ref().is_err_and(Error::is_sent_again);
                parts.each(|part| part.rejected(sent_again));
            }
        }
    }
}

impl Commands {
    pub fn with_capacity(commands: usize) -> Self {
        let (bytes, ends) = (Vec::with_capacity(BYTES * commands), Vec::with_capacity(commands));
        Self { bytes, ends, words: 0, ahead: 0 }
    }

    /// Adds a word to the next command.
    pub fn word(&mut self, word: impl AsRef<[u8]>) -> &mut Self {
        let word = word.as_ref();
        self.header(b'$', word.len());
        self.bytes.extend_from_slice(word);
        self.bytes.extend_from_slice(b"\r\n");
        self.words += 1;
        self
    }

    pub fn number(&mut self, n: u64) -> &mut Self {
        self.word(itoa::Buffer::new().format(n))
    }

    /// Ends the next command.
    pub fn end(&mut self) {
        let (begin, end) = (self.ends.last().map_or(0, |end| end.at), self.bytes.len());
        let words = std::mem::take(&mut self.words);
        // The header comes first, and is known last.
        self.header(b'*', words);
        let header = self.bytes.len() - end;
        self.bytes[begin..].rotate_right(header);
        self.ends.push(End { at: self.bytes.len(), parts: Parts::Nothing });
    }

    fn header(&mut self, kind: u8, length: usize) {
        match u8::try_from(length) {
            Ok(digit @ 0..=9) => self.bytes.extend_from_slice(&[kind, b'0' + digit, b'\r', b'\n']),
            _ => {
                self.bytes.push(kind);
                self.bytes.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
                self.bytes.extend_from_slice(b"\r\n");
            }
        }
    }

    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|end| end.at));
        begins.zip(&self.ends).map(|(begin, end)| &self.bytes[begin..end.at])
    }

    /// What the last of them charges.
    pub fn charge(&mut self, parts: Parts) {
        if let Some(last) = self.ends.last_mut() {
            last.parts = parts;
        }
    }

    /// Those that are there by now are sent before the others, and their replies are for nobody.
    pub const fn go_ahead(&mut self) {
        self.ahead = self.ends.len();
    }

    /// The same commands after others, whose replies are for nobody.
    pub fn after(&self, first: &Cmd) -> Self {
        let mut all = Self::from(first);
        all.go_ahead();
        let begin = all.bytes.len();
        all.bytes.extend_from_slice(&self.bytes);
        all.ends.extend(self.ends.iter().map(|end| End { at: begin + end.at, parts: end.parts.clone() }));
        all
    }

    /// Some of them, to be sent again.
    pub fn only(&self, chooses: impl Fn(usize) -> bool) -> Self {
        let mut some = Self::default();
        for (_, (command, end)) in self.iter().zip(&self.ends).enumerate().filter(|(at, _)| chooses(*at)) {
            some.bytes.extend_from_slice(command);
            some.ends.push(End { at: some.bytes.len(), parts: end.parts.clone() });
        }
        some
    }

    /// Leaves out those that went ahead. How many they were.
    pub fn forget_ahead(&mut self) -> usize {
        let ahead = std::mem::take(&mut self.ahead);
        if ahead > 0 {
            let begin = self.ends.drain(..ahead).next_back().map_or(0, |end| end.at);
            self.bytes.drain(..begin);
            self.ends.iter_mut().for_each(|end| end.at -= begin);
        }
        ahead
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut Parts> {
        self.ends.iter_mut().map(|end| &mut end.parts)
    }

    /// How this one command is shared with others.
    pub fn joins(&self) -> Option<(&Arc<Count>, Join, usize)> {
        match self.ends.as_slice() {
            [End { parts: Parts::One(part), .. }] => part.joins(),
            _ => None,
        }
    }

    /// Adds this command for so many requests.
    pub fn write_joined(&self, requests: usize, join: Join, bytes: &mut Vec<u8>) {
        let Some((words, rest)) = self.bytes.strip_prefix(b"*").and_then(|rest| {
            let end = rest.iter().position(|byte| *byte == b'\r')?;
            Some((atoi::atoi::<usize>(rest.get(..end)?)?, rest.get(end..)?.strip_suffix(LINE)?))
        }) else {
            return bytes.extend_from_slice(&self.bytes);
        };
        let word = match join {
            Join::Partial => &b"$7\r\nPARTIAL\r\n"[..],
            Join::Counted => b"$6\r\nALWAYS\r\n",
            _ => b"",
        };
        let (words, more) =
            (words + 2 + usize::from(!word.is_empty()), itoa::Buffer::new().format(requests).to_owned());
        let head = |bytes: &mut Vec<u8>, kind, number: usize| {
            bytes.push(kind);
            bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        };
        head(bytes, b'*', words);
        bytes.extend_from_slice(rest);
        bytes.extend_from_slice(b"$4\r\nCOST\r\n");
        head(bytes, b'$', more.len());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(more.as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(LINE);
    }

    /// They are written, or no longer under way.
    pub fn fly(&mut self, more: bool) {
        self.parts().for_each(|parts| {
            if let Parts::One(part) = parts {
                part.fly(more);
            }
        });
    }

    /// They are to be sent.
    pub fn open(&mut self) {
        self.parts().for_each(|parts| parts.each(Part::open));
    }

    /// They are not sent, but for those whose caller no longer waits for a reply that is to come.
    pub fn unsent(&mut self) {
        self.parts().for_each(|parts| parts.each(Part::unsent));
    }

    /// One of them has its reply.
    pub fn answered(&mut self, at: usize, reply: &Result<Value, Error>, now: Instant) {
        if let Some(end) = self.ends.get_mut(at) {
            end.parts.answered(reply, now);
        }
    }

    /// Their caller has the replies.
    pub fn accept(&mut self) {
        self.parts().for_each(|parts| parts.each(Part::accept));
    }

    /// Their caller no longer waits for those that have no reply.
    pub fn orphan(&mut self) {
        self.parts().for_each(|parts| parts.each(Part::orphan));
    }

    /// Nobody knows what became of those that have no reply.
    pub fn lost(&mut self, now: Instant) {
        self.parts().for_each(|parts| parts.each(|part| part.lost(now)));
    }
}

impl From<&Cmd> for Commands {
    fn from(command: &Cmd) -> Self {
        let bytes = command.get_packed_command();
        let ends = vec![End { at: bytes.len(), parts: Parts::Nothing }];
        Self { bytes, ends, ..Self::default() }
    }
}

/// A command as the crate `redis` has it.
#[cfg(test)]
pub fn parse(command: &[u8]) -> redis::RedisResult<Cmd> {
    let words: Vec<Vec<u8>> = redis::from_redis_value(redis::parse_redis_value(command)?)?;
    let mut parsed = Cmd::new();
    parsed.arg(words);
    Ok(parsed)
}
