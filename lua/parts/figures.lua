-- A request under one limit is a table `r`, which holds all that is known of it:
--   algorithm                       a table: see below. A script of one algorithm has its functions instead
--   COST, PARTIAL and so on         the options, if they are given
--   window_ms, window               the window in ms and in µs. For a period of the calendar, it is the longest
--   unit, anchor_ms                 of FIXED
--   limit, capacity, cost, form     BURST, if it is given, is the capacity
--   now, now_ms                     the server's clock, in µs and ms
--   key, hash, ends                 the keys of the state, of the reservations and of their order
--   state                           what the key holds; nil if it holds nothing
--   allowed, count, ttl, delay      the decision
--   change, after                   what happens to the state, and the state after that:
--     keep    nothing
--     charge  counts the request; RL.MULTI drops it if another limit denies
--     rebase  restates the same as of now
--     refund  gives units back
--     delete  removes the state
--   remaining                       the cost that fits after that: `forecast` sets it, for `wait`
--
-- An algorithm is a table with its word, the options that it takes, and these functions:
--   prepare(r)                      checks a window, a limit and BURST, and completes them
--   suffix(r)                       what follows the key in the name of the state, and what will after this window
--   load(r, purpose)                reads the state, for `read`, `write` or `delete`
--   decide(r, cost)                 sets the decision and the change
--   refund, overcharge(r, at_ms, cost) return a change and the state after it
--   forecast(r, change, state)      sets `remaining` in that state, which this change has made
--   wait(r, cost)                   the ms until the cost fits, by the last forecast; nil means never
--   commit(r, change, after)        writes the change, and extends the expiry where that is needed
--   window_at(r)                    the length of the window in ms, if it is not that of the policy
-- They are pure, as in the module, but for `load` and `commit`, and sorted sets, of which they read single members. A
-- reply is computed before anything is written, so that an error changes nothing. (Two exceptions: entries that no longer
-- count are removed before, and the reply to a refund or a settlement of SLIDING is read from the key afterwards.)

-- The state that a key holds after a change.
local function state_after(change, after, before)
  if change == 'keep' then
    return before
  end
  return change ~= 'delete' and after or nil
end

-- The units that must be available for a cost.
local function needed_for(cost)
  return cost == 0 and 1 or cost
end

-- The `ttl` of a denial in seconds: at least 1; −1 for never. There was a forecast.
local function ttl_of_denial(r, cost)
  local algorithm = r.algorithm
  local wait = algorithm.wait(r, cost == 0 and 1 or cost)
  wait = wait and seconds_of(exact(wait)) or -1
  return wait == 0 and 1 or wait
end

-- The ms until units fit that each leave at a known time. Of the `charged` units, `leaves_at(n)` is the ms in which the
-- n-th leaves, from 0; nil for never. All are gone at `gone_at`, if it is not nil.
local function wait_in_order(r, cost, charged, leaves_at, gone_at)
  local room = r.limit - cost
  if room < 0 then
    return nil
  elseif charged <= room then
    return 0
  end
  local left = leaves_at(r, charged - room - 1)
  if gone_at and (not left or gone_at < left) then
    left = gone_at
  end
  -- A time that is not exact makes the reply an error.
  return left and (left >= EXACT and NEVER or math.max(0, left - r.now_ms))
end

-- The figures of the state as it is after the decision: remaining, retry_after_ms, next_ms, reset_ms and delay_ms.
local function figures(r)
  local algorithm = r.algorithm
  local change, wait = r.change, algorithm.wait
  algorithm.forecast(r, change, change == 'keep' and r.state or change ~= 'delete' and r.after or nil)
  local remaining, capacity, retry, next_ms, reset = r.remaining, r.capacity, 0, 0, 0
  if not r.allowed then
    local cost = r.decided_cost
    retry = wait(r, r.needed or (cost == 0 and 1 or cost)) or -1
    if r.full_for and retry >= 0 then
      retry = math.max(retry, r.full_for)
    end
  end
  if remaining < capacity then
    next_ms = wait(r, remaining + 1) or -1
    reset = remaining + 1 == capacity and next_ms or wait(r, capacity) or -1
  end
  -- Not exact, or no number.
  if retry - retry ~= 0 or next_ms - next_ms ~= 0 or reset - reset ~= 0 or retry >= EXACT or reset >= EXACT then
    fail('INEXACT_REPLY')
  end
--@if delays
  if r.delay ~= 0 then
    return remaining, retry, next_ms, reset, exact(divide_up(r.delay, 1000))
  end
--@end
  return remaining, retry, next_ms, reset, 0
end
