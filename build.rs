//! Names the build: `RL_VERSION` is the version of the crate and what `git describe` says of the clone, as 0.1.0+399196b.
//! RL_DESCRIBE says it where the sources have no clone. `service/` has this file too, by a link.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

pub fn main() {
    println!("cargo::rerun-if-env-changed=RL_DESCRIBE");
    let version = env!("CARGO_PKG_VERSION");
    let described = env::var("RL_DESCRIBE").ok().or_else(describe).unwrap_or_default();
    // A build of the tag of the version needs no more.
    let more = if described == format!("v{version}") { "" } else { &described };
    println!("cargo::rustc-env=RL_VERSION={version}{}{more}", if more.is_empty() { "" } else { "+" });
}

/// What git says, if the clone is one of this project: its sources may be part of another one.
fn describe() -> Option<String> {
    let root = git(&["rev-parse", "--show-cdup"])?;
    if !fs::read_to_string(Path::new(&root).join("Cargo.toml")).ok()?.contains("name = \"redis-rl\"\n") {
        return None;
    }
    // Commits and tags change these, and changed sources make it dirty.
    let of_git =
        ["HEAD", "logs/HEAD", "refs/tags"].into_iter().filter_map(|path| git(&["rev-parse", "--git-path", path]));
    let sources = ["src", "algorithm/src", "../algorithm/src", "../clients/rust/src"].map(str::to_owned);
    // With a path that is not there, cargo would build each time.
    for path in of_git.chain(sources).filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
    git(&["describe", "--tags", "--always", "--dirty"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").env("GIT_OPTIONAL_LOCKS", "0").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
