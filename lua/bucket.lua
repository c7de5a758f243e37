-- TOKEN and LEAKY: a level that rises by what is charged and drains at a steady rate.
--
-- TOKEN is a bucket of BURST tokens that fills with `limit` tokens each window, without drift. A request takes its tokens
-- if they are there: never more than BURST + limit × t / window units in any span t.
-- LEAKY is a queue of at most BURST units, of which `limit` leave each window, one after another. The reply says how long
-- to hold a request: until those before it have left.
--
-- Both store the amount used, not the amount left, so a raised limit gives room at once. A unit is divided into as many
-- parts as the window has microseconds: then `limit` parts drain in each microsecond, and nothing is lost from call to
-- call. The state is T:<units>:<parts>:<window in ms>:<time in µs>, or L:. What SETTLE or ALWAYS charge beyond the
-- capacity is debt, one more number at the end: it drains before anything else is allowed.

do
  local function load(r)
    local text = redis.call('GET', r.key)
    if text then
      local letter, units, parts, window, at, rest = string.match(text, '^(%u):(%d+):(%d+):([1-9]%d*):(%d+)(.*)$')
      local debt = rest == '' and 0 or string.match(rest or '', '^:([1-9]%d*)$')
      local level = debt and { units = units + 0, parts = parts + 0, window = window + 0, at = at + 0, debt = debt + 0 }
      if letter ~= r.letter or not level or level.window > 1e15 or level.parts >= level.window * 1000
        or level.units > 2 ^ 63 or level.at > 2 ^ 63 or level.debt > 2 ^ 63 then
        fail(nil, text, r.letter)
      end
      return level
    end
  end

  local function prepare(r, _, word)
    r.letter = word == 'TOKEN' and 'T' or 'L'
    if r.limit > 0 and (r.BURST or r.limit) * r.window > r.limit * 1e15 then
      fail('invalid window, limit or BURST')
    end
  end

  -- The level at a time: units and parts. When it was written, it was at most full, and the debt comes on top. Drained parts
  -- round down.
  local function level_at(r, level, at)
    if not level then
      return 0, 0
    end
    local units, parts, micros, capacity = level.units, level.parts, r.window * 1000, r.BURST or r.limit
    if parts > 0 and level.window ~= r.window then
      parts = divide(parts * micros, level.window * 1000, 'up')
      if parts >= micros then
        units, parts = units + 1, 0
      end
    end
    if units >= capacity then
      units, parts = capacity, 0
    end
    units = units + level.debt
    if at > level.at then
      local drained = (at - level.at) * r.limit
      local drained_units, drained_parts = divide(drained < 2 ^ 53 and drained or drained * (1 - 2 ^ -53), micros)
      units, parts = units - drained_units, parts - drained_parts
      if parts < 0 then
        units, parts = units - 1, parts + micros
      end
      if units < 0 then
        return 0, 0
      end
    end
    return units, parts
  end

  local function record(r, level)
    local text = string.format('%s:%d:%d:%d:%d', r.letter, level.units, level.parts, level.window, level.at)
    local units, parts = level_at(r, level, 0)
    local drains = r.limit > 0 and divide(units * r.window * 1000 + parts, r.limit, 'up') or 0
    return level.debt > 0 and text .. string.format(':%d', level.debt) or text, divide(level.at + drains, 1000, 'up')
  end

  -- With a limit of 0 nothing drains, and nothing is charged.
  local function decide(r, level, cost)
    local units, parts = level_at(r, level, now)
    local count, limit = parts > 0 and units + 1 or units, r.limit
    local allowed = limit > 0 and count + (cost == 0 and 1 or cost) <= (r.BURST or limit)
    if r.letter == 'L' then
      local delay = allowed and divide(units * r.window * 1000 + parts, limit * 1000, 'up') or 0
      r.delay = delay > 0 and delay or nil
    end
    if allowed and cost > 0 then
      return true, count, 'charge', { units = units + cost, parts = parts, window = r.window, at = now, debt = 0 }
    elseif level and level.at > now and limit > 0 then
      -- Not reduced to the capacity: another call may name a larger one.
      local after = { units = level.units, parts = level.parts, window = level.window, at = now, debt = level.debt }
      return allowed, count, 'rebase', after
    end
    return allowed, count
  end

  local function figures(r, level, needed)
    local units, parts = level_at(r, level, now)
    local micros, rate, capacity = r.window * 1000, r.limit * 1000, r.BURST or r.limit
    if rate == 0 then
      return 0, -1, -1, -1
    end
    local count = parts > 0 and units + 1 or units
    local remaining = count < capacity and capacity - count or 0
    local retry
    if needed then
      local excess = units + needed - capacity
      retry = needed > capacity and -1 or excess < 0 and 0 or divide(excess * micros + parts, rate, 'up')
    end
    return remaining, retry, divide((units + remaining + 1 - capacity) * micros + parts, rate, 'up'),
      (divide(units * micros + parts, rate, 'up'))
  end

  algorithms.TOKEN = {
    takes = 'COST PARTIAL ALWAYS BURST', prepare = prepare, load = load, decide = decide, figures = figures,
    commit = shared('record', record, true),
  }
  algorithms.LEAKY = algorithms.TOKEN

  if may_correct then
    algorithms.LEAKY = setmetatable({ takes = 'COST PARTIAL BURST' }, { __index = algorithms.TOKEN })

    -- Lowers the level as it was written, the debt first. What has drained since stays drained.
    algorithms.TOKEN.refund = function(r, level, _, cost)
      local capacity, units, parts = r.BURST or r.limit, level_at(r, level, now)
      if cost == 0 or units + parts == 0 then
        return nil
      end
      local debt, rest = math.max(0, level.debt - cost), math.max(0, cost - level.debt)
      units, parts = math.min(level.units, capacity), level.units < capacity and level.parts or 0
      if rest > units then
        units, parts, rest = 0, 0, 0
      end
      local after = { units = units - rest, parts = parts, window = level.window, at = level.at, debt = debt }
      units, parts = level_at(r, after, now)
      return units + parts == 0 and 'delete' or 'refund', after
    end

    -- RL.SHARE lends no more than the limit beyond the capacity, so whoever comes after a load waits for no longer than a
    -- window.
    algorithms.TOKEN.lent = function(r, level, cost)
      local units, parts = level_at(r, level, now)
      return math.max(0, math.min(cost, (r.BURST or r.limit) + r.limit - units - (parts > 0 and 1 or 0)))
    end

    algorithms.TOKEN.overcharge = function(r, level, _, cost)
      if cost == 0 or r.limit == 0 then
        return nil
      end
      local units, parts = level_at(r, level, now)
      units = units + cost
      if units >= 2 ^ 63 then
        fail('increment or decrement would overflow')
      end
      -- The parts stay below the capacity, so debt is a number of whole units.
      local most = math.min(units, (r.BURST or r.limit) - (parts > 0 and 1 or 0))
      return 'charge', { units = most, parts = parts, window = r.window, at = now, debt = units - most }
    end
  end
end
