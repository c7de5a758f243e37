//! Sends the commands of accounts. Each is a task of its own and carries those who wait for it, so that no caller's end stops
//! it or leaves a key without a next command.

use std::sync::Arc;
use std::time::{Duration, Instant};

use scopeguard::ScopeGuard;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::Limiter;
use crate::account::{Asked, Command, Form, PART, Sent};
use crate::accounts::Answer;
use crate::core::Core;
use crate::decision::Decision;
use crate::error::Error;
use crate::key::State;
use crate::link::within;
use crate::policy::Request;
use crate::protocol::{Call, Verb, reply};

/// For how long a reply is waited for that comes after the time limit: it still says what was charged.
const LATE: Duration = Duration::from_secs(1);
/// How often it is looked whether what is under way has brought something to give back.
const PAUSE: Duration = Duration::from_millis(5);

/// A request that has begun.
#[expect(clippy::large_enum_variant, reason = "it is used at once")]
pub(super) enum Asking {
    Known(Decision),
    Waits(Waiting),
    /// It is sent by itself.
    Alone(Sent),
}

/// A request whose command has others to carry too.
pub(super) struct Waiting {
    answer: oneshot::Receiver<Result<Decision, Error>>,
    /// Its command is not sent yet.
    is_next: bool,
    is_granted: bool,
}

/// A command under way. Its callers get an error where its task ends without a reply.
pub(super) struct Flight {
    core: Arc<Core>,
    state: State<'static>,
    form: Form,
    units: u64,
    command: Option<Command<Answer>>,
}

impl Flight {
    fn new(core: &Arc<Core>, state: &State<'_>, command: Command<Answer>) -> Self {
        let (form, units) = (command.form, command.units);
        Self { core: Arc::clone(core), state: state.clone().kept(), form, units, command: Some(command) }
    }

    /// It is written now. Whether anybody waits for it.
    fn is_wanted(&mut self) -> bool {
        let Some(command) = &mut self.command else { return false };
        let is_wanted = command.is_wanted();
        self.units = command.units;
        is_wanted
    }

    /// The next command of the same key.
    fn next(&self, next: Option<Command<Answer>>) -> Vec<Self> {
        next.into_iter().map(|command| Self::new(&self.core, &self.state, command)).collect()
    }

    /// Its time limit is over. The next command.
    fn late(&mut self) -> Vec<Self> {
        let Some(command) = &mut self.command else { return Vec::new() };
        let now = Instant::now();
        let (callers, next) = self.core.accounts.with(&self.state, now, |entry| entry.account.late(command, now));
        answer(callers, &Error::Timeout(self.core.timeout));
        self.next(next)
    }

    /// It has a reply. The next command, and whether a task is needed that gives back what is kept.
    fn landed(&mut self, reply: &Decision) -> (Vec<Self>, bool) {
        let Some(command) = self.command.take() else { return (Vec::new(), false) };
        let (now, accounts) = (Instant::now(), &self.core.accounts);
        let (recheck, ahead) = (accounts.recheck, self.form.ahead);
        let ((answers, next), keeps) = accounts.with(&self.state, now, |entry| {
            let landed = entry.account.landed(command, reply, recheck, now);
            entry.note(reply, now);
            let keeps = ahead.is_some_and(|ahead| entry.account.gives_back_at(now, ahead.hold).is_some());
            (landed, keeps && !std::mem::replace(&mut entry.is_kept, true))
        });
        if ahead.is_some() {
            self.core.decided(reply.allowed);
        }
        self.core.server.set_clock(reply.now_ms);
        // Who has left gets its units too.
        answers.into_iter().for_each(|(Answer(answer), decision)| _ = answer.send(Ok(decision)));
        (self.next(next), keeps)
    }

    /// It has none, or an error. The next command.
    fn lost(&mut self, error: &Error) -> Vec<Self> {
        let Some(command) = self.command.take() else { return Vec::new() };
        let now = Instant::now();
        let (callers, next) = self.core.accounts.with(&self.state, now, |entry| entry.account.lost(command, now));
        answer(callers, error);
        self.next(next)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        // The runtime ends: those that wait get errors too.
        drop(self.lost(&Error::CircuitOpen));
    }
}

fn answer(callers: Vec<Answer>, error: &Error) {
    callers.into_iter().for_each(|Answer(answer)| _ = answer.send(Err(error.clone())));
}

impl Limiter {
    /// Begins a request: what is known of it, or what it waits for. Adds commands that are to be sent.
    pub(super) fn begin(&self, request: &Request<'_>, form: Option<&Form>, flights: &mut Vec<Flight>) -> Asking {
        let (key, now) = (request.bounded_key(), Instant::now());
        let (state, mut waiting) = (State::new(request.policy, &key), None);
        let caller = || {
            let (sender, answer) = oneshot::channel();
            waiting = Some(answer);
            Answer(sender)
        };
        let (asked, is_next) = self.core.accounts.with(&state, now, |entry| {
            let asked = entry.account.ask(request, form, now, self.timeout, caller);
            (asked, entry.account.has_waiting())
        });
        let is_granted = form.is_some_and(|form| form.ahead.is_some());
        let (begun, next) = match (asked, waiting) {
            (Asked::Known(decision, next), _) => {
                self.core.count_known(&decision);
                (Asking::Known(decision), next)
            }
            (Asked::Waits(next), Some(answer)) => (Asking::Waits(Waiting { answer, is_next, is_granted }), next),
            (Asked::Waits(next), None) => (Asking::Known(Decision::unchecked(request.policy)), next),
            (Asked::Alone(sent), _) => return Asking::Alone(sent),
        };
        flights.extend(next.map(|command| Flight::new(&self.core, &state, command)));
        begun
    }

    /// Checks a request, without a fallback.
    pub(crate) async fn ask(&self, request: &Request<'_>, form: Option<&Form>) -> Result<Decision, Error> {
        let key = request.bounded_key();
        let request = &request.with_bounded(&key);
        if self.timeout.is_zero() {
            return self.core.known(request, form).ok_or_else(|| self.failed(Error::Timeout(self.timeout)));
        }
        let mut flights = Vec::new();
        let begun = self.begin(request, form, &mut flights);
        self.fly(flights);
        match begun {
            Asking::Known(decision) => Ok(decision),
            Asking::Waits(waiting) => self.wait_for(request, waiting).await,
            Asking::Alone(sent) => {
                let begun = self.core.begun(request, sent);
                let reply = self.call(Call::of(Verb::Check, request)).await;
                self.core.learned(begun, reply)
            }
        }
    }

    /// Waits for the decision on a request that shares a command.
    pub(super) async fn wait_for(&self, request: &Request<'_>, waiting: Waiting) -> Result<Decision, Error> {
        let (core, Waiting { mut answer, is_next, is_granted }) = (&self.core, waiting);
        let unended = core.unended(1);
        let answered = if is_next {
            // A part of the time limit is for its command.
            match timeout(self.timeout / PART, &mut answer).await {
                Ok(answered) => Some(answered),
                Err(_) => {
                    self.send_beside(request);
                    within(self.timeout - self.timeout / PART, answer).await
                }
            }
        } else {
            Some(answer.await)
        };
        ScopeGuard::into_inner(unended);
        let answered = match answered {
            // The command has answered, or its task has ended with the runtime.
            Some(answered) => answered.unwrap_or(Err(Error::CircuitOpen)),
            None => Err(Error::Timeout(self.timeout)),
        };
        match answered {
            Ok(decision) => {
                if is_granted {
                    core.counters.granted.increment()
                } else {
                    core.decided(decision.allowed)
                }
                Ok(decision)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Sends a command for those that wait, beside the others.
    fn send_beside(&self, request: &Request<'_>) {
        let (key, now) = (request.bounded_key(), Instant::now());
        let state = State::new(request.policy, &key);
        let next = self.core.accounts.with(&state, now, |entry| entry.account.overdue(now));
        self.fly(next.into_iter().map(|command| Flight::new(&self.core, &state, command)).collect());
    }

    /// Sends commands together.
    pub(super) fn fly(&self, flights: Vec<Flight>) {
        if !flights.is_empty() {
            // In a box: the runtime moves what it is given several times.
            drop(tokio::spawn(Box::pin(self.clone().run(flights))));
        }
    }

    /// Sends commands, and takes their replies in.
    async fn run(self, mut flights: Vec<Flight>) {
        flights.retain_mut(|flight| {
            let is_wanted = flight.is_wanted();
            if !is_wanted {
                self.fly(flight.lost(&Error::CircuitOpen));
            }
            is_wanted
        });
        let asked: Vec<_> = flights.iter().map(|flight| (flight.form, flight.units, flight.state.clone())).collect();
        let requests: Vec<_> = asked.iter().map(|(form, units, state)| form.joined(state.key(), *units)).collect();
        let calls: Vec<_> = requests.iter().map(|request| Call::of(Verb::Check, request)).collect();
        let ends_at = flights.iter().filter_map(|flight| flight.command.as_ref().map(Command::ends_at)).max();
        let limit = ends_at.map_or(self.timeout, |ends_at| ends_at.saturating_duration_since(Instant::now()));
        let mut replies = std::pin::pin!(self.converse(&calls, limit + LATE));
        let replies = match within(limit, &mut replies).await {
            Some(replies) => replies,
            None => {
                flights.iter_mut().for_each(|flight| self.fly(flight.late()));
                replies.await
            }
        };
        for ((flight, request), reply) in flights.iter_mut().zip(&requests).zip(replies) {
            match reply.and_then(|value| reply::decision(&value, request)) {
                Ok(decision) => {
                    let (next, keeps) = flight.landed(&decision);
                    self.fly(next);
                    if keeps && let (Some(alive), Some(ahead)) = (&self.granted, flight.form.ahead) {
                        drop(tokio::spawn(self.clone().keep(
                            flight.state.clone(),
                            flight.form,
                            ahead.hold,
                            alive.clone(),
                        )));
                    }
                }
                Err(error) => self.fly(flight.lost(&error)),
            }
        }
    }

    /// Gives back what is left of a grant when it was kept for long enough, or when nobody can use it any more.
    async fn keep(self, state: State<'static>, form: Form, hold: Duration, mut alive: watch::Receiver<()>) {
        loop {
            let now = Instant::now();
            let (at, left) = self.core.accounts.with(&state, now, |entry| {
                let at = entry.account.gives_back_at(now, hold);
                let is_over = at.is_none_or(|at| at <= now);
                entry.is_kept = !is_over;
                (at, if is_over { entry.account.give_up(&form.policy, now) } else { None })
            });
            self.give_back(&state, &form, left).await;
            match at.filter(|at| *at > now) {
                None => return,
                // Nothing is ever sent: this ends when the last sender is dropped, or in time.
                Some(at) if tokio::time::timeout_at(at.into(), alive.changed()).await.is_ok() => break,
                Some(_) => {}
            }
        }
        self.give_up(&state, &form).await;
    }

    /// Gives back what is left of a grant, also what a command brings that is under way.
    pub(crate) async fn give_up(&self, state: &State<'_>, form: &Form) {
        loop {
            let now = Instant::now();
            let (left, at) = self.core.accounts.with(state, now, |entry| {
                entry.is_kept = false;
                (entry.account.give_up(&form.policy, now), entry.account.gives_back_at(now, PAUSE))
            });
            self.give_back(state, form, left).await;
            if at.is_none() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Gives units back that were charged at a time of the server. If this fails, they stay charged.
    async fn give_back(&self, state: &State<'_>, form: &Form, left: Option<(u64, u64)>) {
        if let Some((units, at)) = left {
            let request = Request::for_bounded(&form.policy, state.key()).cost(units).at(at);
            _ = self.with_timeout(self.core.timeout).refund(&request).await;
        }
    }
}
