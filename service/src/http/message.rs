//! The messages of requests: all that are being read hold at most 32 MiB together.

use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::PollSemaphore;
use tonic::Status;

use crate::decide::UnderWay;

/// How long a message may be, as for grpc-go.
pub const LONGEST: usize = 4 * 1024 * 1024;
/// How many bytes the messages hold that do not come in one piece, until their requests have replies.
const TOGETHER: usize = 32 * 1024 * 1024;
/// How many messages may wait for that. Each has its first frame, and as much as a stream may have on its way.
const WAITING: usize = 1_024;
/// What is before a message of gRPC: whether it is compressed, and its length.
const HEAD: usize = 5;

/// What messages may hold.
#[derive(Clone, Debug)]
pub struct Messages {
    bytes: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Default for Messages {
    fn default() -> Self {
        Self { bytes: Arc::new(Semaphore::new(TOGETHER)), waiting: Arc::new(Semaphore::new(WAITING)) }
    }
}

/// A request under way, and what its message holds.
#[derive(Debug)]
pub struct Held {
    _under_way: UnderWay,
    bytes: OnceLock<OwnedSemaphorePermit>,
}

impl Held {
    pub fn new(under_way: UnderWay) -> Arc<Self> {
        Arc::new(Self { _under_way: under_way, bytes: OnceLock::new() })
    }
}

/// The body of a request. One that does not come in one piece waits until there is room for the length that it says.
pub struct Message {
    body: Incoming,
    held: Arc<Held>,
    state: State,
}

enum State {
    /// The first part of a message of gRPC says its length.
    Begins(Messages),
    Waits(Box<Wait>),
    GoesOn,
}

struct Wait {
    bytes: PollSemaphore,
    length: u32,
    waiting: Arc<Semaphore>,
    /// The place among those that wait, once it does.
    place: Option<OwnedSemaphorePermit>,
    /// The first frame, which is handed on once there is room.
    first: Option<Frame<Bytes>>,
}

impl Message {
    /// A message of gRPC.
    pub fn grpc(body: Incoming, held: Arc<Held>, all: &Messages) -> Self {
        Self { body, held, state: State::Begins(all.clone()) }
    }

    /// A body of HTTP.
    pub fn http(body: Incoming, held: Arc<Held>, all: &Messages) -> Self {
        let length = body.size_hint().upper().map_or(LONGEST, |length| usize::try_from(length).unwrap_or(LONGEST));
        let state = if length == 0 { State::GoesOn } else { State::wait(all, length, None) };
        Self { body, held, state }
    }
}

impl State {
    fn wait(all: &Messages, length: usize, first: Option<Frame<Bytes>>) -> Self {
        let length = u32::try_from(length.min(LONGEST)).unwrap_or(u32::MAX);
        let (bytes, waiting) = (PollSemaphore::new(all.bytes.clone()), all.waiting.clone());
        Self::Waits(Box::new(Wait { bytes, length, waiting, place: None, first }))
    }
}

/// How long a message of gRPC is whose first part is this; `None` if that is all of it.
fn length_of_rest(first: &[u8]) -> Option<usize> {
    // An incomplete prefix does not say the length.
    let Some((&[_, length @ ..], rest)) = first.split_first_chunk::<HEAD>() else { return Some(LONGEST) };
    let length = u32::from_be_bytes(length) as usize;
    (rest.len() < length).then_some(length)
}

impl Body for Message {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Box<dyn Error + Send + Sync>>>> {
        loop {
            let Self { body, held, state } = &mut *self;
            match state {
                State::GoesOn => return Pin::new(body).poll_frame(cx).map_err(Into::into),
                State::Begins(all) => {
                    let frame = ready!(Pin::new(body).poll_frame(cx)).transpose()?;
                    match frame.as_ref().and_then(Frame::data_ref).and_then(|first| length_of_rest(first)) {
                        Some(length) => *state = State::wait(all, length, frame),
                        None => {
                            *state = State::GoesOn;
                            return Poll::Ready(frame.map(Ok));
                        }
                    }
                }
                State::Waits(wait) => {
                    let Poll::Ready(bytes) = wait.bytes.poll_acquire_many(cx, wait.length) else {
                        if wait.place.is_none() {
                            let place = wait.waiting.clone().try_acquire_owned();
                            wait.place = Some(place.map_err(|_| Status::resource_exhausted("too many long messages"))?);
                        }
                        return Poll::Pending;
                    };
                    _ = bytes.map(|bytes| held.bytes.set(bytes));
                    let first = wait.first.take();
                    *state = State::GoesOn;
                    if let Some(first) = first {
                        return Poll::Ready(Some(Ok(first)));
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        !matches!(self.state, State::Waits(_)) && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if matches!(self.state, State::Waits(_)) { SizeHint::default() } else { self.body.size_hint() }
    }
}
