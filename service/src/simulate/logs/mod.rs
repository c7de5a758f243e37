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
use input::{LONGEST, Line, Lines};
pub use names::Field;
use names::Names;
use order::Order;
use request::Draft;
pub use request::Request;
use time::{Clock, SECOND};

/// So many lines that cannot be read are shown.
const SHOWN: usize = 10;
/// The progress is told after so many lines.
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
    pub formats: Vec<(String, String)>,
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
    /// The file and the number of the request that was returned last.
    last: Option<(usize, usize)>,
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
    fn new(sources: Vec<(String, Box<dyn Read>)>, options: &Options, bar: ProgressBar) -> Result<Self, String> {
        let names = Names::default();
        let mut summary = Summary::default();
        let mut files = Vec::new();
        for (name, source) in sources {
            let file = LogFile::new(name, source, options, &names, &mut summary)?;
            summary
                .formats
                .push((file.name.clone(), file.format.as_ref().map_or("empty", |format| format.name).to_owned()));
            files.push(file);
        }
        Ok(Self { files, names, allow_unread: options.allow_unread, last: None, summary, bar })
    }

    /// The field of a name, for [`Request::get`]; `None` if no file has such a column. It may be in a line of JSON, so
    /// there every name has a field. Only requests after this call have it: ask before the first one.
    pub fn find(&mut self, name: &str) -> Option<Field> {
        let mut formats = self.files.iter().filter_map(|file| file.format.as_ref());
        if !formats.any(|format| format.has(name)) {
            return None;
        }
        let field = self.names.find(name);
        for format in self.files.iter_mut().filter_map(|file| file.format.as_mut()) {
            format.aim(&self.names);
        }
        Some(field)
    }

    /// The next request; `None` after the last one. An error if a file cannot be read, or at the end if too much of the
    /// lines could not.
    pub fn next(&mut self) -> Result<Option<&Request>, String> {
        if let Some((file, request)) = self.last.take() {
            self.files[file].free.push(request);
        }
        let mut least: Option<(i64, usize)> = None;
        for (index, file) in self.files.iter_mut().enumerate() {
            if file.next.is_none() {
                file.next = file.settle(&self.names, &mut self.summary, &self.bar)?;
            }
            if let Some(request) = file.next {
                let time = file.requests[request].time;
                if least.is_none_or(|(least, _)| time < least) {
                    least = Some((time, index));
                }
            }
        }
        let Some((_, index)) = least else { return self.end().map(|()| None) };
        let file = &mut self.files[index];
        let Some(request) = file.next.take() else { return Ok(None) };
        self.last = Some((index, request));
        self.summary.requests += 1;
        Ok(Some(&file.requests[request]))
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

/// A file of a log. Lines go through two queues: by the second in which they were logged, so that all requests of it are
/// known, and then by the time when the requests began.
struct LogFile {
    name: String,
    lines: Lines,
    /// The number of the last line.
    number: u64,
    /// `None` if it is empty.
    format: Option<Format>,
    clock: Clock,
    /// The requests that are held, and places for others.
    requests: Vec<Request>,
    free: Vec<usize>,
    logged: Order,
    begun: Order,
    /// What is logged in one second.
    second: Vec<usize>,
    /// How far lines are out of order, in µs.
    within: i64,
    /// The latest time in the log, and the time of the request that was settled last.
    latest: i64,
    settled: i64,
    ended: bool,
    /// The next request, while those of other files are before it.
    next: Option<usize>,
}

impl LogFile {
    fn new(
        name: String,
        source: Box<dyn Read>,
        options: &Options,
        names: &Names,
        summary: &mut Summary,
    ) -> Result<Self, String> {
        let mut file = Self {
            name,
            lines: Lines::new(source),
            number: 0,
            format: None,
            clock: Clock::default(),
            requests: Vec::new(),
            free: Vec::new(),
            logged: Order::default(),
            begun: Order::default(),
            second: Vec::new(),
            within: options.sort_within.as_micros().try_into().unwrap_or(i64::MAX),
            latest: 0,
            settled: 0,
            ended: false,
            next: None,
        };
        if let Some(text) = &options.format {
            file.format = Some(Format::new(text, names).map_err(|error| format!("invalid format: {error}"))?);
        }
        file.find_format(names, summary).map_err(|error| format!("{}: {error}", file.name))?;
        Ok(file)
    }

    /// Finds the format, unless it was given.
    fn find_format(&mut self, names: &Names, summary: &mut Summary) -> Result<(), String> {
        while self.format.is_none() && !self.ended {
            let first = self.lines.ahead().map_err(|error| error.to_string())?;
            let line = first.split(|&byte| byte == b'\n').next().unwrap_or_default();
            if line.trim_ascii().is_empty() || line.len() > LONGEST {
                self.read(names, summary).map_err(|error| error.to_string())?;
                continue;
            }
            let format = Format::of(first, names);
            self.format = Some(format.ok_or_else(|| format!("no known format fits the first lines: {}", shown(line)))?);
        }
        if self.format.as_ref().is_some_and(Format::has_header) {
            self.number += 1;
            self.lines.next().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// The next request that no later line can come before.
    fn settle(&mut self, names: &Names, summary: &mut Summary, bar: &ProgressBar) -> Result<Option<usize>, String> {
        loop {
            let until = if self.ended { i64::MAX } else { self.latest.saturating_sub(self.within) };
            while let Some((time, request)) = self.logged.pop(until.saturating_sub(SECOND)) {
                self.begin(time, request);
            }
            let until = self.logged.first().map_or(until, |first| first.saturating_sub(self.within));
            if let Some((time, request)) = self.begun.pop(until) {
                summary.not_in_order += u64::from(time < self.settled);
                self.settled = time.max(self.settled);
                self.requests[request].time = self.settled;
                return Ok(Some(request));
            }
            if self.ended {
                return Ok(None);
            }
            self.read(names, summary).map_err(|error| format!("{}: {error}", self.name))?;
            if summary.lines % PROGRESS == 0 {
                bar.set_message(HumanCount(summary.lines).to_string());
            }
        }
    }

    /// Reads a line.
    fn read(&mut self, names: &Names, summary: &mut Summary) -> io::Result<()> {
        let Some(line) = self.lines.next()? else {
            self.ended = true;
            return Ok(());
        };
        self.number += 1;
        if line == Line::Whole(b"") {
            return Ok(());
        }
        summary.lines += 1;
        let number = self.free.pop().unwrap_or(self.requests.len());
        if number == self.requests.len() {
            self.requests.push(Request::default());
        }
        let request = &mut self.requests[number];
        let read = match (&line, &mut self.format) {
            (Line::Whole(text), Some(format)) => format.read(text, Draft::new(request, &mut self.clock, names)),
            (Line::Whole(_), None) => Err("no known format"),
            (Line::TooLong(_), _) => Err("longer than 64 KiB"),
        };
        if let Err(why) = read {
            self.free.push(number);
            summary.unread += 1;
            if summary.first_unread.len() < SHOWN {
                let (Line::Whole(text) | Line::TooLong(text)) = line;
                summary.first_unread.push(Unread {
                    file: self.name.clone(),
                    line: self.number,
                    text: shown(text),
                    why,
                });
            }
            return Ok(());
        }
        let Request { logged, took, .. } = *request;
        summary.whole_seconds |= logged.whole;
        summary.durations_subtracted |= took > 0;
        summary.out_of_order += u64::from(logged.micros < self.latest);
        self.latest = self.latest.max(logged.micros);
        self.logged.push(logged.micros, number);
        Ok(())
    }

    /// Sets when the requests of a time began, of which this is the first one.
    fn begin(&mut self, time: i64, first: usize) {
        self.second.clear();
        self.second.push(first);
        while let Some((_, request)) = self.logged.pop(time) {
            self.second.push(request);
        }
        let count = self.second.iter().filter(|&&request| self.requests[request].logged.whole).count();
        let mut nth = 0;
        for &number in &self.second {
            let Request { logged, took, .. } = self.requests[number];
            let mut end = time;
            if logged.whole {
                end += nth * SECOND / i64::try_from(count).unwrap_or(i64::MAX);
                nth += 1;
            }
            self.begun.push(end.saturating_sub(took).max(0), number);
        }
    }
}

/// The beginning of a line.
fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line)
        .chars()
        .take(100)
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}
