//! Who may connect: certificates of the service and of its clients, and what the service may do in Redis.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use redis_rl_algorithm::Name;
use tempfile::TempDir;
use tokio_stream::StreamExt as _;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use super::process::{Client, Rlaas, replace, until};
use super::reserve::Gateway;
use super::{block_on, one_server};
use crate::support::*;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_response::Code;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_service_client::RateLimitServiceClient;

const RULES: &str = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 100}}]\n";

/// A directory with an authority, and with the certificates that it has signed.
pub struct Certificates(TempDir);

impl Certificates {
    pub fn new() -> Self {
        let new = Self(TempDir::new().expect("a directory"));
        new.renew();
        new
    }

    /// Writes all of them again, of another authority.
    fn renew(&self) {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
        ["ca.pem", "ca-of-clients.pem"].into_iter().for_each(|name| self.write(name, &issuer.pem()));
        for (file, name) in [("server", "127.0.0.1"), ("client", "envoy.example"), ("other", "other.example")] {
            let key = KeyPair::generate().expect("a key");
            let params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
            self.write(&format!("{file}.pem"), &params.signed_by(&key, &issuer).expect("a certificate").pem());
            self.write(&format!("{file}.key"), &key.serialize_pem());
        }
    }

    /// Writes a file as a whole.
    fn write(&self, name: &str, text: &str) {
        replace(&self.0.path().join(name), text);
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// A service that shows one of these, and wants that of `client`.
    pub fn service(&self, server: &Server, rules: &str) -> Rlaas {
        let [cert, key, ca] = ["server.pem", "server.key", "ca-of-clients.pem"].map(|name| self.path(name));
        let variables = [
            ("GRPC_SERVER_USE_TLS", "true"),
            ("GRPC_SERVER_TLS_CERT", cert.as_str()),
            ("GRPC_SERVER_TLS_KEY", &key),
            ("GRPC_CLIENT_TLS_CACERT", &ca),
            ("GRPC_CLIENT_TLS_SAN", "envoy.example"),
        ];
        Rlaas::with_env(server, rules, &variables)
    }

    /// Whether a request of this client gets a reply.
    pub async fn connects(&self, service: &Rlaas, client: Option<&str>) -> bool {
        let read = |name: &str| fs::read(self.path(name)).expect("a file");
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read("ca.pem")));
        if let Some(name) = client {
            tls = tls.identity(Identity::from_pem(read(&format!("{name}.pem")), read(&format!("{name}.key"))));
        }
        let endpoint = Channel::from_shared(format!("https://{}", service.address)).expect("an address");
        let Ok(channel) = endpoint.tls_config(tls).expect("certificates").connect().await else { return false };
        let mut client = Client(RateLimitServiceClient::new(channel));
        client.try_ask("k=x").await.is_ok()
    }
}

#[test]
fn certificates_say_when_they_end() {
    let (server, files) = (one_server(), Certificates::new());
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("parameters");
    params.not_after = rcgen::date_time_ymd(2020, 1, 2);
    files.write("server.pem", &params.self_signed(&key).expect("a certificate").pem());
    files.write("server.key", &key.serialize_pem());
    let service = files.service(&server, RULES);
    let ended = format!("{}: the certificate has ended at 2020-01-02T00:00:00Z", files.path("server.pem"));
    assert!(service.log().contains(&ended), "{}", service.log());
    assert_eq!(service.log().matches("has ended").count(), 1);
    let seconds =
        |name: &str| service.figure(&format!("rlaas_certificate_ends_seconds{{file=\"{}\"}} ", files.path(name)));
    let year = 365.0 * 86_400.0;
    assert!(seconds("server.pem") < -5.0 * year && seconds("ca-of-clients.pem") > 5.0 * year);
    // A new certificate whose key was forgotten is not served.
    let other = KeyPair::generate().expect("a key");
    params.not_after = rcgen::date_time_ymd(2090, 1, 2);
    files.write("server.pem", &params.self_signed(&other).expect("a certificate").pem());
    service.until_log("the certificates are wrong: the old ones stay");
    service.signal("-HUP");
    service.until_log("SIGHUP");
    assert!(seconds("server.pem") < -5.0 * year);
    files.write("server.key", &other.serialize_pem());
    until("it is served", || seconds("server.pem") > 50.0 * year);
}

#[test]
fn certificates_are_checked_and_read_again() {
    let (server, files) = (one_server(), Certificates::new());
    let service = files.service(&server, RULES);
    let connects = |client| block_on(files.connects(&service, client));
    assert_eq!([Some("client"), Some("other"), None].map(connects), [true, false, false]);
    block_on(async {
        let plain = Channel::from_shared(format!("http://{}", service.address)).expect("an address").connect().await;
        if let Ok(channel) = plain {
            let mut client = Client(RateLimitServiceClient::new(channel));
            assert!(client.try_ask("k=x").await.is_err());
        }
    });
    files.renew();
    until("the new certificates are used", || connects(Some("client")));
    // The authority of clients by itself.
    let other = fs::read_to_string(Certificates::new().path("ca.pem")).expect("a file");
    files.write("ca-of-clients.pem", &other);
    until("the new authority is used", || !connects(Some("client")));
}

#[test]
fn reflection_shows_the_protocol() {
    let server = one_server();
    let service = Rlaas::start(&server, RULES);
    block_on(async {
        let mut client = ServerReflectionClient::new(service.channel().await);
        for symbol in ["grpc.health.v1.Health", "envoy.service.ratelimit.v3.RateLimitRequest"] {
            let message_request = Some(MessageRequest::FileContainingSymbol(symbol.to_owned()));
            let request = ServerReflectionRequest { host: String::new(), message_request };
            let replies = client.server_reflection_info(tokio_stream::iter([request])).await.expect("a stream");
            let reply = replies.into_inner().next().await.expect("a reply").expect("a reply").message_response;
            assert!(matches!(reply, Some(MessageResponse::FileDescriptorResponse(_))), "{reply:?}");
        }
    });
}

/// The user of the page can do everything that the service does, and the page names no more than that.
#[test]
fn the_user_of_the_page_is_enough() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/service.md")).expect("the page");
    let line = page.lines().find(|line| line.starts_with("ACL SETUSER rlaas ")).expect("the line");
    let server = one_server();
    let mut con = server.con();
    let user = line.replace("<password>", "secret").replacen("SETUSER rlaas", "SETUSER rlaas reset", 1);
    ok(send(&mut con, &user));
    let all = Name::ALL.into_iter().filter(super::promises::is_for_rules).map(Name::label);
    let rules: String = all
        .clone()
        .map(|name| format!("  - {{key: {name}, rate_limit: {{algorithm: {name}, window: 1000h, limit: 5}}}}\n"))
        .collect();
    let files = TempDir::new().expect("a directory");
    let password = files.path().join("password");
    fs::write(&password, "secret\n").expect("a file");
    let redis = format!("redis://rlaas@127.0.0.1:{}", server.port());
    let of_file = [("RLAAS_REDIS_PASSWORD_FILE", password.to_str().expect("text"))];
    let service = Rlaas::at(&redis, &format!("domain: d\ndescriptors:\n{rules}"), &of_file);
    for name in all {
        for hits in ["+3", "?", "-1"] {
            assert_eq!(service.code(&format!("{name}=x {hits}")), Code::Ok, "{name}");
        }
    }
    service.write_rules(&format!("domain: d\nall_or_nothing: true\ndescriptors:\n{rules}"));
    service.until_generation(2);
    assert_eq!(service.code("gcra=y +5 | token=y"), Code::Ok);
    // The look denies, so the other limit is only shown: RL.PEEK.
    assert_eq!(service.code("gcra=y ? | token=y"), Code::OverLimit);
    service.write_rules(
        "domain: d
pools: [{name: all, rate_limit: {unit: year, limit: 9}}]
descriptors:
  - {key: team, rate_limit: {unit: year, limit: 1, share: all}}
  - {key: lease, rate_limit: {algorithm: lease, limit: 3}}
  - {key: fixed, rate_limit: {unit: year, limit: 100}}
",
    );
    service.until_generation(3);
    assert_eq!(service.code("team=x"), Code::Ok);
    let gateway = Gateway(&service);
    for of in ["lease=x", "fixed=x"] {
        let id = gateway.reserve(of, 1, 0);
        assert_eq!([0, 0].map(|actual| gateway.commit(of, &id, actual)), [true, false], "{of}");
    }
    service.write_rules("rate-limiter: {use-algo: sliding-window-algo, window-size: 60, max-requests: 5}");
    service.until_generation(4);
    assert_eq!(service.code("rlaas: userId=x"), Code::Ok);
    let denied: Vec<redis::Value> = redis::cmd("ACL").arg("LOG").query(&mut con).expect("a log");
    assert!(denied.is_empty(), "{denied:?}");
    let used = read::<String>(ok(send(&mut con, "INFO commandstats"))).to_ascii_lowercase();
    for command in line.split(' ').filter_map(|word| word.strip_prefix('+')) {
        assert!(used.contains(&format!("cmdstat_{command}:")), "{command} is not used");
    }
    assert!(!service.log().contains("secret"));
}
