//! What was read and is no whole reply yet.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, BytesMut};
use redis::{RedisResult, Value};
use tokio_util::io::poll_read_buf;

use super::frame;
use super::socket::Stream;

/// How much is read at once. Replies of limits have about 60 bytes.
const CHUNK: usize = 16 * 1024;

/// Bytes of replies, in the order in which they came.
#[derive(Debug, Default)]
pub struct Incoming(BytesMut);

impl Incoming {
    /// Reads once. 0 is the end of the stream.
    pub fn poll_read(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.0.reserve(CHUNK / 2);
        poll_read_buf(Pin::new(stream), cx, &mut self.0)
    }

    /// The next whole reply. What the server sends by itself is left out.
    pub fn next(&mut self) -> RedisResult<Option<Value>> {
        loop {
            let Some((value, length)) = frame::first(&self.0)? else { return Ok(None) };
            self.0.advance(length);
            if value.is_some() {
                return Ok(value);
            }
        }
    }
}
