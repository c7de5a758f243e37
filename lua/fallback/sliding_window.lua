-- Sliding window log in pure Lua, for a server that cannot load the module: RL.SLIDING's key, members and replies.
-- KEYS and ARGV are those of the script that it replaces. rl.lua has all algorithms and commands.
--
-- KEYS  key
-- ARGV  now (ms; ignored, the server's clock is used), window (seconds, or with a unit: ms, s, m, h, d), limit
-- Reply {allowed 0 or 1, requests in the window before this one, window in seconds}

local UNITS = { ms = 1, [''] = 1000, s = 1000, m = 60000, h = 3600000, d = 86400000 }
local MAX_WINDOW = 1e15 -- milliseconds; everything below 2^53 is exact
local MAX_LIMIT = '9223372036854775807'

-- The text, if it is a number as the server takes them; else nil.
local function digits(text)
  return (text == '0' or text:find('^[1-9]%d*$')) and text or nil
end

local function window_millis(text)
  local number, unit = text:match('^(%d+)(%l*)$')
  local millis = number and digits(number) and UNITS[unit] and tonumber(number) * UNITS[unit]
  return millis and millis >= 1 and millis <= MAX_WINDOW and millis or nil
end

local function limit_number(text)
  local number = digits(text)
  local fits = number and (#number < #MAX_LIMIT or (#number == #MAX_LIMIT and number <= MAX_LIMIT))
  return fits and tonumber(number) or nil
end

local function integer(number)
  return string.format('%.0f', number)
end

if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply('ERR wrong number of arguments')
end
local key = KEYS[1]
local window = window_millis(ARGV[2])
if not window then
  return redis.error_reply(
    'ERR invalid window: expected a positive integer of seconds, or one with a unit ms, s, m, h or d, up to 10^12 seconds'
  )
end
local limit = limit_number(ARGV[3])
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

-- The only call that can fail: the key may have another type.
local count = redis.pcall('ZCARD', key)
if type(count) == 'table' then
  return count
end
if count > 0 and now >= window then
  count = count - redis.call('ZREMRANGEBYSCORE', key, 0, integer(now - window))
end

local allowed = count < limit
if allowed then
  -- The member is named by how many this millisecond has. If that name is taken (after a step of the clock), the next
  -- one is tried.
  local n = redis.call('ZCOUNT', key, integer(now), integer(now))
  while redis.call('ZADD', key, 'NX', integer(now), integer(now) .. '-0.' .. integer(n)) == 0 do
    n = n + 1
  end
elseif count > 0 then
  -- Entries from before the clock stepped back count as of now. Else they would block the key until the clock catches
  -- up.
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. integer(now), '+inf')) do
    redis.call('ZADD', key, 'XX', integer(now), member)
  end
end
-- At least 1.5 windows are left after every call. Only a call that finds less sets the expiry, to 2 windows. PTTL is -1
-- if there is no expiry.
if (allowed or count > 0) and 2 * redis.call('PTTL', key) < 3 * window then
  redis.call('PEXPIREAT', key, integer(now + 2 * window))
end
return { allowed and 1 or 0, count, math.ceil(window / 1000) }
