//! Which requests are served. A page of the web can make a browser send requests to a server on the same machine.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const TEXT: &str = "Open this page by the address that the program prints, or start it with the name: PAGE=name:8000\n";

/// Replies 403 to a request that this application's own page, or a program such as curl, has not sent.
pub async fn check(State(own): State<String>, request: Request, next: Next) -> Response {
    if is_own(request.headers(), &own) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, TEXT).into_response()
    }
}

/// Whether the host is this machine's and the origin, if there is one, is this page.
///
/// With DNS rebinding, a page of another site reaches this server under the name of that site. So a name is accepted
/// only if it is `localhost` or the one to listen on. An IP address cannot be rebound.
fn is_own(headers: &HeaderMap, own: &str) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let known = name.eq_ignore_ascii_case("localhost") || name == own || address.parse::<IpAddr>().is_ok();
    let origin = headers.get(ORIGIN).map(|origin| origin.as_bytes());
    known && origin.is_none_or(|origin| origin == format!("http://{host}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().expect("a host"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().expect("an origin"));
        }
        headers
    }

    #[test]
    fn only_this_page_is_served() {
        for (host, origin, expected) in [
            ("127.0.0.1:8000", None, true),
            ("localhost:8000", Some("http://localhost:8000"), true),
            ("[::1]:8000", Some("http://[::1]:8000"), true),
            ("192.168.1.7:8000", Some("http://192.168.1.7:8000"), true),
            ("laptop:8000", Some("http://laptop:8000"), true),
            ("localhost", None, true),
            // DNS rebinding
            ("attacker.example:8000", Some("http://attacker.example:8000"), false),
            ("localhost.attacker.example:8000", None, false),
            ("127.0.0.1.attacker.example:8000", None, false),
            // another page
            ("127.0.0.1:8000", Some("http://attacker.example"), false),
            ("127.0.0.1:8000", Some("http://127.0.0.1:9000"), false),
            ("127.0.0.1:8000", Some("null"), false),
        ] {
            assert_eq!(is_own(&headers(host, origin), "laptop"), expected, "{host} {origin:?}");
        }
        assert!(!is_own(&HeaderMap::new(), "laptop"));
    }
}
