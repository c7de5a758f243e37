//! `POST /api/check`: one request under one policy.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use redis_rl_client::{Algorithm, Decision, InvalidPolicy, Limiter, Policy, RetryAfter, Source, Window};
use serde::{Deserialize, Serialize};

/// The longest time that a request may hold a lease.
const MAX_WORK_MS: u64 = 60_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Such as `TOKEN`.
    algorithm: String,
    window_ms: u64,
    limit: u64,
    /// For TOKEN, LEAKY and GCRA; the limit if not given.
    burst: Option<u64>,
    /// What the page calls itself: 1 to 64 letters, digits and hyphens.
    key: String,
    /// For LEASE: how long the request holds its lease.
    #[serde(default)]
    work_ms: u64,
}

/// The body of a reply.
#[derive(Serialize)]
struct Outcome {
    allowed: bool,
    count: i64,
    limit: u64,
    remaining: u64,
    /// 0 for now, −1 for never.
    retry_after_ms: i64,
    /// 0 if the whole limit is available, −1 for never.
    reset_after_ms: i64,
    delay_ms: i64,
    now_ms: u64,
    /// `server`, or `client` for a denial that the client remembers.
    decided_by: &'static str,
    /// The command that asks the server.
    command: String,
}

/// The body of a reply to a request that could not be checked.
#[derive(Serialize)]
struct Failure {
    error: String,
    /// The field of the page that is wrong, if one is.
    field: Option<&'static str>,
}

/// Status 200 or 429 with the headers of the decision; 400 if the request is invalid, 503 if there is no decision.
pub async fn check(State(limiter): State<Limiter>, body: Result<Json<Check>, JsonRejection>) -> Response {
    let check = match body {
        Ok(Json(check)) => check,
        Err(rejection) => return failure(StatusCode::BAD_REQUEST, None, rejection.body_text()),
    };
    let policy = match check.policy() {
        Ok(policy) => policy,
        Err((field, text)) => return failure(StatusCode::BAD_REQUEST, Some(field), text),
    };
    // No algorithm reads the state of another.
    let key = format!("playground:{}:{}", check.key, check.algorithm);
    let command = check.command(&key);
    let result = if policy.algorithm() == Algorithm::Lease {
        lease(limiter, policy, key, Duration::from_millis(check.work_ms)).await
    } else {
        limiter.check(&policy, &key).await
    };
    match result {
        Ok(decision) => reply(&decision, command),
        Err(error) => failure(StatusCode::SERVICE_UNAVAILABLE, None, error.to_string()),
    }
}

impl Check {
    /// The command as the client sends it. (A test compares it with what MONITOR shows.)
    fn command(&self, key: &str) -> String {
        let Self { algorithm, window_ms, limit, burst, .. } = self;
        let burst = burst.map_or(String::new(), |burst| format!(" BURST {burst}"));
        let window = if window_ms % 1000 == 0 { (window_ms / 1000).to_string() } else { format!("{window_ms}ms") };
        let id = if algorithm == "LEASE" { " ID …" } else { "" };
        format!("RL.{algorithm} {key} {window} {limit}{burst}{id} LINE")
    }

    /// The policy, or the field that is wrong and why.
    fn policy(&self) -> Result<Policy, (&'static str, String)> {
        let algorithm = Algorithm::ALL.into_iter().find(|algorithm| algorithm.word() == self.algorithm);
        let algorithm = algorithm.ok_or_else(|| ("algorithm", format!("no such algorithm: {}", self.algorithm)))?;
        let key = &self.key;
        if !(1..=64).contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(("key", "invalid key: expected 1 to 64 letters, digits and hyphens".to_owned()));
        }
        if self.work_ms > MAX_WORK_MS {
            return Err(("work", format!("a request can hold its lease for {MAX_WORK_MS} ms at most")));
        }
        let invalid = |field| move |error: InvalidPolicy| (field, error.to_string());
        let window = Window::Length(Duration::from_millis(self.window_ms));
        Policy::new(algorithm, window, 0).map_err(invalid("window"))?;
        let policy = Policy::new(algorithm, window, self.limit).map_err(invalid("limit"))?;
        self.burst.map_or(Ok(policy), |burst| policy.try_burst(burst).map_err(invalid("burst")))
    }
}

/// Requests a lease, and releases it after `work`.
async fn lease(
    limiter: Limiter,
    policy: Policy,
    key: String,
    work: Duration,
) -> Result<Decision, redis_rl_client::Error> {
    // The key differs from page to page, so a number is enough.
    static HOLDER: AtomicU64 = AtomicU64::new(0);
    let id = HOLDER.fetch_add(1, Ordering::Relaxed).to_string();
    let decision = limiter.check_request(&policy.request(&key).id(&id)).await?;
    if decision.allowed {
        tokio::spawn(async move {
            tokio::time::sleep(work).await;
            // If it fails, the lease ends by itself after the window.
            let _ = limiter.release(&policy, &key, &id).await;
        });
    }
    Ok(decision)
}

fn reply(decision: &Decision, command: String) -> Response {
    let status = if decision.allowed { StatusCode::OK } else { StatusCode::TOO_MANY_REQUESTS };
    let headers: HeaderMap = decision
        .headers()
        .into_iter()
        .filter_map(|(name, value)| {
            Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(&value).ok()?))
        })
        .collect();
    let outcome = Outcome {
        allowed: decision.allowed,
        count: decision.count,
        limit: decision.limit,
        remaining: decision.remaining,
        retry_after_ms: match decision.retry_after {
            RetryAfter::Now => 0,
            RetryAfter::After(wait) => millis(wait),
            RetryAfter::Never => -1,
        },
        reset_after_ms: decision.reset_after.map_or(-1, millis),
        delay_ms: millis(decision.delay),
        now_ms: decision.now_ms,
        command,
        decided_by: if decision.source == Source::Server { "server" } else { "client" },
    };
    (status, headers, Json(outcome)).into_response()
}

fn failure(status: StatusCode, field: Option<&'static str>, error: String) -> Response {
    (status, Json(Failure { error, field })).into_response()
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
