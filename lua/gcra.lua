-- GCRA: a token bucket whose whole state is one time, the theoretical arrival time (TAT), as redis-cell stores it:
-- nanoseconds since the epoch. Each charged unit moves it one interval, window / limit, into the future. A request is
-- allowed while the TAT is at most BURST intervals ahead of the clock: never more than BURST + limit × t / window units in
-- any span t. The interval is rounded up to nanoseconds, so the rate never exceeds the limit.
--
-- A double does not hold the TAT, so its microseconds and its last three digits are read apart. How far it is ahead of the
-- clock is a double.

do
  local function load(r)
    local text = call('GET', r.key)
    r.state = nil
    if text then
      if not find(text, '^%d+$') or text + 0 >= 2 ^ 64 or find(text, '^0.') then
        fail(nil, text)
      end
      r.state = { micros = tonumber(string.sub(text, 1, -4)) or 0, nanos = string.sub(text, -3) + 0 }
    end
  end

  local function record(_, tat)
    local text = tat.micros > 0 and format('%d%03d', tat.micros, tat.nanos) or format('%d', tat.nanos)
    return text, divide_up(tat.nanos > 0 and tat.micros + 1 or tat.micros, 1000)
  end

  local function prepare(r)
    local window = r.window * 1000000
    r.interval = r.limit > 0 and divide_up(window, r.limit) or 0
    r.tolerance = (r.BURST or r.limit) * r.interval
    if r.limit > window or r.tolerance > 4e18 then
      fail('invalid window, limit or BURST')
    end
  end

  -- The time so many nanoseconds ahead of now.
  local function tat_at(ahead)
    local micros, nanos = divide(ahead, 1000)
    return { micros = now + micros, nanos = nanos }
  end

  -- How far the TAT is ahead of now, at most the tolerance, and whether it is further ahead.
  local function ahead_of(r, tat)
    local ahead = tat and tat.micros >= now and (tat.micros - now) * 1000 + tat.nanos or 0
    return math.min(ahead, r.tolerance), ahead > r.tolerance
  end

  local function used(r, ahead)
    return r.interval > 0 and divide_up(ahead, r.interval) or 0
  end

  local function decide(r, cost)
    local ahead, is_beyond = ahead_of(r, r.state)
    local after, count = ahead + (cost == 0 and 1 or cost) * r.interval, used(r, ahead)
    local allowed = r.interval > 0 and after <= r.tolerance
    if allowed and cost > 0 then
      return true, count, 'charge', tat_at(after)
    elseif not allowed and is_beyond and r.interval > 0 then
      return false, count, 'rebase', tat_at(ahead)
    end
    return allowed, count
  end

  local function forecast(r, tat)
    r.ahead = ahead_of(r, tat)
    return r.interval > 0 and math.max(0, (r.BURST or r.limit) - used(r, r.ahead)) or 0
  end

  local function wait(r, cost)
    if r.interval > 0 and cost <= (r.BURST or r.limit) then
      return divide_up(math.max(0, r.ahead - (r.tolerance - cost * r.interval)), 1000000)
    end
  end

  algorithms.GCRA = {
    takes = 'COST PARTIAL BURST', prepare = prepare, load = load, decide = decide, forecast = forecast, wait = wait,
    commit = records(record, false),
  }

  if not is_plain then
    algorithms.GCRA.refund = function(r, _, cost)
      local ahead, given = ahead_of(r, r.state), cost * r.interval
      if ahead == 0 or given == 0 then
        return nil
      elseif given >= ahead then
        return 'delete'
      end
      return 'refund', tat_at(ahead - given)
    end

    -- Charges up to full. A TAT cannot say more, so the rest is forgotten.
    algorithms.GCRA.overcharge = function(r, _, cost)
      if cost > 0 and r.interval > 0 then
        return 'charge', tat_at(math.min(ahead_of(r, r.state) + cost * r.interval, r.tolerance))
      end
    end
  end
end
