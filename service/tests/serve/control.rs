//! Rules from a control plane: a server of xDS in Python, on gRPC's own library.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, Value as ProtoValue};
use envoy_types::pb::ratelimit::config::ratelimit::v3::{
    RateLimitConfig, RateLimitDescriptor, RateLimitPolicy, RateLimitReplace, RateLimitUnit,
};
use prost::{Message as _, Name as _};
use serde_json::{Value, json};

use super::process::{Rlaas, get, replace, run, until};
use super::security::Certificates;
use super::{block_on, one_server};
use crate::support::*;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;

/// Shorter than the defaults of ten seconds and three.
const IN_A_HURRY: [(&str, &str); 4] = [
    ("CONFIG_TYPE", "GRPC_XDS_SOTW"),
    ("XDS_CLIENT_BACKOFF_INITIAL_INTERVAL", "200ms"),
    ("XDS_CLIENT_BACKOFF_MAX_INTERVAL", "1s"),
    ("CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL", "200ms"),
];

/// A control plane, which ends with the test.
struct ControlPlane {
    child: Child,
    commands: ChildStdin,
    events: Arc<Mutex<Vec<Value>>>,
    port: u16,
}

impl ControlPlane {
    fn start() -> Self {
        Self::with(0, &[])
    }

    fn with(port: u16, arguments: &[&str]) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let packages = Command::new(root.join("../scripts/xds")).output().expect("scripts/xds runs");
        assert!(packages.status.success(), "{}", String::from_utf8_lossy(&packages.stderr));
        let mut child = Command::new("python3")
            .arg(root.join("tests/serve/control_plane.py"))
            .args(["--port", &port.to_string()])
            .args(arguments)
            .env("PYTHONPATH", String::from_utf8(packages.stdout).expect("a path").trim())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let events = Arc::new(Mutex::new(Vec::new()));
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        thread::spawn({
            let events = events.clone();
            move || {
                for line in lines.map_while(Result::ok) {
                    let event = serde_json::from_str(&line).expect("an event");
                    events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
                }
            }
        });
        let commands = child.stdin.take().expect("piped");
        let mut new = Self { child, commands, events, port };
        until("it listens", || !new.events("port").is_empty());
        new.port = new.events("port")[0].as_u64().and_then(|port| port.try_into().ok()).expect("a port");
        new
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.iter().filter_map(|event| event.get(kind)).cloned().collect()
    }

    fn command(&mut self, command: &Value) {
        writeln!(self.commands, "{command}").expect("it runs");
    }

    fn send_as(&mut self, version: &str, type_url: &str, resources: &[(&str, Vec<u8>)]) {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let resources: Vec<_> = resources.iter().map(|(kind, bytes)| json!([kind, hex(bytes)])).collect();
        let nonce = format!("nonce of {version}");
        let sent = json!({"version": version, "nonce": nonce, "type_url": type_url, "resources": resources});
        self.command(&json!({"send": sent}));
    }

    fn send(&mut self, version: &str, resources: &[RateLimitConfig]) {
        let kind = RateLimitConfig::type_url();
        let resources: Vec<_> = resources.iter().map(|config| (kind.as_str(), config.encode_to_vec())).collect();
        self.send_as(version, &kind, &resources);
    }

    /// The reply to the response of a version, once it is there.
    fn reply(&self, version: &str) -> Value {
        let nonce = format!("nonce of {version}");
        let found = || self.events("request").into_iter().rfind(|request| request["response_nonce"] == *nonce);
        until("the control plane gets a reply", || found().is_some());
        found().expect("a reply")
    }

    /// Sends rules, which are accepted.
    fn accepts(&mut self, version: &str, resources: &[RateLimitConfig]) {
        self.send(version, resources);
        let reply = self.reply(version);
        assert_eq!((reply["version_info"].as_str(), reply.get("error_detail")), (Some(version), None), "{reply}");
    }

    /// What is wrong with rules, which are rejected. The version is that of those in force.
    fn rejects(&self, version: &str, in_force: &str) -> String {
        let reply = self.reply(version);
        assert_eq!(reply["version_info"].as_str().unwrap_or_default(), in_force, "{reply}");
        reply["error_detail"]["message"].as_str().expect("what is wrong").to_owned()
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        if thread::panicking() {
            eprintln!("{:#?}", self.events.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// A service with the rules of a control plane at this port.
fn start(server: &Server, port: u16, more: &[(&str, &str)]) -> Rlaas {
    let url = format!("localhost:{port}");
    Rlaas::with_env(server, "", &[&IN_A_HURRY, &[("CONFIG_GRPC_XDS_SERVER_URL", url.as_str())][..], more].concat())
}

fn limited(key: &str, value: &str, limit: u32) -> RateLimitDescriptor {
    let policy =
        RateLimitPolicy { unit: RateLimitUnit::Year.into(), requests_per_unit: limit, ..RateLimitPolicy::default() };
    RateLimitDescriptor { rate_limit: Some(policy), ..descriptor(key, value, Vec::new()) }
}

fn descriptor(key: &str, value: &str, descriptors: Vec<RateLimitDescriptor>) -> RateLimitDescriptor {
    RateLimitDescriptor { key: key.to_owned(), value: value.to_owned(), descriptors, ..RateLimitDescriptor::default() }
}

fn config(name: &str, domain: &str, descriptors: Vec<RateLimitDescriptor>) -> RateLimitConfig {
    RateLimitConfig { name: name.to_owned(), domain: domain.to_owned(), descriptors }
}

/// A resource with one limit.
fn one(domain: &str, limit: u32) -> RateLimitConfig {
    config(&format!("{domain}-rules"), domain, vec![limited("k", "", limit)])
}

/// How many requests of a domain pass, of so many.
fn passing(service: &Rlaas, domain: &str, value: &str, of: usize) -> usize {
    let ask = format!("{domain}: k={value}");
    (0..of).filter(|_| service.code(&ask) == Code::Ok).count()
}

fn in_force(service: &Rlaas) -> String {
    get(&service.debug, "/rlconfig", &[]).body
}

fn responses(service: &Rlaas, result: &str) -> String {
    service.figures(&format!("rlaas_control_plane_responses{{result=\"{result}\"}}"))
}

#[test]
fn a_set_takes_effect_as_a_whole_or_is_rejected_by_name() {
    let server = one_server();
    let mut plane = ControlPlane::start();
    let node = [
        ("CONFIG_GRPC_XDS_NODE_ID", "me"),
        ("CONFIG_GRPC_XDS_NODE_METADATA", "zone=a,team=b"),
        ("CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS", "x-token:secret"),
    ];
    let service = start(&server, plane.port, &node);
    until("it asks", || !plane.events("request").is_empty());
    let first = &plane.events("request")[0];
    let metadata = json!({"zone": "a", "team": "b"});
    assert_eq!(first["node"], json!({"id": "me", "metadata": metadata}));
    assert_eq!(
        (first["type_url"].as_str(), first.get("version_info")),
        (Some(RateLimitConfig::type_url().as_str()), None)
    );
    assert_eq!(plane.events("stream")[0]["x-token"], "secret");
    assert_eq!(get(&service.http, "/ready", &[]).status, 503);

    plane.accepts("10", &[one("a", 1), one("b", 2)]);
    assert_eq!((passing(&service, "a", "x", 3), passing(&service, "b", "x", 3)), (1, 2));
    assert_eq!(get(&service.http, "/ready", &[]).status, 200);
    assert!(
        in_force(&service).contains("a.k: FIXED 31536000 1, charge always, at resource a-rules"),
        "{}",
        in_force(&service)
    );

    // Each is wrong because of one resource; the other would change a limit.
    let unknown =
        RateLimitDescriptor { rate_limit: Some(RateLimitPolicy::default()), ..descriptor("j", "v", Vec::new()) };
    let deep = config("deep", "b", vec![limited("i", "", 1), descriptor("k", "", vec![limited("l", "", 1), unknown])]);
    let nameless = config("", "b", vec![limited("", "v", 1)]);
    for (version, wrong, expected) in [
        ("9", deep, "resource deep: b.k.j_v: invalid unit 'UNKNOWN': expected second, "),
        ("8", one("a", 5), "resource a-rules: domain 'a' is in resource a-rules too; MERGE_DOMAIN_CONFIG merges them"),
        ("7", nameless, "resource b: b._v: a descriptor must have a key"),
        ("6", config("empty", "", vec![]), "resource empty: a file must name its domain"),
    ] {
        plane.send(version, &[one("a", 1000), wrong]);
        let text = plane.rejects(version, "10");
        assert!(text.starts_with(expected), "{text}");
    }
    let kind = RateLimitConfig::type_url();
    let (good, half) = (one("a", 1000).encode_to_vec(), one("b", 1000).encode_to_vec()[..5].to_vec());
    plane.send_as("5", &kind, &[(&kind, good.clone()), (&kind, half)]);
    assert!(plane.rejects("5", "10").starts_with("resource number 2: "), "{}", plane.rejects("5", "10"));
    plane.send_as("4", &kind, &[("type.googleapis.com/envoy.config.cluster.v3.Cluster", good)]);
    assert!(plane.rejects("4", "10").contains("v3.Cluster"), "{}", plane.rejects("4", "10"));
    assert_eq!(responses(&service, "rejected"), "6");
    assert_eq!((passing(&service, "a", "y", 3), passing(&service, "b", "y", 3)), (1, 2));
    assert!(service.log().contains("the old ones stay"));
    assert_eq!(service.figures("rlaas_rules_wrong"), "1");

    // The same version again is no reason to ignore what comes with it.
    plane.accepts("10", &[one("a", 3)]);
    until("the new rules are in force", || service.figures("rlaas_rules_generation") == "2");
    assert_eq!((passing(&service, "a", "z", 5), passing(&service, "b", "z", 5)), (3, 5));
    // An answer to what was not asked for.
    plane.send_as("1", "type.googleapis.com/envoy.config.cluster.v3.Cluster", &[]);
    until("it is counted", || !responses(&service, "ignored").is_empty());
    // No limits on purpose.
    assert!(!service.log().contains("every request is allowed"));
    plane.accepts("0", &[]);
    assert!(service.log().contains("WARN there is no limit in the rules: every request is allowed"));
    assert_eq!(passing(&service, "a", "z", 5), 5);
    assert_eq!(responses(&service, "empty"), "1");
    assert_eq!(plane.events("stream").len(), 1);
}

#[test]
fn the_fields_of_the_protocol_mean_what_those_of_files_mean() {
    let server = one_server();
    let mut plane = ControlPlane::start();
    let dir = tempfile::tempdir().expect("a directory");
    let overrides = dir.path().join("overrides.yaml");
    std::fs::write(&overrides, "algorithm: window\nmonth: calendar\nrules: {d.k: {algorithm: token}}\n")
        .expect("a file");
    let cache = dir.path().join("cache");
    let paths = [&overrides, &cache].map(|path| path.to_str().expect("text"));
    let service = start(&server, plane.port, &[("RLAAS_OVERRIDES", paths[0]), ("RLAAS_RULES_CACHE", paths[1])]);
    let number = |number| ProtoValue { kind: Some(Kind::NumberValue(number)) };
    let metadata = Struct { fields: [("n".to_owned(), number(1.5)), ("m".to_owned(), number(3.0))].into() };
    let shadow = RateLimitDescriptor { shadow_mode: true, detailed_metric: true, ..limited("k", "yes", 0) };
    let mut special = RateLimitDescriptor { quota_mode: true, metadata: Some(metadata), ..limited("q", "*", 7) };
    if let Some(policy) = &mut special.rate_limit {
        policy.name = "special".to_owned();
        policy.replaces = vec![RateLimitReplace { name: "general".to_owned() }];
        policy.unit = RateLimitUnit::Month.into();
    }
    let free = RateLimitPolicy { unlimited: true, ..RateLimitPolicy::default() };
    let free = RateLimitDescriptor { rate_limit: Some(free), ..descriptor("free", "", Vec::new()) };
    plane.accepts("1", &[config("d", "d", vec![limited("k", "", 5), shadow, special, free])]);
    let expected = "d.free: unlimited, at resource d
d.k: TOKEN 31536000 5, charge always, at resource d
d.k_yes: WINDOW 31536000 0, charge always, shadow_mode, at resource d
d.q_*: FIXED month 7 AS special, charge always, quota_mode, at resource d
";
    let in_force = in_force(&service);
    assert!(in_force.ends_with(expected), "{in_force}");
    // The same from the cache.
    let options = ["--rules-cache", paths[1], "--overrides", paths[0]];
    let (_, text) = run(&[&["explain"], &options[..], &["--domain", "d", "q=any"]].concat());
    assert!(
        text.contains("rule     d.q_* at resource d\n  mode     quota_mode\n") && text.contains(":month:q=any"),
        "{text}"
    );
    let (_, checked) = run(&[&["check"], &options[..]].concat());
    assert!(checked.contains("the rules are valid: 3 limits in 1 domain"), "{checked}");
}

#[test]
fn overrides_are_read_again_when_they_change_and_on_sighup() {
    let server = one_server();
    for of_files in [true, false] {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("overrides.yaml");
        let write = |text: &str| replace(&path, text);
        write("algorithm: window\n");
        let variables = [("RLAAS_OVERRIDES", path.to_str().expect("text"))];
        let mut plane = ControlPlane::start();
        let service = if of_files {
            let rule = "{key: k, rate_limit: {unit: year, requests_per_unit: 5}}";
            Rlaas::with_env(&server, &format!("domain: d\ndescriptors: [{rule}]\n"), &variables)
        } else {
            let service = start(&server, plane.port, &variables);
            plane.accepts("1", &[one("d", 5)]);
            service
        };
        let is = |algorithm: &str| in_force(&service).contains(&format!("d.k: {algorithm} 31536000 5, charge always"));
        assert!(is("WINDOW"), "{}", in_force(&service));
        write("rules: {d.k: {algorithm: token}}\n");
        until("the change is in force", || is("TOKEN"));
        write("algorithm: gcra\n");
        service.until_log("overrides.yaml:1:12: invalid algorithm");
        service.until_log("the old ones stay");
        assert!(is("TOKEN"), "{}", in_force(&service));
        write("algorithm: counter\n");
        service.until_generation(3);
        service.signal("-HUP");
        service.until_generation(4);
        assert!(is("COUNTER"), "{}", in_force(&service));
        if !of_files {
            plane.accepts("2", &[one("d", 5), one("e", 1)]);
            assert!(is("COUNTER"), "{}", in_force(&service));
        }
    }
}

#[test]
fn the_cache_is_for_a_start_while_the_control_plane_is_away() {
    let server = one_server();
    let dir = tempfile::tempdir().expect("a directory");
    let cache = dir.path().join("cache");
    let kept = [("RLAAS_RULES_CACHE", cache.to_str().expect("text"))];
    let mut plane = ControlPlane::start();
    let port = plane.port;
    {
        let service = start(&server, plane.port, &kept);
        plane.accepts("1", &[one("d", 2)]);
        // What is wrong is not kept.
        plane.send("2", &[one("d", 7), config("wrong", "", vec![])]);
        plane.rejects("2", "1");
        assert_eq!(passing(&service, "d", "x", 3), 2);
    }
    drop(plane);
    let service = start(&server, port, &kept);
    assert_eq!(passing(&service, "d", "y", 3), 2);
    until("it tries again and again", || service.figure("rlaas_control_plane_failures") > 3.0);
    // One line, and not one for each attempt.
    assert_eq!(service.log().matches("the control plane is away").count(), 1, "{}", service.log());
    assert!(service.log().contains("the rules are those of the cache"));
    let mut plane = ControlPlane::with(port, &[]);
    plane.accepts("1", &[one("d", 3)]);
    assert_eq!(passing(&service, "d", "z", 5), 3);
    let is_connected = || service.figures("rlaas_control_plane_connected") == "1";
    assert!(is_connected());
    drop(plane);
    until("it is away again", || !is_connected());
    drop(service);
    let bytes = std::fs::read(&cache).expect("a cache");
    std::fs::write(&cache, &bytes[..bytes.len() - 1]).expect("written");
    let service = start(&server, port, &kept);
    assert!(service.log().contains("the cache of rules is damaged: it is not used"), "{}", service.log());
    assert_eq!(get(&service.http, "/ready", &[]).status, 503);
}

#[test]
fn a_set_that_is_wrong_again_and_again_is_not_asked_for_without_pause() {
    let server = one_server();
    let mut plane = ControlPlane::start();
    let service = start(&server, plane.port, &[]);
    plane.accepts("1", &[one("d", 2)]);
    // What is rejected comes again at once.
    plane.command(&json!({"repeat": true}));
    plane.send("2", &[config("wrong", "", vec![])]);
    plane.rejects("2", "1");
    let before = plane.events("request").len();
    thread::sleep(Duration::from_secs(2));
    assert!(plane.events("request").len() - before <= 5, "{}", plane.events("request").len() - before);
    plane.accepts("3", &[one("d", 4)]);
    assert_eq!(passing(&service, "d", "y", 5), 4);
    // Half of a message: the stream ends, and the rules stay.
    plane.command(&json!({"raw": "0a05"}));
    until("it asks again", || {
        plane.events("request").last().is_some_and(|last| last["response_nonce"] == "nonce of 3")
    });
    assert_eq!(passing(&service, "d", "z", 5), 4);
}

#[test]
fn large_sets_are_bounded() {
    let server = one_server();
    let mut plane = ControlPlane::start();
    let service = start(&server, plane.port, &[]);
    let domains: Vec<_> = (0..10_000).map(|n| one(&format!("d{n}"), 1)).collect();
    plane.accepts("1", &domains);
    assert_eq!(passing(&service, "d9999", "x", 2), 1);
    let before = service.memory("VmHWM");
    // Beyond the bound of a message, which the error names.
    plane.send("2", &[config("large", "d", (0..80_000).map(|n| limited("k", &format!("{n:050}"), 1)).collect())]);
    service.until_log("the control plane is away");
    assert!(service.log().contains("decoded message length too large"), "{}", service.log());
    assert_eq!(passing(&service, "d9999", "y", 2), 1);
    assert!(service.memory("VmHWM") < before + 64 * 1024, "{} {before}", service.memory("VmHWM"));
    // Many errors are a short text.
    plane.send("3", &(0..1_000).map(|n| config(&format!("{n}{}", "x".repeat(1_000)), "", vec![])).collect::<Vec<_>>());
    let text = plane.rejects("3", "");
    assert!(text.len() < 6_000 && text.ends_with("and 990 more"), "{text}");
}

#[test]
fn the_control_plane_and_the_service_check_each_other() {
    let (server, files) = (one_server(), Certificates::new());
    let [cert, key, ca] = ["server.pem", "server.key", "ca.pem"].map(|name| files.path(name));
    let mut plane = ControlPlane::with(0, &["--tls", &cert, &key, &ca]);
    plane.send("1", &[one("d", 1)]);
    let [client, client_key] = ["client.pem", "client.key"].map(|name| files.path(name));
    let tls = |name: &'static str| {
        [
            ("CONFIG_GRPC_XDS_SERVER_USE_TLS", "true"),
            ("CONFIG_GRPC_XDS_SERVER_TLS_CACERT", ca.as_str()),
            ("CONFIG_GRPC_XDS_SERVER_TLS_SAN", name),
        ]
    };
    let own = [("CONFIG_GRPC_XDS_CLIENT_TLS_CERT", client.as_str()), ("CONFIG_GRPC_XDS_CLIENT_TLS_KEY", &client_key)];
    let fails = |service: &Rlaas| {
        service.until_log("the control plane is away");
        assert_eq!(get(&service.http, "/ready", &[]).status, 503);
    };
    // Another name, and no certificate.
    fails(&start(&server, plane.port, &[&tls("other.example")[..], &own].concat()));
    fails(&start(&server, plane.port, &tls("127.0.0.1")));
    let service = start(&server, plane.port, &[&tls("127.0.0.1")[..], &own].concat());
    plane.reply("1");
    assert_eq!(passing(&service, "d", "x", 2), 1);
    assert!(service.metrics("rlaas_certificate_ends_seconds").iter().any(|line| line.contains(&client)));
}

/// What Envoy Gateway sets, but for the addresses and paths of its pod.
#[test]
fn in_the_place_of_envoyproxy_ratelimit_it_starts_as_envoy_gateway_starts_it() {
    let (server, files) = (one_server(), Certificates::new());
    let [cert, key, ca] = ["server.pem", "server.key", "ca.pem"].map(|name| files.path(name));
    let mut plane = ControlPlane::with(0, &["--tls", &cert, &key, &ca]);
    let dir = tempfile::tempdir().expect("a directory");
    let program = dir.path().join("ratelimit");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rlaas"), &program).expect("a link");
    let [grpc, http, metrics] = [(); 3].map(|()| free_port());
    let (of_plane, of_server) = (plane.port, server.port());
    let environment = format!(
        "RUNTIME_ROOT=/data RUNTIME_SUBDIRECTORY=ratelimit RUNTIME_IGNOREDOTFILES=true RUNTIME_WATCH_ROOT=false \
         LOG_LEVEL=info USE_STATSD=false CONFIG_TYPE=GRPC_XDS_SOTW CONFIG_GRPC_XDS_SERVER_URL=127.0.0.1:{of_plane} \
         CONFIG_GRPC_XDS_NODE_ID=envoy-ratelimit GRPC_SERVER_USE_TLS=true GRPC_SERVER_TLS_CERT={cert} \
         GRPC_SERVER_TLS_KEY={key} GRPC_SERVER_TLS_CA_CERT={ca} CONFIG_GRPC_XDS_SERVER_USE_TLS=true \
         CONFIG_GRPC_XDS_CLIENT_TLS_CERT={cert} CONFIG_GRPC_XDS_CLIENT_TLS_KEY={key} \
         CONFIG_GRPC_XDS_SERVER_TLS_CACERT={ca} FORCE_START_WITHOUT_INITIAL_CONFIG=true REDIS_SOCKET_TYPE=tcp \
         REDIS_URL=127.0.0.1:{of_server} USE_PROMETHEUS=true PROMETHEUS_ADDR=:{metrics} \
         PROMETHEUS_MAPPER_YAML=/etc/statsd-exporter/conf.yaml GRPC_PORT={grpc} PORT={http} REDIS_TIMEOUT=10s"
    );
    let mut command = Command::new(program);
    command.env_clear().envs(environment.split_whitespace().map(|pair| pair.split_once('=').expect("a pair")));
    let service = Rlaas::spawn(command, dir, "metrics");
    // Its probes, also before the first rules.
    assert_eq!(get(&service.http, "/healthcheck", &[]).status, 200);
    plane.accepts("1", &[one("d", 1)]);
    assert_eq!(plane.events("request")[0]["node"]["id"], "envoy-ratelimit");
    assert_eq!(get(&service.http, "/healthcheck", &[]).status, 200);
    for _ in 0..2 {
        assert!(block_on(files.connects(&service, None)), "a request over TLS");
    }
    assert_eq!(service.figures("ratelimit_service_rate_limit_over_limit{domain=\"d\",key1=\"k\",key2=\"\"}"), "1");
}
