//! `rlaas check`

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;

use super::RuleArgs;
use crate::VERSION;
use crate::rules::{Printable, Problem};

/// The arguments of `rlaas check`.
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    rules: RuleArgs,
    /// Accept rules without a limit. A service that has limits would not take them.
    #[arg(long)]
    allow_empty: bool,
}

/// Prints what is wrong with the rules, and what has no effect.
pub fn run(args: &Check, out: &mut impl Write) -> io::Result<ExitCode> {
    let (rules, findings) = match args.rules.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            writeln!(out, "{error}")?;
            return Ok(ExitCode::FAILURE);
        }
    };
    report(&findings.errors, "", out)?;
    report(&findings.warnings, "warning: ", out)?;
    let Some(rules) = rules else {
        writeln!(out, "{} in the rules", count(findings.errors.len(), "error"))?;
        return Ok(ExitCode::FAILURE);
    };
    let (limits, domains) = (rules.limits(), rules.domains.len());
    if limits == 0 && !args.allow_empty {
        writeln!(out, "there is no limit in the rules; --allow-empty accepts that")?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(out, "the rules are valid: {} in {}", count(limits, "limit"), count(domains, "domain"))?;
    writeln!(out, "hash {}, of rlaas {VERSION}", rules.hash())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints problems in the order of their places.
pub fn report(problems: &[Problem], kind: &str, out: &mut impl Write) -> io::Result<()> {
    for Problem { place, text } in problems {
        writeln!(out, "{place}: {kind}{}", Printable(text))?;
    }
    Ok(())
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
