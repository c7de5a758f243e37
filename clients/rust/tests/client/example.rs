//! The example service, over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::setup::one_server;

/// A process that ends with the test.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_axum_example_limits_its_callers() {
    let server = one_server();
    let tests = std::env::current_exe().expect("a path");
    let program = tests.parent().and_then(|deps| deps.parent()).expect("a directory").join("examples/axum");
    let service = Command::new(&program)
        .env("REDIS_URL", format!("redis://127.0.0.1:{}/", server.port()))
        .env("ADDRESS", "127.0.0.1:0")
        .stdout(Stdio::piped())
        .spawn();
    let mut service = Service(service.unwrap_or_else(|error| {
        panic!("{}: {error}; cargo test builds it, --test client alone does not", program.display())
    }));
    let mut line = String::new();
    BufReader::new(service.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").expect("an address").to_owned();

    let ask = |method: &str, path: &str, headers: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    };
    for _ in 0..5 {
        assert!(ask("POST", "/login", "").starts_with("HTTP/1.1 200"));
    }
    let denied = ask("POST", "/login", "");
    assert!(denied.starts_with("HTTP/1.1 429") && denied.contains(r#""violated-policies":["login"]"#), "{denied}");
    // Other routes and callers have other limits.
    let allowed = ask("GET", "/", "x-api-key: me\r\n");
    assert!(allowed.starts_with("HTTP/1.1 200") && allowed.contains("x-ratelimit-remaining: 9"), "{allowed}");
    assert!(ask("GET", "/", "").contains("x-ratelimit-remaining: 9"));
}
