//! Requests and what they get, as text.
//!
//! A request is `domain: key=value,key=value | key=value`: a part between bars is a descriptor, as `rlaas explain` takes
//! it. The domain is `d` if none is named. After a descriptor, `+5` is its hits, `?` looks, `-5` gives back, `limit 3 YEAR`
//! is a limit of its own, and `all+5` is the hits of the request.
//!
//! A reply is `ok 2 | over 0: over`: each descriptor and how much remains, then the request; or the code of the error.
//! `GET <beginning of a key>` is the counter there, and `METRIC <beginning of a line>` the figures of these lines. Other
//! lines in capitals are commands of Redis.

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::RateLimitOverride;
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use envoy_types::pb::envoy::r#type::v3::RateLimitUnit;
use envoy_types::pb::google::protobuf::UInt64Value;
use rlaas::decide::read_descriptor;
use rlaas::http::json::{REQUEST, write};

use super::process::Rlaas;
use crate::support::Server;

/// Does each step, and compares what it gives.
pub fn check(server: &Server, service: &Rlaas, steps: &[(&str, &str)]) {
    let mut found = Vec::new();
    for (step, _) in steps {
        found.push((*step, run(server, service, step)));
    }
    let found: Vec<_> = found.iter().map(|(step, reply)| (*step, reply.as_str())).collect();
    assert_eq!(found, steps, "what was found, and what was expected");
}

fn run(server: &Server, service: &Rlaas, step: &str) -> String {
    if let Some(key) = step.strip_prefix("GET ") {
        return counted(server, key).map_or_else(String::new, |n| n.to_string());
    }
    if let Some(beginning) = step.strip_prefix("METRIC ") {
        return service.figures(beginning);
    }
    let mut words = step.split(' ');
    let first = words.next().unwrap_or_default();
    if first.chars().all(|c| c.is_ascii_uppercase() || c == '.') {
        redis::cmd(first).arg(words.collect::<Vec<_>>()).exec(&mut server.con()).expect(step);
        return String::new();
    }
    let word = |code| if code == Code::Ok { "ok" } else { "over" };
    match service.try_ask(step) {
        Ok(reply) => {
            let statuses = reply.statuses.iter();
            let shown = statuses.map(|status| format!("{} {}", word(status.code()), status.limit_remaining));
            format!("{}: {}", shown.collect::<Vec<_>>().join(" | "), word(reply.overall_code()))
        }
        Err(status) => format!("{:?}", status.code()),
    }
}

/// What the first key counts that begins so. The counter of a fixed window is at `key:<bucket>`.
pub fn counted(server: &Server, key: &str) -> Option<i64> {
    let keys: Vec<String> = redis::cmd("KEYS").arg(format!("{key}*")).query(&mut server.con()).expect("KEYS");
    redis::cmd("GET").arg(keys.first()?).query(&mut server.con()).expect("a counter")
}

/// The request that a text describes.
pub fn request(text: &str) -> RateLimitRequest {
    let (domain, descriptors) = text.split_once(": ").unwrap_or(("d", text));
    let mut request = RateLimitRequest { domain: domain.to_owned(), ..RateLimitRequest::default() };
    for part in descriptors.split(" | ").filter(|_| !descriptors.is_empty()) {
        let mut words = part.split(' ');
        let mut descriptor = words.next().and_then(|entries| read_descriptor(entries).ok()).expect(text);
        while let Some(word) = words.next() {
            let hits = |digits: &str| UInt64Value { value: digits.parse().expect(text) };
            if let Some(digits) = word.strip_prefix("all+") {
                request.hits_addend = digits.parse().expect(text);
            } else if let Some(digits) = word.strip_prefix('+') {
                descriptor.hits_addend = Some(hits(digits));
            } else if let Some(digits) = word.strip_prefix('-') {
                descriptor.hits_addend = Some(hits(digits));
                descriptor.is_negative_hits = true;
            } else if word == "?" {
                descriptor.hits_addend = Some(hits("0"));
            } else {
                let [limit, unit] = [(); 2].map(|()| words.next().expect(text));
                let unit = RateLimitUnit::from_str_name(unit).expect(text).into();
                descriptor.limit = Some(RateLimitOverride { requests_per_unit: limit.parse().expect(text), unit });
            }
        }
        request.descriptors.push(descriptor);
    }
    request
}

/// The request that a text describes, as JSON, with more fields, as `,"amount":1`.
pub fn json(text: &str, more: &str) -> String {
    let body = write(&request(text), REQUEST).expect("JSON");
    format!("{}{more}}}", body.strip_suffix('}').expect("an object"))
}
