//! Sliding window counter: two aligned windows are counted, and the previous one weighs as much as the last `window`
//! still covers of it. The memory of a fixed window without its burst at the boundary; what it assumes is that the
//! previous window was filled evenly.

use super::{
    Change, Cost, Decision, MAX_COUNT, Micros, Outlook, Quota, RecordAlgorithm, Unrepresentable, Verdict, Window,
    div_ceil, div_rem, to_i64, wide,
};

/// `limit` units in the last `window`, reckoned from two counters.
#[derive(Clone, Copy, Debug)]
pub struct SlidingCounter {
    window: Window,
    limit: u64,
}

/// What was counted in the window that begins at `start` and in the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub(super) window: Window,
    /// A multiple of `window`.
    pub(super) start: Micros,
    /// Both 0 … [`MAX_COUNT`].
    pub(super) current: u64,
    pub(super) previous: u64,
}

impl Counts {
    /// From now on until the window ends, in microseconds: 1 … `window`.
    fn left(&self, now: Micros) -> u64 {
        self.window.micros().saturating_sub(now.since(self.start))
    }

    /// The previous window's share, in parts of 1/window.
    fn fading(&self, now: Micros) -> u128 {
        wide(self.previous, self.left(now))
    }
}

impl SlidingCounter {
    /// The counts as windows of this length have them at `now`.
    ///
    /// Rolling on to the next window and changing to windows of another length are the same thing: each old count is
    /// put where it can have happened latest, into the current window, the previous one, or neither. Counts from
    /// ahead of the clock can all have happened just now; together they are at most the limit, so that a clock
    /// that stepped back locks no longer than the limit by itself does.
    fn place(&self, state: Option<Counts>, now: Micros) -> Counts {
        let window = self.window.micros();
        let Some(old) = state else { return self.empty(now) };
        if old.start > now {
            let current = old.current.saturating_add(old.previous).min(self.limit);
            return Counts { current, ..self.empty(now) };
        }
        if old.window == self.window && now.since(old.start) < window {
            return old;
        }
        let mut placed = self.empty(now);
        // Where a window's last moment is yet to come, its count can have happened just now: in the current one.
        let last = |end: Micros| Micros(end.0.saturating_sub(1));
        let end = old.start.after(old.window.micros());
        for (count, latest) in [(old.current, last(end)), (old.previous, last(old.start))] {
            let into = if latest >= placed.start {
                &mut placed.current
            } else if latest.after(window) >= placed.start {
                &mut placed.previous
            } else {
                continue;
            };
            *into = into.saturating_add(count).min(MAX_COUNT);
        }
        placed
    }

    fn empty(&self, now: Micros) -> Counts {
        let (_, elapsed) = div_rem(u128::from(now.0), self.window.micros());
        let start = Micros(now.0.saturating_sub(elapsed));
        Counts { window: self.window, start, current: 0, previous: 0 }
    }
}

impl RecordAlgorithm for SlidingCounter {
    type State = Counts;
    type Words = [u64; 4];
    const TAG: &'static str = "C:";

    fn new(quota: &Quota) -> Result<Self, Unrepresentable> {
        Ok(Self { window: quota.window, limit: quota.limit })
    }

    /// `count` is the weighted count before this request, rounded down; `ttl` until the current window ends.
    fn decide(&self, state: Option<Counts>, now: Micros, cost: Cost) -> Decision<Counts> {
        let counts = self.place(state, now);
        let window = self.window.micros();
        let fading = counts.fading(now);
        // Parts of 1/window, so that nothing is rounded: 65 bits of units by 60 bits of parts, and as much again.
        let with_cost = counts.current.saturating_add(cost.units());
        let allowed = wide(with_cost, window).saturating_add(fading) <= wide(self.limit, window);
        let change = if allowed {
            Change::Charge(Counts { current: with_cost, ..counts })
        } else {
            match state {
                // Left as it is it would be placed anew at each call, later each time, and never fade.
                Some(old) if (old.start > now || old.window != self.window) && self.limit > 0 => {
                    Change::Reanchor(counts)
                }
                _ => Change::Keep,
            }
        };
        let weighted = counts.current.saturating_add(div_rem(fading, window).0);
        let ttl = counts.left(now).div_ceil(1_000_000);
        let verdict = Verdict { allowed, count: to_i64(weighted), ttl: to_i64(ttl) };
        Decision { verdict, delay: 0, change }
    }

    /// Gives back what was counted last: from the current window, and the rest from the previous one.
    fn refund(&self, state: Option<Counts>, now: Micros, cost: Cost) -> Option<Counts> {
        let counts = self.place(state, now);
        if counts.current == 0 && counts.previous == 0 {
            return None;
        }
        let rest = cost.units().saturating_sub(counts.current);
        Some(Counts {
            current: counts.current.saturating_sub(cost.units()),
            previous: counts.previous.saturating_sub(rest),
            ..counts
        })
    }

    fn outlook(&self, state: Option<Counts>, now: Micros) -> impl Outlook {
        CounterOutlook { limit: self.limit, counts: self.place(state, now), now }
    }

    fn forgotten_at(&self, state: &Counts) -> Micros {
        let windows = match state {
            Counts { current: 1.., .. } => 2,
            Counts { previous: 1.., .. } => 1,
            _ => 0,
        };
        state.start.after(state.window.micros().saturating_mul(windows))
    }

    /// `window` in milliseconds, the current one's number since the epoch, `current`, `previous`.
    fn to_words(state: &Counts) -> [u64; 4] {
        let (number, _) = div_rem(u128::from(state.start.0), state.window.micros());
        [state.window.millis(), number, state.current, state.previous]
    }

    fn from_words(&[window, number, current, previous]: &[u64; 4]) -> Option<Counts> {
        let window = Window::from_millis(window)?;
        let start = number.checked_mul(window.micros()).filter(|&start| i64::try_from(start).is_ok())?;
        let counts = current <= MAX_COUNT && previous <= MAX_COUNT && (start > 0 || previous == 0);
        counts.then_some(Counts { window, start: Micros(start), current, previous })
    }
}

struct CounterOutlook {
    limit: u64,
    counts: Counts,
    now: Micros,
}

impl CounterOutlook {
    /// How far into the window that follows it `count` has faded to `room`; the window's length where it never has.
    fn faded(&self, count: u64, room: u64) -> u64 {
        let window = self.counts.window.micros();
        // A previous window of 0 is faded from the start: a division by 0 is more than any window.
        let (covered, _) = div_rem(wide(room, window), count);
        window.saturating_sub(covered)
    }
}

impl Outlook for CounterOutlook {
    fn capacity(&self) -> u64 {
        self.limit
    }

    fn remaining(&self) -> u64 {
        let fading = div_ceil(self.counts.fading(self.now), self.counts.window.micros());
        self.limit.saturating_sub(self.counts.current).saturating_sub(fading)
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        let room = self.limit.checked_sub(cost)?;
        // `current` fades as well, a window later. What has not faded at a window's end has at the start of the next,
        // since it is then no longer the previous one.
        let at = if let Some(room) = room.checked_sub(self.counts.current) {
            self.counts.start.after(self.faded(self.counts.previous, room))
        } else {
            let end = self.counts.start.after(self.counts.window.micros());
            end.after(self.faded(self.counts.current, room))
        };
        Some(at.max(self.now))
    }
}
