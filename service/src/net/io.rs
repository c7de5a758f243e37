//! What a connection reads, with the time, and only if there is a place for it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::load::Peer;

/// A connection.
#[derive(Debug)]
pub struct Watched<I> {
    io: I,
    peer: Arc<Peer>,
    /// What was read from it already.
    first: &'static [u8],
    /// Of HTTP/2: where the frames end.
    frames: Option<Frames>,
}

impl<I> Watched<I> {
    pub const fn http1(io: I, peer: Arc<Peer>) -> Self {
        Self { io, peer, first: &[], frames: None }
    }

    /// A connection of HTTP/2 whose preface was read.
    pub fn http2(io: I, peer: Arc<Peer>, preface: &'static [u8]) -> Self {
        peer.header_ended();
        Self { io, peer, first: preface, frames: Some(Frames::default()) }
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Watched<I> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let me = &mut *self;
        if !me.first.is_empty() {
            let (now, later) = me.first.split_at(me.first.len().min(buf.remaining()));
            buf.put_slice(now);
            me.first = later;
            return Poll::Ready(Ok(()));
        }
        let Some(frames) = &mut me.frames else {
            let before = buf.filled().len();
            let read = Pin::new(&mut me.io).poll_read(cx, buf);
            if buf.filled().len() > before {
                me.peer.has_read(0);
                me.peer.header_began_unless_asked();
            }
            return read;
        };
        if me.peer.has_read_enough() {
            cx.waker().wake_by_ref();
            me.peer.header_ended();
            return Poll::Pending;
        }
        if me.peer.must_wait(cx) {
            // It is not the client who takes long.
            me.peer.header_ended();
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut me.io).poll_read(cx, buf);
        let bytes = buf.filled().get(before..).unwrap_or_default();
        if !bytes.is_empty() {
            me.peer.has_read(bytes.len());
            frames.read(bytes);
            if frames.has_ended() {
                me.peer.header_ended();
            }
        } else if read.is_pending() && !frames.has_ended() {
            me.peer.header_began();
        }
        read
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Watched<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

/// Where the frames of HTTP/2 end, and the headers that take several.
#[derive(Debug, Default)]
struct Frames {
    head: [u8; 9],
    /// How much of the head was read.
    known: usize,
    /// How much of the frame comes after that.
    rest: usize,
    headers: bool,
}

impl Frames {
    fn read(&mut self, mut bytes: &[u8]) {
        const HEADERS: u8 = 1;
        const CONTINUATION: u8 = 9;
        const END_HEADERS: u8 = 4;
        while !bytes.is_empty() {
            if self.rest > 0 {
                let n = self.rest.min(bytes.len());
                self.rest -= n;
                bytes = bytes.get(n..).unwrap_or_default();
                continue;
            }
            for (place, byte) in self.head.iter_mut().skip(self.known).zip(bytes) {
                *place = *byte;
            }
            let n = (self.head.len() - self.known).min(bytes.len());
            self.known += n;
            bytes = bytes.get(n..).unwrap_or_default();
            if self.known == self.head.len() {
                self.known = 0;
                let [a, b, c, kind, flags, ..] = self.head;
                self.rest = u32::from_be_bytes([0, a, b, c]) as usize;
                if matches!(kind, HEADERS | CONTINUATION) {
                    self.headers = flags & END_HEADERS == 0;
                }
            }
        }
    }

    const fn has_ended(&self) -> bool {
        self.known == 0 && self.rest == 0 && !self.headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_frame_and_half_a_header_have_not_ended() {
        let frame = |kind, flags, payload: &[u8]| {
            let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
            [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
        };
        let all =
            [frame(4, 0, &[]), frame(1, 0, b"half"), frame(9, 0, b"more"), frame(9, 4, b"end"), frame(0, 1, b"x")];
        let expected = [true, false, false, true, true];
        for size in 1..30 {
            let mut frames = Frames::default();
            for (bytes, ended) in all.iter().zip(expected) {
                for part in bytes.chunks(size) {
                    assert!(frames.has_ended() || frames.headers || frames.known + frames.rest > 0);
                    frames.read(part);
                }
                assert_eq!(frames.has_ended(), ended, "{size}: {bytes:?}");
            }
            frames.read(&[0, 0, 1]);
            assert!(!frames.has_ended());
        }
    }
}
