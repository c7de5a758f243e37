//! `rlaas explain`

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;

use super::{RuleArgs, check};
use crate::rules::{self, Charge, Domain, Entry, Found, Limit, Printable, Rate};

/// The arguments of `rlaas explain`.
#[derive(Debug, Args)]
pub struct Explain {
    #[command(flatten)]
    rules: RuleArgs,
    /// The domain of a request, and its descriptors: their entries, with commas between them. A backslash takes the
    /// next character as it is.
    #[arg(long, num_args = 2.., value_names = ["DOMAIN", "KEY=VALUE[,KEY=VALUE…]"], required = true)]
    domain: Vec<String>,
    /// What every key begins with [default: nothing]
    #[arg(long, env = "RLAAS_PREFIX")]
    prefix: Option<String>,
}

/// The entries of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Descriptor(Vec<(String, String)>);

impl Explain {
    pub fn run(&self, out: &mut impl Write) -> io::Result<ExitCode> {
        let [name, descriptors @ ..] = self.domain.as_slice() else { return Ok(ExitCode::FAILURE) };
        let given = match descriptors.iter().map(|text| descriptor(text)).collect::<Result<Vec<_>, _>>() {
            Ok(descriptors) => descriptors,
            Err(error) => {
                writeln!(out, "invalid descriptor: {error}")?;
                return Ok(ExitCode::FAILURE);
            }
        };
        let (rules, findings) = match self.rules.load() {
            Ok(loaded) => loaded,
            Err(error) => {
                writeln!(out, "{error}")?;
                return Ok(ExitCode::FAILURE);
            }
        };
        let Some(rules) = rules else {
            check::report(&findings.errors, "", out)?;
            return Ok(ExitCode::FAILURE);
        };
        let Some(domain) = rules.domains.get(name.as_str()) else {
            writeln!(out, "domain {}: no rules, so every request is allowed", Printable(name))?;
            return Ok(ExitCode::SUCCESS);
        };
        let descriptors: Vec<Vec<Entry<'_>>> = given.iter().map(Descriptor::entries).collect();
        let found: Vec<_> = descriptors.iter().map(|entries| domain.find(entries)).collect();
        let replaced: Vec<_> = found.iter().flatten().flat_map(|found| found.limit.replaces.iter()).collect();
        for ((given, entries), found) in given.iter().zip(&descriptors).zip(&found) {
            writeln!(out, "descriptor {}", Printable(&given.show()))?;
            let Some(found) = found else {
                writeln!(out, "  no limit: allowed")?;
                continue;
            };
            self.show((name, domain), entries, found, out)?;
            if replaced.contains(&&found.limit.name) && !found.limit.name.is_empty() {
                writeln!(out, "  replaced by another descriptor of this request: not charged")?;
            }
        }
        if domain.options.all_or_nothing {
            writeln!(out, "all_or_nothing: one RL.MULTI has these limits; if one denies, none is charged")?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn show(
        &self,
        (name, domain): (&str, &Domain),
        entries: &[Entry<'_>],
        found: &Found<'_>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let limit = found.limit;
        write!(out, "  rule     {}", Printable(&limit.path))?;
        match &limit.place {
            Some(place) => writeln!(out, " at {place}")?,
            None => writeln!(out)?,
        }
        let Some(rate) = &limit.rate else {
            return writeln!(out, "  unlimited: allowed");
        };
        let modes = [(limit.shadow, "shadow_mode"), (limit.quota, "quota_mode")];
        let modes: Vec<_> = modes.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
        if !modes.is_empty() {
            writeln!(out, "  mode     {}", modes.join(", "))?;
        }
        if limit.detailed_metric || limit.values_in_metric {
            let parts = domain.metric(entries).unwrap_or_default();
            writeln!(out, "  metric   {}", Printable(&format!("{name}.{}", parts.join("."))))?;
        }
        // As for `rlaas serve`.
        let prefix = self.prefix.clone().or_else(|| env::var("CACHE_KEY_PREFIX").ok()).unwrap_or_default();
        let key = rules::key(&prefix, name, domain, rate, entries, found);
        writeln!(out, "  key      {}", Printable(&key))?;
        writeln!(out, "  command  {}", Printable(&command(limit, rate, &key)))
    }
}

/// The command of a request of one hit.
fn command(limit: &Limit, rate: &Rate, key: &str) -> String {
    let policy = if limit.shadow { rate.policy.shadow() } else { rate.policy };
    match (rate.grants, rate.charge) {
        (Some(units), _) => rules::command(&policy, key, u64::from(units), " PARTIAL"),
        (None, Charge::Always) => rules::command(&policy, key, 1, " ALWAYS"),
        (None, Charge::Allowed) => rules::command(&policy, key, 1, ""),
    }
}

impl Descriptor {
    fn entries(&self) -> Vec<Entry<'_>> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
    }

    fn show(&self) -> String {
        self.0.iter().map(|(key, value)| format!("({key}, {value})")).collect::<Vec<_>>().join(", ")
    }
}

fn descriptor(text: &str) -> Result<Descriptor, String> {
    const EXPECTED: &str = "expected KEY=VALUE, with commas between several";
    let mut entries = Vec::new();
    let mut key: Option<String> = None;
    let mut part = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next() {
            Some('\\') => part.push(chars.next().ok_or(EXPECTED)?),
            Some('=') if key.is_none() => key = Some(std::mem::take(&mut part)),
            Some(',') => entries.push((key.take().ok_or(EXPECTED)?, std::mem::take(&mut part))),
            Some(c) => part.push(c),
            None => break,
        }
    }
    entries.push((key.take().ok_or(EXPECTED)?, part));
    if entries.iter().any(|(key, _)| key.is_empty()) { Err(EXPECTED.to_owned()) } else { Ok(Descriptor(entries)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_read_with_its_escapes() {
        let read = |text: &str| descriptor(text).map(|Descriptor(entries)| entries);
        let entry = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(read("a=b,c=d=e"), Ok(vec![entry("a", "b"), entry("c", "d=e")]));
        assert_eq!(read(r"a\=b=c\,d,e="), Ok(vec![entry("a=b", "c,d"), entry("e", "")]));
        for wrong in ["", "a", "=b", "a=b,", "a=b,c", "a=b\\"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
