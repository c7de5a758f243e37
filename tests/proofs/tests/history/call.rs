//! What is recorded of a call.

use std::time::{SystemTime, UNIX_EPOCH};

/// The limits of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub algorithm: &'static str,
    pub window_ms: u64,
    pub limit: u64,
}

impl Limit {
    /// A limit that is not reached and whose window does not end in a history.
    pub const fn endless(algorithm: &'static str) -> Self {
        Self { algorithm, window_ms: 1_000_000_000_000, limit: 1_000_000 }
    }
}

/// This machine's clock in microseconds. It is that of the servers too.
pub fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_micros() as u64
}

/// What a call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Request {
        cost: u64,
    },
    /// RL.REFUND of a charge.
    Refund {
        units: u64,
    },
    Lease {
        id: String,
    },
    Renew {
        id: String,
    },
    Release {
        id: String,
    },
    /// A guard of the Rust client held a lease, from the begin of this call to its end.
    Held,
    /// A request with RESERVE.
    Reserve {
        id: String,
        units: u64,
        ttl_ms: u64,
    },
    /// RL.SETTLE with RESERVATION.
    Settle {
        id: String,
        actual: u64,
    },
}

/// The figures of a reply that the checker looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub allowed: bool,
    pub remaining: u64,
    /// When it was decided, by the server's clock.
    pub now_ms: u64,
    pub charged: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Reply(Figures),
    /// RL.RENEW and RL.RELEASE: whether the lease was held.
    Found(bool),
    /// An error reply, or RL.MULTI was denied: the server did nothing.
    Error(String),
    /// No reply: the server may have executed the call, or may still do so.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Call {
    pub client: usize,
    /// How it was sent.
    pub path: &'static str,
    pub key: String,
    pub limit: Limit,
    pub kind: Kind,
    pub begun_us: u64,
    pub ended_us: u64,
    pub outcome: Outcome,
}

impl Call {
    /// One that was not sent yet.
    pub const fn new(client: usize, path: &'static str, key: String, limit: Limit, kind: Kind) -> Self {
        Self { client, path, key, limit, kind, begun_us: 0, ended_us: 0, outcome: Outcome::Unknown }
    }

    pub fn reply(&self) -> Option<&Figures> {
        match &self.outcome {
            Outcome::Reply(figures) => Some(figures),
            _ => None,
        }
    }

    pub const fn has_reply(&self) -> bool {
        matches!(self.outcome, Outcome::Reply(_) | Outcome::Found(_))
    }

    pub const fn is_unknown(&self) -> bool {
        matches!(self.outcome, Outcome::Unknown)
    }

    /// Whether nobody else calls for the key.
    pub fn is_own(&self) -> bool {
        self.key.contains(":own:")
    }
}

/// A server ended.
#[derive(Clone, Debug, Default)]
pub struct Kill {
    /// When it was surely dead. If another server took its place, earlier calls went to this server, and later ones to the
    /// other.
    pub at_us: u64,
    /// What was counted of each key, after a failover.
    pub counted: Vec<Counted>,
}

/// What the old primary and the new one count under a key.
#[derive(Clone, Debug)]
pub struct Counted {
    pub key: String,
    /// By the AOF of the old primary, which has each write before its reply.
    pub old: Count,
    /// When it took the other's place.
    pub new: Count,
}

#[derive(Clone, Copy, Debug)]
pub struct Count {
    pub units: u64,
    pub at_ms: u64,
}
