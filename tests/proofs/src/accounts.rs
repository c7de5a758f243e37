//! What a process knows of a key: accounts of one key whose requests share commands, take units that were granted in
//! advance, and are denied by what is remembered, while commands and replies are late or lost and callers hang up.
//!
//! The state machine is the client's [`Account`]. A unit that a request needs is used when the server charges it, also where
//! its caller has left; a unit that was granted in advance when a request takes it.

use std::cell::Cell;
use std::hash::Hash;
use std::marker::PhantomData;
use std::time::Duration;

use redis_rl_algorithm::in_memory::InMemory;
use redis_rl_algorithm::{
    FixedWindow, Gcra, Micros, RollingLog, SlidingCounter, SlidingLog, TokenBucket, WindowCounter,
};
use redis_rl_client::state_machines::{Account, Ahead, Asked, Caller, Command, Form, Join, Sent};
use redis_rl_client::{Algorithm, Decision, Policy};

use crate::search::{self, Model, Promise};
use crate::server::{Charging, Limit, decide, instant, refund, server_time};
use crate::{Report, Size};

/// The length of a step of time, in microseconds.
const TICK: u64 = 500;
/// The time limit of a request: after a step it may be sent beside others.
const PATIENCE: Duration = Duration::from_micros(5 * TICK);

thread_local! {
    /// The callers that have left, of the state that is looked at.
    static GONE: Cell<u32> = const { Cell::new(0) };
}

/// A caller, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Number(u32);

impl Caller for Number {
    fn is_gone(&self) -> bool {
        GONE.get() & 1 << self.0 != 0
    }
}

/// Accounts of one key, and the server.
#[derive(Clone, Debug)]
pub struct Accounts<A> {
    pub algorithm: Algorithm,
    pub limit: Limit,
    pub accounts: usize,
    /// The costs of requests: those of cost 1 share commands.
    pub costs: &'static [u64],
    /// How many requests there are in a run.
    pub asks: u32,
    /// After how many steps a run ends.
    pub ticks: u64,
    /// How many units a grant has.
    pub ahead: Option<u64>,
    /// Whether callers hang up, and commands or replies are late or lost.
    pub faults: bool,
    /// Whether units are given back, which the others learn when they ask again.
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
    sides: Vec<Side>,
    /// How many requests there were; which of them have an answer, and whose callers have left.
    asks: u32,
    answered: u32,
    gone: u32,
    /// A unit was given back that a request had used.
    refunded: bool,
    /// When the units were used that are in the window.
    used: Vec<u64>,
    seen: Seen,
}

/// What has happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Seen {
    /// A caller got two answers.
    twice: bool,
    /// More units were used than were charged.
    unpaid: bool,
    /// Requests shared a command, in a number that was not all allowed.
    divided: bool,
    /// A reply came after the time limit of its command, and charged units.
    late: bool,
    /// A request was sent beside two commands.
    beside: bool,
    /// Something was denied that the server would have allowed; and shortly after the clock stepped.
    denied_wrongly: bool,
    denied_after_step: bool,
    denied: bool,
    /// A request that asked about a denial was allowed.
    allowed_again: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Side {
    account: Account<Number>,
    flights: Vec<Flight>,
    /// Units on their way back: how many, when they were charged, and whether the server has them.
    back: Option<(u64, Option<u64>, bool)>,
    /// Units came back, and it does not know yet.
    early: bool,
    /// What replies said was charged, and what was used of it.
    charged: u64,
    used: u64,
    /// Its requests.
    callers: u32,
}

/// A command under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Flight {
    what: What,
    decision: Option<Decision>,
    is_late: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::large_enum_variant, reason = "there are few at a time")]
enum What {
    Shared(Command<Number>),
    Alone { sent: Sent, cost: u64, caller: Number },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes.
    Tick,
    /// The server's clock steps.
    ClockSteps,
    /// Somebody else resets the key.
    Reset,
    /// An account has a request of this cost.
    Ask(usize, u64),
    /// The caller with this number leaves.
    HangsUp(u32),
    /// A request of an account has waited for a part of its time limit.
    Overdue(usize),
    /// The server gets the n-th command of an account.
    Arrives(usize, usize),
    /// The account gets the reply.
    Lands(usize, usize),
    /// Its time limit is over.
    IsLate(usize, usize),
    /// The command or its reply is lost.
    IsLost(usize, usize),
    /// An account gives units back: those that it keeps, or one that was used.
    GivesBack(usize),
    /// The server gets that.
    BackArrives(usize),
    /// The account gets the reply to that, or none.
    BackEnds(usize),
    /// The process of an account dies, and begins anew.
    Crash(usize),
}

impl<A: InMemory<Key: Eq + Hash>> Accounts<A> {
    fn clock(&self, state: &State<A::Key>) -> Micros {
        let stepped = state.stepped.map_or(0, |(by, _)| by);
        // A day, so that a clock that steps back does not reach the beginning.
        server_time((86_400_000_000 + state.now * TICK).saturating_add_signed(stepped))
    }

    fn policy(&self) -> Policy {
        self.limit.client_policy(self.algorithm)
    }

    fn form(&self) -> Form {
        let hold = Duration::from_millis(self.limit.window_ms);
        match self.ahead {
            Some(units) => Form::granted(&self.policy(), Ahead { units, hold }),
            None => Form {
                policy: self.policy(),
                join: if self.algorithm == Algorithm::Fixed { Join::Counted } else { Join::Partial },
                most: if self.algorithm == Algorithm::Fixed { self.limit.units } else { 1_000 },
                ahead: None,
            },
        }
    }

    /// FIXED and WINDOW: the units of a grant end with their window.
    fn is_aligned(&self) -> bool {
        self.algorithm == Algorithm::Fixed
    }

    /// The most units that may be used in a window.
    fn bound(&self) -> u64 {
        let ahead = if self.is_aligned() { 0 } else { self.ahead.unwrap_or(0) };
        // A clock that steps forward by a window gives every limit once more.
        let again = if self.step_ms.is_some_and(|step| step > 0) { self.limit.units } else { 0 };
        self.limit.units + again + self.accounts as u64 * ahead
    }

    /// FIXED counts denied requests; COUNTER estimates.
    fn is_exact(&self) -> bool {
        matches!(self.algorithm, Algorithm::Rolling | Algorithm::Sliding | Algorithm::Fixed)
    }

    fn ask(&self, state: &mut State<A::Key>, at: usize, cost: u64) {
        let (policy, form, now) = (self.policy(), self.form(), instant(state.now * TICK));
        let number = Number(state.asks);
        state.asks += 1;
        state.sides[at].callers |= 1 << number.0;
        let request = policy.request("k").cost(cost);
        let form = (cost == 1 || self.ahead.is_some()).then_some(&form);
        match state.sides[at].account.ask(&request, form, now, PATIENCE, || number) {
            Asked::Known(decision, next) => {
                self.answer(state, number);
                if decision.allowed {
                    state.used.extend((0..cost).map(|_| state.now));
                    state.sides[at].used += cost;
                } else {
                    self.denied(state, at, cost);
                }
                Self::send(state, at, next);
            }
            Asked::Waits(next) => {
                state.seen.beside |= next.is_some() && state.sides[at].flights.len() > 1;
                Self::send(state, at, next);
            }
            Asked::Alone(sent) => {
                let what = What::Alone { sent, cost, caller: number };
                state.sides[at].flights.push(Flight { what, decision: None, is_late: false });
            }
        }
    }

    fn send(state: &mut State<A::Key>, at: usize, next: Option<Command<Number>>) {
        let flight = |command| Flight { what: What::Shared(command), decision: None, is_late: false };
        state.sides[at].flights.extend(next.map(flight));
    }

    fn answer(&self, state: &mut State<A::Key>, Number(caller): Number) {
        state.seen.twice |= state.answered & 1 << caller != 0;
        state.answered |= 1 << caller;
    }

    /// A remembered denial has denied a request: would the server have?
    fn denied(&self, state: &mut State<A::Key>, at: usize, cost: u64) {
        state.seen.denied = true;
        let (policy, now) = (self.policy(), self.clock(state));
        let request = policy.request("k").cost(cost);
        let would = decide(&self.limit.of::<A>(), &mut state.key.clone(), now, &request, cost, Charging::Whole);
        // What was remembered before the step ends within the longest wait. The client takes a millisecond off.
        let longest = (self.limit.window_ms - 1) * 1_000;
        let after_step = state.stepped.is_some_and(|(_, at)| (state.now - at) * TICK < longest);
        // Until the denials are asked about again that are older than the reset, and there is a reply to that.
        let asks = !state.sides[at].flights.is_empty();
        let after_reset = state.reset.is_some_and(|at| asks || Some(state.now - at) < self.recheck);
        let early = state.sides[at].early;
        state.seen.denied_wrongly |= would.allowed && !early && !after_step && !after_reset;
        state.seen.denied_after_step |= would.allowed && !early && after_step;
    }

    /// The server gets a command.
    fn arrives(&self, state: &mut State<A::Key>, at: usize, nth: usize) {
        let (now, policy) = (self.clock(state), self.policy());
        let (cost, needed, charging) = match &state.sides[at].flights[nth].what {
            What::Alone { cost, .. } => (*cost, *cost, Charging::Whole),
            What::Shared(command) => {
                let charging = match command.form.join {
                    Join::Partial if command.units > 1 || self.ahead.is_some() => Charging::Partial,
                    Join::Counted if command.units > 1 => Charging::Always,
                    _ => Charging::Whole,
                };
                (command.units, command.needed, charging)
            }
        };
        let algorithm = self.limit.of::<A>();
        let before = algorithm.remaining(&state.key, now);
        let request = policy.request("k").cost(cost);
        let decision = decide(&algorithm, &mut state.key, now, &request, cost, charging);
        // Of what ALWAYS charges only what fits is allowed.
        let charged = if charging == Charging::Always { before.min(cost) } else { decision.charged };
        state.used.extend((0..charged.min(needed)).map(|_| state.now));
        state.sides[at].flights[nth].decision = Some(decision);
    }

    /// An account gets a reply.
    fn lands(&self, state: &mut State<A::Key>, at: usize, nth: usize) -> Option<()> {
        let (policy, now) = (self.policy(), instant(state.now * TICK));
        let recheck = self.recheck.map_or(Duration::MAX, |ticks| Duration::from_micros(ticks * TICK));
        let side = &mut state.sides[at];
        let Flight { what, decision, is_late } = side.flights.remove(nth);
        let decision = decision?;
        match what {
            What::Alone { sent, cost, caller } => {
                state.seen.allowed_again |= sent.asks.is_some() && decision.allowed;
                state.seen.late |= is_late && decision.charged > 0;
                let next = side.account.learn(&policy.request("k").cost(cost), sent, &decision, recheck, now);
                if !is_late {
                    self.answer(state, caller);
                }
                Self::send(state, at, next);
            }
            What::Shared(command) => {
                let (needed, asks) = (command.needed, command.sent.asks.is_some());
                state.seen.allowed_again |= asks && decision.allowed;
                state.seen.late |= is_late && decision.charged > 0;
                let (answers, next) = side.account.landed(command, &decision, recheck, now);
                let allowed = answers.iter().filter(|(_, decision)| decision.allowed).count();
                state.seen.divided |= 0 < allowed && allowed < answers.len();
                let units: u64 = answers.iter().map(|(_, decision)| decision.charged).sum();
                side.charged += decision.charged;
                side.used += if is_late { needed.min(decision.charged) } else { units };
                // What the others did not leave was taken from what was kept.
                let kept = units.saturating_sub(needed.min(decision.charged));
                state.used.extend((0..kept).map(|_| state.now));
                for (caller, _) in answers {
                    self.answer(state, caller);
                }
                let side = &mut state.sides[at];
                let kept = side.account.clone().give_up(&policy, now).map_or(0, |(units, _)| units);
                state.seen.unpaid |= side.used + kept > side.charged;
                Self::send(state, at, next);
            }
        }
        Some(())
    }

    /// The callers of a command get something else.
    fn is_over(&self, state: &mut State<A::Key>, at: usize, nth: usize, mut is_lost: bool) {
        let now = instant(state.now * TICK);
        let side = &mut state.sides[at];
        let flight = &mut side.flights[nth];
        let was_late = std::mem::replace(&mut flight.is_late, true);
        let (callers, next) = match &mut flight.what {
            What::Alone { sent, caller, .. } => {
                let callers = if was_late { Vec::new() } else { vec![*caller] };
                // Where others do not wait for it, nobody waits for a late reply.
                is_lost |= !sent.is_flying;
                let next =
                    if is_lost { side.account.unanswered(*sent, now) } else { side.account.late_alone(sent, now) };
                (callers, next)
            }
            What::Shared(command) if is_lost => side.account.lost(command.clone(), now),
            What::Shared(command) => side.account.late(command, now),
        };
        if is_lost {
            side.flights.remove(nth);
        }
        callers.into_iter().for_each(|caller| self.answer(state, caller));
        Self::send(state, at, next);
    }

    fn gives_back(&self, state: &mut State<A::Key>, at: usize) {
        let policy = self.policy();
        let side = &mut state.sides[at];
        state.refunded |= self.ahead.is_none();
        side.back = match self.ahead {
            Some(_) => {
                side.account.give_up(&policy, instant(state.now * TICK)).map(|(units, at)| (units, Some(at), false))
            }
            None => Some((1, None, false)),
        };
        if let Some((units, Some(_), _)) = side.back {
            side.charged -= units;
        }
    }

    /// Forgets what was used before the window.
    fn slide(&self, state: &mut State<A::Key>) {
        let (now, limit, aligned) = (state.now * TICK / 1_000, self.limit, self.is_aligned());
        state.used.retain(|&at| limit.is_in_window(at * TICK / 1_000, now, aligned));
    }
}

impl<A: InMemory<Key: Eq + Hash>> Model for Accounts<A> {
    type State = State<A::Key>;
    type Action = Action;

    fn begin(&self) -> Self::State {
        State { sides: vec![Side::default(); self.accounts], ..State::default() }
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
        if self.faults {
            let leaves = |caller: &u32| (state.answered | state.gone) & 1 << caller == 0;
            actions.extend((0..state.asks).filter(leaves).map(Action::HangsUp));
        }
        for (at, side) in state.sides.iter().enumerate() {
            if state.asks < self.asks {
                actions.extend(self.costs.iter().map(|cost| Action::Ask(at, *cost)));
            }
            actions.push(Action::Overdue(at));
            for (nth, flight) in side.flights.iter().enumerate() {
                actions.push(if flight.decision.is_none() { Action::Arrives(at, nth) } else { Action::Lands(at, nth) });
                if self.faults {
                    actions.push(Action::IsLost(at, nth));
                    actions.extend((!flight.is_late).then_some(Action::IsLate(at, nth)));
                }
            }
            match side.back {
                None if self.refunds && !state.refunded || self.ahead.is_some() => actions.push(Action::GivesBack(at)),
                None => {}
                Some((.., false)) => actions.extend([Action::BackArrives(at), Action::BackEnds(at)]),
                Some((.., true)) => actions.push(Action::BackEnds(at)),
            }
            if self.faults && self.ahead.is_some() {
                actions.push(Action::Crash(at));
            }
        }
    }

    fn after(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.clone();
        GONE.set(state.gone);
        match action {
            Action::Tick => {
                state.now += 1;
                self.slide(&mut state);
            }
            Action::ClockSteps => state.stepped = Some((self.step_ms? * 1_000, state.now)),
            Action::Reset => (state.key, state.reset) = (A::Key::default(), Some(state.now)),
            Action::Ask(at, cost) => self.ask(&mut state, at, cost),
            Action::HangsUp(caller) => state.gone |= 1 << caller,
            Action::Overdue(at) => {
                let next = state.sides[at].account.overdue(instant(state.now * TICK));
                state.seen.beside |= next.is_some();
                Self::send(&mut state, at, next);
            }
            Action::Arrives(at, nth) => self.arrives(&mut state, at, nth),
            Action::Lands(at, nth) => self.lands(&mut state, at, nth)?,
            Action::IsLate(at, nth) => self.is_over(&mut state, at, nth, false),
            Action::IsLost(at, nth) => self.is_over(&mut state, at, nth, true),
            Action::GivesBack(at) => self.gives_back(&mut state, at),
            Action::BackArrives(at) => {
                let now = self.clock(&state);
                let (units, charged_at, is_back) = state.sides[at].back.as_mut()?;
                *is_back = true;
                refund(&self.limit.of::<A>(), &mut state.key, now, *charged_at, *units);
                // Those of a grant were not used.
                if self.ahead.is_none() {
                    _ = state.used.pop();
                }
                state.sides.iter_mut().for_each(|side| side.early = true);
            }
            Action::BackEnds(at) => {
                let side = &mut state.sides[at];
                (side.back, side.early) = (None, false);
                side.account.forget();
            }
            Action::Crash(at) => {
                state.gone |= state.sides[at].callers;
                state.sides[at] = Side::default();
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
            Promise::<Self>::always("every request has at most one answer", |_, state| !state.seen.twice),
            Promise::<Self>::always("where no command is under way, every request has one", |_, state| {
                let is_quiet = state.sides.iter().all(|side| side.flights.is_empty());
                !is_quiet || (state.answered | state.gone) == (1 << state.asks) - 1
            }),
            Promise::<Self>::always("no unit is used twice", |_, state| !state.seen.unpaid),
            Promise::<Self>::always(denied_then, |_, state| !state.seen.denied_wrongly),
        ];
        // The windows of FIXED are those of the clock that steps.
        let is_stepped = self.is_aligned() && self.step_ms.is_some();
        if self.is_exact() && !is_stepped && !self.refunds && self.recheck.is_none() {
            promises.push(Promise::<Self>::always("no window has more units than the bound", |model, state| {
                state.used.len() as u64 <= model.bound()
            }));
        }
        if self.is_exact() && self.ahead.is_none() && self.step_ms.is_none() && self.costs == [1] && self.asks > 2 {
            promises.push(Promise::<Self>::reached("a window has as many units as the limit", |model, state| {
                state.used.len() as u64 >= model.limit.units
            }));
        }
        if self.faults {
            promises.push(Promise::<Self>::reached("a reply is late, and charged units", |_, state| state.seen.late));
        }
        if self.ahead.is_none() && self.asks > 3 && self.accounts == 1 && !self.refunds {
            promises.extend([
                Promise::<Self>::reached("some that share a command are allowed, some not", |_, state| {
                    state.seen.divided
                }),
                Promise::<Self>::reached("who has waited is sent beside", |_, state| state.seen.beside),
            ]);
        }
        if self.step_ms.is_some_and(|step| step > 0) {
            let text = "after the step, something is denied locally that the server would allow";
            promises.push(Promise::<Self>::reached(text, |_, state| state.seen.denied_after_step));
        }
        if self.recheck.is_some() {
            let text = "after a reset, a request that asks again is allowed";
            promises.push(Promise::<Self>::reached(text, |_, state| state.seen.allowed_again));
        }
        if self.costs != [1] {
            promises.push(Promise::<Self>::reached("something is denied locally", |_, state| state.seen.denied));
        }
        promises
    }
}

/// Checks what the client says of joined commands, grants and remembered denials.
pub fn check(size: Size, report: &mut Report) {
    fn model<A>(algorithm: Algorithm, units: u64, ticks: u64) -> Accounts<A> {
        Accounts {
            algorithm,
            limit: Limit { window_ms: 2, units },
            accounts: 1,
            costs: &[1],
            asks: 4,
            ticks,
            ahead: None,
            faults: false,
            refunds: false,
            step_ms: None,
            recheck: None,
            module: PhantomData,
        }
    }
    fn run<A: InMemory<Key: Eq + Hash>>(model: &Accounts<A>) -> Result<String, String> {
        let Accounts { algorithm, limit, accounts, costs, asks, ahead, faults, refunds, step_ms, recheck, .. } = model;
        let mut shape = format!("limit {}, accounts: {accounts}, {asks} requests of {costs:?}", limit.units);
        shape += &ahead.map_or_else(String::new, |units| format!(", grants of {units}"));
        shape += &step_ms.map_or_else(String::new, |step| format!(", the clock steps by {step} ms"));
        for (is_so, text) in
            [(*faults, ", faults"), (*refunds, ", refunds"), (recheck.is_some(), ", a reset is asked about")]
        {
            shape += if is_so { text } else { "" };
        }
        search::check(&format!("{}: {shape}", algorithm.word()), model)
    }
    let ticks = size.pick(2, 3);
    let rolling = |units, ticks| model::<RollingLog>(Algorithm::Rolling, units, ticks);
    // Joined commands.
    let joined = |units| Accounts { faults: true, asks: 3, ..rolling(units, ticks) };
    report.add(run(&joined(1)));
    report.add(run(&rolling(2, ticks)));
    report.add(run(&Accounts { accounts: 2, asks: 3, faults: false, ..joined(2) }));
    report.add(run(&Accounts { accounts: 3, asks: 3, faults: false, ..joined(1) }));
    report.add(run(&Accounts { faults: true, asks: 3, ..model::<FixedWindow>(Algorithm::Fixed, 2, ticks) }));
    report.add(run(&model::<SlidingLog>(Algorithm::Sliding, 2, ticks)));
    report.add(run(&model::<WindowCounter>(Algorithm::Window, 2, ticks)));
    report.add(run(&model::<TokenBucket>(Algorithm::Token, 2, ticks)));
    report.add(run(&model::<Gcra>(Algorithm::Gcra, 2, ticks)));
    report.add(run(&model::<SlidingCounter>(Algorithm::Counter, 2, ticks)));
    // Remembered denials of requests that cost different amounts.
    let costs = &[1, 2];
    let ticks = size.pick(3, 4);
    report.add(run(&Accounts { costs, refunds: true, asks: 3, ..rolling(2, ticks) }));
    let costs = &[2];
    report.add(run(&Accounts { costs, refunds: true, asks: 3, ..model::<FixedWindow>(Algorithm::Fixed, 2, ticks) }));
    report.add(run(&Accounts { costs, refunds: true, asks: 3, ..model::<TokenBucket>(Algorithm::Token, 2, ticks) }));
    report.add(run(&Accounts { costs, accounts: 2, asks: 4, ..rolling(2, ticks) }));
    for step in [2, -2] {
        let step_ms = Some(step);
        report.add(run(&Accounts { costs, step_ms, asks: 3, ..rolling(2, ticks) }));
        report.add(run(&Accounts { costs, step_ms, asks: 3, ..model::<FixedWindow>(Algorithm::Fixed, 2, ticks) }));
        report.add(run(&Accounts { costs, step_ms, asks: 3, ..model::<WindowCounter>(Algorithm::Window, 2, ticks) }));
    }
    // A denial holds for a millisecond less than the window.
    let limit = Limit { window_ms: 3, units: 1 };
    for recheck in [Some(0), Some(1)] {
        report.add(run(&Accounts { limit, recheck, asks: 3, ..rolling(1, ticks + 1) }));
    }
    // Grants.
    let granted = |units, ahead, ticks| Accounts { ahead: Some(ahead), faults: true, ..rolling(units, ticks) };
    let limit = Limit { window_ms: 3, units: 2 };
    report.add(run(&Accounts { limit, asks: 4, faults: false, ..granted(2, 2, size.pick(6, 7)) }));
    report.add(run(&Accounts { limit, asks: 3, ..granted(2, 2, size.pick(2, 3)) }));
    report.add(run(&Accounts { accounts: 2, asks: 4, faults: false, ..granted(2, 1, ticks) }));
    let fixed = model::<FixedWindow>(Algorithm::Fixed, 2, ticks);
    report.add(run(&Accounts { accounts: 2, ahead: Some(2), ..fixed }));
}
