//! What the page of the package says.

#[test]
fn the_readme_shows_the_example_that_is_run() {
    let read = |path: &str| std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).expect(path);
    let (readme, code) = (read("README.md"), read("src/lib.rs"));
    let example =
        readme.split("```rust,ignore\n").nth(2).and_then(|rest| rest.split("```").next()).expect("an example");
    assert_eq!(example.lines().count(), 3);
    for line in example.lines() {
        assert!(code.contains(&format!("\n//! {line}\n")), "{line}");
    }
}
