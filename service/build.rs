//! Compiles the descriptors of the protocol, and names the build.

mod version;

use std::path::PathBuf;
use std::{env, error, fs};

use protox::prost::Message as _;

const ROOTS: [&str; 2] = ["kuadrant/service/ratelimit/v1/kuadrantrls.proto", "rlaas/v1/reserve.proto"];
/// What envoy-types has.
const KNOWN: [&str; 3] = [".envoy.service.ratelimit.v3", ".envoy.extensions.common.ratelimit.v3", ".google.protobuf"];

fn main() -> Result<(), Box<dyn error::Error>> {
    version::main();
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile(ROOTS, ["proto"])?;
    let path = PathBuf::from(env::var("OUT_DIR")?).join("descriptors.bin");
    fs::write(path, descriptors.encode_to_vec())?;
    let mut code = tonic_prost_build::configure().build_client(false).compile_well_known_types(true);
    code = code.codec_path("crate::decide::SmallCodec");
    for known in KNOWN {
        code = code.extern_path(known, format!("::envoy_types::pb{}", known.replace('.', "::")));
    }
    code.compile_fds(descriptors)?;
    Ok(())
}
