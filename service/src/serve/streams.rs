//! How many streams a connection of HTTP/2 may have, and which number the client gets in the settings.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

/// How many streams h2 takes at least. Envoy learns from the first frame how many a connection may have, and has sent
/// requests by then: as many as wait for a connection, of which its circuit breaker allows 1,024. Envoy lets a request
/// pass that h2 refuses.
pub const TAKEN: u32 = 1_024;

/// What is before the settings in their frame.
const HEAD: usize = 9;
/// What is before the value of MAX_CONCURRENT_STREAMS.
const MAX_CONCURRENT_STREAMS: [u8; 2] = [0, 3];

/// The side of a connection that writes. Its first frame, that of the settings, says a number of streams of its own.
pub struct Announce<W> {
    io: W,
    /// The number for the settings; `None` once they are written.
    streams: Option<u32>,
}

impl<W> Announce<W> {
    /// Announces this number of streams; `None` keeps the number of h2.
    pub const fn new(io: W, streams: Option<u32>) -> Self {
        Self { io, streams }
    }
}

/// Sets the number of streams in a frame of settings.
fn set(frame: &mut [u8], streams: u32) {
    let settings = frame.get_mut(HEAD..).unwrap_or_default().chunks_exact_mut(6);
    for setting in settings.filter(|setting| setting.starts_with(&MAX_CONCURRENT_STREAMS)) {
        if let Some(value) = setting.last_chunk_mut() {
            *value = streams.to_be_bytes();
        }
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Announce<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Some(streams) = self.streams else { return Pin::new(&mut self.io).poll_write(cx, bytes) };
        let length = bytes.first_chunk().map_or(0, |[a, b, c]| u32::from_be_bytes([0, *a, *b, *c]) as usize);
        let mut frame = bytes.get(..HEAD + length).unwrap_or(bytes).to_vec();
        set(&mut frame, streams);
        let written = ready!(Pin::new(&mut self.io).poll_write(cx, &frame))?;
        self.streams = None;
        // Nothing was written before, so there is room for a few bytes.
        if written == frame.len() {
            Poll::Ready(Ok(written))
        } else {
            Poll::Ready(Err(io::ErrorKind::WriteZero.into()))
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match (self.streams, parts.iter().find(|part| !part.is_empty())) {
            (Some(_), Some(first)) => self.poll_write(cx, first),
            _ => Pin::new(&mut self.io).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
