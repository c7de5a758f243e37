//! The part `authorize` of a domain: how a request of a proxy becomes descriptors.

use std::net::IpAddr;

use http::HeaderName;
use ipnet::IpNet;

use super::fields::{Kind, Reporter, field};
use super::model::{Authorize, Origin, Part};
use super::yaml::Node;

/// Reads the part; `None` if it has an error.
pub fn read(reporter: &mut Reporter<'_>, node: &Node<'_>) -> Option<Authorize> {
    let errors = reporter.findings.errors.len();
    let Some(entries) = node.map() else {
        reporter.error(node.at, "invalid authorize: expected a map");
        return None;
    };
    reporter.check_keys(entries, Kind::Authorize);
    let status = |node: &Node<'_>| node.text()?.parse().ok().filter(|status| (400..=499).contains(status));
    let deny_status = reporter.get(entries, "deny_status", "a status from 400 to 499", status).unwrap_or(429);
    let allow_if_none = reporter.choice(entries, "if_none", &[("allow", true), ("deny", false)]).unwrap_or(false);
    let expected = "a list of addresses or networks";
    let proxies = reporter.get(entries, "trusted_proxies", expected, |node| node.list()).unwrap_or_default();
    let trusted_proxies: Vec<_> = proxies.iter().filter_map(|item| network(reporter, item)).collect();
    let descriptors = field(entries, "descriptors").and_then(Node::list).unwrap_or_default();
    if descriptors.is_empty() {
        reporter.error(node.at, "authorize needs descriptors: a list of lists of entries");
    }
    let descriptors: Vec<_> = descriptors.iter().map(|item| parts(reporter, item)).collect();
    if trusted_proxies.is_empty() && descriptors.iter().flatten().any(Part::is_told_by_proxies) {
        reporter.error(node.at, "authorize needs trusted_proxies: the path and X-Forwarded-* come from them");
    }
    let read = Authorize { trusted_proxies, deny_status, allow_if_none, descriptors };
    (reporter.findings.errors.len() == errors).then_some(read)
}

fn network(reporter: &mut Reporter<'_>, node: &Node<'_>) -> Option<IpNet> {
    let network =
        node.text().and_then(|text| text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from)));
    if network.is_none() {
        reporter.error(node.at, "invalid trusted_proxies: expected an address or a network, as 10.0.0.0/8");
    }
    network
}

/// The entries of a descriptor.
fn parts(reporter: &mut Reporter<'_>, node: &Node<'_>) -> Vec<Part> {
    let Some(items) = node.list() else {
        reporter.error(node.at, "invalid descriptors of authorize: expected a list of entries");
        return Vec::new();
    };
    if items.is_empty() {
        reporter.error(node.at, "invalid descriptors of authorize: a descriptor needs an entry");
    }
    items.iter().filter_map(|item| part(reporter, item)).collect()
}

fn part(reporter: &mut Reporter<'_>, node: &Node<'_>) -> Option<Part> {
    let Some(fields) = node.map() else {
        reporter.error(node.at, "an entry of authorize must be a map");
        return None;
    };
    reporter.check_keys(fields, Kind::AuthorizeEntry);
    let key = reporter.text(fields, "key").to_owned();
    if key.is_empty() {
        reporter.error(node.at, "an entry of authorize must have a key");
    }
    let header = reporter.text(fields, "header");
    let address = reporter.flag(fields, "client_address");
    let path = reporter.flag(fields, "path");
    let origin = match (header, address, path) {
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
