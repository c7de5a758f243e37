//! Reservations: clients charge an estimate under an id and settle it later, once, late or never.
//!
//! Each call may be lost, may arrive twice, and may be sent again until its reply is there. What the module counts is
//! compared with a list of charges that knows each by itself.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::marker::PhantomData;

use redis_rl_algorithm::in_memory::{self, InMemory};
use redis_rl_algorithm::reservation::EARLIEST;
use redis_rl_algorithm::{Change, Cost, FixedWindow, Micros, RollingLog, SlidingCounter, Window, WindowCounter};

use crate::search::{self, Model, Promise};
use crate::server::{Limit, server_time};
use crate::{Report, Size};

/// Clients that share a limit, each with one id.
#[derive(Clone, Debug)]
pub struct Reservations<A> {
    pub span: Span,
    pub limit: Limit,
    pub ttl_ms: u64,
    /// What each client estimates, and what its work costs then.
    pub costs: Vec<(u64, u64)>,
    /// After how many milliseconds a run ends.
    pub millis: u64,
    /// Whether a copy of RESERVE may arrive after its client has sent the settlement.
    pub late_copies: bool,
    /// By how many milliseconds the server's clock may step, once.
    pub step_ms: Option<i64>,
    pub module: PhantomData<A>,
}

/// What a charge counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// FIXED: the window that the clock is in.
    Aligned,
    /// COUNTER: that window, and the next one in part.
    Weighted,
    /// WINDOW: the window that begins with the first charge.
    First,
    /// ROLLING: any window.
    Any,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State<K> {
    now: u64,
    /// What the server's clock has stepped by, in milliseconds.
    stepped: i64,
    key: K,
    fields: BTreeMap<Vec<u8>, Vec<u8>>,
    expires_at: Option<u64>,
    clients: Vec<Client>,
    charges: Vec<Charge>,
    /// A call that was executed twice in a row did more than once.
    twice: bool,
    /// A reply differed from what the list of charges says.
    wrong: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Client {
    phase: Phase,
    /// A copy of the call is on its way.
    reserve: bool,
    settle: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Phase {
    #[default]
    New,
    /// It waits for the reply to RESERVE.
    Asked,
    Working,
    /// It waits for the reply to the settlement.
    Settling,
    /// It is done, was denied, or died.
    Done,
}

/// One charge. Times are those of the server's clock in milliseconds, but for `since`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Charge {
    client: usize,
    /// When it was charged, as nothing that steps measures it.
    since: u64,
    at: u64,
    units: u64,
    /// Units of it that were charged whatever the limit said.
    beyond: u64,
    /// When it leaves its window, and when a correction comes too late.
    counts_until: u64,
    corrected_until: u64,
    ends_at: u64,
    phase: ChargePhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ChargePhase {
    Open,
    /// Given back by itself. It can be settled.
    Ended,
    /// Settled, or it cannot be settled any more.
    Final,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes.
    Tick,
    /// The server's clock steps.
    ClockSteps,
    /// A client sends RESERVE, or sends it again as there is no reply.
    Reserves(usize),
    ReserveArrives(usize, Arrival),
    ReserveIsLost(usize),
    /// A client sends the settlement, or sends it again.
    Settles(usize),
    SettleArrives(usize, Arrival),
    SettleIsLost(usize),
    /// A client dies.
    Dies(usize),
}

/// What becomes of a call that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The client gets the reply.
    Replied,
    /// The client gets the reply, and another copy of the call is on its way.
    RepliedAndCopied,
    /// The reply is lost.
    ReplyLost,
}

const ARRIVALS: [Arrival; 3] = [Arrival::Replied, Arrival::RepliedAndCopied, Arrival::ReplyLost];

impl<A: InMemory<Key: Eq + Hash>> Reservations<A> {
    fn clock(state: &State<A::Key>) -> Micros {
        // A day, so that a clock that steps back does not reach the beginning.
        server_time((86_400_000 + state.now).saturating_add_signed(state.stepped) * 1_000)
    }

    fn stored(state: &State<A::Key>) -> in_memory::Limit<A> {
        let State { key, fields, expires_at, .. } = state.clone();
        in_memory::Limit { key, fields, expires_at }
    }

    fn store(state: &mut State<A::Key>, stored: in_memory::Limit<A>) {
        (state.key, state.fields, state.expires_at) = (stored.key, stored.fields, stored.expires_at);
    }

    fn window(&self, at: u64) -> u64 {
        at / self.limit.window_ms
    }

    /// Gives back what has ended, in the list.
    fn give_back(&self, charges: &mut Vec<Charge>, clock: u64) {
        for charge in charges.iter_mut() {
            if charge.phase == ChargePhase::Open && charge.ends_at <= clock {
                charge.phase = ChargePhase::Ended;
                if clock < charge.corrected_until {
                    (charge.units, charge.beyond) = (0, 0);
                }
            }
            if charge.phase == ChargePhase::Ended && charge.ends_at + self.ttl_ms <= clock {
                charge.phase = ChargePhase::Final;
            }
        }
        charges.retain(|charge| charge.phase != ChargePhase::Final || clock < charge.counts_until);
    }

    /// The call with RESERVE. Whether it is allowed.
    fn reserve(&self, state: &mut State<A::Key>, client: usize) -> bool {
        let (algorithm, clock) = (self.limit.of::<A>(), Self::clock(state));
        let ttl = Window::from_millis(self.ttl_ms).expect("a window");
        let estimate = Cost::new(self.costs[client].0).expect("a cost");
        let mut stored = Self::stored(state);
        let send = |stored: &mut in_memory::Limit<A>| {
            stored.reserve(&algorithm, clock, &[client as u8], ttl, estimate).expect("small numbers")
        };
        let reply = send(&mut stored);
        let counts_until = algorithm.counts_until(algorithm.state(&stored.key, clock), &Change::Keep, clock);
        Self::store(state, stored);
        let mut again = Self::stored(state);
        if reply.reply.verdict.allowed {
            let repeated = send(&mut again);
            state.twice |= !repeated.repeated || repeated.charged != reply.charged;
        }
        state.twice |= algorithm.remaining(&again.key, clock) != algorithm.remaining(&state.key, clock);
        state.twice |= again.fields != state.fields;

        let clock = clock.millis();
        self.give_back(&mut state.charges, clock);
        let same = |charge: &&mut Charge| charge.client == client && charge.phase != ChargePhase::Final;
        let known = state.charges.iter_mut().find(same);
        match known {
            Some(open) if open.phase == ChargePhase::Open => {
                open.ends_at = open.ends_at.max(clock + self.ttl_ms);
                state.wrong |= !reply.repeated || reply.charged != open.units;
            }
            ended => {
                state.wrong |= reply.repeated;
                if reply.reply.verdict.allowed {
                    if let Some(mark) = ended {
                        mark.phase = ChargePhase::Final;
                    }
                    let (units, ends_at) = (estimate.units(), clock + self.ttl_ms);
                    state.charges.push(Charge {
                        client,
                        since: state.now,
                        at: clock,
                        units,
                        beyond: 0,
                        counts_until,
                        corrected_until: counts_until,
                        ends_at,
                        phase: ChargePhase::Open,
                    });
                }
            }
        }
        reply.reply.verdict.allowed
    }

    fn settle(&self, state: &mut State<A::Key>, client: usize) {
        let (algorithm, clock) = (self.limit.of::<A>(), Self::clock(state));
        let actual = Cost::new(self.costs[client].1).expect("a cost");
        let mut stored = Self::stored(state);
        let send = |stored: &mut in_memory::Limit<A>| {
            stored.settle(&algorithm, clock, &[client as u8], actual).expect("small numbers")
        };
        let charged = send(&mut stored);
        Self::store(state, stored);
        let mut again = Self::stored(state);
        state.twice |= send(&mut again) != 0 || again.key != state.key || again.fields != state.fields;

        let clock = clock.millis();
        self.give_back(&mut state.charges, clock);
        let running = state.charges.iter().find(|charge| charge.units > 0 && clock < charge.counts_until);
        let running = running.map(|charge| charge.counts_until);
        let same = |charge: &&mut Charge| charge.client == client && charge.phase != ChargePhase::Final;
        let known = state.charges.iter_mut().find(same);
        state.wrong |= charged != known.as_ref().map_or(0, |_| actual.units());
        if let Some(charge) = known {
            charge.phase = ChargePhase::Final;
            if clock < charge.corrected_until {
                if actual.units() > charge.units && self.span == Span::First {
                    charge.counts_until = running.unwrap_or(charge.corrected_until);
                }
                charge.beyond = actual.units().saturating_sub(charge.units);
                charge.units = actual.units();
            }
        }
        state.charges.retain(|charge| charge.phase != ChargePhase::Final || clock < charge.counts_until);
    }

    /// What the list counts, in parts of a unit: `window_ms` to the unit.
    fn counted(&self, state: &State<A::Key>) -> u64 {
        let (clock, window) = (Self::clock(state).millis(), self.limit.window_ms);
        let weight = |charge: &Charge| match self.span {
            Span::Weighted if self.window(charge.at) < self.window(clock) => window - clock % window,
            _ => window,
        };
        let charges = state.charges.iter().filter(|charge| clock < charge.counts_until);
        charges.map(|charge| charge.units * weight(charge)).sum()
    }

    /// Whether the key and the list count the same.
    fn agrees(&self, state: &State<A::Key>) -> bool {
        let (algorithm, clock) = (self.limit.of::<A>(), Self::clock(state));
        let mut key = state.key.clone();
        A::expire(&mut key, clock);
        let counted = self.counted(state).div_ceil(self.limit.window_ms);
        algorithm.remaining(&key, clock) == self.limit.units.saturating_sub(counted)
    }

    /// The charges in the window, of the server's clock and of one that does not step.
    fn in_window<'s>(&self, state: &'s State<A::Key>) -> impl Iterator<Item = &'s Charge> {
        let (clock, length, now, span) = (Self::clock(state).millis(), self.limit.window_ms, state.now, self.span);
        state.charges.iter().filter(move |charge| {
            let here = match span {
                Span::Aligned | Span::Weighted => charge.at / length == clock / length,
                Span::First | Span::Any => now < charge.since + length,
            };
            here && clock < charge.counts_until
        })
    }

    /// The units in the window, and those of them that were charged whatever the limit said.
    fn units(&self, state: &State<A::Key>) -> (u64, u64) {
        let charges = self.in_window(state);
        charges.fold((0, 0), |(units, beyond), charge| (units + charge.units, beyond + charge.beyond))
    }

    /// The most units that a window may have, but for what is charged whatever the limit says.
    fn bound(&self) -> u64 {
        // FIXED opens a window again that the clock steps back into after its counter expired.
        let again = self.span == Span::Aligned && self.step_ms.is_some_and(|step| step < 0);
        self.limit.units * if again { 2 } else { 1 }
    }

    /// Whether nothing of it is left once every window and every ttl is over, which the next call sees.
    fn all_back(&self, state: &State<A::Key>) -> bool {
        let algorithm = self.limit.of::<A>();
        let step = state.stepped.unsigned_abs();
        let mut stored = Self::stored(state);
        let over = Self::clock(state).plus((2 * self.limit.window_ms + 2 * self.ttl_ms + step) * 1_000);
        stored.settle(&algorithm, over, b"unknown", Cost::ONE) == Ok(0)
            && stored.fields.is_empty()
            && algorithm.remaining(&stored.key, over) == self.limit.units
    }

    /// Whether every open reservation is given back once its ttl is over, which the next call sees.
    fn all_end(&self, state: &State<A::Key>) -> bool {
        let step = state.stepped.min(0).unsigned_abs();
        let mut stored = Self::stored(state);
        let over = Self::clock(state).plus((self.ttl_ms + step) * 1_000);
        let settled = stored.settle(&self.limit.of::<A>(), over, b"unknown", Cost::ONE);
        let mut fields = stored.fields.iter().filter(|(id, _)| *id != EARLIEST);
        // A mark has no cost.
        settled == Ok(0) && fields.all(|(_, text)| text.starts_with(b":"))
    }

    /// How many charges of a client are in the window that were not given back.
    fn charged(&self, state: &State<A::Key>, client: usize) -> usize {
        let holds = |charge: &&Charge| charge.client == client && charge.units > 0;
        self.in_window(state).filter(holds).count()
    }
}

impl<A: InMemory<Key: Eq + Hash>> Model for Reservations<A> {
    type State = State<A::Key>;
    type Action = Action;

    fn begin(&self) -> Self::State {
        State { clients: vec![Client::default(); self.costs.len()], ..State::default() }
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        if state.now < self.millis {
            actions.push(Action::Tick);
        }
        if self.step_ms.is_some() && state.stepped == 0 {
            actions.push(Action::ClockSteps);
        }
        for (at, client) in state.clients.iter().enumerate() {
            if matches!(client.phase, Phase::New | Phase::Asked) && !client.reserve {
                actions.push(Action::Reserves(at));
            }
            if matches!(client.phase, Phase::Working | Phase::Settling) && !client.settle {
                actions.push(Action::Settles(at));
            }
            if client.reserve {
                actions.push(Action::ReserveIsLost(at));
                actions.extend(ARRIVALS.map(|arrival| Action::ReserveArrives(at, arrival)));
            }
            if client.settle {
                actions.push(Action::SettleIsLost(at));
                actions.extend(ARRIVALS.map(|arrival| Action::SettleArrives(at, arrival)));
            }
            if client.phase != Phase::Done {
                actions.push(Action::Dies(at));
            }
        }
    }

    fn after(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.clone();
        match action {
            Action::Tick => state.now += 1,
            Action::ClockSteps => state.stepped = self.step_ms?,
            Action::Reserves(at) => (state.clients[at].phase, state.clients[at].reserve) = (Phase::Asked, true),
            Action::ReserveArrives(at, arrival) => {
                let allowed = self.reserve(&mut state, at);
                let client = &mut state.clients[at];
                client.reserve = arrival == Arrival::RepliedAndCopied;
                if client.phase == Phase::Asked && arrival != Arrival::ReplyLost {
                    client.phase = if allowed { Phase::Working } else { Phase::Done };
                }
            }
            Action::ReserveIsLost(at) => state.clients[at].reserve = false,
            Action::Settles(at) => {
                let client = &mut state.clients[at];
                (client.phase, client.settle) = (Phase::Settling, true);
                client.reserve &= self.late_copies;
            }
            Action::SettleArrives(at, arrival) => {
                self.settle(&mut state, at);
                let client = &mut state.clients[at];
                client.settle = arrival == Arrival::RepliedAndCopied;
                if client.phase == Phase::Settling && arrival != Arrival::ReplyLost {
                    client.phase = Phase::Done;
                }
            }
            Action::SettleIsLost(at) => state.clients[at].settle = false,
            Action::Dies(at) => state.clients[at].phase = Phase::Done,
        }
        (state != *last).then_some(state)
    }

    fn promises(&self) -> Vec<Promise<Self>> {
        let mut promises = vec![
            Promise::<Self>::always(
                "no window has more units than the limit and what is charged whatever it says",
                |model, state| {
                    let (units, beyond) = model.units(state);
                    units <= model.bound() + beyond
                },
            ),
            Promise::<Self>::always("a call that arrives twice changes nothing more", |_, state| !state.twice),
            Promise::<Self>::always("every reservation ends after its ttl", |model, state| model.all_end(state)),
            Promise::<Self>::always("every unit is back, and no field is left", |model, state| model.all_back(state)),
            Promise::<Self>::reached("a window has as many units as the limit", |model, state| {
                model.units(state) == (model.limit.units, 0)
            }),
        ];
        if self.step_ms.is_none() {
            promises.push(Promise::<Self>::always(
                "what is counted is the estimate of each open reservation and the cost of each settled one",
                |model, state| !state.wrong && model.agrees(state),
            ));
        }
        if self.step_ms.is_none() && self.costs.len() > 1 {
            promises.push(Promise::<Self>::reached(
                "a settlement after the ttl charges beyond the limit",
                |model, state| model.units(state).0 > model.limit.units,
            ));
        }
        let once = |model: &Self, state: &Self::State| {
            (0..state.clients.len()).all(|client| model.charged(state, client) <= 1)
        };
        if self.late_copies {
            promises.push(Promise::<Self>::reached(
                "a copy of RESERVE that arrives after the settlement is charged once more",
                |model, state| (0..state.clients.len()).any(|client| model.charged(state, client) > 1),
            ));
        } else if self.step_ms.is_none_or(|step| step > 0) {
            promises.push(Promise::<Self>::always("no window has two charges of an id", once));
        }
        promises
    }
}

/// Checks what docs/commands.md says of RESERVE.
pub fn check(size: Size, report: &mut Report) {
    fn run<A: InMemory<Key: Eq + Hash>>(name: &str, model: &Reservations<A>) -> Result<String, String> {
        let (clients, units) = (model.costs.len(), model.limit.units);
        search::check(&format!("{name}, {clients} clients, a limit of {units}, a ttl of {} ms", model.ttl_ms), model)
    }
    fn all<A: InMemory<Key: Eq + Hash>>(word: &str, span: Span, size: Size, report: &mut Report) {
        let model = |late_copies, step_ms: Option<i64>| {
            let (limit, costs) = (Limit { window_ms: 3, units: 2 }, vec![(2, 1), (1, 2)]);
            let millis = if step_ms.is_some() { size.pick(3, 4) } else { size.pick(4, 5) };
            Reservations::<A> { span, limit, ttl_ms: 2, costs, millis, late_copies, step_ms, module: PhantomData }
        };
        report.add(run(word, &model(false, None)));
        report.add(run(&format!("{word}, the clock steps back by a window"), &model(false, Some(-3))));
        report.add(run(&format!("{word}, the clock steps forward by a window"), &model(false, Some(3))));
        let late = Reservations { costs: vec![(1, 1)], ..model(true, None) };
        report.add(run(&format!("{word}, late copies"), &late));
        if size == Size::Large {
            report.add(run(word, &Reservations { ttl_ms: 4, ..model(false, None) }));
        }
    }
    all::<FixedWindow>("FIXED", Span::Aligned, size, report);
    all::<WindowCounter>("WINDOW", Span::First, size, report);
    all::<SlidingCounter>("COUNTER", Span::Weighted, size, report);
    all::<RollingLog>("ROLLING", Span::Any, size, report);
}
