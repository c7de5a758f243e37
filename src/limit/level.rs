//! What token and leaky bucket share: a level that rises by what is admitted and drains at a steady rate.
//!
//! The level is what was taken, not what is left, so that a raised limit gives room at once. It is exact: `limit`
//! units drain in `window` microseconds, so in parts of a unit as small as 1/`window`, `limit` of them drain in each
//! microsecond. All reckoning is done in such parts, whole numbers all, and nothing is rounded from one call to the
//! next.
//!
//! Sizes: a level is at most [`MAX_COUNT`] units (63 bits) of at most [`MAX_SPAN`] parts (60 bits); what drains is at
//! most 64 bits of time by 63 bits of limit. Both fit `u128`.

use super::{
    Change, Cost, Decision, MAX_COUNT, MAX_SPAN, Micros, Outlook, Quota, Unrepresentable, Verdict, Window, div_ceil,
    div_rem, to_i64, wide,
};

/// How much was taken, and when that was so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Whole units: 0 … [`MAX_COUNT`].
    pub(super) taken: u64,
    /// What is above the whole units, in parts of 1/`window`: 0 … `window` - 1.
    pub(super) part: u64,
    /// The window this was reckoned with.
    pub(super) window: Window,
    pub(super) at: Micros,
}

impl Level {
    /// `taken`, `part`, `window` in milliseconds and `at` in microseconds.
    pub(super) const fn to_words(self) -> [u64; 4] {
        [self.taken, self.part, self.window.millis(), self.at.0]
    }

    pub(super) fn from_words(&[taken, part, window, at]: &[u64; 4]) -> Option<Self> {
        let window = Window::from_millis(window)?;
        let level = taken < MAX_COUNT || (taken == MAX_COUNT && part == 0);
        let sound = level && part < window.micros() && i64::try_from(at).is_ok();
        sound.then_some(Self { taken, part, window, at: Micros(at) })
    }
}

/// What a level may rise to, and how it drains.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    capacity: u64,
    limit: u64,
    window: Window,
}

/// A decision, and what lay in the bucket before it.
pub(super) struct Drawn {
    pub(super) decision: Decision<Level>,
    pub(super) before: Parts,
}

/// An amount in parts of a unit: 1/window each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parts(u128);

impl Bucket {
    /// # Errors
    /// [`Unrepresentable::Span`] where a full bucket takes longer than [`MAX_SPAN`] to drain.
    pub(super) fn new(quota: &Quota) -> Result<Self, Unrepresentable> {
        let bucket = Self { capacity: quota.capacity(), limit: quota.limit, window: quota.window };
        // Where the limit is 0 nothing is ever admitted, so nothing has to drain.
        if bucket.limit > 0 && bucket.full().0 > wide(bucket.limit, MAX_SPAN) {
            return Err(Unrepresentable::Span);
        }
        Ok(bucket)
    }

    fn units(&self, units: u64) -> Parts {
        Parts(wide(units, self.window.micros()))
    }

    fn full(&self) -> Parts {
        self.units(self.capacity)
    }

    /// The level as of when it was written. More than the bucket holds is a full bucket, since then and not since now:
    /// so it drains from call to call without a denied one having to write anything.
    fn at_writing(&self, level: &Level) -> Parts {
        let part = if level.window == self.window {
            level.part
        } else {
            div_ceil(wide(level.part, self.window.micros()), level.window.micros())
        };
        Parts(self.units(level.taken).0.saturating_add(u128::from(part))).min(self.full())
    }

    /// The level at `now`. Where it was written ahead of the clock, nothing has drained yet.
    fn level(&self, state: Option<&Level>, now: Micros) -> Parts {
        state.map_or(Parts(0), |level| {
            let drained = wide(now.since(level.at), self.limit);
            Parts(self.at_writing(level).0.saturating_sub(drained))
        })
    }

    /// Microseconds until that much has drained, rounded up.
    pub(super) fn time_to_drain(&self, parts: Parts) -> u64 {
        div_ceil(parts.0, self.limit)
    }

    /// `count` is the level before this request, rounded up; `ttl` the time until nothing is left of it and of this
    /// request, or the window where the limit is 0 and nothing drains.
    pub(super) fn decide(&self, state: Option<Level>, now: Micros, cost: Cost) -> Drawn {
        let before = self.level(state.as_ref(), now);
        let with_cost = Parts(before.0.saturating_add(self.units(cost.units()).0));
        let allowed = self.limit > 0 && with_cost <= self.full();
        let (whole, part) = div_rem(before.0, self.window.micros());
        let change = if allowed {
            let taken = whole.saturating_add(cost.units());
            Change::Charge(Level { taken, part, window: self.window, at: now })
        } else {
            match state {
                // Not clamped to the capacity: another call may come with a greater one.
                Some(level) if level.at > now && self.limit > 0 => Change::Reanchor(Level { at: now, ..level }),
                _ => Change::Keep,
            }
        };
        let ttl = if self.limit == 0 {
            self.window.seconds()
        } else {
            self.time_to_drain(if allowed { with_cost } else { before }).div_ceil(1_000_000).max(1)
        };
        let count = to_i64(whole.saturating_add(u64::from(part > 0)));
        let verdict = Verdict { allowed, count, ttl: to_i64(ttl) };
        Drawn { decision: Decision { verdict, delay: 0, change }, before }
    }

    pub(super) fn refund(&self, state: Option<Level>, now: Micros, cost: Cost) -> Option<Level> {
        let before = self.level(state.as_ref(), now);
        if before == Parts(0) {
            return None;
        }
        let (taken, part) = div_rem(before.0.saturating_sub(self.units(cost.units()).0), self.window.micros());
        Some(Level { taken, part, window: self.window, at: now })
    }

    pub(super) fn outlook(&self, state: Option<Level>, now: Micros) -> BucketOutlook {
        BucketOutlook { bucket: *self, level: self.level(state.as_ref(), now), now }
    }

    pub(super) fn drained_at(&self, level: &Level) -> Micros {
        level.at.after(self.time_to_drain(self.at_writing(level)))
    }
}

/// What a bucket holds at a moment.
pub struct BucketOutlook {
    bucket: Bucket,
    level: Parts,
    now: Micros,
}

impl Outlook for BucketOutlook {
    fn capacity(&self) -> u64 {
        self.bucket.capacity
    }

    fn remaining(&self) -> u64 {
        if self.bucket.limit == 0 {
            return 0;
        }
        self.bucket.capacity.saturating_sub(div_ceil(self.level.0, self.bucket.window.micros()))
    }

    fn fits_at(&self, cost: u64) -> Option<Micros> {
        if self.bucket.limit == 0 {
            return None;
        }
        let room = self.bucket.units(self.bucket.capacity.checked_sub(cost)?);
        let in_the_way = Parts(self.level.0.saturating_sub(room.0));
        Some(self.now.after(self.bucket.time_to_drain(in_the_way)))
    }
}
