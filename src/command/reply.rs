//! The replies in their forms.
//!
//! A reply is computed before any of it is written, so an error cannot cut it in half.

use std::cmp::Reverse;

use super::form::Form;
use crate::ffi::Ctx;
use arrayvec::ArrayVec;
use redis_rl_algorithm::{Figures, Micros, Policy, Verdict};

/// The largest integer of a structured header field (RFC 9651, section 3.3.1). A larger one voids the whole header.
const MAX_HEADER_INTEGER: u64 = 999_999_999_999_999;

/// Everything that a reply says of one limit.
pub struct Reply<'c> {
    /// The name of the policy in the headers.
    pub name: &'c str,
    pub policy: Policy,
    /// What the limit counts, if not requests.
    pub quota_unit: Option<&'static str>,
    /// The length of the current window.
    pub window_micros: u64,
    pub verdict: Verdict,
    /// The first integer of the reply.
    pub first: i64,
    /// Allowed by shadow mode.
    pub shadowed: bool,
    pub figures: Figures,
    pub now: Micros,
    /// The units that the call charged.
    pub charged: u64,
}

impl Reply<'_> {
    /// Writes the reply of one limit.
    pub fn write(&self, ctx: Ctx<'_>, form: Form) {
        match form {
            Form::Verdict => write_verdict(ctx, self.first, self.verdict),
            Form::Full => self.write_full(ctx),
            Form::Line => self.write_line(ctx),
            Form::Headers => {
                let texts = header_texts(std::slice::from_ref(self), 0);
                ctx.reply_array(4);
                write_three(ctx, self.first, self.verdict);
                write_strings(ctx, &texts);
            }
        }
    }

    /// The figures of FULL and LINE, in order. New figures are only ever added at the end.
    fn figures(&self) -> [(&'static str, i64); 12] {
        let Self { verdict, first, shadowed, figures, now, charged, .. } = self;
        [
            ("allowed", *first),
            ("count", verdict.count),
            ("ttl", verdict.ttl),
            ("limit", figures.limit.cast_signed()),
            ("remaining", figures.remaining.cast_signed()),
            ("retry_after_ms", figures.retry_after_ms),
            ("next_ms", figures.next_ms),
            ("reset_ms", figures.reset_ms),
            ("delay_ms", figures.delay_ms),
            ("now_ms", now.millis().cast_signed()),
            ("shadow", i64::from(*shadowed)),
            ("charged", charged.cast_signed()),
        ]
    }

    fn write_full(&self, ctx: Ctx<'_>) {
        let figures = self.figures();
        ctx.reply_map(figures.len());
        for (name, n) in figures {
            ctx.reply_bytes(name.as_bytes());
            ctx.reply_integer(n);
        }
    }

    fn write_line(&self, ctx: Ctx<'_>) {
        // The longest figure has 20 characters; a blank precedes all but the first.
        let mut line = ArrayVec::<u8, { 12 * 21 }>::new();
        let mut digits = itoa::Buffer::new();
        for (index, (_, n)) in self.figures().into_iter().enumerate() {
            if index > 0 {
                line.push(b' ');
            }
            match u8::try_from(n) {
                // Most figures are.
                Ok(digit @ 0..=9) => line.push(b'0' | digit),
                // It fits, see above.
                _ => _ = line.try_extend_from_slice(digits.format(n).as_bytes()),
            }
        }
        ctx.reply_bytes(&line);
    }
}

/// Writes `<allowed, count, ttl>`; `first` is the first of them.
pub fn write_verdict(ctx: Ctx<'_>, first: i64, verdict: Verdict) {
    ctx.reply_array(3);
    write_three(ctx, first, verdict);
}

fn write_three(ctx: Ctx<'_>, first: i64, Verdict { count, ttl, .. }: Verdict) {
    ctx.reply_integer(first);
    ctx.reply_integer(count);
    ctx.reply_integer(ttl);
}

/// Writes the reply of RL.MULTI or RL.SHARE: what was decided, the reply of each limit, and with HEADERS the headers, which
/// have the figures of the limit at `at`. `replies` is empty if the form is [`Form::Verdict`].
pub fn write_several(ctx: Ctx<'_>, form: Form, first: i64, verdicts: &[Verdict], replies: &[Reply<'_>], at: usize) {
    let headers = (form == Form::Headers).then(|| header_texts(replies, at));
    ctx.reply_array(if headers.is_some() { 3 } else { 2 });
    ctx.reply_integer(first);
    ctx.reply_array(verdicts.len());
    match form {
        Form::Full => replies.iter().for_each(|reply| reply.write_full(ctx)),
        Form::Line => replies.iter().for_each(|reply| reply.write_line(ctx)),
        Form::Verdict | Form::Headers => {
            verdicts.iter().for_each(|&verdict| write_verdict(ctx, verdict.allowed.into(), verdict));
        }
    }
    if let Some(texts) = headers {
        write_strings(ctx, &texts);
    }
}

fn write_strings(ctx: Ctx<'_>, texts: &[String]) {
    ctx.reply_array(texts.len());
    texts.iter().for_each(|text| ctx.reply_bytes(text.as_bytes()));
}

/// HTTP headers, names and values alternating: the customary `X-RateLimit-*`, and `RateLimit-Policy` and `RateLimit` as
/// in draft-ietf-httpapi-ratelimit-headers. With several limits, all policies are listed, and the other figures are
/// of the limit at `at`. Seconds are rounded up. A time that never comes is left out.
fn header_texts(replies: &[Reply<'_>], at: usize) -> Vec<String> {
    let names = unique(replies.iter().map(|reply| reply.name));
    let (Some(Reply { verdict, figures, now, .. }), Some(name)) = (replies.get(at), names.get(at)) else {
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
    let policies: Vec<_> = replies.iter().zip(&names).map(|(reply, name)| reply.policy_item(name)).collect();
    header("RateLimit-Policy", policies.join(", "));
    let more = seconds(figures.next_ms).map_or(String::new(), |next| format!(";t={}", next.min(MAX_HEADER_INTEGER)));
    let remaining = figures.remaining.min(MAX_HEADER_INTEGER);
    header("RateLimit", format!("\"{name}\";r={remaining}{more}"));
    if !verdict.allowed
        && let Some(retry) = seconds(figures.retry_after_ms)
    {
        header("Retry-After", retry.to_string());
    }
    texts
}

impl Reply<'_> {
    /// The policy in `RateLimit-Policy`. Its window is a whole number of seconds, so the limit of another window is
    /// given for the smallest whole multiple that is: 10 in 500 ms are 20 in 1 s.
    fn policy_item(&self, name: &str) -> String {
        if let Some(unit) = self.quota_unit {
            // The number of holders does not depend on the window.
            let quota = self.policy.limit.min(MAX_HEADER_INTEGER);
            let seconds = self.policy.window().seconds().min(MAX_HEADER_INTEGER);
            return format!("\"{name}\";q={quota};w={seconds};qu=\"{unit}\"");
        }
        let (seconds, windows) = whole_seconds(self.window_micros / 1_000);
        let limit = self.policy.limit.saturating_mul(windows);
        let [quota, seconds] = [limit, seconds].map(|n| n.min(MAX_HEADER_INTEGER));
        format!("\"{name}\";q={quota};w={seconds}")
    }

    /// Sort key: the smallest is the strictest limit. Denied before allowed, then the longest wait, then the least
    /// remaining.
    fn strictness(&self) -> (bool, Reverse<u64>, u64) {
        // −1 (never) becomes the largest.
        let retry = self.figures.retry_after_ms.cast_unsigned();
        (self.verdict.allowed, Reverse(retry), self.figures.remaining)
    }
}

/// Where the strictest limit is.
pub fn strictest(replies: &[Reply<'_>]) -> usize {
    replies.iter().zip(0..).min_by_key(|(reply, _)| reply.strictness()).map_or(0, |(_, at)| at)
}

/// Where the limit is that allows its request again first. One that never does comes last.
pub fn soonest(replies: &[Reply<'_>]) -> usize {
    let retry = |reply: &Reply<'_>| reply.figures.retry_after_ms.cast_unsigned();
    replies.iter().zip(0..).min_by_key(|(reply, _)| retry(reply)).map_or(0, |(_, at)| at)
}

/// The names of policies, each its own: the second of a name becomes `name-2`, and so on.
fn unique<'n>(given: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in given {
        let numbered = (2..).map(|number: u64| format!("{name}-{number}"));
        let name = std::iter::once(name.to_string()).chain(numbered).find(|name| !names.contains(name));
        names.extend(name);
    }
    names
}

/// The shortest whole number of seconds that is a multiple of `millis`, and that multiple.
fn whole_seconds(millis: u64) -> (u64, u64) {
    let windows = (1..=1_000u64).find(|windows| millis.saturating_mul(*windows).is_multiple_of(1_000)).unwrap_or(1);
    (millis.saturating_mul(windows) / 1_000, windows)
}
