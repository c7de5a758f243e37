//! The commands that are written and have no reply yet.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use redis::{RedisError, Value};

use super::outbox::{Member, Unsent};
use super::{Reply, Via};
use crate::error::Error;
use crate::protocol::joined;

#[derive(Debug)]
struct Flight {
    sent: Unsent,
    written: Instant,
    /// The replies that have come, if it is that of one caller.
    values: Vec<Result<Value, Error>>,
    /// Whether it keeps its key busy.
    flies: bool,
}

impl Flight {
    /// Ends the request of one caller that took so long. The commands without a reply get this error.
    fn end(member: &mut Member, values: &[Result<Value, Error>], error: &Error, took: Duration) {
        let Member { commands, caller, .. } = member;
        let Some(caller) = caller.take() else { return };
        // Before its caller decides by itself.
        commands.orphan();
        if values.is_empty() {
            let _ = caller.send(Err(error.clone()));
            return;
        }
        // It still counts the replies that come.
        let mut values = values.to_vec();
        values.resize(commands.len(), Err(error.clone()));
        let reply = Reply { values, took, commands: commands.clone(), via: Via::default() };
        if caller.send(Ok(reply)).is_ok() {
            commands.accept();
        }
    }

    /// It keeps its key busy no longer.
    fn land(&mut self) {
        if std::mem::take(&mut self.flies) {
            self.sent.all_mut().for_each(|member| member.commands.fly(false));
        }
    }
}

/// What a reply is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// The last reply to a request.
    Request,
    /// Others of it are still to come.
    Part,
    Probe,
    /// Nothing was asked.
    Unknown,
}

/// In the order in which they were written, which is that of the replies.
#[derive(Debug, Default)]
pub struct Flights(VecDeque<Flight>);

impl Flights {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A command was written; when it ends without a reply.
    pub fn begin(&mut self, mut sent: Unsent, written: Instant) -> Option<Instant> {
        for member in sent.all_mut() {
            let deadline = member.deadline.or_else(|| written.checked_add(member.limit));
            member.deadline = deadline.filter(|_| member.caller.is_some());
            member.commands.fly(true);
        }
        let deadline = sent.all().filter_map(|member| member.deadline).min();
        self.0.push_back(Flight { sent, written, values: Vec::new(), flies: true });
        deadline
    }

    /// Whether the next reply is for a request.
    pub fn next_is_request(&self) -> bool {
        self.0.front().is_some_and(|flight| !flight.sent.is_probe)
    }

    /// A reply has come.
    pub fn land(&mut self, value: Value, now: Instant, via: Via) -> Landed {
        let Some(Flight { sent, values, .. }) = self.0.front_mut() else { return Landed::Unknown };
        let value = value.extract_error().map_err(Error::Redis);
        if sent.others.is_empty() {
            let commands = &mut sent.first.commands;
            values.reserve_exact(commands.len() - values.len());
            commands.answered(values.len(), &value, now);
            values.push(value);
            if values.len() < commands.len() {
                return Landed::Part;
            }
        } else {
            values.push(value);
        }
        let Some(mut flight) = self.0.pop_front() else { return Landed::Unknown };
        flight.land();
        let Flight { sent, written, mut values, .. } = flight;
        let took = now.saturating_duration_since(written);
        let Unsent { first, others, is_probe, .. } = sent;
        let reply = |Member { commands, caller, .. }: Member, values| {
            if let Some(caller) = caller {
                let _ = caller.send(Ok(Reply { values, took, commands, via }));
            }
        };
        let join = first.commands.joins().map(|(_, join, _)| join);
        if others.is_empty() {
            reply(first, values);
        } else if let (Some(value), Some(join)) = (values.pop(), join) {
            let each: Vec<_> = match value {
                Ok(value) => joined::divided(&value, others.len() + 1, join).map(Ok).collect(),
                Err(error) => vec![Err(error); others.len() + 1],
            };
            for (mut member, value) in std::iter::once(first).chain(others).zip(each) {
                member.commands.answered(0, &value, now);
                reply(member, vec![value]);
            }
        }
        if is_probe { Landed::Probe } else { Landed::Request }
    }

    /// When the first of them ends without a reply.
    pub fn first_deadline(&self) -> Option<Instant> {
        let waiting = self.0.iter().flat_map(|flight| flight.sent.all()).filter(|member| member.caller.is_some());
        waiting.filter_map(|member| member.deadline).min()
    }

    /// Ends those whose time is over. When nobody waits any more, the next ones of the key do not wait either.
    pub fn end_late(&mut self, now: Instant) {
        for flight in &mut self.0 {
            let mut is_late = false;
            for member in flight.sent.all_mut() {
                if member.deadline.is_some_and(|deadline| deadline <= now) {
                    is_late |= member.caller.is_some();
                    Flight::end(member, &flight.values, &Error::Timeout(member.limit), member.limit);
                }
            }
            if is_late && flight.sent.all().all(|member| member.caller.is_none()) {
                flight.land();
            }
        }
    }

    /// The connection is gone, and no reply comes any more.
    pub fn lost(&mut self, error: &RedisError, now: Instant) {
        for mut flight in self.0.drain(..) {
            flight.land();
            let error = Error::Redis(error.clone());
            for member in flight.sent.all_mut() {
                member.commands.lost(now);
                Flight::end(member, &flight.values, &error, Duration::ZERO);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use redis::cmd;

    use super::super::outbox::{Choice, Outbox};
    use super::*;
    use crate::counts::{Count, Counts, Part};
    use crate::policy::{Policy, Request};
    use crate::protocol::{Call, Commands, Parts, Verb};

    #[test]
    fn the_replies_that_came_count_though_others_are_late() {
        let (mut flights, now, limit) = (Flights::default(), Instant::now(), Duration::from_millis(5));
        let (caller, mut reply) = tokio::sync::oneshot::channel();
        let commands = Commands::from(&cmd("B")).after(&cmd("A"));
        let member = Member { commands, limit, caller: Some(caller), deadline: None };
        flights.begin(Unsent::new(member, false), now);
        assert_eq!(flights.land(Value::Int(1), now, Via::default()), Landed::Part);
        flights.end_late(now + limit);
        let values = reply.try_recv().expect("a reply").expect("one of two").values;
        assert!(matches!(values.as_slice(), [Ok(Value::Int(1)), Err(Error::Timeout(_))]), "{values:?}");
        // The late one is read all the same, and is for nobody else.
        assert_eq!(flights.land(Value::Int(2), now + limit, Via::default()), Landed::Request);
        assert!(flights.is_empty());
    }

    type Replies = Vec<tokio::sync::oneshot::Receiver<Result<Reply, Error>>>;

    /// Requests of one key that wait for the same write.
    fn wait(outbox: &mut Outbox, count: &Arc<Count>, request: &Request<'_>, requests: usize) -> Replies {
        let (now, limit) = (Instant::now(), Duration::from_millis(5));
        let one = |_| {
            let mut commands = Commands::default();
            Call::of(Verb::Check, request).native(&mut commands);
            commands.charge(Parts::One(Part::of(Arc::clone(count), request)));
            commands.open();
            let (caller, reply) = tokio::sync::oneshot::channel();
            outbox.push(Member { commands, limit, caller: Some(caller), deadline: None }, || now);
            reply
        };
        (0..requests).map(one).collect()
    }

    #[test]
    fn a_shared_command_is_divided_in_the_order_of_arrival_and_holds_its_key_until_nobody_waits() {
        let (counts, policy) = (Counts::default(), Policy::counter(Duration::from_secs(60), 100));
        let (request, now, limit) = (policy.request("k"), Instant::now(), Duration::from_millis(5));
        let count = counts.of(&request, || {});
        let mut outbox = Outbox::default();
        let mut callers = wait(&mut outbox, &count, &request, 12);
        // One has left before the write.
        drop(callers.remove(2));
        outbox.fill(|_| Choice::Send);
        let text = String::from_utf8(outbox.encoded().to_vec()).expect("text");
        assert_eq!(text.matches("RL.COUNTER").count(), 1, "{text}");
        assert!(text.ends_with("$4\r\nCOST\r\n$2\r\n11\r\n$7\r\nPARTIAL\r\n$4\r\nLINE\r\n"), "{text}");
        let mut flights = Flights::default();
        let unsent = outbox.take_encoded().expect("one command");
        flights.begin(unsent, now);
        assert!(count.is_busy());
        // The next ones wait for the reply, but not for longer than its callers do.
        flights.end_late(now + limit);
        assert!(!count.is_busy());
        assert!(callers.iter_mut().all(|reply| reply.try_recv().is_ok_and(|reply| reply.is_err())));

        let mut outbox = Outbox::default();
        let mut callers = wait(&mut outbox, &count, &request, 3);
        outbox.fill(|_| Choice::Send);
        let mut flights = Flights::default();
        flights.begin(outbox.take_encoded().expect("one command"), now);
        let line = Value::BulkString(b"2 98 1 100 0 0 700 60000 0 1700000000000 0 2".to_vec());
        assert_eq!(flights.land(line, now, Via::default()), Landed::Request);
        let each = callers.iter_mut().map(|reply| {
            let mut reply = reply.try_recv().expect("a reply").expect("a line");
            reply.commands.accept();
            let decision = crate::protocol::reply::decision(reply.value().expect("a line"), &request).expect("a line");
            (decision.allowed, decision.remaining, decision.charged, decision.retry_after.duration())
        });
        let wait = Duration::from_millis(700);
        assert_eq!(each.collect::<Vec<_>>(), [(true, 1, 1, None), (true, 0, 1, None), (false, 0, 0, Some(wait))]);
    }

    /// With charge: always and a small limit, a flood would wait for one reply after the other.
    #[test]
    fn commands_that_few_share_wait_for_no_reply() {
        let (counts, policy) = (Counts::default(), Policy::fixed(Duration::from_secs(60), 5));
        let (request, now) = (policy.request("k"), Instant::now());
        let (count, mut outbox, mut flights) = (counts.of(&request, || {}), Outbox::default(), Flights::default());
        for _ in 0..2 {
            let _callers = wait(&mut outbox, &count, &request, 12);
            outbox.fill(|_| Choice::Send);
            let text = String::from_utf8(outbox.encoded().to_vec()).expect("text");
            assert_eq!(text.matches("RL.FIXED").count(), 3, "{text}");
            while let Some(unsent) = outbox.take_encoded() {
                flights.begin(unsent, now);
            }
        }
    }
}
