//! `RL.HELP [command]`: one line for each command, or one command in full. Both are made from the documentation of the
//! commands.

use super::doc::SINCE;
use super::options::Keyword;
use super::{Command, documentation};
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, CommandDoc, Ctx, KeySpec};

/// The command.
pub struct Help;

impl Command for Help {
    const DOC: CommandDoc = CommandDoc {
        flags: c"readonly fast allow-stale",
        acl: c"ratelimit read fast",
        summary: c"Replies the syntax of every command, or describes one of them.",
        complexity: c"O(1)",
        since: SINCE,
        keys: KeySpec::None,
        arguments: &[Argument::new(c"command", ArgumentKind::String).optional()],
        example: "RL.HELP TOKEN",
    };

    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        let command = args.next().map(|word| word.bytes());
        if !args.is_empty() {
            return Err(Error::ARITY);
        }
        let mut lines = Vec::new();
        documentation(|name, doc| {
            let name = name.to_str().unwrap_or_default();
            match command {
                None => lines.push(summary(name, doc)),
                Some(word) if is_named(name, word) => lines.extend(description(name, doc)),
                Some(_) => {}
            }
        });
        if lines.is_empty() {
            return Err(Error::HELP);
        }
        ctx.reply_array(lines.len());
        lines.iter().for_each(|line| ctx.reply_bytes(line.as_bytes()));
        Ok(())
    }
}

/// Whether a word names a command: `RL.TOKEN`, or `TOKEN`, in any case.
fn is_named(name: &str, word: &[u8]) -> bool {
    let short = name.strip_prefix("RL.").unwrap_or(name);
    word.eq_ignore_ascii_case(name.as_bytes()) || word.eq_ignore_ascii_case(short.as_bytes())
}

fn syntax(name: &str, doc: &CommandDoc) -> String {
    let arguments: String = doc.arguments.iter().map(|argument| format!(" {}", syntax_of(argument))).collect();
    format!("{name}{arguments}")
}

fn summary(name: &str, doc: &CommandDoc) -> String {
    format!("{}: {}", syntax(name, doc), doc.summary.to_str().unwrap_or_default())
}

/// Everything about a command: a line for the syntax, then what it does, each argument that needs words, an example.
fn description(name: &str, doc: &CommandDoc) -> Vec<String> {
    let mut lines = vec![syntax(name, doc), doc.summary.to_str().unwrap_or_default().to_owned()];
    let mut has_anchor = false;
    let mut arguments = Vec::new();
    for argument in doc.arguments {
        // The limits of RL.MULTI have arguments of their own. A block with a token is an option.
        match argument.kind {
            ArgumentKind::Block(inner) if argument.token.is_none() => arguments.extend(inner),
            _ => arguments.push(argument),
        }
    }
    for argument in &arguments {
        let token = argument.token.map_or("", |token| token.to_str().unwrap_or_default());
        has_anchor |= token == "ANCHOR";
        match (argument.name.to_bytes(), Keyword::help_line(token)) {
            (_, Some(line)) => lines.push(line),
            (b"window", None) => lines.push(
                "window: seconds, or an integer with a unit: 500ms, 10s, 5m, 1h, 1d. It is at least 1 ms.".to_owned(),
            ),
            (b"limit", None) => lines.push("limit: an integer of 0 or more; 0 denies everything.".to_owned()),
            _ => {}
        }
    }
    if has_anchor {
        lines.push("FIXED also takes the windows of the calendar: day, week, month, year.".to_owned());
    }
    lines.push(format!("Example: {}", doc.example));
    lines
}

/// An argument as the documentation of Redis writes it: `[COST cost]`, `<FULL | HEADERS>`, `key [key ...]`.
fn syntax_of(argument: &Argument) -> String {
    let text = |text: &'static std::ffi::CStr| text.to_str().unwrap_or_default();
    let name = text(argument.name);
    let joined = |inner: &[Argument], by: &str| inner.iter().map(syntax_of).collect::<Vec<_>>().join(by);
    let value = match argument.kind {
        ArgumentKind::Token => String::new(),
        ArgumentKind::OneOf(inner) if argument.optional => joined(inner, " | "),
        ArgumentKind::OneOf(inner) => format!("<{}>", joined(inner, " | ")),
        ArgumentKind::Block(inner) => joined(inner, " "),
        ArgumentKind::Key | ArgumentKind::String | ArgumentKind::Integer => name.to_owned(),
    };
    let token = argument.token.map_or("", text);
    let one = [token, &value].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let all = if argument.multiple { format!("{one} [{one} ...]") } else { one };
    if argument.optional { format!("[{all}]") } else { all }
}
