//! The keys in Redis, and the commands for them. A key is `<prefix>rl:<domain>:<algorithm>:<window>:<entries>`; the key of
//! a lease has no window.
//!
//! - Entries are `key=value`, with commas between them. Characters that separate parts of a key are escaped as in a URL,
//!   so two descriptors never have the same key.
//! - The value of the domain's `hash_tag` is in braces.
//! - If all values of a wildcard share a limit, the key has the pattern instead of the value. A star in a value is escaped.
//! - A long value of a caller is shortened to a fixed length, with its digest.

use std::fmt::Write as _;

use redis_rl_client::{Policy, bounded, bounded_after};

use super::matching::{Entry, Found, without_key};
use super::model::{Domain, Rate};

/// How the keys of a limit begin, after the prefix.
pub fn key_start(domain: &str, rate: &Rate) -> Box<str> {
    let mut start = "rl:".to_owned();
    escape(&mut start, domain, "");
    _ = write!(start, ":{}", rate.policy.algorithm().word().to_ascii_lowercase());
    // A window of seconds has no unit, as in the command. That of a lease may differ from request to request.
    if !rate.policy.algorithm().traits().id {
        _ = write!(start, ":{}", rate.policy.window());
    }
    // Another scale begins anew: what is counted has another unit.
    if rate.unit_scale != 1 {
        _ = write!(start, "x{}", rate.unit_scale);
    }
    start.push(':');
    start.into()
}

/// How headers and denials name a rule: by the name of its limit, else by its path. `_` stands for what no policy's name
/// has, and a long name is cut.
pub fn policy_name(limit: &str, path: &str) -> String {
    const MOST: usize = 64;
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    if limit.is_empty() { path } else { limit }.chars().take(MOST).map(allowed).collect()
}

/// The key of a pool, after the prefix. No descriptor makes it: an entry has a `=` or a `~`.
pub fn pool_key(domain: &str, rate: &Rate, name: &str) -> Box<str> {
    let mut key = key_start(domain, rate).into_string();
    escape(&mut key, &bounded(name), "");
    key.into()
}

/// The key of a descriptor's state.
pub fn key(prefix: &str, domain: &Domain, entries: &[Entry<'_>], found: &Found<'_>) -> String {
    let start = &*found.limit.key_start;
    if domain.script_keys && !found.is_own {
        // The keys of the scripts, which run side by side with this service.
        let value = entries.first().map_or("", |(_, value)| value);
        return bounded_after(start, value);
    }
    let mut key = String::with_capacity(prefix.len() + start.len() + 64);
    key.push_str(prefix);
    key.push_str(start);
    let mut tagged = false;
    for (i, &(entry, value)) in entries.iter().enumerate() {
        if i > 0 {
            key.push(',');
        }
        escape(&mut key, &bounded(entry), "");
        let shared = found.shared.iter().find(|(at, _)| *at == i).map(|(_, name)| *name);
        let is_tag = !tagged && domain.options.hash_tag.as_deref() == Some(entry);
        match shared {
            // The star is in the key of the rule: `~` keeps it apart from a value.
            Some(name) if without_key(name, entry) == name => {
                key.push('~');
                escape(&mut key, name, "*");
            }
            Some(name) => {
                key.push('=');
                escape(&mut key, without_key(name, entry), "*");
            }
            None if is_tag => {
                tagged = true;
                key.push_str("={");
                // Braces with nothing between them are no hash tag. No escape is a lone percent sign.
                if value.is_empty() {
                    key.push('%');
                }
                escape(&mut key, &bounded(value), "");
                key.push('}');
            }
            None => {
                key.push('=');
                escape(&mut key, &bounded(value), "");
            }
        }
    }
    key
}

/// The command for a limit, with options, but for the form of its reply.
pub fn command(policy: &Policy, key: &str, cost: u64, options: &str) -> String {
    let text = policy.to_string();
    let (algorithm, rest) = text.split_once(' ').unwrap_or((&text, ""));
    let rest = rest.strip_suffix(" SHADOW").unwrap_or(rest);
    // The name is not sent: it is for the headers, which the client makes.
    let rest = rest.split_once(" AS ").map_or(rest, |(rest, _)| rest);
    let cost = if cost == 1 { String::new() } else { format!(" COST {cost}") };
    let shadow = if policy.is_shadow() { " SHADOW" } else { "" };
    format!("RL.{algorithm} {key} {rest}{cost}{options}{shadow}")
}

/// Writes a part of a key so that it has none of the characters that separate parts, but for those in `keep`.
fn escape(key: &mut String, part: &str, keep: &str) {
    let is_escaped = |byte| {
        matches!(byte, 0..=b' ' | 0x7f | b'%' | b':' | b',' | b'=' | b'~' | b'*' | b'{' | b'}')
            && !keep.as_bytes().contains(&byte)
    };
    let mut rest = part;
    while let Some((at, byte)) = rest.bytes().enumerate().find(|(_, byte)| is_escaped(*byte)) {
        let (plain, escaped) = rest.split_at(at);
        key.push_str(plain);
        _ = write!(key, "%{byte:02X}");
        rest = escaped.get(1..).unwrap_or_default();
    }
    key.push_str(rest);
}
