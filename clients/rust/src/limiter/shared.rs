//! Sends the commands of accounts. A caller sends the request that shares no command. Any other command is a task of its own
//! and carries the requests that wait for it, so that no caller's end stops it or leaves a key without a next command.

use std::time::{Duration, Instant};

use redis::Value;
use scopeguard::ScopeGuard;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::Limiter;
use super::account::{Asked, Command, Form, PART, Sent};
use super::accounts::{Answer, Entry};
use crate::decision::{Decision, Decisions};
use crate::error::Error;
use crate::key::State;
use crate::link::{Late, within};
use crate::policy::Request;
use crate::protocol::{Call, Verb, reply};

/// The pause before a look at whether a command under way has brought units to give back.
const PAUSE: Duration = Duration::from_millis(5);

#[expect(clippy::large_enum_variant, reason = "it is used at once")]
pub(super) enum Asking<'a> {
    Known(Decision),
    Waits(Waiting),
    Alone(Begun<'a>),
}

/// A request that waits for a shared command.
pub(super) struct Waiting {
    answer: oneshot::Receiver<Result<Decision, Error>>,
    /// Whether its command is not sent yet.
    is_next: bool,
    is_granted: bool,
}

/// A request that its caller sends, until it has a reply or the caller leaves.
pub(super) struct Begun<'a> {
    limiter: &'a Limiter,
    request: &'a Request<'a>,
    sent: Option<Sent>,
}

impl Begun<'_> {
    /// Takes the reply in. Without a reply in time, a task waits for the late one, which may be a denial to remember: it is
    /// added to `overdue`.
    pub(super) fn decide(
        self,
        reply: Result<Value, Error>,
        overdue: &mut Vec<Option<Flight>>,
    ) -> Result<Decision, Error> {
        let decision = reply.and_then(|value| reply::decision(&value, self.request));
        match &decision {
            Ok(decision) => {
                self.limiter.core.decided(decision.allowed);
                self.learn(decision);
            }
            Err(Error::Timeout(_)) => overdue.push(self.overdue()),
            Err(_) => {}
        }
        decision
    }

    fn learn(mut self, decision: &Decision) {
        let Self { limiter, request, sent } = &mut self;
        limiter.core.server.set_clock(decision.now_ms);
        if let Some(sent) = sent.take() {
            let recheck = limiter.core.accounts.recheck;
            limiter.note(request, |entry, now| {
                entry.note(decision, now);
                entry.account.learn(request, sent, decision, recheck, now)
            });
        }
    }

    /// Ends the time limit. Returns the command that takes the late reply in, if that is of use.
    fn overdue(mut self) -> Option<Flight> {
        let form = Form::of(self.request)?;
        let mut sent = self.sent.take_if(|sent| sent.is_flying)?;
        self.limiter.note(self.request, |entry, now| entry.account.late_alone(&mut sent, now));
        Some(Flight::new(self.limiter, &State::of(self.request), Command::alone(form, sent, Instant::now())))
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(sent) = self.sent.take() {
            self.limiter.note(self.request, |entry, now| entry.account.unanswered(sent, now));
        }
    }
}

/// A command under way. Its callers get an error if its task ends without a reply.
pub(super) struct Flight {
    limiter: Limiter,
    state: State<'static>,
    command: Option<Command<Answer>>,
}

impl Flight {
    fn new(limiter: &Limiter, state: &State<'_>, command: Command<Answer>) -> Self {
        Self { limiter: limiter.clone(), state: state.clone().kept(), command: Some(command) }
    }

    /// Sends it in a task, if the runtime has not ended.
    fn fly(self) {
        if let Ok(runtime) = Handle::try_current() {
            // In a box: the runtime moves the future several times.
            drop(runtime.spawn(Box::pin(self.run())));
        }
    }

    /// Sends it, and takes its reply in.
    async fn run(mut self) {
        let Some(command) = &mut self.command else { return };
        if !command.is_wanted() {
            return;
        }
        let limit = command.ends_at.saturating_duration_since(Instant::now());
        let (request, mut late) = (command.form.joined(self.state.key(), command.units), None);
        let reply = self.limiter.converse(&[Call::of(Verb::Check, &request)], limit, &mut late).await.pop();
        let Some(late) = late else { return self.ends(reply) };
        let (core, now) = (&self.limiter.core, Instant::now());
        let (callers, next) = core.accounts.with(&self.state, now, |entry| entry.account.late(command, now));
        answer(callers, &Error::Timeout(core.timeout));
        self.follow(next);
        land(vec![Some(self)], late).await;
    }

    /// Takes the reply in; `None` if there is none and none can come.
    fn ends(mut self, reply: Option<Result<Value, Error>>) {
        let Some(command) = &self.command else { return };
        let request = command.form.joined(self.state.key(), command.units);
        let reply = reply.unwrap_or(Err(Error::CircuitOpen)).and_then(|value| reply::decision(&value, &request));
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return self.lost(&error),
        };
        let Some(command) = self.command.take() else { return };
        let (core, form, now) = (&self.limiter.core, command.form, Instant::now());
        let ((answers, next), keeps) = core.accounts.with(&self.state, now, |entry| {
            entry.note(&reply, now);
            let landed = entry.account.landed(command, &reply, core.accounts.recheck, now);
            let keeps = form.ahead.is_some_and(|ahead| entry.account.gives_back_at(now, ahead.hold).is_some());
            (landed, keeps && !std::mem::replace(&mut entry.is_kept, true))
        });
        if form.ahead.is_some() {
            core.decided(reply.allowed);
        }
        core.server.set_clock(reply.now_ms);
        // A request whose caller has left uses its units too, so a failure to send means nothing.
        answers.into_iter().for_each(|(Answer(answer), decision)| _ = answer.send(Ok(decision)));
        self.follow(next);
        if keeps && let (Some(alive), Some(ahead)) = (&self.limiter.granted, form.ahead) {
            let keeping = self.limiter.clone().keep(self.state.clone(), form, ahead.hold, alive.clone());
            drop(tokio::spawn(keeping));
        }
    }

    fn lost(&mut self, error: &Error) {
        let Some(command) = self.command.take() else { return };
        let now = Instant::now();
        let (callers, next) =
            self.limiter.core.accounts.with(&self.state, now, |entry| entry.account.lost(command, now));
        answer(callers, error);
        self.follow(next);
    }

    fn follow(&self, next: Option<Command<Answer>>) {
        if let Some(command) = next {
            Self::new(&self.limiter, &self.state, command).fly();
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        // All callers have left, or the runtime ends. Requests that wait for the next command get an error then.
        self.lost(&Error::CircuitOpen);
    }
}

fn answer(callers: Vec<Answer>, error: &Error) {
    callers.into_iter().for_each(|Answer(answer)| _ = answer.send(Err(error.clone())));
}

/// Takes in the late replies to these commands.
async fn land(flights: Vec<Option<Flight>>, late: Late) {
    let mut replies = late.await.unwrap_or_default().into_iter();
    for flight in flights {
        let reply = replies.next();
        if let Some(flight) = flight {
            flight.ends(reply);
        }
    }
}

/// [`land`] in the background.
pub(super) fn land_later(flights: Vec<Option<Flight>>, late: Option<Late>) {
    if let Some(late) = late {
        drop(tokio::spawn(land(flights, late)));
    }
}

impl Limiter {
    /// Begins a request. Returns the decision, if this process knows it; else what the request waits for.
    pub(super) fn begin<'a>(&'a self, request: &'a Request<'a>, form: Option<&Form>) -> Asking<'a> {
        let (state, now, mut waiting) = (State::of(request), Instant::now(), None);
        let caller = || {
            let (sender, answer) = oneshot::channel();
            waiting = Some(answer);
            Answer(sender)
        };
        let (asked, is_next) = self.core.accounts.with(&state, now, |entry| {
            let asked = entry.account.ask(request, form, now, self.timeout, caller);
            (asked, entry.account.has_waiting())
        });
        let (begun, next) = match (asked, waiting) {
            (Asked::Alone(sent), _) => return Asking::Alone(Begun { limiter: self, request, sent: Some(sent) }),
            (Asked::Known(decision, next), _) => {
                self.core.count_known(&decision);
                (Asking::Known(decision), next)
            }
            (Asked::Waits(next), Some(answer)) => {
                let is_granted = form.is_some_and(|form| form.ahead.is_some());
                (Asking::Waits(Waiting { answer, is_next, is_granted }), next)
            }
            (Asked::Waits(next), None) => (Asking::Known(Decision::unchecked(request.policy)), next),
        };
        if let Some(command) = next {
            Flight::new(self, &state, command).fly();
        }
        begun
    }

    /// Begins a request under several limits. Remembered denials are rechecked together.
    ///
    /// # Errors
    /// A remembered denial of one of the limits denies the request.
    fn begin_all<'a>(&'a self, requests: &'a [Request<'a>]) -> Result<Vec<Begun<'a>>, Decisions> {
        let (accounts, now) = (&self.core.accounts, Instant::now());
        let known = |request: &Request<'_>| accounts.of(request, now, |entry| entry.account.known(request, now));
        let known: Vec<_> = requests.iter().map(known).collect();
        if known.iter().any(Result::is_err) {
            return Err(self.core.remembered_all(requests, known.into_iter().map(Result::err).collect()));
        }
        let begin = |(request, asks): (&'a Request<'a>, Result<Option<Instant>, Decision>)| {
            let asks = asks.unwrap_or_default();
            let sent = Some(accounts.of(request, now, |entry| entry.account.begin(asks, now)));
            Begun { limiter: self, request, sent }
        };
        Ok(requests.iter().zip(known).map(begin).collect())
    }

    /// Checks a request under several limits, without a fallback.
    pub(crate) async fn check_all_on_server(&self, requests: &[Request<'_>]) -> Result<Decisions, Error> {
        if let Some(error) = self.unsent() {
            return Err(self.core.failed(error, self.timeout));
        }
        let begun = match self.begin_all(requests) {
            Ok(begun) => begun,
            Err(denied) => return Ok(denied),
        };
        let decisions = reply::decisions(self.call(Call { verb: Verb::CheckAll, requests }).await?, requests)?;
        self.core.decided(decisions.allowed);
        begun.into_iter().zip(&decisions.limits).for_each(|(begun, decision)| begun.learn(decision));
        Ok(decisions)
    }

    /// Checks a request under one limit or several, without a fallback.
    pub(crate) async fn check_together(&self, requests: &[Request<'_>]) -> Result<Decisions, Error> {
        match requests {
            [request] => self.ask(request, None).await.map(Decisions::from),
            requests => self.check_all_on_server(requests).await,
        }
    }

    /// Checks a request, without a fallback. `granted` is the form of a grant.
    pub(crate) async fn ask(&self, request: &Request<'_>, granted: Option<&Form>) -> Result<Decision, Error> {
        let key = request.bounded_key();
        let request = &Request { key: &key, is_bounded: true, ..*request };
        // The future of a request that waits stays small: thousands may wait.
        let begun = {
            let own = if granted.is_none() { Form::of(request) } else { None };
            let form = granted.or(own.as_ref());
            if let Some(error) = self.unsent() {
                return self.core.known(request, form).ok_or_else(|| self.core.failed(error, self.timeout));
            }
            match self.begin(request, form) {
                Asking::Known(decision) => return Ok(decision),
                Asking::Waits(waiting) => Ok(waiting),
                Asking::Alone(begun) => Err(Box::pin(self.send_alone(request, begun))),
            }
        };
        match begun {
            Ok(waiting) => self.wait_for(request, waiting).await,
            Err(alone) => alone.await,
        }
    }

    async fn send_alone(&self, request: &Request<'_>, begun: Begun<'_>) -> Result<Decision, Error> {
        let (mut late, mut overdue) = (None, Vec::new());
        let reply = self.converse_counted(&[Call::of(Verb::Check, request)], &mut late).await.pop();
        let decision = begun.decide(reply.unwrap_or(Err(Error::UnknownReply)), &mut overdue);
        land_later(overdue, late);
        decision
    }

    /// Waits for the decision on a request that shares a command.
    pub(super) async fn wait_for(&self, request: &Request<'_>, waiting: Waiting) -> Result<Decision, Error> {
        let (core, Waiting { mut answer, is_next, is_granted }) = (&self.core, waiting);
        let unended = core.unended(1);
        let answered = if is_next {
            // After this part of the time limit, a further command is sent beside the others.
            if let Ok(answered) = timeout(self.timeout / PART, &mut answer).await {
                Some(answered)
            } else {
                self.note(request, |entry, now| entry.account.overdue(now));
                within(self.timeout - self.timeout / PART, answer).await
            }
        } else {
            Some(answer.await)
        };
        ScopeGuard::into_inner(unended);
        let answered = match answered {
            // If the task was dropped, the runtime has ended.
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
            Err(error) => Err(self.core.failed(error, self.timeout)),
        }
    }

    /// Changes what is known of the key of a request, and sends the command that follows.
    fn note(&self, request: &Request<'_>, change: impl FnOnce(&mut Entry, Instant) -> Option<Command<Answer>>) {
        let (state, now) = (State::of(request), Instant::now());
        if let Some(command) = self.core.accounts.with(&state, now, |entry| change(entry, now)) {
            Flight::new(self, &state, command).fly();
        }
    }

    /// Gives back what is left of a grant, once its units were kept for long enough, or the last `Grants` is dropped.
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
                // The channel carries nothing. It ends when the last sender is dropped.
                Some(at) if tokio::time::timeout_at(at.into(), alive.changed()).await.is_ok() => break,
                Some(_) => {}
            }
        }
        self.give_up(&state, &form).await;
    }

    /// Gives back what is left of a grant, including the units that a command under way brings.
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

    /// Refunds units, with the server's time at which they were charged. If this fails, they stay charged.
    async fn give_back(&self, state: &State<'_>, form: &Form, left: Option<(u64, u64)>) {
        if let Some((units, at)) = left {
            let request = Request::new(&form.policy, state.key()).with_key_as_it_is().cost(units).at(at);
            _ = self.with_timeout(self.core.timeout).refund(&request).await;
        }
    }
}
