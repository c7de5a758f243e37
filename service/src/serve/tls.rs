//! TLS of gRPC. The certificates are read again when their files change.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;
use tracing::{error, info};
use webpki::EndEntityCert;

use super::certificates::end;
use super::watch::Fingerprint;

/// The files, and what a client must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
    /// If given, a client needs a certificate that this authority has signed.
    pub client_ca: Option<PathBuf>,
    /// If given, the certificate of a client needs this name: of DNS, an address, or a URI.
    pub client_name: Option<String>,
}

/// The certificates in force.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    read: Mutex<Option<Fingerprint>>,
    served: ArcSwap<Served>,
}

/// The certificates that a connection gets.
#[derive(Debug)]
struct Served {
    config: Arc<ServerConfig>,
    /// When the first certificate of each file ends.
    ends: Vec<(String, Timestamp)>,
}

impl Tls {
    /// # Errors
    /// A file cannot be read or has no certificate: which, and why.
    pub fn new(files: TlsFiles) -> Result<Self, String> {
        let read = files.fingerprint();
        let served = files.read()?;
        Ok(Self { files, read: Mutex::new(read), served: ArcSwap::from_pointee(served) })
    }

    /// Reads the files again if they have changed, or if told so. Wrong ones change nothing.
    pub fn reload(&self, anyway: bool) {
        let now = self.files.fingerprint();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if *read == now && !anyway {
            return;
        }
        *read = now;
        match self.files.read() {
            Ok(served) => {
                self.served.store(Arc::new(served));
                info!("the certificates are in force");
            }
            Err(error) => error!("the certificates are wrong: the old ones stay: {error}"),
        }
    }

    /// Encrypts a connection of a client that has the certificate that it needs.
    ///
    /// # Errors
    /// It has not, or it does not speak TLS.
    pub async fn handshake(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let stream = TlsAcceptor::from(self.served.load().config.clone()).accept(stream).await?;
        if let Some(name) = &self.files.client_name {
            let certificates = stream.get_ref().1.peer_certificates();
            if !certificates.and_then(<[_]>::first).is_some_and(|certificate| has_name(certificate, name)) {
                return Err(io::Error::other("the certificate of the client has another name"));
            }
        }
        Ok(stream)
    }
}

/// By file, when the first certificate ends that is in force.
pub fn served(tls: Option<&Arc<Tls>>) -> Vec<(String, Timestamp)> {
    tls.map(|tls| tls.served.load().ends.clone()).unwrap_or_default()
}

fn has_name(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let Ok(certificate) = EndEntityCert::try_from(certificate) else { return false };
    certificate.valid_uri_names().any(|uri| uri == name)
        || ServerName::try_from(name).is_ok_and(|name| certificate.verify_is_valid_for_subject_name(&name).is_ok())
}

impl TlsFiles {
    fn fingerprint(&self) -> Option<Fingerprint> {
        Fingerprint::of([&self.cert, &self.key].into_iter().chain(&self.client_ca).cloned())
    }

    fn read(&self) -> Result<Served, String> {
        let mut ends = Vec::new();
        let mut certificates = |path: &PathBuf| -> Result<_, String> {
            let all = certificates(path)?;
            ends.extend(all.iter().filter_map(|der| end(der)).min().map(|end| (path.display().to_string(), end)));
            Ok(all)
        };
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| format!("{}: {error}", path.display()))?;
                }
                let provider = Arc::new(ring::default_provider());
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| format!("{}: {error}", path.display()))?)
            }
        };
        let key =
            PrivateKeyDer::from_pem_file(&self.key).map_err(|error| format!("{}: {error}", self.key.display()))?;
        let mut config = builder
            .with_single_cert(certificates(&self.cert)?, key)
            .map_err(|error| format!("{}: {error}", self.cert.display()))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Served { config: Arc::new(config), ends })
    }
}

fn certificates(path: &PathBuf) -> Result<Vec<CertificateDer<'static>>, String> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let all = all.map_err(|error| format!("{}: {error}", path.display()))?;
    if all.is_empty() { Err(format!("{}: there is no certificate in it", path.display())) } else { Ok(all) }
}
