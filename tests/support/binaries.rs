//! The servers and the module that the tests run.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program of a server, with its name and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerBin {
    pub path: PathBuf,
    /// `redis` or `valkey`.
    pub family: String,
    /// Such as `(7, 0, 15)`.
    pub version: (u32, u32, u32),
}

impl fmt::Display for ServerBin {
    /// `redis-7.0.15`
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (major, minor, patch) = self.version;
        write!(f, "{}-{major}.{minor}.{patch}", self.family)
    }
}

impl ServerBin {
    /// Asks the program at `path` for its version. Panics if it is no server, since a test that cannot run has failed.
    pub fn ask(path: &Path) -> Self {
        let output = Command::new(path).arg("--version").output();
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text = String::from_utf8_lossy(&output.stdout);
        Self::parse(path, &text).unwrap_or_else(|| panic!("{} is no server: it says {text:?}", path.display()))
    }

    /// Parses `Redis server v=7.0.15 sha=…` or `Valkey server v=8.1.8 sha=…`.
    fn parse(path: &Path, text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let family = words.next()?.to_lowercase();
        let mut numbers = words.find_map(|word| word.strip_prefix("v="))?.split('.');
        let mut number = || numbers.next()?.parse().ok();
        Some(Self { path: path.to_owned(), family, version: (number()?, number()?, number()?) })
    }

    pub fn is_valkey(&self) -> bool {
        self.family == "valkey"
    }

    /// Whether the module loads. The module API of Redis 6.2 and before lacks functions that it needs.
    pub fn is_supported(&self) -> bool {
        self.version.0 >= 7
    }
}

/// The servers under test: those in `SERVERS` (paths, separated by blanks or colons), else those that `make servers`
/// fetched. Panics if there are none, since no test is skipped.
pub fn servers() -> &'static [ServerBin] {
    static SERVERS: OnceLock<Vec<ServerBin>> = OnceLock::new();
    SERVERS.get_or_init(|| {
        let found = match env::var("SERVERS") {
            Ok(paths) if !paths.trim().is_empty() => paths
                .split([' ', ':'])
                .filter(|path| !path.is_empty())
                .map(|path| ServerBin::ask(Path::new(path)))
                .collect(),
            _ => fetched(ServerBin::is_supported),
        };
        assert!(!found.is_empty(), "no server in target/servers: run make servers");
        found
    })
}

/// Servers that are too old for the module: a load must fail there. Empty if `SERVERS` names the servers under test.
pub fn unsupported_servers() -> Vec<ServerBin> {
    if env::var("SERVERS").is_ok_and(|paths| !paths.trim().is_empty()) {
        return Vec::new();
    }
    let found = fetched(|bin| !bin.is_supported());
    assert!(!found.is_empty(), "no old server in target/servers: run make servers");
    found
}

fn fetched(wanted: impl Fn(&ServerBin) -> bool) -> Vec<ServerBin> {
    let all = root().join("target/servers");
    let mut found: Vec<ServerBin> = fs::read_dir(all)
        .into_iter()
        .flatten()
        .flatten()
        .flat_map(|entry| ["redis-server", "valkey-server"].map(|name| entry.path().join(name)))
        .filter(|path| path.exists())
        .map(|path| ServerBin::ask(&path))
        .filter(wanted)
        .collect();
    found.sort_by_key(ToString::to_string);
    found
}

/// The module under test: `RL_MODULE`, from the directory of the workspace on; else the output of `cargo build --release`.
/// Panics if it does not exist.
pub fn module_path() -> PathBuf {
    let path = root().join(env::var_os("RL_MODULE").unwrap_or_else(|| "target/release/libredis_rl.so".into()));
    assert!(path.exists(), "{} is missing: run make build", path.display());
    path
}

/// The directory of the workspace: the tests of its members include this file too.
pub(super) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|dir| dir.join("Cargo.lock").exists()).unwrap_or(package)
}
