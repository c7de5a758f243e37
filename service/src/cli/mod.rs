//! The commands.

mod check;
mod explain;
mod why;

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use rlaas_rules::{self as rules, Findings, Overrides, Printable, Problem, Rules, Settings};

use crate::decide::SHADOW_MODE;
use crate::{VERSION, control, go, serve};

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
    /// Asks a running rlaas what each limit of a request holds now. Charges nothing.
    Why(why::Why),
    /// Lets a running rlaas, started with --allow-reset, delete what the limits of a request hold; denials that this copy
    /// remembers end too.
    Reset(why::Why),
}

/// Where the rules are, and how they are read.
#[derive(Clone, Debug, Args)]
pub struct RuleArgs {
    /// Files of rules, and directories of such files.
    #[arg(value_name = "RULES", required_unless_present = "rules_cache")]
    paths: Vec<PathBuf>,
    /// The rules of a control plane, as `rlaas serve --rules-cache` keeps them.
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    rules_cache: Option<PathBuf>,
    /// A file with algorithms for rules that name none.
    #[arg(long, value_name = "FILE", env = "RLAAS_OVERRIDES")]
    overrides: Option<PathBuf>,
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
        let (rules, Findings { errors, warnings }) = match self.read() {
            Ok(read) => read,
            Err(problem) => {
                writeln!(out, "{problem}")?;
                return Ok(None);
            }
        };
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

    fn read(&self) -> Result<(Option<Rules>, Findings), String> {
        let overrides = self.overrides.as_deref().map(Overrides::read).transpose()?.unwrap_or_default().into();
        let settings = Settings { merge_domains: self.merge_domains, cluster: self.cluster, overrides };
        if let Some(path) = &self.rules_cache {
            let kept = control::cache::read(path)?;
            let kept = kept.ok_or_else(|| format!("{}: there is no cache of rules", path.display()))?;
            let resources = control::resources(&kept).map_err(|problems| problems.join("\n"))?;
            return Ok(control::load_resources(&resources, &settings));
        }
        let (sources, left_out) = rules::read(&self.paths, self.ignore_dot_files)
            .map_err(|(path, error)| format!("{}: {error}", path.display()))?;
        for line in left_out {
            eprintln!("{}", Printable(&line));
        }
        Ok(rules::load(&sources, &settings))
    }
}

/// What `rlaas serve` would do with the same variables.
fn say_shadow_mode(out: &mut impl Write) -> io::Result<()> {
    let is_on = env::var("SHADOW_MODE").is_ok_and(|text| go::boolean(&text) == Ok(true));
    if is_on { writeln!(out, "{SHADOW_MODE}") } else { Ok(()) }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Runs the command of the arguments.
pub fn run() -> ExitCode {
    // Under the name of envoyproxy/ratelimit, as Envoy Gateway starts it, it serves.
    let mut args = env::args_os();
    let serves = args.len() == 1 && args.next().is_some_and(|name| Path::new(&name).ends_with("ratelimit"));
    let cli = if serves { Cli::parse_from(["rlaas", "serve"]) } else { Cli::parse() };
    let out = &mut io::stdout();
    let result = match cli.command {
        Command::Serve(flags) => return serve::run(*flags),
        Command::Check(args) => check::run(&args, out),
        Command::Explain(args) => args.run(out),
        Command::Why(args) => args.run("/why", out),
        Command::Reset(args) => args.run("/reset", out),
    };
    result.unwrap_or_else(|error| {
        // A reader that went away, as `head` does, is no error.
        if error.kind() != io::ErrorKind::BrokenPipe {
            _ = writeln!(io::stderr(), "rlaas: {error}");
        }
        ExitCode::FAILURE
    })
}
