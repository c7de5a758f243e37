//! With nginx and Caddy in front, which ask `/authorize` before each request.

use super::front::Front;
use super::one_server;
use super::process::Rlaas;
use crate::support::free_port;

/// Starts a program with a configuration. The addresses of the proxy and of the service are in it.
fn start(program: &str, arguments: &[&str], config: &str, service: &Rlaas) -> Front {
    let port = free_port();
    let config = config
        .replace("<FRONT>", &format!("127.0.0.1:{port}"))
        .replace("<PORT>", &port.to_string())
        .replace("<RLAAS>", &service.http);
    Front::start(program, arguments, &config, port)
}

fn rules(proxy: &str, deny_status: u16) -> String {
    format!(
        "domain: web
authorize:
  trusted_proxies: [{proxy}]
  deny_status: {deny_status}
  descriptors:
    - [{{key: api_key, header: X-Api-Key}}]
    - [{{key: path, path: true}}, {{key: address, client_address: true}}]
descriptors:
  - {{key: api_key, rate_limit: {{algorithm: token, unit: year, requests_per_unit: 2}}}}
  - key: path
    value: /login
    descriptors: [{{key: address, rate_limit: {{unit: year, requests_per_unit: 3}}}}]
"
    )
}

/// The limits hold, whatever the client says about itself.
fn is_limited(proxy: &Front) {
    for expected in [200, 200, 200, 429] {
        assert_eq!(proxy.status("/login?user=a", &[]), expected);
    }
    for header in ["X-Forwarded-Uri", "X-Original-Uri"] {
        assert_ne!(proxy.status("/login", &[(header, "/free")]), 200, "{header}");
    }
    assert_eq!(proxy.status("/free", &[]), 200);
    for expected in [200, 200, 429] {
        assert_eq!(proxy.status("/free", &[("X-Api-Key", "k")]), expected);
    }
    assert_eq!(proxy.status("/free", &[("X-Api-Key", "other")]), 200);
}

#[test]
fn nginx_limits() {
    let server = one_server();
    let service = Rlaas::start(&server, &rules("127.0.0.9", 403));
    let nginx = start("nginx", &["-c"], include_str!("nginx.conf"), &service);
    is_limited(&nginx);
    // The address is the one that nginx saw, not one that the client sends.
    for forged in ["192.0.2.9", "no address", "\u{e9}"] {
        assert_eq!(nginx.status("/login", &[("X-Forwarded-For", forged)]), 429, "{forged}");
    }
}

#[test]
fn caddy_limits() {
    let server = one_server();
    let service = Rlaas::start(&server, &rules("127.0.0.1", 429));
    let arguments = ["run", "--adapter", "caddyfile", "--config"];
    let caddy = start("caddy", &arguments, include_str!("Caddyfile"), &service);
    is_limited(&caddy);
    assert_eq!(caddy.status("/login", &[("X-Forwarded-For", "192.0.2.9")]), 429);
    // Caddy hands the reply of the service to the client.
    let response = caddy.get("/login", &[]);
    assert!(response.header("retry-after").is_some() && response.body.contains("quota-exceeded"), "{response:?}");
}
