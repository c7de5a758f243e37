-- FIXED: time is divided into windows, and each has its own counter.

--@cold
-- Days from 1 January 1970 to the first day of a month, 0 to 11, of the Gregorian calendar. The year starts in March
-- here, so that the leap day is its last.
local function days_before(year, month)
  if month < 2 then
    year = year - 1
  end
  local of_march = (month + 10) % 12
  local leap_days = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  return 365 * year + leap_days + math.floor((153 * of_march + 2) / 5) - 719468
end

local function first_of_month(n)
  return days_before(math.floor(n / 12), n % 12)
end

-- The months since the year 0, and the day of the month from 0, of a day since 1 January 1970.
local function month_of(day)
  -- From the mean length of a month, and one month more, so that it is not too small.
  local months = 1970 * 12 + math.floor(day / 30.436875) + 1
  while first_of_month(months) > day do
    months = months - 1
  end
  return months, day - first_of_month(months)
end

-- The ms at which the period starts that is `months` after the anchor: on the same day of the month, or on the last
-- one of a shorter month.
local function start_after(anchor, months)
  local at = anchor.months + months
  local first = first_of_month(at)
  return (first + math.min(anchor.day, first_of_month(at + 1) - first - 1)) * DAY_MS + anchor.time
end

local function calendar_period(step, anchor_ms, now_ms)
  local time = anchor_ms % DAY_MS
  local months, day = month_of((anchor_ms - time) / DAY_MS)
  local anchor = { months = months, day = day, time = time }
  local apart = month_of(math.floor(now_ms / DAY_MS)) - months
  local latest = apart - apart % step
  local first, last = start_after(anchor, latest), start_after(anchor, latest + step)
  if first > now_ms then
    first, last = start_after(anchor, latest - step), first
  end
  return first, last, last - first
end

-- The period of the calendar, or with an anchor, that contains now: start, end and length in ms. A start before 1970 is 0.
local function period_of(r, now_ms)
  local unit, anchor_ms = r.unit, r.anchor_ms
  if unit == 'MONTH' or unit == 'YEAR' then
    local first, last, length = calendar_period(unit == 'YEAR' and 12 or 1, anchor_ms or 0, now_ms)
    return math.max(0, first), last, length
  end
  -- 5 January 1970 was a Monday.
  anchor_ms = anchor_ms or (unit == 'WEEK' and 4 * DAY_MS) or 0
  local length = r.window_ms
  local ago = (now_ms % length - anchor_ms % length) % length
  return math.max(0, now_ms - ago), now_ms - ago + length, length
end

-- What tells the windows of a key apart.
local function infix(r)
  local window = r.unit and r.unit:lower() or format('%.0fms', r.window_ms)
  return ':' .. window .. (r.anchor_ms and format(':%.0f', r.anchor_ms / 1000) or '')
end

-- The suffix of the window of the calendar, or with an anchor, that starts in this ms.
local function calendar_suffix(r, start)
  return format(':%s:%.0f', r.unit and r.unit:lower() or format('%.0fms', r.window_ms), start)
end

-- The period that contains now: start and end.
local function period(r)
  if r.unit or r.anchor_ms then
    return period_of(r, r.now_ms)
  end
  local now_ms, window_ms = r.now_ms, r.window_ms
  local first = now_ms - now_ms % window_ms
  return first, first + window_ms
end

--@hot
-- What follows the key in the name of the counter.
local function suffix(r)
  if r.unit or r.anchor_ms then
    return calendar_suffix(r, (period(r)))
  end
  local now_ms, window_ms = r.now_ms, r.window_ms
  local number = (now_ms - now_ms % window_ms) / window_ms
  return format(number < 2147483648 and ':%d' or ':%.0f', number)
end

--@cold
-- The same in the next window.
local function next_suffix(r)
  local _, last = period(r)
  if r.unit or r.anchor_ms then
    return calendar_suffix(r, last)
  end
  return ':' .. text_of(last / r.window_ms)
end

local function window_at(r)
  if r.unit or r.anchor_ms then
    return (select(3, period_of(r, r.now_ms)))
  end
  return r.window_ms
end

-- A window from now, as the script sets it. A window of the calendar or with an anchor expires at its end.
local function new_expiry(r)
  if r.unit or r.anchor_ms then
    local _, last = period_of(r, r.now_ms)
    return last
  end
  return r.now_ms + r.window_ms
end

--@hot
-- What TTL replies: seconds, rounded to the nearest; −2 if there is no key.
local function ttl_of_script(expires_at, now_ms)
  if not expires_at then
    return -2
  end
  local ms = (expires_at > now_ms and expires_at - now_ms or 0) + 500
  return (ms - ms % 1000) / 1000
end

local function decide(r, cost)
  local counter, now_ms, limit = r.state, r.now_ms, r.limit
  local before, needed = counter and counter.value or 0, cost == 0 and 1 or cost
  local allowed = needed <= limit and before + needed <= limit
  local counted = (allowed or before >= limit) and cost > 0
  local after = counted and before + cost or before
  if after >= EXACT then
    fail('INEXACT_REPLY')
  end
  local expires_at = counter and not (counted and before == 0) and counter.expires_at or nil
  if not expires_at and (counter or counted) then
    -- As in the script, a counter that becomes 1 gets a new expiry. A counter without one gets one as well.
    expires_at = (r.unit or r.anchor_ms) and new_expiry(r) or now_ms + r.window_ms
  end
  r.allowed, r.count, r.ttl, r.change = allowed, after, ttl_of_script(expires_at, now_ms), 'keep'
  if counted or (counter and not counter.expires_at) then
    r.change, r.after = 'charge', { value = after, expires_at = expires_at }
  end
end

local function forecast(r, _, counter)
  local value, limit = counter and counter.value or 0, r.limit
  r.units = value > 0 and value or 0
  r.remaining = r.units < limit and limit - r.units or 0
end

local function wait(r, cost)
  local limit = r.limit
  if cost > limit then
    return nil
  elseif r.units + cost <= limit then
    return 0
  end
  if r.unit or r.anchor_ms then
    local _, last = period(r)
    return last - r.now_ms
  end
  return r.window_ms - r.now_ms % r.window_ms
end

local function commit(r, change, after)
  local key, before = r.key, r.state
  if change == 'delete' then
    call('UNLINK', key)
  elseif change ~= 'keep' then
    local delta = after.value - (before and before.value or 0)
    if delta ~= 0 then
      call('INCRBY', key, delta == 1 and '1' or format('%.0f', delta))
    end
    if not before or after.expires_at ~= before.expires_at then
      set_expiry(key, after.expires_at)
    end
  end
end

--@cold
-- `count` and `ttl` of a request with ALWAYS.
local function verdict_after(counter, now_ms)
  return counter and counter.value or 0, ttl_of_script(counter and counter.expires_at, now_ms)
end

-- A denied request with RESERVE is not counted.
local function decide_without_denials(r, cost)
  local before = r.state and r.state.value or 0
  local fits = needed_for(cost) <= r.limit and before + needed_for(cost) <= r.limit
  decide(r, fits and cost or 0)
  r.allowed, r.needed = fits, needed_for(cost)
end

local function end_of_period(r)
  local _, last = period(r)
  return last
end

local function is_current_period(r, at_ms)
  return not at_ms or not less(at_ms, (period(r)))
end

-- Gives back from min(counter, limit): what is above the limit was never available.
local function refund(r, at_ms, cost)
  local counter = r.state
  if not counter or not is_current_period(r, at_ms) then
    return 'keep'
  end
  local value = counter.value
  if value > 0 and cost > 0 then
    value = math.max(0, math.min(value, r.limit) - cost)
  end
  if value == counter.value and counter.expires_at then
    return 'keep'
  end
  return 'refund', { value = value, expires_at = counter.expires_at or new_expiry(r) }
end

local function overcharge(r, at_ms, cost)
  local counter = r.state
  if cost == 0 or not is_current_period(r, at_ms) then
    return 'keep'
  end
  local before = counter and counter.value or 0
  -- The reply is that of a request of one unit more.
  if before + cost + 1 >= EXACT then
    fail('INEXACT_REPLY')
  end
  local held = before ~= 0 and counter.expires_at
  return 'charge', { value = before + cost, expires_at = held or new_expiry(r) }
end

-- Corrects the counter itself, which may be above the limit, if the charge was in the current window.
local function settle_reserved(r, charge, actual)
  local counter, reserved = r.state, charge.cost or 0
  if charge.counts_until ~= end_of_period(r) then
    return 'keep'
  elseif actual >= reserved then
    return overcharge(r, nil, actual - reserved)
  elseif not counter or counter.value <= 0 then
    return 'keep'
  end
  local value = math.max(0, counter.value - (reserved - actual))
  return 'refund', { value = value, expires_at = counter.expires_at or new_expiry(r) }
end

return {
  word = 'FIXED',
  takes = ' COST PARTIAL ALWAYS ANCHOR RESERVE RESERVATION ',
  ttl_of_script = true,
  infix = infix,
  suffix = suffix,
  next_suffix = next_suffix,
  window_at = window_at,
  load = load_counter,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit,
  verdict_after = verdict_after,
  decide_reserving = decide_without_denials,
  counts_until = end_of_period,
  refund = refund,
  overcharge = overcharge,
  settle_reserved = settle_reserved,
}
