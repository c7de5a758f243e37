//! From a request of a log to descriptors: those of the part `authorize` of a domain, or those that the command names.

use std::collections::HashMap;
use std::net::IpAddr;

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::Entry;
use foldhash::fast::RandomState;
use ipnet::IpNet;

use super::logs::{Field, Logs, Request};
use crate::cli::read_descriptor;
use crate::http::client_address;
use crate::rules::{Authorize, Origin, Part};

/// How many lists of values a descriptor remembers its keys of. It is a cache: the keys themselves stay.
const REMEMBERED: usize = 1 << 16;

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

/// The limit of a descriptor and its key, by their numbers: no limit if no rule fits, and no key if the limit has none, or
/// too many.
pub type Found = Option<(usize, Option<usize>)>;

/// How a descriptor is made of some fields.
#[derive(Debug)]
pub struct Template {
    /// As the report names it.
    pub name: String,
    /// The keys of the entries, and what their values are made of.
    entries: Vec<(String, Vec<Piece>)>,
    /// How often it was made.
    pub made: u64,
    /// The values that it had last, one for each entry, and what was found for such values.
    values: Vec<String>,
    found: HashMap<Vec<String>, Found, RandomState>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Field(Field),
    /// The field without the query.
    Path(Field),
    /// The client's address as `/authorize/<domain>` finds it, where the first trusted proxy sends the request: from the
    /// fields x-forwarded-for and address. One that is no address is the name of a host.
    Client {
        authorize: Authorize,
        forwarded: Field,
        address: Field,
    },
}

impl Template {
    fn new(name: String, entries: Vec<(String, Vec<Piece>)>) -> Self {
        let values = vec![String::new(); entries.len()];
        Self { name, entries, made: 0, values, found: HashMap::default() }
    }

    /// The templates of the part `authorize`, one for each of its descriptors.
    pub fn of_authorize(authorize: &Authorize, logs: &mut Logs) -> Vec<Self> {
        let mut piece = |origin: &Origin| match origin {
            Origin::Path => Piece::Path(logs.find("path")),
            Origin::Header(header) => {
                let known = OF_PROXIES.iter().find(|(known, _)| header.as_str() == *known);
                Piece::Field(logs.find(known.map_or(header.as_str(), |(_, name)| name)))
            }
            Origin::ClientAddress => {
                let (forwarded, address) = (logs.find("x-forwarded-for"), logs.find("address"));
                Piece::Client { authorize: authorize.clone(), forwarded, address }
            }
        };
        let template = |parts: &Vec<Part>| {
            let names: Vec<_> = parts.iter().map(|part| part.key.as_str()).collect();
            let entries = parts.iter().map(|part| (part.key.clone(), vec![piece(&part.origin)]));
            Self::new(names.join(","), entries.collect())
        };
        authorize.descriptors.iter().map(template).collect()
    }

    /// The template of a text: entries as in `user={user},path={path}`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn of_text(text: &str, logs: &mut Logs) -> Result<Self, String> {
        let mut entries = Vec::new();
        for Entry { key, value } in read_descriptor(text)?.entries {
            let (mut pieces, mut rest) = (Vec::new(), value.as_str());
            while let Some((before, after)) = rest.split_once('{') {
                let (name, after) = after.split_once('}').ok_or("a { without }")?;
                let field = logs.find(name);
                let piece = if name == "path" { Piece::Path(field) } else { Piece::Field(field) };
                pieces.extend([Piece::Text(before.to_owned()), piece]);
                rest = after;
            }
            pieces.push(Piece::Text(rest.to_owned()));
            entries.push((key, pieces));
        }
        Ok(Self::new(text.to_owned(), entries))
    }

    /// Makes the descriptor of a request, and returns what is remembered for its values. `None` if the request has not what
    /// it needs.
    pub fn find(&mut self, request: &Request) -> Option<Option<Found>> {
        for ((_, pieces), value) in self.entries.iter().zip(&mut self.values) {
            value.clear();
            pieces.iter().try_for_each(|piece| piece.write(request, value))?;
        }
        self.made += 1;
        Some(self.found.get(&self.values).copied())
    }

    /// Remembers what was found for the last descriptor.
    pub fn remember(&mut self, found: Found) {
        if self.found.len() >= REMEMBERED {
            self.found.clear();
        }
        self.found.insert(self.values.clone(), found);
    }

    /// The last descriptor that was made.
    pub fn descriptor(&self) -> RateLimitDescriptor {
        let entry = |((key, _), value): (&(String, _), &String)| Entry { key: key.clone(), value: value.clone() };
        let entries = self.entries.iter().zip(&self.values).map(entry).collect();
        RateLimitDescriptor { entries, ..RateLimitDescriptor::default() }
    }
}

impl Piece {
    /// `None` if the request lacks it.
    fn write(&self, request: &Request, to: &mut String) -> Option<()> {
        match self {
            Self::Text(text) => to.push_str(text),
            Self::Field(field) => to.push_str(request.get(*field)?),
            Self::Path(field) => {
                to.push_str(request.get(*field)?.split(['?', '#']).next().filter(|path| !path.is_empty())?)
            }
            Self::Client { authorize, forwarded, address } => {
                let logged = request.get(*address)?;
                match logged.parse::<IpAddr>() {
                    Ok(address) => {
                        let proxy = authorize.trusted_proxies.first().map_or(address, IpNet::addr);
                        let lines = request.get(*forwarded).into_iter().chain([logged]);
                        to.push_str(&client_address(authorize, proxy, lines));
                    }
                    Err(_) => to.push_str(logged),
                }
            }
        }
        Some(())
    }
}
