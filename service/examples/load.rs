//! Load on a rate limit service, with as many keys as wanted: `load <address> <domain> <key> <keys> <descriptors>
//! <rate> <seconds>`.
//!
//! h2load sends one fixed body, so all its requests have one key. Here each request has `<descriptors>` descriptors, whose
//! values are some of `<keys>` in a random order: 10 connections, 10 requests at a time on each, in all `<rate>` a second,
//! or as many as there can be if that is 0. It prints what `benches/service.py` reads: how many requests had a reply, and
//! the percentiles 50 and 99 of their times in microseconds.
//!
//! ```text
//! cargo run --profile service --package rlaas --example load -- http://127.0.0.1:8081 web user 100000 1 0 2
//! ```

use std::error::Error;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::{RateLimitDescriptor, rate_limit_descriptor::Entry};
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_service_client::RateLimitServiceClient;
use foldhash::fast::FixedState;
use tokio::time::sleep_until;
use tonic::transport::{Channel, Endpoint};

const CONNECTIONS: u64 = 10;
const AT_ONCE: u64 = 10;
const CALLERS: u64 = CONNECTIONS * AT_ONCE;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, domain, key, keys, descriptors, rate, seconds] = words.as_slice() else {
        return Err("load <address> <domain> <key> <keys> <descriptors> <rate> <seconds>".into());
    };
    let rate = rate.parse::<f64>()?;
    let load = Arc::new(Load {
        domain: domain.clone(),
        key: key.clone(),
        keys: keys.parse()?,
        descriptors: descriptors.parse()?,
        pause: if rate > 0.0 { Duration::try_from_secs_f64(CALLERS as f64 / rate)? } else { Duration::ZERO },
        until: Instant::now() + Duration::try_from_secs_f64(seconds.parse()?)?,
    });

    let mut callers = Vec::new();
    for number in 0..CONNECTIONS {
        let channel = Endpoint::from_shared(address.clone())?.connect().await?;
        for caller in number * AT_ONCE..(number + 1) * AT_ONCE {
            callers.push(tokio::spawn(call(channel.clone(), load.clone(), caller)));
        }
    }
    let mut times = Vec::new();
    for caller in callers {
        times.extend(caller.await??);
    }
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).map_or(0, Duration::as_micros);
    println!("{} {} {}", times.len(), at(50), at(99));
    Ok(())
}

/// What is sent.
struct Load {
    domain: String,
    key: String,
    keys: u64,
    descriptors: u64,
    /// The time from one request of a caller to its next.
    pause: Duration,
    until: Instant,
}

/// Sends one request after the other, and returns how long each took.
async fn call(channel: Channel, load: Arc<Load>, caller: u64) -> Result<Vec<Duration>, tonic::Status> {
    let mut client = RateLimitServiceClient::new(channel);
    let mut times = Vec::new();
    // Callers with a pause do not all send at once.
    let mut next = Instant::now() + load.pause.mul_f64(caller as f64 / CALLERS as f64);
    for number in 0.. {
        if !load.pause.is_zero() {
            sleep_until(next.into()).await;
            next += load.pause;
        }
        let began = Instant::now();
        if began >= load.until {
            break;
        }
        let value = |n| format!("value-{}", FixedState::default().hash_one((caller, number, n)) % load.keys);
        let entries = |n| vec![Entry { key: load.key.clone(), value: value(n) }];
        let descriptors =
            (0..load.descriptors).map(|n| RateLimitDescriptor { entries: entries(n), ..Default::default() });
        let request =
            RateLimitRequest { domain: load.domain.clone(), descriptors: descriptors.collect(), hits_addend: 0 };
        client.should_rate_limit(request).await?;
        times.push(began.elapsed());
    }
    Ok(times)
}
