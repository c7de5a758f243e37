-- Fixed window counter: a script to load instead of the old one, for servers without the module. Its counters are those of
-- RL.FIXED.
--
-- KEYS  key
-- ARGV  window (seconds), limit
-- Reply {allowed 0 or 1, counter after this request, TTL of the counter in seconds}
if #KEYS ~= 1 or #ARGV ~= 2 then
  return redis.error_reply('ERR wrong number of arguments')
elseif not string.find(ARGV[1], '^[1-9]%d*$') or #ARGV[1] > 12 then
  return redis.error_reply('ERR invalid window')
elseif not string.find(ARGV[2], '^%d+$') or #ARGV[2] > 19 then
  return redis.error_reply('ERR invalid limit')
end
local window, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local key = string.format('%s:%d', KEYS[1], math.floor(redis.call('TIME')[1] / window))
local counter = redis.call('INCR', key)
local ttl = redis.call('TTL', key)
if counter == 1 or ttl < 0 then
  redis.call('EXPIRE', key, window)
  ttl = window
end
return { counter <= limit and 1 or 0, counter, ttl }
