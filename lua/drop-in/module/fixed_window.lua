-- Fixed window counter: a script to load instead of the old one. It calls the module's RL.FIXED.
--
-- KEYS  key
-- ARGV  window (seconds), limit, then options of RL.FIXED
-- Reply {allowed 0 or 1, counter after this request, TTL of the counter in seconds}, or the error of RL.FIXED
return redis.pcall('RL.FIXED', KEYS[1], unpack(ARGV))
