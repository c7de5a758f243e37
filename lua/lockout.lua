-- LOCKOUT: attempts in a window that starts with the first one. The attempt that uses the last of them is allowed, and locks
-- the key for BLOCK; each lock after that lasts twice as long, up to MAX. Of n attempts at once, `limit` are allowed.
--
-- Locked, everything is denied. A denied attempt writes and prolongs nothing. When a lock is over, the attempts are 0. The
-- next lock gets shorter by a half with each MAX of quiet time since the end of the lock, or since the last attempt.
--
-- The state is O:<attempts>:<window start>:<last charge>:<lock length>:<level before the lock>, in milliseconds.

do
  local function load(r)
    local text = call('GET', r.key)
    r.state = nil
    if text then
      local attempts, start, last, lock, level = match(text, '^O:(%d+):(%d+):(%d+):(%d+):(%d+)$')
      if not attempts or attempts + 0 > 2 ^ 63 or start + 0 > last + 0 or last + 0 > 2 ^ 63 / 1000 or lock + 0 > 1e15
        or level + 0 > 64 then
        fail(nil, text, 'O')
      end
      r.state = { attempts = attempts + 0, start = start + 0, last = last + 0, lock = lock + 0, level = level + 0 }
    end
  end

  local function prepare(r)
    r.block = r.BLOCK or r.window
    r.longest = r.MAX or math.max(r.block, 86400000)
    if r.longest < r.block then
      fail('invalid MAX')
    end
  end

  -- The same state; if it is ahead of the clock, as from now.
  local function known(state)
    if state and state.last > now_ms then
      return { attempts = state.attempts, start = math.min(state.start, now_ms), last = now_ms, lock = state.lock, level = state.level }
    end
    return state
  end

  local function is_locked(state)
    return state and now_ms < state.last + state.lock
  end

  -- The attempts that count now, and the start of their window. A lock that is over leaves none.
  local function running(r, state)
    local ends = state and (state.lock > 0 and state.last + state.lock or state.start + r.window)
    if ends and now_ms < ends and state.attempts > 0 then
      return state.attempts, state.start
    end
    return 0, now_ms
  end

  -- The level that a state leaves behind: at most the smallest whose lock is the longest.
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

  local function level_now(r, state)
    return math.max(0, level_after(r, state) - divide(math.max(0, now_ms - state.last - state.lock), r.longest))
  end

  -- The end of the window, or of the quiet time after which the next lock is as short as the first.
  local function expires_at(r, state)
    return math.max(state.start + r.window, state.last + state.lock + level_after(r, state) * r.longest)
  end

  local function decide(r, cost)
    local state = known(r.state)
    local attempts, start = running(r, state)
    local after = attempts + (cost == 0 and 1 or cost)
    local allowed = not is_locked(state) and after <= r.limit
    if allowed and cost > 0 then
      local level = state and level_now(r, state) or 0
      local lock = after == r.limit and math.min(r.block * 2 ^ level, r.longest) or 0
      return true, attempts, 'charge', { attempts = after, start = start, last = now_ms, lock = lock, level = level }
    elseif state ~= r.state and now_ms < expires_at(r, state) then
      return allowed, attempts, 'rebase', state
    end
    return allowed, attempts
  end

  local function forecast(r, state)
    state = known(state)
    local attempts, start = running(r, state)
    if is_locked(state) then
      r.ends, r.free = state.last + state.lock, 0
    else
      r.ends, r.free = start + r.window, math.max(0, r.limit - attempts)
    end
    return r.free
  end

  local function wait(r, cost)
    if cost <= r.limit and r.limit > 0 then
      return cost <= r.free and r.free > 0 and 0 or r.ends - now_ms
    end
  end

  local function commit(r, change, after)
    if change and not (change == 'rebase' and r.SHADOW) then
      local text = format('O:%d:%d:%d:%d:%d', after.attempts, after.start, after.last, after.lock, after.level)
      call('SET', r.key, text, 'PXAT', format('%d', expires_at(r, after)))
    end
  end

  algorithms.LOCKOUT = {
    takes = 'COST BLOCK MAX', prepare = prepare, load = load, decide = decide, forecast = forecast, wait = wait,
    commit = commit,
  }

  if not is_plain then
    -- A lock that has not ended ends: window and level are those before it.
    algorithms.LOCKOUT.refund = function(r, at, cost)
      local state = known(r.state)
      local attempts, start = running(r, state)
      if attempts == 0 or cost == 0 or at and at < start then
        return nil
      end
      local after = { attempts = math.max(0, attempts - cost), start = start, last = state.last, lock = 0, level = state.level }
      return running(r, after) == 0 and level_now(r, after) == 0 and 'delete' or 'refund', after
    end
  end
end
