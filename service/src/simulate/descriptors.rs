//! From a request of a log to descriptors: those of the part `authorize` of a domain, or those that the command names.

use std::net::{IpAddr, Ipv4Addr};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::Entry;
use ipnet::IpNet;

use super::logs::{Field, Logs, Request};
use crate::cli::read_descriptor;
use crate::http::descriptors;
use crate::rules::{Authorize, Origin};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const ORIGINAL_URI: HeaderName = HeaderName::from_static("x-original-uri");
/// Names a client whose log has the names of hosts instead of addresses.
const HOST_OF_CLIENT: HeaderName = HeaderName::from_static("rlaas-host-of-client");

/// What the fields of a log are in the request that a proxy makes.
const OF_PROXIES: [(&str, &str); 9] = [
    ("x-forwarded-host", "host"),
    ("x-original-host", "host"),
    ("x-forwarded-method", "method"),
    ("x-original-method", "method"),
    ("x-forwarded-uri", "path"),
    ("x-original-uri", "path"),
    ("x-original-url", "path"),
    ("x-forwarded-user", "user"),
    ("x-remote-user", "user"),
];

/// How a descriptor is made of some fields.
#[derive(Debug)]
pub struct Template {
    /// As the report names it.
    pub name: String,
    sources: Vec<Source>,
    form: Form,
    /// How often it was made.
    pub made: u64,
}

#[derive(Debug)]
struct Source {
    field: Field,
    header: HeaderName,
    /// Without the value of this field, no descriptor is made.
    needed: bool,
    is_path: bool,
}

impl Source {
    fn new(name: &str, header: &HeaderName, needed: bool, logs: &mut Logs) -> Self {
        Self { field: logs.find(name), header: header.clone(), needed, is_path: name == "path" }
    }

    /// The value. A path is without its query.
    fn value<'r>(&self, request: &'r Request) -> Option<&'r str> {
        let value = request.get(self.field)?;
        if self.is_path { value.split(['?', '#']).next() } else { Some(value) }
    }
}

#[derive(Debug)]
enum Form {
    /// As `/authorize/<domain>` does it, for a request that the first trusted proxy sends. The second is for clients that
    /// have no address.
    Authorize(Authorize, Authorize),
    /// Keys, and the pieces of their values.
    Text(Vec<(String, Vec<Piece>)>),
}

#[derive(Debug)]
enum Piece {
    Text(String),
    /// The number of the source.
    Field(usize),
}

impl Template {
    /// The templates of the part `authorize`, one for each of its descriptors.
    pub fn of_authorize(authorize: &Authorize, logs: &mut Logs) -> Vec<Self> {
        let one = |parts: &Vec<_>| {
            let single = Authorize { descriptors: vec![parts.clone()], ..authorize.clone() };
            let mut by_host = single.clone();
            let (mut sources, mut names) = (Vec::new(), Vec::new());
            for part in by_host.descriptors.iter_mut().flatten() {
                names.push(part.key.clone());
                let mut source = |name: &str, header: &HeaderName, needed| {
                    sources.push(Source::new(name, header, needed, logs));
                };
                match &part.origin {
                    Origin::Path => source("path", &ORIGINAL_URI, true),
                    Origin::Header(header) => {
                        let known = OF_PROXIES.iter().find(|(known, _)| header.as_str() == *known);
                        source(known.map_or(header.as_str(), |(_, name)| name), header, true);
                    }
                    Origin::ClientAddress => {
                        // As a proxy does it: what the client says, then the address of the client.
                        source(FORWARDED_FOR.as_str(), &FORWARDED_FOR, false);
                        source("address", &FORWARDED_FOR, true);
                        part.origin = Origin::Header(HOST_OF_CLIENT);
                    }
                }
            }
            Self { name: names.join(","), sources, form: Form::Authorize(single, by_host), made: 0 }
        };
        authorize.descriptors.iter().map(one).collect()
    }

    /// The template of a text: entries as in `user={user},path={path}`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn of_text(text: &str, logs: &mut Logs) -> Result<Self, String> {
        let read = read_descriptor(text)?;
        let mut sources = Vec::new();
        let mut entries = Vec::new();
        for Entry { key, value } in read.entries {
            let (mut pieces, mut rest) = (Vec::new(), value.as_str());
            while let Some((before, after)) = rest.split_once('{') {
                let (name, after) = after.split_once('}').ok_or("a { without }")?;
                pieces.extend([Piece::Text(before.to_owned()), Piece::Field(sources.len())]);
                sources.push(Source::new(name, &ORIGINAL_URI, true, logs));
                rest = after;
            }
            pieces.push(Piece::Text(rest.to_owned()));
            entries.push((key, pieces));
        }
        Ok(Self { name: text.to_owned(), sources, form: Form::Text(entries), made: 0 })
    }

    /// Writes the values that the descriptor depends on. Returns false if one is missing.
    pub fn write_values(&self, request: &Request, out: &mut Vec<u8>) -> bool {
        self.sources.iter().all(|source| {
            let value = source.value(request);
            let text = value.unwrap_or_default().as_bytes();
            // No two lists of values are written alike.
            out.extend((text.len() as u64).to_ne_bytes());
            out.extend(text);
            value.is_some() || !source.needed
        })
    }

    /// The descriptor; `None` if the request has not what it needs.
    pub fn make(&self, request: &Request) -> Option<RateLimitDescriptor> {
        match &self.form {
            Form::Authorize(authorize, by_host) => self.authorize(authorize, by_host, request),
            Form::Text(entries) => {
                let piece = |piece: &Piece| match piece {
                    Piece::Text(text) => Some(text.clone()),
                    Piece::Field(at) => self.sources.get(*at)?.value(request).map(str::to_owned),
                };
                let entry = |(key, pieces): &(String, Vec<Piece>)| {
                    Some(Entry { key: key.clone(), value: pieces.iter().map(piece).collect::<Option<_>>()? })
                };
                let entries = entries.iter().map(entry).collect::<Option<_>>()?;
                Some(RateLimitDescriptor { entries, ..RateLimitDescriptor::default() })
            }
        }
    }

    fn authorize(&self, authorize: &Authorize, by_host: &Authorize, request: &Request) -> Option<RateLimitDescriptor> {
        let mut headers = HeaderMap::new();
        let mut address = None;
        for source in &self.sources {
            let Some(text) = source.value(request) else { continue };
            let value = HeaderValue::from_bytes(text.as_bytes()).ok()?;
            if source.header == FORWARDED_FOR && source.needed {
                address = text.parse::<IpAddr>().ok();
                headers.insert(HOST_OF_CLIENT, value.clone());
            }
            headers.append(&source.header, value);
        }
        let proxy = authorize.trusted_proxies.first().map(IpNet::addr);
        let peer = proxy.or(address).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let has_host = headers.contains_key(HOST_OF_CLIENT) && address.is_none();
        descriptors(if has_host { by_host } else { authorize }, peer, &headers).ok()?.pop()
    }
}
