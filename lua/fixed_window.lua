-- Fixed window counter, natively: loaded in place of the script, answered by the module's RL.FIXED.
--
-- KEYS  key
-- ARGV  window (seconds), limit; then whatever else RL.FIXED takes
-- Reply {allowed 0 or 1, counter after this request, TTL of the counter in seconds}, or RL.FIXED's own error
return redis.pcall('RL.FIXED', KEYS[1], unpack(ARGV))
