//! The commands of the module, and the same calls of the Lua scripts.

use std::borrow::Cow;

use redis::Cmd;
use redis_rl_algorithm::hash_tag::braces;

use super::scripts::Script;
use crate::error::Error;
use crate::policy::{Policy, Request, Window};

/// All figures in one string. It costs server and client the least.
const LINE: &str = "LINE";
/// The module's error for a key that cannot be a hash tag.
const NO_TAG: Error = Error::Unsupported(
    "invalid key: in a cluster FIXED needs a key that is not empty and has no brace outside a hash tag",
);

#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub verb: Verb<'a>,
    /// Of `CheckAll` and `Share` one or more; of `Share` the narrowest limit first.
    pub requests: &'a [Request<'a>],
}

/// What is to be done with requests.
#[derive(Clone, Copy, Debug)]
pub enum Verb<'a> {
    Check,
    /// All or nothing.
    CheckAll,
    /// The first that is allowed pays.
    Share,
    Peek,
    Refund,
    /// The cost of the request was charged, and this is what it turned out to cost.
    Settle(u64),
    /// What was reserved under the id turned out to cost `actual`.
    SettleReservation {
        id: &'a [u8],
        actual: u64,
    },
    /// Whether an id is open, or has ended less than its time ago, by the hash of the reservations.
    HasReservation(&'a [u8]),
    Reset,
    /// The lease of this holder.
    Renew(&'a [u8]),
    Release(&'a [u8]),
}

impl<'a> Call<'a> {
    /// A call about one request.
    pub const fn of(verb: Verb<'a>, request: &'a Request<'a>) -> Self {
        Self { verb, requests: std::slice::from_ref(request) }
    }

    /// Whether the call says how many limits it has.
    const fn is_of_several(&self) -> bool {
        matches!(self.verb, Verb::CheckAll | Verb::Share)
    }

    /// The key whose slot decides which node of a cluster gets the call.
    pub fn key(&self) -> Cow<'a, [u8]> {
        self.requests.first().map(Request::bounded_key).unwrap_or_default()
    }

    /// Whether a reply shows that the server has the module.
    pub const fn shows_module(&self) -> bool {
        !matches!(self.verb, Verb::HasReservation(_))
    }

    /// As a command of the module.
    pub fn native(&self, in_cluster: bool) -> Cmd {
        // With room for what a command takes as a rule.
        let mut command = Cmd::with_capacity(8, 96);
        command.arg(self.name());
        if self.is_of_several() {
            command.arg(self.requests.len());
        }
        for request in self.requests {
            // The command of a check names its algorithm itself.
            if !matches!(self.verb, Verb::Check) {
                self.algorithm(&mut command, request);
            }
            match self.verb {
                Verb::HasReservation(_) => command.arg(reservations(request, in_cluster)),
                _ => command.arg(&*request.bounded_key()),
            };
            self.words(&mut command, request);
        }
        self.end(&mut command);
        command
    }

    /// The script of the call; `None` for a call without a request.
    pub fn script(&self) -> Option<&'static Script> {
        let first = self.requests.first()?;
        Some(match self.verb {
            Verb::CheckAll | Verb::Share => {
                Script::of_several(self.requests.iter().map(|request| request.policy.algorithm()))
            }
            _ => Script::of(first.policy.algorithm()),
        })
    }

    /// The call of a script, by EVALSHA and its hash, or by EVAL and its source: the keys, then what is done, and the
    /// words of the command without the keys.
    ///
    /// # Errors
    /// In a cluster FIXED has no counter in the slot of a key. A reservation needs the module, unless its guard settles it.
    pub fn scripted(&self, name: &str, script: &str, in_cluster: bool) -> Result<Cmd, Error> {
        let by_id = |one: &Request<'_>| one.reserve.is_some() || matches!(self.verb, Verb::SettleReservation { .. });
        // A caller that will settle by amount and time names the time: `at`.
        let needs_module = |one: &Request<'_>| by_id(one) && one.at.is_none();
        if matches!(self.verb, Verb::HasReservation(_)) || self.requests.iter().any(needs_module) {
            return Err(Error::NeedsModule);
        }
        let mut keys = Vec::new();
        for request in self.requests {
            let (key, has_suffix) = (request.bounded_key(), request.policy.algorithm().traits().key_per_window);
            let [open, close] = braces(&key, in_cluster && has_suffix).ok_or(NO_TAG)?;
            keys.push([open, &*key, close].concat());
        }
        let mut command = redis::cmd(name);
        command.arg(script).arg(keys.len()).arg(&keys);
        match self.verb {
            Verb::Check => command.arg("CHECK"),
            _ => command.arg(self.name().trim_start_matches("RL.")),
        };
        if self.is_of_several() {
            command.arg(self.requests.len());
        }
        for request in self.requests {
            // What is reserved is charged, and settled as any other charge. The script rejects what takes no RESERVE.
            let takes_none = |_: &_| !request.policy.algorithm().traits().reserve;
            let request = &Request { reserve: request.reserve.filter(takes_none), ..*request };
            if self.is_of_several() {
                self.algorithm(&mut command, request);
            }
            match self.verb {
                Verb::SettleReservation { actual, .. } => {
                    Self { verb: Verb::Settle(actual), ..*self }.words(&mut command, request)
                }
                _ => self.words(&mut command, request),
            }
        }
        self.end(&mut command);
        Ok(command)
    }

    fn name(&self) -> &'static str {
        match self.verb {
            Verb::Check => self.requests.first().map_or("", |request| request.policy.algorithm().command()),
            Verb::CheckAll => "RL.MULTI",
            Verb::Share => "RL.SHARE",
            Verb::Peek => "RL.PEEK",
            Verb::Refund => "RL.REFUND",
            Verb::Settle(_) | Verb::SettleReservation { .. } => "RL.SETTLE",
            Verb::HasReservation(_) => "HEXISTS",
            Verb::Reset => "RL.RESET",
            Verb::Renew(_) => "RL.RENEW",
            Verb::Release(_) => "RL.RELEASE",
        }
    }

    /// Only LEASE has leases, so their words do not name it. HEXISTS is a command of the server.
    fn algorithm(&self, command: &mut Cmd, request: &Request<'_>) {
        if !matches!(self.verb, Verb::Renew(_) | Verb::Release(_) | Verb::HasReservation(_)) {
            command.arg(request.policy.algorithm().word());
        }
    }

    fn words(&self, command: &mut Cmd, request: &Request<'_>) {
        match self.verb {
            Verb::Check | Verb::CheckAll | Verb::Share | Verb::Peek => limit_and_options(command, request),
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
            Verb::Release(id) | Verb::HasReservation(id) => {
                command.arg(id);
            }
        }
        if let (Verb::Refund | Verb::Settle(_), Some(at)) = (self.verb, request.at) {
            command.arg("AT").arg(at);
        }
    }

    fn end(&self, command: &mut Cmd) {
        if !matches!(self.verb, Verb::Reset | Verb::Renew(_) | Verb::Release(_) | Verb::HasReservation(_)) {
            command.arg(LINE);
        }
    }
}

/// The name of the hash of the reservations of a limit, as the module makes it.
fn reservations(request: &Request<'_>, in_cluster: bool) -> Vec<u8> {
    let key = request.bounded_key();
    // The module rejects a reservation of a key that has no such name.
    let [open, close] = braces(&key, in_cluster).unwrap_or_default();
    let policy = request.policy;
    let window = policy.algorithm().traits().key_per_window.then(|| format!(":{}", policy.terms().schedule));
    [open, &*key, close, window.unwrap_or_default().as_bytes(), b":reserved"].concat()
}

fn window(command: &mut Cmd, policy: &Policy) {
    match policy.window() {
        // The usual one, without `fmt`, which is slow.
        Window::Length(length) if length.subsec_nanos() == 0 => command.arg(length.as_secs()),
        other => command.arg(other.to_string()),
    };
}

/// `window limit [BURST n] [BLOCK d] [MAX d] [ANCHOR t]`. The name of the policy is not sent: only the headers have it.
fn limit(command: &mut Cmd, policy: &Policy) {
    window(command, policy);
    command.arg(policy.limit());
    if let Some(burst) = policy.terms().burst {
        command.arg("BURST").arg(burst);
    }
    for (word, lock) in ["BLOCK", "MAX"].into_iter().zip(policy.locks()) {
        if let Some(lock) = lock {
            command.arg(word).arg(lock.to_string());
        }
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
