//! Leases: holders that renew theirs, messages that come late, twice or never, holders that die, a clock that steps.
//!
//! The state machine of a holder is the client's [`Term`].

use redis_rl_algorithm::in_memory::Holders;
use redis_rl_algorithm::{Lease, Micros};
use redis_rl_client::state_machines::{Renewal, Term};

use crate::search::{self, Model, Promise};
use crate::server::{Limit, instant, server_time};
use crate::{Report, Size};

/// The length of a step of time, in microseconds.
const TICK: u64 = 1_000;

/// Clients that want a lease.
#[derive(Clone, Debug)]
pub struct Leases {
    pub limit: Limit,
    pub clients: usize,
    /// After how many steps a run ends.
    pub ticks: u64,
    /// How many leases a client asks for, one after another. Each has an id of its own.
    pub leases: u8,
    /// By how many milliseconds the server's clock may step, once.
    pub step_ms: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// Steps since the beginning.
    now: u64,
    /// What the server's clock has stepped by, in microseconds, and when.
    stepped: Option<(i64, u64)>,
    key: Holders,
    clients: Vec<Client>,
    /// A lease was lost, and then it was not.
    revived: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Client {
    /// Leases asked for so far; the last one is the current.
    asked: u8,
    holder: Holder,
    /// A call about the current lease that is under way, and when it was sent.
    call: Option<(Call, u64)>,
    /// Its reply, on its way.
    reply: Option<(Call, u64, bool)>,
    /// A release of an earlier lease that the server may still get.
    releasing: Option<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Holder {
    #[default]
    Without,
    Asking,
    Holding {
        term: Term,
        /// When it is renewed next.
        renews_at: u64,
        seen_lost: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    Take,
    Renew,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes.
    Tick,
    /// The server's clock steps.
    ClockSteps,
    /// A client sends RL.LEASE.
    Takes(usize),
    /// A client sends RL.RENEW; it is due.
    Renews(usize),
    /// The server gets the call of a client, and replies.
    CallArrives(usize),
    /// The server gets it, and will get it again.
    CallArrivesAndRepeats(usize),
    /// The client gets the reply.
    ReplyArrives(usize),
    /// The client waits no longer for the reply; the server may still get the call.
    TimesOut(usize),
    /// The call is lost.
    CallIsLost(usize),
    /// A client is ready, and sends RL.RELEASE.
    Releases(usize),
    /// The server gets RL.RELEASE.
    ReleaseArrives(usize),
    /// A client dies.
    Dies(usize),
}

fn id(client: usize, lease: u8) -> [u8; 2] {
    [client as u8, lease]
}

impl State {
    fn clock(&self) -> Micros {
        let stepped = self.stepped.map_or(0, |(by, _)| by);
        server_time((86_400_000_000 + self.now * TICK).saturating_add_signed(stepped))
    }

    /// How many clients work because they hold a lease.
    fn working(&self) -> usize {
        let now = instant(self.now * TICK);
        let works = |client: &&Client| matches!(&client.holder, Holder::Holding { term, .. } if !term.is_lost(now));
        self.clients.iter().filter(works).count()
    }

    /// Notes which leases are lost, as a client that looks at any time would.
    fn look(&mut self) {
        let now = instant(self.now * TICK);
        for client in &mut self.clients {
            if let Holder::Holding { term, seen_lost, .. } = &mut client.holder {
                let lost = term.is_lost(now);
                self.revived |= *seen_lost && !lost;
                *seen_lost |= lost;
            }
        }
    }
}

impl Leases {
    /// The server executes the call of a client.
    fn execute(&self, state: &mut State, at: usize, call: Call) -> bool {
        let (now, lease) = (state.clock(), Lease::new(&self.limit.policy()));
        let id = id(at, state.clients[at].asked);
        match call {
            Call::Take => state.key.request(&lease, &id, now).verdict.allowed,
            Call::Renew => state.key.renew(self.limit.policy().window(), &id, now),
        }
    }

    /// The client takes in how its call ended.
    fn deliver(&self, client: &mut Client, now: u64, sent: u64, call: Call, renewal: Renewal) {
        let window = std::time::Duration::from_millis(self.limit.window_ms);
        let in_steps = |pause: std::time::Duration| now + (pause.as_micros() as u64).div_ceil(TICK);
        match (&mut client.holder, call) {
            (Holder::Asking, Call::Take) if renewal == Renewal::Held => {
                let term = Term::new(window, instant(sent * TICK));
                let renews_at = in_steps(term.first_pause(instant(now * TICK)));
                client.holder = Holder::Holding { term, renews_at, seen_lost: false };
            }
            (Holder::Asking, Call::Take) => {
                client.holder = Holder::Without;
                if renewal == Renewal::Unknown {
                    // The server may have taken the lease after all.
                    client.releasing = Some(client.asked);
                }
            }
            (Holder::Holding { term, renews_at, .. }, Call::Renew) => {
                // A lost lease is not renewed again.
                let next = term.renewed(instant(sent * TICK), renewal, instant(now * TICK));
                *renews_at = next.map_or(u64::MAX, in_steps);
            }
            _ => {}
        }
    }
}

impl Model for Leases {
    type State = State;
    type Action = Action;

    fn begin(&self) -> State {
        State { clients: vec![Client::default(); self.clients], ..State::default() }
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.now < self.ticks {
            actions.push(Action::Tick);
        }
        if self.step_ms.is_some() && state.stepped.is_none() {
            actions.push(Action::ClockSteps);
        }
        for (at, client) in state.clients.iter().enumerate() {
            match &client.holder {
                // The next lease has another id, so a call about the last one no longer concerns it.
                Holder::Without if client.asked < self.leases && client.releasing.is_none() => {
                    actions.push(Action::Takes(at));
                }
                Holder::Holding { renews_at, .. } => {
                    actions.extend([Action::Releases(at), Action::Dies(at)]);
                    if state.now >= *renews_at && client.call.is_none() && client.reply.is_none() {
                        actions.push(Action::Renews(at));
                    }
                }
                Holder::Without | Holder::Asking => {}
            }
            if client.call.is_some() {
                actions.extend([
                    Action::CallArrives(at),
                    Action::CallArrivesAndRepeats(at),
                    Action::CallIsLost(at),
                    Action::TimesOut(at),
                ]);
            }
            if client.reply.is_some() {
                actions.extend([Action::ReplyArrives(at), Action::TimesOut(at)]);
            }
            if client.releasing.is_some() {
                actions.push(Action::ReleaseArrives(at));
            }
        }
    }

    fn after(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let now = state.now;
        match action {
            Action::Tick => state.now += 1,
            Action::ClockSteps => state.stepped = Some((self.step_ms? * 1_000, now)),
            Action::Takes(at) => {
                let client = &mut state.clients[at];
                *client = Client { asked: client.asked + 1, holder: Holder::Asking, ..Client::default() };
                client.call = Some((Call::Take, now));
            }
            Action::Renews(at) => state.clients[at].call = Some((Call::Renew, now)),
            Action::CallArrives(at) | Action::CallArrivesAndRepeats(at) => {
                let (call, sent) = state.clients[at].call?;
                let held = self.execute(&mut state, at, call);
                let client = &mut state.clients[at];
                if action == Action::CallArrives(at) {
                    client.call = None;
                }
                // Nobody waits for a reply to a call that timed out.
                if sent != u64::MAX {
                    client.reply = Some((call, sent, held));
                }
            }
            Action::ReplyArrives(at) => {
                let (call, sent, held) = state.clients[at].reply.take()?;
                // A repetition that is still on its way is not waited for.
                if let Some((_, sent)) = &mut state.clients[at].call {
                    *sent = u64::MAX;
                }
                let renewal = if held { Renewal::Held } else { Renewal::Gone };
                self.deliver(&mut state.clients[at], now, sent, call, renewal);
            }
            Action::TimesOut(at) => {
                let client = &mut state.clients[at];
                let waited = client.reply.take().map(|(call, sent, _)| (call, sent)).or(client.call);
                let (call, sent) = waited.filter(|&(_, sent)| sent != u64::MAX)?;
                if let Some((_, sent)) = &mut client.call {
                    *sent = u64::MAX;
                }
                self.deliver(client, now, sent, call, Renewal::Unknown);
            }
            Action::CallIsLost(at) => {
                let client = &mut state.clients[at];
                let (call, sent) = client.call.take()?;
                if sent != u64::MAX && client.reply.is_none() {
                    self.deliver(client, now, sent, call, Renewal::Unknown);
                }
            }
            Action::Releases(at) => {
                let client = &mut state.clients[at];
                (client.holder, client.releasing, client.reply) = (Holder::Without, Some(client.asked), None);
            }
            Action::ReleaseArrives(at) => {
                let (clock, lease) = (state.clock(), state.clients[at].releasing.take()?);
                state.key.release(&id(at, lease), clock);
            }
            Action::Dies(at) => {
                let asked = state.clients[at].asked;
                state.clients[at] = Client { asked, ..Client::default() };
            }
        }
        state.look();
        (state != *last).then_some(state)
    }

    fn promises(&self) -> Vec<Promise<Self>> {
        let mut promises = vec![
            Promise::<Self>::always("a lease that was lost stays lost", |_, state| !state.revived),
            Promise::<Self>::always("every lease ends within a window, and the step of a clock that steps back", {
                |model, state| {
                    let back = state.stepped.map_or(0, |(by, _)| by.min(0).unsigned_abs() / 1_000);
                    let last = state.clock().millis() + model.limit.window_ms + back;
                    state.key.ends.values().all(|&end| end <= last)
                }
            }),
            Promise::<Self>::reached("every slot is held", |model, state| state.working() as u64 == model.limit.units),
        ];
        if self.step_ms.is_some_and(|step| step > 0) {
            promises.extend([
                Promise::<Self>::always(
                    "more work than the limit only within a window after the step",
                    |model, state| {
                        let since = state.stepped.map_or(u64::MAX, |(_, at)| state.now - at);
                        state.working() as u64 <= model.limit.units || since * TICK < model.limit.window_ms * 1_000
                    },
                ),
                Promise::<Self>::reached("more work than the limit, to the end of that window", |model, state| {
                    let since = state.stepped.map_or(u64::MAX, |(_, at)| state.now - at);
                    state.working() as u64 > model.limit.units && (since + 1) * TICK == model.limit.window_ms * 1_000
                }),
            ]);
        } else {
            promises.push(Promise::<Self>::always("never more work than the limit", |model, state| {
                state.working() as u64 <= model.limit.units
            }));
        }
        promises
    }
}

/// Checks what docs/algorithms.md says of LEASE.
pub fn check(size: Size, report: &mut Report) {
    let limit = |units| Limit { window_ms: 3, units };
    let model = |units, clients, step_ms| {
        let ticks = size.pick(4, 5);
        Leases { limit: limit(units), clients, ticks, leases: 1, step_ms }
    };
    report.add(search::check("LEASE, 1 slot for 2 clients", &model(1, 2, None)));
    report.add(search::check("LEASE, the clock steps forward by a window", &model(1, 2, Some(3))));
    report.add(search::check("LEASE, the clock steps back by a window", &model(1, 2, Some(-3))));
    if size == Size::Large {
        let again = Leases { leases: 2, ..model(1, 2, None) };
        report.add(search::check("LEASE, 1 slot for 2 clients, twice", &again));
    }
}
