//! What this process knows of one key: units that a grant has charged in advance, a denial of the server, and who shares
//! the next command. No input, no output and no clock: time is an argument, and `tests/proofs` tries every order of events.
//!
//! A request that is charged has used its units. The units of a command go to the requests that it carries, in the order of
//! their arrival, including requests whose callers have left. Units that a grant charges beside these are kept. Nothing is
//! sent to the server to correct this afterwards.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::denial::{Denial, LONGEST};
use super::joined::share;
use crate::decision::{Decision, Source};
use crate::policy::{Join, Policy, Request};

/// While so many commands of a key are under way, requests wait and share the next command.
const TOGETHER: u32 = 2;
/// How many commands of a key may be under way once a request has waited for its part of the time limit. Without these
/// further commands a request could wait for two round trips. They begin a part of a time limit apart, so with fewer of them
/// a request could wait for longer than its part.
const BESIDE: u32 = PART + 1;
/// The part of the time limit after which a further command is sent for a request that waits: a fifth.
pub const PART: u32 = 5;

/// The fewest requests for which a shared command must have room. With less room, a flood of requests would get so few
/// decisions in each round trip that most of the requests would end without a reply.
const MANY: u64 = 64;

/// The caller of a request, which waits for the decision.
pub trait Caller {
    /// Whether the caller has stopped waiting.
    fn is_gone(&self) -> bool;
}

/// What all requests of one command have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    pub policy: Policy,
    pub join: Join,
    pub most: u64,
    pub ahead: Option<Ahead>,
}

/// How much a grant charges in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ahead {
    /// How many units are kept at most, unless the requests that wait need more.
    pub units: u64,
    /// How long units are kept after the last command.
    pub hold: Duration,
}

impl Form {
    /// The form of a request that may share a command; `None` for a request that may not.
    pub fn of(request: &Request<'_>) -> Option<Self> {
        let (join, most) = request.joins()?;
        (most >= MANY).then_some(Self { policy: *request.policy, join, most, ahead: None })
    }

    /// The form of requests that are granted in advance, at most `units` each.
    pub fn granted(policy: &Policy, ahead: Ahead) -> Self {
        let most = policy.algorithm().traits().most.unwrap_or(u64::MAX);
        Self { policy: *policy, join: Join::Partial, most, ahead: Some(ahead) }
    }

    pub fn request<'a>(&'a self, key: &'a [u8], cost: u64) -> Request<'a> {
        let request = Request::new(&self.policy, key).with_key_as_it_is().cost(cost);
        if matches!(self.join, Join::Always | Join::AlwaysAfter) { request.always() } else { request }
    }

    /// The request that a command of so many units sends.
    pub fn joined<'a>(&'a self, key: &'a [u8], units: u64) -> Request<'a> {
        let request = self.request(key, units);
        let counts_denials = self.policy.algorithm().traits().counts_denials;
        match self.join {
            // A denial of PARTIAL counts nothing.
            Join::Partial if units > 1 || self.ahead.is_some() || counts_denials => request.partial(),
            Join::Counted if units > 1 => request.always(),
            _ => request,
        }
    }
}

/// A request that waits, or that a command carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waiter<C> {
    cost: u64,
    /// When a further command may be sent for this request: see [`BESIDE`].
    beside_at: Instant,
    ends_at: Instant,
    caller: C,
}

/// A command that is to be sent, or is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command<C> {
    pub form: Form,
    pub units: u64,
    /// How many of these units are for requests. A grant charges the others in advance.
    pub needed: u64,
    waiters: Vec<Waiter<C>>,
    pub sent: Sent,
    /// The latest end of a time limit of these requests.
    pub ends_at: Instant,
}

impl<C> Command<C> {
    /// The command of a request that was sent by itself and whose caller has stopped waiting.
    pub const fn alone(form: Form, sent: Sent, ends_at: Instant) -> Self {
        Self { form, units: 1, needed: 1, waiters: Vec::new(), sent, ends_at }
    }

    /// Removes the requests whose callers have left. Returns whether any unit is left to ask for.
    pub fn is_wanted(&mut self) -> bool
    where
        C: Caller,
    {
        if self.form.ahead.is_none() {
            self.waiters.retain(|waiter| !waiter.caller.is_gone());
            self.needed = self.waiters.iter().fold(0, |needed, waiter| waiter.cost.saturating_add(needed));
            self.units = self.needed;
        }
        self.units > 0
    }
}

/// When a request was sent, and what was known then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sent {
    at: Instant,
    /// How often units had been given back by then.
    given_back: u32,
    /// When the request was sent whose remembered denial this one rechecks, if it rechecks one.
    pub asks: Option<Instant>,
    /// Whether it counts among the commands under way for which other requests wait. Then [`Account::late`] is called when its
    /// time limit is over.
    pub is_flying: bool,
}

/// Units that are charged and not used yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stock {
    units: u64,
    /// The reply to the command that charged the last of these units, and when that command was sent.
    reply: Decision,
    sent: Instant,
    /// When the units are given back.
    held_until: Instant,
    /// FIXED and WINDOW: the end of the window, after which the units may not be used.
    window_ends: Option<Instant>,
}

/// What a request gets at once.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "it is used at once")]
pub enum Asked<C> {
    /// A decision; and the command that refills the stock, if one is to be sent.
    Known(Decision, Option<Command<C>>),
    /// The request waits. The command that is to be sent now, if any.
    Waits(Option<Command<C>>),
    /// The caller sends the request by itself, and then calls [`Account::learn`] or [`Account::unanswered`].
    Alone(Sent),
}

/// What follows when a command ends: one item for each of its callers, and the next command.
pub type Ended<T, C> = (Vec<T>, Option<Command<C>>);

/// What is known of one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account<C> {
    stock: Option<Box<Stock>>,
    pub denied: Option<Box<Denial>>,
    /// Whether a request rechecks the denial. Other requests are denied meanwhile.
    is_asked: bool,
    /// How often units were given back.
    given_back: u32,
    /// The form of the requests that wait and of the commands under way.
    form: Option<Box<Form>>,
    /// How many commands of that form are under way within their time limits.
    flying: u32,
    /// When the time limits of all these commands are over. From then on `flying` counts as 0, since a caller that sends its
    /// request by itself may be late to report the end.
    flying_until: Option<Instant>,
    waiting: VecDeque<Waiter<C>>,
    /// How many requests and commands may still get a reply, late ones included.
    under_way: u32,
}

impl<C> Default for Account<C> {
    fn default() -> Self {
        Self {
            stock: None,
            denied: None,
            is_asked: false,
            given_back: 0,
            form: None,
            flying: 0,
            flying_until: None,
            waiting: VecDeque::new(),
            under_way: 0,
        }
    }
}

impl<C: Caller> Account<C> {
    /// Decides on a request from kept units or from a remembered denial. Otherwise the request waits for a command that it
    /// shares, if it has a form, or its caller sends it. `limit` is its time limit, and `caller` makes the caller of a request
    /// that waits.
    pub fn ask(
        &mut self,
        request: &Request<'_>,
        form: Option<&Form>,
        now: Instant,
        limit: Duration,
        caller: impl FnOnce() -> C,
    ) -> Asked<C> {
        if let Some(form) = form
            && let Some((decision, left)) = self.take(form, request.cost, now)
        {
            let is_low = form.ahead.is_some_and(|ahead| left <= ahead.units / 4);
            return Asked::Known(decision, if is_low { self.fetch(form, now, limit) } else { None });
        }
        let asks = match self.known(request, now) {
            Ok(asks) => asks,
            Err(denied) => return Asked::Known(denied, None),
        };
        let Some(form) = form.filter(|form| self.takes(form, now)) else {
            return Asked::Alone(self.begin(asks, now));
        };
        if self.form.as_deref() != Some(form) {
            self.form = Some(Box::new(*form));
        }
        let (beside_at, ends_at) = (now + limit / PART, now + limit);
        if form.ahead.is_none() && self.waiting.is_empty() && self.flying(now) < TOGETHER {
            // No other request waits.
            return Asked::Alone(self.takes_off(asks, now, ends_at));
        }
        self.waiting.push_back(Waiter { cost: request.cost, beside_at, ends_at, caller: caller() });
        Asked::Waits(self.next(asks, now))
    }

    /// Whether requests of this form may wait now, and units be kept for them.
    fn takes(&self, form: &Form, now: Instant) -> bool {
        let is_kept = self.stock.as_ref().is_none_or(|stock| form.ahead.is_none() || stock.reply.policy == form.policy);
        is_kept && (self.flying(now) == 0 && self.waiting.is_empty() || self.form.as_deref() == Some(form))
    }

    /// The command for those that wait, if one is to be sent now.
    fn next(&mut self, asks: Option<Instant>, now: Instant) -> Option<Command<C>> {
        self.waiting.retain(|waiter| !waiter.caller.is_gone());
        let first = self.waiting.front()?;
        let form = **self.form.as_ref()?;
        let most = match form.ahead {
            Some(_) => 1,
            None if first.beside_at <= now => BESIDE,
            None => TOGETHER,
        };
        if self.flying(now) >= most {
            return None;
        }
        let mut needed = 0_u64;
        let fits = |waiter: &&Waiter<C>| {
            needed = needed.saturating_add(waiter.cost);
            needed <= form.most
        };
        let fitting = self.waiting.iter().take_while(fits).count().max(1);
        let waiters: Vec<_> = self.waiting.drain(..fitting).collect();
        let ends_at = waiters.iter().map(|waiter| waiter.ends_at).max()?;
        Some(self.send(form, waiters, asks, now, ends_at))
    }

    fn send(
        &mut self,
        form: Form,
        waiters: Vec<Waiter<C>>,
        asks: Option<Instant>,
        now: Instant,
        ends_at: Instant,
    ) -> Command<C> {
        let needed = waiters.iter().fold(0_u64, |needed, waiter| needed.saturating_add(waiter.cost));
        let kept = self.stock(now).map_or(0, |stock| stock.units);
        let missing = form.ahead.map_or(0, |ahead| ahead.units.saturating_sub(kept));
        let (units, sent) = (needed.max(missing).min(form.most.max(needed)), self.takes_off(asks, now, ends_at));
        Command { form, units, needed, waiters, sent, ends_at }
    }

    /// Begins a command that counts among those under way.
    fn takes_off(&mut self, asks: Option<Instant>, now: Instant, ends_at: Instant) -> Sent {
        if self.flying(now) == 0 {
            self.flying = 0;
        }
        self.flying += 1;
        self.flying_until = self.flying_until.max(Some(ends_at));
        Sent { is_flying: true, ..self.begin(asks, now) }
    }

    /// The command that refills the stock, if none is under way.
    fn fetch(&mut self, form: &Form, now: Instant, limit: Duration) -> Option<Command<C>> {
        let asks = self.known(&form.request(b"", 1), now).ok()?;
        if self.flying(now) > 0 || !self.waiting.is_empty() {
            return None;
        }
        self.form = Some(Box::new(*form));
        Some(self.send(*form, Vec::new(), asks, now, now + limit))
    }

    /// Called when a request has waited for its part of the time limit. Returns the further command for the requests that
    /// wait, if one may be sent.
    pub fn overdue(&mut self, now: Instant) -> Option<Command<C>> {
        self.next(None, now)
    }

    /// Divides the reply to a command, which may come after its time limit. Requests whose callers have left use their units
    /// too.
    pub fn landed(
        &mut self,
        command: Command<C>,
        reply: &Decision,
        recheck: Duration,
        now: Instant,
    ) -> Ended<(C, Decision), C> {
        let Command { form, units, sent, .. } = command;
        let part = |i| if units == 1 && form.ahead.is_none() { *reply } else { share(reply, units, i, form.join) };
        let answers = match form.ahead {
            Some(ahead) => self.grant(command, ahead, reply, now),
            None => command.waiters.into_iter().zip(1..).map(|(waiter, i)| (waiter.caller, part(i))).collect(),
        };
        // The last part is the decision that one more request would have got.
        (answers, self.learn(&form.request(b"", 1), sent, &part(units), recheck, now))
    }

    /// Divides the units that a grant has charged, and keeps the rest.
    fn grant(&mut self, command: Command<C>, ahead: Ahead, reply: &Decision, now: Instant) -> Vec<(C, Decision)> {
        let Command { form, units, needed, waiters, sent, .. } = command;
        // The callers of late requests got something else. The units of these requests are used all the same.
        let used = if waiters.is_empty() { needed } else { 0 };
        // If the reply is late, the stock may be that of another policy by now.
        let is_other = self.stock(now).is_some_and(|stock| stock.reply.policy != form.policy);
        let kept = self.stock(now).filter(|_| !is_other).map(|stock| (stock.units, stock.window_ends));
        let (kept, kept_ends) = kept.unwrap_or_default();
        let mut left = reply.charged.saturating_sub(used).saturating_add(kept);
        let decide = |waiter: Waiter<C>| match left.checked_sub(waiter.cost) {
            Some(rest) => {
                left = rest;
                (waiter.caller, reply.granted(waiter.cost, rest))
            }
            None => (waiter.caller, Decision { charged: 0, ..share(reply, units, units, form.join) }),
        };
        let answers = waiters.into_iter().map(decide).collect();
        if is_other {
            return answers;
        }
        // With a late reply there may be units of two commands. No more are kept than one command charges.
        left = left.min(ahead.units);
        if reply.charged > 0 {
            // The server rounds the time up, by less than a millisecond.
            let ends = || sent.at + reply.reset_after.unwrap_or_default().saturating_sub(Duration::from_millis(1));
            let ends = form.policy.algorithm().traits().ends_at_once.then(ends);
            // The units may be of two windows: the earlier end counts.
            let window_ends = kept_ends.into_iter().chain(ends).min();
            let held_until = sent.at.checked_add(ahead.hold).unwrap_or(sent.at);
            self.stock = Some(Box::new(Stock { units: left, reply: *reply, sent: sent.at, held_until, window_ends }));
        } else if let Some(stock) = &mut self.stock {
            stock.units = left;
        }
        self.stock(now);
        answers
    }

    /// Ends the time limit of a command: its callers get something else, and the requests that wait get the next command.
    pub fn late(&mut self, command: &mut Command<C>, now: Instant) -> Ended<C, C> {
        let callers = command.waiters.drain(..).map(|waiter| waiter.caller).collect();
        (callers, self.late_alone(&mut command.sent, now))
    }

    /// Ends a command whose reply is an error, or that gets none.
    pub fn lost(&mut self, command: Command<C>, now: Instant) -> Ended<C, C> {
        let callers = command.waiters.into_iter().map(|waiter| waiter.caller).collect();
        (callers, self.unanswered(command.sent, now))
    }

    /// Ends the time limit of a request that was sent by itself. Returns the command for the requests that wait.
    pub fn late_alone(&mut self, sent: &mut Sent, now: Instant) -> Option<Command<C>> {
        if std::mem::take(&mut sent.is_flying) {
            self.flying = self.flying.saturating_sub(1);
            self.is_asked &= sent.asks.is_none();
        }
        self.next(None, now)
    }

    /// Takes in the reply to a request that was sent. Returns the command for the requests that wait.
    pub fn learn(
        &mut self,
        request: &Request<'_>,
        sent: Sent,
        decision: &Decision,
        recheck: Duration,
        now: Instant,
    ) -> Option<Command<C>> {
        // If units were given back since, the decision may be older than that.
        if sent.given_back == self.given_back {
            match (Denial::new(request, sent.at, decision, recheck), &mut self.denied) {
                // The count of denied requests goes on.
                (Some(mut denial), Some(denied)) if denied.until + LONGEST > sent.at => {
                    denial.count = denied.count;
                    **denied = denial;
                }
                (Some(denial), _) => self.denied = Some(Box::new(denial)),
                // The denial that this request rechecks is over, unless another denial has taken its place since.
                (None, Some(denied)) if sent.asks == Some(denied.sent) => self.denied = None,
                (None, _) => {}
            }
        }
        self.unanswered(sent, now)
    }

    /// Ends a request that gets no reply. Returns the command for the requests that wait.
    pub fn unanswered(&mut self, mut sent: Sent, now: Instant) -> Option<Command<C>> {
        // If the table was full, this account does not know that the request was sent.
        self.under_way = self.under_way.saturating_sub(1);
        self.is_asked &= sent.asks.is_none();
        self.late_alone(&mut sent, now)
    }
}

/// Requests that are sent by themselves, remembered denials, and kept units.
impl<C> Account<C> {
    /// Begins a request that is sent by itself. `asks` is what [`known`](Self::known) returned.
    pub fn begin(&mut self, asks: Option<Instant>, now: Instant) -> Sent {
        self.under_way += 1;
        self.is_asked |= asks.is_some();
        Sent { at: now, given_back: self.given_back, asks, is_flying: false }
    }

    /// How many commands are under way within their time limits.
    fn flying(&self, now: Instant) -> u32 {
        if self.flying_until > Some(now) { self.flying } else { 0 }
    }

    /// Whether a request is to be sent. If it is to recheck a remembered denial, also returns when the denied request was
    /// sent: one request at a time does, once the denial is due.
    ///
    /// # Errors
    /// A remembered denial denies the request.
    pub fn known(&mut self, request: &Request<'_>, now: Instant) -> Result<Option<Instant>, Decision> {
        // If the reservation is open already, the server allows the request.
        let denial = self.denied.as_deref().filter(|denial| request.reserve.is_none() && denial.denies(request, now));
        let Some(denial) = denial else { return Ok(None) };
        let is_due = denial.due.is_some_and(|due| now >= due);
        if is_due && !self.is_asked && self.flying(now) == 0 && self.waiting.is_empty() {
            return Ok(Some(denial.sent));
        }
        self.held(request, now).map_or(Ok(None), Err)
    }

    /// The remembered denial of a request that the server cannot decide. It holds until its own end, without a recheck.
    pub fn held(&mut self, request: &Request<'_>, now: Instant) -> Option<Decision> {
        self.denied.as_deref_mut().filter(|denial| denial.denies(request, now)).map(|denial| denial.deny(now))
    }

    /// Forgets the denial, because units were given back.
    pub fn forget(&mut self) {
        self.given_back = self.given_back.wrapping_add(1);
        self.denied = None;
    }

    /// Whether a request waits for the next command.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether forgetting this account loses nothing but a denial.
    pub fn is_idle(&self) -> bool {
        self.under_way == 0 && self.waiting.is_empty() && self.stock.is_none()
    }

    fn stock(&mut self, now: Instant) -> Option<&mut Stock> {
        // The counter of the next window does not count these units.
        self.stock.take_if(|stock| stock.units == 0 || stock.window_ends.is_some_and(|ends| now >= ends));
        self.stock.as_deref_mut()
    }

    /// Takes kept units for a request of this form. Also returns how many are left.
    pub fn take(&mut self, form: &Form, cost: u64, now: Instant) -> Option<(Decision, u64)> {
        form.ahead?;
        let stock = self.stock(now).filter(|stock| stock.units >= cost && stock.reply.policy == form.policy)?;
        stock.units -= cost;
        let left = stock.units;
        let decision = stock.reply.later(now.saturating_duration_since(stock.sent), Source::Grant);
        Some((decision.granted(cost, left), left))
    }

    /// When the kept units are given back; `None` if there are none, and no command under way may bring some.
    pub fn gives_back_at(&mut self, now: Instant, hold: Duration) -> Option<Instant> {
        let is_coming = self.flying > 0 && self.form.as_ref().is_some_and(|form| form.ahead.is_some());
        match self.stock(now) {
            Some(stock) => Some(stock.window_ends.map_or(stock.held_until, |ends| ends.min(stock.held_until))),
            None => is_coming.then(|| now + hold),
        }
    }

    /// Gives up the kept units of a policy. Returns how many, and when the last were charged, by the server's clock.
    pub fn give_up(&mut self, policy: &Policy, now: Instant) -> Option<(u64, u64)> {
        self.stock(now).filter(|stock| stock.reply.policy == *policy)?;
        self.stock.take().map(|stock| (stock.units, stock.reply.now_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::RetryAfter;

    const HOUR: Duration = Duration::from_secs(3600);
    const LIMIT: Duration = Duration::from_millis(100);
    const POLICY: Policy = Policy::token(HOUR, 1_000);

    /// A caller, and whether it has left.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Number(u32, bool);

    impl Caller for Number {
        fn is_gone(&self) -> bool {
            self.1
        }
    }

    fn reply(policy: &Policy, charged: u64, remaining: u64, reset_after: Duration) -> Decision {
        let next = if remaining == 0 { reset_after } else { Duration::ZERO };
        let retry_after = if charged > 0 { RetryAfter::Now } else { RetryAfter::from_wait(next) };
        let decision = Decision::of_fallback(policy, charged > 0, charged, retry_after);
        let (next, reset_after) = (Some(next), Some(reset_after));
        Decision { remaining, next, reset_after, source: Source::Server, now_ms: 400, ..decision }
    }

    fn ask(account: &mut Account<Number>, form: &Form, number: u32, gone: bool, now: Instant) -> Asked<Number> {
        account.ask(&form.request(b"k", 1), Some(form), now, LIMIT, || Number(number, gone))
    }

    /// The command that a request makes.
    fn sent(asked: Asked<Number>) -> Option<Command<Number>> {
        match asked {
            Asked::Waits(next) => next,
            other => panic!("{other:?}"),
        }
    }

    /// Two requests that nobody shares, and so many that wait.
    fn two_and(account: &mut Account<Number>, form: &Form, waiting: u32, now: Instant) -> [Sent; 2] {
        let begun = [0, 1].map(|n| match ask(account, form, n, false, now) {
            Asked::Alone(sent) => sent,
            other => panic!("{other:?}"),
        });
        assert!((2..2 + waiting).all(|n| sent(ask(account, form, n, n == 3, now)).is_none()));
        begun
    }

    #[test]
    fn a_command_is_for_the_callers_that_wait_when_it_is_written() {
        let (mut account, now) = (Account::default(), Instant::now());
        let form = Form::of(&POLICY.request("k")).unwrap();
        let [first, second] = two_and(&mut account, &form, 6, now);
        // One left before this one was made, and another one after.
        let next = account.learn(&POLICY.request("k"), first, &reply(&POLICY, 1, 4, HOUR), HOUR, now);
        let mut next = next.unwrap();
        assert_eq!(next.units, 5);
        next.waiters[0].caller.1 = true;
        assert!(next.is_wanted() && (next.units, next.needed) == (4, 4));
        // Whose callers leave later get their units: the first three are allowed, in their order.
        let (answers, none) = account.landed(next, &reply(&POLICY, 3, 0, HOUR), HOUR, now);
        let allowed: Vec<_> = answers.iter().map(|(caller, decision)| (caller.0, decision.allowed)).collect();
        assert_eq!(allowed, [(4, true), (5, true), (6, true), (7, false)]);
        assert!(none.is_none() && account.held(&POLICY.request("k"), now).is_some());
        assert!(account.unanswered(second, now).is_none() && account.is_idle());
    }

    #[test]
    fn a_caller_that_neither_goes_on_nor_leaves_keeps_nobody_waiting() {
        let (mut account, now) = (Account::default(), Instant::now());
        let form = Form::of(&POLICY.request("k")).unwrap();
        let stuck = two_and(&mut account, &form, 1, now);
        let next = account.overdue(now + LIMIT);
        assert!(next.is_some() && !account.has_waiting());
        // Two more may be sent by themselves beside them, and so on.
        assert!(matches!(ask(&mut account, &form, 3, false, now + LIMIT), Asked::Alone(_)));
        assert!(stuck.into_iter().all(|sent| account.unanswered(sent, now + LIMIT).is_none()));
    }

    #[test]
    fn what_a_grant_fetches_beside_what_is_needed_is_kept_until_its_window_ends() {
        const FIXED: Policy = Policy::fixed(Duration::from_millis(500), 100);
        let (mut account, now) = (Account::default(), Instant::now());
        let form = Form::granted(&FIXED, Ahead { units: 10, hold: HOUR });
        let after = |millis| now + Duration::from_millis(millis);
        let command = sent(ask(&mut account, &form, 0, false, now)).unwrap();
        assert_eq!(command.units, 10);
        // One command at a time.
        assert!(sent(ask(&mut account, &form, 1, false, now)).is_none());
        let (_, next) = account.landed(command, &reply(&FIXED, 10, 50, Duration::from_millis(100)), HOUR, now);
        // The one that waited needs a unit, and one is missing.
        assert_eq!(next.as_ref().unwrap().units, 1);
        account.landed(next.unwrap(), &reply(&FIXED, 1, 49, Duration::from_millis(90)), HOUR, now);
        // The earlier end of both, less a millisecond.
        let take = |account: &mut Account<Number>, cost, at| account.take(&form, cost, at).map(|(_, left)| left);
        assert_eq!([(2, 88), (1, 89)].map(|(cost, at)| take(&mut account, cost, after(at))), [Some(7), None]);
        assert_eq!(account.give_up(&FIXED, now), None);

        // Others are kept until they are given back. When a quarter is left, the next are fetched.
        let form = Form::granted(&POLICY, Ahead { units: 8, hold: LIMIT });
        let mut account = Account::default();
        let command = sent(ask(&mut account, &form, 0, false, now)).unwrap();
        account.landed(command, &reply(&POLICY, 8, 50, HOUR), HOUR, now);
        assert_eq!(account.gives_back_at(now, LIMIT), Some(now + LIMIT));
        let known = |account: &mut Account<Number>| match ask(account, &form, 1, false, now + HOUR) {
            Asked::Known(decision, next) if decision.source == Source::Grant => next,
            other => panic!("{other:?}"),
        };
        assert!((0..4).all(|_| known(&mut account).is_none()));
        let fetch = known(&mut account).unwrap();
        assert_eq!((fetch.units, fetch.needed, fetch.ends_at), (6, 0, now + HOUR + LIMIT));
        // While they are under way, no others are. Another policy of the key has no units of these.
        assert!(known(&mut account).is_none());
        const OTHER: Policy = Policy::token(HOUR, 999);
        let other = Form::granted(&OTHER, Ahead { units: 8, hold: LIMIT });
        assert!(matches!(ask(&mut account, &other, 2, false, now), Asked::Alone(sent) if !sent.is_flying));
        // One unit is left. A request of two waits, and gets kept units, also where nothing more is charged.
        let two = form.request(b"k", 2);
        let waits = account.ask(&two, Some(&form), now + HOUR, LIMIT, || Number(3, false));
        assert!(sent(waits).is_none());
        let next = account.landed(fetch, &reply(&POLICY, 1, 0, HOUR), HOUR, now).1.unwrap();
        assert_eq!((next.units, next.needed), (6, 2));
        let mut lent = account.clone();
        let (answers, _) = lent.landed(next.clone(), &reply(&POLICY, 0, 0, HOUR), HOUR, now);
        let [(Number(3, false), decision)] = answers.as_slice() else { panic!("{answers:?}") };
        assert_eq!((decision.allowed, decision.charged, decision.retry_after), (true, 2, RetryAfter::Now));
        assert_eq!(account.give_up(&POLICY, now), Some((2, 400)));
        assert!(account.give_up(&POLICY, now).is_none() && account.gives_back_at(now, LIMIT).is_some());
    }

    #[test]
    fn one_request_at_a_time_asks_about_a_denial() {
        const RECHECK: Duration = Duration::from_secs(10);
        let (mut account, now) = (Account::<Number>::default(), Instant::now());
        let request = POLICY.request("k").cost(2);
        let learn = |account: &mut Account<Number>, sent, charged| {
            account.learn(&request, sent, &reply(&POLICY, charged, 0, HOUR), RECHECK, now);
        };
        let begun = account.begin(None, now);
        learn(&mut account, begun, 0);
        let asks = |account: &mut Account<Number>, at| account.known(&request, at).ok();
        assert_eq!(asks(&mut account, now + RECHECK / 2), None);
        assert_eq!(account.known(&POLICY.request("k"), now), Ok(None), "it costs less");
        let due = now + RECHECK;
        let Some(Some(at)) = asks(&mut account, due) else { panic!("nobody asks") };
        let first = account.begin(Some(at), due);
        assert_eq!(asks(&mut account, due), None);
        // Without a reply the next one asks; what was decided before units came back is not remembered.
        account.unanswered(first, now);
        let next = asks(&mut account, due).unwrap();
        let again = account.begin(next, due);
        account.forget();
        learn(&mut account, again, 0);
        assert_eq!(asks(&mut account, due), Some(None));
        let begun = account.begin(None, now);
        learn(&mut account, begun, 0);
        let asking = account.begin(Some(now), due);
        learn(&mut account, asking, 2);
        assert!(asks(&mut account, due) == Some(None) && account.is_idle());
    }
}
