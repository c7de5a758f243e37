//! One request of a log.

use super::names::{Field, Names, Role, Target};
use super::time::{self, Clock, Time};

/// A request of a log: when it began, and the fields that were asked for.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// When it began, in µs since 1970.
    pub time: i64,
    /// When it was logged, and how long before that it began, in µs.
    pub(super) logged: Time,
    pub(super) took: i64,
    /// The values of the fields, one after the other.
    text: String,
    /// Where the value of each field begins and ends. One without a value ends where it begins.
    spans: Vec<(usize, usize)>,
}

impl Request {
    /// The value of a field; `None` if the line has none, or `-`.
    pub fn get(&self, field: Field) -> Option<&str> {
        let &(start, end) = self.spans.get(field.0)?;
        self.text.get(start..end).filter(|text| !text.is_empty())
    }

    fn set(&mut self, field: Option<Field>, value: &[u8]) {
        let Some(span) = field.and_then(|field| self.spans.get_mut(field.0)) else { return };
        let start = self.text.len();
        self.text.push_str(&String::from_utf8_lossy(value));
        *span = (start, self.text.len());
    }
}

/// A request while its line is read.
pub struct Draft<'a> {
    request: &'a mut Request,
    clock: &'a mut Clock,
    pub names: &'a Names,
    time: Result<Time, &'static str>,
    /// The time is when it began, not when it ended.
    began: bool,
}

impl<'a> Draft<'a> {
    pub fn new(request: &'a mut Request, clock: &'a mut Clock, names: &'a Names) -> Self {
        *request = Request { spans: vec![(0, 0); names.len()], ..Request::default() };
        Self { request, clock, names, time: Err("no time"), began: false }
    }

    /// Takes the value of a column. Of several columns for one field, the last one counts.
    pub fn put(&mut self, target: Target, value: &[u8]) {
        if value.is_empty() || value == b"-" {
            return;
        }
        match target.role {
            // The finest of several: `$time_local` and `$msec`.
            Role::Time if self.time.is_ok_and(|time| self.began || !time.whole) => {}
            Role::Time => {
                let read = self.clock.read(value);
                self.time = if read.is_ok() { read } else { self.time.or(read) };
            }
            Role::Start => (self.time, self.began) = (self.clock.read(value), true),
            Role::Duration(unit) => {
                let unit = unit.unwrap_or(if value.contains(&b'.') { time::SECOND } else { 1_000 });
                self.request.took = time::duration(value, unit).unwrap_or(0);
            }
            Role::RequestLine { method, path } => self.request_line(value, method, path),
            Role::Forwarded { address } if address.is_some_and(|address| self.request.get(address).is_none()) => {
                let last = value.rsplit(|&byte| byte == b',').next().unwrap_or_default();
                self.request.set(address, last.trim_ascii());
            }
            Role::Address => return self.request.set(target.field, without_port(value)),
            Role::Forwarded { .. } | Role::Other => {}
        }
        self.request.set(target.field, value);
    }

    /// Anything else than a method, a path and perhaps a protocol is no request of HTTP: a handshake of TLS, or nothing.
    fn request_line(&mut self, line: &[u8], method: Option<Field>, path: Option<Field>) {
        let Some(space) = memchr::memchr(b' ', line) else { return };
        let rest = &line[space + 1..];
        let end = memchr::memrchr(b' ', rest).filter(|&end| rest[end + 1..].starts_with(b"HTTP/"));
        self.request.set(method, &line[..space]);
        self.request.set(path, &rest[..end.unwrap_or(rest.len())]);
    }

    /// Ends the request; an error if it has no time that can be read.
    pub fn end(self) -> Result<(), &'static str> {
        self.request.logged = self.time?;
        if self.began {
            self.request.took = 0;
        }
        Ok(())
    }
}

/// An address as `1.2.3.4:5678` or `[::1]:5678` has it.
fn without_port(address: &[u8]) -> &[u8] {
    if let Some(rest) = address.strip_prefix(b"[") {
        return rest.split(|&byte| byte == b']').next().unwrap_or(rest);
    }
    let mut parts = address.split(|&byte| byte == b':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(host), Some(_), None) => host,
        _ => address,
    }
}
