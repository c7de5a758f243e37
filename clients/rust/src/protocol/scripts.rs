//! The Lua scripts for servers without the module: docs/lua.md. In the repository `scripts/` is a link to `lua/generated`;
//! cargo packs the files themselves.

use std::sync::OnceLock;

/// A script of one command and one algorithm.
#[derive(Debug)]
pub struct Script {
    command: &'static str,
    word: &'static str,
    source: &'static str,
    hash: OnceLock<String>,
}

macro_rules! scripts {
    ($($command:literal: $($word:literal)+;)+) => {
        [$($(Script {
            command: $command,
            word: $word,
            source: include_str!(concat!("scripts/", $command, $word, ".lua")),
            hash: OnceLock::new(),
        },)+)+]
    };
}

static SCRIPTS: [Script; 50] = scripts! {
    "": "fixed" "window" "sliding" "counter" "token" "leaky" "gcra" "rolling" "lease" "lockout" "multi" "renew" "release";
    "peek_": "fixed" "window" "sliding" "counter" "token" "leaky" "gcra" "rolling" "lease" "lockout";
    "reset_": "fixed" "window" "sliding" "counter" "token" "leaky" "gcra" "rolling" "lease" "lockout";
    "refund_": "fixed" "window" "sliding" "counter" "token" "leaky" "gcra" "rolling" "lockout";
    "settle_": "fixed" "window" "sliding" "counter" "token" "leaky" "gcra" "rolling";
};

impl Script {
    /// The script of a command (`peek_`; empty for a check) and of an algorithm in lower case, or of what has no algorithm.
    pub fn of(command: &str, word: &str) -> Option<&'static Self> {
        SCRIPTS.iter().find(|script| script.command == command && script.word == word)
    }

    pub const fn source(&self) -> &'static str {
        self.source
    }

    /// The SHA-1 of the source, for EVALSHA.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| redis::Script::new(self.source).get_hash().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use redis_rl_algorithm::Name;

    use super::Script;

    #[test]
    fn each_algorithm_has_its_scripts() {
        for name in Name::ALL {
            let can = name.traits();
            let all = [("", true), ("peek_", true), ("reset_", true), ("refund_", can.refund), ("settle_", can.settle)];
            for (command, there) in all {
                let found = Script::of(command, name.label()).is_some();
                assert_eq!(found, can.library && there, "{command}{}.lua", name.label());
            }
        }
    }
}
