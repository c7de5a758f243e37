-- WINDOW: one counter, whose window starts with the first request that finds none. Never more than `limit` units from the
-- first request to the expiry of the key, but up to 2 × limit around its end.
--
-- The counter is a plain integer at the key, as of INCR and EXPIRE, and expires when the window ends. A denied request
-- counts nothing. A counter without an expiry, or with more than a window left, gets a new one: a window from now. A
-- negative counter (a client's DECRBY after the window) counts as 0, and the next charge overwrites it.

do
  -- When the window that runs now ends, and its units; nil and 0 if none runs. Redis keeps a key through the millisecond in
  -- which it expires.
  local function running(r, counter)
    if not counter or counter.expires_at and counter.expires_at <= now_ms then
      return nil, 0
    end
    local ends, latest = counter.expires_at, now_ms + r.window
    return ends and ends < latest and ends or latest, counter.value > 0 and counter.value or 0
  end

  local function decide(r, counter, cost)
    local ends, units = running(r, counter)
    local allowed = units + (cost == 0 and 1 or cost) <= r.limit
    if allowed and cost > 0 then
      ends = ends and counter.value >= 0 and ends or now_ms + r.window
      return true, units, 'charge', { value = units + cost, expires_at = ends }
    elseif ends and ends ~= counter.expires_at then
      -- An expiry that is missing or too late.
      return allowed, units, 'rebase', { value = counter.value, expires_at = ends }
    end
    return allowed, units
  end

  -- All units come back together, when the window ends.
  local function figures(r, counter, needed)
    local ends, used = running(r, counter)
    local limit, ms = r.limit, ends and ends - now_ms or 0
    local retry = needed and (needed > limit and -1 or used + needed <= limit and 0 or ms)
    return used < limit and limit - used or 0, retry, ms, ms
  end

  local load, commit = shared('counter')
  algorithms.WINDOW = {
    takes = 'COST PARTIAL ALWAYS', load = load, decide = decide, figures = figures, commit = commit,
  }

  if not plain then
    -- In shadow mode a running window keeps its expiry, since the policy that is tried may name another window.
    algorithms.WINDOW.commit = function(r, counter, change, after)
      if r.SHADOW and change and running(r, counter) then
        if change == 'rebase' then
          return
        elseif counter.value >= 0 then
          after.expires_at = counter.expires_at
        end
      end
      commit(r, counter, change, after)
    end
  end

  if may_correct then
    -- What was charged before the running window is over: it has nothing to give back.
    algorithms.WINDOW.refund = function(r, counter, at, cost)
      local until_ms, units = running(r, counter)
      if units == 0 or cost == 0 or at and at + r.window < until_ms then
        if until_ms and until_ms ~= counter.expires_at then
          return 'rebase', { value = counter.value, expires_at = until_ms }
        end
      elseif cost >= units then
        return 'delete'
      else
        return 'refund', { value = units - cost, expires_at = until_ms }
      end
    end

    algorithms.WINDOW.overcharge = function(r, counter, at, cost)
      if cost > 0 and not (at and at + r.window <= now_ms) then
        local until_ms, units = running(r, counter)
        until_ms = until_ms and counter.value >= 0 and until_ms or now_ms + r.window
        return 'charge', { value = units + cost, expires_at = until_ms }
      end
    end
  end
end
