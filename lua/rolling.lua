-- ROLLING: the same log as SLIDING, packed and weighted: never more than `limit` units in any half-open span of `window`.
-- Requests in the same moment share an entry of 15 bytes, whatever their COST. A moment is 1 ms, or the 4096th part of the
-- window if that is longer, so a unit counts for at least a window, and for at most one moment longer.
--
-- The state is `R:` and the entries, oldest first: a millisecond (7 bytes) and the total of all units up to it (8 bytes),
-- little-endian. The units in a window are the difference of two totals, and a binary search finds both. A double does not
-- hold a total, so it is read in two halves. Most requests read the first 16 entries and the last two, and write one.

do
  local ENTRY, HALF, BLOCK = '<I7I4I4', 2 ^ 32, 16
  local MOMENTS, MAX_ENTRIES = 4096, 8192

  -- The entry `n` of a log, from 0: its millisecond, and both halves of its total, the lower one first. `text` has the
  -- entries `from` to `to`, after two other bytes, `tail` the last two of a long log. The entry `newest` is in the table.
  local function entry(log, n)
    if n == log.newest then
      return log.ms, log.low, log.high
    elseif log.tail and n >= log.tail_from then
      return struct.unpack(ENTRY, log.tail, 15 * (n - log.tail_from) + 1)
    elseif n < log.from or n >= log.to then
      log.from = n - n % BLOCK
      log.to = log.from + BLOCK
      log.text = redis.call('GETRANGE', log.key, string.format('%d', 15 * log.from), string.format('%d', 15 * log.to + 1))
    end
    return struct.unpack(ENTRY, log.text, 15 * (n - log.from) + 3)
  end

  -- A total with more units, or fewer, modulo 2^64, and whether it was beyond that.
  local function plus(low, high, units)
    low = low + units
    local rest = low % HALF
    high = high + (low - rest) / HALF
    return rest, high % HALF, high >= HALF
  end

  -- The units of the entries that count, up to and including the entry `n`.
  local function units_through(log, n)
    local _, low, high = entry(log, n)
    local units = (high - log.base_high) * HALF + (low - log.base_low)
    return units < 0 and units + HALF * HALF or units
  end

  local function units_of(log)
    return log.count > 0 and units_through(log, log.count - 1) or 0
  end

  -- How many entries are of this millisecond or earlier. The search guesses, since requests are spread over the window, and
  -- halves what is left after six guesses.
  local function count_through(log, ms)
    local low, high, guesses = 0, log.count - 1, 0
    local high_ms = high >= 0 and entry(log, high) or 0
    if high_ms <= ms then
      return log.count
    end
    local low_ms = entry(log, 0)
    if low_ms > ms then
      return 0
    end
    while high - low > 1 do
      local part = guesses < 6 and (ms - low_ms) / (high_ms - low_ms) or 0.5
      local middle = part * (high - low)
      middle = low + (middle < 1 and 1 or middle - middle % 1)
      local at = entry(log, middle)
      if at <= ms then
        low, low_ms = middle, at
      else
        high, high_ms = middle, at
      end
      guesses = guesses + 1
    end
    return low + 1
  end

  -- Reads a short record as a whole, and of a long one the first entries and the last two.
  local function load(r)
    local key, text = r.key, redis.call('GETRANGE', r.key, '0', '241')
    if text == '' and redis.call('EXISTS', key) == 0 then
      return nil
    end
    local bytes = #text < 242 and #text or redis.call('STRLEN', key)
    local count = (bytes - 2) / 15
    if string.sub(text, 1, 2) ~= 'R:' or count % 1 ~= 0 or count < 1 or count > MAX_ENTRIES then
      fail(nil, text, 'R')
    end
    local log = {
      key = key, count = count, from = 0, to = BLOCK, text = text, first = 0, base_low = 0, base_high = 0, used = nil,
    }
    if count > BLOCK then
      log.tail_from, log.tail = count - 2, redis.call('GETRANGE', key, '-30', '-1')
    end
    log.ms, log.low, log.high = entry(log, count - 1)
    log.newest = count - 1
    local expired = now_ms - r.window
    if expired >= 0 and entry(log, 0) <= expired then
      -- The first entry that counts, and the total before it.
      log.first = count_through(log, expired)
      local _, low, high = entry(log, log.first - 1)
      local _, last_low, last_high = entry(log, count - 1)
      log.base_low, log.base_high = low, high
      if last_high < high or last_high == high and last_low < low then
        fail(nil, text, 'R')
      end
    end
    return log
  end

  local function empty()
    return { count = 0, from = 0, to = 0, first = 0, base_low = 0, base_high = 0 }
  end

  -- Whether two times are in the same moment.
  local function same_moment(r, a, b)
    local window = r.window
    return a == b or window > MOMENTS and (a > b and a - b or b - a) < divide(window, MOMENTS, 'up')
      and (divide(a * MOMENTS, window)) == (divide(b * MOMENTS, window))
  end

  -- The log after a change, written as a whole: the first `kept` entries, with totals of at most `cap`, then a new entry,
  -- then the entries from `rest` on with more units.
  local function edited(log, kept, cap, new, rest, units)
    local parts = { 'R:' }
    local function append(ms, low, high)
      parts[#parts + 1] = struct.pack(ENTRY, ms, low, high)
    end
    local whole = { text = log.key and redis.call('GET', log.key) or 'R:', from = 0, to = log.count }
    for n = 0, kept - 1 do
      local ms, low, high = entry(whole, n)
      if cap and (high > cap[2] or high == cap[2] and low > cap[1]) then
        low, high = cap[1], cap[2]
      end
      append(ms, low, high)
    end
    if new then
      append(new[1], new[2], new[3])
    end
    for n = rest, log.count - 1 do
      local ms, low, high = entry(whole, n)
      low, high = plus(low, high, units)
      append(ms, low, high)
    end
    return {
      key = log.key, count = #parts - 1, from = 0, to = #parts - 1, text = table.concat(parts), first = log.first,
      base_low = log.base_low, base_high = log.base_high, before = log.count,
    }
  end

  -- The log with more units of a time at which they count.
  local function charge(r, log, at, units)
    local count, index = log.count, count_through(log, at)
    local ms, low, high = nil, log.base_low, log.base_high
    if index > log.first then
      ms, low, high = entry(log, index - 1)
    end
    local joins = ms and same_moment(r, ms, at)
    local overflows = false
    if count > 0 then
      local _, last_low, last_high = entry(log, count - 1)
      _, _, overflows = plus(last_low, last_high, units)
    end
    if index == count then
      log.before, log.ms, log.newest, log.is_charged = count, at, joins and count - 1 or count, true
      log.low, log.high = plus(low, high, units)
      log.count = log.newest + 1
    else
      local kept, rest, later = joins and index - 1 or index, index, entry(log, index)
      if not joins and same_moment(r, later, at) then
        at, low, high = entry(log, index)
        rest = index + 1
      end
      low, high = plus(low, high, units)
      log = edited(log, kept, nil, { at, low, high }, rest, units)
    end
    log.overflows = overflows or nil
    return 'charge', log
  end

  local function decide(r, log, cost)
    log = log or empty()
    local units = units_of(log)
    log.used = units
    local allowed = units + (cost == 0 and 1 or cost) <= r.limit
    if allowed and cost > 0 then
      return true, units, charge(r, log, now_ms, cost)
    elseif not allowed and units > 0 and entry(log, log.count - 1) > now_ms then
      -- Entries ahead of the clock move to now.
      local index = count_through(log, now_ms)
      local joins = index > log.first and same_moment(r, (entry(log, index - 1)), now_ms)
      local _, low, high = entry(log, log.count - 1)
      return false, units, 'rebase', edited(log, joins and index - 1 or index, nil, { now_ms, low, high }, log.count, 0)
    end
    return allowed, units
  end

  -- The milliseconds until a cost fits. The last unit to leave is in an entry from `low` to `high`: most often in the first
  -- one, or in the last one.
  local function wait(r, log, used, cost)
    local must_leave = used - (r.limit - cost)
    if cost > r.limit then
      return -1
    elseif must_leave <= 0 then
      return 0
    end
    local low, high = log.first, log.count - 1
    if must_leave < used and units_through(log, low) >= must_leave then
      high = low
    elseif low < high and units_through(log, high - 1) < must_leave then
      low = high
    end
    while low < high do
      local middle = (low + high - (low + high) % 2) / 2
      if units_through(log, middle) >= must_leave then
        high = middle
      else
        low = middle + 1
      end
    end
    local leaves = entry(log, low) + r.window
    return leaves > now_ms and leaves - now_ms or 0
  end

  local function figures(r, log, needed)
    local used = log and units_of(log) or 0
    local remaining, next_ms, reset = used < r.limit and r.limit - used or 0, 0, 0
    if used > 0 then
      next_ms, reset = wait(r, log, used, remaining + 1), wait(r, log, used, r.limit)
    end
    return remaining, needed and wait(r, log, used, needed), next_ms, reset
  end

  -- A record of the units that count, with totals from 0.
  local function rewritten(r, log)
    local entries = {}
    if log.is_charged then
      -- Only the newest entry has changed.
      local text = log.key and redis.call('GET', log.key) or 'R:'
      log.text = string.sub(text, 1, 15 * log.newest + 2)
      log.from, log.to, log.tail = 0, log.newest, nil
    end
    for n = log.first, log.count - 1 do
      local ms, units = (entry(log, n)), units_through(log, n)
      local last = entries[#entries]
      if units ~= (last and last[2] or 0) then
        entries[#entries + 1] = { ms, units }
      end
    end
    -- Calls with shorter windows left more than one entry for a moment.
    if #entries > MOMENTS + 1 then
      local merged = {}
      for _, one in ipairs(entries) do
        local joins = #merged > 0 and same_moment(r, one[1], merged[#merged][1])
        merged[joins and #merged or #merged + 1] = one
      end
      entries = merged
    end
    -- A clock that stepped back can leave more: one for each moment ahead of it. They become one, which counts until the
    -- last of them would.
    if #entries > MAX_ENTRIES then
      local last, ahead = entries[#entries], 0
      while ahead < #entries and entries[ahead + 1][1] <= now_ms do
        ahead = ahead + 1
      end
      for n = #entries, math.min(ahead, MAX_ENTRIES - 1) + 1, -1 do
        entries[n] = nil
      end
      entries[#entries + 1] = last
    end
    for n, one in ipairs(entries) do
      local low = one[2] % HALF
      entries[n] = struct.pack(ENTRY, one[1], low, (one[2] - low) / HALF)
    end
    return 'R:' .. table.concat(entries)
  end

  -- Dead entries are removed when half of the record is such. The expiry is that of SLIDING.
  local function commit(r, log, change, after)
    local key = r.key
    local held, set = log and expiry(key) or nil, nil
    if not held or 2 * (held - now_ms) < 3 * r.window then
      set = now_ms + 2 * r.window
    end
    if not change then
      if set and log and (log.used or units_of(log)) > 0 then
        redis.call('PEXPIREAT', key, string.format('%d', set))
      end
      return
    end
    local is_half_dead = after.first > 0 and after.first * 2 >= after.before
    local text
    if after.before == 0 or is_half_dead or after.overflows or after.count < after.before or after.count > MAX_ENTRIES then
      text = rewritten(r, after)
    elseif not after.is_charged then
      text = after.text
    end
    if not text then
      local bytes = struct.pack(ENTRY, after.ms, after.low, after.high)
      if after.newest == after.before then
        redis.call('APPEND', key, bytes)
      else
        redis.call('SETRANGE', key, string.format('%d', 15 * after.newest + 2), bytes)
      end
      if set then
        redis.call('PEXPIREAT', key, string.format('%d', set))
      end
    elseif set then
      redis.call('SET', key, text, 'PXAT', string.format('%d', set))
    else
      redis.call('SET', key, text, 'KEEPTTL')
    end
  end

  algorithms.ROLLING = {
    takes = 'COST PARTIAL ALWAYS', load = load, decide = decide, figures = figures, commit = commit,
  }

  if may_correct then
    -- The newest units; with a time, those of that moment, then the nearest older ones.
    algorithms.ROLLING.refund = function(r, log, at, cost)
      log = log or empty()
      local last = log.count
      if at then
        last = count_through(log, at)
        local is_exact = last > log.first and entry(log, last - 1) == at
        -- An entry has the time of its latest request.
        if not is_exact and last < log.count and same_moment(r, (entry(log, last)), at) then
          last = last + 1
        end
      end
      local low, high, units = log.base_low, log.base_high, 0
      if last > log.first then
        local _
        _, low, high = entry(log, last - 1)
        units = units_through(log, last - 1)
      end
      local given = math.min(cost, units)
      if given == 0 then
        return nil
      elseif given == units_of(log) then
        return 'delete'
      end
      low, high = plus(low, high, -given)
      return 'refund', edited(log, last, { low, high }, nil, last, -given)
    end

    algorithms.ROLLING.overcharge = function(r, log, at, cost)
      log = log or empty()
      at = at and math.min(at, now_ms) or now_ms
      if cost == 0 or at < now_ms and at <= now_ms - r.window then
        return nil
      elseif units_of(log) + cost >= 2 ^ 63 then
        fail('increment or decrement would overflow')
      end
      return charge(r, log, at, cost)
    end
  end
end
