//! With nginx and Caddy in front, which ask `/authorize` before each request.

use std::env;
use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::one_server;
use super::process::{Rlaas, get, until};
use crate::support::free_port;

/// A proxy in front of a service. It ends with the test.
struct Proxy {
    child: Child,
    dir: TempDir,
    address: String,
}

impl Proxy {
    /// Starts a program with a configuration. Its directory and the addresses of the proxy and of the service are in it.
    fn start(program: &str, arguments: &[&str], config: &str, service: &Rlaas) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let port = free_port().to_string();
        let address = format!("127.0.0.1:{port}");
        let directory = dir.path().to_str().expect("text");
        let config = config
            .replace("<DIR>", directory)
            .replace("<FRONT>", &address)
            .replace("<PORT>", &port)
            .replace("<RLAAS>", &service.http);
        let file = dir.path().join("config");
        fs::write(&file, config).expect("a file");
        let log = fs::File::create(dir.path().join("log")).expect("a file");
        // Debian has nginx in a directory of root.
        let path = format!("{}:/usr/sbin", env::var("PATH").unwrap_or_default());
        let child = Command::new(program)
            .args(arguments)
            .arg(&file)
            .env("PATH", path)
            .env("HOME", dir.path())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}; scripts/install proxies installs it"));
        let mut proxy = Self { child, dir, address };
        until("the proxy listens", || {
            assert!(proxy.child.try_wait().expect("a child").is_none(), "{}", proxy.log());
            TcpStream::connect(&proxy.address).is_ok()
        });
        proxy
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    fn status(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        get(&self.address, path, headers).status
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}", self.log());
        }
    }
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
fn is_limited(proxy: &Proxy) {
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
    let nginx = Proxy::start("nginx", &["-c"], include_str!("nginx.conf"), &service);
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
    let caddy = Proxy::start("caddy", &arguments, include_str!("Caddyfile"), &service);
    is_limited(&caddy);
    assert_eq!(caddy.status("/login", &[("X-Forwarded-For", "192.0.2.9")]), 429);
    // Caddy hands the reply of the service to the client.
    let response = get(&caddy.address, "/login", &[]);
    assert!(response.header("retry-after").is_some() && response.body.contains("quota-exceeded"), "{response:?}");
}
