-- LEASE: at most `limit` holders at the same time. Each is a member of a sorted set, by the millisecond in which its lease
-- ends. A lease that is neither renewed nor released ends one window after it was taken or renewed, and is not revived.
--
--   CHECK window limit ID id [LINE]    takes a lease, or renews that of this id
--   RENEW window id [id ...]           renews leases that have not ended; replies how many
--   RELEASE id [id ...]                ends leases; replies how many
--
-- No call shortens the lease of another holder. The key expires when the last lease ends.

do
  local load_set, score = shared('set')
  local NEVER = 2 ^ 64

  -- When a lease with this score ends. A client can write a score with a fraction, or infinity.
  local function end_of(ends)
    return ends and (ends < NEVER and math.max(0, math.ceil(ends)) or NEVER)
  end

  -- When the lease of a holder ends; nil if it has none, or if it has ended.
  local function lease_of(key, id)
    local ends = redis.call('ZSCORE', key, id)
    ends = ends and end_of(ends + 0)
    return ends and ends > now_ms and ends or nil
  end

  local function prepare(r)
    if not r.ID and (what == 'CHECK' or what == 'MULTI') then
      fail('syntax error')
    end
  end

  -- The state: how many leases there are, how many have ended and are still there, when the holder's own ends, and how many
  -- others hold.
  local function load(r)
    local len, gone = load_set(r.key, '-inf', now_ms)
    if len and len + gone > 0 then
      local own = r.ID and len > 0 and lease_of(r.key, r.ID) or nil
      return { len = len, gone = gone, own = own, others = own and len - 1 or len }
    end
  end

  -- A holder that has a lease renews it, whatever the others hold.
  local function decide(r, leases)
    local own, others, ends = leases and leases.own, leases and leases.others or 0, now_ms + r.window
    local allowed = r.limit > 0 and (own or others < r.limit) and true or false
    r.units = own and 0 or 1
    r.ttl = allowed and (r.window + 999 - (r.window + 999) % 1000) / 1000 or nil
    if allowed and own ~= ends then
      return true, others, 'charge', { len = others + 1, gone = leases and leases.gone or 0, own = own, others = others, takes = ends }
    end
    return allowed, others
  end

  -- When the n-th lease ends, the earliest first, from 0.
  local function end_at(r, leases, n)
    return end_of(score(r.key, n + leases.gone)) or NEVER
  end

  -- The same of the others' leases: from its own place on, the holder's is left out.
  local function end_of_other(r, leases, n)
    local ends = end_at(r, leases, n)
    return leases.own and ends >= leases.own and end_at(r, leases, n + 1) or ends
  end

  -- The milliseconds until so many leases are free.
  local function wait(r, leases, cost)
    local n = (leases and leases.len or 0) - (r.limit - cost) - 1
    if cost > r.limit then
      return -1
    elseif n < 0 then
      return 0
    end
    local ends
    if leases.takes then
      -- The holder's lease ends then, those of the others as they do.
      ends = n < leases.others and end_of_other(r, leases, n) or NEVER
      if ends > leases.takes then
        ends = n > 0 and math.max(end_of_other(r, leases, n - 1), leases.takes) or leases.takes
      end
    else
      ends = end_at(r, leases, n)
    end
    return ends >= NEVER and -1 or math.max(0, ends - now_ms)
  end

  local function figures(r, leases, needed)
    local remaining = math.max(0, r.limit - (leases and leases.len or 0))
    return remaining, needed and wait(r, leases, needed), wait(r, leases, remaining + 1), wait(r, leases, r.limit), r.ttl
  end

  -- The key expires when the last lease ends: later than before, or earlier.
  local function expire_with_the_last(key)
    local last = end_of(score(key, '-1'))
    if last and expiry(key) ~= last then
      redis.call('PEXPIREAT', key, last < 2 ^ 63 and string.format('%d', last) or '9223372036854775807')
    end
  end

  local function commit(r, leases, change, after)
    if change then
      redis.call('ZADD', r.key, string.format('%d', after.takes), r.ID)
    end
    if change or leases and leases.len > 0 then
      expire_with_the_last(r.key)
    end
  end

  -- The ids from words[at] on, each once, whose leases have not ended; and how many leases there are.
  local function holding(key, words, at)
    local seen, ids = {}, {}
    if not key or not words[at] then
      fail('wrong number of arguments')
    elseif #words - at >= 1000 then
      fail('invalid id')
    elseif string.find(key, ':reserved$') or string.find(key, ':reserved:ends$') then
      fail('invalid key')
    end
    local len = load_set(key, '-inf', now_ms) or 0
    for n = at, #words do
      local id = words[n]
      if #id == 0 or #id > 512 then
        fail('invalid id')
      elseif len > 0 and not seen[id] and lease_of(key, id) then
        ids[#ids + 1] = id
      end
      seen[id] = true
    end
    return ids, len
  end

  local function renew(key, words)
    if not words[3] then
      fail('wrong number of arguments')
    end
    local window = milliseconds(words[2]) or fail('invalid window')
    local ids, ends = holding(key, words, 3), {}
    for n, id in ipairs(ids) do
      ends[2 * n - 1], ends[2 * n] = string.format('%d', now_ms + window), id
    end
    if #ids > 0 then
      redis.call('ZADD', key, 'XX', unpack(ends))
      expire_with_the_last(key)
    end
    return #ids
  end

  local function release(key, words)
    local ids, len = holding(key, words, 2)
    if #ids > 0 then
      redis.call('ZREM', key, unpack(ids))
    end
    if len > 0 then
      expire_with_the_last(key)
    end
    return #ids
  end

  algorithms.LEASE = {
    takes = 'ID', prepare = prepare, load = load, decide = decide, figures = figures, commit = commit, RENEW = renew,
    RELEASE = release,
  }
end
