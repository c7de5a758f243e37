//! `rlaas simulate`

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser as _};
use rlaas_rules::Printable;

use super::{Cli, Command, RuleArgs};
use crate::go;
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
    #[command(flatten)]
    settings: Settings,
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
}

impl Simulate {
    pub fn run(&self, out: &mut impl Write) -> io::Result<ExitCode> {
        let Some(dir) = &self.example else { return self.replay(out) };
        let [rules, log, page] = &example::write(dir)?;
        let command = ["rlaas", "simulate", rules, "--log", log, "--suggest", "99%", "--html", page];
        writeln!(out, "$ {}\n", command.join(" "))?;
        let Command::Simulate(args) = Cli::parse_from(command).command else { return Ok(ExitCode::FAILURE) };
        let ended = args.replay(out)?;
        writeln!(out, "The page is {page}, the rules are {rules}, the log is {log}.")?;
        Ok(ended)
    }

    fn replay(&self, out: &mut impl Write) -> io::Result<ExitCode> {
        let Some(rules) = self.rules.load(out)? else { return Ok(ExitCode::FAILURE) };
        let mut others = None;
        if !self.compare.is_empty() {
            let args = RuleArgs { paths: self.compare.clone(), rules_cache: None, ..self.rules.clone() };
            others = args.load(out)?;
            if others.is_none() {
                return Ok(ExitCode::FAILURE);
            }
        }
        let options =
            Options { format: self.format.clone(), allow_unread: self.allow_unread, sort_within: self.sort_within };
        let mut logs = match Logs::open(&self.log, &options) {
            Ok(logs) => logs,
            Err(error) => return failed(&error, &[]),
        };
        let report = match run(&mut logs, rules, others, &self.settings) {
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

fn failed(error: &str, notes: &[String]) -> io::Result<ExitCode> {
    let mut err = io::stderr();
    writeln!(err, "rlaas: {}", Printable(error))?;
    notes.iter().try_for_each(|note| writeln!(err, "  {note}"))?;
    Ok(ExitCode::FAILURE)
}
