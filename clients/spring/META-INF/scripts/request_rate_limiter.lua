-- The token bucket of Spring Cloud Gateway's RequestRateLimiter, as RL.TOKEN: a script to load instead of its own one.
--
-- KEYS  request_rate_limiter.{route.user}.tokens, request_rate_limiter.{route.user}.timestamp
-- ARGV  tokens that come back each second, burst capacity, a time (ignored, RL.TOKEN uses the server's clock), tokens
--       that this request takes
-- Reply {allowed 0 or 1, tokens left}, or an error which says that the server cannot decide

-- After an error the gateway allows the request, and says so at the log level DEBUG only. So an error is replied only
-- if the server cannot decide. A call that is rejected (no module, a value that is no number, a key of another type) is
-- denied.
local CANNOT_DECIDE = {
  BUSY = true, CLUSTERDOWN = true, LOADING = true, MASTERDOWN = true, MISCONF = true, NOREPLICAS = true, OOM = true,
  READONLY = true, TRYAGAIN = true,
}

-- A bucket that never holds a token; RL.TOKEN takes no BURST 0.
if ARGV[2] == '0' then
  return { 0, 0 }
end

-- Not a key of KEYS: these may hold the state of the framework's own script, which gateways of the last release still
-- use during a deployment. The hash tag keeps this key in their slot.
local reply = redis.pcall('RL.TOKEN', KEYS[1] .. ':rl', 1, ARGV[1], 'BURST', ARGV[2], 'COST', ARGV[4], 'FULL')
if reply.err then
  return CANNOT_DECIDE[reply.err:match('^%u+')] and reply or { 0, 0 }
end
return { reply[2], reply[10] } -- the values of "allowed" and "remaining"
