//! TLS: the certificates of the server and of the client.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use redis_rl_client::{Limiter, Source};
use tempfile::TempDir;

use crate::link::Client;
use crate::setup::block_on;
use crate::support::*;

/// Writes a certificate authority, and a certificate of a server and of a client, each with its key.
fn certificates() -> TempDir {
    let dir = TempDir::new().expect("a directory");
    let write = |name: &str, text: String| fs::write(dir.path().join(name), text).expect("a file");
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    // Otherwise its certificates would have its own name.
    params.distinguished_name.push(DnType::CommonName, "authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    write("ca.pem", issuer.pem());
    for name in ["server", "client"] {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).expect("parameters");
        write(&format!("{name}.pem"), params.signed_by(&key, &issuer).expect("a certificate").pem());
        write(&format!("{name}.key"), key.serialize_pem());
    }
    dir
}

#[test]
fn the_server_and_the_client_show_their_certificates() {
    let (files, port) = (certificates(), free_port());
    let path = |name: &str| files.path().join(name).display().to_string();
    let options = |bin: &ServerBin| {
        let files = [("tls-ca-cert-file", "ca.pem"), ("tls-cert-file", "server.pem"), ("tls-key-file", "server.key")];
        let options = Server::options(bin).set("tls-port", port);
        files.into_iter().fold(options, |options, (name, file)| options.set(name, path(file)))
    };
    // Some of the servers are built without TLS.
    let server = servers().iter().find_map(|bin| options(bin).try_start().ok());
    let server = server.expect("no server that knows TLS");
    let parameters = |names: &[&str]| {
        let parts = names.iter().map(|name| match *name {
            "ca" => format!("ca={}", path("ca.pem")),
            "cert" => format!("cert={}", path("client.pem")),
            _ => format!("key={}", path("client.key")),
        });
        format!("rediss://localhost:{port}?{}", parts.collect::<Vec<_>>().join("&"))
    };
    let all = Client::patient(&parameters(&["ca", "cert", "key"]));
    all.served_after_closing("k", &server);
    // Without the authority the server is not trusted, and without a certificate the client is not.
    for names in [&["cert", "key"][..], &["ca"]] {
        let client = Client::patient(&parameters(names));
        assert_eq!(client.source("k"), Source::Fallback, "{names:?}");
    }
    // The log has the reason.
    let limiter = Limiter::open(&parameters(&["cert", "key"])).expect("a URL");
    let error = block_on(limiter.connect()).expect_err("the server is trusted");
    assert!(error.is_unavailable() && error.to_string().contains("invalid peer certificate"), "{error}");
}
