//! How late this process is: how long after its time a timer runs.
//!
//! tokio pins no task to a worker, and one worker runs the timers of all. What a timer waits for is what a request waits
//! for: the worker that looks at the timers, and the tasks that are queued before it. So there are as many timers as
//! workers, up to four, each in a task of its own. Without requests they run every 100 ms.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::sleep;

use super::micros;

/// How often a timer runs.
const EVERY: Duration = Duration::from_millis(5);
/// How often it runs without requests, and how many times in a row without one it takes to be without.
const IDLE: (Duration, u32) = (Duration::from_millis(100), 200);
/// How long the largest lag is shown, at least. At most it is twice as long.
const SHOWN_MICROS: u64 = 10_000_000;
/// A timer of tokio runs up to a millisecond late, and the kernel's by a part of one.
const USUAL_MICROS: u64 = 2_000;

#[derive(Debug)]
pub struct Lag {
    timers: Box<[Timer]>,
    /// Whether there was a request since the last look.
    asked: AtomicBool,
    /// The largest lag since the last change, and before.
    largest: [AtomicU64; 2],
}

#[derive(Debug)]
struct Timer {
    /// When it runs next.
    due: AtomicU64,
    /// How late it ran the last time.
    late: AtomicU64,
}

impl Lag {
    pub fn new(workers: usize) -> Self {
        let timer = |_| Timer { due: AtomicU64::new(u64::MAX), late: AtomicU64::new(0) };
        Self {
            timers: (0..workers.clamp(1, 4)).map(timer).collect(),
            asked: AtomicBool::new(false),
            largest: Default::default(),
        }
    }

    /// Runs the timers until the runtime ends.
    pub fn measure(self: &Arc<Self>) {
        for at in 0..self.timers.len() {
            let lag = self.clone();
            tokio::spawn(async move {
                let Some(timer) = lag.timers.get(at) else { return };
                let (mut idle, mut changed) = (IDLE.1, micros());
                loop {
                    let wait = if idle >= IDLE.1 { IDLE.0 } else { EVERY };
                    let due = micros().saturating_add(u64::try_from(wait.as_micros()).unwrap_or(u64::MAX));
                    timer.due.store(due, Ordering::Relaxed);
                    sleep(wait).await;
                    let now = micros();
                    let late = now.saturating_sub(due.saturating_add(USUAL_MICROS));
                    timer.late.store(late, Ordering::Relaxed);
                    lag.show(late);
                    idle = if lag.asked.swap(false, Ordering::Relaxed) { 0 } else { idle.saturating_add(1) };
                    if at == 0 && now.saturating_sub(changed) > SHOWN_MICROS {
                        changed = now;
                        let [largest, before] = &lag.largest;
                        before.store(largest.swap(0, Ordering::Relaxed), Ordering::Relaxed);
                    }
                }
            });
        }
    }

    /// The lag of now in microseconds, for a request that was read at `read`.
    pub fn now(&self, read: u64) -> u64 {
        if !self.asked.load(Ordering::Relaxed) {
            self.asked.store(true, Ordering::Relaxed);
        }
        let now = micros();
        let of_timer = |timer: &Timer| {
            let overdue = now.saturating_sub(timer.due.load(Ordering::Relaxed).saturating_add(USUAL_MICROS));
            overdue.max(timer.late.load(Ordering::Relaxed))
        };
        let lag = self.timers.iter().map(of_timer).max().unwrap_or(0).max(now.saturating_sub(read));
        self.show(lag);
        lag
    }

    fn show(&self, lag: u64) {
        let [largest, _] = &self.largest;
        if lag > largest.load(Ordering::Relaxed) {
            largest.fetch_max(lag, Ordering::Relaxed);
        }
    }

    /// The largest lag of the last 10 to 20 seconds, in microseconds.
    pub fn largest(&self) -> u64 {
        self.largest.iter().map(|largest| largest.load(Ordering::Relaxed)).max().unwrap_or(0)
    }
}
