//! When the certificates of the settings end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tracing::error;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::service::CertificateEnds;

/// How often the files are read.
const READ_EVERY: Duration = Duration::from_secs(60);

/// The files that have certificates.
#[derive(Debug)]
pub struct Certificates {
    files: Vec<PathBuf>,
    ends: Arc<CertificateEnds>,
    read: Option<Instant>,
}

impl Certificates {
    pub const fn new(files: Vec<PathBuf>, ends: Arc<CertificateEnds>) -> Self {
        Self { files, ends, read: None }
    }

    /// Reads the files, if the last time is a while ago. Says at the first time which have ended.
    pub fn look(&mut self, now: Instant) {
        if self.read.is_some_and(|read| now.saturating_duration_since(read) < READ_EVERY) {
            return;
        }
        let ends: Vec<_> =
            self.files.iter().filter_map(|file| Some((file.display().to_string(), first_end(file)?))).collect();
        if self.read.is_none() {
            for (file, end) in ends.iter().filter(|(_, end)| *end <= Timestamp::now()) {
                error!("{file}: the certificate has ended at {end}");
            }
        }
        self.read = Some(now);
        self.ends.set(ends.into_iter().map(|(file, end)| (file, end.as_second())).collect());
    }
}

/// The files of certificates in the URL of Redis.
pub fn of_url(url: &str) -> impl Iterator<Item = PathBuf> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("ca=").or_else(|| pair.strip_prefix("cert=")))
        .map(PathBuf::from)
}

/// When the first certificate of a file ends. `None` if it cannot be read.
fn first_end(file: &PathBuf) -> Option<Timestamp> {
    let all = CertificateDer::pem_file_iter(file).ok()?;
    all.filter_map(|certificate| end(&certificate.ok()?)).min()
}

/// `None` if it is no certificate.
fn end(certificate: &[u8]) -> Option<Timestamp> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_redis_names_files() {
        let files: Vec<_> = of_url("rediss://:p@a:1?ca=/ca.pem&protocol=resp3&cert=/c.pem&key=/k.pem").collect();
        assert_eq!(files, [PathBuf::from("/ca.pem"), PathBuf::from("/c.pem")]);
        assert_eq!(of_url("redis://a:1").count(), 0);
    }
}
