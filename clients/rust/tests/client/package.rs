//! What the package has inside.

#[test]
fn the_package_has_the_library_of_the_repository() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).expect(path);
    let same = read("lua/rl.lua") == read("clients/rust/src/rl.lua");
    assert!(same, "src/rl.lua is an old copy: cp lua/rl.lua clients/rust/src/rl.lua");
    assert_eq!(read("LICENSE"), read("clients/rust/LICENSE"));
}
