//! Two logs: every line of them is a request or unread, and the requests are in order. The first line of the input is a
//! format, if it begins with `=`.

#![no_main]

use std::io::{Cursor, Read};
use std::time::Duration;

use indicatif::ProgressBar;
use libfuzzer_sys::fuzz_target;

#[path = "../../../service/src/simulate/logs/mod.rs"]
#[expect(dead_code, reason = "the service opens files")]
mod logs;

use logs::{Logs, Options};

fuzz_target!(|input: &[u8]| {
    let (first, rest) = input.split_at(input.iter().position(|&byte| byte == b'\n').unwrap_or(0));
    let format = first.strip_prefix(b"=").and_then(|format| String::from_utf8(format.to_vec()).ok());
    let log = if format.is_some() { rest } else { input };
    let options = Options { format, allow_unread: true, sort_within: Duration::from_secs(1) };
    let halves = log.split_at(log.len() / 2);
    let source = |log: &[u8]| ("log".to_owned(), Box::new(Cursor::new(log.to_vec())) as Box<dyn Read>);
    let Ok(mut logs) = Logs::new(vec![source(halves.0), source(halves.1)], &options, ProgressBar::hidden()) else {
        return;
    };
    let fields = ["path", "user", "address", "time"].map(|name| logs.find(name));
    let (mut last, mut requests) = (0, 0);
    while let Some(Ok(request)) = logs.next() {
        assert!(request.time >= last);
        assert!(fields.iter().all(|field| request.get(*field).is_none_or(|value| !value.is_empty())));
        last = request.time;
        requests += 1;
    }
    let summary = logs.summary();
    assert_eq!((summary.requests, summary.lines), (requests, requests + summary.unread));
});
