//! `/authorize/<domain>`: for `auth_request` of nginx, `forwardAuth` of Traefik and `forward_auth` of Caddy; and
//! `/limits/<domain>`, which shows a caller what is left.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
use envoy_types::pb::envoy::extensions::common::ratelimit::v3::rate_limit_descriptor::Entry;
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use redis_rl_client::Decisions;
use redis_rl_client::layer::keys;
use rlaas_rules::{Authorize, Origin, Part};
use serde_json::json;

use super::Rejected;
use crate::decide::{Call, Left, Service, Snapshot, whole_seconds};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Both name the path, so both count. A proxy sets one of them and passes on what the client says in the other.
const PATHS: [HeaderName; 2] = [HeaderName::from_static("x-forwarded-uri"), HeaderName::from_static("x-original-uri")];

/// What is left of the limits of a request, as its headers describe it. Charges nothing.
pub async fn limits(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(domain): Path<String>,
    headers: HeaderMap,
    mut call: Call,
) -> Response {
    let response = left(&service, peer.ip(), domain, &headers, &mut call).await;
    call.responded(response)
}

async fn left(
    service: &Service,
    peer: IpAddr,
    domain: String,
    headers: &HeaderMap,
    call: &mut Call,
) -> Result<Response, Rejected> {
    let snapshot = service.rules(call)?;
    let described = described(&snapshot, peer, domain, headers).map_err(str::to_owned)?;
    let Some((_, request)) = described else { return Ok(not_found()) };
    let left = if request.descriptors.is_empty() { Vec::new() } else { service.left(&snapshot, &request).await? };
    let limits: Vec<_> = left
        .iter()
        .map(|Left { name, limit, remaining, reset }| {
            let seconds = reset.map(whole_seconds);
            json!({"name": name, "limit": limit, "remaining": remaining, "resetSeconds": seconds})
        })
        .collect();
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, json!({ "limits": limits }).to_string()).into_response())
}

/// Allows or denies a request, as its headers describe it.
pub async fn authorize(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(domain): Path<String>,
    headers: HeaderMap,
    mut call: Call,
) -> Response {
    let response = decided(&service, peer.ip(), domain, &headers, &mut call).await;
    call.responded(response)
}

async fn decided(
    service: &Service,
    peer: IpAddr,
    domain: String,
    headers: &HeaderMap,
    call: &mut Call,
) -> Result<Response, Rejected> {
    let snapshot = service.rules(call)?;
    let described = described(&snapshot, peer, domain, headers).map_err(str::to_owned)?;
    let Some((rules, request)) = described else { return Ok(not_found()) };
    if request.descriptors.is_empty() {
        let body = json!({"title": "No descriptor fits the request", "status": rules.deny_status});
        let denial = || problem(rules.deny_status, &body);
        return Ok(if rules.allow_if_none { StatusCode::OK.into_response() } else { denial() });
    }
    let (reply, decisions) = service.decide_under(&snapshot, &request, call).await?;
    let over = reply.overall_code() == Code::OverLimit;
    let mut response = if over { denied(rules.deny_status, &decisions) } else { StatusCode::OK.into_response() };
    set_headers(response.headers_mut(), &decisions, over);
    Ok(response)
}

/// A request as its headers describe it, and how; `None` if the domain has no part `authorize`.
fn described<'s>(
    snapshot: &'s Snapshot,
    peer: IpAddr,
    domain: String,
    headers: &HeaderMap,
) -> Result<Option<(&'s Authorize, RateLimitRequest)>, &'static str> {
    let options = snapshot.rules.domains.get(domain.as_str()).map(|domain| &domain.options);
    let Some(rules) = options.and_then(|options| options.authorize.as_ref()) else { return Ok(None) };
    let descriptors = descriptors(rules, peer, headers)?;
    Ok(Some((rules, RateLimitRequest { domain, descriptors, hits_addend: 0 })))
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "no domain of that name has the part authorize\n").into_response()
}

/// The descriptors of a request. One whose value is missing is left out.
fn descriptors(rules: &Authorize, peer: IpAddr, headers: &HeaderMap) -> Result<Vec<RateLimitDescriptor>, &'static str> {
    let trusted = rules.trusts(peer);
    let path = if trusted { path(headers)? } else { None };
    let value = |part: &Part| match &part.origin {
        _ if part.is_told_by_proxies() && !trusted => None,
        Origin::Header(name) => text(headers, name),
        Origin::ClientAddress => {
            // A client can put any bytes before what the proxies add to its line.
            let lines = headers.get_all(FORWARDED_FOR).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
            let lines: Vec<_> = lines.collect();
            Some(client_address(rules, peer, lines.iter().map(|line| &**line)))
        }
        Origin::Path => path.clone(),
    };
    let entry = |part: &Part| Some(Entry { key: part.key.clone(), value: value(part)? });
    let descriptor = |parts: &Vec<Part>| {
        let entries = parts.iter().map(entry).collect::<Option<_>>()?;
        Some(RateLimitDescriptor { entries, ..RateLimitDescriptor::default() })
    };
    Ok(rules.descriptors.iter().filter_map(descriptor).collect())
}

/// The value of a header that is not empty. Several headers of that name are one list.
fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<_> = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    Some(values.join(", ")).filter(|text| !text.is_empty())
}

/// The path of the request, without the query.
fn path(headers: &HeaderMap) -> Result<Option<String>, &'static str> {
    let mut all = PATHS.into_iter().flat_map(|name| headers.get_all(name)).map(HeaderValue::as_bytes);
    let Some(first) = all.next() else { return Ok(None) };
    if all.any(|other| other != first) {
        return Err("X-Forwarded-Uri and X-Original-URI differ: the proxy must set one and remove the other");
    }
    let uri = String::from_utf8_lossy(first);
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    Ok(Some(path.to_owned()).filter(|path| !path.is_empty()))
}

/// The last address before the trusted proxies, in the lines of X-Forwarded-For. Of an IPv6 address its /64 network, since
/// a caller has all of it.
fn client_address<'l>(rules: &Authorize, peer: IpAddr, lines: impl DoubleEndedIterator<Item = &'l str>) -> String {
    let mut entries = lines.flat_map(|line| line.split(',')).rev();
    let mut client = peer;
    while rules.trusts(client)
        && let Some(before) = entries.next().and_then(|entry| keys::parse_address(entry.trim()))
    {
        client = before;
    }
    match keys::network(client) {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(network) => format!("{network}/64"),
    }
}

fn set_headers(headers: &mut HeaderMap, decisions: &Decisions, over: bool) {
    for (name, value) in decisions.headers() {
        // In shadow mode a limit may deny a request that is allowed: it has nothing to wait for.
        if name == "Retry-After" && !over {
            continue;
        }
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
}

/// A denial, with the policies that deny.
fn denied(status: u16, decisions: &Decisions) -> Response {
    let violated: Vec<_> = decisions.denied().map(|decision| decision.policy().label().to_owned()).collect();
    let body = json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Quota exceeded",
        "status": status,
        "violated-policies": violated,
    });
    problem(status, &body)
}

fn problem(status: u16, body: &serde_json::Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::TOO_MANY_REQUESTS);
    (status, [(header::CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::show_descriptor;
    use rlaas_rules as rules;

    /// The descriptors of a request, as text.
    fn made(authorize: &str, peer: &str, headers: &[(&str, &str)]) -> Result<Vec<String>, &'static str> {
        let text = format!("domain: d\nauthorize: {authorize}\n");
        let (rules, findings) =
            rules::load(&[rules::Source { name: "a".to_owned(), text }], &rules::Settings::default());
        let rules = rules.unwrap_or_else(|| panic!("{:?}", findings.errors));
        let authorize = rules.domains["d"].options.authorize.clone().expect("the part");
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("a value");
            map.append(HeaderName::try_from(*name).expect("a name"), value);
        }
        let made = descriptors(&authorize, peer.parse().expect("an address"), &map)?;
        Ok(made.iter().map(show_descriptor).collect())
    }

    const ALL: &str = "{trusted_proxies: [10.0.0.0/8, 2001:db8:1::1], descriptors: [[{key: api_key, header: X-Api-Key}], \
                       [{key: address, client_address: true}, {key: path, path: true}], \
                       [{key: host, header: X-Forwarded-Host}]]}";

    fn of(peer: &str, headers: &[(&str, &str)]) -> Vec<String> {
        made(ALL, peer, headers).expect("descriptors")
    }

    #[test]
    fn only_trusted_proxies_describe_a_request() {
        let headers = [
            ("x-forwarded-for", "6.6.6.6, 192.0.2.7, 10.1.1.1"),
            ("x-forwarded-uri", "/login?next=/"),
            ("x-forwarded-host", "example"),
            ("x-api-key", "k"),
        ];
        assert_eq!(of("10.0.0.1", &headers), ["api_key=k", "address=192.0.2.7,path=/login", "host=example"]);
        assert_eq!(of("::ffff:10.0.0.1", &headers), of("10.0.0.1", &headers));
        // The headers of any other peer are those of a client.
        assert_eq!(of("192.0.2.1", &headers), ["api_key=k"]);
        assert_eq!(of("10.0.0.1", &[]), [""; 0]);
        assert_eq!(of("10.0.0.1", &[("x-api-key", "")]), [""; 0]);
    }

    #[test]
    fn the_client_is_the_last_address_before_the_proxies() {
        let address = |peer: &str, forwarded: &[&str]| {
            let mut headers: Vec<_> = forwarded.iter().map(|value| ("x-forwarded-for", *value)).collect();
            headers.push(("x-original-uri", "/"));
            of(peer, &headers).pop().map(|text| text.replace("address=", "").replace(",path=/", ""))
        };
        for (forwarded, expected) in [
            (&["192.0.2.1"][..], "192.0.2.1"),
            (&["6.6.6.6, 192.0.2.1", "10.3.3.3"], "192.0.2.1"),
            (&["192.0.2.1:80"], "192.0.2.1"),
            (&["\u{e9}, 192.0.2.1"], "192.0.2.1"),
            (&["192.0.2.1", "\u{e9}, 10.3.3.3"], "10.3.3.3"),
            (&["[2001:db8::7]:80"], "2001:db8::/64"),
            (&["10.9.9.9"], "10.9.9.9"),
            (&["192.0.2.1, unknown"], "10.0.0.1"),
            (&[], "10.0.0.1"),
        ] {
            assert_eq!(address("10.0.0.1", forwarded).as_deref(), Some(expected), "{forwarded:?}");
        }
        assert_eq!(address("2001:db8:1::1", &["2001:db8:2:3:4::1"]).as_deref(), Some("2001:db8:2:3::/64"));
    }

    #[test]
    fn a_path_that_the_client_says_too_is_an_error() {
        let both = [("x-original-uri", "/login"), ("x-forwarded-uri", "/free")];
        assert!(made(ALL, "10.0.0.1", &both).is_err());
        assert!(made(ALL, "10.0.0.1", &[("x-original-uri", "/login"), ("x-original-uri", "/free")]).is_err());
        let same = [("x-original-uri", "/login"), ("x-forwarded-uri", "/login")];
        assert_eq!(of("10.0.0.1", &same), ["address=10.0.0.1,path=/login"]);
    }
}
