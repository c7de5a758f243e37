//! A primary with a replica that takes its place: at any time, with or without the old primary going on.
//!
//! The primary sends each change of the key to the replica, in order and late. What has not arrived at the failover is
//! lost.

use std::collections::VecDeque;
use std::hash::Hash;
use std::marker::PhantomData;

use redis_rl_algorithm::in_memory::InMemory;
use redis_rl_algorithm::{FixedWindow, RollingLog, SlidingLog};

use crate::search::{self, Model, Promise};
use crate::server::{Limit, server_time};
use crate::{Report, Size};

/// Requests to a primary, and to the one that takes its place.
#[derive(Clone, Debug)]
pub struct Failover<A> {
    pub limit: Limit,
    /// After how many milliseconds a run ends.
    pub millis: u64,
    /// Whether what is counted is a window of FIXED.
    pub aligned: bool,
    pub module: PhantomData<A>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State<K> {
    now: u64,
    /// The key on the primary; `None` once it is gone.
    primary: Option<K>,
    replica: K,
    promoted: bool,
    /// The changes on their way to the replica, each with the units that it charged.
    backlog: VecDeque<(K, Vec<u64>)>,
    /// When the units were allowed that are in the window.
    allowed: Vec<u64>,
    /// When those of them were charged that no primary counts any more.
    lost: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes.
    Tick,
    /// A request to the primary, or to the old one after a failover.
    Request,
    /// A request to the new primary.
    RequestToNew,
    /// The next change arrives at the replica.
    ChangeArrives,
    /// The primary dies, and the replica takes its place.
    Failover,
    /// The replica takes its place while it goes on.
    Partition,
    /// The old primary notices that it is none any more.
    Demotion,
}

impl<A: InMemory<Key: Eq + Hash>> Failover<A> {
    fn request(&self, key: &mut A::Key, now: u64) -> bool {
        self.limit.request::<A>(key, server_time(now * 1_000), self.aligned)
    }

    fn promote(state: &mut State<A::Key>) {
        state.promoted = true;
        state.lost.extend(state.backlog.drain(..).flat_map(|(_, charged)| charged));
    }
}

impl<A: InMemory<Key: Eq + Hash>> Model for Failover<A> {
    type State = State<A::Key>;
    type Action = Action;

    fn begin(&self) -> Self::State {
        State { primary: Some(A::Key::default()), ..State::default() }
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        if state.now < self.millis {
            actions.push(Action::Tick);
        }
        if state.primary.is_some() {
            actions.push(Action::Request);
        }
        if !state.backlog.is_empty() {
            actions.push(Action::ChangeArrives);
        }
        if !state.promoted {
            actions.extend([Action::Failover, Action::Partition]);
        } else {
            actions.push(Action::RequestToNew);
            if state.primary.is_some() {
                actions.push(Action::Demotion);
            }
        }
    }

    fn after(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.clone();
        let now = state.now;
        match action {
            Action::Tick => {
                state.now += 1;
                let now = state.now;
                state.allowed.retain(|&at| self.limit.is_in_window(at, now, self.aligned));
                state.lost.retain(|&at| self.limit.is_in_window(at, now, self.aligned));
            }
            Action::Request => {
                let key = state.primary.as_mut()?;
                let before = key.clone();
                let allowed = self.request(key, now);
                let (changed, key) = (*key != before, key.clone());
                if allowed {
                    state.allowed.push(now);
                    if state.promoted {
                        state.lost.push(now);
                    }
                }
                if changed && !state.promoted {
                    state.backlog.push_back((key, if allowed { vec![now] } else { Vec::new() }));
                }
            }
            Action::RequestToNew => {
                if self.request(&mut state.replica, now) {
                    state.allowed.push(now);
                }
            }
            Action::ChangeArrives => state.replica = state.backlog.pop_front()?.0,
            Action::Failover => {
                state.primary = None;
                Self::promote(&mut state);
            }
            Action::Partition => Self::promote(&mut state),
            Action::Demotion => state.primary = None,
        }
        (state != *last).then_some(state)
    }

    fn promises(&self) -> Vec<Promise<Self>> {
        vec![
            Promise::<Self>::always("a window has at most the limit, and what was not replicated", |model, state| {
                state.allowed.len() as u64 <= model.limit.units + state.lost.len() as u64
            }),
            Promise::<Self>::reached("a window has twice the limit, as nothing was replicated", |model, state| {
                state.allowed.len() as u64 == 2 * model.limit.units
            }),
        ]
    }
}

/// Checks what docs/operations.md says of a failover.
pub fn check(size: Size, report: &mut Report) {
    fn run<A: InMemory<Key: Eq + Hash>>(name: &str, aligned: bool, units: u64, millis: u64) -> Result<String, String> {
        let limit = Limit { window_ms: 3, units };
        let model = Failover::<A> { limit, millis, aligned, module: PhantomData };
        search::check(&format!("{name}, a limit of {units} and a failover"), &model)
    }
    let millis = size.pick(4, 6);
    report.add(run::<RollingLog>("ROLLING", false, size.pick(2, 3), millis));
    report.add(run::<SlidingLog>("SLIDING", false, size.pick(2, 3), millis));
    report.add(run::<FixedWindow>("FIXED", true, 2, millis));
}
