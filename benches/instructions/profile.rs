//! What a profile of callgrind says. The format: <https://valgrind.org/docs/manual/cl-format.html>.

use std::collections::BTreeMap;

/// How often a function was called, and the instructions of all these calls, with everything that it called.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calls {
    pub number: u64,
    pub instructions: u64,
}

/// All instructions of a profile, which ends with `totals: 12345`. `None` if it is not complete.
pub fn total(profile: &str) -> Option<u64> {
    profile.lines().rev().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok())
}

/// The calls of every function whose name ends with `suffix`.
pub fn calls(profile: &str, suffix: &str) -> Calls {
    // `fn=(12) name` and `cfn=(12) name` name a function; later lines have only the number.
    let mut names = BTreeMap::new();
    let mut called = "";
    let mut all = Calls::default();
    let mut lines = profile.lines();
    while let Some(line) = lines.next() {
        if let Some((kind, function)) = line.split_once('=').filter(|(kind, _)| matches!(*kind, "fn" | "cfn")) {
            let (number, name) = function.split_once(' ').unwrap_or((function, ""));
            let name = *names.entry(number).or_insert(name);
            called = if kind == "cfn" { name } else { called };
        } else if let Some(call) = line.strip_prefix("calls=").filter(|_| called.ends_with(suffix)) {
            // `calls=<number> <position>`, then `<position> <instructions>`.
            let number = call.split(' ').next().and_then(|number| number.parse::<u64>().ok());
            let instructions = lines.next().and_then(|line| line.split(' ').next_back()?.parse::<u64>().ok());
            all.number += number.expect("a number of calls");
            all.instructions += instructions.expect("a number of instructions");
        }
    }
    all
}
