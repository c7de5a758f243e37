//! `make proofs`: checks the model, in a small or a large form.

use std::process::ExitCode;

use redis_rl_proofs::{Size, check};

fn main() -> ExitCode {
    let size = match std::env::args().nth(1).as_deref() {
        None | Some("small") => Size::Small,
        Some("large") => Size::Large,
        Some(_) => {
            eprintln!("usage: redis-rl-proofs [small|large]");
            return ExitCode::FAILURE;
        }
    };
    if check(size) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
