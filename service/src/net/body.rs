//! The bodies of requests and responses: what is under way ends with them, and few long messages are read at once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use tokio::sync::{AcquireError, OwnedSemaphorePermit};
use tokio::time::{Sleep, sleep};

use super::load::Open;

/// A longer message waits until few others are read.
pub const LONG: usize = 16 * 1024;
/// A shorter part of a reply is copied.
const SHORT: usize = 1024;
/// How long a client may take to send a long message.
const PATIENCE: Duration = Duration::from_secs(10);

type Boxed<T> = Pin<Box<T>>;

/// A response. The request is under way until its body is dropped.
#[derive(Debug)]
pub struct Counted<B> {
    body: B,
    _open: Arc<Open>,
}

impl<B> Counted<B> {
    pub const fn new(body: B, open: Arc<Open>) -> Self {
        Self { body, _open: open }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Counted<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        // tonic writes a message into a buffer of 8 KiB, which would stay until the client has read the reply.
        let own = |data: Bytes| if data.len() < SHORT { Bytes::copy_from_slice(&data) } else { data };
        Pin::new(&mut self.body).poll_frame(cx).map_ok(|frame| frame.map_data(own))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A message of gRPC as it is received. The length that it begins with says whether it is long.
pub struct Received {
    body: Incoming,
    open: Arc<Open>,
    /// The first five bytes: a flag, and the length.
    head: [u8; 5],
    known: usize,
    /// The first part of a long message, while others are read.
    first: Option<Bytes>,
    waits: Option<Boxed<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>,
    long: Option<(OwnedSemaphorePermit, Boxed<Sleep>)>,
}

impl Received {
    pub const fn new(body: Incoming, open: Arc<Open>) -> Self {
        Self { body, open, head: [0; 5], known: 0, first: None, waits: None, long: None }
    }

    /// Looks at a part of the message. Whether it is the one that says that the message is long.
    fn look(&mut self, bytes: &Bytes) -> bool {
        self.open.hold(bytes.len());
        if self.known == self.head.len() {
            return false;
        }
        for (place, byte) in self.head.iter_mut().skip(self.known).zip(bytes) {
            *place = *byte;
            self.known += 1;
        }
        let [_, length @ ..] = self.head;
        let length = u32::from_be_bytes(length) as usize;
        // A longer one is an error at once.
        self.known == self.head.len() && (LONG..=4 * 1024 * 1024).contains(&length)
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let me = &mut *self;
        if let Some(waits) = &mut me.waits {
            let permit = ready!(waits.as_mut().poll(cx))?;
            me.waits = None;
            me.open.is_long(true);
            me.long = Some((permit, Box::pin(sleep(PATIENCE))));
        }
        if let Some(first) = me.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Some((_, ends)) = &mut me.long
            && ends.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())));
        }
        let frame = match ready!(Pin::new(&mut me.body).poll_frame(cx)) {
            None => return Poll::Ready(None),
            Some(frame) => frame?,
        };
        let Some(bytes) = frame.data_ref().cloned() else { return Poll::Ready(Some(Ok(frame))) };
        if me.look(&bytes) {
            me.first = Some(bytes);
            me.waits = Some(Box::pin(me.open.long().clone().acquire_owned()));
            return self.poll_frame(cx);
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.first.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        if self.long.take().is_some() {
            self.open.is_long(false);
        }
    }
}
