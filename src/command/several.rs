//! Several limits of any algorithms in one call: what RL.MULTI and RL.SHARE have in common.
//!
//! The options of a limit follow it; the form of the reply comes last. The first pass parses all limits, the second decides
//! them and charges none, and the third commits.

use std::ffi::c_int;
use std::ops::RangeInclusive;

use arrayvec::ArrayVec;
use redis_rl_algorithm::integer::parse_unsigned;
use redis_rl_algorithm::{Charging, Micros, Verdict};

use super::algorithms::Algorithm;
use super::decide::Pending;
use super::form::Form;
use super::name::{NO_SUCH_ALGORITHM, Name};
use super::options::{Grammar, Keyword, Reserve, Taker};
use super::reply::Reply;
use super::request::{Request, require_few_members};
use super::reserve::Reserving;
use crate::error::{Error, Message};
use crate::ffi::{Arg, Args, ClosedKey, Ctx};
use crate::stats::Outcome;
use crate::store::{Budget, Purpose};

/// The most limits in one call.
pub const MAX: usize = 64;

/// What a command over several limits takes.
pub struct Rules {
    pub taker: Taker,
    /// How many limits, at most [`MAX`].
    pub limits: RangeInclusive<u8>,
    /// The error for another number of them.
    pub num_limits: Error,
}

/// Parses the arguments of a call into `limits` and `keys`. Returns the form of the reply.
pub fn parse<'c>(
    ctx: Ctx<'c>,
    rules: &Rules,
    args: &mut Args<'c>,
    (now, budget): (Micros, &Budget),
    limits: &mut ArrayVec<Limit<'c>, MAX>,
    keys: &mut ArrayVec<Keys<'c>, MAX>,
) -> Result<Form, Error> {
    let count = args.next().and_then(|count| parse_unsigned(count.bytes())).and_then(|n| u8::try_from(n).ok());
    let count = count.filter(|count| rules.limits.contains(count)).ok_or(rules.num_limits)?;
    for number in 1..=count {
        let parsed = parse_limit(ctx, rules.taker, args, (now, budget), limits);
        let written = parsed.map_err(|error| error.of_limit(number))?;
        let repeats = |key: &ClosedKey<'_>| keys.iter().any(|other| other.has(key));
        if repeats(&written.state) || written.reserve.as_ref().is_some_and(|reserve| repeats(&reserve.1)) {
            return Err(Error::SAME_KEY.of_limit(number));
        }
        keys.push(written);
    }
    let form = parse_form(args, rules, keys)?;
    require_few_members(keys.iter().map(|keys| keys.members))?;
    Ok(form)
}

/// The form of the reply after the last limit, or nothing.
fn parse_form<'c>(args: &mut Args<'c>, rules: &Rules, limits: &[Keys<'c>]) -> Result<Form, Error> {
    let mut form = Form::Verdict;
    while let Some(word) = args.next_word() {
        form = match Form::from_word(word) {
            Some(named) => form.and(named)?,
            None if form != Form::Verdict => return Err(Form::NOT_LAST),
            None if Name::from_word(word).is_some() => return Err(Error::MORE_LIMITS),
            None => {
                let number = u8::try_from(limits.len()).unwrap_or(u8::MAX);
                let usage = |limit: &Keys<'_>| limit.grammar.usage();
                return Err(limits.last().map_or(rules.num_limits, usage).of_limit(number));
            }
        };
    }
    Ok(form)
}

/// Parses `<ALGO> key window limit [options]` into `limits`. Returns the keys that the limit writes.
fn parse_limit<'c>(
    ctx: Ctx<'c>,
    taker: Taker,
    args: &mut Args<'c>,
    (now, budget): (Micros, &Budget),
    limits: &mut ArrayVec<Limit<'c>, MAX>,
) -> Result<Keys<'c>, Error> {
    let word = args.next_word().ok_or(Error::FEWER_LIMITS)?;
    let Some(name) = Name::from_word(word) else {
        return Err(match Form::from_word(word) {
            Some(_) if args.is_empty() => Error::FEWER_LIMITS,
            Some(_) => Form::NOT_LAST,
            None => NO_SUCH_ALGORITHM,
        });
    };
    if taker == Taker::Share && !name.traits().always {
        return Err(Error::new(Message::NotShared));
    }
    for_algorithm!(name, A => {
        let (request, reserve) = Request::<A>::parse_limit(args, taker)?;
        let state = request.state_key(ctx, now, Purpose::Write(budget))?;
        let reserve = match reserve {
            None => None,
            Some(reserve) => Some(Box::new((reserve, request.hash_key(ctx)?))),
        };
        let keys = Keys {
            state,
            reserve,
            members: request.most_members_added(),
            grammar: Request::<A>::of_several(taker),
            names_shadow: request.shadow,
        };
        limits.push(request.into());
        Ok(keys)
    })
}

/// Reports the positions of the keys of a call, up to the first word that can be no part of a limit. The command itself
/// replies the error.
pub fn key_positions(args: Args<'_>, report: &mut dyn FnMut(c_int)) {
    let mut words = args.zip(1..).skip(1);
    while let Some((word, _)) = words.next() {
        let further = if Name::from_word(word.bytes()).is_some() {
            if let Some((_, position)) = words.next() {
                report(position);
            }
            2
        } else if let Some(option) = Keyword::from_word(word.bytes()) {
            option.values()
        } else {
            return;
        };
        for _ in 0..further {
            words.next();
        }
    }
}

/// The keys that a limit writes, and what is known of it before it is decided.
pub struct Keys<'c> {
    state: ClosedKey<'c>,
    /// With RESERVE.
    reserve: Option<Box<(Reserve<'c>, ClosedKey<'c>)>>,
    /// How many members it adds to a sorted set at most.
    members: u64,
    grammar: &'static Grammar,
    /// The limit has the option SHADOW.
    pub names_shadow: bool,
}

impl Keys<'_> {
    fn has(&self, key: &ClosedKey<'_>) -> bool {
        let is_same = |own: &ClosedKey<'_>| own.name.bytes() == key.name.bytes();
        is_same(&self.state) || self.reserve.as_ref().is_some_and(|reserve| is_same(&reserve.1))
    }
}

/// An enum that holds `$one` of any algorithm: a call needs no memory of its own for its limits.
macro_rules! any {
    (($(#[$doc:meta])* $any:ident of $one:ident) $($name:ident => $type:ty { $($text:tt)* })*) => {
        $(#[$doc])*
        pub enum $any<'c> {
            $($name($one<'c, $type>),)*
        }

        $(impl<'c> From<$one<'c, $type>> for $any<'c> {
            #[inline(always)]
            fn from(one: $one<'c, $type>) -> Self {
                Self::$name(one)
            }
        })*
    };
}

/// `with_table!(visit(Limit, value, one => expression))`: evaluates the expression with what a [`Limit`] or a
/// [`DecidedLimit`] holds.
macro_rules! visit {
    (($any:ident, $value:expr, $one:ident => $action:expr) $($name:ident => $type:ty { $($text:tt)* })*) => {
        match $value {
            $($any::$name($one) => $action,)*
        }
    };
}

with_table!(any(
    /// A request under a limit of any algorithm.
    Limit of Request
));

impl Limit<'_> {
    /// Says how RL.SHARE charges the limit: `is_paid` if a narrower limit has paid; `is_last` for the widest limit, whose
    /// denial is that of the request.
    pub fn set_place(&mut self, is_paid: bool, is_last: bool) {
        with_table!(visit(Limit, self, request => {
            request.ignores_shadow = is_paid || !is_last;
            if is_paid {
                request.charging = Charging::Lending;
            }
        }));
    }

    /// Decides into `decided`. See [`Request::decide`] and [`Request::decide_reserving`].
    pub fn decide<'r>(
        &'r self,
        keys: Keys<'r>,
        now: Micros,
        budget: &Budget,
        decided: &mut ArrayVec<DecidedLimit<'r>, MAX>,
    ) -> Result<Verdict, Error> {
        with_table!(visit(Limit, self, request => {
            let limit = Decided::new(request, keys, now, budget)?;
            let verdict = limit.pending.decision.verdict;
            decided.push(limit.into());
            Ok(verdict)
        }))
    }
}

with_table!(any(
    /// A limit of any algorithm that is decided and not yet committed.
    DecidedLimit of Decided
));

/// What a call over several limits asks of each before it commits any.
pub struct Facts<'c> {
    pub key: Arg<'c>,
    pub verdict: Verdict,
    pub is_in_shadow_mode: bool,
    /// Allowed by shadow mode.
    pub is_shadowed: bool,
}

impl<'c> DecidedLimit<'c> {
    pub fn facts(&self) -> Facts<'c> {
        with_table!(visit(DecidedLimit, self, limit => limit.facts()))
    }

    /// Whether the change creates a key or makes one larger.
    #[inline(always)]
    pub fn needs_memory(&self) -> bool {
        with_table!(visit(DecidedLimit, self, limit => match &limit.reserving {
            None => limit.pending.needs_memory(),
            Some(reserving) => reserving.needs_memory(&limit.pending),
        }))
    }

    /// See [`Pending::leave_uncharged`].
    #[cold]
    pub fn leave_uncharged(&mut self, allowed: bool) -> Result<(), Error> {
        with_table!(visit(DecidedLimit, self, limit => match &mut limit.reserving {
            None => limit.pending.leave_uncharged(allowed),
            Some(reserving) => reserving.leave_uncharged(&mut limit.pending, allowed),
        }))
    }

    /// `allowed` says whether the call is allowed; otherwise nothing is charged.
    pub fn reply(&self, allowed: bool) -> Reply<'c> {
        with_table!(visit(DecidedLimit, self, limit => match &limit.reserving {
            None => limit.pending.reply(if allowed { limit.pending.charged() } else { 0 }),
            Some(reserving) => reserving.reply(&limit.pending, allowed),
        }))
    }

    /// See [`Pending::count`].
    pub fn count(&self) -> Outcome {
        with_table!(visit(DecidedLimit, self, limit => limit.pending.count()))
    }

    /// Counts the decision. If the call is not `allowed`, commits nothing that it charges.
    #[inline(always)]
    pub fn commit(self, allowed: bool) -> Outcome {
        with_table!(visit(DecidedLimit, self, limit => limit.commit(allowed)))
    }

    /// Commits a limit of RL.SHARE, without its charge if it `charges` nothing, and counts nothing.
    pub fn commit_uncounted(self, charges: bool) {
        with_table!(visit(DecidedLimit, self, limit => limit.pending.commit_uncounted(charges)));
    }
}

/// See [`DecidedLimit`].
pub struct Decided<'c, A: Algorithm> {
    pending: Pending<'c, A>,
    /// With RESERVE.
    reserving: Option<Box<Reserving<'c>>>,
}

impl<'c, A: Algorithm> Decided<'c, A> {
    fn new(request: &'c Request<'c, A>, keys: Keys<'c>, now: Micros, budget: &Budget) -> Result<Self, Error> {
        Ok(match keys.reserve {
            None => Self { pending: request.decide(keys.state, now, Purpose::Write(budget))?, reserving: None },
            Some(reserve) => {
                let (reserve, hash) = *reserve;
                let (pending, reserving) = request.decide_reserving(keys.state, hash, reserve, now, budget)?;
                Self { pending, reserving: Some(Box::new(reserving)) }
            }
        })
    }

    #[inline(always)]
    fn commit(self, allowed: bool) -> Outcome {
        let Self { mut pending, reserving } = self;
        match reserving {
            Some(reserving) => reserving.commit(pending, allowed),
            None => {
                if !allowed {
                    pending.drop_charge();
                }
                pending.commit()
            }
        }
    }

    fn facts(&self) -> Facts<'c> {
        let Pending { request, decision, shadowed, .. } = &self.pending;
        let (key, verdict, is_in_shadow_mode) = (request.key, decision.verdict, request.is_in_shadow_mode());
        Facts { key, verdict, is_in_shadow_mode, is_shadowed: *shadowed }
    }
}
