//! Rate limiting as native commands of Redis and Valkey.
