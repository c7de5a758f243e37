//! `rlaas check`

use std::io::{self, Write};
use std::process::ExitCode;

use super::RuleArgs;
use crate::rules::{Level, Printable, Problem, Rules};

/// Prints what is wrong with the rules, and what has no effect.
pub fn run(args: &RuleArgs, out: &mut impl Write) -> io::Result<ExitCode> {
    let (rules, findings) = match args.load() {
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
    let (limits, domains) = (limits(&rules), rules.domains.len());
    writeln!(out, "the rules are valid: {} in {}", count(limits, "limit"), count(domains, "domain"))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints problems in the order of their places.
pub fn report(problems: &[Problem], kind: &str, out: &mut impl Write) -> io::Result<()> {
    for Problem { place, text } in problems {
        writeln!(out, "{place}: {kind}{}", Printable(text))?;
    }
    Ok(())
}

fn limits(rules: &Rules) -> usize {
    fn of_level(level: &Level) -> usize {
        level
            .rules
            .values()
            .map(|rule| usize::from(rule.limit.is_some()) + rule.below.as_deref().map_or(0, of_level))
            .sum()
    }
    rules.domains.values().map(|domain| of_level(&domain.root)).sum()
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
