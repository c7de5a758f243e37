//! The certificates that a connection with TLS trusts, and those that it shows.

use std::fmt::Display;
use std::sync::{Arc, OnceLock};

use redis::{ErrorKind, RedisError, RedisResult, TlsCertificates};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// The certificates of a URL, and the settings made of them. The certificates of the system are read once.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    pub certificates: Option<TlsCertificates>,
    pub(super) config: Arc<OnceLock<Arc<ClientConfig>>>,
}

impl Trust {
    /// The settings of rustls.
    pub fn config(&self) -> RedisResult<Arc<ClientConfig>> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.build()?);
        Ok(Arc::clone(self.config.get_or_init(|| config)))
    }

    fn build(&self) -> RedisResult<ClientConfig> {
        let (mut roots, given) = (RootCertStore::empty(), self.certificates.as_ref());
        match given.and_then(|certificates| certificates.root_cert.as_ref()) {
            Some(pem) => {
                for certificate in CertificateDer::pem_slice_iter(pem) {
                    roots.add(certificate.map_err(|error| wrong("ca", error))?).map_err(|error| wrong("ca", error))?;
                }
            }
            None => {
                let found = rustls_native_certs::load_native_certs();
                if let Some(error) = found.errors.first() {
                    return Err(wrong("the system", error));
                }
                roots.add_parsable_certificates(found.certs);
            }
        }
        // A program may have several implementations of cryptography, and have chosen none.
        let provider = rustls::crypto::CryptoProvider::get_default().cloned();
        let provider = provider.unwrap_or_else(|| Arc::new(rustls::crypto::ring::default_provider()));
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| wrong("the system", error))?.with_root_certificates(roots);
        match given.and_then(|certificates| certificates.client_tls.as_ref()) {
            Some(client) => {
                let chain = CertificateDer::pem_slice_iter(&client.client_cert).collect::<Result<Vec<_>, _>>();
                let chain = chain.map_err(|error| wrong("cert", error))?;
                let key = PrivateKeyDer::from_pem_slice(&client.client_key).map_err(|error| wrong("key", error))?;
                config.with_client_auth_cert(chain, key).map_err(|error| wrong("cert", error))
            }
            None => Ok(config.with_no_client_auth()),
        }
    }
}

fn wrong(what: &str, error: impl Display) -> RedisError {
    (ErrorKind::InvalidClientConfig, "a certificate cannot be used", format!("{what}: {error}")).into()
}
