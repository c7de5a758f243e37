//! What servers hold, so that two can be compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use redis::Cmd;

use super::calls::{Answer, text};
use crate::support::read;

/// The keys of a server: name, type, value and expiry. ARGV: names that may have expired. Looking at them deletes them,
/// so that a clock that steps back brings none of them back on one server only.
pub const DUMP: &str = r"
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, name in ipairs(ARGV) do redis.call('EXISTS', name) end
local all = {}
for _, name in ipairs(redis.call('KEYS', '*')) do
  local kind, value = redis.call('TYPE', name).ok, {}
  if kind == 'string' then value = { redis.call('GET', name) } end
  if kind == 'hash' then value = redis.call('HGETALL', name) end
  if kind == 'zset' then value = redis.call('ZRANGE', name, 0, -1, 'WITHSCORES') end
  local expiry = redis.pcall('PEXPIRETIME', name)
  if type(expiry) == 'table' then
    expiry = redis.call('PTTL', name)
    if expiry >= 0 then expiry = expiry + now end
  end
  -- Lua rounds a time from 2^53 on.
  table.insert(all, { name, kind, value, expiry < 2 ^ 53 and string.format('%.0f', expiry) or 'far away' })
end
return all
";

/// What [`DUMP`] says of an expiry that a double does not hold.
pub const FAR_AWAY: &str = "far away";

/// Type, value and expiry.
pub type Key = (String, Vec<Vec<u8>>, String);
pub type Keys = BTreeMap<Vec<u8>, Key>;

pub fn shown_keys(keys: &Keys) -> String {
    let mut all = String::new();
    for (name, (kind, value, expiry)) in keys {
        let value: Vec<_> = value.iter().map(|part| part.escape_ascii().to_string()).collect();
        writeln!(all, "  {} {kind} [{}] expires at {expiry}", name.escape_ascii(), value.join(" ")).expect("a string");
    }
    all
}

pub fn dump(names: &BTreeSet<Vec<u8>>) -> Cmd {
    redis::cmd("EVAL").arg(DUMP).arg(0).arg(names.iter().collect::<Vec<_>>()).to_owned()
}

pub fn keys_of(dumped: Answer) -> Keys {
    let Answer::Value(dumped) = dumped else { panic!("{dumped:?}") };
    /// The name, then as in [`Key`].
    pub type Line = (Vec<u8>, String, Vec<Vec<u8>>, String);
    let all: Vec<Line> = read(dumped);
    all.into_iter().map(|(name, kind, value, expiry)| (name, (kind, value, expiry))).collect()
}

/// The keys, without the numbers in the names of members: each side numbers the units of a millisecond in its own way.
pub fn comparable(keys: &Keys) -> Keys {
    with_members(keys, |name, ms| ms.map_or(name, str::as_bytes).to_vec())
}

/// The keys, without the names of units: a unit of a log has no name in memory.
pub fn without_names_of_units(keys: &Keys) -> Keys {
    with_members(keys, |name, ms| if ms.is_some() { Vec::new() } else { name.to_vec() })
}

/// The keys with fields and members in order: a large hash has no order that two servers share.
pub fn in_order(keys: &Keys) -> Keys {
    with_members(keys, |name, _| name.to_vec())
}

/// The keys with fields and members in order, and with other names of members. `rename` gets the name and, of a unit, the
/// millisecond in it.
fn with_members(keys: &Keys, rename: impl Fn(&[u8], Option<&str>) -> Vec<u8>) -> Keys {
    let mut keys = keys.clone();
    for (kind, value, _) in keys.values_mut() {
        if kind == "hash" || kind == "zset" {
            let pairs = value.chunks(2).map(|pair| {
                let name = text(&pair[0]);
                let unit = name.split_once("-0.").filter(|(ms, n)| {
                    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                    digits(ms) && digits(n)
                });
                let unit = unit.filter(|_| kind == "zset").map(|(ms, _)| ms);
                [&rename(&pair[0], unit)[..], &pair[1]].join(&b' ')
            });
            let mut pairs: Vec<Vec<u8>> = pairs.collect();
            pairs.sort();
            *value = pairs;
        }
    }
    keys
}
