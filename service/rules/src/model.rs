//! The rules as the service uses them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use http::HeaderName;
use ipnet::IpNet;
use redis_rl_client::{Calendar, Fallback, Policy, Window};

use super::problem::{Place, Printable};
use super::wildcard::Wildcard;

/// How the headers begin that describe the request of the client.
const OF_PROXIES: [&str; 2] = ["x-forwarded-", "x-original-"];

/// A set of rules that is used as a whole.
#[derive(Debug, Default)]
pub struct Rules {
    pub domains: HashMap<Box<str>, Domain, RandomState>,
}

/// Pools by their names.
pub type Pools = BTreeMap<Box<str>, Arc<Limit>>;

/// The rules of a domain.
#[derive(Debug, Default)]
pub struct Domain {
    pub options: Options,
    /// What limits name by `else` or `share`.
    pub pools: Pools,
    pub root: Level,
    /// Whether the keys of its rules are those of the two Lua scripts.
    pub script_keys: bool,
}

/// What a domain says about all of its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// A request that one limit denies charges none.
    pub all_or_nothing: bool,
    /// The key of the entry whose value is the hash tag of the keys.
    pub hash_tag: Option<Box<str>>,
    /// What a request gets if the server cannot decide.
    pub on_unavailable: Fallback,
    /// What a request gets if the service is too busy to ask the server. Never `Allow`: nothing lifts a limit because many
    /// ask.
    pub on_overload: Fallback,
    /// How `/authorize/<domain>` makes descriptors.
    pub authorize: Option<Arc<Authorize>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            all_or_nothing: false,
            hash_tag: None,
            on_unavailable: Fallback::Error,
            on_overload: Fallback::Local { instances: 1 },
            authorize: None,
        }
    }
}

/// How `/authorize/<domain>` makes descriptors, and what it replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorize {
    pub trusted_proxies: Vec<IpNet>,
    /// The status of a denial.
    pub deny_status: u16,
    /// Whether a request is allowed of which no descriptor can be made.
    pub allow_if_none: bool,
    pub descriptors: Vec<Vec<Part>>,
}

/// An entry of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub key: String,
    pub origin: Origin,
}

/// Where the value of an entry comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Header(HeaderName),
    ClientAddress,
    Path,
}

impl Part {
    /// Whether only a proxy that is trusted can say the value.
    pub fn is_told_by_proxies(&self) -> bool {
        match &self.origin {
            Origin::Header(name) => OF_PROXIES.iter().any(|of| name.as_str().starts_with(of)),
            Origin::ClientAddress => false,
            Origin::Path => true,
        }
    }
}

impl Authorize {
    /// Whether headers that describe a request are believed of this peer.
    pub fn trusts(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.trusted_proxies.iter().any(|network| network.contains(&peer))
    }
}

/// The rules of which one is chosen for an entry of a descriptor.
#[derive(Debug, Default)]
pub struct Level {
    /// By `key`, or `key_value` if the rule has a value.
    pub rules: HashMap<Box<str>, Rule, RandomState>,
    /// In the order of the file, with the name of the rule in `rules`.
    pub wildcards: Vec<(Box<str>, Wildcard)>,
}

/// What the files say about an entry of a descriptor.
#[derive(Debug, Default)]
pub struct Rule {
    pub limit: Option<Arc<Limit>>,
    pub below: Option<Box<Level>>,
    pub value_to_metric: bool,
    pub share_threshold: bool,
}

/// A limit of a rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// Its number in the set of rules, from 0. A limit that a descriptor brings along has 0 too.
    pub number: usize,
    /// The domain and the rules on the way to it, joined by `.`, as envoyproxy/ratelimit writes them.
    pub path: Box<str>,
    /// The same one by one; none of a limit that a descriptor brings along. Two rules can have one path: `a.b`, and `b`
    /// below `a`.
    pub names: Arc<[Box<str>]>,
    pub place: Option<Place>,
    pub name: Box<str>,
    pub replaces: Box<[Box<str>]>,
    /// `None` for unlimited.
    pub rate: Option<Rate>,
    /// The pool that is asked if this limit denies.
    pub otherwise: Option<Arc<Self>>,
    /// Whether this limit is a part of that pool: one RL.SHARE asks both, and those that the pool shares.
    pub shares: bool,
    pub is_pool: bool,
    /// How its keys begin, after the prefix; of a pool, its key.
    pub key_start: Box<str>,
    pub shadow: bool,
    pub quota: bool,
    pub detailed_metric: bool,
    /// Whether a rule on the way to it puts values of requests into the metrics.
    pub values_in_metric: bool,
    pub metadata: Option<Arc<BTreeMap<String, Metadata>>>,
}

/// How much, under which algorithm, and how it is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub policy: Policy,
    pub unit: Unit,
    pub charge: Charge,
    /// How many units are taken from the server at once.
    pub grants: Option<u32>,
    /// The limit of the policy is that of the rule, times this.
    pub unit_scale: u32,
}

/// What is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// The hits, whatever the limit says.
    Always,
    /// Only what is allowed.
    Allowed,
}

/// The units of the protocol, with their numbers there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Unknown = 0,
    Second = 1,
    Minute = 2,
    Hour = 3,
    Day = 4,
    Month = 5,
    Year = 6,
    Week = 7,
}

/// A value of `metadata`: what a `google.protobuf.Struct` can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Metadata {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

/// The limits in force, one a line, in the order of their names.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut limits: Vec<_> = self.domains.values().flat_map(Domain::limits).collect();
        limits.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        limits.into_iter().try_for_each(|limit| writeln!(f, "{limit}"))
    }
}

impl Rules {
    /// How many limits there are. An unlimited rule is none, and a pool limits nothing by itself.
    pub fn limits(&self) -> usize {
        let limits = self.domains.values().flat_map(Domain::limits);
        limits.filter(|limit| limit.rate.is_some() && !limit.is_pool).count()
    }
}

impl Domain {
    /// The limits of all rules, what is unlimited, and the pools.
    pub fn limits(&self) -> Vec<&Arc<Limit>> {
        let mut limits: Vec<_> = self.pools.values().collect();
        self.root.collect(&mut limits);
        limits
    }
}

/// The number of the next limit.
pub const fn next_number(numbers: &mut usize) -> usize {
    *numbers += 1;
    *numbers - 1
}

impl Limit {
    /// The pools that are asked one after the other if it denies.
    pub fn pools(&self) -> impl Iterator<Item = &Arc<Self>> {
        std::iter::successors(self.otherwise.as_ref(), |pool| pool.otherwise.as_ref())
    }

    /// How many units of the server are one of the rule; 1 if it is unlimited.
    pub fn unit_scale(&self) -> u64 {
        self.rate.map_or(1, |rate| rate.unit_scale).into()
    }

    /// Whether it is one of the limits that others replace, by their names.
    pub fn is_among(&self, replaced: &[Box<str>]) -> bool {
        !self.name.is_empty() && replaced.contains(&self.name)
    }
}

impl Level {
    fn collect<'l>(&'l self, limits: &mut Vec<&'l Arc<Limit>>) {
        for rule in self.rules.values() {
            limits.extend(&rule.limit);
            if let Some(below) = &rule.below {
                below.collect(limits);
            }
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", Printable(&self.path))?;
        match &self.rate {
            None => f.write_str("unlimited")?,
            Some(rate) => {
                let policy = rate.policy.to_string();
                // Without a name of its own, it has that of the rule.
                let unnamed = policy.split(" AS ").next().filter(|_| self.name.is_empty());
                f.write_str(unnamed.unwrap_or(&policy))?;
                let charge = if rate.charge == Charge::Always { "always" } else { "allowed" };
                write!(f, ", charge {charge}")?;
                if let Some(grants) = rate.grants {
                    write!(f, ", grants {grants}")?;
                }
                if rate.unit_scale != 1 {
                    write!(f, ", unit_scale {}", rate.unit_scale)?;
                }
            }
        }
        for (on, word) in [(self.shadow, "shadow_mode"), (self.quota, "quota_mode")] {
            if on {
                write!(f, ", {word}")?;
            }
        }
        if let Some(pool) = &self.otherwise {
            let word = if self.shares { "share" } else { "else" };
            write!(f, ", {word} {}", Printable(&pool.name))?;
        }
        match &self.place {
            Some(place) => write!(f, ", at {place}"),
            None => Ok(()),
        }
    }
}

impl Unit {
    /// Every unit that a rule can name, its word in the files, and its seconds.
    const NAMED: [(Self, &'static str, u64); 7] = [
        (Self::Second, "second", 1),
        (Self::Minute, "minute", 60),
        (Self::Hour, "hour", 3_600),
        (Self::Day, "day", 86_400),
        (Self::Week, "week", 7 * 86_400),
        (Self::Month, "month", 30 * 86_400),
        (Self::Year, "year", 365 * 86_400),
    ];

    /// The unit of this word, in any case.
    pub fn of_word(text: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, word, _)| word.eq_ignore_ascii_case(text)).map(|(unit, ..)| unit)
    }

    /// The unit of this number in the protocol.
    pub fn of_number(number: i32) -> Option<Self> {
        Self::NAMED.into_iter().find(|(unit, ..)| *unit as i32 == number).map(|(unit, ..)| unit)
    }

    /// How long it is; 0 if it is unknown.
    pub fn length(self) -> Duration {
        let seconds = Self::NAMED.into_iter().find(|(unit, ..)| *unit == self).map_or(0, |(.., seconds)| seconds);
        Duration::from_secs(seconds)
    }

    /// The unit that is as long as a window. A calendar month or year has no fixed length.
    pub fn of(window: Window) -> Self {
        match window {
            Window::Length(length) => {
                let named = Self::NAMED.into_iter().find(|(.., seconds)| Duration::from_secs(*seconds) == length);
                named.map_or(Self::Unknown, |(unit, ..)| unit)
            }
            Window::Calendar(Calendar::Day) => Self::Day,
            Window::Calendar(Calendar::Week) => Self::Week,
            Window::Calendar(_) => Self::Unknown,
        }
    }
}
