-- WINDOW: one counter, whose window starts with the first request.

-- The end of the window that runs now, and its units. nil if there is no counter, or if its expiry is now or earlier:
-- Redis keeps a key through the millisecond in which it expires. A counter without an expiry gets one, and one with more
-- than a window left gets another.
local function running(r, counter)
  local now_ms = r.now_ms
  local expires_at = counter and counter.expires_at
  if not counter then
    return nil, 0
  elseif expires_at and expires_at <= now_ms then
    --@rare
    return nil, 0
  end
  local latest = now_ms + r.window_ms
  return expires_at and expires_at < latest and expires_at or latest, counter.value > 0 and counter.value or 0
end

-- What a call does that counts nothing: sets an expiry that is missing or too late.
local function uncharged(counter, ends)
  if ends and ends ~= counter.expires_at then
    --@rare
    return 'rebase', { value = counter.value, expires_at = ends }
  end
  return 'keep'
end

local function forecast(r, _, counter)
  local ends, units = running(r, counter)
  r.ends_at, r.units, r.remaining = ends, units, units < r.limit and r.limit - units or 0
end

local function wait(r, cost)
  local limit = r.limit
  if cost > limit then
    return nil
  elseif r.units + cost <= limit then
    return 0
  end
  return divide_up(sub(mul(r.ends_at, 1000), r.now), 1000)
end

local function decide(r, cost)
  local counter, limit = r.state, r.limit
  local ends, units = running(r, counter)
  local allowed = units + (cost == 0 and 1 or cost) <= limit
  r.allowed, r.count = allowed, exact(units)
  if allowed and cost > 0 then
    -- A negative counter counts as none.
    ends = ends and counter.value >= 0 and ends or r.now_ms + r.window_ms
    r.change, r.after = 'charge', { value = units + cost, expires_at = ends }
  else
    r.change, r.after = uncharged(counter, ends)
  end
  forecast(r, r.change, state_after(r.change, r.after, counter))
  if allowed then
    r.ttl = seconds_of(exact(wait(r, limit)))
  else
    r.ttl = ttl_of_denial(r, cost)
  end
end

local function commit(r, change, after)
  local key, before = r.key, r.state
  if change == 'delete' then
    call('UNLINK', key)
  elseif change == 'keep' then
    return
  elseif before and before.expires_at == after.expires_at then
    local delta = after.value - before.value
    call('INCRBY', key, delta == 1 and '1' or format('%.0f', delta))
  elseif before and before.value == after.value then
    set_expiry(key, after.expires_at)
  else
    call('SET', key, text_of(after.value), 'PXAT', text_of(after.expires_at))
  end
end

--@cold
-- From the counter that is written: its expiry, which shadow mode leaves as it is.
local function counts_until(r, counter)
  local expires_at = counter and counter.expires_at
  return expires_at and expires_at > r.now_ms and expires_at or r.now_ms + r.window_ms
end

local function refund(r, at_ms, cost)
  local counter = r.state
  local ends, units = running(r, counter)
  local is_earlier = ends and at_ms and less(add(at_ms, r.window_ms), ends)
  if not ends or units == 0 or is_earlier or cost == 0 then
    return uncharged(counter, ends)
  elseif cost >= units then
    return 'delete'
  end
  return 'refund', { value = units - cost, expires_at = ends }
end

local function overcharge(r, at_ms, cost)
  if cost == 0 or (at_ms and not less(r.now_ms, add(at_ms, r.window_ms))) then
    return 'keep'
  end
  local ends, units = running(r, r.state)
  if units + cost >= EXACT then
    fail('INEXACT_REPLY')
  end
  ends = ends and r.state.value >= 0 and ends or r.now_ms + r.window_ms
  return 'charge', { value = units + cost, expires_at = ends }
end

-- Gives back only if the window of the charge runs. What comes on top counts in the running window; if none runs,
-- until the window of the charge ends.
local function settle_reserved(r, charge, actual)
  local counter, reserved = r.state, charge.cost or 0
  if charge.counts_until <= r.now_ms then
    return 'keep'
  elseif actual >= reserved then
    local change, after = overcharge(r, nil, actual - reserved)
    if change == 'charge' and not running(r, counter) then
      after.expires_at = math.min(charge.counts_until, r.now_ms + r.window_ms)
    end
    return change, after
  elseif not counter or counter.value <= 0 or counter.expires_at ~= charge.counts_until then
    return 'keep'
  end
  local value = counter.value - (reserved - actual)
  if value <= 0 then
    return 'delete'
  end
  return 'refund', { value = value, expires_at = counter.expires_at }
end

-- What a request in shadow mode commits: it sets no other expiry for a window that runs.
local function in_shadow(r, change, after)
  local counter = r.state
  if change == 'rebase' then
    return 'keep'
  elseif change == 'charge' and counter and counter.value >= 0 and running(r, counter) then
    return 'charge', { value = after.value, expires_at = counter.expires_at }
  end
  return change, after
end

return {
  word = 'WINDOW',
  takes = ' COST PARTIAL ALWAYS RESERVE RESERVATION ',
  load = load_counter,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit,
  in_shadow = in_shadow,
  counts_until = counts_until,
  refund = refund,
  overcharge = overcharge,
  settle_reserved = settle_reserved,
}
