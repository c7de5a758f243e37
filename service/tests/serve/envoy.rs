//! With a real Envoy in front.

use std::env;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::thread;

use super::front::Front;
use super::one_server;
use super::process::{Rlaas, until};
use super::steps::counted;
use crate::support::{Paused, free_port};

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

/// Envoy with these copies of the service.
fn in_front_of(services: &[&Rlaas]) -> Front {
    let (port, mock) = (free_port(), free_port());
    let endpoint = |service: &&Rlaas| {
        let port = service.grpc_port();
        format!("{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}}}}}")
    };
    let config = include_str!("envoy.yaml")
        .replace("<FRONT>", &port.to_string())
        .replace("<MOCK>", &mock.to_string())
        .replace("<RLAAS>", &services.iter().map(endpoint).collect::<Vec<_>>().join(", "));
    let envoy = start(&config, port);
    until("Envoy listens", || TcpStream::connect(("127.0.0.1", mock)).is_ok());
    until("the services are healthy", || envoy.status("/free", &[]) == 200);
    envoy
}

/// Envoy with a configuration, in which it listens on this port.
fn start(config: &str, port: u16) -> Front {
    let arguments = ["--disable-hot-restart", "--concurrency", "1", "--log-level", "warn", "--config-path"];
    Front::start(&program(), &arguments, config, port)
}

const RULES: &str = "domain: web
descriptors:
  - key: route
    value: path
    rate_limit: {unit: year, requests_per_unit: 3}
    metadata: {team: edge}
  - {key: route, value: tokens, rate_limit: {unit: year, requests_per_unit: 4}}
  - key: user
    rate_limit: {algorithm: counter, window: 365d, limit: 10}
    descriptors: [{key: kind, value: upload, rate_limit: {algorithm: token, window: 365d, limit: 2}}]
";

const ENABLED: [(&str, &str); 2] = [("LIMIT_RESPONSE_HEADERS_ENABLED", "true"), ("RESPONSE_DYNAMIC_METADATA", "true")];

#[test]
fn limits_descriptors_and_hits_after_the_response() {
    let server = one_server();
    let service = Rlaas::with_env(&server, RULES, &ENABLED);
    let envoy = in_front_of(&[&service]);
    for remaining in ["2", "1", "0"] {
        let response = envoy.get("/path", &[]);
        assert_eq!(response.status, 200, "{response:?}");
        // Those of the service.
        assert_eq!(response.header("ratelimit-limit"), Some("3"));
        assert_eq!(response.header("ratelimit-remaining"), Some(remaining));
        // Those that Envoy makes of the reply.
        assert_eq!(response.header("x-ratelimit-limit"), Some("3, 3;w=31536000"));
        assert_eq!(response.header("x-ratelimit-remaining"), Some(remaining));
        assert!(response.header("x-ratelimit-reset").is_some() && response.header("retry-after").is_none());
        // The metadata of the reply.
        assert_eq!((response.header("x-domain"), response.header("x-team")), (Some("web"), Some("edge")));
    }
    let response = envoy.get("/path", &[]);
    assert_eq!((response.status, response.header("x-envoy-ratelimited")), (429, Some("true")));
    // What Envoy makes of duration_until_reset: until the same request is allowed.
    let wait = response.header("retry-after").and_then(|wait| wait.parse().ok());
    assert!(wait.is_some_and(|wait: u32| (1..=31_536_000).contains(&wait)), "{response:?}");
    assert_eq!(response.header("retry-after"), response.header("ratelimit-reset"));
    assert_eq!(envoy.status("/free", &[]), 200);

    // Several descriptors.
    let upload = [("x-user", "a"), ("x-kind", "upload")];
    assert_eq!(envoy.statuses("/two", &upload), [200, 200, 429, 429]);
    assert_eq!(envoy.status("/two", &[("x-user", "b"), ("x-kind", "upload")]), 200);
    assert_eq!(envoy.status("/two", &[("x-user", "a")]), 200);
    // A look, then four hits after the response: the second look still passes, since no more than the limit is counted.
    let counted = || counted(&server, "*route=tokens").unwrap_or(0);
    assert_eq!(envoy.status("/tokens", &[]), 200);
    until("the hits are charged", || counted() == 4);
    assert_eq!(envoy.status("/tokens", &[]), 200);
    until("the hits are charged", || counted() == 8);
    assert_eq!(envoy.status("/tokens", &[]), 429);
}

/// What Envoy says in a way of its own. The features of the rules are in replies.rs.
#[test]
fn a_refund_and_a_limit_of_the_request_are_those_of_envoy() {
    let server = one_server();
    let rules = "domain: web\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 2}}]\n";
    let service = Rlaas::start(&server, rules);
    let envoy = in_front_of(&[&service]);
    let counted = |key| counted(&server, key).unwrap_or(0);
    // is_negative_hits: both units are given back.
    assert_eq!(envoy.statuses("/", &[("x-k", "back")]), [200, 200]);
    assert_eq!(envoy.statuses("/back", &[("x-k", "back")]), [200]);
    assert_eq!(counted("*:k=back"), 0);
    // A remembered denial is not sent, so it is not counted.
    assert_eq!(envoy.statuses("/", &[("x-k", "back")]), [200, 200, 429, 429]);
    assert_eq!(counted("*:k=back"), 3);
    // The limit of the descriptor itself, two a day, wins over that of the rule, and has a key of its own.
    assert_eq!(envoy.statuses("/own", &[("x-k", "own")]), [200, 200, 429]);
    assert_eq!(counted("rl:web:fixed:86400:k=own"), 3);
    assert_eq!(envoy.statuses("/", &[("x-k", "own")]), [200]);
}

/// Envoy learns how many streams a connection may have after it has sent what waits for a connection.
#[test]
fn many_requests_at_once_on_new_connections_are_all_decided() {
    let server = one_server();
    let rules =
        "domain: web\ndescriptors: [{key: route, value: path, rate_limit: {unit: year, requests_per_unit: 1000}}]\n";
    let service = Rlaas::start(&server, rules);
    let envoy = in_front_of(&[&service]);
    // None of them ends before all are there.
    let paused = Paused::new(&server);
    thread::scope(|scope| {
        let all: Vec<_> = (0..400).map(|_| scope.spawn(|| envoy.status("/path", &[]))).collect();
        until("all are under way", || service.figure("rlaas_requests_under_way ") > 400.0);
        let found = service.metrics("rlaas_");
        drop(paused);
        for status in all {
            assert_eq!(status.join().expect("a status"), 200, "{found:?}");
        }
    });
}

#[test]
fn no_request_fails_while_one_of_two_copies_drains() {
    let server = one_server();
    let rules = "domain: web\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 4294967295}}]\n";
    // Much longer than Envoy takes to see that a copy is not serving.
    let copy = || Rlaas::with_env(&server, rules, &[("RLAAS_DRAIN_DELAY", "3s")]);
    let (mut first, second) = (copy(), copy());
    second.add_rules(&[("error", "descriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 0}}]\n")]);
    let envoy = in_front_of(&[&first, &second]);
    let requests = |service: &Rlaas| service.metrics("ratelimit_service_total_requests");
    // Envoy denies what it cannot ask for.
    let passes = || assert_eq!(envoy.statuses("/", &[("x-k", "a")]), [200]);
    let before = [requests(&first), requests(&second)];
    until("both copies are asked", || {
        passes();
        requests(&first) != before[0] && requests(&second) != before[1]
    });
    first.signal("-TERM");
    let ended = thread::spawn(move || first.wait());
    while !ended.is_finished() {
        passes();
    }
    assert_eq!(ended.join().expect("it ends"), 0);
    for _ in 0..20 {
        passes();
    }
    // The last copy is gone at once: the filter says what its requests get.
    drop(second);
    assert_eq!(envoy.statuses("/", &[("x-k", "a")]), [500]);
    assert_eq!(envoy.statuses("/passes", &[("x-k", "a")]), [200]);
}

#[test]
fn the_files_of_docker_compose_limit() {
    let server = one_server();
    let service = Rlaas::start(&server, include_str!("../../examples/envoy/rules/web.yaml"));
    let port = free_port();
    let mut config = include_str!("../../examples/envoy/envoy.yaml").to_owned();
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
    let envoy = start(&config, port);
    until("the service is asked", || {
        envoy.get("/", &[]).header("x-ratelimit-limit").is_some_and(|limit| limit.starts_with("100"))
    });
    let replies: Vec<_> = (0..12).map(|_| envoy.get("/", &[("X-User", "42")])).collect();
    // A minute may end in between.
    let denied = replies.iter().find(|reply| reply.status == 429);
    assert!(
        replies[0].status == 200 && denied.is_some_and(|reply| reply.header("retry-after").is_some()),
        "{replies:?}"
    );
    assert_eq!(envoy.get("/", &[("X-User", "43")]).status, 200);
}
