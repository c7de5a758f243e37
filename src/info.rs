//! `INFO rl`: what an operator sees of the module.

use std::sync::OnceLock;
use std::time::Instant;

use redis_module::{InfoContext, RedisResult};
use redis_module_macros::info_command_handler;

use crate::command::for_each_decisions;
use crate::stats::STATS;
use crate::{denied, ffi};

/// When the module was loaded.
static LOADED: OnceLock<Instant> = OnceLock::new();

/// Starts the clock of `loaded_seconds`.
pub fn loaded() {
    LOADED.get_or_init(Instant::now);
}

/// The section `rl` of INFO.
#[info_command_handler]
fn info(ctx: &InfoContext, _for_crash_report: bool) -> RedisResult<()> {
    let number = |n: u64| n.to_string();
    let mut section = ctx.builder().add_section("").field("version", env!("RL_VERSION"))?;
    let seconds = LOADED.get().map_or(0, |loaded| loaded.elapsed().as_secs());
    section = section.field("loaded_seconds", number(seconds))?;
    let mut rows = Vec::new();
    for_each_decisions(|name, decisions| rows.push((name.word().to_ascii_lowercase(), decisions.fields())));
    rows.push(("multi".to_owned(), STATS.multi.fields()));
    for (name, fields) in &rows {
        for (outcome, count) in fields {
            section = section.field(&format!("{name}_{outcome}"), number(*count))?;
        }
    }
    for (name, counter) in [
        ("peeks", &STATS.peeks),
        ("refunds", &STATS.refunds),
        ("settlements", &STATS.settlements),
        ("reservations_made", &STATS.reservations_made),
        ("reservations_repeated", &STATS.reservations_repeated),
        ("reservations_settled", &STATS.reservations_settled),
        ("reservations_ended", &STATS.reservations_ended),
        ("oom_error", &STATS.oom_error),
        ("oom_allowed", &STATS.oom_allowed),
        ("oom_denied", &STATS.oom_denied),
    ] {
        section = section.field(name, number(counter.value()))?;
    }
    let section = section.field("top_keys", number(denied::len()))?;
    section.field("missing_api", ffi::missing_features())?.build_section()?.build_info()?;
    Ok(())
}
