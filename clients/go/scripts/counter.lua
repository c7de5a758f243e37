-- COUNTER: two windows are counted, and the previous one counts by the part of it that the last `window` still covers: with
-- 70 in the previous minute, 20 in this one, and 30 % of this one over, the count is 20 + 70 × 0.7 = 69. That never exceeds
-- `limit`. It assumes that the previous window was filled evenly.
--
-- The state is C:<window in ms>:<number of the window since 1970>:<current>:<previous>.

do
  local function load(r)
    local text = redis.call('GET', r.key)
    if text then
      local window, number, current, previous = string.match(text, '^C:(%d+):(%d+):(%d+):(%d+)$')
      if not window then
        fail(nil, text, 'C')
      end
      local counts = { window = window + 0, starts = number * window, current = current + 0, previous = previous + 0 }
      if counts.window < 1 or counts.window > 1e15 or counts.starts > 2 ^ 63 / 1000 or counts.current > 2 ^ 63
        or counts.previous > 2 ^ 63 or counts.starts == 0 and counts.previous > 0 then
        fail(nil, text, 'C')
      end
      return counts
    end
  end

  local function record(_, counts)
    local window, starts, current, previous = counts.window, counts.starts, counts.current, counts.previous
    return string.format('C:%d:%d:%d:%d', window, starts / window, current, previous),
      starts + window * (current > 0 and 2 or previous > 0 and 1 or 0)
  end

  -- The counts in the window of now and the one before. A count of other windows goes to the window of the latest moment at
  -- which it can have been charged. Counts ahead of the clock are at most the limit, so that a clock that stepped back does
  -- not block for longer than the limit itself does. Returns also what the previous window counts now: whole units, and 1 if
  -- a fraction comes on top.
  local function align(r, old)
    local window, counts = r.window, old
    local starts = now_ms - now_ms % window
    if not old or old.starts ~= starts or old.window ~= window then
      counts = { window = window, starts = starts, current = 0, previous = 0 }
      if old and old.starts > now_ms then
        counts.current = math.min(old.current + old.previous, r.limit)
      elseif old then
        for n = 0, 1 do
          local ends, units = old.starts + n * old.window, n == 1 and old.current or old.previous
          local place = ends > starts and 'current' or ends + window > starts and 'previous'
          if place then
            counts[place] = math.min(counts[place] + units, 2 ^ 63)
          end
        end
      end
    end
    if counts.previous == 0 then
      return counts, 0, 0
    end
    local units, rest = divide(counts.previous * ((window + starts) * 1000 - now), window * 1000)
    return counts, units, rest > 0 and 1 or 0
  end

  local function decide(r, old, cost)
    local counts, units, fraction = align(r, old)
    local window, current, previous = r.window, counts.current, counts.previous
    local count = current + units
    local allowed = count + fraction + (cost == 0 and 1 or cost) <= r.limit
    if allowed and cost > 0 then
      return true, count, 'charge', { window = window, starts = counts.starts, current = current + cost, previous = previous }
    elseif old and r.limit > 0 and (old.starts > now_ms or old.window ~= window) and current + previous > 0 then
      -- Else every call would align the stored counts anew, each time to a later window.
      return allowed, count, 'rebase', counts
    end
    return allowed, count
  end

  -- The current window loses weight as well, one window later.
  local function wait(r, counts, cost)
    local window, room, at, count = r.window * 1000, r.limit - cost, counts.starts * 1000, counts.previous
    if room < 0 then
      return -1
    elseif room >= counts.current then
      room = room - counts.current
    else
      at, count = at + window, counts.current
    end
    -- How far into that window the count weighs no more than `room`.
    local covered = count > 0 and divide(room * window, count) or window
    at = covered < window and at + window - covered or at
    return at > now and divide(at - now, 1000, 'up') or 0
  end

  local function figures(r, old, needed)
    local counts, units, fraction = align(r, old)
    local room = r.limit - counts.current - units - fraction
    local remaining = room > 0 and room or 0
    local retry = needed and wait(r, counts, needed)
    return remaining, retry, wait(r, counts, remaining + 1), wait(r, counts, r.limit)
  end

  algorithms.COUNTER = {
    takes = 'COST PARTIAL ALWAYS', load = load, decide = decide, figures = figures, commit = shared('record', record, false),
  }

  if may_correct then
    -- The window that a time is in; nil if it is over. The future is the current window.
    local function place_of(counts, at)
      if not at or at >= counts.starts then
        return 'current'
      end
      return at + counts.window >= counts.starts and 'previous' or nil
    end

    -- Takes the units that were charged last: from the current window, and the rest from the previous one. With a time, from
    -- the window of that time alone.
    algorithms.COUNTER.refund = function(r, old, at, cost)
      local counts = align(r, old)
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

    algorithms.COUNTER.overcharge = function(r, old, at, cost)
      local counts = align(r, old)
      local place = place_of(counts, at)
      if cost > 0 and place then
        local after = { window = r.window, starts = counts.starts, current = counts.current, previous = counts.previous }
        after[place] = after[place] + cost
        local _, units = align(r, after)
        if after[place] > 2 ^ 63 - 1024 or after.current + units > 2 ^ 63 - 1024 then
          fail('increment or decrement would overflow')
        end
        return 'charge', after
      end
    end
  end
end
