-- COUNTER: two windows are counted, and the previous one counts by the part of it that the last `window` still covers: with
-- 70 in the previous minute, 20 in this one, and 30 % of this one over, the count is 20 + 70 × 0.7 = 69. That never exceeds
-- `limit`. It assumes that the previous window was filled evenly.
--
-- The state is C:<window in ms>:<number of the window since 1970>:<current>:<previous>.

do
  local function load(r)
    local text = call('GET', r.key)
    r.state = nil
    if text then
      local window, number, current, previous = match(text, '^C:(%d+):(%d+):(%d+):(%d+)$')
      if not window or window + 0 < 1 or window + 0 > 1e15 or number * window > 2 ^ 63 / 1000 or current + 0 > 2 ^ 63
        or previous + 0 > 2 ^ 63 or number == '0' and previous ~= '0' then
        fail(nil, text, 'C')
      end
      r.state = { window = window + 0, starts = number * window, current = current + 0, previous = previous + 0 }
    end
  end

  local function record(_, counts)
    local text = format('C:%d:%d:%d:%d', counts.window, counts.starts / counts.window, counts.current, counts.previous)
    return text, counts.starts + counts.window * (counts.current > 0 and 2 or counts.previous > 0 and 1 or 0)
  end

  -- The counts in the window of now and the one before. A count of other windows goes to the window of the latest moment at
  -- which it can have been charged. Counts ahead of the clock are at most the limit, so that a clock that stepped back does
  -- not block for longer than the limit itself does.
  local function align(r, counts)
    local window = r.window
    local starts = now_ms - now_ms % window
    if counts and counts.starts == starts and counts.window == window then
      return counts
    end
    local aligned = { window = window, starts = starts, current = 0, previous = 0 }
    if counts and counts.starts > now_ms then
      aligned.current = math.min(counts.current + counts.previous, r.limit)
    elseif counts then
      local function add(units, ends)
        local place = ends > starts and 'current' or ends + window > starts and 'previous'
        if place then
          aligned[place] = math.min(aligned[place] + units, 2 ^ 63)
        end
      end
      add(counts.current, counts.starts + counts.window)
      add(counts.previous, counts.starts)
    end
    return aligned
  end

  -- What the previous window counts now: whole units, and whether a fraction comes on top.
  local function weighted(r, counts)
    local window = r.window * 1000
    local units, rest = divide(counts.previous * (window - (now - counts.starts * 1000)), window)
    return units, rest > 0 and 1 or 0
  end

  local function decide(r, cost)
    local old, counts = r.state, align(r, r.state)
    local units, fraction = weighted(r, counts)
    local count, allowed = counts.current + units, nil
    allowed = count + fraction + (cost == 0 and 1 or cost) <= r.limit
    if allowed and cost > 0 then
      return true, count, 'charge', { window = counts.window, starts = counts.starts, current = counts.current + cost, previous = counts.previous }
    elseif old and r.limit > 0 and (old.starts > now_ms or old.window ~= r.window) and counts.current + counts.previous > 0 then
      -- Else every call would align the stored counts anew, each time to a later window.
      return allowed, count, 'rebase', counts
    end
    return allowed, count
  end

  local function forecast(r, counts)
    r.counts = align(r, counts)
    local units, fraction = weighted(r, r.counts)
    return math.max(0, r.limit - r.counts.current - units - fraction)
  end

  -- How far into the window after its own a count weighs no more than `room`, in microseconds.
  local function until_weight_is(r, room, count)
    local window = r.window * 1000
    return count == 0 and 0 or math.max(0, window - divide(room * window, count))
  end

  local function wait(r, cost)
    local room, counts = r.limit - cost, r.counts
    local at = counts.starts * 1000
    if room < 0 then
      return nil
    elseif room >= counts.current then
      at = at + until_weight_is(r, room - counts.current, counts.previous)
    else
      at = at + r.window * 1000 + until_weight_is(r, room, counts.current)
    end
    return divide_up(math.max(0, at - now), 1000)
  end

  algorithms.COUNTER = {
    takes = 'COST PARTIAL ALWAYS', load = load, decide = decide, forecast = forecast, wait = wait,
    commit = records(record, false),
  }

  if not is_plain then
    -- The window that a time is in; nil if it is over. The future is the current window.
    local function place_of(counts, at)
      if not at or at >= counts.starts then
        return 'current'
      end
      return at + counts.window >= counts.starts and 'previous' or nil
    end

    -- Takes the units that were charged last: from the current window, and the rest from the previous one. With a time, from
    -- the window of that time alone.
    algorithms.COUNTER.refund = function(r, at, cost)
      local counts = align(r, r.state)
      local current, previous, place = counts.current, counts.previous, place_of(counts, at)
      if not at then
        previous = math.max(0, previous - math.max(0, cost - current))
      elseif place == 'previous' then
        previous = math.max(0, previous - cost)
      end
      current = place == 'current' and math.max(0, current - cost) or current
      if current == counts.current and previous == counts.previous then
        return nil
      elseif current + previous == 0 then
        return 'delete'
      end
      return 'refund', { window = counts.window, starts = counts.starts, current = current, previous = previous }
    end

    algorithms.COUNTER.overcharge = function(r, at, cost)
      local counts = align(r, r.state)
      local place = place_of(counts, at)
      if cost > 0 and place then
        local after = { window = counts.window, starts = counts.starts, current = counts.current, previous = counts.previous }
        after[place] = after[place] + cost
        if after[place] > 2 ^ 63 - 1024 or after.current + weighted(r, after) > 2 ^ 63 - 1024 then
          fail('increment or decrement would overflow')
        end
        return 'charge', after
      end
    end
  end
end
