//! A limit that is split over several keys.

use std::hash::Hash;
use std::marker::PhantomData;

use redis_rl_algorithm::in_memory::InMemory;
use redis_rl_algorithm::{FixedWindow, RollingLog, SlidingLog};

use crate::search::{self, Model, Promise};
use crate::server::{Limit, server_time};
use crate::{Report, Size};

/// Requests for any of the keys, each of which has a part of the limit.
#[derive(Clone, Debug)]
pub struct Split<A> {
    pub limit: Limit,
    pub keys: u64,
    /// After how many milliseconds a run ends.
    pub millis: u64,
    /// Whether what is counted is a window of FIXED.
    pub aligned: bool,
    pub module: PhantomData<A>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<K> {
    now: u64,
    keys: Vec<K>,
    /// When the units were allowed that are in the window.
    allowed: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes.
    Tick,
    /// A request for one of the keys.
    Request(usize),
}

impl<A: InMemory<Key: Eq + Hash>> Model for Split<A> {
    type State = State<A::Key>;
    type Action = Action;

    fn begin(&self) -> Self::State {
        State { now: 0, keys: (0..self.keys).map(|_| A::Key::default()).collect(), allowed: Vec::new() }
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        if state.now < self.millis {
            actions.push(Action::Tick);
        }
        actions.extend((0..state.keys.len()).map(Action::Request));
    }

    fn after(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.clone();
        match action {
            Action::Tick => {
                state.now += 1;
                let now = state.now;
                state.allowed.retain(|&at| self.limit.is_in_window(at, now, self.aligned));
            }
            Action::Request(at) => {
                let more = u64::from((at as u64) < self.limit.units % self.keys);
                let part = Limit { units: self.limit.units / self.keys + more, ..self.limit };
                if part.request::<A>(&mut state.keys[at], server_time(state.now * 1_000), self.aligned) {
                    state.allowed.push(state.now);
                }
            }
        }
        (state != *last).then_some(state)
    }

    fn promises(&self) -> Vec<Promise<Self>> {
        vec![
            Promise::<Self>::always("no window has more units than the limit", |model, state| {
                state.allowed.len() as u64 <= model.limit.units
            }),
            Promise::<Self>::reached("a window has as many units as the limit", |model, state| {
                state.allowed.len() as u64 == model.limit.units
            }),
        ]
    }
}

/// Checks what docs/scale.md says of several keys.
pub fn check(size: Size, report: &mut Report) {
    fn run<A: InMemory<Key: Eq + Hash>>(name: &str, keys: u64, aligned: bool, millis: u64) -> Result<String, String> {
        let limit = Limit { window_ms: 3, units: 4 };
        let model = Split::<A> { limit, keys, millis, aligned, module: PhantomData };
        search::check(&format!("{name}, a limit of 4 split over {keys} keys"), &model)
    }
    let millis = size.pick(6, 9);
    report.add(run::<RollingLog>("ROLLING", 3, false, millis));
    report.add(run::<SlidingLog>("SLIDING", 3, false, millis));
    report.add(run::<FixedWindow>("FIXED", 3, true, size.pick(3, 6)));
}
