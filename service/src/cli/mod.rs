//! The commands.

mod check;
mod explain;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::rules::{self, Findings, Printable, Problem, Rules, Settings};
use crate::{VERSION, go, serve};

/// Rate limits as a service: a drop-in for Envoy's rate limit service, on Redis or Valkey with the module redis-rl.
#[derive(Debug, Parser)]
#[command(version = VERSION, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves requests over gRPC and HTTP.
    Serve(Box<serve::Flags>),
    /// Validates rules. Prints file:line:column and what is wrong; exit 1 if something is.
    Check(check::Check),
    /// Shows which rule matches each descriptor, its key, and the command that is sent.
    Explain(explain::Explain),
}

/// Where the rules are, and how they are read.
#[derive(Clone, Debug, Args)]
pub struct RuleArgs {
    /// Files of rules, and directories of such files.
    #[arg(value_name = "RULES", required = true)]
    paths: Vec<PathBuf>,
    /// Merge the files of one domain. Without it, two files of one domain are an error.
    #[arg(long, env = "MERGE_DOMAIN_CONFIG", value_parser = go::boolean, default_value = "false", num_args = 0..=1,
          default_missing_value = "true", require_equals = true)]
    merge_domains: bool,
    /// Leave out files whose names begin with a dot.
    #[arg(long, env = "RUNTIME_IGNOREDOTFILES", value_parser = go::boolean, default_value = "false", num_args = 0..=1,
          default_missing_value = "true", require_equals = true)]
    ignore_dot_files: bool,
    /// The rules are for a cluster: `all_or_nothing` then needs a `hash_tag`.
    #[arg(long)]
    cluster: bool,
}

impl RuleArgs {
    /// Reads the rules, and prints what is wrong with them and what has no effect. Without rules, something is an error.
    fn load(&self, out: &mut impl Write) -> io::Result<Option<Rules>> {
        let sources = match rules::read(&self.paths, self.ignore_dot_files) {
            Ok(sources) => sources,
            Err((path, error)) => {
                writeln!(out, "{}: {error}", path.display())?;
                return Ok(None);
            }
        };
        let (rules, Findings { errors, warnings }) =
            rules::load(&sources, Settings { merge_domains: self.merge_domains, cluster: self.cluster });
        for problem in &errors {
            writeln!(out, "{problem}")?;
        }
        for Problem { place, text } in &warnings {
            writeln!(out, "{place}: warning: {}", Printable(text))?;
        }
        if rules.is_none() {
            writeln!(out, "{} in the rules", count(errors.len(), "error"))?;
        }
        Ok(rules)
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Runs the command of the arguments.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let command = match cli.command {
        Command::Serve(flags) => return serve::run(*flags),
        command => command,
    };
    let out = &mut io::stdout().lock();
    let result = match &command {
        Command::Serve(_) => Ok(ExitCode::SUCCESS),
        Command::Check(args) => check::run(args, out),
        Command::Explain(args) => args.run(out),
    };
    result.unwrap_or_else(|error| {
        // A reader that went away, as `head` does, is no error.
        if error.kind() != io::ErrorKind::BrokenPipe {
            _ = writeln!(io::stderr(), "rlaas: {error}");
        }
        ExitCode::FAILURE
    })
}
