//! The clients at the other ends of the connections, and their requests.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Context;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, SetOnce};
use tonic::Status;

use super::load::Load;
use super::micros;

/// How much of a connection goes on at once, before what it brought is looked at. Else one that waited for long would have
/// more streams open, and cancelled, than h2 takes.
pub const AT_ONCE: usize = 8 * 1024;
/// How long a client may take to begin, and for a header.
const PATIENCE: Duration = Duration::from_secs(10);
/// How late a turn may end that ends by itself, in microseconds.
const TURN_ENDS_WITHIN: u64 = 2_000_000;
/// Why requests end whose messages are incomplete: none of their connection has become whole for a second, or its turn
/// took too long.
pub const NO_PROGRESS: u8 = 1;
pub const TOO_LONG: u8 = 2;
/// What a request takes whose message is incomplete.
const OF_INCOMPLETE: usize = 8 * 1024;

/// The client at the other end of a connection.
#[derive(Debug)]
pub struct Peer {
    pub(super) load: Arc<Load>,
    /// When something was read that went on. The other times are in microseconds too.
    read: AtomicU64,
    /// How long it had waited here, at most.
    waited: AtomicU64,
    /// Since when a header is not complete, or the client has sent nothing; 0 if neither.
    began: AtomicU64,
    /// When a request ended last, or the first of those under way began.
    moved: AtomicU64,
    /// How many have ended.
    ended: AtomicUsize,
    /// How much may go on before the next look.
    may_read: AtomicUsize,
    /// All requests under way.
    active: AtomicUsize,
    /// Those of them that are not to be decided.
    others: AtomicUsize,
    /// Those whose messages are incomplete, or have not been looked at.
    incomplete: AtomicUsize,
    /// Those that are to be decided, but for those whose messages are known to be incomplete.
    begun: AtomicUsize,
    /// Those that are to be decided, and whose messages are whole.
    pub(super) open: AtomicUsize,
    /// Those that wait until fewer others are long.
    queued: AtomicUsize,
    /// How many bytes it holds.
    held: AtomicUsize,
    waker: AtomicWaker,
    /// Whether it waits until less is under way.
    waits: AtomicBool,
    /// When its turn should have ended; 0 without one, or if it does not wait for the client.
    turn_ends: AtomicU64,
    /// Told when its requests whose messages are incomplete end.
    resets: Arc<Notify>,
    /// Why they do; 0 if they do not.
    resetting: AtomicU8,
    end: SetOnce<Ending>,
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It sent nothing, or half a header.
    Silent,
    /// It was idle, and there were too many.
    Idle,
    /// None of its requests has ended for too long.
    Stuck,
    /// All connections together held too much, and this one most for longest.
    Memory,
}

impl Ending {
    /// The label of the metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Idle => "idle",
            Self::Stuck => "stuck",
            Self::Memory => "memory",
        }
    }
}

impl Peer {
    pub fn new(load: &Arc<Load>) -> Arc<Self> {
        let now = micros();
        Arc::new(Self {
            load: load.clone(),
            read: AtomicU64::new(now),
            waited: AtomicU64::new(0),
            began: AtomicU64::new(now),
            moved: AtomicU64::new(now),
            ended: AtomicUsize::new(0),
            may_read: AtomicUsize::new(AT_ONCE),
            active: AtomicUsize::new(0),
            others: AtomicUsize::new(0),
            incomplete: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            queued: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            waker: AtomicWaker::new(),
            waits: AtomicBool::new(false),
            turn_ends: AtomicU64::new(0),
            resets: Arc::default(),
            resetting: AtomicU8::new(0),
            end: SetOnce::new(),
        })
    }

    /// To be called before each look at the connection.
    pub fn look(&self) {
        self.may_read.store(AT_ONCE, Ordering::Relaxed);
    }

    /// How much may go on before the next look.
    pub(super) fn may_read(&self) -> usize {
        self.may_read.load(Ordering::Relaxed)
    }

    /// So much goes on. It may have waited here since it was read.
    pub(super) fn has_read(&self, bytes: usize, waited: u64) {
        self.read.store(micros(), Ordering::Relaxed);
        self.waited.store(waited, Ordering::Relaxed);
        self.may_read.store(self.may_read().saturating_sub(bytes), Ordering::Relaxed);
    }

    pub(super) fn header_began(&self) {
        if self.began.load(Ordering::Relaxed) == 0 {
            self.began.store(micros(), Ordering::Relaxed);
        }
    }

    /// What is read while a request is under way is its body.
    pub(super) fn header_began_unless_asked(&self) {
        if self.active.load(Ordering::Relaxed) == 0 {
            self.header_began();
        }
    }

    pub(super) fn header_ended(&self) {
        if self.began.load(Ordering::Relaxed) != 0 {
            self.began.store(0, Ordering::Relaxed);
        }
    }

    /// How many requests are under way, if so many went on since the last look.
    pub(super) fn begun(&self, since: usize) -> usize {
        self.begun.load(Ordering::SeqCst) + since
    }

    /// Whether one more may go on that is not whole, if so many did since the last look.
    pub(super) fn may_be_incomplete(&self, since: usize) -> bool {
        self.incomplete.load(Ordering::SeqCst) + since < self.load.few()
    }

    /// Whether a request is under way whose message was not seen to be incomplete.
    pub(super) fn has_more(&self) -> bool {
        self.begun.load(Ordering::Relaxed) > 0
    }

    /// Wakes the task when a request of the connection has ended, or its message has become whole.
    pub(super) fn wake_at_end(&self, cx: &Context<'_>) {
        self.waker.register(cx.waker());
        self.waits.store(true, Ordering::SeqCst);
    }

    fn wake(&self) {
        if self.waits.load(Ordering::SeqCst) && self.waits.swap(false, Ordering::SeqCst) {
            self.waker.wake();
        }
    }

    /// The connection has a turn that ends then; 0 if it has none.
    pub(super) fn turn_ends(&self, at: u64) {
        self.turn_ends.store(at, Ordering::Relaxed);
    }

    /// Ends the requests whose messages are incomplete, and those that begin so until this is taken back by 0.
    pub(super) fn reset(&self, why: u8) {
        self.resetting.store(why, Ordering::SeqCst);
        if why != 0 {
            self.resets.notify_waiters();
        }
    }

    pub(super) fn resetting(&self) -> u8 {
        self.resetting.load(Ordering::SeqCst)
    }

    /// Why the connection is to be closed now, if it is.
    pub(super) fn is_over(&self) -> Option<Ending> {
        // What came meanwhile may not be read yet.
        let lag = self.load.lag.largest();
        let patience = u64::try_from(PATIENCE.as_micros()).unwrap_or(u64::MAX).saturating_add(lag);
        let now = micros();
        let longest = u64::try_from(self.load.longest.as_micros()).unwrap_or(u64::MAX);
        let began = self.began.load(Ordering::Relaxed);
        if began != 0 && now.saturating_sub(began) > patience {
            return Some(Ending::Silent);
        }
        // It does not read, so it is not read, and its turn does not end.
        let turn_ends = self.turn_ends.load(Ordering::Relaxed);
        if turn_ends != 0 && now > turn_ends.saturating_add(TURN_ENDS_WITHIN).saturating_add(lag) {
            return Some(Ending::Stuck);
        }
        let moved = self.moved.load(Ordering::Relaxed).max(self.read.load(Ordering::Relaxed));
        let moved = now.saturating_sub(moved);
        let incomplete = self.incomplete.load(Ordering::Relaxed) > self.others.load(Ordering::Relaxed);
        ((incomplete || self.begun.load(Ordering::Relaxed) > 0)
            && !self.waits.load(Ordering::Relaxed)
            && self.queued.load(Ordering::Relaxed) == 0
            && moved > patience.saturating_add(longest))
        .then_some(Ending::Stuck)
    }

    /// Sort key: the smallest is the one that is idle longest. One with requests under way comes after those without.
    pub(super) fn idle(&self) -> (bool, u64) {
        (self.active.load(Ordering::Relaxed) > 0, self.read.load(Ordering::Relaxed))
    }

    /// Sort key: the largest holds most for longest. And how many bytes it holds.
    pub(super) fn holds(&self, now: u64) -> (u128, usize) {
        let held = self.held.load(Ordering::Relaxed);
        (held as u128 * u128::from(now.saturating_sub(self.moved.load(Ordering::Relaxed))), held)
    }

    /// Holds so many more bytes, or so many fewer.
    pub(super) fn hold(&self, before: usize, now: usize) {
        if now > before {
            self.held.fetch_add(now - before, Ordering::SeqCst);
            self.load.hold(now - before);
        } else if now < before {
            self.held.fetch_sub(before - now, Ordering::SeqCst);
            self.load.release(before - now);
        }
    }

    /// Holds so many bytes until the value is dropped.
    pub fn holding(self: &Arc<Self>, bytes: usize) -> Holding {
        self.hold(0, bytes);
        Holding(self.clone(), bytes)
    }

    /// Closes the connection.
    pub(super) fn close(&self, why: Ending) {
        _ = self.end.set(why);
    }

    /// Whether it was closed, and may take a moment.
    pub(super) fn is_closing(&self) -> bool {
        self.end.initialized()
    }

    /// Waits until the connection is to be closed.
    pub async fn closed(&self) -> Ending {
        *self.end.wait().await
    }

    /// How many requests have ended.
    pub(super) fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }

    /// A request begins. `decided` says whether it is one that is to be decided.
    pub fn begin(self: &Arc<Self>, decided: bool) -> Arc<Open> {
        self.header_ended();
        self.incomplete.fetch_add(1, Ordering::SeqCst);
        if self.active.fetch_add(1, Ordering::SeqCst) == 0 {
            self.moved.store(micros(), Ordering::Relaxed);
        }
        let decided = usize::from(decided);
        if decided == 0 {
            self.others.fetch_add(1, Ordering::Relaxed);
        }
        self.begun.fetch_add(decided, Ordering::SeqCst);
        self.load.begun.fetch_add(decided, Ordering::SeqCst);
        let open = Open {
            peer: self.clone(),
            decided,
            state: AtomicU8::new(BEGUN),
            was_incomplete: AtomicBool::new(false),
            held: AtomicUsize::new(0),
            resetting: self.resetting(),
            place: OnceLock::new(),
        };
        if open.resetting != 0 {
            open.is_incomplete();
        }
        Arc::new(open)
    }

    /// How a request has come that begins now.
    pub fn arrival(&self, open: &Arc<Open>) -> Arrival {
        Arrival {
            read: self.read.load(Ordering::Relaxed),
            waited: self.waited.load(Ordering::Relaxed),
            open: open.clone(),
        }
    }
}

/// Bytes that a connection holds.
#[derive(Debug)]
pub struct Holding(Arc<Peer>, usize);

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.hold(self.1, 0);
    }
}

/// A request under way, until the last clone of its reference is dropped.
#[derive(Debug)]
pub struct Open {
    pub(super) peer: Arc<Peer>,
    /// 1 if it is to be decided, else 0.
    decided: usize,
    state: AtomicU8,
    /// Whether its message was incomplete at a look.
    was_incomplete: AtomicBool,
    /// How many bytes of its body were read.
    held: AtomicUsize,
    /// Why it ends if its message is not whole; 0 if it does not.
    resetting: u8,
    /// The place among the few that are long. It has it to its end, as the message stays until then.
    place: OnceLock<OwnedSemaphorePermit>,
}

/// The message of a request was not looked at.
const BEGUN: u8 = 0;
/// It was, and is incomplete.
const INCOMPLETE: u8 = 1;
const WHOLE: u8 = 2;

impl Open {
    /// So much more of its body was read.
    pub(super) fn hold(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
        self.peer.hold(0, bytes);
    }

    /// More of its message is to come.
    pub(super) fn is_incomplete(&self) {
        if self.state.compare_exchange(BEGUN, INCOMPLETE, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.was_incomplete.store(true, Ordering::Relaxed);
            self.hold(OF_INCOMPLETE);
            self.peer.begun.fetch_sub(self.decided, Ordering::SeqCst);
            self.peer.load.begun.fetch_sub(self.decided, Ordering::SeqCst);
            self.peer.wake();
        }
    }

    /// All of its message has come.
    pub fn is_whole(&self) {
        let (peer, load) = (&self.peer, &self.peer.load);
        match self.state.swap(WHOLE, Ordering::SeqCst) {
            WHOLE => return,
            INCOMPLETE => {
                self.held.fetch_sub(OF_INCOMPLETE, Ordering::Relaxed);
                peer.hold(OF_INCOMPLETE, 0);
                peer.begun.fetch_add(self.decided, Ordering::SeqCst);
                load.begun.fetch_add(self.decided, Ordering::SeqCst);
            }
            _ => {}
        }
        peer.open.fetch_add(self.decided, Ordering::SeqCst);
        load.open.fetch_add(self.decided, Ordering::SeqCst);
        peer.incomplete.fetch_sub(1, Ordering::SeqCst);
        peer.wake();
    }

    /// Whether it ends now, since its message is incomplete.
    pub fn ends_now(&self) -> bool {
        self.resetting != 0 || self.peer.resetting() != 0
    }

    /// Ends it. The caller gets this.
    pub fn reset(&self) -> Status {
        let why = if self.resetting == 0 { self.peer.resetting() } else { self.resetting };
        let why = if why == TOO_LONG { "too_long" } else { "no_progress" };
        self.peer.load.figures.resets.with_label_values(&[why]).inc();
        Status::deadline_exceeded("the message was not whole in time")
    }

    /// Told when it ends if its message is incomplete.
    pub(super) fn resets(&self) -> &Arc<Notify> {
        &self.peer.resets
    }

    /// It waits until fewer others are long, or no longer.
    pub(super) fn queues(&self, now: bool) {
        if now {
            self.peer.queued.fetch_add(1, Ordering::Relaxed);
        } else {
            self.peer.queued.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Keeps its place among the long ones until it ends.
    pub(super) fn keep(&self, place: OwnedSemaphorePermit) {
        _ = self.place.set(place);
    }

    pub(super) fn long(&self) -> &Arc<Semaphore> {
        &self.peer.load.long
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let (peer, load) = (&self.peer, &self.peer.load);
        peer.hold(*self.held.get_mut(), 0);
        let state = *self.state.get_mut();
        if state == WHOLE {
            peer.open.fetch_sub(self.decided, Ordering::SeqCst);
            load.open.fetch_sub(self.decided, Ordering::SeqCst);
        } else {
            peer.incomplete.fetch_sub(1, Ordering::SeqCst);
        }
        if state != INCOMPLETE {
            peer.begun.fetch_sub(self.decided, Ordering::SeqCst);
            load.begun.fetch_sub(self.decided, Ordering::SeqCst);
        }
        if self.decided == 0 {
            peer.others.fetch_sub(1, Ordering::Relaxed);
        }
        peer.active.fetch_sub(1, Ordering::SeqCst);
        peer.moved.store(micros(), Ordering::Relaxed);
        peer.ended.fetch_add(1, Ordering::Relaxed);
        peer.wake();
    }
}

/// How a request has come. An extension of the request.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When its bytes went on, in microseconds.
    read: u64,
    /// How long they had waited here, at most.
    waited: u64,
    pub(super) open: Arc<Open>,
}

impl Arrival {
    /// The message of the request is whole. When it was read, and how many requests of its connection are under way.
    pub fn begin_decision(&self) -> (u64, usize) {
        self.open.is_whole();
        (self.whole(), self.open.peer.open.load(Ordering::Relaxed))
    }

    /// How long ago its first bytes were read.
    pub fn ago(&self) -> Duration {
        Duration::from_micros(micros().saturating_sub(self.read).saturating_add(self.waited))
    }

    /// When its message was read as a whole, in microseconds.
    pub(super) fn whole(&self) -> u64 {
        let was_incomplete = self.open.was_incomplete.load(Ordering::Relaxed);
        if was_incomplete { self.open.peer.read.load(Ordering::Relaxed) } else { self.read }
    }

    /// Waits until few other long messages are under way.
    pub async fn long(&self) {
        if let Ok(place) = self.open.long().clone().acquire_owned().await {
            self.open.keep(place);
        }
    }
}
