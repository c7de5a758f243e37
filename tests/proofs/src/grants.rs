//! Local grants: instances take units in batches and decide by themselves.
//!
//! The state machine is the client's [`Lot`]. What is counted are the units used in a window: the half-open one that
//! ends now or, for FIXED, the one that the clock is in.

use std::hash::Hash;
use std::marker::PhantomData;
use std::time::Duration;

use redis_rl_algorithm::in_memory::InMemory;
use redis_rl_algorithm::{FixedWindow, Micros, RollingLog, SlidingLog};
use redis_rl_client::state_machines::{Denial, Lot, Taken, is_low};
use redis_rl_client::{Algorithm, Decision, Policy};

use crate::search::{self, Model, Promise};
use crate::server::{Limit, decide, instant, refund, server_time};
use crate::{Report, Size};

/// How an instance takes its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// As docs/scale.md describes it: an instance takes a batch when it has none left and a request waits, and the reply
    /// is there at once.
    Batches,
    /// The same, and a reply may take any time.
    LateBatches,
    /// The Rust client: it fetches before it has none left, and gives back what it holds for too long.
    Client,
}

/// What a window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Any window, wherever it begins.
    Any,
    /// A window of the fixed window counter.
    Aligned,
}

/// Instances that share a limit.
#[derive(Clone, Debug)]
pub struct Grants<A> {
    pub algorithm: Algorithm,
    pub protocol: Protocol,
    pub span: Span,
    pub limit: Limit,
    pub instances: u64,
    /// The size of a grant.
    pub units: u64,
    /// The length of a step of time, in microseconds.
    pub tick: u64,
    /// After how many steps a run ends.
    pub ticks: u64,
    /// By how many milliseconds the server's clock may step, once.
    pub step_ms: Option<i64>,
    /// An instance remembers denials, and asks about them again after so many steps.
    pub recheck: Option<u64>,
    pub module: PhantomData<A>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State<K> {
    /// Steps since the beginning.
    now: u64,
    /// What the server's clock has stepped by, in microseconds.
    stepped: i64,
    key: K,
    instances: Vec<Instance>,
    /// When the units were used that are in the window.
    used: Vec<u64>,
    /// A remembered denial denied a request while a fetch asked about it.
    denied: bool,
    /// A fetch that asked about a denial brought units.
    brought: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Instance {
    lot: Lot,
    fetch: Fetch,
    /// Units on their way back, and when they were charged.
    returned: Option<(u64, u64)>,
    denial: Option<Denial>,
}

/// The one fetch of an instance that may be under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::large_enum_variant, reason = "there are few at a time")]
enum Fetch {
    #[default]
    None,
    Sent {
        at: u64,
        cost: u64,
        asked: Asked,
    },
    Decided {
        sent: u64,
        decision: Decision,
        asked: Asked,
    },
}

/// Who wants a fetch, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked {
    /// A request waits for it.
    awaited: bool,
    /// It asks again about the remembered denial.
    again: bool,
    /// Units were given back since it was sent, so it may be older than that.
    outdated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes.
    Tick,
    /// The server's clock steps.
    ClockSteps,
    /// An instance has a request.
    Request(usize),
    /// The server gets the fetch of an instance.
    FetchArrives(usize),
    /// The server gets it twice, and the instance gets the second reply.
    FetchArrivesTwice(usize),
    /// The instance gets the reply.
    ReplyArrives(usize),
    /// The request or its reply is lost.
    FetchIsLost(usize),
    /// The instance has held units for long enough: it sends them back.
    Returns(usize),
    /// The server gets the units that an instance sent back.
    ReturnArrives(usize),
    /// They are lost.
    ReturnIsLost(usize),
    /// The instance dies, and begins anew.
    Crash(usize),
}

impl<A: InMemory> Grants<A> {
    fn clock(&self, state: &State<A::Key>) -> Micros {
        // A day, so that a clock that steps back does not reach the beginning.
        server_time((86_400_000_000 + state.now * self.tick).saturating_add_signed(state.stepped))
    }

    /// The most units that may be used in a window.
    pub fn bound(&self) -> u64 {
        let late = match (self.span, self.protocol) {
            // They end with their window.
            (Span::Aligned, _) => 0,
            (Span::Any, Protocol::Batches) => self.instances * (self.units - 1),
            (Span::Any, Protocol::LateBatches | Protocol::Client) => self.instances * self.units,
        };
        // A clock that steps forward by a window gives every limit once more.
        let again = if self.step_ms.is_some_and(|step| step > 0) { self.limit.units } else { 0 };
        self.limit.units + again + late
    }

    /// Takes a unit for a request, if there is one.
    fn take(&self, state: &mut State<A::Key>, at: usize) -> Option<u64> {
        match state.instances[at].lot.take(1, instant(state.now * self.tick)) {
            Taken::Units { left, .. } => {
                state.used.push(state.now);
                Some(left)
            }
            Taken::Nothing | Taken::Closed => None,
        }
    }

    /// The policy, as the client has it.
    fn policy(&self) -> Policy {
        self.limit.client_policy(self.algorithm)
    }

    /// Starts a fetch, unless one is under way or a remembered denial denies it.
    fn fetch(&self, state: &mut State<A::Key>, at: usize, awaited: bool) {
        let (policy, sent) = (self.policy(), state.now);
        let now = instant(sent * self.tick);
        let instance = &mut state.instances[at];
        let request = policy.request("k").partial();
        let known = instance.denial.as_ref().filter(|denial| denial.recall(&request, now).is_some());
        let is_due = known.map(|denial| denial.is_due(now));
        let again = is_due.is_some();
        match &mut instance.fetch {
            Fetch::Sent { asked, .. } | Fetch::Decided { asked, .. } if asked.again && again => state.denied = true,
            _ if is_due == Some(false) => {}
            Fetch::None => {
                let cost = instance.lot.missing(self.units, now);
                let asked = Asked { awaited, again, outdated: false };
                instance.fetch = Fetch::Sent { at: sent, cost, asked };
                if self.protocol == Protocol::Batches {
                    self.decide(state, at);
                    self.deliver(state, at);
                }
            }
            Fetch::Sent { asked, .. } | Fetch::Decided { asked, .. } => asked.awaited |= awaited,
        }
    }

    fn decide(&self, state: &mut State<A::Key>, at: usize) {
        let now = self.clock(state);
        let Fetch::Sent { at: sent, cost, asked } = state.instances[at].fetch else { return };
        let policy = self.policy();
        let request = policy.request("k").cost(cost).partial();
        let decision = decide(&self.limit.of::<A>(), &mut state.key, now, &request, cost, true);
        state.instances[at].fetch = Fetch::Decided { sent, decision, asked };
    }

    fn deliver(&self, state: &mut State<A::Key>, at: usize) {
        let now = instant(state.now * self.tick);
        let instance = &mut state.instances[at];
        let Fetch::Decided { sent, decision, asked } = std::mem::take(&mut instance.fetch) else { return };
        let hold = Duration::from_millis(self.limit.window_ms).min(Duration::from_secs(1));
        if let Some(recheck) = self.recheck.filter(|_| !asked.outdated) {
            let (policy, recheck) = (self.policy(), Duration::from_micros(recheck * self.tick));
            let denial = Denial::new(&policy.request("k").partial(), instant(sent * self.tick), &decision, recheck);
            if denial.is_some() || asked.again {
                instance.denial = denial;
            }
        }
        state.brought |= asked.again && decision.allowed;
        instance.lot.add(&decision, instant(sent * self.tick), hold);
        if asked.awaited && instance.lot.take_after(1, &decision, now).allowed {
            state.used.push(state.now);
        }
    }

    /// Forgets what is remembered, because units were given back.
    fn forget(instance: &mut Instance) {
        instance.denial = None;
        if let Fetch::Sent { asked, .. } | Fetch::Decided { asked, .. } = &mut instance.fetch {
            asked.outdated = true;
        }
    }

    /// Forgets what was used before the window.
    fn slide(&self, state: &mut State<A::Key>) {
        let (now, window) = (state.now, self.limit.window_ms * 1_000 / self.tick);
        match self.span {
            Span::Any => state.used.retain(|&at| at + window > now),
            Span::Aligned => state.used.retain(|&at| at / window == now / window),
        }
    }
}

impl<A: InMemory<Key: Eq + Hash>> Model for Grants<A> {
    type State = State<A::Key>;
    type Action = Action;

    fn begin(&self) -> Self::State {
        State { instances: vec![Instance::default(); self.instances as usize], ..State::default() }
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        if state.now < self.ticks {
            actions.push(Action::Tick);
        }
        if self.step_ms.is_some() && state.stepped == 0 {
            actions.push(Action::ClockSteps);
        }
        for (at, instance) in state.instances.iter().enumerate() {
            actions.push(Action::Request(at));
            actions.push(Action::Crash(at));
            match instance.fetch {
                Fetch::None => {}
                Fetch::Sent { .. } => {
                    actions.extend([Action::FetchArrives(at), Action::FetchArrivesTwice(at), Action::FetchIsLost(at)]);
                }
                Fetch::Decided { .. } => actions.extend([Action::ReplyArrives(at), Action::FetchIsLost(at)]),
            }
            if self.protocol == Protocol::Client
                && instance.fetch == Fetch::None
                && instance.returned.is_none()
                && instance.lot.ends_after(instant(state.now * self.tick)).is_none()
            {
                actions.push(Action::Returns(at));
            }
            if instance.returned.is_some() {
                actions.extend([Action::ReturnArrives(at), Action::ReturnIsLost(at)]);
            }
        }
    }

    fn after(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.clone();
        match action {
            Action::Tick => {
                state.now += 1;
                self.slide(&mut state);
            }
            Action::ClockSteps => state.stepped = self.step_ms? * 1_000,
            Action::Request(at) => match self.take(&mut state, at) {
                Some(left) if self.protocol == Protocol::Client && is_low(left, self.units) => {
                    self.fetch(&mut state, at, false);
                }
                Some(_) => {}
                None => self.fetch(&mut state, at, true),
            },
            Action::FetchArrives(at) => self.decide(&mut state, at),
            Action::FetchArrivesTwice(at) => {
                let sent = state.instances[at].fetch.clone();
                self.decide(&mut state, at);
                state.instances[at].fetch = sent;
                self.decide(&mut state, at);
            }
            Action::ReplyArrives(at) => self.deliver(&mut state, at),
            Action::FetchIsLost(at) => state.instances[at].fetch = Fetch::None,
            Action::Returns(at) => {
                let instance = &mut state.instances[at];
                instance.returned = instance.lot.close();
                instance.lot = Lot::default();
            }
            Action::ReturnArrives(at) => {
                let now = self.clock(&state);
                let (units, charged_at) = state.instances[at].returned.take()?;
                refund(&self.limit.of::<A>(), &mut state.key, now, Some(charged_at), units);
                Self::forget(&mut state.instances[at]);
            }
            Action::ReturnIsLost(at) => {
                state.instances[at].returned = None;
                Self::forget(&mut state.instances[at]);
            }
            Action::Crash(at) => state.instances[at] = Instance::default(),
        }
        (state != *last).then_some(state)
    }

    fn promises(&self) -> Vec<Promise<Self>> {
        let mut promises = vec![
            Promise::<Self>::always("no window has more units than the bound", |model, state| {
                state.used.len() as u64 <= model.bound()
            }),
            Promise::<Self>::reached("a window has as many units as the bound", |model, state| {
                state.used.len() as u64 == model.bound()
            }),
        ];
        if self.recheck.is_some() {
            promises.extend([
                Promise::<Self>::reached("a fetch that asks about a denial brings units", |_, state| state.brought),
                Promise::<Self>::reached("meanwhile the other requests are denied", |_, state| state.denied),
            ]);
        }
        promises
    }
}

/// Checks the bounds of docs/scale.md.
pub fn check(size: Size, report: &mut Report) {
    fn run<A: InMemory<Key: Eq + Hash>>(name: &str, model: &Grants<A>) -> Result<String, String> {
        let Grants { limit, instances, units, .. } = model;
        let shape = format!("limit {}, instances: {instances}, grants of {units}", limit.units);
        search::check(&format!("{}, {name}, {shape}: at most {}", model.algorithm.word(), model.bound()), model)
    }
    fn model<A>(algorithm: Algorithm, protocol: Protocol, shape: [u64; 3], ticks: u64) -> Grants<A> {
        let [limit, instances, units] = shape;
        let limit = Limit { window_ms: 3, units: limit };
        let (span, tick, step_ms, recheck, module) = (Span::Any, 1_000, None, None, PhantomData);
        Grants { algorithm, protocol, span, limit, instances, units, tick, ticks, step_ms, recheck, module }
    }
    let rolling = |protocol, shape, ticks| model::<RollingLog>(Algorithm::Rolling, protocol, shape, ticks);
    let ticks = size.pick(4, 7);
    let batches = || rolling(Protocol::Batches, [4, 2, 2], ticks);
    report.add(run("batches", &batches()));
    report.add(run("batches", &rolling(Protocol::Batches, [3, 1, 3], ticks)));
    report.add(run("batches", &model::<SlidingLog>(Algorithm::Sliding, Protocol::Batches, [4, 2, 2], ticks)));
    report.add(run("batches, the clock steps back by a window", &Grants { step_ms: Some(-3), ..batches() }));
    report.add(run("batches, the clock steps forward by a window", &Grants { step_ms: Some(3), ..batches() }));
    report.add(run("batches with late replies", &rolling(Protocol::LateBatches, [2, 1, 2], ticks)));
    report.add(run("the client", &rolling(Protocol::Client, [2, 1, 2], ticks)));
    report.add(run("the client", &rolling(Protocol::Client, [2, 2, 1], size.pick(3, 4))));
    let remembering = Grants { recheck: Some(1), ..rolling(Protocol::Client, [2, 1, 2], ticks) };
    report.add(run("the client, denials are remembered", &remembering));
    let limit = Limit { window_ms: 2, units: 2 };
    // Half milliseconds, since the end of a window is rounded to whole ones.
    let fixed = model::<FixedWindow>(Algorithm::Fixed, Protocol::Client, [2, 2, 2], size.pick(5, 6));
    report.add(run("the client", &Grants { span: Span::Aligned, limit, tick: 500, ..fixed }));
}
