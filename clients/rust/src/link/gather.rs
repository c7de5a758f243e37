//! Gathers what tasks write to one connection at about the same time into one write.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most writes that begin at once after waits that gathered nothing.
const MOST_AT_ONCE: u32 = 32;

/// A connection whose writes wait until all tasks that can run have run: what these have to write is in the buffer of the
/// protocol by then. Otherwise the runtime runs the task of the connection right after each of them, and each reply of rlaas
/// and each command to Redis is a write of its own.
///
/// Where a wait gathers nothing, as for a client that sends one request at a time, the next writes begin at once: twice as
/// many after each such wait in a row.
#[derive(Debug)]
pub struct Gather<T> {
    io: T,
    turn: Turn,
    /// How many writes begin at once before the next one waits, and how many of these are left.
    at_once: u32,
    left: u32,
}

/// What has happened since the last flush.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// Nothing was written.
    Begins,
    /// The other tasks run. There were so many bytes to write before.
    OfOthers(usize),
    /// Bytes are written.
    Over,
}

impl<T> Gather<T> {
    /// The connection `io`.
    pub const fn new(io: T) -> Self {
        Self { io, turn: Turn::Begins, at_once: 0, left: 0 }
    }

    /// Waits for the other tasks, before the first write after a flush. `bytes` is how many there are to write.
    fn wait(&mut self, bytes: usize, cx: &Context<'_>) -> Poll<()> {
        match self.turn {
            Turn::Begins if self.left == 0 => {
                self.turn = Turn::OfOthers(bytes);
                // A task that wakes itself comes after all that can run. Until then nothing else wakes it.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Turn::Begins => self.left -= 1,
            Turn::OfOthers(before) => {
                self.at_once = if bytes > before { 0 } else { (2 * self.at_once).clamp(1, MOST_AT_ONCE) };
                self.left = self.at_once;
            }
            Turn::Over => {}
        }
        self.turn = Turn::Over;
        Poll::Ready(())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Gather<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Gather<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.wait(bytes.len(), cx));
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.wait(parts.iter().map(|part| part.len()).sum(), cx));
        Pin::new(&mut self.io).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.turn = Turn::Begins;
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// How many waits so many writes take. `gathers` says whether other tasks have something to write.
    fn waits(gather: &mut Gather<tokio::io::Sink>, writes: usize, gathers: bool) -> usize {
        let mut cx = Context::from_waker(Waker::noop());
        let mut waits = 0;
        for _ in 0..writes {
            let mut bytes = 1;
            while Pin::new(&mut *gather).poll_write(&mut cx, &vec![0; bytes]).is_pending() {
                waits += 1;
                bytes += usize::from(gathers);
            }
            // What a full socket has left is written without another wait.
            assert!(Pin::new(&mut *gather).poll_write(&mut cx, b"the rest").is_ready());
            assert!(Pin::new(&mut *gather).poll_flush(&mut cx).is_ready());
        }
        waits
    }

    #[test]
    fn a_write_waits_for_other_tasks_where_they_write_too() {
        let gather = &mut Gather::new(tokio::io::sink());
        assert_eq!(waits(gather, 100, true), 100);
        // After 1, 2, 4, 8, 16, 32, and 32 more.
        assert_eq!(waits(gather, 100, false), 7);
        // The first wait that gathers something makes each write wait again.
        assert!(waits(gather, 100, true) >= 100 - 32);
    }
}
