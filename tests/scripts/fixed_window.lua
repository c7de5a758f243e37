-- The script that RL.FIXED replaces, as the reference describes it. For the tests only.
-- KEYS: key. ARGV: window (seconds), limit. Reply: {allowed, counter, TTL}
local window = tonumber(ARGV[1])
local limit = tonumber(ARGV[2])
local now = tonumber(redis.call('TIME')[1])
local counter = KEYS[1] .. ':' .. math.floor(now / window)
local count = redis.call('INCR', counter)
if count == 1 then
  redis.call('EXPIRE', counter, window)
end
local allowed = 0
if count <= limit then
  allowed = 1
end
return { allowed, count, redis.call('TTL', counter) }
