//! `RL.HELP`: one line for each command, made from its documentation.

use super::doc::SINCE;
use super::{Command, documentation};
use crate::error::Error;
use crate::ffi::{Args, Argument, ArgumentKind, CommandDoc, Ctx, KeySpec};

/// The command.
pub struct Help;

impl Command for Help {
    const DOC: CommandDoc = CommandDoc {
        flags: c"readonly fast allow-stale",
        acl: c"ratelimit read fast",
        summary: c"Replies the syntax of every command, with what it does.",
        complexity: c"O(1)",
        since: SINCE,
        arity: 1,
        keys: KeySpec::None,
        arguments: &[],
    };

    fn run<'c>(ctx: Ctx<'c>, mut args: Args<'c>) -> Result<(), Error> {
        if args.next().is_some() {
            return Err(Error::ARITY);
        }
        let mut lines = Vec::new();
        documentation(|name, doc| {
            let summary = doc.summary.to_str().unwrap_or_default();
            let syntax: String = doc.arguments.iter().map(|argument| format!(" {}", syntax_of(argument))).collect();
            lines.push(format!("{}{syntax}: {summary}", name.to_str().unwrap_or_default()));
        });
        ctx.reply_array(lines.len());
        lines.iter().for_each(|line| ctx.reply_bytes(line.as_bytes()));
        Ok(())
    }
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

#[cfg(test)]
mod tests {
    use super::super::doc::{COST, FORM, KEY};
    use super::*;

    #[test]
    fn syntax_is_that_of_the_redis_documentation() {
        let syntax = [KEY, COST, FORM, KEY.multiple()].iter().map(syntax_of).collect::<Vec<_>>().join(" ");
        assert_eq!(syntax, "key [COST cost] [FULL | HEADERS] key [key ...]");
    }
}
