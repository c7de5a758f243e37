//! The Lua scripts for servers without the module: docs/hosted.md. In the repository `scripts/` is a link to `lua/`; cargo
//! packs the files themselves.

use std::sync::OnceLock;

use redis_rl_algorithm::Name;

/// A script of one algorithm, or of several limits.
#[derive(Debug)]
pub struct Script {
    pub source: String,
    /// The SHA-1 of the source, for EVALSHA.
    pub hash: String,
}

const HEAD: &str = include_str!("scripts/head.lua");
const SEVERAL: &str = include_str!("scripts/several.lua");

/// The files of the algorithms, in the order in which a script has them.
const FILES: [(&str, &str); 9] = [
    ("bucket", include_str!("scripts/bucket.lua")),
    ("counter", include_str!("scripts/counter.lua")),
    ("fixed", include_str!("scripts/fixed.lua")),
    ("gcra", include_str!("scripts/gcra.lua")),
    ("lease", include_str!("scripts/lease.lua")),
    ("lockout", include_str!("scripts/lockout.lua")),
    ("rolling", include_str!("scripts/rolling.lua")),
    ("sliding", include_str!("scripts/sliding.lua")),
    ("window", include_str!("scripts/window.lua")),
];

/// The place of the algorithm's file.
fn file(name: Name) -> usize {
    let named = match name {
        // Special: one file has both buckets.
        Name::Token | Name::Leaky => "bucket",
        other => other.label(),
    };
    FILES.iter().position(|(file, _)| *file == named).expect("each algorithm has a file")
}

impl Script {
    fn new(parts: &[&str]) -> Self {
        let source = parts.concat();
        let hash = redis::Script::new(&source).get_hash().to_owned();
        Self { source, hash }
    }

    /// The script of one limit.
    pub fn of(name: Name) -> &'static Self {
        static SCRIPTS: [OnceLock<Script>; Name::ALL.len()] = [const { OnceLock::new() }; Name::ALL.len()];
        SCRIPTS[name as usize]
            .get_or_init(|| Self::new(&[HEAD, FILES[file(name)].1, &format!("return run('{}')\n", name.word())]))
    }

    /// The script of several limits under these algorithms.
    pub fn of_several(names: impl IntoIterator<Item = Name>) -> &'static Self {
        static SCRIPTS: [OnceLock<Script>; 1 << FILES.len()] = [const { OnceLock::new() }; 1 << FILES.len()];
        let files = names.into_iter().fold(0, |files, name| files | 1 << file(name));
        let named = FILES.iter().enumerate().filter(|(at, _)| files & 1 << at != 0).map(|(_, (_, text))| *text);
        SCRIPTS[files].get_or_init(|| Self::new(&[HEAD].into_iter().chain(named).chain([SEVERAL]).collect::<Vec<_>>()))
    }
}
