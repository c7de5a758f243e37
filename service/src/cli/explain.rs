//! `rlaas explain`

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::Entry;
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use rlaas_rules::Printable;

use super::{RuleArgs, say_shadow_mode};
use crate::decide::{Plan, read_descriptor, show_pool, show_slot};

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
        match descriptors.iter().map(|text| read_descriptor(text)).collect() {
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
        for (i, (descriptor, slot)) in request.descriptors.iter().zip(&plan.slots).enumerate() {
            let entries = descriptor.entries.iter().map(|Entry { key, value }| format!("({key}, {value})"));
            writeln!(out, "descriptor {}", Printable(&entries.collect::<Vec<_>>().join(", ")))?;
            show_slot(name, slot, plan.all_or_nothing, out)?;
            let shares = slot.limit().is_some_and(|limit| limit.shares);
            plan.pools(i).iter().try_for_each(|pool| show_pool(pool, shares, plan.all_or_nothing, out))?;
            if shares {
                writeln!(
                    out,
                    "  one RL.SHARE has these limits: the first that allows is charged, and each one after it"
                )?;
            }
        }
        if plan.all_or_nothing {
            writeln!(out, "all_or_nothing: one RL.MULTI has these limits; if one denies, none is charged")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
