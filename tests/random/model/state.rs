//! The keys of a server, as the algorithms in memory have them.

use std::collections::BTreeMap;

use redis_rl_algorithm::fixed_window::Counter;
use redis_rl_algorithm::in_memory::{Counters, Holders, InMemory, Log, StoredRecord};
use redis_rl_algorithm::rolling_log::Edit;
use redis_rl_algorithm::sliding_log::LogChange;
use redis_rl_algorithm::{Change, FixedWindow, Micros, SlidingLog, WindowCounter};

/// What a key holds.
#[derive(Clone, Debug)]
pub enum State {
    Counter(Counter),
    Record(StoredRecord),
    Log(Log),
    Leases(Holders),
}

/// The reservations of a limit: the fields, and the expiry.
pub type Hash = (BTreeMap<Vec<u8>, Vec<u8>>, Option<u64>);

impl State {
    pub fn expires_at(&self) -> Option<u64> {
        match self {
            Self::Counter(counter) => counter.expires_at,
            Self::Record(record) => record.expires_at,
            Self::Log(log) => log.expires_at,
            Self::Leases(holders) => holders.ends.values().max().copied(),
        }
    }

    /// The type and the value, as [`super::super::dump`] compares them: of a log the scores alone.
    pub fn dumped(&self) -> (&'static str, Vec<Vec<u8>>) {
        match self {
            Self::Counter(counter) => ("string", vec![counter.value.to_string().into()]),
            Self::Record(record) => ("string", vec![record.text.clone()]),
            Self::Log(log) => ("zset", log.entries.iter().map(|entry| format!(" {entry}").into()).collect()),
            Self::Leases(holders) => {
                let member = |(id, end): (&Vec<u8>, &u64)| [id, format!(" {end}").as_bytes()].concat();
                ("zset", holders.ends.iter().map(member).collect())
            }
        }
    }
}

/// An algorithm whose state is at one key.
pub trait Kept: InMemory {
    /// The key of the state.
    fn name(&self, key: &str, _now: Micros) -> String {
        key.to_owned()
    }

    /// What the name of the hash of the reservations has between the key and `:reserved`.
    fn infix(&self) -> String {
        String::new()
    }

    fn read(&self, stored: Option<&State>, now: Micros) -> Self::Key;

    /// `None` if the key does not exist.
    fn written(key: Self::Key) -> Option<State>;

    /// Whether a change creates the key or makes it larger.
    fn needs_memory(key: &Self::Key, change: &Change<Self::Change>) -> bool {
        matches!(change, Change::Charge(_)) && Self::written(key.clone()).is_none()
    }
}

macro_rules! kept_as_a_record {
    ($algorithm:ty { $($other:tt)* }) => {
        impl Kept for $algorithm {
            $($other)*

            fn read(&self, stored: Option<&State>, _now: Micros) -> Option<StoredRecord> {
                stored.map(|state| match state {
                    State::Record(record) => record.clone(),
                    other => panic!("no record: {other:?}"),
                })
            }

            fn written(key: Option<StoredRecord>) -> Option<State> {
                key.map(State::Record)
            }
        }
    };
}

macro_rules! kept {
    (() $(
        $(#[$doc:meta])*
        $snake:ident $name:ident $word:literal $label:literal: $type:ty, in_memory $in_memory:ty { $($column:tt)* }
    )*) => {
        $(kept!($name $type);)*
    };
    // No records: below. Leases have no cost.
    (Fixed $type:ty) => {};
    (Window $type:ty) => {};
    (Sliding $type:ty) => {};
    (Lease $type:ty) => {};
    (Rolling $type:ty) => {
        kept_as_a_record!($type {
            fn needs_memory(_key: &Self::Key, change: &Change<Edit>) -> bool {
                matches!(change, Change::Charge(edit) if edit.grows())
            }
        });
    };
    ($record:ident $type:ty) => {
        kept_as_a_record!($type {});
    };
}
redis_rl_algorithm::with_algorithms!(kept());

fn counter(stored: Option<&State>) -> Option<Counter> {
    stored.map(|state| match state {
        State::Counter(counter) => *counter,
        other => panic!("no counter: {other:?}"),
    })
}

impl Kept for FixedWindow {
    fn name(&self, key: &str, now: Micros) -> String {
        format!("{key}:{}", self.schedule.suffix_at(now))
    }

    fn infix(&self) -> String {
        format!(":{}", self.schedule)
    }

    fn read(&self, stored: Option<&State>, now: Micros) -> Counters {
        counter(stored).map(|counter| (self.schedule.period_at(now), counter)).into_iter().collect()
    }

    fn written(key: Counters) -> Option<State> {
        key.into_iter().next().map(|(_, counter)| State::Counter(counter))
    }
}

impl Kept for WindowCounter {
    fn read(&self, stored: Option<&State>, _now: Micros) -> Option<Counter> {
        counter(stored)
    }

    fn written(key: Option<Counter>) -> Option<State> {
        key.map(State::Counter)
    }
}

impl Kept for SlidingLog {
    fn read(&self, stored: Option<&State>, _now: Micros) -> Log {
        stored.map_or_else(Log::default, |state| match state {
            State::Log(log) => log.clone(),
            other => panic!("no log: {other:?}"),
        })
    }

    fn needs_memory(_key: &Log, change: &Change<LogChange>) -> bool {
        matches!(change, Change::Charge(_))
    }

    fn written(key: Log) -> Option<State> {
        Some(key).filter(|log| !log.entries.is_empty()).map(State::Log)
    }
}
