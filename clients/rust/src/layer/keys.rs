//! Who a caller is: values for keys, from a request. A value that the caller chooses is a new caller with the whole limit
//! whenever it changes: limit the address beside it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderName;
use http::request::Parts;
use sha2::Sha256;

use crate::error::Error;

/// Makes keys of values: the first 16 bytes of their HMAC-SHA-256, in 32 hexadecimal digits. The secret must be the same
/// in all instances of a service. Without it, nobody can find the addresses of keys by trying all addresses.
#[derive(Clone, Debug)]
pub struct KeyedHash(Hmac<Sha256>);

impl KeyedHash {
    /// Makes keys with this secret, which must not be empty.
    pub fn new(secret: &[u8]) -> Result<Self, Error> {
        // HMAC takes a key of any length.
        let hash =
            Some(secret).filter(|secret| !secret.is_empty()).and_then(|secret| Hmac::new_from_slice(secret).ok());
        hash.map(Self).ok_or(Error::EmptySecret)
    }

    /// The key of a value.
    pub fn value(&self, value: impl AsRef<[u8]>) -> String {
        let code = self.0.clone().chain_update(value).finalize().into_bytes();
        code.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// The key of an address: of an IPv6 address, that of its /64 network, since a caller has the whole network.
    pub fn address(&self, address: IpAddr) -> String {
        match network(address) {
            IpAddr::V4(address) => self.value(address.octets()),
            IpAddr::V6(address) => self.value(address.octets()),
        }
    }
}

/// The addresses that one caller has: an IPv4 address itself, and of an IPv6 address the first one of its /64 network.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from(u128::from(address) >> 64 << 64).into(),
        address => address,
    }
}

/// The address of the peer, as axum's `ConnectInfo<SocketAddr>` says. Only for a service that callers reach directly: behind a
/// proxy, every caller has the address of the proxy.
///
/// # Errors
/// [`Error::MissingKey`]: the service was not made with `into_make_service_with_connect_info::<SocketAddr>()`.
#[cfg(feature = "axum")]
pub fn peer_address(request: &Parts) -> Result<IpAddr, Error> {
    let info = request.extensions.get::<axum::extract::ConnectInfo<SocketAddr>>();
    info.map(|info| info.0.ip()).ok_or(Error::MissingKey("ConnectInfo<SocketAddr>"))
}

/// The address that the outermost of `proxies` trusted proxies saw: entry `proxies` of `X-Forwarded-For`, counted from the
/// end. Each of the proxies must append the address of its peer to that header, as nginx does with
/// `$proxy_add_x_forwarded_for`. With a number that is too large, callers choose their address; with one that is too
/// small, all have the address of a proxy.
///
/// # Errors
/// [`Error::MissingKey`]: there are fewer entries, or that entry is no address. The request did not pass these proxies.
pub fn forwarded_address(request: &Parts, proxies: usize) -> Result<IpAddr, Error> {
    // A caller can put any bytes before what the proxies add to its line.
    let lines = request.headers.get_all("x-forwarded-for").iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
    let lines: Vec<_> = lines.collect();
    let entries: Vec<_> = lines.iter().flat_map(|line| line.split(',')).map(str::trim).collect();
    let entry = proxies.checked_sub(1).and_then(|before| entries.iter().rev().nth(before));
    entry.and_then(|entry| parse_address(entry)).ok_or(Error::MissingKey("X-Forwarded-For"))
}

/// Reads an entry of `X-Forwarded-For`: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or
/// `[2001:db8::1]:80`. `None` if it is no address.
pub fn parse_address(entry: &str) -> Option<IpAddr> {
    let bare = entry.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(entry);
    bare.parse().ok().or_else(|| entry.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// The value of a header, such as an API key; `None` if there is none. Several headers of that name are one list. The caller
/// chooses it: check it before this layer, or limit the address too.
pub fn header(request: &Parts, name: &HeaderName) -> Option<Vec<u8>> {
    let values: Vec<_> = request.headers.get_all(name).iter().map(|value| value.as_bytes()).collect();
    (!values.is_empty()).then(|| values.join(&b", "[..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> Parts {
        let request =
            headers.iter().fold(http::Request::builder(), |request, (name, value)| request.header(*name, *value));
        request.body(()).expect("a request").into_parts().0
    }

    #[test]
    fn only_the_entries_of_trusted_proxies_count() {
        let forwarded = request(&[("x-forwarded-for", "6.6.6.6, 192.0.2.1"), ("x-forwarded-for", "198.51.100.7")]);
        let address = |proxies| forwarded_address(&forwarded, proxies).ok().map(|address| address.to_string());
        assert_eq!(address(1).as_deref(), Some("198.51.100.7"));
        assert_eq!(address(2).as_deref(), Some("192.0.2.1"));
        assert_eq!((address(0), address(4)), (None, None));
        for (entry, expected) in [
            ("192.0.2.1:8080", Some("192.0.2.1")),
            ("[2001:db8::1]:8080", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("unknown", None),
            ("", None),
        ] {
            let found = forwarded_address(&request(&[("x-forwarded-for", entry)]), 1);
            assert_eq!(found.ok().map(|address| address.to_string()).as_deref(), expected, "{entry}");
        }
        assert!(matches!(forwarded_address(&request(&[]), 1), Err(Error::MissingKey("X-Forwarded-For"))));
        // Bytes that are no text do not hide what the proxy added after them.
        let mut hidden = request(&[("x-forwarded-for", "6.6.6.6")]);
        let line = http::HeaderValue::from_bytes(b"\xff, 192.0.2.1").expect("a value");
        hidden.headers.append("x-forwarded-for", line);
        assert_eq!(forwarded_address(&hidden, 1).unwrap().to_string(), "192.0.2.1");
    }

    #[test]
    fn a_key_has_one_length_and_hides_the_value() {
        // HMAC-SHA-256 of RFC 4231, test case 2.
        let hash = KeyedHash::new(b"Jefe").expect("a secret");
        assert_eq!(hash.value("what do ya want for nothing?"), "5bdcc146bf60754e6a042426089575c7");
        let addresses = ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:1:2::1"];
        let keys = addresses.map(|address| hash.address(address.parse().expect("an address")));
        assert_eq!(keys[0], keys[1]);
        assert!(keys[2] != keys[3] && keys[2] == keys[4]);
        assert!(matches!(KeyedHash::new(b""), Err(Error::EmptySecret)));
    }

    #[test]
    fn several_headers_are_one_value() {
        let name = HeaderName::from_static("x-api-key");
        assert_eq!(header(&request(&[("x-api-key", "a"), ("x-api-key", "b")]), &name).as_deref(), Some(&b"a, b"[..]));
        assert_eq!(header(&request(&[]), &name), None);
    }
}
