-- SLIDING: a log. Each unit is a member of a sorted set, by the millisecond of its request. Remove those that left the
-- window, count the others, and add one for each unit if they are few enough: never more than `limit` units in any
-- half-open span of `window`.
--
-- A call that finds fewer than 1.5 windows left until the key expires sets the expiry to 2 windows. If the clock stepped
-- back, a denial moves members that are ahead of it to now, at most 500: else they would block the key until it catches up.

do
  local load_set, score = shared('set')
  local is_read = what == 'PEEK' or what == 'RESET'
  local now_text = string.format('%d', now_ms)
  local movable = 1000 -- the first log of a call may move the half of it, each other one the half of the rest

  local function prepare(r)
    if r.COST or r.ACTUAL then
      local cost, difference = r.COST or 1, r.ACTUAL and r.RESERVED and math.abs(r.ACTUAL - r.RESERVED) or 0
      -- A cost that the limit can never hold adds nothing.
      r.members = (cost <= r.limit or what == 'REFUND') and cost or r.PARTIAL and r.limit or 0
      if difference > 1000 or what ~= 'MULTI' and r.members > 1000 then
        fail(difference > 1000 and 'invalid ACTUAL' or 'invalid COST')
      end
    end
  end

  -- The state: how many members count, how many are over and still there, the scores of the oldest and of the newest (0 if
  -- none is of now or later), the expiry of the key, and how many members may move.
  local function load(r)
    local len, gone, oldest = load_set(r.key, '0', now_ms - r.window)
    if not is_read then
      movable = (movable - movable % 2) / 2
    end
    if len and len + gone > 0 then
      local newest = redis.call('ZCOUNT', r.key, now_text, '+inf') > 0 and score(r.key, '-1') or 0
      local moves = is_read and 500 or movable
      return { len = len, gone = gone, oldest = oldest, newest = newest, held = expiry(r.key), movable = moves, adds = 0 }
    end
  end

  local function decide(r, log, cost)
    local len = log and log.len or 0
    local allowed = len + (cost == 0 and 1 or cost) <= r.limit
    if allowed and cost > 0 then
      log = log or { len = 0, gone = 0, newest = 0, adds = 0 }
      log.adds = cost
      return true, len, 'charge', log
    elseif not allowed and len > 0 and log.newest > now_ms then
      log.moves = true
      return false, len, 'rebase', log
    end
    return allowed, len
  end

  -- The expiry to set, if it is another.
  local function new_expiry(r, log)
    local held = log and log.held
    if not held or 2 * (held - now_ms) < 3 * r.window then
      return now_ms + 2 * r.window
    end
  end

  -- The time of the member of a rank; nil if there is none.
  local function made_at(r, log, rank)
    local made = rank == 0 and log.oldest or rank >= 0 and rank < log.len + log.gone and score(r.key, rank)
    return made and (made % 1 == 0 and made >= 0 and made or math.max(0, math.ceil(made)))
  end

  -- The milliseconds until a cost fits: until the n-th member leaves, those that the request adds among the others.
  local function wait(r, log, cost)
    local key, len, adds = r.key, log and log.len or 0, log and log.adds or 0
    local n = len + adds - (r.limit - cost) - 1
    if cost > r.limit then
      return -1
    elseif n < 0 then
      return 0
    end
    -- Scores below 0 are none of ours: they never leave, but go with the key.
    local below = log.oldest and log.oldest < 0 and redis.call('ZCOUNT', key, '-inf', '(0') or 0
    local at, rank = nil, n + below + log.gone
    if n < len + adds - below then
      at = log.newest <= now_ms and rank >= len + log.gone and now_ms or made_at(r, log, rank)
      if log.newest > now_ms then
        -- Some members are ahead of the clock.
        if not at or adds > 0 and at > now_ms then
          local later = made_at(r, log, rank - adds)
          at = later and later > now_ms and later or now_ms
        end
        local moved = log.moves and redis.call('ZCOUNT', key, '-inf', now_text) + log.movable or 0
        at = rank < moved and math.min(at, now_ms) or at
      end
    end
    -- The key still exists in the millisecond in which it expires.
    local goes = (new_expiry(r, log) or log.held) + 1
    local left = at and at + r.window < goes and at + r.window or goes
    return left > now_ms and left - now_ms or 0
  end

  local function figures(r, log, needed)
    local used, limit = log and log.len + log.adds or 0, r.limit
    local remaining, next_ms, reset = used < limit and limit - used or 0, 0, 0
    if remaining < limit then
      next_ms, reset = wait(r, log, remaining + 1), wait(r, log, limit)
    end
    return remaining, needed and wait(r, log, needed), next_ms, reset, (r.window + 999 - (r.window + 999) % 1000) / 1000
  end

  local function commit(r, log, change, after)
    local key, set, at = r.key, new_expiry(r, log), now_text
    if change == 'charge' then
      -- Members of one millisecond are `<ms>-0.<n>`. A name can be taken: by a unit of the same time, or by a client.
      at = after.at and string.format('%d', after.at) or at
      local n, count = log and log.newest >= at + 0 and redis.call('ZCOUNT', key, at, at) or 0, after.adds
      if count == 1 and n == 0 and redis.call('ZADD', key, 'NX', at, at .. '-0.0') == 1 then
        count = 0
      end
      while count > 0 do
        local words = {}
        for index = 1, 2 * count, 2 do
          words[index], words[index + 1] = at, string.format('%s-0.%d', at, n)
          n = n + 1
        end
        count = count - redis.call('ZADD', key, 'NX', unpack(words))
      end
    elseif change == 'rebase' then
      local words = {}
      local ahead = redis.call('ZRANGEBYSCORE', key, '(' .. at, '+inf', 'LIMIT', '0', string.format('%d', after.movable))
      for n, member in ipairs(ahead) do
        words[2 * n - 1], words[2 * n] = at, member
      end
      if #ahead > 0 then
        redis.call('ZADD', key, 'XX', unpack(words))
      end
    elseif change == 'refund' then
      local members = log.len + log.gone
      local last = after.at and redis.call('ZCOUNT', key, '-inf', string.format('%d', after.at)) - 1 or members - 1
      local first = math.max(0, last + 1 - after.removes)
      if last >= 0 then
        redis.call('ZREMRANGEBYRANK', key, string.format('%d', first), string.format('%d', last))
      end
      if last - first + 1 == members and last >= 0 then
        return
      end
    end
    if set and (change or log) then
      redis.call('PEXPIREAT', key, string.format('%d', set))
    end
  end

  algorithms.SLIDING = {
    takes = 'COST PARTIAL', prepare = prepare, load = load, decide = decide, figures = figures, commit = commit,
  }

  if may_correct then
    -- The newest units; with a time, those of that time, then the nearest older ones.
    algorithms.SLIDING.refund = function(_, log, at, cost)
      local count = math.min(log and log.len or 0, cost)
      if count > 0 then
        log.removes, log.at = count, at
        return 'refund', log
      end
    end

    algorithms.SLIDING.overcharge = function(r, log, at, cost)
      at = at and at < now_ms and at or nil
      if cost > 0 and not (at and at <= now_ms - r.window) then
        local after = log or { len = 0, gone = 0, newest = 0, adds = 0 }
        after.adds, after.at = cost, at
        return 'charge', after
      end
    end
  end
end
