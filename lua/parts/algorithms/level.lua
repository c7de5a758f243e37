-- TOKEN and LEAKY: a level that rises by what is charged and drains at a steady rate. The state is
-- { used, part, window_ms, at, debt }: whole units, a fraction in parts of 1/window, the time, and whole units beyond the
-- capacity. A unit has `window` parts (the window in microseconds), so `limit` parts drain in each microsecond: whole
-- numbers, and nothing is lost from call to call.

-- The level at the time it was written. An amount above the capacity counts as a full bucket since that time. Debt
-- counts in addition.
local function parts_when_written(r, level)
  local part, window, used = level.part, r.window, level.used
  if level.window_ms ~= r.window_ms and part ~= 0 then
    --@rare
    part = divide_up(mul(part, window), mul(level.window_ms, 1000))
  end
  used = min(add(mul(used, window), part), r.full)
  return level.debt == 0 and used or add(used, mul(level.debt, window))
end

-- The level at now. If it was written ahead of the clock, nothing has drained yet.
local function parts_at(r, level)
  if not level then
    return 0
  end
  return sub(parts_when_written(r, level), mul(sub(r.now, level.at), r.limit))
end

--@cold
local function no_more_than_time(micros)
  return min(micros, MAX_UNSIGNED)
end

local function is_beyond_time(micros)
  return less(MAX_UNSIGNED, micros)
end

-- With a limit of 0 nothing is ever charged, so nothing has to drain. No number is too large.
local function require_span(r)
  if r.limit > 0 and less(mul(r.limit, MAX_SPAN), r.full) then
    fail('SPAN')
  end
end

--@hot
-- Not called with a limit of 0.
local function time_to_drain(r, parts)
  local time = divide_up(parts, r.limit)
  return time - time == 0 and time or no_more_than_time(time)
end

local function set_forecast(r, parts)
  r.parts = parts
  r.remaining = r.limit == 0 and 0 or sub(r.capacity, divide_up(parts, r.window))
end

local function forecast(r, _, level)
  set_forecast(r, parts_at(r, level))
end

local function wait(r, cost)
  local limit, room = r.limit, r.capacity - cost
  if limit == 0 or room < 0 then
    return nil
  end
  local time = divide_up(sub(r.parts, mul(room, r.window)), limit)
  -- Only debt can take longer to drain than a time can represent.
  if time - time ~= 0 and is_beyond_time(add(time, r.now)) then
    return nil
  end
  return divide_up(time, 1000)
end

local function prepare(r)
  r.full = mul(r.capacity, r.window)
  if r.full - r.full ~= 0 then
    require_span(r)
  end
end

--@cold
-- Whether no such integers are written. `debt` is what follows the other integers.
local function is_foreign(used, part, window_ms, at)
  local too_high = is_beyond_count(used) or (not less(used, MAX_COUNT) and part ~= 0)
  return too_high or is_beyond_count(at) or not less(part, mul(window_ms, 1000))
end

-- The last integer, which is only there while it is not 0; nil if it is none.
local function debt_of(rest)
  local digits = match(rest, '^:(%d+)$')
  local debt = digits and parse_digits(digits)
  return debt and debt ~= 0 and not is_beyond_count(debt) and debt or nil
end

--@hot
local function decode(text)
  local used, part, window_ms, at, rest = words_of(text, PATTERN)
  if not is_window(window_ms) or not used or not part or not at then
    return nil
  end
  local debt = 0
  if rest ~= '' then
    debt = debt_of(rest)
    if not debt then
      return nil
    end
  end
  if used - used ~= 0 or at - at ~= 0 or part - part ~= 0 or part >= window_ms * 1000 then
    if is_foreign(used, part, window_ms, at) then
      return nil
    end
  end
  return { used = used, part = part, window_ms = window_ms, at = at, debt = debt }
end

--@cold
local function encode_large(level)
  local used, part, window_ms, at = level.used, level.part, level.window_ms, level.at
  local text = TAG .. text_of(used) .. ':' .. text_of(part) .. ':' .. text_of(window_ms) .. ':' .. text_of(at)
  return level.debt == 0 and text or text .. ':' .. text_of(level.debt)
end

--@hot
local function encode(level)
  local used, part, window_ms, at = level.used, level.part, level.window_ms, level.at
  if level.debt ~= 0 or used - used ~= 0 or part - part ~= 0 or at - at ~= 0 then
    return encode_large(level)
  end
  return format(FORMAT, used, part, window_ms, at)
end

-- With a limit of 0 the state has no effect, so it is not needed.
local function expires_at(r, level)
  local at = level.at
  if r.limit > 0 then
    at = add(at, time_to_drain(r, parts_when_written(r, level)))
    at = at - at == 0 and at or no_more_than_time(at)
  end
  return divide_up(at, 1000)
end

local function decide(r, cost)
  local level, limit, window, now = r.state, r.limit, r.window, r.now
  local before = parts_at(r, level)
  local needed = add(before, mul(cost == 0 and 1 or cost, window))
  local allowed = limit > 0 and not less(r.full, needed)
  local whole, part = divide(before, window)
  r.allowed, r.count, r.change = allowed, exact(part == 0 and whole or add(whole, 1)), 'keep'
  if allowed and cost > 0 then
    r.change = 'charge'
    r.after = { used = add(whole, cost), part = part, window_ms = r.window_ms, at = now, debt = 0 }
    r.ttl = exact(divide_up(time_to_drain(r, needed), 1000000))
  else
    if level and limit > 0 and less(now, level.at) then
      --@rare
      -- Not reduced to the capacity: another call may name a larger one.
      r.change = 'rebase'
      r.after = { used = level.used, part = level.part, window_ms = level.window_ms, at = now, debt = level.debt }
    end
    if allowed then
      r.ttl = exact(divide_up(time_to_drain(r, before), 1000000))
    else
      set_forecast(r, before)
      r.ttl = ttl_of_denial(r, cost)
    end
  end
  r.delay = DELAYS and allowed and time_to_drain(r, before) or 0
end

--@cold
-- Reduces the level as it was written, and leaves the time of writing.
local function refund(r, _, cost)
  local level = r.state
  if not level or cost == 0 or parts_at(r, level) == 0 then
    return 'keep'
  end
  local used, part = level.used, level.part
  if not less(used, r.capacity) then
    used, part = r.capacity, 0
  end
  local rest = sub(cost, level.debt)
  -- A fraction below a refunded unit goes with it: the level does not become negative.
  if less(used, rest) then
    used, part = 0, 0
  else
    used = sub(used, rest)
  end
  local refunded =
    { used = used, part = part, window_ms = level.window_ms, at = level.at, debt = sub(level.debt, cost) }
  if parts_at(r, refunded) == 0 then
    return 'delete'
  end
  return 'refund', refunded
end

-- What does not fit becomes debt, which drains before anything else is allowed.
local function overcharge(r, _, cost)
  if cost == 0 or r.limit == 0 then
    return 'keep'
  end
  local parts = add(parts_at(r, r.state), mul(cost, r.window))
  if less(mul(MAX_COUNT, r.window), parts) then
    fail('OVERFLOW')
  end
  local whole, part = divide(parts, r.window)
  -- The fraction stays below the capacity, so debt is a number of whole units.
  local most = part == 0 and r.capacity or r.capacity - 1
  local used, debt = min(whole, most), sub(whole, most)
  return 'charge', { used = used, part = part, window_ms = r.window_ms, at = r.now, debt = debt }
end

return {
  word = WORD,
  takes = TAKES,
  expiry_depends_on_policy = true,
  delays = DELAYS,
  prepare = prepare,
  decode = decode,
  encode = encode,
  expires_at = expires_at,
  expiry_after = expiry_after,
  load = load_record,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit_record,
  refund = refund,
  overcharge = overcharge,
}
