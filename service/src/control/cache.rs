//! The last good set of rules in a file, for a start while the control plane is away.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use envoy_types::pb::envoy::service::discovery::v3::DiscoveryResponse;
use prost::Message as _;
use sha2::{Digest as _, Sha256};

/// How the file begins; then the SHA-256 of the rest in hex, a line feed, and the response of the control plane.
const MAGIC: &str = "rlaas rules 1 ";

/// Keeps a response. A file is complete, or it is the one from before.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, response: &DiscoveryResponse) -> io::Result<()> {
    let bytes = response.encode_to_vec();
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut file = File::create(&new)?;
    file.write_all(format!("{MAGIC}{}\n", hash(&bytes)).as_bytes())?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    fs::rename(new, path)
}

/// The response that was kept; `None` if there is none yet.
///
/// # Errors
/// The file cannot be read, or is damaged.
pub fn read(path: &Path) -> Result<Option<DiscoveryResponse>, String> {
    let failed = |text: &str| format!("{}: {text}", path.display());
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error.to_string())),
    };
    let rest = bytes.strip_prefix(MAGIC.as_bytes()).ok_or_else(|| failed("it is no cache of rules"))?;
    let (known, rest) = rest.iter().position(|byte| *byte == b'\n').map_or((rest, &rest[..0]), |end| {
        let (known, rest) = rest.split_at(end);
        (known, rest.get(1..).unwrap_or_default())
    });
    if known != hash(rest).as_bytes() {
        return Err(failed("the cache of rules is damaged"));
    }
    DiscoveryResponse::decode(rest).map(Some).map_err(|error| failed(&error.to_string()))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_cache_is_an_error_and_a_missing_one_is_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("cache");
        assert_eq!(read(&path), Ok(None));
        let response = DiscoveryResponse { version_info: "7".to_owned(), ..DiscoveryResponse::default() };
        write(&path, &response).expect("written");
        assert_eq!(read(&path), Ok(Some(response)));
        let whole = fs::read(&path).expect("a file");
        // Every part of it, and every bit of its last byte.
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).expect("written");
            assert!(read(&path).is_err(), "{end}");
        }
        let mut flipped = whole;
        *flipped.last_mut().expect("a byte") ^= 1;
        fs::write(&path, flipped).expect("written");
        assert!(read(&path).is_err());
        assert!(write(&dir.path().join("none/cache"), &DiscoveryResponse::default()).is_err());
    }
}
