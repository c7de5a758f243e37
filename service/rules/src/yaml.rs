//! A YAML document as a tree whose nodes know where they are.
//!
//! Files in use were written for the parser of envoyproxy/ratelimit (go-yaml 2). Where it differs from YAML 1.2, this
//! reads as it does: the first document counts, `yes` and `off` are booleans, `010` is eight, a merge (`<<`) is in
//! place, and the last of two equal keys wins (the reader of the tree sees to that).

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, Tag};

use super::problem::Mark;

/// Deeper documents are rejected, so that no file exhausts the stack. The parser's own limit; aliases count too.
const MAX_DEPTH: usize = 255;
/// How many nodes aliases may add to a document, so that no file exhausts the memory.
const MAX_ALIASED: usize = 1_000_000;

/// A node of the document.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    pub at: Mark,
    pub value: Value<'a>,
}

#[derive(Clone, Debug)]
pub enum Value<'a> {
    Scalar(Scalar<'a>),
    List(Vec<Node<'a>>),
    /// In the order of the document, with merged entries in place.
    Map(Vec<(Node<'a>, Node<'a>)>),
}

#[derive(Clone, Debug)]
pub struct Scalar<'a> {
    pub text: Cow<'a, str>,
    /// Neither quoted nor tagged as text, so that it may be another type than text.
    pub plain: bool,
}

/// What a scalar is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Type {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above 2⁶³ − 1, or a number with a fraction or an exponent.
    Number(f64),
    Text,
}

/// The first document of a file; `None` if there is none.
///
/// # Errors
/// Where it is no YAML, and why.
pub fn parse(source: &str) -> Result<Option<Node<'_>>, (Mark, String)> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    Builder::default().document(source)
}

/// A list or a map that is not complete.
struct Open<'a> {
    node: Node<'a>,
    anchor: usize,
    /// The key whose value comes next.
    key: Option<Node<'a>>,
    /// Of its deepest complete child.
    depth: usize,
}

#[derive(Default)]
struct Builder<'a> {
    open: Vec<Open<'a>>,
    /// The anchored nodes, with their size and depth.
    anchors: HashMap<usize, (Node<'a>, usize, usize)>,
    aliased: usize,
}

impl<'a> Builder<'a> {
    fn document(mut self, source: &'a str) -> Result<Option<Node<'a>>, (Mark, String)> {
        for next in Parser::new_from_str(source) {
            let (event, span) = next.map_err(|error| (mark(error.marker()), error.info()))?;
            let at = mark(&span.start);
            let complete = match event {
                Event::Scalar(text, style, anchor, tag) => {
                    let plain = match tag.as_deref().and_then(Tag::core_suffix) {
                        Some("str") => false,
                        Some(_) => true,
                        None => style == ScalarStyle::Plain && tag.is_none(),
                    };
                    let node = Node { at, value: Value::Scalar(Scalar { text, plain }) };
                    self.complete(node, anchor, 1).map_err(|text| (at, text))?
                }
                Event::SequenceStart(_, anchor, _) => self.begin(at, Value::List(Vec::new()), anchor)?,
                Event::MappingStart(_, anchor, _) => self.begin(at, Value::Map(Vec::new()), anchor)?,
                Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                    Some(open) => self.complete(open.node, open.anchor, open.depth + 1).map_err(|text| (at, text))?,
                    None => None,
                },
                Event::Alias(anchor) => {
                    let Some((node, size, depth)) = self.anchors.get(&anchor) else {
                        return Err((at, "an anchor contains itself".to_owned()));
                    };
                    self.aliased += size;
                    if self.aliased > MAX_ALIASED {
                        return Err((at, format!("aliases add more than {MAX_ALIASED} nodes")));
                    }
                    let (node, depth) = (Node { at, value: node.value.clone() }, *depth);
                    self.complete(node, 0, depth).map_err(|text| (at, text))?
                }
                // The rest of the file is not read, as go-yaml does not.
                Event::DocumentEnd => return Ok(None),
                _ => None,
            };
            if complete.is_some() {
                return Ok(complete);
            }
        }
        Ok(None)
    }

    fn begin(&mut self, at: Mark, value: Value<'a>, anchor: usize) -> Result<Option<Node<'a>>, (Mark, String)> {
        if self.open.len() >= MAX_DEPTH {
            return Err((at, too_deep()));
        }
        self.open.push(Open { node: Node { at, value }, anchor, key: None, depth: 0 });
        Ok(None)
    }

    /// Hands a complete node to the list or map that it is in; returns it if it is the document itself.
    fn complete(&mut self, node: Node<'a>, anchor: usize, depth: usize) -> Result<Option<Node<'a>>, String> {
        if self.open.len() + depth > MAX_DEPTH {
            return Err(too_deep());
        }
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), size(&node), depth));
        }
        let Some(open) = self.open.last_mut() else { return Ok(Some(node)) };
        open.depth = open.depth.max(depth);
        match &mut open.node.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => match open.key.take() {
                None => open.key = Some(node),
                Some(key) if is_merge(&key) => merge(entries, node)?,
                Some(key) => entries.push((key, node)),
            },
            // Scalars are never open.
            Value::Scalar(_) => {}
        }
        Ok(None)
    }
}

fn too_deep() -> String {
    format!("the document is nested more than {MAX_DEPTH} levels deep")
}

fn mark(marker: &granit_parser::Marker) -> Mark {
    Mark::new(marker.line(), marker.col() + 1)
}

fn size(node: &Node<'_>) -> usize {
    1 + match &node.value {
        Value::Scalar(_) => 0,
        Value::List(items) => items.iter().map(size).sum(),
        Value::Map(entries) => entries.iter().map(|(key, value)| size(key) + size(value)).sum(),
    }
}

fn is_merge(key: &Node<'_>) -> bool {
    matches!(&key.value, Value::Scalar(scalar) if scalar.plain && scalar.text == "<<")
}

/// Adds the entries of a map, or of a list of maps of which the first wins.
fn merge<'a>(entries: &mut Vec<(Node<'a>, Node<'a>)>, node: Node<'a>) -> Result<(), String> {
    const WRONG: &str = "invalid merge: `<<` takes a map or a list of maps";
    match node.value {
        Value::Map(merged) => entries.extend(merged),
        Value::List(items) => {
            for item in items.into_iter().rev() {
                match item.value {
                    Value::Map(merged) => entries.extend(merged),
                    _ => return Err(WRONG.to_owned()),
                }
            }
        }
        Value::Scalar(_) => return Err(WRONG.to_owned()),
    }
    Ok(())
}

impl<'a> Node<'a> {
    pub fn text(&self) -> Option<&str> {
        if let Value::Scalar(scalar) = &self.value { Some(&scalar.text) } else { None }
    }

    pub fn list(&self) -> Option<&[Self]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    pub fn map(&self) -> Option<&[(Self, Self)]> {
        if let Value::Map(entries) = &self.value { Some(entries) } else { None }
    }

    /// What a scalar is; `None` of a list or a map.
    pub fn resolve(&self) -> Option<Type> {
        if let Value::Scalar(scalar) = &self.value { Some(scalar.resolve()) } else { None }
    }

    pub fn is_null(&self) -> bool {
        self.resolve() == Some(Type::Null)
    }
}

impl Scalar<'_> {
    /// What go-yaml 2 takes it for.
    pub fn resolve(&self) -> Type {
        if !self.plain {
            return Type::Text;
        }
        match self.text.as_ref() {
            "" | "~" | "null" | "Null" | "NULL" => Type::Null,
            "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Type::Bool(true),
            "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Type::Bool(false),
            ".nan" | ".NaN" | ".NAN" => Type::Number(f64::NAN),
            ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Type::Number(f64::INFINITY),
            "-.inf" | "-.Inf" | "-.INF" => Type::Number(f64::NEG_INFINITY),
            text if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => number(text),
            _ => Type::Text,
        }
    }
}

fn number(text: &str) -> Type {
    let digits = text.replace('_', "");
    if let Some(value) = integer(&digits) {
        #[expect(clippy::cast_precision_loss, reason = "only its size matters: it is rejected")]
        return i64::try_from(value).map_or(Type::Number(value as f64), Type::Int);
    }
    // Not `inf` and `nan`, which Rust reads too.
    let plain = digits.bytes().all(|c| c.is_ascii_digit() || b"+-.eE".contains(&c));
    digits.parse().ok().filter(|_| plain).map_or(Type::Text, Type::Number)
}

/// Decimal, or with the prefix `0x`, `0o`, `0` (octal) or `0b`; up to 2⁶⁴ − 1.
fn integer(text: &str) -> Option<i128> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (1, text),
    };
    let lower = rest.to_ascii_lowercase();
    let (digits, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (lower.get(2..)?, 16),
        [b'0', b'o', ..] => (lower.get(2..)?, 8),
        [b'0', b'b', ..] => (lower.get(2..)?, 2),
        [b'0', _, ..] => (lower.get(1..)?, 8),
        _ => (lower.as_str(), 10),
    };
    // from_str_radix would take another sign.
    let value = digits.bytes().all(|c| c.is_ascii_alphanumeric()).then(|| u64::from_str_radix(digits, base).ok())??;
    let value = sign * i128::from(value);
    (value >= i128::from(i64::MIN)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(node: &Node<'_>) -> String {
        match &node.value {
            Value::Scalar(scalar) => match scalar.resolve() {
                Type::Text => format!("{:?}", scalar.text),
                Type::Null => "null".to_owned(),
                Type::Bool(value) => value.to_string(),
                Type::Int(value) => value.to_string(),
                Type::Number(value) => format!("{value:?}"),
            },
            Value::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
            Value::Map(entries) => {
                let entries: Vec<_> =
                    entries.iter().map(|(key, value)| format!("{}: {}", show(key), show(value))).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    fn read(source: &str) -> String {
        parse(source).expect(source).map_or_else(|| "nothing".to_owned(), |node| show(&node))
    }

    #[test]
    fn scalars_have_the_types_of_go_yaml_2() {
        for (source, expected) in [
            ("[yes, Off, y, 'yes', \"no\"]", "[true, false, true, \"yes\", \"no\"]"),
            ("[10, 010, 0o10, 0x1F, 0b11, 1_000, +5, -5]", "[10, 8, 8, 31, 3, 1000, 5, -5]"),
            ("[08, 1:30, 2026-01-15, 0x, 1__2]", "[8.0, \"1:30\", \"2026-01-15\", \"0x\", 12]"),
            ("[1.5, 1e3, .5, 5., '1.5', 1.2.3]", "[1.5, 1000.0, 0.5, 5.0, \"1.5\", \"1.2.3\"]"),
            ("[9223372036854775807, 18446744073709551615]", "[9223372036854775807, 1.8446744073709552e19]"),
            ("[~, null, '', { k: }]", "[null, null, \"\", {\"k\": null}]"),
            ("[!!str 5, !!int '5', !mine 5]", "[\"5\", 5, \"5\"]"),
            ("[--5, +-5, '']", "[\"--5\", \"+-5\", \"\"]"),
        ] {
            assert_eq!(read(source), expected, "{source}");
        }
    }

    #[test]
    fn only_the_first_document_counts() {
        assert_eq!(read("a: 1\n---\n: : not yaml: ["), "{\"a\": 1}");
        assert_eq!(read(""), "nothing");
        assert_eq!(read("# nothing\n"), "nothing");
        assert_eq!(read("\u{feff}a: 1"), "{\"a\": 1}");
    }

    #[test]
    fn aliases_and_merges_are_in_place() {
        assert_eq!(read("a: &x {p: 1}\nb: *x"), "{\"a\": {\"p\": 1}, \"b\": {\"p\": 1}}");
        assert_eq!(
            read("- &x {p: 1, q: 2}\n- {<<: *x, p: 3}"),
            "[{\"p\": 1, \"q\": 2}, {\"p\": 1, \"q\": 2, \"p\": 3}]"
        );
        // The first of a list wins: it comes last.
        assert_eq!(read("{<<: [{p: 1}, {p: 2}]}"), "{\"p\": 2, \"p\": 1}");
        assert!(parse("{<<: 5}").is_err());
        assert_eq!(read("{'<<': 5}"), "{\"<<\": 5}");
    }

    #[test]
    fn an_error_says_where() {
        let (at, text) = parse("a: 1\nb: 'open\n").expect_err("not closed");
        assert!(at.line >= 2 && !text.is_empty(), "{at:?} {text}");
        assert!(parse("a: *nobody").is_err());
    }

    #[test]
    fn no_document_exhausts_the_stack_or_the_memory() {
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse(&format!("{}{}", "[".repeat(250), "]".repeat(250))).is_ok());
        // Each anchor holds the one before it: the depth adds up.
        let mut deep = String::from("a0: &a0 [x]\n");
        for i in 1..200 {
            deep += &format!("a{i}: &a{i} {}*a{}{}\n", "[".repeat(20), i - 1, "]".repeat(20));
        }
        let (_, text) = parse(&deep).expect_err("too deep");
        assert!(text.contains("levels deep"), "{text}");
        let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for i in 1..12 {
            laughs += &format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", "));
        }
        let (_, text) = parse(&laughs).expect_err("too many");
        assert!(text.contains("aliases"), "{text}");
        assert!(parse("a: &a [*a]").is_err());
    }
}
