//! The keys in Redis, `<prefix>rl:<domain>:<algorithm>:<window>:<entries>`, and the commands for them. That of a lease has
//! no window.
//!
//! Entries are written `key=value`, with commas between them. What has a meaning in a key is escaped as in a URL, so two
//! descriptors never have the same key. The value of the domain's `hash_tag` is in braces. Where all values of a
//! wildcard share a limit, the pattern is there instead of the value; a star that is part of a value is escaped. What a
//! caller sends has a bounded length there.

use std::fmt::Write as _;

use redis_rl_client::{Algorithm, Policy, bounded, bounded_after};

use super::matching::{Entry, Found, without_key};
use super::model::{Domain, Rate};

/// The key of a descriptor's state.
pub fn key(prefix: &str, name: &str, domain: &Domain, rate: &Rate, entries: &[Entry<'_>], found: &Found<'_>) -> String {
    if domain.script_keys && !found.is_own {
        // The keys of the scripts, which run side by side with this service.
        let value = entries.first().map_or("", |(_, value)| value);
        return bounded_after(&format!("{name}:rate_limit:"), value);
    }
    let mut key = String::with_capacity(prefix.len() + 96);
    key.push_str(prefix);
    key.push_str("rl:");
    escape(&mut key, name, "");
    key.push(':');
    key.push_str(&rate.policy.algorithm().word().to_ascii_lowercase());
    // A window of seconds has no unit, as in the command. That of a lease may differ from request to request.
    match rate.policy.algorithm() {
        Algorithm::Lease => {}
        _ => _ = write!(key, ":{}", rate.policy.window()),
    }
    // Another scale begins anew: what is counted has another unit.
    if rate.unit_scale != 1 {
        _ = write!(key, "x{}", rate.unit_scale);
    }
    key.push(':');
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
    for c in part.chars() {
        if (c <= ' ' || c == '\u{7f}' || "%:,=~*{}".contains(c)) && !keep.contains(c) {
            _ = write!(key, "%{:02X}", u32::from(c));
        } else {
            key.push(c);
        }
    }
}
