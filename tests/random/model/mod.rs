//! What a server with the module must reply and hold: the same calls, with the states in memory. It knows the algorithms,
//! which the properties in `algorithm/` check, and says what the commands make of them.

mod pending;
mod request;
mod state;

use std::collections::BTreeMap;

use redis::Value;
use redis_rl_algorithm::in_memory::{Charging, Holders, InMemory, Limit};
use redis_rl_algorithm::reservation::{EARLIEST, Reservation, Standing};
use redis_rl_algorithm::{
    Change, Cost, Decision, Lease, Micros, Name, SlidingLog, Unrepresentable, Verdict, Window, for_in_memory,
};

use super::calls::{Call, text};
use super::dump::{FAR_AWAY, Keys};
use pending::{Pending, Writes, allow, change_of, conclude, leave_all_uncharged, seconds, uncharged};
use request::Request;
use state::{Hash, Kept, State};

/// The keys of a server, and its settings.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// `rl.on-oom` of a server at `maxmemory`.
    pub on_oom: Option<&'static str>,
    /// `rl.shadow`.
    pub shadow: bool,
    states: BTreeMap<String, State>,
    hashes: BTreeMap<String, Hash>,
}

/// Runs an expression with the algorithm of a word, which has costs.
macro_rules! with_algorithm {
    ($word:expr, $name:ident => $action:expr) => {
        match Name::from_word($word.as_bytes()).expect("an algorithm") {
            // Special: elsewhere it is kept in memory as ROLLING.
            Name::Sliding => {
                type $name = SlidingLog;
                $action
            }
            other => for_in_memory!(other, $name => $action),
        }
    };
}

impl Model {
    /// The reply to a call that the server has accepted, without the headers. `None` for a call that is not valid, or
    /// whose result cannot be represented.
    pub fn reply(&mut self, call: &Call, now: Micros) -> Option<Value> {
        self.expire(now);
        let (key, words) = &call.limits[0];
        if matches!(call.name, "rl_renew" | "rl_release") {
            return self.hold(call.name, &text(key), words, now);
        }
        let parse = |(key, words): &(Vec<u8>, Vec<Vec<u8>>)| {
            let request = Request::parse(key, words, call.name != "rl_reset")?;
            Some(Request { shadow: request.shadow || self.shadow, ..request })
        };
        let request = parse(&call.limits[0])?;
        let form = call.tail.first().map_or(String::new(), |form| text(form).to_uppercase());
        match call.name {
            "rl" => {
                let mut pending = self.decide(&request, now).ok()?;
                if pending.needs_memory
                    && let Some(on_oom) = self.on_oom
                {
                    pending.leave_uncharged(pending.in_shadow_mode || on_oom == "allow");
                }
                let reply = pending.reply(&form, pending.charged, now);
                self.write(pending.writes.into_iter().next()?);
                Some(reply)
            }
            "rl_peek" => Some(self.decide(&request, now).ok()?.reply(&form, 0, now)),
            "rl_multi" => {
                let requests = call.limits.iter().map(parse);
                let pending: Option<Vec<Pending>> = requests.map(|one| self.decide(&one?, now).ok()).collect();
                let mut pending = pending?;
                let allowed = pending.iter().all(|limit| limit.verdict.allowed);
                let allowed = allowed && self.on_oom.is_none_or(|on_oom| leave_all_uncharged(&mut pending, on_oom));
                let charged = |limit: &Pending| if allowed { limit.charged } else { 0 };
                let replies = pending.iter().map(|limit| limit.reply(&form, charged(limit), now)).collect();
                for limit in pending {
                    let [if_allowed, otherwise] = limit.writes;
                    self.write(if allowed { if_allowed } else { otherwise });
                }
                Some(Value::Array(vec![Value::Int(allowed.into()), Value::Array(replies)]))
            }
            "rl_share" => {
                let requests: Option<Vec<Request>> = call.limits.iter().map(parse).collect();
                self.share(&requests?, &form, now)
            }
            "rl_reset" => {
                let existed = match request.algorithm.as_str() {
                    "LEASE" => self.states.remove(&request.key).is_some(),
                    word => with_algorithm!(word, A => self.reset::<A>(&request, now).ok()?),
                };
                Some(Value::Int(existed.into()))
            }
            _ => {
                let (writes, charged) = match &request.reservation {
                    Some(id) => with_algorithm!(request.algorithm.as_str(), A => self.settle::<A>(&request, id, now)),
                    None => {
                        with_algorithm!(request.algorithm.as_str(), A => self.correct::<A>(&request, call.name, now))
                    }
                }
                .ok()?;
                self.write(writes);
                let look = with_algorithm!(request.algorithm.as_str(), A => self.look::<A>(&request, now)).ok()?;
                Some(look.reply(&form, charged, now))
            }
        }
    }

    /// RL.SHARE: the first limit that allows pays, and each one after it is charged too.
    fn share(&mut self, requests: &[Request], form: &str, now: Micros) -> Option<Value> {
        let widest = requests.last()?;
        let (mut limits, mut paid) = (Vec::new(), 0);
        for (request, place) in requests.iter().zip(1..) {
            let shadow = request.shadow && paid == 0 && place == requests.len();
            let limit = self.decide(&Request { lends: paid > 0, shadow, ..request.clone() }, now).ok()?;
            paid = if paid == 0 && limit.verdict.allowed { place } else { paid };
            limits.push(limit);
        }
        // In shadow mode, and at `maxmemory`, nothing is charged.
        let mut first_charged = if paid == 0 || limits.last()?.shadowed { requests.len() + 1 } else { paid };
        if let Some(on_oom) = self.on_oom
            && limits.iter().skip(first_charged - 1).any(|limit| limit.needs_memory)
        {
            let allowed = widest.shadow || on_oom == "allow";
            limits.iter_mut().skip(first_charged - 1).for_each(|limit| limit.leave_uncharged(allowed));
            (paid, first_charged) = (if allowed { paid } else { 0 }, requests.len() + 1);
        }
        let mut replies = Vec::new();
        for (limit, place) in limits.into_iter().zip(1..) {
            let is_charged = place >= first_charged;
            replies.push(limit.reply(form, if is_charged { limit.charged } else { 0 }, now));
            let [charged, otherwise] = limit.writes;
            self.write(if is_charged { charged } else { otherwise });
        }
        Some(Value::Array(vec![Value::Int(i64::try_from(paid).ok()?), Value::Array(replies)]))
    }

    /// What a call leaves that the server rejects because there is no memory: logs without the entries that count no more.
    pub fn reject(&mut self, call: &Call, now: Micros) {
        for (key, words) in &call.limits {
            let request = Request::parse(key, words, true).expect("a valid call");
            if let ("SLIDING", Ok(log)) = (request.algorithm.as_str(), SlidingLog::with_policy(&request.policy)) {
                let (name, key) = self.pruned(&log, &request, now);
                self.write((name, SlidingLog::written(key), None));
            }
        }
    }

    /// The keys, as [`super::dump::without_names_of_units`] shows those of a server. A key that expires now is left out, and
    /// is no more.
    pub fn dump(&mut self, now: Micros) -> Keys {
        self.expire(Micros(now.0 + 1_000));
        let expiry = |at: Option<u64>| match at {
            None => "-1".to_owned(),
            Some(at) if at < 1 << 53 => at.to_string(),
            Some(_) => FAR_AWAY.to_owned(),
        };
        let states = self.states.iter().map(|(name, state)| {
            let (kind, mut value) = state.dumped();
            value.sort();
            (name.clone().into(), (kind.to_owned(), value, expiry(state.expires_at())))
        });
        let hashes = self.hashes.iter().map(|(name, (fields, expires_at))| {
            let fields = fields.iter().map(|(id, value)| [&id[..], value].join(&b' ')).collect();
            (name.clone().into(), ("hash".to_owned(), fields, expiry(*expires_at)))
        });
        let orders = self.hashes.iter().map(|(name, (fields, expires_at))| {
            let end = |(id, value): (&Vec<u8>, &Vec<u8>)| {
                let ends_at = Reservation::decode(value)?.ends_at.to_string();
                Some([id, ends_at.as_bytes()].join(&b' '))
            };
            let members = fields.iter().filter_map(end).collect();
            (format!("{name}:ends").into(), ("zset".to_owned(), members, expiry(*expires_at)))
        });
        states.chain(hashes).chain(orders).collect()
    }

    fn expire(&mut self, now: Micros) {
        self.states.retain(|_, state| state.expires_at().is_none_or(|at| at >= now.millis()));
        self.hashes.retain(|_, (_, expires_at)| expires_at.is_none_or(|at| at >= now.millis()));
    }

    fn write(&mut self, (name, state, hash): Writes) {
        match state {
            Some(state) => drop(self.states.insert(name, state)),
            None => drop(self.states.remove(&name)),
        }
        match hash {
            Some((name, hash)) if hash.0.is_empty() => drop(self.hashes.remove(&name)),
            Some((name, hash)) => drop(self.hashes.insert(name, hash)),
            None => {}
        }
    }

    /// A change at `maxmemory`, which leaves what needs memory.
    fn without_memory<A: Kept>(&self, key: &A::Key, change: Change<A::Change>) -> Change<A::Change> {
        if self.on_oom.is_some() && A::needs_memory(key, &change) { Change::Keep } else { change }
    }

    /// A request under one limit. Nothing is written.
    fn decide(&self, request: &Request, now: Micros) -> Result<Pending, Unrepresentable> {
        let word = request.algorithm.as_str();
        match &request.reserve {
            _ if word == "LEASE" => Ok(self.lease(request, now)),
            None => with_algorithm!(word, A => self.charge::<A>(request, now)),
            Some((id, ttl)) => with_algorithm!(word, A => self.reserve::<A>(request, id, *ttl, now)),
        }
    }

    fn reserve<A: Kept>(
        &self,
        request: &Request,
        id: &[u8],
        ttl: Window,
        now: Micros,
    ) -> Result<Pending, Unrepresentable> {
        let algorithm = A::with_policy(&request.policy)?;
        let (key, mut book) = self.limit(&algorithm, request, now).give_back(&algorithm, now, id);
        let open = match book.standing() {
            Standing::Open(open) => Some(open),
            Standing::Unknown | Standing::Mark(_) => None,
        };
        let part = request.part_of_cost(algorithm.remaining(&key, now));
        let cost = if open.is_some() { Cost::ZERO } else { part };
        let mut decision = algorithm.decision(&key, now, cost, Charging::Reserving)?;
        if open.is_some() && !decision.verdict.allowed {
            allow(&algorithm, &key, &mut decision, now);
        }
        let change = change_of(&algorithm, request, &key, decision.change, now);
        let mut pending = conclude(&algorithm, request, &key, decision, cost, now, |_| None);
        let otherwise = book.clone();
        let committed = |book, change: &Change<_>| {
            let mut limit = self.limit(&algorithm, request, now);
            limit.commit(&algorithm, (key.clone(), book), change, now);
            Self::writes_of(&algorithm, request, limit, now)
        };
        if let Some(open) = open {
            book.prolong(open, ttl);
            let mut uncharged = pending.uncharged.take();
            for one in uncharged.iter_mut().flat_map(|both| both.iter_mut()).chain([&mut pending]) {
                one.charged = open.units();
                one.shadowed = false;
                one.first = if request.partial { open.units().cast_signed() } else { one.first };
                one.writes = [&book, &otherwise].map(|book| committed(book, &Change::Keep));
            }
            pending.uncharged = uncharged;
        } else {
            for one in pending.uncharged.iter_mut().flat_map(|both| both.iter_mut()) {
                one.writes = [(); 2].map(|()| committed(&otherwise, &Change::Keep));
            }
            let fits = if request.partial { cost != Cost::ZERO } else { !pending.shadowed };
            if pending.verdict.allowed && fits {
                pending.needs_memory = true;
                let counts_until = algorithm.counts_until(algorithm.state(&key, now), &change, now);
                book.open(cost, ttl, counts_until);
            }
        }
        pending.writes = [committed(&book, &change), committed(&otherwise, &uncharged(change))];
        Ok(pending)
    }

    fn charge<A: Kept>(&self, request: &Request, now: Micros) -> Result<Pending, Unrepresentable> {
        let algorithm = A::with_policy(&request.policy)?;
        let (name, key) = self.pruned(&algorithm, request, now);
        let part = request.part_of_cost(algorithm.remaining(&key, now));
        let (charging, cost) = match request {
            Request { lends: true, .. } => (Charging::Lending, algorithm.lent(algorithm.state(&key, now), now, part)),
            Request { always: true, .. } => (Charging::Always, part),
            _ => (Charging::IfAllowed, part),
        };
        let decision = algorithm.decision(&key, now, part, charging)?;
        Ok(conclude(&algorithm, request, &key, decision, cost, now, |change| {
            let mut key = key.clone();
            algorithm.commit(&mut key, change, now);
            Some((name.clone(), A::written(key), None))
        }))
    }

    /// RL.REFUND, and RL.SETTLE with RESERVED.
    fn correct<A: Kept>(&self, request: &Request, name: &str, now: Micros) -> Result<(Writes, u64), Unrepresentable> {
        let algorithm = A::with_policy(&request.policy)?;
        let (state, mut key) = self.pruned(&algorithm, request, now);
        let (reserved, actual) = match name {
            "rl_refund" => (request.cost, Cost::ZERO),
            _ => (request.reserved, request.actual),
        };
        let difference = Cost::new(reserved.units().abs_diff(actual.units())).expect("smaller than either");
        let change = match name {
            "rl_settle" if actual >= reserved => {
                algorithm.overcharging(algorithm.state(&key, now), now, request.at, difference)?
            }
            _ => algorithm.refunding(algorithm.state(&key, now), now, request.at, difference),
        };
        let charged = if self.on_oom.is_some() && A::needs_memory(&key, &change) { reserved } else { actual };
        let change = self.without_memory::<A>(&key, change);
        algorithm.commit(&mut key, &change, now);
        Ok(((state, A::written(key), None), charged.units()))
    }

    /// RL.SETTLE with RESERVATION.
    fn settle<A: Kept>(&self, request: &Request, id: &[u8], now: Micros) -> Result<(Writes, u64), Unrepresentable> {
        let algorithm = A::with_policy(&request.policy)?;
        let mut limit = self.limit(&algorithm, request, now);
        let (key, mut book) = limit.give_back(&algorithm, now, id);
        let (Standing::Open(charge) | Standing::Mark(charge)) = book.standing() else {
            let charged = limit.settle(&algorithm, now, id, request.actual)?;
            return Ok((Self::writes_of(&algorithm, request, limit, now), charged));
        };
        let change = algorithm.settling(algorithm.state(&key, now), now, &charge, request.actual)?;
        // The units that have been given back are still stored.
        let needs_memory = self.on_oom.is_some() && A::needs_memory(&key, &change) && !book.gave_back();
        let (change, charged) =
            if needs_memory { (Change::Keep, charge.units()) } else { (change, request.actual.units()) };
        book.close();
        limit.commit(&algorithm, (key, &book), &change, now);
        Ok((Self::writes_of(&algorithm, request, limit, now), charged))
    }

    /// What RL.PEEK replies after a correction. A request that cannot be counted is denied.
    fn look<A: Kept>(&self, request: &Request, now: Micros) -> Result<Pending, Unrepresentable> {
        let algorithm = A::with_policy(&request.policy)?;
        let (_, key) = self.pruned(&algorithm, request, now);
        let decide = |cost| algorithm.decision(&key, now, cost, Charging::IfAllowed);
        let decision = decide(request.cost).or_else(|_| {
            let look = decide(Cost::ZERO)?;
            let verdict = Verdict { allowed: false, ..look.verdict };
            Ok(Decision { verdict, needed: request.cost.needed(), ..look })
        })?;
        Ok(conclude(&algorithm, request, &key, decision, request.cost, now, |_| None))
    }

    fn reset<A: Kept>(&mut self, request: &Request, now: Micros) -> Result<bool, Unrepresentable> {
        let algorithm = A::with_policy(&request.policy)?;
        let existed = self.states.remove(&algorithm.name(&request.key, now)).is_some();
        let name = format!("{}{}:reserved", request.key, algorithm.infix());
        let reserves = A::TRAITS.reserve;
        let has_reservations =
            reserves && self.hashes.get(&name).is_some_and(|(fields, _)| fields.contains_key(EARLIEST));
        if has_reservations {
            self.hashes.remove(&name);
        }
        Ok(existed || has_reservations)
    }

    fn lease(&self, request: &Request, now: Micros) -> Pending {
        let lease = Lease::new(&request.policy);
        let mut before = self.holders(&request.key);
        // A request without an ID is that of a holder without a lease.
        let nobody = b"nobody".to_vec();
        let id = request.id.as_ref().unwrap_or(&nobody);
        before.release(&nobody, now);
        let mut after = before.clone();
        let mut reply = after.request(&lease, id, now);
        let taken = after.ends.len() > before.ends.len();
        let shadowed = !reply.verdict.allowed && request.shadow;
        if shadowed {
            (reply.verdict.allowed, reply.verdict.ttl) = (true, seconds(reply.figures.reset_ms));
            reply.figures.retry_after_ms = 0;
        }
        let writes = [after, before].map(|holders| {
            let state = Some(holders).filter(|holders| !holders.ends.is_empty()).map(State::Leases);
            (request.key.clone(), state, None)
        });
        let (verdict, figures) = (reply.verdict, reply.figures);
        let first = verdict.allowed.into();
        let charged = taken.into();
        let (needs_memory, in_shadow_mode, uncharged) = (taken, request.shadow, None);
        Pending { needs_memory, in_shadow_mode, uncharged, verdict, first, figures, shadowed, charged, writes }
    }

    /// RL.RENEW and RL.RELEASE.
    fn hold(&mut self, name: &str, key: &str, words: &[Vec<u8>], now: Micros) -> Option<Value> {
        let mut holders = self.holders(key);
        let (window, ids) = match name {
            "rl_renew" => (request::length(&text(&words[0])), &words[1..]),
            _ => (None, words),
        };
        let mut ids = ids.to_vec();
        ids.sort();
        ids.dedup();
        holders.release(b"nobody", now);
        let change = |id: &Vec<u8>| match window {
            Some(window) => holders.renew(window, id, now),
            None => holders.release(id, now),
        };
        let changed = ids.iter().map(change).filter(|&changed| changed).count();
        let state = Some(holders).filter(|holders| !holders.ends.is_empty()).map(State::Leases);
        self.write((key.to_owned(), state, None));
        Some(Value::Int(changed as i64))
    }

    fn holders(&self, key: &str) -> Holders {
        match self.states.get(key) {
            Some(State::Leases(holders)) => holders.clone(),
            Some(other) => panic!("no leases: {other:?}"),
            None => Holders::default(),
        }
    }

    /// The key of the state and what it holds, without what counts no more.
    fn pruned<A: Kept>(&self, algorithm: &A, request: &Request, now: Micros) -> (String, A::Key) {
        let name = algorithm.name(&request.key, now);
        let mut key = algorithm.read(self.states.get(&name), now);
        algorithm.prune(&mut key, now);
        (name, key)
    }

    fn limit<A: Kept>(&self, algorithm: &A, request: &Request, now: Micros) -> Limit<A> {
        let (_, key) = self.pruned(algorithm, request, now);
        let hash = self.hashes.get(&format!("{}{}:reserved", request.key, algorithm.infix()));
        let (fields, expires_at) = hash.cloned().unwrap_or_default();
        Limit { key, fields, expires_at }
    }

    fn writes_of<A: Kept>(algorithm: &A, request: &Request, limit: Limit<A>, now: Micros) -> Writes {
        let name = format!("{}{}:reserved", request.key, algorithm.infix());
        let hash = (name, (limit.fields, limit.expires_at));
        (algorithm.name(&request.key, now), A::written(limit.key), Some(hash))
    }
}
