//! Descriptors and their limits as text: how commands take them, and how operators see them.

use std::io::{self, Write};

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::Entry;
use redis_rl_client::bounded;
use rlaas_rules::Printable;

use super::plan::{Check, Slot};

/// A descriptor of `KEY=VALUE[,KEY=VALUE…]`. A backslash takes the next character as it is.
///
/// # Errors
/// What is expected instead.
pub fn read_descriptor(text: &str) -> Result<RateLimitDescriptor, String> {
    const EXPECTED: &str = "expected KEY=VALUE, with commas between several";
    let mut entries = Vec::new();
    let mut key: Option<String> = None;
    let mut part = String::new();
    let mut end = |key: Option<String>, value| match key {
        Some(key) if !key.is_empty() => {
            entries.push(Entry { key, value });
            Ok(())
        }
        _ => Err(EXPECTED),
    };
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => part.push(chars.next().ok_or(EXPECTED)?),
            '=' if key.is_none() => key = Some(std::mem::take(&mut part)),
            ',' => end(key.take(), std::mem::take(&mut part))?,
            c => part.push(c),
        }
    }
    end(key, part)?;
    Ok(RateLimitDescriptor { entries, ..RateLimitDescriptor::default() })
}

/// A descriptor as `rlaas explain` takes it.
pub fn show_descriptor(descriptor: &RateLimitDescriptor) -> String {
    let escape = |text: &str, special: &[char]| -> String {
        let escaped = |c: char| special.contains(&c).then_some('\\').into_iter().chain([c]);
        text.chars().flat_map(escaped).collect()
    };
    let entries = descriptor.entries.iter();
    let entries = entries.map(|Entry { key, value }| {
        format!("{}={}", escape(&bounded(key), &['\\', ',', '=']), escape(&bounded(value), &['\\', ',']))
    });
    entries.collect::<Vec<_>>().join(",")
}

/// Prints the rule, the key and the command of a descriptor.
pub fn show_slot(domain: &str, slot: &Slot, all_or_nothing: bool, out: &mut impl Write) -> io::Result<()> {
    let Some(limit) = slot.limit() else { return writeln!(out, "  no limit: allowed") };
    let place = limit.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
    writeln!(out, "  rule     {}{place}", Printable(&limit.path))?;
    let (Slot::Check(check) | Slot::Replaced(check)) = slot else {
        return writeln!(out, "  unlimited: allowed");
    };
    let modes = [(limit.shadow, "shadow_mode"), (limit.quota, "quota_mode")];
    let modes: Vec<_> = modes.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
    if !modes.is_empty() {
        writeln!(out, "  mode     {}", modes.join(", "))?;
    }
    if let Some(parts) = &check.metric {
        writeln!(out, "  metric   {}", Printable(&format!("{domain}.{}", parts.join("."))))?;
    }
    writeln!(out, "  key      {}", Printable(&check.key))?;
    writeln!(out, "  command  {}", Printable(&check.command(all_or_nothing)))?;
    if matches!(slot, Slot::Replaced(_)) {
        writeln!(out, "  replaced by another descriptor of this request: not charged")?;
    }
    Ok(())
}

/// Prints a pool: what is asked if the limit before it denies, or what that limit shares.
pub fn show_pool(check: &Check, shares: bool, all_or_nothing: bool, out: &mut impl Write) -> io::Result<()> {
    let place = check.limit.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
    let word = if shares { "share" } else { "else" };
    writeln!(out, "  {word:<8} {}{place}", Printable(&check.limit.path))?;
    writeln!(out, "  key      {}", Printable(&check.key))?;
    writeln!(out, "  command  {}", Printable(&check.command(all_or_nothing)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_read_with_its_escapes() {
        let read = |text: &str| read_descriptor(text).map(|descriptor| descriptor.entries);
        let entry = |key: &str, value: &str| Entry { key: key.to_owned(), value: value.to_owned() };
        assert_eq!(read("a=b,c=d=e"), Ok(vec![entry("a", "b"), entry("c", "d=e")]));
        assert_eq!(read(r"a\=b=c\,d,e="), Ok(vec![entry("a=b", "c,d"), entry("e", "")]));
        for text in [r"a\=b=c\\d\,e", "e="] {
            assert_eq!(show_descriptor(&read_descriptor(text).expect(text)), text);
        }
        for wrong in ["", "a", "=b", "a=b,", "a=b,c", "a=b\\"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
