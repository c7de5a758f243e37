//! docs/guarantees.md: what is said to check a promise exists.

use std::fs;
use std::path::Path;

use comrak::nodes::{AstNode, NodeValue};

use crate::{Page, root};

/// The pieces of code in a cell, in order.
fn code_of_cell<'a>(cell: &'a AstNode<'a>) -> Vec<String> {
    let code = |node: &'a AstNode<'a>| match &node.data.borrow().value {
        NodeValue::Code(code) => Some(code.literal.clone()),
        _ => None,
    };
    cell.descendants().filter_map(code).collect()
}

/// What is wrong with the last cell of a row: paths, each followed by functions in that file.
fn wrong(words: &[String]) -> Vec<String> {
    let (mut wrong, mut text) = (Vec::new(), String::new());
    for word in words.iter().filter(|word| !word.starts_with("make ")) {
        if word.contains('/') {
            let path = root().join(word);
            text = if path.is_file() { fs::read_to_string(&path).expect("a text") } else { String::new() };
            if !path.exists() {
                wrong.push(format!("there is no {word}"));
            }
        } else if !["fn {}(", "fn {}<", "def {}("].iter().any(|form| text.contains(&form.replace("{}", word))) {
            wrong.push(format!("no function {word} in the file before it"));
        }
    }
    wrong
}

#[test]
fn every_promise_names_what_checks_it() {
    let (mut missing, mut rows) = (Vec::new(), 0);
    Page::read(Path::new("docs/guarantees.md")).visit(|node| {
        let NodeValue::TableRow(header) = node.data.borrow().value else { return };
        let cells: Vec<_> = node.children().collect();
        if header || cells.len() != 4 {
            return;
        }
        rows += 1;
        let (line, words) = (node.data.borrow().sourcepos.start.line, code_of_cell(cells[3]));
        if words.is_empty() {
            missing.push(format!("line {line}: nothing is named"));
        }
        missing.extend(wrong(&words).into_iter().map(|what| format!("line {line}: {what}")));
    });
    assert!(missing.is_empty() && rows > 20, "{rows} rows; these are wrong:\n{}", missing.join("\n"));
}
