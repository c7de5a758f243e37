//! The commands of the module, and the same calls of the Lua library.

use redis::{Cmd, cmd};

use crate::key::Bounded;
use crate::policy::{Algorithm, Policy, Request, Window};

/// All figures in one string. It costs server and client the least.
const LINE: &str = "LINE";

/// A call of the module.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// `RL.<ALGO>`
    Check(&'a Request<'a>),
    /// `RL.MULTI`, of one limit or more.
    CheckAll(&'a [Request<'a>]),
    /// `RL.PEEK`
    Peek(&'a Request<'a>),
    /// `RL.REFUND`
    Refund(&'a Request<'a>),
    /// `RL.SETTLE`: the cost of the request was charged, and `actual` is what it turned out to cost.
    Settle { request: &'a Request<'a>, actual: u64 },
    /// `RL.SETTLE … RESERVATION`: what was reserved under the id turned out to cost `actual`.
    SettleReservation { policy: &'a Policy, key: &'a [u8], id: &'a [u8], actual: u64 },
    /// `RL.RESET`
    Reset { policy: &'a Policy, key: &'a [u8] },
    /// `RL.RENEW`
    Renew { policy: &'a Policy, key: &'a [u8], id: &'a [u8] },
    /// `RL.RELEASE`
    Release { key: &'a [u8], id: &'a [u8] },
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
    /// The key whose slot decides which node of a cluster gets the call.
    pub fn key(&self) -> Bounded<'a> {
        match *self {
            Self::Check(request) | Self::Peek(request) | Self::Refund(request) | Self::Settle { request, .. } => {
                request.bounded_key()
            }
            Self::CheckAll(requests) => requests.first().map_or(Bounded::new(b""), Request::bounded_key),
            Self::SettleReservation { key, .. }
            | Self::Reset { key, .. }
            | Self::Renew { key, .. }
            | Self::Release { key, .. } => Bounded::new(key),
        }
    }

    /// The first algorithm of the call that the library does not have.
    pub fn needs_module(&self) -> Option<Algorithm> {
        let is_missing = |algorithm: &Algorithm| *algorithm == Algorithm::Rolling;
        match *self {
            Self::CheckAll(requests) => requests.iter().map(|request| request.policy.algorithm()).find(is_missing),
            _ => self.algorithm().filter(is_missing),
        }
    }

    /// The command of the module.
    pub fn native(&self) -> Cmd {
        let mut command = cmd(self.names().0);
        if let Self::CheckAll(requests) = *self {
            command.arg(requests.len());
            for request in requests {
                command.arg(request.policy.algorithm().word()).arg(&*request.bounded_key());
                limit_and_options(&mut command, request);
            }
            command.arg(LINE);
        } else {
            // The command of a check names its algorithm itself.
            if let Some(algorithm) = self.algorithm().filter(|_| !matches!(self, Self::Check(_))) {
                command.arg(algorithm.word());
            }
            command.arg(&*self.key());
            self.words_after_key(&mut command);
        }
        command
    }

    /// The call of the library as a script: the keys, the name of the function, then the words without the keys.
    pub fn script(&self, script: Script<'_>) -> Cmd {
        let (name, script) = match script {
            Script::Hash(hash) => ("EVALSHA", hash),
            Script::Source(source) => ("EVAL", source),
        };
        let mut command = cmd(name);
        command.arg(script);
        match *self {
            Self::CheckAll(requests) => {
                command.arg(requests.len());
                for request in requests {
                    command.arg(&*request.bounded_key());
                }
                command.arg(self.names().1);
                for request in requests {
                    command.arg(request.policy.algorithm().word());
                    limit_and_options(&mut command, request);
                }
                command.arg(LINE);
            }
            _ => {
                command.arg(1).arg(&*self.key()).arg(self.names().1);
                if let Some(algorithm) = self.algorithm() {
                    command.arg(algorithm.word());
                }
                self.words_after_key(&mut command);
            }
        }
        command
    }

    /// The command of the module, and the function of the library.
    fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Check(request) => (request.policy.algorithm().command(), "rl"),
            Self::CheckAll(_) => ("RL.MULTI", "rl_multi"),
            Self::Peek(_) => ("RL.PEEK", "rl_peek"),
            Self::Refund(_) => ("RL.REFUND", "rl_refund"),
            Self::Settle { .. } | Self::SettleReservation { .. } => ("RL.SETTLE", "rl_settle"),
            Self::Reset { .. } => ("RL.RESET", "rl_reset"),
            Self::Renew { .. } => ("RL.RENEW", "rl_renew"),
            Self::Release { .. } => ("RL.RELEASE", "rl_release"),
        }
    }

    /// The algorithm that the words name, if the call has one limit.
    fn algorithm(&self) -> Option<Algorithm> {
        match *self {
            Self::Check(request) | Self::Peek(request) | Self::Refund(request) | Self::Settle { request, .. } => {
                Some(request.policy.algorithm())
            }
            Self::SettleReservation { policy, .. } | Self::Reset { policy, .. } => Some(policy.algorithm()),
            Self::CheckAll(_) | Self::Renew { .. } | Self::Release { .. } => None,
        }
    }

    /// What follows the key of a call with one limit.
    fn words_after_key(&self, command: &mut Cmd) {
        match *self {
            Self::Check(request) | Self::Peek(request) => {
                limit_and_options(command, request);
                command.arg(LINE);
            }
            Self::Refund(request) => {
                limit(command, request.policy);
                if request.cost != 1 {
                    command.arg("COST").arg(request.cost);
                }
                correction_options(command, request);
            }
            Self::Settle { request, actual } => {
                limit(command, request.policy);
                command.arg("RESERVED").arg(request.cost).arg("ACTUAL").arg(actual);
                correction_options(command, request);
            }
            Self::SettleReservation { policy, id, actual, .. } => {
                limit(command, policy);
                command.arg("RESERVATION").arg(id).arg("ACTUAL").arg(actual).arg(LINE);
            }
            Self::Reset { policy, .. } => {
                window(command, policy);
                if let Some(anchor) = policy.anchor_seconds() {
                    command.arg("ANCHOR").arg(anchor);
                }
            }
            Self::Renew { policy, id, .. } => {
                window(command, policy);
                command.arg(id);
            }
            Self::Release { id, .. } => {
                command.arg(id);
            }
            Self::CheckAll(_) => {}
        }
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
    if let Some(anchor) = policy.anchor_seconds() {
        command.arg("ANCHOR").arg(anchor);
    }
}

fn limit_and_options(command: &mut Cmd, request: &Request<'_>) {
    limit(command, request.policy);
    if request.cost != 1 {
        command.arg("COST").arg(request.cost);
    }
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

fn correction_options(command: &mut Cmd, request: &Request<'_>) {
    if let Some(at) = request.at {
        command.arg("AT").arg(at);
    }
    command.arg(LINE);
}
