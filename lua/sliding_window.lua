-- Sliding window log, natively: loaded in place of the script, answered by the module's RL.SLIDING.
--
-- KEYS  key
-- ARGV  now (ms; dropped, the server's clock counts), window (seconds), limit; then whatever else RL.SLIDING takes
-- Reply {allowed 0 or 1, requests in the window before this one, window in seconds}, or RL.SLIDING's own error
return redis.pcall('RL.SLIDING', KEYS[1], unpack(ARGV, 2))
