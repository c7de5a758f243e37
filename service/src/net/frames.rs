//! The frames of HTTP/2 that a client sends, and the requests that wait until their messages are whole.
//!
//! A stream that is open takes a few KB, its header 15 bytes on the wire. So what may not go on is kept as it came: the
//! header, and behind it all other frames of its stream. Headers keep their order, since they are compressed together.
//! What belongs to no stream that waits goes on at once.

use std::collections::VecDeque;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const PUSH_PROMISE: u8 = 5;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// A message of which so much has come goes on before it is whole: the rest may not fit into the window of its stream.
const GOES_ON: usize = 8 * 1024;

/// A request that waits, from its header on. What must keep its order is one of its own: trailers, and the last frame.
#[derive(Debug)]
pub struct Waiting {
    stream: u32,
    pub bytes: Vec<u8>,
    /// When its header was read, in microseconds.
    pub since: u64,
    /// Whether nothing more is to come before it goes on.
    pub is_whole: bool,
}

/// Where the frames end, and what waits.
#[derive(Debug, Default)]
pub struct Frames {
    head: [u8; 9],
    /// How much of the head was read.
    known: usize,
    /// How much of the frame comes after that.
    rest: usize,
    /// Whether a header continues in the next frame.
    headers: bool,
    /// How much was read of a frame, or of a header in several, that has not ended.
    unfinished: usize,
    /// The stream of this frame, and whether its message is whole then.
    stream: u32,
    ends: bool,
    /// The request that the frame belongs to, counted from the first of all that waited; `None` if it goes on.
    to: Option<usize>,
    /// The highest stream so far.
    last: u32,
    waiting: VecDeque<Waiting>,
    /// How many have waited before these.
    gone: usize,
    /// How many are not whole.
    incomplete: usize,
    /// What they take.
    bytes: usize,
    /// Streams that went on since the last look, without the ends of their messages.
    unended: Vec<u32>,
    /// How many went on since then.
    begun: usize,
    /// How many messages have become whole here.
    ended: usize,
}

impl Frames {
    /// Takes what was read at `now`. `may_begin` says whether a request may go on before it is known whether its message
    /// is whole, if none waits; `on` gets what goes on.
    pub fn read(&mut self, mut bytes: &[u8], now: u64, may_begin: impl Fn(&Self) -> bool, mut on: impl FnMut(&[u8])) {
        while !bytes.is_empty() {
            let part = if self.rest > 0 {
                let (part, later) = bytes.split_at(self.rest.min(bytes.len()));
                self.rest -= part.len();
                bytes = later;
                part
            } else {
                let n = (self.head.len() - self.known).min(bytes.len());
                let (part, later) = bytes.split_at(n);
                self.head.iter_mut().skip(self.known).zip(part).for_each(|(place, byte)| *place = *byte);
                self.known += n;
                bytes = later;
                if self.known < self.head.len() {
                    return;
                }
                self.known = 0;
                self.begin(now, &may_begin);
                &self.head
            };
            self.unfinished += part.len();
            match self.to.and_then(|at| self.waiting.get_mut(at.checked_sub(self.gone)?)) {
                None => on(part),
                Some(waiting) => {
                    waiting.bytes.extend_from_slice(part);
                    self.bytes += part.len();
                }
            }
            if self.rest == 0 && !self.headers {
                self.end();
            }
        }
    }

    /// The head of a frame is known.
    fn begin(&mut self, now: u64, may_begin: impl Fn(&Self) -> bool) {
        let [a, b, c, kind, flags, stream @ ..] = self.head;
        self.rest = u32::from_be_bytes([0, a, b, c]) as usize;
        if kind == CONTINUATION && self.headers {
            self.headers = flags & END_HEADERS == 0;
            return;
        }
        self.unfinished = 0;
        self.stream = u32::from_be_bytes(stream) & (u32::MAX >> 1);
        self.ends = kind == RST_STREAM || (matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0);
        self.headers = false;
        if !matches!(kind, HEADERS | PUSH_PROMISE | GOAWAY) {
            self.to = self.find(self.stream).map(|at| at + self.gone);
            return;
        }
        self.headers = kind != GOAWAY && flags & END_HEADERS == 0;
        let is_new = kind == HEADERS && self.stream > self.last;
        self.last = self.last.max(self.stream);
        self.to = None;
        if !self.waiting.is_empty() || (is_new && !may_begin(self)) {
            self.to = Some(self.gone + self.waiting.len());
            let waiting = Waiting { stream: self.last, bytes: Vec::new(), since: now, is_whole: !is_new };
            self.incomplete += usize::from(is_new);
            self.bytes += size_of::<Waiting>();
            self.waiting.push_back(waiting);
        } else if is_new {
            self.begun += 1;
            self.unended.push(self.stream);
        }
    }

    /// A frame, and the header that it is of, has ended.
    fn end(&mut self) {
        self.unfinished = 0;
        let found = self.find(self.stream).and_then(|at| self.waiting.get_mut(at));
        let is_whole = std::mem::take(&mut self.ends);
        if let Some(waiting) = found {
            if !waiting.is_whole && (is_whole || waiting.bytes.len() >= GOES_ON) {
                waiting.is_whole = true;
                self.incomplete -= 1;
                self.ended += 1;
            }
        } else if is_whole && let Some(at) = self.unended.iter().rposition(|stream| *stream == self.stream) {
            self.unended.swap_remove(at);
        }
    }

    /// Where the request of a stream waits. Trailers come after it.
    fn find(&self, stream: u32) -> Option<usize> {
        let at = self.waiting.partition_point(|waiting| waiting.stream < stream);
        self.waiting.get(at).filter(|waiting| waiting.stream == stream).map(|_| at)
    }

    /// The request that is to go on next, unless another frame goes on now or this one's has not ended.
    pub fn next(&self) -> Option<&Waiting> {
        if self.unfinished > 0 && self.to.is_none_or(|to| to == self.gone) { None } else { self.waiting.front() }
    }

    /// Takes that request.
    pub fn take(&mut self) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        self.gone += 1;
        self.bytes -= waiting.bytes.len() + size_of::<Waiting>();
        self.begun += 1;
        if !waiting.is_whole {
            self.incomplete -= 1;
            self.unended.push(waiting.stream);
        }
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
        Some(waiting)
    }

    /// All that went on has been looked at.
    pub fn looked_at(&mut self) {
        self.begun = 0;
        self.unended.clear();
    }

    /// How many requests went on since the last look.
    pub const fn begun(&self) -> usize {
        self.begun
    }

    /// How many of them are not whole.
    pub const fn unended(&self) -> usize {
        self.unended.len()
    }

    /// How many messages have become whole while they waited.
    pub const fn ended(&self) -> usize {
        self.ended
    }

    /// How many requests that wait are not whole.
    pub const fn incomplete(&self) -> usize {
        self.incomplete
    }

    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many bytes are kept here, or further on because their frame has not ended.
    pub const fn held(&self) -> usize {
        self.bytes + self.unfinished
    }

    /// Whether neither a frame nor a header has begun.
    pub const fn has_ended(&self) -> bool {
        self.known == 0 && self.rest == 0 && !self.headers
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    }

    /// The frames of a text: kind, flags, stream and payload.
    fn parse(mut bytes: &[u8]) -> Vec<(u8, u8, u32, Vec<u8>)> {
        let mut frames = Vec::new();
        while let [a, b, c, kind, flags, s, t, u, v, rest @ ..] = bytes {
            let (payload, later) = rest.split_at(u32::from_be_bytes([0, *a, *b, *c]) as usize);
            frames.push((*kind, *flags, u32::from_be_bytes([*s, *t, *u, *v]), payload.to_vec()));
            bytes = later;
        }
        assert!(bytes.is_empty(), "half a frame");
        frames
    }

    #[test]
    fn half_a_frame_and_half_a_header_have_not_ended() {
        let all = [
            frame(4, 0, 0, &[]),
            frame(1, 0, 1, b"half"),
            frame(9, 0, 1, b"more"),
            frame(9, 4, 1, b"end"),
            frame(0, 1, 1, b"x"),
        ];
        let expected = [true, false, false, true, true];
        for size in 1..30 {
            let mut frames = Frames::default();
            for (bytes, ended) in all.iter().zip(expected) {
                for part in bytes.chunks(size) {
                    frames.read(part, 0, |_| true, |_| ());
                }
                assert_eq!(frames.has_ended(), ended, "{size}: {bytes:?}");
            }
            frames.read(&[0, 0, 1], 0, |_| true, |_| ());
            assert!(!frames.has_ended());
        }
    }

    #[test]
    fn what_breaks_the_rules_of_http2_goes_on() {
        // Frames of a header that has ended, of a stream that never began, and of one that waits.
        let waits = frame(HEADERS, END_HEADERS, 5, b"h");
        for wrong in [frame(CONTINUATION, 4, 1, b"x"), frame(DATA, 1, 9, b"x"), frame(77, 255, 3, b"")] {
            let (mut frames, mut on) = (Frames::default(), Vec::new());
            frames.read(&[&waits[..], &wrong].concat(), 0, |_| false, |part| on.extend_from_slice(part));
            assert_eq!(on, wrong);
            assert_eq!((frames.incomplete(), frames.next().is_some()), (1, true));
        }
        let mut frames = Frames::default();
        frames.read(&frame(HEADERS, 0, 1, b"half"), 0, |_| false, |_| ());
        assert!(frames.next().is_none(), "its header has not ended");
        frames.read(&frame(HEADERS, END_HEADERS, 3, b"h"), 0, |_| false, |_| ());
        frames.take();
        frames.read(&frame(CONTINUATION, END_HEADERS, 1, b"late"), 0, |_| false, |_| ());
    }

    /// What the frames of a stream are, and how they end.
    fn streams() -> impl Strategy<Value = Vec<(u8, u8)>> {
        // Parts of a header, and parts of a message; the end may be missing.
        prop::collection::vec((1..4_u8, 0..5_u8), 1..30)
    }

    proptest! {
        /// Whatever is held back, and however it is cut: each stream has its frames in their order, headers keep theirs,
        /// and no frame is torn. What goes on before it is whole was allowed to.
        #[test]
        fn frames_keep_their_order(
            streams in streams(),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
            sizes in prop::collection::vec(1..60_usize, 1..40),
            allowed in prop::collection::vec(any::<bool>(), 1..40),
        ) {
            // The frames of each stream, mixed; headers are whole blocks in the order of their streams.
            let mut sent: Vec<Vec<u8>> = vec![frame(4, 0, 0, &[])];
            let mut rests: Vec<(u32, u8, u8)> = Vec::new();
            for (at, (blocks, parts)) in streams.iter().enumerate() {
                let id = u32::try_from(2 * at + 1).expect("few");
                for block in 0..*blocks {
                    let kind = if block == 0 { HEADERS } else { CONTINUATION };
                    let flags = if block + 1 == *blocks { END_HEADERS } else { 0 };
                    sent.push(frame(kind, flags, id, &[block; 5]));
                }
                rests.push((id, 0, *parts));
                for pick in order.iter().skip(at * 6).take(6) {
                    let chosen = pick.get(&rests).0;
                    let Some((id, part, parts)) = rests.iter_mut().find(|(id, ..)| *id == chosen) else { continue };
                    if part < parts {
                        *part += 1;
                        sent.push(match *part {
                            part if part == *parts && part == 4 => frame(HEADERS, END_STREAM | END_HEADERS, *id, b"trailers"),
                            part => frame(DATA, u8::from(part == *parts), *id, &[part; 20]),
                        });
                    }
                }
            }
            let bytes = sent.concat();
            let (mut frames, mut on) = (Frames::default(), Vec::new());
            let (mut allowed, mut sizes) = (allowed.iter().cycle(), sizes.iter().cycle());
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (part, later) = rest.split_at((*sizes.next().expect("a size")).min(rest.len()));
                rest = later;
                let may = *allowed.next().expect("one");
                frames.read(part, 0, |_| may, |part| on.extend_from_slice(part));
                while let Some(next) = frames.next()
                    && (next.is_whole || *allowed.next().expect("one"))
                {
                    on.extend(frames.take().expect("it is there").bytes);
                }
            }
            while frames.next().is_some() {
                on.extend(frames.take().expect("it is there").bytes);
            }
            prop_assert!(!frames.is_waiting() && frames.incomplete() == 0 && frames.held() == 0);
            let of_streams = |bytes: &[u8]| {
                let mut all: HashMap<u32, Vec<_>> = HashMap::new();
                parse(bytes).into_iter().for_each(|frame| all.entry(frame.2).or_default().push(frame));
                all
            };
            prop_assert_eq!(of_streams(&on), of_streams(&bytes));
            let headers = |bytes: &[u8]| {
                parse(bytes).into_iter().filter(|frame| matches!(frame.0, HEADERS | CONTINUATION)).collect::<Vec<_>>()
            };
            prop_assert_eq!(headers(&on), headers(&bytes));
        }
    }
}
