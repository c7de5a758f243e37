//! The requests of access logs, in the order in which they began.

mod formats;
mod input;
mod json;
mod names;
mod order;
mod request;
mod time;

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use formats::Format;
use input::{LONGEST, Lines};
pub use names::Field;
use names::Names;
use order::Order;
use request::Draft;
pub use request::Request;
use time::Clock;

/// So many lines that cannot be read are shown.
const SHOWN: usize = 10;
/// So much of each.
const SHOWN_BYTES: usize = 200;
/// The progress is told after so many requests.
const PROGRESS: u64 = 1 << 14;

/// How logs are read.
#[derive(Clone, Debug)]
pub struct Options {
    /// A regular expression with named groups, or a format string of nginx. Without it, the first lines of a file tell.
    pub format: Option<String>,
    /// More than 1 % that cannot be read, or is further out of order than `sort_within`, is no error.
    pub allow_unread: bool,
    /// A line may be so much later in a file than its time says, and a request may take so long, and is sorted.
    pub sort_within: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { format: None, allow_unread: false, sort_within: Duration::from_secs(10) }
    }
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Lines, without those that are blank.
    pub lines: u64,
    /// Bytes of the files as they are, compressed or not.
    pub bytes: u64,
    pub requests: u64,
    /// Lines that cannot be read.
    pub unread: u64,
    /// The first ten of them.
    pub first_unread: Vec<Unread>,
    /// Lines after one with a later time. They were sorted.
    pub out_of_order: u64,
    /// Requests that began further before those already returned than [`Options::sort_within`]. Each got the time of the
    /// one before it.
    pub not_in_order: u64,
    /// There are times without a fraction. The requests of such a second of a file were spread evenly over it.
    pub whole_seconds: bool,
    /// There are durations, which were subtracted from the times.
    pub durations_subtracted: bool,
    /// Each file with its format.
    pub formats: Vec<(String, &'static str)>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    pub file: String,
    /// From 1.
    pub line: u64,
    /// Its beginning.
    pub text: String,
    pub why: &'static str,
}

/// The requests of logs, by the time when they began. Those of one time are in the order of the files, then of the lines.
pub struct Logs {
    files: Vec<LogFile>,
    names: Names,
    allow_unread: bool,
    /// The request that was returned last.
    last: Option<Box<Request>>,
    summary: Summary,
    bar: ProgressBar,
}

impl Logs {
    /// Opens files; `-` is the standard input. Each is read up to the size that it has now.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Self, String> {
        // Hidden unless the standard error is a terminal.
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}, {msg} lines, {eta} left");
        bar.set_style(style.map_err(|error| error.to_string())?);
        let sources = paths.iter().map(|path| {
            let name = path.display().to_string();
            let source = input::open(path, &bar).map_err(|error| format!("{name}: {error}"))?;
            Ok((name, source))
        });
        Self::new(sources.collect::<Result<_, String>>()?, options, bar)
    }

    /// The logs of sources with names. The bar counts what is read of them.
    pub fn new(sources: Vec<(String, Box<dyn Read>)>, options: &Options, bar: ProgressBar) -> Result<Self, String> {
        let names = Names::default();
        let open = |(name, source)| LogFile::new(name, source, options, &names);
        let files = sources.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let formats = files.iter().map(|file| (file.name.clone(), file.format.name)).collect();
        let summary = Summary { formats, ..Summary::default() };
        Ok(Self { files, names, allow_unread: options.allow_unread, last: None, summary, bar })
    }

    /// The field of a name, for [`Request::get`]. Only lines that are read after this call have it: ask before the first
    /// request.
    pub fn find(&mut self, name: &str) -> Field {
        let field = self.names.find(name);
        for file in &mut self.files {
            file.format.aim(&self.names);
        }
        field
    }

    /// The next request; `None` after the last one. An error if a file cannot be read, or at the end if more than 1 % of
    /// the lines could not.
    pub fn next(&mut self) -> Result<Option<&Request>, String> {
        let mut spare = self.last.take();
        for file in self.files.iter_mut().filter(|file| file.next.is_none()) {
            file.settle(&mut spare, &self.names, &mut self.summary)?;
        }
        let waiting = self.files.iter_mut().filter(|file| file.next.is_some());
        let first = waiting.min_by_key(|file| file.next.as_ref().map(|request| request.time));
        let Some(first) = first else { return self.end().map(|()| None) };
        self.last = first.next.take();
        self.summary.requests += 1;
        if self.summary.requests % PROGRESS == 0 {
            self.bar.set_message(HumanCount(self.summary.lines).to_string());
        }
        Ok(self.last.as_deref())
    }

    fn end(&mut self) -> Result<(), String> {
        self.bar.finish_and_clear();
        let Summary { lines, unread, not_in_order, .. } = self.summary;
        if !self.allow_unread && unread > lines / 100 {
            return Err(format!("{unread} of {lines} lines cannot be read"));
        }
        if !self.allow_unread && not_in_order > lines / 100 {
            return Err(format!("{not_in_order} of {lines} requests are too far out of order"));
        }
        Ok(())
    }

    /// What was read up to now.
    pub fn summary(&self) -> Summary {
        Summary { bytes: self.bar.position(), ..self.summary.clone() }
    }
}

/// A file of a log.
struct LogFile {
    name: String,
    lines: Lines,
    /// The number of the last line.
    number: u64,
    ended: bool,
    format: Format,
    clock: Clock,
    order: Order,
    /// The next request, while those of other files are before it.
    next: Option<Box<Request>>,
    spare: Vec<Box<Request>>,
}

impl LogFile {
    fn new(name: String, source: Box<dyn Read>, options: &Options, names: &Names) -> Result<Self, String> {
        let (mut lines, first) = Lines::new(source).map_err(|error| format!("{name}: {error}"))?;
        let format = match &options.format {
            Some(text) => Format::new(text, names).map_err(|error| format!("invalid format: {error}"))?,
            None => Format::of(&first, names).ok_or_else(|| {
                format!("{name}: no known format fits its first lines, which begin with {}", shown(&first))
            })?,
        };
        let mut number = 0;
        if format.has_header() {
            number = 1;
            lines.next().map_err(|error| format!("{name}: {error}"))?;
        }
        let order = Order::new(options.sort_within.as_micros().try_into().unwrap_or(i64::MAX));
        let clock = Clock::default();
        Ok(Self { name, lines, number, ended: false, format, clock, order, next: None, spare: Vec::new() })
    }

    /// Reads up to the next request that no later line can come before.
    fn settle(&mut self, spare: &mut Option<Box<Request>>, names: &Names, summary: &mut Summary) -> Result<(), String> {
        self.spare.extend(spare.take());
        loop {
            self.next = self.order.next(self.ended, summary);
            if self.next.is_some() || self.ended {
                return Ok(());
            }
            self.read(names, summary).map_err(|error| format!("{}: {error}", self.name))?;
        }
    }

    /// Reads a line.
    fn read(&mut self, names: &Names, summary: &mut Summary) -> io::Result<()> {
        let Some(line) = self.lines.next()? else {
            self.ended = true;
            return Ok(());
        };
        self.number += 1;
        if line.is_empty() {
            return Ok(());
        }
        summary.lines += 1;
        let mut request = self.spare.pop().unwrap_or_default();
        let read = if line.len() > LONGEST {
            Err("longer than 64 KiB")
        } else {
            self.format.read(line, Draft::new(&mut request, &mut self.clock, names))
        };
        match read {
            Ok(()) => self.order.add(request, summary),
            Err(why) => {
                summary.unread += 1;
                if summary.first_unread.len() < SHOWN {
                    let (file, text) = (self.name.clone(), shown(line));
                    summary.first_unread.push(Unread { file, line: self.number, text, why });
                }
                self.spare.push(request);
            }
        }
        Ok(())
    }
}

/// The beginning of a line.
fn shown(text: &[u8]) -> String {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]).chars().map(printable).collect()
}
