//! Puts the requests of a file in the order in which they began.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::Summary;
use super::request::Request;
use super::time::SECOND;

/// How many requests a queue holds, some 120 MB of them. Those beyond go on at once.
pub const MOST_HELD: usize = if cfg!(test) { 1_000 } else { 1 << 19 };

/// Requests by a time, then by their number in the file.
type Queue = BinaryHeap<Reverse<(i64, u64, Box<Request>)>>;

/// The requests that are held, because a later line may belong before them. They go through two queues: by the time when
/// they were logged, so that all requests of a second are known, and then by the time when they began.
#[derive(Debug, Default)]
pub struct Order {
    /// How far lines are out of order, and how long requests take, in µs. What is beyond that may come too late.
    within: i64,
    logged: Queue,
    begun: Queue,
    /// Of a second that is spread: how many requests were logged, and how many of them are in the second queue.
    seconds: BTreeMap<i64, (i64, i64)>,
    added: u64,
    /// The latest time in the file, and the time of the request that was returned last.
    latest: i64,
    last: i64,
}

impl Order {
    pub fn new(within: i64) -> Self {
        Self { within, ..Self::default() }
    }

    pub fn add(&mut self, request: Box<Request>, summary: &mut Summary) {
        let logged = request.logged;
        if logged.whole {
            self.seconds.entry(logged.micros).or_default().0 += 1;
        }
        summary.whole_seconds |= logged.whole;
        summary.durations_subtracted |= request.took > 0;
        summary.out_of_order += u64::from(logged.micros < self.latest);
        self.latest = self.latest.max(logged.micros);
        self.logged.push(Reverse((logged.micros, self.added, request)));
        self.added += 1;
    }

    /// The next request, if no line of those that are still to come belongs before it. `ended`: there are none.
    pub fn next(&mut self, ended: bool, summary: &mut Summary) -> Option<Box<Request>> {
        let until = if ended { i64::MAX } else { self.latest.saturating_sub(self.within) };
        while let Some((time, number, request)) = pop(&mut self.logged, until.saturating_sub(SECOND), summary) {
            let spread = if request.logged.whole { self.spread(time) } else { 0 };
            let begun = time.saturating_add(spread).saturating_sub(request.took).max(0);
            self.begun.push(Reverse((begun, number, request)));
        }
        let first = self.logged.peek().map_or(until, |Reverse((first, ..))| first.saturating_sub(self.within));
        let (begun, _, mut request) = pop(&mut self.begun, first, summary)?;
        summary.not_in_order += u64::from(begun < self.last);
        self.last = self.last.max(begun);
        request.time = self.last;
        Some(request)
    }

    /// How long after the beginning of a second its next request was logged: all of them are spread evenly over it.
    fn spread(&mut self, second: i64) -> i64 {
        let Some((all, spread)) = self.seconds.get_mut(&second) else { return 0 };
        let after = *spread * SECOND / *all;
        *spread += 1;
        if spread == all {
            self.seconds.remove(&second);
        }
        after
    }
}

/// Removes the first request, if its time is not after `until`, or if there are too many.
fn pop(queue: &mut Queue, until: i64, summary: &mut Summary) -> Option<(i64, u64, Box<Request>)> {
    let Reverse((time, ..)) = queue.peek()?;
    if *time > until {
        if queue.len() <= MOST_HELD {
            return None;
        }
        summary.too_many_to_sort = true;
    }
    queue.pop().map(|Reverse(first)| first)
}
