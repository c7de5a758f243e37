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
pub use names::usual;
pub use order::MOST_HELD;
use order::Order;
use request::Draft;
pub use request::Request;
use time::Clock;

/// How many of the lines that cannot be read are shown.
const SHOWN: usize = 10;
/// How many bytes of each of them are shown.
const SHOWN_BYTES: usize = 200;
/// The progress bar changes each time this many requests were read.
const PROGRESS: u64 = 1 << 14;

/// How logs are read.
#[derive(Clone, Debug)]
pub struct Options {
    /// A regular expression with named groups, or a format string of nginx. Without it, the first lines of a file tell.
    pub format: Option<String>,
    /// More than 1 % that cannot be read, or is further out of order than `sort_within`, is no error.
    pub allow_unread: bool,
    /// How far a line may be out of order, and how long a request may take. Within that, the requests are sorted.
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
    /// More requests than are held belong to one second, or to [`Options::sort_within`]: they were sorted, and spread over
    /// the second, as far as those reach that are held.
    pub too_many_to_sort: bool,
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
    summary: Summary,
    bar: ProgressBar,
}

impl Logs {
    /// Opens files; `-` is the standard input. Each is read up to the size that it has now.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Self, String> {
        // Hidden unless the standard error is a terminal.
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{wide_bar} {bytes} of {total_bytes}, {msg}{eta} left");
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
        Ok(Self { files, names, allow_unread: options.allow_unread, summary, bar })
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

    /// The names of the fields of the first file, as far as its format tells.
    pub fn fields(&self) -> Vec<String> {
        self.files.first().map(|file| file.format.fields()).unwrap_or_default()
    }

    fn first(&mut self) -> Result<Option<Box<Request>>, String> {
        for file in self.files.iter_mut().filter(|file| file.next.is_none()) {
            file.settle(&self.names, &mut self.summary)?;
        }
        let waiting = self.files.iter_mut().filter(|file| file.next.is_some());
        let first = waiting.min_by_key(|file| file.next.as_ref().map(|request| request.time));
        let Some(first) = first else { return self.end().map(|()| None) };
        self.summary.requests += 1;
        if self.summary.requests.is_multiple_of(PROGRESS) {
            self.bar.set_message(format!("{} lines, ", HumanCount(self.summary.lines)));
        }
        Ok(first.next.take())
    }

    fn end(&mut self) -> Result<(), String> {
        self.bar.finish_and_clear();
        let Summary { lines, unread, not_in_order, .. } = self.summary;
        if !self.allow_unread && unread > lines / 100 {
            return Err(format!("{unread} of {lines} lines cannot be read"));
        }
        if !self.allow_unread && not_in_order > lines / 100 {
            return Err(format!("{not_in_order} of {lines} lines are further out of order than --sort-within"));
        }
        Ok(())
    }

    /// What was read up to now.
    pub fn summary(&self) -> Summary {
        Summary { bytes: self.bar.position(), ..self.summary.clone() }
    }
}

/// An error if a file cannot be read, or at the end if more than 1 % of the lines could not.
impl Iterator for Logs {
    type Item = Result<Box<Request>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.first().transpose()
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
        Ok(Self { name, lines, number, ended: false, format, clock, order, next: None })
    }

    /// Reads up to the next request that no later line can come before.
    fn settle(&mut self, names: &Names, summary: &mut Summary) -> Result<(), String> {
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
        let mut request = Box::default();
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use jiff::Timestamp;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    /// Opens logs that are in memory.
    fn open(logs: &[Vec<u8>], options: &Options) -> Result<Logs, String> {
        let source = |log: &Vec<u8>| input::decompress(io::Cursor::new(log.clone())).map_err(|error| error.to_string());
        let named = |(n, log)| Ok((format!("log {n}"), source(log)?));
        Logs::new(logs.iter().enumerate().map(named).collect::<Result<_, String>>()?, options, ProgressBar::hidden())
    }

    /// The times of all requests, and their values of a field.
    fn read(logs: &mut Logs, field: &str) -> Result<Vec<(i64, String)>, String> {
        let field = logs.find(field);
        let mut requests = Vec::new();
        for request in logs {
            let request = request?;
            requests.push((request.time, request.get(field).unwrap_or("-").to_owned()));
        }
        Ok(requests)
    }

    /// The options, the log, and what is read: the format, when the last request began, and its fields.
    const FORMATS: &[(&str, &str, &str)] = &[
        (
            "",
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif?b=c HTTP/1.0" 200 2326"#,
            "common|2000-10-10T20:55:36Z|address=127.0.0.1|user=frank|method=GET|path=/a.gif?b=c|\
             status=200|bytes=2326|user_agent=-|request=GET /a.gif?b=c HTTP/1.0",
        ),
        (
            "",
            r#"::1 - John Doe [10/Oct/2000:13:55:36 +0000] "GET /\"a HTTP/2.0" 304 - "http://b/" "say \"hi\" \\""#,
            r#"combined|2000-10-10T13:55:36Z|address=::1|user=John Doe|path=/\"a|bytes=-|referer=http://b/|user_agent=say \"hi\" \\"#,
        ),
        (
            "",
            r#"1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "\x16\x03\x01" 400 157 "-" "-" "5.6.7.8" rt=0.1"#,
            r"combined|2000-10-10T13:55:36Z|address=1.2.3.4|user=-|method=-|path=-|status=400|request=\x16\x03\x01",
        ),
        (
            "",
            r#"a.example:443 [::1]:1 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/2.0" 200 1 "-" "curl""#,
            "combined with virtual hosts|2000-10-10T13:55:36Z|host=a.example|address=::1|port=443|user_agent=curl",
        ),
        (
            "",
            r#"[2016-04-15T20:17:00.310Z] "POST /api/v1 HTTP/2" 204 - 154 0 226 100 "10.0.35.28, 10.0.35.29" "nsq2http" "cc21" "locations" "tcp://10.0.2.1:80""#,
            "Envoy|2016-04-15T20:17:00.31Z|method=POST|path=/api/v1|status=204|duration=226|x-forwarded-for=10.0.35.28, 10.0.35.29|\
             address=10.0.35.29|user_agent=nsq2http|X-Request-Id=cc21|host=locations|bytes_received=154|response_flags=-",
        ),
        (
            "",
            r#"{"authority":"a.example","downstream_remote_address":"10.0.0.1:5000","duration":250,"path":"/","response_code":429,"start_time":"2016-04-15T20:17:00.310Z","user_agent":null,"x_forwarded_for":"1.1.1.1"}"#,
            "JSON lines|2016-04-15T20:17:00.31Z|host=a.example|address=10.0.0.1|status=429|user_agent=-|method=-",
        ),
        (
            "",
            r#"{"ts":1700000000.5,"request":{"method":"GET","uri":"/x","client_ip":"::2","headers":{"User-Agent":["a","b"]}},"User":{"Id":7,"ok":true},"duration":0.25}"#,
            "JSON lines|2023-11-14T22:13:20.25Z|method=GET|path=/x|address=::2|user_agent=b|user.id=7|User.Ok=true|duration=0.25",
        ),
        (
            "",
            "\u{feff}time;client_ip;path;User-Id\r\n1700000000123;1.1.1.1:80;\"/a;\"\"b\"\"\";7\r\n",
            "CSV|2023-11-14T22:13:20.123Z|address=1.1.1.1|path=/a;\"b\"|user_id=7|user=-",
        ),
        (
            "log_format main '$remote_addr [$time_local] \"$request\" '\n '${status}ms $msec $request_time $http_x_api_key';",
            r#"1.1.1.1 [14/Nov/2023:22:13:20 +0000] "GET / HTTP/1.1" 200ms 1700000000.750 0.500 k e y"#,
            "a format of nginx|2023-11-14T22:13:20.25Z|address=1.1.1.1|path=/|status=200|duration=0.500|x-api-key=k e y|http_x_api_key=k e y",
        ),
        (
            r"^(?P<time>\S+) (?<user>\w+)( (?<duration_us>\d+))?",
            "1700000000.5 ada 250000",
            "a regular expression|2023-11-14T22:13:20.25Z|user=ada|path=-",
        ),
    ];

    #[test]
    fn formats_are_found_and_read() {
        for (format, log, expected) in FORMATS {
            let options = Options {
                format: Some((*format).to_owned()).filter(|format| !format.is_empty()),
                ..Options::default()
            };
            let mut expected = expected.split('|');
            let mut logs = open(&[log.as_bytes().to_vec()], &options).unwrap();
            assert_eq!(Some(logs.summary().formats[0].1), expected.next(), "{log}");
            let time = expected.next().unwrap().parse::<Timestamp>().unwrap();
            let fields: Vec<_> = expected.map(|field| field.split_once('=').unwrap()).collect();
            let handles: Vec<_> = fields.iter().map(|(name, _)| logs.find(name)).collect();
            let request = logs.next().unwrap().unwrap();
            assert_eq!(request.time, time.as_microsecond(), "{log}");
            for ((name, value), field) in fields.iter().zip(handles) {
                assert_eq!(request.get(field).unwrap_or("-"), *value, "{name} of {log}");
            }
            assert_eq!(logs.next(), None, "{log}");
        }
    }

    fn gzip(log: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(log).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(log: &[u8]) -> Vec<u8> {
        compress_to_vec(log, CompressionLevel::Fastest)
    }

    #[test]
    fn bad_logs_are_counted_or_rejected() {
        let line = |text: &str| format!("{{\"time\":1,\"user\":\"{text}\"}}\n").into_bytes();
        let good = line("a");
        let with = |bad: &[u8], lines: usize| [&good.repeat(lines - 1), bad].concat();
        let long = line(&"b".repeat(16 << 20));
        let binary: Vec<u8> = (0..4_096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        // The format that is given, a log, and either how many requests it has and how many lines are unread, or the error.
        let cases: Vec<(&str, Vec<u8>, &str)> = vec![
            ("", Vec::new(), "0 0"),
            ("", b"\r\n\n".to_vec(), "0 0"),
            ("", b"user,time\n".to_vec(), "0 0"),
            ("", b"user,age\n".to_vec(), "log 0: no known format fits its first lines"),
            ("", with(b"\n\r\n", 3), "2 0"),
            ("", with(b"no newline", 101), "100 1"),
            ("", with(b"one\ntwo\n", 101), "2 of 102 lines cannot be read"),
            ("", with(&long, 101), "100 1 longer than 64 KiB"),
            ("", [long, good.repeat(100)].concat(), "log 0: no known format fits its first lines"),
            ("(?<time>1)", line(&"b".repeat(LONGEST + 1)), "1 of 1 lines cannot be read"),
            ("", with(&line(&"b".repeat(LONGEST - good.len() + 2)), 101), "101 0"),
            ("", with(b"{\"time\":-1}\n", 101), "100 1 a time before 1970"),
            ("", with(b"{\"time\":\"\xff\"}\n{\"user\":1}\n", 201), "200 2"),
            ("", with(b"{\"time\":1,\"user\":\"\xff\"}\n", 101), "100 1"),
            ("", with("[".repeat(10_000).as_bytes(), 101), "100 1"),
            ("", binary, "log 0: no known format fits its first lines"),
            ("", b"\0".repeat(1 << 20), "log 0: no known format fits its first lines"),
            ("", b"time,user\n1,a\n2,b,c\n3\n4,\"d\n".to_vec(), "2 of 4 lines cannot be read"),
            ("", gzip(&good), "1 0"),
            ("", [gzip(&good), gzip(&good)].concat(), "2 0"),
            ("", gzip(&good)[..20].to_vec(), "log 0: "),
            ("", [zstd(&good), skippable.to_vec(), zstd(&good.repeat(20_000))].concat(), "20001 0"),
            ("", zstd(&good)[..20].to_vec(), "log 0: "),
            ("(?<time>", good.clone(), "invalid format: regex parse error"),
            ("$a$b", good.clone(), "invalid format: there must be text before $b"),
            ("text", good.clone(), "invalid format: expected a regular expression"),
        ];
        for (format, log, expected) in cases {
            let options =
                Options { format: Some(format.to_owned()).filter(|format| !format.is_empty()), ..Options::default() };
            let shown = format!("{format} {}", shown(&log));
            let read = open(&[log], &options).and_then(|mut logs| {
                read(&mut logs, "user")?;
                let Summary { lines, requests, unread, first_unread, .. } = logs.summary();
                assert_eq!((lines, first_unread.len() as u64), (requests + unread, unread.min(10)), "{shown}");
                let why = first_unread.first().map_or("", |unread| unread.why);
                Ok(format!("{requests} {unread} {why}"))
            });
            let read = read.unwrap_or_else(|error| error);
            assert!(read.starts_with(expected), "{shown}: {read}, expected {expected}");
        }
    }

    #[test]
    fn a_second_with_many_requests_is_not_held_whole() {
        let log = (0..10 * MOST_HELD).fold(String::new(), |log, n| log + &format!("{{\"time\":7,\"user\":{n}}}\n"));
        let mut logs = open(&[log.into_bytes()], &Options::default()).unwrap();
        let user = logs.find("user");
        let mut last = 7_000_000;
        for n in 0..10 * MOST_HELD {
            let request = logs.next().unwrap().unwrap();
            assert_eq!(request.get(user), Some(&*n.to_string()));
            assert!((last..8_000_000).contains(&request.time), "{n}: {}", request.time);
            last = request.time;
            let held = logs.summary().lines - logs.summary().requests;
            assert!(held <= 2 * MOST_HELD as u64, "{n}: {held}");
        }
        assert!(last > 7_990_000, "{last}");
        assert!(logs.next().is_none() && logs.summary().too_many_to_sort);
    }

    #[test]
    fn a_file_is_read_up_to_the_size_that_it_had() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        fs::write(&path, "{\"time\":1}\nunread\n").unwrap();
        let options = Options { allow_unread: true, ..Options::default() };
        let mut logs = Logs::open(std::slice::from_ref(&path), &options).unwrap();
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"time\":2}\n").unwrap();
        assert_eq!(read(&mut logs, "user"), Ok(vec![(1_000_000, "-".to_owned())]));
        let Summary { bytes, first_unread, .. } = logs.summary();
        let file = path.display().to_string();
        let unread = Unread { file, line: 2, text: "unread".to_owned(), why: "invalid JSON" };
        assert_eq!((bytes, first_unread), (18, vec![unread]));
    }

    proptest! {
        /// When the requests began is as a naive reader says it, in order, and none is lost or doubled.
        #[test]
        fn requests_are_sorted_and_merged(
            files in vec(vec((0..20_000_i64, 0..5_000_i64, any::<bool>()), 0..60), 1..4),
            within in 0..25_u64,
        ) {
            let (mut logs, mut expected) = (Vec::new(), Vec::new());
            for (file, lines) in files.iter().enumerate() {
                let mut log = b"time,duration_ms,id\n".to_vec();
                let mut seconds = BTreeMap::<i64, i64>::new();
                lines.iter().filter(|line| line.2).for_each(|line| *seconds.entry(line.0 / 1_000).or_default() += 1);
                let mut before = BTreeMap::<i64, i64>::new();
                for (line, &(millis, took, whole)) in lines.iter().enumerate() {
                    let second = millis / 1_000;
                    let time = if whole { second.to_string() } else { format!("{second}.{:03}", millis % 1_000) };
                    writeln!(log, "{time},{took},{file}-{line}").unwrap();
                    let nth = before.entry(second).or_default();
                    let end = if whole { second * 1_000_000 + *nth * 1_000_000 / seconds[&second] } else { millis * 1_000 };
                    *nth += i64::from(whole);
                    expected.push(((end - took * 1_000).max(0), file, line));
                }
                logs.push(log);
            }
            expected.sort();
            let mut expected: Vec<_> = expected.into_iter().map(|(time, file, line)| (time, format!("{file}-{line}"))).collect();
            let options = Options { allow_unread: true, sort_within: Duration::from_secs(within), ..Options::default() };
            let mut logs = open(&logs, &options).unwrap();
            let mut read = read(&mut logs, "id").unwrap();
            // What is out of order by no more than this is where it belongs.
            if within >= 20 {
                prop_assert_eq!(&read, &expected);
                prop_assert_eq!(logs.summary().not_in_order, 0);
            }
            prop_assert!(read.is_sorted_by_key(|(time, _)| *time));
            for requests in [&mut read, &mut expected] {
                requests.sort_by(|one, other| one.1.cmp(&other.1));
                requests.iter_mut().for_each(|(time, _)| *time = 0);
            }
            prop_assert_eq!(read, expected);
        }
    }
}
