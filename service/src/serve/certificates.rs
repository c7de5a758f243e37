//! When the certificates of the settings end.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use prometheus::IntGaugeVec;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tracing::error;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// How often the files are read.
const READ_EVERY: Duration = Duration::from_secs(60);

/// The files that have certificates.
#[derive(Debug)]
pub struct Certificates {
    files: Vec<PathBuf>,
    /// When the first certificate of each file ends.
    ends: Vec<(String, Timestamp)>,
    /// The seconds until a certificate ends, by `file`.
    seconds: IntGaugeVec,
    read: Option<Instant>,
}

impl Certificates {
    pub const fn new(files: Vec<PathBuf>, seconds: IntGaugeVec) -> Self {
        Self { files, ends: Vec::new(), seconds, read: None }
    }

    /// Sets the metric, and reads the files if the last time is a while ago. Says at the first time which have ended.
    /// `served` are those of gRPC that are in force: what their files have may be wrong.
    pub fn look(&mut self, now: Instant, served: &[(String, Timestamp)]) {
        let time = Timestamp::now();
        if self.read.is_none_or(|read| now.saturating_duration_since(read) >= READ_EVERY) {
            let end = |file: &PathBuf| Some((file.display().to_string(), first_end(file)?));
            self.ends = self.files.iter().filter_map(end).collect();
            for (file, end) in self.ends.iter().chain(served).filter(|(_, end)| self.read.is_none() && *end <= time) {
                error!("{file}: the certificate has ended at {end}");
            }
            self.read = Some(now);
            self.seconds.reset();
        }
        for (file, end) in self.ends.iter().chain(served) {
            self.seconds.with_label_values(&[file]).set(end.as_second().saturating_sub(time.as_second()));
        }
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

/// When a certificate ends. `None` if the bytes are no certificate.
pub fn end(certificate: &[u8]) -> Option<Timestamp> {
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
