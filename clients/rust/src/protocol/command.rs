//! The commands of the module, and the same calls of the Lua library.

use redis::{Cmd, cmd};

use crate::key::Bounded;
use crate::policy::{Algorithm, Policy, Request, Window};

/// All figures in one string. It costs server and client the least.
const LINE: &str = "LINE";
/// So many words, and bytes, a request has at most as a rule.
const WORDS: usize = 8;
const BYTES: usize = 120;

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

/// How the library is called.
#[derive(Clone, Copy, Debug)]
pub enum Script<'a> {
    /// By the hash of its source.
    Hash(&'a str),
    /// With its source, which loads it.
    Source(&'a str),
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

    /// The first algorithm of the call that the library does not have.
    pub fn needs_module(&self) -> Option<Algorithm> {
        let mut algorithms = self.requests.iter().map(|request| request.policy.algorithm());
        algorithms.find(|algorithm| *algorithm == Algorithm::Rolling)
    }

    /// The command of the module.
    pub fn native(&self) -> Cmd {
        let mut command = Cmd::with_capacity(2 + WORDS * self.requests.len(), 16 + BYTES * self.requests.len());
        command.arg(self.names().0);
        if matches!(self.verb, Verb::CheckAll) {
            command.arg(self.requests.len());
        }
        for request in self.requests {
            // The command of a check names its algorithm itself.
            if !matches!(self.verb, Verb::Check) {
                self.algorithm(&mut command, request);
            }
            command.arg(&*request.bounded_key());
            self.words(&mut command, request);
        }
        self.end(command)
    }

    /// The call of the library as a script: the keys, the name of the function, then the words without the keys.
    pub fn script(&self, script: Script<'_>) -> Cmd {
        let (name, script) = match script {
            Script::Hash(hash) => ("EVALSHA", hash),
            Script::Source(source) => ("EVAL", source),
        };
        let mut command = cmd(name);
        command.arg(script).arg(self.requests.len());
        for request in self.requests {
            command.arg(&*request.bounded_key());
        }
        command.arg(self.names().1);
        for request in self.requests {
            self.algorithm(&mut command, request);
            self.words(&mut command, request);
        }
        self.end(command)
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
    fn algorithm(&self, command: &mut Cmd, request: &Request<'_>) {
        if !matches!(self.verb, Verb::Renew(_) | Verb::Release(_)) {
            command.arg(request.policy.algorithm().word());
        }
    }

    /// What follows the key.
    fn words(&self, command: &mut Cmd, request: &Request<'_>) {
        match self.verb {
            Verb::Check | Verb::CheckAll | Verb::Peek => limit_and_options(command, request),
            Verb::Refund => {
                limit(command, request.policy);
                cost(command, request);
            }
            Verb::Settle(actual) => {
                limit(command, request.policy);
                command.arg("RESERVED").arg(request.cost).arg("ACTUAL").arg(actual);
            }
            Verb::SettleReservation { id, actual } => {
                limit(command, request.policy);
                command.arg("RESERVATION").arg(id).arg("ACTUAL").arg(actual);
            }
            Verb::Reset => {
                window(command, request.policy);
                anchor(command, request.policy);
            }
            Verb::Renew(id) => {
                window(command, request.policy);
                command.arg(id);
            }
            Verb::Release(id) => {
                command.arg(id);
            }
        }
        if let (Verb::Refund | Verb::Settle(_), Some(at)) = (self.verb, request.at) {
            command.arg("AT").arg(at);
        }
    }

    fn end(&self, mut command: Cmd) -> Cmd {
        if !matches!(self.verb, Verb::Reset | Verb::Renew(_) | Verb::Release(_)) {
            command.arg(LINE);
        }
        command
    }
}

fn window(command: &mut Cmd, policy: &Policy) {
    match policy.window() {
        // The usual one, without `fmt`, which is slow.
        Window::Length(length) if length.subsec_nanos() == 0 => command.arg(length.as_secs()),
        other => command.arg(other.to_string()),
    };
}

/// `window limit [BURST n] [ANCHOR t]`. The name of the policy is not sent: only the headers have it.
fn limit(command: &mut Cmd, policy: &Policy) {
    window(command, policy);
    command.arg(policy.limit());
    if let Some(burst) = policy.burst_option() {
        command.arg("BURST").arg(burst);
    }
    anchor(command, policy);
}

fn anchor(command: &mut Cmd, policy: &Policy) {
    if let Some(anchor) = policy.anchor_seconds() {
        command.arg("ANCHOR").arg(anchor);
    }
}

fn cost(command: &mut Cmd, request: &Request<'_>) {
    if request.cost != 1 {
        command.arg("COST").arg(request.cost);
    }
}

fn limit_and_options(command: &mut Cmd, request: &Request<'_>) {
    limit(command, request.policy);
    cost(command, request);
    if request.partial {
        command.arg("PARTIAL");
    }
    if request.always {
        command.arg("ALWAYS");
    }
    if let Some(id) = request.id {
        command.arg("ID").arg(id);
    }
    if let Some((id, ttl)) = request.reserve {
        command.arg("RESERVE").arg(id).arg(format!("{}ms", ttl.as_millis()));
    }
    if request.policy.is_shadow() {
        command.arg("SHADOW");
    }
}
