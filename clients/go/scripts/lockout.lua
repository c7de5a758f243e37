-- LOCKOUT: attempts in a window that starts with the first one. The attempt that uses the last of them is allowed, and locks
-- the key for BLOCK; each lock after that lasts twice as long, up to MAX. Of n attempts at once, `limit` are allowed.
--
-- Locked, everything is denied. A denied attempt writes and prolongs nothing. When a lock is over, the attempts are 0. The
-- next lock gets shorter by a half with each MAX of quiet time since the end of the lock, or since the last attempt.
--
-- The state is O:<attempts>:<window start>:<last charge>:<lock length>:<level before the lock>, in milliseconds.

do
  local function load(r)
    local text = redis.call('GET', r.key)
    if text then
      local attempts, start, last, lock, level = string.match(text, '^O:(%d+):(%d+):(%d+):(%d+):(%d+)$')
      if not attempts then
        fail(nil, text, 'O')
      end
      local state = { attempts = attempts + 0, start = start + 0, last = last + 0, lock = lock + 0, level = level + 0 }
      if state.attempts > 2 ^ 63 or state.start > state.last or state.last > 2 ^ 63 / 1000 or state.lock > 1e15
        or state.level > 64 then
        fail(nil, text, 'O')
      end
      return state
    end
  end

  local function prepare(r)
    r.block = r.BLOCK or r.window
    r.longest = r.MAX or (r.block > 86400000 and r.block or 86400000)
    if r.longest < r.block then
      fail('invalid MAX')
    end
  end

  -- The attempts that count now, and the start of their window. A lock that is over leaves none.
  local function running(r, state)
    local ends = state and (state.lock > 0 and state.last + state.lock or state.start + r.window)
    if ends and now_ms < ends and state.attempts > 0 then
      return state.attempts, state.start
    end
    return 0, now_ms
  end

  -- The same state; if it is ahead of the clock, as from now.
  local function known(state)
    if state and state.last > now_ms then
      local start = math.min(state.start, now_ms)
      return { attempts = state.attempts, start = start, last = now_ms, lock = state.lock, level = state.level }
    end
    return state
  end

  -- The level that a state leaves behind, at most the smallest whose lock is the longest; and the level now.
  local function levels(r, state)
    local after, top, length = state.level, 0, r.block
    if state.lock > 0 then
      while length < r.longest do
        top, length = top + 1, 2 * length
      end
      after = after + 1 < top and after + 1 or top
    end
    local quiet = now_ms - state.last - state.lock
    local level = quiet > 0 and after - divide(quiet, r.longest) or after
    return after, level > 0 and level or 0
  end

  -- The end of the window, or of the quiet time after which the next lock is as short as the first.
  local function expires_at(r, state)
    local window_ends, quiet_ends = state.start + r.window, state.last + state.lock + levels(r, state) * r.longest
    return window_ends > quiet_ends and window_ends or quiet_ends
  end

  local function decide(r, stored, cost)
    local state = known(stored)
    local attempts, start = running(r, state)
    local after = attempts + (cost == 0 and 1 or cost)
    local allowed = after <= r.limit and not (state and now_ms < state.last + state.lock)
    if allowed and cost > 0 then
      local lock, _, level = 0, 0, 0
      if state then
        _, level = levels(r, state)
      end
      if after == r.limit then
        lock = math.min(r.block * 2 ^ level, r.longest)
      end
      return true, attempts, 'charge', { attempts = after, start = start, last = now_ms, lock = lock, level = level }
    elseif state ~= stored and now_ms < expires_at(r, state) then
      return allowed, attempts, 'rebase', state
    end
    return allowed, attempts
  end

  local function figures(r, state, needed)
    state = known(state)
    local limit, attempts, start = r.limit, running(r, state)
    local free, ms = limit > attempts and limit - attempts or 0, start + r.window - now_ms
    if state and now_ms < state.last + state.lock then
      free, ms = 0, state.last + state.lock - now_ms
    end
    local retry = needed and (needed > limit and -1 or needed <= free and 0 or ms)
    return free, retry, ms, ms
  end

  local function commit(r, _, change, after)
    if change and not (change == 'rebase' and r.SHADOW) then
      local text = string.format('O:%d:%d:%d:%d:%d', after.attempts, after.start, after.last, after.lock, after.level)
      redis.call('SET', r.key, text, 'PXAT', string.format('%d', expires_at(r, after)))
    end
  end

  algorithms.LOCKOUT = {
    takes = 'COST BLOCK MAX', prepare = prepare, load = load, decide = decide, figures = figures, commit = commit,
  }

  if may_correct then
    -- A lock that has not ended ends: window and level are those before it.
    algorithms.LOCKOUT.refund = function(r, state, at, cost)
      state = known(state)
      local attempts, start = running(r, state)
      if attempts == 0 or cost == 0 or at and at < start then
        return nil
      end
      attempts = math.max(0, attempts - cost)
      local after = { attempts = attempts, start = start, last = state.last, lock = 0, level = state.level }
      local _, level = levels(r, after)
      return running(r, after) == 0 and level == 0 and 'delete' or 'refund', after
    end
  end
end
