-- The script that RL.SLIDING replaces, as the reference describes it. For the tests only.
-- KEYS: key. ARGV: now (ms), window (seconds), limit. Reply: {allowed, count before this one, window}
local now = tonumber(ARGV[1])
local window = tonumber(ARGV[2])
local limit = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - window * 1000)
local count = redis.call('ZCARD', KEYS[1])
local allowed = 0
if count < limit then
  redis.call('ZADD', KEYS[1], now, now .. '-' .. math.random())
  allowed = 1
end
redis.call('PEXPIRE', KEYS[1], window * 1000 * 2)
return { allowed, count, window }
