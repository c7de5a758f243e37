//! The body of a response: that of the service, or one that the layer makes.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::Lease;

pin_project! {
    /// The body of a response: that of the service, or the text of a problem.
    #[derive(Debug)]
    pub struct ResponseBody<B> {
        // `None` if the request did not reach the service.
        #[pin]
        service: Option<B>,
        // `None` once it is read, or if there is none.
        text: Option<Bytes>,
        // Released when the body ends, or is dropped.
        leases: Vec<Lease>,
    }
}

impl<B> ResponseBody<B> {
    pub(super) fn of_service(body: B, leases: Vec<Lease>) -> Self {
        Self { service: Some(body), text: None, leases }
    }

    pub(super) fn of_text(text: Bytes) -> Self {
        Self { service: None, text: Some(text).filter(|text| !text.is_empty()), leases: Vec::new() }
    }
}

impl<B: Body<Data = Bytes>> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let body = self.project();
        match body.service.as_pin_mut() {
            Some(service) => service.poll_frame(context),
            None => Poll::Ready(body.text.take().map(|text| Ok(Frame::data(text)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.service.as_ref().map_or(self.text.is_none(), Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let text = || SizeHint::with_exact(self.text.as_ref().map_or(0, |text| text.len() as u64));
        self.service.as_ref().map_or_else(text, Body::size_hint)
    }
}
