//! Requests that do not depend on each other.

use std::collections::{HashMap, HashSet};
use std::thread::scope;
use std::time::Instant;

use super::{Connector, Limiter};
use crate::batch::{Batch, Outgoing};
use crate::decision::Decision;
use crate::error::Error;
use crate::request::Request;

/// How many connections a call to a cluster uses at once.
const MAX_THREADS: usize = 8;

impl<T: Connector> Limiter<T> {
    /// Checks requests that do not depend on each other, in one round trip: each has a decision of its own, in the order
    /// of the requests. In a cluster, the keys may be in any slots. If one of its nodes does not reply, the decisions of
    /// the others still count; the requests of different slots are sent by threads.
    ///
    /// # Errors
    /// Each as [`check`](Self::check).
    pub fn check_each(&self, requests: &[Request<'_>]) -> Vec<Result<Decision, Error>> {
        let core = &self.shared.core;
        let deadline = Instant::now() + core.timeout;
        let part = |key: &[u8]| self.shared.connector.part(key);
        let mut probed = HashSet::new();
        for request in requests.iter().filter(|request| probed.insert(part(request.key))) {
            // If there is no reply, the circuit breaker stays open.
            if let Ok(connection) = self.probe(part(request.key), request.key, deadline) {
                self.shared.keep(connection);
            }
        }
        let mut batch = Batch::new(core, requests, core.timeout, |key| Some(part(key)));
        let mut round = batch.next(Vec::new());
        while !round.is_empty() && Instant::now() < deadline {
            round = batch.next(self.send_each(round, deadline));
        }
        batch.end(self.fallback)
    }

    fn send_each<'a>(&self, round: Vec<Outgoing<'a>>, deadline: Instant) -> Vec<Outgoing<'a>> {
        let mut groups: HashMap<u64, Vec<Outgoing<'a>>> = HashMap::new();
        for outgoing in round {
            groups.entry(self.shared.connector.group(outgoing.key())).or_default().push(outgoing);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        if let [group] = groups.as_mut_slice() {
            self.send_group(group, deadline);
        } else {
            let share = groups.len().div_ceil(MAX_THREADS).max(1);
            scope(|scope| {
                for part in groups.chunks_mut(share) {
                    scope.spawn(move || part.iter_mut().for_each(|group| self.send_group(group, deadline)));
                }
            });
        }
        groups.into_iter().flatten().collect()
    }

    fn send_group(&self, group: &mut [Outgoing<'_>], deadline: Instant) {
        // All keys of a group have one slot.
        let key = group.first().map_or(&[][..], Outgoing::key);
        let mut kept = self.idle_connection(key, deadline);
        let sent = self.with_connection(&mut kept, deadline, |connector, connection, rest| {
            connector.send_each(connection, group, rest);
            Ok(())
        });
        match sent {
            // A connection that a reply is missing on is of no use any more.
            Ok(()) if group.iter().all(Outgoing::is_intact) => self.shared.keep(kept),
            Ok(()) => self.shared.idle().clear(),
            Err(error) => group.iter_mut().for_each(|outgoing| outgoing.set_reply(Err(error.clone()))),
        }
    }
}
