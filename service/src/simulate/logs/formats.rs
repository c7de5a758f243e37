//! The formats of logs.

use csv_core::ReadRecordResult;
use regex::bytes::{CaptureLocations, Regex};

use super::input::LONGEST;
use super::json::Json;
use super::names::{self, Names, Target};
use super::request::{Draft, Request};
use super::time::Clock;

/// What is read without `--format`, besides CSV and JSON. What follows on a line is ignored, as what `main` of nginx's own
/// configuration adds. Apache's combined logs have the same columns as nginx's.
const KNOWN: [(&str, &str); 4] = [
    (
        "combined",
        r#"$remote_addr - $remote_user [$time_local] "$request" $status $bytes "$http_referer" "$http_user_agent""#,
    ),
    ("common", r#"$remote_addr - $remote_user [$time_local] "$request" $status $bytes"#),
    (
        "combined with virtual hosts",
        r#"$host:$port $remote_addr - $remote_user [$time_local] "$request" $status $bytes "$http_referer" "$http_user_agent""#,
    ),
    (
        "Envoy",
        r#"[$start_time] "$method $path $protocol" $status $response_flags $bytes_received $bytes_sent $duration $upstream_time "$x_forwarded_for" "$user_agent" "$x_request_id" "$authority" "$upstream_host""#,
    ),
];
/// Out of so many first lines the format is found.
const FIRST: usize = 100;
const MISFIT: &str = "it does not fit the format";

/// A format of logs, and where its columns go.
pub struct Format {
    /// What a user calls it.
    pub name: String,
    reader: Reader,
    targets: Vec<Target>,
}

enum Reader {
    Template(Template),
    Pattern(Regex, CaptureLocations),
    Csv(Csv),
    Json(Json),
}

impl Format {
    /// A format that a user gives: a regular expression with named groups, or a format string of nginx.
    pub fn new(text: &str) -> Result<Self, String> {
        let reader = if text.contains("(?P<") || text.contains("(?<") {
            let pattern = Regex::new(text).map_err(|error| format!("invalid format: {error}"))?;
            let groups = pattern.capture_locations();
            Reader::Pattern(pattern, groups)
        } else {
            Reader::Template(Template::new(&unquoted(text), false).map_err(|error| format!("invalid format: {error}"))?)
        };
        Ok(Self { name: "as --format says".to_owned(), reader, targets: Vec::new() })
    }

    /// The format in which the most of the first lines can be read.
    pub fn of(first: &[u8], names: &Names) -> Option<Self> {
        let lines = || first.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let known =
            KNOWN.iter().filter_map(|(name, text)| Some((*name, Reader::Template(Template::new(text, true).ok()?))));
        let csv = lines().next().and_then(Csv::new).map(|csv| ("CSV", Reader::Csv(csv)));
        let tried = known.chain([("JSON lines", Reader::Json(Json::default()))]).chain(csv).map(|(name, reader)| {
            let mut format = Self { name: name.to_owned(), reader, targets: Vec::new() };
            format.aim(names);
            let (mut request, mut clock) = (Request::default(), Clock::default());
            let mut read = |line| format.read(line, Draft::new(&mut request, &mut clock, names)).is_ok();
            let count = lines().take(FIRST).filter(|line| read(line)).count();
            (count, format)
        });
        // The first of the best.
        let best = tried.reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.filter(|(count, _)| *count > 0).map(|(_, format)| format)
    }

    /// Whether the first line names the columns.
    pub fn has_header(&self) -> bool {
        matches!(self.reader, Reader::Csv(_))
    }

    /// Whether a line may have the field of a name. What a line of JSON has, only that line tells.
    pub fn has(&self, name: &str) -> bool {
        match &self.reader {
            Reader::Template(template) => template.parts.iter().any(|(column, _)| names::gives(column, name)),
            Reader::Pattern(pattern, _) => pattern.capture_names().flatten().any(|column| names::gives(column, name)),
            Reader::Csv(csv) => csv.columns.iter().any(|column| names::gives(column, name)),
            Reader::Json(_) => true,
        }
    }

    /// Learns which fields were asked for.
    pub fn aim(&mut self, names: &Names) {
        self.targets = match &mut self.reader {
            Reader::Template(template) => template.parts.iter().map(|(column, _)| names.target(column)).collect(),
            Reader::Pattern(pattern, _) => {
                pattern.capture_names().map(|name| names.target(name.unwrap_or_default())).collect()
            }
            Reader::Csv(csv) => csv.columns.iter().map(|column| names.target(column)).collect(),
            Reader::Json(json) => {
                json.forget();
                Vec::new()
            }
        };
    }

    /// Reads a line.
    pub fn read(&mut self, line: &[u8], mut draft: Draft<'_>) -> Result<(), &'static str> {
        let targets = &self.targets;
        match &mut self.reader {
            Reader::Template(template) => template.read(line, targets, &mut draft)?,
            Reader::Pattern(pattern, groups) => {
                pattern.captures_read(groups, line).ok_or(MISFIT)?;
                for (group, target) in targets.iter().enumerate().skip(1) {
                    if let Some((start, end)) = groups.get(group) {
                        draft.put(*target, &line[start..end]);
                    }
                }
            }
            Reader::Csv(csv) => csv.read(line, targets, &mut draft)?,
            Reader::Json(json) => json.read(line, &mut draft)?,
        }
        draft.end()
    }
}

/// Columns with text between them, as a format string of nginx has them.
struct Template {
    /// The text before the first column.
    before: Vec<u8>,
    /// The columns, each with the text after it.
    parts: Vec<(String, Vec<u8>)>,
    /// A line may go on after what is known of it, with a space.
    goes_on: bool,
}

impl Template {
    fn new(text: &str, goes_on: bool) -> Result<Self, String> {
        let mut pieces = text.split('$');
        let before = pieces.next().unwrap_or_default().into();
        let mut parts: Vec<(String, Vec<u8>)> = Vec::new();
        for piece in pieces {
            let braced = piece.strip_prefix('{').and_then(|piece| piece.split_once('}'));
            let end = piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(piece.len());
            let (name, after) = braced.unwrap_or(piece.split_at(end));
            if name.is_empty() {
                return Err("expected a name after $".to_owned());
            }
            if let Some((last, _)) = parts.last().filter(|(_, after)| after.is_empty()) {
                return Err(format!("there must be text between ${last} and ${name}"));
            }
            parts.push((name.to_owned(), after.into()));
        }
        if parts.is_empty() {
            return Err("expected a regular expression with named groups, or variables as $time_local".to_owned());
        }
        Ok(Self { before, parts, goes_on })
    }

    fn read(&self, line: &[u8], targets: &[Target], draft: &mut Draft<'_>) -> Result<(), &'static str> {
        let mut rest = line.strip_prefix(&*self.before).ok_or(MISFIT)?;
        for ((_, after), target) in self.parts.iter().zip(targets) {
            let end = match after.as_slice() {
                [] if self.goes_on => memchr::memchr(b' ', rest).unwrap_or(rest.len()),
                [] => rest.len(),
                after => end_of(rest, after).ok_or(MISFIT)?,
            };
            let (value, more) = rest.split_at(end);
            draft.put(*target, value);
            rest = &more[after.len()..];
        }
        let ends = rest.is_empty() || self.goes_on && rest.starts_with(b" ");
        if ends { Ok(()) } else { Err(MISFIT) }
    }
}

/// Where a value ends: before the text that follows it. A quote after a backslash belongs to the value.
fn end_of(rest: &[u8], after: &[u8]) -> Option<usize> {
    let (&first, others) = after.split_first()?;
    memchr::memchr_iter(first, rest).find(|&at| {
        let escaped = || rest[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1;
        rest[at + 1..].starts_with(others) && !(first == b'"' && escaped())
    })
}

/// What the quotes of a `log_format` hold. A text that does not begin as one is taken as it is.
fn unquoted(text: &str) -> String {
    let text = text.trim().trim_end_matches(';').trim_end();
    if !text.starts_with("log_format") && !(text.starts_with('\'') && text.ends_with('\'')) {
        return text.to_owned();
    }
    text.split('\'').skip(1).step_by(2).collect()
}

/// CSV with the names of its columns in the first line. A value has no line breaks.
struct Csv {
    reader: csv_core::Reader,
    columns: Vec<String>,
    values: Vec<u8>,
    ends: Vec<usize>,
}

impl Csv {
    fn new(header: &[u8]) -> Option<Self> {
        let separator = *b",;\t".iter().max_by_key(|&&separator| memchr::memchr_iter(separator, header).count())?;
        let reader = csv_core::ReaderBuilder::new().delimiter(separator).build();
        let mut csv =
            Self { reader, columns: Vec::new(), values: vec![0; LONGEST + 1], ends: vec![0; header.len() + 1] };
        let count = csv.split(header)?;
        let text = |column| String::from_utf8_lossy(csv.value(column)).into_owned();
        csv.columns = (0..count).map(text).collect();
        csv.ends.truncate(count);
        Some(csv)
    }

    /// Splits a line, and counts its values.
    fn split(&mut self, line: &[u8]) -> Option<usize> {
        self.reader.reset();
        let (_, read, written, ended) = self.reader.read_record(line, &mut self.values, &mut self.ends);
        let (values, ends) = (self.values.get_mut(written..)?, self.ends.get_mut(ended..)?);
        let (result, _, _, more) = self.reader.read_record(b"\n", values, ends);
        (read == line.len() && matches!(result, ReadRecordResult::Record)).then_some(ended + more)
    }

    fn value(&self, column: usize) -> &[u8] {
        let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[column]]
    }

    fn read(&mut self, line: &[u8], targets: &[Target], draft: &mut Draft<'_>) -> Result<(), &'static str> {
        let count = self.split(line).ok_or(MISFIT)?;
        for (column, target) in targets.iter().enumerate().take(count) {
            draft.put(*target, self.value(column));
        }
        Ok(())
    }
}
