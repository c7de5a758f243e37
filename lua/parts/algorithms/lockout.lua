-- LOCKOUT: attempts in a window. The last of them locks the key, and each lock lasts twice as long as the one before. The
-- state is { attempts, start, last, lock, level }: when the window started, the last charge, the length of the lock, which
-- is 0 if there is none, and how many locks count before this one. Times are in ms.

local function prepare(r)
  local block = r.BLOCK or r.window_ms
  local longest = r.MAX or math.max(block, DAY_MS)
  if longest < block then
    fail('MAX_BELOW_BLOCK')
  end
  r.block, r.longest = block, longest
end

local function decode(text)
  local attempts, start, last, lock, level = words_of(text, '^O:(%d+):(%d+):(%d+):(%d+):(%d+)$')
  if not attempts or not start or not last or not lock or #level > 2 or level + 0 > 64 then
    return nil
  elseif less(last, start) or less(1e15, lock) then
    return nil
  elseif attempts - attempts ~= 0 or last - last ~= 0 then
    if is_beyond_count(attempts) or is_beyond_count(mul(last, 1000)) then
      return nil
    end
    fail('INEXACT_STATE')
  end
  return { attempts = attempts, start = start, last = last, lock = lock, level = level + 0 }
end

local function encode(state)
  local start, last = text_of(state.start), text_of(state.last)
  return format('O:%s:%s:%s:%s:%d', text_of(state.attempts), start, last, text_of(state.lock), state.level)
end

-- The same state if it is not ahead of the clock; else one that starts now. From here on, sums of its times are exact.
local function known(r, state)
  local now_ms = r.now_ms
  if not state or state.last <= now_ms then
    return state
  end
  --@rare
  local start = math.min(state.start, now_ms)
  return { attempts = state.attempts, start = start, last = now_ms, lock = state.lock, level = state.level }
end

local function is_locked(r, state)
  return state and r.now_ms < state.last + state.lock
end

-- The attempts that count now, and the start of their window. A lock that is over leaves none.
local function running(r, state)
  local ends = state and (state.lock > 0 and state.last + state.lock or state.start + r.window_ms)
  if ends and r.now_ms < ends and state.attempts > 0 then
    return state.attempts, state.start
  end
  return 0, r.now_ms
end

-- The level that a state leaves behind, before quiet time lowers it: at most the smallest whose lock is the longest.
local function level_after(r, state)
  if state.lock == 0 then
    return state.level
  end
  local top, length = 0, r.block
  while length < r.longest do
    top, length = top + 1, 2 * length
  end
  return math.min(state.level + 1, top)
end

-- The level now: lower by one for each whole MAX of quiet.
local function level_now(r, state)
  local quiet = math.max(0, r.now_ms - state.last - state.lock)
  return math.max(0, level_after(r, state) - (divide(quiet, r.longest)))
end

-- The end of the window, or of the quiet time after which the next lock is as short as the first.
local function expires_at(r, state)
  local at = add(state.last + state.lock, mul(level_after(r, state), r.longest))
  if at - at ~= 0 then
    return min(at, divide_up(MAX_UNSIGNED, 1000))
  end
  return math.max(at, state.start + r.window_ms)
end

local function set_forecast(r, state)
  local attempts, start = running(r, state)
  if is_locked(r, state) then
    r.ends_at, r.remaining = state.last + state.lock, 0
  else
    r.ends_at, r.remaining = start + r.window_ms, math.max(0, r.limit - attempts)
  end
end

-- The forecast of a state that may be ahead of the clock.
local function forecast(r, _, state)
  set_forecast(r, known(r, state))
end

local function wait(r, cost)
  local limit, free = r.limit, r.remaining
  if cost > limit or limit == 0 then
    return nil
  elseif cost <= free and free > 0 then
    return 0
  end
  return r.ends_at - r.now_ms
end

local function decide(r, cost)
  local now_ms, limit, state = r.now_ms, r.limit, known(r, r.state)
  local attempts, start = running(r, state)
  local after = attempts + (cost == 0 and 1 or cost)
  local allowed = not is_locked(r, state) and after <= limit
  r.allowed, r.count, r.change = allowed, attempts, 'keep'
  if allowed and cost > 0 then
    local level, lock = state and level_now(r, state) or 0, 0
    if after == limit then
      lock = math.min(r.block * 2 ^ level, r.longest)
    end
    state = { attempts = after, start = start, last = now_ms, lock = lock, level = level }
    r.change, r.after = 'charge', state
  elseif state ~= r.state and less(now_ms, expires_at(r, state)) then
    r.change, r.after = 'rebase', state
  end
  set_forecast(r, state)
  if allowed then
    r.ttl = seconds_of(wait(r, limit))
  else
    r.ttl = ttl_of_denial(r, cost)
  end
end

local function commit(r, change, after)
  if change == 'delete' then
    call('UNLINK', r.key)
  elseif change ~= 'keep' then
    call('SET', r.key, encode(after), 'PXAT', text_of(expires_at(r, after)))
  end
end

--@cold
-- What a request in shadow mode commits: it moves no time of a state that is ahead of the clock.
local function in_shadow(_, change, after)
  if change == 'rebase' then
    return 'keep'
  end
  return change, after
end

-- A lock that has not ended ends: window and level are those before it.
local function refund(r, at_ms, cost)
  local state = known(r, r.state)
  local attempts, start = running(r, state)
  if attempts == 0 or cost == 0 or at_ms and less(at_ms, start) then
    return 'keep'
  end
  attempts = math.max(0, attempts - cost)
  local refunded = { attempts = attempts, start = start, last = state.last, lock = 0, level = state.level }
  if running(r, refunded) == 0 and level_now(r, refunded) == 0 then
    return 'delete'
  end
  return 'refund', refunded
end

return {
  word = 'LOCKOUT',
  takes = ' COST BLOCK MAX ',
  no_correction = 'NO_SETTLEMENT',
  prepare = prepare,
  decode = decode,
  load = load_record,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit,
  in_shadow = in_shadow,
  refund = refund,
}
