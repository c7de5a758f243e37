-- The server.

-- An error of a command ends the call with the same error: `error_reply`.
--@late
local call = redis.call

--@cold
local function expiry_by_ttl(key, now_ms)
  local left = call('PTTL', key)
  return left >= 0 and now_ms + left or nil
end

--@hot
-- The expiry of a key as a double, which is not exact from 2^53 on; nil if it has none. Servers before 7.0 have no
-- PEXPIRETIME.
local function expiry_of(key, now_ms)
  -- Servers before 7.0 do not say what they are.
  if not redis.REDIS_VERSION_NUM then
    return expiry_by_ttl(key, now_ms)
  end
  local at = call('PEXPIRETIME', key)
  return at >= 0 and at or nil
end

local function set_expiry(key, at_ms)
  if at_ms then
    call('PEXPIREAT', key, text_of(at_ms))
  end
end

--@cold
-- Calls a command with some arguments and then with many, of which a call takes 1,000. Returns the sum of the replies.
local function call_in_parts(arguments, many)
  local sum = 0
  for first = 1, #many, 1000 do
    local part = { unpack(arguments) }
    for n = first, math.min(first + 999, #many) do
      part[#part + 1] = many[n]
    end
    sum = sum + call(unpack(part))
  end
  return sum
end
