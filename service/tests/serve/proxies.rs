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
    assert_eq!(proxy.statuses("/login?user=a", &[]), [200, 200, 200, 429]);
    for header in ["X-Forwarded-Uri", "X-Original-Uri"] {
        assert_ne!(proxy.status("/login", &[(header, "/free")]), 200, "{header}");
    }
    assert_eq!(proxy.status("/free", &[]), 200);
    assert_eq!(proxy.statuses("/free", &[("X-Api-Key", "k")]), [200, 200, 429]);
    assert_eq!(proxy.status("/free", &[("X-Api-Key", "other")]), 200);
}

/// The configuration of nginx in service/examples, with addresses of the test, and what is around it.
fn nginx(service: &Rlaas, changes: &[(&str, &str)]) -> Front {
    let text = include_str!("../../examples/nginx/nginx.conf");
    let site = format!("127.0.0.1:{}", free_port());
    let addresses = [
        ("127.0.0.1:3000", site.as_str()),
        ("listen 80;", "listen <FRONT>;"),
        ("127.0.0.1:8080", "<RLAAS>"),
        // The rules trust this address, and the client has another one.
        ("internal;", "internal; proxy_bind 127.0.0.9;"),
        // Its time limits are too short for a busy machine.
        ("proxy_connect_timeout 100ms;", "proxy_connect_timeout 10s;"),
        ("proxy_read_timeout 100ms;", "proxy_read_timeout 10s;"),
    ];
    let mut text = text.to_owned();
    for (printed, ours) in addresses.iter().chain(changes) {
        assert_eq!(text.matches(printed).count(), 1, "{printed}");
        text = text.replace(printed, ours);
    }
    let temporary =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|kind| format!("{kind}_temp_path <DIR>/{kind};\n"));
    let config = format!(
        "daemon off; master_process off; pid <DIR>/pid; error_log stderr; events {{}}
http {{
access_log off;
{}{text}
server {{ listen {site}; location / {{ return 200 \"the site\\n\"; }} }}
}}
",
        temporary.concat()
    );
    start("nginx", &["-c"], &config, service)
}

#[test]
fn nginx_limits() {
    let server = one_server();
    let service = Rlaas::start(&server, &rules("127.0.0.9", 403));
    let nginx = nginx(&service, &[]);
    is_limited(&nginx);
    // The address is the one that nginx saw, not one that the client sends.
    for forged in ["192.0.2.9", "no address", "\u{e9}"] {
        assert_eq!(nginx.status("/login", &[("X-Forwarded-For", forged)]), 429, "{forged}");
    }
    let denied = nginx.get("/login", &[]);
    assert_ne!(denied.header("retry-after").expect("a time").parse::<u32>(), Ok(0), "{denied:?}");
    assert!(denied.header("ratelimit").is_some() && denied.header("ratelimit-policy").is_some(), "{denied:?}");
    let allowed = nginx.get("/free", &[("X-Api-Key", "a third")]);
    assert!(allowed.header("ratelimit").is_some() && allowed.header("retry-after").is_none(), "{allowed:?}");
}

/// Both ways of the page: without the line it denies, with it it allows. A reply that is no decision, here 404 since the
/// domain has no part `authorize`, does not mean that `rlaas` is away.
#[test]
fn nginx_while_rlaas_is_away() {
    let server = one_server();
    let service = Rlaas::start(&server, &rules("127.0.0.9", 403));
    let denies = nginx(&service, &[]);
    let allows = nginx(&service, &[("# error_page 502 504", "error_page 502 504")]);
    assert_eq!([&denies, &allows].map(|nginx| nginx.status("/free", &[])), [200, 200]);
    service.write_rules("domain: web\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 1}}]\n");
    service.until_generation(2);
    assert_eq!(allows.status("/free", &[]), 503);
    drop(service);
    let denied = denies.get("/free", &[]);
    assert_eq!((denied.status, denied.header("retry-after")), (503, Some("1")));
    assert_eq!(allows.status("/free", &[]), 200);
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
