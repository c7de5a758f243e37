//! The commands of the module, and the same calls of the Lua library.

use super::commands::{Commands, Parts};
use crate::counts::Part;
use crate::key::Bounded;
use crate::policy::{Algorithm, Policy, Request, Window};

/// All figures in one string. It costs server and client the least.
const LINE: &str = "LINE";

/// A call of the module: about one request, or several that are decided together.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    verb: Verb<'a>,
    requests: &'a [Request<'a>],
}

/// What is to be done with a request.
#[derive(Clone, Copy, Debug)]
pub enum Verb<'a> {
    /// `RL.<ALGO>`
    Check,
    /// `RL.MULTI`
    CheckAll,
    /// `RL.PEEK`
    Peek,
    /// `RL.REFUND`
    Refund,
    /// `RL.SETTLE`: the cost of the request was charged, and this is what it turned out to cost.
    Settle(u64),
    /// `RL.SETTLE … RESERVATION`: what was reserved under the id turned out to cost `actual`.
    SettleReservation { id: &'a [u8], actual: u64 },
    /// `RL.RESET`
    Reset,
    /// `RL.RENEW`, of the lease of this holder.
    Renew(&'a [u8]),
    /// `RL.RELEASE`, of the lease of this holder.
    Release(&'a [u8]),
}

impl<'a> Call<'a> {
    /// A call about one request.
    pub const fn of(verb: Verb<'a>, request: &'a Request<'a>) -> Self {
        Self { verb, requests: std::slice::from_ref(request) }
    }

    /// A check of requests that are decided together: one or more.
    pub const fn all(requests: &'a [Request<'a>]) -> Self {
        Self { verb: Verb::CheckAll, requests }
    }

    /// The key whose slot decides which node of a cluster gets the call.
    pub fn key(&self) -> Bounded<'a> {
        self.requests.first().map_or(Bounded::new(b""), Request::bounded_key)
    }

    /// What the command charges, as far as that is counted here.
    pub fn parts(&self, mut part: impl FnMut(&Request<'_>) -> Option<Part>) -> Parts {
        match (self.verb, self.requests) {
            (Verb::Check, [request]) => part(request).map_or(Parts::Nothing, Parts::One),
            (Verb::CheckAll, requests) => Parts::All(requests.iter().map(part).collect()),
            _ => Parts::Nothing,
        }
    }

    /// The first algorithm of the call that the library does not have.
    pub fn needs_module(&self) -> Option<Algorithm> {
        let mut algorithms = self.requests.iter().map(|request| request.policy.algorithm());
        algorithms.find(|algorithm| !algorithm.traits().library)
    }

    /// Adds the command of the module.
    pub fn native(&self, commands: &mut Commands) {
        commands.word(self.names().0);
        if matches!(self.verb, Verb::CheckAll) {
            commands.number(self.requests.len() as u64);
        }
        for request in self.requests {
            // The command of a check names its algorithm itself.
            if !matches!(self.verb, Verb::Check) {
                self.algorithm(commands, request);
            }
            commands.word(&*request.bounded_key());
            self.words(commands, request);
        }
        self.end(commands);
    }

    /// Adds the call of the library, by EVALSHA and its hash, or by EVAL and its source: the keys, the name of the function,
    /// then the words without the keys.
    pub fn script(&self, name: &str, script: &str, commands: &mut Commands) {
        commands.word(name).word(script).number(self.requests.len() as u64);
        for request in self.requests {
            commands.word(&*request.bounded_key());
        }
        commands.word(self.names().1);
        for request in self.requests {
            self.algorithm(commands, request);
            self.words(commands, request);
        }
        self.end(commands);
    }

    /// The command of the module, and the function of the library.
    fn names(&self) -> (&'static str, &'static str) {
        match self.verb {
            Verb::Check => (self.requests.first().map_or("", |request| request.policy.algorithm().command()), "rl"),
            Verb::CheckAll => ("RL.MULTI", "rl_multi"),
            Verb::Peek => ("RL.PEEK", "rl_peek"),
            Verb::Refund => ("RL.REFUND", "rl_refund"),
            Verb::Settle(_) | Verb::SettleReservation { .. } => ("RL.SETTLE", "rl_settle"),
            Verb::Reset => ("RL.RESET", "rl_reset"),
            Verb::Renew(_) => ("RL.RENEW", "rl_renew"),
            Verb::Release(_) => ("RL.RELEASE", "rl_release"),
        }
    }

    /// Only LEASE has leases, so their words do not name it.
    fn algorithm(&self, commands: &mut Commands, request: &Request<'_>) {
        if !matches!(self.verb, Verb::Renew(_) | Verb::Release(_)) {
            commands.word(request.policy.algorithm().word());
        }
    }

    /// What follows the key.
    fn words(&self, commands: &mut Commands, request: &Request<'_>) {
        match self.verb {
            Verb::Check | Verb::CheckAll | Verb::Peek => limit_and_options(commands, request),
            Verb::Refund => {
                limit(commands, request.policy);
                cost(commands, request);
            }
            Verb::Settle(actual) => {
                limit(commands, request.policy);
                commands.word("RESERVED").number(request.cost).word("ACTUAL").number(actual);
            }
            Verb::SettleReservation { id, actual } => {
                limit(commands, request.policy);
                commands.word("RESERVATION").word(id).word("ACTUAL").number(actual);
            }
            Verb::Reset => {
                window(commands, request.policy);
                anchor(commands, request.policy);
            }
            Verb::Renew(id) => {
                window(commands, request.policy);
                commands.word(id);
            }
            Verb::Release(id) => {
                commands.word(id);
            }
        }
        if let (Verb::Refund | Verb::Settle(_), Some(at)) = (self.verb, request.at) {
            commands.word("AT").number(at);
        }
    }

    fn end(&self, commands: &mut Commands) {
        if !matches!(self.verb, Verb::Reset | Verb::Renew(_) | Verb::Release(_)) {
            commands.word(LINE);
        }
        commands.end();
    }
}

fn window(commands: &mut Commands, policy: &Policy) {
    match policy.window() {
        // The usual one, without `fmt`, which is slow.
        Window::Length(length) if length.subsec_nanos() == 0 => commands.number(length.as_secs()),
        other => commands.word(other.to_string()),
    };
}

/// `window limit [BURST n] [BLOCK d] [MAX d] [ANCHOR t]`. The name of the policy is not sent: only the headers have it.
fn limit(commands: &mut Commands, policy: &Policy) {
    window(commands, policy);
    commands.number(policy.limit());
    if let Some(burst) = policy.terms().burst {
        commands.word("BURST").number(burst);
    }
    for (word, lock) in ["BLOCK", "MAX"].into_iter().zip(policy.locks()) {
        if let Some(lock) = lock {
            commands.word(word).word(lock.to_string());
        }
    }
    anchor(commands, policy);
}

fn anchor(commands: &mut Commands, policy: &Policy) {
    if let Some(anchor) = policy.anchor_seconds() {
        commands.word("ANCHOR").number(anchor);
    }
}

fn cost(commands: &mut Commands, request: &Request<'_>) {
    if request.cost != 1 {
        commands.word("COST").number(request.cost);
    }
}

fn limit_and_options(commands: &mut Commands, request: &Request<'_>) {
    limit(commands, request.policy);
    cost(commands, request);
    if request.partial {
        commands.word("PARTIAL");
    }
    if request.always {
        commands.word("ALWAYS");
    }
    if let Some(id) = request.id {
        commands.word("ID").word(id);
    }
    if let Some((id, ttl)) = request.reserve {
        commands.word("RESERVE").word(id).word(format!("{}ms", ttl.as_millis()));
    }
    if request.policy.is_shadow() {
        commands.word("SHADOW");
    }
}
