//! Connections of callers, the requests under way over them, and how late this process is.

mod body;
mod frames;
mod io;
mod lag;
mod load;
mod peer;
mod pool;

use std::sync::LazyLock;
use std::time::Instant;

use http::{HeaderMap, HeaderName, HeaderValue};

pub use body::{Counted, Failed, LONG, Received, Reply, reply};
pub use io::Watched;
pub use load::{Figures, Load, MAX_STREAMS, Overload, register};
pub use peer::{Arrival, Ending, Open, Peer};
pub use pool::{Pool, Pools};

/// A header of a request. There are few: to look at each takes less than the hash of a name.
pub fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    headers.iter().find_map(|(other, value)| (other == name).then_some(value))
}

/// Microseconds since the process began, from 1.
fn micros() -> u64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(BEGAN.elapsed().as_micros()).unwrap_or(u64::MAX).saturating_add(1)
}
