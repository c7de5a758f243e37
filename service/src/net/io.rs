//! What a connection reads, with the time, and only if there is a place for it.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::PollSemaphore;

use super::frames::Frames;
use super::micros;
use super::peer::{AT_ONCE, NO_PROGRESS, Peer, TOO_LONG};

/// A turn ends if no message has become whole for so long.
const PROGRESS: Duration = Duration::from_secs(1);
/// How long a turn may take.
const TURN: Duration = Duration::from_secs(10);
/// A frame of which less was read does not count as held.
const SMALL: usize = 1024;

/// What a connection of HTTP/1 takes that has sent a part of a request, beside that.
const BUFFER: usize = 8 * 1024;

thread_local! {
    /// What was read just now.
    static READ: RefCell<[u8; AT_ONCE]> = const { RefCell::new([0; AT_ONCE]) };
}

/// A connection.
#[derive(Debug)]
pub struct Watched<I> {
    io: I,
    peer: Arc<Peer>,
    /// How many bytes it is known to hold.
    held: usize,
    /// How many requests had ended by then.
    ended: usize,
    /// What was read from it already.
    first: &'static [u8],
    /// Whether others ran before what is written now.
    others_ran: bool,
    http2: Option<Http2>,
}

#[derive(Debug, Default)]
struct Http2 {
    frames: Frames,
    /// What goes on, from this place.
    on: Vec<u8>,
    at: usize,
    /// How long it waited, at most.
    waited: u64,
    turn: Option<Box<Turn>>,
}

/// The right to read more messages that are not whole, until none waits.
#[derive(Debug)]
struct Turn {
    turns: PollSemaphore,
    place: Option<OwnedSemaphorePermit>,
    /// When it began, when a message became whole last, and how many had.
    began: Instant,
    moved: Instant,
    ended: usize,
    ends: Pin<Box<Sleep>>,
}

impl<I> Watched<I> {
    pub fn http1(io: I, peer: Arc<Peer>) -> Self {
        Self { io, peer, held: 0, ended: 0, first: &[], others_ran: false, http2: None }
    }

    /// A connection of HTTP/2 whose preface was read.
    pub fn http2(io: I, peer: Arc<Peer>, preface: &'static [u8]) -> Self {
        peer.header_ended();
        let http2 = Some(Http2::default());
        Self { io, peer, held: 0, ended: 0, first: preface, others_ran: false, http2 }
    }

    /// Whether a write waits until other tasks had their turn: where more requests of the connection are under way, their
    /// replies may come in it, and all are written together.
    fn lets_others_run(&mut self, cx: &Context<'_>) -> bool {
        if self.http2.is_none() || self.others_ran || !self.peer.has_more() {
            return false;
        }
        self.others_ran = true;
        cx.waker().wake_by_ref();
        true
    }

    fn hold(&mut self, bytes: usize) {
        if self.held != bytes {
            self.peer.hold(self.held, bytes);
            self.held = bytes;
        }
    }
}

impl<I> Drop for Watched<I> {
    fn drop(&mut self) {
        self.hold(0);
        self.peer.turn_ends(0);
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
        if let Some(http2) = &mut me.http2 {
            let read = http2.poll_read(&mut me.io, &me.peer, cx, buf);
            let held = http2.held();
            me.hold(held);
            return read;
        }
        let ended = me.peer.ended();
        if std::mem::replace(&mut me.ended, ended) != ended {
            me.hold(0);
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut me.io).poll_read(cx, buf);
        let n = buf.filled().len() - before;
        if n > 0 {
            me.peer.has_read(0, 0);
            me.peer.header_began_unless_asked();
            let held = me.held.max(BUFFER) + n;
            me.hold(held);
        }
        read
    }
}

impl Http2 {
    fn poll_read<I: AsyncRead + Unpin>(
        &mut self,
        io: &mut I,
        peer: &Arc<Peer>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if peer.may_read() == 0 {
            cx.waker().wake_by_ref();
            peer.header_ended();
            return Poll::Pending;
        }
        if peer.may_read() == AT_ONCE {
            self.frames.looked_at();
            if self.on.is_empty() && !self.frames.is_waiting() && peer.resetting() != 0 {
                peer.reset(0);
            }
        }
        loop {
            self.release(peer);
            if self.frames.incomplete() == 0 {
                // It waits for others, not for the client.
                peer.turn_ends(0);
            }
            if let Some(on) = self.on.get(self.at..).filter(|on| !on.is_empty()) {
                let on = on.get(..buf.remaining()).unwrap_or(on);
                buf.put_slice(on);
                peer.has_read(on.len(), std::mem::take(&mut self.waited));
                self.at += on.len();
                if self.at == self.on.len() {
                    // What is large is given back.
                    self.on = Vec::new();
                    self.at = 0;
                }
                return Poll::Ready(Ok(()));
            }
            // A frame that has begun is read to its end.
            if self.frames.next().is_some() {
                // It is not the client who takes long.
                peer.header_ended();
                peer.wake_at_end(cx);
                // Requests may have ended in between.
                self.release(peer);
                if !self.on.is_empty() {
                    continue;
                }
                if self.frames.begun() > 0 {
                    // What went on must be looked at before more does.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                if self.frames.incomplete() == 0 {
                    return Poll::Pending;
                }
                ready!(self.poll_turn(peer, cx));
            }
            let before = buf.filled().len();
            match READ.with_borrow_mut(|bytes| {
                let mut read = ReadBuf::new(bytes);
                ready!(Pin::new(&mut *io).poll_read(cx, &mut read))?;
                self.take(read.filled(), peer, buf);
                Poll::Ready(Ok::<_, io::Error>(read.filled().len()))
            }) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(_)) => {
                    if self.frames.has_ended() {
                        peer.header_ended();
                    }
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    if !self.frames.has_ended() {
                        peer.header_began();
                    }
                    ready!(self.poll_end_of_turn(peer, cx));
                }
            }
            let n = buf.filled().len() - before;
            if n > 0 {
                peer.has_read(n, 0);
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Takes what was read. What goes on is put into `buf` as far as it fits.
    fn take(&mut self, bytes: &[u8], peer: &Peer, buf: &mut ReadBuf<'_>) {
        let Self { frames, on, .. } = self;
        let may_begin = |frames: &Frames| {
            peer.begun(frames.begun()) < peer.load.places() && peer.may_be_incomplete(frames.unended())
        };
        frames.read(bytes, micros(), may_begin, |part| {
            if on.is_empty() && part.len() <= buf.remaining() {
                buf.put_slice(part);
            } else {
                on.extend_from_slice(part);
            }
        });
    }

    /// Lets go on what may. After the end of a turn that is all that waits.
    fn release(&mut self, peer: &Peer) {
        while self.on.len() < AT_ONCE
            && let Some(next) = self.frames.next()
        {
            // What ends at once is not under way, and ends one by one: others have their turn in between.
            let may_go_on = match peer.resetting() {
                0 => {
                    peer.begun(self.frames.begun()) < peer.load.places_in_turn()
                        && (next.is_whole || peer.may_be_incomplete(self.frames.unended()))
                }
                _ => next.is_whole || self.frames.unended() == 0,
            };
            if !may_go_on {
                return;
            }
            if peer.resetting() != 0 {
                peer.turn_ends(micros());
            }
            let Some(next) = self.frames.take() else { return };
            self.waited = self.waited.max(micros().saturating_sub(next.since));
            if self.on.is_empty() {
                self.on = next.bytes;
            } else {
                self.on.extend_from_slice(&next.bytes);
            }
        }
        if self.turn.is_some() && !self.frames.is_waiting() {
            self.turn = None;
        }
    }

    /// Waits until it is the turn of this connection, in the order in which they began to wait.
    fn poll_turn(&mut self, peer: &Peer, cx: &mut Context<'_>) -> Poll<()> {
        let turn = self.turn.get_or_insert_with(|| {
            let now = Instant::now();
            let turns = PollSemaphore::new(peer.load.turns.clone());
            Box::new(Turn { turns, place: None, began: now, moved: now, ended: 0, ends: Box::pin(sleep_until(now)) })
        });
        if turn.place.is_none() {
            turn.place = ready!(turn.turns.poll_acquire(cx));
            turn.began = Instant::now();
            turn.moved = turn.began;
        }
        Poll::Ready(())
    }

    /// Waits until the turn has taken too long, if there is one. Then its requests end whose messages are incomplete.
    fn poll_end_of_turn(&mut self, peer: &Peer, cx: &mut Context<'_>) -> Poll<()> {
        let Some(turn) = self.turn.as_mut().filter(|_| peer.resetting() == 0) else { return Poll::Pending };
        let now = Instant::now();
        if std::mem::replace(&mut turn.ended, self.frames.ended()) != self.frames.ended() {
            turn.moved = now;
        }
        // What came meanwhile may not be read yet.
        let lag = peer.load.largest_lag();
        let (progress, longest) = (turn.moved + PROGRESS + lag, turn.began + TURN + lag);
        let ends = progress.min(longest);
        if now < ends {
            let micros_left = u64::try_from((ends - now).as_micros()).unwrap_or(u64::MAX);
            peer.turn_ends(micros().saturating_add(micros_left));
            turn.ends.as_mut().reset(ends);
            ready!(turn.ends.as_mut().poll(cx));
        }
        peer.reset(if longest < progress { TOO_LONG } else { NO_PROGRESS });
        Poll::Ready(())
    }

    /// How many bytes are held.
    fn held(&self) -> usize {
        let held = self.frames.held() + self.on.len() - self.at;
        if held < SMALL { 0 } else { held }
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Watched<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.lets_others_run(cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.others_ran = false;
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
        if self.lets_others_run(cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Wake, Waker};

    use prometheus::Registry;

    use super::*;
    use crate::net::{Figures, Load};

    /// Takes all that is written, and counts the writes.
    struct Counts(usize);

    impl AsyncWrite for Counts {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            self.0 += 1;
            Poll::Ready(Ok(buf.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    /// How many writes so many requests take that are under way on one connection, where one is decided in each turn.
    fn writes(requests: usize, connection: impl FnOnce(Counts, Arc<Peer>) -> Watched<Counts>) -> usize {
        let figures = Figures::new(&Registry::new()).expect("figures");
        let peer = Peer::new(&Load::new(1_000, Duration::ZERO, Duration::ZERO, figures));
        let mut under_way: Vec<_> = (0..requests).map(|_| peer.begin(true)).collect();
        let mut connection = connection(Counts(0), peer);
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let (waker, mut replies) = (Waker::from(woken.clone()), Vec::new());
        let mut cx = Context::from_waker(&waker);
        loop {
            match under_way.pop() {
                Some(_) => replies.push(b'r'),
                None if replies.is_empty() => break,
                None => {}
            }
            match Pin::new(&mut connection).poll_write(&mut cx, &replies) {
                Poll::Ready(written) => drop(replies.drain(..written.expect("a write"))),
                // It is polled again.
                Poll::Pending => assert!(woken.0.swap(false, Ordering::SeqCst)),
            }
            if replies.is_empty() {
                assert!(Pin::new(&mut connection).poll_flush(&mut cx).is_ready());
            }
        }
        connection.io.0
    }

    #[test]
    fn replies_are_written_together_where_several_requests_are_under_way() {
        let http2 = |io, peer| Watched::http2(io, peer, b"");
        for (requests, expected) in [(1, 1), (2, 1), (10, 5), (100, 50)] {
            assert_eq!(writes(requests, http2), expected, "{requests} over HTTP/2");
        }
        assert_eq!(writes(10, Watched::http1), 10, "one request at a time");
    }
}
