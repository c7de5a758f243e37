//! The part `authorize` of a domain: how a request of a proxy becomes descriptors.

use std::net::IpAddr;

use http::HeaderName;
use ipnet::IpNet;

use super::fields::{Kind, Reporter, field};
use super::model::{Authorize, Origin, Part};
use super::yaml::{Node, Scalar, Value};

/// Reads the part; `None` if it has an error.
pub fn read(reporter: &mut Reporter<'_>, node: &Node<'_>) -> Option<Authorize> {
    let errors = reporter.findings.errors.len();
    let Value::Map(entries) = &node.value else {
        reporter.error(node.at, "invalid authorize: expected a map");
        return None;
    };
    reporter.check_keys(entries, Kind::Authorize);
    let deny_status = deny_status(reporter, field(entries, "deny_status"));
    let allow_if_none = reporter.choice(entries, "if_none", &[("allow", true), ("deny", false)]).unwrap_or(false);
    let trusted_proxies = proxies(reporter, field(entries, "trusted_proxies"));
    let descriptors = match field(entries, "descriptors") {
        Some(Node { value: Value::List(items), .. }) if !items.is_empty() => {
            items.iter().map(|item| parts(reporter, item)).collect()
        }
        _ => {
            reporter.error(node.at, "authorize needs descriptors: a list of lists of entries");
            Vec::new()
        }
    };
    if trusted_proxies.is_empty() && descriptors.iter().flatten().any(Part::is_told_by_proxies) {
        reporter.error(node.at, "authorize needs trusted_proxies: the path and X-Forwarded-* come from them");
    }
    let read = Authorize { trusted_proxies, deny_status, allow_if_none, descriptors };
    (reporter.findings.errors.len() == errors).then_some(read)
}

fn deny_status(reporter: &mut Reporter<'_>, node: Option<&Node<'_>>) -> u16 {
    const DEFAULT: u16 = 429;
    let Some(node) = node else { return DEFAULT };
    let given = match &node.value {
        Value::Scalar(scalar) => scalar.text.parse().ok(),
        _ => None,
    };
    given.filter(|status| (400..=499).contains(status)).unwrap_or_else(|| {
        reporter.error(node.at, "invalid deny_status: expected a status from 400 to 499");
        DEFAULT
    })
}

fn proxies(reporter: &mut Reporter<'_>, node: Option<&Node<'_>>) -> Vec<IpNet> {
    let Some(node) = node else { return Vec::new() };
    let Value::List(items) = &node.value else {
        reporter.error(node.at, "invalid trusted_proxies: expected a list of addresses or networks");
        return Vec::new();
    };
    let mut networks = Vec::with_capacity(items.len());
    for item in items {
        match &item.value {
            Value::Scalar(Scalar { text, .. }) if network(text).is_some() => networks.extend(network(text)),
            _ => reporter.error(item.at, "invalid trusted_proxies: expected an address or a network, as 10.0.0.0/8"),
        }
    }
    networks
}

fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// The entries of a descriptor.
fn parts(reporter: &mut Reporter<'_>, node: &Node<'_>) -> Vec<Part> {
    let Value::List(items) = &node.value else {
        reporter.error(node.at, "invalid descriptors of authorize: expected a list of entries");
        return Vec::new();
    };
    if items.is_empty() {
        reporter.error(node.at, "invalid descriptors of authorize: a descriptor needs an entry");
    }
    items.iter().filter_map(|item| part(reporter, item)).collect()
}

fn part(reporter: &mut Reporter<'_>, node: &Node<'_>) -> Option<Part> {
    let Value::Map(fields) = &node.value else {
        reporter.error(node.at, "an entry of authorize must be a map");
        return None;
    };
    reporter.check_keys(fields, Kind::AuthorizeEntry);
    let key = reporter.text(fields, "key").into_owned();
    if key.is_empty() {
        reporter.error(node.at, "an entry of authorize must have a key");
    }
    let header = reporter.text(fields, "header").into_owned();
    let address = reporter.flag(fields, "client_address");
    let path = reporter.flag(fields, "path");
    let origin = match (header.as_str(), address, path) {
        ("", true, false) => Origin::ClientAddress,
        ("", false, true) => Origin::Path,
        (name, false, false) if !name.is_empty() => match HeaderName::try_from(name) {
            Ok(name) => Origin::Header(name),
            Err(_) => {
                reporter.error(node.at, "invalid header: expected the name of a header");
                return None;
            }
        },
        _ => {
            reporter.error(node.at, "an entry of authorize needs one of header, client_address and path");
            return None;
        }
    };
    Some(Part { key, origin })
}
