//! The commands of the module, and the same calls of the Lua library.

use redis::{Cmd, cmd};

use crate::policy::{Algorithm, Policy};
use crate::request::Request;

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
    pub fn key(&self) -> &'a [u8] {
        match *self {
            Self::Check(request) | Self::Peek(request) | Self::Refund(request) | Self::Settle { request, .. } => {
                request.key
            }
            Self::CheckAll(requests) => requests.first().map_or(b"", |request| request.key),
            Self::Reset { key, .. } | Self::Renew { key, .. } | Self::Release { key, .. } => key,
        }
    }

    /// The first algorithm of the call that the library does not have.
    pub fn needs_module(&self) -> Option<Algorithm> {
        let missing = |policy: &Policy| {
            let algorithm = policy.algorithm();
            (algorithm == Algorithm::Rolling).then_some(algorithm)
        };
        match *self {
            Self::Check(request) | Self::Peek(request) | Self::Refund(request) | Self::Settle { request, .. } => {
                missing(request.policy)
            }
            Self::CheckAll(requests) => requests.iter().find_map(|request| missing(request.policy)),
            Self::Reset { policy, .. } => missing(policy),
            Self::Renew { .. } | Self::Release { .. } => None,
        }
    }

    /// The command of the module.
    pub fn native(&self) -> Cmd {
        let mut command = cmd(self.command());
        if let Self::CheckAll(requests) = *self {
            command.arg(requests.len());
            for request in requests {
                command.arg(request.policy.algorithm().word()).arg(request.key);
                limit(&mut command, request.policy);
                check_options(&mut command, request);
            }
            command.arg("FULL");
        } else {
            // The command of a check names its algorithm itself.
            if let Some(algorithm) = self.algorithm().filter(|_| !matches!(self, Self::Check(_))) {
                command.arg(algorithm.word());
            }
            command.arg(self.key());
            self.words_after_key(&mut command);
        }
        command
    }

    /// The call of the library as a script: the keys, the name of the function, then the words without the keys.
    pub fn script(&self, script: Script<'_>) -> Cmd {
        let mut command = match script {
            Script::Hash(hash) => {
                let mut command = cmd("EVALSHA");
                command.arg(hash);
                command
            }
            Script::Source(source) => {
                let mut command = cmd("EVAL");
                command.arg(source);
                command
            }
        };
        match *self {
            Self::CheckAll(requests) => {
                command.arg(requests.len());
                for request in requests {
                    command.arg(request.key);
                }
                command.arg("rl_multi");
                for request in requests {
                    command.arg(request.policy.algorithm().word());
                    limit(&mut command, request.policy);
                    check_options(&mut command, request);
                }
                command.arg("FULL");
            }
            _ => {
                command.arg(1).arg(self.key()).arg(self.function());
                if let Some(algorithm) = self.algorithm() {
                    command.arg(algorithm.word());
                }
                self.words_after_key(&mut command);
            }
        }
        command
    }

    fn command(&self) -> &'static str {
        match self {
            Self::Check(request) => request.policy.algorithm().command(),
            Self::CheckAll(_) => "RL.MULTI",
            Self::Peek(_) => "RL.PEEK",
            Self::Refund(_) => "RL.REFUND",
            Self::Settle { .. } => "RL.SETTLE",
            Self::Reset { .. } => "RL.RESET",
            Self::Renew { .. } => "RL.RENEW",
            Self::Release { .. } => "RL.RELEASE",
        }
    }

    /// The function of the library.
    fn function(&self) -> &'static str {
        match self {
            Self::Check(_) => "rl",
            Self::CheckAll(_) => "rl_multi",
            Self::Peek(_) => "rl_peek",
            Self::Refund(_) => "rl_refund",
            Self::Settle { .. } => "rl_settle",
            Self::Reset { .. } => "rl_reset",
            Self::Renew { .. } => "rl_renew",
            Self::Release { .. } => "rl_release",
        }
    }

    /// The algorithm that the words name, if the call has one limit.
    fn algorithm(&self) -> Option<Algorithm> {
        match *self {
            Self::Check(request) | Self::Peek(request) | Self::Refund(request) | Self::Settle { request, .. } => {
                Some(request.policy.algorithm())
            }
            Self::Reset { policy, .. } => Some(policy.algorithm()),
            Self::CheckAll(_) | Self::Renew { .. } | Self::Release { .. } => None,
        }
    }

    /// What follows the key of a call with one limit.
    fn words_after_key(&self, command: &mut Cmd) {
        match *self {
            Self::Check(request) | Self::Peek(request) => {
                limit(command, request.policy);
                check_options(command, request);
                command.arg("FULL");
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
    command.arg(policy.window().to_string());
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

fn check_options(command: &mut Cmd, request: &Request<'_>) {
    if request.cost != 1 {
        command.arg("COST").arg(request.cost);
    }
    if request.partial {
        command.arg("PARTIAL");
    }
    if let Some(id) = request.id {
        command.arg("ID").arg(id);
    }
    if request.policy.is_shadow() {
        command.arg("SHADOW");
    }
}

fn correction_options(command: &mut Cmd, request: &Request<'_>) {
    if let Some(at) = request.at {
        command.arg("AT").arg(at);
    }
    command.arg("FULL");
}
