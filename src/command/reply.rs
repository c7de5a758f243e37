//! The three forms of an answer.
//!
//! All that is said is reckoned before the first word: what goes wrong on the way is then an error of its own, and not
//! the end of half an answer.

use std::cmp::Reverse;

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
}

/// All there is to say of a decision.
pub struct Answer {
    /// The algorithm's word in the grammar.
    pub name: &'static str,
    pub quota: Quota,
    pub verdict: Verdict,
    pub figures: Figures,
    pub now: Micros,
}

pub fn triple(ctx: Ctx<'_>, verdict: Verdict) {
    ctx.reply_array(3);
    integers(ctx, verdict);
}

/// The answer in a form other than [`Form::Triple`].
pub fn with_figures(ctx: Ctx<'_>, form: Form, answer: &Answer) {
    match form {
        Form::Triple => triple(ctx, answer.verdict),
        Form::Full => full(ctx, answer),
        Form::Headers => {
            let texts = header_texts(std::slice::from_ref(answer));
            ctx.reply_array(4);
            integers(ctx, answer.verdict);
            strings(ctx, &texts);
        }
    }
}

/// The answer of several limits; the figures of each where the form is not [`Form::Triple`].
pub fn several(ctx: Ctx<'_>, form: Form, allowed: bool, verdicts: &[Verdict], answers: &[Answer]) {
    let texts = (form == Form::Headers).then(|| header_texts(answers));
    ctx.reply_array(if texts.is_some() { 3 } else { 2 });
    ctx.reply_integer(i64::from(allowed));
    ctx.reply_array(verdicts.len());
    if form == Form::Full {
        answers.iter().for_each(|answer| full(ctx, answer));
    } else {
        verdicts.iter().for_each(|&verdict| triple(ctx, verdict));
    }
    if let Some(texts) = texts {
        strings(ctx, &texts);
    }
}

fn full(ctx: Ctx<'_>, Answer { verdict, figures, now, .. }: &Answer) {
    let pairs = [
        ("allowed", i64::from(verdict.allowed)),
        ("count", verdict.count),
        ("ttl", verdict.ttl),
        ("limit", figures.limit.cast_signed()),
        ("remaining", figures.remaining.cast_signed()),
        ("retry_after_ms", figures.retry_after_ms),
        ("next_ms", figures.next_ms),
        ("reset_ms", figures.reset_ms),
        ("delay_ms", figures.delay_ms),
        ("now_ms", now.millis().cast_signed()),
    ];
    ctx.reply_map(pairs.len());
    for (name, n) in pairs {
        ctx.reply_bytes(name.as_bytes());
        ctx.reply_integer(n);
    }
}

fn integers(ctx: Ctx<'_>, Verdict { allowed, count, ttl }: Verdict) {
    ctx.reply_integer(i64::from(allowed));
    ctx.reply_integer(count);
    ctx.reply_integer(ttl);
}

fn strings(ctx: Ctx<'_>, texts: &[String]) {
    ctx.reply_array(texts.len());
    texts.iter().for_each(|text| ctx.reply_bytes(text.as_bytes()));
}

/// HTTP headers, names and values in turn: the customary `X-RateLimit-*`, and `RateLimit-Policy` and `RateLimit` as in
/// draft-ietf-httpapi-ratelimit-headers. Of several limits all policies are listed, and all else is said of the one
/// that binds most. Seconds are rounded up; what never comes is left out.
fn header_texts(answers: &[Answer]) -> Vec<String> {
    let Some(Answer { name, verdict, figures, now, .. }) = answers.iter().min_by_key(|answer| answer.slack()) else {
        return Vec::new();
    };
    let mut texts = Vec::new();
    let mut header = |name: &str, value: String| texts.extend([name.to_owned(), value]);
    let seconds = |millis: i64| u64::try_from(millis).ok().map(|millis| millis.div_ceil(1_000));

    header("X-RateLimit-Limit", figures.limit.to_string());
    header("X-RateLimit-Remaining", figures.remaining.to_string());
    if let Ok(reset) = u64::try_from(figures.reset_ms) {
        let at = now.millis().saturating_add(reset).div_ceil(1_000);
        header("X-RateLimit-Reset", at.to_string());
    }
    let policies: Vec<_> = answers.iter().map(Answer::policy).collect();
    header("RateLimit-Policy", policies.join(", "));
    let more = seconds(figures.next_ms).map_or(String::new(), |next| format!(";t={next}"));
    header("RateLimit", format!("\"{}\";r={}{more}", name.to_ascii_lowercase(), figures.remaining));
    if !verdict.allowed
        && let Some(retry) = seconds(figures.retry_after_ms)
    {
        header("Retry-After", retry.to_string());
    }
    texts
}

impl Answer {
    fn policy(&self) -> String {
        let Quota { window, limit, .. } = self.quota;
        format!("\"{}\";q={limit};w={}", self.name.to_ascii_lowercase(), window.seconds())
    }

    /// The less, the more this limit binds: first those that deny, the longer the more, then the least that remains.
    fn slack(&self) -> (bool, Reverse<u64>, u64) {
        // -1, never, is the longest.
        let retry = self.figures.retry_after_ms.cast_unsigned();
        (self.verdict.allowed, Reverse(retry), self.figures.remaining)
    }
}
