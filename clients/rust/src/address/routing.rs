//! Which node of a cluster gets a command.

use redis::{ErrorKind, RedisError, RedisResult, ServerErrorKind, Value};

use crate::key::around_tag;

/// How many slots a cluster has.
const SLOTS: u16 = 16_384;

/// The slot of a key.
pub fn slot(key: &[u8]) -> u64 {
    let hashed = around_tag(key).map_or(key, |(_, tag, _)| tag);
    u64::from(crc16::State::<crc16::XMODEM>::calculate(hashed) % SLOTS)
}

/// The error after the last redirection. The nodes name one that is away, or do not agree, so the cluster cannot decide now:
/// CLUSTERDOWN says so. MOVED and ASK would say that the call is wrong.
pub fn given_up(error: RedisError) -> RedisError {
    if [ServerErrorKind::Moved, ServerErrorKind::Ask].into_iter().any(|kind| error.kind() == kind.into()) {
        return RedisError::from((ServerErrorKind::ClusterDown.into(), "redirected too often", error.to_string()));
    }
    error
}

/// The host and the port of a node.
pub type Node = (String, u16);

/// Slots of one node: from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    first: u64,
    last: u64,
    pub node: Node,
}

/// The node that has a slot.
pub fn owner(ranges: &[Range], slot: u64) -> Option<&Node> {
    let at = ranges.partition_point(|range| range.last < slot);
    ranges.get(at).filter(|range| range.first <= slot).map(|range| &range.node)
}

/// The reply to CLUSTER SLOTS: ranges with their primary and its replicas. A node without a name is the one that replied.
pub fn ranges(reply: &Value, host: &str) -> RedisResult<Vec<Range>> {
    let no_map = || RedisError::from((ErrorKind::Parse, "the reply is no map of the slots"));
    let range = |range: &Value| {
        let Value::Array(range) = range else { return None };
        let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = range.as_slice() else { return None };
        let [name, Value::Int(port), ..] = primary.as_slice() else { return None };
        let name = match name {
            Value::BulkString(name) if !name.is_empty() => String::from_utf8(name.clone()).ok()?,
            _ => host.to_owned(),
        };
        let (first, last) = (u64::try_from(*first).ok()?, u64::try_from(*last).ok()?);
        Some(Range { first, last, node: (name, u16::try_from(*port).ok()?) })
    };
    let Value::Array(all) = reply else { return Err(no_map()) };
    let mut ranges = all.iter().map(range).collect::<Option<Vec<_>>>().ok_or_else(no_map)?;
    ranges.sort_unstable_by_key(|range| range.first);
    Ok(ranges)
}

/// The node that MOVED or ASK names.
pub fn redirected(error: &RedisError) -> Option<Node> {
    let (host, port) = error.redirect_node()?.0.rsplit_once(':')?;
    // An empty host is that of the node which replied. Then the map says more.
    (!host.is_empty()).then_some((host.to_owned(), port.parse().ok()?))
}

/// Whether the next command for the node that the error names needs ASKING before it.
pub fn is_ask(error: &RedisError) -> bool {
    error.kind() == ServerErrorKind::Ask.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_slot() {
        for (key, expected) in [("foo", 12_182), ("{foo}bar", 12_182), ("", 0), ("123456789", 12_739)] {
            assert_eq!(slot(key.as_bytes()), expected, "{key}");
        }
    }

    #[test]
    fn the_map_says_who_has_a_slot() {
        let reply = "*3\r\n*4\r\n:5\r\n:9\r\n*3\r\n$1\r\nb\r\n:2\r\n$2\r\nid\r\n*2\r\n$1\r\nz\r\n:9\r\n\
                     *3\r\n:0\r\n:3\r\n*2\r\n$0\r\n\r\n:1\r\n*3\r\n:10\r\n:16383\r\n*2\r\n$-1\r\n:3\r\n";
        let map = ranges(&redis::parse_redis_value(reply.as_bytes()).unwrap(), "a").unwrap();
        let owner = |slot| owner(&map, slot).map(|(host, port)| (host.as_str(), *port));
        let expected = [Some(("a", 1)), Some(("a", 1)), None, Some(("b", 2)), Some(("b", 2)), Some(("a", 3))];
        assert_eq!([0, 3, 4, 5, 9, 10].map(owner), expected);
        assert!(owner(16_383).is_some() && owner(16_384).is_none());
        assert!(ranges(&Value::Okay, "a").is_err());
    }

    #[test]
    fn redirections_without_an_end_are_no_fault_of_the_request() {
        for (reply, code) in
            [("-MOVED 1 a:1\r\n", "CLUSTERDOWN"), ("-ASK 1 a:1\r\n", "CLUSTERDOWN"), ("-ERR no\r\n", "ERR")]
        {
            let error = redis::parse_redis_value(reply.as_bytes()).and_then(redis::Value::extract_error).unwrap_err();
            assert_eq!(given_up(error).code(), Some(code), "{reply}");
        }
    }
}
