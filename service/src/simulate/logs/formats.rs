//! The formats of logs.

use csv_core::ReadRecordResult;
use regex::bytes::{CaptureLocations, Regex};

use super::input::{LONGEST, trimmed};
use super::json::Json;
use super::names::{Names, Role, Target, usual};
use super::request::{Draft, Request};
use super::time::Clock;

/// What is read without `--format`, besides CSV and JSON. What follows on a line is ignored, as what `main` of nginx's own
/// configuration adds. Apache's combined logs have the same columns as nginx's.
const KNOWN: [(&str, &str); 4] = [
    (
        "combined with virtual hosts",
        r#"$host:$port $remote_addr - $remote_user [$time_local] "$request" $status $bytes "$http_referer" "$http_user_agent""#,
    ),
    (
        "combined",
        r#"$remote_addr - $remote_user [$time_local] "$request" $status $bytes "$http_referer" "$http_user_agent""#,
    ),
    ("common", r#"$remote_addr - $remote_user [$time_local] "$request" $status $bytes"#),
    (
        "Envoy",
        r#"[$start_time] "$method $path $protocol" $status $response_flags $bytes_received $bytes_sent $duration $upstream_time "$x_forwarded_for" "$user_agent" "$x_request_id" "$authority" "$upstream_host""#,
    ),
];
/// How many lines at the beginning of a file its format is found from.
const FIRST: usize = 100;
const MISFIT: &str = "it does not fit the format";

/// A format of logs.
pub struct Format {
    /// What a user calls it.
    pub name: &'static str,
    columns: Vec<String>,
    /// Where the values of each column go.
    targets: Vec<Target>,
    reader: Reader,
}

enum Reader {
    /// The text before the first column and after each one. `goes_on`: a line may have more, after a space.
    Template {
        before: String,
        after: Vec<String>,
        goes_on: bool,
    },
    Pattern(Regex, CaptureLocations),
    Csv(Box<Csv>),
    Json(Json),
}

impl Format {
    /// A format that a user gives: a regular expression with named groups, or a format string of nginx.
    pub fn new(text: &str, names: &Names) -> Result<Self, String> {
        if !text.contains("(?P<") && !text.contains("(?<") {
            return Self::template("a format of nginx", &unquoted(text), false, names);
        }
        let pattern = Regex::new(text).map_err(|error| error.to_string())?;
        let columns = pattern.capture_names().map(|name| name.unwrap_or_default().to_owned()).collect();
        let groups = pattern.capture_locations();
        Ok(Self::with("a regular expression", columns, Reader::Pattern(pattern, groups), names))
    }

    /// The format in which the most of the first lines can be read; `None` if none of them can.
    pub fn of(first: &[u8], names: &Names) -> Option<Self> {
        let lines = || first.split(|&byte| byte == b'\n').map(trimmed).filter(|line| !line.is_empty());
        if lines().next().is_none() {
            return Some(Self::with("empty", Vec::new(), Reader::Json(Json::default()), names));
        }
        let known = KNOWN.iter().filter_map(|(name, text)| Self::template(name, text, true, names).ok());
        let json = Self::with("JSON lines", Vec::new(), Reader::Json(Json::default()), names);
        let csv = lines()
            .next()
            .and_then(Csv::new)
            .map(|(columns, csv)| Self::with("CSV", columns, Reader::Csv(Box::new(csv)), names));
        let tried = known.chain([json]).chain(csv).map(|mut format| {
            let (mut request, mut clock) = (Request::default(), Clock::default());
            let mut read = |line| format.read(line, Draft::new(&mut request, &mut clock, names)).is_ok();
            let count = lines().take(FIRST).filter(|line| read(line)).count();
            // A header alone is a log, too.
            let names_time = format.targets.iter().any(|target| matches!(target.role, Role::Time | Role::Start));
            (count + usize::from(format.has_header() && names_time), format)
        });
        // The first of the best.
        let best = tried.reduce(|best, other| if other.0 > best.0 { other } else { best });
        best.filter(|(read, _)| *read > 0).map(|(_, format)| format)
    }

    fn with(name: &'static str, columns: Vec<String>, reader: Reader, names: &Names) -> Self {
        let mut format = Self { name, columns, targets: Vec::new(), reader };
        format.aim(names);
        format
    }

    fn template(name: &'static str, text: &str, goes_on: bool, names: &Names) -> Result<Self, String> {
        let mut pieces = text.split('$');
        let before = pieces.next().unwrap_or_default().to_owned();
        let (mut columns, mut after): (Vec<String>, Vec<String>) = Default::default();
        for piece in pieces {
            let braced = piece.strip_prefix('{').and_then(|piece| piece.split_once('}'));
            let end = piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(piece.len());
            let (column, text) = braced.unwrap_or(piece.split_at(end));
            if after.last().is_some_and(String::is_empty) {
                return Err(format!("there must be text before ${column}"));
            }
            columns.push(column.to_owned());
            after.push(text.to_owned());
        }
        if columns.is_empty() {
            return Err("expected a regular expression with named groups, or variables as $time_local".to_owned());
        }
        Ok(Self::with(name, columns, Reader::Template { before, after, goes_on }, names))
    }

    /// The names of the fields; none of JSON, of which each line may have others.
    pub fn fields(&self) -> Vec<String> {
        let of_column = |column: &String| match usual(column).as_str() {
            "request" => vec!["method".to_owned(), "path".to_owned()],
            name => vec![name.to_owned()],
        };
        self.columns.iter().filter(|column| !column.is_empty()).flat_map(of_column).collect()
    }

    /// Whether the first line names the columns.
    pub fn has_header(&self) -> bool {
        matches!(self.reader, Reader::Csv(_))
    }

    /// Learns which fields were asked for.
    pub fn aim(&mut self, names: &Names) {
        self.targets = self.columns.iter().map(|column| names.target(column)).collect();
        if let Reader::Json(json) = &mut self.reader {
            json.targets.clear();
        }
    }

    /// Reads a line.
    pub fn read(&mut self, line: &[u8], mut draft: Draft<'_>) -> Result<(), &'static str> {
        match &mut self.reader {
            Reader::Template { before, after, goes_on } => {
                let mut rest = line.strip_prefix(before.as_bytes()).ok_or(MISFIT)?;
                for (after, target) in after.iter().zip(&self.targets) {
                    let end = match after.as_bytes() {
                        [] if *goes_on => memchr::memchr(b' ', rest).unwrap_or(rest.len()),
                        [] => rest.len(),
                        after => end_of(rest, after).ok_or(MISFIT)?,
                    };
                    let (value, more) = rest.split_at(end);
                    draft.put(*target, value);
                    rest = &more[after.len()..];
                }
                if !(rest.is_empty() || *goes_on && rest.starts_with(b" ")) {
                    return Err(MISFIT);
                }
            }
            Reader::Pattern(pattern, groups) => {
                pattern.captures_read(groups, line).ok_or(MISFIT)?;
                for (group, target) in self.targets.iter().enumerate().skip(1) {
                    if let Some((start, end)) = groups.get(group) {
                        draft.put(*target, &line[start..end]);
                    }
                }
            }
            Reader::Csv(csv) => {
                let count = csv.split(line).ok_or(MISFIT)?;
                for (column, target) in self.targets.iter().enumerate().take(count) {
                    draft.put(*target, csv.value(column));
                }
            }
            Reader::Json(json) => json.read(line, &mut draft)?,
        }
        draft.end()
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
    if text.starts_with("log_format") || text.starts_with('\'') && text.ends_with('\'') {
        return text.split('\'').skip(1).step_by(2).collect();
    }
    text.to_owned()
}

/// CSV with the names of its columns in the first line. A value has no line breaks.
struct Csv {
    reader: csv_core::Reader,
    /// The values of a line, one after the other, and where each one ends.
    values: Vec<u8>,
    ends: Vec<usize>,
}

impl Csv {
    fn new(header: &[u8]) -> Option<(Vec<String>, Self)> {
        let separator = *b",;\t".iter().max_by_key(|&&separator| memchr::memchr_iter(separator, header).count())?;
        let reader = csv_core::ReaderBuilder::new().delimiter(separator).build();
        let mut csv = Self { reader, values: vec![0; LONGEST + 1], ends: vec![0; header.len() + 1] };
        let count = csv.split(header)?;
        csv.ends.truncate(count);
        let columns = (0..count).map(|column| String::from_utf8_lossy(csv.value(column)).into_owned());
        Some((columns.collect(), csv))
    }

    /// Splits a line, and counts its values. `None` if there are more than columns, or within a quote.
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
}
