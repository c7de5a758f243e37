//! `rlaas simulate`: what rules would have done to the requests of a log.
//!
//! The plans and the decisions are those of the service: [`Plan`](crate::decide::Plan) and the algorithms of the module,
//! with the keys in memory and the time of the log.

mod descriptors;
pub mod example;
mod figures;
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
use report::changed;
pub use report::{Compared, Report, of_log};

use logs::Logs;
use rlaas_rules::Rules;

/// Replays a log through the rules, and through others to compare with.
///
/// # Errors
/// The log cannot be read, or the rules give no descriptors: why.
pub fn run(logs: &mut Logs, rules: Rules, others: Option<Rules>, settings: &Settings) -> Result<Report, String> {
    let mut replay = Replay::new(rules, settings, logs)?;
    let mut other = others.map(|others| Replay::new(others, settings, logs)).transpose()?;
    let (mut newly_denied, mut no_more_denied) = (0, 0);
    for request in logs.by_ref() {
        let request = request?;
        let allowed = replay.request(&request)?;
        let Some(other) = &mut other else { continue };
        match (allowed, other.request(&request)?) {
            (true, false) => {
                newly_denied += 1;
                other.mark_changed();
            }
            (false, true) => {
                no_more_denied += 1;
                replay.mark_changed();
            }
            _ => {}
        }
    }
    replay.end()?;
    let mut report = Report::new(&replay, &logs.summary());
    report.compared = other.map(|other| Compared {
        newly_denied,
        no_more_denied,
        keys_newly_denied: changed(&other),
        keys_no_more_denied: changed(&replay),
    });
    Ok(report)
}
