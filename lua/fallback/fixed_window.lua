-- Fixed window counter in pure Lua, for a server that cannot load the module: RL.FIXED's keys, values and replies.
-- KEYS and ARGV are those of the script that it replaces. rl.lua has all algorithms and commands.
--
-- KEYS  key
-- ARGV  window (seconds, or with a unit: ms, s, m, h, d), limit
-- Reply {allowed 0 or 1, counter after this request, TTL of the counter in seconds}
--
-- The counter is at `<key>:<bucket>`: a key that is not declared, as in the script that this replaces. In cluster mode
-- it must stay in the slot of `key`, so for a key without a hash tag it is at `{<key>}:<bucket>`. An ACL user needs
-- permission for these keys, and for INFO if keys have no hash tag (without INFO, the script assumes no cluster). Lua's
-- numbers are doubles, so the reply rounds a counter beyond 2^53. What is counted and allowed is exact.

local UNITS = { ms = 1, [''] = 1000, s = 1000, m = 60000, h = 3600000, d = 86400000 }
local MAX_WINDOW = 1e15 -- milliseconds; everything below 2^53 is exact
local MAX_LIMIT = '9223372036854775807'
local EXACT = 2 ^ 53 -- from here on, doubles skip integers
local MAX_REPLY = 2 ^ 63 - 1024 -- the largest double that is a reply

-- The text, if it is a number as the server takes them; else nil.
local function digits(text)
  return (text == '0' or text:find('^[1-9]%d*$')) and text or nil
end

local function window_millis(text)
  local number, unit = text:match('^(%d+)(%l*)$')
  local millis = number and digits(number) and UNITS[unit] and tonumber(number) * UNITS[unit]
  return millis and millis >= 1 and millis <= MAX_WINDOW and millis or nil
end

-- Whether one number is at most another. Both are digits, so this is exact at any size.
local function at_most(one, other)
  return #one < #other or (#one == #other and one <= other)
end

-- The limit as digits, or nil.
local function limit_digits(text)
  local number = digits(text)
  return number and at_most(number, MAX_LIMIT) and number or nil
end

-- Whether a stored value is a counter below 0, written as INCR takes it.
local function is_negative(value)
  local magnitude = value and value:match('^%-([1-9]%d*)$')
  return magnitude and at_most(magnitude, '9223372036854775808')
end

-- The part of the key that the cluster hashes instead of the whole, or nil.
local function hash_tag(key)
  local open = key:find('{', 1, true)
  local close = open and key:find('}', open + 1, true)
  return close and close > open + 1 and key:sub(open + 1, close - 1) or nil
end

local function in_cluster()
  local info = redis.pcall('INFO', 'cluster')
  return type(info) == 'string' and info:find('cluster_enabled:1', 1, true) ~= nil
end

if #KEYS ~= 1 or #ARGV ~= 2 then
  return redis.error_reply('ERR wrong number of arguments')
end
local key = KEYS[1]
local window = window_millis(ARGV[1])
if not window then
  return redis.error_reply(
    'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds; or day, week, month or year'
  )
end
local limit = limit_digits(ARGV[2])
if not limit then
  return redis.error_reply('ERR invalid limit: expected an integer from 0 to ' .. MAX_LIMIT)
end
if key:sub(-9) == ':reserved' or key:sub(-14) == ':reserved:ends' then
  return redis.error_reply(
    'ERR invalid key: expected one that ends neither in :reserved nor in :reserved:ends, the names of reservations'
  )
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bucket = string.format(':%.0f', math.floor(now / window))
local counter = key .. bucket
if not hash_tag(key) and in_cluster() then
  counter = '{' .. key .. '}' .. bucket
  if hash_tag(counter) ~= key then
    return redis.error_reply(
      'ERR invalid key: in a cluster FIXED needs a key that is not empty and has no brace outside a hash tag'
    )
  end
end

-- A limit of 0 denies everything. It does not count on a counter below 0, which is not full.
local count, becomes_one
if limit == '0' then
  local value = redis.pcall('GET', counter)
  if type(value) == 'table' then
    return value
  end
  count = is_negative(value) and tonumber(value)
end
if not count then
  -- An error if the value has another type, is no integer or would overflow. It then changes nothing.
  count = redis.pcall('INCR', counter)
  if type(count) == 'table' then
    return count
  end
  becomes_one = count == 1
end

local allowed = limit ~= '0' and count <= tonumber(limit)
if count >= EXACT then
  allowed = at_most(redis.call('GET', counter), limit)
end
-- As in the script, a counter that becomes 1 gets a new expiry. A counter without an expiry gets one as well.
if becomes_one or redis.call('PTTL', counter) == -1 then
  redis.call('PEXPIREAT', counter, string.format('%.0f', now + window))
end
return { allowed and 1 or 0, math.min(count, MAX_REPLY), redis.call('TTL', counter) }
