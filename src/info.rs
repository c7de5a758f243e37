//! `INFO rl`: what an operator sees of the module.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use redis_module::server_events::LoadingSubevent;
use redis_module::{Context, InfoContext, RedisResult};
use redis_module_macros::{info_command_handler, loading_event_handler};

use crate::command::for_each_decisions;
use crate::stats::{MULTI, SHARE, STATS};
use crate::{config, denied, ffi};

/// When the module was loaded.
static LOADED: OnceLock<Instant> = OnceLock::new();

/// The number of keys that the server held when it last had loaded its data, or the module if that was later. 0: every
/// limit began anew.
static LOADED_KEYS: AtomicU64 = AtomicU64::new(0);

/// Starts the clock of `loaded_seconds`, and counts the keys.
pub fn loaded(ctx: &Context) {
    LOADED.get_or_init(Instant::now);
    count_keys(ctx);
}

#[loading_event_handler]
fn loading(ctx: &Context, event: LoadingSubevent) {
    if matches!(event, LoadingSubevent::Ended) {
        count_keys(ctx);
    }
}

fn count_keys(ctx: &Context) {
    let Some(text) = ctx.call("INFO", &["keyspace"]).ok().and_then(|text| String::try_from(text).ok()) else { return };
    // db0:keys=5,expires=5,avg_ttl=0
    let keys = text.split("keys=").skip(1).filter_map(|rest| rest.split(',').next()?.parse::<u64>().ok());
    LOADED_KEYS.store(keys.fold(0, u64::saturating_add), Ordering::Relaxed);
}

/// The section `rl` of INFO.
#[info_command_handler]
fn info(ctx: &InfoContext, _for_crash_report: bool) -> RedisResult<()> {
    let number = |n: u64| n.to_string();
    let mut section = ctx.builder().add_section("").field("version", env!("RL_VERSION"))?;
    let seconds = LOADED.get().map_or(0, |loaded| loaded.elapsed().as_secs());
    section = section.field("loaded_seconds", number(seconds))?;
    section = section.field("loaded_keys", number(LOADED_KEYS.load(Ordering::Relaxed)))?;
    section = section.field("shadow", number(config::shadow().into()))?;
    let mut rows = Vec::new();
    for_each_decisions(|name, decisions| rows.push((format!("{}_", name.label()), decisions.fields())));
    rows.extend([("multi_".to_owned(), MULTI.fields()), ("share_".to_owned(), SHARE.fields())]);
    rows.push((String::new(), STATS.fields()));
    for (group, fields) in &rows {
        for (name, count) in fields {
            section = section.field(&format!("{group}{name}"), number(*count))?;
        }
    }
    let section = section.field("top_keys", number(denied::len()))?;
    section.field("missing_api", ffi::missing_features())?.build_section()?.build_info()?;
    Ok(())
}
