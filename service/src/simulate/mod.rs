//! `rlaas simulate`: what rules would have done to the requests of a log.
//!
//! The descriptors, the plans and the decisions are those of the service: `http::descriptors`, [`Plan`](crate::service::Plan)
//! and the algorithms of the module, with the keys in memory and the time of the log.

mod descriptors;
pub mod example;
mod keys;
mod limits;
pub mod logs;
mod page;
mod replay;
mod report;
mod suggest;
mod text;
mod times;

pub use page::page;
pub use replay::{Replay, Settings};
pub use report::{Compared, Report, of_log};

use crate::rules::Rules;
use logs::Logs;

/// Replays a log through the rules, and through others to compare with.
///
/// # Errors
/// The log cannot be read, or the rules give no descriptors: why.
pub fn run(
    logs: &mut Logs,
    rules: Rules,
    others: Option<Rules>,
    settings: &Settings,
    share: Option<f64>,
) -> Result<Report, String> {
    let mut replay = Replay::new(rules, settings, logs)?;
    let mut other = others.map(|others| Replay::new(others, settings, logs)).transpose()?;
    let (mut newly, mut no_more) = (0, 0);
    while let Some(request) = logs.next()? {
        let allowed = replay.request(request)?;
        let Some(other) = &mut other else { continue };
        match (allowed, other.request(request)?) {
            (true, false) => {
                newly += 1;
                other.mark_changed();
            }
            (false, true) => {
                no_more += 1;
                replay.mark_changed();
            }
            _ => {}
        }
    }
    replay.end()?;
    let mut report = Report::new(&replay, &logs.summary(), share);
    report.compared = other.map(|other| Compared::new(&replay, &other, newly, no_more));
    Ok(report)
}
