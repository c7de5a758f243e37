//! `rlaas explain`

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::Entry;
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;

use super::{RuleArgs, say_shadow_mode};
use crate::rules::Printable;
use crate::service::{Plan, Slot};

/// The arguments of `rlaas explain`.
#[derive(Debug, Args)]
pub struct Explain {
    #[command(flatten)]
    rules: RuleArgs,
    #[command(flatten)]
    request: RequestArgs,
    /// What every key begins with [default: nothing]
    #[arg(long, env = "RLAAS_PREFIX")]
    prefix: Option<String>,
}

/// A request.
#[derive(Debug, Args)]
pub struct RequestArgs {
    /// The domain of a request, and its descriptors: their entries, with commas between them. A backslash takes the
    /// next character as it is.
    #[arg(long, num_args = 2.., value_names = ["DOMAIN", "KEY=VALUE[,KEY=VALUE…]"], required = true)]
    domain: Vec<String>,
}

impl RequestArgs {
    /// The request; or prints what is wrong with it.
    pub fn read(&self, out: &mut impl Write) -> io::Result<Option<RateLimitRequest>> {
        let [domain, descriptors @ ..] = self.domain.as_slice() else { return Ok(None) };
        match descriptors.iter().map(|text| descriptor(text)).collect() {
            Ok(descriptors) => Ok(Some(RateLimitRequest { domain: domain.clone(), descriptors, hits_addend: 0 })),
            Err(error) => writeln!(out, "invalid descriptor: {error}").map(|()| None),
        }
    }
}

impl Explain {
    pub fn run(&self, out: &mut impl Write) -> io::Result<ExitCode> {
        let Some(request) = self.request.read(out)? else { return Ok(ExitCode::FAILURE) };
        let Some(rules) = self.rules.load(out)? else { return Ok(ExitCode::FAILURE) };
        say_shadow_mode(out)?;
        let name = &request.domain;
        let Some(domain) = rules.domains.get(name.as_str()) else {
            writeln!(out, "domain {}: no rules, so every request is allowed", Printable(name))?;
            return Ok(ExitCode::SUCCESS);
        };
        // As for `rlaas serve`.
        let prefix = self.prefix.clone().or_else(|| env::var("CACHE_KEY_PREFIX").ok()).unwrap_or_default();
        let plan = match Plan::new(&request, Some(domain), &prefix, false) {
            Ok(plan) => plan,
            Err(error) => {
                writeln!(out, "invalid request: {error}")?;
                return Ok(ExitCode::FAILURE);
            }
        };
        for (descriptor, slot) in request.descriptors.iter().zip(&plan.slots) {
            let entries = descriptor.entries.iter().map(|Entry { key, value }| format!("({key}, {value})"));
            writeln!(out, "descriptor {}", Printable(&entries.collect::<Vec<_>>().join(", ")))?;
            show(name, slot, out)?;
        }
        if plan.all_or_nothing {
            writeln!(out, "all_or_nothing: one RL.MULTI has these limits; if one denies, none is charged")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the rule, the key and the command of a descriptor.
pub fn show(domain: &str, slot: &Slot, out: &mut impl Write) -> io::Result<()> {
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
    writeln!(out, "  command  {}", Printable(&check.command()))?;
    if matches!(slot, Slot::Replaced(_)) {
        writeln!(out, "  replaced by another descriptor of this request: not charged")?;
    }
    Ok(())
}

pub fn descriptor(text: &str) -> Result<RateLimitDescriptor, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_read_with_its_escapes() {
        let read = |text: &str| descriptor(text).map(|descriptor| descriptor.entries);
        let entry = |key: &str, value: &str| Entry { key: key.to_owned(), value: value.to_owned() };
        assert_eq!(read("a=b,c=d=e"), Ok(vec![entry("a", "b"), entry("c", "d=e")]));
        assert_eq!(read(r"a\=b=c\,d,e="), Ok(vec![entry("a=b", "c,d"), entry("e", "")]));
        for wrong in ["", "a", "=b", "a=b,", "a=b,c", "a=b\\"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
