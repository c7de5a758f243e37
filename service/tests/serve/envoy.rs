//! With a real Envoy in front.

use std::env;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::one_server;
use super::process::{Response, Rlaas, get, until};
use crate::support::free_port;

/// Envoy in front of a service. It ends with the test.
struct Envoy {
    child: Child,
    dir: TempDir,
    port: u16,
}

/// The program: `ENVOY`, else the one that `scripts/envoy` fetched.
fn program() -> String {
    if let Ok(path) = env::var("ENVOY") {
        return path;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(root.join("scripts/envoy")).output().expect("scripts/envoy runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a path").trim().to_owned()
}

impl Envoy {
    fn start(service: &Rlaas) -> Self {
        let (port, mock) = (free_port(), free_port());
        let config = include_str!("envoy.yaml")
            .replace("<FRONT>", &port.to_string())
            .replace("<MOCK>", &mock.to_string())
            .replace("<RLAAS>", service.grpc_port());
        let envoy = Self::with(&config, port);
        until("Envoy listens", || TcpStream::connect(("127.0.0.1", mock)).is_ok());
        envoy
    }

    /// Envoy with a configuration, in which it listens on this port.
    fn with(config: &str, port: u16) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("envoy.yaml");
        fs::write(&path, config).expect("a file");
        let log = fs::File::create(dir.path().join("log")).expect("a file");
        let child = Command::new(program())
            .args(["--disable-hot-restart", "--concurrency", "1", "--log-level", "warn", "--config-path"])
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("Envoy runs");
        let mut envoy = Self { child, dir, port };
        until("Envoy listens", || {
            assert!(envoy.child.try_wait().expect("a child").is_none(), "{}", envoy.log());
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        envoy
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        get(&format!("127.0.0.1:{}", self.port), path, headers)
    }

    fn status(&self, path: &str) -> u16 {
        self.get(path, &[]).status
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}", self.log());
        }
    }
}

const RULES: &str = "domain: web
descriptors:
  - key: route
    value: path
    rate_limit: {unit: year, requests_per_unit: 3}
    metadata: {team: edge}
  - {key: route, value: tokens, rate_limit: {unit: year, requests_per_unit: 4}}
  - {key: route, value: broken, rate_limit: {algorithm: token, unit: year, requests_per_unit: 4}}
  - key: user
    rate_limit: {algorithm: counter, window: 365d, limit: 10}
    descriptors: [{key: kind, value: upload, rate_limit: {algorithm: token, window: 365d, limit: 2}}]
";

const ENABLED: [(&str, &str); 2] = [("LIMIT_RESPONSE_HEADERS_ENABLED", "true"), ("RESPONSE_DYNAMIC_METADATA", "true")];

#[test]
fn the_fourth_request_of_three_gets_429() {
    let server = one_server();
    let service = Rlaas::with_env(&server, RULES, &ENABLED);
    let envoy = Envoy::start(&service);
    until("the service is healthy", || envoy.status("/free") == 200);
    for remaining in ["2", "1", "0"] {
        let response = envoy.get("/path", &[]);
        assert_eq!(response.status, 200, "{response:?}");
        // Those of the service.
        assert_eq!(response.header("ratelimit-limit"), Some("3"));
        assert_eq!(response.header("ratelimit-remaining"), Some(remaining));
        // Those that Envoy makes of the reply.
        assert_eq!(response.header("x-ratelimit-limit"), Some("3, 3;w=31536000"));
        assert_eq!(response.header("x-ratelimit-remaining"), Some(remaining));
        assert!(response.header("x-ratelimit-reset").is_some());
        // The metadata of the reply.
        assert_eq!((response.header("x-domain"), response.header("x-team")), (Some("web"), Some("edge")));
    }
    let response = envoy.get("/path", &[]);
    assert_eq!((response.status, response.header("x-envoy-ratelimited")), (429, Some("true")));
    assert_eq!(envoy.status("/free"), 200);
}

#[test]
fn several_descriptors_and_hits_that_are_charged_after_the_response() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let envoy = Envoy::start(&service);
    let upload = [("x-user", "a"), ("x-kind", "upload")];
    for expected in [200, 200, 429, 429] {
        assert_eq!(envoy.get("/two", &upload).status, expected);
    }
    assert_eq!(envoy.get("/two", &[("x-user", "b"), ("x-kind", "upload")]).status, 200);
    assert_eq!(envoy.get("/two", &[("x-user", "a")]).status, 200);
    // A look, then four hits after the response: the second look still passes, since no more than the limit is counted.
    let counted = || {
        let keys: Vec<String> = redis::cmd("KEYS").arg("*route=tokens*").query(&mut server.con()).expect("KEYS");
        keys.first().map_or(0, |key| redis::cmd("GET").arg(key).query::<i64>(&mut server.con()).expect("a counter"))
    };
    assert_eq!(envoy.status("/tokens"), 200);
    until("the hits are charged", || counted() == 4);
    assert_eq!(envoy.status("/tokens"), 200);
    until("the hits are charged", || counted() == 8);
    assert_eq!(envoy.status("/tokens"), 429);
}

#[test]
fn without_a_decision_envoy_decides() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    let envoy = Envoy::start(&service);
    assert_eq!(envoy.status("/broken"), 200);
    redis::cmd("FLUSHALL").exec(&mut server.con()).expect("FLUSHALL");
    redis::cmd("SET").arg("rl:web:token:31536000:route=broken").arg("x").exec(&mut server.con()).expect("SET");
    // failure_mode_deny of the filter says so.
    assert_eq!(envoy.status("/broken"), 500);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(envoy.status("/path"), 200);
}

#[test]
fn the_files_of_docker_compose_limit() {
    let server = one_server();
    let service = Rlaas::start(&server, include_str!("../../../deploy/compose/rules/web.yaml"));
    let port = free_port();
    let mut config = include_str!("../../../deploy/compose/envoy.yaml").to_owned();
    // The names and ports of its network, and a timeout for a busy machine.
    for (there, here) in [
        ("address: 0.0.0.0, port_value: 8000", format!("address: 127.0.0.1, port_value: {port}")),
        ("address: rlaas, port_value: 8081", format!("address: 127.0.0.1, port_value: {}", service.grpc_port())),
        ("port_value: 8001", format!("port_value: {}", free_port())),
        ("timeout: 0.2s", "timeout: 10s".to_owned()),
    ] {
        assert!(config.contains(there), "{there}");
        config = config.replace(there, &here);
    }
    let envoy = Envoy::with(&config, port);
    until("the service is asked", || {
        envoy.get("/", &[]).header("x-ratelimit-limit").is_some_and(|limit| limit.starts_with("100"))
    });
    let statuses: Vec<_> = (0..12).map(|_| envoy.get("/", &[("X-User", "42")]).status).collect();
    // A minute may end in between.
    assert!(statuses.starts_with(&[200]) && statuses.contains(&429), "{statuses:?}");
    assert_eq!(envoy.get("/", &[("X-User", "43")]).status, 200);
}
