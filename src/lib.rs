//! Rate limiting as native commands of Redis and Valkey.

pub mod limit;
