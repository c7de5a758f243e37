-- GCRA: a token bucket whose whole state is one time, the theoretical arrival time (TAT), as redis-cell stores it:
-- nanoseconds since the epoch. Each charged unit moves it one interval, window / limit, into the future. A request is
-- allowed while the TAT is at most BURST intervals ahead of the clock: never more than BURST + limit × t / window units in
-- any span t. The interval is rounded up to nanoseconds, so the rate never exceeds the limit.
--
-- A double does not hold the TAT, so its microseconds and its last three digits are read apart. How far it is ahead of the
-- clock is a double.

do
  local function load(r)
    local text = redis.call('GET', r.key)
    if text then
      local micros, nanos = string.match(text, '^([1-9]%d*)(%d%d%d)$')
      if not micros and (text == '0' or string.find(text, '^[1-9]%d?%d?$')) then
        micros, nanos = '0', text
      end
      if not micros or text + 0 >= 2 ^ 64 then
        fail(nil, text)
      end
      return { micros = micros + 0, nanos = nanos + 0 }
    end
  end

  local function record(_, tat)
    local micros, nanos = tat.micros, tat.nanos
    local text = micros > 0 and string.format('%d%03d', micros, nanos) or string.format('%d', nanos)
    return text, divide(nanos > 0 and micros + 1 or micros, 1000, 'up')
  end

  local function prepare(r)
    local window = r.window * 1000000
    r.interval = r.limit > 0 and divide(window, r.limit, 'up') or 0
    if r.limit > window or (r.BURST or r.limit) * r.interval > 4e18 then
      fail('invalid window, limit or BURST')
    end
  end

  -- How far the TAT is ahead of now in nanoseconds, at most the tolerance, which is the other result.
  local function ahead_of(r, tat)
    local ahead, tolerance = 0, (r.BURST or r.limit) * r.interval
    if tat and tat.micros >= now then
      ahead = (tat.micros - now) * 1000 + tat.nanos
      ahead = ahead < tolerance and ahead or tolerance
    end
    return ahead, tolerance
  end

  -- The time so many nanoseconds ahead of now.
  local function tat_at(ahead)
    local micros, nanos = divide(ahead, 1000)
    return { micros = now + micros, nanos = nanos }
  end

  local function decide(r, tat, cost)
    local interval, ahead, tolerance = r.interval, ahead_of(r, tat)
    if interval == 0 then
      return false, 0
    end
    local after, count = ahead + (cost == 0 and 1 or cost) * interval, divide(ahead, interval, 'up')
    if after <= tolerance then
      if cost > 0 then
        return true, count, 'charge', tat_at(after)
      end
      return true, count
    elseif tat and (tat.micros - now) * 1000 + tat.nanos > tolerance then
      return false, count, 'rebase', tat_at(ahead)
    end
    return false, count
  end

  local function figures(r, tat, needed)
    local interval, capacity, ahead, tolerance = r.interval, r.BURST or r.limit, ahead_of(r, tat)
    if interval == 0 then
      return 0, -1, -1, -1
    end
    local used = divide(ahead, interval, 'up')
    local remaining, retry = used < capacity and capacity - used or 0, nil
    if needed then
      local excess = ahead + needed * interval - tolerance
      retry = needed > capacity and -1 or excess > 0 and divide(excess, 1000000, 'up') or 0
    end
    local excess = ahead + (remaining + 1) * interval - tolerance
    return remaining, retry, excess > 0 and divide(excess, 1000000, 'up') or 0, (divide(ahead, 1000000, 'up'))
  end

  algorithms.GCRA = {
    takes = 'COST PARTIAL BURST', prepare = prepare, load = load, decide = decide, figures = figures,
    commit = shared('record', record, false),
  }

  if may_correct then
    algorithms.GCRA.refund = function(r, tat, _, cost)
      local ahead, given = ahead_of(r, tat), cost * r.interval
      if ahead == 0 or given == 0 then
        return nil
      elseif given >= ahead then
        return 'delete'
      end
      return 'refund', tat_at(ahead - given)
    end

    -- Charges up to full. A TAT cannot say more, so the rest is forgotten.
    algorithms.GCRA.overcharge = function(r, tat, _, cost)
      if cost > 0 and r.interval > 0 then
        local ahead, tolerance = ahead_of(r, tat)
        return 'charge', tat_at(math.min(ahead + cost * r.interval, tolerance))
      end
    end
  end
end
