-- FIXED: time is divided into windows, and each has a counter of its own. INCR it; the first request sets its expiry; it is
-- allowed while the counter is at most the limit. Never more than `limit` units in one window, but up to 2 × limit around
-- the boundary of two.
--   window                 starts                                     key of the counter             it expires
--   a length               at multiples of it since 1970              <key>:<number of the window>   a window after its start
--   a length with ANCHOR   at the anchor, and every window from it    <key>:<length>ms:<start>       when the window ends
--   day week month year    with the period (UTC), or at the anchor    <key>:<word>:<start>           when the window ends
-- The key that the call names is the beginning of that of the counter. In a cluster it has to have a hash tag.

do
  -- All units come back together, when the window ends. `ttl` and `count` are what the script replies: what the command TTL
  -- says of the counter, and the counter after the request.
  local function figures(r, counter, needed)
    local count, limit, ms, ttl = counter and counter.value or 0, r.limit, r.ends - now_ms, -2
    local used = count > 0 and count or 0
    if counter then
      local left = counter.expires_at and counter.expires_at > now_ms and counter.expires_at - now_ms or 0
      ttl = (left + 500 - (left + 500) % 1000) / 1000
    end
    local retry = needed and (needed > limit and -1 or used + needed <= limit and 0 or ms)
    return used < limit and limit - used or 0, retry, ms, ms, ttl, count
  end

  if plain then
    -- Without options: the window is a length, and has no anchor. One unit is counted whether it is allowed or not: as the
    -- script does, at once.
    local function load(r)
      local window = r.window
      local starts = now_ms - now_ms % window
      r.key, r.ends = r.key .. string.format(':%d', starts / window), starts + window
      local value = redis.call('INCRBY', r.key, '1')
      local expires_at = value ~= 1 and expiry(r.key)
      if not expires_at then
        expires_at = now_ms + window
        redis.call('PEXPIREAT', r.key, string.format('%d', expires_at))
      end
      return { value = value, expires_at = expires_at }
    end

    local function decide_counted(r, counter)
      return counter.value <= r.limit, 0, 'charge', counter
    end

    algorithms.FIXED = { load = load, decide = decide_counted, figures = figures }
  else
    -- Finds the window of now, and so the key of its counter.
    local function prepare(r, window)
      local length, DAY, floor = r.window, 86400000, math.floor
      local periods = { day = DAY, week = 7 * DAY, month = false, year = false }
      if length and not r.ANCHOR then
        r.starts = now_ms - now_ms % length
        r.key, r.ends = r.key .. string.format(':%d', r.starts / length), r.starts + length
        r.expires_at = now_ms + length
        return
      end
      local word, anchor = length and string.format('%dms', length) or string.lower(window), (r.ANCHOR or 0) * 1000
      if not length and periods[word] == nil then
        fail('invalid window')
      elseif anchor > 253402300799000 then
        fail('invalid ANCHOR')
      end
      -- Days from 1970 to the first day of a month, counted from January of the year 0. The years of the formula start in
      -- March, so that the leap day is their last.
      local function first_day(month)
        local year, of_year = floor((month - 2) / 12), (month - 2) % 12
        local leap_days = floor(year / 4) - floor(year / 100) + floor(year / 400)
        return 365 * year + leap_days + floor((153 * of_year + 2) / 5) - 719468
      end
      local function month_of(day)
        local month = 1970 * 12 + floor(day / 30.436875) + 1 -- at most two too many
        while first_day(month) > day do
          month = month - 1
        end
        return month
      end
      local starts
      length = length or periods[word]
      if length then
        -- 5 January 1970 was a Monday.
        local monday = word == 'week' and not r.ANCHOR and 4 * DAY or 0
        starts = now_ms - (now_ms - anchor - monday) % length
        r.ends = starts + length
      else
        -- From the anchor's day of the month and time of day, or the last day of a month that is too short.
        local time, months = anchor % DAY, word == 'year' and 12 or 1
        local first = month_of((anchor - time) / DAY)
        local day = (anchor - time) / DAY - first_day(first)
        local function start(n)
          local month, next_month = first_day(first + n), first_day(first + n + 1)
          return (month + math.min(day, next_month - month - 1)) * DAY + time
        end
        local n = month_of(floor(now_ms / DAY)) - first
        n = n - n % months
        n = start(n) > now_ms and n - months or n
        starts, r.ends = start(n), start(n + months)
      end
      r.starts, r.expires_at = math.max(0, starts), r.ends
      -- `%s` would end a key at a zero byte, so the key is not an argument of it.
      r.key = r.key .. string.format(':%s:%d', word, r.starts)
    end

    local load, commit = shared('counter')

    -- A denied request is counted too. One that costs more than 1 is counted only if the window was full already, since a
    -- smaller request could still be allowed otherwise.
    local function decide(r, counter, cost)
      local limit, before, needed = r.limit, counter and counter.value or 0, cost == 0 and 1 or cost
      local allowed = needed <= limit and before + needed <= limit
      local counted = (allowed or before >= limit) and cost or 0
      if counted > 0 or counter and not counter.expires_at then
        -- As in the script, a counter that becomes 1 gets a new expiry.
        local expires_at = counter and (before ~= 0 or counted == 0) and counter.expires_at or r.expires_at
        return allowed, 0, 'charge', { value = before + counted, expires_at = expires_at }
      end
      return allowed, 0
    end

    algorithms.FIXED = {
      takes = 'COST PARTIAL ALWAYS ANCHOR', has_calendar = true, prepare = prepare, load = load, decide = decide,
      figures = figures, commit = commit,
    }
  end

  if may_correct then
    -- Gives back from min(counter, limit): what is above the limit was never free. A time before the window changes nothing.
    algorithms.FIXED.refund = function(r, counter, at, cost)
      if counter and not (at and at < r.starts) then
        local value = counter.value
        value = value > 0 and cost > 0 and math.max(0, math.min(value, r.limit) - cost) or value
        if value ~= counter.value or not counter.expires_at then
          return 'refund', { value = value, expires_at = counter.expires_at or r.expires_at }
        end
      end
    end

    algorithms.FIXED.overcharge = function(r, counter, at, cost)
      if cost > 0 and not (at and at < r.starts) then
        local before = counter and counter.value or 0
        return 'charge', { value = before + cost, expires_at = before ~= 0 and counter.expires_at or r.expires_at }
      end
    end
  end
end
