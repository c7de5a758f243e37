//! The three forms of an answer.

use std::fmt::Write;

use crate::ffi::Ctx;
use crate::limit::{Figures, Micros, Quota, Verdict};

/// What the client wants to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `<allowed, count, ttl>`
    Triple,
    /// A map of all figures.
    Full,
    /// The three, and HTTP headers ready to copy.
    Headers,
}

impl Form {
    pub fn from_word(word: &[u8]) -> Option<Self> {
        if word.eq_ignore_ascii_case(b"FULL") {
            Some(Self::Full)
        } else if word.eq_ignore_ascii_case(b"HEADERS") {
            Some(Self::Headers)
        } else {
            None
        }
    }

    pub fn wants_figures(self) -> bool {
        self != Self::Triple
    }
}

/// All there is to say of one limit.
pub struct Answer {
    /// The algorithm's word in the grammar.
    pub name: &'static str,
    pub quota: Quota,
    pub verdict: Verdict,
    /// Where the form wants them.
    pub figures: Option<Figures>,
    pub now: Micros,
}

pub fn answer(ctx: Ctx<'_>, form: Form, answer: &Answer) {
    let Verdict { allowed, count, ttl } = answer.verdict;
    match (&answer.figures, form) {
        (Some(figures), Form::Full) => {
            let pairs = [
                ("allowed", i64::from(allowed)),
                ("count", count),
                ("ttl", ttl),
                ("limit", figures.limit.cast_signed()),
                ("remaining", figures.remaining.cast_signed()),
                ("retry_after_ms", figures.retry_after_ms),
                ("next_ms", figures.next_ms),
                ("reset_ms", figures.reset_ms),
                ("delay_ms", figures.delay_ms),
                ("now_ms", answer.now.millis().cast_signed()),
            ];
            ctx.reply_map(pairs.len());
            for (name, n) in pairs {
                ctx.reply_bytes(name.as_bytes());
                ctx.reply_integer(n);
            }
        }
        (Some(figures), Form::Headers) => {
            ctx.reply_array(4);
            integers(ctx, answer.verdict);
            let headers = headers(answer, figures);
            ctx.reply_array(headers.len());
            headers.iter().for_each(|text| ctx.reply_bytes(text.as_bytes()));
        }
        _ => {
            ctx.reply_array(3);
            integers(ctx, answer.verdict);
        }
    }
}

fn integers(ctx: Ctx<'_>, Verdict { allowed, count, ttl }: Verdict) {
    ctx.reply_integer(i64::from(allowed));
    ctx.reply_integer(count);
    ctx.reply_integer(ttl);
}

/// Names and values in turn: the customary `X-RateLimit-*`, and `RateLimit-Policy` and `RateLimit` as in
/// draft-ietf-httpapi-ratelimit-headers. Seconds are rounded up; what never comes is left out.
fn headers(answer: &Answer, figures: &Figures) -> Vec<String> {
    let mut headers = Vec::new();
    let mut header = |name: &str, value: String| headers.extend([name.to_owned(), value]);
    let name = answer.name.to_ascii_lowercase();
    let Quota { window, limit, .. } = answer.quota;
    let seconds = |millis: i64| u64::try_from(millis).ok().map(|millis| millis.div_ceil(1_000));

    header("X-RateLimit-Limit", figures.limit.to_string());
    header("X-RateLimit-Remaining", figures.remaining.to_string());
    if let Ok(reset) = u64::try_from(figures.reset_ms) {
        let at = answer.now.millis().saturating_add(reset).div_ceil(1_000);
        header("X-RateLimit-Reset", at.to_string());
    }
    header("RateLimit-Policy", format!("\"{name}\";q={limit};w={}", window.seconds()));
    let mut state = format!("\"{name}\";r={}", figures.remaining);
    if let Some(next) = seconds(figures.next_ms) {
        // Writing to a String cannot fail.
        let _ = write!(state, ";t={next}");
    }
    header("RateLimit", state);
    if !answer.verdict.allowed
        && let Some(retry) = seconds(figures.retry_after_ms)
    {
        header("Retry-After", retry.to_string());
    }
    headers
}
