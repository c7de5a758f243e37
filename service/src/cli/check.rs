//! `rlaas check`

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;

use super::{RuleArgs, count, say_shadow_mode};
use crate::VERSION;

/// The arguments of `rlaas check`.
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    rules: RuleArgs,
    /// Accept rules without a limit. A service that has limits would not take them.
    #[arg(long)]
    allow_empty: bool,
}

/// Prints whether the rules are valid.
pub fn run(args: &Check, out: &mut impl Write) -> io::Result<ExitCode> {
    let Some(rules) = args.rules.load(out)? else { return Ok(ExitCode::FAILURE) };
    let (limits, domains) = (rules.limits(), rules.domains.len());
    if limits == 0 && !args.allow_empty {
        writeln!(out, "there is no limit in the rules; --allow-empty accepts that")?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(out, "the rules are valid: {} in {}", count(limits, "limit"), count(domains, "domain"))?;
    writeln!(out, "hash {}, of rlaas {VERSION}", rules.hash())?;
    say_shadow_mode(out)?;
    Ok(ExitCode::SUCCESS)
}
