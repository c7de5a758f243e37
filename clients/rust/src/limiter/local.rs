//! Tells the server what was admitted without it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::Limiter;
use crate::counts::{Count, Parts};
use crate::error::Error;
use crate::protocol::Commands;

/// How long units wait for others of their key.
const APART: Duration = Duration::from_millis(20);
/// How long after some could not be sent.
const AFTER_FAILURE: Duration = Duration::from_millis(500);
/// How many keys are sent at once.
const AT_ONCE: usize = 100;

impl Limiter {
    /// Sends what was admitted without the server, in the background, unless that goes on already. Costs nothing if there
    /// is none.
    pub(super) fn send_local(&self) {
        if self.core.counts.shared().has_unsent()
            && let Ok(runtime) = Handle::try_current()
            && !self.core.sends_local.swap(true, Ordering::SeqCst)
        {
            let limiter = self.clone();
            runtime.spawn(async move {
                let core = &limiter.core;
                // With its last limiter the service ends.
                let goes_on = || core.counts.shared().has_unsent() && Arc::strong_count(core) > 1;
                loop {
                    // Where this task is not run to its end, another one takes its place.
                    let ends = scopeguard::guard((), |()| core.sends_local.store(false, Ordering::SeqCst));
                    let mut pause = APART;
                    while goes_on() {
                        sleep(pause).await;
                        let all = limiter.settle_some(&core.counts.unsent(AT_ONCE)).await;
                        pause = if all { APART } else { AFTER_FAILURE };
                    }
                    drop(ends);
                    // Who added some before that has seen this task.
                    if !goes_on() || core.sends_local.swap(true, Ordering::SeqCst) {
                        break;
                    }
                }
            });
        }
    }

    /// Sends the local units of these keys. Whether each has a reply.
    async fn settle_some(&self, counts: &[Arc<Count>]) -> bool {
        if self.link.is_cluster() {
            let sent = counts.iter().map(async |count| self.send_settled(std::slice::from_ref(count)).await);
            return join_all(sent).await.into_iter().all(|sent| sent);
        }
        self.send_settled(counts).await
    }

    async fn send_settled(&self, counts: &[Arc<Count>]) -> bool {
        let mut commands = Commands::default();
        let settled: Vec<_> = counts.iter().filter_map(|count| self.core.settle(count, &mut commands)).collect();
        if settled.is_empty() {
            return true;
        }
        let key = counts.first().map_or(&b""[..], |count| count.key());
        let replies = self.link.request(commands, key, self.core.timeout).await;
        let mut replies = replies.unwrap_or_else(|error| vec![Err(error); settled.len()]).into_iter();
        settled.into_iter().fold(true, |all, part| {
            let reply = replies.next().unwrap_or(Err(Error::UnknownReply));
            Parts(vec![Some(part)]).ended(&reply);
            all && reply.is_ok()
        })
    }
}
