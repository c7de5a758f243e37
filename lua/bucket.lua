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
    local text = call('GET', r.key)
    r.state = nil
    if text then
      local letter, units, parts, window, at, debt = match(text, '^(%u):(%d+):(%d+):(%d+):(%d+):?(%d*)$')
      if letter ~= r.letter or window + 0 < 1 or window + 0 > 1e15 or parts + 0 >= window * 1000 or units + 0 > 2 ^ 63
        or at + 0 > 2 ^ 63 or debt == '' and find(text, ':$') or debt ~= '' and (debt == '0' or debt + 0 > 2 ^ 63) then
        fail(nil, text, r.letter)
      end
      debt = debt == '' and 0 or debt + 0
      r.state = { units = units + 0, parts = parts + 0, window = window + 0, at = at + 0, debt = debt }
    end
  end

  local function prepare(r)
    r.letter, r.micros = r.word == 'TOKEN' and 'T' or 'L', r.window * 1000
    if r.limit > 0 and (r.BURST or r.limit) * r.micros > r.limit * 1e18 then
      fail('invalid window, limit or BURST')
    end
  end

  -- The level when it was written: at most full since then, and the debt on top.
  local function written(r, level)
    local units, parts = level.units, level.parts
    if parts > 0 and level.window ~= r.window then
      parts = divide_up(parts * r.micros, level.window * 1000)
      if parts >= r.micros then
        units, parts = units + 1, 0
      end
    end
    if units >= (r.BURST or r.limit) then
      units, parts = (r.BURST or r.limit), 0
    end
    return units + level.debt, parts
  end

  -- The level now. If it was written ahead of the clock, nothing has drained yet. Drained parts round down.
  local function level_now(r, level)
    if not level then
      return 0, 0
    end
    local units, parts = written(r, level)
    if now > level.at then
      local drained = (now - level.at) * r.limit
      drained = drained < 2 ^ 53 and drained or drained * (1 - 2 ^ -53)
      local drained_units, drained_parts = divide(drained, r.micros)
      units, parts = units - drained_units, parts - drained_parts
      if parts < 0 then
        units, parts = units - 1, parts + r.micros
      end
    end
    if units < 0 then
      return 0, 0
    end
    return units, parts
  end

  -- The milliseconds until so much has drained.
  local function time_to_drain(r, units, parts)
    return divide_up(units * r.micros + parts, r.limit * 1000)
  end

  -- With a limit of 0 nothing drains, and nothing is charged.
  local function record(r, level)
    local text = format('%s:%d:%d:%d:%d', r.letter, level.units, level.parts, level.window, level.at)
    if level.debt > 0 then
      text = text .. format(':%d', level.debt)
    end
    if r.limit == 0 then
      return text, divide_up(level.at, 1000)
    end
    local units, parts = written(r, level)
    return text, divide_up(level.at + divide_up(units * r.micros + parts, r.limit), 1000)
  end

  local function decide(r, cost)
    local level, limit = r.state, r.limit
    local units, parts = level_now(r, level)
    local count = parts > 0 and units + 1 or units
    local allowed = limit > 0 and count + (cost == 0 and 1 or cost) <= (r.BURST or limit)
    r.delay = r.letter == 'L' and allowed and time_to_drain(r, units, parts) or nil
    if allowed and cost > 0 then
      return true, count, 'charge', { units = units + cost, parts = parts, window = r.window, at = now, debt = 0 }
    elseif level and level.at > now and limit > 0 then
      -- Not reduced to the capacity: another call may name a larger one.
      return allowed, count, 'rebase', { units = level.units, parts = level.parts, window = level.window, at = now, debt = level.debt }
    end
    return allowed, count
  end

  local function forecast(r, level)
    r.level, r.level_parts = level_now(r, level)
    return r.limit > 0 and math.max(0, (r.BURST or r.limit) - r.level - (r.level_parts > 0 and 1 or 0)) or 0
  end

  local function wait(r, cost)
    local excess = r.level - ((r.BURST or r.limit) - cost)
    if r.limit == 0 or cost > (r.BURST or r.limit) then
      return nil
    end
    return excess >= 0 and time_to_drain(r, excess, r.level_parts) or 0
  end

  algorithms.TOKEN = {
    takes = 'COST PARTIAL ALWAYS BURST', prepare = prepare, load = load, decide = decide, forecast = forecast, wait = wait,
    commit = records(record, true),
  }
  algorithms.LEAKY = algorithms.TOKEN

  if not is_plain then
    algorithms.LEAKY = setmetatable({ takes = 'COST PARTIAL BURST' }, { __index = algorithms.TOKEN })

    -- Lowers the level as it was written, the debt first. What has drained since stays drained.
    algorithms.TOKEN.refund = function(r, _, cost)
      local level = r.state
      local now_units, now_parts = level_now(r, level)
      if cost == 0 or now_units + now_parts == 0 then
        return nil
      end
      local units, parts, rest = level.units, level.parts, math.max(0, cost - level.debt)
      if units >= (r.BURST or r.limit) then
        units, parts = (r.BURST or r.limit), 0
      end
      if rest > units then
        units, parts, rest = 0, 0, 0
      end
      local after = { units = units - rest, parts = parts, window = level.window, at = level.at, debt = math.max(0, level.debt - cost) }
      now_units, now_parts = level_now(r, after)
      return now_units + now_parts == 0 and 'delete' or 'refund', after
    end

    algorithms.TOKEN.overcharge = function(r, _, cost)
      if cost == 0 or r.limit == 0 then
        return nil
      end
      local units, parts = level_now(r, r.state)
      units = units + cost
      if units >= 2 ^ 63 then
        fail('increment or decrement would overflow')
      end
      -- The parts stay below the capacity, so debt is a number of whole units.
      local most = math.min(units, parts > 0 and (r.BURST or r.limit) - 1 or (r.BURST or r.limit))
      return 'charge', { units = most, parts = parts, window = r.window, at = now, debt = units - most }
    end
  end
end
