-- COUNTER: two aligned windows, of which the previous one counts in proportion. The state is
-- { window_ms, start_ms, current, previous }.

local function decode(text)
  local window_ms, number, current, previous, rest = words_of(text, '^C:(%d+):(%d+):(%d+):(%d+)(.*)$')
  if not is_window(window_ms) or not number or not current or not previous or rest ~= '' then
    return nil
  end
  local start_ms = mul(number, window_ms)
  local start = mul(start_ms, 1000)
  if start - start ~= 0 or current - current ~= 0 or previous - previous ~= 0 then
    if is_beyond_count(start) or is_beyond_count(current) or is_beyond_count(previous) then
      return nil
    end
  end
  if start_ms == 0 and previous ~= 0 then
    return nil
  end
  return { window_ms = window_ms, start_ms = start_ms, current = current, previous = previous }
end

local function encode(counts)
  local window_ms, current, previous = counts.window_ms, counts.current, counts.previous
  local number = divide(counts.start_ms, window_ms)
  local large = number - number ~= 0 or current - current ~= 0 or previous - previous ~= 0
  if large then
    number, current, previous = text_of(number), text_of(current), text_of(previous)
    return 'C:' .. text_of(window_ms) .. ':' .. number .. ':' .. current .. ':' .. previous
  end
  return format('C:%.0f:%.0f:%.0f:%.0f', window_ms, number, current, previous)
end

local function expires_at(_, counts)
  local windows = counts.current ~= 0 and 2 or counts.previous ~= 0 and 1 or 0
  return add(counts.start_ms, counts.window_ms * windows)
end

local function state_of(window_ms, start_ms, current, previous)
  return { window_ms = window_ms, start_ms = start_ms, current = current, previous = previous }
end

--@cold
local function no_more_than_count(n)
  return min(n, MAX_COUNT)
end

-- The counts of other windows, or from ahead of the clock, in the window that starts at `start_ms`.
local function realign(r, old, start_ms)
  local window_ms = r.window_ms
  if less(r.now_ms, old.start_ms) then
    return state_of(window_ms, start_ms, min(add(old.current, old.previous), r.limit), 0)
  end
  local aligned = state_of(window_ms, start_ms, 0, 0)
  local function place(count, end_ms)
    if end_ms > start_ms then
      aligned.current = no_more_than_count(add(aligned.current, count))
    elseif end_ms + window_ms > start_ms then
      aligned.previous = no_more_than_count(add(aligned.previous, count))
    end
  end
  place(old.current, old.start_ms + old.window_ms)
  place(old.previous, old.start_ms)
  return aligned
end

--@hot
-- The counts in windows of this length, aligned to the window of now. Each old count goes to the window of the latest
-- moment at which it can have been charged. Counts ahead of the clock are reduced to the limit, so that a clock that
-- stepped back does not block for longer than the limit itself does.
local function align(r, old)
  local now_ms, window_ms = r.now_ms, r.window_ms
  local start_ms = now_ms - now_ms % window_ms
  if not old then
    return state_of(window_ms, start_ms, 0, 0)
  elseif old.start_ms == start_ms and old.window_ms == window_ms then
    return old
  end
  return realign(r, old, start_ms)
end

-- The weighted count of the previous window, in parts of 1/window.
local function weighted_previous(r, counts)
  local previous = counts.previous
  return previous == 0 and 0 or mul(previous, sub(r.window, r.now - counts.start_ms * 1000))
end

local function set_forecast(r, counts, weighted)
  r.counts = counts
  r.remaining = sub(sub(r.limit, counts.current), weighted == 0 and 0 or divide_up(weighted, r.window))
end

local function forecast(r, _, old)
  local counts = align(r, old)
  set_forecast(r, counts, weighted_previous(r, counts))
end

-- How far into the window after its own `count` weighs no more than `room`.
local function time_until_weight_is(r, room, count)
  return count == 0 and 0 or sub(r.window, (divide(mul(room, r.window), count)))
end

local function wait(r, cost)
  local room, counts = r.limit - cost, r.counts
  local current, start = counts.current, mul(counts.start_ms, 1000)
  if room < 0 then
    return nil
  elseif less(room, current) then
    start = add(add(start, r.window), time_until_weight_is(r, room, current))
  else
    start = add(start, time_until_weight_is(r, room - current, counts.previous))
  end
  return divide_up(sub(start, r.now), 1000)
end

local function decide(r, cost)
  local old, limit, window = r.state, r.limit, r.window
  local counts = align(r, old)
  local current, previous = counts.current, weighted_previous(r, counts)
  -- In parts of 1/window, so nothing is rounded.
  local needed = mul(add(current, cost == 0 and 1 or cost), window)
  local allowed = not less(mul(limit, window), add(needed, previous))
  r.allowed, r.change = allowed, 'keep'
  r.count = exact(previous == 0 and current or add(current, (divide(previous, window))))
  if allowed and cost > 0 then
    counts = state_of(r.window_ms, counts.start_ms, add(current, cost), counts.previous)
    r.change, r.after = 'charge', counts
  elseif old and limit > 0 and (less(r.now_ms, old.start_ms) or old.window_ms ~= r.window_ms) then
    -- Else every call would align the stored counts anew, each time to a later window, and they would never lose their
    -- effect. An empty record is not written.
    --@rare
    if current ~= 0 or counts.previous ~= 0 then
      r.change, r.after = 'rebase', counts
    end
  end
  if allowed then
    r.ttl = exact(divide_up(sub(mul(expires_at(r, counts), 1000), r.now), 1000000))
  else
    set_forecast(r, counts, previous)
    r.ttl = ttl_of_denial(r, cost)
  end
end

--@cold
-- The window that a time is in. The future is the current window.
local function place_of(counts, at_ms)
  if not at_ms or not less(at_ms, counts.start_ms) then
    return 'current'
  end
  return at_ms + counts.window_ms >= counts.start_ms and 'previous' or nil
end

-- Takes the units that were charged last; with `at_ms`, from the window of that time alone.
local function refund(r, at_ms, cost)
  local counts = align(r, r.state)
  local place = place_of(counts, at_ms)
  local from_current = place == 'current' and cost or 0
  local from_previous = place == 'previous' and cost or 0
  if not at_ms then
    from_previous = sub(cost, counts.current)
  end
  local current, previous = sub(counts.current, from_current), sub(counts.previous, from_previous)
  if not less(current, counts.current) and not less(previous, counts.previous) then
    return 'keep'
  elseif current == 0 and previous == 0 then
    return 'delete'
  end
  return 'refund', state_of(counts.window_ms, counts.start_ms, current, previous)
end

local function overcharge(r, at_ms, cost)
  local counts = align(r, r.state)
  local place = place_of(counts, at_ms)
  if cost == 0 or not place then
    return 'keep'
  end
  local charged = state_of(counts.window_ms, counts.start_ms, counts.current, counts.previous)
  charged[place] = add(charged[place], cost)
  local weighted = add(mul(charged.current, r.window), weighted_previous(r, charged))
  if is_beyond_count(charged[place]) or less(mul(MAX_COUNT, r.window), weighted) then
    fail('OVERFLOW')
  end
  return 'charge', charged
end

-- The end of the next window.
local function counts_until(r)
  return r.now_ms - r.now_ms % r.window_ms + 2 * r.window_ms
end

local function settle_reserved(r, charge, actual)
  local reserved = charge.cost or 0
  if charge.counts_until <= r.now_ms then
    return 'keep'
  elseif actual < reserved then
    return refund(r, charge.charged_at, reserved - actual)
  end
  return overcharge(r, charge.charged_at, actual - reserved)
end

return {
  word = 'COUNTER',
  takes = ' COST PARTIAL ALWAYS RESERVE RESERVATION ',
  decode = decode,
  encode = encode,
  expires_at = expires_at,
  expiry_after = expiry_after,
  load = load_record,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit_record,
  counts_until = counts_until,
  refund = refund,
  overcharge = overcharge,
  settle_reserved = settle_reserved,
}
