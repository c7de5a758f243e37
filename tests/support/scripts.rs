//! The Lua scripts for servers without the module, put together as docs/hosted.md says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A file of `lua/`. It is read when a test runs, so that another text needs no other build.
fn lua(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua").join(format!("{name}.lua"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The file of an algorithm, by its word.
fn file_of(word: &str) -> String {
    match word {
        "TOKEN" | "LEAKY" => "bucket".to_owned(),
        word => word.to_lowercase(),
    }
}

/// The script of one limit.
pub fn script(word: &str) -> String {
    [lua("head"), lua(&file_of(word)), format!("return run('{word}')\n")].concat()
}

/// The script of several limits, under these algorithms.
pub fn script_of_several<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let files: BTreeSet<String> = words.into_iter().map(file_of).collect();
    script_of_files(files.iter().map(String::as_str))
}

/// The script of several limits, from the files of their algorithms.
pub fn script_of_files<'f>(files: impl IntoIterator<Item = &'f str>) -> String {
    ["head"].into_iter().chain(files).chain(["several"]).map(lua).collect()
}
