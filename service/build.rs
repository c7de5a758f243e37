//! Compiles the descriptors of the protocol, and names the build.

mod version;

use std::path::PathBuf;
use std::{env, error, fs};

use protox::prost::Message as _;

const ROOT: &str = "envoy/service/ratelimit/v3/rls.proto";

fn main() -> Result<(), Box<dyn error::Error>> {
    version::main();
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile([ROOT], ["proto"])?;
    let path = PathBuf::from(env::var("OUT_DIR")?).join("descriptors.bin");
    fs::write(path, descriptors.encode_to_vec())?;
    Ok(())
}
