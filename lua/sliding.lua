-- SLIDING: a log. Each unit is a member of a sorted set, by the millisecond of its request. Remove those that left the
-- window, count the others, and add one for each unit if they are few enough: never more than `limit` units in any
-- half-open span of `window`.
--
-- A call that finds fewer than 1.5 windows left until the key expires sets the expiry to 2 windows. If the clock stepped
-- back, a denial moves members that are ahead of it to now, at most 500: else they would block the key until it catches up.

do
  local load_set, score = sets()
  local is_read = what == 'PEEK' or what == 'RESET'
  local movable = 1000 -- the first log of a call may move the half of it, each other one the half of the rest

  local function require_few(units, name)
    if units > 1000 then
      fail('invalid ' .. name)
    end
  end

  local function prepare(r)
    require_few(r.ACTUAL and r.RESERVED and math.abs(r.ACTUAL - r.RESERVED) or 0, 'ACTUAL')
    -- A cost that the limit can never hold adds nothing.
    r.members = ((r.COST or 1) <= r.limit or what == 'REFUND') and (r.COST or 1) or r.PARTIAL and r.limit or 0
    require_few(what == 'MULTI' and 0 or r.members, 'COST')
  end

  -- The state: how many members count, how many are over and still there, the score of the oldest, how many may move, and
  -- those that the request adds.
  local function load(r)
    local len, gone, oldest = load_set(r.key, '0', now_ms - r.window)
    movable = is_read and movable or math.floor(movable / 2)
    r.state, r.held, r.newest_score = nil, nil, nil
    if len and len + gone > 0 then
      r.state = { len = len, gone = gone, oldest = oldest, movable = is_read and 500 or movable, added = 0 }
    end
  end

  local EMPTY = { len = 0, gone = 0, added = 0 }

  local function newest(r)
    r.newest_score = r.newest_score or r.state and score(r.key, '-1') or 0
    return r.newest_score
  end

  -- The expiry that the key has, and the one to set.
  local function expiries(r)
    r.held = r.held or r.state and expiry(r.key) or 0
    if 2 * (r.held - now_ms) >= 3 * r.window then
      return r.held, nil
    end
    return r.held, now_ms + 2 * r.window
  end

  -- The log after a change: `added` members more, or those ahead of the clock moved to now.
  local function changed(log, change)
    change.len, change.gone, change.oldest, change.movable = log.len, log.gone, log.oldest, log.movable
    change.added = change.added or 0
    return change
  end

  local function decide(r, cost)
    local log = r.state or EMPTY
    local allowed = log.len + (cost == 0 and 1 or cost) <= r.limit
    r.ttl = math.ceil(r.window / 1000)
    if allowed and cost > 0 then
      return true, log.len, 'charge', changed(log, { added = cost })
    elseif not allowed and log.len > 0 and newest(r) > now_ms then
      return false, log.len, 'rebase', changed(log, { moves = true })
    end
    return allowed, log.len
  end

  -- The millisecond of the member of a rank.
  local function made_at(r, log, rank)
    local made = rank == 0 and log.oldest or rank >= 0 and rank < log.len + log.gone and score(r.key, rank)
    return made and math.max(0, math.ceil(made))
  end

  -- The millisecond of the n-th member to leave, from 0, those that the request adds among the others. nil: it never
  -- leaves. Scores below 0 are none of ours; they go with the key.
  local function made(r, log, n)
    local below = log.oldest and log.oldest < 0 and call('ZCOUNT', r.key, '-inf', '(0') or 0
    local rank, added = n + below + log.gone, log.added
    if n >= log.len + added - below then
      return nil
    elseif newest(r) <= now_ms then
      return rank < log.len + log.gone and made_at(r, log, rank) or now_ms
    end
    -- Some members are ahead of the clock.
    local at = made_at(r, log, rank)
    if not at or added > 0 and at > now_ms then
      local later = made_at(r, log, rank - added)
      at = later and later > now_ms and later or now_ms
    end
    local moved = log.moves and call('ZCOUNT', r.key, '-inf', format('%d', now_ms)) + log.movable or 0
    return rank < moved and math.min(at, now_ms) or at
  end

  local function forecast(r, log)
    r.log = log or EMPTY
    return math.max(0, r.limit - r.log.len - r.log.added)
  end

  local function wait(r, cost)
    local log, room = r.log, r.limit - cost
    if room < 0 then
      return nil
    elseif log.len + log.added <= room then
      return 0
    end
    local at, held, set = made(r, log, log.len + log.added - room - 1), expiries(r)
    -- The key still exists in the millisecond in which it expires.
    local left = math.min(at and at + r.window or 2 ^ 63, (set or held) + 1)
    return math.max(0, left - now_ms)
  end

  -- Adds members of one millisecond, named `<ms>-0.<n>`. A name can be taken: by a unit of the same time, or by a client.
  local function add(r, ms, count)
    local key, at = r.key, format('%d', ms)
    local n = newest(r) < ms and 0 or call('ZCOUNT', key, at, at)
    while count > 0 do
      local words = {}
      for index = 1, 2 * count, 2 do
        words[index], words[index + 1] = at, format('%s-0.%d', at, n)
        n = n + 1
      end
      count = count - call('ZADD', key, 'NX', unpack(words))
    end
  end

  local function commit(r, change, after)
    local key, log, _, set = r.key, r.state, expiries(r)
    if change == 'charge' then
      add(r, after.at or now_ms, after.added)
    elseif change == 'rebase' then
      local ms, words = format('%d', now_ms), {}
      local ahead = call('ZRANGEBYSCORE', key, '(' .. ms, '+inf', 'LIMIT', '0', format('%d', after.movable))
      for n, member in ipairs(ahead) do
        words[2 * n - 1], words[2 * n] = ms, member
      end
      if #ahead > 0 then
        call('ZADD', key, 'XX', unpack(words))
      end
    elseif change == 'refund' then
      local members = log.len + log.gone
      local last = after.through and call('ZCOUNT', key, '-inf', format('%d', after.through)) - 1 or members - 1
      local first = math.max(0, last + 1 - after.removes)
      if last >= 0 then
        call('ZREMRANGEBYRANK', key, format('%d', first), format('%d', last))
      end
      if last - first + 1 == members and last >= 0 then
        return
      end
    elseif not log then
      return
    end
    if set then
      call('PEXPIREAT', key, format('%d', set))
    end
  end

  algorithms.SLIDING = {
    takes = 'COST PARTIAL', prepare = prepare, load = load, decide = decide, forecast = forecast, wait = wait, commit = commit,
  }

  if not is_plain then
    -- The newest units; with a time, those of that time, then the nearest older ones.
    algorithms.SLIDING.refund = function(r, at, cost)
      local log = r.state or EMPTY
      local count = math.min(log.len, cost)
      if count > 0 then
        return 'refund', changed(log, { removes = count, through = at })
      end
    end

    algorithms.SLIDING.overcharge = function(r, at, cost)
      at = at and at < now_ms and at or nil
      if cost > 0 and not (at and at <= now_ms - r.window) then
        return 'charge', changed(r.state or EMPTY, { added = cost, at = at })
      end
    end
  end
end
