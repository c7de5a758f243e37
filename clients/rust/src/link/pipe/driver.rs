//! The task of a connection.

use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use redis::{ErrorKind, RedisError, RedisResult};
use tokio::sync::oneshot;
use tokio::time::Sleep;

use super::flights::{Flights, Landed};
use super::incoming::Incoming;
use super::open::{Opened, closed};
use super::outbox::{Choice, Outbox};
use super::socket::{Stream, ask_kernel};
use super::{Shared, Via};
use crate::breaker::{Breaker, Probe};
use crate::error::{Error, is_connection_error};

/// How long no other attempt is made after one that failed. The requests in that time get its error at once.
const ATTEMPTS_APART: Duration = Duration::from_millis(100);
const REPLACEMENTS_APART: Duration = Duration::from_secs(1);
/// Over a connection that was idle for so long, nothing is written before the kernel says that the server has not closed
/// it.
const IDLE: Duration = Duration::from_millis(2);

type Opening = Pin<Box<dyn Future<Output = RedisResult<Opened>> + Send>>;

pub struct Driver {
    shared: Arc<Shared>,
    breaker: Breaker,
    outbox: Outbox,
    flights: Flights,
    live: Option<Live>,
    opening: Option<Opening>,
    /// How many connections were opened.
    number: u64,
    /// The attempt to connect that failed last.
    failed: Option<(Instant, RedisError)>,
    connects: Vec<oneshot::Sender<RedisResult<()>>>,
    /// When a connection was last replaced that was silent, although the breaker never opens.
    replaced: Option<Instant>,
    /// No later than the first time limit that ends.
    next_limit: Option<Instant>,
    sleep: Pin<Box<Sleep>>,
    sleeps_until: Option<Instant>,
    /// Whether other tasks had their turn, to queue commands too, since there are some to write.
    gave_turn: bool,
    /// The same, for the runtime to note that a connection is open, before a time limit acts.
    gave_turn_to_open: bool,
}

/// The connection that is open.
struct Live {
    stream: Stream,
    incoming: Incoming,
    number: u64,
    opened: Instant,
    /// When something was read or written last.
    used: Instant,
    /// Whether it is replaced as soon as all replies have come.
    is_retired: bool,
}

/// The clock of the timers.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Wakes this task when all others that can run had their turn.
fn defer(cx: &mut Context<'_>) {
    let _ = pin!(tokio::task::yield_now()).poll(cx);
}

impl Driver {
    pub fn new(shared: Arc<Shared>, silence: Option<Duration>) -> Self {
        Self {
            shared,
            breaker: Breaker::new(silence),
            outbox: Outbox::default(),
            flights: Flights::default(),
            live: None,
            opening: None,
            number: 0,
            failed: None,
            connects: Vec::new(),
            replaced: None,
            next_limit: None,
            sleep: Box::pin(tokio::time::sleep(Duration::ZERO)),
            sleeps_until: None,
            gave_turn: false,
            gave_turn_to_open: false,
        }
    }

    /// Takes what the callers have queued. Whether the connection is still wanted.
    fn take_queue(&mut self, cx: &Context<'_>) -> bool {
        let shared = Arc::clone(&self.shared);
        let mut queue = shared.queue.lock();
        let rejects = self.shared.is_open.load(Ordering::Relaxed);
        for member in queue.requests.drain(..) {
            let deadline = self.outbox.push(member, now);
            self.next_limit = earlier(self.next_limit, deadline);
        }
        if rejects {
            self.outbox.end_all(&Error::CircuitOpen);
        }
        self.connects.append(&mut queue.connects);
        self.breaker.set_limit(queue.silence);
        let retired = queue.retired.take();
        if let Some(live) = self.live.as_mut().filter(|live| retired == Some(live.number)) {
            live.is_retired = true;
        }
        if queue.waker.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
            queue.waker = Some(cx.waker().clone());
        }
        !queue.is_dropped
    }

    /// Lets the breaker see something, and what follows from it be seen.
    fn breaker<T>(&mut self, see: impl FnOnce(&mut Breaker) -> T) -> T {
        let before = (self.breaker.is_open(), self.breaker.is_trying());
        let seen = see(&mut self.breaker);
        let (is_open, is_trying) = (self.breaker.is_open(), self.breaker.is_trying());
        if (is_open, is_trying) != before {
            self.shared.gauge.note(before.0, is_open);
            let rejects = is_open && !is_trying;
            self.shared.is_open.store(rejects, Ordering::Relaxed);
            if rejects {
                self.outbox.end_all(&Error::CircuitOpen);
            }
        }
        seen
    }

    /// Opens a connection if there is none and somebody wants one.
    fn open_if_wanted(&mut self, now: Instant) {
        if self.replaces_retired() {
            self.live = None;
        }
        if self.live.is_some() {
            // The callers that wait for a connection have one.
            return self.opened_for_connects(&Ok(()));
        }
        if self.outbox.is_empty() && self.connects.is_empty() {
            return;
        }
        self.next_limit = earlier(self.next_limit, self.outbox.begin_limits(now));
        if self.opening.is_some() || self.shared.is_open.load(Ordering::Relaxed) && self.connects.is_empty() {
            return;
        }
        match &self.failed {
            Some((at, error)) if now.saturating_duration_since(*at) < ATTEMPTS_APART => {
                let error = error.clone();
                self.outbox.end_all(&Error::Redis(error.clone()));
                self.opened_for_connects(&Err(error));
            }
            _ => self.open(now),
        }
    }

    /// Whether commands wait for a connection that nobody opens yet.
    fn wants_connection(&mut self) -> bool {
        let rejects = self.shared.is_open.load(Ordering::Relaxed);
        let is_over = self.live.as_ref().is_none_or(|_| self.replaces_retired());
        is_over && self.opening.is_none() && !self.outbox.is_empty() && !rejects
    }

    /// Whether the connection is to be replaced, and all replies have come.
    fn replaces_retired(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_retired) && self.flights.is_empty() && !self.outbox.is_filled()
    }

    fn open(&mut self, now: Instant) {
        if self.live.is_none() {
            // The server owes a connection.
            self.breaker.owes(now);
        }
        let place = self.shared.place.clone();
        self.opening = Some(Box::pin(async move { place.open().await }));
    }

    fn opened_for_connects(&mut self, result: &RedisResult<()>) {
        for waiting in self.connects.drain(..) {
            let _ = waiting.send(result.clone());
        }
    }

    fn poll_opening(&mut self, cx: &mut Context<'_>) {
        let Some(opening) = &mut self.opening else { return };
        let Poll::Ready(result) = opening.as_mut().poll(cx) else { return };
        self.opening = None;
        let now = now();
        match result {
            Ok(Opened { stream, incoming }) => {
                self.lose(&replaced());
                self.number += 1;
                let number = self.number;
                self.live = Some(Live { stream, incoming, number, opened: now, used: now, is_retired: false });
                self.failed = None;
                self.breaker(|breaker| breaker.ponged(now));
                self.opened_for_connects(&Ok(()));
            }
            // It was a probe. The old connection may still come back.
            Err(_) if self.live.is_some() => {}
            Err(error) => {
                // The callers that wait get this error, before the breaker rejects the next ones.
                self.outbox.end_all(&Error::Redis(error.clone()));
                self.opened_for_connects(&Err(error.clone()));
                if is_connection_error(&error) {
                    self.breaker(|breaker| breaker.connect_failed(now));
                } else {
                    // The server is there, and rejects this client.
                    self.breaker(|breaker| {
                        breaker.lost();
                        breaker.ponged(now);
                    });
                }
                self.failed = Some((now, error));
            }
        }
    }

    /// The connection is gone.
    fn lose(&mut self, error: &RedisError) {
        self.live = None;
        let now = now();
        self.flights.lost(error, now);
        self.outbox.lost(&Error::Redis(error.clone()), now);
        self.breaker(Breaker::lost);
    }

    /// Reads what there is. With `asks_kernel`, also what the runtime does not know of yet.
    fn read(&mut self, cx: &mut Context<'_>, asks_kernel: bool) {
        let Some(live) = &mut self.live else { return };
        ask_kernel(&mut live.stream, asks_kernel);
        loop {
            let Some(live) = &mut self.live else { return };
            match live.incoming.poll_read(&mut live.stream, cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(0)) => return self.lose(&closed()),
                Poll::Ready(Err(error)) => return self.lose(&error.into()),
                Poll::Ready(Ok(_)) => self.land(),
            }
        }
        if let Some(live) = &mut self.live {
            ask_kernel(&mut live.stream, false);
        }
    }

    /// Bytes were read.
    fn land(&mut self) {
        let now = now();
        // A probe that opens another connection is of no use any more.
        self.opening = None;
        if self.flights.next_is_request() {
            self.breaker(|breaker| breaker.bytes(now));
        }
        while let Some(live) = &mut self.live {
            live.used = now;
            let via = Via { number: live.number, age: now.saturating_duration_since(live.opened) };
            let value = match live.incoming.next() {
                Ok(Some(value)) => value,
                Ok(None) => return,
                Err(error) => return self.lose(&error),
            };
            match self.flights.land(value, now, via) {
                Landed::Request => self.breaker(|breaker| breaker.replied(now)),
                Landed::Probe => self.breaker(|breaker| breaker.ponged(now)),
                Landed::Part => {}
                Landed::Unknown => return self.lose(&closed()),
            }
        }
    }

    fn write(&mut self, cx: &mut Context<'_>) {
        // The other tasks that can run may queue commands too, which then share the write.
        if !self.flights.is_empty() && !self.gave_turn && !self.outbox.is_empty() && !self.outbox.is_filled() {
            self.gave_turn = true;
            return defer(cx);
        }
        self.gave_turn = false;
        let mut now = now();
        if self.live.as_ref().is_some_and(|live| now.saturating_duration_since(live.used) >= IDLE)
            && !self.outbox.is_empty()
        {
            self.read(cx, true);
        }
        while let Some(live) = &mut self.live {
            if !live.is_retired {
                let breaker = &self.breaker;
                self.outbox.fill(|unsent| match &unsent.first.caller {
                    None if unsent.is_probe => Choice::Send,
                    None => Choice::Reject,
                    Some(caller) if caller.is_closed() || !breaker.permits(now) => Choice::Reject,
                    Some(_) if breaker.is_trying() => Choice::SendAlone,
                    Some(_) => Choice::Send,
                });
            }
            if !self.outbox.is_filled() {
                break;
            }
            let result = self.outbox.poll_write(&mut live.stream, cx);
            now = self::now();
            live.used = now;
            while let Some(unsent) = self.outbox.pop_written() {
                if !unsent.is_probe {
                    self.breaker.written(now);
                }
                let deadline = self.flights.begin(unsent, now);
                self.next_limit = earlier(self.next_limit, deadline);
            }
            match result {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return self.lose(&error.into()),
                Poll::Pending => {
                    self.breaker.owes(now);
                    break;
                }
            }
        }
        if let Some(live) = &mut self.live
            && let Poll::Ready(Err(error)) = self.outbox.poll_flush(&mut live.stream, cx)
        {
            self.lose(&error.into());
        }
    }

    /// When the next limit or timer ends.
    fn next_due(&self) -> Option<Instant> {
        let replaces = self.breaker.next_replacement().filter(|_| self.live.is_some() && self.opening.is_none());
        let replaces = replaces.map(|at| self.replaced.map_or(at, |last| at.max(last + REPLACEMENTS_APART)));
        earlier(earlier(self.next_limit, self.breaker.next_tick()), replaces)
    }

    /// Ends what is too late, and lets the breaker act. Whatever has come until then counts, however late this runs.
    /// Whether there is something to do now.
    fn act_on_time(&mut self, cx: &mut Context<'_>) -> bool {
        let now = now();
        let had_turn = mem::take(&mut self.gave_turn_to_open);
        let due = |driver: &Self| driver.next_due().is_some_and(|due| due <= now);
        if !due(self) {
            return false;
        }
        // Most of the limits belong to commands that have their reply by now.
        self.next_limit = earlier(self.flights.first_deadline(), self.outbox.first_deadline());
        if !due(self) {
            return false;
        }
        if self.live.is_some() {
            self.read(cx, true);
        } else if self.opening.is_some() && !had_turn {
            self.gave_turn_to_open = true;
            defer(cx);
            return false;
        }
        self.flights.end_late(now);
        self.outbox.end_late(now);
        self.next_limit = earlier(self.flights.first_deadline(), self.outbox.first_deadline());
        match self.breaker(|breaker| breaker.tick(now)) {
            Some(Probe::Ping) if self.live.is_some() => self.outbox.push_probe(),
            Some(_) if self.opening.is_none() => self.open(now),
            None if due(self) && self.opening.is_none() => {
                self.replaced = Some(now);
                self.open(now);
            }
            _ => {}
        }
        true
    }

    /// Whether the timer has something to do now. A timer that runs too early is cheaper than one that is set anew for
    /// each command.
    fn is_woken(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(due) = self.next_due() else { return false };
        if self.sleeps_until.is_none_or(|until| due < until) {
            self.sleep.as_mut().reset(due.into());
            self.sleeps_until = Some(due);
        }
        let is_woken = self.sleep.as_mut().poll(cx).is_ready();
        if is_woken {
            self.sleeps_until = None;
        }
        is_woken
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let driver = &mut *self;
        if !driver.take_queue(cx) {
            return Poll::Ready(());
        }
        loop {
            driver.poll_opening(cx);
            driver.open_if_wanted(now());
            driver.poll_opening(cx);
            // After a connection was opened, also to be woken when something comes.
            driver.read(cx, false);
            driver.write(cx);
            if driver.act_on_time(cx) || driver.wants_connection() {
                continue;
            }
            if driver.gave_turn_to_open || !driver.is_woken(cx) {
                return Poll::Pending;
            }
        }
    }
}

impl Drop for Driver {
    /// The connection is not wanted any more, or its runtime ends.
    fn drop(&mut self) {
        self.shared.gauge.note(self.breaker.is_open(), false);
        self.shared.is_open.store(false, Ordering::Relaxed);
        self.flights.lost(&closed(), Instant::now());
        let mut queue = self.shared.queue.lock();
        (queue.runs_in, queue.waker) = (None, None);
        queue.requests.clear();
        queue.connects.clear();
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn replaced() -> RedisError {
    (ErrorKind::Io, "another connection took the place of this one").into()
}
