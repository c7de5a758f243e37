//! Remembered denials: a client denies by itself what the server denied, until that could be allowed. The server's clock
//! may step once.
//!
//! What is remembered is the client's [`Denial`]. A refund makes it forget, as the limiter does when the reply is there,
//! or is not waited for any more. A reset by somebody else it learns of by asking again.

use std::hash::Hash;
use std::marker::PhantomData;
use std::time::Duration;

use redis_rl_algorithm::in_memory::InMemory;
use redis_rl_algorithm::{
    FixedWindow, Gcra, Micros, RollingLog, SlidingCounter, SlidingLog, TokenBucket, WindowCounter,
};
use redis_rl_client::state_machines::Denial;
use redis_rl_client::{Algorithm, Decision};

use crate::search::{self, Model, Promise};
use crate::server::{Limit, decide, instant, refund, server_time};
use crate::{Report, Size};

/// The length of a step of time, in microseconds.
const TICK: u64 = 500;
/// The costs of the requests.
const COSTS: [u64; 2] = [1, 2];

/// Clients that send requests for one key.
#[derive(Clone, Debug)]
pub struct Denials<A> {
    pub algorithm: Algorithm,
    pub limit: Limit,
    pub clients: usize,
    /// After how many steps a run ends.
    pub ticks: u64,
    /// How many requests of a client may be under way at once.
    pub at_once: usize,
    /// Whether the clients give units back.
    pub refunds: bool,
    /// By how many milliseconds the server's clock may step, once.
    pub step_ms: Option<i64>,
    /// After how many steps a denial is asked about again. Then somebody else may reset the key, once.
    pub recheck: Option<u64>,
    pub module: PhantomData<A>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State<K> {
    /// Steps since the beginning.
    now: u64,
    /// What the server's clock has stepped by, in microseconds, and when.
    stepped: Option<(i64, u64)>,
    /// When the key was reset.
    reset: Option<u64>,
    key: K,
    clients: Vec<Client>,
    /// A client denied what the server would have allowed.
    denied_wrongly: bool,
    /// The same, shortly after the clock stepped.
    denied_after_step: bool,
    /// A client allowed something by itself.
    allowed: bool,
    /// A client denied something by itself.
    recalled: bool,
    /// A request that asked again was allowed.
    allowed_again: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Client {
    denial: Option<Denial>,
    /// When the request of that denial was sent.
    denied: u64,
    /// How often it forgot.
    generation: u8,
    requests: Vec<Sent>,
    refund: Option<Refund>,
    /// Units came back, and it does not know yet.
    early: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sent {
    at: u64,
    generation: u8,
    cost: u64,
    /// It asks again about the denial of a request that was sent then.
    asks: Option<u64>,
    decision: Option<Decision>,
}

/// A refund of one unit that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Refund {
    Sent,
    Replied,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes.
    Tick,
    /// The server's clock steps.
    ClockSteps,
    /// Somebody else resets the key.
    Reset,
    /// A client has a request of this cost.
    Request(usize, u64),
    /// The server gets the n-th request of a client.
    Arrives(usize, usize),
    /// The client gets the reply.
    ReplyArrives(usize, usize),
    /// The request or its reply is lost.
    IsLost(usize, usize),
    /// A client gives a unit back.
    Refunds(usize),
    /// The server gets that.
    RefundArrives(usize),
    /// The client gets the reply to that.
    RefundEnds(usize),
}

impl<A: InMemory<Key: Eq + Hash>> Denials<A> {
    fn clock(&self, state: &State<A::Key>) -> Micros {
        let stepped = state.stepped.map_or(0, |(by, _)| by);
        // A day, so that a clock that steps back does not reach the beginning.
        server_time((86_400_000_000 + state.now * TICK).saturating_add_signed(stepped))
    }

    fn request(&self, state: &mut State<A::Key>, at: usize, cost: u64) {
        let policy = self.limit.client_policy(self.algorithm);
        let request = policy.request("k").cost(cost);
        let (now, client) = (state.now, &mut state.clients[at]);
        let at = instant(now * TICK);
        let known = client.denial.as_ref().and_then(|denial| Some((denial.recall(&request, at)?, denial.is_due(at))));
        let is_asked = client.requests.iter().any(|sent| sent.asks.is_some());
        let known = match known {
            Some((decision, is_due)) if !is_due || is_asked => decision,
            known => {
                let asks = known.map(|_| client.denied);
                client.requests.push(Sent { at: now, generation: client.generation, cost, asks, decision: None });
                return;
            }
        };
        let early = client.early;
        let time = self.clock(state);
        let would = decide(&self.limit.of::<A>(), &mut state.key.clone(), time, &request, cost, false);
        state.recalled = true;
        state.allowed |= known.allowed;
        // What was remembered before the step ends within the longest wait. The client takes a millisecond off.
        let longest = (self.limit.window_ms - 1) * 1_000;
        let after_step = state.stepped.is_some_and(|(_, at)| (state.now - at) * TICK < longest);
        // Until the denials are asked about again that are older than the reset, and there is a reply to that.
        let after_reset = state.reset.is_some_and(|at| is_asked || Some(state.now - at) < self.recheck);
        state.denied_wrongly |= would.allowed && !early && !after_step && !after_reset;
        state.denied_after_step |= would.allowed && !early && after_step;
    }

    fn decide(&self, state: &mut State<A::Key>, at: usize, nth: usize) {
        let now = self.clock(state);
        let policy = self.limit.client_policy(self.algorithm);
        let sent = &mut state.clients[at].requests[nth];
        let request = policy.request("k").cost(sent.cost);
        let before = state.key.clone();
        let decision = decide(&self.limit.of::<A>(), &mut state.key, now, &request, sent.cost, false);
        if !decision.allowed && self.algorithm == Algorithm::Fixed {
            // It counts denied requests too, without end.
            state.key = before;
        }
        sent.decision = Some(decision);
    }

    fn learn(&self, state: &mut State<A::Key>, at: usize, nth: usize) -> Option<()> {
        let policy = self.limit.client_policy(self.algorithm);
        let client = &mut state.clients[at];
        let Sent { at, generation, cost, asks, decision } = client.requests.remove(nth);
        let (request, decision) = (policy.request("k").cost(cost), decision?);
        state.allowed_again |= asks.is_some() && decision.allowed;
        // Units were given back since, so the decision may be older than that.
        if generation != client.generation {
            return Some(());
        }
        let recheck = self.recheck.map_or(Duration::MAX, |ticks| Duration::from_micros(ticks * TICK));
        match Denial::new(&request, instant(at * TICK), &decision, recheck) {
            Some(denial) => (client.denial, client.denied) = (Some(denial), at),
            None if asks == Some(client.denied) => client.denial = None,
            None => {}
        }
        Some(())
    }
}

impl<A: InMemory<Key: Eq + Hash>> Model for Denials<A> {
    type State = State<A::Key>;
    type Action = Action;

    fn begin(&self) -> Self::State {
        State { clients: vec![Client::default(); self.clients], ..State::default() }
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        if state.now < self.ticks {
            actions.push(Action::Tick);
        }
        if self.step_ms.is_some() && state.stepped.is_none() {
            actions.push(Action::ClockSteps);
        }
        if self.recheck.is_some() && state.reset.is_none() && state.key != A::Key::default() {
            actions.push(Action::Reset);
        }
        for (at, client) in state.clients.iter().enumerate() {
            if client.requests.len() < self.at_once {
                actions.extend(COSTS.map(|cost| Action::Request(at, cost)));
            }
            for (nth, sent) in client.requests.iter().enumerate() {
                actions.push(if sent.decision.is_none() {
                    Action::Arrives(at, nth)
                } else {
                    Action::ReplyArrives(at, nth)
                });
                actions.push(Action::IsLost(at, nth));
            }
            match client.refund {
                // Once, so that there are fewer states.
                None if self.refunds && client.generation == 0 => actions.push(Action::Refunds(at)),
                Some(Refund::Sent) => actions.push(Action::RefundArrives(at)),
                Some(Refund::Replied) => actions.push(Action::RefundEnds(at)),
                None => {}
            }
        }
    }

    fn after(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.clone();
        match action {
            Action::Tick => state.now += 1,
            Action::ClockSteps => state.stepped = Some((self.step_ms? * 1_000, state.now)),
            Action::Reset => (state.key, state.reset) = (A::Key::default(), Some(state.now)),
            Action::Request(at, cost) => self.request(&mut state, at, cost),
            Action::Arrives(at, nth) => self.decide(&mut state, at, nth),
            Action::ReplyArrives(at, nth) => self.learn(&mut state, at, nth)?,
            Action::IsLost(at, nth) => drop(state.clients[at].requests.remove(nth)),
            Action::Refunds(at) => state.clients[at].refund = Some(Refund::Sent),
            Action::RefundArrives(at) => {
                let now = self.clock(&state);
                refund(&self.limit.of::<A>(), &mut state.key, now, None, 1);
                state.clients[at].refund = Some(Refund::Replied);
                state.clients.iter_mut().for_each(|client| client.early = true);
            }
            Action::RefundEnds(at) => {
                let client = &mut state.clients[at];
                client.generation += 1;
                (client.denial, client.refund, client.early) = (None, None, false);
            }
        }
        (state != *last).then_some(state)
    }

    fn promises(&self) -> Vec<Promise<Self>> {
        let denied_then = match (self.step_ms, self.recheck) {
            (None, None) => "what is denied locally, the server denies then",
            (None, Some(_)) => "what is denied locally, the server denies then, but until a reset is asked about",
            (Some(_), _) => "what is denied locally, the server denies then, but for a window after its clock stepped",
        };
        let mut promises = vec![
            Promise::<Self>::always(denied_then, |_, state| !state.denied_wrongly),
            Promise::<Self>::always("nothing is allowed locally", |_, state| !state.allowed),
            Promise::<Self>::reached("something is denied locally", |_, state| state.recalled),
        ];
        if self.step_ms.is_some_and(|step| step > 0) {
            let text = "after the step, something is denied locally that the server would allow";
            promises.push(Promise::<Self>::reached(text, |_, state| state.denied_after_step));
        }
        if self.recheck.is_some() {
            let text = "after a reset, a request that asks again is allowed";
            promises.push(Promise::<Self>::reached(text, |_, state| state.allowed_again));
        }
        promises
    }
}

/// Checks what the client says of remembered denials.
pub fn check(size: Size, report: &mut Report) {
    fn model<A: InMemory>(algorithm: Algorithm, ticks: u64) -> Denials<A> {
        let limit = Limit { window_ms: 2, units: 2 };
        let (step_ms, recheck, module) = (None, None, PhantomData);
        Denials { algorithm, limit, clients: 1, ticks, at_once: 1, refunds: true, step_ms, recheck, module }
    }
    fn run<A: InMemory<Key: Eq + Hash>>(model: &Denials<A>) -> Result<String, String> {
        let Denials { algorithm, clients, at_once, refunds, step_ms, recheck, .. } = model;
        let refunds = if *refunds { ", a refund" } else { "" };
        let steps = step_ms.map_or_else(String::new, |step| format!(", the clock steps by {step} ms"));
        let asks = if recheck.is_some() { ", a reset is asked about" } else { "" };
        let shape = format!("clients: {clients}, requests at once: {at_once}{refunds}{steps}{asks}");
        search::check(&format!("{}: remembered denials, {shape}", algorithm.word()), model)
    }
    let ticks = size.pick(6, 9);
    report.add(run(&model::<RollingLog>(Algorithm::Rolling, ticks)));
    report.add(run(&model::<SlidingLog>(Algorithm::Sliding, ticks)));
    report.add(run(&model::<FixedWindow>(Algorithm::Fixed, ticks)));
    report.add(run(&model::<WindowCounter>(Algorithm::Window, ticks)));
    report.add(run(&model::<TokenBucket>(Algorithm::Token, ticks)));
    report.add(run(&model::<Gcra>(Algorithm::Gcra, ticks)));
    report.add(run(&model::<SlidingCounter>(Algorithm::Counter, ticks)));
    let ticks = size.pick(4, 5);
    report.add(run(&Denials { clients: 2, refunds: false, ..model::<RollingLog>(Algorithm::Rolling, ticks) }));
    for step in [2, -2] {
        let step_ms = Some(step);
        report.add(run(&Denials { step_ms, refunds: false, ..model::<RollingLog>(Algorithm::Rolling, ticks + 2) }));
        report.add(run(&Denials { step_ms, refunds: false, ..model::<FixedWindow>(Algorithm::Fixed, ticks + 2) }));
        report.add(run(&Denials { step_ms, refunds: false, ..model::<WindowCounter>(Algorithm::Window, ticks + 2) }));
    }
    report.add(run(&Denials { at_once: 2, ..model::<RollingLog>(Algorithm::Rolling, ticks) }));
    // A denial holds for a millisecond less than the window.
    let limit = Limit { window_ms: 3, units: 1 };
    let asks = |recheck, ticks| {
        let model = model::<RollingLog>(Algorithm::Rolling, ticks);
        Denials { limit, recheck: Some(recheck), ..model }
    };
    report.add(run(&asks(1, size.pick(4, 5))));
    for recheck in [0, 1] {
        report.add(run(&Denials { at_once: 2, refunds: false, ..asks(recheck, size.pick(2, 4)) }));
    }
}
