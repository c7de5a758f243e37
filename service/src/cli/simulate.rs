//! `rlaas simulate`

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser};

use super::RuleArgs;
use crate::go;
use crate::rules::Printable;
use crate::simulate::logs::{Logs, Options};
use crate::simulate::{Settings, example, of_log, page, run};

/// The arguments of `rlaas simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    #[command(flatten)]
    rules: RuleArgs,
    /// Access logs; `-` is the standard input.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    log: Vec<PathBuf>,
    /// What a line is: a regular expression with named groups, or the log_format of nginx [default: the first lines tell]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// More than 1 % of the lines may be such as cannot be read.
    #[arg(long)]
    allow_unread: bool,
    /// How far lines may be out of order.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = go::duration)]
    sort_within: Duration,
    /// The only domain [default: all of the rules]
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// A descriptor of each request, as user={user},path={path}: in braces is a field of the log. May be given several
    /// times [default: those of the part authorize of the domain]
    #[arg(long, value_name = "KEY=VALUE[,KEY=VALUE…]")]
    descriptor: Vec<String>,
    /// The field with the cost of a request [default: each costs 1]
    #[arg(long, value_name = "FIELD")]
    hits: Option<String>,
    /// A denied request comes again once, when it was told. Without it, it does not.
    #[arg(long)]
    retry: bool,
    /// Say for each rule the smallest limit under which this share of the keys is never denied.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    suggest: Option<f64>,
    /// Say what these rules change: whom they would deny newly, and whom no more.
    #[arg(long, value_name = "RULES2", num_args = 1..)]
    compare: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write a page with the pictures.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the log of a day, with rules and the page for it, into DIR/rlaas-example [default: here]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", exclusive = true)]
    example: Option<PathBuf>,
    /// How many keys a rule may have. The requests of further keys are left out.
    #[arg(long, value_name = "KEYS", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_keys: u32,
}

/// 99.9% is 0.999.
fn share(text: &str) -> Result<f64, &'static str> {
    let percent: f64 = text.trim_end_matches('%').trim_end().parse().map_err(|_| "expected a percentage, as 99.9%")?;
    if percent > 0.0 && percent <= 100.0 { Ok(percent / 100.0) } else { Err("expected more than 0 and at most 100") }
}

impl Simulate {
    pub fn run(&self, out: &mut impl Write) -> io::Result<ExitCode> {
        if let Some(dir) = &self.example {
            return run_example(&example::write(dir)?, out);
        }
        let Some(rules) = self.rules.load(out)? else { return Ok(ExitCode::FAILURE) };
        let others = if self.compare.is_empty() {
            None
        } else {
            let args = RuleArgs { paths: self.compare.clone(), rules_cache: None, ..self.rules.clone() };
            let Some(others) = args.load(out)? else { return Ok(ExitCode::FAILURE) };
            Some(others)
        };
        let settings = Settings {
            domain: self.domain.clone(),
            descriptors: self.descriptor.clone(),
            hits: self.hits.clone(),
            retry: self.retry,
            suggest: self.suggest.is_some(),
            max_keys: self.max_keys as usize,
        };
        let options =
            Options { format: self.format.clone(), allow_unread: self.allow_unread, sort_within: self.sort_within };
        let mut logs = match Logs::open(&self.log, &options) {
            Ok(logs) => logs,
            Err(error) => return failed(&error, &[]),
        };
        let report = match run(&mut logs, rules, others, &settings, self.suggest) {
            Ok(report) => report,
            Err(error) => return failed(&error, &of_log(&logs.summary())),
        };
        if let Some(path) = &self.html
            && let Err(error) = page(&report).and_then(|page| fs::write(path, page).map_err(|error| error.to_string()))
        {
            return failed(&format!("{}: {error}", path.display()), &[]);
        }
        if self.json {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            writeln!(out)?;
        } else {
            write!(out, "{report}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Replays the example as the command does that it prints.
fn run_example(files: &example::Files, out: &mut impl Write) -> io::Result<ExitCode> {
    let [rules, log, page] = [&files.rules, &files.log, &files.page].map(|path| path.display().to_string());
    let args = ["simulate", &rules, "--log", &log, "--suggest", "99%", "--html", &page];
    writeln!(out, "$ rlaas {}\n", args.join(" "))?;
    let ended = match Example::try_parse_from(args) {
        Ok(Example { args }) => args.run(out)?,
        Err(error) => return failed(&error.to_string(), &[]),
    };
    writeln!(out, "The page is {page}, the rules are {rules}, the log is {log}.")?;
    Ok(ended)
}

/// The command of the example.
#[derive(Debug, Parser)]
struct Example {
    #[command(flatten)]
    args: Simulate,
}

fn failed(error: &str, notes: &[String]) -> io::Result<ExitCode> {
    let mut err = io::stderr();
    writeln!(err, "rlaas: {}", Printable(error))?;
    notes.iter().try_for_each(|note| writeln!(err, "  {note}"))?;
    Ok(ExitCode::FAILURE)
}
