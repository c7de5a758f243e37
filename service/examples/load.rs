//! Load on a rate limit service, with as many keys as wanted: `load <address> <domain> <key> <keys> <seconds>`.
//!
//! h2load sends one fixed body, so all its requests have one key. Here each request has one descriptor, whose value is
//! one of `<keys>` in a random order: 10 connections, 10 requests at a time on each. It prints what `benches/service.py`
//! reads: how many requests were answered, and the percentiles 50 and 99 of their times in microseconds.
//!
//! ```text
//! cargo run --release --package rlaas --example load -- http://127.0.0.1:8081 web user 100000 2
//! ```

use std::error::Error;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use envoy_types::pb::envoy::extensions::common::ratelimit::v3::{RateLimitDescriptor, rate_limit_descriptor::Entry};
use envoy_types::pb::envoy::service::ratelimit::v3::RateLimitRequest;
use envoy_types::pb::envoy::service::ratelimit::v3::rate_limit_service_client::RateLimitServiceClient;
use foldhash::fast::FixedState;
use tonic::transport::{Channel, Endpoint};

const CONNECTIONS: u64 = 10;
const AT_ONCE: u64 = 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, domain, key, keys, seconds] = words.as_slice() else {
        return Err("load <address> <domain> <key> <keys> <seconds>".into());
    };
    let (keys, seconds) = (keys.parse::<u64>()?, seconds.parse::<f64>()?);
    let until = Instant::now() + Duration::try_from_secs_f64(seconds)?;

    let mut callers = Vec::new();
    for number in 0..CONNECTIONS {
        let channel = Endpoint::from_shared(address.clone())?.connect().await?;
        for caller in number * AT_ONCE..(number + 1) * AT_ONCE {
            callers.push(tokio::spawn(call(channel.clone(), domain.clone(), key.clone(), caller, keys, until)));
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

/// Sends one request after the other until then, and returns how long each took.
async fn call(
    channel: Channel,
    domain: String,
    key: String,
    caller: u64,
    keys: u64,
    until: Instant,
) -> Result<Vec<Duration>, tonic::Status> {
    let mut client = RateLimitServiceClient::new(channel);
    let mut times = Vec::new();
    for number in 0.. {
        let began = Instant::now();
        if began >= until {
            break;
        }
        let value = format!("value-{}", FixedState::default().hash_one((caller, number)) % keys);
        let entries = vec![Entry { key: key.clone(), value }];
        let descriptors = vec![RateLimitDescriptor { entries, ..Default::default() }];
        client.should_rate_limit(RateLimitRequest { domain: domain.clone(), descriptors, hits_addend: 0 }).await?;
        times.push(began.elapsed());
    }
    Ok(times)
}
