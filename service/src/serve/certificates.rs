//! When the certificates of the settings end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tracing::error;

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

/// `notAfter` of a certificate: RFC 5280, section 4.1. `None` if it is none, or ends after the year 9998.
fn end(certificate: &[u8]) -> Option<Timestamp> {
    const SEQUENCE: u8 = 0x30;
    const VERSION: u8 = 0xa0;
    let inside = |(tag, content, _): (u8, _, _)| (tag == SEQUENCE).then_some(content);
    let certificate = inside(element(certificate)?)?;
    let mut rest = inside(element(certificate)?)?;
    // The version, which the first one does not have, then number, algorithm, and issuer.
    let skipped = if rest.first() == Some(&VERSION) { 4 } else { 3 };
    for _ in 0..skipped {
        (_, _, rest) = element(rest)?;
    }
    let validity = inside(element(rest)?)?;
    let (_, _, rest) = element(validity)?;
    let (tag, text, _) = element(rest)?;
    let text = std::str::from_utf8(text).ok()?;
    let text = match tag {
        // UTCTime: years from 1950 to 2049.
        0x17 => format!("{}{text}", if text.get(..2)? < "50" { "20" } else { "19" }),
        // GeneralizedTime.
        0x18 => text.to_owned(),
        _ => return None,
    };
    let part = |from: usize| text.get(from..from + 2);
    let date = format!("{}-{}-{}", text.get(..4)?, part(4)?, part(6)?);
    format!("{date}T{}:{}:{}Z", part(8)?, part(10)?, part(12)?).parse().ok()
}

/// The first element of DER: its tag, its content, and what follows.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match *length {
        length @ 0..=0x7f => (usize::from(length), rest),
        // In so many bytes: four are enough for a certificate.
        length @ 0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read() {
        for (year, expected) in
            [(1999, "1999-02-03T00:00:00Z"), (2049, "2049-02-03T00:00:00Z"), (2050, "2050-02-03T00:00:00Z")]
        {
            // A name of many bytes has a long length.
            let mut params = CertificateParams::new(vec!["x".repeat(250)]).expect("parameters");
            params.not_after = date_time_ymd(year, 2, 3);
            let certificate = params.self_signed(&KeyPair::generate().expect("a key")).expect("a certificate");
            let der = certificate.der();
            assert_eq!(end(der), Some(expected.parse().expect("a time")), "{year}");
            // Half of one has no end, and none is read outside of it.
            for length in 0..der.len().min(300) {
                assert_eq!(end(&der[..length]), None, "{length}");
            }
        }
    }

    #[test]
    fn the_url_of_redis_names_files() {
        let files: Vec<_> = of_url("rediss://:p@a:1?ca=/ca.pem&protocol=resp3&cert=/c.pem&key=/k.pem").collect();
        assert_eq!(files, [PathBuf::from("/ca.pem"), PathBuf::from("/c.pem")]);
        assert_eq!(of_url("redis://a:1").count(), 0);
    }
}
