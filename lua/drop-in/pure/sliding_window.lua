-- Sliding window log: a script to load instead of the old one, for servers without the module. Its logs are those of
-- RL.SLIDING.
--
-- KEYS  key
-- ARGV  now (ms; ignored, the script uses the server's clock), window (seconds), limit
-- Reply {allowed 0 or 1, requests in the window before this one, window in seconds}
if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply('ERR wrong number of arguments')
elseif not string.find(ARGV[2], '^[1-9]%d*$') or #ARGV[2] > 12 then
  return redis.error_reply('ERR invalid window')
elseif not string.find(ARGV[3], '^%d+$') or #ARGV[3] > 19 then
  return redis.error_reply('ERR invalid limit')
end
local key, window, limit = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('ZREMRANGEBYSCORE', key, 0, string.format('%d', now - window * 1000))
local count = redis.call('ZCARD', key)
if count < limit then
  local n = 0
  while redis.call('ZADD', key, 'NX', now, string.format('%s-0.%d', now, n)) == 0 do
    n = n + 1
  end
end
-- At least 1.5 windows are left after every call.
if redis.call('PTTL', key) < window * 1500 then
  redis.call('EXPIRE', key, window * 2)
end
return { count < limit and 1 or 0, count, window }
