-- LEASE: at most `limit` holders at the same time. Each is a member of a sorted set, by the millisecond in which its lease
-- ends. A lease that is neither renewed nor released ends one window after it was taken or renewed, and is not revived.
--
--   CHECK window limit ID id [LINE]    takes a lease, or renews that of this id
--   RENEW window id [id ...]           renews leases that have not ended; replies how many
--   RELEASE id [id ...]                ends leases; replies how many
--
-- No call shortens the lease of another holder. The key expires when the last lease ends.

do
  local load_set, score = sets()
  local NEVER = 2 ^ 64

  -- A client can write a score with a fraction, or infinity.
  local function end_of(ends)
    return ends < NEVER and math.max(0, math.ceil(ends)) or NEVER
  end

  -- When the lease of a holder ends; nil if it has none, or if it has ended.
  local function lease_of(key, id)
    local ends = call('ZSCORE', key, id)
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
    r.state, r.held = nil, nil
    if len and len + gone > 0 then
      local own = r.ID and len > 0 and lease_of(r.key, r.ID) or nil
      r.state = { len = len, gone = gone, own = own, others = own and len - 1 or len }
    end
  end

  local EMPTY = { len = 0, gone = 0, others = 0 }

  -- A holder that has a lease renews it, whatever the others hold.
  local function decide(r)
    local leases, ends = r.state or EMPTY, now_ms + r.window
    local allowed = r.limit > 0 and (leases.own ~= nil or leases.others < r.limit)
    r.units, r.ttl = leases.own and 0 or 1, allowed and math.ceil(r.window / 1000) or nil
    if allowed and leases.own ~= ends then
      local after = { len = leases.others + 1, gone = leases.gone, own = leases.own, others = leases.others, takes = ends }
      return true, leases.others, 'charge', after
    end
    return allowed, leases.others
  end

  -- When the n-th lease ends, the earliest first, from 0.
  local function end_at(r, leases, n)
    local ends = score(r.key, n + leases.gone)
    return ends and end_of(ends) or NEVER
  end

  -- The same of the others' leases: from its own place on, the holder's is left out.
  local function end_of_other(r, leases, n)
    local ends = end_at(r, leases, n)
    return leases.own and ends >= leases.own and end_at(r, leases, n + 1) or ends
  end

  -- The same if the holder's lease ends in `own`.
  local function end_with_own(r, leases, n, own)
    local ends = n < leases.others and end_of_other(r, leases, n)
    if ends and ends <= own then
      return ends
    end
    return n > 0 and math.max(end_of_other(r, leases, n - 1), own) or own
  end

  local function forecast(r, leases)
    r.leases = leases or EMPTY
    return math.max(0, r.limit - r.leases.len)
  end

  local function wait(r, cost)
    local leases, room = r.leases, r.limit - cost
    if room < 0 then
      return nil
    elseif leases.len <= room then
      return 0
    end
    local n = leases.len - room - 1
    local ends = leases.takes and end_with_own(r, leases, n, leases.takes) or end_at(r, leases, n)
    return ends < NEVER and math.max(0, ends - now_ms) or nil
  end

  -- The key expires when the last lease ends: later than before, or earlier.
  local function expire_with_the_last(key)
    local last = score(key, '-1')
    last = last and end_of(last)
    if last and expiry(key) ~= last then
      call('PEXPIREAT', key, last < 2 ^ 63 and format('%d', last) or '9223372036854775807')
    end
  end

  local function commit(r, change, after)
    if change then
      call('ZADD', r.key, format('%d', after.takes), r.ID)
    end
    if change or r.state and r.state.len > 0 then
      expire_with_the_last(r.key)
    end
  end

  -- The ids from words[at] on, each once, and of these the ones whose leases have not ended.
  local function holding(key, words, at)
    local seen, ids = {}, {}
    if not key or not words[at] then
      fail('wrong number of arguments')
    elseif #words - at >= 1000 then
      fail('invalid id')
    elseif find(key, ':reserved$') or find(key, ':reserved:ends$') then
      fail('invalid key')
    end
    for n = at, #words do
      if #words[n] == 0 or #words[n] > 512 then
        fail('invalid id')
      end
    end
    local len = load_set(key, '-inf', now_ms) or 0
    for n = at, #words do
      local id = words[n]
      if len > 0 and not seen[id] and lease_of(key, id) then
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
    local window = span(words[2]) or fail('invalid window')
    local ids, ends = holding(key, words, 3), {}
    for n, id in ipairs(ids) do
      ends[2 * n - 1], ends[2 * n] = format('%d', now_ms + window), id
    end
    if #ids > 0 then
      call('ZADD', key, 'XX', unpack(ends))
      expire_with_the_last(key)
    end
    return #ids
  end

  local function release(key, words)
    local ids, len = holding(key, words, 2)
    if #ids > 0 then
      call('ZREM', key, unpack(ids))
    end
    if len > 0 then
      expire_with_the_last(key)
    end
    return #ids
  end

  algorithms.LEASE = {
    takes = 'ID', prepare = prepare, load = load, decide = decide, forecast = forecast, wait = wait, commit = commit,
    RENEW = renew, RELEASE = release,
  }
end
