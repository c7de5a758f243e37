//! What the pages say: the examples run, the links lead somewhere, and the reference is that of the module.
//!
//! `UPDATE=1 cargo test --test docs` writes the real output into the examples that differ.

mod support;

#[path = "docs/figures.rs"]
mod figures;
#[path = "docs/links.rs"]
mod links;
#[path = "docs/names.rs"]
mod names;
#[path = "docs/reference.rs"]
mod reference;
#[path = "docs/runbook.rs"]
mod runbook;
#[path = "docs/sessions.rs"]
mod sessions;

use std::fs;
use std::path::{Path, PathBuf};

use comrak::nodes::{AstNode, NodeCodeBlock, NodeValue};
use comrak::{Arena, Options, parse_document};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A Markdown file of the repository.
struct Page {
    /// Below the root.
    path: PathBuf,
    text: String,
}

impl Page {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path: path.to_owned(), text }
    }

    /// Calls `visit` with every node of the page, in order.
    fn visit(&self, mut visit: impl for<'a> FnMut(&'a AstNode<'a>)) {
        let arena = Arena::new();
        let mut options = Options::default();
        options.extension.table = true;
        parse_document(&arena, &self.text, &options).descendants().for_each(&mut visit);
    }

    /// The fenced blocks of that language, each with the line on which its content begins, from 0.
    fn blocks(&self, language: &str) -> Vec<(usize, String)> {
        let mut blocks = Vec::new();
        self.visit(|node| {
            let data = node.data.borrow();
            if let NodeValue::CodeBlock(block) = &data.value {
                let NodeCodeBlock { fenced, info, literal, .. } = &**block;
                if *fenced && info == language {
                    blocks.push((data.sourcepos.start.line, literal.clone()));
                }
            }
        });
        blocks
    }
}

/// The text of a node, without its markup.
fn text_of<'a>(node: &'a AstNode<'a>) -> String {
    let mut text = String::new();
    for node in node.descendants() {
        match &node.data.borrow().value {
            NodeValue::Text(part) => text.push_str(part),
            NodeValue::Code(code) => text.push_str(&code.literal),
            NodeValue::SoftBreak | NodeValue::LineBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

/// Every Markdown file of the repository, in order.
fn pages() -> Vec<Page> {
    let mut found = Vec::new();
    walk(Path::new(""), &mut found);
    found.sort();
    assert!(found.iter().any(|path| path == Path::new("README.md")), "{found:?}");
    found.iter().map(|path| Page::read(path)).collect()
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(dir)).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        let path = dir.join(&name);
        if entry.file_type().expect("a type").is_dir() {
            // What was built or fetched, and is not in the repository.
            if !name.starts_with('.') && !["target", "dist", "build", "node_modules", "venv"].contains(&name.as_str()) {
                walk(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}
