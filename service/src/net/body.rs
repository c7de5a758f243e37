//! The bodies of requests and responses: what is under way ends with them, and few long messages are read at once.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::stream;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use http_body_util::StreamBody;
use hyper::body::{Bytes, Incoming};
use prost::Message;
use tokio::sync::futures::OwnedNotified;
use tokio::sync::{AcquireError, OwnedSemaphorePermit};
use tokio::time::{Sleep, sleep};
use tonic::Status;
use tonic::metadata::GRPC_CONTENT_TYPE;

use super::peer::Open;

/// A longer message waits until few others are read.
pub const LONG: usize = 16 * 1024;
/// What is before a message of gRPC: whether it is compressed, and its length.
const HEAD: usize = 5;
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
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a reply of gRPC: a message, then that all is well.
pub type Reply = StreamBody<stream::Iter<std::array::IntoIter<Result<Frame<Bytes>, Infallible>, 2>>>;

/// A reply of gRPC.
pub fn reply(message: &impl Message) -> Response<Reply> {
    let length = message.encoded_len();
    let mut bytes = Vec::with_capacity(HEAD + length);
    bytes.push(0);
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    message.encode_raw(&mut bytes);
    let trailers = HeaderMap::from_iter([(Status::GRPC_STATUS, HeaderValue::from_static("0"))]);
    let frames = [Frame::data(bytes.into()), Frame::trailers(trailers)].map(Ok);
    let mut response = Response::new(StreamBody::new(stream::iter(frames)));
    response.headers_mut().insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
    response
}

/// What is in the body of a message of gRPC that has come in one piece and is not compressed.
fn decode<M: Message + Default>(body: &[u8]) -> Option<M> {
    let (&[0, length @ ..], message) = body.split_first_chunk::<HEAD>()? else { return None };
    (u32::from_be_bytes(length) as usize == message.len()).then(|| M::decode(message).ok())?
}

/// A message as it is received. A request counts when it is whole. A message of gRPC begins with its length, which says
/// whether it is long.
pub struct Received {
    body: Incoming,
    open: Arc<Open>,
    /// The first five bytes of one of gRPC: a flag, and the length.
    head: [u8; HEAD],
    known: usize,
    /// Whether the connection counts what it holds.
    is_held: bool,
    /// The first part of a long message, while others are read.
    first: Option<Bytes>,
    waits: Option<Boxed<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>,
    /// When it must be whole, if it is long.
    long: Option<Boxed<Sleep>>,
    /// Ready when the request ends since more of the message does not come.
    ends: Option<Boxed<OwnedNotified>>,
}

impl Received {
    pub fn grpc(body: Incoming, open: Arc<Open>) -> Self {
        Self::new(body, open, 0)
    }

    pub fn http(body: Incoming, open: Arc<Open>) -> Self {
        if body.is_end_stream() {
            open.is_whole();
        }
        Self::new(body, open, HEAD)
    }

    fn new(body: Incoming, open: Arc<Open>, known: usize) -> Self {
        let is_held = known > 0;
        Self { body, open, head: [0; HEAD], known, is_held, first: None, waits: None, long: None, ends: None }
    }

    /// The message of gRPC, if it has come in one piece and is not compressed. Else the body is as before.
    ///
    /// # Errors
    /// More of the body does not come.
    pub async fn message<M: Message + Default>(&mut self) -> Result<Option<M>, Failed> {
        let frame = poll_fn(|cx| Pin::new(&mut *self).poll_frame(cx)).await.transpose()?;
        let Some(Ok(bytes)) = frame.map(Frame::into_data) else { return Ok(None) };
        let message = if self.is_end_stream() { decode(&bytes) } else { None };
        if message.is_none() {
            self.first = Some(bytes);
        }
        Ok(message)
    }

    /// Whether a part of the message has come.
    pub async fn has_come(&mut self) -> bool {
        poll_fn(|cx| {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else { return Poll::Ready(false) };
            if let Some(Ok(bytes)) = frame.map(|frame| frame.map(|frame| frame.into_data().unwrap_or_default())) {
                self.keep(bytes);
            }
            Poll::Ready(true)
        })
        .await
    }

    /// Keeps a part for later. If the message is long, it waits until few others are read.
    fn keep(&mut self, bytes: Bytes) {
        if self.look(&bytes) {
            self.open.queues(true);
            self.waits = Some(Box::pin(self.open.long().clone().acquire_owned()));
        }
        self.first = Some(bytes);
    }

    /// Looks at a part of the message. Whether it is the one that says that the message is long.
    fn look(&mut self, bytes: &Bytes) -> bool {
        if !self.is_held {
            self.open.hold(bytes.len());
        }
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

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failed>>> {
        if let Some(waits) = &mut self.waits {
            let permit = ready!(waits.as_mut().poll(cx))?;
            self.waits = None;
            self.open.queues(false);
            self.open.keep(permit);
            self.long = Some(Box::pin(sleep(PATIENCE)));
        }
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Some(ends) = &mut self.long
            && ends.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())));
        }
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            None => return Poll::Ready(None),
            Some(frame) => frame?,
        };
        let Some(bytes) = frame.data_ref().cloned() else { return Poll::Ready(Some(Ok(frame))) };
        self.keep(bytes);
        if self.waits.is_some() {
            return self.poll(cx);
        }
        self.first = None;
        Poll::Ready(Some(Ok(frame)))
    }

    /// Whether the request ends now, since more of its message does not come.
    fn ends(&mut self, cx: &mut Context<'_>) -> bool {
        let resets = self.open.resets();
        let ends = self.ends.get_or_insert_with(|| Box::pin(resets.clone().notified_owned()));
        ends.as_mut().poll(cx).is_ready() || self.open.ends_now()
    }
}

pub type Failed = Box<dyn std::error::Error + Send + Sync>;

impl Body for Received {
    type Data = Bytes;
    type Error = Failed;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failed>>> {
        let polled = self.poll(cx);
        match &polled {
            Poll::Pending => {
                self.open.is_incomplete();
                if !self.is_held && self.ends(cx) {
                    return Poll::Ready(Some(Err(self.open.reset().into())));
                }
            }
            Poll::Ready(None) => self.open.is_whole(),
            Poll::Ready(Some(_)) if self.is_end_stream() => self.open.is_whole(),
            Poll::Ready(_) => {}
        }
        polled
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
        if self.waits.is_some() {
            self.open.queues(false);
        }
    }
}
