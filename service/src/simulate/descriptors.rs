//! From a request of a log to descriptors: those of the part `authorize` of a domain, or those that the command names.

use std::collections::HashMap;
use std::iter;

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::Entry;
use foldhash::fast::RandomState;
use ipnet::IpNet;
use rlaas_rules::{Authorize, Origin, Part};

use super::logs::{Field, Logs, Request};
use crate::decide::read_descriptor;
use crate::http::client_address;

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
    /// What the values are made of in the last request, one for each entry, and what was found for such.
    values: Vec<String>,
    found: HashMap<Vec<String>, Found, RandomState>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Field(Field),
    /// The field without the query.
    Path(Field),
    /// What X-Forwarded-For says to the service: the field x-forwarded-for, if there is one, and the field address.
    Client(Authorize, Field, Field),
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
                Piece::Client(authorize.clone(), logs.find("x-forwarded-for"), logs.find("address"))
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

    /// Reads the values that a request has. Returns false if it has not what the descriptor needs.
    pub fn read(&mut self, request: &Request) -> bool {
        let is_made = self.entries.iter().zip(&mut self.values).all(|((_, pieces), value)| {
            value.clear();
            pieces.iter().all(|piece| piece.write(request, value).is_some())
        });
        self.made += u64::from(is_made);
        is_made
    }

    /// What is remembered of the values of the last request.
    pub fn recall(&self) -> Option<Found> {
        self.found.get(&self.values).copied()
    }

    /// Remembers what was found for the values of the last request.
    pub fn remember(&mut self, found: Found) {
        if self.found.len() >= REMEMBERED {
            self.found.clear();
        }
        self.found.insert(self.values.clone(), found);
    }

    /// The descriptor of the last request.
    pub fn descriptor(&self) -> RateLimitDescriptor {
        let entry = |((key, pieces), value): (&(String, Vec<Piece>), &String)| {
            let value = match pieces.as_slice() {
                [Piece::Client(authorize, ..)] => client(authorize, value),
                _ => value.clone(),
            };
            Entry { key: key.clone(), value }
        };
        let entries = self.entries.iter().zip(&self.values).map(entry).collect();
        RateLimitDescriptor { entries, ..RateLimitDescriptor::default() }
    }
}

/// The client's address as `/authorize/<domain>` finds it, where the first trusted proxy sends the request. One that is no
/// address is the name of a host.
fn client(authorize: &Authorize, forwarded_for: &str) -> String {
    let logged = forwarded_for.rsplit(',').next().unwrap_or_default();
    let Ok(address) = logged.parse() else { return logged.to_owned() };
    let proxy = authorize.trusted_proxies.first().map_or(address, IpNet::addr);
    client_address(authorize, proxy, iter::once(forwarded_for))
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
            Self::Client(_, forwarded, address) => {
                let logged = request.get(*address)?;
                request.get(*forwarded).into_iter().for_each(|forwarded| to.extend([forwarded, ","]));
                to.push_str(logged);
            }
        }
        Some(())
    }
}
