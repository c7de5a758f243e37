//! `make proofs`: checks the models, in a small or a large form, or the one that is named.

use std::process::ExitCode;

use redis_rl_proofs::{Size, check};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let size = match args.next().as_deref() {
        None | Some("small") => Size::Small,
        Some("large") => Size::Large,
        Some(_) => {
            eprintln!("usage: redis-rl-proofs [small|large] [model]");
            return ExitCode::FAILURE;
        }
    };
    if check(size, &args.next().unwrap_or_default()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
