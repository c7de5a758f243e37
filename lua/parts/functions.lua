-- The functions.

local function run(command, keys, words)
  if not find then
    set_late()
  end
  expired_left, ended_left, unordered_left, moved_left = MAX_EXPIRED, MAX_ENDED, MAX_ENDED, 2 * MAX_MOVED
  local done, result = pcall(command, keys, words)
  return done and result or error_reply(result)
end

--@late
-- Whether a long of C has 32 bits, so that %d, which the fast paths use, is wrong.
local HAS_SHORT_LONG = format('%d', 2 ^ 40) ~= '1099511627776'

--@hot
-- The fast path of each algorithm. It returns nothing if the call needs more.
local FAST = {}

local function run_fast(keys, words)
  local fast = not HAS_SHORT_LONG and FAST[words[1]]
  return fast and fast(keys, words) or run_check(keys, words)
end

local function register(name, command, description, flag)
  redis.register_function({
    function_name = name,
    callback = function(keys, words)
      return run(command, keys, words)
    end,
    description = description,
    flags = { flag },
  })
end

register('rl', run_fast, 'Checks a request against a limit and charges it if allowed.')
register('rl_multi', run_multi, 'Checks a request against several limits and charges all of them, or none.')
register('rl_peek', run_peek, 'Replies what the reply to a request would be, and changes nothing.', 'no-writes')
register('rl_settle', run_settle, 'Corrects what a request was charged to what it turned out to cost.')
-- At maxmemory the server runs functions that may need memory only if their flags allow it. These create no key.
register('rl_refund', run_refund, 'Gives back what a request was charged.', 'allow-oom')
register('rl_reset', run_reset, 'Deletes what was counted.', 'allow-oom')
register('rl_release', run_release, 'Ends leases.', 'allow-oom')
register('rl_renew', run_renew, 'Renews leases that have not ended.', 'allow-oom')
