//! A running service.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitResponse;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_service_client::RateLimitServiceClient;
use tempfile::TempDir;
use tonic::Status;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use super::{block_on, steps};
use crate::support::{PATIENCE, Server, eventually};

/// How long the server may take, and how late the service may run: on a busy machine the defaults of 15 ms and 10 ms are
/// too short.
const PATIENT: &str = "10s";

/// A service with rules of its own, which ends with the test.
pub struct Rlaas {
    child: Child,
    pub dir: TempDir,
    pub address: String,
    pub http: String,
    pub metrics: String,
    pub debug: String,
}

impl Rlaas {
    pub fn start(server: &Server, rules: &str) -> Self {
        Self::with_env(server, rules, &[])
    }

    pub fn with_env(server: &Server, rules: &str, env: &[(&str, &str)]) -> Self {
        Self::at(&url(server.port()), rules, env)
    }

    /// At this URL of Redis.
    pub fn at(redis: &str, rules: &str, env: &[(&str, &str)]) -> Self {
        Self::run(Command::new(env!("CARGO_BIN_EXE_rlaas")), redis, rules, env)
    }

    /// Starts a command. Without a text, there is no file of rules.
    pub fn run(mut command: Command, redis: &str, text: &str, env: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let rules = dir.path().join("rules");
        fs::create_dir(&rules).expect("a directory");
        if !text.is_empty() {
            fs::write(rules.join("rules.yaml"), text).expect("a file");
        }
        command
            .args(["serve", "--redis", redis, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"])
            .args(["--metrics", "127.0.0.1:0", "--debug", "127.0.0.1:0", "--rules"])
            .arg(&rules)
            .env_clear()
            .env("RLAAS_TIMEOUT", PATIENT)
            .env("RLAAS_MAX_LAG", PATIENT)
            .envs(env.iter().copied());
        Self::spawn(command, dir, "debug")
    }

    /// Starts a command with a directory of its own, until this address listens, which is the last one.
    pub fn spawn(mut command: Command, dir: TempDir, last: &str) -> Self {
        // A file has what the service wrote as soon as it goes on.
        let log = fs::File::create(dir.path().join("log")).expect("a file");
        let child = command.stderr(log).spawn().expect("rlaas runs");
        let [address, http, metrics, debug] = [const { String::new() }; 4];
        let mut service = Self { child, dir, address, http, metrics, debug };
        service.until_log(&format!("{last} listens"));
        let log = service.log();
        let found = |what: &str| {
            let line = log.lines().find(|line| line.contains(&format!("{what} listens")))?;
            // As text, or as JSON.
            let (_, address) = line.split_once("address=").or_else(|| line.split_once("\"address\":"))?;
            Some(address.trim_matches(['"', '}', ' ']).to_owned())
        };
        [service.address, service.http, service.metrics, service.debug] =
            ["gRPC", "HTTP", "metrics", "debug"].map(|what| found(what).unwrap_or_default());
        service
    }

    pub fn grpc_port(&self) -> &str {
        self.address.rsplit(':').next().expect("a port")
    }

    /// A line of `/proc/<pid>/status`, as `VmHWM`, in KiB.
    pub fn memory(&self, line: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("a process");
        let found = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')).expect("a line");
        found.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).expect("a text")
    }

    /// The lines of the metrics that begin so.
    pub fn metrics(&self, prefix: &str) -> Vec<String> {
        let response = get(&self.metrics, "/metrics", &[]);
        assert_eq!(response.status, 200, "{response:?}");
        response.body.lines().filter(|line| line.starts_with(prefix)).map(str::to_owned).collect()
    }

    /// The numbers of these lines, with a blank between them.
    pub fn figures(&self, prefix: &str) -> String {
        let lines = self.metrics(prefix);
        lines.iter().filter_map(|line| line.rsplit(' ').next()).collect::<Vec<_>>().join(" ")
    }

    /// The number of the only line of the metrics that begins so.
    pub fn figure(&self, prefix: &str) -> f64 {
        self.figures(prefix).parse().expect(prefix)
    }

    /// Replaces the rules, as a whole.
    pub fn write_rules(&self, text: &str) {
        replace(&self.dir.path().join("rules/rules.yaml"), text);
    }

    /// Adds the rules of domains, and waits until they are in force.
    pub fn add_rules(&self, domains: &[(&str, impl AsRef<str>)]) {
        for (domain, rules) in domains {
            let path = self.dir.path().join("rules").join(format!("{domain}.yaml"));
            fs::write(path, format!("domain: {domain}\n{}", rules.as_ref())).expect("a file");
        }
        let in_force = || get(&self.debug, "/rlconfig", &[]).body;
        until("the rules are in force", || domains.iter().all(|(name, _)| in_force().contains(&format!("\n{name}."))));
    }

    pub async fn channel(&self) -> Channel {
        let endpoint = Channel::from_shared(format!("http://{}", self.address)).expect("an address");
        endpoint.connect().await.expect("a connection")
    }

    /// What the health check of gRPC says: 1 for serving, 2 for not serving.
    pub async fn health(&self, service: &str) -> i32 {
        let mut client = HealthClient::new(self.channel().await);
        let request = HealthCheckRequest { service: service.to_owned() };
        client.check(request).await.expect("a status").into_inner().status
    }

    pub async fn client(&self) -> Client {
        Client(RateLimitServiceClient::new(self.channel().await))
    }

    /// What one request gets, over a connection of its own.
    pub fn try_ask(&self, ask: &str) -> Result<RateLimitResponse, Status> {
        block_on(async { self.client().await.try_ask(ask).await })
    }

    pub fn code(&self, ask: &str) -> Code {
        self.try_ask(ask).expect("a reply").overall_code()
    }

    /// The response to `POST <path>` with a request in the language of `steps`, and more fields of it.
    pub fn post(&self, path: &str, ask: &str, more: &str) -> Response {
        http(&self.http, &format!("POST {path}"), &[], &steps::json(ask, more))
    }

    /// Waits until the log has a text.
    pub fn until_log(&self, text: &str) {
        until(text, || self.log().contains(text));
    }

    /// Waits until so many sets of rules were in force.
    pub fn until_generation(&self, n: u32) {
        self.until_log(&format!("generation={n}"));
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: &str) {
        crate::support::signal(self.child.id(), signal);
    }

    /// The exit status, once it has ended.
    pub fn wait(&mut self) -> i32 {
        self.child.wait().expect("it ends").code().expect("no signal ended it")
    }
}

impl Drop for Rlaas {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        if thread::panicking() {
            eprintln!("{}", self.log());
        }
    }
}

/// A response: the status, the headers with their names in lower case, and the body.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub fn get(address: &str, path: &str, headers: &[(&str, &str)]) -> Response {
    http(address, &format!("GET {path}"), headers, "")
}

/// The response to a request such as `POST /json`.
pub fn http(address: &str, request: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut text =
        format!("{request} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{text}\r\n{body}").as_bytes()).expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("a response");
    let (head, body) = text.split_once("\r\n\r\n").expect("headers");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status").parse().expect("a number");
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: Vec<_> = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    Response { status, headers, body: body.to_owned() }
}

/// Whether a command of the program succeeds, and what it prints.
pub fn run(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rlaas")).args(arguments).output().expect("rlaas runs");
    let text = String::from_utf8(output.stdout).expect("text") + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

/// Writes a file, as a whole.
pub fn replace(path: &Path, text: &str) {
    // Files that begin so are no rules.
    let new = path.with_file_name("..new");
    fs::write(&new, text).expect("a file");
    // The clock of the file system must see that the rename was later.
    thread::sleep(Duration::from_millis(20));
    fs::rename(new, path).expect("renamed");
}

/// Waits until something is so.
pub fn until(what: &str, condition: impl FnMut() -> bool) {
    assert!(eventually(PATIENCE, condition), "never: {what}");
}

pub fn url(port: u16) -> String {
    format!("redis://127.0.0.1:{port}")
}

/// A client of the service. What it asks is in the language of `steps`.
#[derive(Clone)]
pub struct Client(pub RateLimitServiceClient<Channel>);

impl Client {
    pub async fn try_ask(&mut self, ask: &str) -> Result<RateLimitResponse, Status> {
        self.0.should_rate_limit(steps::request(ask)).await.map(tonic::Response::into_inner)
    }

    /// With a header of gRPC: its name and its value.
    pub async fn try_ask_with(
        &mut self,
        (name, value): (&'static str, &str),
        ask: &str,
    ) -> Result<RateLimitResponse, Status> {
        let mut call = tonic::Request::new(steps::request(ask));
        call.metadata_mut().insert(name, value.parse().expect("ASCII"));
        self.0.should_rate_limit(call).await.map(tonic::Response::into_inner)
    }

    pub async fn code(&mut self, ask: &str) -> Code {
        self.try_ask(ask).await.expect("a reply").overall_code()
    }
}
