//! The program `rlaas`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    rlaas::cli::run()
}
