-- Sliding window log: a script to load instead of the old one. It calls the module's RL.SLIDING.
--
-- KEYS  key
-- ARGV  now (ms; ignored, RL.SLIDING uses the server's clock), window (seconds), limit, then options of RL.SLIDING
-- Reply {allowed 0 or 1, requests in the window before this one, window in seconds}, or the error of RL.SLIDING
return redis.pcall('RL.SLIDING', KEYS[1], unpack(ARGV, 2))
