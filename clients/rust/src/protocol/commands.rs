//! Commands in the form in which they are sent.

use redis::Cmd;

/// What one command takes as a rule.
const BYTES: usize = 160;

/// Commands, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    bytes: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// How many words the next one has by now.
    words: usize,
}

impl Commands {
    pub fn with_capacity(commands: usize) -> Self {
        Self { bytes: Vec::with_capacity(BYTES * commands), ends: Vec::with_capacity(commands), words: 0 }
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
        let (begin, end) = (self.ends.last().copied().unwrap_or(0), self.bytes.len());
        let words = std::mem::take(&mut self.words);
        // The header comes first, and is known last.
        self.header(b'*', words);
        let header = self.bytes.len() - end;
        self.bytes[begin..].rotate_right(header);
        self.ends.push(self.bytes.len());
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
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.bytes[begin..*end])
    }
}

impl From<&Cmd> for Commands {
    fn from(command: &Cmd) -> Self {
        Self::from_iter([&*command.get_packed_command()])
    }
}

impl<'c> FromIterator<&'c [u8]> for Commands {
    fn from_iter<I: IntoIterator<Item = &'c [u8]>>(commands: I) -> Self {
        let mut all = Self::default();
        for command in commands {
            all.bytes.extend_from_slice(command);
            all.ends.push(all.bytes.len());
        }
        all
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
