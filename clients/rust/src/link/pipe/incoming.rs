//! What was read and is no whole reply yet.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use redis::{RedisResult, Value};
use tokio::io::{AsyncRead, ReadBuf};

use super::frame;
use super::socket::Stream;

/// How much is read at once. Replies of limits have about 60 bytes.
const CHUNK: usize = 16 * 1024;

/// Bytes of replies, in the order in which they came.
#[derive(Debug, Default)]
pub struct Incoming {
    buffer: Vec<u8>,
    /// The part of the buffer that holds bytes.
    begin: usize,
    end: usize,
}

impl Incoming {
    /// Reads once. 0 is the end of the stream.
    pub fn poll_read(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
        if self.buffer.len() - self.end < CHUNK / 2 {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            self.buffer.resize(self.end + CHUNK, 0);
        }
        let mut free = ReadBuf::new(&mut self.buffer[self.end..]);
        ready!(Pin::new(stream).poll_read(cx, &mut free))?;
        let length = free.filled().len();
        self.end += length;
        Poll::Ready(Ok(length))
    }

    /// The next whole reply. What the server sends by itself is left out.
    pub fn next(&mut self) -> RedisResult<Option<Value>> {
        loop {
            let Some((value, length)) = frame::first(&self.buffer[self.begin..self.end])? else { return Ok(None) };
            self.begin += length;
            if value.is_some() {
                return Ok(value);
            }
        }
    }
}
