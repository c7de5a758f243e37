//! Overload: when Redis is not asked, because this process has too much to do or the caller cannot wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::time::sleep;

/// With so few requests under way, other programs are the reason why this process runs late.
const FEW: usize = 100;
/// With less time left, Redis is not asked: it would charge the request, and reply too late.
const LEAST: Duration = Duration::from_millis(1);
/// How often the timer runs that measures the lag, and how often without requests.
const EVERY: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];
/// How long the largest lag is shown, at least. At most it is twice as long.
const SHOWN: Duration = Duration::from_secs(10);

/// The requests under way, and how late this process runs.
#[derive(Debug)]
pub struct Load {
    max_requests: usize,
    max_lag: Duration,
    requests: AtomicUsize,
    began: Instant,
    /// When more than [`FEW`] requests were under way the last time, in microseconds since `began`.
    high: AtomicU64,
    /// Whether there was a request since the timer ran.
    asked: AtomicBool,
    /// In microseconds since `began`: when the timer is to run, and how late it ran the last time.
    due: AtomicU64,
    late: AtomicU64,
    /// The largest lag in microseconds: since the last change, and before.
    largest: [AtomicU64; 2],
}

impl Load {
    pub fn new(max_requests: usize, max_lag: Duration) -> Arc<Self> {
        Arc::new(Self {
            max_requests,
            max_lag,
            requests: AtomicUsize::new(0),
            began: Instant::now(),
            high: AtomicU64::new(0),
            asked: AtomicBool::new(false),
            due: AtomicU64::new(u64::MAX),
            late: AtomicU64::new(0),
            largest: Default::default(),
        })
    }

    /// A request is under way from its header to its reply: until the value is dropped.
    pub fn begin(self: &Arc<Self>) -> UnderWay {
        self.note_high(self.requests.fetch_add(1, Ordering::Relaxed).saturating_add(1));
        UnderWay(self.clone())
    }

    fn note_high(&self, requests: usize) {
        if requests > FEW {
            // Rounded up: not before the moment.
            self.high.store(self.micros().saturating_add(1), Ordering::Relaxed);
        }
    }

    /// How many requests are under way.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Why Redis is not asked for a request that has so much time, as a label of the metrics; `None` if it is.
    pub fn overload(&self, timeout: Duration) -> Option<&'static str> {
        self.asked.store(true, Ordering::Relaxed);
        match self.requests() {
            requests if requests > self.max_requests => Some("requests"),
            _ if timeout < LEAST => Some("deadline"),
            requests if requests > FEW && self.lag() > self.max_lag => Some("lag"),
            _ => None,
        }
    }

    /// Whether so many requests were under way since a moment that they may be why a reply is late. (The last ones of many
    /// that end together are few.)
    pub fn was_high_since(&self, moment: Instant) -> bool {
        self.began + Duration::from_micros(self.high.load(Ordering::Relaxed)) >= moment || self.requests() > FEW
    }

    /// How late the timer is now, or was the last time.
    fn lag(&self) -> Duration {
        let overdue = self.micros().saturating_sub(self.due.load(Ordering::Relaxed));
        Duration::from_micros(overdue.max(self.late.load(Ordering::Relaxed)))
    }

    /// The largest lag of the last 10 to 20 seconds.
    pub fn largest_lag(&self) -> Duration {
        let largest = self.largest.iter().map(|largest| largest.load(Ordering::Relaxed)).max();
        Duration::from_micros(largest.unwrap_or(0))
    }

    /// Runs the timer that measures the lag, until the runtime ends.
    pub async fn measure(self: Arc<Self>) {
        let ([often, rarely], [largest, before]) = (EVERY, &self.largest);
        let mut changed = Instant::now();
        loop {
            let wait = if self.asked.swap(false, Ordering::Relaxed) { often } else { rarely };
            let due = self.micros().saturating_add(u64::try_from(wait.as_micros()).unwrap_or(u64::MAX));
            self.due.store(due, Ordering::Relaxed);
            sleep(wait).await;
            let late = self.micros().saturating_sub(due);
            self.late.store(late, Ordering::Relaxed);
            largest.fetch_max(late, Ordering::Relaxed);
            if changed.elapsed() > SHOWN {
                before.store(largest.swap(0, Ordering::Relaxed), Ordering::Relaxed);
                changed = Instant::now();
            }
        }
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// A request under way.
#[derive(Debug)]
pub struct UnderWay(Arc<Load>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.note_high(self.0.requests.fetch_sub(1, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_many_that_end_together_waited_beside_them() {
        let load = Load::new(1_000, Duration::ZERO);
        let began = Instant::now();
        let few: Vec<_> = (0..FEW).map(|_| load.begin()).collect();
        assert!(!load.was_high_since(began));
        drop(load.begin());
        assert!(load.was_high_since(began));
        drop(few);
        assert!(load.was_high_since(began) && load.requests() == 0);
        assert!(!load.was_high_since(Instant::now() + Duration::from_millis(1)));
    }
}
