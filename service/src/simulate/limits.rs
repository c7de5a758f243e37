//! A limit during a replay: its keys, and what happened to them.

use std::sync::Arc;

use foldhash::fast::RandomState;
use hdrhistogram::Histogram;
use indexmap::IndexMap;
use indexmap::map::Entry;
use rlaas_rules::{Limit, Printable, Rate};

use super::keys::{self, Ask, Keys, Verdict};
use super::suggest::Probe;
use super::times::Counts;

/// A limit, and what it has done so far.
#[derive(Debug)]
pub struct LimitReplay {
    pub limit: Arc<Limit>,
    /// The numbers of the limits that are asked one after the other if it denies.
    pub pools: Vec<usize>,
    /// `None` for unlimited, and for a lease.
    counted: Option<(Rate, Box<dyn Keys>)>,
    /// By the text of the key after that of the limit.
    pub keys: IndexMap<Box<str>, KeyStats, RandomState>,
    pub requests: u64,
    pub denied: u64,
    /// When, and which key.
    pub first_denial: Option<(i64, usize)>,
    /// How long the denied are told to wait, in ms.
    pub waits: Histogram<u64>,
    /// Denied for ever: the cost is above the limit.
    pub never: u64,
    /// Requests that the log shows with status 429.
    pub logged_429: u64,
    /// Requests of keys beyond `max_keys`: allowed, and not counted.
    pub left_out: u64,
    /// Requests of which another limit replaces this one: not counted otherwise.
    pub replaced: u64,
    pub allowed_at: Counts,
    pub denied_at: Counts,
    pub probe: Option<Probe>,
}

/// What happened to a key.
#[derive(Debug, Default)]
pub struct KeyStats {
    pub requests: u64,
    /// The largest use of the limit while no request of it was denied.
    pub most_used: u64,
    pub denials: Option<Box<Denials>>,
    /// Requests that this key denies, and that the other set of rules allows.
    pub changed: u64,
}

/// The denials of a key.
#[derive(Debug, Default)]
pub struct Denials {
    pub count: u64,
    pub first: i64,
    pub last: i64,
    /// For how many ms the key was denied, from each denial until the time that it was told.
    pub blocked_ms: u64,
    blocked_until_ms: i64,
    pub at: Counts,
}

impl LimitReplay {
    /// # Errors
    /// Its policy cannot be represented.
    pub fn new(limit: Arc<Limit>, suggest: bool) -> Result<Self, String> {
        let failed = || format!("{}: its window or its rate is too large", Printable(&limit.path));
        let counted = match limit.rate {
            None => None,
            Some(rate) => {
                let terms = rate.policy.terms();
                keys::new(rate.policy.algorithm(), &terms).map_err(|_| failed())?.map(|keys| (rate, keys))
            }
        };
        let probe = counted.as_ref().filter(|_| suggest).and_then(|(rate, _)| Probe::new(rate));
        Ok(Self {
            counted,
            keys: IndexMap::default(),
            requests: 0,
            denied: 0,
            first_denial: None,
            waits: Histogram::new(3).map_err(|error| error.to_string())?,
            never: 0,
            logged_429: 0,
            left_out: 0,
            replaced: 0,
            allowed_at: Counts::default(),
            denied_at: Counts::default(),
            probe,
            pools: Vec::new(),
            limit,
        })
    }

    /// How much it allows; `None` for unlimited, and for a lease, which requests of a log do not take.
    pub fn rate(&self) -> Option<&Rate> {
        self.counted.as_ref().map(|(rate, _)| rate)
    }

    pub fn is_lease(&self) -> bool {
        self.limit.rate.is_some_and(|rate| rate.policy.algorithm().traits().id)
    }

    /// The number of a key, which may be new; `None` if there are too many.
    pub fn key(&mut self, key: &str, max_keys: usize) -> Option<usize> {
        let name = key.strip_prefix(&*self.limit.key_start).unwrap_or(key);
        let len = self.keys.len();
        match self.keys.entry(name.into()) {
            Entry::Vacant(_) if len >= max_keys => None,
            entry => {
                let number = entry.index();
                entry.or_default();
                Some(number)
            }
        }
    }

    /// Decides on a request of a key. Charges it as the service does: of limits with pools, only what is allowed.
    pub fn charge(&mut self, key: usize, time: i64, units: u64) -> Verdict {
        let is_tried = !self.pools.is_empty() || self.limit.is_pool;
        let commit = !is_tried || self.ask(key, time, units, false).allowed;
        self.ask(key, time, units, commit)
    }

    /// Decides on a request of a key, and charges it if `commit`.
    pub fn ask(&mut self, key: usize, time: i64, units: u64, commit: bool) -> Verdict {
        match &mut self.counted {
            Some((rate, keys)) => keys.ask(key, Ask::new(time, units, rate), commit),
            None => Verdict { allowed: true, used: 0, retry_after_ms: 0 },
        }
    }

    /// Counts a decision on a request of a key.
    pub fn count(&mut self, number: usize, time: i64, slot: usize, verdict: &Verdict) {
        self.requests += 1;
        let Some((_, key)) = self.keys.get_index_mut(number) else { return };
        key.requests += 1;
        if verdict.allowed {
            self.allowed_at.add(slot);
            if key.denials.is_none() {
                key.most_used = key.most_used.max(verdict.used);
            }
            return;
        }
        self.denied += 1;
        self.denied_at.add(slot);
        self.first_denial.get_or_insert((time, number));
        let denials = key.denials.get_or_insert_default();
        if denials.count == 0 {
            denials.first = time;
        }
        denials.count += 1;
        denials.last = time;
        denials.at.add(slot);
        match u64::try_from(verdict.retry_after_ms) {
            Ok(wait) => {
                _ = self.waits.record(wait);
                let now = time / 1_000;
                let until = now.saturating_add_unsigned(wait);
                let blocked = until.saturating_sub(now.max(denials.blocked_until_ms)).max(0);
                denials.blocked_ms = denials.blocked_ms.saturating_add(blocked.unsigned_abs());
                denials.blocked_until_ms = denials.blocked_until_ms.max(until);
            }
            Err(_) => self.never += 1,
        }
    }
}
