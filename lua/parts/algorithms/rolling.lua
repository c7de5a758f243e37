-- ROLLING: the sliding window log, packed. The record is `R:` and entries of 15 bytes, oldest first: a millisecond
-- (7 bytes) and the total of all units up to it (8 bytes), little-endian. A double does not hold a total, so it is read as
-- two halves of 32 bits. A difference of two totals is modulo 2^64, and exact below 2^53.
--
-- The state is { text, len, first, hi, lo }: the entries before `first` no longer count, and the total before it is hi, lo.
-- After a change it has also how that is written: `write`, `offset` and `bytes`.

local MOMENTS = 4096 -- of a window
local MAX_ENTRIES = 8192
local HALF = 2 ^ 32

-- The ms of the entry `n`, from 0.
local function ms_at(text, n)
  local a, b, c, d, e, f, g = byte_of(text, 15 * n + 3, 15 * n + 9)
  if g >= 32 then
    fail('INEXACT_STATE')
  end
  return a + 256 * (b + 256 * (c + 256 * (d + 256 * (e + 256 * (f + 256 * g)))))
end

-- The total up to and including the entry `n`.
local function total_at(text, n)
  local a, b, c, d, e, f, g, h = byte_of(text, 15 * n + 10, 15 * n + 17)
  return e + 256 * (f + 256 * (g + 256 * h)), a + 256 * (b + 256 * (c + 256 * d))
end

local function bytes_of(ms, hi, lo)
  local a, b = ms % 16777216, hi % 65536
  local c, d = lo % 65536, (ms - ms % 16777216) / 16777216
  local e, f, g = (hi - b) / 65536, (lo - c) / 65536, d % 65536
  return char_of(
    a % 256, (a - a % 256) / 256 % 256, (a - a % 65536) / 65536,
    g % 256, (g - g % 256) / 256, (d - g) / 65536 % 256, (d - d % 16777216) / 16777216,
    c % 256, (c - c % 256) / 256, f % 256, (f - f % 256) / 256,
    b % 256, (b - b % 256) / 256, e % 256, (e - e % 256) / 256
  )
end

-- The units between two totals. From 2^53 on it is not exact, but not below that.
local function units_between(hi, lo, hi_before, lo_before)
  local units = (hi - hi_before) * HALF + (lo - lo_before)
  return units < 0 and units + HALF * HALF or units
end

-- The sum of two totals modulo 2^64, and whether it would be 2^64 or more.
local function sum_of(hi, lo, other_hi, other_lo)
  hi, lo = hi + other_hi, lo + other_lo
  if lo >= HALF then
    hi, lo = hi + 1, lo - HALF
  end
  return hi % HALF, lo, hi >= HALF
end

-- Units as two halves.
local function halves_of(units)
  local lo = units % HALF
  return (units - lo) / HALF, lo
end

-- How many entries are of this ms or earlier.
local function count_through(text, len, ms)
  if len == 0 or ms_at(text, len - 1) <= ms then
    return len
  end
  local base, size = 0, len
  while size > 1 do
    local half = (size - size % 2) / 2
    if ms_at(text, base + half) <= ms then
      base = base + half
    end
    size = size - half
  end
  return ms_at(text, base) <= ms and base + 1 or base
end

-- The log of a record; nil if it is none.
local function read(r, text)
  local len = (#text - 2) / 15
  if part_of(text, 1, 2) ~= 'R:' or len % 1 ~= 0 or len < 1 or len > MAX_ENTRIES then
    --@rare
    return nil
  end
  local expired, first, hi, lo = r.now_ms - r.window_ms, 0, 0, 0
  if expired >= 0 and ms_at(text, 0) <= expired then
    first = count_through(text, len, expired)
    hi, lo = total_at(text, first - 1)
    local last_hi, last_lo = total_at(text, len - 1)
    if last_hi < hi or (last_hi == hi and last_lo < lo) then
      --@rare
      return nil
    end
  end
  return { text = text, len = len, first = first, hi = hi, lo = lo }
end

local function load(r)
  local text = call('GET', r.key)
  if text then
    r.state = read(r, text) or fail_with_foreign_value(text, 'ROLLING', 'FOREIGN_VALUE')
  end
end

-- The units of the entries that count, up to and including the entry `n`.
local function units_through(log, n)
  local hi, lo = total_at(log.text, n)
  return units_between(hi, lo, log.hi, log.lo)
end

local function units_of(log)
  return log and log.len > 0 and units_through(log, log.len - 1) or 0
end

-- Whether two times are in the same moment: a ms, or window / 4096 if that is longer.
local function same_moment(r, a, b)
  local window_ms = r.window_ms
  if a == b then
    return true
  elseif window_ms <= MOMENTS or math.abs(a - b) >= window_ms / MOMENTS + 1 then
    return false
  end
  return (divide(mul(a, MOMENTS), window_ms)) == (divide(mul(b, MOMENTS), window_ms))
end

-- A log after a change, and how that is written: the first `kept` entries, then `entry` (its bytes), then the entries
-- from `rest` on. `overflows`: a total is beyond 64 bits.
local function edited(log, kept, entry, rest, overflows)
  local text, before, first = log.text, log.len, log.first
  local len, offset = kept + (before - rest) + 1, 15 * kept + 2
  local after = { text = part_of(text, 1, offset) .. entry, len = len, first = first, hi = log.hi, lo = log.lo }
  after.write, after.offset, after.bytes = 'SETRANGE', offset, entry
  if rest < before then
    after.bytes = entry .. part_of(text, 15 * rest + 3)
    after.text = part_of(text, 1, offset) .. after.bytes
  elseif kept == before then
    after.write = 'APPEND'
  end
  if before == 0 or (first > 0 and first * 2 >= before) or overflows or len < before or len > MAX_ENTRIES then
    after.write = 'SET'
  end
  return after
end

--@cold
-- The entries from `from` to `to` with other totals: at most `cap` (two halves), or `hi` and `lo` more, modulo 2^64.
local function moved(text, from, to, cap_hi, cap_lo, hi, lo)
  local parts = {}
  for n = from, to - 1 do
    local moved_hi, moved_lo = cap_hi, cap_lo
    if not cap_hi then
      moved_hi, moved_lo = total_at(text, n)
      moved_hi, moved_lo = sum_of(moved_hi, moved_lo, hi, lo)
    end
    parts[#parts + 1] = bytes_of(ms_at(text, n), moved_hi, moved_lo)
  end
  return table.concat(parts)
end

-- A charge that is not the newest: the totals after it grow too.
local function charged_before(r, log, index, at, hi, lo, overflows)
  local text, len, kept, rest = log.text, log.len, index, index
  local total_hi, total_lo, ms = log.hi, log.lo, at
  if index > log.first then
    total_hi, total_lo = total_at(text, index - 1)
  end
  if index > log.first and same_moment(r, ms_at(text, index - 1), at) then
    kept = index - 1
  elseif same_moment(r, ms_at(text, index), at) then
    ms, rest = ms_at(text, index), index + 1
    total_hi, total_lo = total_at(text, index)
  end
  total_hi, total_lo = sum_of(total_hi, total_lo, hi, lo)
  local later = moved(text, rest, len, nil, nil, hi, lo)
  local whole = { text = part_of(text, 1, 15 * rest + 2) .. later, len = len, first = log.first, hi = log.hi, lo = log.lo }
  return edited(whole, kept, bytes_of(ms, total_hi, total_lo), rest, overflows)
end

--@hot
-- The log with more units of a time at which they count.
local function charged(r, log, at, units)
  local text, len = log.text, log.len
  local index = count_through(text, len, at)
  local hi, lo = halves_of(units)
  local total_hi, total_lo, overflows, kept = log.hi, log.lo, false, len
  if len > 0 then
    local last_hi, last_lo = total_at(text, len - 1)
    total_hi, total_lo, overflows = sum_of(last_hi, last_lo, hi, lo)
    if index < len then
      return charged_before(r, log, index, at, hi, lo, overflows)
    elseif len > log.first then
      kept = same_moment(r, ms_at(text, len - 1), at) and len - 1 or len
    else
      total_hi, total_lo = sum_of(log.hi, log.lo, hi, lo)
    end
  else
    total_hi, total_lo = hi, lo
  end
  return edited(log, kept, bytes_of(at, total_hi, total_lo), len, overflows)
end

--@cold
-- The log with the entries that are ahead of the clock moved to now.
local function moved_to_now(r, log)
  local text, now_ms = log.text, r.now_ms
  local index = count_through(text, log.len, now_ms)
  local joins = index > log.first and same_moment(r, ms_at(text, index - 1), now_ms)
  local hi, lo = total_at(text, log.len - 1)
  return edited(log, joins and index - 1 or index, bytes_of(now_ms, hi, lo), log.len, false)
end

-- A record of the units that count, with totals from 0.
local function rewritten(r, log)
  local text, entries = log.text, {}
  for n = log.first, log.len - 1 do
    local hi, lo = total_at(text, n)
    hi, lo = sum_of(hi, lo, (HALF - log.hi - (log.lo > 0 and 1 or 0)) % HALF, (HALF - log.lo) % HALF)
    local last = entries[#entries]
    if (last or hi > 0 or lo > 0) and not (last and last.hi == hi and last.lo == lo) then
      entries[#entries + 1] = { ms = ms_at(text, n), hi = hi, lo = lo }
    end
  end
  -- Calls with shorter windows left more than one entry for a moment.
  if #entries > MOMENTS + 1 then
    local merged = {}
    for _, entry in ipairs(entries) do
      local joins = #merged > 0 and same_moment(r, entry.ms, merged[#merged].ms)
      merged[joins and #merged or #merged + 1] = entry
    end
    entries = merged
  end
  -- A clock that stepped back can leave more: one entry for each moment ahead of the clock. They become one, which counts
  -- until the last of them would.
  if #entries > MAX_ENTRIES then
    local last, ahead = entries[#entries], 0
    while ahead < #entries and entries[ahead + 1].ms <= r.now_ms do
      ahead = ahead + 1
    end
    for n = #entries, math.min(ahead, MAX_ENTRIES - 1) + 1, -1 do
      entries[n] = nil
    end
    entries[#entries + 1] = last
  end
  local parts = { 'R:' }
  for n, entry in ipairs(entries) do
    parts[n + 1] = bytes_of(entry.ms, entry.hi, entry.lo)
  end
  return table.concat(parts)
end

--@hot
local function forecast(r, _, log)
  local units = units_of(log)
  r.log, r.units, r.remaining = log, units, units < r.limit and r.limit - units or 0
end

local function wait(r, cost)
  local room, log, units = r.limit - cost, r.log, r.units
  if room < 0 then
    return nil
  elseif units <= room then
    return 0
  end
  -- The last unit to leave is in an entry from `low` to `high`. Most often it is the first one, or the last one.
  local must_leave, low, high = units - room, log.first, log.len - 1
  if units_through(log, low) >= must_leave then
    high = low
  elseif units_through(log, high > 0 and high - 1 or 0) < must_leave then
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
  local left = ms_at(log.text, low) + r.window_ms - r.now_ms
  return left > 0 and left or 0
end

local function decide(r, cost)
  local log, limit = r.state, r.limit
  local units = units_of(log)
  local allowed = units + (cost == 0 and 1 or cost) <= limit
  r.allowed, r.count, r.change = allowed, exact(units), 'keep'
  if allowed and cost > 0 then
    r.change = 'charge'
    r.after = charged(r, log or { text = 'R:', len = 0, first = 0, hi = 0, lo = 0 }, r.now_ms, cost)
  elseif not allowed and units > 0 and ms_at(log.text, log.len - 1) > r.now_ms then
    r.change, r.after = 'rebase', moved_to_now(r, log)
  end
  forecast(r, r.change, state_after(r.change, r.after, log))
  if allowed then
    r.ttl = seconds_of(exact(wait(r, limit)))
  else
    r.ttl = ttl_of_denial(r, cost)
  end
end

--@cold
-- Writes the whole record, with a new expiry or that of the key.
local function set_whole(r, after, expires_at, held)
  local key, text = r.key, after.write == 'SET' and rewritten(r, after) or after.text
  if expires_at then
    call('SET', key, text, 'PXAT', text_of(expires_at))
  elseif held then
    call('SET', key, text, 'KEEPTTL')
  end
end

--@hot
local function commit(r, change, after)
  local key, before = r.key, r.state
  if change == 'delete' then
    call('UNLINK', key)
    return
  end
  local held = before and not r.begins_anew and expiry_of(key, r.now_ms) or nil
  local expires_at = new_log_expiry(r, held)
  if change ~= 'keep' then
    local write = after.write
    if write == 'SET' or r.gave_back then
      set_whole(r, after, expires_at, held)
      return
    elseif write == 'APPEND' then
      call('APPEND', key, after.bytes)
    else
      call('SETRANGE', key, format('%d', after.offset), after.bytes)
    end
  elseif units_of(before) == 0 then
    return
  end
  set_expiry(key, expires_at)
end

--@cold
-- The newest units; with `at_ms`, those of that moment, then the nearest older ones.
local function refund(r, at_ms, cost)
  local log = r.state
  if not log then
    return 'keep'
  end
  local text, last = log.text, log.len
  if at_ms then
    at_ms = at_ms - at_ms == 0 and at_ms or EXACT
    last = count_through(text, log.len, at_ms)
    local is_exact = last > log.first and ms_at(text, last - 1) == at_ms
    -- An entry has the time of its latest request.
    if not is_exact and last < log.len and same_moment(r, ms_at(text, last), at_ms) then
      last = last + 1
    end
  end
  local units, cap_hi, cap_lo = 0, log.hi, log.lo
  if last > log.first then
    units = units_through(log, last - 1)
    cap_hi, cap_lo = total_at(text, last - 1)
  end
  local count = math.min(cost, units)
  if count == 0 then
    return 'keep'
  elseif count == units_of(log) then
    return 'delete'
  end
  local hi, lo = halves_of(count)
  hi, lo = (HALF - hi - (lo > 0 and 1 or 0)) % HALF, (HALF - lo) % HALF
  cap_hi, cap_lo = sum_of(cap_hi, cap_lo, hi, lo)
  local start = last
  while start > 0 do
    local total_hi, total_lo = total_at(text, start - 1)
    if total_hi < cap_hi or (total_hi == cap_hi and total_lo <= cap_lo) then
      break
    end
    start = start - 1
  end
  local bytes = moved(text, start, last, cap_hi, cap_lo) .. moved(text, last, log.len, nil, nil, hi, lo)
  local after = { text = part_of(text, 1, 15 * start + 2) .. bytes, len = log.len, first = log.first }
  after.hi, after.lo, after.write, after.offset, after.bytes = log.hi, log.lo, 'SETRANGE', 15 * start + 2, bytes
  if log.first > 0 and log.first * 2 >= log.len then
    after.write = 'SET'
  end
  return 'refund', after
end

-- With `at_ms`, as of that time, or nothing if its window has passed.
local function overcharge(r, at_ms, cost)
  local now_ms, log = r.now_ms, r.state
  at_ms = at_ms and less(at_ms, now_ms) and at_ms or now_ms
  if cost == 0 or (at_ms < now_ms and at_ms <= now_ms - r.window_ms) then
    return 'keep'
  end
  local units = units_of(log) + cost
  if units >= EXACT then
    fail(units > 2 ^ 63 and 'OVERFLOW' or 'INEXACT_REPLY')
  end
  return 'charge', charged(r, log or { text = 'R:', len = 0, first = 0, hi = 0, lo = 0 }, at_ms, cost)
end

local function counts_until(r)
  return r.now_ms + r.window_ms
end

-- Gives back what has ended, in the order of the charges: what `refund` does for each, in one pass.
local function give_back(r, all_ended)
  local log, entries, before, changed = r.state, {}, 0, false
  for n = log and log.first or 0, log and log.len - 1 or -1 do
    local through = exact(units_through(log, n))
    entries[#entries + 1] = { ms = ms_at(log.text, n), units = math.max(0, through - before) }
    before = math.max(before, through)
  end
  -- The entries up to the time of a charge, the newest last.
  local reached, older = 0, {}
  for _, one in ipairs(all_ended) do
    local at, left = one.was.charged_at, one.was.cost
    if left > 0 and r.now_ms < one.was.counts_until then
      local last = 0
      while entries[last + 1] and entries[last + 1].ms <= at do
        last = last + 1
      end
      local is_exact = last > 0 and entries[last].ms == at
      if not is_exact and entries[last + 1] and same_moment(r, entries[last + 1].ms, at) then
        last = last + 1
      end
      for n = reached + 1, last do
        older[#older + 1] = entries[n]
      end
      reached = math.max(reached, last)
      while left > 0 and #older > 0 do
        local newest = older[#older]
        local taken = math.min(left, newest.units)
        newest.units, left = newest.units - taken, left - taken
        one.given_back = one.given_back or taken > 0
        if newest.units == 0 then
          older[#older] = nil
        end
      end
      changed = changed or one.given_back
    end
  end
  if not changed then
    return
  end
  local parts, total = { 'R:' }, 0
  for _, entry in ipairs(entries) do
    if entry.units > 0 then
      total = total + entry.units
      parts[#parts + 1] = bytes_of(entry.ms, halves_of(total))
    end
  end
  r.gave_back, r.stored = true, r.state
  r.state = #parts > 1 and read(r, table.concat(parts)) or nil
  r.begins_anew = not r.state
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
  word = 'ROLLING',
  takes = ' COST PARTIAL ALWAYS RESERVE RESERVATION ',
  load = load,
  decide = decide,
  forecast = forecast,
  wait = wait,
  commit = commit,
  counts_until = counts_until,
  give_back = give_back,
  refund = refund,
  overcharge = overcharge,
  settle_reserved = settle_reserved,
}
